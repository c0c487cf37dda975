"""Bodies in the air: momentum beside MuJoCo's, and what bears a body on its clip but not in flight."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from core.drive import drive
from core.dynamics import balance, forward, kinematics
from core.flight import flights
from core.landing import SUNK
from core.model import Model, State
from core.pace import Pace
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.reference import to_world
from core.rotation import conjugate, rotate
from core.situation import named
from core.stage import UNCAUGHT, Stage

from .test_balance import jumping

mujoco = pytest.importorskip("mujoco")
from .mujoco_chain import Twin  # noqa: E402  it imports mujoco itself

pytestmark = pytest.mark.usefixtures("elsewhere")

HIT = 27.8  # frame, 0.16 s into a flight of 0.55 s
UNTIL = 0.3  # [s] after it
UP = 9.81 * (0.55 / 2.0 - ((HIT - 1.0) / 24.0 - 1.0))  # [m/s] of the clip at the blow


@pytest.fixture(scope="module")
def clip(actor):
    """A jump that is ballistic at canonical size."""
    jump = jumping(actor.skeleton)
    return replace(jump, position=jump.position[0] + (jump.position - jump.position[0]) / actor.masses.scale)


def simulated(actor, clip, way, impulse=60.0):
    """(stage, [(seconds after the blow, State)]) of a blow at the chest in the air."""
    hit = Hit(HIT, impulse=impulse, direction=np.array(way))
    stage = Stage(actor, clip, [(named("chest_front"), hit)], {}, {})
    pace = Pace.returning(stage.blows, stage.finer)
    parts = run(drive(stage, stage.start + UNTIL, pace, forward, lambda *_: False))
    pairs = (zip(part.reference.times - stage.start, part.runs, strict=True) for part in parts)
    return stage, [(float(t), done.state) for pair in pairs for t, done in pair]


def floating(stage, state):
    """(Twin of the base and what it carries, State in the world, the bodies of ours that it has)."""
    model, base = stage.model, stage.base
    own = np.flatnonzero(model.ancestor[:, base] > 0.0)
    parent = np.searchsorted(own, model.parent[own])
    parent[own == base] = -1
    names, joints = (tuple(getattr(model, name)[i] for i in own) for name in ("names", "joints"))
    q, p = to_world(model, state.rotation, state.position)
    rotation, position = state.rotation.copy(), state.position.copy()
    rotation[base], position[base] = q[base], p[base]
    twist = np.zeros_like(state.twist)
    twist[base, 3:] = rotate(conjugate(q[base]), np.array([0.0, 0.0, UP]))
    start = State(rotation[own], position[own], twist[own])
    return Twin(Model(names, parent, joints, model.inertia[own]), start, stage.actor.gravity), start, own


def blown(twin, start, own, stage):
    """[(seconds, com (3,), angular momentum (3,))] as MuJoCo flies with the blow's pulse on the struck body."""
    pulse, data, mj = stage.pulses[0], twin.data, twin.mj
    mj.opt.timestep = h = 2e-3
    twin.put(start)
    body, out = twin.ids[int(np.flatnonzero(own == pulse.body)[0])], []
    for k in range(round(UNTIL / h) + 1):
        mujoco.mj_forward(mj, data)
        mujoco.mj_subtreeVel(mj, data)
        out.append((k * h, data.subtree_com[0].copy(), data.subtree_angmom[0].copy()))
        force = pulse.impulse * pulse.fraction(stage.start + k * h, h) / h
        arm = data.xpos[body] + data.xmat[body].reshape(3, 3) @ pulse.point - data.xipos[body]
        data.xfrc_applied[body] = np.concatenate((force, np.cross(arm, force)))
        mujoco.mj_step(mj, data)
    return out


@pytest.mark.parametrize("way", [(1.0, 0.0, 0.0), (0.0, 0.6, 0.8)])
def test_a_body_hit_in_the_air_flies_as_mujoco_s(actor, clip, way):
    """The centre of mass and the angular momentum about it, for 0.3 s; both fly on with what the clip has of them.

    MuJoCo's joints are slack, ours have muscles: within the 50 ms of the blow the struck point is elsewhere by as much.
    """
    stage, states = simulated(actor, clip, way)
    times, com, spin = (np.array(x) for x in zip(*blown(*floating(stage, states[0][1]), stage), strict=True))
    assert np.linalg.norm(spin, axis=-1).max() > 8.0
    ours = [balance(stage.model, kinematics(stage.model, state), actor.gravity) for _, state in states]
    apart = [np.stack([np.interp([t for t, _ in states], times, x) for x in those.T], axis=-1) for those in (com, spin)]
    apart[0] -= [b.com for b in ours]
    apart[1] -= [b.momentum[:3] for b in ours]
    assert np.abs(apart[0]).max() < 2e-3
    assert np.abs(apart[1]).max() < 0.05 * np.abs(spin).max()


