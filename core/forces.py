"""Forces: each adds its force and its impedance to the Load of one step, linearly implicit about the clip.

A spring of stiffness K and damping D pulls with what it will be at the end of the step.  With e and e' the deviation
from
the clip and its rate on arrival, and a - a_clip what the step adds to the rate: f = -K (e + h e') - D e' - Z (a -
a_clip),
Z = h D + h^2 K.  On the clip every term is zero, so a force is silent there whatever its stiffness or its limits.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .dynamics import Kinematics, Load, kinematics
from .model import Model, State
from .reference import Reference
from .rotation import Array, conjugate, from_matrix, log, multiply, rotate
from .spatial import apply, skew


@dataclass(frozen=True, eq=False)
class Step:
    """What forces may look at: step k of length h [s] at time t, the state on arrival and its deviation from the clip.

    e: (..., n, 6) pose relative to the clip's, [rotation vector, displacement], body frame.  e_dot: (..., n, 6) its
    rate
    on arrival.  a_clip: (..., n, 6) the clip's joint acceleration in the step, body frame.
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
    a_clip: Array

    def add_joint(self, load: Load, force: Array, Z: Array) -> None:
        """Joint forces on arrival and their impedance to accelerations off the clip's."""
        load.add_joint(force + apply(Z, self.a_clip), Z)


class Force(Protocol):
    """Anything that acts on the body."""

    def add(self, load: Load, step: Step) -> None:
        """Add this force to the load of the step."""


def deviation(reference: Reference, state: State, k: int) -> tuple[Array, Array, Array]:
    """(e, e_dot, a_clip) of `Step`."""
    back = conjugate(state.rotation)
    turn = multiply(back, reference.rotation[k])
    e = np.concatenate((-log(turn), rotate(back, state.position - reference.position[k])), axis=-1)
    return e, state.twist - _turned(turn, reference.arrival(k)), _turned(turn, reference.acceleration[k])


def _turned(q: Array, v: Array) -> Array:
    """Both halves of spatial vectors (..., 6) turned."""
    return np.concatenate((rotate(q, v[..., :3]), rotate(q, v[..., 3:])), axis=-1)


@dataclass(frozen=True, eq=False)
class Muscle:
    """Springs and dampers to the clip's joint pose, with the clip's own torque as feed-forward.

    stiffness, damping: (n, 6, 6) body frames.  tone: (K,) factor on the stiffness over time; damping goes with its root
    so that the damping ratio stays.  ceiling: (n,) most torque of the spring [N m], inf = none.  share: (n,) part of
    the clip's
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
        step.add_joint(load, force + self.share[:, None] * carried, Z)


@dataclass(frozen=True, eq=False)
class Limit:
    """One-sided springs that keep the deviation from the clip inside a range, rising before its end.

    bodies: (m,).  axis: (m, 3) hinge axis, body frame; zero = a cone, limited in every direction alike.
    low, high: (K, m) range of the deviation about the axis [rad]; a cone uses `high`.  soft: part of the range that
    is free.
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
        step.add_joint(load, force, Z)


@dataclass(frozen=True, eq=False)
class WorldSpring:
    """Holds bodies to the clip's pose in the world: planted feet.

    bodies: (m,).  stiffness, damping: (m, 6, 6) at the body's origin, world axes, [angular, linear].
    rotation: (K, m, 4), position: (K, m, 3) the clip's world poses.  twist, acceleration: (K, m, 6) of the clip on
    arrival
    and in the step, [angular, linear at the body's origin], world axes; see `of_clip`.
    """

    bodies: np.ndarray
    stiffness: Array
    damping: Array
    rotation: Array
    position: Array
    twist: Array
    acceleration: Array

    @classmethod
    def of_clip(cls, model: Model, reference: Reference, bodies: np.ndarray, K: Array, D: Array) -> "WorldSpring":
        """To the clip's own motion of the bodies; K, D: (m, 6, 6)."""
        kin = kinematics(model, reference.arrivals())
        a = model.ancestor @ (kin.c + apply(kin.X, reference.acceleration))
        p = kin.p[:, bodies]
        position = p + kin.origin[:, None]
        twist, acceleration = (apply(_to_point(p), v[:, bodies]) for v in (kin.V, a))
        return cls(bodies, K, D, from_matrix(kin.R[:, bodies]), position, twist, acceleration)

    def add(self, load: Load, step: Step) -> None:
        """Wrench and impedance at the body's origin, moved to the shared frame."""
        k, h, kin = step.k, step.h, step.kin
        p = kin.p[..., self.bodies, :]
        to_point = _to_point(p)
        turn = multiply(from_matrix(kin.R[..., self.bodies, :, :]), conjugate(self.rotation[k]))
        e = np.concatenate((log(turn), p + kin.origin[..., None, :] - self.position[k]), axis=-1)
        e_dot = apply(to_point, kin.V[..., self.bodies, :]) - self.twist[k]
        Z = h * self.damping + h**2 * self.stiffness
        f = -apply(self.stiffness, e + h * e_dot) - apply(self.damping, e_dot) + apply(Z, self.acceleration[k])
        back = np.swapaxes(to_point, -1, -2)
        load.add_body(self.bodies, apply(back, f), back @ Z @ to_point)


def _to_point(p: Array) -> Array:
    """(..., 6, 6) shared-frame motions to [angular, linear at p]."""
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
