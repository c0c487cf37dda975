"""What is worked out when it is first asked for, of objects of which some are made in every sub-step."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class lazily(Generic[Value]):  # noqa: N801  a decorator
    """As functools.cached_property, which takes twice as long up to Python 3.11: it locks."""

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self.make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Value:
        """Asked for the first time; from then on the instance has it itself."""
        value = instance.__dict__[self.name] = self.make(instance)
        return value
