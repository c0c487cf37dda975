"""A library: lists of situations, clips, moments and seeds, a file each, with one report."""

import json

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import batch, cli
from bl_ext.user_default.parametric_dynamics.core import errors

from tests.blender.gltf_reader import Gltf

CYBERPUNK = "1_game_characters/quaternius/cyberpunk_Character.glb"


def library(recipe, source, folder):
    (folder / "recipe.toml").write_text(recipe)
    words = ("library", source, "--recipe", folder / "recipe.toml", "--out", folder / "takes")
    return cli.main([str(word) for word in (*words, "--report", folder / "report.json")])


def test_every_hit_on_every_clip(demo, tmp_path, capsys):
    source = tmp_path / "demo.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    recipe = 'situations = ["chest_bullet"]\nclips = ["*"]\nseeds = [3]\nat = [0.5]\n'
    assert library(recipe + 'format = "glb"\nroot = "IN_PLACE"\nmarker = false\n', source, tmp_path) == 0
    takes = json.loads((tmp_path / "report.json").read_text())["takes"]
    assert [take["file"] for take in takes] == ["Walk_chest_bullet.glb", "Wave_chest_bullet.glb"]
    assert sorted(path.name for path in (tmp_path / "takes").iterdir()) == sorted(take["file"] for take in takes)
    assert "2 of 2  Wave  Wave_chest_bullet.glb" in capsys.readouterr().out
    for take in takes:
        found = Gltf(tmp_path / "takes" / take["file"])
        assert found.animations == [take["take"]] == [take["file"].removesuffix(".glb")]
        assert found.span == pytest.approx((0.0, take["seconds"]), abs=1e-3)
        assert take["hits"][0]["seconds"] == pytest.approx(0.0, abs=0.5 / take["fps"])
        assert take["grade"] and take["peak_deg"] > 3.0 and take["seed"] == 3 and take["root"] == "IN_PLACE"
    assert [take["hits"][0]["frame"] for take in takes] == [14.0, 43.0], "half of each clip"


def test_takes_of_clips_with_long_names_have_names_of_their_own(addon):
    taken, clip = set(), "mixamo.com_Walking_Backwards_Very_Slowly"
    made = [batch.unlike(clip, words, taken) for words in (["shoulder_front", "0.25"], ["shoulder_front", "0.6"])]
    made.append(batch.unlike(clip + " again", ["shoulder_front", "0.6"], taken))
    assert len(set(made)) == 3 and max(map(len, made)) <= 40
    assert made[0].endswith("shoulder_front_0_25") and made[2] == made[1] + ".2"


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        ("", "'situations'"),
        ("situations = []", "'situations'"),
        ('situations = ["nonsense"]', "nonsense"),
        ('situations = ["chest_front"]\nsound = 1', "'sound'"),
        ('situations = ["chest_front"]\nat = [1.5]', "'at'"),
        ('situations = ["chest_front"]\nseeds = [0.5]', "'seeds'"),
        ('situations = ["chest_front"]\nroot = "LEG"', "'root'"),
        ('situations = ["chest_front"]\nformat = "obj"', "'format'"),
        ("situations =", "can't be read"),
    ],
)
def test_recipes_that_say_nothing(addon, tmp_path, recipe, reason):
    (tmp_path / "recipe.toml").write_text(recipe)
    with pytest.raises(errors.CoreError, match=reason):
        batch.load(tmp_path / "recipe.toml")


def test_a_clip_that_is_missing_leaves_nothing(fresh_scene, data, tmp_path, capfd):
    assert library('situations = ["chest_front"]\nclips = ["Walk", "Rum"]', data / CYBERPUNK, tmp_path) == 2
    assert "It has 'Run'" in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.toml"]
