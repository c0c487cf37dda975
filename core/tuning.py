"""From an animator's numbers (hertz, ratios, parts) to muscles: stiffness, damping, tone."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from . import curve, legs
from .actor import Actor
from .dynamics.inverse import of_motion
from .forces.muscle import weight
from .forces.world import motions
from .model import Model
from .reference import Reference
from .roles import base_role
from .rotation import Array
from .situation import BoneSetting, Situation
from .spatial import apply
from .topology import ARM

# Joints between the trunk and a body, along the limbs.
LEVEL = {"forearm": 1, "hand": 2, "finger": 3, "shin": 1, "foot": 2, "toe": 3, "ear": 1}
# Upright, heads are held as elbows are, by 2.3 Hz and well damped: people's swing at 2.1 Hz without reflexes, and
# hardly at all, at 2.9, with them (Peng, Hain and Peterson 1996).
UPRIGHT = {"neck": 1, "head": 1}
ROWS = ("neck", "tail", "ear")
LIGHT = ("head", *ARM)  # what bears nothing, where no limb of it stands
SWING = 0.08  # [s] over which the torque of a swing counts: what is shorter is a jolt or noise
TENSE = 3.5  # [1/rad] stiffness of a joint per torque that it bears; chosen: it tells in runs, and not yet in walks
FOOT_FREQUENCY, FOOT_LEVER = 2.0, 0.1  # planted feet: [Hz] with the whole body's mass, [m] for their turning


class Tone(NamedTuple):
    """What is left of muscles: factors (K, n) on their pull, which is stiffness, and on their damping."""

    pull: Array
    damping: Array

    def times(self, part: Array) -> "Tone":
        """A part of it, (K, n) or (K, 1), on the pull; damping goes with its root, so that damping ratios stay."""
        return Tone(part * self.pull, np.sqrt(part) * self.damping)


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
    level = LEVEL | UPRIGHT if actor.anatomy.kind == "biped" else LEVEL
    taut = situation.taper ** np.array([float(level.get(base_role(role), 0)) for role in actor.roles])
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
    force = of_motion(model, passing, moved, np.zeros(3))
    thrust = apply(passing.R[:, roots], force[:, roots, 3:]).sum(axis=1)
    borne = weight(model, passing, thrust / model.inertia[:, 5, 5].sum())
    torque = (force - borne)[..., :3]  # in axes that go with it
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


def changing(situation: Situation, settings: list[BoneSetting]) -> bool:
    """Whether a curve tells of any muscle's frequency or ratio."""
    told = [situation.frequency, situation.ratio, situation.base_frequency]
    told += [value for setting in settings for value in (setting.frequency, setting.ratio) if value is not None]
    return any(isinstance(value, tuple) for value in told)


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
