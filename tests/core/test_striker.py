"""Blows of things that have a mass and a speed: collisions as momentum and energy have them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import meeting
from core.blows import Blow, Hit
from core.dynamics import balance, effective_inverse, kinematics
from core.dynamics.dense import mass_matrix
from core.forces import Capsules, Flesh, Law, PointSpring, Pulse, Striker
from core.meeting import CHEST
from core.model import FIXED, FREE, SPHERICAL, Model, State, prismatic
from core.simulate import simulate
from core.situation import named
from core.spatial import inertia

from .test_forces import GRAVITY, NONE, one_body, standing
from .test_simulate import last
from .trees import motion, tree


def test_striker_against_a_free_body_is_the_collision_of_two_masses():
    model = one_body(mass=3.0)
    reference = standing(model, 4, 1 / 120)
    for e, normal in ((0.0, None), (0.5, None), (1.0, np.array([-1.0, 0, 0]))):
        ball = Striker(0, np.zeros(3), 2.0, np.array([5.0, 0, 0]), e, normal)
        run = last(simulate(model, reference, [ball], NONE))
        assert run.state.twist[0, 3] == pytest.approx((1 + e) * 5.0 * 2.0 / (2.0 + 3.0), rel=1e-12)


def test_a_striker_meets_a_body_as_the_other_forces_of_the_step_leave_it():
    """Both go on with one velocity at the end of the step, gravity and a spring's impedance in it."""
    model, v = one_body(mass=3.0), np.array([5.0, 0.0, -2.0])
    reference = standing(model, 1, 1 / 120)
    K = np.full((1, 3), 2e4)
    spring = PointSpring.of_clip(model, reference, np.array([0]), np.zeros((1, 3)), Law(K, 0.01 * K))
    for forces in ([], [spring]):
        with_, without = (
            last(simulate(model, reference, [*forces, *more], GRAVITY)).state.twist[0, 3:]
            for more in ([Striker(0, np.zeros(3), 2.0, v)], [])
        )
        inert = 3.0 + (200.0 / 120 + 2e4 / 120**2 if forces else 0.0)
        given = inert * (with_ - without)
        np.testing.assert_allclose(with_, v - given / 2.0, atol=1e-9)


@pytest.mark.parametrize("before", [1 / 480, 1 / 30])
def test_a_striker_strikes_once_where_the_length_of_steps_changes(before):
    """The first step's acceleration acts longer, or shorter, than the step."""
    model, h = one_body(mass=3.0), 1 / 120
    for time in np.arange(0.0, 3.9 * h, 0.3 * h):
        reference = replace(standing(model, 4, h), before=before)
        run = last(simulate(model, reference, [Striker(0, np.zeros(3), 2.0, np.array([5.0, 0, 0]), time=time)], NONE))
        assert run.state.twist[0, 3] == pytest.approx(2.0, rel=1e-12), time


def test_elastic_striker_keeps_energy_and_a_sticking_one_shares_the_points_velocity(rng):
    model = tree(rng, 6, free=True, kinds=("spherical",))
    q, p = motion(rng, model, np.array([0.3]))
    state = State(q[0], p[0], model.expand(rng.normal(size=model.nv)))
    kin = kinematics(model, state)
    point, v = np.array([0.1, 0.05, -0.2]), np.array([3.0, -8.0, 1.0])
    x = kin.p[4] + kin.R[4] @ point
    J = (kin.axes(model.entries) * model.ancestor[4][model.dof_body][:, None]).T
    J = J[3:] - np.cross(np.eye(3), x) @ J[:3]

    def after(striker):
        impulse = striker.impulse(model, kin)
        du = np.linalg.solve(mass_matrix(model, kin), J.T @ impulse)
        new = kinematics(model, State(q[0], p[0], state.twist + model.expand(du)))
        return impulse, new

    impulse, new = after(Striker(4, point, 1.5, v))
    at = new.V[4, 3:] + np.cross(new.V[4, :3], x)
    np.testing.assert_allclose(v - impulse / 1.5, at, atol=1e-9)  # they move on together
    n = np.array([0.0, 1.0, 0.0])
    impulse, new = after(Striker(4, point, 1.5, v, 1.0, n))
    before = balance(model, kin, NONE).kinetic + 0.75 * v @ v
    behind = v - impulse / 1.5
    assert balance(model, new, NONE).kinetic + 0.75 * behind @ behind == pytest.approx(before, rel=1e-9)
    assert impulse @ n < 0.0 and np.abs(np.delete(impulse, 1)).max() < 1e-12
    assert not Striker(4, point, 1.5, -v, 1.0, n).impulse(model, kin).any()  # flies away from the surface


