"""How far the body goes up or down: where legs that carry it give way, and where a blow pushes it.

A body of mass m on legs that have lost a part of its weight m g falls by that part until stretched muscles brake it and
tone brings it up again: a critically damped spring, solved exactly from sample to sample.
"""

from collections.abc import Sequence

import numpy as np

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


def dip(stance: Stance, push: Array, struck: Struck, blows: Sequence[Span]) -> tuple[Array, Array, Array]:
    """(K,) height off the clip's [m], its rate [m/s] and what the ground adds to that [m/s^2].  What happens before a
    blow doesn't know of it.

    push: (B, K) change of the weight's velocity by each blow in each sample, upwards [m/s]: until muscles answer, legs
    bear no more than the weight, wherever it goes.
    """
    lost = missing(stance, struck.sinks).sum(axis=1)
    nothing, at_once = np.zeros_like(lost), np.ones_like(lost)
    ways = [_sprung(stance, DEPTH, lost, nothing, at_once, blows)] if lost.any() else []
    for blow, own in zip(blows, push, strict=True):
        if own.any():
            answer = answered(stance.times - blow.start)
            ways.append(_sprung(stance, GIVES, nothing, own, answer, blows))
    z, rate, pull = np.sum(ways, axis=0) if ways else np.zeros((3, len(lost)))
    return z, rate, pull


def _sprung(
    stance: Stance, part: float, lost: Array, push: Array, answer: Array, blows: Sequence[Span]
) -> tuple[Array, ...]:
    """`dip` of a loss and a push (K,) on legs that give by a part of their length and whose answer has come up by a
    part (K,)."""
    K, h, depth = len(stance.times), stance.h, part * float(stance.length.mean())
    z, v, a, rate = np.zeros((4, K))
    for k in range(K - 1):
        gravity = float(stance.pace[k]) ** 2 * float(stance.height[k])
        w = np.sqrt(gravity / depth) * answer[k]
        away = z[k] + depth * lost[k]
        drift, decay = v[k] + w * away, np.exp(-w * h)
        end = max([blow.end for blow in blows if blow.start <= stance.times[k] + 1e-6] or [blows[0].end])
        (now, slope), (then, _) = (closing(float(t), end) for t in stance.times[k : k + 2])
        left = then / now if now > 0.0 else 0.0
        rate[k] = v[k] + (z[k] * slope / now if now > 0.0 else 0.0)
        z[k + 1] = left * (decay * (away + h * drift) - depth * lost[k] + 0.5 * h * push[k])
        braked = left * decay * (v[k] - w * h * drift)
        v[k + 1], a[k] = braked + left * push[k], (braked - v[k]) / h
    rate[-1] = v[-1]
    return z, rate, a
