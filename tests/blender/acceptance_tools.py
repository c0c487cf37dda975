"""What the acceptance tests share: a rig's orientations as Blender shows them, with the tests' own arithmetic."""

import math

import bpy
import numpy as np
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, files, moments
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import progress, react, situation


def orientations(rig, frames):
    """(frames, bones, 3, 3) orientation of every bone in the world, bones in the rig's order; unit axes as columns."""
    out = []
    for frame in frames:
        whole = math.floor(frame)
        bpy.context.scene.frame_set(whole, subframe=float(frame - whole))
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(seen.matrix_world, dtype=np.float64)[:3, :3]
        bones = np.array([bone.matrix for bone in seen.pose.bones], dtype=np.float64)[:, :3, :3]
        axes = world @ bones
        out.append(axes / np.linalg.norm(axes, axis=-2, keepdims=True))
    return np.array(out)


def between(a, b):
    """Angle [deg] between orientations (..., 3, 3): |A - B| = 2 sqrt(2) sin(angle / 2), exact for small angles too."""
    chord = np.linalg.norm(a - b, axis=(-2, -1)) / (2.0 * math.sqrt(2.0))
    return np.degrees(2.0 * np.arcsin(np.clip(chord, 0.0, 1.0)))


def as_the_clip_goes(frame, facts):
    """The frame of the clip that is meant at a frame of the result."""
    first, last = facts["frame_range"]
    if frame <= last or facts["clip_extension"] in ("", "plays on"):
        return frame
    return first + (frame - first) % (last - first) if facts["clip_extension"] == "repeated" else last


def loaded(path, **options):
    """The armature of a file, opened as the commands do it."""
    opened = files.open_input(path, **options)  # first: bpy.data.objects of the former file must not be held
    return bpy.data.objects[opened.armature]


def solved(rig, name="shoulder_front", frame=None, bone="", direction=None, impulse=None, settings=None):
    """(job, reaction) of a hit; nothing is written."""
    frame = moments.default_frame(jobs.source.of(rig)) if frame is None else frame
    hit = react.Hit(frame, bone, direction, impulse)
    job = jobs.read(bpy.context, rig, situation.named(name), hit, settings=settings)
    return job, progress.run(job.solve())


def retime(rig, factor=1.0, shift=0.0):
    """Move every key of the active action in time: frame -> factor * frame + shift."""
    data = rig.animation_data
    for curve in actions.curves_of(data.action, actions.slot_of(data)):
        for kind in ("co", "handle_left", "handle_right"):
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get(kind, points)
            points[0::2] = factor * points[0::2] + shift
            curve.keyframe_points.foreach_set(kind, points)
        curve.update()
