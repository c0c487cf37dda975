"""Forces over time and in space: wrenches from a table, force fields, air."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..dynamics import Load
from ..reference import Reference
from ..rotation import Array
from ..spatial import apply, first_moment
from .checks import finite, positive
from .spring import add_wrenches
from .step import Step, table
from .world import to_point


@dataclass(frozen=True, eq=False)
class Wrench:
    """Forces and torques on points of bodies, constant or over time: spikes, supports, thrust.

    bodies: (m,).  points: (m, 3) body frame [m].  wrench: (m, 6) or (K, m, 6) [torque, force] at the point, mean over
    each step (`Reference.kicks`); axes of the world, or of the body where `local`.
    """

    bodies: np.ndarray
    points: Array
    wrench: Array
    local: bool = False

    def __post_init__(self) -> None:
        finite("Wrench", points=self.points, wrench=self.wrench)

    @staticmethod
    def spikes(reference: Reference, starts: Array, duration: float, wrench: Array) -> Array:
        """(K, m, 6) table of a wrench (m, 6) that acts for `duration` [s] from every start [s], by the exact part of
        the time for which each step's acceleration acts."""
        from_ = (reference.times[:-1] - 0.5 * reference.earlier)[:, None]
        to = from_ + reference.kicks[:, None]
        inside = np.clip(np.minimum(to, starts + duration) - np.maximum(from_, starts), 0.0, None)
        return (inside.sum(axis=1) / reference.kicks)[:, None, None] * wrench

    def add(self, load: Load, step: Step) -> None:
        """Wrenches at the points where they are now."""
        kin, own = step.kin, table(self.wrench, step.k, 2)
        if not own.any():
            return
        R = kin.R[..., self.bodies, :, :]
        f = np.broadcast_to(own, R.shape[:-2] + (6,))
        if self.local:
            f = np.concatenate((apply(R, f[..., :3]), apply(R, f[..., 3:])), axis=-1)
        J = to_point(kin.p[..., self.bodies, :] + apply(R, self.points))
        add_wrenches(load, step, self.bodies, apply(J.swapaxes(-1, -2), f))


@dataclass(frozen=True, eq=False)
class Field:
    """An acceleration at every place and time that acts on centres of mass, like gravity, a vortex or a magnet.

    at: (points (..., n, 3) world [m], t [s]) -> (..., n, 3) [m/s^2].  A field is not silent on the clip.
    """

    at: Callable[[Array, float], Array]

    def add(self, load: Load, step: Step) -> None:
        """mass x acceleration at each body's centre of mass."""
        kin = step.kin
        mass = step.model.inertia[:, 5, 5]
        part = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0)
        com = first_moment(kin.I) * part[:, None]
        force = mass[:, None] * self.at(com + kin.origin[..., None, :], step.t)
        load.add_body(np.arange(step.model.n), np.concatenate((np.cross(com, force), force), axis=-1))


@dataclass(frozen=True, eq=False)
class Air:
    """Drag of still or moving air on points of bodies: force = -area |v| v / 2 x density, linearly implicit.

    bodies: (m,).  points: (m, 3) body frame [m].  area: (m,) drag coefficient x cross section [m^2].
    wind: (3,) or (K, 3) world [m/s].  Drag is not silent on the clip: wind blows on the clip as well.
    """

    bodies: np.ndarray
    points: Array
    area: Array
    wind: Array
    density: float = 1.2

    def __post_init__(self) -> None:
        positive("Air", area=self.area, density=self.density)
        finite("Air", points=self.points, wind=self.wind)

    def add(self, load: Load, step: Step) -> None:
        """Drag on arrival; its tangent is |v| (1 + u u^T) times the coefficient."""
        kin = step.kin
        J = to_point(kin.p[..., self.bodies, :] + apply(kin.R[..., self.bodies, :, :], self.points))[..., 3:, :]
        v = apply(J, kin.V[..., self.bodies, :]) - table(self.wind, step.k, 1)
        speed = np.linalg.norm(v, axis=-1)
        half = 0.5 * self.density * self.area
        u = v / np.maximum(speed, 1e-12)[..., None]
        D = (half * speed)[..., None, None] * (np.eye(3) + u[..., :, None] * u[..., None, :])
        Jt = J.swapaxes(-1, -2)
        drag = -(half * speed)[..., None] * v
        add_wrenches(load, step, self.bodies, apply(Jt, drag), step.h * Jt @ D @ J)
