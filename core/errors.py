"""What a user can cure.  Anything else that is raised is a bug and must show."""

from collections.abc import Sequence
from difflib import get_close_matches

FEW = 6  # names that are all told


class CoreError(Exception):
    """One sentence naming the thing and the cure: "Bone 'hand.L' has no mass. Give it a mass above 0 kg."."""


class ModelError(CoreError):
    """The body cannot be simulated as it stands."""


class SituationError(CoreError):
    """A situation file or its fit to a rig is wrong."""


class ClipError(CoreError):
    """The clip cannot carry the reaction."""


class SimulationError(CoreError):
    """The simulation left the range in which its result means anything."""


def one_of(names: Sequence[str], wrong: str) -> str:
    """The cure for the name of a bone that a rig lacks: all of its bones where they are few, else what is most like
    it."""
    told = list(names) if len(names) <= FEW else get_close_matches(wrong, names, n=3)
    listed = ", ".join(f"'{name}'" for name in told)
    return f"Choose one of its {len(names)} bones" + (f", such as {listed}." if told else ".")
