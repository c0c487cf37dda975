"""The tapping finger of Armstrong & Green 1985, section 5: five links, eight seconds in steps of 0.01 s.

Zero-length base, about a hundred times as heavy as a phalanx and held by a force proportional to its offset (printed:
inversely); three phalanges of one length and mass; zero-length tip, where a spike of 0.11 s pushes every two seconds.
The finger points along x, hinges bend about y (positive is down), joints have torque functions with free play, rising
ends and friction, and elastic torques keep the links aligned across the hinge.  Sizes are a human finger's: the paper
gives none.  It took them 604 s on a SUN and 89 s on a VAX 11/780; with the slow band every other step 385 s and 56.6 s.
"""

import time
from dataclasses import dataclass

import numpy as np

from core.dynamics import kinematics
from core.forces import Limit, Muscle, Pulse, WorldSpring
from core.model import FREE, SPHERICAL, Model, State
from core.simulate import simulate
from core.spatial import apply, inertia

from .chains import GRAVITY, still

NAMES = ("base", "proximal", "middle", "distal", "tip")
LENGTH, RADIUS, MASS = 0.03, 0.008, 0.01  # of a phalanx [m, m, kg]
BASE_MASS, TIP_MASS = 100.0 * MASS, 0.1 * MASS
DT, DURATION = 0.01, 8.0  # [s]
SPIKE, EVERY, PUSH = 0.11, 2.0, 0.06  # [s, s, N s]
HIGH = np.radians([35.0, 40.0, 30.0, 10.0])  # flexion where the torque functions end; up a third of it
STIFFNESS = np.array([0.8, 0.4, 0.12, 0.02])  # of the torque functions there [N m/rad]
FRICTION = np.array([1e-3, 6e-4, 2e-4, 2e-5])  # [N m s/rad]
ACROSS = 0.5  # elastic torque that aligns the links [N m/rad]
HOLD = 10.0  # [Hz] of the base on the force that holds it
ANGLE = 0.05  # lever [m] of the base's moment of inertia


@dataclass(frozen=True, eq=False)
class Finger:
    """times: (T,) [s].  tip, base: (T, 3) world [m].  slope: (T, 4) of base and phalanges [rad].  seconds: taken."""

    times: np.ndarray
    tip: np.ndarray
    base: np.ndarray
    slope: np.ndarray
    seconds: float

    @property
    def steps(self):
        return len(self.times) - 1

    @property
    def bend(self):
        """(T, 3) flexion of the phalanges [rad]."""
        return np.diff(self.slope, axis=1)


def body():
    """The five links."""
    rod = np.diag([0.5 * RADIUS**2, *[LENGTH**2 / 12.0 + 0.25 * RADIUS**2] * 2])
    about = [BASE_MASS * ANGLE**2 * np.eye(3), *[MASS * rod] * 3, 0.4 * TIP_MASS * RADIUS**2 * np.eye(3)]
    com = np.array([[0.0, 0, 0], *[[0.5 * LENGTH, 0, 0]] * 3, [0, 0, 0]])
    masses = np.array([BASE_MASS, MASS, MASS, MASS, TIP_MASS])
    return Model(NAMES, np.arange(-1, 4), (FREE, *[SPHERICAL] * 4), inertia(masses, com, np.array(about)))


def straight():
    """The finger stretched out, at rest, 0.1 m above the world's origin."""
    position = np.array([[0.0, 0, 0.1], [0, 0, 0], *[[LENGTH, 0, 0]] * 3])
    return State(np.tile([1.0, 0, 0, 0], (5, 1)), position, np.zeros((5, 6)))


def forces(model, reference):
    """Everything but gravity."""
    steps, joints = reference.steps, np.arange(1, 5)
    K, D = np.zeros((5, 6, 6)), np.zeros((5, 6, 6))
    K[1:, :3, :3] = ACROSS * np.diag([1.0, 0.0, 1.0])
    D[1:, :3, :3] = FRICTION[:, None, None] * np.eye(3)
    passive = Muscle(K, D, np.ones((steps, 1)), np.full(5, np.inf), np.zeros(5), np.zeros((steps, 5, 6)))
    high = np.tile(HIGH, (steps, 1))
    play = Limit(joints, np.tile([0.0, 1, 0], (4, 1)), -high / 3.0, high, 0.5, STIFFNESS, FRICTION)
    omega = 2.0 * np.pi * HOLD
    weight = BASE_MASS * np.diag([ANGLE**2] * 3 + [1.0] * 3)[None]
    held = WorldSpring.of_clip(model, reference, np.array([0]), omega**2 * weight, 2.0 * omega * weight)
    down = np.array([0.0, 0.0, -PUSH])
    spikes = [Pulse(4, np.zeros(3), down, t, SPIKE) for t in np.arange(EVERY, DURATION, EVERY)]
    return [passive, play, held, *spikes]


def finger(dt=DT, refresh=1):
    """Run it; refresh: the slow band every so many steps."""
    model, start = body(), straight()
    steps = round(DURATION / dt)
    reference = still(start, dt, steps)
    acting = forces(model, reference)
    begin = time.perf_counter()
    states = [start, *(r.state for r in simulate(model, reference, acting, GRAVITY, refresh=refresh))]
    seconds = time.perf_counter() - begin
    way = State(*(np.stack([getattr(s, f) for s in states]) for f in ("rotation", "position", "twist")))
    kin = kinematics(model, way)
    place, along = kin.position(), apply(kin.R, np.array([1.0, 0, 0]))
    slope = np.arctan2(-along[..., 2], along[..., 0])
    return Finger(reference.times, place[:, 4], place[:, 0], slope[:, :4], seconds)
