"""Real deltas: the keyed pose is the target's in every rotation mode, continuous between keys, exact outside."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, delta, layer
from bl_ext.user_default.parametric_dynamics.blender_addon.channels import Target
from bl_ext.user_default.parametric_dynamics.core import eulers, rotation

from tests.blender import layer_tools as tools

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
FRAMES = np.arange(5.0, 31.0)
DEGREES = 180.0 / np.pi
EXACT = 1e-4  # degrees: Blender's float32


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def rig(fresh_scene, rng):
    """One bone per rotation mode; the last but one is posed without keys, the last keyed in location only."""
    tools.ensure_records()
    rig = tools.tripod(MODES)
    names = [bone.name for bone in rig.pose.bones]
    tools.key_pose(rig, rng, (1, 9, 17, 25, 33), names[:-2])
    unkeyed, moved = rig.pose.bones[-2:]
    unkeyed.rotation_euler, unkeyed.location = (0.5, -0.4, 0.3), (0.1, 0.2, 0.3)
    moved.rotation_axis_angle = (0.8, 0.3, 0.5, -0.2)
    for frame in (1, 30):
        moved.location = 0.1 * rng.normal(size=3)
        moved.keyframe_insert("location", frame=frame)
    tools.set_frame(3)
    return rig


def matrices(rig, frames):
    """(frames, bones, 4, 4) matrix_basis as Blender evaluates it."""
    out = []
    for frame in frames:
        tools.set_frame(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append([np.array(bone.matrix_basis) for bone in evaluated.pose.bones])
    return np.array(out)


def rotations(rig, frames):
    m = matrices(rig, frames)[..., :3, :3]
    return rotation.from_matrix(m / np.linalg.norm(m, axis=-2, keepdims=True))


def stored_rotations(base):
    """(K, n, 4) what the channels in force mean."""
    out = []
    for i, mode in enumerate(base.modes):
        if mode == "QUATERNION":
            out.append(rotation.normalize(base.quaternion[:, i]))
        elif mode == "AXIS_ANGLE":
            out.append(delta.axis_angle_to_quaternion(base.axis_angle[:, i]))
        else:
            out.append(eulers.to_quaternion(mode, base.euler[:, i]))
    return np.stack(out, axis=1)


def combine_grain(base, targets):
    """(K, n) degrees that Blender's COMBINE may lose of a quaternion: it takes the angle from acos(w) in float32."""
    grain = np.full(base.location.shape[:2], EXACT)
    for i, mode in enumerate(base.modes):
        if mode == "QUATERNION":
            half = 0.5 * rotation.angle(stored_rotations(base)[:, i], targets[base.names[i]].rotation)
            grain[:, i] += 2.0 * 1.2e-7 / np.maximum(np.sin(half), 3.5e-4) * DEGREES
    return grain


def swings(rng, base, bones, peak=1.2):
    """Targets that leave the base by a random path of up to `peak` radians and return to it."""
    turned = stored_rotations(base)
    envelope = np.sin(np.linspace(0.0, np.pi, len(base.frames))) ** 2
    envelope[-1] = 0.0
    targets = {}
    for i in bones:
        way = np.cumsum(rng.normal(size=(len(envelope), 3)), axis=0)
        way *= peak * envelope[:, None] / np.max(np.linalg.norm(way, axis=-1))
        sign = rng.choice([-1.0, 1.0], size=(len(envelope), 1))  # the double cover: either is the same target
        targets[base.names[i]] = Target(
            rotation=sign * rotation.multiply(turned[:, i], rotation.exp(way)),
            location=base.location[:, i] + 0.3 * envelope[:, None] * rng.normal(size=3),
        )
    return targets


def test_the_algebra_is_blenders(rig):
    """stored channel -> rotation, as matrix_basis has it."""
    base = tools.read_channels(rig, FRAMES)
    assert np.max(rotation.angle(stored_rotations(base), rotations(rig, FRAMES))) * DEGREES < EXACT


