"""On which side of each other feet are, and how legs get past each other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .lanes import dot
from .rotation import Array
from .stance import APART, Stance

CROSSED = 0.4  # of a leg's length that a foot lands across the other at most, which has to get round it; by eye
THICK = 0.6  # of the way between the hips that legs are thick together; by eye
_AHEAD = (THICK**-2 - 1.0) ** 0.5  # of the way before or behind the other that a foot may be nearer to it


class Side(NamedTuple):
    """Where feet are beside another: room (...) [m] on their own side of it, along (...) [m] before it or behind it,
    wide (...) [m] between their hips, and the way (..., 2) to their own side."""

    room: Array
    along: Array
    wide: Array
    way: Array


class Beside(NamedTuple):
    """The same of one leg at a sample, in plain numbers, and how much room its foot has in the clip."""

    room: float
    along: float
    wide: float
    way: complex
    own: float


def beside(hips: tuple[Array, Array], feet: tuple[Array, Array]) -> Side:
    """Of places (..., 2 or more) of hips and feet in the world, each of the leg's own and of the other's."""
    apart, to = ((own - other)[..., :2] for own, other in (hips, feet))
    wide = np.linalg.norm(apart, axis=-1)
    way = apart / np.maximum(wide, 1e-12)[..., None]
    room = dot(to, way)
    return Side(room, to[..., 1] * way[..., 0] - to[..., 0] * way[..., 1], wide, way)


def side(stance: Stance, k: int, leg: int, feet: Sequence[complex]) -> Beside:
    """Of a leg's foot at sample k, feet off the clip's."""
    other, wide, way, to = stance.pair(k, leg)
    there = (to + feet[leg] - feet[other]) * way.conjugate()
    return Beside(there.real, there.imag, wide, way, (to * way.conjugate()).real)


def least(along: Array | float, wide: Array | float, apart: float = APART) -> Array:
    """[m] that a foot is to be on its own side of the other at least, so far before it or behind it [m], of hips so
    far apart [m], and so far [m] where they pass each other; below 0 it is across.

    Seen from above, one leg goes from (w, 0) to (s, f) as seen from the other: straight lines that come nearest to
    each other at w f / sqrt((w - s)^2 + f^2), which is to be more than they are thick.
    """
    return np.minimum(apart, wide - abs(along) * _AHEAD)


def passing(stance: Stance, k: int, due: int, leg: int, feet: Sequence[complex]) -> int:
    """In how many samples from k on a foot of two passes the other, feet off the clip's; due - k if not by then."""
    other, wide, way, _ = stance.pair(k, leg)
    to = stance.ankles[k:due, leg] - stance.ankles[k:due, other] + (feet[leg] - feet[other])
    passes = np.flatnonzero(np.abs((to * way.conjugate()).imag) * _AHEAD <= wide - stance.apart)
    return int(passes[0]) if len(passes) else due - k
