"""`react` on rigs and walks that no one here made: done, neutral outside the reaction, plain to see inside it.

The errors are computed again from the reopened output file, with the tests' own arithmetic, against the clip of the
original file (opened by `files.open_input`, which has its own tests).
"""

import json

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import cli

from tests.blender import acceptance_tools as tools

GAME = "1_game_characters/"
CLIPS = GAME + "kaykit/Med_MovementBasic.glb"
LIMIT = 0.01  # degrees
WALKS = {
    "cyberpunk": (GAME + "quaternius/cyberpunk_Character.glb", None, "shoulder_front"),
    "kaykit": (GAME + "kaykit/manny_med_mod.gltf", CLIPS, "shoulder_front"),
    "kaykit_clip": (CLIPS, None, "shoulder_front"),
    "pab": (GAME + "ozz_pab/pab_walk.fbx", None, "shoulder_front"),
    "cesium": (GAME + "khronos/cesium_man.gltf", None, "shoulder_front"),
    "cmu": ("2_mocap/cmu/02_01_walk.bvh", None, "shoulder_front"),
    "fox": (GAME + "khronos/Fox.glb", None, "chest_front"),
    "wolf": ("3_odd_rigs/quaternius_Wolf.glb", None, "shoulder_front"),
}


@pytest.fixture(scope="module", params=list(WALKS))
def done(request, addon, data, tmp_path_factory):
    """(name, facts of the report, path of the result) of one reaction on one rig."""
    name, clip, preset = WALKS[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    words = ["react", data / name, "--situation", preset, "--out", folder / "out.blend", "--report", folder / "r.json"]
    words += ["--clip", data / clip] if clip else []
    assert cli.main([str(word) for word in words]) == 0
    return request.param, json.loads((folder / "r.json").read_text(encoding="utf-8")), folder / "out.blend"


def test_walks_react(done, data):
    """Everything that must be shown of one rig; one test, for opening the files is what takes time."""
    which, facts, path = done
    first, last = facts["frame_range"]
    hit, end = facts["reaction_range"]
    before = np.arange(np.ceil(first), hit)
    during = np.arange(np.ceil(hit), np.floor(end))
    after = np.array([end, *(np.ceil(end) + np.arange(3.0))])
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects[facts["armature"]]
    names = [bone.name for bone in rig.pose.bones]
    shown = [tools.orientations(rig, frames) for frames in (before, during, after)]
    ups = [names.index(bone.parent.name) if bone.parent else -1 for bone in rig.pose.bones]
    _is_its_own_layer(rig, facts, hit, end)

    name, clip, _ = WALKS[which]
    original = tools.loaded(data / name, clip=data / clip if clip else None, action=facts["action"])
    assert [bone.name for bone in original.pose.bones] == names
    meant = [[tools.as_the_clip_goes(frame, facts) for frame in frames] for frames in (before, during, after)]
    clip_shown = [tools.orientations(original, frames) for frames in meant]
    errors = [float(tools.between(a, b).max()) for a, b in zip(shown, clip_shown, strict=True)]

    assert len(before) >= 3 and errors[0] < LIMIT and facts["clip_error_before_hit_deg"] < LIMIT
    assert errors[2] < LIMIT and facts["return_error_deg"] < LIMIT
    assert errors[1] > 15.0
    _peaks_are_those_reported(facts, names, ups, during, shown[1], clip_shown[1])
    assert 8.0 < max(facts["peak_deg"].values()) < 120.0  # of joints: the body goes with the blow besides
    assert 0.0 < facts["time_to_peak_s"] < 1.0


def _peaks_are_those_reported(facts, names, ups, during, shown, original):
    """Where the rig's parent is the anatomical one the test finds the same peak."""
    bone = names.index(facts["hit"]["bone"])
    up = ups[bone]
    turn = shown[:, up].swapaxes(-1, -2) @ shown[:, bone]
    own = original[:, up].swapaxes(-1, -2) @ original[:, bone]
    assert tools.between(own, turn).max() == pytest.approx(facts["peak_deg"][names[bone]], abs=0.01)


def _is_its_own_layer(rig, facts, hit, end):
    """The clip's action still exists under its name; the reaction is a track of its own, from hit to end."""
    assert facts["action"] in bpy.data.actions
    assert rig.animation_data.action is None
    strip = rig.animation_data.nla_tracks[-1].strips[0]
    assert strip.action.name != facts["action"]
    assert strip.frame_start == pytest.approx(hit, abs=1e-3) and strip.frame_end == pytest.approx(end, abs=1e-3)
