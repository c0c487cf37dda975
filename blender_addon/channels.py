"""Pose channels as plain arrays: what f-curves and the NLA mix, before Blender makes matrices of them."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..core.errors import ClipError
from ..core.rotation import Array, normalize

# Of rotation modes: the property that they put in force, where it isn't Euler angles.
ROTATION = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}

# [rad] between two frames, farther than bones turn: past a pole two of three angles are off by half a turn.
JUMP = 0.75 * np.pi


def rotation_property(mode: str) -> str:
    """The property that a rotation mode puts in force."""
    return ROTATION.get(mode, "rotation_euler")


@dataclass(frozen=True, eq=False)
class Channels:
    """The evaluated pose channels of all bones of a rig (in `Skeleton` order) and of its object at K frames.

    frames: (K,) frame numbers, may be fractional.  names: n bone names.  modes: n rotation modes
    ("QUATERNION", "XYZ" ..., "AXIS_ANGLE").  location, scale: (K, n, 3).  quaternion: (K, n, 4) wxyz as stored
    (not normalised).  euler: (K, n, 3) [rad].  axis_angle: (K, n, 4) [angle, x, y, z] as Blender stores it.
    Only the rotation that `modes` names is in force.
    object_location, object_scale: (K, 3), object_rotation: (K, 4) or (K, 3) in `object_mode`.
    """

    frames: Array
    names: tuple[str, ...]
    modes: tuple[str, ...]
    location: Array
    scale: Array
    quaternion: Array
    euler: Array
    axis_angle: Array
    object_mode: str
    object_location: Array
    object_rotation: Array
    object_scale: Array

    def at(self, rows: Any) -> "Channels":
        """The channels at some of their frames: indices, a slice or a mask."""
        return replace(self, **{name: getattr(self, name)[rows] for name in self._timed()})

    def followed_by(self, *others: "Channels") -> "Channels":
        """The channels of one rig at the frames of several, in this order."""
        parts = (self, *others)
        return replace(self, **{name: np.concatenate([getattr(p, name) for p in parts]) for name in self._timed()})

    def jumps(self, a: Array, b: Array) -> np.ndarray:
        """(K, 1 + n) whether the rotation of object and bones jumps from rows a (K,) to rows b: an angle by half a
        turn or more, a quaternion to its negative, so that what is shown alike lies apart."""
        own = [(self.object_mode, self.object_rotation), *zip(self.modes, self._turns(), strict=True)]
        return np.stack([_jumps(mode, values[a], values[b]) for mode, values in own], axis=-1)

    def sound(self) -> "Channels":
        """Themselves; ClipError where something in force is no number, as bad keys or drivers leave it."""
        moved = ("the armature object", self.object_location, self.object_rotation, self.object_scale)
        bones = zip(self.names, self.location.swapaxes(0, 1), self._turns(), self.scale.swapaxes(0, 1), strict=True)
        for who, *values in (moved, *(("bone '{}'".format(name), *own) for name, *own in bones)):
            known = np.isfinite(np.concatenate(values, axis=-1)).all(axis=-1)
            if not known.all():
                text = "At frame {:g} a value of {} is no number. Repair the keys that move it there."
                raise ClipError(text.format(self.frames[known.argmin()], who))
        return self

    def _turns(self) -> list[Array]:
        """Of each bone the rotation in force, (K, 3) or (K, 4)."""
        fields = (rotation_property(mode).removeprefix("rotation_") for mode in self.modes)
        return [getattr(self, name)[:, i] for i, name in enumerate(fields)]

    def _timed(self) -> list[str]:
        return [f.name for f in fields(self) if isinstance(getattr(self, f.name), np.ndarray)]


def _jumps(mode: str, a: Array, b: Array) -> np.ndarray:
    """(K,) of the values (K, w) that a rotation mode puts in force."""
    if mode == "QUATERNION":
        return np.sum(a * b, axis=-1) < 0.0
    turned = np.abs(a - b)[..., : 1 if mode == "AXIS_ANGLE" else 3] > JUMP
    flipped = mode == "AXIS_ANGLE" and np.sum(a[..., 1:] * b[..., 1:], axis=-1) < 0.0
    return np.any(turned, axis=-1) | flipped


def mix(name: str, a: Array, b: Array, part: Any) -> Array:
    """Values (..., w) of a field of `Channels` or an RNA property on the way from a to b; part: 0 to 1, broadcast."""
    if not name.endswith("quaternion"):
        return np.asarray(a + part * (b - a))
    a, b = normalize(a), normalize(b)
    return normalize(a + part * (np.where(np.sum(a * b, axis=-1, keepdims=True) < 0.0, -b, b) - a))


def mixed(a: Channels, b: Channels, part: Array) -> Channels:
    """Channels of one rig on the way from a to b, each at K frames; part: (K,), 0 to 1."""
    values = {}
    for name in a._timed():
        own, other = getattr(a, name), getattr(b, name)
        values[name] = mix(name, own, other, part.reshape(-1, *[1] * (own.ndim - 1)))
    return replace(a, **values)


@dataclass(frozen=True, eq=False)
class Target:
    """Where one bone shall be at the keyed frames, as the rotation and location of its `matrix_basis`.

    rotation: (K, 4) wxyz, or None where only the location changes.  location: (K, 3), or None.
    """

    rotation: Array | None = None
    location: Array | None = None


def frame_grid(start: float, end: float) -> Array:
    """Whole frames from start to end, with the two ends themselves where they are fractional."""
    whole = np.arange(np.ceil(start), np.floor(end) + 1.0)
    return np.unique(np.concatenate(([start], whole, [end])))
