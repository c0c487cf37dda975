"""Forces: each adds its force and its impedance to the Load of one step, linearly implicit.

A spring with stiffness K and damping D pulls with what it will be at the end of the step:
f = -K (e + h (e' + h a)) - D (e' + h a), so force -K (e + h e') - D e' and impedance Z = h D + h^2 K.  On the clip
e' is -h times the clip's acceleration, the two cancel exactly, and the spring is silent whatever its stiffness.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .dynamics import Kinematics, Load
from .model import Model, State
from .reference import Reference
from .rotation import Array, conjugate, from_matrix, log, multiply, rotate
from .spatial import apply, skew


@dataclass(frozen=True, eq=False)
class Step:
    """What forces may look at: step k of length h [s] at time t, the state on arrival and its deviation from the clip.

    e: (..., n, 6) pose relative to the clip's, [rotation vector, displacement], body frame.  e_dot: (..., n, 6)
    velocity relative to the clip's velocity at the *end* of the step.
    """

    model: Model
    reference: Reference
    state: State
    kin: Kinematics
    k: int
    t: float
    h: float
    e: Array
    e_dot: Array


class Force(Protocol):
    """Anything that acts on the body."""

    def add(self, load: Load, step: Step) -> None:
        """Add this force to the load of the step."""


def deviation(reference: Reference, state: State, k: int) -> tuple[Array, Array]:
    """(e, e_dot) of `Step`."""
    back = conjugate(state.rotation)
    turn = multiply(back, reference.rotation[k])
    e = np.concatenate((-log(turn), rotate(back, state.position - reference.position[k])), axis=-1)
    wanted = reference.twist[k]
    return e, state.twist - np.concatenate((rotate(turn, wanted[..., :3]), rotate(turn, wanted[..., 3:])), axis=-1)


@dataclass(frozen=True, eq=False)
class Muscle:
    """Springs and dampers to the clip's joint pose, with the clip's own torque as feed-forward.

    stiffness, damping: (n, 6, 6) body frames.  tone: (K,) factor on the stiffness over time; damping goes with its root
    so that the damping ratio stays.  ceiling: (n,) most torque of the spring [N m], inf = none.  share: (n,) part of the clip's
    inverse dynamics and of the weight that is carried.  feed_forward: (K, n, 6) inverse dynamics without gravity.
    """

    stiffness: Array
    damping: Array
    tone: Array
    ceiling: Array
    share: Array
    feed_forward: Array

    def add(self, load: Load, step: Step) -> None:
        """Spring, damper, feed-forward and the weight at the current pose."""
        tone = self.tone[step.k]
        K, D = tone * self.stiffness, np.sqrt(tone) * self.damping
        force = -apply(K, step.e + step.h * step.e_dot) - apply(D, step.e_dot)
        Z = step.h * D + step.h**2 * K
        size = np.linalg.norm(force[..., :3], axis=-1)
        over = size > self.ceiling
        if np.any(over):  # a saturated muscle no longer answers to the acceleration
            force = np.where(over[..., None], force * (self.ceiling / np.maximum(size, 1e-300))[..., None], force)
            Z = np.where(over[..., None, None], 0.0, Z)
        weight = step.model.ancestor.T @ apply(step.kin.I, np.broadcast_to(load.fall, step.e.shape))
        carried = self.feed_forward[step.k] - apply(np.swapaxes(step.kin.X, -1, -2), weight)
        load.add_joint(force + self.share[:, None] * carried, Z)


@dataclass(frozen=True, eq=False)
class Limit:
    """One-sided springs that keep the deviation from the clip inside a range, rising before its end.

    bodies: (m,).  axis: (m, 3) hinge axis, body frame; zero = a cone, limited in every direction alike.
    low, high: (K, m) range of the deviation about the axis [rad]; a cone uses `high`.  soft: part of the range that is free.
    stiffness, damping: (m,) [N m/rad], [N m s/rad] where the range ends.
    """

    bodies: np.ndarray
    axis: Array
    low: Array
    high: Array
    soft: float
    stiffness: Array
    damping: Array

    def add(self, load: Load, step: Step) -> None:
        """Torque rises with the square of the way into the soft zone, with its tangent as stiffness."""
        e, rate = step.e[..., self.bodies, :3], step.e_dot[..., self.bodies, :3]
        ahead = e + step.h * rate
        length = np.linalg.norm(ahead, axis=-1, keepdims=True)
        cone = ahead / np.maximum(length, 1e-12)
        u = np.where(np.any(self.axis, axis=-1, keepdims=True), self.axis, cone)
        x = np.einsum("...mi,...mi->...m", ahead, u)
        low, high = self.low[step.k], self.high[step.k]
        zone = (1.0 - self.soft) * np.maximum(np.where(x > 0.0, high, -low), 1e-6)
        inside = np.maximum(x - self.soft * high, 0.0) + np.minimum(x - self.soft * low, 0.0)
        slope = self.stiffness * np.minimum(np.abs(inside) / zone, 4.0)
        active = (inside != 0.0) * np.minimum(np.abs(inside) / zone, 1.0)
        v = np.einsum("...mi,...mi->...m", rate, u)
        torque = -0.5 * slope * inside - self.damping * active * v
        z = step.h * self.damping * active + step.h**2 * slope
        force, Z = np.zeros_like(step.e), np.zeros(step.e.shape + (6,))
        force[..., self.bodies, :3] = torque[..., None] * u
        Z[..., self.bodies, :3, :3] = z[..., None, None] * u[..., :, None] * u[..., None, :]
        load.add_joint(force, Z)


@dataclass(frozen=True, eq=False)
class WorldSpring:
    """Holds bodies to the clip's pose in the world: planted feet.

    bodies: (m,).  stiffness, damping: (m, 6, 6) at the body's origin, world axes, [angular, linear].
    rotation: (K + 1, m, 4), position: (K + 1, m, 3) the clip's world poses.
    """

    bodies: np.ndarray
    stiffness: Array
    damping: Array
    rotation: Array
    position: Array

    def add(self, load: Load, step: Step) -> None:
        """Wrench and impedance at the body's origin, moved to the shared frame."""
        k, h, kin = step.k, step.h, step.kin
        R, p = kin.R[..., self.bodies, :, :], kin.p[..., self.bodies, :]
        twist = _at_origin(kin.V[..., self.bodies, :], p)
        q_now = multiply(from_matrix(R), conjugate(self.rotation[k]))
        e = np.concatenate((log(q_now), p + kin.origin[..., None, :] - self.position[k]), axis=-1)
        turn = log(multiply(self.rotation[k + 1], conjugate(self.rotation[k])))
        e_dot = twist - np.concatenate((turn, self.position[k + 1] - self.position[k]), axis=-1) / h
        f = -apply(self.stiffness, e + h * e_dot) - apply(self.damping, e_dot)
        Z = h * self.damping + h**2 * self.stiffness
        to_point = _point_transform(p)
        back = np.swapaxes(to_point, -1, -2)
        load.add_body(self.bodies, apply(back, f), back @ Z @ to_point)


