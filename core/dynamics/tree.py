"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1), O(n).

All bodies share one frame, so nothing is transformed between them; whole levels of the tree go at once.
Joint impedance adds to D, body impedance to that body's inertia.
"""

import numpy as np

from ..model import Model
from ..rotation import Array
from ..spatial import apply
from .kinematics import Kinematics
from .load import Load


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (..., nv) of the dynamic degrees of freedom under the load."""
    IA = kin.I.copy() if load.body_Z is None else kin.I + load.body_Z
    pA = -apply(np.swapaxes(kin.vx, -1, -2), apply(kin.I, kin.V)) - load.wrench
    if load.body_Z is not None:
        pA = pA + apply(load.body_Z, np.broadcast_to(load.fall, pA.shape))
    c = kin.c + apply(kin.X, load.prescribed)
    S = kin.S
    St = np.swapaxes(S, -1, -2)
    force, Z = load.force, _impedance(model, load)
    if load.Z is not None:
        force = force - apply(load.Z, load.prescribed)
    tau = apply(np.swapaxes(model.subspace, -1, -2), force)
    U, Dinv, u = np.empty_like(S), np.empty_like(Z), np.empty_like(tau)
    for level in reversed(model.levels):
        U[..., level, :, :] = IA[..., level, :, :] @ S[..., level, :, :]
        D = St[..., level, :, :] @ U[..., level, :, :] + Z[..., level, :, :]
        Dinv[..., level, :, :] = np.linalg.inv(D)
        u[..., level, :] = tau[..., level, :] - apply(St[..., level, :, :], pA[..., level, :])
        UD = U[..., level, :, :] @ Dinv[..., level, :, :]
        Ia = IA[..., level, :, :] - UD @ np.swapaxes(U[..., level, :, :], -1, -2)
        pa = pA[..., level, :] + apply(Ia, c[..., level, :]) + apply(UD, u[..., level, :])
        _gather(model.parent[level], IA, Ia, -3)
        _gather(model.parent[level], pA, pa, -2)
    a = np.empty_like(c)
    qdd = np.empty_like(tau)
    for level in model.levels:
        parent = model.parent[level]
        above = a[..., parent, :] if parent[0] >= 0 else np.broadcast_to(-load.fall, c[..., level, :].shape)
        a_ = above + c[..., level, :]
        x = apply(Dinv[..., level, :, :], u[..., level, :] - apply(np.swapaxes(U[..., level, :, :], -1, -2), a_))
        qdd[..., level, :] = x
        a[..., level, :] = a_ + apply(S[..., level, :, :], x)
    return model.by_dof(qdd)


def _impedance(model: Model, load: Load) -> Array:
    """(..., n, width, width) joint impedances by degree of freedom; 1 on the diagonal of unused slots."""
    unused = np.ones((model.n, model.width))
    unused.reshape(-1)[model.slot] = 0.0
    out = unused[:, :, None] * np.eye(model.width)
    if load.Z is not None:
        out = out + np.swapaxes(model.subspace, -1, -2) @ load.Z @ model.subspace
    return np.broadcast_to(out, load.force.shape[:-1] + out.shape[-2:])


def _gather(parent: np.ndarray, into: Array, values: Array, axis: int) -> None:
    """Add the children's values to their parents' entries along `axis`; children of the world drop out."""
    children = np.flatnonzero(parent >= 0)
    np.add.at(np.moveaxis(into, axis, 0), parent[children], np.moveaxis(values, axis, 0)[children])
