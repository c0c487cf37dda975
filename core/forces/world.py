"""Springs to the clip's pose in the world."""

from dataclasses import dataclass, replace

import numpy as np

from ..dynamics import Kinematics, Load, kinematics, with_twist
from ..model import Model
from ..reference import Reference
from ..rotation import EYE, Array, skew, vector
from ..spatial import apply, apply_T
from .step import INERTIA, Step, table


@dataclass(frozen=True, eq=False)
class Track:
    """How m points fixed in bodies move in the clip.

    R: (K, m, 3, 3) body to world.  position: (K, m, 3) world [m].  twist: (K, m, 6) on arrival, acceleration:
    (K, m, 6) in the step, [angular, linear at the point], world axes.
    """

    R: Array
    position: Array
    twist: Array
    acceleration: Array

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
        a = model.outward(passing.c + apply(kin.X, reference.acceleration))
        R = kin.R[:, bodies]
        p = kin.p[:, bodies] + apply(R, points)
        twist, acceleration = (apply(to_point(p), v[:, bodies]) for v in (kin.V, a))
        return cls(R, p + kin.origin[:, None], twist, acceleration)

    def moved(self, way: Array, rate: Array, acceleration: Array) -> "Track":
        """The same off its way, (K, m, 3) in the world each: by so much, so fast on arrival, and so much faster."""
        twist, change = self.twist.copy(), self.acceleration.copy()
        twist[..., 3:] += rate
        change[..., 3:] += acceleration
        return replace(self, position=self.position + way, twist=twist, acceleration=change)


@dataclass(frozen=True, eq=False)
class WorldSpring:
    """Holds bodies to the clip's pose in the world: planted feet.

    bodies: (m,).  stiffness, damping: (m, 6, 6) or (K, m, 6, 6) at the body's origin, world axes, [angular, linear].
    track: the clip's motion of the bodies' origins.
    """

    bodies: np.ndarray
    stiffness: Array
    damping: Array
    track: Track

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

    def add(self, load: Load, step: Step) -> None:
        """Wrench and impedance at the body's origin, moved to the shared frame."""
        k, h, kin, clip = step.k, step.h, step.kin, self.track
        p = kin.p.take(self.bodies, axis=-2)
        at = to_point(p)
        turn = vector(kin.R.take(self.bodies, axis=-3) @ np.swapaxes(clip.R[k], -1, -2))
        e = np.concatenate((turn, p + kin.origin[..., None, :] - clip.position[k]), axis=-1)
        e_dot = apply(at, kin.V.take(self.bodies, axis=-2)) - clip.twist[k]
        K, D = table(self.stiffness, k, 3), table(self.damping, k, 3)
        Z = h * D + INERTIA * h**2 * K
        f = -apply(K, e) - apply(D, e_dot) + apply(Z, clip.acceleration[k])
        load.add_body(self.bodies, apply_T(at, f), np.swapaxes(at, -1, -2) @ Z @ at)


def motions(model: Model, reference: Reference) -> tuple[Kinematics, Kinematics]:
    """Kinematics (K, ...) of a reference: with the twists of arrival, and with those in passing."""
    kin = kinematics(model, reference.arrivals())
    return kin, with_twist(model, kin, reference.passing())


def to_point(p: Array) -> Array:
    """(..., 6, 6) shared-frame motions to [angular, linear at p]."""
    out = np.zeros(p.shape[:-1] + (6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = EYE
    out[..., 3:, :3] = -skew(p)
    return out
