"""Limits of joints: torque functions with a zone of free play and rising ends (Armstrong and Green 1985, fig. 2)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dynamics import Load
from ..lanes import Part, dot, rows, together
from ..rotation import EYE, Array
from ..spatial import apply_T
from .checks import positive, within
from .step import Step, Swift, Taken, Turning, before, unknown

JUST = 1.0 - 1e-6  # of a range that may be free at most: its end must have some way to rise in
STEEPEST = 4.0  # zones into the end from where on the torque rises no more steeply


def torque_function(x: Array, zone: Array, stiffness: Array) -> tuple[Array, Array, Array]:
    """(torque, its slope, part of the damping that acts) of the way x past the free play, all (..., m).

    The torque rises with the square of x, with the slope `stiffness` [N m/rad] where the zone [rad] ends, and in a
    straight line beyond `STEEPEST` zones.  "Stiff" is a narrow free play with steep ends, "loose" a wide one.
    """
    y = x / zone
    near = np.minimum(np.maximum(y, -STEEPEST), STEEPEST)
    part = np.abs(near)
    slope = stiffness * part
    return slope * zone * (0.5 * near - y), slope, np.minimum(part, 1.0)


def past(x: Array, low: Array, high: Array) -> Array:
    """How far x lies outside of [low, high], with its sign."""
    return x - np.minimum(np.maximum(x, low), high)


@dataclass(frozen=True, eq=False)
class Limit(Turning):
    """One-sided springs that keep the deviation from the clip inside a range, rising before its end.

    bodies: (m,).  axis: (m, 3) hinge axis, unit, body frame; zero = a cone, limited in every direction alike.
    low, high: (K, m) range of the deviation about the axis [rad]; a cone uses `high`.
    soft: (m,) part of it that is free, or one for all.
    stiffness, damping: (m,) [N m/rad], [N m s/rad] where the range ends.
    swift: how fast they are there (m,), None = not known.
    """

    bodies: np.ndarray
    axis: Array
    low: Array
    high: Array
    soft: Array | float
    stiffness: Array
    damping: Array
    swift: Swift | None = None

    def __post_init__(self) -> None:
        if not np.all(self.low <= self.high):
            raise ValueError("Limit: expected ranges whose lows are no higher than their highs, got others")
        within("Limit", 0.0, JUST, soft=self.soft)
        positive("Limit", stiffness=self.stiffness, damping=self.damping)

    @cached_property
    def _hinge(self) -> np.ndarray:
        """(m,) whether it is one."""
        return np.any(self.axis, axis=-1)

    @cached_property
    def _swift(self) -> Swift:
        return self.swift or unknown(len(self.bodies))

    @cached_property
    def _cone(self) -> Array:
        """(m,) 1.0 for cones, 0.0 for hinges."""
        return np.where(self._hinge, 0.0, 1.0)

    @cached_property
    def _inner(self) -> Array:
        """(K, m) square of the deviation [rad^2] that is free about any axis."""
        least = np.where(self._hinge, np.minimum(self.high, -self.low), self.high)
        return np.square(self.soft * np.maximum(least, 0.0))

    @cached_property
    def _hinged(self) -> tuple[Part, np.ndarray, Array]:
        """Which are hinges, their bodies and axes."""
        return together(np.flatnonzero(self._hinge)), self.bodies[self._hinge], self.axis[self._hinge]

    @cached_property
    def _ends(self) -> tuple[Array, ...]:
        """(K, m) each, ends of the free play, and the ways from there to the range's, below and above."""
        ways = ((1.0 - self.soft) * np.maximum(end, 1e-6) for end in (-self.low, self.high))
        return self.soft * self.low, self.soft * self.high, *ways

    def add(self, load: Load, step: Step) -> None:
        """Torque at the deviation as far ahead as `Swift` says, with its tangent as stiffness."""
        bodies = self._turns.bodies
        e, rate = rows(step.e, bodies)[..., :3], rows(step.e_dot, bodies)[..., :3]
        part = self._swift.taken(step.h)
        ahead = e + part[0][:, None] * rate
        squares = dot(ahead, ahead)
        if np.count_nonzero(squares > self._inner[step.k]):
            self._push(load, step, part, rate, ahead, np.sqrt(np.maximum(squares, 1e-24)))

    def _push(self, load: Load, step: Step, part: Taken, rate: Array, ahead: Array, length: Array) -> None:
        """Add what the joints get.  rate: of the deviation on arrival, (..., m, 3).  ahead: the deviation ahead, and
        length: (..., m) of that, no less than next to nothing.
        """
        inert, lag = part[1], part[3]
        hinges, bodies, axis = self._hinged
        u = ahead / length[..., None]
        if len(bodies):
            # a hinge's angle is e . axis, and its gradient not quite the axis where the joint gives way across it
            u[..., hinges, :] = apply_T(rows(step.rate, bodies, 2), axis)
        x = dot(u, ahead)  # of hinges too: the rate leaves e as it is
        low, high, below, above = [ends[step.k] for ends in self._ends]
        zone = np.where(x > 0.0, above, below)
        x = past(x, low, high)
        off = rows(step.off, self._turns.bodies)[..., :3]
        grows, gained = dot(rate, u), dot(off, u)
        speed = before(grows, lag * gained)
        torque, z = pressed(part, x, zone, (self.stiffness, self.damping), speed)
        # across a cone's radius the torque turns with the joint: else it would swirl
        swirl = inert * self._cone * np.abs(torque) / length
        Z = ((z - swirl)[..., None] * u)[..., :, None] * u[..., None, :] + swirl[..., None, None] * EYE
        load.add_turn(self._turns, torque[..., None] * u, Z)


def pressed(part: Taken, x: Array, zone: Array, spring: tuple[Array, Array], speed: Array) -> tuple[Array, Array]:
    """Torques along, and impedances of, angles that lie x (..., m) past their free play, and grow at a speed (..., m).

    part: of `Swift.taken`.  zone: (..., m) way to the end of the range [rad].  spring: stiffness and damping there,
    (m,) each.  speed: as it was `before` the lag.
    """
    torque, slope, active = torque_function(x, zone, spring[0])
    damping = spring[1] * active
    return torque - damping * speed, part[2] * damping + part[1] * slope


def along(torque: Array, z: Array, g: Array) -> tuple[Array, Array]:
    """Torques (..., m, 3) and impedances (..., m, 3, 3) of angles (..., m, a) with gradients (..., m, a, 3)."""
    return apply_T(g, torque), (z[..., None] * g).swapaxes(-1, -2) @ g
