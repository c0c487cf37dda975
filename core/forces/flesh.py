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
    def _own(self) -> tuple[Array, Array, Array]:
        """Of the clip: (K, P) how deep the pairs are in each other [m], and how fast they go apart [m/s]; (K, m, 2, 3)
        cores.  Where nothing comes near nobody asks."""
        assert self.clip is not None
        cores = self.capsules.cores(self.clip)
        depth, _, _, apart = self._met(self.clip, cores, np.arange(len(self.pairs)))
        return depth, apart, cores

    def _may_touch(self, k: int, cores: Array, near: np.ndarray) -> np.ndarray:
        """Those of the pairs that can touch as far as their ends are off the clip: no two of their points get nearer
        by more than two of their ends do."""
        depth, _, clip = self._own
        off = cores - clip[k]
        first, second = (off.take(self.pairs[near, side], axis=-3) for side in (0, 1))
        nearer = first[..., :, None, :] - second[..., None, :, :]
        most = np.sqrt(np.einsum("...i,...i->...", nearer, nearer).max(axis=(-2, -1)))
        return near[(depth[k, near] + most > 0.0).reshape(-1, len(near)).any(axis=0)]

    def _met(self, kin: Kinematics, cores: Array, near: np.ndarray) -> tuple[Array, Array, Array, Array]:
        """`Capsules.nearest` of those pairs, and how fast they go apart (..., len(near))."""
        pairs = self.pairs[near]
        depth, normal, points = self.capsules.nearest(cores, pairs)
        moving = self.capsules.relative(points, pairs, kin.V)
        return depth, normal, points, np.einsum("...i,...i->...", normal, moving)

    @cached_property
    def _reach(self) -> Array:
        return self.capsules.reach(self.pairs)

    def _shown(self, kin: Kinematics, near: np.ndarray, normal: Array, points: Array) -> Array:
        """(..., len(near)) smaller mass that the two of those pairs, rods in the air, show along the normal [kg]."""
        middles, shown = self.capsules.middles(kin), []
        for one in self.pairs[near].T:
            lever = cross(points - middles.take(one, axis=-2), normal)
            spin = np.einsum("...i,...i->...", lever, lever) / self._gyration[one]
            shown.append(self.mass[one] / (1.0 + spin))
        return np.asarray(np.minimum(*shown))

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
        near = self.capsules.close(step.kin, self.pairs, self._reach)
        if not len(near):
            return
        cores = self.capsules.cores(step.kin)
        if self.clip is not None:
            near = self._may_touch(step.k, cores, near)
            if not len(near):
                return
        depth, normal, points, apart = self._met(step.kin, cores, near)
        room = BONE * self._radii[near].sum(axis=1)
        if self.clip is not None:
            sunk, parting, _ = (x[step.k] for x in self._own)
            sunk = np.maximum(sunk[near], 0.0) + MARGIN
            depth, apart, room = depth - sunk, apart - parting[near], room - sunk
        pressed = depth > 0.0
        if not pressed.any():
            return
        part = np.maximum(depth, 0.0) / np.maximum(room, self._radii[near].min(axis=1))
        omega, soft = min(self.omega, FASTEST / step.h), min(self.omega * step.h, 1.0)
        pull = omega * omega * depth / np.maximum(1.0 - part * part, soft)
        braked = np.minimum(self.loss * pull, FASTEST / step.h) * apart
        push = self._shown(step.kin, near, normal, points) * (pull - braked)
        push = np.where(pressed, np.maximum(push, 0.0), 0.0)
        force = push[..., None] * normal
        wrench = np.concatenate((cross(points, force), force), axis=-1)
        bodies = self.capsules.bodies[self.pairs[near]]
        both = step.spread(bodies[:, 0], wrench) - step.spread(bodies[:, 1], wrench)
        load.wrench = load.wrench + both
