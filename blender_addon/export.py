"""Write the result to a file: FBX with one take, glTF with one animation, BVH, or a copy of the .blend.

What is written is the motion as the scene shows it (all layers mixed), frame by frame.  A file appears whole or not at
all, and the scene is left as it was.

FBX settings, and why: metres with the file's own unit scale (`FBX_SCALE_UNITS`), so that readers which know units
(Unity, Unreal, Blender) and readers which do not (assimp) see the same metres and the armature carries no scale of 100;
no leaf bones, which engines would take for joints; no key reduction, which moves joints; textures inside, so that one
file is all.  The exporter names the take after the scene.  Times are the scene's own (engines cut takes at their keys).
An object that bears a bone's name gets its type behind it: some readers bind curves by name alone.
"""

import contextlib
import math
import os
from pathlib import Path

import bpy
import numpy as np

from ..core import bvh as core_bvh
from . import clip, rig, source, timing
from .importing import FileError, quiet, reason

FORMATS = (".blend", ".fbx", ".glb", ".bvh")

FBX = {
    "apply_unit_scale": True,
    "apply_scale_options": "FBX_SCALE_UNITS",
    "axis_forward": "-Z",
    "axis_up": "Y",
    "object_types": {"ARMATURE", "MESH", "EMPTY"},
    "mesh_smooth_type": "FACE",
    "add_leaf_bones": False,
    "bake_anim": True,
    "bake_anim_use_all_bones": True,
    "bake_anim_use_nla_strips": False,
    "bake_anim_use_all_actions": False,
    "bake_anim_force_startend_keying": True,
    "bake_anim_step": 1.0,
    "bake_anim_simplify_factor": 0.0,
    "path_mode": "COPY",
    "embed_textures": True,
}

GLTF = {
    "export_format": "GLB",
    "export_animations": True,
    "export_animation_mode": "SCENE",
    "export_anim_scene_split_object": False,
    "export_frame_range": True,
    "export_force_sampling": True,
    "export_frame_step": 1,
    "export_optimize_animation_size": False,
    "export_anim_slide_to_zero": True,
    "export_rest_position_armature": True,
    "export_def_bones": False,
}


def save(context, armature, path, *, name, frames, whole_clip=False):
    """Write the result in the format that the path's ending names; FileError for any other."""
    writers = {".fbx": fbx, ".glb": glb, ".bvh": bvh}
    kind = Path(path).suffix.lower()
    if kind == ".blend":
        blend(path)
    elif kind in writers:
        writers[kind](context, armature, path, name=name, frames=frames, whole_clip=whole_clip)
    else:
        raise FileError("'{}' is no file I can write. Use one of {}.".format(Path(path).name, ", ".join(FORMATS)))


def fbx(context, armature, path, *, name, frames, whole_clip=False, besides=()):
    """One FBX take called `name` over the frames (start, end), or over the whole clip and the reaction.

    besides: objects that are written with the character.
    """
    with _staged(context, armature, name, frames, whole_clip, besides) as collection, whole(path) as part:
        bpy.ops.export_scene.fbx(filepath=str(part), check_existing=False, collection=collection, **FBX)


def glb(context, armature, path, *, name, frames, whole_clip=False, besides=()):
    """One glTF animation called `name`, beginning at time 0.  Otherwise as `fbx`."""
    known = bpy.ops.export_scene.gltf.get_rna_type().properties.keys()
    options = {key: value for key, value in GLTF.items() if key in known}
    with _staged(context, armature, name, frames, whole_clip, besides) as collection, whole(path) as part:
        render = context.scene.render
        render.fps_base = 1.0 / render.fps_base  # 4.2 to 5.2: the exporter multiplies by it
        bpy.ops.export_scene.gltf(filepath=str(part), check_existing=False, collection=collection, **options)


def bvh(context, armature, path, *, name, frames, whole_clip=False):
    """The armature's motion in the world, y up, scene units."""
    start, end = _range(armature, frames, whole_clip)
    skeleton = rig.read(context, armature)
    shown, _ = clip.read(context, armature, skeleton, np.arange(start, end + 1.0))
    with whole(path) as part:
        part.write_text(core_bvh.write(skeleton, shown), encoding="utf-8")


