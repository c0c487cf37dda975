"""What the host hands to the core: a rig at rest and its clip, as plain arrays in the rig's own units."""

from dataclasses import dataclass, field

import numpy as np

from .errors import ClipError, ModelError, one_of
from .rotation import Array, multiply, rotate


@dataclass(frozen=True, eq=False)
class Skin:
    """A skinned mesh at rest.

    vertices: (V, 3) armature space.  triangles: (M, 3) vertex indices.
    owner: (V,) index of the bone that moves the vertex most, -1 where none does.
    bones, weights: (V, k) the bones that move the vertex, -1 and 0 where there are fewer; None = its owner alone.
    """

    vertices: Array
    triangles: np.ndarray
    owner: np.ndarray
    bones: np.ndarray | None = None
    weights: Array | None = None


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A rig at rest, armature space, the rig's own units; parents stand before their children.

    names: n bone names.  parent: (n,) rig parent, -1 at roots.
    head, tail: (n, 3).  rotation: (n, 4) rest orientation, wxyz (Blender: y along the bone).
    deform: (n,) bool.  skin: the meshes it moves, joined, or None.
    """

    names: tuple[str, ...]
    parent: np.ndarray
    head: Array
    tail: Array
    rotation: Array
    deform: np.ndarray
    skin: Skin | None = None

    def __post_init__(self) -> None:
        n = len(self.names)
        if n == 0:
            raise ModelError("The armature has no bones. Add bones or choose another armature.")
        for name, shape in (
            ("parent", (n,)),
            ("head", (n, 3)),
            ("tail", (n, 3)),
            ("rotation", (n, 4)),
            ("deform", (n,)),
        ):
            got = np.shape(getattr(self, name))
            if got != shape:
                raise ValueError(f"Skeleton.{name}: expected shape {shape}, got {got}")
        if not np.all(self.parent < np.arange(n)):
            raise ValueError("Skeleton.parent: parents must stand before their children")

    def index(self, name: str) -> int:
        """Index of a bone by name; ModelError where the rig lacks it."""
        try:
            return self.names.index(name)
        except ValueError:
            raise ModelError(f"The armature has no bone '{name}'. {one_of(self.names, name)}") from None


@dataclass(frozen=True, eq=False)
class Clip:
    """The rig's motion as the host shows it, sampled at T frames.

    frames: (T,) ascending frame numbers, may be fractional.  fps: frames per second.
    rotation: (T, n, 4) bone orientation, armature space, without scale or shear.
    position: (T, n, 3) bone heads, armature space, the rig's units.
    object_rotation: (T, 4), object_position: (T, 3) the armature object in the world (position in scene units).
    scale: signed uniform scale of the object: x_world = object_position + object_rotation(scale * x_armature);
        negative where the object is mirrored (the point reflection keeps rotations as they are).
    """

    fps: float
    frames: Array
    rotation: Array
    position: Array
    object_rotation: Array
    object_position: Array
    scale: float = 1.0
    name: str = ""
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.fps > 0.0:
            raise ClipError(f"The scene runs at {self.fps} frames per second. Set a rate above 0.")
        t, n = np.shape(self.rotation)[:2]
        shapes = (("frames", (t,)), ("position", (t, n, 3)), ("object_rotation", (t, 4)), ("object_position", (t, 3)))
        for name, shape in shapes:
            got = np.shape(getattr(self, name))
            if got != shape:
                raise ValueError(f"Clip.{name}: expected shape {shape}, got {got}")
        if t < 2:
            raise ClipError("The clip has fewer than two frames. Choose an action that moves.")
        if not np.all(np.diff(self.frames) > 0.0):
            raise ValueError("Clip.frames: expected ascending frames")
        if not (np.isfinite(self.scale) and self.scale != 0.0):
            raise ClipError(f"The armature object is scaled by {self.scale}. Give it a scale that is not 0.")
        known = [np.isfinite(x).reshape(t, -1).all(axis=1) for x in (self.position, self.object_position)]
        known += [np.any(np.isfinite(x) & (x != 0.0), axis=-1).reshape(t, -1).all(axis=1)
                  for x in (self.rotation, self.object_rotation)]  # fmt: skip
        if not np.all(known):
            frame = self.frames[int(np.all(known, axis=0).argmin())]
            raise ClipError(f"At frame {frame:g} a bone has no pose that can be shown. Repair the action's keys there.")

    @property
    def times(self) -> Array:
        """(T,) seconds since frame 0."""
        return self.frames / self.fps

    def world_rotation(self) -> Array:
        """(T, n, 4) bone orientation in the world."""
        return multiply(self.object_rotation[:, None, :], self.rotation)

    def world_position(self) -> Array:
        """(T, n, 3) bone heads in the world, scene units."""
        return self.object_position[:, None, :] + rotate(self.object_rotation[:, None, :], self.scale * self.position)
