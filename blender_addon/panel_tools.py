"""What panels share: where they are, and how settings and sentences are laid out."""

import textwrap

from . import checks, operators_life

CHARACTER = 6.6  # pixels of an average letter at scale 1


class Tab:
    """Where the panels are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Dynamics"


class SubPanel(Tab):
    """A closed panel below the main one, there while an armature is."""

    bl_parent_id = "DYNAMICS_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return checks.armature_of(context) is not None


def split(layout):
    """A column of settings with their names to the left."""
    column = layout.column()
    column.use_property_split = True
    column.use_property_decorate = False
    return column


def wrapped(layout, context, text, icon="NONE", taken=0):
    """A sentence over as many lines as the sidebar's width asks for; taken: letters' room of what stands beside it."""
    letters = context.region.width / (CHARACTER * context.preferences.system.ui_scale) - (9 if icon != "NONE" else 6)
    letters -= taken
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(textwrap.wrap(text, max(int(letters), 16))):
        column.label(text=line, icon=icon if i == 0 else "BLANK1" if icon != "NONE" else "NONE", translate=False)


def cure_button(layout, kind, reaction=""):
    """The button that puts something right.  kind: one of `operators_life.CURES`, "UPDATE", "FALL", an operator, ""."""
    if kind == "FALL":
        update = layout.operator("parametric_dynamics.update_reaction", text="Let It Fall", icon="SORT_ASC")
        update.name, update.source, update.fall = reaction, "RECIPE", True
    elif kind == "UPDATE":
        update = layout.operator("parametric_dynamics.update_reaction", icon="FILE_REFRESH")
        update.name, update.source = reaction, "RECIPE"
    elif "." in kind:
        layout.operator(kind, icon="CHECKMARK")
    elif kind:
        label = next(name for this, name, _ in operators_life.CURES if this == kind)
        cure = layout.operator("parametric_dynamics.cure", text=label, icon="CHECKMARK")
        cure.kind, cure.reaction = kind, reaction
