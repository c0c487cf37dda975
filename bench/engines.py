"""Compiled engines on the same tree and state: Pinocchio's ABA, MuJoCo's step."""

import os

import numpy as np

from core.rotation import to_matrix


class Pinocchio:
    """The tree as a Pinocchio model: a free flyer and spherical joints."""

    @staticmethod
    def fits(model):
        """Whether this machine can hold its data: four tensors of nv^3, 7 GB and half a minute for 200 bones."""
        if not hasattr(os, "sysconf"):
            return model.nv < 300
        return 3 * 32 * model.nv**3 < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def __init__(self, model, state, gravity):
        import pinocchio as pin

        self.pin, self.model = pin, pin.Model()
        self.model.gravity = pin.Motion(np.asarray(gravity), np.zeros(3))
        joints = {}
        for i, name in enumerate(model.names):
            kind = pin.JointModelFreeFlyer() if i == 0 else pin.JointModelSpherical()
            place = pin.SE3(np.eye(3), np.zeros(3) if i == 0 else state.position[i])
            parent = 0 if i == 0 else joints[model.parent[i]]
            joints[i] = self.model.addJoint(parent, kind, place, name)
            self.model.appendBodyToJoint(joints[i], _inertia(pin, model.inertia[i]), pin.SE3.Identity())
        self.joints, self.data = joints, self.model.createData()
        self.first_q, self.first_v = list(self.model.idx_qs), list(self.model.idx_vs)
        self.q, self.v = self._put(state)
        self.tau = np.zeros(self.model.nv)

    def _put(self, state):
        q, v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        for i, joint in self.joints.items():
            at, first = self.first_q[joint], self.first_v[joint]
            turn = state.rotation[i][[1, 2, 3, 0]]
            if i == 0:
                q[at : at + 7] = np.concatenate((state.position[0], turn))
                v[first : first + 6] = state.twist[0][[3, 4, 5, 0, 1, 2]]
            else:
                q[at : at + 4] = turn
                v[first : first + 3] = state.twist[i, :3]
        return q, v

    def aba(self):
        """Accelerations (nv,) in Pinocchio's order."""
        return self.pin.aba(self.model, self.data, self.q, self.v, self.tau)

    def by_dof(self, qdd):
        """Those in our order: [angular, linear] of the base, then each joint's three."""
        out = []
        for i, joint in self.joints.items():
            first = self.first_v[joint]
            out.append(qdd[first : first + 6][[3, 4, 5, 0, 1, 2]] if i == 0 else qdd[first : first + 3])
        return np.concatenate(out)


def _inertia(pin, body):
    mass, c = body[5, 5], body[:3, 3:] / body[5, 5]
    return pin.Inertia(float(mass), np.array([c[2, 1], c[0, 2], c[1, 0]]), body[:3, :3] + mass * (c @ c))


class MuJoCo:
    """The tree in MuJoCo with springs, dampers and cone limits on every ball joint, implicitfast."""

    def __init__(self, model, state, gravity, stiffness, damping, cone, h):
        import mujoco

        self.mujoco = mujoco
        self.mj = mujoco.MjModel.from_xml_string(_xml(model, state, gravity, stiffness, damping, cone, h))
        self.data = mujoco.MjData(self.mj)
        self.qpos, self.qvel = np.zeros(self.mj.nq), np.zeros(self.mj.nv)
        for j in range(self.mj.njnt):
            i = model.names.index(self.mj.body(self.mj.jnt_bodyid[j]).name)
            at, first = self.mj.jnt_qposadr[j], self.mj.jnt_dofadr[j]
            if i == 0:
                self.qpos[at : at + 7] = np.concatenate((state.position[0], state.rotation[0]))
                linear = to_matrix(state.rotation[0]) @ state.twist[0, 3:]
                self.qvel[first : first + 6] = np.concatenate((linear, state.twist[0, :3]))
            else:
                self.qpos[at : at + 4] = state.rotation[i]
                self.qvel[first : first + 3] = state.twist[i, :3]

    def prepare(self):
        """Back to the state."""
        self.mujoco.mj_resetData(self.mj, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.qpos, self.qvel

    def step(self, count):
        self.mujoco.mj_step(self.mj, self.data, nstep=count)

    def finite(self):
        return bool(np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qvel).all())


def _xml(model, state, gravity, stiffness, damping, cone, h):
    def numbers(values):
        return " ".join(repr(float(x)) for x in np.ravel(values))

    def body(i):
        mass, c = model.inertia[i, 5, 5], model.inertia[i, :3, 3:] / model.inertia[i, 5, 5]
        about = model.inertia[i, :3, :3] + mass * (c @ c)
        full = numbers(about[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        inertial = f'<inertial pos="{numbers([c[2, 1], c[0, 2], c[1, 0]])}" mass="{mass}" fullinertia="{full}"/>'
        spring = f'stiffness="{numbers(stiffness[i])}" damping="{numbers(damping[i])}"'
        ball = f'<joint type="ball" {spring} limited="true" range="0 {cone!r}"/>'
        sons = "".join(body(s) for s in np.flatnonzero(model.parent == i))
        joint = "<freejoint/>" if i == 0 else ball
        return f'<body name="{model.names[i]}" pos="{numbers(state.position[i])}">{inertial}{joint}{sons}</body>'

    option = f'<option timestep="{h!r}" gravity="{numbers(gravity)}" integrator="implicitfast"/>'
    compiler = '<compiler angle="radian" balanceinertia="true"/>'
    return f"<mujoco>{compiler}{option}<worldbody>{body(0)}</worldbody></mujoco>"
