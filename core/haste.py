"""Feet that land, or leave the ground, before the clip's time.

A person who is pushed hastens the step that is on its way (Hof, Vermerris and Gjaltema 2010).  The foot runs ahead of
its clip until it lands and lets the clip catch up while it stands: all the way it makes the clip's own motion, over
the clip's ground, only sooner.  So does a foot that is lifted because its leg doesn't reach as long as the clip's.
"""

from dataclasses import replace

import numpy as np

from . import heels
from .resample import rotations
from .rotation import Array, conjugate, log, multiply, rotate
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
    due = stance.lands(k, leg)
    K, ahead = _ahead(stance, k, due, stance.stays(due, leg), by)
    times = stance.times[K] + ahead
    own = stance.owner == leg
    down, low, soles = (x.copy() for x in (stance.down, stance.low, stance.soles))
    sample = _sample(stance, K, ahead)
    down[K, leg], low[K, leg] = stance.down[sample, leg], stance.low[sample, leg]
    soles[K[:, None], np.flatnonzero(own)] = stance.at(soles[:, own], times) - (ahead[:, None] * stance.ground)[:, None]
    return replace(_sooner(stance, K, ahead, leg), down=down, low=low, soles=soles)


def lifted(stance: Stance, k: int, leg: int, at: int) -> Stance:
    """The stance where a foot that stands at sample k leaves the ground at an earlier one than in the clip; by the
    middle of its time in the air it is as there."""
    leaves = leaving(stance, k, leg)
    lands = stance.lands(stance.stays(k, leg), leg)
    then = lands if lands >= 0 else len(stance.times) - 1
    K, ahead = _ahead(stance, k, leaves, then, (leaves - at + 0.5) * float(stance.times[1] - stance.times[0]))
    up = ~stance.planted
    up[K, leg] = ~stance.planted[_sample(stance, K, ahead), leg]
    return replace(_sooner(stance, K, ahead, leg), lifted=stance.down & up)


def leaving(stance: Stance, k: int, leg: int) -> int:
    """The sample at which a foot leaves the ground that stands at sample k."""
    stays = stance.stays(k, leg)
    return k + int(np.argmin(np.append(stance.planted[k:stays, leg], False)))


def _ahead(stance: Stance, k: int, due: int, then: int, by: float) -> tuple[np.ndarray, Array]:
    """Samples (n,) from k on, and how much ahead of the clip [s] a foot is at them, whose change is due at a sample and
    comes so much [s] earlier: at the middle between that sample and its next change the clip has caught up."""
    h = float(stance.times[1] - stance.times[0])
    at, middle = due - int(by / h), (due + then) // 2
    K = np.arange(k, middle + 1)
    ways = smooth((K - k) / (at - k)), 1.0 - smooth((K - at) / (middle - at))
    return K, (due - at) * h * np.where(at > K, *ways)


def _sample(stance: Stance, K: np.ndarray, ahead: Array) -> np.ndarray:
    """(n,) that of the clip at which a foot is that is so much [s] ahead (n,) of samples K (n,)."""
    return np.asarray((K + ahead / float(stance.times[1] - stance.times[0]) + 1e-6).astype(int))


def _sooner(stance: Stance, K: np.ndarray, ahead: Array, leg: int) -> Stance:
    """The stance with a foot so much [s] (n,) ahead of the clip at samples K (n,), over the ground."""
    times, ankle, turn = stance.times[K] + ahead, stance.ankle.copy(), stance.turn.copy()
    ankle[K, leg] = stance.at(ankle[:, leg], times) - ahead[:, None] * np.append(stance.ground, 0.0)
    turn[K, leg] = rotations(stance.times, stance.turn[:, leg], times)
    return replace(stance, ankle=ankle, turn=turn)


def short(stance: Stance, clip: Stance, K: np.ndarray, leg: int, x: Array, foot: Array) -> Array:
    """(T,) [m] that a leg lacks at samples K (T,) to a foot that stands (2,) off the clip's, with its hip x (T, 2) off,
    once the pelvis has sunk and the heel risen."""
    hip, ankle = stance.hip[K, leg].copy(), stance.ankle[K, leg].copy()
    reached = heels.longest(np.linalg.norm(hip - clip.ankle[K, leg], axis=-1), float(stance.length[leg]))
    hip[:, :2] += x
    ankle[:, :2] += foot
    toes = rotate(stance.turn[K, leg], stance.tip(leg))
    hip[:, 2] -= heels.DEEPEST * heels.holds(toes, hip - ankle)
    ankle, _ = heels.raised(hip, ankle, toes, reached, 1.0)
    return np.asarray(np.linalg.norm(hip - ankle, axis=-1) - reached)


def off(clip: Stance, now: Stance) -> tuple[Array, Array, Array]:
    """How far hastened feet are off the clip's: way (K, L, 3) [m], its rate, and turn (K, L, 3) in the world [rad]."""
    way = now.ankle - clip.ankle
    h = float(clip.times[1] - clip.times[0])
    kept = np.pad(way, ((2, 2), (0, 0), (0, 0)), mode="edge")
    near, far = (kept[2 + i : len(way) + 2 + i] - kept[2 - i : len(way) + 2 - i] for i in (1, 2))
    return way, (8.0 * near - far) / (12.0 * h), log(multiply(now.turn, conjugate(clip.turn)))
