"""Impulses, the slow band, joints that change over time, and the diagnosis of a run."""

import pickle

import numpy as np
import pytest

from core.diagnosis import diagnose
from core.dynamics import Load, coupling, effective_inverse, forward_dense, forward_light, kinematics, response
from core.dynamics.dense import mass_matrix
from core.dynamics.tree import forward as forward_tree
from core.forces import Contacts, HingeFriction, Pulse, Striker
from core.model import FIXED, Model, State, planar, revolute
from core.reference import build
from core.rotation import angle, to_matrix
from core.simulate import Run, simulate, step

from .reference import SWAP, Pinocchio
from .test_simulate import GRAVITY, last, muscle
from .trees import mixed, motion, tree


@pytest.fixture
def scene(rng):
    """A tree of ten bodies that follows a clip for half a second and is struck."""
    model = tree(rng, 10, free=True, kinds=("spherical", "spherical", "fixed"))
    times = np.arange(0.0, 2.2, 1 / 24)
    reference = build(times, *motion(rng, model, times, amplitude=0.3), 0.05, 60, 1 / 120)
    forces = [
        muscle(model, reference, 1.5, share=0.7),
        Pulse(4, np.array([0.1, 0, 0]), np.array([2.0, 1, 0]), 0.1, 0.05),
    ]
    return model, reference, forces


def test_impulses_agree_with_pinocchio(data):
    """A linear impulse at a body's origin: the recorded answer is to a wrench, so couples add its angular part."""
    ref = Pinocchio(data / "4_dynamics" / "ref_unitree_g1_29dof.json")
    for case in ref.data["cases"]:
        kin = kinematics(ref.model, ref.state(case))
        body = case["impulse"]["body"]
        wrench = np.array(case["impulse"]["impulse_body_frame_lin_ang"])[SWAP]
        origin = kin.position()[body]
        linear = response(ref.model, kin, body, origin, kin.R[body] @ wrench[3:])
        turning = np.zeros(ref.model.nv)
        lever = 1e-4  # a couple: two opposite impulses a lever apart, about each axis
        for axis in range(3):
            side, push = np.roll(np.eye(3)[axis], 1), np.roll(np.eye(3)[axis], 2)
            for sign in (1.0, -1.0):
                point = origin + kin.R[body] @ (0.5 * sign * lever * side)
                turning += response(ref.model, kin, body, point, kin.R[body] @ (sign * wrench[axis] / lever * push))
        want = np.array(case["impulse"]["delta_v"])
        np.testing.assert_allclose(linear + turning, want, atol=1e-7 * np.abs(want).max())


def test_coupling_is_symmetric_and_moves_the_point(scene):
    model, reference, _ = scene
    kin = kinematics(model, reference.state(0))
    a, b = kin.position()[3] + [0.1, 0.2, 0.0], kin.position()[8] + [0.0, 0.1, 0.3]
    across = coupling(model, kin, (3, 8), (a, b))
    np.testing.assert_allclose(across, coupling(model, kin, (8, 3), (b, a)).T, atol=1e-12)
    own = effective_inverse(model, kin, 3, a)
    np.testing.assert_allclose(own, own.T, atol=1e-12)
    assert np.linalg.eigvalsh(own).min() > 0.0
    push = np.array([0.3, -0.2, 0.5])
    u = response(model, kin, 3, a, push)
    energy = 0.5 * u @ mass_matrix(model, kin) @ u
    assert energy == pytest.approx(0.5 * push @ own @ push, rel=1e-9)


def test_slow_band_costs_accuracy_not_stability(scene):
    """The error grows with the refresh interval and stays bounded; renewed in every step it is exact."""
    model, reference, forces = scene
    exact = last(simulate(model, reference, forces, GRAVITY))
    errors = []
    for refresh in (1, 2, 4, 8):
        run = last(simulate(model, reference, forces, GRAVITY, refresh=refresh))
        errors.append(np.degrees(angle(run.state.rotation, exact.state.rotation)).max())
    assert errors[0] < 1e-9
    assert 0.0 < errors[1] < errors[2] < errors[3] < 30.0


