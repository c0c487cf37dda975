"""Muscles: springs and dampers to the clip's joint pose with the clip's own torque."""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Load
from ..rotation import Array
from ..spatial import apply
from .step import Step


@dataclass(frozen=True, eq=False)
class Muscle:
    """Springs and dampers to the clip's joint pose, with the clip's own torque as feed-forward.

    stiffness, damping: (n, 6, 6) body frames.  tone: (K,) factor on the stiffness over time; damping goes with its root
    so that the damping ratio stays.  ceiling: (n,) most torque of the spring [N m], inf = none.  share: (n,) part of
    the clip's
    inverse dynamics and of the weight that is carried.  feed_forward: (K, n, 6) inverse dynamics without gravity.
    """

    stiffness: Array
    damping: Array
    tone: Array
    ceiling: Array
    share: Array
    feed_forward: Array

    def add(self, load: Load, step: Step) -> None:
        """Spring, damper, feed-forward and the weight at the current pose."""
        tone = self.tone[step.k]
        K, D = tone * self.stiffness, np.sqrt(tone) * self.damping
        force = -apply(K, step.e + step.h * step.e_dot) - apply(D, step.e_dot)
        Z = step.h * D + step.h**2 * K
        size = np.linalg.norm(force[..., :3], axis=-1)
        over = size > self.ceiling
        if np.any(over):  # a saturated muscle no longer answers to the acceleration
            force = np.where(over[..., None], force * (self.ceiling / np.maximum(size, 1e-300))[..., None], force)
            Z = np.where(over[..., None, None], 0.0, Z)
        weight = step.model.ancestor.T @ apply(step.kin.I, np.broadcast_to(load.fall, step.e.shape))
        carried = self.feed_forward[step.k] - apply(np.swapaxes(step.kin.X, -1, -2), weight)
        step.add_joint(load, force + self.share[:, None] * carried, Z)
