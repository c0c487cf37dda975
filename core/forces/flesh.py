"""Flesh on flesh: limbs that swing against the body are braked softly, without a contact solver."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..dynamics import Kinematics, Load
from ..rotation import Array, cross
from .collide import Capsules
from .contact import MARGIN
from .step import Step

END = 1.0 / 3.0


@dataclass(frozen=True, eq=False)
class Flesh:
    """Springs and dampers between pairs of capsules, frictionless, silent on the clip.

    They act as they are found on arrival. So that long sub-steps stay stable, stiffness and damping are no more than
    what stops in one sub-step the part END of the lighter body's mass, which a rod shows of itself at its end.
    pairs: (P, 2) indices of capsules.  stiffness [N/m], damping [N s/m], mass of the lighter body [kg]: (P,).
    clip: of the arrivals at every step, None = all counts.  Only what goes deeper than there is pressed, and only what
    goes apart slower than there is damped, or a body hardly off its clip would be braked by its clip's own motion.
    """

    capsules: Capsules
    pairs: np.ndarray
    stiffness: Array
    damping: Array
    mass: Array
    clip: Kinematics | None = None

    def of_clip(self, kin: Kinematics) -> "Flesh":
        """The same, pressed only deeper than the clip itself does; kin: of the reference's arrivals."""
        return replace(self, clip=kin)

    @cached_property
    def _own(self) -> tuple[Array, Array, Array]:
        """Of the clip: (K, P) how deep the pairs are in each other [m], and how fast they go apart [m/s]; (K, m, 2, 3)
        cores.  Where nothing comes near nobody asks."""
        assert self.clip is not None
        depth, _, _, apart = self._met(self.clip, np.arange(len(self.pairs)))
        return depth, apart, self.capsules.cores(self.clip)

    def _may_touch(self, step: Step, near: np.ndarray) -> np.ndarray:
        """Those of the pairs that can touch as far as their ends are off the clip: no two of their points get nearer
        by more than two of their ends do."""
        depth, _, cores = self._own
        off = self.capsules.cores(step.kin) - cores[step.k]
        first, second = (off.take(self.pairs[near, side], axis=-3) for side in (0, 1))
        nearer = first[..., :, None, :] - second[..., None, :, :]
        most = np.sqrt(np.einsum("...i,...i->...", nearer, nearer).max(axis=(-2, -1)))
        return near[(depth[step.k, near] + most > 0.0).reshape(-1, len(near)).any(axis=0)]

    def _met(self, kin: Kinematics, near: np.ndarray) -> tuple[Array, Array, Array, Array]:
        """`Capsules.nearest` of those pairs, and how fast they go apart (..., len(near))."""
        pairs = self.pairs[near]
        depth, normal, points = self.capsules.nearest(kin, pairs)
        moving = self.capsules.relative(points, pairs, kin.V)
        return depth, normal, points, np.einsum("...i,...i->...", normal, moving)

    @cached_property
    def _reach(self) -> Array:
        return self.capsules.reach(self.pairs)

    def add(self, load: Load, step: Step) -> None:
        """Equal and opposite forces at the point between the two bodies of every pair that is pressed."""
        near = self.capsules.close(step.kin, self.pairs, self._reach)
        if len(near) and self.clip is not None:
            near = self._may_touch(step, near)
        if not len(near):
            return
        depth, normal, points, apart = self._met(step.kin, near)
        if self.clip is not None:
            sunk, parting, _ = (x[step.k] for x in self._own)
            depth, apart = depth - np.maximum(sunk[near], 0.0) - MARGIN, apart - parting[near]
        pressed = depth > 0.0
        if not pressed.any():
            return
        most = END * self.mass[near] / step.h
        stiffness, damping = np.minimum(self.stiffness[near], most / step.h), np.minimum(self.damping[near], most)
        push = stiffness * depth - damping * apart
        push = np.where(pressed, np.maximum(push, 0.0), 0.0)
        force = push[..., None] * normal
        wrench = np.concatenate((cross(points, force), force), axis=-1)
        bodies = self.capsules.bodies[self.pairs[near]]
        both = step.spread(bodies[:, 0], wrench) - step.spread(bodies[:, 1], wrench)
        load.wrench = load.wrench + both
