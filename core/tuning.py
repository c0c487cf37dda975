"""From an animator's numbers (hertz, ratios, degrees) to the simulator's: stiffness, damping, ranges."""

from collections.abc import Sequence

import numpy as np

from . import accuracy, curve
from .actor import Actor
from .dynamics import Kinematics
from .dynamics.inverse import of_motion
from .forces import EndStop, Limit, Muscle, Swift, SwingTwist
from .hinges import Hinges
from .model import Model
from .ranges import BALL, CONE, HINGE, TRUNK_RANGE, Ranges, own
from .reference import Reference
from .roles import base_role
from .rotation import Array, conjugate, cross, rotate
from .situation import BoneSetting, Situation

# Joints between the trunk and a body, along the limbs.
LEVEL = {"forearm": 1, "hand": 2, "finger": 3, "shin": 1, "foot": 2, "toe": 3, "ear": 1}
ROWS = ("neck", "tail", "ear")
# Part of a range that is free, of shoulders and hips, of necks and heads, which ligaments stop and not muscles, and of
# all other joints: what follows brakes long before its end.
BALLS, TAUT, SOFT = 0.33, 0.05, 0.25
LIMIT_FREQUENCY, LIMIT_RATIO = 8.0, 1.2
STOP_FREQUENCY = 16.0  # of ends that a rig's author sets: Blender cuts off what goes beyond
UNBOUNDED = (-30.0, 30.0)  # [rad]: no joint ever gets there
HINGE_PACE = 2.0 * np.pi * 9.0  # [rad/s] across a hinge's axis
FOOT_FREQUENCY, FOOT_LEVER = 2.0, 0.1  # planted feet: [Hz] with the whole body's mass, [m] for their turning


def effective_inertia(model: Model, kin: Kinematics) -> Array:
    """(n, 6, 6) inertia of all that a joint carries, body frame, mean over the leading axis; rotation and travel
    uncoupled."""
    flat = kin.I.reshape(kin.I.shape[:-2] + (36,))
    composite = model.inward(flat).reshape(kin.I.shape)
    inner = kin.X.swapaxes(-1, -2) @ composite @ kin.X
    mean = inner.mean(axis=0)
    mean[:, :3, 3:] = 0.0
    mean[:, 3:, :3] = 0.0
    return mean


def muscles(
    actor: Actor, situation: Situation, settings: list[BoneSetting], base: int, since: Array
) -> tuple[Array, Array]:
    """Frequency [Hz] and damping ratio of every body's muscle: (n,), or (K, n) at the K times since the blow [s] where
    they change.

    From root to tip the `taper` makes limbs tauter joint by joint and brings their damping near to critical: tendons
    hold a hand more than muscles do, and a light hand on a loose wrist whips.  n springs in a row give way n times as
    far: a neck or tail is as firm in all as if it were one bone, however many its rig has.
    """
    taut = situation.taper ** np.array([float(LEVEL.get(base_role(role), 0)) for role in actor.roles])
    firm = np.sqrt(_in_a_row(actor.roles))
    every, count = since[:, None], (len(since), len(taut))
    f = np.broadcast_to(curve.over(situation.frequency, every) * taut * firm, count).copy()
    calm = (1.0 - curve.over(situation.ratio, every)) / np.maximum(taut, 1.0)  # loose limbs are damped no less
    ratio = np.broadcast_to((1.0 - calm) * firm, count).copy()
    if base >= 0:
        f[:, base] = curve.over(situation.base_frequency, since)
    for i, setting in enumerate(settings):
        for told, values in ((setting.frequency, f), (setting.ratio, ratio)):
            if told is not None:
                values[:, i] = curve.over(told, since)
    return (f, ratio) if np.ptp(f, axis=0).any() or np.ptp(ratio, axis=0).any() else (f[0], ratio[0])


def _in_a_row(roles: Sequence[str]) -> Array:
    """(n,) how many bones a body's neck, tail or ear has; 1 for all else."""
    rows = [role if base_role(role) == "ear" else base_role(role) for role in roles]
    return np.array([float(rows.count(row)) if base_role(row) in ROWS else 1.0 for row in rows])


def muscle(
    actor: Actor,
    model: Model,
    reference: Reference,
    kin: Kinematics,
    since: Array,
    tone: Array,
    inertia: Array,
    situation: Situation,
    settings: list[BoneSetting],
    hinges: Hinges,
    base: int,
    led: bool = False,
) -> Muscle:
    """Springs of a frequency and a damping ratio about the joint's own inertia; stiff across a hinge's axis.

    kin: of the reference's poses and passing twists.  since: (K,) the time since the blow at each step [s].
    tone: (K, n) factor on the stiffness then.  led: whether the base travels with the weight, see `forces.Guide`.
    """
    f, ratio = muscles(actor, situation, settings, base, since)
    ratio = accuracy.damped(ratio, actor.masses.mass[actor.order], actor.parent)
    K, D = springs(f, ratio, inertia, hinges, base, led)
    forward = of_motion(model, kin, reference.acceleration, np.zeros(3))
    n = model.n
    rate, pace = 4.0 * np.pi * ratio * f, 2.0 * np.pi * f
    rate[..., hinges.bodies] += 2.0 * HINGE_PACE
    pace[..., hinges.bodies] = np.maximum(pace[..., hinges.bodies], HINGE_PACE)
    share = np.ones(n) * carried(situation, since)[:, None]
    share[:, [base] if base >= 0 else []] = 0.0  # what bears the base doesn't turn with it, see `forces.Bearing`
    return Muscle(K, D, tone, np.full(n, np.inf), share, forward, rate, pace)


