"""Forward dynamics by the joint-space inertia matrix (composite rigid bodies, Featherstone 2008, ch. 6).

O(n^3) in the solve but few, large numpy calls: faster than the tree solver up to about a hundred degrees of freedom.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..lanes import matmul
from ..model import Model
from ..rotation import Array
from ..spatial import apply, apply_T, solve
from .kinematics import Kinematics
from .load import Load


def body_forces(model: Model, kin: Kinematics, load: Load, u: Array | None = None) -> Array:
    """(..., n, 6) force each body needs beyond the load's wrench, for joint accelerations u (..., nv), None = 0."""
    aJ = load.prescribed if u is None else load.prescribed + model.expand(u)
    a = model.outward(kin.c + apply(kin.X, aJ))
    impeded = None if load.body_Z is None else apply(load.body_Z, a)
    if load.weighs:
        a[..., 3:] -= load.weighs * load.gravity
    f = apply_T(kin.I, a) - apply_T(kin.vx, apply_T(kin.I, kin.V)) - load.wrench
    return f if impeded is None else f + impeded


def joint_impedance(model: Model, Z: Array) -> Array:
    """(..., nv, nv) block-diagonal impedance by degree of freedom from joint impedances (..., n, 6, 6)."""
    return with_blocks(model, np.zeros(Z.shape[:-3] + (model.nv, model.nv)), model.blocks(Z))


def with_blocks(model: Model, H: Array, blocks: Array) -> Array:
    """A matrix (..., nv, nv), which is ours, and what joints have for themselves (..., n, width, width) in it."""
    into, out_of = model.block
    flat = H.reshape(H.shape[:-2] + (-1,))
    flat[into if H.ndim == 2 else (..., into)] += blocks.reshape(blocks.shape[:-3] + (-1,)).take(out_of, axis=-1)
    return flat.reshape(H.shape)


def mass_matrix(model: Model, kin: Kinematics, body_Z: Array | None = None) -> Array:
    """(..., nv, nv) joint-space inertia matrix, body impedances included where given."""
    return in_joints(model, kin, kin.I if body_Z is None else kin.I + body_Z)


def in_joints(model: Model, kin: Kinematics, inertia: Array) -> Array:
    """(..., nv, nv) inertias or impedances of bodies (..., n, 6, 6), shared frame, by degree of freedom."""
    flat = inertia.reshape(inertia.shape[:-2] + (36,))
    composite = model.inward(flat).reshape(inertia.shape)
    F = (composite @ kin.S).reshape(kin.S.shape[:-3] + (-1,)).take(model.entries, axis=-1)
    half = matmul(kin.axes(model.entries), F.swapaxes(-1, -2))
    half *= model.above
    return half + half.swapaxes(-1, -2)


def equations(model: Model, kin: Kinematics, load: Load) -> tuple[Array, Array]:
    """H (..., nv, nv) and C (..., nv) of H u = joint forces - C: inertia with impedance; bias with body forces."""
    H = mass_matrix(model, kin, load.body_Z)
    if load.Z is not None:
        H = with_blocks(model, H, model.blocks(load.Z))
    carried = model.inward(body_forces(model, kin, load))
    return H, model.by_dof(apply_T(kin.S, carried))


def joint_forces(model: Model, load: Load) -> Array:
    """(..., nv) the load's joint forces where no degree of freedom accelerates."""
    off = load.expected - load.prescribed
    return model.project(load.force if load.Z is None else load.force + apply(load.Z, off))


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (..., nv) of the dynamic degrees of freedom under the load."""
    H, C = equations(model, kin, load)
    return solve(H, joint_forces(model, load) - C)


@dataclass(frozen=True, eq=False)
class Factor:
    """The equations of motion of one moment, kept for several: Armstrong & Green's slow band (1985, section 4).

    inverse: (..., nv, nv) of the inertia with impedances.  bias: (..., nv) velocity products, gravity, external forces.
    body: (nv,), axis: (nv, 6) of the degrees of freedom that it is for, as in `Model`.
    """

    inverse: Array
    bias: Array
    body: np.ndarray
    axis: Array

    @classmethod
    def of(cls, model: Model, kin: Kinematics, load: Load) -> "Factor":
        """Factor the equations of this moment."""
        H, C = equations(model, kin, load)
        inverse: Any = np.linalg.inv(H)
        return cls(inverse, C, model.dof_body, model.dof_axis)

    def fits(self, model: Model) -> bool:
        """Whether these are the joints of a model: they may change between two moments."""
        return np.array_equal(self.body, model.dof_body) and np.array_equal(self.axis, model.dof_axis)

    def forward(self, model: Model, load: Load) -> Array:
        """Accelerations (..., nv) for the joint forces of a later moment."""
        return apply(self.inverse, joint_forces(model, load) - self.bias)
