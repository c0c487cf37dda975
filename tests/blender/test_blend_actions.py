"""Blend Actions: walking and waving on the demo character and on KayKit's, over every rotation mode, and taken off."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import (
    actions,
    blending,
    choosing,
    fk,
    operators_blend,
    properties,
    records,
    rehung,
    rig,
    sampling,
)
from bl_ext.user_default.parametric_dynamics.core.rotation import exp, multiply

from . import conftest
from .acceptance_tools import between, orientations
from .interface_tools import OPS, names
from .layer_tools import differences, farthest, file_state, joints, key_pose, set_frame, tripod

KAYKIT = "1_game_characters/kaykit/manny_med_mod.gltf"
KAYKIT_CLIPS = "1_game_characters/kaykit/Med_MovementBasic.glb"
CYBERPUNK = "1_game_characters/quaternius/cyberpunk_Character.glb"
KAYKIT_WAVE = "1_game_characters/kaykit/Med_Simulation.glb"
PICKERS = (
    (operators_blend.DYNAMICS_OT_blend_actions, "action"),
    (properties.DYNAMICS_PG_settings, "then"),
    (properties.DYNAMICS_PG_settings, "then_or"),
)
NEUTRAL = 0.05  # mm at human size, through float32 channels


def bone_index(armature, name):
    return list(armature.pose.bones.keys()).index(name)


def keep_actions():
    for action in bpy.data.actions:
        action.use_fake_user = True


def make_salute(armature, start=0, end=48):
    """An action in which the right arm is raised and its forearm waves, and the rest is not keyed."""
    frames = np.arange(start, end + 1.0)
    sway = np.sin(2 * np.pi * (frames - start) / 12.0)[:, None]
    turns = {
        "upper_arm.R": np.tile([0.0, 0.0, 2.0], (len(frames), 1)),
        "forearm.R": sway * [0.0, 0.0, 0.7],
    }
    curves = []
    for bone, vectors in turns.items():
        path = actions.bone_path(bone, "rotation_quaternion")
        q = exp(vectors)
        curves += [actions.Curve(actions.Channel(path, i), bone, q[:, i]) for i in range(4)]
    action, _ = actions.create("Salute", armature, curves, frames)
    action.use_fake_user = True
    return action


@pytest.fixture
def demo(demo):
    make_salute(demo)
    keep_actions()
    set_frame(1)
    return demo


class TestDemo:
    def test_an_arm_alone(self, demo):
        """The arm is raised, all else walks on, and before, after and once removed everything is as it was."""
        frames = np.arange(1.0, 70.0)
        state, walk = file_state(), orientations(demo, frames)
        set_frame(1)
        places = joints(demo, frames)
        set_frame(1)
        assert OPS.blend_actions(action="Salute", frame=10.0) == {"FINISHED"}
        assert names(demo) == ["Walk + Salute"]
        assert records.is_blend(demo.parametric_dynamics_reactions[0])
        both, moved = orientations(demo, frames), joints(demo, frames)
        off = between(walk, both)
        outside = (frames <= 10) | (frames >= 58)
        assert farthest(places[outside], moved[outside]) < NEUTRAL
        shown = (frames >= 20) & (frames <= 48)
        arm = bone_index(demo, "upper_arm.R")
        assert off[shown, arm].min() > 40.0
        others = [i for i, bone in enumerate(demo.pose.bones) if not bone.name.endswith("arm.R")]
        below = {bone.name for bone in demo.pose.bones["upper_arm.R"].children_recursive}
        others = [i for i in others if demo.pose.bones[i].name not in below]
        assert off[:, others].max() < 0.05
        assert OPS.remove_reaction() == {"FINISHED"}
        set_frame(1)
        assert differences(state, file_state()) == []

    def test_walk_and_wave(self, demo):
        """The demo's own wave keys the whole body, standing: the arm follows it, the legs walk on."""
        frames = np.arange(1.0, 100.0)
        walk = orientations(demo, frames)
        choosing.play(demo, next(offered for offered in choosing.candidates(demo) if offered.title == "Wave"))
        wave = orientations(demo, frames - 9.0)
        choosing.play(demo, next(offered for offered in choosing.candidates(demo) if offered.title == "Walk"))
        set_frame(1)
        assert OPS.blend_actions(action="Wave", frame=10.0) == {"FINISHED"}
        both = orientations(demo, frames)
        off = {bone.name: between(walk, both)[:, i] for i, bone in enumerate(demo.pose.bones)}
        shown = (frames >= 30) & (frames <= 65)
        print({name: round(float(values.max()), 1) for name, values in off.items()})
        arm = bone_index(demo, "upper_arm.R")
        assert off["upper_arm.R"][shown].min() > 60.0
        assert between(wave, both)[shown, arm].max() < 20.0
        assert max(off[name + side].max() for name in ("thigh", "shin", "foot") for side in (".L", ".R")) < 4.0

    def test_it_goes_where_the_importances_say(self, demo):
        """400 over 10: 400/410 of the way from the walk's arm to the wave's, in the middle of the sustain."""
        frame = 34.0
        pose = demo.pose.bones["upper_arm.R"]
        set_frame(frame)
        walk = pose.matrix_basis.to_quaternion()
        wave = exp(np.array([0.0, 0.0, 2.0]))
        settings = {"automatic": False, "clip_importance": "UNIMPORTANT", "action_importance": "VERY_IMPORTANT"}
        assert OPS.blend_actions(action="Salute", frame=10.0, **settings) == {"FINISHED"}
        set_frame(frame)
        both = pose.matrix_basis.to_quaternion()
        whole = np.degrees(walk.rotation_difference(type(walk)(wave)).angle)
        gone = np.degrees(walk.rotation_difference(both).angle)
        left = np.degrees(type(walk)(wave).rotation_difference(both).angle)
        assert gone == pytest.approx(400 / 410 * whole, abs=0.05)
        assert left == pytest.approx(10 / 410 * whole, abs=0.05)

    def test_what_reactions_lay_is_no_clip(self, demo):
        OPS.apply_hit_reaction(frame=8.0)
        laid = demo.parametric_dynamics_reactions[0].action.name
        demo.pose.bones["head"].keyframe_insert("dynamics_mass", frame=1.0)  # an action of a setting is none either
        assert {item.name for item in choosing.candidates(demo)} == {"Salute", "Walk", "Wave"}
        for owner, name in PICKERS:
            search = owner.__annotations__[name].keywords["search"]
            assert search(None, bpy.context, "") == ["Salute", "Walk", "Wave"]
        told = "'{}' is the layer of a reaction, .* Choose one of 'Salute', 'Walk', 'Wave'".format(laid)
        with pytest.raises(RuntimeError, match=told):
            OPS.blend_actions(action=laid)
        with pytest.raises(RuntimeError, match="Choose one of 'Salute', 'Walk', 'Wave'"):
            OPS.blend_actions(action="Salut")
        demo.parametric_dynamics.then = laid
        with pytest.raises(RuntimeError, match=told):
            OPS.apply_hit_reaction(frame=8.0)

    def test_two_hits_over_it(self, demo):
        """Walk + wave + two hits, and removed in another order than made."""
        state = file_state()
        OPS.blend_actions(action="Salute", frame=4.0)
        both = orientations(demo, np.arange(1.0, 60.0))
        set_frame(1)
        assert OPS.apply_hit_reaction(frame=12.0) == {"FINISHED"}
        assert OPS.apply_hit_reaction(frame=30.0, situation="chest_front") == {"FINISHED"}
        assert len(names(demo)) == 3
        hurt = orientations(demo, np.arange(1.0, 60.0))
        off = between(both, hurt).max(axis=1)
        assert off[:11].max() < 0.05 and off[13:18].max() > 10.0 and off[31:36].max() > 10.0
        demo.parametric_dynamics.active_reaction = 0
        assert OPS.remove_reaction() == {"FINISHED"}
        OPS.remove_all()
        set_frame(1)
        demo.parametric_dynamics.active_reaction = 0
        assert differences(state["animation"], file_state()["animation"]) == []
        assert differences(state["poses"], file_state()["poses"]) == []

    def test_a_stumble_takes_over_at_the_hit(self, demo):
        """The whole body from the hit's frame on, below the reaction; taken off, everything is as it was."""
        bpy.context.scene.frame_set(1)
        demo.parametric_dynamics.automatic_frame, demo.parametric_dynamics.frame = False, 12.0
        state = file_state()
        assert OPS.blend_actions(action="Salute", at_hit=True) == {"FINISHED"}
        stumble = demo.parametric_dynamics_reactions[0].action
        assert stumble.frame_range[0] == 12.0
        assert OPS.apply_hit_reaction() == {"FINISHED"}
        assert [r.action.frame_range[0] for r in demo.parametric_dynamics_reactions] == [12.0, 12.0]
        order = [track.name for track in demo.animation_data.nla_tracks]
        first, second = (r.name for r in demo.parametric_dynamics_reactions)
        assert order.index(first) < order.index(second)
        OPS.remove_all()
        bpy.context.scene.frame_set(1)
        assert differences(state, file_state()) == []

    def test_selected_bones_only_and_repeated(self, demo):
        bpy.ops.object.mode_set(mode="POSE")
        for bone in demo.pose.bones:
            holder = bone if hasattr(bone, "select") else bone.bone
            holder.select = bone.name == "forearm.R"
        walk = orientations(demo, [100.0])
        OPS.blend_actions(action="Salute", frame=10.0, bones="SELECTED", repeat=True, whole=False, sustain=5.0)
        curves = actions.all_curves(demo.parametric_dynamics_reactions[0].action)
        assert {actions.bone_of(curve.data_path) for curve in curves} == {"forearm.R"}
        assert between(walk, orientations(demo, [100.0]))[0, bone_index(demo, "forearm.R")] > 5.0
        bpy.ops.object.mode_set(mode="OBJECT")

    def test_fewer_keys(self, demo):
        frames = np.arange(1.0, 60.0, 0.25)
        OPS.blend_actions(action="Salute", frame=10.0)
        full, keys = orientations(demo, frames), key_count(demo)
        OPS.remove_reaction()
        demo.parametric_dynamics.key_tolerance = 2.0
        OPS.blend_actions(action="Salute", frame=10.0)
        assert between(full, orientations(demo, frames)).max() <= 2.0
        assert key_count(demo) < 0.6 * keys

    def test_keys_for_another_rotation_mode_are_told(self, demo):
        """Blender doesn't show them; of a whole action of them nothing is left."""
        euler = bpy.data.actions["Salute"].copy()
        euler.name = "Euler Salute"
        for curve in actions.all_curves(euler):
            curve.data_path = curve.data_path.replace("rotation_quaternion", "rotation_euler")
        told = r"action 'Euler Salute', .*: 2 \('\w+\.R' is set to quaternions, keyed in Euler angles\)"
        with pytest.raises(RuntimeError, match=told):
            OPS.blend_actions(action="Euler Salute", frame=10.0)
        assert choosing.unheard(demo, choosing.by_name(demo, "Salute")) == ""
        for curve in actions.all_curves(euler):
            if "forearm" in curve.data_path:
                curve.data_path = curve.data_path.replace("rotation_euler", "rotation_quaternion")
        made = blending.read(bpy.context, demo, blending.Wish("Euler Salute", frame=10.0))
        (told,) = made.warnings
        assert ": 1 ('upper_arm.R' is set to quaternions, keyed in Euler angles)" in told
        assert set(made.targets) == {"forearm.R"}
        only = blending.Wish("Euler Salute", frame=10.0, bones=("forearm.R",))
        assert blending.read(bpy.context, demo, only).warnings == []

    def test_refusals_change_nothing(self, demo):
        empty = bpy.data.actions.new("Empty")
        empty.use_fake_user = True
        state = file_state()
        for given, said in (
            ({"action": "Salut"}, "Salute"),
            ({"action": "Empty"}, "moves no bone"),
            ({"action": "Salute", "bones": "SELECTED"}, "changes nothing"),
            ({"action": "Salute", "whole": False, "attack": 0.0, "sustain": 0.0, "relaxation": 0.0}, "no length"),
        ):
            with pytest.raises(RuntimeError, match=said):
                OPS.blend_actions(frame=10.0, **given)
            assert differences(state, file_state()) == []

    def test_the_dialog_asks_for_what_the_operator_has(self, demo):
        has = operators_blend.DYNAMICS_OT_blend_actions.__annotations__
        asked = []
        layout = SimpleNamespace(prop=lambda _, name, **_how: asked.append(name))
        for whole, automatic in ((True, True), (False, False)):
            dialog = SimpleNamespace(layout=layout, whole=whole, automatic=automatic)
            operators_blend.DYNAMICS_OT_blend_actions.draw(dialog, bpy.context)
        assert set(asked) == set(has) - {"slot", "at_hit"}

    def test_update_says_what_to_do_instead(self, demo):
        OPS.blend_actions(action="Salute", frame=10.0)
        state = file_state()
        with pytest.raises(RuntimeError, match="blends two actions"):
            OPS.update_reaction()
        assert differences(state, file_state()) == []
        OPS.apply_hit_reaction(frame=8.0)
        for record, able in zip(demo.parametric_dynamics_reactions, (False, True), strict=True):
            with bpy.context.temp_override(dynamics_reaction=record):  # as the panel's button has it
                assert OPS.update_reaction.poll() == able


