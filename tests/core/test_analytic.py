"""One joint under each law against its own equation of motion, and a ball against what mechanics books say of it."""

import numpy as np
import pytest

from core.dynamics import kinematics
from core.forces import Contacts, Ground, JointSpring, Law, Limit, Release, Swift
from core.model import FREE, State, planar, revolute
from core.rotation import exp, log
from core.simulate import Run, simulate

from .chains import orders
from .test_forces import GRAVITY, NONE, one_body, standing
from .test_simulate import last

BAR = one_body(revolute([0, 1, 0]), mass=2.0, about=(0.05, 0.05, 0.05))
INERTIA = 0.05
K, D = 4.0, 0.05
KNOWN = Swift(np.array([D / INERTIA]), np.array([np.sqrt(K / INERTIA)]))
ALONE, ONE = np.array([0]), np.ones((1, 3))


def law(**settings):
    return lambda steps: JointSpring(ALONE, Law(K * ONE, D * ONE, **settings))


def limit(steps):
    ends = np.full((steps, 1), 0.3)
    swift = Swift(np.array([0.2 / INERTIA]), np.array([np.sqrt(6.0 / INERTIA)]))
    return Limit(ALONE, np.array([[0, 1.0, 0]]), -ends, ends, 0.5, np.array([6.0]), np.array([0.2]), swift)


def power(x, rate, exponent=1.0, valley=0.1):
    return -K * valley * (abs(x) / valley) ** exponent * np.sign(x) - D * rate


def released(x, rate):
    left = min(max((2.5 - K * abs(x)) / 1.5, 0.0), 1.0) ** 2
    return -K * x * left - D * rate


def stopped(x, rate):
    """Free for 0.15 rad, then rising with the square of the way, with 6 N m/rad at 0.3, straight on from 0.75."""
    past = max(abs(x) - 0.15, 0.0)
    part = past / 0.15
    torque = 6.0 * past * part / 2.0 if part < 4.0 else 6.0 * 4.0 * (past - 0.3)
    return -torque * np.sign(x) - 0.2 * min(part, 1.0) * rate


LAWS = {  # force, its torque, the order of the default integrator, how far off it may be at 1/480 s
    "linear": (law(swift=KNOWN), power, 2, 1e-4),
    "square": (law(swift=KNOWN, exponent=2.0), lambda x, v: power(x, v, 2.0), 2, 2e-3),
    "cube": (law(swift=KNOWN, exponent=3.0, valley=0.3), lambda x, v: power(x, v, 3.0, 0.3), 2, 1e-3),
    "drag": (law(swift=KNOWN, rate_exponent=2.0), lambda x, v: -K * x - D * abs(v) * v, 2, 1e-4),
    "limit": (limit, stopped, 2, 1e-4),
    "release": (law(swift=KNOWN, release=Release(1.0, 2.5)), released, 2, 1e-4),
    "ceiling": (law(swift=KNOWN, ceiling=np.ones(1)), lambda x, v: min(max(-K * x - D * v, -1.0), 1.0), 1, 2e-3),
    "not known": (law(), power, 1, 0.05),
}


def swung(torque, x, v, seconds=1.0, steps=2000):
    """The angle [rad] after a time by the equation of motion, by a Runge-Kutta method of order 4 written out here."""
    h = seconds / steps

    def rates(x, v):
        return v, torque(x, v) / INERTIA

    for _ in range(steps):
        a = rates(x, v)
        b = rates(x + 0.5 * h * a[0], v + 0.5 * h * a[1])
        c = rates(x + 0.5 * h * b[0], v + 0.5 * h * b[1])
        d = rates(x + h * c[0], v + h * c[1])
        x += h / 6.0 * (a[0] + 2.0 * b[0] + 2.0 * c[0] + d[0])
        v += h / 6.0 * (a[1] + 2.0 * b[1] + 2.0 * c[1] + d[1])
    return x


@pytest.mark.parametrize(("force", "torque", "order", "least"), LAWS.values(), ids=LAWS)
def test_a_bar_swings_by_each_law_as_its_equation_of_motion_says(force, torque, order, least):
    """From 0.5 rad and 1 rad/s, over more than a swing."""
    want, errors = swung(torque, 0.5, 1.0), []
    for steps in (240, 480):
        before = 1.0 - 0.5 / steps * torque(0.5, 1.0) / INERTIA  # twists belong to the middle of steps
        start = State(exp(np.array([[0.0, 0.5, 0.0]])), np.zeros((1, 3)), np.array([[0, before, 0, 0, 0, 0]]))
        run = last(simulate(BAR, standing(BAR, steps, 1.0 / steps), [force(steps)], NONE, Run(0, start)))
        errors.append(abs(log(run.state.rotation)[0, 1] - want))
    print(f"{want:.4f}", *(f"{e:.1e}" for e in errors), orders(errors))
    assert errors[-1] < least
    assert orders(errors)[-1] > order - 0.3


