"""The simulator: neutral on the clip, balanced in energy and momentum, converging."""

from dataclasses import replace

import numpy as np
import pytest

from core.dynamics import Load, balance, forward_dense, forward_light, forward_tree, kinematics, with_twist
from core.dynamics.dense import body_forces, joint_impedance, mass_matrix
from core.dynamics.inverse import inverse, of_motion
from core.errors import SimulationError
from core.forces import Muscle, Pulse
from core.model import FREE, SPHERICAL, Model, State
from core.reference import Reference, advance, build
from core.rotation import angle, exp, multiply
from core.simulate import Run, simulate
from core.spatial import apply, inertia
from core.springs import inertias

from .trees import mixed, motion, tree

GRAVITY = np.array([0.0, 0.0, -9.81])


def muscle(model, reference, frequency, share=1.0, ratio=0.7):
    """Springs of a frequency about the inertia that each joint carries."""
    omega = 2 * np.pi * frequency
    zero = np.zeros_like(reference.twist[::50])
    kin = kinematics(model, State(reference.rotation[:-1:50], reference.position[:-1:50], zero))
    still = kinematics(model, reference.arrivals)
    moving = with_twist(model, still, reference.passing())
    ff = of_motion(model, moving, reference.acceleration, np.zeros(3))
    K = omega**2 * inertias(model, kin).own
    n = model.n
    tone, none, rate = np.ones((reference.steps, 1)), np.full(n, np.inf), np.full(n, 2 * ratio * omega)
    return Muscle(K, 2 * ratio / omega * K, tone, none, np.full(n, share), ff, rate, np.full(n, omega))


def last(generator):
    *_, run = generator
    return run


@pytest.mark.parametrize("frequency", [0.3, 3.0])
@pytest.mark.parametrize("forward", [forward_dense, forward_tree], ids=["dense", "tree"])
def test_full_share_repeats_the_clip(rng, frequency, forward):
    model = tree(rng, 14, free=True, kinds=("spherical", "spherical", "fixed"))
    times = np.arange(0.0, 10.2, 1 / 24)
    reference = build(times, *motion(rng, model, times, amplitude=0.3), 0.05, 1200, 1 / 120)
    run = last(simulate(model, reference, [muscle(model, reference, frequency)], GRAVITY, solver=forward))
    worst = np.degrees(angle(run.state.rotation, reference.rotation[-1])).max()
    assert run.k == 1200
    assert worst < 1e-9
    assert np.abs(run.state.position - reference.position[-1]).max() < 1e-9


def test_no_share_sags(rng):
    """The same without feed-forward leaves the clip: the test above is not true of anything."""
    model = tree(rng, 6, kinds=("spherical",))
    times = np.arange(0.0, 2.2, 1 / 24)
    reference = build(times, *motion(rng, model, times), 0.05, 120, 1 / 120)
    run = last(simulate(model, reference, [muscle(model, reference, 1.0, share=0.0)], GRAVITY))
    assert np.degrees(angle(run.state.rotation, reference.rotation[-1])).max() > 5.0


@pytest.mark.parametrize("batch", [(), (3,)], ids=["one", "batch"])
def test_a_blow_however_weak_moves_what_follows_its_clip(rng, batch):
    """In proportion, from a thousandth to a hundred-millionth of 1 N s: none is taken for round-off."""
    model = tree(rng, 9, free=True, kinds=("spherical",))
    times = np.arange(0.0, 1.2, 1 / 24)
    reference = build(times, *motion(rng, model, times, amplitude=0.3), 0.05, 60, 1 / 120)
    own, clip = muscle(model, reference, 1.0), reference.state(0)
    start = Run(0, State(*(np.broadcast_to(x, batch + x.shape) for x in (clip.rotation, clip.position, clip.twist))))

    def gained(impulse):
        blow = Pulse(5, np.zeros(3), np.array([impulse, 0.0, 0.0]), 0.15, 0.05)
        return last(simulate(model, reference, [own, blow], GRAVITY, start)).state.twist - reference.arrival(60)

    strong, weak = gained(1e-3), gained(1e-8)
    assert np.abs(strong).max() > 1e-4
    np.testing.assert_allclose(1e5 * weak, strong, atol=0.01 * np.abs(strong).max())


