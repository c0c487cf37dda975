"""Export for engines: one take each, from 0, root motion and poses as promised, read back by others' readers."""

import json
import shutil
import subprocess

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, files

from tests.blender.gltf_reader import Gltf

from .interface_tools import OPS
from .layer_tools import differences, file_state, set_frame

LIMIT = 1e-3  # of the figure's height
RIGS = {
    "demo": None,
    "cyberpunk": "1_game_characters/quaternius/cyberpunk_Character.glb",
    "pab": "1_game_characters/ozz_pab/pab_walk.fbx",
    "fox": "1_game_characters/khronos/Fox.glb",
}


@pytest.fixture(params=RIGS)
def rig(fresh_scene, data, request):
    """A rig with a short reaction in the middle of its clip."""
    if request.param == "demo":
        armature = request.getfixturevalue("template")("demo")
    else:
        name = files.open_input(data / RIGS[request.param]).armature
        armature = bpy.data.objects[name]
        bpy.context.view_layer.objects.active = armature
        group = armature.parametric_dynamics
        group.sustain, group.relaxation = 0.1, 0.25
    bone = "" if request.param != "fox" else "b_Neck_04"
    OPS.apply_hit_reaction(bone=bone)
    return armature


@pytest.fixture
def demo(hit):
    return hit


def matrices(armature, frame):
    set_frame(frame)
    return {bone.name: np.array(armature.matrix_world @ bone.matrix) for bone in armature.pose.bones}


def span(armature):
    first, last = armature.parametric_dynamics_reactions[0].action.frame_range
    return int(np.floor(first)), int(np.ceil(last))


def rate():
    return bpy.context.scene.render.fps / bpy.context.scene.render.fps_base


def read(path, tmp_path):
    """The take by a reader that isn't Blender's: our tests' own for glTF, assimp for FBX."""
    if path.suffix == ".glb":
        return Gltf(path)
    if shutil.which("assimp") is None:
        pytest.skip("no assimp here: glTF was read back, FBX is where assimp is")
    other = tmp_path / "again.gltf"
    subprocess.run(["assimp", "export", str(path), str(other), "-fgltf2"], check=True, capture_output=True, timeout=60)
    return Gltf(other)


def heads(found):
    return {name: matrix[:3, 3] for name, matrix in found.items()}


def size(joints):
    return np.ptp(np.array([head for head in joints.values()]), axis=0).max()


@pytest.mark.parametrize("kind", (".glb", ".fbx"))
def test_a_take_is_what_the_scene_shows(rig, kind, tmp_path):
    (first, last), fps = span(rig), rate()
    expected = {frame: heads(matrices(rig, frame)) for frame in np.linspace(first, last, 5).round()}
    set_frame(first)
    before = file_state()
    path = tmp_path / ("take" + kind)
    assert OPS.export_takes(filepath=str(path), kind=kind) == {"FINISHED"}
    assert differences(before, file_state()) == []
    assert sorted(item.name for item in tmp_path.iterdir()) == sorted(["take" + kind, "take.json"])
    name = rig.parametric_dynamics_reactions[0].name
    facts = json.loads((tmp_path / "take.json").read_text())
    found = read(path, tmp_path)
    assert found.animations == [name] == [facts["take"]]
    assert found.span == pytest.approx((0.0, (last - first) / fps), abs=1e-3)
    assert facts["seconds"] == pytest.approx((last - first) / fps, abs=1e-6)
    for frame, joints in expected.items():
        again = heads(found.world((frame - first) / fps))
        worst = max(np.linalg.norm(joints[bone] - again[bone]) for bone in joints)
        assert worst < LIMIT * size(joints), frame


def test_what_an_export_of_the_scene_refuses_is_a_take(template, tmp_path):
    """Before frame 0; its sentence says so."""
    rig = template("demo")
    for curve in actions.all_curves(rig.animation_data.action):
        for key in curve.keyframe_points:
            key.co.x -= 100.0
        curve.update()
    OPS.apply_hit_reaction(frame=-90.0)
    with pytest.raises(RuntimeError, match="from frame 0 on. Move the clip later, or use For Engine"):
        OPS.export_fbx(filepath=str(tmp_path / "scene.fbx"))
    first, last = span(rig)
    shown = heads(matrices(rig, first))
    assert OPS.export_takes(filepath=str(tmp_path / "take.glb"), kind=".glb") == {"FINISHED"}
    found = Gltf(tmp_path / "take.glb")
    assert found.span == pytest.approx((0.0, (last - first) / rate()), abs=1e-3) and first == -90
    again = heads(found.world(0.0))
    assert max(np.linalg.norm(shown[bone] - again[bone]) for bone in shown) < LIMIT * size(shown)


