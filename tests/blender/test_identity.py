"""The identity reaction on rigs and clips that no one here made: applying and removing it must move nothing."""

import os
from pathlib import Path

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, layer
from bl_ext.user_default.parametric_dynamics.core.errors import CoreError

from tests.blender import layer_tools as tools

FOLDERS = ("1_game_characters", "2_mocap", "3_odd_rigs")
SUFFIXES = (".glb", ".gltf", ".fbx", ".bvh", ".blend", ".vrm")
REST_ONLY = "no armature with animation"


def _files():
    root = Path(os.environ.get("PARAMETRIC_DYNAMICS_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
    found = [p for folder in FOLDERS for p in sorted((root / folder).rglob("*")) if p.suffix in SUFFIXES]
    return [(str(p.relative_to(root)), p) for p in found]


def split_refused(rigs):
    """The rigs that take a layer, and why the others are refused; a refusal changes nothing."""
    taken, reasons = [], []
    for rig in rigs:
        state = tools.file_state()
        try:
            name = layer.apply_identity(bpy.context, rig, name="Trial", frames=[1, 2])
        except CoreError as error:
            reasons.append(str(error))
            assert tools.differences(state, tools.file_state()) == []
        else:
            taken.append(rig)
            layer.remove(bpy.context, rig, name)
    return taken, " ".join(reasons)


def animated(rigs):
    return [r for r in rigs if r.animation_data and (r.animation_data.action or len(r.animation_data.nla_tracks))]


@pytest.mark.parametrize(("label", "path"), _files(), ids=lambda v: v if isinstance(v, str) else "")
def test_identity_moves_nothing(label, path, open_file, tmp_path, record_property):
    try:
        rigs = open_file(path)
    except Exception as error:  # Blender's importers raise all kinds
        pytest.skip(f"{label}: Blender cannot read it: {error}")
    tools.ensure_records()
    rigs, refused = split_refused(animated(rigs))
    if not rigs:
        pytest.skip(f"{label}: {refused or REST_ONLY}")
    record_property("worst_mm", tools.check_neutral(rigs, tmp_path))


GAME = Path("1_game_characters")
CLIPS = [
    (GAME / "RobotExpressive.source.glb", ("Walking", "Death", "Sitting", "Wave")),  # 17 posed channels without keys
    (GAME / "kaykit" / "Med_General.glb", ("Hit_A", "Spawn_Air")),  # ends on fractional frames, scaled bones
    (GAME / "kaykit" / "Med_MovementBasic.glb", ("Walking_A",)),
    (Path("3_odd_rigs") / "RobotExpressive.blend", ("Walking",)),  # IK, tracks of its own
]


def plain_name(action):
    """The clip's name without what importers and Blender versions put around it."""
    return action.name.split("|")[-1].removeprefix("Robot_").removesuffix("_Rig_Medium").removesuffix("_RobotArmature")


@pytest.mark.parametrize(("path", "clip"), [(p, clip) for p, clips in CLIPS for clip in clips], ids=str)
def test_identity_on_a_chosen_clip(path, clip, data, open_file, tmp_path, record_property):
    """Another clip than the importer's: unkeyed bones keep what the one before left."""
    tools.ensure_records()
    rig = open_file(data / path)[0]
    anim = rig.animation_data
    found = [action for action in bpy.data.actions if plain_name(action) == clip]
    assert found, sorted(action.name for action in bpy.data.actions)
    tools.set_frame(15)
    anim.action = found[0]
    if actions.LAYERED:
        anim.action_slot = anim.action_suitable_slots[0]
    tools.set_frame(3)
    record_property("worst_mm", tools.check_neutral([rig], tmp_path))
