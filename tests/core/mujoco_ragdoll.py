"""A limp body that is MuJoCo's throughout: its ranges of joints, their friction and dampers, its limbs and its floor.

Of ours it has the numbers alone: the tree, the masses, how wide ranges are and about what, the capsules of limbs and
the points that touch the floor.  Knees and elbows are hinges; other joints turn so far all round.
"""

import mujoco
import numpy as np

from core.dynamics import kinematics
from core.forces import Limit, SwingTwist
from core.knockout import DRY, SLACK_FREQUENCY, SLACK_RATIO
from core.reference import to_world
from core.rotation import conjugate, cross, log, multiply, to_matrix

from .mujoco_chain import TOUCH, inertial, numbers

FREE, BALL, HINGE = (getattr(mujoco.mjtJoint, f"mjJNT_{kind}") for kind in ("FREE", "BALL", "HINGE"))


class Ragdoll:
    """Of a stage (`core.fall.Falling`) whose body is in some state when its muscles have gone."""

    def __init__(self, stage, state, seconds, timestep=2e-3):
        self.stage, self.state, self.seconds = stage, state, seconds
        model, self.touching = stage.model, stage.ragdoll.floor.skin
        self.own = np.flatnonzero(model.ancestor[:, stage.base] > 0.0)
        reference = stage.reference(stage.start + seconds, 2, timestep)
        self.rest = reference.rotation[1].copy()
        self.ranges = {}  # body: (axis or None, lowest, highest) [deg]
        for force in stage.forces(reference):
            if isinstance(force, Limit):
                for i, axis, low, high in zip(force.bodies, force.axis, force.low[1], force.high[1], strict=True):
                    self.ranges[i] = (axis, *np.degrees([low, high])) if axis.any() else (None, 0.0, np.degrees(high))
            elif isinstance(force, SwingTwist):
                for i, middle, swing in zip(force.bodies, force.middle, force.swing, strict=True):
                    self.ranges[i], self.rest[i] = (None, 0.0, np.degrees(np.sqrt(swing.prod()))), middle
        self.carried = dict(zip(stage.ragdoll.jointed, stage.ragdoll.carried, strict=True))
        self.mj = mujoco.MjModel.from_xml_string(self._xml(timestep))
        self.data = mujoco.MjData(self.mj)
        self.ids = [mujoco.mj_name2id(self.mj, mujoco.mjtObj.mjOBJ_BODY, f"body{i}") for i in self.own]
        self._put()

    def _xml(self, timestep):
        floor, bumper = self.stage.ragdoll.floor, self.stage.ragdoll.bumper
        rubs = numbers([bumper.friction, bumper.friction, 0, 0, 0])
        pairs = "".join(
            f'<pair geom1="limb{a}" geom2="limb{b}" friction="{rubs}" condim="3" margin="{-float(sunk)!r}"/>'
            for (a, b), sunk in zip(bumper.pairs, bumper.sunk, strict=True)
        )
        return f"""<mujoco><option timestep="{timestep!r}" gravity="{numbers(self.stage.actor.gravity)}"
            integrator="implicitfast"/><worldbody>{self._body(self.stage.base)}
            <geom type="plane" size="9 9 1" pos="0 0 {float(floor.height)!r}" conaffinity="1" contype="0"/>
            </worldbody><contact>{pairs}</contact></mujoco>"""

    def _body(self, i):
        model = self.stage.model
        sons = "".join(self._body(s) for s in np.flatnonzero(model.parent == i))
        place = f'pos="{numbers(self.state.position[i])}" quat="{numbers(self.rest[i])}"'
        parts = inertial(model.inertia[i]) + self._joint(i) + self._shapes(i)
        return f'<body name="body{i}" {place}>{parts}{sons}</body>'

    def _joint(self, i):
        if i == self.stage.base:
            return "<freejoint/>"
        if not len(self.stage.model.joints[i]):
            return ""
        axis, *ends = self.ranges[i]
        about, slack = self.stage.inertia[i, :3, :3], 4.0 * np.pi * SLACK_FREQUENCY * SLACK_RATIO
        size = np.trace(about) / 3.0 if axis is None else axis @ about @ axis
        kind = 'type="ball"' if axis is None else f'type="hinge" axis="{numbers(axis)}"'
        resists = f'damping="{numbers(slack * size)}" frictionloss="{numbers(DRY * self.carried[i])}"'
        return f'<joint {kind} range="{numbers(ends)}" limited="true" {resists}/>'

    def _shapes(self, i):
        skin, capsules, rubs = self.touching, self.stage.ragdoll.bumper.capsules, self.stage.ragdoll.floor.friction
        point = f'<geom type="sphere" size="1e-4" mass="0" contype="1" conaffinity="0" {TOUCH.format(rubs)}'
        out = [f'{point} pos="{numbers(at)}"/>' for at in skin.places[skin.first][skin.owners == i]]
        for k in np.flatnonzero(capsules.bodies == i):
            shape = f'size="{numbers(capsules.radius[k])}" fromto="{numbers(capsules.ends[k])}"'
            out.append(f'<geom name="limb{k}" type="capsule" {shape} mass="0" contype="0" conaffinity="0"/>')
        return "".join(out)

    def _put(self):
        """Our state into MuJoCo's."""
        kin, (q, p) = kinematics(self.stage.model, self.state), to_world(*self._poses())
        for j in range(self.mj.njnt):
            i = self.own[self.ids.index(self.mj.jnt_bodyid[j])]
            kind, at, dof = self.mj.jnt_type[j], self.mj.jnt_qposadr[j], self.mj.jnt_dofadr[j]
            turned, spin = multiply(conjugate(self.rest[i]), self.state.rotation[i]), self.state.twist[i, :3]
            if kind == FREE:
                w, v = kin.V[i, :3], kin.V[i, 3:]
                self.data.qpos[at : at + 7] = np.concatenate((p[i], q[i]))
                self.data.qvel[dof : dof + 6] = np.concatenate((v + cross(w, kin.p[i]), to_matrix(q[i]).T @ w))
            elif kind == BALL:
                self.data.qpos[at : at + 4], self.data.qvel[dof : dof + 3] = turned, spin
            elif kind == HINGE:
                axis = self.ranges[i][0]
                self.data.qpos[at], self.data.qvel[dof] = log(turned) @ axis, spin @ axis

    def _poses(self):
        return self.stage.model, self.state.rotation, self.state.position

    def fallen(self, until):
        """(K,) [s] from the blow on, and world poses (K, n, 4), (K, n, 3) of all bodies, a hundredth apart."""
        times = np.arange(self.seconds, until, 0.01)
        q, p = (np.repeat(x[None], len(times), axis=0) for x in to_world(*self._poses()))
        for k in range(len(times)):
            mujoco.mj_kinematics(self.mj, self.data)
            q[k, self.own], p[k, self.own] = self.data.xquat[self.ids], self.data.xpos[self.ids]
            mujoco.mj_step(self.mj, self.data, nstep=round(0.01 / self.mj.opt.timestep))
        return times, q, p
