"""Operators that set things up: the demo character, where and when the hit lands, the values of bones."""

from bpy.types import Operator
from mathutils import Vector

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


class DYNAMICS_OT_use_current_frame(Operator):
    """Let the hit land at the current frame"""

    bl_idname = "parametric_dynamics.use_current_frame"
    bl_label = "Use Current Frame"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return checks.editable(cls, context)

    def execute(self, context):
        group = checks.armature_of(context).parametric_dynamics
        group.automatic_frame, group.frame = False, context.scene.frame_current_final
        return {"FINISHED"}


class DYNAMICS_OT_use_view_direction(Operator):
    """Let the blow push away from you: into the view, as you look at the figure now"""

    bl_idname = "parametric_dynamics.use_view_direction"
    bl_label = "Use View Direction"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.space_data is None or context.space_data.type != "VIEW_3D":
            cls.poll_message_set("Call this from a 3D view.")
            return False
        return checks.editable(cls, context)

    def execute(self, context):
        group = checks.armature_of(context).parametric_dynamics
        group.direction_mode = "WORLD"
        group.direction = context.space_data.region_3d.view_rotation @ Vector((0.0, 0.0, -1.0))
        return {"FINISHED"}


class DYNAMICS_OT_use_active_bone(Operator):
    """Let the blow strike the active bone"""

    bl_idname = "parametric_dynamics.use_active_bone"
    bl_label = "Use Active Bone"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return checks.pose_bone(cls, context)

    def execute(self, context):
        checks.armature_of(context).parametric_dynamics.bone = checks.bone_of(context).name
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
        self.report({"INFO"}, "{}, {} of {} bones recognised.".format(
            figure.kind.capitalize(), len(figure.roles), len(armature.data.bones)))
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
    DYNAMICS_OT_use_current_frame,
    DYNAMICS_OT_use_view_direction,
    DYNAMICS_OT_use_active_bone,
    DYNAMICS_OT_recognise_bones,
    DYNAMICS_OT_reset_bone_settings,
    DYNAMICS_OT_copy_bone_settings,
)
