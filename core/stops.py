"""What a rig's author allows bones to turn: ranges of Euler angles off the rest pose, as Blender's own limits say them.

Blender's Limit Rotation takes a bone's turn off its rest pose apart into Euler angles, brings each into its range on
the nearer side and puts them together again.  `Stops.kept` does the same.  The clip's own angles are always allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from . import eulers
from .eulers import TAU
from .model import Model
from .reference import to_joints, to_world
from .rotation import Array, conjugate, multiply
from .skeleton import Skeleton

FREE = (-np.inf, np.inf)
LOCKED = (np.inf, -np.inf)  # empty: what the clip does is all there is
SAME = 1e-9  # [rad]
STEEP = 0.2  # cosine of the middle angle below which the outer two turn about almost the same axis


@dataclass(frozen=True)
class Stop:
    """Ranges [rad] of a bone's Euler angles about x, y and z off its rest pose; `FREE` and `LOCKED` are ranges too.

    sources: who says so of each axis, for people.
    """

    order: str
    ranges: tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
    sources: tuple[str, str, str] = ("", "", "")

    @property
    def whole(self) -> bool:
        """Whether it says everything there is to say of the joint."""
        return FREE not in self.ranges

    @property
    def said_by(self) -> list[str]:
        """The sources of what isn't free, each once."""
        told = zip(self.ranges, self.sources, strict=True)
        return list(dict.fromkeys(source for extent, source in told if source and extent != FREE))

    def __str__(self) -> str:
        """ "x -10 to 10, z 0 to 90 (constraint 'Limit Rotation'), y as the clip has it (locked rotation)"."""
        told: dict[str, list[str]] = {}
        for axis, (low, high), source in zip("xyz", self.ranges, self.sources, strict=True):
            extent = f"{np.degrees(low):.4g} to {np.degrees(high):.4g}" if low <= high else "as the clip has it"
            if (low, high) != FREE:
                told.setdefault(source, []).append(f"{axis} {extent}")
        return ", ".join(f"{', '.join(parts)} ({source})" for source, parts in told.items())

    def __post_init__(self) -> None:
        if sorted(self.order) != ["X", "Y", "Z"] or np.isnan(self.ranges).any() or np.shape(self.ranges) != (3, 2):
            raise ValueError(f"Stop: expected an order of X, Y, Z and three ranges, got {self.order} and {self.ranges}")


