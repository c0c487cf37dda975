"""Integrators: order of convergence, step control, manifold, prescribed joints; the default step beside them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core.dynamics import balance, forward_tree, kinematics
from core.errors import SimulationError
from core.forces import Guide, Limit, Muscle, Pulse, Swift, WorldSpring
from core.integrators import FEHLBERG, FOURTH, METHODS, adaptive, dexp_inverse, integrate, of_model
from core.model import FIXED, FREE, SPHERICAL, Model, State, prismatic, revolute
from core.rotation import angle, conjugate, exp, from_matrix, log, multiply
from core.simulate import Run, simulate
from core.spatial import inertia

from .chains import GRAVITY, chain, distance, last, orders, run, springs, still, tumbling
from .test_forces import one_body, standing

DURATION = 0.3
ORDERS = {"euler": 1, "semi-implicit euler": 1, "midpoint": 2, "rk4": 4, "fehlberg": 5}
STEPS = {"euler": 640, "semi-implicit euler": 640, "midpoint": 80, "rk4": 20, "fehlberg": 20}


@pytest.fixture
def falling(rng):
    """A tumbling chain under gravity: acceleration, start, and where it is after DURATION."""
    model = chain(rng)
    law, start = of_model(model, GRAVITY), tumbling(rng, model)
    return law, start, run("fehlberg", start, DURATION, 600, law)


@pytest.mark.parametrize("method", METHODS)
def test_order_on_a_tumbling_chain(falling, method):
    law, start, end = falling
    errors = [distance(run(method, start, DURATION, STEPS[method] * k, law), end) for k in (1, 2, 4)]
    got = orders(errors)
    print(f"{method}: orders {got.round(2)}, errors {errors[0]:.1e} .. {errors[-1]:.1e}")
    assert got[-1] == pytest.approx(ORDERS[method], abs=0.25)


def test_order_needs_the_correction_of_the_rotation_vector(monkeypatch):
    """One free body in full turns: RK4 is of order 4, and of order 2 where theta' = w is taken for dexp^-1(theta) w."""
    body = inertia(np.array([1.0]), np.zeros((1, 3)), np.diag([0.01, 0.02, 0.025])[None])
    model = Model(("box",), np.array([-1]), (FREE,), body)
    start = State(np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.array([[1.0, 12.0, 2.0, 1.0, 0.0, 0.0]]))
    law = of_model(model, GRAVITY)
    end = run("fehlberg", start, 1.0, 800, law)

    def measured():
        return orders([distance(run("rk4", start, 1.0, k, law), end) for k in (100, 200, 400)])

    assert measured() == pytest.approx([4.0, 4.0], abs=0.25)
    monkeypatch.setattr("core.integrators.dexp_inverse", lambda theta, w: w)
    assert measured() == pytest.approx([2.0, 2.0], abs=0.25)


