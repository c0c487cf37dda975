"""The library of situations: parts of the body met by bullets, punches, pushes and blasts (library.toml)."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "library.toml"


@lru_cache(maxsize=1)
def _ideas() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def names(kind: str = "") -> tuple[str, ...]:
    """Names of all situations, or of those for a kind of figure ("biped", "quadruped")."""
    parts = _ideas()["parts"]
    wanted = [part for part, entry in parts.items() if kind in ("", entry.get("kind", "biped"))]
    return tuple(f"{part}_{means}" for part in wanted for means in _ideas()["means"])


def table(name: str) -> dict[str, Any]:
    """What `situation.from_table` reads for one of the `names`."""
    part, _, means = name.rpartition("_")
    where, how = dict(_ideas()["parts"][part]), dict(_ideas()["means"][means])
    where.pop("kind", None)
    share = where.pop("share", 1.0)
    title = f"{where.pop('title')}, {how.pop('title').lower()}"
    return {**where, **how, "name": title, "impulse": round(share * how["impulse"], 6)}