def _at_origin(V: Array, p: Array) -> Array:
    """Velocity [angular, linear of the point p] from a shared-frame twist."""
    return np.concatenate((V[..., :3], V[..., 3:] + np.cross(V[..., :3], p)), axis=-1)


def _point_transform(p: Array) -> Array:
    """(..., 6, 6) shared-frame motion to [angular, linear at p]."""
    out = np.zeros(p.shape[:-1] + (6, 6))
    out[...] = np.eye(6)
    out[..., 3:, :3] = -skew(p)
    return out


@dataclass(frozen=True, eq=False)
class Pulse:
    """A blow: an impulse on a point fixed in a body, as a sin^2 pulse of force over its contact time.

    point: (3,) body frame [m].  impulse: (..., 3) world [N s].  start, duration: [s].
    """

    body: int
    point: Array
    impulse: Array
    start: float
    duration: float

    def fraction(self, t: float, h: float) -> float:
        """Part of the impulse that falls into [t, t + h]: the exact integral, so the whole is delivered at any h."""

        def done(time: float) -> float:
            x = min(max((time - self.start) / self.duration, 0.0), 1.0)
            return x - np.sin(2.0 * np.pi * x) / (2.0 * np.pi)

        return float(done(t + h) - done(t))

    def add(self, load: Load, step: Step) -> None:
        """Mean force over the step at the point where it is now."""
        part = self.fraction(step.t, step.h)
        if part > 0.0:
            at = step.kin.position()[..., self.body, :] + apply(step.kin.R[..., self.body, :, :], self.point)
            wrench = step.kin.wrench(at, np.broadcast_to(self.impulse * (part / step.h), at.shape))
            load.add_body(np.array([self.body]), wrench[..., None, :])
