"""What even samples of contacts tell: which last, how softly they begin and end, and what flights between them ask."""

import numpy as np

from .rotation import Array

SHIFTED = 9  # samples before and after a change of feet in which the weight shifts
BRIEF = 5  # samples for which a foot is neither put down nor lifted


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
