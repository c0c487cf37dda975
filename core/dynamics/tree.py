"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1), O(n).

All bodies share one frame, so nothing is transformed between them; whole levels of the tree go at once.
Joint impedance adds to D, body impedance to that body's inertia.
"""

from typing import Any

import numpy as np

from ..model import Level, Model
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
    Z = impedance(model, load)
    tau = _joint_forces(model, load)
    passed = []
    for level in reversed(model.levels):
        own, w = level.bodies, level.width
        S = kin.S[..., own, :, :w]
        St = np.swapaxes(S, -1, -2)
        Ia, pa = IA[..., own, :, :], pA[..., own, :]
        U = Ia @ S
        Dinv: Any = np.linalg.inv(St @ U + Z[..., own, :w, :w]) if w else np.zeros(U.shape[:-2] + (0, 0))
        u = tau[..., own, :w] - apply(St, pa)
        Ut = np.swapaxes(U, -1, -2)
        UD = U @ Dinv
        Ia = Ia - UD @ Ut
        pa = pa + apply(Ia, c[..., own, :]) + apply(UD, u)
        _add_to_parents(level, IA, pA, Ia, pa)
        passed.append((S, Ut, Dinv, u))
    return _outward(model, load, c, passed[::-1])


def _outward(model: Model, load: Load, c: Array, passed: list[tuple[Array, Array, Array, Array]]) -> Array:
    """The second sweep, from the roots: accelerations (..., nv)."""
    a = np.empty_like(c)
    qdd = np.zeros(c.shape[:-1] + (model.width,))
    for level, (S, Ut, Dinv, u) in zip(model.levels, passed, strict=True):
        own = level.bodies
        above = a[..., level.parent, :] if level.parent[0] >= 0 else np.broadcast_to(-load.fall, c[..., own, :].shape)
        a_ = above + c[..., own, :]
        x = apply(Dinv, u - apply(Ut, a_))
        qdd[..., own, : level.width] = x
        a[..., own, :] = a_ + apply(S, x)
    return model.by_dof(qdd)


def _joint_forces(model: Model, load: Load) -> Array:
    """(..., n, width) the load's joint forces, less what impedances take for the prescribed accelerations."""
    force = load.force if load.Z is None else load.force - apply(load.Z, load.prescribed)
    return (force[..., None, :] @ model.subspace)[..., 0, :]


def impedance(model: Model, load: Load) -> Array:
    """(..., n, width, width) joint impedances by degree of freedom; 1 on the diagonal of unused slots."""
    unused = np.ones((model.n, model.width))
    unused.reshape(-1)[model.slot] = 0.0
    out = unused[:, :, None] * np.eye(model.width)
    if load.Z is not None:
        out = out + np.swapaxes(model.subspace, -1, -2) @ load.Z @ model.subspace
    return np.broadcast_to(out, load.force.shape[:-1] + out.shape[-2:])


def _add_to_parents(level: Level, IA: Array, pA: Array, Ia: Array, pa: Array) -> None:
    """Add what the level's bodies show of themselves to their parents; children of the world drop out."""
    if level.parents[0] < 0:
        return
    flat = level.sums @ Ia.reshape(Ia.shape[:-2] + (36,))
    IA[..., level.parents, :, :] += flat.reshape(flat.shape[:-1] + (6, 6))
    pA[..., level.parents, :] += level.sums @ pa
