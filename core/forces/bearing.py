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
    that its own fall through the air takes.
    wrench: (K, 6) inverse dynamics without gravity, [moment, force].  weight: (K, 6) that of the clip's pose.
    share: (K,) part that is carried.  grounded: (K,) 1: the weight is carried wherever it goes, by `Muscle`; 0, in
    flight: by nothing, and what is left is the clip's wrench less its weight, nothing where it is ballistic.
    """

    body: int
    wrench: Array
    weight: Array
    share: Array
    grounded: Array

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
        """kin: of the clip in passing.  forward: (K, n, 6) its inverse dynamics without gravity.  share, grounded:
        (K,)."""
        wrench, weight = (_turned(kin.R[:, body], w) for w in (forward[:, body], _weight(model, kin, body, gravity)))
        return cls(body, wrench, weight, share, grounded)

    def add(self, load: Load, step: Step) -> None:
        """The base's joint force."""
        k, back = step.k, step.kin.R[..., self.body, :, :].swapaxes(-1, -2)
        held = self.wrench[k] - (1.0 - self.grounded[k]) * self.weight[k]
        load.force[..., self.body, :] += self.share[k] * _turned(back, held)


def _weight(model: Model, kin: Kinematics, body: int, gravity: Array) -> Array:
    """(..., 6) the weight of all that a body carries, about its origin, body frame."""
    return apply_T(kin.X[..., body, :, :], model.ancestor[:, body] @ pull(kin, gravity))


def _turned(R: Array, wrench: Array) -> Array:
    """Moment and force (..., 6) in other axes."""
    return np.asarray((wrench.reshape((*wrench.shape[:-1], 2, 3)) @ R.swapaxes(-1, -2)).reshape(wrench.shape))
