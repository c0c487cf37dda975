"""From an animator's numbers (hertz, ratios, parts) to muscles: stiffness, damping, tone."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from . import accuracy, curve, legs
from .actor import Actor
from .dynamics import Kinematics
from .dynamics.inverse import of_motion
from .forces import Muscle
from .forces.world import motions
from .hinges import Hinges
from .model import Model
from .reference import Reference
from .roles import base_role
from .rotation import Array
from .situation import BoneSetting, Situation
from .spatial import apply
from .topology import ARM

# Joints between the trunk and a body, along the limbs.
LEVEL = {"forearm": 1, "hand": 2, "finger": 3, "shin": 1, "foot": 2, "toe": 3, "ear": 1}
ROWS = ("neck", "tail", "ear")
TRUNK = ("spine", "chest")
HELD = 8.0  # power of the pelvis' frequency over a joint's, by which it is held there: chosen, nearly all or nothing
LIGHT = ("head", *ARM)  # what bears nothing, where no limb of it stands
HINGE_PACE = 2.0 * np.pi * 9.0  # [rad/s] across a hinge's axis
SWING = 0.08  # [s] over which the torque of a swing counts: what is shorter is a jolt or noise
TENSE = 3.5  # [1/rad] stiffness of a joint per torque that it bears; chosen: it tells in runs, and not yet in walks
SLENDER = 0.05  # of a limb's inertia across: for that at least it is held about its own length; chosen, see `held`
FOOT_FREQUENCY, FOOT_LEVER = 2.0, 0.1  # planted feet: [Hz] with the whole body's mass, [m] for their turning


class Tone(NamedTuple):
    """What is left of muscles: factors (K, n) on their pull, which is stiffness, and on their damping."""

    pull: Array
    damping: Array

    def times(self, part: Array) -> "Tone":
        """A part of it, (K, n) or (K, 1), on the pull; damping goes with its root, so that damping ratios stay."""
        return Tone(part * self.pull, np.sqrt(part) * self.damping)


class Springs(NamedTuple):
    """What muscles are of full tone: stiffness and damping (..., n, 6, 6), body frames, damping over inertia and
    circular frequency (..., n) [1/s]; of every step (K, ...) where they change."""

    stiffness: Array
    damping: Array
    rate: Array
    pace: Array


class Inertias(NamedTuple):
    """Inertia that joints turn, body frame: of all that they carry (n, 6, 6), rotation and travel uncoupled, and of
    all there is, about them (n, 3, 3)."""

    own: Array
    whole: Array

    def swung(self, body: int, held: Array) -> Array:
        """(..., 3, 3) part of what a joint carries that turns against what carries it: 1/(1/a + 1/b).

        held: (...) how firmly the rest is held, as part of all that there is.
        """
        firm = (1.0 + held)[..., None, None] * self.whole[body]
        return np.asarray(np.eye(3) - np.linalg.solve(firm, np.broadcast_to(self.own[body, :3, :3], firm.shape)))


def inertias(model: Model, kin: Kinematics) -> Inertias:
    """What joints turn, mean over the leading axis."""
    flat = kin.I.reshape(kin.I.shape[:-2] + (36,))
    composite = model.inward(flat).reshape(kin.I.shape)
    everything = composite[:, model.parent < 0].sum(axis=1, keepdims=True)
    own, whole = ((kin.X.swapaxes(-1, -2) @ inertia @ kin.X).mean(axis=0) for inertia in (composite, everything))
    own[:, :3, 3:] = 0.0
    own[:, 3:, :3] = 0.0
    return Inertias(own, whole[:, :3, :3])


def held(inertia: Array, hinges: Hinges) -> tuple[Array, Array]:
    """The inertia (n, 6, 6) that muscles are made for, and (n,) how many times as fast as told a joint swings at most.

    A straight limb has a hundredth of the inertia about its own length that it has across.  Muscles as weak as that
    would let it roll to and fro for seconds, driven by all that turns it across; a shoulder's resist both alike.
    Hinges turn about their axis alone.
    """
    size, way = np.linalg.eigh(inertia[:, :3, :3])
    most = np.maximum(size, SLENDER * size[:, -1:])
    most[hinges.bodies] = size[hinges.bodies]
    out = inertia.copy()
    out[:, :3, :3] = (way * most[:, None, :]) @ way.swapaxes(-1, -2)
    return out, np.sqrt(np.max(most / np.where(size > 0.0, size, np.inf), axis=-1, initial=1.0))


def muscles(
    actor: Actor,
    situation: Situation,
    settings: list[BoneSetting],
    base: int,
    since: Array,
    tense: Array | float = 0.0,
) -> tuple[Array, Array]:
    """Frequency [Hz] and damping ratio of every body's muscle: (n,), or (K, n) at the K times since the blow [s] where
    they change.

    tense: (n,) times the trunk's that the clip's own swing asks for at least, see `tension`.

    From root to tip the `taper` makes limbs tauter joint by joint and damps them as much more: tendons hold a hand more
    than muscles do, and a light hand whips on a wrist that is loose, and trembles on one that swings.  n springs in a
    row give way n times as far: a neck or tail is as firm in all as if it were one bone, however many its rig has.
    """
    taut = situation.taper ** np.array([float(LEVEL.get(base_role(role), 0)) for role in actor.roles])
    firm = np.sqrt(in_a_row(actor.roles))
    every, count = since[:, None], (len(since), len(taut))
    f = curve.over(situation.frequency, every) * np.maximum(taut * firm, tense) * np.ones(count)
    slow = curve.over(situation.ratio, every) * np.maximum(taut, 1.0)  # loose limbs are damped no less
    ratio = np.broadcast_to(slow * firm, count).copy()
    if base >= 0:
        f[:, base] = curve.over(situation.base_frequency, since)
    for i, setting in enumerate(settings):
        for told, values in ((setting.frequency, f), (setting.ratio, ratio)):
            if told is not None:
                values[:, i] = curve.over(told, since)
    return (f, ratio) if np.ptp(f, axis=0).any() or np.ptp(ratio, axis=0).any() else (f[0], ratio[0])


def tension(actor: Actor, model: Model, whole: Reference, inertia: Array) -> Array:
    """(n,) times the trunk's frequency that muscles of trunk, head and arms have at least, for what the clip swings.

    A joint stiffens in proportion to its torque (Hunter and Kearney 1982).  Muscles for who stands and walks don't hold
    an arm to a run's way: what is off there keeps on, and meets the thigh that the clip passes.  Legs have their plan.
    It is what swings against the weight: a clip's root that jumps stiffens nobody.
    whole: the clip in steps of SWING.  inertia: (n, 6, 6) that joints carry.
    """
    _, passing = motions(model, whole)
    roots, moved = np.flatnonzero(model.parent < 0), whole.acceleration
    force = apply(passing.R[:, roots], of_motion(model, passing, moved, np.zeros(3))[:, roots, 3:])
    weight = force.sum(axis=1, keepdims=True) / model.inertia[:, 5, 5].sum()
    torque = of_motion(model, passing, moved, weight)[..., :3]  # in axes that go with it
    bearing = np.isin(np.arange(model.n), list(legs.bodies(actor, *legs.legs(actor))))
    bodies = np.flatnonzero(~bearing & (inertia[:, 0, 0] > 0.0))
    pull = np.linalg.solve(inertia[bodies, :3, :3], torque[:, bodies, :, None])[..., 0]
    pace, out = 2.0 * np.pi * curve.begins(Situation.frequency), np.zeros(model.n)
    out[bodies] = np.sqrt(TENSE * np.sqrt(np.mean(np.square(pull).sum(axis=-1), axis=0))) / pace
    return out


def in_a_row(roles: Sequence[str]) -> Array:
    """(n,) how many bones a body's neck, tail or ear has; 1 for all else."""
    rows = [role if base_role(role) == "ear" else base_role(role) for role in roles]
    return np.array([float(rows.count(row)) if base_role(row) in ROWS else 1.0 for row in rows])


