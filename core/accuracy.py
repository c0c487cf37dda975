"""How fine the sub-steps must be for a set of muscles, and what to say where no sub-step is fine enough.

The leapfrog shows a spring of the circular frequency w to the second order in w h: measured on a human under 50 N s
(tests/core/test_stability.py), halving the step changes peaks by at most 1.2 % at w h = 0.08, 0.9 % at 0.5 and 2.7 % at
0.8.  Beyond `forces.step.SHOWN` springs begin to be damped, so that is where steps are halved.
"""

from collections.abc import Sequence

import numpy as np

from .forces.step import SHOWN
from .rotation import Array

FINE = SHOWN  # [rad] most w h of a muscle in a sub-step
UNDAMPED = 0.05  # damping ratio below which heavy bodies take energy from rounding in time
HEAVY = 10.0  # times the mass of all that carries a body


def halvings(frequency: float, h: float) -> int:
    """How often a sub-step h [s] must be halved for muscles of a frequency [Hz] (times the root of their tone)."""
    turn = 2.0 * np.pi * frequency * h
    return max(int(np.ceil(np.log2(turn / FINE))), 0) if turn > 0.0 else 0


def doubts(
    names: Sequence[str], mass: Array, parent: np.ndarray, frequency: Array, ratio: Array, h: float, most: int
) -> list[str]:
    """One sentence for everything about (n,) bodies that leaves the range in which results are to be trusted.

    mass: [kg].  frequency [Hz], ratio: of their muscles, tone included.  h: [s] sub-step that may be halved `most`
    times.
    """
    out = []
    fast = int(np.argmax(frequency))
    if halvings(float(frequency[fast]), h) > most:
        limit = FINE * 2.0**most / (2.0 * np.pi * h)
        out.append(
            f"The muscle of '{names[fast]}' is faster ({frequency[fast]:.3g} Hz) than the finest sub-step shows; "
            f"it will look stiffer than it is. Stay below {limit:.3g} Hz for exact peaks."
        )
    for i in np.flatnonzero((ratio < UNDAMPED) & (parent >= 0)).tolist():
        rest = float(mass.sum() - mass[i])
        if mass[i] > HEAVY * rest:
            out.append(
                f"Bone '{names[i]}' ({mass[i]:.3g} kg) is {mass[i] / rest:.3g} times as heavy as all the others and "
                f"its muscle undamped: it may gain energy. Give it a damping ratio of {UNDAMPED} or less mass."
            )
    return out
