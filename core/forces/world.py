"""Springs to the clip's pose in the world."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..dynamics import Kinematics, Load, kinematics, with_twist
from ..lanes import Table, dot, linear
from ..model import FREE, Model
from ..reference import Reference
from ..rotation import Array, skew, vector
from ..spatial import apply, apply_T
from .step import INERTIA, Step, once

_LEVER = Table.of(np.pad(-skew(np.eye(3)), ((0, 0), (3, 0), (0, 3))).reshape(3, 36))  # p to what turns add at p
EASED = 0.05  # chosen: [rad] of a heel's turn in which damping goes over; its stiffness may change at once, at no turn


@dataclass(frozen=True, eq=False)
class Track:
    """How m points fixed in bodies move in the clip.

    R: (K, m, 3, 3) body to world.  position: (K, m, 3) world [m].  twist: (K, m, 6) on arrival, acceleration:
    (K, m, 6) in the step, gained: (K, m, 6) see `_gained`, [angular, linear at the point], world axes.
    """

    R: Array
    position: Array
    twist: Array
    acceleration: Array
    gained: Array

    @classmethod
    def of_clip(
        cls,
        model: Model,
        reference: Reference,
        bodies: np.ndarray,
        points: Array,
        kins: tuple[Kinematics, Kinematics] | None = None,
    ) -> "Track":
        """Of points (m, 3) [m] in the frames of the bodies (m,).  kins: of the reference's arrivals, and
        with its passing twists, where at hand."""
        kin, passing = kins or motions(model, reference)
        R = kin.R[:, bodies]
        p = kin.p[:, bodies] + apply(R, points)
        at = to_point(p)
        faster = _accelerated(model, kin, passing, reference.acceleration)
        gained = _gained(model, kin, passing, reference.gone, reference.kicks[:, None, None])
        changes = (apply(at, v[:, bodies]) for v in (kin.V, faster, gained))
        return cls(R, p + kin.origin[:, None], *changes)

    def moved(self, way: Array, rate: Array, acceleration: Array, h: Array) -> "Track":
        """The same off its way, (K, m, 3) in the world each: by so much, so fast on arrival, and so much faster in a
        step; h: (K,) lengths of steps [s]."""
        twist, change, gained = self.twist.copy(), self.acceleration.copy(), self.gained.copy()
        twist[..., 3:] += rate
        change[..., 3:] += acceleration
        gained[..., 3:] += 0.5 * h[:, None, None] * acceleration
        return replace(self, position=self.position + way, twist=twist, acceleration=change, gained=gained)


class Heels(NamedTuple):
    """What turns more easily one way: axis: (K, m, 3) unit, world; part: (K, m) of the stiffness that resists a turn
    about it in the positive sense."""

    axis: Array
    part: Array


@dataclass(frozen=True, eq=False)
class WorldSpring:
    """Holds bodies to the clip's pose in the world: planted feet.

    A damper that is made for all that stands on a foot throws the light foot to and fro unless it acts at the end of
    the step.  So it does, at a rate that is less by what bodies gained in the step before, see `step.before`.
    bodies: (m,).  stiffness, damping: (m, 6, 6) or (K, m, 6, 6) at a point of the body, world axes, [angular, linear].
    track: the clip's motion of the points.  points: (m, 3) body frame, None = the bodies' origins.
    heels: None = every turn is resisted alike.
    """

    bodies: np.ndarray
    stiffness: Array
    damping: Array
    track: Track
    points: Array | None = None
    heels: Heels | None = None

    @classmethod
    def of_clip(
        cls,
        model: Model,
        reference: Reference,
        bodies: np.ndarray,
        K: Array,
        D: Array,
        kins: tuple[Kinematics, Kinematics] | None = None,
    ) -> "WorldSpring":
        """To the clip's own motion of the bodies; K, D: (m, 6, 6).  kins: as in `Track.of_clip`."""
        return cls(bodies, K, D, Track.of_clip(model, reference, bodies, np.zeros((len(bodies), 3)), kins))

    @once
    def _laws(self, kicks: Array) -> tuple[Array, Array]:
        """(K, m, 6, 2, 12) stiffness and damping, each beside the impedance that it is in steps (K,) of these lengths
        [s], without heels that give way; and what these add to it."""
        h = kicks[:, None, None, None]
        springs = [(self.stiffness, self.damping)]
        if self.heels is not None:
            springs.append(_eased(self.heels, *springs[0]))
        laws = [np.stack(np.broadcast_arrays(K, INERTIA * h * h * K, D, h * D), axis=-2) for K, D in springs]
        own, eased = (law.reshape((*law.shape[:-2], 2, 12)) for law in (laws[0], laws[-1]))
        return own, eased - own

    def add(self, load: Load, step: Step) -> None:
        """Wrench and impedance at the point, moved to the shared frame."""
        k, kin, clip = step.k, step.kin, self.track
        R, p = kin.R.take(self.bodies, axis=-3), kin.p.take(self.bodies, axis=-2)
        if self.points is not None:
            p = p + apply(R, self.points)
        at = to_point(p)
        turn = vector(R @ clip.R[k].swapaxes(-1, -2))
        gained = _gained(step.model, kin, step.passing, step.last, step.h).take(self.bodies, axis=-2)
        e_dot = apply(at, kin.V.take(self.bodies, axis=-2)) - clip.twist[k]
        off = np.empty(p.shape[:-1] + (4, 6))  # what each part of a law answers to
        off[..., 0, :3], off[..., 0, 3:] = turn, p + kin.origin[..., None, :] - clip.position[k]
        off[..., 2, :] = _less(e_dot, apply(at, gained) - clip.gained[k])
        off[..., 1::2, :] = -clip.acceleration[k][:, None]
        laws, eased = self._laws(step.reference.kicks)
        law = laws[k]
        if self.heels is not None:
            raised = dot(turn, self.heels.axis[k])
            eases = np.empty(raised.shape + (1, 2, 1))
            eases[..., 0, 0, 0], eases[..., 0, 1, 0] = raised > 0.0, np.minimum(np.maximum(raised / EASED, 0.0), 1.0)
            law = law + eases * eased[k]
        Z = law[..., 0, 6:] + law[..., 1, 6:]
        f = apply(law.reshape((*law.shape[:-2], 24)), off.reshape((*p.shape[:-1], 24)))
        load.add_body(self.bodies, -apply_T(at, f), at.swapaxes(-1, -2) @ Z @ at)


