"""Flesh on flesh: limbs that swing against the body are braked softly, without a contact solver."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..dynamics import Kinematics, Load
from ..rotation import Array, cross
from .collide import Capsules
from .contact import MARGIN
from .step import Step

BONE = 0.8  # part of two radii after which bone would be on bone; chosen so that a waving arm that is hit stays good
FASTEST = 0.5  # [rad] of an oscillation in a sub-step, and part of its speed that it may lose; stable below 2


@dataclass(frozen=True, eq=False)
class Flesh:
    """Springs and dampers between pairs of capsules, frictionless, silent on the clip.

    Two are pushed as if the one that shows less mass where they meet, both rods in the air, swung at one frequency,
    and more and more stiffly the nearer bone comes to bone.  A touch is no jolt: what is lost grows with the pressure
    (Hunt and Crossley 1975).  Forces act as they are found on arrival; in long sub-steps they are no stiffer than
    stays stable.
    pairs: (P, 2) indices of capsules.  mass: (m,) of the capsules [kg].  omega: circular frequency [1/s].
    loss: part of the pressure that comes on top for every m/s together [s/m].
    clip: of the arrivals at every step, None = all counts.  Only what goes deeper than there is pressed, and only what
    goes apart slower than there is damped, or a body hardly off its clip would be braked by its clip's own motion.
    """

    capsules: Capsules
    pairs: np.ndarray
    mass: Array
    omega: float
    loss: float
    clip: Kinematics | None = None

    def of_clip(self, kin: Kinematics) -> "Flesh":
        """The same, pressed only deeper than the clip itself does; kin: of the reference's arrivals."""
        return replace(self, clip=kin)

    @cached_property
    def _own(self) -> tuple[Array, Array, Array, Array]:
        """Of the clip: (K, P) how deep the pairs may be in each other [m], square of how much nearer they must get to
        be so deep, and how fast they go apart [m/s]; (K, m, 2, 3) cores."""
        assert self.clip is not None
        cores = self.capsules.cores(self.clip)
        depth, normal, points = self.capsules.nearest(cores, self.pairs)
        sunk = np.maximum(depth, 0.0) + MARGIN
        return sunk, np.square(sunk - depth), self._apart(self.clip, self.pairs, normal, points), cores

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(4, P) each end of the first with each of the second, among the ends of all capsules."""
        first, second = 2 * self.pairs.T
        return np.stack((first, first, first + 1, first + 1)), np.stack((second, second + 1, second, second + 1))

    def _may_touch(self, k: int, cores: Array) -> np.ndarray:
        """The pairs that can be pressed as far as their ends are off the clip: no two of their points get nearer by
        more than two of their ends do."""
        if self.clip is None:
            return np.arange(len(self.pairs))
        _, least, _, clip = self._own
        off = (cores - clip[k]).reshape(cores.shape[:-3] + (-1, 3))
        nearer = off.take(self._ends[0], axis=-2) - off.take(self._ends[1], axis=-2)
        most = np.einsum("...i,...i->...", nearer, nearer).max(axis=-2)
        return np.flatnonzero((most > least[k]).reshape(-1, len(self.pairs)).any(axis=0))

    def _apart(self, kin: Kinematics, pairs: np.ndarray, normal: Array, points: Array) -> Array:
        """(..., len(pairs)) how fast these pairs go apart [m/s]."""
        return np.asarray(np.einsum("...i,...i->...", normal, self.capsules.relative(points, pairs, kin.V)))

    def _shown(self, cores: Array, pairs: np.ndarray, normal: Array, points: Array) -> Array:
        """(..., len(pairs)) smaller mass that the two of these pairs, rods in the air, show along the normal [kg]."""
        middles = 0.5 * cores.take(pairs, axis=-3).sum(axis=-2)
        lever = cross(points[..., None, :] - middles, normal[..., None, :])
        spin = np.einsum("...i,...i->...", lever, lever) / self._gyration[pairs]
        return np.asarray((self.mass[pairs] / (1.0 + spin)).min(axis=-1))

    @cached_property
    def _gyration(self) -> Array:
        """(m,) square of the radius of gyration across each rod [m^2]."""
        long = self.capsules.ends[:, 1] - self.capsules.ends[:, 0]
        return np.asarray(np.einsum("mi,mi->m", long, long) / 12.0 + np.square(self.capsules.radius) / 4.0)

    @cached_property
    def _radii(self) -> Array:
        """(P, 2) radii of both [m]."""
        return np.asarray(self.capsules.radius[self.pairs])

    def add(self, load: Load, step: Step) -> None:
        """Equal and opposite forces at the point between the two bodies of every pair that is pressed."""
        cores = self.capsules.cores(step.kin)
        near = self._may_touch(step.k, cores)
        if not len(near):
            return
        pairs, radii = self.pairs[near], self._radii[near]
        depth, normal, points = self.capsules.nearest(cores, pairs)
        sunk = 0.0 if self.clip is None else self._own[0][step.k, near]
        depth = depth - sunk
        pressed = depth > 0.0
        if not pressed.any():
            return
        apart = self._apart(step.kin, pairs, normal, points)
        if self.clip is not None:
            apart = apart - self._own[2][step.k, near]
        part = np.maximum(depth, 0.0) / np.maximum(BONE * radii.sum(axis=1) - sunk, radii.min(axis=1))
        omega, soft = min(self.omega, FASTEST / step.h), min(self.omega * step.h, 1.0)
        pull = omega * omega * depth / np.maximum(1.0 - part * part, soft)
        braked = np.minimum(self.loss * pull, FASTEST / step.h) * apart
        push = self._shown(cores, pairs, normal, points) * (pull - braked)
        push = np.where(pressed, np.maximum(push, 0.0), 0.0)
        force = push[..., None] * normal
        wrench = np.concatenate((cross(points, force), force), axis=-1)
        both = np.concatenate((wrench, -wrench), axis=-2)
        load.wrench = load.wrench + step.spread(self.capsules.bodies[pairs.T].reshape(-1), both)
