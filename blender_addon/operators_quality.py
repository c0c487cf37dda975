"""Operators that grade motions and show where they fail."""

import bpy
from bpy.props import FloatProperty, StringProperty
from bpy.types import Operator

from ..core.errors import CoreError
from ..core.quality import judge
from . import checks, quality


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
    """Show the frame where a check failed, with its bone chosen"""

    bl_idname = "parametric_dynamics.go_to_fault"
    bl_label = "Go to Fault"
    bl_options = {"REGISTER", "UNDO"}

    bone: StringProperty(name="Bone", description="The bone to choose", options={"SKIP_SAVE"})
    frame: FloatProperty(name="Frame", description="The frame to show", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context):
        if checks.armature_of(context) is None:
            cls.poll_message_set("Select an armature.")
            return False
        return True

    def execute(self, context):
        armature = checks.armature_of(context)
        bone = armature.data.bones.get(self.bone)
        if bone is not None:
            armature.data.bones.active = bone
            for pose_bone in armature.pose.bones:
                _select(pose_bone, pose_bone.name == self.bone)
        context.scene.frame_set(int(self.frame // 1), subframe=self.frame % 1.0)
        return {"FINISHED"}


def _select(pose_bone, chosen):
    """Blender 5 keeps the selection of pose mode on pose bones, older ones on bones."""
    holder = pose_bone if bpy.app.version >= (5, 0, 0) else pose_bone.bone
    holder.select = chosen


CLASSES = (DYNAMICS_OT_grade_motion, DYNAMICS_OT_go_to_fault)
