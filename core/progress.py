"""Long work in steps: generators that yield their progress 0..1 and return what they have made; they may be dropped."""

from collections.abc import Generator
from typing import TypeVar

Made = TypeVar("Made")


def run(steps: Generator[float, None, Made]) -> Made:
    """Drain a generator: for callers who don't show progress."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            made: Made = stop.value
            return made


def portion(steps: Generator[float, None, Made], start: float, share: float) -> Generator[float, None, Made]:
    """The same, with its progress as a part of a larger one."""
    try:
        while True:
            yield start + share * next(steps)
    except StopIteration as stop:
        made: Made = stop.value
        return made
    finally:
        steps.close()
