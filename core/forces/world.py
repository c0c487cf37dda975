"""Springs to the clip's pose in the world."""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Load, kinematics
from ..model import Model
from ..reference import Reference
from ..rotation import Array, conjugate, from_matrix, log, multiply
from ..spatial import apply, skew
from .step import Step


@dataclass(frozen=True, eq=False)
class WorldSpring:
    """Holds bodies to the clip's pose in the world: planted feet.

    bodies: (m,).  stiffness, damping: (m, 6, 6) at the body's origin, world axes, [angular, linear].
    rotation: (K, m, 4), position: (K, m, 3) the clip's world poses.  twist, acceleration: (K, m, 6) of the clip on
    arrival
    and in the step, [angular, linear at the body's origin], world axes; see `of_clip`.
    """

    bodies: np.ndarray
    stiffness: Array
    damping: Array
    rotation: Array
    position: Array
    twist: Array
    acceleration: Array

    @classmethod
    def of_clip(cls, model: Model, reference: Reference, bodies: np.ndarray, K: Array, D: Array) -> "WorldSpring":
        """To the clip's own motion of the bodies; K, D: (m, 6, 6)."""
        kin = kinematics(model, reference.arrivals())
        a = model.ancestor @ (kin.c + apply(kin.X, reference.acceleration))
        p = kin.p[:, bodies]
        position = p + kin.origin[:, None]
        twist, acceleration = (apply(_to_point(p), v[:, bodies]) for v in (kin.V, a))
        return cls(bodies, K, D, from_matrix(kin.R[:, bodies]), position, twist, acceleration)

    def add(self, load: Load, step: Step) -> None:
        """Wrench and impedance at the body's origin, moved to the shared frame."""
        k, h, kin = step.k, step.h, step.kin
        p = kin.p[..., self.bodies, :]
        to_point = _to_point(p)
        turn = multiply(from_matrix(kin.R[..., self.bodies, :, :]), conjugate(self.rotation[k]))
        e = np.concatenate((log(turn), p + kin.origin[..., None, :] - self.position[k]), axis=-1)
        e_dot = apply(to_point, kin.V[..., self.bodies, :]) - self.twist[k]
        Z = h * self.damping + h**2 * self.stiffness
        f = -apply(self.stiffness, e + h * e_dot) - apply(self.damping, e_dot) + apply(Z, self.acceleration[k])
        back = np.swapaxes(to_point, -1, -2)
        load.add_body(self.bodies, apply(back, f), back @ Z @ to_point)


def _to_point(p: Array) -> Array:
    """(..., 6, 6) shared-frame motions to [angular, linear at p]."""
    out = np.zeros(p.shape[:-1] + (6, 6))
    out[...] = np.eye(6)
    out[..., 3:, :3] = -skew(p)
    return out