def key_count(armature):
    curves = actions.all_curves(armature.parametric_dynamics_reactions[0].action)
    return sum(len(curve.keyframe_points) for curve in curves)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE"])
def test_every_rotation_mode(fresh_scene, mode):
    """At full importance over nothing a bone is where the other action has it, and its location too."""
    rig = tripod([mode] * 3)
    key_pose(rig, np.random.default_rng(5), (0, 30, 60), strength=0.3)
    walk = rig.animation_data.action
    rig.animation_data.action = None
    key_pose(rig, np.random.default_rng(6), (0, 20, 50), strength=0.3)
    wave = rig.animation_data.action
    wave.name = "Other"
    there = orientations(rig, [25.0])
    keep_actions()
    actions.assign(rig.animation_data, walk, walk.slots[0].identifier if actions.LAYERED else "")
    set_frame(1)
    state, here = file_state(), orientations(rig, [25.0, 60.0])
    set_frame(1)
    settings = {"automatic": False, "clip_importance": "UNIMPORTANT", "action_importance": "VERY_IMPORTANT"}
    assert OPS.blend_actions(action="Other", frame=0.0, attack=0.4, relaxation=0.4, **settings) == {"FINISHED"}
    both = orientations(rig, [25.0, 60.0])
    assert between(both[0], there[0]).max() < 0.12 * between(here[0], there[0]).max()
    assert between(both[1], here[1]).max() < 0.05
    OPS.remove_reaction()
    set_frame(1)
    assert differences(state, file_state()) == []