@pytest.mark.parametrize("forward", [forward_dense, forward_tree, forward_light], ids=["dense", "tree", "light"])
@pytest.mark.parametrize("batch", [(), (4,)], ids=["one", "batch"])
def test_weight_that_is_carried_wholly_is_left_out(rng, forward, batch):
    """Off the clip, against parts of it, which are worked out: accelerations go with the part; and without gravity.
    Another muscle, which does nothing but carry a half, adds to it in either order."""
    model = tree(rng, 9, free=True, kinds=("spherical", "spherical", "fixed"))
    times = np.arange(0.0, 1.2, 1 / 24)
    reference = build(times, *motion(rng, model, times, amplitude=0.3), 0.05, 10, 1 / 120)
    start, full = reference.state(0), muscle(model, reference, 1.0)
    off = exp(0.5 * rng.normal(size=(*batch, 9, 3)))
    position, twist = (np.broadcast_to(x, (*batch, *x.shape)).copy() for x in (start.position, start.twist))
    state = State(multiply(np.broadcast_to(start.rotation, off.shape), off), position, twist)

    def carrying(part, **others):
        return replace(full, bears=part * np.ones(9), **others)

    def turned(part, gravity, before=(), after=()):
        forces = [*before, carrying(part), *after]
        return next(simulate(model, reference, forces, gravity, Run(0, state), forward)).acceleration

    nothing = np.zeros_like(full.stiffness)
    idle = carrying(0.5, stiffness=nothing, damping=nothing, feed_forward=0.0 * full.feed_forward)

    none, half, whole = (turned(part, GRAVITY) for part in (0.0, 0.5, 1.0))
    np.testing.assert_allclose(half, 0.5 * (none + whole), atol=1e-9 * np.abs(none).max())
    np.testing.assert_allclose(whole, turned(1.0, np.zeros(3)), atol=1e-12 * np.abs(none).max())
    for more in (turned(1.0, GRAVITY, [idle]), turned(1.0, GRAVITY, [], [idle])):
        np.testing.assert_allclose(more, 1.5 * whole - 0.5 * none, atol=1e-9 * np.abs(none).max())
    assert np.abs(none - whole).max() > 1.0


@pytest.mark.parametrize("batch", [(), (2, 3)], ids=["one", "batch"])
def test_solvers_agree_with_impedances(rng, batch):
    """tree == dense, and the residual of the equation of motion, on random trees of all joints with joint and body
    impedance; the light-weight solver has their shape."""
    for _ in range(200 if not batch else 20):
        n = int(rng.integers(1, 24))
        model = mixed(rng, n)
        if model.nv == 0:
            continue
        q, p = (x.reshape(batch + x.shape[1:]) for x in motion(rng, model, rng.uniform(size=int(np.prod(batch)))))
        kin = kinematics(model, State(q, p, rng.normal(size=batch + (n, 6))))
        load = Load.zero(model, GRAVITY, batch)
        half = rng.normal(size=batch + (n, 6, 6))
        load.add_joint(rng.normal(size=batch + (n, 6)), half @ half.swapaxes(-1, -2))
        some = np.flatnonzero(rng.integers(0, 2, n))
        half = rng.normal(size=batch + (len(some), 6, 6))
        load.add_body(some, rng.normal(size=batch + (len(some), 6)), half @ half.swapaxes(-1, -2))
        load.prescribed = model.held(rng.normal(size=batch + (n, 6)))
        a, b = forward_dense(model, kin, load), forward_tree(model, kin, load)
        H = mass_matrix(model, kin, load.body_Z) + joint_impedance(model, load.Z)
        scale = np.linalg.norm(H) * np.linalg.norm(a)
        assert np.linalg.norm(apply(H, a - b)) < 1e-12 * scale
        needed = model.project(inverse(model, kin, load, b) - load.force)
        assert np.linalg.norm(needed) < 1e-12 * scale
        assert forward_light(model, kin, load).shape == a.shape


