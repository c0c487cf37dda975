"""Clips on twos and threes: poses are held for some frames and jump to the next.  A simulation must not take the jumps
for motion, which would be infinitely fast."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from . import levels
from .reference import from_parents, to_parents
from .resample import hermite, rotations
from .rotation import Array, angle
from .skeleton import Clip

STILL = np.radians(0.01), 1e-5  # [rad, part of the figure's size] less from one moment to the next is none
SEEN = np.radians(2.0), 0.005  # a jump from hold to hold by less makes no stepped clip
FRAME = 1.0 + 1e-4  # [frames] such a jump takes at most
SWIFT = 2.0  # times as fast as right before and after: then what hangs on moving bones jumps, too
SHORT = 1e-3  # [frames] moments closer to each other are the same
HOLD = 0.05  # [frames] at least, between two motions: in less one that goes on may show no more than `STILL`
RECURS = 0.5  # [s] in which two more such jumps must come
LONGEST = 0.2  # [s] before the next pose a held one is left at the earliest


def eased(clip: Clip, parent: np.ndarray) -> tuple[Clip, list[int]]:
    """The clip as if its held poses were joined, each of them reached where its hold begins, and the bones that jump.

    parent: (n,) of the bones, which stand after it.  bone: -1 for the object.  Turns and places of each bone are judged
    for themselves; what doesn't jump stays as it is.
    """
    size = max(float(np.ptp(clip.position, axis=1).max()), 1e-12)
    q, p = to_parents(parent, clip.rotation, clip.position)
    q = np.concatenate((clip.object_rotation[:, None], q), axis=1)
    p = np.concatenate((clip.object_position[:, None] / abs(clip.scale), p), axis=1)
    turns, moves = angle(q[:-1], q[1:]), np.linalg.norm(np.diff(p, axis=0), axis=-1) / size
    jumps = _jumps(clip, turns, STILL[0], SEEN[0]) | _jumps(clip, moves, STILL[1], SEEN[1])
    if not jumps.any():
        return clip, []
    was, off = (q.copy(), p.copy()), np.zeros(len(parent) + 1, dtype=bool)
    for bone, way in _ways(clip, turns, STILL[0], jumps):
        q[way, bone] = rotations(clip.times[~way], q[~way, bone], clip.times[way])
        off[bone] |= np.any(angle(was[0][way, bone], q[way, bone]) > SEEN[0])
    for bone, way in _ways(clip, moves, STILL[1], jumps):
        p[way, bone] = hermite(clip.times[~way], p[~way, bone], clip.times[way])
        off[bone] |= np.any(np.linalg.norm(was[1][way, bone] - p[way, bone], axis=-1) > SEEN[1] * size)
    rotation, position = from_parents(levels.build(tuple(parent.tolist())), q[:, 1:], p[:, 1:])
    place = p[:, 0] * abs(clip.scale)
    joined = replace(clip, rotation=rotation, position=position, object_rotation=q[:, 0], object_position=place)
    return joined, (np.flatnonzero(off) - 1).tolist()


def _moving(clip: Clip, sizes: Array, still: float) -> np.ndarray:
    """(T - 1, ...) bool, from which moments to the next something moves; sizes: (T - 1, ...) of the motion."""
    moves, lasting = sizes > still, np.diff(clip.frames) >= HOLD
    brief, longer = np.flatnonzero(~lasting), np.flatnonzero(lasting)
    after = np.searchsorted(longer, brief)
    between = (after > 0) & (after < len(longer))
    brief, after = brief[between], after[between]
    moves[brief] |= moves[longer[after - 1]] & moves[longer[after]]
    return moves


def runs(moves: np.ndarray) -> Iterator[tuple[int, int]]:
    """The first and the last moment of each motion; moves: (T - 1,) bool, from each moment to the next."""
    edges = np.diff(np.concatenate(([0], moves.astype(int), [0])))
    yield from zip(np.flatnonzero(edges > 0).tolist(), np.flatnonzero(edges < 0).tolist(), strict=True)


def _jumps(clip: Clip, sizes: Array, still: float, seen: float) -> np.ndarray:
    """(T - 1,) bool, from which moments to the next any bone jumps from hold to hold.

    sizes: (T - 1, n) of the motion.  still: what is less is none.  seen: of the whole jump.
    """
    found = np.zeros(len(sizes), dtype=bool)
    for bone in np.flatnonzero(np.any(sizes > seen / 4.0, axis=0)):
        for first, last in runs(_moving(clip, sizes[:, bone], still)):
            inside = first > 0 and last < len(sizes)  # what is before or after may go on like that
            if inside and clip.frames[last] - clip.frames[first] <= FRAME and sizes[first:last, bone].sum() > seen:
                found[first:last] = True
    return found


def _ways(clip: Clip, sizes: Array, still: float, jumps: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The bones that jump, each with the moments (T,) bool on its ways from pose to pose; arguments as in `_jumps`."""
    moves = _moving(clip, sizes, still)
    rates = np.pad(sizes / np.maximum(np.diff(clip.frames), SHORT)[:, None], ((1, 1), (0, 0)))
    swift = moves & jumps[:, None] & (rates[1:-1] > SWIFT * np.maximum(rates[:-2], rates[2:]))
    for bone in np.flatnonzero(np.any(moves, axis=0)).tolist():
        way = _way(clip, moves[:, bone]) | _way(clip, _recurring(clip, swift[:, bone]))
        if way.any():
            yield bone, way


def _recurring(clip: Clip, moves: np.ndarray) -> np.ndarray:
    """Those of the motions (T - 1,) bool that two others are near: what trembles is swift once or twice by chance."""
    found, out = list(runs(moves)), moves.copy()
    starts = clip.times[[first for first, _ in found]]
    for (first, last), start in zip(found, starts, strict=True):
        out[first:last] = np.sum(np.abs(starts - start) <= RECURS) > 2
    return out


def _way(clip: Clip, moves: np.ndarray) -> np.ndarray:
    """(T,) bool, the moments from where a held pose is left to where the next is reached; moves: (T - 1,) bool."""
    way, held = np.zeros(len(clip.frames), dtype=bool), 0
    for leaves, reaches in runs(moves):
        if clip.frames[reaches] - clip.frames[leaves] <= FRAME:
            earliest = int(np.searchsorted(clip.times, clip.times[reaches] - LONGEST))
            way[min(max(held, earliest), leaves) + 1 : reaches] = True
        held = reaches
    return way