@pytest.mark.parametrize("blend", ["COMBINE", "REPLACE"])
def test_targets_appear_exactly(rig, rng, blend):
    outside = np.array([-20.0, 1.0, 3.3, 4.99, 30.01, 33.0, 70.0])
    before = matrices(rig, outside)
    base = tools.read_channels(rig, FRAMES)
    targets = swings(rng, base, range(8))
    warnings = []
    name = layer.apply(
        bpy.context, rig, name="Hit", frames=FRAMES, targets=targets, base=base, blend=blend, warnings=warnings
    )
    assert (name, warnings) == ("Hit", [])
    got = matrices(rig, FRAMES)
    turned = rotations(rig, FRAMES)
    limit = combine_grain(base, targets) if blend == "COMBINE" else np.full(turned.shape[:2], EXACT)
    for i, bone in enumerate(base.names):
        error = rotation.angle(turned[:, i], targets[bone].rotation) * DEGREES
        assert np.all(error < limit[:, i]), (bone, base.modes[i], error)
        assert np.max(np.abs(got[:, i, :3, 3] - targets[bone].location)) < 1e-6
    assert np.array_equal(before, matrices(rig, outside))  # bit for bit


def test_continuous_between_keys(rig, rng):
    """No quaternion flips and no Euler turns: between two keys the rotation stays near both."""
    base = tools.read_channels(rig, FRAMES)
    targets = swings(rng, base, range(8), peak=0.9)
    layer.apply(bpy.context, rig, name="Hit", frames=FRAMES, targets=targets, base=base)
    keys = np.stack([targets[name].rotation for name in base.names], axis=1)
    step = rotation.angle(keys[:-1], keys[1:])
    for part in (0.25, 0.5, 0.75):
        between = rotations(rig, FRAMES[:-1] + part)
        assert np.max(rotation.angle(between, keys[:-1]) - 1.3 * step) < 0.02


def test_first_and_last_key_are_zero(rig, rng):
    base = tools.read_channels(rig, FRAMES)
    name = layer.apply(bpy.context, rig, name="Hit", frames=FRAMES, targets=swings(rng, base, range(8)), base=base)
    for curve in actions.all_curves(bpy.data.actions[name]):
        zero = float(curve.data_path.endswith("quaternion") and curve.array_index == 0)
        ends = [curve.keyframe_points[0].co[1] - zero, curve.keyframe_points[-1].co[1] - zero]
        assert np.max(np.abs(ends)) < 1e-6, (curve.data_path, curve.array_index, ends)
        assert {key.interpolation for key in curve.keyframe_points} == {"LINEAR"}


def test_only_given_bones_and_channels_are_keyed(rig, rng):
    base = tools.read_channels(rig, FRAMES)
    full = swings(rng, base, [0, 2, 7])
    targets = {"bone.0": Target(rotation=full["bone.0"].rotation), "bone.2": Target(location=full["bone.2"].location)}
    modes = [bone.rotation_mode for bone in rig.pose.bones]
    name = layer.apply(bpy.context, rig, name="Hit", frames=FRAMES, targets=targets, base=base)
    action = bpy.data.actions[name]
    keyed = {(c.data_path.split(".")[-1], c.group.name) for c in actions.all_curves(action)}
    assert keyed == {("rotation_quaternion", "bone.0"), ("location", "bone.2")}
    assert modes == [bone.rotation_mode for bone in rig.pose.bones]
    if actions.LAYERED:
        strips = [s for t in rig.animation_data.nla_tracks for s in t.strips]
        assert all(strip.action_slot is not None for strip in strips)