def springs(f: Array, ratio: Array, inertia: Array, hinges: Hinges, base: int, led: bool) -> tuple[Array, Array]:
    """Stiffness and damping (..., n, 6, 6) of muscles with frequencies [Hz] and damping ratios (..., n).

    inertia: (n, 6, 6) that joints carry.  led: as in `muscle`.
    """
    omega = 2.0 * np.pi * f[..., None, None]
    K, D = omega**2 * inertia, 2.0 * ratio[..., None, None] * omega * inertia
    braced, damped = brace(inertia, hinges)
    K[..., hinges.bodies, :3, :3] += braced
    D[..., hinges.bodies, :3, :3] += damped
    if led:
        K[..., base, 3:, 3:] = D[..., base, 3:, 3:] = 0.0
    return K, D


def impedance(K: Array, D: Array, tone: Array, h: float) -> Array:
    """(n, 6, 6) what muscles add to the inertia of joints over a time h [s], h D + h^2 K.

    K, D: (n, 6, 6) their stiffness and damping.  tone: (n,) factor on the stiffness.
    """
    root = h * np.sqrt(tone)[:, None, None]
    return root * D + root**2 * K


def brace(inertia: Array, hinges: Hinges) -> tuple[Array, Array]:
    """Stiffness and damping (m, 3, 3) that keep hinges to their axes."""
    across = np.eye(3) - hinges.axis[:, :, None] * hinges.axis[:, None, :]
    about = across @ inertia[hinges.bodies][:, :3, :3] @ across
    return HINGE_PACE**2 * about, 2.0 * HINGE_PACE * about


def carried(situation: Situation, since: Array) -> Array:
    """(K,) part of the clip's own forces and of the weight that is carried, by time since the blow [s]."""
    return np.ones(len(since)) * curve.over(situation.share, since)


def tone(actor: Actor, blows: list[tuple[Situation, int, Array]]) -> Array:
    """(K, n) what is left of the muscles: each blow takes its part at impact and gives it back by a cosine.

    A body loses the less the more joints lie between it and the blow, see `Situation.falloff`.
    blows: situations with the struck body and the time since their blow at each step (K,) [s].
    """
    left = np.ones((len(blows[0][2]), len(actor.names)))
    for situation, struck, since in blows:
        taken = np.where(since >= -1e-6, lost(situation, since), 0.0)
        left = left * (1.0 - taken[:, None] * situation.falloff ** joints_between(actor.parent, struck))
    return left


def lost(situation: Situation, since: Array) -> Array:
    """(K,) what a blow takes from the muscles at the struck body, by time since [s]."""
    if situation.tone_points:
        return 1.0 - curve.at(situation.tone_points, since)
    rise = 0.5 * (1.0 - np.cos(np.pi * np.clip(since / max(situation.recovery, 1e-9), 0.0, 1.0)))
    return (1.0 - curve.begins(situation.tone)) * (1.0 - rise)


def influence(actor: Actor, situation: Situation, struck: int) -> Array:
    """(n,) part of the reaction that shows on each body, by the joints between it and the blow."""
    if not situation.influence:
        return np.ones(len(actor.names))
    away = np.minimum(joints_between(actor.parent, struck), len(situation.influence) - 1)
    return np.array(situation.influence)[away.astype(int)]


def upward(parent: np.ndarray, body: int) -> list[int]:
    """The body and all that carry it, from it on."""
    out = [body]
    while parent[out[-1]] >= 0:
        out.append(int(parent[out[-1]]))
    return out


def joints_between(parent: np.ndarray, body: int) -> Array:
    """(n,) joints on the way from a body to each of the others."""
    up = upward(parent, body)
    rank = {i: k for k, i in enumerate(up)}
    out = np.zeros(len(parent))
    for i in range(len(parent)):  # parents stand before their children
        out[i] = rank[i] if i in rank else len(up) if parent[i] < 0 else out[parent[i]] + 1
    return out


def cones(actor: Actor, moving: np.ndarray, said: Ranges, wide: float = 1.0) -> dict[int, float]:
    """Body -> how far it may turn all round the clip's pose [deg].

    moving: (n,) bool; the spines among them share the trunk's.  said: a situation's.  wide: factor on the rest.
    """
    spine = max(sum(base_role(actor.roles[i]) == "spine" for i in np.flatnonzero(moving)), 1)
    usual = {**CONE, "spine": TRUNK_RANGE / spine}
    out = {}
    for i, role in enumerate(actor.roles):
        if base_role(role) in usual and not _settled(actor, i, said):
            told = own(said, role)
            out[i] = wide * usual[base_role(role)] if told is None else told[0] / (spine if "spine" in role else 1)
    return out


