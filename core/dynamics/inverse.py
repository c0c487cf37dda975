"""Inverse dynamics by the recursive Newton-Euler algorithm (Featherstone 2008, table 5.1)."""

from ..model import Model
from ..rotation import Array
from ..spatial import apply
from .dense import body_forces
from .kinematics import Kinematics
from .load import Load


def inverse(model: Model, kin: Kinematics, load: Load, u: Array | None = None) -> Array:
    """(..., n, 6) force each joint transmits, dual to its twist, body frame, for the accelerations u (..., nv).

    Every joint has all six components: on a prescribed joint they are the reaction that keeps it on its course.
    """
    carried = model.inward(body_forces(model, kin, load, u))
    force = apply(kin.X.swapaxes(-1, -2), carried)
    if load.Z is None:
        return force
    return force + apply(load.Z, load.prescribed - load.expected + (0.0 if u is None else model.expand(u)))


def of_motion(model: Model, kin: Kinematics, acceleration: Array, gravity: Array) -> Array:
    """(..., n, 6) joint forces, body frame, of a whole motion with the twist accelerations (..., n, 6), under gravity
    (3,) or (..., 1, 3) [m/s^2]."""
    load = Load.zero(model, gravity, acceleration.shape[:-2])
    load.prescribed = acceleration
    return inverse(model, kin, load)
