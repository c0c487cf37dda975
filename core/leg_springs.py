"""Legs as springs, where more than two bear a body that its ground brakes.

The ground brakes a body at its feet, below its weight.  What that turns it by is borne where some legs are pressed
more and others less, and these give way by their stiffness: an animal pushed back sits back, one pushed forward bows.
"""

from dataclasses import dataclass

import numpy as np

from .forces import Track, WorldSpring
from .resample import linear
from .rotation import Array
from .stance import Stance

STIFF = 13.0  # weights by which all legs press more a leg's length shorter, see `LegSprings.spring`
RATIO = 0.7  # of their damping to the critical; chosen


@dataclass(frozen=True, eq=False)
class LegSprings:
    """Of a stance's legs in steps (K,).

    stands: (K, L) how far each bears the body, 0..1.  high: (K,) its weight above the ground [m].  length: of a leg
    [m].  mass: of the body [kg], weight: [N].
    """

    stands: Array
    high: Array
    length: float
    mass: float
    weight: float

    @classmethod
    def of(cls, stance: Stance, stands: Array, mass: float, times: Array) -> "LegSprings":
        """At times (K,) [s]."""
        gravity = float(stance.pace[0]) ** 2 * float(stance.height[0])
        high = linear(stance.times, stance.height, times)
        return cls(stands, high, float(stance.length.mean()), mass, mass * gravity)

    def pressed(self, hips: Array, brakes: Array) -> Array:
        """(K, L) how much more legs press their hips up [N], no force in all: what turns the body is the moment of
        what brakes it at its feet.  Across, where hips are near to each other, they hold it upright.

        hips: (K, L, 2) in the ground plane [m].  brakes: (K, 2) the ground's force [N].
        """
        away = hips - hips.mean(axis=1, keepdims=True)
        (xx, xy), (_, yy) = np.einsum("kli,klj->ijk", away, away)
        longest = 0.5 * (xx + yy) + np.hypot(0.5 * (xx - yy), xy)
        more = np.einsum("kli,ki->kl", away, brakes) * (self.high / np.maximum(longest, 1e-6))[:, None]
        most = self.weight / more.shape[1]  # an end of the body whose legs press nothing any more
        return np.asarray(more * (most / np.maximum(np.abs(more).max(axis=1), most))[:, None])

    def spring(self, hips: np.ndarray, way: Track, tone: Array) -> WorldSpring:
        """What keeps hips (L,) as high as on their way, as far as muscles have tone (K,).

        A body of M kg that trots is on legs of 0.715 M^0.67 kN/m in all (Farley, Glasheen and McMahon 1993, dogs, goats
        and horses), which for a dog of 24 kg is its weight for a 13th of their length; here those that stand share it.
        """
        K, D = np.zeros((2, *self.stands.shape, 6, 6))
        K[..., 5, 5] = STIFF * self.weight / self.length * self._share * tone[:, None]
        D[..., 5, 5] = 2.0 * RATIO * np.sqrt(K[..., 5, 5] * self.mass * self._share)
        return WorldSpring(hips, K, D, way)

    @property
    def _share(self) -> Array:
        """(K, L) what each leg bears of the body; less than all of it in all as the last ones leave the ground."""
        return np.asarray(self.stands / np.maximum(self.stands.sum(axis=1, keepdims=True), 1.0))
