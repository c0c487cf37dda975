"""The command as a process of its own, as `build.py run` and `blender --command` start it."""

import os
import sys
from pathlib import Path

import bpy
import pytest

from tools import extension


@pytest.fixture(scope="module")
def start(addon, tmp_path_factory):
    """Call with words: the exit status; the process writes to the test's own stdout and stderr."""
    blender = bpy.app.binary_path
    archive = os.environ.get("PARAMETRIC_DYNAMICS_ZIP")
    if not archive:
        builder = extension.builder_in_blender(blender) if blender else extension.builder_in_wheel(sys.executable)
        archive = extension.package(builder, tmp_path_factory.mktemp("package"))
    if blender:
        return lambda *words: extension.command_in_blender(blender, archive, [str(word) for word in words])
    return lambda *words: extension.command_in_wheel(sys.executable, archive, [str(word) for word in words])


def test_done(start, data, tmp_path, capfd):
    walk = data / "1_game_characters/khronos/cesium_man.gltf"
    assert start("inspect", walk, "--report", tmp_path / "i.json") == 0
    out, err = capfd.readouterr()
    assert "shoulder_front" in out and "Anim_0" in err
    assert [item.name for item in tmp_path.iterdir()] == ["i.json"]


def test_refused(start, tmp_path, capfd):
    words = ("react", Path("nothing.fbx"), "--situation", "chest_front", "--out", tmp_path / "o.blend")
    assert start(*words) == 2
    out, err = capfd.readouterr()
    lines = [line for line in err.splitlines() if line.strip()]
    assert "nothing.fbx" in lines[-1] and not list(tmp_path.iterdir())
    if not bpy.app.binary_path:  # a real Blender has its own say on stderr
        assert len(lines) == 1 and not out