def test_nothing_but_gravity_turns_a_body_in_flight(actor, clip):
    """Both momenta stay what the blow has made of them, to a part of a thousand, however the trunk is tilted."""
    stage, states = simulated(actor, clip, (0.6, 0.8, 0.0))
    after = [balance(stage.model, kinematics(stage.model, s), actor.gravity).momentum for t, s in states if t > 0.07]
    after = np.array(after) - [0.0, 0.0, 0.0, 0.0, 0.0, 1.0] * np.array([m[5] for m in after])[:, None]
    for part in (slice(0, 3), slice(3, 5)):
        assert np.linalg.norm(after[0, part]) > 15.0
        assert np.abs(after[:, part] - after[0, part]).max() < 0.01 * np.linalg.norm(after[0, part])


@pytest.fixture(scope="module")
def blown_in_the_air(actor, clip):
    """The reaction to 90 N s in the air, that way, with further ones so many frames later."""

    @lru_cache
    def react_to(way, *later):
        hits = [Hit(HIT + more, impulse=90.0, direction=np.array(way)) for more in (0.0, *later)]
        return run(
            react(actor, clip, named("chest_front"), hits[0], further=[(named("chest_front"), hit) for hit in hits[1:]])
        )

    return react_to


@pytest.mark.parametrize("way", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0)])
def test_feet_land_where_legs_reach_from_the_hips_that_a_blow_leaves_behind(blown_in_the_air, clip, way):
    """The blow turns the body about its weight, and hips stay 12 to 20 cm behind; feet put where they catch the weight
    of one that stays upright are 57 cm from under them, and hang in the air."""
    reaction = blown_in_the_air(way)
    found, plan = reaction.footing.stance, reaction.footing.plan
    k = int(np.flatnonzero(found.flies)[-1]) + 1
    _, p = reaction.poses(clip)
    for i, limb in enumerate(found.limbs):
        hip = np.array([np.interp(found.times[k], clip.times, p[:, limb.upper, axis]) for axis in range(3)])
        assert 0.08 < (found.hip[k, i] + plan.shift[k] - hip) @ way < 0.24
        away, length = np.linalg.norm((found.ankle[k, i] + plan.feet[k, i] - hip)[:2]), found.length[i]
        low = found.hip[k, i, 2] - found.ankle[k, i, 2] - SUNK * length
        assert 0.2 < away < np.sqrt(length**2 - low**2) + 0.04  # the legs' own swing moves hips


def test_feet_in_the_air_know_nothing_of_a_later_blow(blown_in_the_air, clip):
    """What a second blow makes of the hips is known when it has landed."""
    alone, both = (blown_in_the_air((1.0, 0.0, 0.0), *later) for later in ((), (3.0,)))
    since = clip.times - both.blows[1].start
    for one, other in zip(alone.poses(clip), both.poses(clip), strict=True):
        assert np.abs(one - other)[since < 1e-6].max() < 1e-9
        assert np.abs(one - other)[(since > 0.1) & (since < 0.3)].max() > 0.05


def test_a_pose_that_is_held_in_the_air_is_simulated_no_longer(actor, clip):
    """Its hips stay as far behind the weight as they have got."""
    held = named("chest_front").with_changes(envelope=Envelope(mode="hold", simulation=0.15))
    reaction = run(react(actor, clip, held, Hit(HIT, impulse=90.0, direction=np.array([1.0, 0.0, 0.0]))))
    assert reaction.times[-1] == pytest.approx(reaction.start + 0.15)
    (flown,) = flights(reaction.footing, reaction.blows, reaction.times[-1])
    assert flown.seen == pytest.approx(reaction.times[-1]) and flown.goes == pytest.approx(1.0)
    assert flown.lands > reaction.start + 0.4


def test_who_cannot_catch_a_blow_in_the_air_is_told_when_his_landing_is_planned(actor, clip):
    """110 N s could be caught if hips stayed under the weight."""
    hit = Hit(HIT, impulse=110.0, direction=np.array([1.0, 0.0, 0.0]))
    assert not Stage(actor, clip, [(named("chest_front"), hit)], {}, {}).footing.fell
    reaction = run(react(actor, clip, named("chest_front"), hit))
    assert reaction.footing.fell and UNCAUGHT in reaction.warnings
