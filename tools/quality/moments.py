"""Rigs and their clips around a hit, as simulated on, read with the add-on and kept as arrays; runs in a bpy env.

ENVS/bpy-4.5/bin/python -m tools.quality.moments DATA_FOLDER OUT_FOLDER RIG...    writes OUT_FOLDER/RIG.npz
"""

import importlib
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from .. import extension, installed
from . import corpus, read

RIGS = {  # file, file of clips, action
    "demo": ("", "", "Walk"),
    "kaykit": (corpus.KAYKIT, corpus.MOVES, "Walking_A"),
    "cyberpunk": (corpus.CYBERPUNK, "", "Walk"),
    "pab": (corpus.GAME + "ozz_pab/pab_walk.fbx", "", "walk"),
    "fox": (corpus.GAME + "khronos/Fox.glb", "", "Walk"),
    "wolf": (corpus.WOLF, "", "Walk"),
    "cmu": ("2_mocap/cmu/02_01_walk.bvh", "", "02_01_walk"),
}
SITUATION = "chest_front"  # any one: the clip is read for as long as its reaction lasts
SKELETON = ("names", "parent", "head", "tail", "rotation", "deform")
CLIP = ("fps", "frames", "rotation", "position", "object_rotation", "object_position", "scale")


def start():
    """The add-on as an installed extension in this process; gives its modules by name: ours("core.situation")."""
    os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="parametric_dynamics_")
    import bpy  # noqa: F401  Blender reads the variable when it is imported

    folder = Path(os.environ["BLENDER_USER_RESOURCES"])
    installed.install(extension.package(extension.builder_in_wheel(sys.executable), folder / "package"))
    return lambda name: importlib.import_module("{}.{}".format(installed.MODULE, name))


def opened(ours, data, rig):
    """The armature object of one of RIGS, in a scene of its own, with its walk in force."""
    import bpy

    path, clip, action = RIGS[rig]
    if not path:
        return read.demo(bpy, ours("blender_addon.demo_character"), action)
    found = ours("blender_addon.files").open_input(data / path, data / clip if clip else None, None, action)
    return bpy.data.objects[found.armature]


def main(data, out, rigs):
    ours = start()
    import bpy

    jobs, situations = ours("blender_addon.job"), ours("core.situation")
    for rig in rigs:
        job = jobs.read(bpy.context, opened(ours, data, rig), situations.named(SITUATION))
        np.savez_compressed(out / (rig + ".npz"), **_arrays(job, job.smooth))
    installed.leave(0)


def _arrays(job, clip):
    """Everything of a job that the core needs."""
    actor = job.actor
    kept = {"skeleton_" + name: getattr(actor.skeleton, name) for name in SKELETON}
    if actor.skeleton.skin is not None:
        kept |= {"skin_" + name: getattr(actor.skeleton.skin, name) for name in read.SKIN}
    kept |= {"clip_" + name: getattr(clip, name) for name in CLIP}
    return kept | {"height": actor.height, "mirrored": actor.mirrored, "frame": job.hits[0][1].frame}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
