"""Who plays when a body is hit: which bodies move by themselves, and whether the pelvis is free."""

from collections.abc import Mapping, Sequence

import numpy as np

from . import arms
from .actor import Actor
from .blows import Blow
from .errors import SituationError
from .roles import base_role
from .situation import BoneSetting
from .topology import LEG

THROWN = (
    "Velocities above the legs leave the pelvis on the clip, which they would throw. Legs that are struck stay there "
    "too: nothing would hold their feet."
)
FOLLOWERS = ("tail", "ear")  # swing along where anything is simulated and nothing else owns them
Said = Sequence[Sequence[BoneSetting]]


def cast(
    actor: Actor, blows: Sequence[Blow], said: Said, fixed: Mapping[str, str]
) -> tuple[np.ndarray, int, list[str]]:
    """(n,) bool, the bodies that move by themselves, which of them is the free base (-1: none), and warnings.

    said: of each blow what is said of each body.  fixed: bones that something else owns, with the owner.
    Raises SituationError where such a bone would have to be simulated.
    """
    wanted = np.array(_wanted(actor, blows, said, fixed))
    for i, name in enumerate(actor.names):
        if wanted[i] and name in fixed:
            cause = f"is moved by {fixed[name]}. Mute that" if fixed[name] else "has no control. Unlock and show one"
            raise SituationError(f"Bone '{name}' {cause}, or exclude the bone from the simulation.")
    supporting = {role for blow in blows for role in blow.situation.support}
    support = [i for i, r in enumerate(actor.roles) if base_role(r) in supporting and not wanted[i]]
    legs = [i for i, r in enumerate(actor.roles) if base_role(r) in ("thigh", "shin", "foot")]
    thrown = "pelvis" in supporting and _thrown(actor, blows, said, wanted)
    base = actor.first("pelvis") if "pelvis" in supporting and not thrown else -1
    kept = [name in fixed or told(said, i) is False for i, name in enumerate(actor.names)]
    given_up = sorted(i for i in {*support, *legs, base} if i >= 0 and kept[i])
    if base >= 0 and legs and not given_up:
        wanted[support] = True
        return wanted, base, []
    if not given_up:
        free = [not thrown or base_role(r) not in LEG or _asked(blows, said, i) for i, r in enumerate(actor.roles)]
        return wanted & free, -1, [THROWN] if (wanted & ~np.array(free)).any() else []
    name = actor.names[given_up[0]]
    if name not in fixed:
        cause = "is left out of the simulation"
    else:
        cause = f"is moved by {fixed[name]}" if fixed[name] else "has no control"
    return wanted, -1, [f"Bone '{name}' {cause}, so the pelvis stays on the clip, and legs that nothing strikes."]


def told(said: Said, body: int) -> bool | None:
    """Whether situations or the user say that a body is simulated; None where they say nothing of it."""
    simulated = [own[body].simulated for own in said if own[body].simulated is not None]
    return any(simulated) if simulated else None


def _wanted(actor: Actor, blows: Sequence[Blow], said: Said, fixed: Mapping[str, str]) -> list[bool]:
    """Which bodies situations, what is struck, and the user want to be simulated."""
    simulate = {role for blow in blows for role in blow.situation.simulate}
    if simulate:
        owned = {base_role(r) for n, r in zip(actor.names, actor.roles, strict=True) if n in fixed}
        simulate |= {role for role in FOLLOWERS if role not in owned}
    wanted = [base_role(r) in simulate for r in actor.roles]
    for blow in blows:
        for i in {blow.struck, *_nameless(actor, blow.struck, fixed)}:
            wanted[i] = True
    return [want if (own := told(said, i)) is None else own for i, want in enumerate(wanted)]


def _thrown(actor: Actor, blows: Sequence[Blow], said: Said, moving: np.ndarray) -> bool:
    """Whether a free pelvis would be thrown: by velocities above the legs, which come out of nothing."""
    if any(blow.situation.falls for blow in blows):
        return False
    legs = arms.forelegs(actor) | {i for i, role in enumerate(actor.roles) if base_role(role) in LEG}
    above = [i for i in map(int, np.flatnonzero(moving)) if i not in legs]
    return any(_kicked(blows, said, i) for i in above)


def _kicked(blows: Sequence[Blow], said: Said, body: int) -> bool:
    """Whether a blow tells a body a velocity."""
    kicks = [own[body] for blow, own in zip(blows, said, strict=True) if blow.situation.drive == "velocities"]
    return any(own.velocity * own.multiplier for own in kicks)


def _asked(blows: Sequence[Blow], said: Said, body: int) -> bool:
    """Whether a body is told to move by itself, or to start with a velocity."""
    return told(said, body) is True or _kicked(blows, said, body)


def _nameless(actor: Actor, struck: int, fixed: Mapping[str, str]) -> set[int]:
    """What swings with a struck bone that is no part of a body (of a tentacle, a rope, a skirt): those like it that are
    joined to it, but for the one at the root and what something else owns."""
    free = [not role and name not in fixed for role, name in zip(actor.roles, actor.names, strict=True)]
    top = struck
    while free[top] and actor.parent[top] >= 0 and free[int(actor.parent[top])]:
        top = int(actor.parent[top])
    joined = {top} if free[struck] else set()
    for i in range(top + 1, len(free)):  # parents stand before their children
        if free[i] and int(actor.parent[i]) in joined:
            joined.add(i)
    return {i for i in joined if actor.parent[i] >= 0}
