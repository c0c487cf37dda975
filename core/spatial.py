"""Spatial (6-D) vector algebra, [angular, linear], vectorised over leading axes (Featherstone 2008, ch. 2).

Matrices that are linear in a vector are one matrix product with a constant table, for any number of bodies.
"""

from typing import Any

import numpy as np

from .lanes import Table, laned, linear, product, zeros
from .lanes import apply as apply
from .lanes import apply_T as apply_T
from .rotation import Array, skew


def _cross_table() -> Array:
    """(6, 36): v @ table is the flat operator v x."""
    out = np.zeros((6, 36))
    for rows, columns, first in ((0, 0, 0), (3, 3, 0), (3, 0, 3)):
        block = out.reshape(6, 6, 6)[first : first + 3, rows : rows + 3, columns : columns + 3]
        block[...] = skew(np.eye(3))
    return out


_CROSS = Table.of(_cross_table())


def motion_cross(v: Array) -> Array:
    """(..., 6) -> (..., 6, 6): the operator v x on motion vectors; -transpose is v x* on forces."""
    return linear(v, _CROSS).reshape(v.shape[:-1] + (6, 6))


def roams(joint: Array) -> bool:
    """Whether what a joint (d, 6) slides along stays so wherever it turns, as free and planar ones do."""
    turns, slides = joint[:, :3], joint[:, 3:]
    if not (turns.any() and slides.any()):
        return False
    apart = np.linalg.matrix_rank(turns) + np.linalg.matrix_rank(slides) == len(joint)
    ways = np.linalg.pinv(slides) @ slides
    taken = np.cross(turns[:, None], ways)
    return bool(apart and np.abs(taken - taken @ ways).max() < 1e-9)


def turned(m: Array) -> Array:
    """The transposes of matrices as they are multiplied from the right: BLAS takes three times as long for many small
    ones that it has to turn itself."""
    return m.swapaxes(-1, -2) if m.ndim > 3 and laned(m) else np.ascontiguousarray(m.swapaxes(-1, -2))


def _from_pseudo() -> Array:
    """(12, 36): takes the first three rows of pseudo-inertias, flat, to flat spatial inertias, but for the mass."""
    out = np.zeros((3, 4, 6, 6))
    for i in range(3):
        out[i, i, :3, :3] += np.eye(3)
        for j in range(3):
            out[i, j, i, j] -= 1.0
        out[i, 3, :3, 3:] = skew(np.eye(3)[i])
        out[i, 3, 3:, :3] = -skew(np.eye(3)[i])
    return out.reshape(12, 36)


_FROM_PSEUDO = Table.of(_from_pseudo())


def moved_inertia(T: Array, pseudo: Array) -> Array:
    """Spatial inertias (..., n, 6, 6) in the frame to which T (..., n, 3, 4) takes bodies with these pseudo-inertias
    (n, 4, 4)."""
    moved = product(T, pseudo)
    moved[..., :3] = product(moved, turned(T))
    flat = linear(moved.reshape(moved.shape[:-2] + (12,)), _FROM_PSEUDO)
    flat[..., 21::7] = pseudo[:, 3, 3:]
    return flat.reshape(moved.shape[:-2] + (6, 6))


_MOMENT = np.array([16, 5, 9])  # where mass times centre of mass stands in a flat spatial inertia


def first_moment(inertia: Array) -> Array:
    """(..., 3) mass times centre of mass [kg m] of spatial inertias (..., 6, 6), in their frame."""
    return inertia.reshape(inertia.shape[:-2] + (36,)).take(_MOMENT, axis=-1)


def solve(m: Array, v: Array) -> Array:
    """x of m x = v for vectors v (..., j)."""
    x: Any = np.linalg.solve(m, v) if v.ndim == 1 else np.linalg.solve(m, v[..., None])[..., 0]
    return x


def motion_transform(r: Array, p: Array) -> Array:
    """X_wb: motions of a frame at p (..., 3) with axes r (..., 3, 3) to the frame in which p is given; (..., 6, 6)."""
    x = zeros(p, 6, 6)
    x[..., :3, :3] = r
    x[..., 3:, 3:] = r
    x[..., 3:, :3] = product(skew(p), r)
    return x


def inertia(mass: Array, com: Array, about_com: Array) -> Array:
    """Spatial inertia at the frame's origin, (..., 6, 6).

    mass: (...,) kg.  com: (..., 3) m.  about_com: (..., 3, 3) kg m^2, all in that frame (Featherstone 2008, 2.63).
    """
    mass = np.asarray(mass, dtype=np.float64)[..., None, None]
    c = skew(com)
    out = np.empty(com.shape[:-1] + (6, 6))
    out[..., :3, :3] = about_com - mass * (c @ c)
    out[..., :3, 3:] = mass * c
    out[..., 3:, :3] = -mass * c
    out[..., 3:, 3:] = mass * np.eye(3)
    return out