def blend(path):
    """A copy of the open file; the session keeps its own path."""
    with whole(path) as part:
        bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, check_existing=False)


def parts(armature):
    """The armature, the meshes it moves, and the empties between them."""
    bpy.context.view_layer.update()
    found = {armature}
    for item in bpy.context.view_layer.objects:
        chain = _chain(item, armature)
        skinned = any(m.type == "ARMATURE" and m.object == armature for m in item.modifiers)
        if item.type == "MESH" and (chain or skinned):
            found.update([item, *chain])
    return found


def _chain(item, armature):
    """The objects between an object and the armature it hangs on, that included; empty if it doesn't."""
    chain = list(rig.above(item))
    return chain[: chain.index(armature) + 1] if armature in chain else []


# -- leaving everything as it was ------------------------------------------------------------------------------------


def _range(armature, frames, whole_clip):
    """Whole frames (first, last) that hold all of it."""
    start, end = frames
    found = source.of(armature) if whole_clip else None
    if found is not None:
        start, end = min(start, found.start), max(end, found.end)
    start, end = math.floor(start), math.ceil(end)
    if start < 0:
        raise FileError(
            "The motion starts at frame {}, and Blender exports from frame 0 on. Move the clip later, or use "
            "For Engine, whose takes start at 0.".format(start)
        )
    return start, max(end, start + 1)


@contextlib.contextmanager
def _staged(context, armature, name, frames, whole_clip, besides):
    """The scene named and cut for the export; gives the name of a collection of what is to be exported."""
    scene = context.scene
    start, end = _range(armature, frames, whole_clip)
    kept = {key: getattr(scene, key) for key in ("name", "frame_start", "frame_end", "use_preview_range")}
    render, plain = scene.render, ("fps_base", "frame_map_old", "frame_map_new")
    timed = {key: getattr(render, key) for key in plain}
    current, sub = scene.frame_current, scene.frame_subframe
    stored = clip.stored_channels(armature, [bone.name for bone in armature.pose.bones], [0.0])
    namesake = bpy.data.scenes.get(name)
    collection = bpy.data.collections.new("Parametric Dynamics Export")
    renamed = []
    try:
        if namesake is not None and namesake != scene:
            namesake.name = name + " (kept)"
        scene.name, scene.use_preview_range = name, False
        scene.frame_start, scene.frame_end = start, end
        render.fps_base *= timing.stretch(scene)  # the same speed, and a frame of the scene is one of the actions
        render.frame_map_old = render.frame_map_new = 100
        for item in [*parts(armature), *besides]:
            collection.objects.link(item)
            if item.name in armature.data.bones:
                renamed.append((item, item.name))
                item.name = "{}_{}".format(item.name, item.type.lower())
        yield collection.name
    finally:
        bpy.data.collections.remove(collection)
        for item, own in renamed:
            item.name = own
        for key, value in kept.items():
            setattr(scene, key, value)
        for key, value in timed.items():
            setattr(render, key, value)
        if namesake is not None and namesake != scene:
            namesake.name = name
        scene.frame_set(current, subframe=sub)
        clip.write_stored(armature, stored)


@contextlib.contextmanager
def whole(path):
    """A temporary file beside the path that takes its place when all went well; FileError where it cannot."""
    path = Path(path)
    part = path.with_name(".{}.{}{}".format(path.stem, os.getpid(), path.suffix))
    try:
        if not path.parent.is_dir():
            raise FileError("There is no folder '{}'. Make it first.".format(path.parent))
        if path.is_dir():
            raise FileError("'{}' is a folder. Name a file in it.".format(path))
        try:
            with quiet():
                yield part
            if not part.is_file():
                raise RuntimeError("nothing was written")
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except (RuntimeError, OSError) as error:
        text = "'{}' could not be written ({}). Choose another folder or name."
        raise FileError(text.format(path, reason(error))) from error
