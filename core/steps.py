"""The plan of a body's way back to its clip after blows: one sample after the other, as a `Walker` goes."""

from collections.abc import Sequence

import numpy as np

from . import hop
from .dip import dip
from .haste import drawn, off
from .plan import Plan, Span, Struck
from .rotation import Array
from .stance import Stance
from .support import pair
from .walker import Walker


def plan(stance: Stance, push: Array, struck: Struck, blows: Sequence[Span]) -> Plan:
    """Play the body's way back to its clip.

    push: (B, K, 3) change of the weight's velocity by each blow in each sample [m/s].  struck, blows: see `Walker`.
    """
    high, climbs, raised, borne = dip(stance, push[..., 2], struck, blows)
    walker, hold = Walker(stance, push[..., :2], struck, blows, borne), struck.hold
    K, L = hold.shape
    shift, feet, pull = np.zeros((K, 3)), np.zeros((K, L, 3)), np.zeros((K, 3))
    rate, speed = np.zeros_like(shift), np.zeros_like(feet)
    lift, rising, hangs = np.zeros((K, L)), np.zeros((K, L)), np.zeros((K, L))
    for k in range(int(np.searchsorted(stance.times, blows[0].start - 1e-6)), K):
        shift[k, :2], feet[k] = pair(walker.x), walker.place
        if walker.is_home(k):
            shift[k:], feet[k:] = shift[k], feet[k]
            break
        if walker.is_over(k):
            fades = _fades(walker, k)
            shift[k:], feet[k:] = fades * shift[k], fades[..., None] * feet[k]
            rate[k:], speed[k:] = -stance.pace[k] * shift[k:], -stance.pace[k] * feet[k:]
            break
        hangs[k] = walker.hangs[k]
        lift[k], rising[k] = walker.lift(k)
        if walker.lost is not None:
            continue  # what is lost stays where it is
        going, speed[k] = walker.rates(k)
        rate[k, :2] = pair(going)
        if k + 1 < K:
            walker.advance(k)
            pull[k, :2] = pair(walker.pull)
    hangs = drawn(walker.stance, hangs, feet - shift[:, None])
    feet[..., 2] += lift
    speed[..., 2] += rising
    shift[:, 2], rate[:, 2], pull[:, 2] = high, climbs, raised
    for way in (shift, rate):  # up and down the clip's own slope
        way[..., 2] += way[..., :2] @ stance.grade
    way, pace, turn = off(stance, walker.stance)
    moves, lost = tuple(walker.moves), walker.lost
    astray = walker.astray or hop.late(stance, borne, max(blow.end for blow in blows))
    feet, speed = feet + way, speed + pace
    led = feet, speed, pull, hold, lift, rising, way, turn, hangs, struck.draws, struck.folds, hop.stood(stance, high)
    return Plan(walker.stance, shift, rate, *led, moves, lost, astray)


def _fades(walker: Walker, k: int) -> Array:
    """(K - k, 1) what is left of a way off the clip, from sample k on, where it is closed as the reaction ends."""
    pace, times = walker.stance.pace[k], walker.stance.times[k:]
    left = np.array([walker.closing(later)[0] for later in range(k, k + len(times))])
    return np.asarray(left * np.exp(-pace * (times - times[0])))[:, None]
