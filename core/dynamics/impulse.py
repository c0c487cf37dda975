"""Blows: how a body answers to an impulse at a point, and how its points are coupled."""

from typing import Any

import numpy as np

from ..model import Model
from ..rotation import Array, skew
from ..spatial import apply, solve
from .dense import joint_impedance, mass_matrix
from .kinematics import Kinematics

ALONE = 1e9  # most that is told of how easily a joint turns


def body_jacobian(model: Model, kin: Kinematics, body: int) -> Array:
    """(..., 6, nv) a body's twist in the shared frame per velocity of each degree of freedom."""
    return (kin.axes(model.entries) * model.ancestor[body][model.dof_body][:, None]).swapaxes(-1, -2)


def point_jacobian(model: Model, kin: Kinematics, body: int, point: Array) -> Array:
    """(..., 3, nv) velocity of a world point (..., 3) [m] that moves with a body."""
    J = body_jacobian(model, kin, body)
    return J[..., 3:, :] - skew(point - kin.origin) @ J[..., :3, :]


def inertia(model: Model, kin: Kinematics, Z: Array | None = None) -> Array:
    """(..., nv, nv) joint-space inertia, with joint impedances (..., n, 6, 6) where given."""
    H = mass_matrix(model, kin)
    return H if Z is None else H + joint_impedance(model, Z)


def response(model: Model, kin: Kinematics, body: int, point: Array, impulse: Array, Z: Array | None = None) -> Array:
    """(..., nv) change of velocity by a world impulse (..., 3) [N s] at a world point of a body.

    Z: (..., n, 6, 6) joint impedances that count as inertia, e.g. springs over a step.
    """
    J = point_jacobian(model, kin, body, point)
    return solve(inertia(model, kin, Z), apply(J.swapaxes(-1, -2), impulse))


def given(model: Model, kin: Kinematics, u: Array, known: np.ndarray, push: Array) -> Array:
    """(nv,) change of velocity of which that of some degrees of freedom is known and the rest answers.

    u: (nv,) the known changes.  known: (nv,) bool.  push: (nv,) impulses on all degrees of freedom.  Joints take no
    impulse of their own where nothing is known: of all motions with the known part this is the one nearest to the free
    answer by its kinetic energy (Gauss' principle of least constraint).
    """
    out, free = np.where(known, u, 0.0), ~known
    if free.any():
        H = inertia(model, kin)
        out[free] = solve(H[np.ix_(free, free)], push[free] - H[np.ix_(free, known)] @ u[known])
    return out


def coupling(
    model: Model, kin: Kinematics, bodies: tuple[int, int], points: tuple[Array, Array], Z: Array | None = None
) -> Array:
    """(..., 3, 3) velocity of the first point per impulse at the second, J_a H^-1 J_b^T [1/kg].  Z: see `response`."""
    a, b = (point_jacobian(model, kin, i, x) for i, x in zip(bodies, points, strict=True))
    answer: Any = np.linalg.solve(inertia(model, kin, Z), b.swapaxes(-1, -2))
    return a @ answer


def effective_inverse(model: Model, kin: Kinematics, body: int, point: Array, Z: Array | None = None) -> Array:
    """(..., 3, 3) inverse of the mass a point shows to a blow, Lambda^-1 = J H^-1 J^T [1/kg] (Khatib 1987).  Z: see
    `response`."""
    return coupling(model, kin, (body, body), (point, point), Z)


def eases(model: Model, kin: Kinematics) -> Array:
    """(n,) how many times as easily a joint turns with all others free as with all that it carries as one, about the
    axis where that is most: the largest eigenvalue of the one's inverse inertia times the other."""
    flat = kin.I.reshape(kin.I.shape[:-2] + (36,))
    whole = kin.X.swapaxes(-1, -2) @ model.inward(flat).reshape(kin.I.shape) @ kin.X
    try:
        inverse = np.linalg.inv(mass_matrix(model, kin))
    except np.linalg.LinAlgError:  # a joint moves no mass
        return np.full(model.n, ALONE)
    out, axes = np.ones(model.n), np.bincount(model.dof_body, minlength=model.n)
    for d in set(axes.tolist()) - {0}:
        bodies = np.flatnonzero(axes == d)
        own = np.flatnonzero(axes[model.dof_body] == d).reshape(-1, d)
        S = model.dof_axis[own]
        about = np.linalg.eigvals(inverse[own[:, :, None], own[:, None, :]] @ S @ whole[bodies] @ S.swapaxes(-1, -2))
        out[bodies] = np.clip(about.real.max(axis=-1), 1.0, ALONE)
    return out
