"""Against MuJoCo, live: accelerations along its trajectories, convergence to them, passive figures, impulses."""

import numpy as np
import pytest

from core.dynamics import Load, balance, forward_dense, forward_tree, hinge, kinematics
from core.forces import Muscle, Pulse
from core.integrators import METHODS, adaptive, of_model
from core.model import FIXED, FREE, SPHERICAL, Model, State
from core.simulate import Run, simulate
from core.spatial import inertia

from .chains import GRAVITY, chain, distance, last, orders, run, springs, still, tumbling

mujoco = pytest.importorskip("mujoco")
from .mujoco_chain import Twin  # noqa: E402  it imports mujoco itself

pytestmark = pytest.mark.usefixtures("elsewhere")

ROOTS = pytest.mark.parametrize("root", [SPHERICAL, FREE], ids=["hung", "free"])
SOLVERS = pytest.mark.parametrize("forward", [forward_dense, forward_tree], ids=["dense", "tree"])
ORDERS = {"euler": 1, "semi-implicit euler": 1, "midpoint": 2, "rk4": 4, "fehlberg": 5}
STEPS = {"euler": 320, "semi-implicit euler": 320, "midpoint": 80, "rk4": 20, "fehlberg": 15}
DURATION = 0.3


def default_step(model, start, forces, steps, duration):
    """The state after a duration by `simulate`, from a state that need not be the clip's."""
    reference = still(start, duration / steps, steps)
    return last(simulate(model, reference, forces, GRAVITY, start=Run(0, start))).state


@ROOTS
def test_accelerations_along_a_trajectory(rng, root):
    """Three solvers at forty points of two seconds of tumbling: relative to the largest acceleration there."""
    model = chain(rng, 5, root)
    start = tumbling(rng, model)
    twin = Twin(model, start, GRAVITY, timestep=1e-3)
    twin.put(start)
    worst = 0.0
    for _ in range(40):
        mujoco.mj_step(twin.mj, twin.data, nstep=50)
        mujoco.mj_forward(twin.mj, twin.data)
        state = twin.state()
        want = model.project(twin.acceleration(state, twin.data.qacc))
        kin, load = kinematics(model, state), Load.zero(model, GRAVITY)
        both = forward_dense(model, kin, load), forward_tree(model, kin, load)
        for got in (*both, hinge.forward(model, state, load)):
            worst = max(worst, np.abs(got - want).max() / np.abs(want).max())
    print(f"worst relative difference {worst:.1e}")
    assert np.abs(want).max() > 5.0
    assert worst < 1e-9


@ROOTS
@pytest.mark.parametrize("method", [*METHODS, "default"])
def test_trajectories_converge_with_the_method_s_order(rng, root, method):
    model = chain(rng, 4, root)
    start = tumbling(rng, model)
    twin = Twin(model, start, GRAVITY)
    end, law = twin.run(start, DURATION), of_model(model, GRAVITY)
    steps = STEPS.get(method, 320)
    if method == "default":
        ends = [default_step(model, start, [], steps * k, DURATION) for k in (1, 2)]
    else:
        ends = [run(method, start, DURATION, steps * k, law) for k in (1, 2, 4)]
    errors = [distance(e, end) for e in ends]
    print(f"{method}: orders {orders(errors).round(2)}, errors {errors[0]:.1e} .. {errors[-1]:.1e}")
    assert distance(start, end) > 1.0
    assert orders(errors)[-1] == pytest.approx(ORDERS.get(method, 1), abs=0.3)


@ROOTS
def test_the_adaptive_one_reaches_mujoco(rng, root):
    model = chain(rng, 4, root)
    start = tumbling(rng, model)
    twin = Twin(model, start, GRAVITY)
    progress = last(adaptive(start, 0.0, DURATION, of_model(model, GRAVITY), 1e-10))
    error = distance(progress.state, twin.run(start, DURATION))
    print(f"{error:.1e} in {progress.taken} steps")
    assert error < 1e-8


def figure(rng):
    """A figure hung by its trunk: neck, arms of three links, legs of two; rest pose, stiffness and damping."""
    parent = np.array([-1, 0, 0, 2, 3, 0, 5, 6, 0, 8, 0, 10])
    n = len(parent)
    place = np.tile([0.0, 0.0, 0.3], (n, 1))
    place[[2, 5]] = [[0.0, 0.2, 0.4], [0.0, -0.2, 0.4]]
    place[[8, 10]] = [[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]]
    loose = chain(rng, n)
    model = Model(tuple(f"b{i}" for i in range(n)), parent, (FIXED, *[SPHERICAL] * (n - 1)), loose.inertia)
    rest = tumbling(rng, loose, 0.0)
    stiffness = rng.uniform(8.0, 20.0, n)
    return model, State(rest.rotation, place, np.zeros((n, 6))), stiffness, 0.1 * stiffness


