"""Muscles: springs and dampers to the clip's joint pose with the clip's own torque."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dynamics import Load
from ..rotation import Array
from ..spatial import apply
from .step import INERTIA, SHOWN, Step, implicit, stiff


@dataclass(frozen=True, eq=False)
class Muscle:
    """Springs and dampers to the clip's joint pose, with the clip's own torque as feed-forward.

    stiffness, damping: (n, 6, 6) body frames, turning and travel uncoupled.  tone: (K, n) factor on the stiffness
    over time, or (K, 1); damping goes with its root so that the damping ratio stays.  ceiling: (n,) most torque of the
    spring [N m], inf = none.  share: (n,) part of the clip's inverse dynamics and of the weight that is carried.
    feed_forward: (K, n, 6) inverse dynamics without gravity.  rate, pace: (n,) damping over inertia and circular
    frequency [1/s], where they are known; without them springs are taken wholly at the end of the step.
    """

    stiffness: Array
    damping: Array
    tone: Array
    ceiling: Array
    share: Array
    feed_forward: Array
    rate: Array | float = np.inf
    pace: Array | float = np.inf

    @cached_property
    def saturates(self) -> bool:
        """Whether any muscle has a ceiling."""
        return bool(np.isfinite(self.ceiling).any())

    @cached_property
    def fastest(self) -> float:
        """The largest pace [1/s]."""
        return float(np.max(self.pace))

    def add(self, load: Load, step: Step) -> None:
        """Spring, damper, feed-forward and the weight at the current pose.

        The spring pulls along the gradient of its energy e^T K e / 2: with the plain -K e a limb, ten times as easy to
        turn about its length as across, would turn itself up by a few tens of percent at large angles.
        """
        tone, h = self.tone[step.k], step.h
        G = step.rate
        back = np.swapaxes(G, -1, -2)
        slow = h * np.sqrt(tone)
        ahead, inert = step.e, np.full(1, INERTIA)
        if slow.max() * self.fastest > SHOWN:
            late = stiff(slow * self.pace)[..., None]  # part that is taken at the end of the step
            inert = INERTIA + (1.0 - INERTIA) * late
            ahead = step.e + h * late * step.e_dot
            ahead[..., :3] = step.e[..., :3] + h * late * apply(G, step.e_dot[..., :3])
        pull = tone[:, None] * apply(self.stiffness, ahead)
        pull[..., :3] = apply(back, pull[..., :3])
        force = -pull - np.sqrt(tone)[:, None] * apply(self.damping, step.e_dot)
        Z = (slow * implicit(slow * self.rate))[..., None, None] * self.damping + np.zeros(step.e.shape + (1,))
        K = (inert * h * h * tone[:, None])[..., None] * self.stiffness
        Z[..., :3, :3] += back @ K[..., :3, :3] @ G
        Z[..., 3:, 3:] += K[..., 3:, 3:]
        if self.saturates:  # the impedance is cut alike: without any, a light body would chatter
            size = np.linalg.norm(force[..., :3], axis=-1)
            part = np.minimum(1.0, self.ceiling / np.maximum(size, 1e-300))
            force, Z = force * part[..., None], Z * part[..., None, None]
        weight = step.model.ancestor.T @ (step.kin.I[..., 3:] @ load.gravity)
        carried = self.feed_forward[step.k] - apply(np.swapaxes(step.kin.X, -1, -2), weight)
        step.add_joint(load, force + self.share[:, None] * carried, Z)