def muscle(
    model: Model,
    reference: Reference,
    kin: Kinematics,
    springs: Springs,
    tone: Tone,
    share: Array,
    base: int,
    grounded: Array | float = 1.0,
) -> Muscle:
    """Muscles over a stretch of the clip.

    kin: of the reference's poses and passing twists.  tone: what is left of the springs at each step.
    share: (K,) see `carried`.  grounded: (K,) part of the weight that the base carries at most.
    """
    forward = of_motion(model, kin, reference.acceleration, np.zeros(3))
    bears = np.ones(model.n) * share[:, None]
    carries = bears.copy()
    if base >= 0:  # of the clip's forces what bears the base doesn't turn with it, see `forces.Bearing`
        carries[:, base], bears[:, base] = 0.0, grounded * share
    K, D, rate, pace = springs
    strong = np.full(model.n, np.inf)
    return Muscle(K, D, tone.pull, strong, carries, forward, rate, pace, damped=tone.damping, bears=bears)


def changing(situation: Situation, settings: list[BoneSetting]) -> bool:
    """Whether a curve tells of any muscle's frequency or ratio."""
    told = [situation.frequency, situation.ratio, situation.base_frequency]
    told += [value for setting in settings for value in (setting.frequency, setting.ratio) if value is not None]
    return any(isinstance(value, tuple) for value in told)


