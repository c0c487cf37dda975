"""Input files: what is opened, what is chosen and why, and what is refused with the cure."""

import json
import math
import os
import sys

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, choosing, clip, files, importing, source
from bl_ext.user_default.parametric_dynamics.core.errors import CoreError

from tests.blender.gltf_reader import Gltf

GAME = "1_game_characters/"

CHOSEN = [
    (GAME + "RobotExpressive.source.glb", "Walking", "walk"),
    (GAME + "kaykit/Med_General.glb", "Idle_A", "idle"),
    (GAME + "kaykit/Med_MovementBasic.glb", "Walking_A", "walk"),
    (GAME + "kaykit/Med_Simulation.glb", "Lie_Idle", "idle"),
    (GAME + "khronos/Fox.glb", "Walk", "walk"),
    (GAME + "khronos/cesium_man.gltf", "Anim_0", "only"),
    (GAME + "ozz_pab/pab_walk.fbx", "walk", "only"),
    (GAME + "ozz_pab/pab_jog.fbx", "jog", "only"),
    (GAME + "ozz_pab/pab_crossarms.fbx", "crossarms", "only"),
    (GAME + "ozz_pab/pab_locomotions.fbx", "walk", "walk"),
    (GAME + "quaternius/cyberpunk_Character.glb", "Walk", "walk"),
    (GAME + "quaternius/KnightCharacter.glb", "Walking", "walk"),
    ("2_mocap/animated_drawings/cmu1_jumping_jacks.bvh", "cmu1_jumping_jacks", "only"),
    ("2_mocap/animated_drawings/fair1_wave_hello.bvh", "fair1_wave_hello", "only"),
    ("2_mocap/cmu/01_01_playground.bvh", "01_01_playground", "only"),
    ("2_mocap/cmu/02_01_walk.bvh", "02_01_walk", "only"),
    ("3_odd_rigs/RobotExpressive.blend", "Robot_Death", "active"),
    ("3_odd_rigs/gltf_00_parented_to_bone_and_animated.blend", "ArmatureAction", "active"),
    ("3_odd_rigs/gltf_03_skinned_cylinder.blend", "SkeletonAnimation", "active"),
    ("3_odd_rigs/gltf_26_nla_export_mode.blend", "ArmatureAction.001", "longest"),
    ("3_odd_rigs/ozz_pab_skeleton_HIK.fbx", "Take 001", "only"),
    ("3_odd_rigs/ozz_robot.fbx", "Take 001", "only"),
    ("3_odd_rigs/quaternius_Apatosaurus.glb", "Apatosaurus_Walk", "walk"),
    ("3_odd_rigs/quaternius_Spider.glb", "Spider_Walk", "walk"),
    ("3_odd_rigs/quaternius_Trex.glb", "TRex_Walk", "walk"),
    ("3_odd_rigs/quaternius_Wolf.glb", "Walk", "walk"),
    ("3_odd_rigs/vrm_extra_intermediate_spine.blend", "ArmatureAction.002", "active"),
]

REFUSED = [
    (GAME + "kaykit/manny_med_mod.gltf", "no animation"),
    (GAME + "ozz_pab/pab_arnaud.fbx", "no animation"),
    (GAME + "vrm/basic_armature_vrm1.vrm", "no animation"),
    (GAME + "vrm/hips_spine_twisting.vrma", "without an armature"),
    ("2_mocap/deepmimic_txt/humanoid3d_walk.txt", "Use one of"),
    ("3_odd_rigs/CloudRig_MetaRigs.blend", "no animation"),
    ("3_odd_rigs/gltf_29_armature_use_current_pose.blend", "no animation"),
    ("3_odd_rigs/vrm_armature_transform.blend", "no animation"),
    ("3_odd_rigs/vrm_blender_2_40_to_2_93_unknown_constraint.blend", "no animation"),
    ("3_odd_rigs/vrm_bone_child_mesh.blend", "no animation"),
    ("3_odd_rigs/vrm_non_deform_root_bone.blend", "no animation"),
    ("3_odd_rigs/vrm_pose_rotation_scale_shape_key_skinned.blend", "no animation"),
    ("3_odd_rigs/vrm_rest_a_pose_t_position_pose.blend", "no animation"),
]


