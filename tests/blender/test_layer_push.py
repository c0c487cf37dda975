"""Every way in which an action and its NLA can play: the identity reaction must leave each as it is."""

import math

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, layer

from tests.blender import layer_tools as tools

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
FRAMES = np.array([-90, -20, -3.3, 0, 1, 2, 5, 9, 9.5, 10, 12, 15.63, 20, 23, 24, 25, 31, 40, 55.25, 70, 130, 400])
layered = pytest.mark.skipif(not actions.LAYERED, reason="action slots came with Blender 4.4")


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture
def rig(fresh_scene, rng):
    """Eight bones, one per rotation mode, keyed from 0.8 to 24, all but the last two of them; all are posed."""
    tools.ensure_records()
    fresh_scene.frame_end = 60
    rig = tools.tripod(MODES)
    rig.location, rig.scale = (1.0, 2.0, 3.0), (0.9, 0.9, 0.9)
    names = [bone.name for bone in rig.pose.bones]
    tools.key_pose(rig, rng, (0.8, 7.0, 13.0, 24.0), names[:-2])
    for bone in rig.pose.bones[-2:]:  # residue that nobody keys
        bone.rotation_euler = bone.location = rng.normal(size=3)
        bone.rotation_axis_angle = rng.normal(size=4)
        bone.scale = 1.0 + 0.2 * rng.random(3)
    rig.pose.bones[0].scale = (1.1, 0.9, 1.2)
    rig.animation_data.action.name = "Walk"
    tools.set_frame(3)
    return rig


def curves(rig):
    anim = rig.animation_data
    return actions.curves_of(anim.action, actions.slot_of(anim))


def neutral(rig, folder):
    return tools.check_neutral([rig], folder, FRAMES)


def new_action(rig, rng, name, frames, **options):
    """A second action of the rig, keyed on all bones; the active one stays active."""
    anim = rig.animation_data
    kept, slot = anim.action, actions.slot_identifier(anim)
    anim.action = bpy.data.actions.new(name)
    tools.key_pose(rig, rng, frames, **options)
    made, made_slot = anim.action, actions.slot_identifier(anim)
    actions.assign(anim, kept, slot)
    return made, made_slot


def add_strip(rig, action, slot, start, name="Base", **settings):
    track = rig.animation_data.nla_tracks.new()
    track.name = name
    strip = track.strips.new(name, start, action)
    actions.set_slot(strip, slot)
    for key, value in settings.items():
        setattr(strip, key, value)
    return track, strip


def clear_action(rig):
    rig.animation_data.action = None


def test_plain_action_with_fractional_ends_and_residue(rig, tmp_path):
    neutral(rig, tmp_path)


def test_it_would_show_without_holds(rig, monkeypatch, tmp_path):
    """The measure has teeth: without hold strips the unkeyed bones jump to their rest pose."""
    monkeypatch.setattr(layer, "_write_hold", lambda *args: None)
    with pytest.raises(AssertionError):
        neutral(rig, tmp_path)


def test_connected_bones(fresh_scene, rng, tmp_path):
    tools.ensure_records()
    rig = tools.tripod(MODES, connected=True)
    tools.key_pose(rig, rng, (1, 12, 24))
    name = layer.apply_identity(bpy.context, rig, name="Hit", frames=[2, 9])
    paths = {curve.data_path for curve in actions.all_curves(bpy.data.actions[name])}
    assert actions.bone_path("bone.0", "location") in paths
    assert actions.bone_path("bone.1", "location") not in paths
    layer.remove(bpy.context, rig, name)
    neutral(rig, tmp_path)


@pytest.mark.parametrize(("before", "after"), [("REPEAT", "REPEAT"), ("REPEAT_OFFSET", "MIRROR"), ("NONE", "REPEAT")])
def test_cycles_stay_endless(rig, tmp_path, before, after):
    for curve in curves(rig):
        modifier = curve.modifiers.new("CYCLES")
        modifier.mode_before, modifier.mode_after = before, after
    neutral(rig, tmp_path)


def test_linear_extrapolation_goes_on(rig, tmp_path):
    for curve in curves(rig):
        curve.extrapolation = "LINEAR"
    neutral(rig, tmp_path)


def test_noise_without_keys(rig, tmp_path):
    curve = next(c for c in curves(rig) if c.data_path.endswith("location"))
    for _ in range(len(curve.keyframe_points)):
        curve.keyframe_points.remove(curve.keyframe_points[0])
    curve.modifiers.new("NOISE").strength = 0.3
    neutral(rig, tmp_path)


