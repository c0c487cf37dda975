"""What is found out about rigs in a session: forgotten when another file is opened, whose rigs may have their names,
and when something is undone or done again, which may take bones away."""

from typing import Any

import bpy
from bpy.app.handlers import persistent

TOLD = ("load_post", "undo_post", "redo_post")
_all: list[dict[Any, Any]] = []


def memory() -> dict[Any, Any]:
    """A dictionary that is emptied when a file is opened, at undo and redo, and when the add-on goes."""
    _all.append({})
    return _all[-1]


@persistent
def forget(*_: Any) -> None:
    """Empty all of them."""
    for known in _all:
        known.clear()


def register() -> None:
    """Be told of files that are opened, of undo and of redo."""
    for name in TOLD:
        getattr(bpy.app.handlers, name).append(forget)


def unregister() -> None:
    """Be told no more."""
    for name in TOLD:
        getattr(bpy.app.handlers, name).remove(forget)
    forget()
