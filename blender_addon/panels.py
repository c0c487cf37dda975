"""The tab "Dynamics" in the sidebar of the 3D view.  Drawing only reads properties; nothing is analysed here."""

import textwrap

from bpy.types import Panel, UIList

from . import checks, figures, hints, operators_life, staleness

AXES = {"FIGURE": ("Left", "Forward", "Up"), "WORLD": ("X", "Y", "Z")}
CHARACTER = 6.6  # pixels of an average letter at scale 1


class DYNAMICS_UL_reactions(UIList):
    """The armature's reactions"""

    def draw_item(self, _context, layout, _data, item, _item_icon, _active, _property, _index=0):
        """One reaction and the frame of its hit."""
        row = layout.row()
        row.label(text=item.name, icon=_icon(item), translate=False)
        if item.action is not None:
            end = row.row()
            end.alignment = "RIGHT"
            end.label(text="{:g}".format(item.action.frame_range[0]), translate=False)


def _icon(record):
    """What a reaction's state looks like: lost, stale or in order."""
    if record.action is None:
        return "ERROR"
    return "FILE_REFRESH" if staleness.is_stale(record.id_data, record) else "FORCE_FORCE"


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


class DYNAMICS_PT_main(Tab, Panel):
    """Hit, Apply, and the reactions there are"""

    bl_label = "Hit Reaction"
    bl_idname = "DYNAMICS_PT_main"

    def draw(self, context):
        layout = self.layout
        armature = checks.armature_of(context)
        if armature is None:
            wrapped(layout, context, "Select an animated armature, or a mesh that one moves.", "INFO")
            layout.operator("parametric_dynamics.add_demo_character", icon="OUTLINER_OB_ARMATURE")
            return
        _hit(layout, armature)
        button = layout.row()
        button.scale_y = 1.6
        button.operator("parametric_dynamics.apply_hit_reaction", icon="FORCE_FORCE")
        for hint in hints.of(context, armature):
            _hint(layout, context, hint)
        if len(armature.parametric_dynamics_reactions):
            _reactions(layout, armature)


def _hint(layout, context, hint):
    """A sentence, and the button that cures it."""
    wrapped(layout, context, hint.text, "ERROR")
    if hint.cure:
        label = next(name for kind, name, _ in operators_life.CURES if kind == hint.cure)
        cure = layout.operator("parametric_dynamics.cure", text=label, icon="CHECKMARK")
        cure.kind, cure.reaction = hint.cure, hint.reaction


def _hit(layout, armature):
    group = armature.parametric_dynamics
    layout.label(text=armature.name, icon="OUTLINER_OB_ARMATURE", translate=False)
    layout.prop(group, "situation", text="")
    column = _split(layout)
    row = column.row(align=True)
    row.prop_search(group, "bone", armature.data, "bones")
    row.operator("parametric_dynamics.use_active_bone", text="", icon="RESTRICT_SELECT_OFF")
    row = column.row(align=True)
    row.prop(group, "direction_mode")
    row.operator("parametric_dynamics.use_view_direction", text="", icon="VIEW_CAMERA")
    for index, name in enumerate(AXES.get(group.direction_mode, ())):
        column.prop(group, "direction", index=index, text=name)
    column.prop(group, "impulse")
    row = column.row(align=True)
    if group.automatic_frame:
        row = row.row(align=True, heading="Frame")
        row.prop(group, "automatic_frame")
    else:
        row.prop(group, "frame")
        row.prop(group, "automatic_frame", text="", icon="LOOP_BACK")
    row.operator("parametric_dynamics.use_current_frame", text="", icon="TIME")


def _reactions(layout, armature):
    group = armature.parametric_dynamics
    row = layout.row()
    row.template_list(
        "DYNAMICS_UL_reactions", "", armature, "parametric_dynamics_reactions", group, "active_reaction", rows=2
    )
    row.operator("parametric_dynamics.remove_all", text="", icon="TRASH")
    row = layout.row(align=True)
    row.operator("parametric_dynamics.update_reaction", icon="FILE_REFRESH")
    row.operator("parametric_dynamics.remove_reaction", icon="X")
    row = layout.row(align=True)
    row.operator("parametric_dynamics.edit_base", icon="GREASEPENCIL")
    row.operator("parametric_dynamics.flatten", icon="NLA_PUSHDOWN")
    layout.operator("parametric_dynamics.export_fbx", icon="EXPORT")