def test_a_ball_that_rolls_goes_on_rolling():
    """In long steps, a quarter of a radian each, as fast as it must and not faster (it had gained 7 % a second)."""
    h, radius = 1 / 60, 0.1
    ball = one_body(FREE, mass=2.0, about=(0.4 * 2.0 * radius**2,) * 3)
    floor = Ground(ALONE, np.zeros((1, 3)), np.array([radius]), static=0.3, kinetic=0.3)
    at = State(exp(np.zeros((1, 3))), np.array([[0, 0, radius]]), np.array([[0, 14.0, 0, 1.4, 0, 0]]))
    runs = simulate(ball, standing(ball, 240, h), [Contacts([floor])], GRAVITY, Run(0, at))
    speed = np.diff([run.state.position[0, 0] for run in runs]) / h
    np.testing.assert_allclose(speed[10:], 1.4, rtol=0.015)
    np.testing.assert_allclose(speed[10:], speed[-1], rtol=2e-3)


@pytest.mark.parametrize("friction", [0.3, 0.7])
def test_a_ball_that_slides_comes_to_roll(friction):
    """It is slowed by mu g, spun up by 5/2 mu g / r, and rolls from 2 v / 7 mu g on at five sevenths of its speed."""
    h, speed, radius = 1 / 480, 2.0, 0.1
    ball = one_body(FREE, mass=2.0, about=(0.4 * 2.0 * radius**2,) * 3)
    floor = Ground(ALONE, np.zeros((1, 3)), np.array([radius]), static=friction, kinetic=friction)
    at = State(exp(np.zeros((1, 3))), np.array([[0, 0, radius - 2.0 * 9.81 / 1e5]]), np.array([[0, 0, 0, speed, 0, 0]]))
    runs = simulate(ball, standing(ball, 240, h), [Contacts([floor])], GRAVITY, Run(0, at))
    V = np.array([kinematics(ball, run.state).V[0] for run in runs])
    rolls = 2.0 * speed / (7.0 * friction * 9.81)
    k = round(0.6 * rolls / h)
    np.testing.assert_allclose((speed - V[k, 3]) / ((k + 1) * h), friction * 9.81, rtol=5e-3)
    np.testing.assert_allclose(V[k, 1] / ((k + 1) * h), 2.5 * friction * 9.81 / radius, rtol=5e-3)
    slips = np.flatnonzero(V[:, 3] - radius * V[:, 1] > 1e-3)[-1]
    assert slips * h == pytest.approx(rolls, abs=2 * h)
    np.testing.assert_allclose(V[-1, [3, 1]], [5 / 7 * speed, 5 / 7 * speed / radius], rtol=1e-3)


@pytest.mark.parametrize("h", [1 / 60, 1 / 120])
@pytest.mark.parametrize("spin", [6.0, 30.0])
@pytest.mark.parametrize("batch", [(), (3,)], ids=["one", "batch"])
@pytest.mark.parametrize("joint", [FREE, planar([0, 1, 0])], ids=["free", "planar"])
def test_a_body_that_spins_in_free_flight_goes_on_as_fast(h, spin, batch, joint):
    """Two seconds of up to half a radian a step: it had gained 27 times its speed.  In a plane alike."""
    body = one_body(joint, mass=2.0, about=(0.01, 0.02, 0.01))
    start = State(exp(np.zeros((1, 3))), np.zeros((1, 3)), np.array([[0, spin, 0, 1.0, 0.0, 0.5]]))
    start = State(*(np.broadcast_to(x, batch + x.shape) for x in vars(start).values()))
    runs = list(simulate(body, standing(body, round(2.0 / h), h), [], NONE, Run(0, start)))
    speed = np.linalg.norm(np.diff([run.state.position[..., 0, :] for run in runs], axis=0) / h, axis=-1)
    np.testing.assert_allclose(speed, np.broadcast_to(speed[0], speed.shape), rtol=1e-5 if spin * h > 0.06 else 1e-3)
    assert speed[0] == pytest.approx(np.sqrt(1.25), rel=0.3 * (spin * h) ** 2)


def test_bodies_of_a_batch_spin_each_for_itself():
    """One that hardly turns is not told by its neighbour, which does."""
    body = one_body(FREE, mass=2.0, about=(0.01, 0.02, 0.01))
    twist = np.array([[[0, spin, 0, 1.0, 0.5, 0]] for spin in (2.0, 30.0)])
    start = State(exp(np.zeros((2, 1, 3))), np.zeros((2, 1, 3)), twist)
    both = last(simulate(body, standing(body, 60, 1 / 60), [], NONE, Run(0, start))).state
    for i in range(2):
        own = Run(0, State(*(x[i] for x in (start.rotation, start.position, start.twist))))
        alone = last(simulate(body, standing(body, 60, 1 / 60), [], NONE, own)).state
        np.testing.assert_allclose(both.position[i], alone.position, atol=1e-12)
