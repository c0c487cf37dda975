"""What a limp body is propped up on gives way: what stands is drawn to where its support ends soonest.

A body that has no muscles can't stand on its limbs, for nothing keeps their joints from giving way aside; that a
simulated one does, exactly level on stops and friction, is an accident of its symmetry.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dynamics import Kinematics, Load, centre
from ..rotation import Array
from ..skinning import Skinned
from .coulomb import APART
from .floor import Floor
from .medium import Field
from .step import Step

TOUCHES = 0.01  # [m] above the floor up to which a point of the skin counts as on it
ALONG, ASIDE = 0.05, 0.01  # [m] by which the support may end later where the blow went, and to the left of it: a tie
TURN = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
AROUND = np.stack((np.cos(TURN), np.sin(TURN), 0.0 * TURN), axis=-1)
CLOSE = 0.01  # [m] by which ways differ of which none is preferred
AGREE = 0.3  # length of their mean from which on they agree on a way: chosen


@dataclass(frozen=True, eq=False)
class Topple:
    """Draws all bodies alike, towards `way`; nothing where none touches the floor.

    stands: (m,) bool, the floor's points that hold a body up: limp arms and what they hold lie beside it.
    lying: (n,) [m] how high the centre of mass of each body is above the floor where it lies.
    pull: (heights of centres of mass above that (..., n, 1) [m], t [s]) -> (..., n, 1) [m/s^2].
    blow: (3,) horizontal unit vector.
    most: [m/s^2] of the whole body: what friction holds, so that nothing slides.
    """

    floor: Floor
    stands: np.ndarray
    lying: Array
    pull: Callable[[Array, float], Array]
    blow: Array
    most: float = np.inf

    def add(self, load: Load, step: Step) -> None:
        """As a field that hangs on the pose."""
        if np.any(self.pull(np.full((1, 1), np.inf), step.t)):
            way, low = self.way(step.kin)[..., None, :], self.floor.height + self.lying[:, None]
            mass = step.model.inertia[:, 5, 5]
            Field(lambda places, t: self.drawn(places[..., 2:] - low, t, mass) * way).add(load, step)

    def drawn(self, height: Array, t: float, mass: Array) -> Array:
        """(..., n, 1) [m/s^2] at heights (..., n, 1) [m] of bodies of masses (n,) [kg]."""
        pull = self.pull(height, t)
        whole = np.sum(pull[..., 0] * mass, axis=-1)[..., None, None] / mass.sum()
        return np.asarray(pull * np.minimum(1.0, self.most / np.maximum(whole, 1e-12)))

    @cached_property
    def _holding(self) -> Skinned:
        return self.floor.skin.chosen(self.stands)

    def way(self, kin: Kinematics) -> Array:
        """(..., 3) horizontal, 1 long at most: from the weight to where what holds the body up ends soonest."""
        floor = self.floor
        weight = centre(kin)[0] - kin.origin
        x = self._holding.at(kin)
        high = x[..., 2] + kin.origin[..., None, 2] - floor.height
        on = np.asarray(high < TOUCHES)
        near = np.flatnonzero(on.reshape(-1, on.shape[-1]).any(axis=0))  # in any member of the batch
        if not len(near):
            return np.zeros(weight.shape)
        out = (x[..., near, :] - weight[..., None, :]) @ AROUND.T
        out = np.where(on[..., near, None], out, -APART).max(axis=-2)
        out = out - AROUND @ (ALONG * self.blow + ASIDE * np.cross([0.0, 0.0, 1.0], self.blow))
        share = np.exp((out.min(axis=-1, keepdims=True) - out) / CLOSE)
        touches = on.any(axis=-1, keepdims=True)
        way = touches * (share @ AROUND) / share.sum(axis=-1, keepdims=True)
        return np.asarray(way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), AGREE))
