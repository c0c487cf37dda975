"""What even samples of contacts tell: which legs stand, how softly they begin and end, and what flights between ask."""

import numpy as np

from .quality import ground
from .quality.motion import RATE, Motion, smooth
from .rotation import Array

SHIFTED = 9  # samples before and after a change of feet in which the weight shifts
BRIEF = 5  # samples for which a foot is neither put down nor lifted
PASSES, GOES = 0.3, 0.25  # [m/s] at which ground goes by, and part of that at which a foot at least goes with it


def per_leg(motion: Motion, stand: ground.Stand, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(K, L) bool: the legs of which soles (S,) stand, without flicker, and of which some are low enough to.

    motion: off the ground's grade.
    """
    legs = np.arange(owner.max() + 1)
    planted = stand.down | _carried_along(motion, stand) if len(legs) > 2 else stand.down
    down, low = (np.stack([np.any(x[:, owner == i], axis=1) for i in legs], axis=1) for x in (planted, stand.bearing))
    return np.stack([steady(x) for x in down.T], axis=1), low


def bearing(stands: np.ndarray, low: np.ndarray) -> np.ndarray:
    """(..., L) bool, the legs that bear the weight: those that stand and, where these aren't enough, those near the
    ground."""
    return np.asarray(stands | (low & (stands.sum(axis=-1, keepdims=True) < enough(stands.shape[-1]))))


def enough(legs: int) -> int:
    """How many of so many legs bear the weight without others: one of two, two of four."""
    return 2 if legs > 2 else 1


def softly(down: np.ndarray) -> Array:
    """(K, L) 0..1 with a soft way on and off."""
    weight = np.hanning(2 * SHIFTED + 3)[1:-1]
    landed = down | np.roll(down, -1, axis=0)  # one that is down at a sample has landed since the last
    landed[-1] = down[-1]
    padded = np.pad(1.0 * landed, ((SHIFTED, SHIFTED), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * SHIFTED + 1, axis=0)
    return np.asarray(windows @ (weight / weight.sum()))


def following(true: np.ndarray, none: int) -> np.ndarray:
    """(K + 1, n) the first sample from each on at which (K, n) is true, or `none`."""
    K = len(true)
    at = np.where(true, np.arange(K)[:, None], K)
    first = np.append(np.minimum.accumulate(at[::-1], axis=0)[::-1], np.full((1, true.shape[1]), K), axis=0)
    return np.where(first < K, first, none)


def steady(down: np.ndarray) -> np.ndarray:
    """Contacts without those, and without gaps, that last BRIEF samples or less."""
    out = down.copy()
    for state in (True, False):  # first gaps are closed, then what is left of short contacts goes
        edges = np.flatnonzero(np.diff(out.astype(int))) + 1
        for a, b in zip(edges[:-1], edges[1:], strict=True):
            if b - a <= BRIEF and out[a] != state:
                out[a:b] = state
    return out


def load(flies: np.ndarray) -> Array:
    """(K,) how many times its weight a body presses the ground, in the mean, that flies (K,) bool at some samples: 1,
    and between flights more, for those who stand there bear half of each as well.

    A contact that the first sample or the last one cuts is taken to last as long as the flight beside it at least.
    """
    cuts = np.flatnonzero(np.diff(np.concatenate(([-1], 1 * flies, [-1]))))
    some = np.diff(cuts)
    air, lasts = np.pad(some * flies[cuts[:-1]], 1), some.copy()
    lasts[[0, -1]] = np.maximum(some[[0, -1]], air[[2, -3]])
    return np.asarray(np.repeat(np.where(air[1:-1] > 0, 1.0, 1.0 + 0.5 * (air[:-2] + air[2:]) / lasts), some))


def _carried_along(motion: Motion, stand: ground.Stand) -> np.ndarray:
    """(K, S) low soles that go the way of the ground below the body, slower or faster: few artists plant four feet to
    the centimetre, and a foot that swings goes the other way."""
    at, com = stand.soles[..., :2], motion.com[:, None, :2]
    ground_by = stand.speed - np.gradient(smooth(com), 1.0 / RATE, axis=0)
    passing = np.einsum("ksi,ksi->ks", np.gradient(smooth(at - com), 1.0 / RATE, axis=0), ground_by)
    pace = np.linalg.norm(ground_by, axis=-1)
    return np.asarray((stand.soles[..., 2] < ground.NEAR) & (pace > PASSES) & (passing > GOES * pace**2))
