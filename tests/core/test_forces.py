"""Forces one by one: silent on the clip, right against closed forms, steady under any setting."""

from dataclasses import replace

import numpy as np
import pytest

from core.dynamics import Load, balance, kinematics, with_twist
from core.forces import (
    Air,
    Capsules,
    Compliant,
    Contacts,
    DryFriction,
    EndStop,
    Field,
    Flesh,
    Floor,
    Ground,
    HingeFriction,
    JointSpring,
    Law,
    Limit,
    Muscle,
    OrientationSpring,
    PointSpring,
    Pulse,
    Release,
    SelfCollision,
    Striker,
    Swift,
    SwingTwist,
    Viscous,
    WorldSpring,
    Wrench,
)
from core.forces.limit import torque_function
from core.forces.spring import capped
from core.forces.step import Step, deviation, log_rate
from core.forces.swing import swing_twist
from core.forces.world import motions
from core.lanes import arranged
from core.model import FREE, SPHERICAL, Model, State, revolute
from core.reference import Reference, build, passing
from core.rotation import angle, exp, log, multiply
from core.simulate import Run, simulate
from core.skinning import Skinned
from core.spatial import inertia

from .test_simulate import last, muscle
from .trees import motion, stops, tree

GRAVITY = np.array([0.0, 0.0, -9.81])
NONE = np.zeros(3)


def standing(model, steps, h, place=None):
    """A clip in which nothing moves."""
    n = model.n
    q = np.tile(np.array([1.0, 0, 0, 0]), (steps + 1, n, 1))
    p = np.tile(np.zeros((n, 3)) if place is None else place, (steps + 1, 1, 1))
    zero = np.zeros((steps, n, 6))
    return Reference(h * np.arange(steps + 1), q, p, zero, zero, zero[0])


def one_body(joint=FREE, mass=2.0, com=(0.0, 0.0, 0.0), about=(0.02, 0.05, 0.09)):
    about = np.diag(about)[None]
    return Model(("body",), np.array([-1]), (joint,), inertia(np.array([mass]), np.array([com]), about))


def moment_of(model, reference, state, k=0):
    kin = kinematics(model, state)
    h = float(reference.times[k + 1] - reference.times[k])
    gone = reference.acceleration[k - 1] if k else reference.last
    ahead = with_twist(model, kin, passing(state.twist, gone, h))
    return Step(model, reference, state, kin, ahead, k, float(reference.times[k]), h, *deviation(reference, state, k))


def load_of(force, step, gravity=NONE):
    load = Load.zero(step.model, gravity, step.e.shape[:-2])
    force.add(load, step)
    return load


def every_force(model, reference):
    """One of each kind that follows a clip, far stiffer than anyone would set it."""
    m, one, rng = np.arange(model.n), np.ones(model.n), np.random.default_rng(3)
    points = rng.normal(size=(model.n, 3)) * 0.2
    k = np.full((model.n, 3), 1e5)
    law = Law(k, 1e3 * np.ones_like(k), ceiling=np.full(model.n, 50.0), release=Release(10.0, 20.0))
    steep = Law(k, 1e3 * np.ones_like(k), exponent=2.0, rate_exponent=2.0)
    frame = np.tile(np.eye(3), (model.n, 1, 1))
    narrow = np.tile([0.05, 0.02], (model.n, 1))
    swing = SwingTwist(m, frame, narrow, narrow * [-1.0, 1.0], 0.6, 1e5 * narrow**0, 1e3 * narrow**0)
    wide = np.full((reference.steps, model.n), 0.03)
    rest = np.tile(np.array([1.0, 0, 0, 0]), (model.n, 1))
    capsules = Capsules(m, np.stack((points, -points), axis=1), 0.1 * one)
    pairs = capsules.pairs(model)
    thick = replace(capsules, radius=0.4 * one)
    both = np.stack((m, np.maximum(m - 1, 0)), axis=1).reshape(-1)
    skin = Skinned(2 * m, both, np.repeat(points, 2, axis=0), np.tile([0.7, 0.3], model.n))
    floor = Floor(skin, 0.3).of_clip(model, *motions(model, reference), reference)
    return {
        "joint": JointSpring(m, law),
        "joint exponential": JointSpring(m, steep),
        "point": PointSpring.of_clip(model, reference, m, points, law),
        "orientation": OrientationSpring.of_clip(model, reference, m, steep),
        "world": WorldSpring.of_clip(model, reference, m, np.tile(1e5 * np.eye(6), (model.n, 1, 1)), np.eye(6)),
        "cone": Limit(m, np.zeros((model.n, 3)), -wide, wide, 0.5, 1e5 * one, 1e3 * one),
        "swing": swing,
        "swing about rest": SwingTwist.of_rest(reference, swing, rest),
        "end stops": EndStop.of_clip(stops(rest, -0.03 * one, 0.03 * one), reference, (1e5 * one, 1e3 * one)),
        "viscous": Viscous(m, 100.0 * one),
        "floor": Compliant([floor]),
        "flesh": Flesh(thick, pairs, 100.0 * one, 10.0, 1.0).of_clip(kinematics(model, reference.arrivals)),
        "contacts": Contacts(
            [
                Ground(m, points, 0.1 * one, origin=np.array([0.0, 0.0, 0.3])).of_clip(model, reference),
                SelfCollision(capsules, capsules.pairs(model)).of_clip(model, reference),
                HingeFriction(m, 20.0 * one),
            ]
        ),
    }


