"""The artist's word on controls: a map kept with the bones, what was found, and where both are shown."""

import bpy
from bpy.props import StringProperty
from bpy.types import Operator, Panel, PoseBone

from ..core.errors import CoreError
from ..core.progress import run
from . import checks, control_rig, properties, settings, timing
from .clip import sample
from .memory import memory
from .panels import SubPanel, wrapped


class DYNAMICS_OT_find_controls(Operator):
    """Find out by trial which controls of the rig move its body, at the current frame"""

    bl_idname = "parametric_dynamics.find_controls"
    bl_label = "Find Controls"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        return checks.editable(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            told, found = look(context, armature)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        _known[armature.name_full] = found
        self.report({"WARNING"} if any(not names for names in found.values()) else {"INFO"}, told)
        return {"FINISHED"}


def look(context, armature):
    """(one sentence, {bone: its controls}) of the rig at the current frame; no bones where it needs no controls."""
    body = control_rig.read(context, armature, settings.roles(armature))
    if not body.controlled:
        return "The bones of '{}' move by themselves: no control is needed.".format(armature.name), {}
    frame = context.scene.frame_current_final / timing.stretch(context.scene)
    matrices, _, channels = sample(context, armature, body.whole, [frame])
    run(body.seek(context, armature, [frame], channels, matrices[:, body.rows][..., :3, 3]))
    found = {name: [] for name in body.stages[0][1].names}
    for control, bones in body.by_control.items():
        for bone in bones:
            found[bone].append(control)
    if not body.fixed:
        text = "{} controls move the {} bones of the body."
        return text.format(len(body.by_control), len(found)), found
    name, owner = next(iter(body.fixed.items()))
    found.update(dict.fromkeys(body.fixed, []))
    text = "No control moves '{}'{}. Give it one in the Bone panel, or {}."
    owned = (", which {} owns".format(owner), "mute that") if owner else ("", "unlock and show one")
    return text.format(name, *owned), found


_known = memory()


class DYNAMICS_PT_controls(SubPanel, Panel):
    """Which controls a reaction is written to"""

    bl_label = "Controls"

    def draw(self, context):
        armature, bone = checks.armature_of(context), checks.bone_of(context)
        found = _known.get(armature.name_full, {})
        if bone is not None:
            self.layout.prop_search(bone, control_rig.MAP, armature.pose, "bones", text=bone.name, translate=False)
            if bone.name in found:
                own = found[bone.name]
                wrapped(self.layout, context, "Moved by " + ", ".join(own) if own else "No control moves it.")
        lost = [name for name, own in found.items() if not own]
        if lost:
            wrapped(self.layout, context, "No control moves {}.".format(", ".join(lost)), "ERROR")
        self.layout.operator("parametric_dynamics.find_controls", icon="VIEWZOOM")


CLASSES = (DYNAMICS_OT_find_controls, DYNAMICS_PT_controls)


def register():
    """Hang the map on pose bones: a property of each deforming bone names its control."""
    setattr(
        PoseBone,
        control_rig.MAP,
        StringProperty(
            name="Control",
            description="The control that moves this bone where a reaction can't move it itself. Empty: found by trial",
            override=properties.OVERRIDE,
        ),
    )
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    """Leave nothing behind."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    delattr(PoseBone, control_rig.MAP)
