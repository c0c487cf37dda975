"""Settings of armatures that are library overrides outlive the file in Blender 5, too.

Blender 5 makes a group of properties when it is first read.  Where the library's object has none yet, the whole group
counts as one difference, which cannot be restored; where it has one, every property counts for itself.
"""

import bpy
from bpy.app.handlers import persistent


@persistent
def ready(_path=None, _unused=None):
    """Read the group of every object that an override armature comes from: called before a file is written."""
    for item in bpy.data.objects:
        override = item.override_library
        if item.type == "ARMATURE" and override is not None and override.reference is not None:
            override.reference.parametric_dynamics.bl_rna  # noqa: B018


def register():
    """Be called before each save."""
    bpy.app.handlers.save_pre.append(ready)


def unregister():
    """Be called no more."""
    bpy.app.handlers.save_pre.remove(ready)
