"""Key reduction (de Heras Ciechomski 2001, 3.3.3): as few keys as keep a body within an angle, spline-checked.

What counts is what the host shows: quaternion components interpolated one by one and then normalised, Euler angles and
locations added to whatever lies below.  The yardstick is the full bake, one key a frame and straight lines between.
Between kept keys the curves are cubics with slopes taken from the full bake, or straight lines where a cubic won't do.
All channels of a bone share their keys.  Errors add up along a chain of bones: the sum stays within the tolerance.
Keys go in until every bone keeps to its share of that, and out again as long as the sums along the chains allow.
"""

from dataclasses import dataclass

import numpy as np

from .key_errors import PARTS, Motion, Sheet, Sums, slopes
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
    while _merge(sheet):
        pass
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


def _merge(sheet: Sheet) -> bool:
    """Take keys out that their chains can do without, those that cost least first, and of neighbours only one: whether
    any went."""
    b, at = np.nonzero(sheet.key)
    inner = np.flatnonzero(~sheet.held[b, at])
    if not len(inner):
        return False
    sums = _sums(sheet)
    b, i, k, j = b[inner], at[inner - 1], at[inner], at[inner + 1]
    look, ends, turn, price, line = _prices(sheet, sums, b, i, j)
    free, count = sheet.key.copy(), sheet.key.sum()
    for c in np.argsort(price)[: np.isfinite(price).sum()]:
        bone, first, last = b[c], ends[c], ends[c + 1]
        if not (free[bone, i[c]] and free[bone, k[c]] and free[bone, j[c]]):
            continue
        if sums.take(bone, slice(look[first], look[last - 1] + 1), turn[first:last]):
            sheet.key[bone, k[c]] = free[bone, [i[c], k[c], j[c]]] = False
            sheet.straight[bone, i[c]] = line[c]
    return bool(sheet.key.sum() < count)


def _prices(
    sheet: Sheet, sums: Sums, b: np.ndarray, i: np.ndarray, j: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Array, Array, np.ndarray]:
    """What it costs to have no key within segments (S,) of bones b from frame i to j, of a cubic, or of a straight line
    where only that will do.

    The looks (N,), where each segment begins and the last one ends among them (S + 1,), the angles off (N,); the error
    that comes in, added up (S,), infinite where it is too much; whether the line is meant (S,).
    """
    worst, kinds = sums.worst(), []
    for straight in (False, True):
        segment, look, start, turn, move = sheet.errors(b, i, j, np.full(len(b), straight))
        more = turn - sums.own[b[segment], look]
        sum_ = np.maximum.reduceat(worst[b[segment], look] + more, start)
        fits = (sum_ <= sheet.turn) & (np.maximum.reduceat(move, start) <= sheet.travel)
        kinds.append((np.where(fits, np.add.reduceat(np.maximum(more, 0.0), start), np.inf), turn))
    (cubic, curved), (straight_, plain) = kinds
    line = np.isinf(cubic) & np.isfinite(straight_)
    ends = np.append(start, len(look))
    return look, ends, np.where(line[segment], plain, curved), np.where(line, straight_, cubic), line


def _sums(sheet: Sheet) -> Sums:
    """Those of the keys so far."""
    b, i, j = _segments(sheet.key)
    segment, look, _, turn, _ = sheet.errors(b, i, j, sheet.straight[b, i])
    own = np.zeros((len(sheet.key), len(sheet.looks)))
    own[b[segment], look] = turn
    return Sums(own, sheet.parent, sheet.turn)