def test_all_solvers_keep_their_digits_for_light_bodies(rng):
    """Bones of grams at the end of long chains: residual and difference stay at round-off, of a batch's too."""
    for n in (20, 60):
        model = tree(rng, n, free=True, kinds=("spherical",))
        light = model.inertia * np.where(np.arange(n) > n // 2, 1e-4, 1.0)[:, None, None]
        model = Model(model.names, np.maximum(np.arange(n) - 1 - (np.arange(n) % 3 == 2), -1), model.joints, light)
        q, p = motion(rng, model, np.array([0.3]))
        state = State(q[0], p[0], rng.normal(size=(n, 6)))
        kin = kinematics(model, state)
        load = Load.zero(model, GRAVITY)
        load.add_joint(rng.normal(size=(n, 6)) * 1e-3)
        H = mass_matrix(model, kin)
        two = kinematics(model, State(*(np.tile(x, (2, 1, 1)) for x in (state.rotation, state.position, state.twist))))
        both = Load.zero(model, GRAVITY, (2,))
        both.add_joint(np.tile(load.force, (2, 1, 1)))
        a = forward_dense(model, kin, load)
        for b in (forward_tree(model, kin, load), *forward_tree(model, two, both)):
            assert np.linalg.norm(H @ (a - b)) < 1e-12 * np.linalg.norm(H) * np.linalg.norm(a)
            needed = model.project(inverse(model, kin, load, b) - load.force)
            assert np.linalg.norm(needed) < 1e-12 * np.linalg.norm(H) * np.linalg.norm(b)


def test_batches_equal_singles(rng):
    model = tree(rng, 9, free=True, kinds=("spherical", "hinge", "fixed"))
    q, p = motion(rng, model, np.linspace(0, 1, 5))
    twist = rng.normal(size=(5, 9, 6))
    loads = []
    for batch in [(5,), *[()] * 5]:
        loads.append(Load.zero(model, GRAVITY, batch))
    together = [f(model, kinematics(model, State(q, p, twist)), loads[0]) for f in (forward_dense, forward_tree)]
    for i in range(5):
        kin = kinematics(model, State(q[i], p[i], twist[i]))
        for f, all_ in zip((forward_dense, forward_tree), together, strict=True):
            np.testing.assert_allclose(f(model, kin, loads[i + 1]), all_[i], rtol=1e-10, atol=1e-10)


def test_energy_rate_equals_power(rng):
    """dE/dt along the motion equals the power of joint forces and wrenches (central difference)."""
    model = tree(rng, 10, free=True)
    q, p = motion(rng, model, np.array([0.4]))
    twist = model.expand(rng.normal(size=model.nv))
    kin = kinematics(model, State(q[0], p[0], twist))
    load = Load.zero(model, GRAVITY)
    load.add_joint(model.expand(rng.normal(size=model.nv)))
    load.add_body(np.arange(10), rng.normal(size=(10, 6)))
    qdd = model.expand(forward_dense(model, kin, load))
    power = np.sum(load.force * twist) + np.sum(load.wrench * kin.V)

    def energy(h):
        mid = twist + 0.5 * h * qdd
        state = State(*advance(State(q[0], p[0], mid), mid, h), twist + h * qdd)
        b = balance(model, kinematics(model, state), GRAVITY)
        return b.kinetic + b.potential

    h = 1e-5
    assert (energy(h) - energy(-h)) / (2 * h) == pytest.approx(power, rel=1e-6, abs=1e-6)


def still(model, steps, h):
    """A reference that stands still, for bodies driven by forces alone."""
    n = model.n
    one = np.tile(np.array([1.0, 0, 0, 0]), (steps + 1, n, 1))
    place = np.zeros((steps + 1, n, 3))
    place[:, 1:, 2] = 0.3
    zero = np.zeros((steps, n, 6))
    return Reference(h * np.arange(steps + 1), one, place, zero, zero, zero[0])


def test_pulse_changes_momentum_by_the_impulse_and_a_floating_chain_keeps_it():
    """Linear momentum = impulse, angular momentum about the centre of mass = r x impulse, both to the first order in
    h."""
    n = 5
    about = np.tile(0.02 * np.eye(3), (n, 1, 1))
    body = inertia(np.full(n, 2.0), np.tile([0.0, 0, 0.15], (n, 1)), about)
    model = Model(tuple(f"l{i}" for i in range(n)), np.arange(-1, n - 1), (FREE, *[SPHERICAL] * (n - 1)), body)
    impulse, at = np.array([0.4, -0.3, 0.2]), np.array([0.0, 0.05, 0.1])
    lever = np.array([0.0, 0.05, 2 * 0.3 + 0.1]) - np.array([0.0, 0.0, 2 * 0.3 + 0.15])
    wanted = np.concatenate((np.cross(lever, impulse), impulse))

    def errors(h):
        run = simulate(model, still(model, round(0.5 / h), h), [Pulse(2, at, impulse, 0.0, 0.05)], np.zeros(3))
        states = [r.state for r in run]
        momentum = np.array([balance(model, kinematics(model, s), np.zeros(3)).momentum for s in states])
        after = momentum[round(0.06 / h) :]
        return np.abs(after[0] - wanted).max(), np.abs(after - after[0]).max()

    coarse, fine = errors(1 / 120), errors(1 / 960)
    assert fine[0] < 0.01 and fine[1] < 0.01
    assert coarse[1] / fine[1] == pytest.approx(8.0, rel=0.3)  # first order in h


def test_first_instant_velocity_is_the_inverse_effective_mass(rng):
    """A short pulse on a body at rest gives the point the velocity J M^-1 J^T p."""
    model = tree(rng, 8, free=True, kinds=("spherical",))
    times = np.linspace(0, 1, 30)
    q, p = motion(rng, model, times, amplitude=0.0)
    p[:] = p[0]
    h = 1e-5
    reference = build(times, q, p, 0.2, 4, h)
    point, impulse = np.array([0.1, 0.05, -0.2]), np.array([1.0, 2.0, -0.5])
    run = last(simulate(model, reference, [Pulse(5, point, impulse, 0.2 - 0.5 * h, 4 * h)], np.zeros(3)))
    kin = kinematics(model, reference.state(0))
    x = kin.p[5] + kin.R[5] @ point
    wrench = np.concatenate((np.cross(x, impulse), impulse))
    J = kin.axes(model.entries) * model.ancestor[5][model.dof_body][:, None]
    v = J.T @ np.linalg.solve(mass_matrix(model, kin), J @ wrench)
    want = v[3:] + np.cross(v[:3], x)
    end = kinematics(model, run.state)
    x = end.p[5] + end.R[5] @ point
    np.testing.assert_allclose(end.V[5, 3:] + np.cross(end.V[5, :3], x), want, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("impulse", [np.inf, np.nan, 1e200])
@pytest.mark.parametrize("batch", [(), (2, 3)], ids=["one", "batch"])
def test_broken_run_names_the_bone(rng, impulse, batch):
    """In the first step, the last of its run: no pose comes out of it that is none."""
    model = tree(rng, 4, free=True, kinds=("spherical",))
    times = np.arange(0.0, 1.0, 1 / 24)
    reference = build(times, *motion(rng, model, times), 0.05, 1, 1 / 120)
    clip = reference.state(0)
    start = State(*(np.broadcast_to(x, batch + x.shape) for x in (clip.rotation, clip.position, clip.twist)))
    blow = Pulse(2, np.zeros(3), np.array([impulse, 0, 0]), 0.05, 0.05)
    with pytest.raises(SimulationError, match="'b"):
        last(simulate(model, reference, [blow], GRAVITY, Run(0, start)))


def test_inverse_balances_the_whole_body(rng):
    """The reaction at a prescribed root carries the weight and the change of momentum of everything above it."""
    model = tree(rng, 7, kinds=("fixed",))
    times = np.arange(0.0, 1.0, 1 / 480)
    reference = build(times, *motion(rng, model, times), 0.3, 40, 1e-4)
    k = 20
    state = State(reference.rotation[k], reference.position[k], reference.twist[k - 1])
    kin = kinematics(model, state)
    load = Load.zero(model, GRAVITY)
    load.prescribed = reference.acceleration[k]
    total = body_forces(model, kin, load).sum(axis=0)
    force = inverse(model, kin, load)[0]
    np.testing.assert_allclose(apply(np.linalg.inv(kin.X[0]).T, force), total, atol=1e-8)
    before, after = (balance(model, kinematics(model, reference.state(j)), GRAVITY) for j in (k - 1, k + 1))
    rate = (after.momentum[3:] - before.momentum[3:]) / 2e-4
    np.testing.assert_allclose(total[3:], rate - before.mass * GRAVITY, rtol=1e-2, atol=0.2)
