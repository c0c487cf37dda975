"""Forward and inverse dynamics against numbers of RBDL, Pinocchio and MuJoCo (data/4_dynamics)."""

import json

import numpy as np
import pytest

from core.dynamics import Load, balance, forward_dense, forward_tree, inverse, kinematics, with_twist
from core.dynamics.dense import body_forces, mass_matrix
from core.model import FREE, Model, State, revolute
from core.rotation import exp, to_matrix
from core.spatial import apply, inertia

from .reference import SWAP, Mujoco, Pinocchio, joint_force, rbdl_model

SOLVERS = pytest.mark.parametrize("forward", [forward_dense, forward_tree], ids=["dense", "tree"])
PINOCCHIO = ["double_pendulum", "kuka_iiwa", "ur5", "simple_humanoid", "unitree_g1_29dof"]
TOLERANCE = 1e-9  # relative, the bound; what is reached is near 1e-12


def agree(got, want):
    want = np.asarray(want, dtype=float)
    np.testing.assert_allclose(got, want, rtol=0, atol=TOLERANCE * np.abs(want).max() or 1e-12)


@pytest.fixture(params=PINOCCHIO)
def pinocchio(request, data):
    return Pinocchio(data / "4_dynamics" / f"ref_{request.param}.json")


@pytest.fixture(params=["mj_humanoid", "mj_humanoid_CMU"])
def mujoco(request, data):
    return Mujoco(data / "4_dynamics" / f"ref_{request.param}.json")


@SOLVERS
def test_pinocchio_accelerations_with_and_without_a_hit(pinocchio, forward):
    model = pinocchio.model
    for case in pinocchio.data["cases"]:
        kin = kinematics(model, pinocchio.state(case))
        load = Load.zero(model, pinocchio.gravity)
        load.add_joint(pinocchio.joint_force(case["tau"]))
        agree(forward(model, kin, load), case["qdd_aba"])
        body = case["hit"]["body"]
        wrench = np.array(case["hit"]["wrench_body_frame_lin_ang"])[SWAP]
        load.add_body(np.array([body]), np.linalg.inv(kin.X[body]).T @ wrench)
        agree(forward(model, kin, load), case["hit"]["qdd"])


def test_pinocchio_mass_matrix_bias_impulse_energy(pinocchio):
    model = pinocchio.model
    for case in pinocchio.data["cases"]:
        kin = kinematics(model, pinocchio.state(case))
        load = Load.zero(model, pinocchio.gravity)
        H = mass_matrix(model, kin)
        if "M" in case:
            agree(H, case["M"])
        agree(np.diag(H), case["M_diag"])
        agree(model.project(inverse(model, kin, load)), case["bias_nle"])
        still = with_twist(model, kin, np.zeros((model.n, 6)))
        agree(model.project(inverse(model, still, load)), case["gravity"])
        body = case["impulse"]["body"]
        impulse = np.array(case["impulse"]["impulse_body_frame_lin_ang"])[SWAP]
        wrench = np.linalg.inv(kin.X[body]).T @ impulse
        J = kin.axes(model.entries) * model.ancestor[body][model.dof_body][:, None]
        agree(np.linalg.solve(H, J @ wrench), case["impulse"]["delta_v"])
        b = balance(model, kin, pinocchio.gravity)
        agree(b.com, case["com"])
        agree(b.kinetic, case["kinetic_energy"])
        agree(b.potential, case["potential_energy"])
        agree(kin.position(), case["body_positions_world"])


@SOLVERS
def test_mujoco_accelerations_with_and_without_a_hit(mujoco, forward):
    model = mujoco.model
    for case in mujoco.data["cases"]:
        state = mujoco.state(case)
        kin = kinematics(model, state)
        agree(kin.position()[mujoco.last], case["xpos"])
        tau = np.array(case["tau"])
        R = to_matrix(np.array(case["qpos"][3:7]))
        load = Load.zero(model, mujoco.gravity)
        load.add_joint(joint_force(model, np.concatenate((tau[3:6], R.T @ tau[:3], tau[6:]))))
        agree(forward(model, kin, load), mujoco.acceleration(case, case["qacc"]))
        hit = case["hit"]
        body = mujoco.last[hit["body"]]
        com = kin.position()[body] + kin.R[body] @ np.array(mujoco.data["bodies"][hit["body"]]["com"])
        load.add_body(np.array([body]), kin.wrench(com, np.array(hit["force_world_at_body_com"]))[None])
        agree(forward(model, kin, load), mujoco.acceleration(case, hit["qacc"]))
        agree(balance(model, kin, mujoco.gravity).com, case["com"])


def test_mujoco_mass_matrix_and_bias(mujoco):
    """MuJoCo's bias is what holds qacc at zero, in its own coordinates of the free joint."""
    model = mujoco.model
    for case in mujoco.data["cases"]:
        kin = kinematics(model, mujoco.state(case))
        force = model.project(
            inverse(model, kin, Load.zero(model, mujoco.gravity), mujoco.acceleration(case, np.zeros(model.nv)))
        )
        R = to_matrix(np.array(case["qpos"][3:7]))
        agree(np.concatenate((R @ force[3:6], force[:3], force[6:])), case["qfrc_bias"])
        H = mass_matrix(model, kin)
        linear = R @ H[3:6, 3:6] @ R.T
        agree(np.concatenate((np.diag(linear), np.diag(H)[:3], np.diag(H)[6:])), case["M_diag"])