@pytest.mark.parametrize("lengths", [(1.0,), (1.0, 2.0, 0.5)], ids=["even", "uneven"])
@pytest.mark.parametrize("stiff", [False, True], ids=["gravity", "springs"])
@pytest.mark.parametrize("root", [SPHERICAL, FREE], ids=["hung", "free"])
def test_order_of_the_default_step(rng, root, stiff, lengths):
    """`simulate` is of order 2 where its twists start half a step before the pose, with and without springs, and where
    the length of its steps changes on the way.

    Errors against Fehlberg in fine steps.
    """
    model = chain(rng, root=root)
    start, n = tumbling(rng, model), model.n
    K = np.tile(np.diag([8.0, 8.0, 8.0, 0, 0, 0]), (n, 1, 1)) * stiff
    D = 0.05 * K
    end = run("fehlberg", start, DURATION, 600, of_model(model, GRAVITY, springs(start.rotation, K, D)))

    def default(steps):
        h, rate = np.repeat(lengths, steps // len(lengths)), np.zeros(n)
        times = np.concatenate(([0.0], np.cumsum(h * DURATION / h.sum())))
        clip = replace(still(start, 1.0, len(h)), times=times)
        muscle = Muscle(
            K, D, np.ones((len(h), 1)), np.full(n, np.inf), np.zeros(n), np.zeros((len(h), n, 6)), rate, rate
        )
        before = of_model(model, GRAVITY, springs(start.rotation, K, D))(start, 0.0)
        early = State(start.rotation, start.position, start.twist - 0.5 * clip.lengths[0] * before)
        run = last(simulate(model, clip, [muscle], GRAVITY, start=Run(0, early, acceleration=before)))
        return replace(run.state, twist=run.state.twist + 0.5 * clip.lengths[-1] * run.acceleration)

    errors = [distance(default(k), end) for k in (165, 330, 660)]
    print(f"default step: orders {orders(errors).round(2)}, errors {errors[0]:.1e} .. {errors[-1]:.1e}")
    assert orders(errors)[-1] == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("axis", [np.zeros(3), np.array([0.0, 1.0, 0.0])], ids=["cone", "hinge"])
def test_a_limit_that_says_how_swift_it_is_loses_little(axis):
    """A body runs into its range and comes back: a hundredth is lost of what else is of order 1, less with finer steps.

    No smooth order 2, as its damping sets in on the way.  Where the body is told to be but part of what the range is
    made for, and its damper is taken later, it is of order 2 all the same.
    """
    omega, ratio, about = 2.0 * np.pi * 8.0, 0.4, np.full(3, 0.05)
    model, known = one_body(SPHERICAL, about=about), Swift(np.full(1, 2.0 * ratio * omega), np.full(1, omega))
    start = State(np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.array([[0.0, 6.0, 0, 0, 0, 0]]))

    def ending(steps, swift):
        reference = standing(model, steps, 0.2 / steps)
        wide, spring = np.full((steps, 1), 0.4), (omega**2 * about[:1], 2.0 * ratio * omega * about[:1])
        limit = Limit(np.array([0]), axis[None], -wide, wide, 0.5, *spring, swift)
        return last(simulate(model, reference, [limit], np.zeros(3), Run(0, start))).state.rotation

    exact = ending(1536, known)
    errors = np.array([[angle(ending(steps, s), exact).max() for steps in (24, 48, 96)] for s in (known, None)])
    print(f"limit: errors {errors[0]}, else {errors[1]}")
    assert orders(errors[1]) == pytest.approx(1.0, abs=0.2)
    assert (errors[0] < 0.01 * errors[1]).all() and (np.diff(errors[0]) < 0.0).all()
    later = [angle(ending(steps, replace(known, ease=1e9)), exact).max() for steps in (24, 48, 96)]
    assert orders(later) == pytest.approx(2.0, abs=0.4)


@pytest.mark.parametrize("firm", [0.1, 1.0])
def test_a_light_foot_that_stands_is_of_order_two(rng, firm):
    """The end of a chain is held in the world as feet are, by a spring and damper for the mass of all: errors against
    Fehlberg in fine steps."""
    model = chain(rng)
    start, foot, omega = tumbling(rng, model, 1.0), model.n - 1, 2.0 * np.pi * 2.0
    mass = firm * float(model.inertia[:, 5, 5].sum()) * np.diag([0.01] * 3 + [1.0] * 3)
    K, D = omega**2 * mass, 2.0 * omega * mass
    there = kinematics(model, start)
    place, R = there.position()[foot], there.R[foot]

    def held(load, _state, kin, _t):
        at = kin.position()[foot]
        turn, way = log(from_matrix(kin.R[foot] @ R.T)), at - place
        slide = kin.V[foot, 3:] + np.cross(kin.V[foot, :3], at - kin.origin)
        force = -K @ np.concatenate((turn, way)) - D @ np.concatenate((kin.V[foot, :3], slide))
        wrench = kin.wrench(at, force[3:])
        wrench[:3] += force[:3]
        load.add_body(np.array([foot]), wrench[None])

    law = of_model(model, GRAVITY, held)
    before, end = law(start, 0.0), run("fehlberg", start, DURATION, 600, law)

    def default(steps):
        clip = still(start, DURATION / steps, steps)
        spring = WorldSpring.of_clip(model, clip, np.array([foot]), K[None], D[None])
        early = State(start.rotation, start.position, start.twist - 0.5 * clip.lengths[0] * before)
        return last(simulate(model, clip, [spring], GRAVITY, start=Run(0, early, acceleration=before))).state.rotation

    errors = [angle(default(k), end.rotation).max() for k in (60, 120, 240)]
    print(f"foot: orders {orders(errors).round(2)}, errors {errors[0]:.1e} .. {errors[-1]:.1e}")
    assert orders(errors) == pytest.approx(2.0, abs=0.4)


@pytest.mark.parametrize(("rate", "most"), [(20.0, 0.04), (750.0, 0.15)])
def test_what_leads_the_weight_brakes_a_blow_as_it_lands(rate, most):
    """A body that a guide of 6 Hz brakes, at ratios of 0.27 and 10, and a blow of 40 ms pushes, against its equation
    m x" = F - m (rate x' + pace^2 x), solved by midpoints in a thousandth of the step.  Of
    second order; a guide that learns of the blow by the velocity of half a step before lets the body go six times as
    far as it should at the higher rate, 1/120 s, and is of first."""
    model, pace, seconds = one_body(), 12.0 * np.pi, 0.25
    blow = Pulse(0, np.zeros(3), np.array([6.0, 0.0, 0.0]), 0.0, 0.04)
    rest = State(np.array([[1.0, 0.0, 0.0, 0.0]]), np.zeros((1, 3)), np.zeros((1, 6)))

    def go(steps, knows):
        h = seconds / steps
        clip = still(rest, h, steps)
        none = np.zeros((steps, 3))
        faster = blow.force(clip) / 2.0 if knows else none
        guide = Guide(0, (none, none), np.tile([rate, pace], (steps, 1)), (none, none), none, faster)
        return np.array([one.state.position[0, 0] for one in simulate(model, clip, [guide, blow], np.zeros(3))])

    def law(x, t):
        force = 6.0 / 0.04 * 2.0 * np.sin(np.pi * t / 0.04) ** 2 if t < 0.04 else 0.0
        return np.array([x[1], force / 2.0 - rate * x[1] - pace**2 * x[0]])

    exact, x, h = [], np.zeros(2), seconds / 30000
    for k in range(30000):
        slope = law(x, k * h)
        x = x + h * law(x + 0.5 * h * slope, (k + 0.5) * h)
        if (k + 1) % 1000 == 0:
            exact.append(x[0])
    exact = np.array(exact)
    off = [np.abs(go(30 * n, knows)[n - 1 :: n] - exact).max() / exact.max() for knows in (True, False) for n in (1, 2)]
    print(f"guide {rate}: {np.round(off, 4)}")
    assert off[0] < most and off[1] < 0.4 * off[0] and off[2] > 3.0 * off[0] and off[3] > 0.4 * off[2]


def test_adaptive_error_follows_the_tolerance(falling):
    law, start, end = falling
    found = []
    for tolerance in (1e-5, 1e-7, 1e-9):
        progress = last(adaptive(start, 0.0, DURATION, law, tolerance))
        found.append((distance(progress.state, end), progress.taken, progress.rejected))
        assert progress.t == DURATION
        assert progress.error <= 1.0
        assert distance(progress.state, end) < 20.0 * tolerance
    print("adaptive:", [f"{e:.1e} in {t} steps, {r} rejected" for e, t, r in found])
    errors, taken = [e for e, _, _ in found], [t for _, t, _ in found]
    assert errors[0] / errors[-1] > 1e3  # four decades of tolerance
    assert all(1.5 < b / a < 4.0 for a, b in pairwise(taken))  # 100^(1/5) = 2.5 times as many steps a time


def test_adaptive_shortens_where_it_is_hard_and_counts(rng):
    """A spring that switches on at 0.2 s: steps are rejected and shortest there."""
    model = chain(rng, 2)
    start = tumbling(rng, model, 0.5)
    K = np.tile(np.diag([2000.0, 2000.0, 2000.0, 0, 0, 0]), (2, 1, 1))
    pull = springs(start.rotation, K, 0.01 * K)
    law = of_model(model, GRAVITY, lambda load, state, kin, t: pull(load, state, kin, t) if t > 0.2 else None)
    way = list(adaptive(start, 0.0, 0.25, law, 1e-6))
    calm = list(adaptive(start, 0.0, 0.25, of_model(model, GRAVITY), 1e-6))
    times = np.array([0.0, *(p.t for p in way)])
    assert way[-1].rejected > calm[-1].rejected
    assert [p.taken for p in way] == list(range(1, len(way) + 1))
    shortest = int(np.argmin(np.diff(times)[:-1]))  # the last one only fills up
    assert 0.17 < times[shortest] < 0.21
    assert len(way) > 1.5 * len(calm)


def test_adaptive_never_takes_more_than_its_bound(falling):
    law, start, _ = falling
    calls = []

    def counted(state, t):
        calls.append(t)
        return law(state, t)

    with pytest.raises(SimulationError, match="after 7 steps. Loosen the tolerance"):
        last(adaptive(start, 0.0, DURATION, counted, 1e-12, most=7))
    assert len(calls) == 7 * len(FEHLBERG.b)


def test_adaptive_gives_up_where_there_is_no_answer(falling):
    _, start, _ = falling
    with pytest.raises(SimulationError, match="stood at 0 s after 50 steps"):
        last(adaptive(start, 0.0, 1.0, lambda s, t: np.full(s.twist.shape, np.nan), most=50))


def test_explicit_steps_name_the_cure_when_they_break(rng):
    """Euler far beyond its limit on a stiff spring."""
    model = chain(rng, 2)
    start = tumbling(rng, model)
    K = np.tile(np.diag([1e5, 1e5, 1e5, 0, 0, 0]), (2, 1, 1))
    law = of_model(model, GRAVITY, springs(start.rotation, K, 0.1 * K))
    with np.errstate(all="ignore"), pytest.raises(SimulationError, match="Shorten the step"):
        last(integrate(METHODS["euler"], start, np.linspace(0, 20, 1001), law))


def test_the_adaptive_one_gives_up_at_once_where_no_step_helps(rng):
    """On what is no number, and on a law that isn't: not after a hundred thousand steps."""
    model = chain(rng)
    start, calls = tumbling(rng, model), []

    def broken(state, t):
        calls.append(t)
        return np.full(state.twist.shape, np.nan)

    with pytest.raises(SimulationError, match="stood at 0.2 s"):
        last(adaptive(start, 0.2, 1.0, broken))
    assert len(calls) < 500
    lost = State(start.rotation, start.position, np.full(start.twist.shape, np.nan))
    with pytest.raises(SimulationError, match="broke down at 0.2 s"):
        last(adaptive(lost, 0.2, 1.0, of_model(model, GRAVITY)))
    with pytest.raises(ValueError, match="tolerance"):
        last(adaptive(start, 0.0, 1.0, of_model(model, GRAVITY), tolerance=0.0))


def test_embedded_weights_are_of_order_four():
    """Order conditions of the pair: sum b c^k = 1/(k+1), to k = 4 for the fifth order and to k = 3 for the fourth."""
    for b, order in ((FEHLBERG.b, 5), (FOURTH, 4)):
        got = [np.sum(b * FEHLBERG.c**k) for k in range(order + 1)]
        want = [1.0 / (k + 1) for k in range(order + 1)]
        assert got[:order] == pytest.approx(want[:order], abs=1e-15)
        assert abs(got[order] - want[order]) > 1e-4


def test_dexp_inverse_is_the_rate_of_the_rotation_vector(rng):
    """Against central differences of log, and both branches against each other where they meet."""
    for size in (1e-6, 1e-2, 0.3, 2.0, 3.0):
        theta = rng.normal(size=3)
        theta *= size / np.linalg.norm(theta)
        w, h = rng.normal(size=3), 1e-5
        turned = [log(multiply(exp(theta), exp(s * h * w))) for s in (-1.0, 1.0)]
        np.testing.assert_allclose(dexp_inverse(theta, w), (turned[1] - turned[0]) / (2 * h), rtol=1e-5, atol=1e-6)
    axis = np.array([0.6, 0.0, 0.8])
    below, above = (dexp_inverse(2e-2 * f * axis, np.ones(3)) for f in (1 - 1e-9, 1 + 1e-9))
    np.testing.assert_allclose(below, above, rtol=1e-9, atol=1e-11)


def test_joints_stay_on_their_axes(rng):
    """Hinges and sliders integrated with large steps: nothing leaks across their axes, and quaternions stay unit."""
    plain = chain(rng, 4)
    joints = (revolute([1, 2, 0]), revolute([0, 1, 1]), prismatic([1, 0, 1]), revolute([0, 0, 1]))
    model = Model(plain.names, plain.parent, joints, plain.inertia)
    start = tumbling(rng, model)
    for method in METHODS:
        end = run(method, start, 0.5, 100, of_model(model, GRAVITY))
        turn = log(multiply(conjugate(start.rotation), end.rotation))
        for i in (0, 1, 3):
            assert np.abs(np.cross(turn[i], joints[i][0, :3])).max() < 1e-12, method
        assert np.abs(turn[2]).max() < 1e-12
        assert np.abs(np.linalg.norm(end.rotation, axis=-1) - 1.0).max() < 1e-14
        np.testing.assert_allclose(model.expand(model.project(end.twist)), end.twist, atol=1e-12)


def test_prescribed_joint_follows_its_acceleration_and_moves_the_rest(rng):
    """A root shaken sideways by -A w^2 cos(w t): its place is A cos(w t), and the chain on it swings."""
    model = chain(rng, 3, root=FIXED)
    start = tumbling(rng, model, 0.0)
    amplitude, omega = 0.05, 9.0
    a = np.zeros((3, 6))

    def shaken(t):
        out = a.copy()
        out[0, 3] = -amplitude * omega**2 * np.cos(omega * t)
        out[2, :3] = 7.0  # a dynamic joint: this must be ignored
        return out

    law = of_model(model, GRAVITY, prescribed=shaken)
    upright = np.tile([1.0, 0, 0, 0], (3, 1))
    begin = State(upright, start.position, start.twist)
    end = last(adaptive(begin, 0.0, 0.8, law, 1e-9)).state
    moved = end.position[0] - begin.position[0]
    np.testing.assert_allclose(moved, [amplitude * (np.cos(omega * 0.8) - 1.0), 0, 0], atol=1e-8)
    calm = last(adaptive(begin, 0.0, 0.8, of_model(model, GRAVITY), 1e-9)).state
    assert distance(end, calm) > 0.1


def test_solvers_batches_and_singles_agree(rng):
    """A batch of three through the tree solver equals three single runs through the dense one."""
    model = chain(rng, 3, root=FREE)
    starts = [tumbling(rng, model) for _ in range(3)]
    together = State(*(np.stack([getattr(s, f) for s in starts]) for f in ("rotation", "position", "twist")))
    end = run("rk4", together, 0.1, 20, of_model(model, GRAVITY, forward=forward_tree))
    for i, start in enumerate(starts):
        alone = run("rk4", start, 0.1, 20, of_model(model, GRAVITY))
        assert distance(alone, State(end.rotation[i], end.position[i], end.twist[i])) < 1e-11


def drift(model, states):
    """Largest relative change of angular and linear momentum [world, about the centre of mass] and of energy."""
    b = [balance(model, kinematics(model, s), np.zeros(3)) for s in states]
    momentum, energy = np.array([x.momentum for x in b]), np.array([x.kinetic for x in b])
    parts = [np.abs(m - m[0]).max() / np.linalg.norm(m[0]) for m in (momentum[:, :3], momentum[:, 3:], energy[:, None])]
    return np.array(parts)


@pytest.fixture
def floating(rng):
    model = chain(rng, 4, root=FREE)
    return model, of_model(model, np.zeros(3)), tumbling(rng, model, 1.5)


def test_a_floating_chain_keeps_momentum_and_energy_over_ten_seconds(floating):
    """RK4 in steps of 1/240 s; conservation is not built in, so it shrinks with the fourth power of the step."""
    model, law, start = floating
    found = [drift(model, [start, *integrate(METHODS["rk4"], start, np.linspace(0, 10, 10 * f + 1), law)])
             for f in (120, 240)]  # fmt: skip
    print("rk4 drift over 10 s (angular, linear, energy):", found)
    assert np.all(found[1] < 1e-8)
    assert np.all(found[0] > 8.0 * found[1])


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_the_adaptive_one_keeps_them_to_its_tolerance(floating, tolerance):
    model, law, start = floating
    way = list(adaptive(start, 0.0, 10.0, law, tolerance))
    found = drift(model, [start, *(p.state for p in way)])
    print(f"adaptive {tolerance}: drift {found}, {way[-1].taken} steps, {way[-1].rejected} rejected")
    assert np.all(found < 100.0 * tolerance)  # errors of some hundred steps add up


def test_energy_changes_by_the_work_done(rng):
    """Springs, dampers, a wrench and gravity on a free chain: energy after - before = integral of the power."""
    model = chain(rng, 4, root=FREE)
    start = tumbling(rng, model, 2.0)
    K = np.tile(np.diag([3.0, 3.0, 3.0, 0, 0, 0]), (4, 1, 1))
    pull, wrench = springs(start.rotation, K, 0.02 * K), np.array([0.2, -0.1, 0.3, 2.0, 1.0, 9.0])
    powers = []

    def act(load, state, kin, t):
        pull(load, state, kin, t)
        load.add_body(np.array([2]), wrench[None])
        powers.append(np.sum(load.force * state.twist) + np.sum(load.wrench * kin.V))

    law = of_model(model, GRAVITY, act)
    times = np.linspace(0.0, 0.5, 1001)
    states = [start, *integrate(METHODS["rk4"], start, times, law)]
    p = np.array(powers)[::4]  # the first stage of each step
    law(states[-1], 0.5)
    p = np.append(p, powers[-1])
    h = times[1]
    work = h / 3.0 * (p[0] + p[-1] + 4.0 * p[1:-1:2].sum() + 2.0 * p[2:-1:2].sum())
    ends = [balance(model, kinematics(model, s), GRAVITY) for s in (states[0], states[-1])]
    before, after = (b.kinetic + b.potential for b in ends)
    assert abs(work) > 0.5
    assert after - before == pytest.approx(work, rel=1e-8)
