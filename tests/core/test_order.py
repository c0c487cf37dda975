"""Order of the default step, joint by joint, and under springs that follow points and bodies in the world."""

from dataclasses import replace

import numpy as np
import pytest

from core.dynamics import kinematics
from core.forces import Law, OrientationSpring, PointSpring, Swift
from core.integrators import dexp_inverse, of_model
from core.model import Model, State, planar, prismatic, revolute
from core.rotation import conjugate, from_matrix, log, multiply
from core.simulate import Run, simulate
from core.spatial import apply, apply_T

from .chains import GRAVITY, chain, distance, last, orders, run, still, tumbling

DURATION = 0.3


def default(model, start, before, steps, forces=lambda clip: ()):
    """The state after DURATION in equal default steps, from the acceleration `before` it."""
    h = DURATION / steps
    early, clip = State(start.rotation, start.position, start.twist - 0.5 * h * before), still(start, h, steps)
    return last(simulate(model, clip, forces(clip), GRAVITY, Run(0, early, acceleration=before))).state


def measured(model, start, law, forces=lambda clip: ()):
    """(order, where it ends) of poses against Fehlberg's in fine steps."""
    end, before = run("fehlberg", start, DURATION, 300, law), law(start, 0.0)
    made = [default(model, start, before, steps, forces) for steps in (80, 160, 320)]
    errors = [distance(replace(one, twist=end.twist), end) for one in made]
    print(f"orders {orders(errors).round(2)}, errors {errors[0]:.1e} .. {errors[-1]:.1e}")
    return orders(errors)[-1], end


@pytest.mark.parametrize("kind", ["hinges", "universal", "planar", "screw"])
def test_joints_of_few_axes(rng, kind):
    """Poses against Fehlberg's in fine steps; a universal joint is two hinges with a massless body between."""
    plain = chain(rng, 4)
    joints = {
        "hinges": [revolute(axis) for axis in rng.normal(size=(4, 3))],
        "universal": [revolute(np.eye(3)[i % 2]) for i in range(4)],
        "planar": [planar(normal) for normal in rng.normal(size=(4, 3))],
        "screw": [revolute(axis) + 0.1 * prismatic(axis) for axis in rng.normal(size=(4, 3))],
    }[kind]
    body, start = plain.inertia.copy(), tumbling(rng, plain)
    if kind == "universal":
        body[::2], start.position[1::2] = 0.0, 0.0
    model = Model(plain.names, plain.parent, tuple(joints), body)
    start = State(start.rotation, start.position, model.expand(3.0 * rng.normal(size=model.nv)))
    assert measured(model, start, of_model(model, GRAVITY))[0] == pytest.approx(2.0, abs=0.2)


def pulled(kin, kind, at, points, rest):
    """World forces on points (n, 3) of bodies, or torques on bodies, of springs 40 and dampers 0.6 N s/m, or a tenth of
    that: (n, 3)."""
    if kind == "orientation":
        e = log(multiply(conjugate(rest), from_matrix(kin.R)))
        back = np.stack([dexp_inverse(e, axis) for axis in np.eye(3)], axis=-2)  # the transposed rate of e
        rate = dexp_inverse(e, apply_T(kin.R, kin.V[:, :3]))
        return apply(kin.R, apply(back, -4.0 * e - 0.06 * rate))
    x = kin.p + apply(kin.R, points)
    return -40.0 * (x + kin.origin - at) - 0.6 * (kin.V[:, 3:] + np.cross(kin.V[:, :3], x))


@pytest.mark.parametrize("kind", ["point", "orientation"])
def test_springs_to_the_world(rng, kind):
    """Against Fehlberg's under the same law, written once more: the axes of joints turn while they gain speed."""
    model, points = chain(rng, 3), 0.1 * rng.normal(size=(3, 3))
    start, bodies = tumbling(rng, model), np.arange(3)
    kin = kinematics(model, start)
    at, rest = kin.position() + apply(kin.R, points), from_matrix(kin.R)

    def act(load, _state, kin, _t):
        f = pulled(kin, kind, at, points, rest)
        if kind == "orientation":
            load.wrench[:, :3] += f
        else:
            load.wrench += np.concatenate((np.cross(kin.p + apply(kin.R, points), f), f), axis=1)

    def spring(clip):
        size, swift = (4.0, 0.06) if kind == "orientation" else (40.0, 0.6), Swift(np.full(3, 2.0), np.full(3, 20.0))
        law = Law(*(np.full((3, 3), one) for one in size), swift=swift)
        if kind == "orientation":
            return OrientationSpring.of_clip(model, clip, bodies, law)
        return PointSpring.of_clip(model, clip, bodies, points, law)

    order, end = measured(model, start, of_model(model, GRAVITY, act), lambda clip: [spring(clip)])
    assert order == pytest.approx(2.0, abs=0.2)
    assert distance(end, run("rk4", start, DURATION, 60, of_model(model, GRAVITY))) > 0.1  # they do pull