class DYNAMICS_PT_hit(SubPanel, Panel):
    """Details of the blow"""

    bl_label = "Blow"

    def draw(self, context):
        group = checks.armature_of(context).parametric_dynamics
        column = _split(self.layout)
        column.prop(group, "drive")
        column.prop(group, "along")
        column.prop(group, "contact")
        column.prop(group, "blend")
        column.prop(group, "key_tolerance")


class DYNAMICS_PT_muscles(SubPanel, Panel):
    """How the body answers"""

    bl_label = "Muscles"

    def draw(self, context):
        group = checks.armature_of(context).parametric_dynamics
        column = _split(self.layout)
        for name in ("frequency", "ratio", "base_frequency", "tone", "recovery", "share"):
            column.prop(group, name)


class DYNAMICS_PT_envelope(SubPanel, Panel):
    """How long the reaction shows"""

    bl_label = "Envelope"

    def draw(self, context):
        group = checks.armature_of(context).parametric_dynamics
        column = _split(self.layout)
        for name in ("attack", "sustain", "relaxation", "envelope_mode"):
            column.prop(group, name)
        if group.envelope_mode == "hold":
            column.prop(group, "simulation")


class DYNAMICS_PT_bone(SubPanel, Panel):
    """The active bone's own values"""

    bl_label = "Bone"

    def draw(self, context):
        layout = self.layout
        bone = checks.bone_of(context)
        if bone is None:
            wrapped(layout, context, "Select a bone in pose mode to give it values of its own.", "INFO")
            return
        layout.label(text=bone.name, icon="BONE_DATA", translate=False)
        column = _split(layout)
        _role(column, checks.armature_of(context), bone)
        for name in ("simulated", "mass", "frequency", "ratio", "weight", "custom"):
            column.prop(bone, "dynamics_" + name)
        if bone.dynamics_custom:
            for name in ("angle", "velocity", "multiplier"):
                column.prop(bone, "dynamics_" + name)
        row = layout.row(align=True)
        row.operator("parametric_dynamics.copy_bone_settings", icon="COPYDOWN")
        row.operator("parametric_dynamics.reset_bone_settings", icon="LOOP_BACK")


def _role(column, armature, bone):
    figure = figures.known(armature)
    recognised = figure.roles.get(bone.name, "none") if figure is not None else ""
    column.prop(bone, "dynamics_role", placeholder=recognised)


class DYNAMICS_PT_figure(SubPanel, Panel):
    """What the rig was recognised as"""

    bl_label = "Figure"

    def draw(self, context):
        armature = checks.armature_of(context)
        column = _split(self.layout)
        column.prop(armature.parametric_dynamics, "height")
        figure = figures.known(armature)
        if figure is not None:
            lines = (
                "{}, {:.3g} high in the scene".format(figure.kind.capitalize(), figure.height),
                "{} of {} bones recognised".format(len(figure.roles), len(armature.data.bones)),
                "Usual height {:.3g} m".format(figure.usual),
                figure.note,
            )
            for line in filter(None, lines):
                wrapped(self.layout, context, line)
        self.layout.operator("parametric_dynamics.recognise_bones", icon="VIEWZOOM")


class DYNAMICS_PT_blend(SubPanel, Panel):
    """Two clips at once"""

    bl_label = "Blend"

    def draw(self, _context):
        self.layout.operator("parametric_dynamics.blend_actions", icon="ACTION_TWEAK")


class DYNAMICS_PT_file(SubPanel, Panel):
    """Situations as files"""

    bl_label = "Situation File"

    def draw(self, _context):
        row = self.layout.row(align=True)
        row.operator("parametric_dynamics.load_situation", text="Load", icon="FILE_FOLDER")
        row.operator("parametric_dynamics.save_situation", text="Save", icon="FILE_TICK")


def _split(layout):
    column = layout.column()
    column.use_property_split = True
    column.use_property_decorate = False
    return column


def wrapped(layout, context, text, icon="NONE"):
    """A sentence over as many lines as the sidebar's width asks for."""
    letters = context.region.width / (CHARACTER * context.preferences.system.ui_scale) - (9 if icon != "NONE" else 6)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(textwrap.wrap(text, max(int(letters), 16))):
        column.label(text=line, icon=icon if i == 0 else "BLANK1" if icon != "NONE" else "NONE", translate=False)


CLASSES = (
    DYNAMICS_UL_reactions,
    DYNAMICS_PT_main,
    DYNAMICS_PT_hit,
    DYNAMICS_PT_muscles,
    DYNAMICS_PT_envelope,
    DYNAMICS_PT_bone,
    DYNAMICS_PT_figure,
    DYNAMICS_PT_blend,
    DYNAMICS_PT_file,
)
