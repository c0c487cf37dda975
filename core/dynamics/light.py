"""The light-weight simulator (de Heras Ciechomski 2001, ch. 7): bones that don't feel each other's motion.

Each joint answers alone, with the inertia of all it carries, to the force that the clip's own acceleration leaves over.
For very fast hits and for crowds.  On the clip, and for a single moving joint, it is exact.

A stiff spring on a body (a planted foot) moves every joint that carries it: its impedance they feel together, or they
would overshoot without end, or stand in each other's way.  Only then a system is solved.
"""

import numpy as np

from ..model import Model
from ..rotation import Array
from ..spatial import apply, apply_T, solve
from .dense import body_forces, in_joints, joint_forces, with_blocks
from .kinematics import Kinematics
from .load import Load


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (..., nv) of the dynamic degrees of freedom under the load, each joint by itself."""
    expected = model.coordinates(load.expected)
    carried = model.inward(body_forces(model, kin, load, expected))
    rest = joint_forces(model, load) - model.by_dof(apply_T(kin.S, carried))
    if load.Z is not None:
        rest = rest - model.project(apply(load.Z, model.expand(expected)))
    flat = model.inward(kin.I.reshape(kin.I.shape[:-2] + (36,)))
    S = kin.S * model.used[:, None, :]
    D = S.swapaxes(-1, -2) @ flat.reshape(kin.I.shape) @ S + (1.0 - model.used)[:, :, None] * np.eye(model.width)
    if load.Z is not None:
        D = D + model.subspace.swapaxes(-1, -2) @ load.Z @ model.subspace
    if load.body_Z is None:
        return expected + model.by_dof(solve(D, model.table(rest)))
    return expected + solve(with_blocks(model, in_joints(model, kin, load.body_Z), D), rest)
