"""The floor beneath what a clip brings near it: arms, head and trunk of a body that is hit as it lies, sits or kneels.

Feet have the plan's ground.  Of a body that stands nothing else comes near: hanging hands are as low as hands get.
"""

from collections.abc import Sequence

import numpy as np

from . import touch
from .actor import Actor
from .blows import Blow
from .forces import Floor
from .knockout import FLOOR_DEPTH, FLOOR_TIME, floor_of
from .model import Model
from .rotation import Array, rotate

NEAR = 0.25  # [m] above the floor, else the figure's lowest part, up to which the clip brings what may touch; chosen


def floor(
    actor: Actor, model: Model, blows: Sequence[Blow], times: Array, clip: tuple[Array, Array], legs: set[int]
) -> Floor | None:
    """Under the points of bodies that move, but for those of legs; None where none of them comes near.

    clip: world poses (T, n, 4), (T, n, 3) at times (T,) [s].  legs: bodies that stand, or step.
    """
    q, p = clip
    shown = (times >= blows[0].start) & (times <= max(blow.end for blow in blows))
    low = _low(actor, q[shown], p[shown])
    said = next((blow.ground for blow in blows if blow.ground is not None), None)
    near = low < NEAR + (low[actor.masses.mass[actor.order] > 0.0].min() if said is None else said)
    moves = np.array([len(joint) > 0 and i not in legs for i, joint in enumerate(model.joints)])
    for i, above in enumerate(actor.parent):  # what follows the clip goes with what carries it
        if above >= 0 and not len(model.joints[i]):
            near[i], moves[i] = near[i] or near[above], moves[above]
    if not (near & moves).any():
        return None
    surface = touch.points(actor)
    height = floor_of(blows, surface, times, clip, blows[0].start)
    stiffness = abs(float(actor.gravity[2])) * float(model.inertia[:, 5, 5].sum()) / FLOOR_DEPTH
    skin = surface.skin.chosen((near & moves)[surface.bodies])
    return Floor(skin, height, stiffness, stiffness * FLOOR_TIME) if len(skin.first) else None


def _low(actor: Actor, q: Array, p: Array) -> Array:
    """(n,) [m] how low both ends of bodies get in poses (T, n, 4), (T, n, 3)."""
    return np.asarray(np.minimum(p[..., 2], (p + rotate(q, actor.axis))[..., 2]).min(axis=0))