@pytest.mark.parametrize("blend", ["REPLACE", "ADD", "SUBTRACT", "MULTIPLY", "COMBINE"])
@pytest.mark.parametrize("extrapolation", ["HOLD", "HOLD_FORWARD", "NOTHING"])
def test_active_action_over_tracks(rig, rng, tmp_path, blend, extrapolation):
    add_strip(rig, *new_action(rig, rng, "Under", (2, 20)), 2)
    anim = rig.animation_data
    anim.action_blend_type, anim.action_extrapolation, anim.action_influence = blend, extrapolation, 0.6
    if blend == "COMBINE":
        for curve in curves(rig):
            curve.modifiers.new("CYCLES").mode_before = "NONE"
    neutral(rig, tmp_path)


def test_alone_blending_is_not_looked_at(rig, rng, tmp_path):
    """With only muted tracks Blender plays the action in full, whatever its blend type and influence say."""
    track, _ = add_strip(rig, *new_action(rig, rng, "Muted", (2, 20)), 2)
    track.mute = True
    anim = rig.animation_data
    anim.action_blend_type, anim.action_extrapolation, anim.action_influence = "ADD", "NOTHING", 0.3
    neutral(rig, tmp_path)


def test_strips_repeated_scaled_offset_reversed(rig, rng, tmp_path):
    made = new_action(rig, rng, "Cycle", (1.3, 8, 14.7))
    clear_action(rig)
    _, strip = add_strip(rig, *made, 5, "A")
    strip.repeat, strip.scale = 2.3, 1.7
    _, strip = add_strip(rig, *made, 12, "B", blend_type="COMBINE", use_reverse=True, extrapolation="NOTHING")
    strip.action_frame_start, strip.blend_in, strip.blend_out = 3.2, 2.0, 1.5
    neutral(rig, tmp_path)


def test_additive_base_with_animated_influence_and_time(rig, rng, tmp_path):
    made = new_action(rig, rng, "Breath", (1, 8, 20), strength=0.1)
    _, strip = add_strip(rig, *made, 1, blend_type="ADD", use_animated_influence=True, use_animated_time=True)
    for path, values in (("influence", (0.2, 0.9)), ("strip_time", (1.0, 12.0))):
        curve = strip.fcurves.find(path)
        curve.keyframe_points.add(2 - len(curve.keyframe_points))
        curve.keyframe_points[0].co, curve.keyframe_points[1].co = (1, values[0]), (18, values[1])
        curve.update()
    neutral(rig, tmp_path)


def test_strips_without_an_active_action(rig, rng, tmp_path):
    """Outside the strip the NLA resets to defaults: no hold may come between."""
    action, slot = rig.animation_data.action, actions.slot_identifier(rig.animation_data)
    clear_action(rig)
    add_strip(rig, action, slot, 5, extrapolation="NOTHING")
    tools.set_frame(3)
    neutral(rig, tmp_path)


def test_muted_and_empty_tracks_above(rig, rng, tmp_path):
    add_strip(rig, *new_action(rig, rng, "Low", (2, 20)), 2, "Same name")
    track, _ = add_strip(rig, *new_action(rig, rng, "High", (2, 20)), 2, "Same name")
    track.mute = True
    rig.animation_data.nla_tracks.new().name = "Same name"
    neutral(rig, tmp_path)


@pytest.mark.parametrize("mute", [False, True])
def test_solo_with_an_active_action(rig, rng, tmp_path, mute):
    add_strip(rig, *new_action(rig, rng, "Other", (2, 20)), 2, "Other")
    track, _ = add_strip(rig, *new_action(rig, rng, "Alone", (2, 20), bones=["bone.1", "bone.6"]), 4, "Alone")
    track.mute = mute
    track.is_solo = True
    tools.set_frame(3)
    neutral(rig, tmp_path)


def test_nla_switched_off(rig, rng, tmp_path):
    track, _ = add_strip(rig, *new_action(rig, rng, "Other", (2, 20)), 2, "Other")
    track.is_solo = True
    add_strip(rig, *new_action(rig, rng, "More", (2, 20)), 2, "More")
    rig.animation_data.use_nla = False
    neutral(rig, tmp_path)


def test_muted_curves_and_groups_count_as_unkeyed(rig, tmp_path):
    for curve in curves(rig):
        if "bone.1" in curve.data_path:
            curve.mute = True
        if "bone.2" in curve.data_path and not actions.LAYERED and curve.group is not None:
            curve.group.mute = True
    for bone in rig.pose.bones[1:3]:
        bone.rotation_euler = bone.location = (0.1, 0.2, 0.3)
    tools.set_frame(3)
    neutral(rig, tmp_path)


@layered
def test_muted_groups_play_alone_but_not_in_the_nla(rig):
    curves(rig)[0].group.mute = True
    state = tools.file_state()
    with pytest.raises(layer.LayerError, match="The channel group 'bone.0' of action 'Walk' is muted"):
        layer.apply_identity(bpy.context, rig, name="Hit", frames=[2, 9])
    assert tools.differences(state, tools.file_state()) == []


