"""The part of the tab that says what hits: the list of hits, and the values of the one that is shown."""

import bpy
from bpy.types import Panel, UIList

from ..core import strength as strengths
from ..core.blows import repetition
from . import checks, figures, settings, timing
from .panel_tools import SubPanel, split

AXES = {"FIGURE": ("Left", "Forward", "Up"), "WORLD": ("X", "Y", "Z")}
ICONS = {"LINEAR": "FORCE_FORCE", "ANGULAR": "FORCE_VORTEX", "RADIAL": "FORCE_LENNARDJONES"}


class DYNAMICS_UL_hits(UIList):
    """The hits that make a reaction together"""

    def draw_item(self, _context, layout, _data, item, _icon, _active, _property, _index=0):
        """One hit: what it is called, when it lands, whether it counts."""
        row = layout.row(align=True)
        name = row.row()
        name.active = item.enabled
        name.prop(item, "shown", text="", emboss=False, icon=ICONS[item.kind])
        when = row.row()
        when.alignment = "RIGHT"
        when.active = item.enabled
        when.label(text="auto" if item.automatic_frame else "{:g}".format(round(item.frame, 2)), translate=False)
        row.prop(item, "enabled", text="", emboss=False, icon="CHECKBOX_HLT" if item.enabled else "CHECKBOX_DEHLT")


def draw(layout, armature):
    """The list, and the values of the hit that is shown."""
    holder = settings.active(armature)
    _list(layout, armature)
    layout.prop(holder, "situation", text="")
    column = split(layout)
    _bone(column, armature, holder)
    if holder.kind == "RADIAL":
        _place(column, holder, "origin", "ORIGIN", AXES["WORLD"])
    else:
        _direction(column, holder)
    _strength(column, holder)
    _repeated(column, armature, holder)
    _frame(column, holder)
    column.prop(holder, "end")
    if holder.end == "stay":
        column.prop(holder, "knock_out")
        _given(column, holder, "ground", "Ground")
    group = armature.parametric_dynamics
    column.prop(group, "then", icon="ACTION")
    if group.then:
        column.prop(group, "then_or", icon="ACTION")
        column.prop(group, "then_seconds")
    column.operator("parametric_dynamics.blend_actions", text="Add Stumble Action").at_hit = True


def _list(layout, armature):
    group, hits = armature.parametric_dynamics, armature.parametric_dynamics_hits
    if not len(hits):
        row = layout.row(align=True)
        row.label(text=armature.name, icon="OUTLINER_OB_ARMATURE", translate=False)
        row.operator("parametric_dynamics.add_hit", text="", icon="ADD")
        return
    layout.label(text=armature.name, icon="OUTLINER_OB_ARMATURE", translate=False)
    row = layout.row()
    row.template_list(
        "DYNAMICS_UL_hits", "", armature, "parametric_dynamics_hits", group, "active_hit", rows=max(4, len(hits))
    )
    column = row.column(align=True)
    column.operator("parametric_dynamics.add_hit", text="", icon="ADD")
    column.operator("parametric_dynamics.remove_hit", text="", icon="REMOVE")
    column.operator("parametric_dynamics.add_hit", text="", icon="DUPLICATE").duplicate = True
    column.operator("parametric_dynamics.move_hit", text="", icon="TRIA_UP").way = "UP"
    column.operator("parametric_dynamics.move_hit", text="", icon="TRIA_DOWN").way = "DOWN"


def _bone(column, armature, holder):
    row = column.row(align=True)
    row.prop_search(holder, "bone", armature.data, "bones")
    row.operator("parametric_dynamics.use_cursor", text="", icon="PIVOT_CURSOR").target = "POINT"
    row.operator("parametric_dynamics.use_active_bone", text="", icon="RESTRICT_SELECT_OFF")


def _direction(column, holder):
    row = column.row(align=True)
    row.prop(holder, "direction_mode")
    row.operator("parametric_dynamics.use_cursor", text="", icon="PIVOT_CURSOR").target = "DIRECTION"
    row.operator("parametric_dynamics.use_view_direction", text="", icon="VIEW_CAMERA")
    for index, name in enumerate(AXES.get(holder.direction_mode, ())):
        column.prop(holder, "direction", index=index, text=name)