def tumbling():
    """Seven bodies on a moving clip."""
    rng = np.random.default_rng(5)
    model = tree(rng, 7, free=True, kinds=("spherical",))
    times = np.arange(0.0, 2.2, 1 / 24)
    return model, build(times, *motion(rng, model, times, amplitude=0.4), 0.05, 40, 1 / 120)


@pytest.fixture(scope="module")
def clip():
    return tumbling()


@pytest.mark.parametrize("kind", every_force(*[tree(np.random.default_rng(0), 3, free=True)] + [
    standing(tree(np.random.default_rng(0), 3, free=True), 2, 0.01)]))  # fmt: skip
def test_every_force_is_silent_on_the_clip_and_answers_off_it(clip, kind):
    model, reference = clip
    force = every_force(model, reference)[kind]
    follow = muscle(model, reference, 1.0)
    run = last(simulate(model, reference, [follow, force], GRAVITY))
    assert np.degrees(angle(run.state.rotation, reference.rotation[-1])).max() < 1e-9
    rng = np.random.default_rng(1)
    away = State(
        multiply(reference.rotation[5], exp(rng.normal(size=(model.n, 3)))),
        reference.position[5] - [0.0, 0.0, 0.4],
        reference.arrival(5) + model.expand(rng.normal(size=model.nv)),
    )
    load = load_of(force, moment_of(model, reference, away, 5))
    assert max(np.abs(load.force).max(), np.abs(load.wrench).max()) > 0.1


# ------------------------------------------------------------------------------------------------------------- springs


def test_exponential_spring_equals_the_linear_one_at_its_valley_and_is_looser_inside():
    K = np.array([[200.0, 100.0, 50.0]])
    linear, steep = Law(K, 0 * K), Law(K, 0 * K, exponent=2.0, valley=0.1)
    at, inside = np.full((1, 3), -0.1), np.full((1, 3), 0.05)
    np.testing.assert_allclose(steep(0, 0.0, at, 0 * at)[0], linear(0, 0.0, at, 0 * at)[0])
    np.testing.assert_allclose(steep(0, 0.0, inside, 0 * at)[0], 0.5 * linear(0, 0.0, inside, 0 * at)[0])


@pytest.mark.parametrize("law", [{}, {"exponent": 2.5, "valley": 0.2, "rate_exponent": 1.7, "rate_valley": 0.3}])
def test_impedance_is_the_tangent(law):
    """z h a is by how much less the spring pulls when the step accelerates by a, to first order."""
    K = np.array([[30.0, 200.0, 5.0]])
    spring, h, d, v = Law(K, 0.1 * K, **law), 0.01, np.array([[0.3, -0.2, 0.1]]), np.array([[0.5, 1.0, -2.0]])
    f, z = spring(0, h, d, v)

    def at(a):  # with the acceleration a inside the step: the end is at d + h v + h^2 a, its rate v + h a
        still, _ = spring(0, h, d + h * h * a - h * h * a, v + h * a)
        return still

    a = 1e-4
    np.testing.assert_allclose((at(a) - at(-a)) / (2 * a), -z, rtol=1e-6)
    assert f.shape == z.shape == (1, 3)


