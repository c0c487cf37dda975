"""Tumbling chains of spherical joints, springs to a rest pose, and measures of error and of order."""

import numpy as np

from core.integrators import METHODS, integrate
from core.model import SPHERICAL, Model, State
from core.reference import Reference
from core.rotation import angle, conjugate, log, multiply, normalize
from core.spatial import apply, inertia

GRAVITY = np.array([0.0, 0.0, -9.81])


def chain(rng, n=4, root=SPHERICAL):
    """A chain of n unlike links of about 0.3 m and 1 kg; the root's joint is given."""
    a = rng.normal(size=(n, 3, 3)) * 0.05
    spread = a @ a.swapaxes(-1, -2) + 0.01 * np.eye(3)  # second moments of mass: a body that can exist
    about = np.trace(spread, axis1=1, axis2=2)[:, None, None] * np.eye(3) - spread
    com = np.array([0.0, 0.0, 0.15]) + rng.normal(size=(n, 3)) * 0.03
    body = inertia(rng.uniform(0.5, 2.0, n), com, about)
    return Model(tuple(f"l{i}" for i in range(n)), np.arange(-1, n - 1), (root, *[SPHERICAL] * (n - 1)), body)


def tumbling(rng, model, speed=3.0):
    """Random joint rotations, links in a row 0.3 m apart, angular velocities of about `speed` [rad/s]."""
    rotation = normalize(np.array([2.0, 0, 0, 0]) + rng.normal(size=(model.n, 4)))
    position = np.tile([0.0, 0.0, 0.3], (model.n, 1))
    position[0] = [0.1, -0.2, 1.0]
    return State(rotation, position, model.expand(speed * rng.normal(size=model.nv) / np.sqrt(3.0)))


def still(state, h, steps):
    """A clip that stands at a pose, for bodies that forces alone move."""
    zero = np.zeros((steps, *state.twist.shape))
    q = np.broadcast_to(state.rotation, (steps + 1, *state.rotation.shape))
    p = np.broadcast_to(state.position, (steps + 1, *state.position.shape))
    return Reference(h * np.arange(steps + 1), q, p, zero, zero, zero[0])


def springs(rest, K, D):
    """The continuous law of joint springs K and dampers D, (n, 6, 6), to the rest rotations (n, 4)."""

    def act(load, state, _kin, _t):
        e = np.zeros_like(state.twist)
        e[..., :3] = -log(multiply(conjugate(state.rotation), rest))
        load.add_joint(-apply(K, e) - apply(D, state.twist))

    return act


def distance(a, b):
    """The largest difference of two states: rad, m, rad/s or m/s."""
    return max(
        angle(a.rotation, b.rotation).max(), np.abs(a.position - b.position).max(), np.abs(a.twist - b.twist).max()
    )


def last(generator):
    *_, end = generator
    return end


def run(method, state, duration, steps, acceleration):
    """The state after a duration [s] in equal steps of a method of METHODS."""
    return last(integrate(METHODS[method], state, np.linspace(0.0, duration, steps + 1), acceleration))


def orders(errors):
    """Orders of convergence from errors at step lengths that halve."""
    e = np.array(errors)
    return np.log2(e[:-1] / e[1:])
