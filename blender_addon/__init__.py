"""Everything that knows bpy."""

import bpy

from . import (
    bone_properties,
    controls_panel,
    handwork,
    memory,
    operators_blend,
    operators_engine,
    operators_files,
    operators_hits,
    operators_life,
    operators_quality,
    operators_react,
    operators_setup,
    overrides,
    panels,
    panels_quality,
    properties,
    records,
    staleness,
)

CLASSES = (
    *operators_react.CLASSES,
    *operators_setup.CLASSES,
    *operators_hits.CLASSES,
    *operators_files.CLASSES,
    *operators_life.CLASSES,
    *operators_engine.CLASSES,
    *operators_blend.CLASSES,
    *operators_quality.CLASSES,
    *panels.CLASSES,
    *panels_quality.CLASSES,
)
COMMAND = "parametric_dynamics"

_command = None


def register():
    """Everything that Blender has to know of; `unregister` takes it back in reverse."""
    global _command
    memory.register()
    handwork.register()
    records.register()
    properties.register()
    bone_properties.register()
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    controls_panel.register()
    overrides.register()
    staleness.register()
    _command = bpy.utils.register_cli_command(COMMAND, _run)


def unregister():
    """Leave nothing behind."""
    global _command
    bpy.utils.unregister_cli_command(_command)
    _command = None
    staleness.unregister()
    overrides.unregister()
    controls_panel.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    bone_properties.unregister()
    properties.unregister()
    records.unregister()
    handwork.unregister()
    memory.unregister()


def _run(argv):
    """`blender --command parametric_dynamics ...`: the commands are read only when one is called."""
    from . import cli

    return cli.main(argv)
