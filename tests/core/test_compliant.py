"""Compliant contacts: they carry a weight, rub by Coulomb's law, push both sides alike, and know of no batch."""

import numpy as np
import pytest

from core.dynamics import balance, kinematics
from core.forces import Bumper, Capsules, Compliant, Floor
from core.forces.bumper import overlap
from core.forces.compliant import CLOSE, CREEP
from core.forces.contact import ahead
from core.model import FREE, Model, State
from core.reference import build, to_world
from core.rotation import cross, exp
from core.simulate import Run, moment, simulate
from core.skinning import Skinned
from core.spatial import inertia

from .chains import still
from .test_contact import CORNERS, box, lying
from .test_forces import GRAVITY, NONE, load_of, moment_of, standing
from .test_simulate import last
from .trees import motion, tree

H = 1 / 120
MASS, G = 75.0, 9.81


def floor(**settings):
    return Floor(Skinned.rigid(np.zeros(8, dtype=int), CORNERS), 0.0, **settings)


def tilted(degrees):
    a = np.radians(degrees)
    return G * np.array([np.sin(a), 0.0, -np.cos(a)])


def ran(gravity, seconds, friction=0.5, h=H, start=None):
    model = box()
    steps = round(seconds / h)
    start = start or lying(model)
    return model, list(simulate(model, standing(model, steps, h), [Compliant([floor(friction=friction)])], gravity,
                                Run(0, start)))  # fmt: skip


def test_a_box_sinks_as_far_as_its_weight_says_and_gains_no_energy():
    start = lying(box(), exp(np.array([0.3, 0.2, 0.0])), lift=1.0)
    model, runs = ran(GRAVITY, 4.0, start=start)
    assert np.abs(runs[-1].state.twist).max() < 1e-4
    end = kinematics(model, runs[-1].state)
    low = (end.position()[0] + CORNERS @ end.R[0].T)[:, 2].min()
    assert low == pytest.approx(-MASS * G / 4 / 1e5, abs=1e-5)
    energy = [
        float(b.kinetic + b.potential) for r in runs if (b := balance(model, kinematics(model, r.state), GRAVITY))
    ]
    assert max(energy) < MASS * G * 1.01
    assert np.diff(energy).max() < 2e-2 * energy[0]


@pytest.mark.parametrize("degrees", [10.0, 20.0])
def test_friction_below_its_bound_only_creeps(degrees):
    _, runs = ran(tilted(degrees), 2.0)
    speed = np.linalg.norm(runs[-1].state.twist[0, 3:])
    part = np.tan(np.radians(degrees)) / 0.5  # of the bound; the law says u / sqrt(u^2 + CREEP^2)
    assert speed == pytest.approx(CREEP * part / np.sqrt(1 - part**2), abs=CLOSE)


@pytest.mark.parametrize("degrees", [35.0, 45.0])
def test_beyond_it_a_box_slides_as_coulomb_says(degrees):
    _, runs = ran(tilted(degrees), 1.0)
    a = np.radians(degrees)
    assert runs[-1].state.twist[0, 3] == pytest.approx(G * (np.sin(a) - 0.5 * np.cos(a)), rel=0.01)


def test_sliding_does_not_depend_on_the_length_of_the_steps():
    ends = [ran(tilted(40.0), 0.5, h=h)[1][-1].state.position[0, 0] for h in (1 / 60, 1 / 480)]
    assert ends[0] == pytest.approx(ends[1], rel=0.05)


def test_what_hangs_above_the_floor_feels_nothing():
    model = box()
    step = moment_of(model, standing(model, 1, H), lying(model, lift=0.5))
    assert not load_of(Compliant([floor()]), step).wrench.any()
    near = moment_of(model, standing(model, 1, H), lying(model, lift=0.0999))
    assert load_of(Compliant([floor()]), near, GRAVITY).wrench[0, 5] > 0.0