def _place(column, holder, name, target, axes):
    """A place in space under its name, with a button that takes it from the 3D cursor."""
    row = column.row(align=True)
    row.label(text=holder.bl_rna.properties[name].name)
    row.operator("parametric_dynamics.use_cursor", text="", icon="PIVOT_CURSOR").target = target
    values = column.column(align=True)
    for index, axis in enumerate(axes):
        values.prop(holder, name, index=index, text=axis)


def _strength(column, holder):
    if holder.drive == "velocities":
        return
    if holder.kind == "ANGULAR":
        column.prop(holder, "twist")
    else:
        column.prop(holder, "strength")
    if holder.kind != "ANGULAR" and holder.strength == "IMPULSE":
        column.prop(holder, "impulse")
    elif holder.kind != "ANGULAR" and holder.strength == "STRIKER":
        for name in ("mass", "speed", "bounce"):
            column.prop(holder, name)
    column.prop(holder, "gain")
    felt = _felt(holder)
    if felt:
        row = column.row()
        row.alignment = "RIGHT"
        row.label(text=felt, translate=False)


def _felt(holder):
    """What the body gets, where that is known before it is solved."""
    if holder.kind == "ANGULAR":
        return "= {:.3g} N m s".format(holder.gain * holder.twist)
    if holder.strength == "STRIKER":
        return ""
    own = strengths.presets().get(holder.strength)
    real = holder.impulse if own is None else own.impulse
    where = "" if holder.kind == "RADIAL" else _on_forelegs(holder, real) if own is None else " on a chest"
    return "{:.3g} × {:.3g} = {:.3g} N s{}".format(real, holder.gain, real * holder.gain, where)


def _on_forelegs(holder, real):
    """What an animal's forelegs get of the situation's own strength, where that is something else."""
    figure, times = figures.known(holder.id_data), settings.loaded(holder, "foreleg", 1.0)
    if figure is None or figure.kind != "quadruped" or times == 1.0:
        return ""
    return ", {:.3g} on a foreleg".format(times * real * holder.gain)


def repeated(armature, holder):
    """Part of a hit that tells because others of the list land just before, as far as their frames are known by now."""
    timed = [hit for hit in armature.parametric_dynamics_hits if hit.enabled and not hit.automatic_frame]
    if holder not in timed:
        return 1.0
    frames, rate = sorted(hit.frame for hit in timed), timing.rate(bpy.context.scene)
    return repetition([frame / rate for frame in frames])[frames.index(holder.frame)]


def _repeated(column, armature, holder):
    part = repeated(armature, holder)
    if part < 1.0:
        row = column.row()
        row.alignment = "RIGHT"
        row.label(text="{:g} of it so soon after another".format(part), translate=False)


def _frame(column, holder):
    row = _given(column, holder, "frame", "Frame")
    row.operator("parametric_dynamics.use_current_frame", text="", icon="TIME")


def _given(column, holder, name, heading):
    """A row with what the clip says, or the user's own value and the way back."""
    row, automatic = column.row(align=True), "automatic_" + name
    if getattr(holder, automatic):
        row = row.row(align=True, heading=heading)
        row.prop(holder, automatic)
    else:
        row.prop(holder, name)
        row.prop(holder, automatic, text="", icon="LOOP_BACK")
    return row


class DYNAMICS_PT_hit(SubPanel, Panel):
    """Details of the blow"""

    bl_label = "Blow"

    def draw(self, context):
        armature = checks.armature_of(context)
        holder = settings.active(armature)
        column = split(self.layout)
        column.prop(holder, "drive")
        if holder.drive == "impulse":
            column.prop(holder, "kind")
            if holder.kind != "RADIAL":
                column.prop(holder, "along")
                _place(column, holder, "offset", "POINT", AXES["FIGURE"])
            if holder.kind == "ANGULAR" or holder.strength in ("IMPULSE", "STRIKER"):
                column.prop(holder, "contact")
            column.prop(holder, "seed")


class DYNAMICS_PT_bake(SubPanel, Panel):
    """How the reaction is written"""

    bl_label = "Bake"

    def draw(self, context):
        group = checks.armature_of(context).parametric_dynamics
        column = split(self.layout)
        column.prop(group, "blend")
        column.prop(group, "key_tolerance")


CLASSES = (DYNAMICS_PT_hit, DYNAMICS_PT_bake)