@SOLVERS
def test_rbdl_fixed_base(data, forward):
    cases = json.loads((data / "4_dynamics" / "ref_RBDL_unit_tests.json").read_text())
    for case in cases["fixed_base"]:
        model = rbdl_model(case)
        rotation = np.array([exp(S[0, :3] * q) for S, q in zip(model.joints, case["q"], strict=True)])
        position = np.array([b["xyz"] for b in case["bodies"]], dtype=float)
        twist = np.array([S[0] * q for S, q in zip(model.joints, case["qd"], strict=True)])
        load = Load.zero(model, np.array(cases["gravity"]))
        load.add_joint(joint_force(model, np.array(case["tau"], dtype=float)))
        agree(forward(model, kinematics(model, State(rotation, position, twist)), load), case["expected_qdd"])


@SOLVERS
def test_rbdl_floating_base(data, forward):
    cases = json.loads((data / "4_dynamics" / "ref_RBDL_unit_tests.json").read_text())
    body = inertia(np.ones(2), np.array([[1.0, 0, 0]] * 2), np.array([np.eye(3)] * 2))
    model = Model(("base", "child"), np.array([-1, 0]), (FREE, revolute([0, 0, 1])), body)
    for case in cases["floating_base"][0]["cases"]:
        yaw = case["q"][3]
        state = State(
            np.array([exp(np.array([0, 0, yaw])), exp(np.zeros(3))]),
            np.array([[0.0, 0, 0], [2, 0, 0]]),
            np.zeros((2, 6)),
        )
        load = Load.zero(model, np.array(cases["gravity"]))
        load.add_joint(np.array([np.zeros(6), [0, 0, case["tau"][6], 0, 0, 0]]))
        u = forward(model, kinematics(model, state), load)
        world = to_matrix(exp(np.array([0, 0, yaw]))) @ u[3:6]
        agree(np.concatenate((world, [u[2], u[1], u[0], u[6]])), case["expected_qdd"])


def test_rbdl_point_kinematics(data):
    """Velocity and acceleration of a point of a free body, with intrinsic Z-Y-X rotations as massless hinges."""
    ref = json.loads((data / "4_dynamics" / "ref_RBDL_unit_tests.json").read_text())["point_kinematics"]
    axes = [
        np.eye(6)[3:4],
        np.eye(6)[4:5],
        np.eye(6)[5:6],
        revolute([0, 0, 1]),
        revolute([0, 1, 0]),
        revolute([1, 0, 0]),
    ]
    masses = np.zeros((6, 6, 6))
    masses[5] = inertia(np.array(1.0), np.zeros(3), np.eye(3))
    model = Model(tuple("xyzZYX"), np.arange(-1, 5), tuple(axes), masses)
    q, qd = np.array(ref["q"]), np.array(ref["qd"])
    point = np.array(ref["body_point"])

    def kin_of(q, qd):
        rotation = np.array([exp(S[0, :3] * x) for S, x in zip(axes, q, strict=True)])
        position = np.array([S[0, 3:] * x for S, x in zip(axes, q, strict=True)])
        return kinematics(model, State(rotation, position, np.array([S[0] * x for S, x in zip(axes, qd, strict=True)])))

    def at(kin, x):
        r = kin.p[5] + kin.R[5] @ x
        return r, kin.V[5, 3:] + np.cross(kin.V[5, :3], r)

    def acceleration(kin, x, qdd):
        a = (model.ancestor @ (kin.c + apply(kin.X, model.expand(qdd))))[5]
        r, v = at(kin, x)
        return a[3:] + np.cross(a[:3], r) + np.cross(kin.V[5, :3], v)

    kin = kin_of(q, qd)
    agree(kin.origin + at(kin, point)[0], ref["position"])
    agree(at(kin, point)[1], ref["velocity"])
    agree(at(kin, np.array([1.0, 0, 0]))[1], ref["velocity_of_body_point_1_0_0"])
    agree(acceleration(kin, point, np.zeros(6)), ref["acceleration_qdd_zero"])
    agree(acceleration(kin, point, q), ref["acceleration_full_qdd_as_q"])
    rest = kin_of(np.zeros(6), np.zeros(6))
    agree(acceleration(rest, point, q), ref["acceleration_q_qd_zero_qdd_as_q"])


def test_body_forces_of_a_falling_body_are_zero(rng):
    model = Model(("b",), np.array([-1]), (FREE,), inertia(np.array([3.0]), rng.normal(size=(1, 3)), np.eye(3)[None]))
    state = State(np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.zeros((1, 6)))
    kin, load = kinematics(model, state), Load.zero(model, np.array([0, 0, -9.81]))
    assert np.abs(body_forces(model, kin, load, np.array([0, 0, 0, 0, 0, -9.81]))).max() < 1e-12
