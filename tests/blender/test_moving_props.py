"""What moves by itself on a figure weighs where it is at the hit, and what owns bones is asked then, whatever frame is
shown when a reaction is made."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import files
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import react, situation

from .interface_tools import OPS
from .layer_tools import differences, farthest, file_state, joints, set_frame


@pytest.fixture
def thrown(demo):
    """The demo character with a club in its hand, which flies off 1 m along the hand between frames 1 and 21."""
    bpy.ops.mesh.primitive_cube_add(size=0.3)
    club = bpy.context.active_object
    club.parent, club.parent_type, club.parent_bone = demo, "BONE", "hand.L"
    for frame, place in ((1, 0.0), (21, 1.0)):
        club.location = (0.0, place, 0.0)
        club.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = demo
    return demo


def skin(rig, hit, shown):
    set_frame(shown)
    job = jobs.read(bpy.context, rig, situation.named("shoulder_front"), react.Hit(hit))
    assert bpy.context.scene.frame_current == shown
    return job.actor.skeleton.skin.vertices


def test_it_weighs_where_it_is_at_the_hit(thrown):
    early, late = skin(thrown, 6.0, 1), skin(thrown, 16.0, 1)
    np.testing.assert_array_equal(skin(thrown, 6.0, 25), early)
    np.testing.assert_array_equal(skin(thrown, 16.0, 25), late)
    gone = np.linalg.norm(late - early, axis=-1)
    assert np.count_nonzero(gone > 1e-3) == 8 and gone.max() > 0.3, "the club's corners, and nothing else"


def test_reactions_are_the_same_whatever_is_shown(thrown):
    frames, found = np.arange(1.0, 25.0), []
    set_frame(1)
    state = file_state()
    for shown in (1, 25):
        set_frame(shown)
        OPS.apply_hit_reaction(frame=8.0)
        found.append(joints(thrown, frames))
        OPS.remove_all()
    set_frame(1)
    assert differences(state, file_state()) == []
    assert farthest(*found) < 0.01 and farthest(found[0], joints(thrown, frames)) > 50.0


@pytest.mark.parametrize("shown", (1, 150))
def test_keyed_constraints_are_those_of_the_hit(demo, shown):
    """In force until frame 100: shown after that, the arm it holds was baked as if nothing held it."""
    made = demo.pose.bones["upper_arm.L"].constraints.new("COPY_ROTATION")
    made.target = bpy.data.objects.new("Rail", None)
    bpy.context.scene.collection.objects.link(made.target)
    for frame, influence in ((100, 1.0), (101, 0.0)):
        made.influence = influence
        made.keyframe_insert("influence", frame=frame)
    set_frame(shown)
    for hit, owners in ((8.0, {"upper_arm.L": "constraint 'Copy Rotation'"}), (110.0, {})):
        job = jobs.read(bpy.context, demo, situation.named("shoulder_front"), react.Hit(hit))
        assert job.body.owners == owners and job.body.controlled == bool(owners)


@pytest.mark.one_blender
def test_a_file_in_which_one_does(addon, data):
    """Its cube goes far off: shown at the end of the clip the bone had hardly stirred."""
    name = files.open_input(data / "3_odd_rigs/gltf_00_parented_to_bone_and_animated.blend").armature
    rig, peaks = bpy.data.objects[name], []
    for shown in (1, 60):
        set_frame(shown)
        hit = react.Hit(4.25, bone="Bone", impulse=10.0)
        job = jobs.read(bpy.context, rig, situation.named("thigh_punch"), hit)
        peaks.append(job.actor.masses.inertia)
    np.testing.assert_array_equal(*peaks)
