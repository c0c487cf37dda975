"""Cuts: a body is elsewhere from one frame to the next, as between two shots, or where a loop begins anew at its place.
None flies there, so what comes before and after is simulated, and judged, as if it went on; past keys astray, too."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .blows import Hit
from .errors import ClipError
from .rotation import Array, angle, conjugate, multiply, normalize, rotate
from .skeleton import Clip
from .stepped import runs

FAST = 12.0, 40.0  # [sizes of the figure/s, rad/s] that no body is moved and turned by at least within a frame
FRAME = 1.0 + 1e-4  # [frames] a cut takes at most
ASTRAY = 2.0 + 1e-4  # [frames] that a key astray, between two that aren't, is seen
BACK = 0.25  # part of the way to it by which the body goes on meanwhile, at most
LEAST = 0.008  # [s] that it would take at these speeds: a nudge, or round-off between moments all but the same, is none
SWIFT = 2.0  # times as fast as right before and after, where something is known: what gets faster and faster is no cut
ALONE = 0.5  # [s] without another as large: else they are steps of one motion
ALIKE = 0.25  # part of a jump that another as large has
FAR = 1e5  # [sizes of the figure] from where on float32, of which scenes are, is off by a percent of it
UP = np.array([1.0, 0.0, 0.0, 1.0])  # what of a quaternion turns about the vertical
OBJECT = "object_rotation", "object_position"


def check_near(clip: Clip, names: Sequence[str], size: float) -> None:
    """ClipError where one of the bones is farther away than Blender can show it.  size: as in `spliced`."""
    away = np.argwhere(np.linalg.norm(clip.world_position(), axis=-1) > FAR * size)
    if len(away):
        text = "At frame {:g} bone '{}' is too far away to be shown. Repair the keys that move it there."
        raise ClipError(text.format(clip.frames[away[0, 0]], names[away[0, 1]]))


def gone_on(clip: Clip, base: int, size: float, at: float) -> Clip:
    """`spliced`, and without keys `astray`, which is told in warnings; the clip itself where nothing jumps."""
    back, strays = astray(clip, base, size)
    whole, frames = spliced(back, base, size, at)
    texts = _told("jumps", frames, "as at a cut") + _told("is off", strays, "as by a key that is astray")
    return replace(whole, warnings=(*clip.warnings, *texts)) if texts else clip


def _told(does: str, frames: list[float], like: str) -> list[str]:
    if not frames:
        return []
    more = f" and {len(frames) - 1} times more" if len(frames) > 1 else ""
    text = f"The character {does} at frame {np.ceil(frames[0]):g}{more}, {like}: "
    return [text + "the reaction goes on there as if it had not moved."]


def astray(clip: Clip, base: int, size: float) -> tuple[Clip, list[float]]:
    """The clip without moments at which its body is far away and right back, and the frames of these; arguments as in
    `spliced`.  It is carried to where it would have been."""
    p, place, frames = clip.world_position()[:, base], clip.object_position.copy(), []
    fast = np.linalg.norm(np.diff(p, axis=0), axis=-1) / size > FAST[0] * np.diff(clip.times)
    ends, done = list(runs(fast)), 0
    for first, _ in ends:
        last = max((end for _, end in ends if clip.frames[end] - clip.frames[first] <= ASTRAY), default=0)
        off = np.linalg.norm(p[first : last + 1] - p[first], axis=-1)
        if first < done or last - first < 2 or off.max() < FAST[0] * LEAST * size or off[-1] > BACK * off.max():
            continue
        inside, done = np.arange(first + 1, last), last
        part = (clip.times[inside] - clip.times[first]) / (clip.times[last] - clip.times[first])
        place[inside] += p[first] + part[:, None] * (p[last] - p[first]) - p[inside]
        frames.append(float(clip.frames[first + (off > (1.0 - BACK) * off.max()).argmax()]))
    return (replace(clip, object_position=place), frames) if frames else (clip, [])


def spliced(clip: Clip, base: int, size: float, at: float) -> tuple[Clip, list[float]]:
    """The clip without jumps of its body, and the frames at which these end.  Bones stay in the armature's space: its
    object is carried along, and turned about the vertical.

    base: the bone that all others go with.  size: of the figure [scene units].  at: the time [s] at which it stays
    where it is in the world.
    """
    q, p = clip.world_rotation()[:, base], clip.world_position()[:, base]
    found = _cuts(clip, q, p / size)
    turn, place = clip.object_rotation.copy(), clip.object_position.copy()
    for first, last in found:
        stays, goes = (first, last) if clip.times[last] > at + 1e-9 else (last, first)
        moved = np.arange(first + 1, len(p)) if goes == last else np.arange(last)
        like = np.clip(moved, first, last)  # what comes after goes with the first moment of it
        back = _upright(multiply(q[stays], conjugate(q[like])))
        hinge, goal = p[like], _goes_on(clip.times, p, stays, goes, like)
        for turned, moving in ((turn, place), (q, p)):
            moving[moved] = goal + rotate(back, moving[moved] - hinge)
            turned[moved] = multiply(back, turned[moved])
    return replace(clip, object_rotation=turn, object_position=place), [float(clip.frames[last]) for _, last in found]


def until(spliced: Clip, clip: Clip, at: float) -> Clip:
    """The spliced clip up to a time [s], and from there on, where both are in the same place, the clip itself."""
    before = (clip.times <= at + 1e-9)[:, None]
    turn, place = (np.where(before, getattr(spliced, name), getattr(clip, name)) for name in OBJECT)
    return replace(clip, object_rotation=turn, object_position=place)


def carried(hit: Hit, clip: Clip, other: Clip) -> Hit:
    """The hit on a clip as it comes on another, whose object is elsewhere: what it says of the world goes along."""
    if other is clip:
        return hit
    now = int(np.argmin(np.abs(clip.frames - hit.frame)))
    here, there = (each.object_position[now] for each in (clip, other))
    turn = multiply(other.object_rotation[now], conjugate(clip.object_rotation[now]))
    return replace(
        hit,
        direction=None if hit.direction is None else rotate(turn, np.asarray(hit.direction)),
        origin=None if hit.origin is None else there + rotate(turn, hit.origin - here),
        ground=None if hit.ground is None else hit.ground + float(there[2] - here[2]),
    )


def in_bones(spliced: Clip, clip: Clip, size: float) -> Clip:
    """The same of a clip whose bones jumped, not its object: with the object, and bones above them, where they were.
    Else these would jump now.  What jumped has the shorter way where it goes on."""
    here, there = ((x.object_rotation, x.object_position) for x in (clip, spliced))
    if _way(*there, size) < _way(*here, size):
        return spliced
    before, after = ((x.world_rotation(), x.world_position()) for x in (clip, spliced))
    jumped = (_way(*after, size) < _way(*before, size))[:, None]
    q, p = (np.where(jumped, *both) for both in zip(after, before, strict=True))
    turn, place = conjugate(clip.object_rotation)[:, None], clip.object_position[:, None]
    return replace(clip, rotation=multiply(turn, q), position=rotate(turn, p - place) / clip.scale)


def _way(q: Array, p: Array, size: float) -> Array:
    """(...,) how far something turns and goes in all, as q (T, ..., 4), p (T, ..., 3): sizes of the figure + rad."""
    return np.asarray((np.linalg.norm(np.diff(p, axis=0), axis=-1) / size + angle(q[:-1], q[1:])).sum(axis=0))


def _upright(q: Array) -> Array:
    """What of turns (..., 4) is about the vertical."""
    flat = q * UP
    none = np.linalg.norm(flat, axis=-1, keepdims=True) < 1e-6
    return normalize(np.where(none, np.array([1.0, 0.0, 0.0, 0.0]), flat))


def _goes_on(times: Array, p: Array, stays: int, goes: int, rows: np.ndarray) -> Array:
    """Places (K, 3) at rows of a body at p (T, 3) that goes on as on the side of a cut that stays, just beside it."""
    beside = stays - np.sign(goes - stays)
    speed = (p[stays] - p[beside]) / (times[stays] - times[beside])
    return np.asarray(p[stays] + (times[rows] - times[stays])[:, None] * speed)


def _cuts(clip: Clip, q: Array, p: Array) -> list[tuple[int, int]]:
    """The last moment before and the first after each jump of what turns and goes as q (T, 4), p (T, 3) [sizes]."""
    turns = angle(_upright(multiply(q[:-1], conjugate(q[1:]))), np.array([1.0, 0.0, 0.0, 0.0]))
    moves = np.linalg.norm(np.diff(p, axis=0), axis=-1)
    jumps = np.maximum(moves / FAST[0], turns / FAST[1])  # [s] that they would take at least
    rates = np.pad(jumps / np.maximum(np.diff(clip.times), 1e-12), 1, constant_values=np.inf)
    found = list(runs(rates[1:-1] > 1.0))
    sizes = np.array([jumps[first:last].sum() for first, last in found])
    since = clip.times[[first for first, _ in found]]
    out = []
    for (first, last), size, start in zip(found, sizes, since, strict=True):
        alike = (np.abs(since - start) < ALONE) & (sizes > ALIKE * size)  # itself is one
        swift = size > SWIFT * max(rates[first], rates[last + 1]) * (clip.times[last] - clip.times[first])
        brief = clip.frames[last] - clip.frames[first] <= FRAME
        if size > LEAST and brief and swift and alike.sum() == 1:
            out.append((first, last))
    return out
