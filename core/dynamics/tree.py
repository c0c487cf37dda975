"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1), O(n).

Every body has its own frame, at its joint and parallel to the world: inertias of light bodies far from a common origin
would lose their digits to m r^2.  Between bodies there is only a shift.  Whole levels of the tree go at once.
Joint impedance adds to D, body impedance to that body's inertia.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model import Level, Model
from ..rotation import Array, skew
from ..spatial import apply, motion_cross, moved_inertia
from .kinematics import Kinematics
from .load import Load


@dataclass(frozen=True, eq=False)
class _Own:
    """Bodies in their own world-parallel frames: inertia (..., n, 6, 6), bias force (..., n, 6), joint axes
    (..., n, 6, width), velocity-product acceleration (..., n, 6), shift of motions from the parent (..., n, 6, 6)."""

    IA: Array
    pA: Array
    S: Array
    c: Array
    shift: Array


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (..., nv) of the dynamic degrees of freedom under the load."""
    own = _own_frames(model, kin, load)
    IA, pA = own.IA, own.pA
    Z = impedance(model, load)
    tau = _joint_forces(model, load)
    passed = []
    for level in reversed(model.levels):
        i, w = level.bodies, level.width
        S = own.S[..., i, :, :w]
        St = np.swapaxes(S, -1, -2)
        Ia, pa = IA[..., i, :, :], pA[..., i, :]
        U = Ia @ S
        Dinv: Any = np.linalg.inv(St @ U + Z[..., i, :w, :w]) if w else np.zeros(U.shape[:-2] + (0, 0))
        u = tau[..., i, :w] - apply(St, pa)
        Ut = np.swapaxes(U, -1, -2)
        UD = U @ Dinv
        Ia = Ia - UD @ Ut
        pa = pa + apply(Ia, own.c[..., i, :]) + apply(UD, u)
        shift = own.shift[..., i, :, :]
        back = np.swapaxes(shift, -1, -2)
        _add_to_parents(level, IA, pA, back @ Ia @ shift, apply(back, pa))
        passed.append((S, Ut, Dinv, u))
    return _outward(model, load, own, passed[::-1])


def _own_frames(model: Model, kin: Kinematics, load: Load) -> _Own:
    """The step's quantities moved to the bodies' own frames; light inertias are made there, not moved there."""
    T = np.zeros(kin.R.shape[:-2] + (4, 4))
    T[..., :3, :3], T[..., 3, 3] = kin.R, 1.0
    inertia = moved_inertia(T, model.pseudo)
    here = _shift(kin.p)
    there = np.swapaxes(_shift(-kin.p), -1, -2)
    V = apply(here, kin.V)
    pA = -apply(np.swapaxes(motion_cross(V), -1, -2), apply(inertia, V)) - apply(there, load.wrench)
    IA = inertia
    if load.body_Z is not None:
        body_Z = there @ load.body_Z @ np.swapaxes(there, -1, -2)
        IA = inertia + body_Z
        pA = pA + apply(body_Z, np.broadcast_to(load.fall, pA.shape))
    S = np.concatenate((kin.R @ model.subspace[:, :3], kin.R @ model.subspace[:, 3:]), axis=-2)
    up = np.where(model.parent < 0, 0, model.parent)
    c = apply(here, kin.c + apply(kin.X, load.prescribed))
    return _Own(IA, pA, S, c, _shift(kin.p - np.where(model.parent[:, None] < 0, 0.0, kin.p[..., up, :])))


def _shift(p: Array) -> Array:
    """(..., 6, 6) motions to the same motions at a point p (..., 3) away."""
    out = np.zeros(p.shape[:-1] + (6, 6))
    out[...] = np.eye(6)
    out[..., 3:, :3] = -skew(p)
    return out


def _outward(model: Model, load: Load, own: _Own, passed: list[tuple[Array, Array, Array, Array]]) -> Array:
    """The second sweep, from the roots: accelerations (..., nv)."""
    a = np.empty_like(own.c)
    qdd = np.zeros(own.c.shape[:-1] + (model.width,))
    for level, (S, Ut, Dinv, u) in zip(model.levels, passed, strict=True):
        i = level.bodies
        c = own.c[..., i, :]
        above = a[..., level.parent, :] if level.parent[0] >= 0 else np.broadcast_to(-load.fall, c.shape)
        a_ = apply(own.shift[..., i, :, :], above) + c
        x = apply(Dinv, u - apply(Ut, a_))
        qdd[..., i, : level.width] = x
        a[..., i, :] = a_ + apply(S, x)
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