def test_passive_figure_sags_as_mujoco_s(rng):
    """Muscle with share 0 in `simulate` against MuJoCo's joint springs: order 1, and its extrapolation on the spot."""
    model, rest, stiffness, damping = figure(rng)
    n, duration = model.n, 0.5
    K, D = (x[:, None, None] * np.diag([1.0, 1, 1, 0, 0, 0]) for x in (stiffness, damping))
    end = Twin(model, rest, GRAVITY, stiffness, damping, timestep=2e-4).run(rest, duration)

    def ours(steps):
        muscle = Muscle(K, D, np.ones((steps, 1)), np.full(n, np.inf), np.zeros(n), np.zeros((steps, n, 6)))
        return default_step(model, rest, [muscle], steps, duration)

    ends = [ours(k) for k in (120, 240, 480)]
    errors = [distance(e, end) for e in ends]
    print(f"sagging: orders {orders(errors).round(2)}, errors {errors[0]:.1e} .. {errors[-1]:.1e}")
    assert distance(rest, end) > 0.3
    assert orders(errors)[-1] == pytest.approx(1.0, abs=0.15)
    twist = [e.twist for e in ends]  # Richardson, twice: what the steps converge to
    once = [2.0 * b - a for a, b in zip(twist[:-1], twist[1:], strict=True)]
    twice = (4.0 * once[1] - once[0]) / 3.0
    assert np.abs(twice - end.twist).max() < 0.01 * errors[-1]
    exact = run("rk4", rest, duration, 300, of_model(model, GRAVITY, springs(rest.rotation, K, D)))
    assert distance(exact, end) < 1e-7


@ROOTS
def test_energy_and_momentum_are_mujoco_s(rng, root):
    model = chain(rng, 4, root)
    start = tumbling(rng, model)
    twin = Twin(model, start, GRAVITY)
    twin.put(start)
    twin.mj.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(twin.mj, twin.data)
    mujoco.mj_subtreeVel(twin.mj, twin.data)
    b = balance(model, kinematics(model, start), GRAVITY)
    assert b.kinetic == pytest.approx(twin.data.energy[1], rel=1e-12)
    assert b.potential == pytest.approx(twin.data.energy[0], rel=1e-12)
    np.testing.assert_allclose(b.com, twin.data.subtree_com[0], atol=1e-12)
    np.testing.assert_allclose(b.momentum[3:], b.mass * twin.data.subtree_linvel[0], atol=1e-11)
    np.testing.assert_allclose(b.momentum[:3], twin.data.subtree_angmom[0], atol=1e-11)


def mujoco_response(twin, state, body, point, impulse):
    """Joint twist changes M^-1 J^T p by MuJoCo, for a world impulse [N s] at a point of a body."""
    twin.put(State(state.rotation, state.position, np.zeros_like(state.twist)))
    mujoco.mj_forward(twin.mj, twin.data)
    at = twin.data.xpos[twin.ids[body]] + twin.data.xmat[twin.ids[body]].reshape(3, 3) @ point
    J = np.zeros((3, twin.mj.nv))
    mujoco.mj_jac(twin.mj, twin.data, J, None, at, twin.ids[body])
    change = np.zeros(twin.mj.nv)
    mujoco.mj_solveM(twin.mj, twin.data, change[None], (J.T @ impulse)[None])
    back = State(state.rotation, state.position, np.zeros_like(state.twist))
    return twin.acceleration(back, change), at


@ROOTS
@SOLVERS
def test_impulse_response(rng, root, forward):
    """The acceleration that a force adds is M^-1 J^T of it, at any velocity."""
    model = chain(rng, 5, root)
    state = tumbling(rng, model)
    twin = Twin(model, state, GRAVITY)
    for body in range(model.n):
        point, impulse = rng.normal(size=3) * 0.1, rng.normal(size=3) * 5.0
        want, at = mujoco_response(twin, state, body, point, impulse)
        kin, load = kinematics(model, state), Load.zero(model, GRAVITY)
        before = forward(model, kin, load)
        load.add_body(np.array([body]), kin.wrench(at, impulse)[None])
        got = model.expand(forward(model, kin, load) - before)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-9 * np.abs(want).max())


@ROOTS
def test_a_hit_changes_the_velocity_as_mujoco_says(rng, root):
    """Pulse in `simulate`, delivered whole within one tiny step, against M^-1 J^T p; gravity and bias are order h."""
    model = chain(rng, 5, root)
    state = tumbling(rng, model)
    twin = Twin(model, state, GRAVITY)
    point, impulse = np.array([0.05, -0.02, 0.2]), np.array([3.0, -4.0, 1.0])
    want, _ = mujoco_response(twin, state, 3, point, impulse)
    h = 1e-9
    end = default_step(model, state, [Pulse(3, point, impulse, -0.5 * h, h)], 1, h)
    np.testing.assert_allclose(end.twist - state.twist, want, rtol=0, atol=1e-6 * np.abs(want).max())


def test_a_massive_link_is_not_moved(rng):
    """A hand of a ton on a light arm: the same answer as MuJoCo's where masses differ a million times."""
    plain = chain(rng, 3, FREE)
    heavy = inertia(np.array(1000.0), np.array([0.0, 0.0, 0.1]), 10.0 * np.eye(3))
    light = inertia(np.array(1e-3), np.array([0.0, 0.0, 0.1]), 1e-5 * np.eye(3))
    model = Model(plain.names, plain.parent, plain.joints, np.stack((light, plain.inertia[1], heavy)))
    state = tumbling(rng, model)
    twin = Twin(model, state, GRAVITY)
    twin.put(state)
    mujoco.mj_forward(twin.mj, twin.data)
    want = model.project(twin.acceleration(state, twin.data.qacc))
    load = Load.zero(model, GRAVITY)
    for forward in (forward_dense, forward_tree):
        got = forward(model, kinematics(model, state), load)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-8 * np.abs(want).max())  # condition 1e6
