"""The add-on as users get it: an installed zip, enabled, disabled, enabled again."""

import addon_utils
import bpy
import pytest

MODULE = "bl_ext.user_default.parametric_dynamics"

FILES = [
    "1_game_characters/khronos/cesium_man.gltf",
    "3_odd_rigs/RobotExpressive.blend",
    "3_odd_rigs/ozz_robot.fbx",
    "1_game_characters/vrm/basic_armature_vrm1.vrm",
    "2_mocap/cmu/02_01_walk.bvh",
]


def test_runs_from_the_installed_zip(addon):
    assert addon.__name__ == MODULE
    assert "extensions" in addon.__file__


def test_core_is_the_add_ons_own(addon):
    from bl_ext.user_default.parametric_dynamics import core

    assert core.__name__ == MODULE + ".core"


def test_enable_disable_enable_leaves_nothing_behind(addon):
    before = _registered()
    addon_utils.disable(MODULE)
    disabled = _registered()
    addon_utils.enable(MODULE)
    assert _registered() == before
    assert not [name for name in disabled if "parametric_dynamics" in name.lower() or name.startswith("DYNAMICS")]


def _registered():
    """Names of our classes, operators and properties as Blender knows them."""
    types = {name for name in dir(bpy.types) if "DYNAMICS" in name.upper()}
    operators = {"parametric_dynamics." + name for name in dir(bpy.ops.parametric_dynamics)}
    owners = (bpy.types.Object, bpy.types.Scene, bpy.types.PoseBone, bpy.types.Bone, bpy.types.Armature)
    properties = {
        f"{owner.__name__}.{key}"
        for owner in owners
        for key in owner.bl_rna.properties.keys()  # noqa: SIM118
        if "dynamics" in key
    }
    return types | operators | properties


@pytest.mark.parametrize("name", FILES)
def test_files_open(open_file, data, name):
    path = data / name
    if not path.exists():
        pytest.skip(f"{name} is not in the data")
    armatures = open_file(path)
    assert len(armatures[0].data.bones) > 5


def test_fresh_scene_is_empty(fresh_scene):
    assert not bpy.data.objects