@pytest.mark.parametrize("refresh", [1, 3])
def test_checkpoints_give_the_same_run_to_the_last_bit_and_batches_what_each_gives(rng, refresh):
    """(2, 3) bodies with joints of every kind and friction in them, from a checkpoint that went through a file."""
    model = mixed(rng, 9)
    times = np.arange(0.0, 1.2, 1 / 24)
    reference = build(times, *motion(rng, model, times, amplitude=0.3), 0.05, 30, 1 / 120)
    forces = [
        muscle(model, reference, 2.0),
        Pulse(3, np.array([0.1, 0, 0]), np.array([1.0, 0, 0]), 0.1, 0.05),
        Contacts([HingeFriction(np.array([2]), np.array([0.5]))]),
    ]
    clip = reference.state(0)
    q, p = (np.broadcast_to(x, (2, 3, *x.shape)) for x in (clip.rotation, clip.position))
    start = State(q, p, clip.twist + 0.3 * model.expand(rng.normal(size=(2, 3, model.nv))))
    runs = list(simulate(model, reference, forces, GRAVITY, Run(0, start), refresh=refresh))
    kept = pickle.loads(pickle.dumps(runs[19]))
    again = last(simulate(model, reference, forces, GRAVITY, kept, refresh=refresh))
    for name in ("rotation", "position", "twist"):
        assert np.array_equal(getattr(again.state, name), getattr(runs[-1].state, name))
    assert np.array_equal(again.acceleration, runs[-1].acceleration)
    one = State(q[1, 2], p[1, 2], start.twist[1, 2])
    alone = last(simulate(model, reference, forces, GRAVITY, Run(0, one), refresh=refresh))
    np.testing.assert_allclose(runs[-1].state.twist[1, 2], alone.state.twist, atol=1e-11)


def test_impulses_on_batches(rng):
    model = mixed(rng, 9)
    q, p = (x.reshape(2, 3, *x.shape[1:]) for x in motion(rng, model, np.linspace(0.0, 1.0, 6)))
    kin = kinematics(model, State(q, p, np.zeros((2, 3, 9, 6))))
    points, push, half = (rng.normal(size=(2, 3, *shape)) for shape in ((3,), (3,), (9, 6, 6)))
    Z = half @ half.swapaxes(-1, -2)
    every = response(model, kin, 4, points, push, Z), coupling(model, kin, (4, 7), (points, push))
    for i in np.ndindex(2, 3):
        one = kinematics(model, State(q[i], p[i], np.zeros((9, 6))))
        np.testing.assert_allclose(every[0][i], response(model, one, 4, points[i], push[i], Z[i]), atol=1e-10)
        np.testing.assert_allclose(every[1][i], coupling(model, one, (4, 7), (points[i], push[i])), atol=1e-10)


@pytest.mark.parametrize("refresh", [1, 4], ids=["every step", "slow band"])
def test_joints_change_over_time_without_a_jump(scene, refresh):
    """Half-way some joints become prescribed: no pose and no velocity jumps, and they come back to the clip; what a
    slow band kept of the joints that were is dropped."""
    model, reference, forces = scene
    runs = list(simulate(model, reference, forces, GRAVITY, refresh=refresh))
    middle = runs[29]
    joints = tuple(FIXED if i in (4, 6) else joint for i, joint in enumerate(model.joints))
    held = Model(model.names, model.parent, joints, model.inertia)
    after = list(simulate(held, reference, forces, GRAVITY, start=middle, refresh=refresh))
    e = [angle(run.state.rotation[4], reference.rotation[run.k, 4]) for run in (middle, *after)]
    assert np.degrees(e[0]) > 1.0
    steps = np.abs(np.diff(np.array([run.state.twist for run in (runs[28], middle, *after)]), axis=0)).max(axis=(1, 2))
    assert steps[1:].max() < 3.0 * steps[0] + 0.5
    assert e[-1] < 0.35 * e[0]
    back = list(simulate(model, reference, forces, GRAVITY, start=after[-2], refresh=refresh))  # and free again
    assert np.isfinite(back[-1].state.rotation).all()


def test_diagnosis_adds_up_to_the_step(scene):
    model, reference, forces = scene
    runs = list(simulate(model, reference, forces, GRAVITY))
    run = runs[9]  # in the middle of the blow
    h = 1 / 120
    told = diagnose(model, reference, forces, GRAVITY, run)
    assert told.causes == ("Muscle", "Pulse", "gravity", "motion")
    after = step(model, reference, forces, GRAVITY, run)
    want = (after.state.twist - run.state.twist) / h
    np.testing.assert_allclose(told.acceleration.sum(axis=0), want, atol=1e-8 * np.abs(want).max())
    calm = diagnose(model, reference, forces, GRAVITY, runs[40])
    assert np.abs(calm.acceleration[1]).max() == 0.0  # the blow is over
    assert np.abs(told.acceleration[1]).max() > 1.0
    assert told.worst(1)[0][0] in told.causes and told.worst(1)[0][1] in model.names


