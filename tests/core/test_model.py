"""What can be simulated: joints of every kind stay what they are, and bodies that cannot be are refused by name."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from core.dynamics import balance, forward_tree, kinematics
from core.errors import ModelError
from core.forces import Pulse
from core.integrators import METHODS, integrate, of_model
from core.model import FIXED, FREE, SPHERICAL, Model, State, planar, prismatic, revolute
from core.reference import build
from core.rotation import conjugate, log, multiply
from core.simulate import Run, simulate
from core.spatial import inertia, roams

from .test_simulate import GRAVITY, last, muscle
from .trees import mixed, motion, tree

BODY = inertia(np.array(2.0), np.array([0.1, 0.0, 0.2]), 0.05 * np.eye(3))
ROD = inertia(np.array(1.0), np.array([0.3, 0.4, 1.2]), np.zeros((3, 3)))  # without thickness


def lone(joint, body=BODY):
    return Model(("arm",), np.array([-1]), (joint,), body[None])


SCREW = np.array([[1.0, 0, 0, 0.1, 0, 0]])
JOINTS = (revolute([1, 2, 0]), prismatic([0, 1, 1]), planar([1, 0, 2]), SPHERICAL, FREE, FIXED, SCREW)


def test_what_is_worked_out_once_is_so_for_every_state_and_pose_anew(rng):
    """The matrices of a state, what velocities make of a pose: kept, but not by a copy with other values."""
    model = tree(rng, 4, free=True)
    q, p = motion(rng, model, np.array([0.0]))
    state = State(q[0], p[0], rng.normal(size=(model.n, 6)))
    kin = kinematics(model, state)
    assert state.R is state.R and kin.vx is kin.vx and kin.c is kin.c
    other, faster = replace(state, rotation=conjugate(state.rotation)), replace(kin, V=2.0 * kin.V)
    np.testing.assert_allclose(other.R, state.R.swapaxes(-1, -2), atol=1e-12)
    np.testing.assert_allclose(faster.c, 2.0 * kin.c, rtol=1e-12)


@pytest.mark.parametrize("joint", JOINTS)
def test_a_joint_moves_along_its_axes_only(rng, joint):
    """Half a second of the default step from the middle of a clip, alone and as a batch of (2, 3)."""
    model = lone(joint)
    n = np.zeros((1, 13, 3))
    pose = np.tile(motion(rng, model, np.zeros(1))[0], (13, 1, 1))
    reference = build(np.arange(13) / 12.0, pose, n.swapaxes(0, 1) + 0.3, 0.1, 60, 1 / 120)
    start = reference.state(0)
    many = State(*(np.broadcast_to(x, (2, 3, *x.shape)) for x in (start.rotation, start.position, start.twist)))
    end = last(simulate(model, reference, [], GRAVITY)).state
    every = last(simulate(model, reference, [], GRAVITY, Run(0, many))).state
    np.testing.assert_allclose(every.twist, np.broadcast_to(end.twist, (2, 3, 1, 6)), atol=1e-12)
    way = np.concatenate((log(multiply(conjugate(start.rotation), end.rotation)), end.twist), axis=-1)[0]
    turn, twist = way[:3], way[3:]
    off = np.eye(6) - np.linalg.pinv(joint) @ joint if len(joint) else np.eye(6)
    assert np.abs(off @ twist).max() < 1e-9  # what does not move with the body's own axes stays zero
    assert np.abs(turn - np.linalg.pinv(joint[:, :3]) @ joint[:, :3] @ turn).max() < 1e-9
    moves = np.abs(twist).max()
    assert moves > 0.1 if len(joint) else moves < 1e-12


@pytest.mark.parametrize(
    "joint", [revolute([0, 1, 0]), prismatic([1, 0, 0]), np.eye(6)[:2], planar([1, 0, 2]), np.eye(6)[1:], SCREW]
)
def test_joints_keep_to_their_axes_on_a_clip_that_does_not(rng, joint):
    """Struck, far along their axes, and seen from the clip not at all across them; without care 0.4 to 1 degree."""
    plain = tree(rng, 5, kinds=("spherical",))
    model = Model(plain.names, plain.parent, (joint,) * 5, plain.inertia)
    times = np.arange(0.0, 1.2, 1 / 24)
    reference = build(times, *motion(rng, model, times, amplitude=0.5), 0.05, 100, 1 / 120)
    blow, far = Pulse(3, np.ones(3) * 0.1, np.array([4.0, 1, 0]), 0.1, 0.05), 0.0
    for one in simulate(model, reference, [muscle(model, reference, 1.0, share=0.5), blow], GRAVITY):
        e = log(multiply(conjugate(reference.rotation[one.k]), one.state.rotation))
        far = max(far, np.abs(e).max())
        assert np.abs(e - e @ np.linalg.pinv(joint[:, :3]) @ joint[:, :3]).max() < 1e-9
    assert far > 0.05 or not np.any(joint[:, :3])


@pytest.mark.parametrize(
    "left",
    [revolute([1.0, 0, 0]), np.eye(6)[:2], prismatic([0, 0, 1.0]), FIXED],
    ids=["one", "two", "sliding", "none"],
)
def test_a_joint_that_loses_axes_comes_back_to_the_others_without_a_jump(rng, left):
    """Thrown off its clip about all axes, then left with some: what is off across them goes home as a critically damped
    2 Hz would, from where it was and as fast as it was; about those it kept it turns on."""
    model = Model(("bone",), np.array([-1]), (SPHERICAL,), inertia(np.ones(1), np.zeros((1, 3)), 0.1 * np.eye(3)[None]))
    h, first, steps = 1 / 960, 96, 480
    times = np.arange(0.0, 1.2, 1 / 24)
    reference = build(times, *motion(rng, model, times, amplitude=0.05), 0.05, steps, h)
    start = reference.state(0)
    start.twist[0, :3] += [2.0, -3.0, 1.5]
    free = [Run(0, start), *islice(simulate(model, reference, [], np.zeros(3), Run(0, start)), first)]
    fewer = replace(model, joints=(left,))
    runs = [*free, *simulate(fewer, reference, [], np.zeros(3), free[-1])]
    e = np.array([log(multiply(conjugate(reference.rotation[one.k]), one.state.rotation))[0] for one in runs])
    across, w = fewer.residual[0, :3, :3], 4.0 * np.pi
    off, since = e @ across, h * np.arange(steps - first + 1)[:, None]
    speed = (off[first] - off[first - 1]) / h
    exact = (off[first] + (speed + w * off[first]) * since) * np.exp(-w * since)
    assert np.degrees(np.linalg.norm(off[first])) > 8.0
    assert np.abs(np.degrees(off[first:] - exact)).max() < 0.3
    pull = w * w * np.linalg.norm(off[first]) + 2.0 * w * np.linalg.norm(speed)  # [rad/s^2] of that, at first
    assert np.linalg.norm(np.diff(e, 2, axis=0), axis=-1).max() < 1.05 * h * h * pull  # 0.3 rad in one step, it was
    along = e @ (np.eye(3) - across)
    assert not along[-1].any() or np.linalg.norm(along[-1] - along[first]) > 0.3


def test_a_free_root_that_is_held_comes_back_without_a_jump(rng):
    """23 cm off its clip and going: home as a critically damped 2 Hz would."""
    model = Model(("root",), np.array([-1]), (FREE,), inertia(np.ones(1), np.zeros((1, 3)), 0.1 * np.eye(3)[None]))
    h, first, steps, w = 1 / 960, 96, 480, 4.0 * np.pi
    times = np.arange(0.0, 1.2, 1 / 24)
    reference = build(times, *motion(rng, model, times, amplitude=0.05), 0.05, steps, h)
    start = reference.state(0)
    start.twist[0] += [2.0, -3.0, 1.5, 1.0, -2.0, 0.5]
    free = [Run(0, start), *islice(simulate(model, reference, [], np.zeros(3), Run(0, start)), first)]
    runs = [*free, *simulate(replace(model, joints=(FIXED,)), reference, [], np.zeros(3), free[-1])]
    off = np.array([one.state.position[0] - reference.position[one.k, 0] for one in runs])
    speed, since = (off[first] - off[first - 1]) / h, h * np.arange(steps - first + 1)[:, None]
    exact = (off[first] + (speed + w * off[first]) * since) * np.exp(-w * since)
    assert np.linalg.norm(off[first]) > 0.2
    assert np.abs(off[first:] - exact).max() < 0.01


def test_trees_of_all_joints_keep_their_energy(rng):
    """What joints hold does no work; a batch of (2, 3) starts from different twists."""
    models = [mixed(rng, 8) for _ in range(3)]
    for model in (m for m in models if m.nv):
        q, p = motion(rng, model, np.zeros(1))
        twist = model.expand(rng.normal(size=(2, 3, model.nv)))
        start = State(np.broadcast_to(q, (2, 3, 8, 4)), np.broadcast_to(p, (2, 3, 8, 3)), twist)
        law = of_model(model, GRAVITY, forward=forward_tree)
        *_, end = integrate(METHODS["rk4"], start, np.linspace(0.0, 0.06, 41), law)
        b = [balance(model, kinematics(model, state), GRAVITY) for state in (start, end)]
        energy = [x.kinetic + x.potential for x in b]
        assert np.abs(b[1].kinetic - b[0].kinetic).max() > 1e-3
        np.testing.assert_allclose(energy[1], energy[0], atol=1e-5 * np.abs(energy[0]).max())


@pytest.mark.parametrize("axis", [[0, 0, 0], [np.nan, 0, 1], [1, 0]])
def test_axes_that_are_none_are_refused(axis):
    for joint in (revolute, prismatic, planar):
        with pytest.raises(ValueError, match="A joint's axis: expected"):
            joint(axis)


NONE = (np.eye(6)[0], np.eye(3), np.full((1, 6), np.nan), np.eye(6)[[0, 0]], np.ones((7, 6)))


@pytest.mark.parametrize("joint", NONE)
def test_joints_that_are_none_are_refused(joint):
    with pytest.raises(ValueError, match="Joint of 'arm': expected"):
        lone(joint)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (0.0 * BODY, "carries no mass"), (-BODY, "negative mass"), (BODY + np.triu(np.ones((6, 6)), 1), "negative"),
        (inertia(np.array(1.0), np.zeros(3), -np.eye(3)), "negative"), (np.nan * BODY, "no finite inertia"),
        (ROD, "'arm' can turn without moving any mass. Give it a radius"),
    ],
)  # fmt: skip
def test_bodies_that_cannot_be_are_refused_by_name_with_the_cure(body, text):
    with pytest.raises(ModelError, match=f"Bone 'arm'|{text}") as told:
        lone(SPHERICAL, body)
    assert text in str(told.value) and str(told.value).endswith(".")


def test_a_rod_without_thickness_may_swing_on_a_hinge_and_travel():
    for joint in (revolute([4, -3, 0]), prismatic([0, 0, 1])):
        assert lone(joint, ROD).nv == 1
    with pytest.raises(ModelError, match="can turn"):
        lone(revolute([3, 4, 12]), ROD)  # about its own length


def test_joints_that_slide_on_alike_as_they_turn_are_known(rng):
    """Free ones, by whatever axes, and planar ones; not a turn about what a slide would leave."""
    for joint in (FREE, np.linalg.qr(rng.normal(size=(6, 6)))[0], planar([1, 2, 3])):
        assert roams(joint)
    leaves = np.concatenate((revolute([0, 0, 1]), prismatic([1, 0, 0])))
    for joint in (SPHERICAL, FIXED, revolute([1, 2, 3]), prismatic([1, 2, 3]), leaves, FREE[:5], planar([1, 2, 3])[:2]):
        assert not roams(joint)


def test_trees_that_are_none_are_refused():
    with pytest.raises(ModelError, match="no bones"):
        Model((), np.zeros(0, dtype=int), (), np.zeros((0, 6, 6)))
    for parent in ([0], [-2], [-1.0]):
        with pytest.raises(ValueError, match="parent"):
            Model(("arm",), np.array(parent), (FIXED,), BODY[None])


@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_a_massless_ball_between_two_that_coincide_is_refused_by_name(rng, batch):
    """It can turn by itself while nothing moves, which only a pose tells; a zero-length link with mass is none such."""
    plain = tree(rng, 3, free=True, kinds=("spherical",))
    q, p = np.tile([1.0, 0, 0, 0], (2, 3, 1)), np.zeros((2, 3, 3))
    reference = build(np.array([0.0, 1.0]), q, p, 0.1, 60, 1 / 120)
    start = reference.state(0)
    start = State(*(np.broadcast_to(x, batch + x.shape) for x in (start.rotation, start.position, start.twist)))
    masses = plain.inertia * np.array([1.0, 0.0, 1.0])[:, None, None]
    model = Model(("hips", "between", "arm"), np.arange(-1, 2), plain.joints, masses)
    with pytest.raises(ModelError, match="Bone '(between|arm)' can turn without"):
        last(simulate(model, reference, [], GRAVITY, Run(0, start)))
    model = Model(model.names, model.parent, model.joints, plain.inertia)
    assert np.isfinite(last(simulate(model, reference, [], GRAVITY, Run(0, start))).state.twist).all()