@pytest.fixture
def kaykit(open_file, data, fresh_scene, tmp_path):
    """KayKit's figure, walking, with the clips of another file that waves."""
    rig = open_file(data / KAYKIT, data / KAYKIT_CLIPS)[0]
    name = rig.name
    choosing.play(rig, next(offered for offered in choosing.candidates(rig) if offered.title == "Walking_A"))
    before = set(bpy.data.objects)
    conftest._load(data / KAYKIT_WAVE, tmp_path)
    bpy.data.batch_remove([item for item in bpy.data.objects if item not in before])
    keep_actions()
    rig = bpy.data.objects[name]
    bpy.context.view_layer.objects.active = rig
    set_frame(1)
    return rig


def test_kaykit_waves_while_walking(kaykit):
    rig = kaykit
    wave = next(offered for offered in choosing.candidates(rig) if offered.title == "Waving")
    frames = np.arange(1.0, 60.0)
    state, walk = file_state(), orientations(rig, frames)
    set_frame(1)
    assert OPS.blend_actions(action=wave.name, frame=6.0) == {"FINISHED"}
    print(names(rig), wave)
    both = orientations(rig, frames)
    off = between(walk, both)
    shown = slice(12, 26)
    parts = {bone.name: float(off[shown, i].max()) for i, bone in enumerate(rig.pose.bones)}
    print({name: round(value) for name, value in parts.items()})
    arm = max(value for name, value in parts.items() if "arm" in name.lower())
    leg = max(value for name, value in parts.items() if "leg" in name.lower())
    assert arm > 40.0 and leg < 15.0
    assert off[:5].max() < 0.05
    OPS.remove_reaction()
    set_frame(1)
    assert differences(state, file_state()) == []


