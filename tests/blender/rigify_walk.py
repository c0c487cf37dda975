"""A generated Rigify human that walks: legs by IK, arms by FK, the spine by its torso and chest controls.

Rigify ships with Blender; what is generated here is its own, nothing of ours.  In 4.2 and 4.3 its generation spoils the
memory of the Blender it runs in (later imports and exports crash): another one generates, and the tests open its file.
"""

import math
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import addon_utils
import bpy
import numpy as np
from mathutils import Euler, Quaternion, Vector

STRIDE = 28  # frames of two steps
STRIDES = 4
SPEED = 1.1  # [m] a stride
SIDES = (("L", 0.0), ("R", 0.5))


def generate(kind="basic"):
    """A fresh Rigify rig ("basic": 222 bones, "": the full human with 706), named "rig", in a scene of its own."""
    bpy.ops.wm.open_mainfile(filepath=_generated(kind))
    rig = bpy.data.objects["rig"]
    bpy.context.view_layer.objects.active = rig
    return rig


def walking(kind="basic"):
    """A generated rig that walks, as `walk(generate(kind))`; keyed once and opened again from then on."""
    bpy.ops.wm.open_mainfile(filepath=_walked(kind))
    bpy.context.view_layer.objects.active = bpy.data.objects["rig"]
    return bpy.data.objects["rig"]


@cache
def _walked(kind):
    path = _generated(kind).replace(".blend", "_walk.blend")
    walk(generate(kind))
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    return path


@cache
def _generated(kind):
    """Path of a file that another Blender has made."""
    path = str(Path(tempfile.mkdtemp(prefix="parametric_dynamics_")) / "rigify.blend")
    root = str(Path(__file__).resolve().parents[2])
    code = "import bpy, sys; sys.path.insert(0, {!r}); from tests.blender.rigify_walk import save; save({!r}, {!r})"
    code = code.format(root, kind, path)
    binary = bpy.app.binary_path
    command = [binary, "-b", "--factory-startup", "--python-expr", code] if binary else [sys.executable, "-c", code]
    subprocess.run(command, check=False, timeout=300, stdout=subprocess.DEVNULL)
    assert Path(path).is_file(), "Rigify generated no rig"
    return path


def save(kind, path):
    """Generate the rig in this Blender, write the file, and leave at once."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    addon_utils.enable("rigify", default_set=True)
    name = "{}_human_metarig_add".format(kind) if kind else "human_metarig_add"
    getattr(bpy.ops.object, "armature_" + name)()
    metarig = bpy.context.view_layer.objects.active
    before = set(bpy.data.objects)
    bpy.ops.pose.rigify_generate()
    rig = next(item for item in bpy.data.objects if item not in before and item.type == "ARMATURE")
    bpy.data.objects.remove(metarig)
    rig.name = "rig"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    os._exit(0)


def walk(rig, rate=24):
    """Key a walk forward (-y) on the rig's controls: feet by IK, arms by FK."""
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = rate, 1.0
    scene.frame_start, scene.frame_end = 1, 1 + STRIDE * STRIDES
    for side, _ in SIDES:
        rig.pose.bones["upper_arm_parent." + side]["IK_FK"] = 1.0
    for frame in range(1, scene.frame_end + 1, 2):
        phase = (frame - 1) / STRIDE
        for name, (shift, turn) in _pose(phase).items():
            _key(rig.pose.bones[name], frame, shift, turn)
    rig.animation_data.action.name = "Rigify Walk"
    scene.frame_set(1)
    return rig


def _pose(phase):
    """Control -> (shift [m] or None, rotation) from rest, both in the rig's space."""
    sway, bob = math.sin(2.0 * math.pi * phase), math.cos(4.0 * math.pi * phase)
    twist = 0.12 * math.cos(2.0 * math.pi * phase)
    poses = {
        "torso": (Vector((0.02 * sway, -SPEED * phase, -0.045 - 0.018 * bob)), Euler((0.05, 0.0, twist))),
        "chest": (None, Euler((0.06, 0.0, -1.9 * twist))),
        "head": (None, Euler((-0.06, 0.0, 0.8 * twist))),
    }
    for side, offset in SIDES:
        poses["foot_ik." + side] = _foot(phase + offset)
        poses |= _arm(side, phase + offset)
    return poses


