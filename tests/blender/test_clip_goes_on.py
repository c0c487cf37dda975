"""Where a clip stops before the reaction does: played on, repeated with its travel, or held."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import (
    choosing,
    clip,
    files,
    job,
    moments,
    rig,
    source,
    timing,
)
from bl_ext.user_default.parametric_dynamics.core import react, rotation, situation
from mathutils import Matrix

from .interface_tools import OPS

GAME = "1_game_characters/"
RETURNING = "shoulder_front", "leg_back"


def armature_of(path, **options):
    name = files.open_input(path, **options).armature
    return bpy.data.objects[name]


def go_on(armature, last, first=None, step=1.0):
    """(Clip, Channels, how, added) from the clip's start (or `first`) to `last`."""
    found = source.of(armature)
    frames = np.arange(np.ceil(found.start) if first is None else first, last + 0.5 * step, step)
    skeleton = rig.read(bpy.context, armature)
    return clip.read_on(bpy.context, armature, skeleton, frames, found)


def speeds(shown):
    """(T-1,) fastest joint between neighbouring frames, world, as part of the figure's size."""
    world = shown.world_position()
    return np.linalg.norm(np.diff(world, axis=0), axis=-1).max(axis=-1) / np.ptp(world[0], axis=0).max()


def test_within_the_clip_nothing_is_added(fresh_scene, data):
    armature = armature_of(data / (GAME + "khronos/Fox.glb"))
    _, _, how, added = go_on(armature, 17.0)
    assert (how, added) == ("", None)


LOOPS = [
    (GAME + "khronos/Fox.glb", {}),
    (GAME + "khronos/cesium_man.gltf", {}),
    (GAME + "quaternius/cyberpunk_Character.glb", {}),
    (GAME + "quaternius/cyberpunk_Character.glb", {"action": "Run"}),  # gap 7.7 degrees, 26 degrees a frame
    (GAME + "kaykit/Med_MovementBasic.glb", {}),  # ends between frames
    (GAME + "kaykit/Med_MovementBasic.glb", {"action": "Walking_C"}),  # gap 2.5 degrees
    (GAME + "ozz_pab/pab_walk.fbx", {}),  # travels with the object
    ("3_odd_rigs/quaternius_Wolf.glb", {}),
]


@pytest.mark.parametrize(("name", "options"), LOOPS)
def test_loops_go_on_without_a_seam(fresh_scene, data, name, options):
    armature = armature_of(data / name, **options)
    found = source.of(armature)
    period = found.end - found.start
    shown, channels, how, added = go_on(armature, found.end + 2.2 * period, step=0.5)
    assert how == "repeated"
    own = shown.frames[1:] <= found.end
    assert speeds(shown)[~own].max() < 1.6 * speeds(shown)[own].max()
    first = np.floor(found.end) + 1
    asked = shown.frames[shown.frames >= first]
    whole = np.arange(first, np.ceil(found.start + 4 * period) + 1)
    assert np.array_equal(added.frames, np.union1d(asked, whole))
    assert channels.frames[-1] == shown.frames[-1]


def test_exact_loop_repeats_exactly(fresh_scene, data):
    armature = armature_of(data / (GAME + "khronos/Fox.glb"))
    found = source.of(armature)
    period = found.end - found.start
    shown, _, _, _ = go_on(armature, found.start + 3 * period)
    whole = int(period)
    assert np.abs(shown.position[: whole + 1] - shown.position[2 * whole :]).max() < 1e-4  # the fox is 76 units long


def test_the_objects_travel_adds_up(fresh_scene, data):
    armature = armature_of(data / (GAME + "ozz_pab/pab_walk.fbx"))
    shown, channels, how, _ = go_on(armature, 121.0)
    assert how == "repeated"
    steps = [shown.object_position[40 * k + 40] - shown.object_position[40 * k] for k in range(3)]
    assert np.abs(steps[0]).max() > 1.4
    # An authored loop closes to about a tenth of a millimetre, the climb counts as gap.
    assert np.abs(np.array(steps) - steps[0]).max() < 1e-3
    assert np.abs(channels.object_location[-1] - shown.object_position[-1]).max() < 1e-5


# -- a truth to compare with -----------------------------------------------------------------------------------------


