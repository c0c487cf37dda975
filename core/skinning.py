"""Points of a surface that several bodies may move together: linear blend skinning."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .dynamics import Kinematics
from .rotation import Array, cross, rotate
from .spatial import apply

PARTS = ("bodies", "places", "weights")


@dataclass(frozen=True, eq=False)
class Skinned:
    """m points, each of one part or more: where bodies would have it, and how much each of them counts.

    first: (m,) first part of each point, the one that counts most.  bodies: (a,) of the parts.  places: (a, 3) body
    frame [m].  weights: (a,) that add up to 1 for each point.
    """

    first: np.ndarray
    bodies: np.ndarray
    places: Array
    weights: Array

    @classmethod
    def rigid(cls, bodies: np.ndarray, places: Array) -> "Skinned":
        """Points (m, 3) that go with one body (m,) each."""
        return cls(np.arange(len(bodies)), bodies, places, np.ones(len(bodies)))

    @classmethod
    def joined(cls, several: Sequence["Skinned"]) -> "Skinned":
        """The points of several, one after the other."""
        start = np.cumsum([0] + [len(one.bodies) for one in several[:-1]])
        first = np.concatenate([one.first + k for one, k in zip(several, start, strict=True)])
        return cls(first, *(np.concatenate([getattr(one, name) for one in several]) for name in PARTS))

    @cached_property
    def owners(self) -> np.ndarray:
        """(m,) the body that counts most."""
        return np.asarray(self.bodies[self.first])

    def chosen(self, points: np.ndarray) -> "Skinned":
        """Some of the points, by indices or as a mask (m,)."""
        points = np.arange(len(self.first))[points]
        count = np.diff(np.append(self.first, len(self.bodies)))[points]
        first = np.cumsum(count) - count
        parts = np.repeat(self.first[points] - first, count) + np.arange(count.sum())
        return Skinned(first, self.bodies[parts], self.places[parts], self.weights[parts])

    @cached_property
    def points(self) -> np.ndarray:
        """(a,) the point of each part."""
        return np.repeat(np.arange(len(self.first)), np.diff(np.append(self.first, len(self.bodies))))

    def blended(self, parts: Array) -> Array:
        """(..., m, c) of values of the parts (..., a, c)."""
        if len(self.first) == len(self.bodies):
            return parts
        return np.asarray(np.add.reduceat(self.weights[:, None] * parts, self.first, axis=-2))

    def world(self, q: Array, p: Array) -> Array:
        """(..., m, 3) for world poses (..., n, 4), (..., n, 3)."""
        return self.blended(p[..., self.bodies, :] + rotate(q[..., self.bodies, :], self.places))

    def parts(self, kin: Kinematics) -> Array:
        """(..., a, 3) where bodies would have them, shared frame."""
        return kin.p[..., self.bodies, :] + apply(kin.R[..., self.bodies, :, :], self.places)

    def at(self, kin: Kinematics) -> Array:
        """(..., m, 3) shared frame."""
        return self.blended(self.parts(kin))

    def heights(self, kin: Kinematics) -> Array:
        """(..., m) of the same, the third coordinate alone."""
        level = np.einsum("...ai,ai->...a", kin.R[..., self.bodies, 2, :], self.places)
        return self.blended((kin.p[..., self.bodies, 2] + level)[..., None])[..., 0]

    def velocity(self, kin: Kinematics) -> Array:
        """(..., m, 3) world."""
        return self.moved(kin, kin.V)

    def moved(self, kin: Kinematics, motion: Array) -> Array:
        """(..., m, 3) velocities of the points for shared-frame motions (..., n, 6) of the bodies."""
        V = motion[..., self.bodies, :]
        return self.blended(V[..., 3:] + cross(V[..., :3], self.parts(kin)))