@pytest.mark.parametrize("solver", [forward_dense, forward_tree, forward_light])
def test_diagnosis_of_batches_and_of_every_solver(rng, scene, solver):
    """Prescribed joints off the clip included."""
    model, reference, forces = scene
    off = reference.state(9)
    twist = off.twist + rng.normal(size=(2, 3, 10, 6))
    many = Run(9, State(*(np.broadcast_to(x, (2, 3, *x.shape)) for x in (off.rotation, off.position)), twist))
    told = diagnose(model, reference, forces, GRAVITY, many, solver)
    after = step(model, reference, forces, GRAVITY, many, solver)
    assert told.acceleration.shape == (4, 2, 3, 10, 6)
    np.testing.assert_allclose(told.acceleration.sum(axis=0), after.acceleration, atol=1e-8 * np.abs(twist).max() * 120)
    cause, bone, most = told.worst(1)[0]
    i, j = told.causes.index(cause), told.bones.index(bone)
    assert most == pytest.approx(np.linalg.norm(told.acceleration[i, ..., j, :3], axis=-1).max())


def test_diagnosis_of_forces_that_answer_to_others(scene):
    """Contacts and strikers look at the load before them: their parts still add up to the step."""
    model, reference, forces = scene
    ball = Striker(5, np.array([0.1, 0.0, 0.0]), 1.0, np.array([0.0, 3.0, 0.0]), time=float(reference.times[9]))
    joints = Contacts([HingeFriction(np.array([2, 3]), np.array([5.0, 5.0]))])
    together = [*forces, ball, joints]
    run = list(simulate(model, reference, together, GRAVITY))[8]
    told = diagnose(model, reference, together, GRAVITY, run)
    after = step(model, reference, together, GRAVITY, run)
    moved = np.array([i for i, joint in enumerate(model.joints) if len(joint)])
    want = (after.state.twist - run.state.twist) * 120
    np.testing.assert_allclose(told.acceleration.sum(axis=0)[moved], want[moved], atol=1e-8 * np.abs(want).max())
    assert np.abs(told.acceleration[told.causes.index("Striker")]).max() > 1.0


def test_planar_and_universal_joints(rng):
    """A planar joint neither tilts nor leaves its plane; a universal one is two hinges with a massless body between."""
    normal = np.array([0.2, -0.5, 1.0])
    S = planar(normal)
    assert S.shape == (3, 6) and np.linalg.matrix_rank(S) == 3
    n = normal / np.linalg.norm(normal)
    np.testing.assert_allclose(S[:, 3:] @ n, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cross(S[0, :3], n), 0.0, atol=1e-12)
    body = tree(rng, 2).inertia
    body[0] = 0.0
    cross = Model(("between", "cross"), np.array([-1, 0]), (revolute([1, 0, 0]), revolute([0, 1, 0])), body)
    state = State(np.tile([1.0, 0, 0, 0], (2, 1)), np.zeros((2, 3)), np.zeros((2, 6)))
    still = build(np.array([0.0, 1.0]), np.tile(state.rotation, (2, 1, 1)), np.zeros((2, 2, 3)), 0.1, 100, 1 / 480)
    run = last(simulate(cross, still, [], GRAVITY, start=Run(0, state)))
    q = to_matrix(run.state.rotation)
    assert np.degrees(angle(run.state.rotation, state.rotation)).max() > 2.0
    np.testing.assert_allclose(q[0][0], [1, 0, 0], atol=1e-9)  # the first turns about x only, the second about y
    np.testing.assert_allclose(q[1][1], [0, 1, 0], atol=1e-9)
    slab = Model(("slab",), np.array([-1]), (planar([0, 0, 1]),), tree(rng, 1).inertia)
    place = State(state.rotation[:1], state.position[:1], np.zeros((1, 6)))
    u = forward_dense(slab, kinematics(slab, place), Load.zero(slab, GRAVITY))
    assert np.abs(u).max() < 1e-12  # gravity is square to its plane


def test_light_weight_bones_are_exact_on_the_clip_and_alone(rng, scene):
    """Uncoupled bones repeat the clip, equal the full solution where one joint moves, and differ from it otherwise."""
    model, reference, forces = scene
    calm = [muscle(model, reference, 1.5)]
    run = last(simulate(model, reference, calm, GRAVITY, solver=forward_light))
    assert np.degrees(angle(run.state.rotation, reference.rotation[-1])).max() < 1e-9
    one = Model(
        model.names, model.parent, tuple(j if i == 3 else FIXED for i, j in enumerate(model.joints)), model.inertia
    )
    struck = [muscle(one, reference, 1.5), Pulse(3, np.array([0.1, 0, 0]), np.array([1.0, 2, 0]), 0.1, 0.05)]

    def after_the_blow(model, forces, solver):
        return list(simulate(model, reference, forces, GRAVITY, solver=solver))[14].state.rotation

    light, full = (after_the_blow(one, struck, f) for f in (forward_light, forward_dense))
    np.testing.assert_allclose(light, full, atol=1e-12)
    assert np.degrees(angle(full[3], reference.rotation[15, 3])) > 0.5
    light, full = (after_the_blow(model, forces, f) for f in (forward_light, forward_dense))
    assert 0.2 < np.degrees(angle(light, full)).max() < 60.0