def walker(carrier, lying=False):
    """A rig of a root, a pelvis and two legs whose carrier walks a curve; gives (armature, true pose at a frame)."""
    data = bpy.data.armatures.new("Walker")
    armature = bpy.data.objects.new("Walker", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in (
        ("root", None, (0, 0, 0), (0, 0.5, 0)),
        ("pelvis", "root", (0, 0, 1), (0.1, 0, 1.3)),
        ("leg", "pelvis", (0.2, 0, 1), (0.2, 0, 0)),
        ("arm", "pelvis", (-0.2, 0, 1.3), (-0.9, 0, 1.3)),
    ):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, data.edit_bones[parent] if parent else None
        bone.roll = 0.4
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in armature.pose.bones:
        bone.rotation_mode = "YZX" if bone.name == carrier else "QUATERNION"
    stand = Matrix.Rotation(np.pi / 2, 4, "X") @ Matrix.Scale(0.5, 4) if lying else Matrix.Identity(4)
    armature.matrix_basis = stand
    return armature, stand


def walk(armature, carrier, frames, turn):
    """Key a walk of period 20 frames that turns by `turn` and steps ahead each period."""
    step = Matrix.Translation((0.0, -1.2, 0.0)) @ Matrix.Rotation(turn, 4, "Z")
    angle, ahead = turn / 20.0, -1.2 / 20.0
    for frame in frames:
        # The path's smooth form: a screw about the vertical whose 20th power is the step.
        if turn:
            centre = np.linalg.solve(np.eye(2) - np.array(step.to_3x3())[:2, :2], np.array(step.translation)[:2])
            place = Matrix.Translation((*centre, 0)) @ Matrix.Rotation(angle * frame, 4, "Z")
            place = place @ Matrix.Translation((*-centre, 0))
        else:
            place = Matrix.Translation((0.0, ahead * frame, 0.0))
        phase = 2.0 * np.pi * frame / 20.0
        bob = Matrix.Translation((0, 0, 0.05 * np.sin(2 * phase))) @ Matrix.Rotation(0.1 * np.sin(phase), 4, "Y")
        world = place @ bob
        stand = armature.matrix_basis.copy() if carrier else Matrix.Identity(4)
        leg = armature.pose.bones["leg"]
        leg.rotation_quaternion = (np.cos(0.3 * np.sin(phase)), np.sin(0.3 * np.sin(phase)), 0, 0)
        leg.keyframe_insert("rotation_quaternion", frame=frame)
        if carrier:
            bone = armature.pose.bones[carrier]
            rest = bone.bone.matrix_local
            basis = rest.inverted() @ (stand.inverted() @ world @ stand) @ rest
            bone.location, bone.rotation_euler = basis.translation, basis.to_euler("YZX", bone.rotation_euler)
            bone.keyframe_insert("location", frame=frame)
            bone.keyframe_insert("rotation_euler", frame=frame)
        else:
            armature.location = world.translation
            armature.rotation_euler = world.to_euler("XYZ", armature.rotation_euler)
            armature.keyframe_insert("location", frame=frame)
            armature.keyframe_insert("rotation_euler", frame=frame)
    for curve in source.curves_in_force(armature):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


@pytest.mark.parametrize("turn", [0.0, 0.6])
@pytest.mark.parametrize(
    ("carrier", "lying"), [("", False), ("root", False), ("pelvis", False), ("root", True), ("pelvis", True)]
)
def test_travel_equals_the_truth(fresh_scene, carrier, lying, turn):
    """One period is keyed and repeated; three keyed periods of the same walk are the truth."""
    armature, _ = walker(carrier, lying)
    walk(armature, carrier, range(0, 61), turn)
    skeleton = rig.read(bpy.context, armature)
    frames = np.arange(0.0, 61.0)
    truth, _ = clip.read(bpy.context, armature, skeleton, frames)
    armature.animation_data_clear()
    walk(armature, carrier, range(0, 21), turn)
    shown, channels, how, added = clip.read_on(bpy.context, armature, skeleton, frames, source.of(armature))
    assert how == "repeated" and added.frames[0] == 21.0 and added.frames[-1] == 60.0
    assert np.abs(shown.world_position() - truth.world_position()).max() < 2e-5
    turned = rotation.angle(shown.world_rotation(), truth.world_rotation())
    assert np.degrees(turned).max() < 1e-3
    assert np.abs(channels.location[21:] - added.location).max() < 1e-12


# -- no loop ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("2_mocap/cmu/02_01_walk.bvh", {}),
        (GAME + "kaykit/Med_General.glb", {"action": "Death_A"}),
        ("3_odd_rigs/quaternius_Trex.glb", {"action": "TRex_Run"}),  # gap 23 degrees at 3 degrees a frame
    ],
)
def test_other_clips_are_held(fresh_scene, data, name, options):
    armature = armature_of(data / name, **options)
    found = source.of(armature)
    shown, _, how, added = go_on(armature, np.ceil(found.end) + 30)
    assert (how, added) == ("held", None)  # the scene holds the pose by itself
    assert np.ptp(shown.position[-20:], axis=0).max() == 0.0


