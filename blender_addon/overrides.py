"""Armatures that are library overrides: their settings outlive the file in Blender 5, too, and their own reactions a
namesake in the library.

Blender 5 makes a group of properties when it is first read.  Where the library's object has none yet, the whole group
counts as one difference, which cannot be restored; where it has one, every property counts for itself.
"""

import bpy
from bpy.app.handlers import persistent

from . import records


@persistent
def ready(_path=None, _unused=None):
    """Read the group of every object that an override armature comes from: called before a file is written."""
    for _, theirs in _armatures():
        theirs.parametric_dynamics.bl_rna  # noqa: B018


@persistent
def renamed(_path=None, _unused=None):
    """Call a reaction otherwise whose name the library has given one of its own since: called after a file is opened.

    Reactions are found by name, and the library's can't be changed here.
    """
    for item, theirs in _armatures():
        for record in item.parametric_dynamics_reactions:
            its_own = record.action is not None and record.action.library is None
            if its_own and record.name in theirs.parametric_dynamics_reactions:
                record.name = records.free_name(item, record.name)


def _armatures():
    """Every override armature, and the library's object that it comes from."""
    for item in bpy.data.objects:
        override = item.override_library
        if item.type == "ARMATURE" and override is not None and override.reference is not None:
            yield item, override.reference


def register():
    """Be called before each save and after each load."""
    bpy.app.handlers.save_pre.append(ready)
    bpy.app.handlers.load_post.append(renamed)


def unregister():
    """Be called no more."""
    bpy.app.handlers.save_pre.remove(ready)
    bpy.app.handlers.load_post.remove(renamed)
