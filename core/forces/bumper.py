"""Limbs that touch: capsules of one figure, pressed against each other."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dynamics import Kinematics
from ..rotation import Array
from .collide import Capsules
from .compliant import Touching
from .ground import tangents
from .step import Step

NEAR = 0.02  # [m] apart from where on a pair is looked at


@dataclass(frozen=True, eq=False)
class Bumper:
    """A source of `Compliant`: pairs of capsules that give way to each other.

    pairs: (P, 2) indices of capsules.  stiffness [N/m], damping [N s/m]: (P,).  friction: coefficient.
    sunk: (P,) how deep the pairs may be in each other [m].
    """

    capsules: Capsules
    pairs: np.ndarray
    stiffness: Array
    damping: Array
    friction: float
    sunk: Array

    def touching(self, step: Step) -> Touching | None:
        """Every pair that is near in any member of the batch, where it is nearest."""
        middles = self.capsules.middles(step.kin)
        near = self.capsules.close(middles, self.pairs, self._reach)
        if not len(near):
            return None
        depth, normal, at = self.capsules.nearest(self.capsules.rods(step.kin, middles).ends, self.pairs[near])
        frame = np.stack((normal, *tangents(normal)), axis=-2)
        bodies, count = self.capsules.bodies[self.pairs[near]].ravel(), len(near)
        return Touching(2 * np.arange(count), bodies, np.tile([1.0, -1.0], count), at.repeat(2, axis=-2), frame,
                        depth - self.sunk[near], self.stiffness[near], self.damping[near],
                        np.full(count, self.friction))  # fmt: skip

    @cached_property
    def _reach(self) -> Array:
        return self.capsules.reach(self.pairs) + NEAR


def overlap(capsules: Capsules, pairs: np.ndarray, kin: Kinematics) -> Array:
    """(P,) how deep the pairs are in each other in a pose [m]."""
    return np.maximum(capsules.nearest(capsules.cores(kin), pairs)[0], 0.0)
