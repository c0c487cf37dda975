"""A level floor under many points of a body."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..dynamics import Kinematics
from ..lanes import dot
from ..model import Model
from ..reference import Reference
from ..rotation import Array, cross
from ..skinning import Skinned
from .compliant import Touching
from .contact import MARGIN, ahead
from .step import Step

NEAR = 0.003  # [m] above the floor from where on a point is looked at
FRAME = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class Floor:
    """A source of `Compliant`: a plane that holds up m points of a skin.

    A point of several bodies moves as the bodies' shares of it say, and they share its force alike.
    height: of the floor [m].  stiffness [N/m], damping [N s/m]: of each point.  friction: coefficient.
    sunk: (K, m) how deep the points are in it in the clip's own steps [m]; only what goes beyond is pushed.
    """

    skin: Skinned
    height: float
    stiffness: float = 1e5
    damping: float = 3e3
    friction: float = 0.4
    sunk: Array | None = None

    def of_clip(self, model: Model, kin: Kinematics, passing: Kinematics, reference: Reference) -> "Floor":
        """The same, silent on the clip; kin, passing: of the reference's arrivals, and with its passing twists."""
        h = reference.kicks[:, None]
        motion = ahead(model, kin, passing, reference.acceleration, h[..., None])
        depth = self.height - kin.origin[:, None, 2] - self.skin.heights(kin)
        falls = -self.skin.moved(kin, motion)[..., 2]
        return replace(self, sunk=np.maximum(depth + np.maximum(h * falls, 0.0), 0.0) + MARGIN)

    def touching(self, step: Step) -> Touching | None:
        """Every point that is near the floor in any member of the batch."""
        kin = step.kin
        floor = self.height - kin.origin[..., None, 2]
        if self.sunk is not None:
            floor = floor - self.sunk[step.k]
        low = self.skin.heights(kin) < floor + self._reach(step)
        near = np.flatnonzero(np.any(low.reshape(-1, low.shape[-1]), axis=0))
        if not len(near):
            return None
        skin = self.skin.chosen(near)
        depth, one = (floor if self.sunk is None else floor[..., near]) - skin.heights(kin), np.ones(len(near))
        return Touching(skin.first, skin.bodies, skin.weights, skin.parts(kin),
                        np.broadcast_to(FRAME, depth.shape + (3, 3)), depth,
                        self.stiffness * one, self.damping * one, self.friction * one)  # fmt: skip

    @cached_property
    def span(self) -> Array:
        """(n,) [m] how far from its origin a body's points lie at most, for all bodies up to the last that has any."""
        out = np.zeros(int(self.skin.bodies.max()) + 1)
        np.maximum.at(out, self.skin.bodies, np.linalg.norm(self.skin.places, axis=-1))
        return out

    def _reach(self, step: Step) -> Array:
        """(..., m) [m] that a point may fall in the step."""
        V, n = step.kin.V[..., : len(self.span), :], len(self.span)
        down = -V[..., 5] - cross(V[..., :3], step.kin.p[..., :n, :])[..., 2]
        turning = np.sqrt(dot(V[..., :3], V[..., :3]))
        fall = 1.5 * step.h * (np.maximum(down, 0.0) + turning * self.span) + NEAR
        return self.skin.blended(fall[..., self.skin.bodies, None])[..., 0]
