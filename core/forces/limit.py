"""Limits of joints: torque functions with a zone of free play and rising ends (Armstrong and Green 1985, fig. 2)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dynamics import Load
from ..rotation import Array
from ..spatial import apply
from .step import Step

STEEPEST = 4.0  # zones into the end from where on the torque rises no more steeply


def torque_function(x: Array, zone: Array, stiffness: Array) -> tuple[Array, Array, Array]:
    """(torque, its slope, part of the damping that acts) of the way x past the free play, all (..., m).

    The torque rises with the square of x, with the slope `stiffness` [N m/rad] where the zone [rad] ends, and in a
    straight line beyond `STEEPEST` zones.  "Stiff" is a narrow free play with steep ends, "loose" a wide one.
    """
    y = np.abs(x) / zone
    near = np.minimum(y, STEEPEST)
    torque = -np.sign(x) * stiffness * zone * near * (y - 0.5 * near)
    return torque, stiffness * near, np.minimum(y, 1.0)


def past(x: Array, low: Array, high: Array) -> Array:
    """How far x lies outside of [low, high], with its sign."""
    return np.maximum(x - high, 0.0) + np.minimum(x - low, 0.0)


@dataclass(frozen=True, eq=False)
class Limit:
    """One-sided springs that keep the deviation from the clip inside a range, rising before its end.

    bodies: (m,).  axis: (m, 3) hinge axis, body frame; zero = a cone, limited in every direction alike.
    low, high: (K, m) range of the deviation about the axis [rad]; a cone uses `high`.  soft: part of it that is free.
    stiffness, damping: (m,) [N m/rad], [N m s/rad] where the range ends.
    """

    bodies: np.ndarray
    axis: Array
    low: Array
    high: Array
    soft: float
    stiffness: Array
    damping: Array

    @cached_property
    def _inner(self) -> Array:
        """(K, m) square of the deviation [rad^2] that is free about any axis."""
        least = np.where(np.any(self.axis, axis=-1), np.minimum(self.high, -self.low), self.high)
        return np.square(self.soft * np.maximum(least, 0.0))

    def add(self, load: Load, step: Step) -> None:
        """Torque at the predicted deviation, with its tangent as stiffness."""
        e, rate = (v.take(self.bodies, axis=-2)[..., :3] for v in (step.e, step.e_dot))
        ahead = e + step.h * rate
        squares = np.einsum("...i,...i->...", ahead, ahead)
        if (squares <= self._inner[step.k]).all():
            return
        hinge, length = np.any(self.axis, axis=-1), np.sqrt(squares)
        low, high = self.low[step.k], self.high[step.k]
        angle = np.where(hinge, np.einsum("...i,...i->...", ahead, self.axis), length)
        if not past(angle, self.soft * low, self.soft * high).any():
            return
        # a hinge's angle is e . axis, and its gradient not quite the axis where the joint gives way across it
        G = step.rate[..., self.bodies, :, :]
        u = np.where(hinge[:, None], apply(np.swapaxes(G, -1, -2), np.broadcast_to(self.axis, e.shape)),
                     ahead / np.maximum(length, 1e-12)[..., None])  # fmt: skip
        now = np.where(hinge, np.einsum("...i,...i->...", e, self.axis), 0.0)
        x = np.where(hinge, now + step.h * np.einsum("...i,...i->...", u, rate), length)
        zone = (1.0 - self.soft) * np.maximum(np.where(x > 0.0, high, -low), 1e-6)
        x = past(x, self.soft * low, self.soft * high)
        force, Z = about(step, self.bodies, x, zone, (self.stiffness, self.damping), u, rate)
        # across the cone's radius the torque turns with the joint: without this it would swirl
        pull = np.linalg.norm(force[..., self.bodies, :3], axis=-1) * ~hinge
        across = np.eye(3) - u[..., :, None] * u[..., None, :]
        swirl = step.h**2 * pull / np.maximum(length, 1e-12)
        Z[..., self.bodies, :3, :3] += swirl[..., None, None] * across
        step.add_joint(load, force, Z)


def about(
    step: Step, bodies: np.ndarray, x: Array, zone: Array, spring: tuple[Array, Array], u: Array, w: Array
) -> tuple[Array, Array]:
    """Joint force and impedance tables of angles that lie x (..., m) past their free play.

    zone: (..., m) way to the end of the range [rad].  spring: stiffness and damping there, (m,) each.
    u: (..., m, 3) gradients of the angles, body frame.  w: (..., m, 3) angular velocities.
    """
    torque, slope, active = torque_function(x, zone, spring[0])
    damping = spring[1] * active
    torque = torque - damping * np.einsum("...mi,...mi->...m", w, u)
    z = step.h * damping + step.h**2 * slope
    force, Z = np.zeros(step.e.shape), np.zeros(step.e.shape + (6,))
    force[..., bodies, :3] = torque[..., None] * u
    Z[..., bodies, :3, :3] = z[..., None, None] * u[..., :, None] * u[..., None, :]
    return force, Z
