"""A knock-out in Blender: measured on the mesh as Blender deforms it, its layer, and what the panel offers."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import cli, handwork, hints, recipe, remarks, settings
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import situation

from .interface_tools import OPS, names
from .layer_tools import farthest, joints, set_frame

GAME = "1_game_characters/"
RIGS = {
    "demo": (None, None, 1.75),
    "kaykit": (GAME + "kaykit/manny_med_mod.gltf", GAME + "kaykit/Med_MovementBasic.glb", 1.75),
    "knight": (GAME + "quaternius/KnightCharacter.glb", None, 1.75),
    "wolf": ("3_odd_rigs/quaternius_Wolf.glb", None, 0.8),
}


REAL = [pytest.param(name, marks=pytest.mark.one_blender) for name in RIGS if name != "demo"]


@pytest.fixture(scope="module", params=["demo", *REAL])
def fallen(request, template, data, tmp_path_factory):
    """(rig in the reopened file, report, metres per unit of the scene) of a knock-out by the command."""
    folder = tmp_path_factory.mktemp(request.param)
    path, clip, height = RIGS[request.param]
    if path is None:
        template("demo")
        path = folder / "demo.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
    words = ["react", data / path, "--situation", "knock_out", "--out", folder / "out.blend"]
    words += ["--report", folder / "r.json"] + (["--clip", data / clip] if clip else [])
    assert cli.main([str(word) for word in words]) == 0
    facts = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    bpy.ops.wm.open_mainfile(filepath=str(folder / "out.blend"))
    return bpy.data.objects[facts["armature"]], facts, height / facts["scene_height"]


def lowest(rig, frame):
    """(M,) heights of all points of the meshes that follow the rig, as Blender shows them."""
    set_frame(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for item in bpy.data.objects:
        follows = item.parent == rig or any(getattr(m, "object", None) == rig for m in item.modifiers)
        if item.type != "MESH" or not follows:
            continue
        shown = item.evaluated_get(graph)
        mesh = shown.to_mesh()
        places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", places)
        matrix = np.array(shown.matrix_world, dtype=np.float64)
        found.append(places.reshape(-1, 3) @ matrix[2, :3] + matrix[2, 3])
        shown.to_mesh_clear()
    return np.concatenate(found)


def layer_of(rig):
    """The track of the only reaction."""
    return next(track for track in rig.animation_data.nla_tracks if track.name == names(rig)[0])


def test_the_mesh_lies_on_the_floor_and_stays(fallen):
    rig, facts, size = fallen
    hit, end = facts["reaction_range"]
    fps = facts["fps"]
    first = min(strip.frame_start for track in rig.animation_data.nla_tracks for strip in track.strips)
    near = np.arange(max(np.ceil(hit - fps), np.ceil(first)), hit + fps)  # before the clip a pose is held, no gait
    layer_of(rig).mute = True
    floor = np.quantile([lowest(rig, frame).min() for frame in near], 0.1)
    layer_of(rig).mute = False
    falling = np.arange(np.ceil(hit), np.ceil(hit + 4.0 * fps))
    heights = [size * (lowest(rig, frame) - floor) for frame in falling]
    sunk = np.array([h.min() for h in heights])
    assert sunk.min() > -0.01
    assert heights[-1].max() < 0.6 * heights[0].max(), "no part of it stands"
    rest = np.ceil(hit + 4.0 * fps)
    moments = np.concatenate((np.arange(rest, rest + 6.0), [end + 40.0, end + 200.0]))
    assert np.linalg.norm(np.diff(joints(rig, moments), axis=0), axis=-1).max() * fps < 10.0, "no bone over 1 cm/s"


def test_remove_puts_the_clip_back(fallen):
    rig, facts, _ = fallen
    bpy.context.view_layer.objects.active = rig
    tracks = len(rig.animation_data.nla_tracks)
    frames = np.arange(*facts["frame_range"])
    layer_of(rig).mute = True
    without = joints(rig, frames)
    layer_of(rig).mute = False
    assert OPS.remove_reaction() == {"FINISHED"}
    assert names(rig) == [] and len(rig.animation_data.nla_tracks) < tracks
    assert rig.animation_data.action.name == facts["action"]
    np.testing.assert_allclose(joints(rig, frames), without, atol=1e-6)


def test_the_panel_lets_a_body_stay_down(demo):
    rig = demo
    group = rig.parametric_dynamics
    assert group.end == "return"
    group.end = "stay"
    made = settings.recipe(rig).hits[0].situation
    assert made == situation.named("shoulder_front").with_changes(end="stay", envelope=made.envelope)
    settings.put_situation(group, situation.named("knock_out"))
    assert (group.situation, group.end, round(group.knock_out, 6)) == ("knock_out", "stay", 0.25)
    group.situation = "chest_front"
    assert group.end == "return"


def test_a_blow_too_strong_to_catch_offers_the_fall(demo, tmp_path):
    """The fall comes by Update; then it goes to an engine and is flattened, and lies as it did."""
    rig = demo
    OPS.apply_hit_reaction(frame=8.0, situation="chest_front", impulse=400.0, gain=1.0)
    record = rig.parametric_dynamics_reactions[0]
    assert record.uncaught
    hint = next(hint for hint in hints.of(bpy.context, rig) if hint.cure == "FALL")
    assert hint.reaction == record.name and "stronger" in hint.text
    assert OPS.update_reaction(name=record.name, source="RECIPE", fall=True) == {"FINISHED"}
    record = rig.parametric_dynamics_reactions[0]
    assert not record.uncaught and record.blend == "REPLACE"
    assert rig.parametric_dynamics.end == "stay"
    assert "FALL" not in [hint.cure for hint in hints.of(bpy.context, rig)]
    assert OPS.export_takes(filepath=str(tmp_path / "take.glb"), kind=".glb") == {"FINISHED"}
    first, last = record.action.frame_range
    facts = json.loads((tmp_path / "take.json").read_text(encoding="utf-8"))
    assert facts["seconds"] == pytest.approx((np.ceil(last) - np.floor(first)) / 24.0)
    frames = np.array([1.0, 8.0, 15.0, 30.0, 60.0, last, last + 50.0])
    lay = joints(rig, frames)
    assert OPS.flatten() == {"FINISHED"}
    assert names(rig) == [] and farthest(joints(rig, frames), lay) < 0.05


def test_a_fallen_body_goes_over_to_an_action_and_back_off(demo):
    """The demo's walk stands in for a get-up: it is far off, which is told, and goes on until the scene ends."""
    rig = demo
    frames = np.arange(1.0, 30.0)
    before = joints(rig, frames)
    group = rig.parametric_dynamics
    group.situation, group.then, group.then_seconds = "knock_out", rig.animation_data.action.name, 0.4
    group.then_or = group.then
    bpy.context.scene.frame_end = 260
    assert OPS.apply_hit_reaction(frame=8.0) == {"FINISHED"}
    record = rig.parametric_dynamics_reactions[0]
    assert handwork.is_laid(record.action) and remarks.edited(rig, record) == ""
    assert record.blend == "REPLACE" and recipe.loads(record.recipe).then == (group.then, group.then_or)
    assert record.action.frame_range[1] == 260.0
    heads = joints(rig, np.arange(200.0, 255.0))[:, :, 0]
    head = list(rig.pose.bones.keys()).index("head")
    assert heads[:, head, 2].min() > 1300.0, "it walks again"
    assert np.ptp(heads[:, list(rig.pose.bones.keys()).index("foot.L")], axis=0).max() > 200.0
    jumps = np.linalg.norm(np.diff(joints(rig, np.arange(8.0, 200.0))[:, :, 0], axis=0), axis=-1)
    assert jumps.max() < 600.0, "at most 14 m/s: no frame jumps"
    assert OPS.remove_reaction() == {"FINISHED"}
    assert len(rig.parametric_dynamics_reactions) == 0 and farthest(joints(rig, frames), before) < 0.01