@pytest.mark.parametrize(("name", "title", "why"), CHOSEN)
def test_opens_and_chooses(fresh_scene, data, name, title, why):
    opened = files.open_input(data / name)
    body = bpy.data.objects[opened.armature]
    assert choosing.title(opened.action, opened.armature) == title
    assert why in opened.why
    assert not opened.warnings
    assert bpy.context.view_layer.objects.active == body
    found = source.of(body)
    assert found.action == opened.action and found.end >= found.start
    assert source.alone(body)


@pytest.mark.parametrize(("name", "reason"), REFUSED)
def test_refuses_in_one_sentence(fresh_scene, data, name, reason):
    with pytest.raises(CoreError) as refusal:
        files.open_input(data / name)
    text = str(refusal.value)
    assert reason in text and os.path.basename(name) in text
    assert "\n" not in text and text.endswith(".")


def refused(path, **options):
    with pytest.raises(CoreError) as refusal:
        files.open_input(path, **options)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_refuses_broken_files(fresh_scene, data, tmp_path):
    fox = (data / (GAME + "khronos/Fox.glb")).read_bytes()
    broken = {
        "cut.glb": fox[: len(fox) // 2],
        "text.fbx": b"this is a text file\n",
        "text.glb": b"this is a text file\n",
        "text.gltf": b"this is a text file\n",
        "list.gltf": b"[1, 2]",
        "lonely.gltf": json.dumps({"asset": {"version": "2.0"}, "buffers": [{"uri": "a%20b.bin"}]}).encode(),
        "text.bvh": b"this is a text file\n",
        "half.bvh": b"HIERARCHY\nROOT Hips\n{\n",
        "text.blend": b"this is a text file\n",
        "cut.blend": (data / "3_odd_rigs/RobotExpressive.blend").read_bytes()[:20000],
        "cut.fbx": (data / (GAME + "ozz_pab/pab_walk.fbx")).read_bytes()[:20000],
        "empty.fbx": b"",
    }
    for name, content in broken.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert name in refused(path)
    assert "There is no file" in refused(tmp_path / "missing.glb")
    assert "folder" in refused(tmp_path)


def test_refuses_a_glb_without_armature(fresh_scene, data, tmp_path):
    vrma = data / (GAME + "vrm/hips_spine_twisting.vrma")
    path = tmp_path / "renamed.glb"
    path.write_bytes(vrma.read_bytes())
    assert "has no armature" in refused(path)


def test_refuses_unknown_names_and_offers_near_ones(fresh_scene, data):
    fox = data / (GAME + "khronos/Fox.glb")
    assert "It has 'Run'" in refused(fox, action="Rum")
    assert "It has 'root'" in refused(fox, armature="rot")
    assert files.open_input(fox, action="survey").action.startswith("Survey")


def test_refuses_linked_armatures(fresh_scene, data, tmp_path):
    library = tmp_path / "library.blend"
    files.open_input(data / "3_odd_rigs/gltf_03_skinned_cylinder.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(library), copy=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (there, here):
        here.objects = list(there.objects)
    for item in here.objects:
        bpy.context.scene.collection.objects.link(item)
    user = tmp_path / "user.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(user), copy=True)
    assert "Library Override" in refused(user)


def test_refuses_a_clip_for_another_skeleton(fresh_scene, data):
    mannequin = data / (GAME + "kaykit/manny_med_mod.gltf")
    assert "no bone name in common" in refused(mannequin, clip=data / (GAME + "khronos/Fox.glb"))
    assert "There is no file" in refused(mannequin, clip=data / "nothing.glb")


# -- clips from another file -----------------------------------------------------------------------------------------


def heads(armature, frame):
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    return {bone.name: np.array(armature.matrix_world @ bone.head) for bone in armature.pose.bones}


def test_clip_of_another_file_plays_alike(fresh_scene, data):
    clip_file = data / (GAME + "kaykit/Med_MovementBasic.glb")
    opened = files.open_input(clip_file, action="Running_A")
    expected = heads(bpy.data.objects[opened.armature], 7.3)
    opened = files.open_input(data / (GAME + "kaykit/manny_med_mod.gltf"), clip=clip_file, action="Running_A")
    assert opened.armature == "Rig_Medium" and "Running_A" in opened.action and "Med_MovementBasic.glb" in opened.why
    assert len(opened.warnings) == 1 and "handslot.l" in opened.warnings[0]
    shown = heads(bpy.data.objects[opened.armature], 7.3)
    assert max(np.linalg.norm(shown[name] - expected[name]) for name in shown) < 1e-5
    assert sum(item.type == "ARMATURE" for item in bpy.data.objects) == 1
    assert len(bpy.data.armatures) == 1 and not [item for item in bpy.data.objects if ".001" in item.name]


def test_clip_with_another_rest_pose_is_carried_over(fresh_scene, data):
    clip_file = data / (GAME + "ozz_pab/pab_walk.fbx")
    opened = files.open_input(clip_file)
    expected = [heads(bpy.data.objects[opened.armature], frame) for frame in (1, 20, 41)]
    opened = files.open_input(data / (GAME + "ozz_pab/pab_arnaud.fbx"), clip=clip_file)
    assert any("rest differently" in warning for warning in opened.warnings)
    for reference, frame in zip(expected, (1, 20, 41), strict=True):
        shown = heads(bpy.data.objects[opened.armature], frame)
        # Another export of the same man: his pelvis sits 1.7 mm elsewhere in its parent.
        assert max(np.linalg.norm(shown[name] - reference[name]) for name in shown if name in reference) < 2e-3
    assert np.linalg.norm(expected[2]["Pelvis"] - expected[0]["Pelvis"]) > 1.4


def test_clip_from_a_blend(fresh_scene, data):
    robot = data / (GAME + "RobotExpressive.source.glb")
    opened = files.open_input(robot, clip=data / "3_odd_rigs/RobotExpressive.blend", action="Robot_Walking")
    found = source.of(bpy.data.objects[opened.armature])
    assert (found.start, found.end) == (0.0, 23.0)
    assert sum(item.type == "ARMATURE" for item in bpy.data.objects) == 1


# -- rate, axes, residue ---------------------------------------------------------------------------------------------


def test_bvh_sets_the_rate_and_stands_up(fresh_scene, data):
    opened = files.open_input(data / "2_mocap/animated_drawings/fair1_wave_hello.bvh")
    render = bpy.context.scene.render
    assert render.fps / render.fps_base == pytest.approx(1.0 / 0.008342, rel=1e-6)
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (1, 839)
    at = heads(bpy.data.objects[opened.armature], 100)
    up = at["Head"] - at["LeftFoot"]
    assert up[2] > 3.0 * np.hypot(up[0], up[1])


@pytest.mark.parametrize(
    ("name", "rate"), [("cmu/02_01_walk.bvh", 120), ("animated_drawings/cmu1_jumping_jacks.bvh", 30)]
)
def test_rounded_frame_times_mean_whole_rates(fresh_scene, data, name, rate):
    files.open_input(data / "2_mocap" / name)
    render = bpy.context.scene.render
    assert (render.fps, render.fps_base) == (rate, 1.0)


@pytest.mark.parametrize(
    "name", ["cmu/02_01_walk.bvh", "cmu/01_01_playground.bvh", "animated_drawings/cmu1_jumping_jacks.bvh"]
)
def test_usual_bvh_stands_up_too(fresh_scene, data, name):
    opened = files.open_input(data / "2_mocap" / name)
    at = heads(bpy.data.objects[opened.armature], 1)
    foot = "LeftFoot" if "LeftFoot" in at else "LeftAnkle"
    up = at["Head"] - at[foot]
    assert up[2] > 3.0 * np.hypot(up[0], up[1])


@pytest.mark.parametrize("name", [GAME + "quaternius/cyberpunk_Character.glb", "3_odd_rigs/quaternius_Spider.glb"])
def test_file_gives_its_own_pose(fresh_scene, data, name):
    """The stance noted at import is the file's own node transforms, not a clip's residue."""
    path = data / name
    stances = importing.load(path)
    body = next(item for item in bpy.data.objects if item.type == "ARMATURE")
    body.animation_data_clear()
    clip.write_stored(body, stances.of(body))
    bpy.context.view_layer.update()
    world = Gltf(path).world()
    for bone in body.pose.bones:
        if bone.name in world:
            at = np.array(body.matrix_world @ bone.head)
            assert np.abs(at - world[bone.name][:3, 3]).max() < 1e-4


def test_no_residue_of_another_clip(fresh_scene, data):
    """Walk after Death equals Walk alone: bones that Walk does not key stand as the file has them."""
    path = data / (GAME + "quaternius/cyberpunk_Character.glb")
    opened = files.open_input(path)
    body = bpy.data.objects[opened.armature]
    keyed = {actions.bone_of(curve.data_path) for curve in source.curves_in_force(body)}
    stance = importing.load(path).of(bpy.data.objects[opened.armature])
    files.open_input(path)
    body = bpy.data.objects[opened.armature]
    free = [name for name in stance.names if name not in keyed]
    assert free
    stored = clip.stored_channels(body, free, [0.0])
    pick = [stance.names.index(name) for name in free]
    assert np.array_equal(stored.quaternion[0], stance.quaternion[0][pick])


def test_action_of_a_blend_leaves_no_residue(fresh_scene, data):
    opened = files.open_input(data / "3_odd_rigs/RobotExpressive.blend", action="Robot_Walking")
    body = bpy.data.objects[opened.armature]
    keyed = {actions.bone_of(curve.data_path) for curve in source.curves_in_force(body)}
    action = next(item for item in choosing.candidates(body) if item.name == "Robot_Death")
    death = {actions.bone_of(curve.data_path) for curve in choosing.curves_of(action)}
    for name in death - keyed:
        assert tuple(body.pose.bones[name].rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)


def test_importers_keep_quiet(fresh_scene, data, capfd):
    files.open_input(data / (GAME + "ozz_pab/pab_walk.fbx"))
    files.open_input(data / (GAME + "khronos/Fox.glb"))
    sys.stdout.flush()
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "kind", "closeness"),
    [("Walk", "walk", 0), ("Walking_A", "walk", 0), ("WalkJump", "walk", 1), ("Spider_Walk", "walk", 1),
     ("sleepwalker", "walk", 2), ("Run", "walk", 3), ("Idle_2", "idle", 0), ("02_01_walk", "walk", 0)],
)  # fmt: skip
def test_closeness_of_names(text, kind, closeness):
    assert choosing._closeness(text, kind) == closeness


@pytest.mark.parametrize(
    ("action", "armature", "title"),
    [
        ("Rig|Walk", "Rig", "Walk"),
        ("Rig|Walk_Rig", "Rig.001", "Walk"),
        ("Rig.001|Walk", "Rig", "Walk"),
        ("Walk_Rig.002", "Rig", "Walk"),
        ("Walk.001", "Rig", "Walk.001"),
        ("Hips|walk|walk:BaseAnimation", "Hips", "walk"),
        ("Walk", "Rig", "Walk"),
    ],
)
def test_titles(action, armature, title):
    assert choosing.title(action, armature) == title
