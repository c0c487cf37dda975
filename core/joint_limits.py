"""How far joints may go, as forces: guessed ranges about the clip's pose, and ends that a rig's author has set."""

from dataclasses import dataclass

import numpy as np

from .actor import Actor
from .forces import EndStop, Limit, Swift, SwingTwist
from .hinges import Hinges
from .ranges import BALL, CONE, HINGE, SINKS, Ranges, own, widens
from .reference import Reference
from .roles import base_role
from .rotation import Array, conjugate, cross, rotate
from .tuning import in_a_row

# Part of a range that is free, of shoulders and hips, of necks and heads, which ligaments stop and not muscles, of
# girdles, which glide on the ribs as far as one sinks at least, and of all other joints: what follows brakes long
# before its end.
BALLS, TAUT, GLIDING, SOFT = 0.33, 0.05, SINKS / CONE["clavicle"][0], 0.25
LIMIT_FREQUENCY, LIMIT_RATIO = 8.0, 1.2
DEAD_RATIO = 2.0  # of shoulders, hips and poses that are held: a fifth of a speed comes back, with 1.2 a third
STOP_FREQUENCY = 16.0  # of ends that a rig's author sets: Blender cuts off what goes beyond
UNBOUNDED = (-30.0, 30.0)  # [rad]: no joint ever gets there


def cones(
    actor: Actor, moving: np.ndarray, said: Ranges, wide: float = 1.0, speeds: Array | None = None
) -> dict[int, float]:
    """Body -> how far it may turn all round the clip's pose [deg].

    moving: (n,) bool; the spines among them share the trunk's.  said: a situation's.  wide: factor on the rest.
    speeds: as in `ends`.
    """
    spines = np.array([base_role(role) == "spine" for role in actor.roles])
    parts = np.where(spines, _parts(spines & moving, speeds), 1.0)
    out = {}
    for i, role in enumerate(actor.roles):
        if base_role(role) in CONE and not _settled(actor, i, said):
            told = own(said, role)
            out[i] = parts[i] * (wide * CONE[base_role(role)][0] if told is None else told[0])
    return out


def _parts(sharing: np.ndarray, speeds: Array | None) -> Array:
    """(n,) parts of a range that bodies (n,) bool share: alike, or as fast as they start, where one that starts with
    nothing counts as the slowest.  The others have what one of them has on the mean."""
    mean = 1.0 / max(int(sharing.sum()), 1)
    fast = np.zeros(len(sharing)) if speeds is None else np.where(sharing, speeds, 0.0)
    if not fast.any():
        return np.full(len(sharing), mean)
    fast = np.maximum(fast, fast[fast > 0.0].min())
    return np.where(sharing, fast / fast[sharing].sum(), mean)


def _settled(actor: Actor, body: int, said: Ranges) -> bool:
    """Whether the rig's author says all there is to say of a joint, and a situation nothing, or that it may turn more
    than usual: no range is guessed."""
    stops, role = actor.stops, actor.roles[body]
    asks = own(said, role) is not None and not widens(said, role)
    return stops is not None and not asks and body in stops.bodies[stops.whole]


@dataclass(frozen=True, eq=False)
class Ends:
    """Cones and hinges of a body, whatever its clip.

    bodies: (m,), cones before hinges.  half: (m - h,) of the cones [rad].  ranges: (h, 2) of the hinges' bend [rad].
    The rest as in `Limit`.
    """

    bodies: np.ndarray
    axis: Array
    half: Array
    ranges: Array
    soft: Array
    spring: tuple[Array, Array, Swift]

    def about(self, flexion: Array, base: int = -1, upright: Array | None = None) -> Limit:
        """About the clip's pose, whose hinges are bent by `flexion` (K, h); never narrower than the clip.

        upright: (K,) how far the range of the base holds: in flight it has no joint to the world.
        """
        half = np.tile(self.half, (len(flexion), 1))
        if upright is not None:
            half[:, self.bodies[: len(self.half)] == base] /= np.maximum(upright, 1e-3)[:, None]
        low = np.concatenate((-half, np.minimum(self.ranges[:, 0] - flexion, 0.0)), axis=1)
        high = np.concatenate((half, np.maximum(self.ranges[:, 1] - flexion, 0.0)), axis=1)
        return Limit(self.bodies, self.axis, low, high, self.soft, *self.spring)


