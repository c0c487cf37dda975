"""What must balance: momentum, energy and the centre of mass of the whole body."""

from dataclasses import dataclass

import numpy as np

from ..model import Model
from ..rotation import Array
from ..spatial import apply
from .kinematics import Kinematics


@dataclass(frozen=True, eq=False)
class Balance:
    """mass: kg.  com: (..., 3) world.  momentum: (..., 6) [angular about com, linear] world.

    kinetic, potential: (...,) J; the potential is zero where the centre of mass is at the world's origin.
    """

    mass: float
    com: Array
    momentum: Array
    kinetic: Array
    potential: Array


def balance(model: Model, kin: Kinematics, gravity: Array) -> Balance:
    """Momentum, energies and centre of mass of a state."""
    h = apply(kin.I, kin.V)
    total = h.sum(axis=-2)
    mass = float(model.inertia[:, 5, 5].sum())
    com = _centre(kin)
    about = total.copy()
    about[..., :3] -= np.cross(com, total[..., 3:])
    world = com + kin.origin
    kinetic = 0.5 * np.einsum("...ni,...ni->...", kin.V, h)
    return Balance(mass, world, about, kinetic, -mass * (world @ np.asarray(gravity)))


def centre(kin: Kinematics) -> tuple[Array, Array]:
    """(..., 3) place and velocity of the centre of mass, world."""
    mass = kin.I[..., 5, 5].sum(axis=-1)
    return _centre(kin) + kin.origin, apply(kin.I[..., 3:, :], kin.V).sum(axis=-2) / mass[..., None]


def _centre(kin: Kinematics) -> Array:
    """(..., 3) the centre of mass, shared frame."""
    whole = kin.I.sum(axis=-3)
    moment = whole[..., :3, 3:] / whole[..., 5:, 5:]
    return np.stack((moment[..., 2, 1], moment[..., 0, 2], moment[..., 1, 0]), axis=-1)