def test_release_falls_from_all_to_nothing():
    release = Release(10.0, 20.0, power=2.0)
    np.testing.assert_allclose(release(np.array([0.0, 10.0, 15.0, 20.0, 99.0])), [1.0, 1.0, 0.25, 0.0, 0.0])
    K = np.full((1, 3), 100.0)
    spring = Law(K, 0 * K, release=release)
    pull = [-spring(0, 0.0, np.array([[x, 0, 0]]), np.zeros((1, 3)))[0][0, 0] for x in (0.1, 0.15, 0.2)]
    np.testing.assert_allclose(pull, [10.0, 3.75, 0.0])
    z = [spring(0, 0.1, np.array([[x, 0, 0]]), np.zeros((1, 3)))[1][0, 0] for x in (0.1, 0.15, 0.2)]
    np.testing.assert_allclose(z, [1.0, 0.25, 0.0], atol=1e-12)  # a spring that is gone has no impedance either


def test_ceiling_caps_the_torque_and_its_impedance_alike():
    force, z = capped(np.array([[30.0, 40.0, 0.0], [1.0, 0, 0]]), np.full((2, 3), 8.0), np.array([5.0, 5.0]))
    np.testing.assert_allclose(force, [[3.0, 4.0, 0.0], [1.0, 0, 0]])
    np.testing.assert_allclose(z, [[0.8] * 3, [8.0] * 3])


def test_a_light_body_under_a_low_ceiling_comes_to_rest():
    """Without its part of the impedance a capped spring would throw a light body to and fro for ever."""
    model = one_body(SPHERICAL, mass=1e-4, about=(1e-7, 1e-7, 1e-7))
    reference = standing(model, 240, 1 / 120)
    K = np.full((1, 3), 500.0)
    start = State(exp(np.array([[1.0, 0.0, 0.0]])), np.zeros((1, 3)), np.zeros((1, 6)))
    spring = JointSpring(np.array([0]), Law(K, 0.2 * K, ceiling=np.array([3.0])))
    run = last(simulate(model, reference, [spring], NONE, Run(0, start)))
    assert np.abs(log(run.state.rotation)).max() < 1e-3 and np.abs(run.state.twist).max() < 1e-2
    whole = Muscle(
        np.diag([500.0] * 3 + [0.0] * 3)[None], np.diag([100.0] * 3 + [0.0] * 3)[None], np.ones((240, 1)),
        np.array([3.0]), np.zeros(1), np.zeros((240, 1, 6)),
    )  # fmt: skip
    run = last(simulate(model, reference, [whole], NONE, Run(0, start)))
    assert np.abs(log(run.state.rotation)).max() < 1e-3 and np.abs(run.state.twist).max() < 1e-2


def test_settings_may_change_over_time():
    K = np.stack([np.full((1, 3), 10.0), np.full((1, 3), 30.0)])
    law = Law(K, np.zeros((1, 3)))
    d, v = np.full((1, 3), 0.1), np.zeros((1, 3))
    np.testing.assert_allclose([law(k, 0.0, d, v)[0][0, 0] for k in (0, 1)], [-1.0, -3.0])


