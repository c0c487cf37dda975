"""Operators for what comes after Apply: curing what hides a reaction, editing the clip below, flattening."""

import contextlib
import math

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy.types import Operator

from ..core.errors import CoreError
from . import (
    actions,
    bone_properties,
    checks,
    flatten,
    layer_undo,
    nla,
    operators_react,
    recipe,
    records,
    settings,
    timing,
)
from .body_properties import FRESH

CURES = (
    ("LEAVE_TWEAK", "Done Editing", "Leave tweak mode, so that all layers play again"),
    ("NLA_ON", "Switch NLA On", "Let the NLA play"),
    ("UNLINK", "Unlink Action", "Take the action off the armature; it is kept in the file"),
    ("SOLO_OFF", "All Tracks Play", "Switch the star of the NLA track off"),
    ("UNMUTE", "Unmute", "Switch the reaction's track and strip on"),
    ("LONGER_SCENE", "Lengthen Scene", "Move the scene's end to the end of the reactions"),
    ("SHOW_POSE", "Pose Position", "Let the armature show its pose instead of its rest position"),
    ("SHOW_OWN", "Show Its Own", "Take the panel and the bones back to what the reaction was made with"),
    ("AUTOKEY_OFF", "Auto Keying Off", "Switch Auto Keying off"),
)


class DYNAMICS_OT_cure(Operator):
    """Put right what the sentence above the button says"""

    bl_idname = "parametric_dynamics.cure"
    bl_label = "Cure"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(name="What", description="What is put right", items=CURES, options=FRESH)
    reaction: StringProperty(name="Reaction", description="Of which reaction", options=FRESH)

    @classmethod
    def description(cls, _context, properties):
        """What this button does."""
        return next(text for kind, _, text in CURES if kind == properties.kind)

    @classmethod
    def poll(cls, context):
        return checks.editable(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            getattr(self, "_" + self.kind.lower())(context, armature)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        armature.update_tag(refresh={"OBJECT", "DATA", "TIME"})
        context.view_layer.update()
        return {"FINISHED"}

    def _leave_tweak(self, context, armature):
        with _nla_editor(context) as found:
            if found and bpy.ops.nla.tweakmode_exit.poll():  # it also clears the scene's own mark
                bpy.ops.nla.tweakmode_exit()
        armature.animation_data.use_tweak_mode = False

    def _nla_on(self, _context, armature):
        armature.animation_data.use_nla = True

    def _unlink(self, _context, armature):
        data = armature.animation_data
        settings, slot = actions.copy_settings(data), actions.slot_identifier(data)
        data.action.use_fake_user = True
        data.action = None
        if settings is not None:
            actions.assign(data, settings, slot)

    def _solo_off(self, _context, armature):
        for track in armature.animation_data.nla_tracks:
            if track.is_solo:
                track.is_solo = False

    def _unmute(self, _context, armature):
        record = operators_react.record_of(armature, self.reaction)
        for track, strip, _ in layer_undo.own_strips(armature, record):
            track.mute = strip.mute = False

    def _longer_scene(self, context, armature):
        kept = armature.parametric_dynamics_reactions
        stretch = timing.stretch(context.scene)
        ends = [record.action.frame_range[1] * stretch for record in kept if record.action is not None]
        context.scene.frame_end = max(context.scene.frame_end, *(math.ceil(end) for end in ends))

    def _show_pose(self, _context, armature):
        armature.data.pose_position = "POSE"

    def _show_own(self, _context, armature):
        record = operators_react.record_of(armature, self.reaction)
        made = recipe.loads(record.recipe)
        settings.put(armature, made)
        bone_properties.put(armature, made)

    def _autokey_off(self, context, _armature):
        context.scene.tool_settings.use_keyframe_insert_auto = False


class DYNAMICS_OT_edit_base(Operator):
    """Edit the clip below the reactions, with the reactions still playing on it (tweak mode)"""

    bl_idname = "parametric_dynamics.edit_base"
    bl_label = "Edit Base"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not checks.reaction(cls, context):
            return False
        if _base_track(checks.armature_of(context)) is None:
            cls.poll_message_set("The clip lies in strips of your own. Choose one in the NLA editor and press Tab.")
            return False
        return True

    def execute(self, context):
        armature = checks.armature_of(context)
        data = armature.animation_data
        if data.action is not None and not actions.only_settings(data):
            self.report({"ERROR"}, "'{}' lies over the reactions. Unlink it first.".format(data.action.name))
            return {"CANCELLED"}
        track, strip = _base_track(armature)
        strips = [(other, other.select) for other in nla.strips_of(data.nla_tracks)]
        for other, _ in strips:
            other.select = other == strip
        layer_undo.note_active(armature)
        data.nla_tracks.active = track
        with _nla_editor(context) as found:
            if found and bpy.ops.nla.tweakmode_enter.poll():
                bpy.ops.nla.tweakmode_enter(use_upper_stack_evaluation=True)
        for other, selected in strips:
            other.select = selected
        if not data.use_tweak_mode:
            text = "Blender can't edit '{}' from here. Choose it in the NLA editor and press Tab."
            self.report({"ERROR"}, text.format(strip.name))
            return {"CANCELLED"}
        return {"FINISHED"}


class DYNAMICS_OT_flatten(Operator):
    """Make one ordinary action of the clip and all its reactions, and take their layers off"""

    bl_idname = "parametric_dynamics.flatten"
    bl_label = "Flatten"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Name", description="Of the new action. Empty: the clip's with 'flat'", options=FRESH)

    @classmethod
    def poll(cls, context):
        return checks.reaction(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            action, notes = flatten.flatten(context, armature, self.name)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for note in notes:
            self.report({"WARNING"}, note)
        operators_react.choose_existing(armature)
        self.report({"INFO"}, "'{}' now plays by itself.".format(action))
        return {"FINISHED"}


# -- shared ------------------------------------------------------------------------------------------------------------


def _base_track(armature):
    """(track, strip) of the clip that was pushed down for the reactions, or None."""
    base = records.base_of(armature)
    strips = layer_undo.pushed_strips(armature.animation_data, base) if base is not None and base.action else []
    return strips[-1] if strips else None


@contextlib.contextmanager
def _nla_editor(context):
    """Lends an area of the window to the NLA editor, whose operators ask for one; gives whether there was any."""
    window = context.window or next(iter(context.window_manager.windows), None)
    areas = [area for area in window.screen.areas if area != context.area] if window is not None else []
    if not areas:
        yield False
        return
    area = next((area for area in areas if area.type == "NLA_EDITOR"), areas[-1])
    kind = area.ui_type
    area.ui_type = "NLA_EDITOR"
    try:
        with context.temp_override(window=window, area=area, region=area.regions[-1]):
            yield True
    finally:
        area.ui_type = kind


CLASSES = (DYNAMICS_OT_cure, DYNAMICS_OT_edit_base, DYNAMICS_OT_flatten)
