"""What a clip does between two frames that neither of them shows: keys that jump by half a turn or a whole
one, or change a quaternion's sign, whirl a bone round where nobody has looked."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .rotation import Array, angle, slerp
from .skeleton import Clip

Rows = np.ndarray  # indices (K,)
OFF = np.radians(1.0)  # from one frame to the next by way of a moment between them, so much longer: it isn't on the way


def steadied(clip: Clip, jumps: Callable[[Rows, Rows], np.ndarray]) -> tuple[Clip, list[tuple[int, float]]]:
    """The clip as its whole frames show it, and where it whirled: (bone, frame before), the bone nearest to the root.

    jumps: of rows (K,) of whole frames and of the next ones, whether the keys of object and bones (K, 1 + n) jump.
    bone: -1 for the object.  Where one strays on such a jump, all moments between the two frames get poses on the way
    from one to the other.  Moments whose whole frames were not read stay.
    """
    rows, before, after = _between(clip.frames)
    turns = np.concatenate((clip.object_rotation[:, None], clip.rotation), axis=1)
    a, here, b = turns[before], turns[rows], turns[after]
    off = jumps(before, after) & (angle(a, here) + angle(here, b) - angle(a, b) > OFF)
    wild = np.any(off, axis=1)
    if not wild.any():
        return clip, []
    starts = clip.frames[before[wild]]
    found = {(int(np.argmax(each)) - 1, float(start)) for each, start in zip(off[wild], starts, strict=True)}
    both = np.isin(before, before[wild])
    rows, before, after = rows[both], before[both], after[both]
    where = rows, before, after, clip.frames[rows] - clip.frames[before]
    steady = replace(
        clip,
        rotation=_turned(clip.rotation, *where),
        position=_moved(clip.position, *where),
        object_rotation=_turned(clip.object_rotation, *where),
        object_position=_moved(clip.object_position, *where),
    )
    return steady, sorted(found, key=lambda each: each[1])


def _between(frames: Array) -> tuple[Rows, Rows, Rows]:
    """Rows of the moments between whole frames, and the rows of these before and after them."""
    before, after = np.searchsorted(frames, np.floor(frames)), np.searchsorted(frames, np.ceil(frames))
    after = np.minimum(after, len(frames) - 1)
    known = (frames[before] == np.floor(frames)) & (frames[after] == np.ceil(frames)) & (before < after)
    return np.flatnonzero(known), before[known], after[known]


def _turned(q: Array, rows: Rows, a: Rows, b: Rows, part: Array) -> Array:
    """Rotations (T, ..., 4) with those of the rows taken from between the rows a and b."""
    out = q.copy()
    out[rows] = slerp(q[a], q[b], part.reshape((-1,) + (1,) * (q.ndim - 2)))
    return out


def _moved(p: Array, rows: Rows, a: Rows, b: Rows, part: Array) -> Array:
    """Places (T, ..., 3) likewise."""
    out = p.copy()
    out[rows] = p[a] + part.reshape((-1,) + (1,) * (p.ndim - 1)) * (p[b] - p[a])
    return out
