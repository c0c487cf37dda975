"""How far curves with fewer keys are off, for many bones at once: the yardstick of `keys`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from .lanes import dot
from .rotation import Array

Kind = Literal["quaternion", "euler", "axis_angle"]
KINDS: tuple[Kind, ...] = get_args(Kind)

PARTS = 4  # looks per frame: the bound is checked at every quarter of a frame


@dataclass(frozen=True, eq=False)
class Motion:
    """What is keyed on one bone at every one of K frames.

    kind: what the rotation channels are.  rotation: (K, 4), Euler's (K, 3) [rad], or None.  location: (K, 3) or None.
    parent: place of the nearest bone above it among the motions, which stands before it, or -1.  middle: the axis about
    which an Euler rotation turns second.  base: (K, 4) angle and axis below an axis-angle's delta, taken as straight
    between frames; None = nothing below.  keep: frames that must have a key of this bone.
    """

    kind: Kind
    rotation: Array | None
    location: Array | None = None
    parent: int = -1
    middle: int = 1
    base: Array | None = None
    keep: Sequence[float] = ()


def chains(parent: np.ndarray) -> np.ndarray:
    """(n,) bones in the longest chain through each bone, itself counted.  parent: (n,), -1 at roots, parents first."""
    above = np.ones(len(parent), dtype=int)
    for bone, up in enumerate(parent):
        above[bone] += above[up] if up >= 0 else 0
    longest = above.copy()
    for bone in range(len(parent) - 1, -1, -1):
        if parent[bone] >= 0:
            longest[parent[bone]] = max(longest[parent[bone]], longest[bone])
    return longest


class Sums:
    """Errors along chains of bones, which add up.

    own: (B, looks) [rad] that each bone is off by itself.  parent: (B,), -1 at roots, parents first.  most: [rad] that
    any bone may be off with those above it.
    """

    def __init__(self, own: Array, parent: np.ndarray, most: float) -> None:
        self.own, self.parent, self.most = own, parent, most
        self.total = own.copy()
        under = np.eye(len(parent), dtype=bool)
        for bone, up in enumerate(parent):
            if up >= 0:
                self.total[bone] += self.total[up]
                under[bone] |= under[up]
        self.below = [np.flatnonzero(column) for column in under.T]

    def worst(self) -> Array:
        """(B, looks) the largest sum of a bone and those below it [rad]."""
        out = self.total.copy()
        for bone in range(len(out) - 1, 0, -1):
            if (up := self.parent[bone]) >= 0:
                out[up] = np.maximum(out[up], out[bone])
        return out

    def take(self, bone: int, looks: slice, error: Array) -> bool:
        """Let a bone be off by this at those looks [rad], if the sums allow: whether they did."""
        below = self.below[bone]
        total = self.total[below, looks] + (error - self.own[bone, looks])
        if (total > self.most).any():
            return False
        self.total[below, looks], self.own[bone, looks] = total, error
        return True


def slopes(frames: Array, values: Array, corners: np.ndarray) -> tuple[Array, Array]:
    """Slopes (..., K, c) just before and just after each frame: of the parabola through three neighbours.

    values: (..., K, c).  corners: (K,) frames where only the one side is asked.
    """
    step = np.diff(frames)[:, None]
    rise = np.diff(values, axis=-2) / step
    if len(frames) == 2:
        both = np.concatenate((rise, rise), axis=-2)
        return both, both
    bend = np.diff(rise, axis=-2) / (step[:-1] + step[1:])
    middle = rise[..., :-1, :] + bend * step[:-1]
    first = rise[..., :1, :] - bend[..., :1, :] * step[:1]
    last = rise[..., -1:, :] + bend[..., -1:, :] * step[-1:]
    before = np.concatenate((first, middle, last), axis=-2)
    after = before.copy()
    for k in np.flatnonzero(corners):
        if k >= 2:
            before[..., k, :] = rise[..., k - 1, :] + bend[..., k - 2, :] * step[k - 1]
        elif k == 1:
            before[..., k, :] = rise[..., 0, :]
        if k < len(frames) - 2:
            after[..., k, :] = rise[..., k, :] - bend[..., k, :] * step[k]
        elif k == len(frames) - 2:
            after[..., k, :] = rise[..., k, :]
    return before, after


class Sheet:
    """All bones side by side, and the keys they have so far.

    values: (B, K, 7) rotation channels in four columns (Euler's second axis in column 1), location in three.
    held: (B, K) keys that stay.  key, straight: (B, K) keys so far, and whether a straight line follows.
    share: (B,) [rad] that one bone may be off if all of its chain are as far as they may.
    grain: of the cosine from which the host takes half a quaternion's angle; two curves that are not the same may show
    that much apart.
    """

    def __init__(
        self, frames: Array, motions: list[Motion], turn: float, travel: float, keep: Array, grain: float
    ) -> None:
        self.frames, count = frames, len(frames)
        self.corners = np.zeros(count, dtype=bool)
        self.corners[[0, -1]] = True
        inside = keep[(keep >= frames[0]) & (keep <= frames[-1])]
        self.corners[np.abs(frames[None] - inside[:, None]).argmin(axis=1)] = True
        self.held = np.stack([self.corners | np.isin(self.frames, motion.keep) for motion in motions])
        self.key = self.held.copy()
        self.straight = np.ones(self.key.shape, dtype=bool)
        self.parent = np.array([motion.parent for motion in motions])
        self.grain = grain
        self.turn, self.travel = max(turn, 1e-12), max(travel, 1e-12)
        self.share = self.turn / chains(self.parent)
        self.kinds = np.array([KINDS.index(motion.kind) for motion in motions])
        self.present = [kind for i, kind in enumerate(KINDS) if i in self.kinds]
        self.moves = np.array([motion.location is not None for motion in motions])
        self.values = np.stack([_columns(motion, count) for motion in motions])
        self.before, self.after = slopes(frames, self.values, self.corners)
        looks = np.arange(PARTS * (count - 1) + 1) / PARTS
        self.looks = np.interp(looks, np.arange(count), frames)
        self.full = _lines(looks, self.values)
        self.below = _lines(looks, np.stack([np.zeros((count, 4)) if m.base is None else m.base for m in motions]))
        for kind in self.present:
            of = self.kinds == KINDS.index(kind)
            self.full[of, :, :4] = _shown(kind, self.full[of, :, :4], self.below[of])

    def fit(self, b: np.ndarray, i: np.ndarray, j: np.ndarray) -> tuple[Array, np.ndarray, np.ndarray]:
        """How segments (S,) of bones b from frame i to frame j do without the keys between.

        Error over what is allowed (S,): of a cubic if that will do or a straight line won't either.  Whether the line
        is meant (S,).  The look of the largest error (S,).
        """
        error, look = self._worst(b, i, j, np.zeros(len(b), dtype=bool))
        straight = j - i == 1
        bad = np.flatnonzero((error > 1.0) & ~straight)
        if len(bad):
            line, _ = self._worst(b[bad], i[bad], j[bad], np.ones(len(bad), dtype=bool))
            error[bad] = np.where(line <= 1.0, line, error[bad])
            straight[bad] = line <= 1.0
        return np.where(j - i == 1, 0.0, error), straight, look

    def _worst(self, b: np.ndarray, i: np.ndarray, j: np.ndarray, straight: np.ndarray) -> tuple[Array, np.ndarray]:
        """Largest error over what is allowed, and its look, of each segment (S,)."""
        segment, look, start, turn, move = self.errors(b, i, j, straight)
        error = np.maximum(turn / self.share[b[segment]], move / self.travel)
        most = np.maximum.reduceat(error, start)
        at = np.flatnonzero(error >= most[segment])
        return most, look[at[np.searchsorted(segment[at], np.arange(len(b)))]]

    def errors(
        self, b: np.ndarray, i: np.ndarray, j: np.ndarray, straight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, Array, Array]:
        """At all N looks inside the segments (S,): the segment, the look, the angle [rad] and the distance it is off;
        third the place (S,) at which each segment begins."""
        count = PARTS * (j - i) - 1
        start = np.concatenate(([0], np.cumsum(count)[:-1]))
        segment = np.repeat(np.arange(len(b)), count)
        look = np.arange(len(segment)) - (start - PARTS * i - 1)[segment]
        span = self.frames[j] - self.frames[i]
        weights = _bernstein((self.looks[look] - self.frames[i][segment]) / span[segment])
        control = self._control(b, i, j, span[:, None], straight)
        of = b[segment]
        turn = self._apart(of, look, _mixed(control[:, :, :4], segment, weights), (j - i > 1)[segment])
        move = np.zeros(len(of))
        some = np.flatnonzero(self.moves[of])
        if len(some):
            away = _mixed(control[:, :, 4:], segment[some], weights[some]) - self.full[of[some], look[some], 4:]
            move[some] = np.sqrt(np.einsum("ni,ni->n", away, away))
        return segment, look, start, turn, move

    def _apart(self, of: np.ndarray, look: np.ndarray, values: Array, other: np.ndarray) -> Array:
        """Angle [rad] between what rotation channels (N, 4) of the bones `of` show and the full bake, at looks (N,).

        other: (N,) whether they are not the full bake's own, which has the same grain.
        """
        out = np.empty(len(of))
        for kind in self.present:
            some = slice(None) if len(self.present) == 1 else self.kinds[of] == KINDS.index(kind)
            full, below = self.full[of[some], look[some], :4], self.below[of[some], look[some]]
            shown = _shown(kind, values[some], below)
            out[some] = _apart(kind, full, shown)
            if kind == "quaternion" and self.grain > 0.0:
                out[some] += np.where(other[some], _grain(full, self.grain) + _grain(shown, self.grain), 0.0)
        return out

    def _control(self, b: np.ndarray, i: np.ndarray, j: np.ndarray, span: Array, straight: np.ndarray) -> Array:
        """Bezier control points (S, 4, 7)."""
        p, q = self.values[b, i], self.values[b, j]
        line = straight[:, None]
        out = np.where(line, q - p, span * self.after[b, i]) / 3.0
        back = np.where(line, q - p, span * self.before[b, j]) / 3.0
        return np.stack((p, p + out, q - back, q), axis=1)


def _columns(motion: Motion, count: int) -> Array:
    out = np.zeros((count, 7))
    if motion.rotation is not None:
        order = [(motion.middle + 2) % 3, motion.middle, (motion.middle + 1) % 3]
        turn = motion.rotation[:, order] if motion.kind == "euler" else motion.rotation
        out[:, : turn.shape[-1]] = turn
    elif motion.kind == "quaternion":
        out[:, 0] = 1.0
    if motion.location is not None:
        out[:, 4:] = motion.location
    return out


def _lines(looks: Array, values: Array) -> Array:
    """Values (B, looks, c) of the full bake (B, K, c)."""
    low = np.minimum(looks.astype(int), values.shape[1] - 2)
    return values[:, low] + (looks - low)[:, None] * (values[:, low + 1] - values[:, low])


def _bernstein(u: Array) -> Array:
    v = 1.0 - u
    return np.stack((v * v * v, 3.0 * u * v * v, 3.0 * u * u * v, u * u * u), axis=-1)


def _mixed(control: Array, segment: np.ndarray, weights: Array) -> Array:
    """Values (N, c) of the control points (S, 4, c) with weights (N, 4)."""
    return (weights[:, None, :] @ control[segment])[:, 0]


def _shown(kind: Kind, values: Array, below: Array) -> Array:
    """What is compared: unit quaternions (..., 4), of Euler angles themselves."""
    if kind == "euler":
        return values
    if kind == "axis_angle":
        values = below + values
        length = np.sqrt(dot(values[..., 1:], values[..., 1:]))[..., None]
        half = 0.5 * np.where(length > 0.0, values[..., :1], 0.0)
        axis = values[..., 1:] / np.where(length > 0.0, length, 1.0)
        return np.concatenate((np.cos(half), np.sin(half) * axis), axis=-1)
    return values / np.maximum(np.sqrt(dot(values, values)), 1e-12)[..., None]


def _grain(q: Array, cosine: float) -> Array:
    """[rad] that a rotation (N, 4) may be shown off at most: the less it turns, the more."""
    half = np.arctan2(np.sqrt(np.einsum("ni,ni->n", q[:, 1:], q[:, 1:])), np.abs(q[:, 0]))
    return 2.0 * (half - np.sqrt(np.maximum(half**2 - 2.0 * cosine, 0.0)))


def _apart(kind: Kind, a: Array, b: Array) -> Array:
    """Angle [rad] between what is shown, (N, 4); of Euler angles the most that it can be over any base.

    Euler angles between a and b make a path whose speed is that of the middle angle and, at worst in line with each
    other, of the outer two at right angles to it: the rotation between its ends is no longer.
    """
    if kind == "euler":
        off = np.abs(b - a)
        return np.hypot(off[:, 1], off[:, 0] + off[:, 2])
    near = np.where(np.einsum("ni,ni->n", a, b) < 0.0, -1.0, 1.0)
    off = a - near[:, None] * b
    return 4.0 * np.arcsin(np.minimum(0.5 * np.sqrt(np.einsum("ni,ni->n", off, off)), 1.0))
