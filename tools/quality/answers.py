"""What one hit does to the point that it strikes: at once, by MuJoCo's account, and as the reaction shows it."""

from contextlib import contextmanager
from dataclasses import dataclass, replace
from unittest import mock

import mujoco
import numpy as np

from core import hits, tuning
from core import situation as situations
from core.dynamics import kinematics
from core.forces import Pulse
from core.model import Model, State
from core.progress import run
from core.quality import Blow, judge, rule
from core.react import react
from core.reference import to_world
from core.roles import base_role
from core.rotation import conjugate, multiply, rotate, to_matrix
from core.simulate import Run, simulate
from core.stage import Stage
from tests.core.mujoco_chain import Twin

INSTANT = 1e-9  # [s] in which the blow is given whole to find the initial velocity: what else acts is order of it
SEEN = 0.4  # [s] from the hit in which the struck point has its first peak
NOTHING = 0.002  # [m] below which a peak is none yet
AXIAL = np.cos(np.radians(30.0))  # a blow that near the bone's own line is axial, that near the vertical on legs
ANSWERS = {"response", "delay", "direction", "spread"}  # checks of how much the struck point moves, and which way
ALONG = 30.0  # [deg] that the way may be off the articulated body's answer


@dataclass(frozen=True, eq=False)
class Aim:
    """A point of a body and the situation in which it is hit."""

    actor: object
    clip: object
    frame: float
    situation: str
    bone: str
    along: float

    def planned(self, direction, strength):
        """(Situation, Hit) from a direction [left, forward, up] of the figure, with a strength's name."""
        plain = situations.named(self.situation).with_changes(direction=tuple(map(float, direction)), along=self.along)
        return plain, hits.HitSetting(plain, bone=self.bone, strength=strength).hit(self.frame)


@dataclass(frozen=True)
class Cell:
    """One hit.  velocity: relative error of the struck point's initial velocity against MuJoCo's.

    along: [m] of its displacement along the blow at its first peak.  off: [deg] there between displacement and the
    articulated body's answer.  peak: [m] the largest displacement within SEEN.
    excuse: why it may be off: "" | "axial" | "limits".  held: why the point hardly goes, where the judge misses its
    answer and nothing else is bad: "" | "axial" | "ground".  planted: whether the struck leg stood.  failed: by the
    judge.
    """

    velocity: float
    along: float
    off: float
    peak: float
    excuse: str
    held: str
    planted: bool
    grade: str
    failed: tuple[str, ...]


def cells(aim, direction, strengths):
    """Simulate, measure and judge a hit from one direction in several strengths: [Cell]."""
    plans = [aim.planned(direction, strength) for strength in strengths]
    stage = Stage(aim.actor, aim.clip, [plans[0]], {}, {})
    out = []
    for situation, hit in plans:
        reaction = run(react(aim.actor, aim.clip, situation, hit))
        blow = reaction.blows[0]
        got, want = at_once(stage, blow)
        way = displacement(aim, reaction)
        first = way[first_peak(np.linalg.norm(way, axis=-1))]
        off = between(first, want)
        verdict = graded(aim, reaction)
        made = Cell(
            velocity=float(np.linalg.norm(got - want) / np.linalg.norm(want)),
            along=float(first @ blow.direction),
            off=off,
            peak=float(np.linalg.norm(way, axis=-1).max()),
            excuse=_excuse(aim, situation, hit, want, blow) if off > ALONG else "",
            held=_held(aim, blow, verdict),
            planted=_planted(reaction),
            grade=verdict.grade,
            failed=tuple("{} {:.3g} {}".format(f.name, f.value, f.bone).strip() for f in verdict.failed()),
        )
        out.append(made)
    return out


def at_once(stage, blow):
    """((3,) velocity that the struck point takes from the whole blow, (3,) the same by MuJoCo) [m/s]."""
    model, gravity = stage.model, stage.actor.gravity
    reference = stage.reference(stage.start, 1, INSTANT, INSTANT)
    impulse = blow.impulse * blow.direction
    others = [force for force in stage.forces(reference) if not isinstance(force, Pulse)]
    struck = Pulse(blow.struck, blow.point, impulse, stage.start - 0.5 * INSTANT, INSTANT)
    ends = []
    for forces in (others, [*others, struck]):
        ends += simulate(model, reference, forces, gravity, Run(0, reference.state(0)))
    here = State(reference.rotation[0], reference.position[0], ends[1].state.twist - ends[0].state.twist)
    kin = kinematics(model, here)
    V, at = kin.V[blow.struck], kin.p[blow.struck] + kin.R[blow.struck] @ blow.point
    return V[3:] + np.cross(V[:3], at), by_mujoco(model, here, blow.struck, blow.point, impulse)