def test_up_to_two_actions_are_kept_with_the_reaction(demo):
    """In the panel, as text, and as text of a time when there was one."""
    rig = demo
    group = rig.parametric_dynamics
    for names_ in ((), ("Up",), ("Up", "Over")):
        group.then, group.then_or = (*names_, "", "")[:2]
        made = settings.recipe(rig)
        assert made.then == names_ and recipe.loads(recipe.dumps(made)) == made
        group.then = group.then_or = "Other"
        settings.put(rig, made)
        assert (group.then, group.then_or) == (*names_, "", "")[:2]
    group.then, group.then_or = "", "Over"
    assert settings.recipe(rig).then == (), "what the panel doesn't show doesn't count"
    old = json.loads(recipe.dumps(made))
    for was, names_ in (("", ()), ("Up", ("Up",))):
        assert recipe.loads(json.dumps(old | {"then": was})).then == names_


def test_an_action_that_is_not_there_is_refused(demo):
    rig = demo
    rig.parametric_dynamics.then = "Get Up"
    with pytest.raises(RuntimeError, match="no action 'Get Up'"):
        OPS.apply_hit_reaction(frame=8.0)
    assert len(rig.parametric_dynamics_reactions) == 0 and not len(rig.animation_data.nla_tracks)


def test_an_action_that_is_keyed_for_another_rotation_mode_is_told(demo):
    """Its bones would stand at rest."""
    name = demo.animation_data.action.name

    def told():
        job = jobs.read(bpy.context, demo, situation.named("knock_out"), then=((name, name), 0.4))
        return [text for text in job.warnings if "rotation mode" in text]

    assert told() == []
    demo.pose.bones["head"].rotation_mode = "XYZ"
    text = "Bones that don't follow action '{}', which keys another rotation mode than theirs: 1 "
    assert told() == [text.format(name) + "('head' is set to Euler angles, keyed in quaternions). Convert its keys."]


LYING = {
    "kaykit": (RIGS["kaykit"][0], "Lie_Idle", ["--clip", GAME + "kaykit/Med_Simulation.glb"]),
    "robot": ("3_odd_rigs/RobotExpressive.blend", "Robot_Death", ["--frame", "21"]),
}


@pytest.mark.one_blender
@pytest.mark.parametrize("name", LYING)
def test_a_body_that_is_hit_as_it_lies_stays_above_the_floor(name, addon, data, tmp_path):
    """Struck at a shoulder, one on a control rig: no part of its mesh gets deeper than the clip or the floor."""
    path, action, (option, value) = LYING[name]
    words = ["react", data / path, "--action", action, option, data / value if option == "--clip" else value]
    words += ["--situation", "shoulder_front", "--out", tmp_path / "out.blend", "--report", tmp_path / "r.json"]
    assert cli.main([str(word) for word in words]) == 0
    facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out.blend"))
    rig, size = bpy.data.objects[facts["armature"]], 1.75 / facts["scene_height"]
    hit, end = facts["reaction_range"]
    frames = np.arange(np.ceil(hit), np.ceil(end))
    shown = [lowest(rig, frame) for frame in frames]
    layer_of(rig).mute = True
    own = [lowest(rig, frame) for frame in frames]
    floor = np.quantile([height.min() for height in own], 0.1)
    deeper = [size * (np.minimum(before, floor) - after).max() for before, after in zip(own, shown, strict=True)]
    assert max(deeper) < 0.01
    assert max(size * np.abs(before - after).max() for before, after in zip(own, shown, strict=True)) > 0.02
