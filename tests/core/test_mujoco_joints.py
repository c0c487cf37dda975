"""Trees of every kind of joint with springs and dampers, let go beside MuJoCo's own."""

import numpy as np
import pytest

from core.dynamics import kinematics
from core.forces import Law, Muscle, PointSpring, Swift
from core.integrators import METHODS, integrate, of_model
from core.model import FREE, SPHERICAL, Model, State, planar, prismatic, revolute
from core.rotation import angle, from_matrix, log
from core.simulate import Run, simulate
from core.spatial import apply, inertia

from .chains import GRAVITY, last, orders, still

mujoco = pytest.importorskip("mujoco")
from .mujoco_chain import inertial, numbers  # noqa: E402  it imports mujoco itself

pytestmark = pytest.mark.usefixtures("elsewhere")

DURATION = 0.3
KINDS = {
    "universal": ("free", "universal", "spherical", "universal", "hinge"),
    "planar": ("free", "planar", "hinge", "planar"),
    "prismatic": ("hinge", "prismatic", "spherical", "prismatic", "hinge"),
    "mixed": ("free", "universal", "planar", "spherical", "prismatic", "hinge", "universal", "spherical"),
}


class Pair:
    """A tree of ours, and MuJoCo's of the same bodies, at rest at no angle; springs of 40 and dampers of 0.3 to there.

    A universal joint is a massless body of one hinge that carries another in our tree, two hinges of one body in
    MuJoCo's; a planar joint there is two slides and a hinge.
    bodies: which of ours MuJoCo has.  tied: a point of the last one is, by a spring of 60 to its place, in MuJoCo a
    tendon.
    """

    STIFFNESS, DAMPING, TIED, POINT = 40.0, 0.3, 60.0, np.array([0.05, -0.02, 0.1])

    def __init__(self, rng, kinds, timestep, tied=False):
        own, self.tied = [], tied
        joints, parents, masses, places, self.bodies = [], [], [], [], []
        for i, kind in enumerate(kinds):
            up = -1 if i == 0 else int(rng.integers(max(i - 2, 0), i))
            place = np.array([0.0, 0.0, 1.0]) if i == 0 else rng.normal(size=3) * 0.1 + [0.0, 0.0, 0.2]
            axes, tags = self._joint(rng, kind)
            a = rng.normal(size=(3, 3)) * 0.05
            spread = a @ a.T + 0.01 * np.eye(3)
            about = np.trace(spread) * np.eye(3) - spread
            mass = inertia(np.array(rng.uniform(0.5, 2.0)), rng.normal(size=3) * 0.05, about)
            carrier = -1 if up < 0 else self.bodies[up]
            for axis in axes[:-1]:  # bodies without mass in between
                joints.append(axis)
                parents.append(carrier)
                masses.append(np.zeros((6, 6)))
                places.append(place)
                carrier, place = len(joints) - 1, np.zeros(3)
            joints.append(axes[-1])
            parents.append(carrier)
            masses.append(mass)
            places.append(place)
            self.bodies.append(len(joints) - 1)
            at = numbers(places[-len(axes)])
            own.append((up, f'<body name="{i}" pos="{at}">{inertial(mass)}{tags}'))
        n = len(joints)
        self.model = Model(tuple(f"b{i}" for i in range(n)), np.array(parents), tuple(joints), np.array(masses))
        place, tendon = self._tie(own, np.array(places)) if tied else ("", "")
        xml = place + self._xml(own, -1)
        option = f'<option timestep="{timestep!r}" gravity="{numbers(GRAVITY)}" integrator="RK4"/>'
        self.mj = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{xml}</worldbody>{tendon}</mujoco>")
        self.data, u, first = mujoco.MjData(self.mj), np.zeros(self.model.nv), 0
        for i, kind in enumerate(kinds):  # MuJoCo's bodies go depth first, each with all of its joints
            count = {"free": 6, "universal": 2, "planar": 3, "spherical": 3}.get(kind, 1)
            at, v = self.mj.body_dofadr[self._id(i)], rng.normal(size=count)
            u[first : first + count], first = v, first + count
            self.data.qvel[at : at + count] = np.roll(v, 3) if kind == "free" else v  # the way first
        self.start = State(np.tile([1.0, 0, 0, 0], (n, 1)), np.array(places), self.model.expand(u))

    def _tie(self, own, places):
        """MuJoCo's tags of a place in the world and of a tendon to there from the last body, which gets its end."""
        at = State(np.tile([1.0, 0, 0, 0], (len(places), 1)), places, np.zeros((len(places), 6)))
        place = kinematics(self.model, at).position()[self.bodies[-1]] + self.POINT
        up, body = own[-1]
        own[-1] = up, f'{body}<site name="own" pos="{numbers(self.POINT)}"/>'
        sites = '<site site="own"/><site site="place"/>'
        tendon = f'<tendon><spatial stiffness="{self.TIED}">{sites}</spatial></tendon>'
        return f'<site name="place" pos="{numbers(place)}"/>', tendon

    def _id(self, i):
        return mujoco.mj_name2id(self.mj, mujoco.mjtObj.mjOBJ_BODY, str(i))

    def _joint(self, rng, kind):
        """(axes of our joints, MuJoCo's tags)."""
        tag = f'stiffness="{self.STIFFNESS}" damping="{self.DAMPING}"/>'
        a, b = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        hinge, slide = ('<joint type="{}" axis="{}" {}'.format(t, "{}", tag) for t in ("hinge", "slide"))
        if kind == "free":
            return [FREE], "<freejoint/>"
        if kind == "spherical":
            return [SPHERICAL], f'<joint type="ball" {tag}'
        if kind == "hinge":
            return [revolute(a)], hinge.format(numbers(a))
        if kind == "prismatic":
            return [prismatic(a)], slide.format(numbers(a))
        if kind == "universal":
            return [revolute(a), revolute(b)], hinge.format(numbers(a)) + hinge.format(numbers(b))
        axes = planar(a)
        one, two = axes[1:, 3:]
        turned = np.concatenate((axes[1:], axes[:1]))  # in MuJoCo's order
        return [turned], slide.format(numbers(one)) + slide.format(numbers(two)) + hinge.format(numbers(a))

    def _xml(self, own, up):
        return "".join(f"{body}{self._xml(own, i)}</body>" for i, (carrier, body) in enumerate(own) if carrier == up)

    @property
    def law(self):
        """(n, 6, 6) stiffness and damping of our joints: none of a free one."""
        each = np.array([0.0 if len(joint) == 6 else 1.0 for joint in self.model.joints])
        return self.STIFFNESS * each[:, None, None] * np.eye(6), self.DAMPING * each[:, None, None] * np.eye(6)

    def ends(self):
        """(rotations (m, 4), places (m, 3)) of MuJoCo's bodies in the world after the duration."""
        mujoco.mj_step(self.mj, self.data, nstep=round(DURATION / self.mj.opt.timestep))
        ids = [self._id(i) for i in range(len(self.bodies))]
        return self.data.xquat[ids], self.data.xpos[ids]

    def off(self, state, ends):
        """How far our bodies are off those [rad or m]."""
        kin = kinematics(self.model, state)
        turned = angle(from_matrix(kin.R[self.bodies]), ends[0]).max()
        return max(turned, np.linalg.norm(kin.position()[self.bodies] - ends[1], axis=-1).max())

    def stepped(self, steps):
        """Ours by the default integrator; it starts from the twists of half a step before, as clips give them."""
        h, (K, D) = DURATION / steps, self.law
        n, reference = self.model.n, still(self.start, DURATION / steps, steps)
        none = np.zeros((steps, n, 6))
        muscle = Muscle(K, D, np.ones((steps, 1)), np.full(n, np.inf), np.zeros(n), none, np.zeros(n), np.zeros(n))
        forces = [muscle]
        if self.tied:
            law = Law(np.full((1, 3), self.TIED), np.zeros((1, 3)), swift=Swift(np.zeros(1), np.zeros(1)))
            last_one = np.array(self.bodies[-1:])
            forces.append(PointSpring.of_clip(self.model, reference, last_one, self.POINT[None], law))
        gains = self._acceleration(self.start, 0.0)
        before = State(self.start.rotation, self.start.position, self.start.twist - 0.5 * h * gains)
        start = Run(0, before, acceleration=gains)
        return last(simulate(self.model, reference, forces, GRAVITY, start)).state

    def _acceleration(self, state, t):
        return of_model(self.model, GRAVITY, self._act)(state, t)

    def _act(self, load, state, _kin, _t):
        """The continuous law: turns by their rotation vector, travel by the way."""
        K, D = self.law
        e = np.zeros_like(state.twist)
        e[..., :3] = log(state.rotation)
        e[..., 3:] = apply(state.R.swapaxes(-1, -2), state.position - self.start.position)
        load.add_joint(-apply(K, e) - apply(D, state.twist))

    def exact(self, steps):
        """Ours by RK4."""
        return last(integrate(METHODS["rk4"], self.start, np.linspace(0.0, DURATION, steps + 1), self._acceleration))


@pytest.mark.parametrize("kinds", KINDS.values(), ids=KINDS)
def test_joints_with_springs_move_as_mujocos(rng, kinds):
    pair = Pair(rng, kinds, 1e-4)
    ends = pair.ends()
    assert pair.off(pair.start, ends) > 0.1
    fine = pair.off(pair.exact(150), ends)
    errors = [pair.off(pair.stepped(n), ends) for n in (60, 120, 240)]
    print(kinds, f"rk4 {fine:.1e}", "default", *(f"{e:.1e}" for e in errors), orders(errors))
    assert fine < 1e-6
    assert errors[-1] < 2e-3 and orders(errors)[-1] > 1.7


def test_a_point_that_is_tied_to_its_place_moves_as_mujocos(rng):
    pair = Pair(rng, KINDS["mixed"], 1e-4, tied=True)
    ends = pair.ends()
    errors = [pair.off(pair.stepped(n), ends) for n in (60, 120, 240)]
    print(*(f"{e:.1e}" for e in errors), orders(errors))
    pair.tied = False
    assert pair.off(pair.stepped(240), ends) > 0.1
    assert errors[-1] < 1e-4 and orders(errors)[-1] > 1.7
