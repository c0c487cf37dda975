"""How far the pelvis sinks where legs that carry it give way.

A body of mass m on legs that have lost a part of its weight m g falls by that part until stretched muscles brake it and
tone brings it up again: a critically damped spring, solved exactly from sample to sample.
"""

from collections.abc import Sequence

import numpy as np

from .contacts import bearing
from .plan import Span, Struck, closing
from .rotation import Array
from .stance import Stance

DEPTH = 0.35  # of a leg's length that a body would sink at last on legs that carry nothing


def missing(stance: Stance, sinks: Array) -> Array:
    """(K, L) part of the weight that legs don't carry any more: what they have lost of their share."""
    bear = bearing(stance.down, stance.low) & stance.down.any(axis=1, keepdims=True)
    return np.asarray(sinks * bear / np.maximum(bear.sum(axis=1, keepdims=True), 1))


def dip(stance: Stance, struck: Struck, blows: Sequence[Span]) -> tuple[Array, Array, Array]:
    """(K,) height off the clip's [m], its rate [m/s] and its acceleration [m/s^2].  What happens before a blow doesn't
    know of it."""
    K = len(stance.times)
    z, v, a, rate = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)
    lost = missing(stance, struck.sinks).sum(axis=1)
    if not lost.any():
        return z, rate, a
    h, depth = stance.h, DEPTH * float(stance.length.mean())
    for k in range(K - 1):
        gravity = float(stance.pace[k]) ** 2 * float(stance.height[k])
        w = np.sqrt(gravity / depth)
        away = z[k] + depth * lost[k]
        drift, decay = v[k] + w * away, np.exp(-w * h)
        end = max([blow.end for blow in blows if blow.start <= stance.times[k] + 1e-6] or [blows[0].end])
        (now, slope), (then, _) = (closing(float(t), end) for t in stance.times[k : k + 2])
        left = then / now if now > 0.0 else 0.0
        rate[k] = v[k] + (z[k] * slope / now if now > 0.0 else 0.0)
        z[k + 1] = left * (decay * (away + h * drift) - depth * lost[k])
        v[k + 1] = left * decay * (v[k] - w * h * drift)
        a[k] = (v[k + 1] - v[k]) / h
    rate[-1] = v[-1]
    return z, rate, a
