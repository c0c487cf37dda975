"""Operators that set things up: the demo character, what a figure is, the values of bones."""

from bpy.types import Operator

from ..core.errors import CoreError
from . import bone_properties, checks, demo_character, figures, settings


class DYNAMICS_OT_add_demo_character(Operator):
    """Add a walking character to try reactions on, and set the scene to its walk"""

    bl_idname = "parametric_dynamics.add_demo_character"
    bl_label = "Add Demo Character"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to object mode first.")
            return False
        return True

    def execute(self, context):
        demo_character.build(context)
        return {"FINISHED"}


class DYNAMICS_OT_recognise_bones(Operator):
    """Find out what kind of figure the rig is, how tall it is, and which bone is which"""

    bl_idname = "parametric_dynamics.recognise_bones"
    bl_label = "Recognise Bones"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        return checks.armature(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            figure = figures.find_out(context, armature, settings.roles(armature))
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report(
            {"INFO"},
            "{}, {} of {} bones recognised.".format(
                figure.kind.capitalize(), len(figure.roles), len(armature.data.bones)
            ),
        )
        return {"FINISHED"}


class DYNAMICS_OT_reset_bone_settings(Operator):
    """Give the selected bones (else the active one) no values of their own any more"""

    bl_idname = "parametric_dynamics.reset_bone_settings"
    bl_label = "Reset"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return checks.pose_bone(cls, context)

    def execute(self, context):
        for bone in selected(context) or [checks.bone_of(context)]:
            for name in bone_properties.PROPERTIES:
                bone.property_unset(name)
        return {"FINISHED"}


class DYNAMICS_OT_copy_bone_settings(Operator):
    """Give all selected bones the values of the active one; what a bone is (its role) is not copied"""

    bl_idname = "parametric_dynamics.copy_bone_settings"
    bl_label = "Copy to Selected"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not checks.pose_bone(cls, context):
            return False
        if not others(context):
            cls.poll_message_set("Select further bones in pose mode, the one to copy from last.")
            return False
        return True

    def execute(self, context):
        active = checks.bone_of(context)
        for bone in others(context):
            for name in bone_properties.PROPERTIES:
                if name != "dynamics_role":
                    setattr(bone, name, getattr(active, name))
        checks.armature_of(context).update_tag()  # for `staleness.once`: Blender tells nobody of what Python sets
        return {"FINISHED"}


def selected(context):
    """The selected pose bones of the armature, in pose mode."""
    return list(context.selected_pose_bones_from_active_object or []) if context.mode == "POSE" else []


def others(context):
    """The selected pose bones without the active one."""
    active = checks.bone_of(context)
    return [bone for bone in selected(context) if bone != active]


CLASSES = (
    DYNAMICS_OT_add_demo_character,
    DYNAMICS_OT_recognise_bones,
    DYNAMICS_OT_reset_bone_settings,
    DYNAMICS_OT_copy_bone_settings,
)
