"""Limits of joints."""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Load
from ..rotation import Array
from .step import Step


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
