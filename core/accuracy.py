"""How fine the sub-steps must be for a set of muscles, and what to say where no sub-step is fine enough.

The leapfrog shows a spring of the circular frequency w to the second order in w h: measured on a human under 50 N s
(tests/core/test_stability.py), halving the step changes peaks by at most 1.2 % at w h = 0.08, 0.9 % at 0.5 and 2.7 % at
0.8, where they are halved.  Beyond `forces.step.SHOWN` springs begin to be damped, there by a tenth of what is lost.
"""

from collections.abc import Sequence

import numpy as np

from .rotation import Array

FINE = 0.8  # [rad] most w h of a muscle in a sub-step
RINGS = 0.2  # damping ratio below which a muscle rings on: its phase, hence its peaks, needs half the sub-step
BRAKED = 8.0  # damping ratio above which a muscle holds its limb still in a step, and gives way to others in the next
UNDAMPED = 0.05  # damping ratio that muscles have at least where a body is heavy
HEAVY = 0.3  # times all other mass: more than any part of a human body, whose chest has 0.27
LOOSE = 0.06  # [Hz] frequency times damping ratio below which a body whips about a heavy bone


def halvings(frequency: float, h: float) -> int:
    """How often a sub-step h [s] must be halved for muscles of a frequency [Hz] (times the root of their tone)."""
    turn = 2.0 * np.pi * frequency * h
    return max(int(np.ceil(np.log2(turn / FINE))), 0) if turn > 0.0 else 0


def fastest(frequency: Array, ratio: Array) -> float:
    """The frequency [Hz] for which sub-steps are chosen, of muscles (n,) with these damping ratios."""
    apart = (ratio < RINGS) | (ratio > BRAKED) & np.isfinite(ratio)
    return float(np.max(np.where(apart, 2.0, 1.0) * frequency, initial=0.0))


def heavy(mass: Array, parent: np.ndarray) -> np.ndarray:
    """(n,) whether a joint carries a body that weighs too much against all the others; mass: (n,) [kg]."""
    return np.asarray((parent >= 0) & (mass > HEAVY * (mass.sum() - mass)))


def damped(ratio: Array, mass: Array, parent: np.ndarray) -> Array:
    """Damping ratios (..., n), at least UNDAMPED where any body is heavy.

    Without damping a light body that swings about a heavy one gains energy, however short the sub-steps: an error of
    its joints moves the heavy one.
    """
    return np.maximum(ratio, UNDAMPED) if heavy(mass, parent).any() else ratio


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
    for i in np.flatnonzero(heavy(mass, parent) & np.isfinite(ratio)).tolist():
        times = mass[i] / (mass.sum() - mass[i])
        bone = f"Bone '{names[i]}' ({mass[i]:.3g} kg) has {times:.2g} times the mass of all others"
        if ratio.min() < UNDAMPED:
            out.append(f"{bone}: muscles are damped by a ratio of {UNDAMPED} at least. Give it less mass or them more.")
        if frequency[i] * max(ratio[i], UNDAMPED) < LOOSE:
            out.append(f"{bone} and a loose muscle: peaks may be off by a fifth. Give it less mass or a faster muscle.")
    return out