def test_locked_channels_are_not_touched(rig, rng):
    bones = rig.pose.bones
    bones["bone.0"].lock_rotation[1] = True  # a quaternion: all or nothing
    bones["bone.1"].lock_rotation[0] = True
    bones["bone.2"].lock_rotation[0] = bones["bone.2"].lock_rotation[2] = True
    bones["bone.3"].lock_rotation = (True, True, True)
    bones["bone.4"].lock_location[2] = True
    bones["bone.7"].lock_rotations_4d = bones["bone.7"].lock_rotation_w = True
    base = tools.read_channels(rig, FRAMES)
    warnings, targets = [], swings(rng, base, range(8), peak=0.5)
    name = layer.apply(bpy.context, rig, name="Hit", frames=FRAMES, targets=targets, base=base, warnings=warnings)
    keyed = actions.channels_of(actions.all_curves(bpy.data.actions[name]))
    indices = {
        (b, p): {c.index for c in keyed if c.path == actions.bone_path(f"bone.{b}", p)}
        for b, p in ((0, "rotation_quaternion"), (1, "rotation_euler"), (2, "rotation_euler"), (3, "rotation_euler"),
                     (4, "location"), (7, "rotation_axis_angle"))
    }  # fmt: skip
    assert list(indices.values()) == [set(), {1, 2}, {1}, set(), {0, 1}, set()]
    assert [w.split("'")[1] for w in warnings] == ["bone.0", "bone.3", "bone.7"]
    assert layer.reactions(rig)[0].warnings == tuple(warnings)
    after = tools.read_channels(rig, FRAMES)
    assert np.array_equal(after.euler[:, 1, 0], base.euler[:, 1, 0])
    assert np.array_equal(after.location[:, 4, 2], base.location[:, 4, 2])
    was = rotation.angle(stored_rotations(base)[:, 1], targets["bone.1"].rotation)
    now = rotation.angle(stored_rotations(after)[:, 1], targets["bone.1"].rotation)
    assert np.max(now) < np.max(was) and np.mean(now) < 0.9 * np.mean(was)


def test_fractional_frames(rig, rng):
    frames = np.concatenate(([5.3], np.arange(6.0, 20.0), [20.8]))
    base = tools.read_channels(rig, frames)
    targets = swings(rng, base, range(8))
    layer.apply(bpy.context, rig, name="Hit", frames=frames, targets=targets, base=base)
    turned = rotations(rig, frames[1:-1])
    want = np.stack([targets[name].rotation[1:-1] for name in base.names], axis=1)
    assert np.max(rotation.angle(turned, want)) * DEGREES < 5e-4  # strip time is float32: 1e-6 frame of 60 degrees each


def test_hold_keeps_the_last_pose(rig, rng):
    base = tools.read_channels(rig, FRAMES[:14])
    targets = swings(rng, base, range(8))
    for name, target in targets.items():
        target.rotation[-1] = rotation.multiply(target.rotation[-1], rotation.exp(np.array([0.4, 0.0, 0.0])))
        targets[name] = Target(rotation=target.rotation)
    layer.apply(bpy.context, rig, name="Stay", frames=FRAMES[:14], targets=targets, base=base, hold=True)
    unkeyed = base.names.index("bone.6")
    assert rotation.angle(rotations(rig, [90.0])[0, unkeyed], targets["bone.6"].rotation[-1]) * DEGREES < EXACT


def test_a_turn_is_keyed_the_short_way(fresh_scene, rng):
    """A base that winds through ±180 degrees: the delta stays small."""
    tools.ensure_records()
    rig = tools.tripod(("XYZ", "ZYX", "AXIS_ANGLE"))
    for frame, angle in ((1, -4.0), (40, 9.0)):
        for bone in rig.pose.bones:
            bone.rotation_euler = (0.2, 0.1, angle)
            bone.rotation_axis_angle = (angle, 0.0, 0.0, 2.0)
            prop = "rotation_axis_angle" if bone.rotation_mode == "AXIS_ANGLE" else "rotation_euler"
            bone.keyframe_insert(prop, frame=frame)
    frames = np.arange(1.0, 41.0)
    base = tools.read_channels(rig, frames)
    turned = stored_rotations(base)
    small = rotation.exp(np.sin(np.linspace(0, np.pi, 40))[:, None] * np.array([0.0, 0.0, 0.2]))
    targets = {n: Target(rotation=rotation.multiply(turned[:, i], small)) for i, n in enumerate(base.names)}
    name = layer.apply(bpy.context, rig, name="Hit", frames=frames, targets=targets, base=base)
    for curve in actions.all_curves(bpy.data.actions[name]):
        values = [key.co[1] for key in curve.keyframe_points]
        assert np.max(np.abs(values)) < 0.25, (curve.data_path, curve.array_index)
