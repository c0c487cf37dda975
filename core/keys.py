"""Key reduction (de Heras Ciechomski 2001, 3.3.3): as few keys as keep a body within an angle, spline-checked.

What counts is what the host shows: quaternion components interpolated one by one and then normalised, Euler angles and
locations added to whatever lies below.  The yardstick is the full bake, one key a frame and straight lines between.
Between kept keys the curves are cubics with slopes taken from the full bake, or straight lines where a cubic won't do.
All channels of a bone share their keys.  Errors add up along a chain of bones: the sum stays within the tolerance.
"""

from dataclasses import dataclass

import numpy as np

from .key_errors import PARTS, Motion, Sheet, slopes
from .rotation import Array

__all__ = ["Keys", "Motion", "reduce"]

MARGIN = 0.9  # of a tolerance is used: the error may be a little larger between two looks, and hosts compute in float32


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys that a bone keeps.

    at: (m,) their places among the frames.  straight: (m,) whether the way to the next key is a straight line, else it
    is a cubic.  corners: (K,) frames at which the slopes before and after are taken apart.
    """

    at: np.ndarray
    straight: np.ndarray
    corners: np.ndarray

    @property
    def smooth(self) -> np.ndarray:
        """(m,) whether the slopes before and after a key are the same."""
        curved = np.concatenate(([False], ~self.straight[:-1])) & ~self.straight
        return curved & ~self.corners[self.at]

    def handles(self, frames: Array, values: Array) -> tuple[Array, Array]:
        """Bezier handles (m,) before and after each key of a channel (K,), a third of the way to the neighbour."""
        before, after = slopes(frames, values[:, None], self.corners)
        kept = values[self.at]
        gap, rise = np.diff(frames[self.at]), np.diff(kept)
        right = np.where(self.straight[:-1], rise, after[self.at[:-1], 0] * gap) / 3.0
        left = np.where(self.straight[:-1], rise, before[self.at[1:], 0] * gap) / 3.0
        return kept - np.concatenate((right[:1], left)), kept + np.concatenate((right, left[-1:]))


def reduce(
    frames: Array,
    motions: list[Motion],
    turn: float,
    travel: float = np.inf,
    keep: Array | None = None,
    grain: float = 0.0,
) -> list[Keys]:
    """The keys of each bone.

    turn: [rad] that no bone is off by, with all that the bones above it are off, at any frame or quarter of one.
    travel: the same of a bone's own location.  frames: (K,) ascending, K >= 2.  keep: frames that must have a key
    (hits); the two ends always have.  grain: of the cosine from which the host takes half a quaternion's angle.
    """
    if not motions:
        return []
    given = np.empty(0) if keep is None else np.asarray(keep, dtype=np.float64)
    sheet = Sheet(np.asarray(frames, dtype=np.float64), motions, MARGIN * turn, MARGIN * travel, given, grain)
    _insert(sheet, *_segments(sheet.key))
    _prune(sheet)
    _repair(sheet)
    return [Keys(np.flatnonzero(key), sheet.straight[b, key], sheet.corners) for b, key in enumerate(sheet.key)]


def _segments(key: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bones, first and last frames (S,) of all segments between keys (B, K)."""
    b, at = np.nonzero(key)
    same = np.flatnonzero(b[1:] == b[:-1])
    return b[same], at[same], at[same + 1]


def _insert(sheet: Sheet, b: np.ndarray, i: np.ndarray, j: np.ndarray) -> None:
    """Where a segment (S,) is too far off, a key goes to its worst frame, until none is."""
    while len(b):
        error, sheet.straight[b, i], look = sheet.fit(b, i, j)
        bad = error > 1.0
        b, i, j = b[bad], i[bad], j[bad]
        k = np.clip(np.round(look[bad] / PARTS).astype(int), i + 1, j - 1)
        sheet.key[b, k] = True
        b, i, j = np.concatenate((b, b)), np.concatenate((i, k)), np.concatenate((k, j))


def _prune(sheet: Sheet) -> None:
    """Take keys out again that later ones have made needless; of neighbours the one that costs least first."""
    price, line = np.empty(sheet.key.shape), np.empty(sheet.key.shape, dtype=bool)
    ends = np.full((2, *sheet.key.shape), -1)
    while True:
        b, at = np.nonzero(sheet.key)
        inner = np.flatnonzero(~sheet.held[b, at])
        place = b[inner], at[inner]
        i, j = at[inner - 1], at[inner + 1]
        new = np.flatnonzero((ends[0][place] != i) | (ends[1][place] != j))
        if len(new):
            fresh = b[inner][new], at[inner][new]
            price[fresh], line[fresh], _ = sheet.fit(fresh[0], i[new], j[new])
            ends[0][fresh], ends[1][fresh] = i[new], j[new]
        cost = np.full(len(at), np.inf)
        cost[inner] = np.where(price[place] <= 1.0, price[place], np.inf)
        gone = np.flatnonzero(np.isfinite(cost) & (cost < np.roll(cost, 1)) & (cost <= np.roll(cost, -1)))
        if not len(gone):
            return
        sheet.key[b[gone], at[gone]] = False
        sheet.straight[b[gone], at[gone - 1]] = line[b[gone], at[gone]]


def _repair(sheet: Sheet) -> None:
    """Where the errors of a chain add up to too much, its worst bone gets a key more, until none does."""
    while True:
        b, i, j = _segments(sheet.key)
        segment, look, _, turn, _ = sheet.errors(b, i, j, sheet.straight[b, i])
        own = np.zeros((len(sheet.key), len(sheet.looks)))
        owner = np.zeros(own.shape, dtype=int)
        own[b[segment], look], owner[b[segment], look] = turn, segment
        total, most = own.copy(), own.copy()
        for bone, up in enumerate(sheet.parent):
            if up >= 0:
                total[bone] += total[up]
                above = most[up] > own[bone]
                most[bone], owner[bone] = np.where(above, most[up], own[bone]), np.where(above, owner[up], owner[bone])
        bad = total > sheet.turn
        if not bad.any():
            return
        worst, where = owner[bad], np.nonzero(bad)[1]
        worst, first = np.unique(worst[order := np.lexsort((-total[bad], worst))], return_index=True)
        b, i, j = b[worst], i[worst], j[worst]
        k = np.clip(np.round(where[order][first] / PARTS).astype(int), i + 1, j - 1)
        sheet.key[b, k] = True
        _insert(sheet, np.concatenate((b, b)), np.concatenate((i, k)), np.concatenate((k, j)))
