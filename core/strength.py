"""Strengths by name: punches, bullets, pushes, blasts, in newton seconds, with what films add to them."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .errors import SituationError

FILE = Path(__file__).parent / "strengths.toml"


@dataclass(frozen=True)
class Strength:
    """impulse: [N s] of the real thing on a chest of a body of 75 kg, within contact [s].

    gain: times which films exaggerate it.  mass: [kg] of what then seems to strike, see `Hit.mass`.

    figures: how the impulse comes about.  source: where the figures are from.
    """

    name: str
    title: str
    impulse: float
    contact: float
    gain: float
    mass: float
    figures: str
    source: str


@lru_cache(maxsize=1)
def presets() -> dict[str, Strength]:
    """All strengths by name, the weakest kinds first."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {name: Strength(name, **entry) for name, entry in table.items()}


def named(name: str) -> Strength:
    """A strength by name; SituationError lists the names there are."""
    if name not in presets():
        raise SituationError(f"There is no strength '{name}'. Use one of {', '.join(presets())}.")
    return presets()[name]