def _push_down(armature, **settings):
    found = source.of(armature)
    data = armature.animation_data
    strip = data.nla_tracks.new().strips.new("strip", int(found.start), data.action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = data.action_slot
    data.action = None
    for key, value in settings.items():
        setattr(strip, key, value)
    return strip


def test_a_strip_that_ends_in_nothing_is_held_by_us(fresh_scene, data):
    armature = armature_of(data / (GAME + "kaykit/Med_General.glb"), action="Death_A")
    _push_down(armature, extrapolation="NOTHING")
    found = source.of(armature)
    shown, _, how, added = go_on(armature, np.ceil(found.end) + 10)
    assert how == "held" and added is not None
    assert added.frames[0] == np.floor(found.end) + 1
    assert np.abs(shown.position[-1] - shown.position[int(found.end - shown.frames[0])]).max() < 0.05


def test_a_cycles_modifier_plays_on(fresh_scene, data):
    armature = armature_of(data / (GAME + "khronos/Fox.glb"))
    for curve in source.curves_in_force(armature):
        curve.modifiers.new("CYCLES")
    _, _, how, added = go_on(armature, 80.0)
    assert (how, added) == ("plays on", None)


def test_a_repeated_strip_plays_on_then_is_repeated(fresh_scene, data):
    armature = armature_of(data / (GAME + "khronos/Fox.glb"))
    _push_down(armature, repeat=2.0)
    found = source.of(armature)
    assert go_on(armature, found.until)[2:] == ("plays on", None)
    shown, _, how, added = go_on(armature, found.until + 20)
    assert how == "repeated" and added.frames[0] == np.floor(found.until) + 1
    assert speeds(shown)[-20:].max() < 1.2 * speeds(shown)[:17].max()


def test_what_the_scene_moves_after_the_end_plays_on(fresh_scene, data):
    armature = armature_of(data / (GAME + "khronos/Fox.glb"))
    for curve in source.curves_in_force(armature):
        curve.extrapolation = "LINEAR"
    _, _, how, added = go_on(armature, 40.0)
    assert (how, added) == ("plays on", None)
    armature.pose.bones[0].constraints.new("LIMIT_ROTATION")  # limits nothing: the scene is read frame by frame
    found, skeleton = source.of(armature), rig.read(bpy.context, armature)
    parts = list(clip.reading_on(bpy.context, armature, skeleton, np.arange(20.0, 40.0), found))
    assert len(parts) > 20 and parts == sorted(parts) and parts[-1] == 1.0


# -- what it costs ---------------------------------------------------------------------------------------------------


def test_a_loop_is_shown_once_however_often_it_is_laid(fresh_scene, data):
    armature = armature_of(data / (GAME + "khronos/Fox.glb"))
    found = source.of(armature)
    period = found.end - found.start
    plain, _, _, _ = go_on(armature, found.start + 3.0 * period)
    armature.pose.bones[0].constraints.new("LIMIT_SCALE")  # bounds nothing, but now Blender has to pose the bones
    shown = []
    bpy.app.handlers.frame_change_pre.append(lambda scene, *_: shown.append(scene.frame_current_final))
    try:
        laid, _, how, _ = go_on(armature, found.start + 3.0 * period)
    finally:
        bpy.app.handlers.frame_change_pre.pop()
    assert how == "repeated"
    assert np.abs(laid.position - plain.position).max() < 1e-4 * np.ptp(plain.position)
    most = period + 1.0 + 4.0 + 5.0 + 1.0  # its frames, its ends, five after it, and back to the present
    assert period <= len(shown) <= most


# -- under reactions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hits"),
    [
        ("kaykit/Med_General.glb", (*RETURNING, "knock_out")),
        ("ozz_pab/pab_walk.fbx", RETURNING),
        ("RobotExpressive.source.glb", RETURNING),
        pytest.param("ozz_pab/pab_walk.fbx", ("knock_out",), marks=pytest.mark.one_blender),
        pytest.param("RobotExpressive.source.glb", ("knock_out",), marks=pytest.mark.one_blender),
    ],
)
def test_the_clip_stays_the_users_whatever_reactions_lay(fresh_scene, data, name, hits):
    """Its name, its keys and its quarter; what a reaction adds to it (repeated, held, a hold) only makes it last."""
    armature = armature_of(data / (GAME + name))
    found, frame = source.of(armature), moments.default_frame(source.of(armature))
    until = found.until
    for hit in hits:
        assert OPS.apply_hit_reaction(situation=hit) == {"FINISHED"}
        again = source.of(armature)
        assert (again.action, again.start, again.end) == (found.action, found.start, found.end)
        assert again.until >= until
        record = armature.parametric_dynamics_reactions[-1]
        clip_name = choosing.title(found.action, armature.name)
        assert record.action.frame_range[0] == frame and record.name.endswith(", " + clip_name)
        until = max(until, record.continuation.frame_range[1] if record.continuation else until)
    assert again.until == until


def test_a_hit_in_the_first_of_two_clips_reads_what_goes_before_it(demo):
    """As far back as one in a single clip, though the clip in force is the second."""
    data, rate = demo.animation_data, timing.rate(bpy.context.scene)
    walk, slot, end = data.action, getattr(data, "action_slot", None), source.of(demo).end
    hit = [react.Hit(frame) for frame in (12.0, end + 22.0)]
    alone = job.read(bpy.context, demo, situation.named("shoulder_front"), hit[0]).clip.frames[0]
    assert alone == pytest.approx(12.0 - min(moments.LEAD * rate, 11.0), abs=1.0)
    data.action, track = None, data.nla_tracks.new()
    for start in (1, int(end) + 10):
        strip = track.strips.new("Walk", start, walk)
        if slot is not None:
            strip.action_slot = slot
    assert source.of(demo).start > end
    for one in hit:
        ready = job.read(bpy.context, demo, situation.named("shoulder_front"), one)
        assert ready.clip.frames[0] - one.frame == pytest.approx(alone - 12.0)