def ends(
    actor: Actor,
    moving: np.ndarray,
    inertia: Array,
    hinges: Hinges,
    said: Ranges,
    wide: float = 1.0,
    ease: Array | float = 1.0,
    speeds: Array | None = None,
) -> Ends:
    """Cones and hinges of the bodies that move.  A neck of several bones has the range of one, and its stiffness, as a
    trunk has.

    said: a situation's ranges.  wide: factor on the usual cones.  ease: (n,) `dynamics.eases`.  speeds: (n,) with
    which joints start whose pose is held: a trunk turns most where it is told to, and ends give little of it back.
    Shoulders and hips have their own, see `balls`.
    """
    cone = cones(actor, moving, said, wide, speeds)
    hinged = set(hinges.bodies.tolist())
    round_ = [int(i) for i in np.flatnonzero(moving) if i not in hinged and i in cone]
    row = np.where([base_role(role) == "neck" for role in actor.roles], in_a_row(actor.roles), 1.0)
    roles = [actor.roles[i] for i in hinges.bodies]
    ranges = np.radians([own(said, role) or HINGE[base_role(role)] for role in roles]).reshape(-1, 2)
    ranges[[_settled(actor, int(i), said) for i in hinges.bodies]] = UNBOUNDED
    bodies = np.array([*round_, *hinges.bodies], dtype=int)
    axis = np.concatenate((np.zeros((len(round_), 3)), hinges.axis))
    free = {"neck": TAUT, "head": TAUT, "clavicle": GLIDING}
    soft = np.array([free.get(base_role(actor.roles[i]), SOFT) for i in bodies])
    ratio = LIMIT_RATIO if speeds is None else DEAD_RATIO
    spring = _limit_spring(inertia, bodies, row[bodies] * _mean(inertia[bodies]), ease, ratio)
    half = np.radians([cone[i] / row[i] for i in round_])
    return Ends(bodies, axis, half, ranges, soft, spring)


def balls(
    actor: Actor, moving: np.ndarray, inertia: Array, said: Ranges, ease: Array | float = 1.0
) -> SwingTwist | None:
    """Ranges of shoulders and hips about the clip's pose: an ellipse for the swing, and a twist.

    said: a situation's ranges.  ease: (n,) `dynamics.eases`.
    """
    roles = [base_role(r) for r in actor.roles]
    bodies = [i for i in np.flatnonzero(moving) if roles[i] in BALL and np.any(actor.axis[i])]
    bodies = [i for i in bodies if not _settled(actor, int(i), said)]
    if not bodies:
        return None
    bones = actor.order[bodies]
    left = rotate(conjugate(actor.skeleton.rotation[bones]), np.asarray(actor.anatomy.left))
    long = actor.axis[bodies] / np.linalg.norm(actor.axis[bodies], axis=-1, keepdims=True)
    across = left - long * np.einsum("mi,mi->m", left, long)[:, None]
    flat = np.linalg.norm(across, axis=-1, keepdims=True) < 0.3  # a bone that points sideways (arms in a T)
    forward = rotate(conjugate(actor.skeleton.rotation[bones]), np.asarray(actor.anatomy.forward))
    across = np.where(flat, cross(forward, long), across)
    across = across / np.linalg.norm(across, axis=-1, keepdims=True)
    frame = np.stack((long, across, cross(long, across)), axis=1)
    ranges = np.radians([own(said, actor.roles[i]) or BALL[roles[i]] for i in bodies])
    about = np.einsum("mai,mij,maj->ma", frame, inertia[bodies][:, :3, :3], frame)
    size = np.stack((0.5 * (about[:, 1] + about[:, 2]), about[:, 0]), axis=1)
    twist = ranges[:, [2, 2]] * [-1.0, 1.0]
    spring = _limit_spring(inertia, np.array(bodies), size, ease, DEAD_RATIO)
    return SwingTwist(np.array(bodies), frame, ranges[:, :2], twist, BALLS, *spring)


def end_stops(
    actor: Actor, moving: np.ndarray, inertia: Array, reference: Reference, ease: Array | float = 1.0
) -> EndStop | None:
    """What the rig's author allows the bodies that move.  ease: (n,) `dynamics.eases`."""
    stops = None if actor.stops is None else actor.stops.among(moving)
    if stops is None:
        return None
    K, D, swift = _limit_spring(inertia, stops.bodies, _mean(inertia[stops.bodies]), ease, frequency=STOP_FREQUENCY)
    return EndStop.of_clip(stops, reference, (K, D), swift)


def _mean(inertia: Array) -> Array:
    """(m,) about any axis, of inertias (m, 6, 6)."""
    return np.trace(inertia[:, :3, :3], axis1=-2, axis2=-1) / 3.0


def _limit_spring(
    inertia: Array,
    bodies: np.ndarray,
    size: Array,
    ease: Array | float,
    ratio: float = LIMIT_RATIO,
    frequency: float = LIMIT_FREQUENCY,
) -> tuple[Array, Array, Swift]:
    """Stiffness and damping of a ratio for joints (m,) that carry an inertia of this size, (m,) or (m, 2) [kg m^2], and
    how fast that is: the faster, the less of the whole mass is on the other side of the joint, which is the world for
    a root."""
    omega = 2.0 * np.pi * frequency
    part = inertia[bodies, 5, 5] / inertia[:, 5, 5].max()
    lighter = 1.0 / np.where(part < 1.0, 1.0 - part, 1.0)
    rate = 2.0 * ratio * omega
    easy = np.broadcast_to(ease, len(inertia))[bodies] / lighter
    return omega**2 * size, rate * size, Swift(rate * lighter, omega * np.sqrt(lighter), np.maximum(easy, 1.0))
