"""The built-in demo character: a clothed adult on a plain skeleton, who walks and waves."""

import bpy
import numpy as np

from . import demo_motion, demo_surface
from .demo_pose import Figure
from .demo_shape import MATERIALS
from .demo_skeleton import BONES, DEFORM_BONES

NAME = "Demo Character"
CYCLES_SHOWN = 3
LINEAR = 1


def build(context):
    """Add the demo character to the scene, active and walking; return its armature object.

    The action "Walk" is active and goes on for ever; "Wave" is kept with a fake user. The scene is set to
    24 fps and to three strides.
    """
    rig = _rig(context)
    _body(context, rig)
    figure = Figure(rig.data)
    wave = _action(rig, "Wave", demo_motion.wave(figure))
    walk = _action(rig, "Walk", demo_motion.walk(figure))
    wave.use_fake_user = walk.use_fake_user = True
    scene = context.scene
    scene.render.fps, scene.render.fps_base = demo_motion.FPS, 1.0
    scene.frame_start, scene.frame_end = 1, CYCLES_SHOWN * demo_motion.WALK_FRAMES + 1
    scene.frame_set(1)
    return rig


def assign(rig, action):
    """Make `action` the rig's active action, with its slot where Blender has slots."""
    rig.animation_data_create().action = action
    if hasattr(action, "slots"):
        rig.animation_data.action_slot = action.slots[0]


def _rig(context):
    data = bpy.data.armatures.new(NAME)
    rig = bpy.data.objects.new(NAME, data)
    context.collection.objects.link(rig)
    if context.object and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in context.selected_objects:
        other.select_set(False)
    context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent) in BONES.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.align_roll((0, -1, 0) if abs(tail[1] - head[1]) < abs(tail[2] - head[2]) + 0.05 else (0, 0, 1))
        bone.use_deform = name != "root"
        if parent:
            bone.parent = data.edit_bones[parent]
            bone.use_connect = name != "pelvis" and (bone.head - bone.parent.tail).length < 1e-6
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return rig


def _body(context, rig):
    """The skinned mesh, a child of the rig."""
    skin = demo_surface.build()
    mesh = bpy.data.meshes.new("Demo Body")
    mesh.from_pydata(skin.points, [], skin.quads.tolist())
    for name, colour in MATERIALS.items():
        mesh.materials.append(_material(name, colour))
    mesh.polygons.foreach_set("material_index", skin.materials.astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(skin.quads), dtype=bool))
    mesh.update()
    body = bpy.data.objects.new("Demo Body", mesh)
    context.collection.objects.link(body)
    for bone, weights in zip(DEFORM_BONES, skin.weights.T, strict=True):
        group = body.vertex_groups.new(name=bone)
        for vertex in np.flatnonzero(weights).tolist():
            group.add((vertex,), weights[vertex], "REPLACE")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    return body


def _material(name, colour):
    """A material that looks alike in Workbench (viewport colour) and in a renderer."""
    material = bpy.data.materials.new("Demo " + name)
    material.diffuse_color = (*colour, 1.0)
    material.roughness = 0.7
    if material.node_tree is None:                                   # since 5.0 it is always there
        material.use_nodes = True
    shader = next((node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED"), None)
    if shader:
        shader.inputs["Base Color"].default_value = (*colour, 1.0)
        shader.inputs["Roughness"].default_value = 0.7
    return material


def _action(rig, name, poses):
    """Key the poses on every frame from 1 on, cyclic; leaves the action active on the rig."""
    action = bpy.data.actions.new(name)
    curves = _curves(action, rig)
    frames = np.arange(1, len(poses) + 1)
    for bone in DEFORM_BONES:
        path = rig.pose.bones[bone].path_from_id()
        turns = np.array([pose.basis(bone) for pose in poses])
        flips = np.cumprod(np.sign((turns[1:] * turns[:-1]).sum(axis=1)))
        turns[1:] *= flips[:, None]                                  # q and -q are one turn: no jumps
        for index in range(4):
            _key(curves, bone, path + ".rotation_quaternion", index, frames, turns[:, index])
    places = np.array([pose.pelvis_location() for pose in poses])
    for index in range(3):
        _key(curves, "pelvis", rig.pose.bones["pelvis"].path_from_id("location"), index, frames, places[:, index])
    assign(rig, action)
    return action


def _curves(action, rig):
    """Where the action keeps its f-curves: a channel bag since Blender 4.4, itself before."""
    if not hasattr(action, "layers"):
        action.id_root = "OBJECT"
        return action
    slot = action.slots.new(id_type="OBJECT", name=rig.name)
    return action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)


def _key(owner, bone, path, index, frames, values):
    curve = owner.fcurves.new(path, index=index)
    group = owner.groups.get(bone) or owner.groups.new(bone)
    curve.group = group
    curve.keyframe_points.add(len(frames))
    curve.keyframe_points.foreach_set("co", np.stack([frames, values], axis=1).astype(np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(frames), LINEAR, dtype=np.int32))
    curve.modifiers.new("CYCLES")
    curve.update()
