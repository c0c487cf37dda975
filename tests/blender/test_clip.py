"""The clip read both ways: f-curves with our own arithmetic must equal what Blender shows."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import clip, curves, fk, rig, source
from bl_ext.user_default.parametric_dynamics.core import rotation
from bl_ext.user_default.parametric_dynamics.core.errors import ClipError

# Blender works in float32: 1e-5 of the rig's size and 1e-4 degree are its round-off over a chain of bones.
POSITION, ANGLE_DEG = 1e-5, 1e-4

FILES = [
    "1_game_characters/RobotExpressive.source.glb",
    "1_game_characters/kaykit/Med_General.glb",
    "1_game_characters/kaykit/Med_MovementBasic.glb",
    "1_game_characters/kaykit/Med_Simulation.glb",
    "1_game_characters/kaykit/manny_med_mod.gltf",
    "1_game_characters/khronos/Fox.glb",
    "1_game_characters/khronos/cesium_man.gltf",
    "1_game_characters/ozz_pab/pab_arnaud.fbx",
    "1_game_characters/ozz_pab/pab_walk.fbx",
    "1_game_characters/ozz_pab/pab_jog.fbx",
    "1_game_characters/ozz_pab/pab_crossarms.fbx",
    "1_game_characters/ozz_pab/pab_locomotions.fbx",
    "1_game_characters/quaternius/cyberpunk_Character.glb",
    "1_game_characters/quaternius/KnightCharacter.glb",
    "1_game_characters/vrm/basic_armature_vrm1.vrm",
    "2_mocap/animated_drawings/cmu1_jumping_jacks.bvh",
    "2_mocap/animated_drawings/fair1_wave_hello.bvh",
    "2_mocap/cmu/01_01_playground.bvh",
    "2_mocap/cmu/02_01_walk.bvh",
    "3_odd_rigs/CloudRig_MetaRigs.blend",
    "3_odd_rigs/RobotExpressive.blend",
    "3_odd_rigs/gltf_00_parented_to_bone_and_animated.blend",
    "3_odd_rigs/gltf_03_skinned_cylinder.blend",
    "3_odd_rigs/gltf_26_nla_export_mode.blend",
    "3_odd_rigs/gltf_29_armature_use_current_pose.blend",
    "3_odd_rigs/ozz_pab_skeleton_HIK.fbx",
    "3_odd_rigs/ozz_robot.fbx",
    "3_odd_rigs/quaternius_Apatosaurus.glb",
    "3_odd_rigs/quaternius_Spider.glb",
    "3_odd_rigs/quaternius_Trex.glb",
    "3_odd_rigs/quaternius_Wolf.glb",
    "3_odd_rigs/vrm_armature_transform.blend",
    "3_odd_rigs/vrm_blender_2_40_to_2_93_unknown_constraint.blend",
    "3_odd_rigs/vrm_bone_child_mesh.blend",
    "3_odd_rigs/vrm_extra_intermediate_spine.blend",
    "3_odd_rigs/vrm_non_deform_root_bone.blend",
    "3_odd_rigs/vrm_pose_rotation_scale_shape_key_skinned.blend",
    "3_odd_rigs/vrm_rest_a_pose_t_position_pose.blend",
]

EASED = ["CONSTANT", "LINEAR", "BEZIER", "SINE", "BACK", "ELASTIC", "BOUNCE"]


def both_ways(armature, frames):
    """The Clip and Channels by curves and by the scene."""
    skeleton = rig.read(bpy.context, armature)
    taken = []
    for way in (clip.sample_curves, clip.sample_scene):
        matrices, world, channels = way(bpy.context, armature, skeleton, frames)
        taken.append((clip.to_clip(bpy.context.scene, armature, skeleton, frames, matrices, world), channels))
    return taken


def assert_same(a, b, degrees=5.0 * ANGLE_DEG):
    """Both ways agree; the wild rigs built here turn fast and scale much, so their float32 is coarser."""
    (clip_a, channels_a), (clip_b, channels_b) = a, b
    size = max(np.ptp(clip_b.position), 1e-3)
    assert np.abs(clip_a.position - clip_b.position).max() < POSITION * size
    assert np.degrees(rotation.angle(clip_a.rotation, clip_b.rotation)).max() < degrees
    assert np.degrees(rotation.angle(clip_a.object_rotation, clip_b.object_rotation)).max() < degrees
    reach = max(np.abs(clip_b.object_position).max(), 1.0)
    assert np.abs(clip_a.object_position - clip_b.object_position).max() < 1e-6 * reach
    assert clip_a.scale == pytest.approx(clip_b.scale, rel=1e-5)
    assert channels_a.modes == channels_b.modes
    for field in ("location", "scale", "quaternion", "euler", "axis_angle", "object_location", "object_rotation"):
        one, other = getattr(channels_a, field), getattr(channels_b, field)
        assert np.abs(one - other).max() < 1e-5 * max(1.0, np.abs(other).max()), field


@pytest.mark.parametrize("name", FILES)
def test_curves_equal_scene(open_file, data, name):
    for armature in open_file(data / name):
        found = source.of(armature)
        start, end = (found.start, found.end) if found else (1.0, 20.0)
        frames = np.linspace(start - 1.5, end + 2.0, 23)
        reason = clip.shortcut(bpy.context, armature)
        if reason:
            assert reason in ("constraints on bones", "NLA strips", "delta transforms on the object"), reason
            continue
        assert_same(*both_ways(armature, frames), degrees=ANGLE_DEG)


# -- a rig with everything -------------------------------------------------------------------------------------------


def build(names, parents, rng, connected=()):
    """An armature whose bones point in random directions, modes mixed, all channels posed."""
    data = bpy.data.armatures.new("Rig")
    armature = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent in zip(names, parents, strict=True):
        bone = data.edit_bones.new(name)
        bone.parent = data.edit_bones[parent] if parent else None
        start = data.edit_bones[parent].tail if parent else (0.0, 0.0, 0.0)
        bone.head = np.array(start) + (0.0 if name in connected else rng.normal(size=3) * 0.2)
        bone.tail = np.array(bone.head) + rng.normal(size=3)
        bone.roll = rng.normal()
        bone.use_connect = name in connected
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def pose(armature, rng, spread=0.1):
    for bone in armature.pose.bones:
        bone.location = rng.normal(size=3)
        bone.rotation_quaternion = rng.normal(size=4)
        bone.rotation_euler = rng.normal(size=3)
        bone.rotation_axis_angle = rng.normal(size=4)
        bone.scale = 1.0 + rng.uniform(-spread, spread) * np.ones(3)


def keyed(armature, rng, path, width, frames=(1, 7, 12, 20)):
    """Random keys on one property; gives the action's f-curves."""
    target = armature.path_resolve(path.rpartition(".")[0]) if "." in path else armature
    field = path.rpartition(".")[2]
    for frame in frames:
        setattr(target, field, rng.normal(size=width))
        target.keyframe_insert(field, frame=frame)
    return source.curves_in_force(armature)


MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]
FIELDS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}


@pytest.fixture
def zoo(fresh_scene, rng):
    """A chain with a branch, one bone per rotation mode, object turned and scaled, every second channel keyed."""
    names = ['quo"te', *"bcdefgh"]
    armature = build(names, ["", 'quo"te', "b", "c", "b", "e", "f", ""], rng, connected=("c", "f"))
    pose(armature, rng)
    for bone, mode in zip(armature.pose.bones, MODES, strict=True):
        bone.rotation_mode = mode
        field, width = FIELDS.get(mode, ("rotation_euler", 3))
        keyed(armature, rng, 'pose.bones["{}"].{}'.format(bone.name.replace('"', '\\"'), field), width)
    for name in "cdh":
        keyed(armature, rng, f'pose.bones["{name}"].location', 3)
    keyed(armature, rng, "location", 3)
    armature.rotation_mode = "YZX"
    keyed(armature, rng, "rotation_euler", 3)
    armature.scale = (-2.0, -2.0, -2.0)
    return armature


FRAMES = np.union1d(np.linspace(-3.0, 25.0, 57), [7.00005])


def test_every_rotation_mode(zoo):
    taken = both_ways(zoo, FRAMES)
    assert_same(*taken)
    assert taken[0][0].scale == pytest.approx(-2.0)
    assert np.ptp(taken[0][0].rotation, axis=0).max() > 0.1


def test_every_interpolation_extrapolation_and_modifier(zoo, rng):
    animated = source.curves_in_force(zoo)
    for i, curve in enumerate(animated):
        curve.extrapolation = "LINEAR" if i % 5 == 0 else "CONSTANT"
        for point in curve.keyframe_points:
            point.interpolation = EASED[rng.integers(len(EASED))] if i % 3 == 0 else EASED[rng.integers(3)]
            point.handle_left_type = point.handle_right_type = "FREE"
            point.handle_left = (point.co.x - rng.uniform(0.0, 12.0), rng.normal())
            point.handle_right = (point.co.x + rng.uniform(0.0, 3.0), rng.normal())
        # (Two handles of full length would make a vertical tangent, where float32 knows nothing.)
        if i % 7 == 0:
            curve.modifiers.new("CYCLES")
    animated[1].mute = True
    expected = np.array([[curve.evaluate(frame) for frame in FRAMES] for curve in animated])
    sampled = curves.sample(animated, FRAMES)
    # Blender solves the Bézier segments in float32 around frame 20.
    assert np.abs(sampled - expected).max() < 2e-5
    assert_same(*both_ways(zoo, FRAMES))


