"""What one hit does to the point that it strikes: at once, by MuJoCo's account, and as the reaction shows it."""

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from core.dynamics import kinematics
from core.forces import Pulse
from core.model import Model, State
from core.progress import run
from core.quality import Blow, judge, rule
from core.react import react
from core.reference import to_world
from core.rotation import conjugate, multiply, rotate, to_matrix
from core.simulate import Run, simulate
from core.stage import Stage
from tests.core.mujoco_chain import Twin

from . import causes
from .ways import ALONG, between, displacement, first_peak, size

INSTANT = 1e-9  # [s] in which the blow is given whole to find the initial velocity: what else acts is order of it
AXIAL = np.cos(np.radians(30.0))  # a blow that near the bone's own line is axial, that near the vertical on legs
ANSWERS = {"response", "delay", "direction", "spread"}  # checks of how much the struck point moves, and which way
FALLS, GROWS = 0.95, 1.5  # a stronger hit's peak beside the one below; the strongest's beside the weakest


@dataclass(frozen=True)
class Cell:
    """One hit.  velocity: relative error of the struck point's initial velocity against MuJoCo's.

    along: [m] of its displacement along the blow at its first peak.  off: [deg] there between displacement and the
    articulated body's answer.  turning: the same in the frame of the bone as the clip turns it.  peak: [m] the largest
    displacement that is seen.  unlimited: [m] that without joint limits, where it hardly grows with strength, else
    None.
    excuse: why it may be off: "" | "axial" | what blocks it, see `causes.excuse`.  left: [deg] that it is off without
    that.  cause: what else turns it, see `causes.cause`.  alone: [deg] that it is off at that moment where nothing of
    ours acts, None where it isn't asked.
    held: why the point hardly goes, where the judge misses its answer and nothing else is bad: "" | "axial" | "ground"
    | "limits".  failed: by the judge.
    """

    velocity: float
    along: float
    off: float
    turning: float
    left: float
    peak: float
    excuse: str
    cause: str
    held: str
    grade: str
    failed: tuple[str, ...]
    unlimited: float | None = None
    alone: float | None = None


def cells(aim, direction, strengths):
    """Simulate, measure and judge a hit from one direction in several strengths: [Cell]."""
    plans = [aim.planned(direction, strength) for strength in strengths]
    stage = Stage(aim.actor, aim.clip, [plans[0]], {}, {})
    out = [_cell(aim, plan, stage) for plan in plans]
    if spans([cell.peak for cell in out]):
        return out
    return [replace(cell, unlimited=causes.unlimited(aim, plan)) for cell, plan in zip(out, plans, strict=True)]


def spans(peaks):
    """Whether the strongest of several peaks is plainly larger than the weakest."""
    return peaks[-1] >= GROWS * peaks[0]


def _cell(aim, plan, stage):
    """stage: of any blow from the same direction."""
    reaction = run(react(aim.actor, aim.clip, *plan))
    blow = reaction.blows[0]
    got, want = at_once(stage, blow)
    way = displacement(aim, reaction)
    k = first_peak(way)
    peak = way[k]
    off = between(peak, want)
    excuse, cause, left, alone = "", "", off, None
    if off > ALONG:
        excuse, left = ("axial", off) if _axial(aim, blow) else causes.excuse(aim, plan, want)
        cause = "" if excuse else causes.cause(aim, plan, reaction, want)
        alone = None if excuse else causes.alone(aim, plan, want, k)
    verdict = graded(aim, reaction)
    return Cell(
        velocity=float(np.linalg.norm(got - want) / np.linalg.norm(want)),
        along=float(peak @ blow.direction),
        off=off,
        turning=causes.turning(aim, reaction, want),
        left=left,
        peak=float(size(way).max()),
        excuse=excuse,
        cause=cause,
        held=_held(aim, plan, blow, verdict),
        grade=verdict.grade,
        failed=tuple("{} {:.3g} {}".format(f.name, f.value, f.bone).strip() for f in verdict.failed()),
        alone=alone,
    )


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


def _axial(aim, blow):
    """Whether a blow runs along the bone that it strikes."""
    now = int(np.argmin(np.abs(aim.clip.times - blow.start)))
    line = to_matrix(aim.own()[0][now, blow.struck]) @ aim.actor.axis[blow.struck]
    return abs(line @ blow.direction) > AXIAL * np.linalg.norm(line)


def _held(aim, plan, blow, verdict):
    """What the blow spends itself on where nothing is bad but that the point hardly moves: the length of the bone, the
    ground under the legs and the body's weight on them, or joint limits, without which none of it is bad."""
    bad = _bad(verdict)
    if not bad or not bad <= ANSWERS:
        return ""
    if abs(blow.direction[2]) > AXIAL:
        return "ground"
    if _axial(aim, blow):
        return "axial"
    return "" if bad & _bad(causes.again(aim, plan, causes.BLOCKS["limits"], graded)) else "limits"


def _bad(verdict):
    """Names of the checks that are."""
    return {f.name for f in verdict.failed() if rule.excess(f, verdict.mode, bad=True) > 1.0}


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
