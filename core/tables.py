"""Dataclasses from the tables of TOML files, and values as TOML writes them."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from .errors import SituationError


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The table of a TOML file; SituationError where there is none, saying what was to be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SituationError(f"{what} file '{path}' cannot be read: {error.strerror}. Check the path.") from None
    except UnicodeDecodeError:
        text = f"{what} file '{path}' is not a text in UTF-8. Save it as such, or choose another."
        raise SituationError(text) from None
    except tomllib.TOMLDecodeError as error:
        raise SituationError(f"{what} file '{path}' is not valid TOML: {error}. Correct that line.") from None


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether all of them are, and no truth values."""
    return all(type(value) in (int, float) for value in values)


def _is_curve(points: Sequence[Any]) -> bool:
    return all(isinstance(p, list) and len(p) == 2 and are_numbers(p) for p in points)


KINDS = {
    "str": ("a text", lambda v: isinstance(v, str)),
    "float": ("a number", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)),
    "int": ("a whole number", lambda v: type(v) is int),
    "bool": ("true or false", lambda v: isinstance(v, bool)),
    "tuple[float, ...]": ("a list of numbers", lambda v: isinstance(v, list) and are_numbers(v)),
    "tuple[tuple[float, float], ...]": (
        "a list of [seconds, value] pairs",
        lambda v: isinstance(v, list) and _is_curve(v),
    ),
    "float | tuple[tuple[float, float], ...]": (
        "a number or a list of [seconds, value] pairs",
        lambda v: _is_curve(v) if isinstance(v, list) and v else are_numbers([v]),
    ),
    "tuple[str, ...]": ("a list of texts", lambda v: isinstance(v, list) and all(isinstance(x, str) for x in v)),
    "tuple[float, float, float]": (
        "a list of three numbers",
        lambda v: isinstance(v, list) and len(v) == 3 and all(type(x) in (int, float) for x in v),
    ),
}


def build(kind: type, entry: dict[str, Any], source: str, **rest: Any) -> Any:
    """A dataclass from a table, refusing unknown keys, missing ones and wrong types by name."""
    known = {f.name: f for f in fields(kind) if f.name not in rest}
    values = checked(known, entry, source)
    missing = [n for n, f in known.items() if n not in entry and f.default is MISSING and f.default_factory is MISSING]
    if missing:
        raise SituationError(f"{source}: '{missing[0]}' is missing. Add it.")
    try:
        return kind(**values, **rest)
    except SituationError as error:
        raise SituationError(f"{source}: {error}") from None


def checked(known: Mapping[str, Any], entry: dict[str, Any], source: str) -> dict[str, Any]:
    """The entry's values, if all are known fields and of the right type."""
    values = {}
    for key, value in entry.items():
        if key not in known:
            raise SituationError(f"{source}: '{key}' is unknown. Use one of {', '.join(sorted(known))}.")
        wanted, fits = KINDS[_annotation(known[key].type)]
        if not fits(value):
            raise SituationError(f"{source}: {key} = {value!r} is not {wanted}. Correct that entry.")
        values[key] = tuple(tuple(x) if isinstance(x, list) else x for x in value) if isinstance(value, list) else value
    return values


def _annotation(hint: Any) -> str:
    """A field's type as a key of KINDS: optional and literal types by what they hold."""
    text = hint.__name__ if isinstance(hint, type) and not hasattr(hint, "__args__") else str(hint)
    text = text.removesuffix(" | None")
    return "str" if "Literal" in text else text


def literal(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(literal(v) for v in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return repr(float(value)) if isinstance(value, float) else str(value)
