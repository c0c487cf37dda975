"""Operators that grade motions and show where they fail."""

import bpy
from bpy.props import FloatProperty, StringProperty
from bpy.types import Operator

from ..core.errors import CoreError
from ..core.quality import judge
from . import checks, quality, timing
from .body_properties import FRESH


class DYNAMICS_OT_grade_motion(Operator):
    """Grade what plays on the armature by itself: joint limits, penetration, feet, balance, speeds and jumps"""

    bl_idname = "parametric_dynamics.grade_motion"
    bl_label = "Grade Motion"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return checks.animated(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            actor, clip = quality.read(context, armature)
            found = quality.facts(judge(actor, clip), clip.fps)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        quality.keep(armature.parametric_dynamics, found)
        self.report({"INFO"}, quality.as_text(found, armature.name).splitlines()[0])
        return {"FINISHED"}


class DYNAMICS_OT_go_to_fault(Operator):
    """Show the frame where a check failed, with its bone chosen in pose mode"""

    bl_idname = "parametric_dynamics.go_to_fault"
    bl_label = "Go to Fault"
    bl_options = {"REGISTER", "UNDO"}

    check: StringProperty(name="Check", description="The check that failed", options=FRESH | {"HIDDEN"})
    bone: StringProperty(name="Bone", description="The bone to choose", options=FRESH)
    frame: FloatProperty(name="Frame", description="The frame to show", options=FRESH)

    @classmethod
    def description(cls, _context, properties):
        """What the check says, and where the button leads."""
        name, wrong = quality.CHECKS.get(properties.check, ("", ""))
        return "{}.\n{}".format(wrong, cls.__doc__) if name else cls.__doc__

    @classmethod
    def poll(cls, context):
        return checks.armature(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        bone = armature.pose.bones.get(self.bone)
        if bone is not None:
            _to_pose_mode(context, armature)
            armature.data.bones.active = bone.bone
            for pose_bone in armature.pose.bones:
                _select(pose_bone, pose_bone == bone)
        context.scene.frame_set(round(self.frame * timing.stretch(context.scene)))  # what plays is whole frames
        self.report({"INFO"}, "Frame {}{}".format(round(self.frame), ", bone '{}'".format(self.bone) if bone else ""))
        return {"FINISHED"}


def _to_pose_mode(context, armature):
    """Bones can only be seen to be chosen in pose mode; a hidden armature stays as it is."""
    if armature.mode == "POSE" or not armature.visible_get():
        return
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")


def _select(pose_bone, chosen):
    """Blender 5 keeps the selection of pose mode on pose bones, older ones on bones."""
    holder = pose_bone if bpy.app.version >= (5, 0, 0) else pose_bone.bone
    holder.select = chosen


CLASSES = (DYNAMICS_OT_grade_motion, DYNAMICS_OT_go_to_fault)
