"""What the tests of control rigs share: a small rig whose controls are known, its reaction, what a rig shows."""

import bpy
import numpy as np
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, demo_character
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import progress, situation
from bl_ext.user_default.parametric_dynamics.core.pose import Envelope

from tests.blender import layer_tools as tools

TURN, SHIFT = 0.5, 2e-3  # [deg], [m on a figure of 1.75 m]
BRIEF = Envelope(0.0, 0.1, 0.3)


def solved(rig, name="shoulder_front", **changes):
    job = jobs.read(bpy.context, rig, situation.named(name).with_changes(**changes))
    return job, progress.run(job.solve())


def shown(rig, names, frames):
    out = []
    for frame in frames:
        tools.set_frame(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append(np.array([seen.pose.bones[name].matrix for name in names], dtype=np.float64))
    return np.stack(out)


def add_puppet():
    """The demo's walk on copies of its bones ("ctl-..."), which the deforming bones follow by Copy Transforms."""
    rig = demo_character.build(bpy.context)
    names = [bone.name for bone in rig.data.bones]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig.data.edit_bones
    for name in names:
        bone, control = edit[name], edit.new("ctl-" + name)
        control.head, control.tail, control.roll = bone.head, bone.tail, bone.roll
        control.use_deform = False
        control.parent = edit["ctl-" + bone.parent.name] if bone.parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for curve in list(actions.all_curves(rig.animation_data.action)):
        curve.data_path = curve.data_path.replace('pose.bones["', 'pose.bones["ctl-')
    for name in names:
        rig.pose.bones["ctl-" + name].rotation_mode = rig.pose.bones[name].rotation_mode
        if rig.data.bones[name].use_deform:
            constraint = rig.pose.bones[name].constraints.new("COPY_TRANSFORMS")
            constraint.target, constraint.subtarget = rig, "ctl-" + name
    bpy.context.view_layer.update()
    return rig
