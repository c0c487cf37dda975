"""A level floor under many points of a body."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..rotation import Array, cross
from ..spatial import apply
from .compliant import Touching
from .step import Step

NEAR = 0.003  # [m] above the floor from where on a point is looked at
FRAME = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class Floor:
    """A source of `Compliant`: a plane that holds up m points of bodies.

    bodies: (m,).  points: (m, 3) body frame [m].  height: of the floor [m].  stiffness [N/m], damping [N s/m]: of each
    point.  friction: coefficient.
    """

    bodies: np.ndarray
    points: Array
    height: float
    stiffness: float = 1e5
    damping: float = 3e3
    friction: float = 0.4

    def touching(self, step: Step) -> Touching | None:
        """Every point that is near the floor in any member of the batch."""
        kin = step.kin
        floor = self.height - kin.origin[..., None, 2]
        z = kin.p[..., self.bodies, 2] + np.einsum("...mi,mi->...m", kin.R[..., self.bodies, 2, :], self.points)
        near = np.flatnonzero(np.any((z < floor + self._reach(step)).reshape(-1, len(self.bodies)), axis=0))
        if not len(near):
            return None
        bodies = self.bodies[near]
        x = kin.p[..., bodies, :] + apply(kin.R[..., bodies, :, :], self.points[near])
        one = np.ones(len(near))
        return Touching(bodies, np.full(len(near), -1), x, np.broadcast_to(FRAME, x.shape + (3,)), floor - x[..., 2],
                        self.stiffness * one, self.damping * one, self.friction * one)  # fmt: skip

    @cached_property
    def span(self) -> Array:
        """(n,) [m] how far from its origin a body's points lie at most, for all bodies up to the last that has any."""
        out = np.zeros(int(self.bodies.max()) + 1)
        np.maximum.at(out, self.bodies, np.linalg.norm(self.points, axis=-1))
        return out

    def _reach(self, step: Step) -> Array:
        """(..., m) [m] that a point may fall in the step."""
        V, n = step.kin.V[..., : len(self.span), :], len(self.span)
        down = -V[..., 5] - cross(V[..., :3], step.kin.p[..., :n, :])[..., 2]
        turning = np.sqrt(np.einsum("...i,...i->...", V[..., :3], V[..., :3]))
        return (1.5 * step.h * (np.maximum(down, 0.0) + turning * self.span) + NEAR)[..., self.bodies]
