"""Cuts: the armature object is elsewhere from one frame to the next, as between two shots.  No body flies there, so
what comes before and after is simulated, and judged, as if it were in one place."""

from dataclasses import replace

import numpy as np

from .rotation import Array, angle, conjugate, multiply, rotate
from .skeleton import Clip

FAST = 12.0, 40.0  # [sizes of the figure/s, rad/s] that no object is moved and turned by at least within a frame
FRAME = 1.0 + 1e-4  # [frames] a cut takes at most
ALONE = 0.5  # [s] without another as large: else they are steps of one motion
ALIKE = 0.25  # part of a jump that another as large has


def spliced(clip: Clip, at: float) -> tuple[Clip, list[float]]:
    """The clip without its object's jumps, and the frames at which these end.  Bones stay in the armature's space.

    at: the time [s] at which the object stays where it is in the world.
    """
    size = max(float(np.ptp(clip.position, axis=1).max()) * abs(clip.scale), 1e-12)
    moves = np.linalg.norm(np.diff(clip.object_position, axis=0), axis=-1) / size
    turns = angle(clip.object_rotation[:-1], clip.object_rotation[1:])
    found = _cuts(clip, np.maximum(moves / FAST[0], turns / FAST[1]))
    q, p = clip.object_rotation.copy(), clip.object_position.copy()
    for first, last in found:
        stays, goes = (first, last) if clip.times[last] > at + 1e-9 else (last, first)
        moved = slice(last, None) if goes == last else slice(None, first + 1)
        back = multiply(q[stays], conjugate(q[goes]))
        q[moved] = multiply(back[None], q[moved])
        q[first + 1 : last] = q[stays]
        between = _goes_on(clip.times, p, stays, slice(first, last + 1))
        p[moved] = between[goes - first] + rotate(back[None], p[moved] - p[goes])
        p[first + 1 : last] = between[1:-1]
    return replace(clip, object_rotation=q, object_position=p), [float(clip.frames[last]) for _, last in found]


def _goes_on(times: Array, p: Array, stays: int, over: slice) -> Array:
    """Places over a cut of an object at p (T, 3) that goes on as it does on the side that stays, just beside it."""
    beside = stays - 1 if over.start == stays else stays + 1
    if not 0 <= beside < len(p):
        return np.broadcast_to(p[stays], p[over].shape)
    speed = (p[stays] - p[beside]) / (times[stays] - times[beside])
    return np.asarray(p[stays] + (times[over] - times[stays])[:, None] * speed)


def _cuts(clip: Clip, jumps: Array) -> list[tuple[int, int]]:
    """The last moment before and the first after each; jumps: (T - 1,) [s] that they would take as fast as `FAST`."""
    fast = jumps > np.diff(clip.times)
    edges = np.diff(np.concatenate(([0], fast.astype(int), [0])))
    runs = list(zip(np.flatnonzero(edges > 0).tolist(), np.flatnonzero(edges < 0).tolist(), strict=True))
    sizes = np.array([jumps[first:last].sum() for first, last in runs])
    since = clip.times[[first for first, _ in runs]]
    out = []
    for (first, last), size, start in zip(runs, sizes, since, strict=True):
        alike = (np.abs(since - start) < ALONE) & (sizes > ALIKE * size)  # itself is one
        if clip.frames[last] - clip.frames[first] <= FRAME and alike.sum() == 1:
            out.append((first, last))
    return out
