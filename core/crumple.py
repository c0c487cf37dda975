"""Legs that give way: the pose that a body follows sinks over its feet, so that knees bend first and feet stay.

What carries a body are its knees' extensors: they go first.  A leg that is straight as its muscles fade would stay
straight under the weight, a pole that topples as a whole.
"""

import numpy as np

from .actor import Actor
from .ik import bend, place, reach
from .legs import legs
from .model import Model
from .reference import to_joints, to_world
from .rotation import Array

SINKS, YIELDS = 0.4, 1.0  # of the hips' height above the ankles, where the legs have so long [s] to give way; by eye


def sunk(
    actor: Actor, model: Model, base: int, poses: tuple[Array, Array], gone: Array, seconds: float
) -> tuple[Array, Array]:
    """Joint poses (T, n, 4), (T, n, 3) [m] with the base lower over feet that stay.

    gone: (T,) what has gone of the muscles, 0 to 1, in so many seconds.  The hip that is least above its ankle tells
    how low, so that no leg folds.
    """
    q, p = to_world(model, *poses)
    limbs = [limb for limb in legs(actor) if model.ancestor[limb.upper, base] > 0.0]
    if not limbs:
        return poses
    height = np.min([p[:, limb.upper, 2] - p[:, limb.end, 2] for limb in limbs], axis=0)
    down = SINKS * min(seconds / YIELDS, 1.0) * gone * np.maximum(height, 0.0)
    low = p - (model.ancestor[:, base] > 0.0)[:, None] * down[:, None, None] * [0.0, 0.0, 1.0]
    joints, at = to_joints(model, q, low)
    for limb in limbs:
        place(model, limb, q, joints, *reach(limb, q, low, p[:, limb.end], bend(limb, q, p)), q[:, limb.end])
    return joints, at