@pytest.mark.parametrize("contact", [0.05, 0.1, 0.2])
@pytest.mark.parametrize(("pace", "ratio"), [(8.0, 0.4), (16.0, 0.7), (40.0, 1.0)])
def test_a_contact_that_lasts_meets_what_its_muscle_holds_as_well(contact, pace, ratio):
    """As a blow has it (`Blow.lasting`), beside the motion of two masses on a spring: the part of the light one's own
    answer that is left is within 0.2 of that, and within 0.07 from 0.1 s on."""
    masses, slide = np.array([3.0, 72.0]), prismatic([1.0, 0.0, 0.0])
    inertias = inertia(masses, np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
    model = Model(("hit", "rest"), np.array([-1, 0]), (slide, slide), inertias)
    held = 1.0 / np.sum(1.0 / masses)
    hit, zero = Hit(0.0, contact=contact), np.zeros(3)
    h = Blow(named("chest_front"), hit, 0.0, 0, zero, zero, np.eye(3), None).lasting
    K, D = pace**2 * held, 2.0 * ratio * pace * held
    Z = np.zeros((2, 6, 6))
    Z[1, 3, 3] = h * D + h * h * K
    kin = kinematics(model, State(np.tile([1.0, 0, 0, 0], (2, 1)), np.zeros((2, 3)), np.zeros((2, 6))))
    alone, shown = (effective_inverse(model, kin, 0, np.zeros(3), own)[0, 0] for own in (None, Z))
    assert alone == pytest.approx(1.0 / masses[0]) and shown > 1.0 / masses.sum()
    x, v, most, dt = np.zeros(2), np.zeros(2), 0.0, contact / 1000
    for t in dt * (np.arange(1000) + 0.5):
        pull = K * (x[0] - x[1]) + D * (v[0] - v[1])
        v = v + dt * np.array([2.0 / contact * np.sin(np.pi * t / contact) ** 2 - pull, pull]) / masses
        x, most = x + dt * v, max(most, v[0])
    assert abs(shown - most) < (0.07 if contact >= 0.1 else 0.2) * (alone - 1.0 / masses.sum())


@pytest.mark.parametrize("part", [-1.0, 0.0, 0.5, 1.5])
@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_a_struck_part_lies_on_opposes_with_it_as_one_mass(part, way, sign):
    """Two balls on a line, apart by a part of what the striker goes: touching they are one mass, its collision with
    the striker is that of two; half of what that makes less light where they meet half-way; away from each other, or
    beyond the striker's reach, the other takes no part.  A blow below nothing pulls."""
    masses, slide, line = np.array([2.0, 10.0]), prismatic([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    inertias = inertia(masses, np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1)))
    model = Model(("arm", "trunk"), np.array([-1, -1]), (slide, slide), inertias)
    v, contact = 30.0 * (1.0 / 15.0 + 1.0 / CHEST), 0.003
    apart = 0.1 + part * contact * v
    balls = Capsules(np.array([0, 1]), np.zeros((2, 2, 3)) + [[[0.0] * 3], [apart * line]], np.array([0.05, 0.05]))
    flesh = Flesh(balls, np.array([[0, 1]]), masses, 30.0, 1.0)
    hit = Hit(0.0, impulse=sign * 30.0, mass=15.0, contact=contact)
    blow = Blow(named("chest_front"), hit, 0.0, 0, np.zeros(3), sign * way * line, np.eye(3), None)
    moment = State(np.tile([1.0, 0, 0, 0], (2, 1)), np.zeros((2, 3)), np.zeros((2, 6)))
    actor = SimpleNamespace(parent=model.parent, roles=("", ""))
    got = meeting.met(blow, actor, model, moment, flesh=flesh)
    meets = way * min(1.0, 1.0 - part) if way > 0.0 and part < 1.0 else 0.0
    less = meets * (1.0 / 2.0 - 1.0 / 12.0)
    assert sign * got.impulse == pytest.approx(v / (1.0 / 15.0 + 1.0 / 2.0 - less), rel=1e-12)
    arm = (1.0 - got.passed) * sign * got.impulse
    assert arm == pytest.approx(v / (1.0 / 15.0 + 1.0 / 2.0), rel=1e-12)
    assert (got.behind is not None) == (meets > 0.0)
    if meets:
        behind, place = got.behind
        assert behind == 1 and place == pytest.approx(0.5 * apart * line)


def test_what_closes_by_round_off_alone_takes_no_part(rng):
    """A hand that is fixed to a chest, beyond the end of the belly on which that turns: the way between those two goes
    through their joint, so nothing closes them, however little mass they then show."""
    joints, ones = (FREE, SPHERICAL, FIXED), np.ones(3)
    model = Model(
        ("belly", "chest", "hand"), np.arange(-1, 2), joints, inertia(ones, np.zeros((3, 3)), np.stack([np.eye(3)] * 3))
    )
    cores = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.2]], [[0.0, 0.0, 0.0], [0.0, 0.1, 0.1]]])
    flesh = Flesh(Capsules(np.array([0, 2]), cores, np.full(2, 0.2)), np.array([[0, 1]]), ones[:2], 30.0, 1.0)
    actor, hit = SimpleNamespace(parent=model.parent, roles=("",) * 3), Hit(0.0, impulse=30.0, mass=15.0, contact=0.003)
    place = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.2], [0.1, 0.15, 0.1]])
    for way in rng.normal(size=(20, 3)):
        q = np.array([rng.normal(size=4), [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
        moment = State(q / np.linalg.norm(q, axis=-1, keepdims=True), place, np.zeros((3, 6)))
        way, point = way / np.linalg.norm(way), 0.2 * rng.normal(size=3)
        blow = Blow(named("chest_front"), hit, 0.0, 1, point, way, np.eye(3), None)
        alone, near = (meeting.met(blow, actor, model, moment, flesh=touch) for touch in (None, flesh))
        assert near.behind is None and near.taken == alone.taken


def test_striker_as_pulse_and_inside_a_step_agree(rng):
    model = tree(rng, 5, free=True, kinds=("spherical",))
    q, p = motion(rng, model, np.array([0.0]), amplitude=0.0)
    h = 1e-4
    reference = standing(model, 4, h)
    object.__setattr__(reference, "rotation", np.tile(q, (5, 1, 1)))
    object.__setattr__(reference, "position", np.tile(p, (5, 1, 1)))
    ball = Striker(3, np.array([0.0, 0.1, 0.1]), 0.5, np.array([0.0, 6.0, 0.0]), time=0.0)
    pulse = ball.pulse(model, reference.state(0), 4 * h)
    assert isinstance(pulse, Pulse)
    a, b = (last(simulate(model, reference, [f], NONE)).state.twist for f in (ball, pulse))
    np.testing.assert_allclose(a, b, atol=2e-2 * np.abs(a).max())