def springs(
    actor: Actor,
    situation: Situation,
    settings: list[BoneSetting],
    base: int,
    since: Array,
    tense: Array | float,
    about: Inertias,
    hinges: Hinges,
    led: bool,
) -> Springs:
    """Springs of a frequency and a damping ratio about the joint's own inertia, stiff across a hinge's axis; a trunk on
    a free pelvis is damped by that ratio of what swings there, see `_let_swing`.

    since: (K,) the time since the blow [s].  tense: as in `muscles`.
    led: whether the base travels with the weight, see `forces.Guide`.
    """
    inertia = about.own
    f, ratio = muscles(actor, situation, settings, base, since, tense)
    ratio = accuracy.damped(ratio, actor.masses.mass[actor.order], actor.parent)
    omega = 2.0 * np.pi * f[..., None, None]
    inertia, swifter = held(inertia, hinges)
    K, D = omega**2 * inertia, 2.0 * ratio[..., None, None] * omega * inertia
    if base >= 0 and len(legs.legs(actor)) <= 2:  # what stands at both ends is held at both
        _let_swing(actor, base, f, about, D)
    braced, damped = brace(inertia, hinges)
    K[..., hinges.bodies, :3, :3] += braced
    D[..., hinges.bodies, :3, :3] += damped
    if led:
        K[..., base, 3:, 3:] = D[..., base, 3:, 3:] = 0.0
    rate, pace = 4.0 * np.pi * ratio * f * swifter**2, 2.0 * np.pi * f * swifter
    rate[..., hinges.bodies] += 2.0 * HINGE_PACE
    pace[..., hinges.bodies] = np.maximum(pace[..., hinges.bodies], HINGE_PACE)
    return Springs(K, D, rate, pace)


def _let_swing(actor: Actor, base: int, f: Array, about: Inertias, D: Array) -> None:
    """Damp a trunk on a free pelvis, in place, as what swings there: both sides of its joints.

    What is below is no heavier than what is above.  Damped for all that is above, a trunk stopped within 15 ms of a
    blow beside it, while arms and legs went on.  What is braked feels a pelvis that is looser than the joint as free,
    and one that is tauter as fixed.
    f: (..., n) frequencies.  D: (..., n, 6, 6) for all that joints carry.
    """
    for i, role in enumerate(actor.roles):
        if base_role(role) in TRUNK and i != base and about.own[i].any():
            held = (f[..., base] / np.maximum(f[..., i], 1e-9)) ** HELD
            D[..., i, :3, :3] = D[..., i, :3, :3] @ about.swung(i, held)


def impedance(K: Array, D: Array, tone: Tone, h: float) -> Array:
    """(n, 6, 6) what muscles add to the inertia of joints over a time h [s], h D + h^2 K.

    K, D: (n, 6, 6) their stiffness and damping.  tone: what is left of them, (1, n).
    """
    pull, damping = (factor[0, :, None, None] for factor in tone)
    return h * damping * D + h**2 * pull * K


def brace(inertia: Array, hinges: Hinges) -> tuple[Array, Array]:
    """Stiffness and damping (m, 3, 3) that keep hinges to their axes."""
    across = np.eye(3) - hinges.axis[:, :, None] * hinges.axis[:, None, :]
    about = across @ inertia[hinges.bodies][:, :3, :3] @ across
    return HINGE_PACE**2 * about, 2.0 * HINGE_PACE * about


def carried(situation: Situation, since: Array) -> Array:
    """(K,) part of the clip's own forces and of the weight that is carried, by time since the blow [s]."""
    return np.ones(len(since)) * curve.over(situation.share, since)


def tone(actor: Actor, blows: list[tuple[Situation, int, Array]]) -> Tone:
    """What is left of the muscles: each blow takes its part at impact and gives it back by a cosine.

    A body loses the less the more joints lie between it and the blow, see `Situation.falloff`.  What bears nothing
    loses pull alone to a blow that is a force: it is damped as before, or the next blow would find it swinging freely
    from the last.  Legs and a trunk that keep what brakes them don't give way; velocities are told for loose joints.
    blows: situations with the struck body and the time since their blow at each step (K,) [s].
    """
    pull, damping = np.ones((2, len(blows[0][2]), len(actor.names)))
    for situation, struck, since in blows:
        taken = np.where(since >= -1e-6, lost(situation, since), 0.0)
        left = 1.0 - taken[:, None] * situation.falloff ** joints_between(actor.parent, struck)
        root, keeps = np.sqrt(left), light(actor) & (situation.drive == "impulse")
        pull, damping = pull * left, damping * np.where(keeps, np.maximum(root, 1.0), root)
    return Tone(pull, damping)


@lru_cache(maxsize=8)
def light(actor: Actor) -> np.ndarray:
    """(n,) bool, heads, and arms on which a figure doesn't stand."""
    standing = set[int]()
    for limb in legs.legs(actor):
        standing |= {i for i in range(len(actor.names)) if limb.upper in upward(actor.parent, i)}
        standing |= set(upward(actor.parent, limb.upper))
    return np.array([base_role(role) in LIGHT and i not in standing for i, role in enumerate(actor.roles)])


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
    rank, out = {i: float(k) for k, i in enumerate(up)}, list[float]()
    for i, carrier in enumerate(parent.tolist()):  # parents stand before their children
        out.append(rank[i] if i in rank else float(len(up)) if carrier < 0 else out[carrier] + 1.0)
    return np.array(out)


def foot_spring(actor: Actor) -> tuple[Array, Array]:
    """Stiffness and damping (6, 6) that hold a foot in the world, stiff enough for the whole body's weight."""
    mass = float(actor.masses.mass.sum())
    omega = 2.0 * np.pi * FOOT_FREQUENCY
    shape = np.diag([FOOT_LEVER**2] * 3 + [1.0] * 3)
    return omega**2 * mass * shape, 2.0 * omega * mass * shape