def test_feet_that_hang_from_the_root_stay_on_their_shins(open_file, data, fresh_scene):
    """Cyberpunk's feet are IK feet under the root: its wave moves pelvis and legs, and the feet go with them."""
    rig = open_file(data / CYBERPUNK)[0]
    offered = {item.title: item for item in choosing.candidates(rig)}
    choosing.play(rig, offered["Walk"])
    keep_actions()
    frames = np.arange(1.0, 30.0, 4.0)

    def ankles():
        """(K, 2, 3) mm: the feet's heads in the shins' axes; and the feet's axes in the world."""
        heads, axes = joints(rig, frames)[:, :, 0], orientations(rig, frames)
        pairs = [[bone_index(rig, name + side) for name in ("LowerLeg", "Foot")] for side in (".L", ".R")]
        at = np.stack([np.einsum("kji,kj->ki", axes[:, s], heads[:, f] - heads[:, s]) for s, f in pairs], axis=1)
        return at, axes[:, [foot for _, foot in pairs]]

    walk, feet = ankles()
    set_frame(1)
    assert OPS.blend_actions(action=offered["Wave"].name, frame=1.0, attack=0.0) == {"FINISHED"}
    blended, turned = ankles()
    assert between(feet, turned).max() > 10.0
    assert farthest(blended, walk) < 0.1


