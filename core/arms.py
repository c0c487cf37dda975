"""Which arms hang on a body that is led off its clip, and which of them stay behind it from the start."""

from collections.abc import Sequence

import numpy as np

from . import stance, struck, tuning
from .actor import Actor
from .flesh import ARM
from .roles import base_role
from .situation import BoneSetting
from .skeleton import Clip


def hanging(actor: Actor, clip: Clip, start: float, moving: np.ndarray) -> np.ndarray:
    """(n,) bool, arms on bodies that move (n,) bool; not those that stand from `start` [s] on."""
    found = stance.read(actor, clip, start)
    standing = {i for limb in (found.limbs if found else ()) for i in struck.bodies(actor, limb)}
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
