"""Two bones to a target in closed form: the last millimetres of a leg.

The limb bends at its knee about the axis and to the side to which the clip bends it, then turns as a whole on the
shortest way, so the plane of the knee is kept and no knee flips.  A knee that the clip overstretches a
little gives way to the right side where it has to bend more.
"""

from dataclasses import dataclass

import numpy as np

from .lanes import dot
from .model import Model
from .rotation import Array, between, conjugate, cross, exp, log, multiply, rotate
from .support import smooth

ACROSS = np.radians(4.0)  # that a knee turns at most about other axes than its own
FOLDED = np.sqrt(0.5)  # of its length that a leg has whose knee is bent by a right angle
BENT = 0.2  # sine of the bend from which the limb's own plane is known well
OVER = 0.2  # [rad] past straight that a clip's knee is by mistake, and twice that, from which on it bends that way
AGREES = 0.5  # cosine to the hinge from which on that plane's normal is the axis
NEAREST, SOFTLY = 0.4, 0.02  # of its length that a leg is folded to in the air, and of that, how soft the way there is
SLACK, SURE = np.radians(6.0), 1.5  # bend below which it goes with the clip's; times that beyond it, the whole: chosen
STRAIGHT = 0.99  # of a leg's length up to which it may stretch beyond the clip's own
# Parts of what the clip's leg leaves of that which one off it takes: on the ground, where a knee that takes more waits
# and snaps as its foot leaves, and in the air, where blows draw legs long; chosen.
STANDING, SWINGING = 0.33, 0.6


@dataclass(frozen=True, eq=False)
class Limb:
    """upper, lower, end: bodies of thigh, shin and foot.  axis: (3,) in the lower one's frame, about which it bends."""

    upper: int
    lower: int
    end: int
    axis: Array


def bend(limb: Limb, q: Array, p: Array) -> tuple[Array, Array]:
    """How much the limb bends (T,) [rad], with its sign, and about which axis (T, 3), in the lower bone's frame.

    q: (T, n, 4), p: (T, n, 3) world poses.
    """
    u, w = _bones(limb, p)
    axis = _axis(u, w, rotate(q[:, limb.lower], limb.axis))
    return _bent(u, w, axis), rotate(conjugate(q[:, limb.lower]), axis)


def reach(limb: Limb, q: Array, p: Array, target: Array, clip: tuple[Array, Array]) -> tuple[Array, Array]:
    """World turns (T, 4) of the upper and the lower bone that bring the end to `target` (T, 3).

    q, p: as in `bend`.  clip: what that tells of the clip: to which side a knee bends, and in which plane.  A pose that
    simulation has brought past straight, or sideways, says nothing: where a leg is nearly straight, it would flip the
    knee.
    At a target out of reach the limb points, straight.
    """
    (side, own), (u, w) = clip, _bones(limb, p)
    axis = _square(rotate(q[:, limb.lower], own), u)
    flat = w - axis * dot(w, axis)[:, None]
    most = np.maximum(_length(u) * _length(flat), 1e-12)
    goal = target - p[:, limb.upper]
    wanted = 0.5 * (dot(goal, goal) - dot(u, u) - dot(w, w)) / most
    turn = exp((_signed(np.arccos(np.clip(wanted, -1.0, 1.0)), side) - _bent(u, w, axis))[:, None] * axis)
    swing = between(u + rotate(turn, w), goal)
    return swing, multiply(swing, turn)


def _bones(limb: Limb, p: Array) -> tuple[Array, Array]:
    """(T, 3) the upper bone and the lower one."""
    hip, knee, ankle = (p[:, i] for i in (limb.upper, limb.lower, limb.end))
    return knee - hip, ankle - knee


def _bent(u: Array, w: Array, axis: Array) -> Array:
    """(T,) the angle between two bones [rad] about an axis square to the first."""
    return np.asarray(np.arctan2(dot(cross(u, w), axis), dot(u, w)))


def braced(limb: Limb, clip: Array, own: Array) -> Array:
    """(T, 4) joint rotations of the lower bone, no farther than ACROSS off the clip's about other axes than its own:
    a blow on a leg that stands would bend its knee sideways.  clip, own: (T, 4)."""
    off = multiply(conjugate(clip), own)
    about = np.concatenate((off[:, :1], dot(off[:, 1:], limb.axis[None])[:, None] * limb.axis), axis=-1)
    about = about / np.maximum(_length(about), 1e-12)[:, None]
    across = log(multiply(off, conjugate(about)))
    size = np.maximum(_length(across), 1e-12)
    return multiply(clip, multiply(exp((ACROSS * np.tanh(size / ACROSS) / size)[:, None] * across), about))


def bent(limb: Limb, by: Array, clip: Array) -> Array:
    """(T, 4) turns of the lower bone, in its frame, that bend a limb farther by so much (T,) [rad], to the side to
    which its clip bends it (T,) [rad]."""
    return exp(((2.0 * _slight(clip) - 1.0) * by)[:, None] * limb.axis)


