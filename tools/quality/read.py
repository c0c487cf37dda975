"""Read the clips of the corpus with the add-on and keep them as arrays; runs in a bpy environment, once.

~/.cache/parametric_dynamics/envs/bpy-4.5/bin/python -m tools.quality.read DATA_FOLDER
"""

import importlib
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from .. import extension, installed
from . import corpus

RATE = 60.0  # samples per second
SKIN = ("vertices", "triangles", "owner", "bones", "weights")


def main(data):
    os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="parametric_dynamics_")
    import bpy

    folder = Path(os.environ["BLENDER_USER_RESOURCES"])
    installed.install(extension.package(extension.builder_in_wheel(sys.executable), folder / "package"))
    corpus.CACHE.mkdir(parents=True, exist_ok=True)
    for source in (*corpus.SOURCES, *corpus.RESERVE):
        if not source.file.exists():
            np.savez_compressed(source.file, **read(bpy, data, source))
            print(source.name, flush=True)
    installed.leave(0)


def read(bpy, data, source):
    """The skeleton and the clip as plain arrays."""
    ours = installed.MODULE + ".blender_addon."
    module = {
        name: importlib.import_module(ours + name) for name in ("files", "rig", "clip", "source", "demo_character")
    }
    if source.path:
        clip = data / source.clip if source.clip else None
        opened = module["files"].open_input(data / source.path, clip, None, source.action)
        armature = bpy.data.objects[opened.armature]
    else:
        armature = demo(bpy, module["demo_character"], source.action)
    skeleton = module["rig"].read(bpy.context, armature)
    found = module["source"].of(armature)
    fps = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    count = int(np.floor((found.end - found.start) / fps * RATE + 1e-6))
    frames = found.start + np.arange(count + 1) * fps / RATE
    clip, _ = module["clip"].read(bpy.context, armature, skeleton, frames)
    skin = skeleton.skin
    out = {name: getattr(skeleton, name) for name in ("names", "parent", "head", "tail", "rotation", "deform")}
    if skin is not None:
        out |= {"skin_" + name: getattr(skin, name) for name in SKIN}
    timed = ("fps", "frames", "rotation", "position", "object_rotation", "object_position", "scale")
    return out | {"clip_" + name: getattr(clip, name) for name in timed}


def demo(bpy, character, action):
    """The built-in character with one of its two actions."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    armature = character.build(bpy.context)
    wanted = next(a for a in bpy.data.actions if action.lower() in a.name.lower())
    armature.animation_data.action = wanted
    return armature


if __name__ == "__main__":
    main(Path(sys.argv[1]))
