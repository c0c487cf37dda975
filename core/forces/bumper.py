"""Limbs that touch: capsules of one figure, pressed against each other."""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Kinematics
from ..rotation import Array
from .collide import Capsules, nearest
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
        cores = self.capsules.cores(step.kin)
        close = self._close(cores)
        near = np.flatnonzero(np.any(close.reshape(-1, len(self.pairs)), axis=0))
        if not len(near):
            return None
        depth, normal, at = between(self.capsules, self.pairs[near], cores)
        frame = np.stack((normal, *tangents(normal)), axis=-2)
        first, second = (self.capsules.bodies[self.pairs[near, side]] for side in (0, 1))
        return Touching(first, second, at, frame, depth - self.sunk[near], self.stiffness[near], self.damping[near],
                        np.full(len(near), self.friction))  # fmt: skip

    def _close(self, cores: Array) -> Array:
        """(..., P) pairs whose balls around the capsules come near: the others can't touch."""
        middle = cores.mean(axis=-2)
        size = 0.5 * np.linalg.norm(cores[..., 1, :] - cores[..., 0, :], axis=-1) + self.capsules.radius
        i, j = self.pairs[:, 0], self.pairs[:, 1]
        apart = middle[..., i, :] - middle[..., j, :]
        return np.einsum("...i,...i->...", apart, apart) < (size[..., i] + size[..., j] + NEAR) ** 2


def between(capsules: Capsules, pairs: np.ndarray, cores: Array) -> tuple[Array, Array, Array]:
    """depth (..., P), normal from the second to the first (..., P, 3), the place between (..., P, 3)."""
    first, second = (cores[..., pairs[:, side], :, :] for side in (0, 1))
    x, y = nearest(first, second)
    apart = x - y
    distance = np.linalg.norm(apart, axis=-1)
    # cores that cross have no normal: take the way between their middles, else straight up
    middles = first.mean(axis=-2) - second.mean(axis=-2) + np.array([0.0, 0.0, 1e-9])
    apart = np.where(distance[..., None] > 1e-6, apart, middles)
    normal = apart / np.linalg.norm(apart, axis=-1, keepdims=True)
    r1, r2 = (capsules.radius[pairs[:, side]] for side in (0, 1))
    return r1 + r2 - distance, normal, 0.5 * (x - r1[:, None] * normal + y + r2[:, None] * normal)


def overlap(capsules: Capsules, pairs: np.ndarray, kin: Kinematics) -> Array:
    """(P,) how deep the pairs are in each other in a pose [m]."""
    return np.maximum(between(capsules, pairs, capsules.cores(kin))[0], 0.0)
