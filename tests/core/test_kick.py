"""Velocities that are told, and the rest of the body that answers."""

import numpy as np
import pytest

from core.dynamics import given, kinematics, response
from core.dynamics.impulse import inertia, point_jacobian
from core.dynamics.momentum import balance
from core.kick import kicked
from core.model import State
from core.react import Hit
from core.reference import to_world
from core.rotation import rotate
from core.situation import named
from core.stage import Stage

from .figures import build
from .test_hanging import told
from .test_react import actor_of, clip_of
from .trees import motion, tree


@pytest.fixture
def body(rng):
    model = tree(rng, free=True)
    rotation, position = motion(rng, model, np.zeros(1))[:2]
    state = State(rotation[0], position[0], rng.normal(size=(model.n, 6)) * (np.arange(6) < 3))
    return model, state, kinematics(model, state)


def test_with_nothing_known_it_is_the_free_answer(body, rng):
    model, state, kin = body
    point, impulse = kin.position()[5] + rng.normal(size=3), rng.normal(size=3)
    push = point_jacobian(model, kin, 5, point).T @ impulse
    u = given(model, kin, np.zeros(model.nv), np.zeros(model.nv, dtype=bool), push)
    np.testing.assert_allclose(u, response(model, kin, 5, point, impulse), rtol=1e-9, atol=1e-12)


def test_it_is_the_motion_nearest_to_the_free_answer(body, rng):
    """Gauss: no other one with the known part is nearer by its kinetic energy."""
    model, state, kin = body
    H, push, known = inertia(model, kin), rng.normal(size=model.nv), rng.random(model.nv) < 0.4
    u = given(model, kin, rng.normal(size=model.nv) * known, known, push)
    free = np.linalg.solve(H, push)

    def far(v):
        return (v - free) @ H @ (v - free)

    assert 0 < known.sum() < model.nv
    for _ in range(20):
        assert far(u + 0.1 * rng.normal(size=model.nv) * ~known) > far(u)


def test_a_leg_that_is_swung_leaves_the_body_the_momentum_of_the_blow():
    """Joints push both ways: on a free body all momentum is the blow's, whatever the table tells its joints."""
    skeleton = build()
    situation = named("leg_inside").with_changes(drive="velocities")
    stage = Stage(actor_of(skeleton), clip_of(skeleton), [(situation, Hit(25.0))], {}, {})
    reference = stage.reference(stage.start, 1, 0.01, 0.01)
    before = reference.state(0)
    after = stage.kicked(before, stage.start, reference)
    gained = [balance(stage.model, kinematics(stage.model, s), np.zeros(3)).momentum for s in (before, after)]
    blow, leg = stage.blows[0], stage.actor.first("thigh.R")
    np.testing.assert_allclose((gained[1] - gained[0])[3:], blow.impulse * blow.direction, atol=1e-9)
    assert np.linalg.norm((after.twist - before.twist)[leg]) == pytest.approx(np.radians(900.0))
    assert np.abs(after.twist - before.twist)[stage.base, 3:].max() > 0.02


def test_arms_stay_behind_a_trunk_that_is_set_in_motion(actor, clip):
    """Rigid ones would start at its speed, out of nothing."""
    stage = Stage(actor, clip, [(told("chest_back"), Hit(25.0))], {}, {})
    reference = stage.reference(stage.start, 1, 0.01, 0.01)
    before = reference.state(0)
    after = stage.kicked(before, stage.start, reference)
    rates = after.twist - before.twist
    elbow = actor.first("forearm.L")
    rigid = State(before.rotation, before.position, rates * ~stage.limp[:, None])
    soft = State(before.rotation, before.position, rates)
    speeds = [np.linalg.norm(velocity(stage.model, state, elbow, actor)) for state in (rigid, soft)]
    assert stage.limp.any() and speeds[1] < 0.7 * speeds[0]


def velocity(model, state, body, actor):
    """(3,) of a segment's end [m/s]."""
    kin = kinematics(model, state)
    q, p = to_world(model, state.rotation[None], state.position[None])
    end = p[0, body] + rotate(q[0, body], actor.axis[body])
    return point_jacobian(model, kin, body, end) @ model.coordinates(state.twist)


def test_what_does_not_answer_starts_with_nothing(body, rng):
    model, state, _ = body
    rate = rng.normal(size=3)
    after = kicked(model, state, {3: rate}, [], np.zeros(model.n, dtype=bool))
    np.testing.assert_array_equal(np.flatnonzero((after.twist != state.twist).any(axis=1)), [3])
    np.testing.assert_allclose(after.twist[3, :3] - state.twist[3, :3], rate)
    assert kicked(model, state, {}, [], np.ones(model.n, dtype=bool)) is state
