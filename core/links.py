"""The document's dynamic link (de Heras Ciechomski 2001, 4.3): a pendulum with one axis, turned about it by an angle.

His zero is left undefined.  Ours: at 0 degrees the axis points to the figure's front, made square to the link; growing
angles turn it about the link's own direction.  A link that points forward or backward takes the axis it would have
if it swung there from hanging down.  So at 90 degrees a positive velocity swings any upright or hanging link's tip
forward.
"""

import numpy as np

from .rotation import Array, exp, rotate


def axis(link: Array, angle_deg: float, axes: Array) -> Array:
    """(3,) unit axis of rotation in the world.

    link: (3,) direction from the joint to the link's end, world.  axes: (3, 3) rows left, forward, up of the figure.
    """
    d = link / max(float(np.linalg.norm(link)), 1e-12)
    _, forward, up = axes
    zero = forward - d * (d @ forward)
    if np.linalg.norm(zero) < 0.5:
        zero = up * np.sign(d @ forward)
        zero = zero - d * (d @ zero)
    zero = zero / np.linalg.norm(zero)
    return rotate(exp(np.radians(angle_deg) * d), zero)