def test_wrong_settings_are_refused():
    one = np.ones((1, 3))
    for wrong, text in (
        (lambda: Law(one, one, exponent=0.5), "exponents"),
        (lambda: Law(np.nan * one, one), "stiffness"),
        (lambda: Law(one, -one), "damping"),
        (lambda: Release(20.0, 10.0), "low < high"),
        (lambda: Pulse(0, NONE, NONE, 0.0, 0.0), "duration"),
        (lambda: Striker(0, NONE, 0.0, NONE), "mass"),
        (lambda: Striker(0, NONE, 1.0, NONE, normal=NONE), "normal"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()


def test_spring_frequency_is_the_one_that_was_set():
    model = one_body(SPHERICAL, about=(0.02, 0.02, 0.02))
    h, f = 1 / 2000, 2.0
    reference = standing(model, 2000, h)
    K = np.full((1, 3), (2 * np.pi * f) ** 2 * 0.02)
    start = State(exp(np.array([[0.2, 0.0, 0.0]])), np.zeros((1, 3)), np.zeros((1, 6)))
    runs = simulate(model, reference, [JointSpring(np.array([0]), Law(K, 0 * K))], NONE, Run(0, start))
    x = np.array([log(r.state.rotation)[0, 0] for r in runs])
    crossings = np.flatnonzero(np.diff(np.sign(x)))
    assert np.diff(crossings).mean() * h == pytest.approx(0.25, rel=0.01)


@pytest.mark.parametrize("kind", ["joint", "point", "orientation"])
def test_a_spring_that_is_known_swings_as_it_must(kind):
    """2 Hz at a damping ratio of 0.2 for half a second in steps of 1/60 s: of second order.  Unknown, it is damped by
    the step besides."""
    f, ratio, h, steps = 2.0, 0.2, 1 / 60, 30
    omega, mass, start = 2.0 * np.pi * f, 0.02 if kind != "point" else 2.0, 0.2
    joint = SPHERICAL if kind == "joint" else FREE
    model = one_body(joint, about=(0.02, 0.02, 0.02))
    reference, K = standing(model, steps, h), np.full((1, 3), omega**2 * mass)
    at, none = np.array([0]), np.zeros((1, 3))

    def swung(swift):
        law = Law(K, 2.0 * ratio / omega * K, swift=swift)
        force = {
            "joint": lambda: JointSpring(at, law),
            "point": lambda: PointSpring.of_clip(model, reference, at, none, law),
            "orientation": lambda: OrientationSpring.of_clip(model, reference, at, law),
        }[kind]()
        q, p = (exp(none)[:], np.array([[start, 0, 0]])) if kind == "point" else (exp(np.array([[start, 0, 0]])), none)
        twist = np.zeros((1, 6))
        twist[0, 3 if kind == "point" else 0] = 0.5 * h * omega**2 * start  # of half a step before
        runs = simulate(model, reference, [force], NONE, Run(0, State(q, p, twist)))
        return np.array([r.state.position[0, 0] if kind == "point" else log(r.state.rotation)[0, 0] for r in runs])

    t, damped = h * np.arange(1, steps + 1), omega * np.sqrt(1.0 - ratio**2)
    phase = np.cos(damped * t) + ratio / np.sqrt(1.0 - ratio**2) * np.sin(damped * t)
    exact = start * np.exp(-ratio * omega * t) * phase
    known = Swift(np.array([2.0 * ratio * omega]), np.array([omega]))
    off = [np.abs(swung(swift) - exact).max() / start for swift in (known, None)]
    assert off[0] < 0.012 and off[1] > 6.0 * off[0]


@pytest.mark.parametrize("kind", ["spring", "muscle"])
def test_unequal_springs_never_gain_energy_at_large_angles(kind):
    """The plain torque -K e of unequal stiffnesses gains 42 % in this very swing; the energy's own gradient nothing."""
    model = one_body(SPHERICAL, about=(0.05, 0.05, 0.05))
    K, first = np.array([[400.0, 40.0, 4.0]]), np.array([0.8, 1.0, -1.2])
    reference = standing(model, 2000, 1 / 8000)
    start = State(exp(first[None]), np.zeros((1, 3)), np.zeros((1, 6)))
    force = JointSpring(np.array([0]), Law(K, 0 * K))
    if kind == "muscle":
        none, full = np.zeros((2000, 1, 6)), np.zeros((1, 6, 6))
        full[0, :3, :3] = np.diag(K[0])
        force = Muscle(full, 0 * full, np.ones((2000, 1)), np.array([np.inf]), np.zeros(1), none)
    energy = []
    for run in simulate(model, reference, [force], NONE, Run(0, start)):
        e = log(run.state.rotation)
        kinetic = balance(model, kinematics(model, run.state), NONE).kinetic
        energy.append(float(0.5 * np.sum(K * e * e) + kinetic))
    all_ = 0.5 * np.sum(K * first**2)
    assert max(energy) < 1.01 * all_
    assert energy[-1] > 0.7 * all_  # and hardly loses any: the bound above is not for want of motion


def test_rate_of_the_rotation_vector(rng):
    for size in (1e-7, 0.3, 2.5):
        e, w = rng.normal(size=3), rng.normal(size=3)
        e *= size / np.linalg.norm(e)
        change = [log(multiply(exp(e), exp(s * 1e-6 * w))) for s in (1.0, -1.0)]
        np.testing.assert_allclose(log_rate(e) @ w, (change[0] - change[1]) / 2e-6, atol=1e-6)


def test_a_hanging_mass_droops_by_its_weight_over_the_stiffness():
    model = one_body(mass=3.0)
    reference = standing(model, 600, 1 / 120)
    K = np.full((1, 3), 200.0)
    spring = PointSpring.of_clip(model, reference, np.array([0]), np.zeros((1, 3)), Law(K, 0.2 * K))
    run = last(simulate(model, reference, [spring], GRAVITY))
    assert run.state.position[0, 2] == pytest.approx(-3.0 * 9.81 / 200.0, rel=1e-4)


def test_a_rest_pose_pulls_off_the_clip():
    model = one_body(SPHERICAL)
    reference = standing(model, 600, 1 / 120)
    K = np.full((1, 3), 5.0)
    rest = exp(np.array([[0.0, 0.7, 0.0]]))
    run = last(simulate(model, reference, [JointSpring(np.array([0]), Law(K, 0.2 * K), rest)], NONE))
    np.testing.assert_allclose(log(run.state.rotation), [[0.0, 0.7, 0.0]], atol=1e-3)


def test_orientation_spring_keeps_a_child_upright_while_its_parent_turns(rng):
    about = np.tile(0.02 * np.eye(3), (2, 1, 1))
    body = inertia(np.full(2, 2.0), np.zeros((2, 3)), about)
    model = Model(("a", "b"), np.array([-1, 0]), (revolute([0, 1, 0]), SPHERICAL), body)
    reference = standing(model, 600, 1 / 120, np.array([[0.0, 0, 0], [0, 0, 0.3]]))
    start = State(reference.rotation[0], reference.position[0], np.array([[0.0, 0.5, 0, 0, 0, 0], [0.0] * 6]))
    K = np.full((1, 3), 50.0)
    spring = OrientationSpring.of_clip(model, reference, np.array([1]), Law(K, 0.1 * K))
    run = last(simulate(model, reference, [spring], NONE, Run(0, start)))
    assert angle(run.state.rotation[0], reference.rotation[0, 0]) > 0.5
    assert angle(multiply(*run.state.rotation), np.array([1.0, 0, 0, 0])) < 0.05


# -------------------------------------------------------------------------------------------------------------- limits


def test_torque_function_is_smooth_with_its_slope():
    x = np.linspace(-0.5, 0.5, 2001)
    torque, slope, _ = torque_function(x, np.full_like(x, 0.05), np.full_like(x, 100.0))
    np.testing.assert_allclose(np.gradient(torque, x)[1:-1], -slope[1:-1], atol=1.0)
    assert torque[np.argmin(np.abs(x - 0.05))] == pytest.approx(-0.5 * 100.0 * 0.05, rel=1e-6)
    assert np.all(torque * x <= 0.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("y,z,twist", [(0.4, -0.7, 1.1), (-2.5, 0.3, -2.9)])
def test_swing_and_twist_are_what_they_are_called(y, z, twist, sign):
    got, angle = swung(sign * multiply(exp(np.array([0.0, y, z])), exp(np.array([twist, 0.0, 0.0]))))
    np.testing.assert_allclose([*got, angle], [y, z, twist], atol=1e-12)


def swung(d):
    halves, size, twist = swing_twist(d)
    way = halves.prod(axis=-1)[..., None].view(float)
    return size[..., None] * way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-300), twist


def test_gradients_of_swing_and_twist(rng):
    axis = rng.normal(size=3)
    frame = np.linalg.qr(np.stack((axis, rng.normal(size=3), rng.normal(size=3))).T)[0].T[None]
    ranges, one = (np.array([[0.3, 0.8]]), np.array([[-0.5, 0.7]])), np.ones((1, 2))
    limit = SwingTwist(np.array([0]), frame, *ranges, 0.6, one, one)
    d, w = exp(rng.normal(size=(1, 3))), rng.normal(size=(1, 3))
    _, gradient = limit._measures(*limit._angles(d))
    change = [limit._measures(*limit._angles(multiply(d, exp(s * 1e-6 * w))))[0] for s in (1.0, -1.0)]
    want = (change[0] - change[1]) / 2e-6
    np.testing.assert_allclose(np.einsum("mai,mi->ma", gradient, w), want, atol=1e-5)


@pytest.mark.parametrize("push", [(3.0, 0, 0), (0, 3.0, 0), (0, 0, 3.0), (-2.0, 1.0, 2.0)])
def test_swing_twist_keeps_a_joint_in_its_range(push):
    """A steady torque against ranges of 30 (about x, twist), 20 and 50 degrees (swing about y and z)."""
    model = one_body(SPHERICAL, about=(0.05, 0.05, 0.05))
    reference = standing(model, 600, 1 / 120)
    ranges = np.radians([[20.0, 50.0]]), np.radians([[-30.0, 30.0]])
    K, D = np.full((1, 2), (2 * np.pi * 9.0) ** 2 * 0.05), np.full((1, 2), 2 * 0.7 * 2 * np.pi * 9.0 * 0.05)
    limit = SwingTwist(np.array([0]), np.eye(3)[None], *ranges, 0.6, K, D)
    torque = Wrench(np.array([0]), np.zeros((1, 3)), np.array([[*push, 0, 0, 0]]), local=True)
    runs = list(simulate(model, reference, [limit, torque, Viscous(np.array([0]), np.ones(1))], NONE))
    swing, twist = swung(runs[-1].state.rotation)
    reach = np.linalg.norm(swing[0] / np.radians([20.0, 50.0]))
    assert max(reach, abs(twist[0]) / np.radians(30.0)) > 0.6  # it leans on its range
    assert reach < 1.15 and abs(twist[0]) < 1.15 * np.radians(30.0)
    assert np.abs(runs[-1].state.twist).max() < 0.05


def turned(torque, speed, steps, h, load=0.0):
    """(rad/s) of a ball of 0.02 kg m^2 at every step under dry friction, from a speed on and under a load [N m]."""
    model, at = one_body(SPHERICAL, about=(0.02, 0.02, 0.02)), np.array([0])
    start = State(np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.array([[speed, 0, 0, 0, 0, 0]]))
    pulled = Wrench(at, np.zeros((1, 3)), np.array([[load, 0, 0, 0, 0, 0]]))
    dry = DryFriction(at, np.full((steps, 1), torque), 0.01)
    runs = simulate(model, standing(model, steps, h), [dry, pulled], NONE, Run(0, start))
    return np.array([run.state.twist[0, 0] for run in runs])


@pytest.mark.parametrize("h", [1 / 1000, 1 / 120])
def test_dry_friction_brakes_evenly_and_stops(h):
    """0.1 N m take 5 rad/s from 0.02 kg m^2 every second; then nothing turns back."""
    w = turned(0.1, 2.0, round(1.0 / h), h)
    at = round(0.2 / h)
    assert w[at - 1] == pytest.approx(1.0, abs=0.01 + 3.0 * h)
    assert w.min() >= 0.0 and w[-1] < 1e-4


def test_dry_friction_holds_what_is_less_and_gives_way_to_more():
    """Half its strength creeps at 0.01 / sqrt(3) rad/s; twice that accelerates by what is left, some steps late."""
    assert turned(0.1, 0.0, 120, 1 / 120, load=0.05)[-1] == pytest.approx(0.01 / np.sqrt(3.0), rel=1e-3)
    assert turned(0.1, 0.0, 200, 1 / 1000, load=0.2)[-1] == pytest.approx(0.1 / 0.02 * 0.2, rel=0.05)


@pytest.mark.parametrize("order", [np.copy, arranged], ids=["rows", "lanes"])
def test_forces_work_on_batches(clip, order):
    """Three systems at once give what each gives alone, in whatever order they lie in memory."""
    model, reference = clip
    rng = np.random.default_rng(9)
    far, fast = rng.normal(size=(3, model.n, 3)), model.expand(rng.normal(size=(3, model.nv)))
    p = np.broadcast_to(reference.position[5], (3, model.n, 3))
    air = Air(np.array([2, 2]), rng.normal(size=(2, 3)), np.ones(2), np.ones(3))
    ball = Striker(3, np.ones(3), 0.5, np.ones(3), time=float(reference.times[5]))
    spike = Wrench(np.array([1, 1, 4]), rng.normal(size=(3, 3)), rng.normal(size=(3, 6)), local=True)
    field = Field(lambda x, t: x)
    for force in (*every_force(model, reference).values(), air, ball, spike, field):
        q = multiply(reference.rotation[5], exp(0.5 * far))
        twist = reference.arrival(5) + fast
        batch = State(*(order(x) for x in (q, p, twist)))
        together = load_of(force, moment_of(model, reference, batch, 5), GRAVITY)
        for i in range(3):
            alone = load_of(force, moment_of(model, reference, State(q[i], p[i], twist[i]), 5), GRAVITY)
            for name in ("force", "wrench", "Z", "body_Z"):
                one, all_ = getattr(alone, name), getattr(together, name)
                if one is None:
                    assert all_ is None
                    continue
                size = max(np.abs(one).max(), 1.0)
                np.testing.assert_allclose(all_[i], one, rtol=1e-9, atol=1e-9 * size, err_msg=f"{type(force)} {name}")
