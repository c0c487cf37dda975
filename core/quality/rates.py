"""How fast things go, and whether they go at once: speed, acceleration, jerk, isolated jumps, stillness.

What a joint does is judged beyond its most in the clip; of a motion alone beyond the most of the same joint on the
other side, for what both do is how it goes.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..rotation import Array, conjugate, log, multiply
from .finding import Finding, at_most
from .joints import deviation
from .motion import RATE, Motion, sustained, within

SHAKE, LASTING = 0.12, 0.4  # [s] over which jerk is averaged, and for which it must not cease
JUMP = 2  # samples in which a jump happens: about one frame at 24 or 30 per second
CALM = 3.0  # [deg/s] below which a joint stands still
AWAY = 0.25  # part of its largest turn that a body held away from its clip must have to be frozen
LIVELY = 12.0  # [deg/s] of its fastest joint above which the clip moves


def speed(motion: Motion, clip: Motion | None) -> Finding:
    """[deg/s] angular speed of a joint beyond its fastest in the clip."""
    return _beyond("speed", "deg/s", motion, clip, lambda m: np.linalg.norm(m.spin, axis=-1))


def acceleration(motion: Motion, clip: Motion | None) -> Finding:
    """[deg/s2] angular acceleration of a joint beyond its largest in the clip."""
    return _beyond("acceleration", "deg/s2", motion, clip, lambda m: np.linalg.norm(_change(m.spin), axis=-1))


def jerk(motion: Motion, clip: Motion | None) -> Finding:
    """[deg/s3] change of angular acceleration that lasts for LASTING: a single jolt is a blow, many are a tremble."""

    def lasting(m: Motion) -> Array:
        third = np.sum(_change(_change(m.spin)) ** 2, axis=-1)
        width = min(int(SHAKE * RATE), len(third))
        total = np.cumsum(np.concatenate((np.zeros_like(third[:1]), third)), axis=0)
        return sustained(np.sqrt(np.maximum(total[width:] - total[:-width], 0.0) / width), LASTING)

    return _beyond("jerk", "deg/s3", motion, clip, lasting, sides=False)


def travel(motion: Motion, clip: Motion | None, given: float = 0.0) -> Finding:
    """[m/s] speed of the centre of mass against the clip's, or where there is none its change of speed; what a known
    blow gave [m/s] is taken off."""
    v = motion.com_velocity
    v = v - (v.mean(axis=0) if clip is None else clip.com_velocity)
    return at_most("travel", np.linalg.norm(v, axis=-1)[:, None] - given, "m/s", motion)


def pop(motion: Motion, clip: Motion | None, blows: Sequence[tuple[float, float]] = ()) -> Finding:
    """[deg] turn of a joint in one frame beyond what it turns right before and right after; blows may jolt.

    blows: times [s] between which they do.
    """
    return _beyond("pop", "deg", motion, clip, lambda m: _jumps(m.steps, m, blows))


def jump(motion: Motion, clip: Motion | None, blows: Sequence[tuple[float, float]] = ()) -> Finding:
    """[cm] the same for the places of the joints in space."""
    return _beyond("jump", "cm", motion, clip, lambda m: _jumps(np.diff(m.heads, axis=0), m, blows))


def frozen(motion: Motion, clip: Motion | None) -> Finding:
    """[s] the longest time no joint moves, while the clip moves or the body is away from it, or between movements.

    Of a motion alone nobody knows when it was meant to stand still; there an ear that moves shows that it does live.
    """
    fastest = _fastest(motion)
    if clip is None:
        lively = np.full(len(fastest), np.median(fastest) > LIVELY)
        fastest = _fastest_of_all(motion)
    else:
        away = np.linalg.norm(deviation(motion, clip), axis=-1).max(axis=1)[1:]
        lively = (_fastest(clip) > LIVELY) | (away > max(AWAY * float(away.max()), np.radians(CALM)))
    still = (fastest < CALM) & lively
    count = np.arange(1, len(still) + 1)
    run = count - np.maximum.accumulate(np.where(still, 0, count))
    found = at_most("frozen", run[:, None] / RATE, "s", motion)
    return Finding("frozen", found.value, "s", "", found.time)


def _fastest(motion: Motion) -> Array:
    """(K - 1,) speed of the fastest joint [deg/s]."""
    return np.degrees(np.linalg.norm(motion.steps, axis=-1)).max(axis=1) * RATE


def _fastest_of_all(motion: Motion) -> Array:
    """(K - 1,) speed of the fastest joint of all that carry mass, judged or not [deg/s]."""
    actor = motion.figure.actor
    heavy = np.flatnonzero(actor.masses.mass[actor.order])
    up = actor.parent[heavy]
    joints = np.where((up >= 0)[:, None], multiply(conjugate(motion.q[:, up]), motion.q[:, heavy]), motion.q[:, heavy])
    turn = log(multiply(conjugate(joints[:-1]), joints[1:]))
    return np.degrees(np.linalg.norm(turn, axis=-1)).max(axis=1) * RATE


def _change(x: Array) -> Array:
    return np.diff(x, axis=0) * RATE


def _beyond(
    name: str, unit: str, motion: Motion, clip: Motion | None, measure: Callable[[Motion], Array], sides: bool = True
) -> Finding:
    """sides: whether a motion alone is judged beyond its other side."""
    x = measure(motion)
    if clip is not None:
        x = x - measure(clip).max(axis=0, initial=0.0)
    elif sides:
        other = motion.figure.other
        x = x - np.where(other >= 0, x.max(axis=0, initial=0.0)[other], 0.0)
    return at_most(name, (100.0 if unit == "cm" else np.degrees(1.0)) * x, unit, motion)


def _jumps(steps: Array, motion: Motion, blows: Sequence[tuple[float, float]]) -> Array:
    """(K', m) way within JUMP samples less the longer of the ways right before and right after; 0 at the ends and
    during a blow."""
    total = np.cumsum(np.concatenate((np.zeros_like(steps[:1]), steps)), axis=0)
    way = np.linalg.norm(total[JUMP:] - total[:-JUMP], axis=-1)
    out = np.zeros_like(way)
    if len(way) > 2 * JUMP:
        out[JUMP:-JUMP] = way[JUMP:-JUMP] - np.maximum(way[: -2 * JUMP], way[2 * JUMP :])
    out[within(motion.times[: len(out)], blows)] = 0.0
    return np.maximum(out, 0.0)
