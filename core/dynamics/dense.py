"""Forward dynamics by the joint-space inertia matrix (composite rigid bodies, Featherstone 2008, ch. 6).

O(n^3) in the solve but few, large numpy calls: faster than the tree solver below about a hundred bones.
"""

import numpy as np

from ..model import Model
from ..rotation import Array
from ..spatial import apply
from .kinematics import Kinematics
from .load import Load


def body_forces(model: Model, kin: Kinematics, load: Load, u: Array | None = None) -> Array:
    """(..., n, 6) force each body needs beyond the load's wrench, for joint accelerations u (..., nv), None = 0."""
    aJ = load.prescribed if u is None else load.prescribed + model.expand(u)
    a = model.ancestor @ (kin.c + apply(kin.X, aJ))
    f = apply(kin.I, a - load.fall) - apply(np.swapaxes(kin.vx, -1, -2), apply(kin.I, kin.V)) - load.wrench
    return f if load.body_Z is None else f + apply(load.body_Z, a)


def joint_impedance(model: Model, Z: Array) -> Array:
    """(..., nv, nv) block-diagonal impedance by degree of freedom from joint impedances (..., n, 6, 6)."""
    blocks = np.swapaxes(model.subspace, -1, -2) @ Z @ model.subspace
    same = model.dof_body[:, None] == model.dof_body
    rows, columns = np.nonzero(same)
    within = model.slot - model.dof_body * model.width
    out = np.zeros(Z.shape[:-3] + (model.nv, model.nv))
    out[..., rows, columns] = blocks[..., model.dof_body[rows], within[rows], within[columns]]
    return out


def mass_matrix(model: Model, kin: Kinematics, body_Z: Array | None = None) -> Array:
    """(..., nv, nv) joint-space inertia matrix, body impedances included where given."""
    inertia = kin.I if body_Z is None else kin.I + body_Z
    flat = inertia.reshape(inertia.shape[:-2] + (36,))
    composite = (model.ancestor.T @ flat).reshape(inertia.shape)
    F = apply(composite[..., model.dof_body, :, :], kin.S)
    G = kin.S @ np.swapaxes(F, -1, -2)
    above = model.ancestor[model.dof_body][:, model.dof_body].T
    strictly = above * (model.dof_body[:, None] != model.dof_body)
    return G * above + np.swapaxes(G * strictly, -1, -2)


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (..., nv) of the dynamic degrees of freedom under the load."""
    H = mass_matrix(model, kin, load.body_Z)
    if load.Z is not None:
        H = H + joint_impedance(model, load.Z)
    carried = model.ancestor.T @ body_forces(model, kin, load)
    C = np.einsum("...dk,...dk->...d", kin.S, carried[..., model.dof_body, :])
    rhs = model.project(load.force) - C
    if load.Z is not None and np.any(load.prescribed):
        rhs = rhs - model.project(apply(load.Z, load.prescribed))
    return np.linalg.solve(H, rhs[..., None])[..., 0]
