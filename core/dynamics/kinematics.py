"""Positions and velocities of all bodies in one world-aligned frame.

All bodies share one frame, parallel to the world at the first body's origin, so that quantities of different
bodies add without transforms: sums along the tree are products with the ancestor matrix.  World poses of a single body
come by pointer jumping in log2(depth) products instead of one per level.
"""

from dataclasses import dataclass

import numpy as np

from ..lanes import arranged, product, rows, zeros
from ..lazily import lazily
from ..model import Model, State
from ..rotation import Array, cross
from ..spatial import apply, motion_cross, motion_transform, moved_inertia

UNMOVED: Array = np.eye(4)


@dataclass(eq=False)  # not frozen: two are made in every sub-step, see `forces.step.Step`
class Kinematics:
    """Everything that follows from a state alone; spatial quantities in the shared frame at `origin`.

    R: (..., n, 3, 3) body to world.  p: (..., n, 3) body origins relative to `origin`.  origin: (..., 3) world.
    X: (..., n, 6, 6) motions body to shared frame.  I: (..., n, 6, 6) inertias.  S: (..., n, 6, width) joint axes;
    columns of unused slots mean nothing.
    vJ: (..., n, 6) body velocities relative to the parents, V: (..., n, 6) in the world.
    """

    R: Array
    p: Array
    origin: Array
    X: Array
    I: Array  # noqa: E741  Featherstone's letter
    S: Array
    vJ: Array
    V: Array

    @lazily
    def vx(self) -> Array:
        """(..., n, 6, 6) the operator V x."""
        return motion_cross(self.V)

    @lazily
    def c(self) -> Array:
        """(..., n, 6) V x vJ."""
        return apply(self.vx, self.vJ)

    def axes(self, entries: np.ndarray) -> Array:
        """Joint axes (..., m, 6), shared frame; entries: (m, 6) as in `Model.entries`."""
        return self.S.reshape(self.S.shape[:-3] + (-1,)).take(entries, axis=-1)

    def in_lanes(self) -> "Kinematics":
        """The same of a batch, lying as `lanes` do."""
        R, X, inertia, S = (arranged(x, 2) for x in (self.R, self.X, self.I, self.S))
        p, vJ, V = (arranged(x) for x in (self.p, self.vJ, self.V))
        return Kinematics(R, p, self.origin, X, inertia, S, vJ, V)

    def position(self) -> Array:
        """(..., n, 3) body origins in the world."""
        return self.p + self.origin[..., None, :]

    def wrench(self, point: Array, force: Array) -> Array:
        """(..., 6) shared-frame wrench of a world force [N] that acts at a world point [m]."""
        return np.concatenate((cross(point - self.origin, force), force), axis=-1)


def with_twist(model: Model, kin: Kinematics, twist: Array) -> Kinematics:
    """The same poses with other velocities, twist (..., n, 6)."""
    vJ = apply(kin.X, twist)
    return Kinematics(kin.R, kin.p, kin.origin, kin.X, kin.I, kin.S, vJ, model.outward(vJ))


def poses(model: Model, state: State) -> Array:
    """(..., n, 3, 4) body to world."""
    if state.rotation.ndim == 2:
        T = np.empty((model.n + 1, 4, 4))
        T[...] = UNMOVED
        own = T[:-1]
        own[:, :3, :3] = state.R
        own[:, :3, 3] = state.position
        for up in model.jumps:
            np.matmul(T.take(up, axis=0), own, out=own)
        return own[:, :3]
    levels = model.levels  # for many bodies calls don't count, but each product does
    by_depth = zeros(state.position, 3, 4)
    by_depth[..., :3], by_depth[..., 3] = rows(state.R, levels.order, 2), rows(state.position, levels.order)
    for level in levels.inner:
        up, of_level = rows(by_depth, level.parent, 2), by_depth[..., level.bodies, :, :]
        of_level[...] = product(up[..., :3], of_level)
        of_level[..., 3] += up[..., 3]
    return rows(by_depth, levels.place, 2)


def kinematics(model: Model, state: State) -> Kinematics:
    """One pass from joint coordinates to world poses, axes and velocities."""
    T = poses(model, state)
    R, p = T[..., :3], T[..., 3]
    origin = p[..., 0, :].copy()
    p -= origin[..., None, :]
    X, inertia = motion_transform(R, p), moved_inertia(T, model.pseudo)
    vJ = apply(X, state.twist)
    return Kinematics(R, p, origin, X, inertia, model.axes(X), vJ, model.outward(vJ))
