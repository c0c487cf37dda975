"""Spatial (6-D) vector algebra, [angular, linear], vectorised over leading axes (Featherstone 2008, ch. 2).

Matrices that are linear in a vector are one matrix product with a constant table, for any number of bodies.
"""

from typing import Any

import numpy as np

from .rotation import Array, skew

MANY = 64  # systems of equations that are worth being solved side by side

_CROSS = np.zeros((6, 36))  # v @ _CROSS is the flat operator v x
for _rows, _columns, _first in ((0, 0, 0), (3, 3, 0), (3, 0, 3)):
    _block = _CROSS.reshape(6, 6, 6)[_first : _first + 3, _rows : _rows + 3, _columns : _columns + 3]
    _block[...] = skew(np.eye(3))


def motion_cross(v: Array) -> Array:
    """(..., 6) -> (..., 6, 6): the operator v x on motion vectors; -transpose is v x* on forces."""
    return (v @ _CROSS).reshape(v.shape[:-1] + (6, 6))


def apply(m: Array, v: Array) -> Array:
    """Matrix (..., i, j) times vector (..., j)."""
    if m.ndim > 3:  # for many small products a loop over them costs less than as many calls of BLAS
        return np.einsum("...ij,...j->...i", m, v)
    return (m @ v[..., None])[..., 0]


def apply_T(m: Array, v: Array) -> Array:  # noqa: N802  a transpose
    """Transpose of a matrix (..., i, j) times vector (..., i)."""
    if m.ndim > 3:
        return np.einsum("...ij,...i->...j", m, v)
    return (v[..., None, :] @ m)[..., 0, :]


def turned(m: Array) -> Array:
    """The transposes of matrices as they are multiplied from the right: BLAS takes three times as long for many small
    ones that it has to turn itself."""
    return np.ascontiguousarray(m.swapaxes(-1, -2))


def _from_pseudo() -> Array:
    """(16, 36): takes flattened pseudo-inertias to flattened spatial inertias, which are linear in them."""
    out = np.zeros((4, 4, 6, 6))
    for i in range(3):
        out[i, i, :3, :3] += np.eye(3)
        for j in range(3):
            out[i, j, i, j] -= 1.0
        out[i, 3, :3, 3:] = skew(np.eye(3)[i])
        out[i, 3, 3:, :3] = -skew(np.eye(3)[i])
    out[3, 3, 3:, 3:] = np.eye(3)
    return out.reshape(16, 36)


_FROM_PSEUDO = _from_pseudo()


def moved_inertia(T: Array, pseudo: Array) -> Array:
    """Spatial inertias (..., 6, 6) in the frame to which T (..., 4, 4) takes bodies with these pseudo-inertias."""
    moved = T @ pseudo @ turned(T)
    return (moved.reshape(moved.shape[:-2] + (16,)) @ _FROM_PSEUDO).reshape(moved.shape[:-2] + (6, 6))


def solve(m: Array, v: Array) -> Array:
    """x of m x = v for vectors v (..., j)."""
    x: Any = np.linalg.solve(m, v[..., None])
    return x[..., 0]


def solve_many(m: Array, v: Array) -> Array:
    """X of m X = v for symmetric positive definite matrices (..., k, k), and v (..., k, c).

    From MANY on all are eliminated side by side, an entry of all at once, which takes half of LAPACK's time; small ones
    without pivots, as in Cholesky's way.
    """
    k, c, count = *v.shape[-2:], v[..., 0, 0].size
    if count < MANY:
        x: Any = np.linalg.solve(m, v)
        return x
    rows, lower = np.empty((k, k + c, count)), np.empty((k, k, count))
    rows[:, :k] = m.reshape(count, k, k).transpose(1, 2, 0)
    rows[:, k:] = v.reshape(count, k, c).transpose(1, 2, 0)
    for i in range(k):
        if i:
            rows[i, i:] -= np.einsum("jn,jcn->cn", lower[i, :i], rows[:i, i:])
        lower[i:, i] = rows[i, i:k]
        rows[i, i + 1 :] *= 1.0 / rows[i, i]
    for i in range(k - 2, -1, -1):
        rows[i, k:] -= np.einsum("jn,jcn->cn", rows[i, i + 1 : k], rows[i + 1 :, k:])
    return np.ascontiguousarray(rows[:, k:].transpose(2, 0, 1)).reshape(v.shape)


def motion_transform(r: Array, p: Array) -> Array:
    """X_wb: motions of a frame at p (..., 3) with axes r (..., 3, 3) to the frame in which p is given; (..., 6, 6)."""
    x = np.zeros(r.shape[:-2] + (6, 6))
    x[..., :3, :3] = r
    x[..., 3:, 3:] = r
    x[..., 3:, :3] = skew(p) @ r
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
