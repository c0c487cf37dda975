"""Self-collision: capsules of bodies that may not run into each other."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..dynamics import Kinematics, kinematics, with_twist
from ..lanes import apply, arranged, dot, rows
from ..model import Model
from ..reference import Reference
from ..rotation import Array, cross
from .checks import finite, positive
from .contact import MARGIN, ahead
from .coulomb import APART, Rows
from .ground import tangents, unit_wrenches
from .step import Step

NEAR = 0.02  # [m] apart from where on a pair takes part
_SIDES = np.array([[-1.0], [1.0]])


class Rods(NamedTuple):
    """Cores of capsules: (..., m, 3) their middles, and the ways from there to their second ends [m]."""

    middle: Array
    half: Array

    @property
    def ends(self) -> Array:
        """(..., m, 2, 3) of both sides."""
        return self.middle[..., None, :] + _SIDES * self.half[..., None, :]


@dataclass(frozen=True, eq=False)
class Capsules:
    """m capsules.  bodies: (m,).  ends: (m, 2, 3) of the core, body frame [m].  radius: (m,) [m]."""

    bodies: np.ndarray
    ends: Array
    radius: Array

    def __post_init__(self) -> None:
        positive("Capsules", radius=self.radius)
        finite("Capsules", ends=self.ends)

    def pairs(
        self, model: Model, groups: Iterable[Iterable[int]] = (), ignored: Iterable[tuple[int, int]] = ()
    ) -> np.ndarray:
        """(P, 2) capsules that may collide: not of one body or of neighbours in the tree, not within an overlap group,
        not among the ignored pairs.  groups, ignored: indices of capsules."""
        out = {frozenset(pair) for pair in ignored}
        out |= {frozenset((i, j)) for group in map(list, groups) for i in group for j in group}
        found = []
        for i, a in enumerate(self.bodies):
            for j, b in enumerate(self.bodies[:i]):
                near = a == b or model.parent[a] == b or model.parent[b] == a
                if not near and frozenset((i, j)) not in out:
                    found.append((j, i))
        return np.array(found, dtype=int).reshape(-1, 2)

    def middles(self, kin: Kinematics) -> Array:
        """(..., m, 3) of the cores, shared frame."""
        return rows(kin.p, self.bodies) + apply(rows(kin.R, self.bodies, 2), self._middles)

    def rods(self, kin: Kinematics, middles: Array) -> Rods:
        """The cores with these middles, shared frame."""
        return Rods(middles, apply(rows(kin.R, self.bodies, 2), self.ends[:, 1] - self._middles))

    @cached_property
    def _middles(self) -> Array:
        """(m, 3) of the cores, body frame [m]."""
        return np.asarray(self.ends.mean(axis=1))

    def cores(self, kin: Kinematics) -> Array:
        """(..., m, 2, 3) ends of the cores, shared frame."""
        return self.rods(kin, self.middles(kin)).ends

    def reach(self, pairs: np.ndarray) -> Array:
        """(P,) how far apart the middles of the pairs (P, 2) are where their bounding balls meet [m]."""
        size = self.radius + 0.5 * np.linalg.norm(self.ends[:, 1] - self.ends[:, 0], axis=-1)
        return np.asarray(size[pairs].sum(axis=1))

    def close(self, middles: Array, pairs: np.ndarray, reach: Array) -> np.ndarray:
        """Indices of the pairs (P, 2) whose middles are within `reach` (P,) in any member of the batch."""
        apart = rows(middles, pairs[:, 0]) - rows(middles, pairs[:, 1])
        return _anywhere(dot(apart, apart) < reach * reach)

    def meeting(self, rods: Rods, pairs: np.ndarray, normal: Array) -> np.ndarray:
        """Indices of the pairs (P, 2) that no plane square to the directions (..., P, 3) parts, in any member of the
        batch: those that may touch."""
        (m, n), (a, b) = ((rows(x, pairs[:, 0]), rows(x, pairs[:, 1])) for x in (rods.middle, rods.half))
        apart = dot(normal, m - n) - np.abs(dot(normal, a)) - np.abs(dot(normal, b))
        return _anywhere(apart <= self.radius.take(pairs).sum(axis=1))

    def nearest(self, cores: Array, pairs: np.ndarray) -> tuple[Array, Array, Array]:
        """depth (..., P), normal from the second to the first (..., P, 3), and the point between them (..., P, 3), of
        `cores`."""
        both = arranged(cores.take(pairs, axis=-3), 3)
        x, y = nearest(both)
        apart = x - y
        distance = np.sqrt(dot(apart, apart))
        crossed = distance < 1e-6
        normal = apart / np.maximum(distance, 1e-6)[..., None]
        if np.count_nonzero(crossed):  # no way between the cores: take the way between their middles, else straight up
            middles = (both[..., 0, :, :] - both[..., 1, :, :]).sum(axis=-2) + np.array([0.0, 0.0, 1e-9])
            middles = middles / np.linalg.norm(middles, axis=-1, keepdims=True)
            normal = np.where(crossed[..., None], middles, normal)
        r1, r2 = self.radius[pairs].T
        return r1 + r2 - distance, normal, 0.5 * (x + y + (r2 - r1)[:, None] * normal)

    def relative(self, points: Array, pairs: np.ndarray, motion: Array) -> Array:
        """(..., P, 3) motion of the first against the second body at the points, of spatial motions (..., n, 6)."""
        both = motion.take(self.bodies[pairs], axis=-2)
        d = both[..., 0, :] - both[..., 1, :]
        return d[..., 3:] + cross(d[..., :3], points)


@dataclass(frozen=True, eq=False)
class SelfCollision:
    """A source of `Contacts` that keeps pairs of capsules apart.

    pairs: (P, 2) indices of capsules.  stiffness [N/m], damping [N s/m].  friction: coefficient.
    sunk: (K, P) how deep the pairs are in each other in the clip itself [m]; only what goes beyond is a contact.
    """

    capsules: Capsules
    pairs: np.ndarray
    stiffness: float = 2e4
    damping: float = 200.0
    friction: float = 0.3
    sunk: Array | None = None

    def of_clip(self, model: Model, reference: Reference) -> "SelfCollision":
        """The same, silent on the clip: a pair that overlaps there is judged beyond that overlap."""
        kin = kinematics(model, reference.arrivals)
        depth, normal, points = self.capsules.nearest(self.capsules.cores(kin), self.pairs)
        h = reference.kicks[:, None]
        motion = ahead(model, kin, with_twist(model, kin, reference.passing()), reference.acceleration, h[..., None])
        closing = dot(normal, self.capsules.relative(points, self.pairs, motion))
        deepest = np.maximum(depth, depth - h * closing)
        return replace(self, sunk=np.maximum(deepest, 0.0) + MARGIN)

    def rows(self, step: Step) -> Rows | None:
        """One contact per pair that is near in any member of the batch."""
        if not len(self.pairs):
            return None
        depth, normal, points = self.capsules.nearest(self.capsules.cores(step.kin), self.pairs)
        closing = dot(normal, self.capsules.relative(points, self.pairs, step.kin.V))
        if self.sunk is not None:
            depth = depth - self.sunk[step.k]
        reach = NEAR + 2.0 * step.h * np.abs(closing)
        close = depth > -reach
        near = np.flatnonzero(np.any(close.reshape(-1, len(self.pairs)), axis=0))
        if not len(near):
            return None
        n = normal[..., near, :]
        frame = np.stack((n, *tangents(n)), axis=-2)
        a, b = (self.capsules.bodies[self.pairs[near, side]] for side in (0, 1))
        at = points[..., near, :]
        one = np.ones(len(near))
        return Rows(
            wrench=unit_wrenches(step, a, at, frame) - unit_wrenches(step, b, at, frame),
            depth=np.where(close, depth, -APART)[..., near],
            stiffness=self.stiffness * one,
            damping=self.damping * one,
            static=self.friction * one,
            kinetic=self.friction * one,
            drift=np.zeros(frame.shape[:-1]),
            bound=0.0 * one,
        )


def _anywhere(found: np.ndarray) -> np.ndarray:
    """Indices of the pairs that are found (..., P) in any member of a batch."""
    return (found if found.ndim == 1 else np.any(found.reshape(-1, found.shape[-1]), axis=0)).nonzero()[0]


def nearest(both: Array) -> tuple[Array, Array]:
    """Nearest points (..., 3) of each of two segments (..., 2, 2, 3) (Ericson 2005, 5.1.9, without branches); of
    parallel ones in the middle of where they run side by side."""
    x, y = both[..., 0, 0, :], both[..., 1, 0, :]
    one, two, r = both[..., 0, 1, :] - x, both[..., 1, 1, :] - y, x - y
    a, b, e = np.maximum(dot(one, one), 1e-18), dot(one, two), np.maximum(dot(two, two), 1e-18)
    c, f = dot(one, r), dot(two, r)
    whole = a * e
    across = whole - b * b
    s = _within((b * f - c * e) / np.maximum(across, 1e-12 * whole))
    along = across <= 1e-6 * whole
    if np.count_nonzero(along):
        s = np.where(along, 0.5 * (_within(-c / a) + _within((b - c) / a)), s)  # the second's ends, seen from the first
    t = _within((b * s + f) / e)
    s = _within((b * t - c) / a)
    return x + s[..., None] * one, y + t[..., None] * two


def _within(x: Array) -> Array:
    """The nearest of 0 to 1."""
    return np.minimum(np.maximum(x, 0.0), 1.0)
