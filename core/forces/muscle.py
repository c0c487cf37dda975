"""Muscles: springs and dampers to the clip's joint pose with the clip's own torque."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dynamics import Load
from ..rotation import EYE, Array
from ..spatial import apply, apply_T
from .step import INERTIA, Step, implicit, stiff, table


@dataclass(frozen=True, eq=False)
class Muscle:
    """Springs and dampers to the clip's joint pose, with the clip's own torque as feed-forward.

    stiffness, damping: (n, 6, 6) or (K, n, 6, 6) body frames, turning and travel uncoupled.  tone: (K, n) factor on
    the stiffness over time, or (K, 1); damping goes with its root so that the damping ratio stays.  ceiling: (n,) most
    torque of the spring [N m], inf = none.  share: (n,) or (K, n) part of the clip's inverse dynamics and of the weight
    carried.
    feed_forward: (K, n, 6) inverse dynamics without gravity.  rate, pace: (n,) or (K, n) damping over inertia and
    circular frequency [1/s], where they are known; without them springs are taken wholly at the end of the step.
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
    def _tables(self) -> dict[float, Array]:
        return {}

    def _factors(self, h: float) -> Array:
        """(5, K, n) for steps of a length [s], of which few occur: factors on stiffness and damping in the force, time
        [s] by which springs are taken later than on arrival, factors on stiffness and damping in the impedance.
        """
        if h not in self._tables:
            slow = h * np.sqrt(self.tone)
            late = stiff(slow * self.pace)
            inert = slow * slow * (INERTIA + (1.0 - INERTIA) * late)
            factors = self.tone, np.sqrt(self.tone), h * late, inert, slow * implicit(slow * self.rate)
            self._tables[h] = np.stack([np.broadcast_to(f, self.feed_forward.shape[:2]) for f in factors])
        return self._tables[h]

    def add(self, load: Load, step: Step) -> None:
        """Spring, damper, feed-forward and the weight at the current pose.

        The spring pulls along the gradient of its energy e^T K e / 2: with the plain -K e a limb, ten times as easy to
        turn about its length as across, would turn itself up by a few tens of percent at large angles.
        """
        spring, damper, late, inert, drag = self._factors(step.h)[:, step.k, :, None]
        A = np.zeros(step.e.shape + (6,))  # d/dt e of the twist
        A[..., :3, :3], A[..., 3:, 3:] = step.rate, EYE
        ahead = step.e + late * apply(A, step.e_dot) if late.any() else step.e
        K, D = table(self.stiffness, step.k, 3) @ A, table(self.damping, step.k, 3)
        force = -spring * apply_T(K, ahead) - damper * apply_T(D, step.e_dot)
        Z = inert[..., None] * (np.swapaxes(A, -1, -2) @ K) + drag[..., None] * D
        if self.saturates:  # the impedance is cut alike: without any, a light body would chatter
            size = np.linalg.norm(force[..., :3], axis=-1)
            part = np.minimum(1.0, self.ceiling / np.maximum(size, 1e-300))
            force, Z = force * part[..., None], Z * part[..., None, None]
        weight = step.model.ancestor.T @ (step.kin.I[..., 3:] @ load.gravity)
        carried = self.feed_forward[step.k] - apply_T(step.kin.X, weight)
        step.add_joint(load, force + table(self.share, step.k, 1)[:, None] * carried, Z)
