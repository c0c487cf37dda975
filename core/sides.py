"""On which side of each other feet are, and how legs get past each other."""

from typing import NamedTuple

import numpy as np

from .rotation import Array
from .stance import APART, Stance

CROSSED = 0.4  # of a leg's length that a foot lands across the other at most, which has to get round it; by eye
THICK = 0.6  # of the way between the hips that legs are thick together; by eye
_AHEAD = (THICK**-2 - 1.0) ** 0.5  # of the way before or behind the other that a foot may be nearer to it


class Side(NamedTuple):
    """Where feet are beside another: room (...) [m] on their own side of it, along (...) [m] before it or behind it,
    wide (...) [m] between their hips, and the way (..., 2) to their own side."""

    room: Array | float
    along: Array | float
    wide: Array | float
    way: Array


def beside(hips: tuple[Array, Array], feet: tuple[Array, Array]) -> Side:
    """Of places (..., 2 or more) of hips and feet in the world, each of the leg's own and of the other's."""
    apart, to = ((own - other)[..., :2] for own, other in (hips, feet))
    wide = np.linalg.norm(apart, axis=-1)
    way = apart / np.maximum(wide, 1e-12)[..., None]
    room = np.einsum("...i,...i->...", to, way)
    return Side(room, to[..., 1] * way[..., 0] - to[..., 0] * way[..., 1], wide, way)


def side(stance: Stance, k: int, leg: int, feet: Array) -> Side:
    """Of a leg's foot at sample k, feet (L, 2) off the clip's."""
    other, wide, (a, b), (x, y) = stance.pairs[k][leg]  # in plain numbers: asked for several times a sample
    far, out = (feet[leg] - feet[other]).tolist()
    x, y = x + far, y + out
    return Side(x * a + y * b, y * a - x * b, wide, np.array((a, b)))


def own_room(stance: Stance, k: int, leg: int) -> float:
    """[m] that a leg's foot has in the clip on its own side of the other at sample k."""
    _, _, (a, b), (x, y) = stance.pairs[k][leg]
    return x * a + y * b


def least(along: Array | float, wide: Array | float, apart: float = APART) -> Array:
    """[m] that a foot is to be on its own side of the other at least, so far before it or behind it [m], of hips so
    far apart [m], and so far [m] where they pass each other; below 0 it is across.

    Seen from above, one leg goes from (w, 0) to (s, f) as seen from the other: straight lines that come nearest to
    each other at w f / sqrt((w - s)^2 + f^2), which is to be more than they are thick.
    """
    return np.minimum(apart, wide - np.abs(along) * _AHEAD)


def abreast(stance: Stance, k: int, due: int, leg: int, feet: Array) -> np.ndarray:
    """(due - k,) bool: when from sample k on a foot of two passes the other, feet (2, 2) off the clip's."""
    other, wide, way = (told[k, leg] for told in stance.beside)
    to = stance.ankle[k:due, leg, :2] - stance.ankle[k:due, other, :2] + (feet[leg] - feet[other])
    along = to[:, 1] * way[0] - to[:, 0] * way[1]
    return np.asarray(np.abs(along) * _AHEAD <= wide - stance.apart)
