"""Which arms bear a body, which hang on one that is led off its clip, and which of those stay behind it at first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from . import legs, tuning
from .actor import Actor
from .blows import Hit
from .flesh import ARM
from .roles import base_role
from .situation import BoneSetting, Situation
from .topology import LEG

LEVEL = (
    "Velocities for arms and an upright trunk: this body stands on its arms, which walk on as legs do, and its trunk "
    "takes the situation's blow instead."
)


def forelegs(actor: Actor) -> set[int]:
    """Bodies of arms on which a figure stands."""
    limbs = [limb for limb in legs.legs(actor) if base_role(actor.roles[limb.end]) == "hand"]
    return legs.bodies(actor, *limbs)


def on_all_fours(
    actor: Actor, hits: Sequence[tuple[Situation, Hit]], settings: Mapping[str, Mapping[str, Any]]
) -> tuple[list[tuple[Situation, Hit]], list[str]]:
    """The hits on a body that may stand on its arms, and what to say of it.  settings: by bone what the user sets."""
    kicked = {name for name, own in settings.items() if own.get("velocity")}
    out = [(_on_all_fours(actor, situation, kicked), hit) for situation, hit in hits]
    level = any(own is not told for (own, _), (told, _) in zip(out, hits, strict=True))
    return out, [LEVEL] if level else []


def _on_all_fours(actor: Actor, situation: Situation, kicked: set[str]) -> Situation:
    """What velocities of a table for humans say of a body that stands on its arms: these are legs, which carry it on,
    and its trunk lies level, so that it takes the blow for which velocities of an upright one stand.

    kicked: bones to which the user gives velocities, which are meant for this body.
    """
    own = {role for role, said in situation.bones.items() if role in actor.names or said.bone in actor.names}
    told = {role for role, said in situation.bones.items() if role not in own and said.velocity * said.multiplier}
    if situation.drive != "velocities" or all(base_role(role) in LEG for role in told) or not forelegs(actor):
        return situation
    trunk = {role for role in told if base_role(role) not in (*LEG, *ARM)}
    bones = {role: replace(said, velocity=0.0) if role in trunk else said for role, said in situation.bones.items()}
    return situation.with_changes(
        bones=MappingProxyType(bones),
        drive="impulse" if told == trunk and not own | kicked else "velocities",
        envelope=replace(situation.envelope, mode="continue"),
        simulate=Situation.simulate,
        support=Situation.support,
    )


def hanging(actor: Actor, moving: np.ndarray) -> np.ndarray:
    """(n,) bool, arms on bodies that move (n,) bool; not those on which the figure stands."""
    standing = forelegs(actor)
    out = np.zeros(len(moving), dtype=bool)
    for i, role in enumerate(actor.roles):
        carried = moving[tuning.upward(actor.parent, i)].any()
        out[i] = base_role(role) in ARM and i not in standing and carried
    return out


def limp(actor: Actor, hanging: np.ndarray, said: Sequence[Sequence[BoneSetting]]) -> np.ndarray:
    """(n,) bool, of what hangs that which no blow tells a velocity; tendons keep hands to their forearms.

    said: of each blow what it says of the n bodies.
    """
    told = [any(own[i].velocity * own[i].multiplier for own in said) for i in range(len(hanging))]
    return hanging & ~np.array(told) & [base_role(role) != "hand" for role in actor.roles]


def firm(actor: Actor, started: Iterable[int]) -> np.ndarray:
    """(n,) bool, of arms what starts with nothing but what carries it: hands, kept to their forearms by tendons, and
    what carries an arm's own joints that are started, whose speed would be lost in it."""
    carriers = {j for i in started for j in tuning.upward(actor.parent, i)}
    parts = [base_role(role) for role in actor.roles]
    return np.array([part == "hand" or (part in ARM and i in carriers) for i, part in enumerate(parts)])
