"""How far the body goes up or down: where legs that carry it give way, and where a blow pushes it.

A body of mass m on legs that have lost a part of its weight m g falls by that part until stretched muscles brake it and
tone brings it up again: a critically damped spring, solved exactly from sample to sample.  The ground pulls nobody:
what rises is braked by its weight at most, and flies where its legs don't reach the ground (`hop`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import hop
from .contacts import bearing
from .plan import Span, Struck, closing
from .rotation import Array
from .stance import Stance
from .weight import answered

DEPTH = 0.3  # of a leg's length that a body would sink at last on legs that carry nothing
GIVES = 0.35  # the same of legs that keep their strength, where a blow moves the weight up or down


def missing(stance: Stance, sinks: Array) -> Array:
    """(K, L) part of the weight that legs don't carry any more: what they have lost of their share."""
    bear = bearing(stance.down, stance.low) & stance.down.any(axis=1, keepdims=True)
    return np.asarray(sinks * bear / np.maximum(bear.sum(axis=1, keepdims=True), 1))


def dip(stance: Stance, push: Array, struck: Struck, blows: Sequence[Span]) -> tuple[Array, Array, Array, Array]:
    """(K,) height off the clip's [m], its rate [m/s], what the ground adds to that [m/s^2], and which part of the body
    it bears where a blow lifts that.  What happens before a blow doesn't know of it.

    push: (B, K) change of the weight's velocity by each blow in each sample, upwards [m/s]: until muscles answer, legs
    bear no more than the weight, wherever it goes.
    """
    lost = missing(stance, struck.sinks).sum(axis=1)
    K, pushes = len(lost), [i for i, own in enumerate(push) if own.any()]
    if not lost.any() and not pushes:
        return np.zeros(K), np.zeros(K), np.zeros(K), np.ones(K)
    ways = _Ways.still(K, len(pushes) + 2, float(stance.length.mean()))
    ways.lost[:, 0], ways.depth[0] = lost, ways.depth[0] * DEPTH / GIVES
    for row, i in enumerate(pushes, 1):
        ways.push[:, row], ways.answer[:, row] = push[i], answered(stance.times - blows[i].start)
    return _sprung(stance, ways, blows)


@dataclass(frozen=True, eq=False)
class _Ways:
    """Heights that add up: of what is lost, of each push, and of what none of these is braked by as the ground pulls
    nobody.

    lost, push, answer: (K, R) part of the weight that legs don't carry, change of velocity [m/s], and part of their
    answer that has come up.  depth: (R,) [m] by which legs give.
    """

    lost: Array
    push: Array
    answer: Array
    depth: Array

    @classmethod
    def still(cls, K: int, rows: int, length: float) -> "_Ways":
        """Nothing, on legs so long [m]."""
        return cls(np.zeros((K, rows)), np.zeros((K, rows)), np.ones((K, rows)), np.full(rows, GIVES * length))


def _sprung(stance: Stance, ways: _Ways, blows: Sequence[Span]) -> tuple[Array, Array, Array, Array]:
    """`dip` of several ways."""
    K, h = len(stance.times), stance.h
    least, stands, (low, up) = hop.falls(stance), hop.stands(stance), hop.rises(stance)
    z, v = np.zeros((2, len(ways.depth)))
    high, rate, pull, borne = np.zeros(K), np.zeros(K), np.zeros(K), np.ones(K)
    for k in range(K):
        end = max([blow.end for blow in blows if blow.start <= stance.times[k] + 1e-6] or [blows[0].end])
        now, slope = closing(float(stance.times[k]), end)
        high[k], rate[k] = z.sum(), v.sum() + (z.sum() * slope / now if now > 0.0 else 0.0)
        borne[k] = 1.0 - stands[k] * hop.unborne(high[k], (low[k], up[k]))
        if k + 1 == K:
            break
        left = closing(float(stance.times[k + 1]), end)[0] / now if now > 0.0 else 0.0
        w = float(stance.pace[k]) * np.sqrt(float(stance.height[k]) / ways.depth) * ways.answer[k]
        away = z + ways.depth * ways.lost[k]
        drift, decay = v + w * away, np.exp(-w * h)
        there, then = decay * (away + h * drift) - ways.depth * ways.lost[k], decay * (v - w * h * drift)
        each, goes = (left * then - v) / h, (there - z - h * v).sum()
        asked, by_itself = each.sum(), min(least[k], each[0])  # legs that are lost let it fall as they are told
        free = 1.0 - borne[k] if asked > by_itself else stands[k]
        pull[k] = asked + free * (by_itself - asked)
        there[-1] += free * (0.5 * h * h * by_itself - goes)
        then[-1] += free * h * (by_itself - asked)
        z, v = left * (there + 0.5 * h * ways.push[k]), left * (then + ways.push[k])
    return high, rate, pull, borne