def let_out(clip: Array, way: Array, length: float, runs: Array) -> Array:
    """(T, 3) how much farther from its hip a foot in the air is let than it is led.

    One that gets nearer to it than NEAREST of its leg's length [m], and than the clip's, is let out in the clip's
    direction: a way of next to nothing tells none, and a leg would whirl about.  As far as it runs (T,), whose legs
    fold, a foot goes along with its hip the more, the more the clip folds its leg beyond a right angle: a little way
    turns a short leg far.
    clip, way: (T, 3) from the hip to the foot.
    """
    size = _length(clip)
    along = (runs * (1.0 - smooth(size / (FOLDED * length))))[:, None] * (clip - way)
    lacks = np.maximum(1.0 - _length(way + along) / np.maximum(np.minimum(size, NEAREST * length), 1e-12), 0.0)
    return np.asarray(along + (lacks**2 / (lacks + SOFTLY))[:, None] * clip)


def reached(limb: Limb, clip: Array, p: Array, target: Array, softness: Array | float, air: Array | float) -> Array:
    """(T,) how far a leg reaches towards its foot's place [m].

    clip, p: (T, n, 3) world positions.  air: (T,) 0..1, how far it swings.  The farther a leg is off the clip's, the
    softer it gets to its full length.  A part of what the clip leaves of that is left: straight before the clip's, a
    knee would wait for it and then snap.
    """
    bones = np.diff(p[:, [limb.upper, limb.lower, limb.end]], axis=1)
    length = np.linalg.norm(bones, axis=-1).sum(axis=-1)
    own = clip[:, limb.upper] - clip[:, limb.end]
    way = p[:, limb.upper] - target
    soft = np.maximum(softness * np.linalg.norm(way - own, axis=-1), 1e-15)
    d = np.linalg.norm(way, axis=-1)
    clips = np.minimum(np.linalg.norm(own, axis=-1), length)
    takes = STANDING + air * (SWINGING - STANDING)
    most = clips + takes * np.maximum(STRAIGHT * length - clips, 0.0)
    return np.asarray(d - soft * np.logaddexp(0.0, (d - most) / soft))


def nearer(foot: Array, hip: Array, by: Array) -> Array:
    """Places (T, 3) of a foot that is so much (T,) [m] nearer to its hip (T, 3)."""
    way = hip - foot
    return foot + (by / np.maximum(np.linalg.norm(way, axis=-1), 1e-6))[:, None] * way


def place(model: Model, limb: Limb, q: Array, joints: Array, swing: Array, lower: Array, end: Array) -> None:
    """Turn the limb's joints (T, n, 4) in place by what `reach` found.

    q: (T, n, 4) world rotations before.  swing, lower: (T, 4) world turns of the two bones.  end: (T, 4) world
    rotation that the end is to have.
    """
    up = model.parent
    joints[:, limb.upper], joints[:, limb.lower], joints[:, limb.end] = (
        multiply(conjugate(q[:, up[limb.upper]]), multiply(swing, q[:, limb.upper])),
        multiply(conjugate(multiply(swing, q[:, up[limb.lower]])), multiply(lower, q[:, limb.lower])),
        multiply(conjugate(multiply(lower, q[:, up[limb.end]])), end),
    )


def _signed(wanted: Array, clip: Array) -> Array:
    """(T,) the bend [rad], to the side to which the clip's limb bends; the same size gives `clip`.

    Near straight a millimetre of length is ten degrees: there the limb bends from the clip's as if SLACK lay between, a
    little straighter than is wanted, and finds to the whole of it where more is.
    """
    least = np.maximum(SLACK, clip)
    near = np.sqrt(np.maximum(least**2 + wanted**2 - clip**2, 0.0)) + clip - least
    near = np.maximum(near, np.minimum(clip, 0.0))
    whole = smooth((wanted - np.abs(clip)) / np.maximum(SURE * (least - clip), 1e-3))
    slight = _slight(clip)
    return np.asarray(slight * (near + whole * (wanted - near)) - (1.0 - slight) * wanted)


def _slight(clip: Array) -> Array:
    """(T,) 1 where a clip's limb bends (T,) [rad] to the side of its hinge, but for a mistake, 0 where to the other."""
    return np.clip(2.0 + clip / OVER, 0.0, 1.0)


def _axis(u: Array, w: Array, hinge: Array) -> Array:
    """(T, 3) unit axis of the bend, square to u: the limb's own normal, near straight or bent sideways its hinge."""
    own = cross(u, w) / np.maximum(_length(u) * _length(w), 1e-12)[:, None]
    size = _length(own)
    own = own / np.maximum(size, 1e-12)[:, None]
    agrees = np.clip(dot(own, hinge) / AGREES, -1.0, 1.0)
    know = (np.clip(size / BENT, 0.0, 1.0) * np.abs(agrees))[:, None]
    axis = own * np.sign(agrees)[:, None] * know**2 + hinge * (1.0 - know)
    return _square(axis, u)


def _square(axis: Array, u: Array) -> Array:
    """(T, 3) the unit axis nearest to one that is square to u."""
    axis = axis - u * (dot(axis, u) / np.maximum(dot(u, u), 1e-12))[:, None]
    return axis / np.maximum(_length(axis), 1e-12)[:, None]


def _length(a: Array) -> Array:
    return np.asarray(np.linalg.norm(a, axis=-1))
