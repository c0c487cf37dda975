"""Blows of things that have a mass and a speed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import Kinematics, Load, kinematics, point_jacobian
from ..dynamics.dense import equations, joint_forces
from ..dynamics.impulse import inertia
from ..model import Model, State
from ..rotation import Array, cross
from ..spatial import apply, solve
from .checks import finite, pointing, within
from .pulse import Pulse
from .spring import add_wrenches
from .step import Step


@dataclass(frozen=True, eq=False)
class Striker:
    """A point mass that flies against a point of a body at one moment.

    point: (3,) body frame [m].  mass [kg].  velocity: (3,) world [m/s].  restitution: 0 = stays, 1 = bounces off with
    the speed with which it came.  normal: (3,) outward normal of the smooth surface that it hits, world; None = it
    sticks in the other directions too, so that the blow has the direction that the body's inertia gives it.
    time: [s] of the blow, which falls into one step.
    """

    body: int
    point: Array
    mass: float
    velocity: Array
    restitution: float = 0.0
    normal: Array | None = None
    time: float = 0.0

    def __post_init__(self) -> None:
        if not self.mass > 0.0:
            raise ValueError(f"Striker: expected a mass above 0, got {self.mass}")
        within("Striker", 0.0, 1.0, restitution=self.restitution)
        finite("Striker", point=self.point, velocity=self.velocity, time=self.time)
        if self.normal is not None:
            finite("Striker", normal=self.normal)
            pointing("Striker", normal=self.normal)

    def add(self, load: Load, step: Step) -> None:
        """The whole impulse in the step in which the time lies."""
        if step.t <= self.time < float(step.reference.times[step.k + 1]):
            J = self.impulse(step.model, step.kin, load, step.h)
            wrench = step.kin.wrench(self._where(step.kin), J / step.h)
            add_wrenches(load, step, np.array([self.body]), wrench[..., None, :])

    def impulse(
        self, model: Model, kin: Kinematics, load: Load | None = None, h: float = 0.0, Z: Array | None = None
    ) -> Array:
        """(..., 3) impulse on the body [N s]: (1 + e) v_rel / (1/m + Lambda^-1) along the normal or as vectors.

        With a load, its impedances in a step of length h count, and the velocity at the end of the step without a blow.
        Without, those of joints where given: Z (..., n, 6, 6).
        """
        x, V = self._where(kin), kin.V[..., self.body, :]
        v = V[..., 3:] + cross(V[..., :3], x - kin.origin)
        J = point_jacobian(model, kin, self.body, x)
        if load is None:
            H = inertia(model, kin, Z)
        else:
            H, C = equations(model, kin, load)
            v = v + h * apply(J, solve(H, joint_forces(model, load) - C))
        answer: Any = np.linalg.solve(H, J.swapaxes(-1, -2))
        inverse = J @ answer
        closing = self.velocity - v
        if self.normal is None:
            together = inverse + np.eye(3) / self.mass
            return (1.0 + self.restitution) * solve(together, closing)
        n = self.normal / np.linalg.norm(self.normal)
        size = np.minimum(closing @ n, 0.0) / (1.0 / self.mass + np.einsum("i,...ij,j->...", n, inverse, n))
        return (1.0 + self.restitution) * size[..., None] * n

    def pulse(self, model: Model, state: State, duration: float, Z: Array | None = None) -> Pulse:
        """The same impulse on a body in this state, spread over a contact time [s].

        Z: (n, 6, 6) joint impedances of that time, which hold parts of the body together while it lasts.
        """
        J = self.impulse(model, kinematics(model, state), Z=Z)
        return Pulse(self.body, self.point, J, self.time, duration)

    def _where(self, kin: Kinematics) -> Array:
        """(..., 3) the point in the world."""
        return kin.position()[..., self.body, :] + apply(kin.R[..., self.body, :, :], self.point)
