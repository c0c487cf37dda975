"""Joint angles and how far they are out of the ranges that people animate.

Rest poses say little (arms in a T or an A, a rig made in a frame of a run): ranges count from the pose about which the
clip moves.  Only elbows and knees have an absolute zero, the straight limb.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..rotation import IDENTITY, Array, between, conjugate, log, multiply, normalize, rotate
from .finding import Finding, at_most
from .motion import Figure, Motion

HINGED = ("forearm", "shin")
# kind of figure -> role -> most swing, most twist, least and most bend, most across [deg]
Ranges = dict[str, dict[str, tuple[float, float, float, float, float]]]
ANGLES = ("swing", "twist", "bend", "across")  # [deg] across: how much a hinge turns about other axes than its own


@dataclass(frozen=True, eq=False)
class Neutral:
    """rest: (m, 4) joint rotation at rest, of a hinge when straight.  along: (m, 3) the segment, hinge: (m, 3) axis of
    elbows and knees (zero elsewhere), both in the body's frame."""

    rest: Array
    along: Array
    hinge: Array


@lru_cache(maxsize=8)
def neutral(figure: Figure) -> Neutral:
    """Segments, and the hinges of a biped's elbows and knees with the joint rotation that straightens them."""
    actor, up = figure.actor, figure.up
    turned = actor.skeleton.rotation[actor.order[figure.bodies]]
    rest = np.where(up[:, None] >= 0, multiply(conjugate(turned[up]), turned), IDENTITY)
    axis = actor.axis[figure.bodies]
    along = axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-9)
    hinge = np.zeros_like(along)
    for k, role in enumerate(figure.base):
        if role in HINGED and up[k] >= 0 and np.any(along[k]) and actor.anatomy.kind == "biped":
            hinge[k] = actor.hinge_axis(int(figure.bodies[k]))
            rest[k] = multiply(between(rotate(rest[k], along[k]), along[up[k]]), rest[k])
    return Neutral(rest, along, hinge)


def middle(motion: Motion) -> Array:
    """(m, 4) the pose about which a motion moves: the median of every joint's rotation."""
    q = motion.joints
    return np.asarray(normalize(np.median(np.where(np.sum(q * q[:1], axis=-1)[..., None] < 0.0, -q, q), axis=0)))


def angles(motion: Motion, about: Array) -> Array:
    """(K, m, 4) of every joint in the order of ANGLES [deg].

    swing, twist: of and about the segment, from the joint rotations `about` (m, 4).  bend: of an elbow or knee of a
    biped from straight, with its sign; across: its other turns, from `about`.
    """
    zero = neutral(motion.figure)
    hinged = np.any(zero.hinge, axis=-1)
    d = multiply(conjugate(about), motion.joints)
    out = np.zeros(d.shape)
    axis = np.where(hinged[:, None], zero.hinge, zero.along)
    turn = 2.0 * np.arctan2(np.abs(np.einsum("kmi,mi->km", d[..., 1:], axis)), np.abs(d[..., 0]))
    rest = 2.0 * np.arccos(np.clip(np.cos(_turn(d)) / np.maximum(np.cos(0.5 * turn), 1e-9), -1.0, 1.0))
    out[..., 0], out[..., 1] = np.where(hinged, 0.0, rest), np.where(hinged, 0.0, turn)
    out[..., 3] = np.where(hinged, rest, 0.0)
    straight = multiply(conjugate(zero.rest[hinged]), motion.joints[:, hinged])
    straight = np.where(straight[..., :1] < 0.0, -straight, straight)
    out[:, hinged, 2] = 2.0 * np.arctan2(
        np.einsum("kmi,mi->km", straight[..., 1:], zero.hinge[hinged]), straight[..., 0]
    )
    return np.degrees(out)


def _turn(d: Array) -> Array:
    """(...,) half the angle of rotations (..., 4) [rad]."""
    return np.arctan2(np.linalg.norm(d[..., 1:], axis=-1), np.abs(d[..., 0]))


def beyond(motion: Motion, ranges: Ranges, about: Array) -> Array:
    """(K, m) how far every joint is out of its role's range [deg]; the pelvis has none."""
    figure, a = motion.figure, angles(motion, about)
    out = np.zeros(a.shape[:2])
    table = ranges.get(figure.actor.anatomy.kind, ranges.get("biped", {}))
    for role in sorted(set(figure.base) & set(table)):
        who = figure.having(role)
        swing, twist, low, high, across = table[role]
        x = a[:, who]
        over = (x[..., 0] - swing, x[..., 1] - twist, low - x[..., 2], x[..., 2] - high, x[..., 3] - across)
        out[:, who] = np.max(np.maximum(np.stack(over), 0.0), axis=0)
    return out


def limits(motion: Motion, clip: Motion | None, ranges: Ranges) -> Finding:
    """[deg] how far a joint leaves the range about the middle pose that people animate, beyond the clip's own."""
    if clip is None and motion.figure.actor.anatomy.kind != "biped":  # too few were seen to know their ranges
        return at_most("limits", np.zeros((1, 1)), "deg", motion)
    about = middle(motion if clip is None else clip)
    over = beyond(motion, ranges, about)
    if clip is not None:
        over = over - beyond(clip, ranges, about).max(axis=0)
    return at_most("limits", over, "deg", motion)


def deviation(motion: Motion, clip: Motion) -> Array:
    """(K, m, 3) rotation vectors of the joints from the clip's [rad], the clip's body frame."""
    return log(multiply(conjugate(clip.joints), motion.joints))