@pytest.mark.parametrize("mode", ["QUATERNION", "YZX", "AXIS_ANGLE"])
def test_a_bone_is_mixed_where_the_body_hangs_it(fresh_scene, mode):
    """The third bone hangs under the first, a body hangs it on the second: put back unmixed it is where it was, and
    where the second turns on it goes along."""
    armature = tripod([mode] * 3)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    bones["bone.2"].parent = bones["bone.0"]
    bpy.ops.object.mode_set(mode="OBJECT")
    key_pose(armature, np.random.default_rng(7), (0, 9), strength=0.5)
    skeleton = rig.read(bpy.context, armature)
    matrices, _, channels = sampling.sample(bpy.context, armature, skeleton, np.arange(0.0, 10.0, 3.0))
    foot, shin = skeleton.names.index("bone.2"), skeleton.names.index("bone.1")
    carrier = {foot: shin, shin: skeleton.names.index("bone.0")}
    body = SimpleNamespace(order=np.array([carrier[shin], shin, foot]), parent=[carrier.get(i, -1) for i in range(3)])
    hung = rehung.find(armature, skeleton.names, body, channels)
    rotation, location = hung.joints(channels)
    hanging = np.linalg.inv(matrices[:, shin]) @ matrices[:, foot]
    np.testing.assert_allclose(fk.compose(location[:, foot], rotation[:, foot], np.ones(3)), hanging, atol=1e-6)
    back = rehung.with_bases(channels, *hung.bases(channels, rotation, location))
    np.testing.assert_allclose(fk.pose(hung.bones, back), matrices, atol=1e-6)
    rotation[:, shin] = multiply(rotation[:, shin], exp(np.array([0.4, -0.2, 0.3])))
    posed = fk.pose(hung.bones, rehung.with_bases(channels, *hung.bases(channels, rotation, location)))
    np.testing.assert_allclose(np.linalg.inv(posed[:, shin]) @ posed[:, foot], hanging, atol=1e-6)
    assert np.abs(posed - matrices)[:, foot].max() > 0.1
