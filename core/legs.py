"""Which of a figure's limbs are legs, how its feet stand at rest, and which legs step together."""

from functools import lru_cache

import numpy as np

from .actor import Actor
from .ik import Limb
from .quality import ground, verdict
from .roles import base_role
from .rotation import Array, rotate

LIMBS = {"foot": ("shin", "thigh"), "hand": ("forearm", "upper_arm")}
STEEP = np.sqrt(0.5)  # sine of the angle of feet that stand on their toes


@lru_cache(maxsize=8)
def legs(actor: Actor) -> tuple[Limb, ...]:
    """Those that end in feet, or in hands that stand beside these.  A bust has none, though for want of feet its
    `soles` are the ends of its arms."""
    figure = verdict.figure_of(actor)
    if not len(figure.having("foot")):
        return ()
    feet = figure.bodies[np.unique(ground.soles(figure).foot)]
    return tuple(limb for foot in feet if (limb := _limb(actor, int(foot))) is not None)


def _limb(actor: Actor, foot: int) -> Limb | None:
    """The leg that ends in a foot."""
    chain, up = [], int(actor.parent[foot])
    for role in LIMBS.get(base_role(actor.roles[foot]), ()):
        while up >= 0 and base_role(actor.roles[up]) != role:
            up = int(actor.parent[up])
        chain.append(up)
    if not chain or min(chain) < 0:
        return None
    lower, upper = chain
    return Limb(upper, lower, foot, actor.hinge_axis(lower))


def bodies(actor: Actor, *limbs: Limb) -> set[int]:
    """Those of legs, from thigh to toes."""
    found = {limb.upper for limb in limbs}
    for i, up in enumerate(actor.parent):  # parents stand before their children
        if int(up) in found:
            found.add(i)
    return found


def parties(roles: list[str]) -> tuple[tuple[int, ...], ...]:
    """Legs by party, from the roles of their feet."""
    diagonal = {"foot.L": 0, "hand.R": 0, "foot.R": 1, "hand.L": 1}
    if sorted(roles) != sorted(diagonal):
        return tuple((leg,) for leg in range(len(roles)))
    return tuple(tuple(leg for leg, role in enumerate(roles) if diagonal[role] == side) for side in (0, 1))


def toed(actor: Actor, foot: int, sole: Array) -> bool:
    """Whether a foot with these points (s, 3) stands on its toes at rest: its ankle is higher than they are ahead.  A
    human at rest may point its toes."""
    if actor.anatomy.kind == "biped":
        return False
    tip = sole[np.argmax(np.linalg.norm(sole, axis=-1))]
    deep = rotate(actor.skeleton.rotation[actor.order[foot]], actor.sign * tip) @ -actor.anatomy.up
    return bool(deep > STEEP * np.linalg.norm(tip))