def by_mujoco(model, state, body, point, impulse):
    """(3,) J M^-1 J^T p of a point of a body [m/s]."""
    loose = np.array([len(joint) == 6 for joint in model.joints])  # MuJoCo hangs what is free on the world itself
    free = Model(model.names, np.where(loose, -1, model.parent), model.joints, model.inertia)
    q, p = to_world(model, state.rotation, state.position)
    rotation = np.where(loose[:, None], q, state.rotation)
    still = State(rotation, np.where(loose[:, None], p, state.position), np.zeros_like(state.twist))
    twin = Twin(free, still, np.zeros(3))
    twin.put(still)
    mujoco.mj_forward(twin.mj, twin.data)
    i = twin.ids[body]
    at = twin.data.xpos[i] + twin.data.xmat[i].reshape(3, 3) @ point
    J, change = np.zeros((3, twin.mj.nv)), np.zeros((1, twin.mj.nv))
    mujoco.mj_jac(twin.mj, twin.data, J, None, at, i)
    mujoco.mj_solveM(twin.mj, twin.data, change, (J.T @ impulse)[None])
    return J @ change[0]


def displacement(aim, reaction):
    """(K, 3) of the struck point from where the clip has it, from the hit on for SEEN [m]."""
    times = aim.clip.times
    seen = (times > reaction.start - 1e-6) & (times < reaction.start + SEEN)
    i = reaction.struck
    at = [p[seen, i] + rotate(q[seen, i], reaction.point) for q, p in (reaction.poses(aim.clip), _own(aim))]
    return at[0] - at[1]


def _own(aim):
    return aim.actor.canonical(aim.clip)


def first_peak(size):
    """Index of the first maximum of a curve that is more than NOTHING, else of the largest value."""
    inside = (size[1:-1] >= size[:-2]) & (size[1:-1] > size[2:]) & (size[1:-1] > NOTHING)
    return int(np.argmax(inside)) + 1 if inside.any() else int(np.argmax(size))


def between(a, b):
    """[deg] between two vectors."""
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(np.degrees(np.arccos(np.clip(a @ b / max(size, 1e-12), -1.0, 1.0))))


def _excuse(aim, situation, hit, want, blow):
    """Why the point may go elsewhere: the blow runs along the bone, or without joint limits it would not."""
    if _axial(aim, blow):
        return "axial"
    with _without_limits():
        way = displacement(aim, run(react(aim.actor, aim.clip, situation, hit)))
    free = between(way[first_peak(np.linalg.norm(way, axis=-1))], want)
    return "limits" if free <= ALONG else ""


def _axial(aim, blow):
    """Whether a blow runs along the bone that it strikes."""
    now = int(np.argmin(np.abs(aim.clip.times - blow.start)))
    line = to_matrix(_own(aim)[0][now, blow.struck]) @ aim.actor.axis[blow.struck]
    return abs(line @ blow.direction) > AXIAL * np.linalg.norm(line)


def _held(aim, blow, verdict):
    """What the blow spends itself on where nothing is bad but that the point hardly moves: the length of the bone, or
    the ground under the legs and the body's weight on them."""
    bad = {f.name for f in verdict.failed() if rule.excess(f, verdict.mode, bad=True) > 1.0}
    if not bad or not bad <= ANSWERS:
        return ""
    return "ground" if abs(blow.direction[2]) > AXIAL else "axial" if _axial(aim, blow) else ""


@contextmanager
def _without_limits():
    """Joints turn as far as they like."""
    nothing = mock.Mock(spec=["add"])
    with mock.patch.object(tuning, "limit", lambda *_: nothing), mock.patch.object(tuning, "balls", lambda *_: None):
        yield


def _planted(reaction):
    """Whether the struck body belongs to a leg that stands when it is hit."""
    actor, footing = reaction.actor, reaction.footing
    if footing is None or base_role(actor.roles[reaction.struck]) not in ("thigh", "shin", "foot"):
        return False
    stance = footing.stance
    now = int(np.argmin(np.abs(stance.times - reaction.start)))
    bodies = [(limb.upper, limb.lower, limb.end) for limb in stance.limbs]
    return any(bool(stance.down[now, k]) for k, leg in enumerate(bodies) if reaction.struck in leg)


def graded(aim, reaction):
    """The judge's Verdict."""
    actor, clip, landed = aim.actor, aim.clip, reaction.blows[0]
    q, p = (x[:, actor.body] for x in reaction.poses(clip))
    back = conjugate(clip.object_rotation)[:, None]
    factor = abs(clip.scale) / actor.masses.scale
    place = rotate(back, factor * p - clip.object_position[:, None]) / clip.scale
    size = float(np.linalg.norm(reaction.given[0]))
    blow = Blow(landed.start, landed.struck, landed.point, landed.direction, size, landed.contact)
    return judge(actor, replace(clip, rotation=multiply(back, q), position=place), clip, blow)