def test_partly_keyed_channels(rig, tmp_path):
    for curve in curves(rig):
        if curve.array_index == 1 and not curve.data_path.endswith("quaternion"):
            curve.mute = True
    rig.pose.bones[4].rotation_euler.y = 0.7
    rig.pose.bones[4].location.y = 0.4
    tools.set_frame(3)
    neutral(rig, tmp_path)


def test_partly_keyed_quaternion(rig, tmp_path):
    for curve in curves(rig):
        if curve.data_path.endswith("quaternion") and curve.array_index in (0, 2):
            curve.mute = True
    bone = rig.pose.bones[0]
    bone.rotation_quaternion[0], bone.rotation_quaternion[2] = 1.0, 0.0
    tools.set_frame(3)
    neutral(rig, tmp_path)
    rig = bpy.data.objects["Tripod"]
    before = tools.joints(rig, FRAMES)
    for name in ("A", "B"):  # a hold of the second lies above the base
        layer.apply_identity(bpy.context, rig, name=name, frames=[2, 9])
    assert tools.farthest(before, tools.joints(rig, FRAMES)) <= tools.LIMIT
    for name in ("A", "B"):
        layer.remove(bpy.context, rig, name)
    tools.set_frame(3)
    rig.pose.bones[0].rotation_quaternion[2] = 0.4
    state = tools.file_state()
    with pytest.raises(layer.LayerError, match=r"'Walk' keys only part of the quaternion of 'bone\.0'"):
        layer.apply_identity(bpy.context, rig, name="Hit", frames=[2, 9])
    assert tools.differences(state, tools.file_state()) == []
    rig.pose.bones[0].rotation_mode = "XYZ"  # a quaternion that is not in force: kept and written back
    rig.pose.bones[0].rotation_euler = (0.1, 0.2, 0.3)
    tools.set_frame(3)
    neutral(rig, tmp_path)


def test_motion_of_the_object_and_other_properties(rig, tmp_path):
    rig["mood"] = 0.5
    rig.rotation_mode = "QUATERNION"
    constraint = rig.pose.bones[3].constraints.new("LIMIT_LOCATION")
    constraint.use_max_z = True
    for frame, value in ((1, 0.1), (20, 0.9)):
        rig.location.x, rig["mood"], constraint.influence = 3 * value, value, value
        rig.rotation_quaternion = (1, value, 0, 0)
        for item, path in (
            (rig, "location"),
            (rig, "rotation_quaternion"),
            (rig, '["mood"]'),
            (constraint, "influence"),
        ):
            item.keyframe_insert(path, frame=frame)
    tools.set_frame(3)
    neutral(rig, tmp_path)


def test_driven_channels_are_left_alone(rig, tmp_path):
    bone = rig.pose.bones[-2]
    rig["mood"] = 0.5
    driver = bone.driver_add("location", 1).driver
    driver.expression = "0.3"
    bone.driver_add("rotation_euler", 2).driver.expression = "0.4"
    tools.set_frame(3)
    name = layer.apply_identity(bpy.context, rig, name="Hit", frames=[2, 9])
    keyed = actions.channels_of(actions.all_curves(bpy.data.actions[name]))
    layer.remove(bpy.context, rig, name)
    assert actions.Channel(actions.bone_path(bone.name, "location"), 1) not in keyed
    assert not any("rotation" in c.path and bone.name in c.path for c in keyed)
    neutral(rig, tmp_path)


@layered
def test_two_slots_of_one_action(rig, rng, tmp_path):
    """Another object's slot is far longer, and the rig plays the second one."""
    other = tools.tripod(("XYZ", "XYZ"))
    other.animation_data_create()
    action = rig.animation_data.action
    slot = action.slots.new("OBJECT", "Other")
    other.animation_data.action, other.animation_data.action_slot = action, slot
    tools.key_pose(other, rng, (-50, 90))
    tools.check_neutral([other, rig], tmp_path, FRAMES)


@layered
def test_active_action_without_a_slot(rig, rng, tmp_path):
    add_strip(rig, *new_action(rig, rng, "Under", (2, 20)), 2)
    rig.animation_data.action_slot = None
    neutral(rig, tmp_path)


def test_constrained_and_scaled_rig(rig, tmp_path):
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (2, 1, 3)
    ik = rig.pose.bones[5].constraints.new("IK")
    ik.target, ik.chain_count = target, 3
    rig.pose.bones[7].constraints.new("COPY_ROTATION").target = target
    rig.scale, rig.rotation_euler = (0.01, 0.02, 0.01), (math.pi / 2, 0.3, 0)
    tools.set_frame(3)
    neutral(rig, tmp_path)


def test_far_from_the_scene(rig, tmp_path):
    """A clip at frames of five digits."""
    for curve in curves(rig):
        for key in curve.keyframe_points:
            key.co.x += 20000
        curve.update()
    tools.set_frame(20005)
    tools.check_neutral([rig], tmp_path, FRAMES + 20000)
