"""The tab "Dynamics" in the sidebar of the 3D view.  Drawing reads what is at hand: nothing is analysed anew."""

from bpy.types import Panel, UIList

from . import checklist, checks, figures, hints, panels_hits, remarks, settings, staleness
from .panel_tools import SubPanel, Tab, cure_button, split, wrapped

STATES = {checklist.OK: "CHECKMARK", checklist.WARN: "ERROR", checklist.REFUSE: "CANCEL"}


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
        panels_hits.draw(layout, armature)
        button = layout.row()
        button.scale_y = 1.6
        button.operator("parametric_dynamics.apply_hit_reaction", icon="FORCE_FORCE")
        for hint in hints.of(context, armature):
            wrapped(layout, context, hint.text, "ERROR")
            cure_button(layout, hint.cure, hint.reaction)
        if len(armature.parametric_dynamics_reactions):
            _reactions(layout, context, armature)


def _reactions(layout, context, armature):
    group, record = armature.parametric_dynamics, checks.active_reaction(armature)
    row = layout.row()
    row.template_list(
        "DYNAMICS_UL_reactions", "", armature, "parametric_dynamics_reactions", group, "active_reaction", rows=2
    )
    row.operator("parametric_dynamics.remove_all", text="", icon="TRASH")
    if text := remarks.edited(armature, record):
        wrapped(layout, context, text, "INFO")
    if text := remarks.doubled(armature, record):
        wrapped(layout, context, text, "INFO")
    if text := remarks.unapplied(armature, record):
        wrapped(layout, context, text, "INFO")
        cure_button(layout, "SHOW_OWN", record.name)
    row = layout.row(align=True)
    row.context_pointer_set("dynamics_reaction", record)
    row.operator("parametric_dynamics.update_reaction", icon="FILE_REFRESH")
    row.operator("parametric_dynamics.remove_reaction", icon="X")
    row = layout.row(align=True)
    row.operator("parametric_dynamics.edit_base", icon="GREASEPENCIL")
    row.operator("parametric_dynamics.flatten", icon="NLA_PUSHDOWN")
    row = layout.row(align=True)
    row.operator("parametric_dynamics.export_fbx", icon="EXPORT")
    row.operator("parametric_dynamics.export_takes", text="For Engine", icon="EXPORT")


class DYNAMICS_PT_muscles(SubPanel, Panel):
    """How the body answers"""

    bl_label = "Muscles"

    def draw(self, context):
        group = settings.active(checks.armature_of(context))
        column = split(self.layout)
        for name in ("frequency", "ratio", "base_frequency"):
            column.prop(group, name)
        _replaced(column, group, ("tone", "recovery"), "tone_curve")
        for name in ("share", "coupled", "ranges"):
            column.prop(group, name)
        for name in settings.followed(group):
            wrapped(self.layout, context, "{} follows a curve.".format(group.bl_rna.properties[name].name), "INFO")


def _replaced(column, group, names, curve):
    """Values that a curve replaces, and the curve."""
    plain = column.column()
    plain.active = not getattr(group, curve)
    for name in names:
        plain.prop(group, name)
    column.prop(group, curve)


class DYNAMICS_PT_emphasis(SubPanel, Panel):
    """What the artist makes of the physics"""

    bl_label = "Emphasis"

    def draw(self, context):
        group = settings.active(checks.armature_of(context))
        column = split(self.layout)
        for name in ("counter", "whip", "shift", "dip", "influence"):
            column.prop(group, name)


class DYNAMICS_PT_envelope(SubPanel, Panel):
    """How long the reaction shows"""

    bl_label = "Envelope"

    def draw(self, context):
        group = settings.active(checks.armature_of(context))
        column = split(self.layout)
        column.active = group.end != "stay"  # a body that lies has no envelope
        _replaced(column, group, ("attack", "sustain", "relaxation"), "envelope_curve")
        column.prop(group, "envelope_mode")
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
        column = split(layout)
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
        column = split(self.layout)
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


class DYNAMICS_PT_setup(SubPanel, Panel):
    """What a reaction needs, item by item"""

    bl_label = "Set-up"

    def draw(self, context):
        for item in checklist.of(context, checks.armature_of(context)):
            wrapped(self.layout, context, item.text, STATES[item.state])
            if item.state != checklist.OK and item.cure:
                wrapped(self.layout, context, item.cure, "BLANK1")
            cure_button(self.layout, item.button, item.reaction)


class DYNAMICS_PT_blend(SubPanel, Panel):
    """Two clips at once"""

    bl_label = "Blend"

    def draw(self, _context):
        self.layout.operator("parametric_dynamics.blend_actions", icon="ACTION_TWEAK")


class DYNAMICS_PT_file(SubPanel, Panel):
    """Situations and hits as files"""

    bl_label = "Files"

    def draw(self, _context):
        for what in ("Situation", "Hits"):
            row = self.layout.row(align=True)
            row.label(text=what)
            row.operator("parametric_dynamics.load_" + what.lower(), text="Load", icon="FILE_FOLDER")
            row.operator("parametric_dynamics.save_" + what.lower(), text="Save", icon="FILE_TICK")


CLASSES = (
    DYNAMICS_UL_reactions,
    panels_hits.DYNAMICS_UL_hits,
    DYNAMICS_PT_main,
    DYNAMICS_PT_setup,
    *panels_hits.CLASSES,
    DYNAMICS_PT_muscles,
    DYNAMICS_PT_emphasis,
    DYNAMICS_PT_envelope,
    DYNAMICS_PT_bone,
    DYNAMICS_PT_figure,
    DYNAMICS_PT_blend,
    DYNAMICS_PT_file,
)
