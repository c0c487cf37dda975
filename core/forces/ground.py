"""The ground: a plane that bodies cannot sink into, with friction."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..dynamics import kinematics, with_twist
from ..model import Model
from ..reference import Reference
from ..rotation import Array, cross
from ..spatial import apply
from .checks import finite, pointing, positive
from .contact import MARGIN, ahead
from .coulomb import APART, Rows
from .step import Step

NEAR = 0.02  # [m] above the ground from where on a point takes part


@dataclass(frozen=True, eq=False)
class Ground:
    """A plane under m balls fixed in bodies (points of radius 0; a capsule is two balls).

    bodies: (m,).  points: (m, 3) body frame, radius: (m,) [m].  stiffness [N/m], damping [N s/m]: of each ball.
    normal: (3,) of any length, origin: (3,) on the plane, velocity: (3,) of the ground (a treadmill under a clip that
    walks on the spot), world.  static, kinetic: friction coefficients.
    sunk: (K, m) how deep the clip itself is in the ground [m]; only what goes beyond is a contact; see `of_clip`.
    """

    bodies: np.ndarray
    points: Array
    radius: Array
    stiffness: float = 1e5
    damping: float = 3e3
    normal: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    origin: Array = field(default_factory=lambda: np.zeros(3))
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    static: float = 0.9
    kinetic: float = 0.7
    sunk: Array | None = None

    def __post_init__(self) -> None:
        finite("Ground", points=self.points, normal=self.normal, origin=self.origin, velocity=self.velocity)
        pointing("Ground", normal=self.normal)
        positive("Ground", radius=self.radius, stiffness=self.stiffness, damping=self.damping)
        positive("Ground", static=self.static, kinetic=self.kinetic)
        size = np.linalg.norm(self.normal)
        object.__setattr__(self, "normal", np.asarray(self.normal) / size)

    def of_clip(self, model: Model, reference: Reference) -> "Ground":
        """The same ground, silent where the clip's own feet are in it."""
        kin = kinematics(model, reference.arrivals)
        x = kin.p[:, self.bodies] + apply(kin.R[:, self.bodies], self.points)
        h = reference.kicks[:, None]
        depth = self.radius - (x + kin.origin[:, None] - self.origin) @ self.normal
        passing = with_twist(model, kin, reference.passing())
        motion = ahead(model, kin, passing, reference.acceleration, h[..., None])
        v = _velocity(motion[:, self.bodies], x)
        deepest = np.maximum(depth, depth - h * ((v - self.velocity) @ self.normal))
        sunk = np.maximum(deepest, 0.0)
        return replace(self, sunk=sunk + MARGIN)

    def rows(self, step: Step) -> Rows | None:
        """One contact per ball that is near the ground in any member of the batch."""
        kin, n = step.kin, np.asarray(self.normal)
        x = kin.p[..., self.bodies, :] + apply(kin.R[..., self.bodies, :, :], self.points)
        v = _velocity(kin.V[..., self.bodies, :], x)
        depth = self.radius - (x + kin.origin[..., None, :] - self.origin) @ n
        reach = NEAR + 2.0 * step.h * np.abs((v - self.velocity) @ n)
        if self.sunk is not None:
            depth = depth - self.sunk[step.k]
        close = depth > -reach
        near = np.flatnonzero(np.any(close.reshape(-1, len(self.bodies)), axis=0))
        if not len(near):
            return None
        at = x[..., near, :] - self.radius[near, None] * n
        frame = np.stack((n, *tangents(n)))
        wrench = unit_wrenches(step, self.bodies[near], at, np.broadcast_to(frame, at.shape[:-1] + (3, 3)))
        c = len(near)
        one = np.ones(c)
        return Rows(
            wrench=wrench,
            depth=np.where(close, depth, -APART)[..., near],
            stiffness=self.stiffness * one,
            damping=self.damping * one,
            static=self.static * one,
            kinetic=self.kinetic * one,
            drift=np.broadcast_to(frame @ self.velocity, at.shape[:-1] + (3,)),
            bound=0.0 * one,
        )


def _velocity(motion: Array, x: Array) -> Array:
    """(..., 3) linear velocity at shared-frame points x of spatial motions (..., 6)."""
    return motion[..., 3:] + cross(motion[..., :3], x)


def tangents(n: Array) -> tuple[Array, Array]:
    """Two unit vectors (..., 3) square to the unit vectors n (..., 3) and to each other."""
    side = np.where(np.abs(n[..., :1]) < 0.7, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    first = cross(n, side)
    first = first / np.linalg.norm(first, axis=-1, keepdims=True)
    return first, cross(n, first)


def unit_wrenches(step: Step, bodies: np.ndarray, at: Array, frame: Array) -> Array:
    """(..., c, 3, n, 6) wrenches on all bodies of unit forces along the rows of frame (..., c, 3, 3) on the c bodies at
    shared-frame points at (..., c, 3)."""
    force = np.concatenate((cross(np.broadcast_to(at[..., None, :], frame.shape), frame), frame), axis=-1)
    out = np.zeros(frame.shape[:-1] + (step.model.n, 6))
    out[..., np.arange(len(bodies)), :, bodies, :] = np.moveaxis(force, -3, 0)
    return out
