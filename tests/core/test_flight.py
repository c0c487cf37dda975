"""Bodies in the air: momentum beside MuJoCo's, and what bears a body on its clip but not in flight."""

from dataclasses import replace

import numpy as np
import pytest

from core.drive import drive
from core.dynamics import balance, forward, kinematics
from core.model import Model, State
from core.pace import Pace
from core.progress import run
from core.react import Hit
from core.reference import to_world
from core.rotation import conjugate, rotate
from core.situation import named
from core.stage import Stage

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