def pair(speed):
    """Two free balls that run into each other."""
    about = 0.01 * np.tile(np.eye(3), (2, 1, 1))
    model = Model(("a", "b"), np.array([-1, -1]), (FREE, FREE), inertia(np.array([3.0, 1.0]), np.zeros((2, 3)), about))
    state = State(np.tile([1.0, 0, 0, 0], (2, 1)), np.array([[0.0, 0, 0], [0.3, 0.02, 0]]), np.zeros((2, 6)))
    state.twist[1, 3] = -speed
    return model, state


def bumper(friction=0.3):
    capsules = Capsules(np.array([0, 1]), np.zeros((2, 2, 3)), np.array([0.1, 0.1]))
    one = np.ones(1)
    return Bumper(capsules, np.array([[0, 1]]), 1e4 * one, 50.0 * one, friction, 0.0 * one)


def test_bodies_that_bump_keep_their_momentum_and_part():
    model, state = pair(2.0)
    runs = list(simulate(model, still(state, H, 60), [Compliant([bumper(friction=0.0)])], NONE, Run(0, state)))
    before, after = (balance(model, kinematics(model, s), NONE).momentum for s in (state, runs[-1].state))
    np.testing.assert_allclose(after, before, atol=1e-9)
    end = runs[-1].state
    apart = end.twist[1, 3] - end.twist[0, 3]
    assert 0.0 < apart < 2.0, "they fly apart, slower than they came"
    assert np.linalg.norm(end.position[1] - end.position[0]) > 0.2


def test_overlap_at_the_start_is_left_alone():
    model, state = pair(0.0)
    state.position[1] = [0.15, 0.0, 0.0]
    capsules = bumper().capsules
    sunk = overlap(capsules, np.array([[0, 1]]), kinematics(model, state))
    assert sunk == pytest.approx([0.05])


def test_members_of_a_batch_do_not_know_of_each_other():
    model = box()
    states = [lying(model, exp(np.array([0.3 * k, 0.1, 0.0])), lift=0.05 + 0.1 * k) for k in range(4)]
    batch = State(*(np.stack([getattr(s, name) for s in states]) for name in ("rotation", "position", "twist")))
    forces = [Compliant([floor()])]
    together = last(simulate(model, standing(model, 120, H), forces, GRAVITY, Run(0, batch))).state
    for k, state in enumerate(states):
        alone = last(simulate(model, standing(model, 120, H), forces, GRAVITY, Run(0, state))).state
        np.testing.assert_allclose(together.position[k], alone.position, atol=1e-9)
        np.testing.assert_allclose(together.rotation[k], alone.rotation, atol=1e-9)


def test_points_go_where_contacts_expect_them(rng):
    """The mean velocity of a body's origin over a step, far from the frame's, of a tree that tumbles through the air:
    off by the square of the step, as the leapfrog is; velocity products counted at the frame's origin are 90 mm/s off.
    """
    model = tree(rng, n=6, free=True, kinds=("spherical",))
    times = np.linspace(0.0, 1.0, 61)
    clip = motion(rng, model, times, amplitude=1.5)
    off = []
    for h in (1.0 / 240.0, 1.0 / 480.0):
        reference = build(times, *clip, 0.3, round(0.05 / h), h)
        *_, then, end = simulate(model, reference, [], GRAVITY, Run(0, reference.state(0)))
        now, _ = moment(model, reference, [], GRAVITY, then, kinematics(model, then.state))
        V = ahead(model, now.kin, now.passing, end.acceleration, now.h)
        before, after = (to_world(model, run.state.rotation, run.state.position)[1] for run in (then, end))
        off.append(np.linalg.norm(V[:, 3:] + cross(V[:, :3], now.kin.p) - (after - before) / h, axis=-1))
    assert np.linalg.norm(V[:, :3], axis=-1).max() > 3.0
    assert off[0].max() < 2e-3 and off[1].max() < 0.35 * off[0].max()
