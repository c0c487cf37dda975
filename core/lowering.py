"""Feet in the air that a blow drives to the ground before the clip's time.

Who trips late in a swing puts the foot down at once, where it is, early he draws it up over what it met (Eng, Winter
and Patla 1994; Schillings, van Wezel, Mulder and Duysens 2000).
"""

import numpy as np

from .haste import hastened
from .plan import Lowered
from .rotation import Array
from .stance import Stance
from .support import plane, smooth

LATE = 0.45  # part of a swing from which on a foot that meets the ground stays there: both are seen about its middle
BRAKES = 3  # samples in which it comes to rest: chosen
EARLIER = 6  # samples by which it meets the ground before the clip's foot at least: else that lands as it would
SHORT = 0.35  # of a leg's length that it then stands behind the clip's place at most, where weight gets over it: chosen
LEAST = 0.01  # [m] that counts as fallen


def lowered(stance: Stance, k: int, leg: int, falls: Array) -> Lowered | None:
    """How a foot that is in the air at sample k is put down whose leg falls from its clip by (K,) [m]; None where it
    goes on."""
    due = stance.lands(k, leg)
    if due <= k:
        return None
    some = np.arange(k, due + 1)
    high = _over(stance, leg, some)
    met, down = falls[some] > np.maximum(high, LEAST), int(np.argmax(high < LEAST))
    meets, lifted = int(np.argmax(met)), int(np.flatnonzero(stance.down[:k, leg]).max(initial=-1)) + 1
    way = (stance.ankle - stance.hip)[some, leg, :2]
    bears = met & (way @ way[-1] > 0.0)  # ahead of its hip
    stands = BRAKES + int(np.argmax(bears))
    late = k + meets - lifted >= LATE * (due - lifted)
    if not bears.any() or not late or down - meets < EARLIER or stands >= down:
        return None
    own = _over_ground(stance, leg, some)
    goes = own[stands - BRAKES] + _brakes(own, stands - BRAKES)
    if abs(goes - own[-1]) > SHORT * float(stance.length[leg]):
        return None
    return Lowered(leg, k, k + meets, k + stands)


def _over(stance: Stance, leg: int, some: np.ndarray) -> Array:
    """(T,) [m] how much higher a foot is at samples than where it lands at the last of them."""
    high = stance.clear(leg, stance.turn[some, leg], stance.ankle[some, leg])
    return np.maximum(high - max(float(high[-1]), 0.0), 0.0)


def _over_ground(stance: Stance, leg: int, some: np.ndarray) -> Array:
    """(T,) where an ankle is at samples, as seen from the ground, as complex numbers [m]."""
    return plane(stance.ankle[some, leg, :2] - stance.times[some, None] * stance.ground)


def _brakes(own: Array, k: int) -> complex:
    """How far a foot goes on that is braked from sample k of its way on."""
    return complex(BRAKES * (own[k] - own[k - 1]))


def landed(stance: Stance, lowered: Lowered | None) -> Stance:
    """The stance with a foot that is put down."""
    return stance if lowered is None else hastened(stance, lowered.start, lowered.leg, lowered.due)


def way(clip: Stance, now: Stance, lowered: Lowered) -> list[tuple[complex, float, complex, float]]:
    """Place and rates, along the ground and up, of a foot that is put down, off its way in the stance `now` in which it
    lands sooner, from sample to sample until it stands: on as in the clip, then braked at the ground, which it is on
    from when it meets it."""
    leg, k, meets, stands = lowered
    some = np.arange(k, stands + 1)
    own, sooner = (_over_ground(x, leg, some) for x in (clip, now))
    begins = len(some) - 1 - BRAKES
    u = np.clip((np.arange(len(some)) - begins) / BRAKES, 0.0, 1.0)
    goes = own[begins] + _brakes(own, begins) * u * (1.0 + u - u * u)  # to rest
    path = np.where(u > 0.0, goes, own) - sooner
    down = -_over(now, leg, some) * smooth((some - k) / max(meets - k, 1))
    rates = [np.pad(np.gradient(x, now.h)[1:-1], 1) for x in (path, down)]
    return list(zip(*(x.tolist() for x in (path, down, *rates)), strict=True))
