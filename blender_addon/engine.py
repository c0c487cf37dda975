"""Takes for game engines: a reaction by itself, named, trimmed, from frame 0 on, with the root motion an engine wants.

A double of the character carries the motion as the scene shows it, baked to one plain action; `export` writes the
double.  The scene, its names and its frames are as they were afterwards.
"""

import contextlib
import math
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix

from ..core.errors import CoreError
from ..core.rotation import conjugate, continuous, multiply
from . import actions, export, muting, records, rig, sampling, timing
from .actions import Channel, Curve, bone_path

ROOTS = (
    ("KEEP", "As Animated", "Bones and object travel as they do in the scene"),
    ("IN_PLACE", "In Place", "The root stays over one spot; the engine moves the character"),
    ("BONE", "Root Bone", "All travel on the root bone; the object stands still"),
    ("OBJECT", "Object", "All level travel on the armature object; the root bone stays over it"),
)
ADDITIVE = (
    ("NONE", "Whole Motion", "The clip with the reaction"),
    ("LOCAL", "Additive (Unity, Godot)", "The reaction over the rest pose, to be applied after a bone's own turn"),
    ("PARENT", "Additive (Unreal)", "The reaction over the rest pose, to be applied before a bone's own turn"),
)


@dataclass(frozen=True)
class Take:
    """How a reaction is written.  root, additive: see ROOTS and ADDITIVE.  marker: whether it has an empty "impact"."""

    root: str = "KEEP"
    additive: str = "NONE"
    marker: bool = True


def write(context, armature, record, path, take):
    """Write a reaction to .fbx or .glb as one take called like it, from frame 0 on; facts for the engine."""
    kind = Path(path).suffix.lower()
    if kind not in (".fbx", ".glb"):
        raise export.FileError("'{}' is no file for an engine. Use .fbx or .glb.".format(Path(path).name))
    rig.require_posed(armature)
    if record.action is None:
        raise CoreError("The layer of '{}' was deleted. Update it, then export.".format(record.name))
    first, last = (math.floor(record.action.frame_range[0]), math.ceil(record.action.frame_range[1]))
    frames = np.arange(first, last + 1.0)
    skeleton = rig.read(context, armature)
    shown, world, _ = sampling.sample_scene(context, armature, skeleton, frames)
    base = _below(context, armature, record, skeleton, frames) if take.additive != "NONE" else None
    shown, world = _rooted(skeleton, shown, world, take.root)
    facts = _facts(context, armature, record, frames, take)
    with _double(context, armature) as double:
        _perform(double, skeleton, shown, world, base, take)
        besides = _markers(context, double, facts["hits"]) if take.marker else []
        save = export.fbx if kind == ".fbx" else export.glb
        save(context, double, path, name=record.name, frames=(0, len(frames) - 1), besides=besides)
    return facts


def _below(context, armature, record, skeleton, frames):
    """Bone matrices (T, n, 4, 4) without the reaction and those above it."""
    with muting.without(context, armature, record):
        return sampling.sample_scene(context, armature, skeleton, frames)[0]


def _rooted(skeleton, shown, world, root):
    """Bone and object matrices with the level travel of the topmost bone where the root mode wants it."""
    if root == "KEEP":
        return shown, world
    top = int(np.flatnonzero(np.asarray(skeleton.parent) < 0)[0])
    path = np.einsum("tij,tj->ti", world, shown[:, top, :, 3])[:, :3]
    travel = (path - path[0]) * (1.0, 1.0, 0.0)
    stands = np.repeat(world[:1], len(world), axis=0)
    carried = world.copy()
    if root == "IN_PLACE":
        carried[:, :3, 3] -= travel
    if root == "OBJECT":
        stands[:, :3, 3] += travel
    return np.linalg.inv(stands)[:, None] @ carried[:, None] @ shown, stands


def _facts(context, armature, record, frames, take):
    """What an engine's importer may want to know, ready for JSON."""
    rate = timing.rate(context.scene)
    hits = records.load(record.landed)
    for hit in hits:
        hit["seconds"] = round((hit["frame"] - frames[0]) / rate, 6)
    return {
        "take": record.name,
        "armature": armature.name,
        "fps": rate,
        "frames": len(frames),
        "seconds": round((len(frames) - 1) / rate, 6),
        "root": take.root,
        "additive": take.additive,
        "hits": hits,
    }


