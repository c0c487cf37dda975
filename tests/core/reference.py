"""Models and states out of the JSON references of data/4_dynamics, in our terms."""

import json

import numpy as np

from core.model import FREE, Model, State, prismatic, revolute
from core.rotation import exp, from_matrix, multiply, rotate, to_matrix
from core.spatial import inertia

SWAP = np.array([3, 4, 5, 0, 1, 2])


def joint_force(model, tau):
    """Joint forces (n, 6) whose projection on the joint axes is tau (nv,)."""
    return model.expand(tau / np.einsum("dk,dk->d", model.dof_axis, model.dof_axis))


class Pinocchio:
    """A ref_*.json of Pinocchio: spatial vectors are [linear, angular], quaternions xyzw."""

    def __init__(self, path):
        self.data = json.loads(path.read_text())
        self.joints = self.data["joints"]
        self.axes = [FREE[SWAP] if j["nv"] == 6 else np.array([j["S_lin_ang"]])[:, SWAP] for j in self.joints]
        self.model = Model(
            tuple(j["name"] for j in self.joints),
            np.array([j["parent"] for j in self.joints]),
            tuple(self.axes),
            np.array(
                [
                    inertia(np.array(j["mass"]), np.array(j["com"]), np.array(j["inertia_about_com"]))
                    for j in self.joints
                ]
            ),
        )
        self.gravity = np.array(self.data["gravity"])

    def state(self, case):
        rotation, position, twist = [], [], []
        for j, S in zip(self.joints, self.axes, strict=True):
            q = np.array(case["q"][j["idx_q"] : j["idx_q"] + j["nq"]])
            v = np.array(case["v"][j["idx_v"] : j["idx_v"] + j["nv"]])
            R0, p0 = from_matrix(np.array(j["placement"]["R"])), np.array(j["placement"]["p"])
            if j["nv"] == 6:
                r, p = q[[6, 3, 4, 5]], q[:3]
            elif j["nq"] == 2:
                r, p = exp(S[0, :3] * np.arctan2(q[1], q[0])), np.zeros(3)
            else:
                r, p = exp(S[0, :3] * q[0]), S[0, 3:] * q[0]
            rotation.append(multiply(R0, r))
            position.append(p0 + rotate(R0, p))
            twist.append(v @ S)
        return State(np.array(rotation), np.array(position), np.array(twist))

    def joint_force(self, tau):
        return np.array(
            [np.array(tau)[j["idx_v"] : j["idx_v"] + j["nv"]] @ S for j, S in zip(self.joints, self.axes, strict=True)]
        )


class Mujoco:
    """A ref_mj_*.json: several hinges per body become massless bodies in a row; free joint [linear world, angular
    local]."""

    def __init__(self, path):
        self.data = json.loads(path.read_text())
        self.gravity = np.array(self.data["gravity"])
        names, parent, joints, masses, self.steps, last = [], [], [], [], [], {-1: -1}
        for b, body in enumerate(self.data["bodies"]):
            up = last[body["parent"]]
            place = (np.array(body["quat_wxyz"], dtype=float), np.array(body["pos"], dtype=float))
            rows = body["joints"] or [None]
            for k, j in enumerate(rows):
                names.append(f"{body['name']}.{k}")
                parent.append(up)
                up = len(names) - 1
                final = k == len(rows) - 1
                self.steps.append((j, place, np.array(j["pos"]) if j else np.zeros(3)))
                if j is None:
                    joints.append(np.zeros((0, 6)))
                elif j["type"] == "free":
                    joints.append(FREE)
                elif j["type"] == "hinge":  # turns about an axis through j["pos"], body frame
                    axis = np.array(j["axis"])
                    joints.append(np.concatenate((axis, np.cross(np.array(j["pos"]), axis)))[None])
                else:
                    joints.append(prismatic(j["axis"]))
                masses.append(
                    inertia(np.array(body["mass"]), np.array(body["com"]), np.array(body["inertia_about_com"]))
                    if final
                    else np.zeros((6, 6))
                )
                place = (np.array([1.0, 0, 0, 0]), np.zeros(3))
            last[b] = up
        self.last = [last[b] for b in range(len(self.data["bodies"]))]
        self.model = Model(tuple(names), np.array(parent), tuple(joints), np.array(masses))

    def state(self, case):
        rotation, position, twist = [], [], []
        qpos, qvel = np.array(case["qpos"]), np.array(case["qvel"])
        for (j, (R0, p0), anchor), S in zip(self.steps, self.model.joints, strict=True):
            r, p, t = np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(6)
            if j is not None and j["type"] == "free":
                a, d = j["qposadr"], j["dofadr"]
                R0, p0 = np.array([1.0, 0, 0, 0]), np.zeros(3)
                p, r = qpos[a : a + 3], qpos[a + 3 : a + 7]
                t = np.concatenate((qvel[d + 3 : d + 6], to_matrix(r).T @ qvel[d : d + 3]))
            elif j is not None:
                q, t = qpos[j["qposadr"]], qvel[j["dofadr"]] * S[0]
                r = exp(S[0, :3] * q)
                p = anchor - rotate(r, anchor) if j["type"] == "hinge" else S[0, 3:] * q
            rotation.append(multiply(R0, r))
            position.append(p0 + rotate(R0, p))
            twist.append(t)
        return State(np.array(rotation), np.array(position), np.array(twist))

    def acceleration(self, case, qacc):
        """MuJoCo's qacc as our accelerations by degree of freedom."""
        out = np.array(qacc, dtype=float)
        R = to_matrix(np.array(case["qpos"][3:7]))
        v, w = np.array(case["qvel"][:3]), np.array(case["qvel"][3:6])
        linear = R.T @ out[:3] - np.cross(w, R.T @ v)
        return np.concatenate((out[3:6], linear, out[6:]))


def rbdl_model(case):
    joints = []
    for b in case["bodies"]:
        axis = b["joint"].get("axis")
        joints.append(revolute(axis) if b["joint"]["type"] == "revolute" else np.zeros((0, 6)))
    I = [
        inertia(
            np.array(float(b["mass"])), np.array(b["com"], float), np.diag(np.array(b["inertia_about_com_diag"], float))
        )
        for b in case["bodies"]
    ]
    names = tuple(b["name"] for b in case["bodies"])
    return Model(names, np.array([b["parent"] for b in case["bodies"]]), tuple(joints), np.array(I))
