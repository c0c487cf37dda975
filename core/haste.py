"""Feet that land before the clip's time.

A person who is pushed hastens the step that is on its way (Hof, Vermerris and Gjaltema 2010).  The foot runs ahead of
its clip until it lands and lets the clip catch up while it stands: all the way it makes the clip's own motion, over
the clip's ground, only sooner.  While it is ahead of its hip, its leg hangs.
"""

from dataclasses import replace

import numpy as np

from .resample import rotations
from .rotation import Array, conjugate, log, multiply
from .stance import SHORTEST, Stance
from .support import smooth

SWIFT = 140.0  # [rad/s^2] at which a leg that hurries starts and stops, about its hip or its knee: chosen
STEADY = 1.5  # times its mean is the steepest rate of `smooth`


def soonest(stance: Stance, k: int, leg: int) -> int:
    """The sample from which on a foot in the air at sample k may land: it doesn't run backwards while it waits for its
    clip."""
    due = stance.lands(k, leg)
    return max(due - int(0.5 * (stance.stays(due, leg) - due) / (STEADY - 1.0)), k + 1)


def bends(way: Array, length: float) -> Array:
    """(T,) [rad] that a knee is bent whose foot is a way (T, 3) from the hip, between bones of one length."""
    return np.asarray(2.0 * np.arccos(np.minimum(np.linalg.norm(way, axis=-1) / length, 1.0)))


def hanging(way: Array, length: float, h: float) -> tuple[Array, float]:
    """How far a knee is bent at least (T,) [rad] whose foot goes a way (T, 3) from the hip until it lands: from where
    it is bent most it straightens evenly, for a foot that is ahead of its hip would straighten it at once.  And how
    swiftly the leg starts and stops then, from rest to rest [rad/s^2]."""
    knee, last = bends(way, length), len(way) - 1
    most = max(int(knee.argmax()), 1)
    out, left = np.zeros(len(way)), (last - most) * h
    s = np.linspace(0.0, 1.0, last - most + 1)
    rate = min(float(knee[most] - knee[most - 1]) / h, 0.0)
    out[most:] = knee[most] + (knee[-1] - knee[most]) * smooth(s) + rate * left * s * (1.0 - s) ** 2
    a, b = (x / max(float(np.linalg.norm(x)), SHORTEST) for x in way[[0, -1]])
    turns = float(np.arccos(np.clip(a @ b, -1.0, 1.0))), max(float(knee[most] - knee[-1]), 0.0)
    return out, max(6.0 * turn / max(seconds, h) ** 2 for turn, seconds in zip(turns, (last * h, left), strict=True))


def hastened(stance: Stance, k: int, leg: int, at: int) -> Stance:
    """The stance where a foot in the air at sample k lands at an earlier one; by the middle of its time on the ground
    it is as in the clip."""
    h = stance.h
    due = stance.lands(k, leg)
    middle = (due + stance.stays(due, leg)) // 2
    by = (due - at) * h
    K = np.arange(k, middle + 1)
    ahead = by * np.where(at > K, smooth((K - k) / (at - k)), 1.0 - smooth((K - at) / (middle - at)))
    times = stance.times[K] + ahead
    sample = (K + ahead / h + 1e-6).astype(int)
    own = stance.owner == leg
    down, low, soles, ankle, turn = (
        x.copy() for x in (stance.down, stance.low, stance.soles, stance.ankle, stance.turn)
    )
    down[K, leg], low[K, leg] = stance.down[sample, leg], stance.low[sample, leg]
    soles[K[:, None], np.flatnonzero(own)] = stance.at(soles[:, own], times) - (ahead[:, None] * stance.ground)[:, None]
    ankle[K, leg] = stance.at(ankle[:, leg], times) - ahead[:, None] * np.append(stance.ground, 0.0)
    turn[K, leg] = rotations(stance.times, stance.turn[:, leg], times)
    return replace(stance, down=down, low=low, soles=soles, ankle=ankle, turn=turn)


def drawn(stance: Stance, hangs: Array, way: Array) -> Array:
    """(K, L) [m] by how much nearer to their hips feet hang than they are led, whose knees are bent by (K, L) [rad] at
    least.  way: (K, L, 3) by how much farther from their hips than the clip's they are led."""
    if not hangs.any():
        return np.zeros_like(hangs)
    far = np.minimum(np.linalg.norm(stance.ankle - stance.hip + way, axis=-1), stance.length)
    return np.asarray((hangs > 0.0) * np.maximum(far - stance.length * np.cos(0.5 * hangs), 0.0))


def off(clip: Stance, now: Stance) -> tuple[Array, Array, Array]:
    """How far hastened feet are off the clip's: way (K, L, 3) [m], its rate, and turn (K, L, 3) in the world [rad]."""
    way = now.ankle - clip.ankle
    kept = np.pad(way, ((2, 2), (0, 0), (0, 0)), mode="edge")
    near, far = (kept[2 + i : len(way) + 2 + i] - kept[2 - i : len(way) + 2 - i] for i in (1, 2))
    rate = np.where(way.any(axis=-1, keepdims=True), 8.0 * near - far, 0.0) / (12.0 * clip.h)  # before it none
    return way, rate, log(multiply(now.turn, conjugate(clip.turn)))