@pytest.mark.parametrize("kind", (".glb", ".fbx"))
def test_three_reactions_to_a_file_each(demo, kind, tmp_path):
    """Names, ranges, root motion and poses of all of them, whatever the others do."""
    for frame in (20.0, 30.0):
        OPS.apply_hit_reaction(frame=frame)
    OPS.export_takes(filepath=str(tmp_path / ("hero" + kind)), kind=kind, all=True, root="IN_PLACE")
    kept, fps = demo.parametric_dynamics_reactions, rate()
    assert len(list(tmp_path.glob("hero_*" + kind))) == 3 == len(kept)
    for record in kept:
        stem = "hero_" + bpy.path.clean_name(record.name)
        facts = json.loads((tmp_path / (stem + ".json")).read_text())
        assert facts["hits"][0]["seconds"] == pytest.approx(0.0, abs=1e-6)
        found = read(tmp_path / (stem + kind), tmp_path)
        first, last = int(np.floor(record.action.frame_range[0])), int(np.ceil(record.action.frame_range[1]))
        assert found.animations == [record.name]
        assert found.span == pytest.approx((0.0, (last - first) / fps), abs=1e-3)
        top = next(bone.name for bone in demo.data.bones if bone.parent is None)
        start = heads(matrices(demo, first))[top]
        for frame in (first, first + 4, last):
            joints = heads(matrices(demo, frame))
            again = heads(found.world((frame - first) / fps))
            travel = (joints[top] - start) * (1.0, 1.0, 0.0)
            worst = max(np.linalg.norm(joints[bone] - travel - again[bone]) for bone in joints)
            assert worst < LIMIT * size(joints), (record.name, frame)


@pytest.mark.parametrize("kind", (".glb", ".fbx"))
@pytest.mark.parametrize("stretch, base", ((1.5, 1.0), (1.0, 1.25)))
def test_a_take_lasts_as_long_as_it_plays(demo, tmp_path, kind, stretch, base):
    """Also where the scene's time is stretched or its rate is no whole number."""
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new, render.fps_base = 100, int(100 * stretch), base
    (first, last), seconds = span(demo), stretch / rate()
    expected = {frame: heads(matrices(demo, stretch * frame)) for frame in (first, first + 4, last)}
    OPS.export_takes(filepath=str(tmp_path / ("take" + kind)), kind=kind)
    assert (render.frame_map_old, render.frame_map_new, render.fps_base) == (100, int(100 * stretch), base)
    found = read(tmp_path / ("take" + kind), tmp_path)
    assert found.span == pytest.approx((0.0, (last - first) * seconds), abs=1e-3)
    for frame, joints in expected.items():
        again = heads(found.world((frame - first) * seconds))
        assert max(np.linalg.norm(joints[bone] - again[bone]) for bone in joints) < LIMIT * size(joints)


TRAVELLERS = ("1_game_characters/ozz_pab/pab_jog.fbx", "2_mocap/animated_drawings/cmu1_jumping_jacks.bvh")