@dataclass(frozen=True, eq=False)
class Stops:
    """The stops of m bodies.

    bodies: (m,).  rest: (m, 4) their joint rotation at rest.  axes: (m, 3) in the order in which the angles turn.
    low, high: (m, 3) of the angles in that order [rad].  whole: (m,) `Stop.whole`.
    """

    bodies: np.ndarray
    rest: Array
    axes: np.ndarray
    low: Array
    high: Array
    whole: np.ndarray

    @classmethod
    def of(cls, stops: Mapping[str, Stop], skeleton: Skeleton, order: np.ndarray, parent: np.ndarray) -> "Stops":
        """stops: by bone.  order: (n,) bone of each body, parent: (n,) body that carries it."""
        bodies = [i for i, bone in enumerate(order) if skeleton.names[bone] in stops]
        if any(parent[i] < 0 for i in bodies):
            raise ValueError("Stops: a body that nothing carries has no rest pose to turn off")
        said = [stops[skeleton.names[order[i]]] for i in bodies]
        axes = np.array([eulers.axes_of(stop.order) for stop in said]).reshape(-1, 3)
        ranges = np.take_along_axis(np.array([stop.ranges for stop in said]).reshape(-1, 3, 2), axes[..., None], axis=1)
        rest = skeleton.rotation[order]
        return cls(
            bodies=np.array(bodies, dtype=int),
            rest=multiply(conjugate(rest[parent[bodies]]), rest[bodies]),
            axes=axes,
            low=ranges[..., 0],
            high=ranges[..., 1],
            whole=np.array([stop.whole for stop in said], dtype=bool),
        )

    def among(self, moving: np.ndarray) -> "Stops | None":
        """Those of the bodies `moving` (n,), None where it is none of them."""
        kept = moving[self.bodies]
        names = ("bodies", "rest", "axes", "low", "high", "whole")
        return replace(self, **{name: getattr(self, name)[kept] for name in names}) if kept.any() else None

    def angles(self, rotation: Array) -> Array:
        """(..., m, 3) Euler angles of joint rotations (..., n, 4)."""
        d = multiply(conjugate(self.rest), rotation.take(self.bodies, axis=-2))
        return self._sign * eulers.angles("XYZ", self._relabelled(d))

    def gradients(self, angles: Array) -> Array:
        """(..., m, 3, 3) of the angles by the joint's angular velocity, body frame; bounded where two axes meet."""
        a, b, _ = np.moveaxis(self._sign * angles, -1, 0)
        sin, cos, tilt, zero = np.sin(a), np.cos(a), np.cos(b), np.zeros_like(a)
        over = np.where(tilt < 0.0, -1.0, 1.0) / np.maximum(np.abs(tilt), STEEP)
        first = np.stack((np.ones_like(a), np.sin(b) * sin * over, np.sin(b) * cos * over), axis=-1)
        rows = np.stack((first, np.stack((zero, cos, -sin), axis=-1), np.stack((zero, sin, cos), axis=-1)), axis=-2)
        rows[..., 2, :] *= over[..., None]
        return np.take_along_axis(rows, np.broadcast_to(self._places[:, None], rows.shape), axis=-1)

    def rotations(self, angles: Array) -> Array:
        """(..., m, 4) joint rotations of Euler angles (..., m, 3): the inverse of `angles`."""
        d = eulers.to_quaternion("XYZ", self._sign * angles)
        back = self._sign * np.take_along_axis(d[..., 1:], np.broadcast_to(self._places, d[..., 1:].shape), axis=-1)
        return multiply(self.rest, np.concatenate((d[..., :1], back), axis=-1))

    def widened(self, clip: Array) -> tuple[Array, Array, Array]:
        """(low, high) ends (..., m, 3) of the ranges where the clip's joint rotations (..., n, 4) are allowed too, and
        its angles (..., m, 3)."""
        own = nearest(self.angles(clip), self.low, self.high)
        return np.minimum(self.low, own), np.maximum(self.high, own), own

    def kept(self, rotation: Array, clip: Array) -> Array:
        """The joint rotations (T, n, 4) with what goes beyond the ranges, and beyond the clip (T, n, 4), cut off."""
        low, high, _ = self.widened(clip)
        angles = nearest(self.angles(rotation), low, high)
        inside = np.clip(angles, low, high)
        off = np.abs(inside - angles).max(axis=-1) > SAME
        out = rotation.copy()
        out[:, self.bodies] = np.where(off[..., None], self.rotations(inside), rotation[:, self.bodies])
        return out

    def cut(self, model: Model, clip: tuple[Array, Array], shown: tuple[Array, Array]) -> tuple[Array, Array]:
        """World poses (T, n, 4), (T, n, 3) whose joints are `kept`; clip: those of the clip."""
        rotation, position = to_joints(model, *shown)
        return to_world(model, self.kept(rotation, to_joints(model, *clip)[0]), position)

    @cached_property
    def _sign(self) -> Array:
        """(m, 1) -1 where the order is a mirror image of XYZ: turns about mirrored axes go the other way."""
        return np.where((self.axes[:, 1] - self.axes[:, 0]) % 3 == 1, 1.0, -1.0)[:, None]

    @cached_property
    def _places(self) -> np.ndarray:
        """(m, 3) place of x, y and z in the order."""
        return np.argsort(self.axes, axis=-1)

    def _relabelled(self, d: Array) -> Array:
        """Quaternions (..., m, 4) with the axes called x, y, z in the order in which the angles turn."""
        v = np.take_along_axis(d[..., 1:], np.broadcast_to(self.axes, d[..., 1:].shape), axis=-1)
        return np.concatenate((d[..., :1], self._sign * v), axis=-1)


def nearest(angles: Array, low: Array, high: Array) -> Array:
    """The angles on the turn that is nearest to the middle of their range, where it has one."""
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = np.where(bounded, 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0)), angles)
    locked = low > high
    return angles - TAU * np.round((angles - np.where(locked, angles, middle)) / TAU)
