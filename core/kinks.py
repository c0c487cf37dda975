"""What keys joined by straight lines do at each key: the clip's speed jumps there, and a body simulated on it is struck
anew 24 or 30 times a second, as no muscle strikes."""

from dataclasses import replace

import numpy as np

from . import levels
from .reference import from_parents, to_parents
from .rotation import Array, continuous, normalize
from .skeleton import Clip

WEIGHTS = np.array([-1.0, 4.0, 10.0, 4.0, -1.0]) / 16.0  # leave cubics as they are, and nothing of every other sample


def rounded(clip: Clip, parent: np.ndarray) -> Clip:
    """The clip, at even samples, without what is too fast for them; its two first and last ones stay.

    parent: (n,) of the bones, which stand after it.
    """
    q, p = to_parents(parent, clip.rotation, clip.position)
    rotation, position = from_parents(levels.build(tuple(parent.tolist())), _turns(q), _values(p))
    place = _turns(clip.object_rotation), _values(clip.object_position)
    return replace(clip, rotation=rotation, position=position, object_rotation=place[0], object_position=place[1])


def _values(x: Array) -> Array:
    """Of samples (T, ...)."""
    out, count = x.copy(), len(x) - len(WEIGHTS) + 1
    if count > 0:
        out[2:-2] = sum(weight * x[i : i + count] for i, weight in enumerate(WEIGHTS))
    return out


def _turns(q: Array) -> Array:
    """Of unit quaternions (T, ..., 4)."""
    return normalize(_values(continuous(q)))
