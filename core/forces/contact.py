"""Contacts and friction: one-sided springs and Coulomb friction, solved together at the end of the step.

Each contact is a few rows: directions in which two bodies (or a body and the world) move against each other.  With a
row's velocity v at the end of the step, as it would be without the contacts, and the response A = J H^-1 J^T of the
body with every other force's impedance in it, the contact forces f fulfil v+ = v + h A f, the implicit spring-damper
f = K (depth - h v+) - D v+ >= 0 and |friction| <= mu f.  So a body at rest stays at rest, pairs of bodies
push each other equally, and nothing has to be remembered between steps.  `Contacts` must be the last of the forces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..dynamics import Kinematics, Load
from ..dynamics.dense import equations, joint_forces
from ..model import Model
from ..rotation import Array, cross
from ..spatial import apply
from ..spatial import solve as solved
from .step import Step

SWEEPS = 40  # Gauss-Seidel passes over the contacts at most
MARGIN = 1e-9  # [m] beyond the clip's own depth before a contact pushes
CLOSE = 1e-6  # relative change of the forces in a pass at which they count as found
HOLD = 1e7  # [N s/m, N m s/rad] damping of a contact that sticks: the creep under 1 kN is 0.1 mm/s


@dataclass(frozen=True, eq=False)
class Rows:
    """c contacts of three rows each: a normal and two tangents, or three directions of friction alone.

    wrench: (..., c, 3, n, 6) shared-frame wrench on every body of a unit force along each row.
    depth: (..., c) on arrival [m], negative = apart.  stiffness, damping: (c,) of the normal spring [N/m], [N s/m].
    static, kinetic: (c,) friction coefficients.  drift: (..., c, 3) velocity of the rows' other side [m/s].
    bound: (c,) most friction of a contact without a normal [N, N m]; 0 = it has a normal, the first row.
    """

    wrench: Array
    depth: Array
    stiffness: Array
    damping: Array
    static: Array
    kinetic: Array
    drift: Array
    bound: Array


class Source(Protocol):
    """Where contacts come from."""

    def rows(self, step: Step) -> Rows | None:
        """The contacts of a step, None when nothing is near."""


@dataclass(frozen=True, eq=False)
class Contacts:
    """All contacts and frictions of a body, from several sources, solved as one."""

    sources: Sequence[Source]

    def add(self, load: Load, step: Step) -> None:
        """Wrenches of the contact forces that hold at the end of the step."""
        parts = [rows for source in self.sources if (rows := source.rows(step)) is not None]
        if parts:
            rows = _joined(parts)
            f = solve(rows, *response(rows, load, step), step.h)
            load.wrench = load.wrench + np.einsum("...ca,...caij->...ij", f, rows.wrench)


def _joined(parts: Sequence[Rows]) -> Rows:
    """Rows of all sources as one; batch axes are spread first."""
    batch = np.broadcast_shapes(*(p.depth.shape[:-1] for p in parts))
    own = {"wrench": 4, "depth": 1, "drift": 2}

    def join(name: str) -> Array:
        arrays = [np.asarray(getattr(p, name)) for p in parts]
        if name not in own:
            return np.concatenate(arrays)
        axes = own[name]
        return np.concatenate([np.broadcast_to(a, batch + a.shape[a.ndim - axes :]) for a in arrays], axis=-axes)

    return Rows(**{name: join(name) for name in Rows.__dataclass_fields__})


def response(rows: Rows, load: Load, step: Step) -> tuple[Array, Array]:
    """(v, A): velocities of the rows (..., c, 3) at the end of the step without them, and the change (..., 3c, 3c) of
    velocity per impulse."""
    model, kin = step.model, step.kin
    H, C = equations(model, kin, load)
    flat = rows.wrench.reshape(rows.wrench.shape[:-4] + (-1, model.n, 6))
    carried = (model.ancestor.T @ flat)[..., model.dof_body, :]
    J = np.einsum("...rdk,...dk->...rd", carried, kin.axes(model))
    answer: Any = np.linalg.solve(
        H, np.concatenate((np.swapaxes(J, -1, -2), (joint_forces(model, load) - C)[..., None]), -1)
    )
    aJ = load.prescribed + model.expand(answer[..., -1])
    v = np.einsum("...caij,...ij->...ca", rows.wrench, ahead(model, kin, aJ, step.h)) - rows.drift
    return v, J @ answer[..., :-1]


def ahead(model: Model, kin: Kinematics, acceleration: Array, h: float | Array) -> Array:
    """(..., n, 6) shared-frame motions whose linear part gives every body point its velocity after a time h [s], as a
    material point; acceleration: (..., n, 6) of the joint twists, body frame."""
    a = model.ancestor @ (kin.c + apply(kin.X, acceleration))
    a[..., 3:] += cross(kin.V[..., :3], kin.V[..., 3:])  # classical acceleration: the spatial one and omega x v
    return kin.V + h * a


def solve(rows: Rows, v: Array, A: Array, h: float) -> Array:
    """(..., c, 3) contact forces by projected Gauss-Seidel over the contacts."""
    c = rows.depth.shape[-1]
    A = h * A.reshape(A.shape[:-2] + (c, 3, c, 3))
    f, speed = np.zeros(v.shape), v.copy()  # speed: v + A f, kept up to date
    for _ in range(SWEEPS):
        change = 0.0
        for i in range(c):
            own = A[..., i, :, i, :]
            free = speed[..., i, :] - apply(own, f[..., i, :])
            new = _grip(free, own, rows.bound[i]) if rows.bound[i] > 0.0 else _touch(rows, i, free, own, h)
            d = new - f[..., i, :]
            speed = speed + np.einsum("...cab,...b->...ca", A[..., :, :, i, :], d)
            f[..., i, :] = new
            change = max(change, float(np.max(np.abs(d), initial=0.0)))
        if change <= CLOSE * max(float(np.max(np.abs(f), initial=0.0)), 1e-9):
            break
    return f


def _touch(rows: Rows, i: int, free: Array, own: Array, h: float) -> Array:
    """(..., 3) force of contact i: its normal spring first, then the friction that this allows.

    Before the bodies touch, the damper only counts the part of the step in which they do.
    """
    depth, K, D = rows.depth[..., i], rows.stiffness[i], rows.damping[i]
    push = K * depth + np.minimum(depth, 0.0) * D / h - (K * h + D) * free[..., 0]
    f = np.zeros(free.shape)
    f[..., 0] = np.maximum(push / (1.0 + (K * h + D) * own[..., 0, 0]), 0.0)
    if rows.static[i] > 0.0 or rows.kinetic[i] > 0.0:
        moved = free[..., 1:] + own[..., 1:, 0] * f[..., :1]
        f[..., 1:] = _grip(moved, own[..., 1:, 1:], rows.static[i] * f[..., 0], rows.kinetic[i] * f[..., 0])
    return f


def _grip(free: Array, own: Array, static: Array, kinetic: Array | None = None) -> Array:
    """Friction (..., r) that holds the rows still where it may (`static`), else as much as slides with (`kinetic`).

    free: (..., r) velocities without it, own: (..., r, r) their change per force.
    """
    held = own + np.eye(own.shape[-1]) / HOLD
    f = -solved(held, free)
    size = np.linalg.norm(f, axis=-1)
    least = static if kinetic is None else kinetic
    return f * np.where(size <= static, 1.0, least / np.maximum(size, 1e-300))[..., None]