@pytest.mark.parametrize("source", TRAVELLERS)
@pytest.mark.parametrize("root", ("IN_PLACE", "BONE", "OBJECT"))
def test_root_motion(fresh_scene, data, tmp_path, source, root):
    name = files.open_input(data / source).armature
    rig = bpy.data.objects[name]
    bpy.context.view_layer.objects.active = rig
    rig.parametric_dynamics.sustain, rig.parametric_dynamics.relaxation = 0.1, 0.25
    OPS.apply_hit_reaction()
    (first, last), fps = span(rig), rate()
    frames = np.linspace(first, last, 4).round()
    shown = {frame: heads(matrices(rig, frame)) for frame in frames}
    top = next(bone.name for bone in rig.data.bones if bone.parent is None)
    OPS.export_takes(filepath=str(tmp_path / "take.glb"), kind=".glb", root=root, marker=False)
    found, tall = Gltf(tmp_path / "take.glb"), size(shown[frames[0]])
    level = np.array([1.0, 1.0, 0.0])
    moved = max(np.linalg.norm((shown[frame][top] - shown[frames[0]][top]) * level) for frame in frames)
    assert moved > 0.005 * tall, "it travels"
    stands = found.world(0.0)[rig.name]
    for frame in frames:
        now = found.world((frame - first) / fps)
        travel = (shown[frame][top] - shown[frames[0]][top]) * level
        expected = travel if root != "IN_PLACE" else 0.0
        again = heads({bone: now[bone] for bone in shown[frame]})
        for bone, head in shown[frame].items():
            assert np.linalg.norm(again[bone] - (head - travel + expected)) < LIMIT * tall
        carried = travel if root == "OBJECT" else 0.0
        np.testing.assert_allclose(now[rig.name][:3, 3], stands[:3, 3] + carried, atol=LIMIT * tall)


@pytest.mark.parametrize("order", ("LOCAL", "PARENT"))
def test_additive(demo, tmp_path, order):
    (first, _), fps = span(demo), rate()
    OPS.export_takes(filepath=str(tmp_path / "take.glb"), kind=".glb", additive=order, marker=False)
    found = Gltf(tmp_path / "take.glb")
    most = 0.0
    for frame in (first, first + 3, first + 6):
        now = found.world((frame - first) / fps)
        turns = {mute: basis(demo, frame, mute) for mute in (False, True)}
        for bone in demo.data.bones:
            if bone.parent is None:
                continue
            rest = np.array(bone.parent.matrix_local.inverted() @ bone.matrix_local)
            delta = np.linalg.inv(rest) @ np.linalg.inv(now[bone.parent.name]) @ now[bone.name]
            whole, base = turns[False][bone.name], turns[True][bone.name]
            expected = base.T @ whole if order == "LOCAL" else whole @ base.T
            np.testing.assert_allclose(delta[:3, :3], expected, atol=2e-3)
            most = max(most, np.max(np.abs(expected - np.eye(3))))
    assert most > 0.1


def basis(rig, frame, mute):
    """Turns of the bones (3, 3) in their own rest frames, with the reaction or without."""
    rig.animation_data.nla_tracks[rig.parametric_dynamics_reactions[0].name].mute = mute
    set_frame(frame)
    turns = {bone.name: np.array(bone.matrix_basis.to_quaternion().to_matrix()) for bone in rig.pose.bones}
    rig.animation_data.nla_tracks[rig.parametric_dynamics_reactions[0].name].mute = False
    return turns


def test_the_marker_sits_where_the_blow_lands(demo, tmp_path):
    (first, _), fps = span(demo), rate()
    OPS.export_takes(filepath=str(tmp_path / "take.glb"), kind=".glb")
    hit = json.loads((tmp_path / "take.json").read_text())["hits"][0]
    bone = matrices(demo, first)[hit["bone"]]
    point = bone @ np.array([*hit["point"], 1.0])
    found = Gltf(tmp_path / "take.glb").world(0.0)["impact"]
    np.testing.assert_allclose(found[:3, 3], point[:3], atol=1e-3)
    assert np.linalg.norm(point[:3] - bone[:3, 3]) < 0.4
    assert fps and "impact" not in bpy.data.objects


def test_refusals(demo, tmp_path):
    with pytest.raises(RuntimeError, match="no folder"):
        OPS.export_takes(filepath=str(tmp_path / "none" / "take.glb"), kind=".glb")
    objects = sorted(bpy.data.objects.keys())
    demo.animation_data.nla_tracks.remove(demo.animation_data.nla_tracks[demo.parametric_dynamics_reactions[0].name])
    bpy.data.actions.remove(demo.parametric_dynamics_reactions[0].action)
    with pytest.raises(RuntimeError, match="was deleted"):
        OPS.export_takes(filepath=str(tmp_path / "take.glb"), kind=".glb")
    assert not list(tmp_path.iterdir()) and sorted(bpy.data.objects.keys()) == objects
