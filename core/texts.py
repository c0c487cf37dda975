"""Curves, lists and ranges as a line of text, for panels and commands: "0 0.3, 0.8 1", "1 0.8 0.5", "neck 15"."""

from collections.abc import Mapping

from .curve import Points
from .errors import SituationError


def curve(text: str, what: str) -> Points:
    """Points (seconds, value), parted by commas."""
    points = tuple(numbers(part, what) for part in text.split(",") if part.strip())
    if any(len(point) != 2 for point in points):
        raise SituationError(f"{what}: '{text}' is no curve. Write pairs of seconds and value, such as '0 0.3, 0.8 1'.")
    return tuple((t, value) for t, value in points)


def numbers(text: str, what: str) -> tuple[float, ...]:
    """Numbers parted by spaces."""
    try:
        return tuple(float(word) for word in text.split())
    except ValueError:
        raise SituationError(f"{what}: '{text.strip()}' is not a row of numbers. Part them by spaces.") from None


def ranges(text: str, what: str) -> dict[str, tuple[float, ...]]:
    """Role -> angles [deg], roles parted by commas."""
    entries = [part.split() for part in text.split(",") if part.strip()]
    return {role: numbers(" ".join(angles), f"{what}, {role}") for role, *angles in entries}


def of_curve(points: Points) -> str:
    """The text that `curve` reads."""
    return ", ".join(of_numbers(point) for point in points)


def of_numbers(values: tuple[float, ...]) -> str:
    """The text that `numbers` reads."""
    return " ".join(f"{value:.6g}" for value in values)


def of_ranges(said: Mapping[str, tuple[float, ...]]) -> str:
    """The text that `ranges` reads."""
    return ", ".join(f"{role} {of_numbers(values)}" for role, values in said.items())
