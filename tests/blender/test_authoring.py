"""Situations as artists write them: the document's own files, through panel and command."""

import json

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import settings

from .interface_tools import OPS, add_demo, turned
from .test_cli import KAYKIT_CLIPS, refused, run  # noqa: F401 (fixtures)

SIMULATED = "Bip01 Spine1 | 1\n  Bip01 Spine2 | 1\n    Bip01 Neck | 1\n      Bip01 L Clavicle | 0\n"
VELOCITY = "Bone\tAngle (deg)\tVelocity (deg/sec)\nBip01 Spine1\t90\t600\nBip01 Spine2\t90\t600\nBip01 Neck\t90\t0\n"
TRANSITION = "Attack (sec)\tSustain (sec)\tRelaxation (sec)\tSim Time (sec)\n0\t0.1\t0.25\t0.1\n"


@pytest.fixture
def demo(fresh_scene):
    return add_demo()


@pytest.fixture
def folder(tmp_path):
    """The document's files of a shot in the chest from the back, cut short; outside of what the refusals watch."""
    made = tmp_path.parent / (tmp_path.name + "_chest_back")
    made.mkdir()
    for name, text in (("simulated", SIMULATED), ("velocity", VELOCITY), ("transition", TRANSITION)):
        (made / (name + ".txt")).write_text(text, encoding="utf-8")
    return made


class TestBoneValueFiles:
    def test_several_are_loaded_as_one_situation(self, demo, folder):
        files = [{"name": path.name} for path in sorted(folder.iterdir())]
        assert OPS.load_situation(filepath=str(folder / "x.txt"), directory=str(folder), files=files) == {"FINISHED"}
        group = demo.parametric_dynamics
        assert (group.situation, group.drive, group.envelope_mode) == ("CUSTOM", "velocities", "hold")
        assert (group.relaxation, round(group.simulation, 3)) == (0.25, 0.1)
        found = settings.situation(group)
        assert found.bones["spine.1"].velocity == 600.0 and found.name.endswith("chest back")
        OPS.apply_hit_reaction()
        assert turned(demo, "spine.01") > 10.0 and turned(demo, "neck") > 0.1
        assert turned(demo, "upper_arm.L") == turned(demo, "pelvis") == 0.0

    def test_an_unknown_bone_is_refused_and_nothing_changes(self, demo, folder):
        path = folder / "wings.txt"
        path.write_text("Bone | Velocity\nWing7 | 300\n")
        OPS.load_situation(filepath=str(path))
        with pytest.raises(RuntimeError, match="wings.txt, line 2: the rig has no bone 'Wing7'"):
            OPS.apply_hit_reaction()
        assert len(demo.parametric_dynamics_reactions) == 0 and demo.animation_data.action is not None

    def test_a_wrong_line_is_refused_and_the_settings_stay(self, demo, folder):
        before = settings.recipe(demo)
        path = folder / "broken.txt"
        path.write_text("Bip01 Spine1 | fast\n")
        with pytest.raises(RuntimeError, match="broken.txt, line 1"):
            OPS.load_situation(filepath=str(path))
        assert settings.recipe(demo) == before

    def test_masses_weigh(self, demo, folder):
        """A file that makes the neck as heavy as the spine slows what the spine alone would carry along."""
        from bl_ext.user_default.parametric_dynamics.blender_addon import recipe

        (folder / "radius.txt").write_text("Bip01 Spine1 | 10\nBip01 Spine2 | 10\nBip01 Neck | 10\n")
        files = [{"name": path.name} for path in sorted(folder.iterdir())]
        OPS.load_situation(filepath=str(folder / "x.txt"), directory=str(folder), files=files)
        actor = recipe.prepare(bpy.context, demo, settings.recipe(demo)).actor
        mass = dict(zip(actor.skeleton.names, actor.masses.mass, strict=True))
        assert mass["neck"] == pytest.approx(mass["spine.01"]) == pytest.approx(mass["spine.02"])
        assert mass["neck"] > 5.0

    def test_the_command_takes_a_folder(self, run, data, folder, tmp_path):  # noqa: F811
        words = ("react", data / KAYKIT_CLIPS, "--situation", folder, "--report", tmp_path / "r.json")
        assert run(*words)[0] == 0
        facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        assert facts["hit"]["drive"] == "velocities" and facts["peak_deg"]["spine"] > 10.0
        assert facts["return_error_deg"] < 1e-3 and facts["simulated_bones"] == 2

    def test_the_command_refuses_by_line(self, refused, data, folder):  # noqa: F811
        (folder / "simulated.txt").write_text(SIMULATED + "Wing7 | 1\n")
        assert "simulated.txt, line 5" in refused("react", data / KAYKIT_CLIPS, "--situation", folder)
