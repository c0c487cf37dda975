"""The sub-panel that says how good a motion is, and leads to where it fails."""

from bpy.types import Panel

from . import checks, quality
from .panel_tools import SubPanel, wrapped

ICONS = {"good": "CHECKMARK", "less good": "INFO", "bad": "ERROR"}


class DYNAMICS_PT_quality(SubPanel, Panel):
    """Grade of the chosen reaction, and of the motion by itself"""

    bl_label = "Quality"

    def draw(self, context):
        layout = self.layout
        armature = checks.armature_of(context)
        record = checks.active_reaction(armature)
        found = quality.kept(record) if record is not None else None
        if found is not None:
            _grade(layout, context, record.name, found)
        alone = quality.kept(armature.parametric_dynamics)
        if alone is not None:
            _grade(layout, context, "Motion by itself", alone)
        layout.operator("parametric_dynamics.grade_motion", icon="VIEWZOOM")


def _grade(layout, context, name, found):
    """The grade, and a row for every check that failed: what, how much, where, and a button that leads there."""
    box = layout.box()
    box.label(text="{}: {}".format(name, found["grade"]), icon=ICONS.get(found["grade"], "NONE"), translate=False)
    for check, row in quality.failures(found):
        line = box.row()
        text = line.column(align=True)
        icon = ICONS["bad" if quality.is_bad(row) else "less good"]
        text.label(text=quality.headline(check, row), icon=icon, translate=False)
        where = "{}frame {:.0f}; {}".format(row["bone"] and row["bone"] + ", ", row["frame"], quality.limit(row))
        wrapped(text, context, where, "BLANK1", taken=3)
        button = line.operator("parametric_dynamics.go_to_fault", text="", icon="FORWARD")
        button.check, button.bone, button.frame = check, row["bone"], row["frame"]


CLASSES = (DYNAMICS_PT_quality,)
