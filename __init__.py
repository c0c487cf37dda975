"""Parametric Dynamics: physical hit reactions and follow-through for animated characters."""


def register():
    from . import blender_addon

    blender_addon.register()


def unregister():
    from . import blender_addon

    blender_addon.unregister()
