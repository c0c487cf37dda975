"""What the interface tests share: a demo character with a short reaction, and looking at what was baked."""

import bpy
import numpy as np
from bl_ext.user_default.parametric_dynamics.blender_addon import hints, layer_undo

from .layer_tools import joints, set_frame

OPS = bpy.ops.parametric_dynamics


def short(rig):
    """A short reaction is enough to see whether an operator works."""
    group = rig.parametric_dynamics
    group.sustain, group.relaxation, group.frame, group.automatic_frame = 0.1, 0.25, 8.0, False


def add_demo():
    """The demo character, active, with a short reaction."""
    OPS.add_demo_character()
    rig = bpy.context.active_object
    short(rig)
    return rig


def play_as_strip(rig):
    """The rig's action on a strip of the animator's own, from frame 1 on, instead of as the active one."""
    data = rig.animation_data
    data.nla_tracks.new().strips.new("Walk", 1, data.action)
    data.action = None


def cures(rig):
    """What the panel offers, in order."""
    return [hint.cure for hint in hints.of(bpy.context, rig)]


def peak(rig, bone):
    """Most that the bone's end is moved by the reactions [mm at human size]."""
    index = list(rig.pose.bones.keys()).index(bone)
    with_it = joints(rig, np.arange(8.0, 16.0))[:, index]
    tracks = layers(rig)
    for track in tracks:
        track.mute = True
    without = joints(rig, np.arange(8.0, 16.0))[:, index]
    for track in tracks:
        track.mute = False
    return float(np.max(np.linalg.norm(with_it - without, axis=-1)))


def layers(rig):
    """The tracks of the reactions' own keys."""
    kept = rig.parametric_dynamics_reactions
    return [track for record in kept for track, _, kind in layer_undo.own_strips(rig, record) if kind == "action"]


def names(rig):
    return [record.name for record in rig.parametric_dynamics_reactions]


def turned(rig, bone):
    """Most that the reactions turn the bone against its parent [deg]."""
    pose = rig.pose.bones[bone]
    tracks = layers(rig)
    most = 0.0
    for frame in range(8, 20):
        seen = []
        for mute in (False, True):
            for track in tracks:
                track.mute = mute
            set_frame(frame)
            seen.append(pose.matrix_basis.to_quaternion())
        most = max(most, float(np.degrees(seen[0].rotation_difference(seen[1]).angle)))
    for track in tracks:
        track.mute = False
    return most
