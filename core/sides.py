"""On which side of each other feet are, and how legs get past each other."""

from typing import NamedTuple

import numpy as np

from .rotation import Array
from .stance import Stance

APART = 0.08  # [m] that a foot stays on its own side of the other
CROSSED = 0.4  # of a leg's length that a foot lands across the other at most, which has to get round it; by eye
THICK = 0.6  # of the way between the hips that legs are thick together; by eye


class Side(NamedTuple):
    """Where a foot is beside the nearest other: room [m] on its own side of it, along [m] before it or behind it,
    wide [m] between their hips, and the way (2,) to its own side."""

    room: float
    along: float
    wide: float
    way: Array


def side(stance: Stance, k: int, leg: int, feet: Array) -> Side:
    """Of a leg's foot at sample k, feet (L, 2) off the clip's."""
    other, wide, way = (told[k, leg] for told in stance.beside)
    to = stance.ankle[k, leg, :2] + feet[leg] - stance.ankle[k, other, :2] - feet[other]
    return Side(float(to @ way), float(to[1] * way[0] - to[0] * way[1]), float(wide), way)


def least(along: Array | float, wide: Array | float) -> Array:
    """[m] that a foot is to be on its own side of the other at least, so far before it or behind it [m], of hips so
    far apart [m]; below 0 it is across.

    Seen from above, one leg goes from (w, 0) to (s, f) as seen from the other: straight lines that come nearest to
    each other at w f / sqrt((w - s)^2 + f^2), which is to be more than they are thick.
    """
    return np.minimum(APART, wide - np.abs(along) * np.sqrt(THICK**-2 - 1.0))


def passes(stance: Stance, k: int, leg: int, feet: Array) -> int:
    """Samples from k on until a foot of two comes to where the other stands, feet (2, 2) off the clip's."""
    hips, ankles = stance.hip[k, :, :2], stance.ankle[k:, :, :2] + feet
    wide = hips[leg] - hips[1 - leg]
    to = ankles[:, leg] - ankles[:, 1 - leg]
    size = float(np.linalg.norm(wide))
    there = least((to[:, 1] * wide[0] - to[:, 0] * wide[1]) / max(size, 1e-12), size) >= APART
    return int(np.argmax(there)) if there.any() else len(there)
