"""Does a clip loop, and how does it go on when it does?

A clip loops if its last pose is its first one moved by a rigid `Step`: a turn about the vertical and a translation,
which the object, a root bone or the pelvis may carry.  A small gap is closed by letting it fade after the seam.
"""

from dataclasses import dataclass

import numpy as np

from .reference import to_parents
from .rotation import IDENTITY, Array, angle, conjugate, exp, log, multiply, rotate

# A clip whose ends differ by less is repeated and its seam smoothed; with more it is no loop and is held.  Fast joints
# may differ by what they turn in one frame there: game clips often leave out the last frame, which is the first again.
GAP_DEG = 3.0
# The same for joints that slide, as part of the figure's size.
GAP_LENGTH = 0.03
# Steps below these are noise and belong to the gap: heading [deg], travel and climb as parts of the figure's size.
TURN_DEG, TRAVEL, CLIMB = 3.0, 0.01, 0.02
# Seconds after a seam in which what is left of the gap fades; at most this part of the period.
FADE, FADE_PART = 0.25, 0.5


@dataclass(frozen=True, eq=False)
class Step:
    """x -> rotation(x) + translation: what one period adds.  rotation: (4,), translation: (3,)."""

    rotation: Array
    translation: Array

    @property
    def still(self) -> bool:
        """Whether nothing moves."""
        return bool(abs(self.rotation[0]) == 1.0 and not self.translation.any())

    def times(self, k: Array) -> tuple[Array, Array]:
        """The k-th powers, k (K,) whole numbers: rotations (K, 4), translations (K, 3)."""
        k = np.asarray(k, dtype=int)
        turns, moves = [IDENTITY], [np.zeros(3)]
        for _ in range(int(k.max(initial=0))):
            turns.append(multiply(self.rotation, turns[-1]))
            moves.append(rotate(self.rotation, moves[-1]) + self.translation)
        return np.array(turns)[k], np.array(moves)[k]


STILL = Step(IDENTITY, np.zeros(3))


@dataclass(frozen=True, eq=False)
class Loop:
    """How a clip's ends meet.

    whole: of the object in the world.  body: of the carried bones, in armature space.  carried: (n,) bool.
    carriers: bones that pass the body's step on to all below them.
    gap_deg, gap_length: what is left between the ends [deg, part of the size].  gap_bone: where the turn is largest.
    closes: whether the clip may be repeated.
    """

    whole: Step
    body: Step
    carried: np.ndarray
    carriers: np.ndarray
    gap_deg: float
    gap_length: float
    gap_bone: int
    closes: bool


def find(
    parent: np.ndarray, rotation: Array, position: Array, object_rotation: Array, object_position: Array, scale: float
) -> Loop:
    """How the ends of a clip meet, from its first two and its last two frames.

    parent: (n,).  rotation: (4, n, 4), position: (4, n, 3) armature space.  object_rotation: (4, 4), object_position:
    (4, 3) in the world.  scale: of the object, signed.
    """
    size = max(float(np.ptp(position[0], axis=0).max()), 1e-12)
    up = np.array([0.0, 0.0, 1.0])
    whole = _step(object_rotation[[0, 3], None], object_position[[0, 3], None], up, size * abs(scale))
    body = _step(rotation[[0, 3]], position[[0, 3]], rotate(conjugate(object_rotation[0]), up) * np.sign(scale), size)
    carried = _carried(parent, position[[0, 3]], body, size)
    top = carried & ~np.where(parent >= 0, carried[parent], False)
    turns, heads = to_parents(np.where(top, -1, parent), rotation, position)
    degrees = np.degrees(angle(np.where(top[:, None], multiply(body.rotation, turns[0]), turns[0]), turns[3]))
    lengths = np.linalg.norm(
        np.where(top[:, None], rotate(body.rotation, heads[0]) + body.translation, heads[0]) - heads[3], axis=-1
    )
    own = np.degrees(np.maximum(angle(turns[0], turns[1]), angle(turns[2], turns[3])))
    slid = np.maximum(np.linalg.norm(heads[1] - heads[0], axis=-1), np.linalg.norm(heads[3] - heads[2], axis=-1))
    tilt = float(np.degrees(angle(multiply(whole.rotation, object_rotation[0]), object_rotation[3])))
    drift = rotate(whole.rotation, object_position[0]) + whole.translation - object_position[3]
    drift = float(np.linalg.norm(drift)) / (size * abs(scale))
    worst = int(np.argmax(degrees))
    return Loop(
        whole=whole,
        body=body,
        carried=carried,
        carriers=np.flatnonzero(top),
        gap_deg=max(float(degrees[worst]), tilt),
        gap_length=max(float(lengths.max()) / size, drift),
        gap_bone=worst,
        closes=bool(
            np.all(degrees <= np.maximum(GAP_DEG, own))
            and np.all(lengths <= np.maximum(GAP_LENGTH * size, slid))
            and tilt <= GAP_DEG
            and drift <= GAP_LENGTH
        ),
    )


def _step(rotation: Array, position: Array, up: Array, size: float) -> Step:
    """The step most parts make: medians of their turns about `up` and of what is left of their displacements.

    rotation: (2, m, 4), position: (2, m, 3).
    """
    turned = multiply(rotation[1], conjugate(rotation[0]))
    twist = 2.0 * np.arctan2(turned[:, 1:] @ up, turned[:, 0])
    heading = float(np.median((twist + np.pi) % (2.0 * np.pi) - np.pi))
    turn = exp(heading * up) if abs(heading) > np.radians(TURN_DEG) else IDENTITY
    moved = np.median(position[1] - rotate(turn, position[0]), axis=0)
    climb = float(moved @ up)
    if abs(climb) < CLIMB * size:
        moved = moved - climb * up
    if turn is IDENTITY and float(np.linalg.norm(moved)) < TRAVEL * size:
        return STILL
    return Step(turn, moved)


def _carried(parent: np.ndarray, position: Array, body: Step, size: float) -> np.ndarray:
    """(n,) bool: bones nearer to the body's step than to standing still, with all below them."""
    carried = np.zeros(len(parent), dtype=bool)
    if body.still:
        return carried
    stays = np.linalg.norm(position[1] - position[0], axis=-1)
    goes = np.linalg.norm(position[1] - rotate(body.rotation, position[0]) - body.translation, axis=-1)
    for bone, up in enumerate(parent):
        carried[bone] = (up >= 0 and carried[up]) or goes[bone] < stays[bone]
    return carried


def wrap(frames: Array, start: float, end: float) -> tuple[Array, Array]:
    """(period number k, frame within the clip) for frames (K,) from `start` on; the end itself begins period 1."""
    period = end - start
    k = np.floor((frames - start) / period + 1e-9).astype(int)
    return k, np.clip(frames - k * period, start, end)


def fade(frames: Array, start: float, period: float, fps: float) -> Array:
    """Share (K,) of the gap that is left at frames after the seam at `start`: 1 there, 0 later, smooth at both ends."""
    span = min(FADE * fps, FADE_PART * period)
    t = np.clip((frames - start) / max(span, 1e-9), 0.0, 1.0)
    return 0.5 + 0.5 * np.cos(np.pi * t)


def closed(turns: Array, first: Array, last: Array, share: Array) -> Array:
    """Rotations (K, ..., 4) with a share (K,) of the gap from `first` to `last` (..., 4) put on."""
    gap = log(multiply(conjugate(first), last))
    share = share.reshape(share.shape + (1,) * gap.ndim)
    return multiply(turns, exp(share * gap))
