"""What bears the free base of a body that follows a clip: the ground, which doesn't turn with it."""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Kinematics, Load
from ..model import Model
from ..rotation import Array
from ..spatial import apply_T
from .muscle import pull
from .step import Step


@dataclass(frozen=True, eq=False)
class Bearing:
    """The wrench that the clip has at its free base, kept in the world's axes about the joint.

    As a muscle's torque it would turn with the base: a trunk that a blow tilts would be pushed sideways by the force
    that its own fall through the air takes.  The weight is carried by `Muscle`, wherever it goes, but for flight: there
    by nothing, and what is left is the clip's wrench less its weight, nothing where it is ballistic.
    wrench: (K, 6) what is carried, [moment, force].
    """

    body: int
    wrench: Array

    @classmethod
    def of_clip(
        cls,
        gravity: Array,
        model: Model,
        kin: Kinematics,
        forward: Array,
        body: int,
        share: Array,
        grounded: Array,
    ) -> "Bearing":
        """kin: of the clip in passing.  forward: (K, n, 6) its inverse dynamics without gravity.  share: (K,) part that
        is carried.  grounded: (K,) 1 where the weight is carried, 0 in flight."""
        held = forward[:, body] - (1.0 - grounded)[:, None] * _weight(model, kin, body, gravity)
        return cls(body, share[:, None] * _turned(kin.R[:, body], held))

    def add(self, load: Load, step: Step) -> None:
        """The base's joint force."""
        back = step.kin.R[..., self.body, :, :].swapaxes(-1, -2)
        load.force[..., self.body, :] += _turned(back, self.wrench[step.k])


def _weight(model: Model, kin: Kinematics, body: int, gravity: Array) -> Array:
    """(..., 6) the weight of all that a body carries, about its origin, body frame."""
    return apply_T(kin.X[..., body, :, :], model.ancestor[:, body] @ pull(kin, gravity))


def _turned(R: Array, wrench: Array) -> Array:
    """Moment and force (..., 6) in other axes."""
    return np.asarray((wrench.reshape((*wrench.shape[:-1], 2, 3)) @ R.swapaxes(-1, -2)).reshape(wrench.shape))
