"""The same articulated body for MuJoCo and for us: MJCF out of a Model, states and accelerations back and forth.

MuJoCo's free joint has [linear world, angular local] velocities; its ball joints have the child's frame, as ours.
"""

import mujoco
import numpy as np

from core.model import State
from core.rotation import cross, multiply, to_matrix


def numbers(values):
    return " ".join(repr(float(x)) for x in np.ravel(values))


def inertial(body):
    """MuJoCo wants centre of mass and moments about it; body is a spatial inertia (6, 6) at the origin."""
    if body[5, 5] == 0.0:
        return ""
    mass, c = body[5, 5], body[:3, 3:] / body[5, 5]
    about = body[:3, :3] + mass * (c @ c)
    full = about[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    com = [c[2, 1], c[0, 2], c[1, 0]]
    return f'<inertial pos="{numbers(com)}" mass="{numbers(mass)}" fullinertia="{numbers(full)}"/>'


TOUCH = 'friction="{} 0 0" solref="0.01 1" condim="3"'  # sinks millimetres, comes up within hundredths of a second


def build(model, rest, gravity, stiffness, damping, timestep, floor=None):
    """A MuJoCo model of ours: joint places and rest rotations from the state `rest`.

    stiffness, damping: (n,) of the ball joints [N m/rad, N m s/rad] to and about the rest pose.
    floor: (height [m], friction, bodies (m,), points (m, 3) of them that touch it); None = none.
    """

    def joint(i):
        ball = f'<joint type="ball" stiffness="{numbers(stiffness[i])}" damping="{numbers(damping[i])}"/>'
        return {0: "", 3: ball, 6: "<freejoint/>"}[len(model.joints[i])]

    def points(i):
        if floor is None:
            return ""
        shape = f'<geom type="sphere" size="1e-4" mass="0" contype="1" conaffinity="0" {TOUCH.format(floor[1])}'
        return "".join(f'{shape} pos="{numbers(at)}"/>' for at in floor[3][floor[2] == i])

    def body(i):
        sons = "".join(body(s) for s in np.flatnonzero(model.parent == i))
        place = f'pos="{numbers(rest.position[i])}" quat="{numbers(rest.rotation[i])}"'
        return f'<body name="{model.names[i]}" {place}>{inertial(model.inertia[i])}{joint(i)}{points(i)}{sons}</body>'

    plane = (
        "" if floor is None else f'<geom type="plane" size="9 9 1" pos="0 0 {floor[0]!r}" conaffinity="1" contype="0"/>'
    )
    roots = plane + "".join(body(i) for i in np.flatnonzero(model.parent < 0))
    option = f'<option timestep="{timestep!r}" gravity="{numbers(gravity)}" integrator="RK4"/>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{roots}</worldbody></mujoco>")


class Twin:
    """A Model of ours and its MuJoCo counterpart; bodies find each other by name."""

    def __init__(self, model, rest, gravity, stiffness=None, damping=None, timestep=1e-4, floor=None):
        zero = np.zeros(model.n)
        self.model, self.rest = model, rest
        self.mj = build(
            model,
            rest,
            gravity,
            zero if stiffness is None else stiffness,
            zero if damping is None else damping,
            timestep,
            floor,
        )
        self.data = mujoco.MjData(self.mj)
        self.ids = [mujoco.mj_name2id(self.mj, mujoco.mjtObj.mjOBJ_BODY, name) for name in model.names]

    def _joints(self):
        """(body of ours, its type, first qpos, first dof) of every MuJoCo joint."""
        for j in range(self.mj.njnt):
            i = self.ids.index(self.mj.jnt_bodyid[j])
            yield i, self.mj.jnt_type[j], self.mj.jnt_qposadr[j], self.mj.jnt_dofadr[j]

    def put(self, state):
        """Our state into MuJoCo's."""
        mujoco.mj_resetData(self.mj, self.data)
        for i, kind, q, d in self._joints():
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                self.data.qpos[q : q + 7] = np.concatenate((state.position[i], state.rotation[i]))
                linear = to_matrix(state.rotation[i]) @ state.twist[i, 3:]
                self.data.qvel[d : d + 6] = np.concatenate((linear, state.twist[i, :3]))
            else:
                back = self.rest.rotation[i] * [1.0, -1.0, -1.0, -1.0]
                self.data.qpos[q : q + 4] = multiply(back, state.rotation[i])
                self.data.qvel[d : d + 3] = state.twist[i, :3]

    def state(self):
        """MuJoCo's state as ours."""
        rotation, position = self.rest.rotation.copy(), self.rest.position.copy()
        twist = np.zeros_like(self.rest.twist)
        for i, kind, q, d in self._joints():
            qpos, qvel = self.data.qpos, self.data.qvel
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                position[i], rotation[i] = qpos[q : q + 3], qpos[q + 3 : q + 7]
                twist[i] = np.concatenate((qvel[d + 3 : d + 6], to_matrix(rotation[i]).T @ qvel[d : d + 3]))
            else:
                rotation[i] = multiply(self.rest.rotation[i], qpos[q : q + 4])
                twist[i, :3] = qvel[d : d + 3]
        return State(rotation, position, twist)

    def acceleration(self, state, qacc):
        """Joint twist accelerations (n, 6), body frame, of a qacc at our state; also of a velocity change at rest."""
        out = np.zeros_like(state.twist)
        for i, kind, _, d in self._joints():
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                linear = to_matrix(state.rotation[i]).T @ qacc[d : d + 3]
                out[i] = np.concatenate((qacc[d + 3 : d + 6], linear - cross(state.twist[i, :3], state.twist[i, 3:])))
            else:
                out[i, :3] = qacc[d : d + 3]
        return out

    def run(self, state, duration):
        """MuJoCo's own state after a duration [s] in its time steps."""
        self.put(state)
        mujoco.mj_step(self.mj, self.data, nstep=round(duration / self.mj.opt.timestep))
        return self.state()
