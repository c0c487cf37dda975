"""What is found out about rigs in a session: forgotten when another file is opened, whose rigs may have their names."""

import bpy
from bpy.app.handlers import persistent

_all = []


def memory():
    """A dictionary that is emptied when a file is opened and when the add-on goes."""
    _all.append({})
    return _all[-1]


@persistent
def forget(*_):
    """Empty all of them."""
    for known in _all:
        known.clear()


def register():
    """Be told of files that are opened."""
    bpy.app.handlers.load_post.append(forget)


def unregister():
    """Be told no more."""
    bpy.app.handlers.load_post.remove(forget)
    forget()
