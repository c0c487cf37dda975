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
from .coulomb import Rows, solve
from .step import Step

BROKEN = 1e9  # [m/s]
MARGIN = 1e-9  # [m] beyond the clip's own depth before a contact pushes
TURNS = 0.5  # of a step in which velocity products act: while poses change


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
            v, A = response(rows, load, step)
            if not (np.abs(v) < BROKEN).all():
                return  # the run has broken down already; the simulator says at which bone
            f = solve(rows, v, A, step.h)
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
    H, C = equations(model, step.passing, load)
    flat = rows.wrench.reshape(rows.wrench.shape[:-4] + (-1, model.n, 6))
    carried = model.inward(flat)[..., model.dof_body, :]
    J = np.einsum("...rdk,...dk->...rd", carried, kin.axes(model.entries))
    answer: Any = np.linalg.solve(
        H, np.concatenate((J.swapaxes(-1, -2), (joint_forces(model, load) - C)[..., None]), -1)
    )
    aJ = load.prescribed + model.expand(answer[..., -1])
    v = np.einsum("...caij,...ij->...ca", rows.wrench, ahead(model, kin, step.passing, aJ, step.h)) - rows.drift
    return v, J @ answer[..., :-1]


def ahead(model: Model, kin: Kinematics, passing: Kinematics, acceleration: Array, h: float | Array) -> Array:
    """(..., n, 6) shared-frame motions that give points of bodies their mean velocity over a step of h [s], as material
    points; passing: as in `Step`; acceleration: (..., n, 6) of the joint twists, body frame.

    Velocity products act for `TURNS` of the step, as in `reference.advance`; those of points count as at their body's
    origin, not at the frame's, which may be a metre away, where a hand that comes down fast would seem to rise.
    """
    V, bias = passing.V, model.outward(passing.c)
    own = V[..., 3:] + cross(V[..., :3], kin.p)
    bias[..., 3:] += cross(V[..., :3], own)  # classical acceleration: the spatial one and omega x v
    return kin.V + h * model.outward(apply(kin.X, acceleration)) + TURNS * h * bias
