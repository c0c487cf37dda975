"""Which of a rig's bodies a situation's bones are: by the name that a file gave them, by key as name, or by role."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import roles
from .actor import Actor
from .anatomy import Anatomy
from .bodies import measure
from .errors import SituationError
from .roles import base_role
from .situation import BoneSetting, Situation
from .skeleton import Skeleton

Changes = Mapping[str, Mapping[str, Any]]


def settings(actor: Actor, situation: Situation, user: Changes) -> list[BoneSetting]:
    """Every body's setting: what a situation says of it, else the general one, with what the user has set over it.

    user: bone name -> fields of `BoneSetting`.  A bone that is neither of the rig nor of a role is refused by name.
    """
    said = meant(actor, situation)
    out = [said.get(i, BoneSetting()) for i in range(len(actor.names))]
    return [replace(own, **user[name]) if name in user else own for own, name in zip(out, actor.names, strict=True)]


def meant(actor: Actor, situation: Situation) -> dict[int, BoneSetting]:
    """Body -> what a situation says of it.  A bone by name goes before one by role; roles that the rig lacks are left
    out, for rigs differ in how many spines and toes they have."""
    named: dict[int, BoneSetting] = {}
    by_role: dict[int, BoneSetting] = {}
    for key, setting in situation.bones.items():
        name = next((n for n in (setting.bone, key) if n in actor.names), None)
        if name is not None:
            named[actor.names.index(name)] = setting
            continue
        first = actor.first(key)
        bodies = [i for i, role in enumerate(actor.roles) if role and (role == key or i == first)]
        if not bodies and base_role(key) not in (*roles.ROLES, "chest"):
            where = f"{setting.line}: " if setting.line else f"Situation '{situation.name}': "
            raise SituationError(
                f"{where}the rig has no bone '{setting.bone or key}'. "
                "Name one of its bones or a role such as 'L UpperArm', or delete the line."
            )
        by_role |= {i: setting for i in bodies if i not in by_role}
    return {**by_role, **named}


def masses(skeleton: Skeleton, anatomy: Anatomy, situation: Situation, user: Changes) -> dict[str, float]:
    """Bone name -> [kg] of bones to which a situation or the user gives their own mass."""
    own = {name: values["mass"] for name, values in user.items() if "mass" in values and name in skeleton.names}
    if all(setting.mass is None for setting in situation.bones.values()):
        return own
    actor = Actor(skeleton, anatomy, measure(skeleton, anatomy))
    return {actor.names[i]: s.mass for i, s in meant(actor, situation).items() if s.mass is not None} | own