@pytest.mark.parametrize("kind", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
@pytest.mark.parametrize("turning", [True, False])
@pytest.mark.parametrize("local", [True, False])
def test_inheritance(zoo, kind, turning, local):
    for bone in zoo.data.bones:
        bone.inherit_scale = kind
        bone.use_inherit_rotation = turning
        bone.use_local_location = local
    assert_same(*both_ways(zoo, FRAMES[::5]))


@pytest.mark.parametrize("kind", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
@pytest.mark.parametrize("turning", [True, False])
def test_uneven_scale_is_exact_or_left_to_blender(zoo, kind, turning):
    zoo.pose.bones["b"].scale = (1.0, 0.5, 2.0)
    for bone in zoo.data.bones:
        bone.inherit_scale = kind
        bone.use_inherit_rotation = turning
    skeleton = rig.read(bpy.context, zoo)
    shown = clip.sample_scene(bpy.context, zoo, skeleton, FRAMES[::9])[0]
    try:
        ours = clip.sample_curves(bpy.context, zoo, skeleton, FRAMES[::9])[0]
    except fk.InexactError:
        return
    assert np.abs(ours - shown).max() < 1e-5 * np.ptp(shown)


# -- when the curves do not tell -------------------------------------------------------------------------------------


def empty(name="Above"):
    item = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(item)
    return item


def test_still_parents_are_exact(zoo):
    parent, above = empty(), empty()
    parent.parent, zoo.parent = above, parent
    above.location, above.rotation_euler, parent.scale = (1, 2, 3), (0.3, 0.2, 0.1), (0.5, 0.5, 0.5)
    zoo.matrix_parent_inverse = above.matrix_basis.inverted()
    assert clip.shortcut(bpy.context, zoo) == ""
    assert_same(*both_ways(zoo, FRAMES[::5]))


def _moving_parent(zoo):
    zoo.parent = empty()
    for frame, x in ((1, 0.0), (20, 3.0)):
        zoo.parent.location.x = x
        zoo.parent.keyframe_insert("location", frame=frame)


def _strip(zoo):
    track = zoo.animation_data.nla_tracks.new()
    # Blender 4.3 names a new strip after its action whatever it is told
    track.strips.new("Below", 1, zoo.animation_data.action).name = "Below"


def _driver(zoo):
    zoo.pose.bones["b"].driver_add("location", 0).driver.expression = "frame * 0.1"


def _constraint(zoo):
    zoo.pose.bones["b"].constraints.new("COPY_ROTATION").target = empty()


def _object_constraint(zoo):
    zoo.constraints.new("COPY_LOCATION").target = empty()


def _delta(zoo):
    zoo.delta_location.x = 1.0


def _mode(zoo):
    zoo.pose.bones["b"].keyframe_insert("rotation_mode", frame=3)


def _rest(zoo):
    zoo.data.pose_position = "REST"


def _stretched(zoo):
    bpy.context.scene.render.frame_map_new = 200


@pytest.mark.parametrize(
    "spoil",
    [_moving_parent, _strip, _driver, _constraint, _object_constraint, _delta, _rest, _stretched],
    ids=lambda spoil: spoil.__name__,
)
def test_spoilers_go_through_the_scene(zoo, spoil):
    spoil(zoo)
    assert clip.shortcut(bpy.context, zoo) != ""
    skeleton = rig.read(bpy.context, zoo)
    read, _ = clip.read(bpy.context, zoo, skeleton, np.array([2.0, 9.5]))
    at = 19 if spoil is _stretched else 9.5  # frames are the action's, which is where keys lie
    bpy.context.scene.frame_set(int(at), subframe=at % 1)
    shown = np.array([zoo.matrix_world @ zoo.pose.bones[name].head for name in skeleton.names])
    assert np.abs(read.world_position()[1] - shown).max() < 1e-4


def test_animated_mode_goes_through_the_scene(zoo):
    _mode(zoo)
    with pytest.raises(fk.InexactError):
        clip.sample_curves(bpy.context, zoo, rig.read(bpy.context, zoo), FRAMES)


def test_muted_tracks_do_not_matter(zoo):
    _strip(zoo)
    zoo.animation_data.nla_tracks[0].mute = True
    assert clip.shortcut(bpy.context, zoo) == ""
    assert_same(*both_ways(zoo, FRAMES[::5]))


def test_reading_leaves_the_scene_alone(zoo):
    _constraint(zoo)
    scene = bpy.context.scene
    scene.frame_set(5, subframe=0.25)
    zoo.pose.bones["d"].location = (7.0, 8.0, 9.0)  # moved by hand, keyed, not yet keyed again
    zoo.location = (3.0, 2.0, 1.0)
    clip.read(bpy.context, zoo, rig.read(bpy.context, zoo), FRAMES)
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.25)
    assert tuple(zoo.pose.bones["d"].location) == (7.0, 8.0, 9.0)
    assert tuple(zoo.location) == (3.0, 2.0, 1.0)


# -- to the core's Clip ----------------------------------------------------------------------------------------------


def test_uneven_object_is_warned_of(zoo):
    zoo.scale = (2.0, 1.0, 1.0)
    read, _ = clip.read(bpy.context, zoo, rig.read(bpy.context, zoo), FRAMES)
    assert len(read.warnings) == 1 and "unevenly" in read.warnings[0]
    assert read.scale == pytest.approx(2.0 ** (1 / 3))


def test_object_scaled_to_nothing_is_refused(zoo):
    zoo.scale = (0.0, 0.0, 0.0)
    with pytest.raises(ClipError, match="scaled to nothing"):
        clip.read(bpy.context, zoo, rig.read(bpy.context, zoo), FRAMES)


def test_bone_scaled_to_nothing_keeps_its_orientation(zoo):
    skeleton = rig.read(bpy.context, zoo)
    bone = zoo.pose.bones["h"]
    for frame, size in ((1, 1.0), (10, 0.0), (20, 0.0)):
        bone.scale = (size, size, size)
        bone.keyframe_insert("scale", frame=frame)
    read, _ = clip.read(bpy.context, zoo, skeleton, np.arange(1.0, 21.0))
    assert np.isfinite(read.rotation).all()
    jumps = np.degrees(rotation.angle(read.rotation[1:], read.rotation[:-1]))[:, skeleton.index("h")]
    assert np.all(jumps[9:] < 1e-5) and np.any(jumps[:8] > 1.0)


def test_signs_are_continuous(zoo):
    read, _ = clip.read(bpy.context, zoo, rig.read(bpy.context, zoo), np.linspace(1.0, 20.0, 400))
    assert np.einsum("tni,tni->tn", read.rotation[1:], read.rotation[:-1]).min() > 0.9


def test_rate_has_its_base(zoo):
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 30, 1.001
    read, _ = clip.read(bpy.context, zoo, rig.read(bpy.context, zoo), FRAMES)
    assert read.fps == pytest.approx(30 / 1.001)
    assert read.name == zoo.animation_data.action.name


# -- which animation -------------------------------------------------------------------------------------------------


def test_source_of_an_action(zoo):
    found = source.of(zoo)
    assert (found.action, found.start, found.end, found.until) == (zoo.animation_data.action.name, 1.0, 20.0, 20.0)


def test_source_of_a_cyclic_action_never_ends(zoo):
    source.curves_in_force(zoo)[0].modifiers.new("CYCLES")
    assert source.of(zoo).until == np.inf


def test_source_of_a_repeated_strip(zoo):
    _strip(zoo)
    strip = zoo.animation_data.nla_tracks[0].strips[0]
    strip.repeat = 3.0
    zoo.animation_data.action = None
    if hasattr(strip, "action_slot"):
        strip.action_slot = strip.action.slots[0]
    found = source.of(zoo)
    assert (found.strip, found.start, found.end, found.until) == ("Below", 1.0, 20.0, 58.0)


def test_no_source_without_animation(fresh_scene, rng):
    assert source.of(build(["a"], [""], rng)) is None


def test_slots_do_not_mix(zoo):
    action = zoo.animation_data.action
    if not hasattr(action, "slots"):
        pytest.skip("actions have slots from Blender 4.4 on")
    other = empty("Other")
    other.animation_data_create().action = action
    other.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Other")
    other.keyframe_insert("location", frame=500)
    assert source.of(zoo).end == 20.0
    assert_same(*both_ways(zoo, FRAMES[::5]))