def _eased(heels: Heels, *spring: Array) -> tuple[Array, Array]:
    """Stiffness and damping (K, m, 6, 6) that resist a turn about the heels' axes with their part only."""
    about = np.zeros(heels.part.shape + (6, 6))
    about[..., :3, :3] = heels.axis[..., :, None] * heels.axis[..., None, :]
    roots = np.sqrt(heels.part), heels.part**0.25  # the damping ratio stays
    left = [np.eye(6) - (1.0 - root)[..., None, None] * about for root in roots]
    K, D = (side @ own @ side for side, own in zip(left, spring, strict=True))
    return K, D


def _accelerated(model: Model, kin: Kinematics, passing: Kinematics, a: Array) -> Array:
    """(..., n, 6) accelerations of bodies whose joints accelerate by a (..., n, 6), shared frame."""
    return model.outward(passing.c + apply(kin.X, a))


def _gained(model: Model, kin: Kinematics, passing: Kinematics, last: Array, h: Array | float) -> Array:
    """(..., n, 6) how much faster bodies are after a step of the length h [s] than at its pose, where joints go on
    accelerating as in the step before, by last (..., n, 6); shared frame."""
    return h * _accelerated(model, kin, passing, last) - (passing.V - kin.V)


def _less(rate: Array, gained: Array) -> Array:
    """`step.before` of turns and travels (..., m, 6), each of them a vector."""
    both = [x.reshape((*x.shape[:-1], 2, 3)) for x in (rate, gained)]
    size, most = [dot(x, x) for x in both]
    part = np.sqrt(np.minimum(size / np.maximum(most, 1e-300), 1.0))
    return np.asarray((both[0] - part[..., None] * both[1]).reshape(rate.shape))


def motions(model: Model, reference: Reference) -> tuple[Kinematics, Kinematics]:
    """Kinematics (K, ...) of a reference: with the twists of arrival, and with those in passing."""
    kin = kinematics(model, reference.arrivals)
    return kin, with_twist(model, kin, reference.passing())


def to_point(p: Array) -> Array:
    """(..., 6, 6) shared-frame motions to [angular, linear at p]."""
    return FREE + linear(p, _LEVER).reshape(p.shape[:-1] + (6, 6))
