"""Feet that land before the clip's time.

A person who is pushed hastens the step that is on its way (Hof, Vermerris and Gjaltema 2010).  The foot runs ahead of
its clip until it lands and lets the clip catch up while it stands: all the way it makes the clip's own motion, over
the clip's ground, only sooner.
"""

from dataclasses import replace

import numpy as np

from .resample import rotations
from .rotation import Array, conjugate, log, multiply
from .stance import SHORTEST, Stance
from .support import smooth

TURNS = 8.0  # [rad/s] that a leg in the air turns about its hip at most, where the clip's doesn't: a sprint's half
STEADY = 1.5  # times its mean is the steepest rate of `smooth`


def soonest(stance: Stance, k: int, leg: int) -> float:
    """[s] by how much a foot in the air at sample k may land before the clip's time: its leg doesn't turn faster than
    TURNS for it, nor does the foot run backwards while it waits for its clip.  What is hastened is its way over the
    ground, under a hip that goes on as ever."""
    h = float(stance.times[1] - stance.times[0])
    due = stance.lands(k, leg)
    some = slice(k, due + 1)
    way, over = (stance.ankle - stance.hip)[some, leg], stance.ankle[some, leg].copy()
    over[:, :2] -= (stance.times[some, None] - stance.times[k]) * stance.ground
    far = np.maximum(np.linalg.norm(way, axis=-1), SHORTEST)
    own, more = (np.linalg.norm(np.diff(x, axis=0), axis=-1).max() / h for x in (way / far[:, None], over / far.min()))
    faster = max(TURNS - float(own), 0.0) / max(float(more), 1e-6) / STEADY
    stands = stance.stays(due, leg) - due
    return h * min((due - k) * faster / (1.0 + faster), 0.5 * stands / (STEADY - 1.0))


def hastened(stance: Stance, k: int, leg: int, by: float) -> Stance:
    """The stance where a foot in the air at sample k lands so much [s] earlier; by the middle of its time on the ground
    it is as in the clip."""
    h = float(stance.times[1] - stance.times[0])
    due = stance.lands(k, leg)
    at, middle = due - int(by / h), (due + stance.stays(due, leg)) // 2
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


def off(clip: Stance, now: Stance) -> tuple[Array, Array, Array]:
    """How far hastened feet are off the clip's: way (K, L, 3) [m], its rate, and turn (K, L, 3) in the world [rad]."""
    way = now.ankle - clip.ankle
    h = float(clip.times[1] - clip.times[0])
    kept = np.pad(way, ((2, 2), (0, 0), (0, 0)), mode="edge")
    near, far = (kept[2 + i : len(way) + 2 + i] - kept[2 - i : len(way) + 2 - i] for i in (1, 2))
    return way, (8.0 * near - far) / (12.0 * h), log(multiply(now.turn, conjugate(clip.turn)))
