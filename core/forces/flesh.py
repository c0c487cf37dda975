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
    def _known(self) -> dict[bytes, tuple[Array, Array]]:
        return {}

    def _own(self, near: np.ndarray) -> tuple[Array, Array]:
        """(K, len(near)) how deep those pairs are in each other in the clip [m], and how fast they go apart [m/s];
        most pairs are never asked for."""
        assert self.clip is not None
        key = near.tobytes()
        if key not in self._known:
            depth, _, _, apart = self._met(self.clip, near)
            self._known[key] = np.maximum(depth, 0.0) + MARGIN, apart
        return self._known[key]

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
        if not len(near):
            return
        depth, normal, points, apart = self._met(step.kin, near)
        if self.clip is not None:
            sunk, parting = self._own(near)
            depth, apart = depth - sunk[step.k], apart - parting[step.k]
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