# -- the double --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _double(context, armature):
    """Copies of the character's objects, with their names while the originals step aside; gives the armature's."""
    originals = sorted(export.parts(armature), key=lambda item: item.name)
    names = {item: item.name for item in originals}
    collection = bpy.data.collections.new("Parametric Dynamics Double")
    copies = {}
    try:
        context.scene.collection.children.link(collection)
        for item, name in names.items():
            item.name = name[:50] + " (kept)"
            copies[item] = item.copy()
            copies[item].name = name
            collection.objects.link(copies[item])
        for copy in copies.values():
            _rewire(copy, copies)
        context.view_layer.update()
        yield copies[armature]
    finally:
        played = {item.animation_data.action for item in copies.values() if item.animation_data is not None}
        for item in [*collection.objects]:
            bpy.data.objects.remove(item)
        for action in played:
            actions.discard(action)  # the originals' have users
        bpy.data.collections.remove(collection)
        for item, name in names.items():
            item.name = name
        context.view_layer.update()


def _rewire(copy, copies):
    """Let a copy hang on copies, and move by nothing of its own."""
    if copy.type == "ARMATURE":
        copy.animation_data_clear()
        for constraint in [*copy.constraints]:
            copy.constraints.remove(constraint)
        for bone in copy.pose.bones:
            for constraint in [*bone.constraints]:
                bone.constraints.remove(constraint)
            bone.rotation_mode = "QUATERNION"
        copy.parent = None
        copy.rotation_mode = "QUATERNION"
        copy.delta_location, copy.delta_rotation_euler, copy.delta_scale = (0,) * 3, (0,) * 3, (1,) * 3
        copy.delta_rotation_quaternion = (1, 0, 0, 0)
        copy.parametric_dynamics_reactions.clear()
    elif copy.parent in copies:
        inverse = copy.matrix_parent_inverse.copy()
        copy.parent = copies[copy.parent]
        copy.matrix_parent_inverse = inverse
    for modifier in copy.modifiers:
        if modifier.type == "ARMATURE" and modifier.object in copies:
            modifier.object = copies[modifier.object]


def _perform(double, skeleton, shown, world, base, take):
    """Give the double one action, from frame 0 on, that shows the bone matrices under the object's."""
    frames = np.arange(len(shown), dtype=np.float64)
    values = _channels(double, skeleton.names, shown)
    if base is not None:
        values = _difference(_channels(double, skeleton.names, base), values, take.additive)
    curves = []
    for i, name in enumerate(skeleton.names):
        for rna, array in zip(("location", "rotation_quaternion", "scale"), values, strict=True):
            curves += _curves(bone_path(name, rna), name, array[:, i])
    for rna, array in zip(("location", "rotation_quaternion", "scale"), _parted(world), strict=True):
        curves += _curves(rna, "Object Transforms", array)
    action, slot = actions.create("take", double, curves, frames)
    double.animation_data_create()
    actions.assign(double.animation_data, action, slot)


def _curves(path, group, values):
    return [Curve(Channel(path, k), group, values[:, k]) for k in range(values.shape[1])]


def _channels(double, names, matrices):
    """Location (T, n, 3), quaternion (T, n, 4) and scale (T, n, 3) under which the bones have these matrices."""
    local = np.empty(matrices.shape)
    index = {name: i for i, name in enumerate(names)}
    for i, name in enumerate(names):
        bone = double.data.bones[name]
        for t, matrix in enumerate(matrices[:, i]):
            above = {}
            if bone.parent is not None:
                above["parent_matrix"] = Matrix(matrices[t, index[bone.parent.name]])
                above["parent_matrix_local"] = bone.parent.matrix_local
            local[t, i] = bone.convert_local_to_pose(Matrix(matrix), bone.matrix_local, invert=True, **above)
    return _parted(local)


def _parted(matrices):
    """Location (T, ..., 3), quaternion (T, ..., 4) of one sign over time, and scale (T, ..., 3) of (T, ..., 4, 4)."""
    parts = [Matrix(matrix).decompose() for matrix in matrices.reshape(-1, 4, 4)]
    place, turn, size = (np.array([part[k] for part in parts]).reshape(*matrices.shape[:-2], -1) for k in range(3))
    return place, continuous(turn), size


def _difference(base, whole, order):
    """The channels that lead from the base to the whole, in the engine's order of turns."""
    turn = multiply(conjugate(base[1]), whole[1]) if order == "LOCAL" else multiply(whole[1], conjugate(base[1]))
    return whole[0] - base[0], continuous(turn), whole[2] / base[2]


def _markers(context, double, hits):
    """An empty "impact" where each blow lands, on the bone that is struck: engines read it as a socket."""
    made = []
    for hit in hits:
        marker = bpy.data.objects.new("impact", None)
        double.users_collection[0].objects.link(marker)
        marker.parent, marker.parent_type, marker.parent_bone = double, "BONE", hit["bone"]
        x, y, z = hit["point"]
        marker.location = (x, y - double.data.bones[hit["bone"]].length, z)  # children of a bone sit at its end
        made.append(marker)
    context.view_layer.update()
    return made
