"""What a check finds: one number with its unit, and the bone and time where it is worst."""

from dataclasses import dataclass

import numpy as np

from ..rotation import Array
from .motion import Motion


@dataclass(frozen=True)
class Finding:
    """value: 0 where nothing is wrong.  bone: "" where none is to blame.  time: [s], of the clip.

    least: small values are bad, not large ones.
    """

    name: str
    value: float
    unit: str
    bone: str = ""
    time: float = 0.0
    least: bool = False


def nothing(name: str, unit: str, motion: Motion) -> Finding:
    """A check that has nothing to say."""
    return Finding(name, 0.0, unit, "", float(motion.times[0]))


def at_most(name: str, x: Array, unit: str, motion: Motion, who: np.ndarray | None = None, offset: int = 0) -> Finding:
    """The largest value of x (K', w), never below 0; `who` (w,) judged bodies, `offset` samples that K' lacks."""
    if not x.size or not np.max(x) > 0.0:
        return nothing(name, unit, motion)
    k, j = np.unravel_index(int(np.argmax(x)), x.shape)
    body = int(j) if who is None else int(who[j])
    at = min(int(k) + offset // 2, len(motion.times) - 1)
    return Finding(name, float(x[k, j]), unit, motion.figure.names[body], float(motion.times[at]))
