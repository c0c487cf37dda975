"""What must balance: momentum, energy and the centre of mass of the whole body."""

from dataclasses import dataclass

import numpy as np

from ..lanes import laned
from ..model import Model
from ..rotation import Array, rotate
from ..spatial import apply, apply_T, first_moment
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
    world, _ = centre(kin)
    about = total.copy()
    about[..., :3] -= np.cross(world - kin.origin, total[..., 3:])
    kinetic = 0.5 * np.einsum("...ni,...ni->...", kin.V, h)
    return Balance(mass, world, about, kinetic, -mass * (world @ np.asarray(gravity)))


def centre(kin: Kinematics) -> tuple[Array, Array]:
    """(..., 3) place and velocity of the centre of mass, world."""
    whole = kin.I.sum(axis=-3)
    if laned(kin.V):  # to put all bodies' entries in a row would be to copy them
        momentum = apply(kin.I[..., 3:, :], kin.V).sum(axis=-2)
    else:
        flat = kin.I.reshape(kin.I.shape[:-3] + (-1, 6))  # inertias are symmetric
        momentum = apply_T(flat, kin.V.reshape(kin.V.shape[:-2] + (-1,)))[..., 3:]
    mass = whole[..., 5, 5:]
    return first_moment(whole) / mass + kin.origin, momentum / mass


def centre_of(model: Model, q: Array, p: Array) -> Array:
    """(..., 3) the same place in world poses (..., n, 4), (..., n, 3) of all bodies."""
    mass = model.inertia[:, 5, 5]
    moment = mass[:, None] * p + rotate(q, np.broadcast_to(first_moment(model.inertia), p.shape))
    return np.asarray(moment.sum(axis=-2) / mass.sum())
