"""A body that goes on where its steps have taken it: displaced for good, and nothing else with it."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import files, job, layer
from bl_ext.user_default.parametric_dynamics.core import situation as situations
from bl_ext.user_default.parametric_dynamics.core.progress import run
from bl_ext.user_default.parametric_dynamics.core.react import Hit

from .layer_tools import differences, file_state, joints

PAB = "1_game_characters/ozz_pab/pab_walk.fbx"


@pytest.fixture(params=["demo", pytest.param("pab", marks=pytest.mark.one_blender)])
def rig(request, fresh_scene):
    if request.param == "demo":
        return request.getfixturevalue("template")("demo")
    data = request.getfixturevalue("data")
    found = files.open_input(data / PAB)
    return bpy.data.objects[found.armature]


def test_the_layer_holds_the_body_displaced(rig):
    """The pelvis and all it carries by one vector, from the end on, held beyond the last key; object and props stay."""
    name, scene = rig.name, bpy.context.scene
    prop = bpy.data.objects.new("Prop", None)
    scene.collection.objects.link(prop)
    prop.parent = rig
    scene.frame_set(scene.frame_current)
    frame, state = scene.frame_current, file_state()
    start = np.round(rig.animation_data.action.frame_range[0]) if rig.animation_data.action else scene.frame_start
    shown = []
    for end in ("return", "continue"):  # the one that comes back shows how the clip goes on where it is too short
        situation = situations.named("chest_front").with_changes(end=end)
        work = job.read(bpy.context, rig, situation, Hit(float(start + 6.0), impulse=70.0))
        reaction = run(work.solve())
        frames = np.ceil(reaction.end * work.clip.fps) + np.array([0.0, 3.0, 7.0])
        made = work.write(bpy.context, reaction)
        rig = bpy.data.objects[name]
        strip = rig.animation_data.nla_tracks[made].strips[0]
        assert strip.extrapolation == ("HOLD_FORWARD" if end == "continue" else "NOTHING")
        shown.append((joints(rig, frames), [place(prop, f) for f in frames]))
        scene.frame_set(frame)
        layer.remove(bpy.context, rig, made)
        assert differences(state, file_state()) == []
    off = shown[1][0] - shown[0][0]
    pelvis = rig.data.bones.find(work.actor.names[reaction.footing.base])
    gone = off[0, pelvis, 0]
    assert 50.0 < np.linalg.norm(gone) < 1600.0  # mm
    carried = [i for i, bone in enumerate(rig.data.bones) if below(bone, rig.data.bones[pelvis])]
    assert len(carried) > 15 and np.abs(off[:, carried] - gone).max() < 0.1
    assert np.array_equal(shown[0][1], shown[1][1])


def place(thing, frame):
    bpy.context.scene.frame_set(int(frame))
    return np.array(thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


def below(bone, top):
    return bone == top or (bone.parent is not None and below(bone.parent, top))
