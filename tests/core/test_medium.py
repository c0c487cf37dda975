"""Forces over time and in space: spikes, thrusts, fields, wind."""

from dataclasses import replace

import numpy as np
import pytest

from core.forces import Air, Field, Pulse, Wrench
from core.model import State
from core.rotation import exp
from core.simulate import simulate

from .test_forces import GRAVITY, NONE, load_of, moment_of, one_body, standing
from .test_simulate import last
from .trees import tree


@pytest.mark.parametrize("lengths", [(1 / 24,), (1 / 97,), (1 / 480,), (1 / 60, 1 / 240, 1 / 120)])
def test_spikes_and_pulses_deliver_their_impulse_at_any_step(lengths):
    """In a free body, in steps of uneven lengths too."""
    model, count = one_body(), round(0.8 / sum(lengths)) * len(lengths)
    times = np.concatenate(([0.0], np.cumsum(np.resize(lengths, count))))
    reference = replace(standing(model, count, 1.0), times=times)
    push = np.array([[0, 0, 0, 1.0, 2.0, 3.0]])
    spike = Wrench(np.array([0]), np.zeros((1, 3)), Wrench.spikes(reference, np.array([0.1, 0.55]), 0.11, push))
    pulse = Pulse(0, np.zeros(3), np.array([0.5, 0.0, 0.0]), 0.3, 0.07)
    run = last(simulate(model, reference, [spike, pulse], NONE))
    np.testing.assert_allclose(2.0 * run.state.twist[0, 3:], [0.72, 0.44, 0.66], atol=1e-12)


def test_a_thrust_of_the_bodys_own_turns_with_it_and_one_of_the_worlds_does_not():
    model, quarter = one_body(mass=2.0), exp(np.array([[0.0, 0.0, 0.5 * np.pi]]))
    state, push = State(quarter, np.zeros((1, 3)), np.zeros((1, 6))), np.array([[0.0, 0, 0, 3.0, 0, 0]])
    for local, way in ((True, [0.0, 3.0, 0.0]), (False, [3.0, 0.0, 0.0])):
        thrust = Wrench(np.array([0]), np.zeros((1, 3)), push, local)
        load = load_of(thrust, moment_of(model, standing(model, 2, 0.01), state))
        np.testing.assert_allclose(load.wrench[0, 3:], way, atol=1e-12)


def test_a_uniform_field_is_gravity(rng):
    model = tree(rng, 6, free=True)
    reference = standing(model, 60, 1 / 120)
    field = Field(lambda x, t: np.broadcast_to(GRAVITY, x.shape))
    a = last(simulate(model, reference, [field], NONE))
    b = last(simulate(model, reference, [], GRAVITY))
    np.testing.assert_allclose(a.state.rotation, b.state.rotation, atol=1e-9)


def test_wind_carries_a_body_along_and_falling_ends_at_the_terminal_speed():
    model = one_body(mass=1.0)
    reference = standing(model, 2400, 1 / 120)
    air = Air(np.array([0]), np.zeros((1, 3)), np.array([0.5]), np.array([4.0, 0.0, 0.0]))
    run = last(simulate(model, reference, [air], GRAVITY))
    fall = np.sqrt(2 * 9.81 / (1.2 * 0.5))
    assert run.state.twist[0, 5] == pytest.approx(-fall, rel=1e-3)
    assert run.state.twist[0, 3] == pytest.approx(4.0, abs=0.05)
