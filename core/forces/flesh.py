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
    sunk: (K, P) how deep the pairs are in each other in the clip [m]; only what goes beyond is pressed.
    apart: (K, P) how fast they go apart there [m/s]; only what they are slower is damped, or a body hardly off its
    clip would be braked by its clip's own motion.
    """

    capsules: Capsules
    pairs: np.ndarray
    stiffness: Array
    damping: Array
    mass: Array
    sunk: Array | None = None
    apart: Array | None = None

    def of_clip(self, kin: Kinematics) -> "Flesh":
        """The same, pressed only deeper than the clip itself does; kin: of the reference's arrivals."""
        depth, normal, points = self.capsules.nearest(kin, self.pairs)
        apart = np.einsum("...i,...i->...", normal, self.capsules.relative(points, self.pairs, kin.V))
        return replace(self, sunk=np.maximum(depth, 0.0) + MARGIN, apart=apart)

    @cached_property
    def _reach(self) -> Array:
        return self.capsules.reach(self.pairs)

    def add(self, load: Load, step: Step) -> None:
        """Equal and opposite forces at the point between the two bodies of every pair that is pressed."""
        near = self.capsules.close(step.kin, self.pairs, self._reach)
        if not len(near):
            return
        pairs = self.pairs[near]
        depth, normal, points = self.capsules.nearest(step.kin, pairs)
        if self.sunk is not None:
            depth = depth - self.sunk[step.k][..., near]
        pressed = depth > 0.0
        if not pressed.any():
            return
        apart = np.einsum("...i,...i->...", normal, self.capsules.relative(points, pairs, step.kin.V))
        if self.apart is not None:
            apart = apart - self.apart[step.k][..., near]
        most = END * self.mass[near] / step.h
        stiffness, damping = np.minimum(self.stiffness[near], most / step.h), np.minimum(self.damping[near], most)
        push = stiffness * depth - damping * apart
        push = np.where(pressed, np.maximum(push, 0.0), 0.0)
        force = push[..., None] * normal
        wrench = np.concatenate((cross(points, force), force), axis=-1)
        bodies = self.capsules.bodies[pairs]
        both = step.spread(bodies[:, 0], wrench) - step.spread(bodies[:, 1], wrench)
        load.wrench = load.wrench + both
