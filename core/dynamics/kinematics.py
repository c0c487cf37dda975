"""Positions and velocities of all bodies in one world-aligned frame.

All bodies share one frame, parallel to the world at the first body's origin, so that quantities of different
bodies add without transforms: sums along the tree are products with the ancestor matrix.  World poses come by
pointer jumping in log2(depth) products instead of one per level.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..model import Model, State
from ..rotation import Array, cross, to_matrix
from ..spatial import apply, motion_cross, motion_transform, moved_inertia


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Everything that follows from a state alone; spatial quantities in the shared frame at `origin`.

    R: (..., n, 3, 3) body to world.  p: (..., n, 3) body origins relative to `origin`.  origin: (..., 3) world.
    X: (..., n, 6, 6) motions body to shared frame.  I: (..., n, 6, 6) inertias.  S: (..., n, 6, width) joint axes.
    V: (..., n, 6) body velocities.  vx: (..., n, 6, 6) the operator V x.  c: (..., n, 6) V x vJ.
    """

    R: Array
    p: Array
    origin: Array
    X: Array
    I: Array  # noqa: E741  Featherstone's letter
    S: Array
    V: Array
    vx: Array
    c: Array

    def axes(self, model: Model) -> Array:
        """(..., nv, 6) the axis of every degree of freedom, shared frame."""
        columns = np.swapaxes(self.S, -1, -2)
        return columns.reshape(columns.shape[:-3] + (-1, 6))[..., model.slot, :]

    def position(self) -> Array:
        """(..., n, 3) body origins in the world."""
        return self.p + self.origin[..., None, :]

    def wrench(self, point: Array, force: Array) -> Array:
        """(..., 6) shared-frame wrench of a world force [N] that acts at a world point [m]."""
        return np.concatenate((cross(point - self.origin, force), force), axis=-1)


def with_twist(model: Model, kin: Kinematics, twist: Array) -> Kinematics:
    """The same poses with other velocities, twist (..., n, 6)."""
    vJ = apply(kin.X, twist)
    V = model.ancestor @ vJ
    vx = motion_cross(V)
    return replace(kin, V=V, vx=vx, c=apply(vx, vJ))


def poses(model: Model, rotation: Array, position: Array) -> Array:
    """(..., n, 4, 4) body to world, from joint rotations (..., n, 4) and positions (..., n, 3)."""
    shape = rotation.shape[:-2]
    T = np.zeros(shape + (model.n + 1, 4, 4))
    T[..., 3, 3] = 1.0
    T[..., :-1, :3, :3] = to_matrix(rotation)
    T[..., :-1, :3, 3] = position
    T[..., -1, :3, :3] = np.eye(3)
    for up in model.jumps:
        T[..., :-1, :, :] = T[..., up, :, :] @ T[..., :-1, :, :]
    return T[..., :-1, :, :]


def kinematics(model: Model, state: State) -> Kinematics:
    """One pass from joint coordinates to world poses, axes and velocities."""
    T = poses(model, state.rotation, state.position)
    R = T[..., :3, :3]
    origin = T[..., 0, :3, 3].copy()
    p = T[..., :3, 3] - origin[..., None, :]
    T[..., :3, 3] = p
    X, inertia = motion_transform(R, p), moved_inertia(T, model.pseudo)
    S = X @ model.subspace
    vJ = apply(X, state.twist)
    V = model.ancestor @ vJ
    vx = motion_cross(V)
    return Kinematics(R, p, origin, X, inertia, S, V, vx, apply(vx, vJ))
