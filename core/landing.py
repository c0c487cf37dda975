"""How feet are lifted in steps of our own, and where those land that the clip puts down, when the weight over them is
off the clip's."""

import numpy as np

from .rotation import Array
from .stance import REST, Stance
from .support import norm

FREE = 0.03  # [m] that the pressure under a foot makes up for without the foot being put elsewhere
BACK, WALK = 0.6, 1.2  # of what is off that a foot brings home until the next one lands, and [m/s] at most
BRIEF = 0.15  # [s] that a foot stands at least
STRIDE, SUNK = 0.5, 0.12  # of a leg's length that it reaches from under the weight, and that hips sink for it
LIFT, HIGHER, HIGHEST, SHORT = 0.05, 0.12, 0.12, 0.12  # [m] that a step rises, more per metre, at most; and of a leg
DRAGGED, SUDDEN = 0.018, 0.6  # [m] that a foot rises which a blow knocks off the ground, and power of time by which


def rise(way: float, length: float, swept: bool) -> float:
    """[m] that a step of so far [m] rises of a leg so long [m].  swept: a blow knocks the foot off the ground."""
    return min((DRAGGED if swept else LIFT) + HIGHER * way, HIGHEST, SHORT * length)


def arc(done: Array, swept: np.ndarray) -> tuple[Array, Array]:
    """(L,) height of steps as part of how far they rise, and its rate, when parts (L,) of their time are over."""
    done, haste = np.clip(done, 0.0, 1.0), np.where(swept, SUDDEN, 1.0)
    s = done**haste
    half = s * (1.0 - s)
    return 16.0 * half * half, 32.0 * half * (1.0 - 2.0 * s) * haste * s / np.maximum(done, 1e-9)


def part(size: float) -> float:
    """How far a foot lands off the clip's, as part of how far the capture point will be, of a size [m]."""
    return max(size - FREE, 0.0) / max(size, 1e-12)


def beyond(stance: Stance, due: int, size: float, home: float) -> float:
    """A factor on that, a little more than 1: so that the weight, pushed home from there, has gone a part of its way
    when the next foot lands.

    A capture point at c over a pressure at p is at p + (c - p) exp(w T) after a time T; for it to be at r c then, the
    foot must be at c (exp(w T) - r) / (exp(w T) - 1).
    due: the sample at which it lands.  home: by when the weight is to be there [s].
    """
    h = float(stance.times[1] - stance.times[0])
    after = stance.next_landing(due)
    stands = max(float(stance.down[due:after].any(axis=1).sum()) * h, BRIEF)
    whole = max((after - due) * h, BRIEF)
    left = max(home - float(stance.times[due]), whole)
    back = min(max(min(BACK, WALK * whole / max(size, 1e-12)), whole / left), 1.0)
    return 1.0 + back / (float(np.exp(stance.pace[due] * stands)) - 1.0)


def is_last(stance: Stance, due: int, leg: int, last: int) -> bool:
    """Whether a foot that comes down at a sample makes no step any more up to the sample `last`, the clip's or, where
    all feet stand long enough, one of our own."""
    again, rest = stance.lands(stance.stays(due, leg), leg), stance.rests(due)
    own = rest >= 0 and rest + REST < last
    return not own and not 0 <= again <= last


def reached(stance: Stance, k: int, leg: int, goal: Array, x: Array) -> Array:
    """The goal (2,), or as far as the leg gets at sample k with the weight at x (2,): STRIDE from under it, and no
    farther from its hip, sunk a little, than it is long, or than it gets in the clip."""
    length = float(stance.length[leg])
    goal = x + _within(goal - x, STRIDE * length)
    own = stance.ankle[k, leg] - stance.hip[k, leg]
    high = abs(float(own[2])) - SUNK * length
    far = float(np.sqrt(max(length**2 - high**2, 0.0)))
    return np.asarray(x - own[:2] + _within(own[:2] + goal - x, max(far, norm(own[:2]))))


def _within(way: Array, most: float) -> Array:
    """The way (2,), no longer than that."""
    return np.asarray(way * min(1.0, most / max(norm(way), 1e-12)))


def swung(at: Array, v: Array, goal: Array, left: float, h: float) -> tuple[Array, Array]:
    """Place and velocity (n,) of a foot after h [s] on the cubic that has it at rest at its goal in `left` [s]."""
    way = goal - at
    a = 6.0 * way / left**2 - 4.0 * v / left
    j = -12.0 * way / left**3 + 6.0 * v / left**2
    return at + h * v + h * h * (a / 2.0 + h * j / 6.0), v + h * (a + h * j / 2.0)
