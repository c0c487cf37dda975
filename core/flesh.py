"""Which bodies may not run into each other in a reaction: the capsules of limbs, trunk and head."""

import numpy as np

from .actor import Actor
from .forces import Capsules, Flesh
from .model import Model
from .roles import base_role

TRUNK = ("pelvis", "spine", "neck", "head")
ARM = ("upper_arm", "forearm", "hand")
LEG = ("thigh", "shin", "foot")
FREQUENCY = 5.0  # [Hz] of a body pressed against another: an arm is braked over centimetres; chosen by eye
LOSS = 1.0  # [s/m] part of the pressure that comes on top for every m/s: nothing bounces off; chosen by eye


def between(actor: Actor, model: Model, moving: np.ndarray) -> Flesh | None:
    """Arms and hands against all but themselves, shins and feet against the other leg; None where nothing of it moves.

    Where limbs begin they are in the trunk anyway, and so are thighs, which are beside each other.
    """
    part = [_part(role) for role in actor.roles]
    bones = actor.order
    bodies = np.array([i for i, p in enumerate(part) if p and actor.masses.mass[bones[i]] > 0.0], dtype=int)
    ends = np.stack((np.zeros((len(bodies), 3)), actor.axis[bodies]), axis=1)
    capsules = Capsules(bodies, ends, actor.masses.radius[bones[bodies]])
    root = np.array([base_role(actor.roles[i]) in ("upper_arm", "thigh") for i in bodies], dtype=bool)
    found, moves = [], moving[bodies].tolist()
    for a, b in capsules.pairs(model):
        parts = {part[bodies[a]], part[bodies[b]]}
        beside = "trunk" in parts and (root[a] or root[b] or parts & {"leg.L", "leg.R"})
        if len(parts) == 2 and not beside and not (root[a] and root[b]) and (moves[a] or moves[b]):
            found.append((a, b))
    if not found:
        return None
    mass = actor.masses.mass[bones[bodies]]
    return Flesh(capsules, np.array(found), mass, 2.0 * np.pi * FREQUENCY, LOSS)


def _part(role: str) -> str:
    """ "arm.L", "leg.R", "trunk", or "" for what doesn't take part."""
    base, _, side = role.partition(".")
    name = "arm." if base in ARM else "leg." if base in LEG else ""
    return name + side if name else "trunk" if base in TRUNK else ""
