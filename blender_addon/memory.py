"""What is found out about rigs in a session: forgotten when another file is opened, whose rigs may have their names."""

from typing import Any

import bpy
from bpy.app.handlers import persistent

_all: list[dict[Any, Any]] = []


def memory() -> dict[Any, Any]:
    """A dictionary that is emptied when a file is opened and when the add-on goes."""
    _all.append({})
    return _all[-1]


@persistent
def forget(*_: Any) -> None:
    """Empty all of them."""
    for known in _all:
        known.clear()


def register() -> None:
    """Be told of files that are opened."""
    bpy.app.handlers.load_post.append(forget)


def unregister() -> None:
    """Be told no more."""
    bpy.app.handlers.load_post.remove(forget)
    forget()