def _settled(actor: Actor, body: int, said: Ranges) -> bool:
    """Whether the rig's author says all there is to say of a joint, and a situation nothing: no range is guessed."""
    stops = actor.stops
    return stops is not None and own(said, actor.roles[body]) is None and body in stops.bodies[stops.whole]


def limit(
    actor: Actor,
    moving: np.ndarray,
    inertia: Array,
    hinges: Hinges,
    flexion: Array,
    said: Ranges,
    wide: float = 1.0,
    base: int = -1,
    upright: Array | None = None,
    ease: Array | float = 1.0,
) -> Limit:
    """Cones about the clip's pose, and ranges for hinges bent by `flexion` (K, m); never narrower than the clip.  A
    neck of several bones has the range of one, and its stiffness, as a trunk has.

    said: a situation's ranges.  wide: factor on the usual cones.  upright: (K,) how far that of the base holds: in
    flight it has no joint to the world.  ease: (n,) `dynamics.eases`.  Shoulders and hips have their own, see `balls`.
    """
    cone = cones(actor, moving, said, wide)
    hinged = set(hinges.bodies.tolist())
    round_ = [i for i in np.flatnonzero(moving) if i not in hinged and i in cone]
    row = np.where([base_role(role) == "neck" for role in actor.roles], _in_a_row(actor.roles), 1.0)
    half: Array = np.tile(np.radians([cone[int(i)] / row[i] for i in round_]), (len(flexion), 1))
    if upright is not None:
        column = np.array(round_) == base
        half[:, column] /= np.maximum(upright, 1e-3)[:, None]
    roles = [actor.roles[i] for i in hinges.bodies]
    ranges = np.radians([own(said, role) or HINGE[base_role(role)] for role in roles]).reshape(-1, 2)
    ranges[[_settled(actor, int(i), said) for i in hinges.bodies]] = UNBOUNDED
    bodies = np.array([*round_, *hinges.bodies], dtype=int)
    axis = np.concatenate((np.zeros((len(round_), 3)), hinges.axis))
    low = np.concatenate((-half, np.minimum(ranges[:, 0] - flexion, 0.0)), axis=1)
    high = np.concatenate((half, np.maximum(ranges[:, 1] - flexion, 0.0)), axis=1)
    soft = np.array([TAUT if base_role(actor.roles[i]) in ("neck", "head") else SOFT for i in bodies])
    spring = _limit_spring(inertia, bodies, row[bodies] * _mean(inertia[bodies]), ease)
    return Limit(bodies, axis, low, high, soft, *spring)


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
    spring = _limit_spring(inertia, np.array(bodies), size, ease)
    return SwingTwist(np.array(bodies), frame, ranges[:, :2], twist, BALLS, *spring)


def end_stops(
    actor: Actor, moving: np.ndarray, inertia: Array, reference: Reference, ease: Array | float = 1.0
) -> EndStop | None:
    """What the rig's author allows the bodies that move.  ease: (n,) `dynamics.eases`."""
    stops = None if actor.stops is None else actor.stops.among(moving)
    if stops is None:
        return None
    K, D, swift = _limit_spring(inertia, stops.bodies, _mean(inertia[stops.bodies]), ease, STOP_FREQUENCY)
    return EndStop.of_clip(stops, reference, (K, D), swift)


def _mean(inertia: Array) -> Array:
    """(m,) about any axis, of inertias (m, 6, 6)."""
    return np.trace(inertia[:, :3, :3], axis1=-2, axis2=-1) / 3.0


def _limit_spring(
    inertia: Array, bodies: np.ndarray, size: Array, ease: Array | float, frequency: float = LIMIT_FREQUENCY
) -> tuple[Array, Array, Swift]:
    """Stiffness and damping for joints (m,) that carry an inertia of this size, (m,) or (m, 2) [kg m^2], and how fast
    that is: the faster, the less of the whole mass is on the other side of the joint, which is the world for a root."""
    omega = 2.0 * np.pi * frequency
    part = inertia[bodies, 5, 5] / inertia[:, 5, 5].max()
    lighter = 1.0 / np.where(part < 1.0, 1.0 - part, 1.0)
    rate = 2.0 * LIMIT_RATIO * omega
    easy = np.broadcast_to(ease, len(inertia))[bodies] / lighter
    return omega**2 * size, rate * size, Swift(rate * lighter, omega * np.sqrt(lighter), np.maximum(easy, 1.0))


def foot_spring(actor: Actor) -> tuple[Array, Array]:
    """Stiffness and damping (6, 6) that hold a foot in the world, stiff enough for the whole body's weight."""
    mass = float(actor.masses.mass.sum())
    omega = 2.0 * np.pi * FOOT_FREQUENCY
    shape = np.diag([FOOT_LEVER**2] * 3 + [1.0] * 3)
    return omega**2 * mass * shape, 2.0 * omega * mass * shape