def _foot(phase):
    """Planted for three fifths of the stride, then swung through in an arc."""
    step, part = divmod(phase, 1.0)
    stance = 0.6
    lead = 0.3 * SPEED  # the foot lands so far before the hips
    down = step * SPEED
    if part < stance:
        roll = max(0.0, (part - 0.42) / 0.18) * 0.5
        return Vector((0.0, -(down + lead), 0.06 * roll)), Euler((roll, 0.0, 0.0))
    swing = (part - stance) / (1.0 - stance)
    eased = swing * swing * (3.0 - 2.0 * swing)
    lift = math.sin(math.pi * swing)
    tilt = 0.5 * (1.0 - eased) + 0.25 * math.sin(math.pi * swing) - 0.25 * swing * lift
    return Vector((0.0, -(down + lead + eased * SPEED), 0.03 * (1.0 - eased) + 0.09 * lift)), Euler((tilt, 0.0, 0.0))


def _arm(side, phase):
    swing = 0.38 * math.cos(2.0 * math.pi * phase)  # forward when the same leg is back
    sign = 1.0 if side == "L" else -1.0
    down = Euler((0.0, sign * 1.05, 0.0)).to_quaternion()
    upper = Quaternion((1.0, 0.0, 0.0), swing) @ down
    bend = Quaternion((0.0, 0.0, 1.0), -sign * (0.35 - 0.25 * swing))
    return {"upper_arm_fk." + side: (None, upper), "forearm_fk." + side: (None, bend)}


def _key(bone, frame, shift, turn):
    rest = bone.bone.matrix_local.to_3x3()
    if shift is not None:
        bone.location = rest.inverted() @ shift
        bone.keyframe_insert("location", frame=frame)
    turn = turn.to_matrix() if isinstance(turn, (Euler, Quaternion)) else turn
    bone.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
    bone.keyframe_insert("rotation_quaternion", frame=frame)


def deforming(rig):
    """Names of the bones that deform, as Blender says."""
    return [bone.name for bone in rig.data.bones if bone.use_deform]


def shown(rig, names, frames):
    """(frames, bones, 4, 4) evaluated matrices in the rig's space."""
    out = []
    for frame in frames:
        whole = math.floor(frame)
        bpy.context.scene.frame_set(whole, subframe=float(frame - whole))
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append(np.array([seen.pose.bones[name].matrix for name in names], dtype=np.float64))  # not references
    return np.stack(out)


def get_up(rig, face_up=True):
    """The name of an action in which the rig lies, draws its feet up, squats and stands: keyed on its controls."""
    data, bones = rig.animation_data, rig.pose.bones
    walk = data.action
    stored = {bone.name: (bone.location.copy(), bone.rotation_quaternion.copy()) for bone in bones}
    data.action = None
    side = 1.0 if face_up else -1.0
    hips = bones["torso"].bone.head_local.z
    flat = Euler((-side * math.pi / 2.0, 0.0, 0.0))
    # frame: torso's shift and turn, feet's shift and turn
    poses = {
        1: ((0.0, 0.0, 0.13 - hips), flat, (0.0, -side * 0.9, 0.1), flat),
        12: ((0.0, 0.0, 0.13 - hips), flat, (0.0, -side * 0.9, 0.1), flat),
        30: ((0.0, 0.1, 0.2 - hips), Euler((-side * 0.7, 0.0, 0.0)), (0.0, -side * 0.45, 0.02), Euler((0.0, 0.0, 0.0))),
        45: ((0.0, -0.15, 0.5 - hips), Euler((0.6, 0.0, 0.0)), (0.0, -side * 0.25, 0.0), Euler((0.0, 0.0, 0.0))),
        60: ((0.0, -side * 0.25, -0.02), Euler((0.05, 0.0, 0.0)), (0.0, -side * 0.25, 0.0), Euler((0.0, 0.0, 0.0))),
        72: ((0.0, -side * 0.25, -0.02), Euler((0.05, 0.0, 0.0)), (0.0, -side * 0.25, 0.0), Euler((0.0, 0.0, 0.0))),
    }
    for frame, (shift, turn, foot, toes) in poses.items():
        _key(bones["torso"], frame, Vector(shift), turn)
        for name, sign in (("L", 1.0), ("R", -1.0)):
            _key(bones["foot_ik." + name], frame, Vector(foot), toes)
            _key(bones["upper_arm_fk." + name], frame, None, Euler((0.0, sign * (0.5 if frame < 30 else 1.05), 0.0)))
            _key(bones["forearm_fk." + name], frame, None, Euler((0.0, 0.0, -sign * 0.2)))
        for name in ("chest", "head"):
            _key(bones[name], frame, None, Euler((0.0, 0.0, 0.0)))
    made = data.action
    made.name, made.use_fake_user = "Get Up" if face_up else "Push Up", True
    data.action = walk
    for name, values in stored.items():
        bones[name].location, bones[name].rotation_quaternion = values
    return made.name
