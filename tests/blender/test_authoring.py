"""Situations as artists write them: the document's own files, through panel and command."""

import json

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import settings

from .interface_tools import OPS, short, turned
from .test_cli import KAYKIT_CLIPS, refused, run  # noqa: F401 (fixtures)

SIMULATED = "Bip01 Spine1 | 1\n  Bip01 Spine2 | 1\n    Bip01 Neck | 1\n      Bip01 L Clavicle | 0\n"
VELOCITY = "Bone\tAngle (deg)\tVelocity (deg/sec)\nBip01 Spine1\t90\t600\nBip01 Spine2\t90\t600\nBip01 Neck\t90\t0\n"
TRANSITION = "Attack (sec)\tSustain (sec)\tRelaxation (sec)\tSim Time (sec)\n0\t0.1\t0.25\t0.1\n"


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
        assert turned(demo, "clavicle.L") == turned(demo, "head") == turned(demo, "pelvis") == 0.0
        assert turned(demo, "upper_arm.L") == pytest.approx(8.9, rel=0.3)  # arms stay behind what starts

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
        """A file of radii makes the neck as heavy as the spine."""
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
        assert facts["return_error_deg"] < 1e-3
        assert facts["simulated_bones"] == 2 + 6  # his two, and the arms that hang on them

    def test_the_command_refuses_by_line(self, refused, data, folder):  # noqa: F811
        (folder / "simulated.txt").write_text(SIMULATED + "Wing7 | 1\n")
        assert "simulated.txt, line 5" in refused("react", data / KAYKIT_CLIPS, "--situation", folder)


class TestShaping:
    """Gains, curves, influence and legal angles in panel, recipe and command."""

    def test_the_panel_changes_what_shows(self, demo):
        group = demo.parametric_dynamics
        group.situation = "chest_front"
        short(demo)
        OPS.apply_hit_reaction()
        before = {bone: turned(demo, bone) for bone in ("neck", "upper_arm.R", "spine.03")}
        group.counter, group.whip = 2.0, 0.0
        OPS.update_reaction()
        after = {bone: turned(demo, bone) for bone in before}
        assert after["neck"] > 1.3 * before["neck"] and after["upper_arm.R"] < 0.01 < before["upper_arm.R"]
        assert after["spine.03"] == pytest.approx(before["spine.03"], abs=1e-3)
        group.counter, group.influence = 1.0, "1 0"
        OPS.update_reaction()
        assert turned(demo, "neck") < 0.01 and turned(demo, "spine.03") == pytest.approx(before["spine.03"], abs=1e-3)

    def test_they_are_kept_with_the_reaction(self, demo):
        group = demo.parametric_dynamics
        group.counter, group.whip, group.influence, group.coupled = 1.5, 0.5, "1 0.75", False
        group.dip = 2.5
        group.tone_curve, group.ranges = "0 0.3, 0.5 1", "neck 15, forearm 0 140"
        group.envelope_curve = "0 1, 0.2 1, 0.4 0"
        OPS.apply_hit_reaction()
        made = settings.recipe(demo)
        group.situation = "leg_back"
        assert (group.counter, group.whip, group.influence, group.ranges, group.coupled) == (1.0, 1.0, "", "", True)
        assert (group.tone_curve, group.envelope_curve, group.dip) == ("", "", 1.0)
        settings.show_reaction(group)
        assert settings.recipe(demo).hits[0].situation == made.hits[0].situation
        assert group.tone_curve == "0 0.3, 0.5 1" and group.ranges == "neck 15, forearm 0 140" and not group.coupled
        span = demo.parametric_dynamics_reactions[0].action.frame_range
        assert span[1] - span[0] == pytest.approx(0.4 * bpy.context.scene.render.fps, abs=1.0)

    @pytest.mark.parametrize(
        ("name", "text", "reason"),
        [
            ("tone_curve", "0 0.3, 1", "The tone curve: .* is no curve"),
            ("envelope_curve", "0 1, 1 1", "does not end at 0"),
            ("influence", "1 half", "The influence: '1 half' is not a row of numbers"),
            ("ranges", "wing 20", "ranges of 'wing' are unknown"),
        ],
    )
    def test_refused_by_name_with_nothing_changed(self, demo, name, text, reason):
        setattr(demo.parametric_dynamics, name, text)
        with pytest.raises(RuntimeError, match=reason):
            OPS.apply_hit_reaction()
        assert len(demo.parametric_dynamics_reactions) == 0

    def test_the_command(self, run, data, tmp_path):  # noqa: F811
        words = ("react", data / KAYKIT_CLIPS, "--situation", "chest_front", "--report", tmp_path / "r.json")
        shape = ("--counter", "0", "--whip", "0.5", "--influence", "1 1 0", "--tone-curve", "0 0.3, 0.3 1")
        shape += ("--dip", "2", "--shift", "0.5")
        shape += ("--envelope-curve", "0 1, 0.2 1, 0.5 0", "--ranges", "neck 15", "--light")
        assert run(*words, *shape)[0] == 0
        facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        assert [facts["hit"][name] for name in ("counter", "whip", "dip", "shift")] == [0.0, 0.5, 2.0, 0.5]
        assert facts["peak_deg"]["head"] < 0.01 < facts["peak_deg"]["chest"]
        assert facts["peak_deg"]["lowerarm.r"] < 0.01 < facts["peak_deg"]["upperarm.r"] and not facts["hit"]["coupled"]
        length = facts["reaction_range"][1] - facts["reaction_range"][0]
        assert length == pytest.approx(0.5 * facts["fps"], abs=1.0)

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (("--counter", "5"), "counter is 5.0. Give it 0 to 3"),
            (("--influence", "1 all"), "--influence"),
            (("--tone-curve", "0"), "--tone-curve"),
            (("--envelope-curve", "0 1, 1 1"), "does not end at 0"),
            (("--ranges", "wing 3"), "ranges of 'wing' are unknown"),
        ],
    )
    def test_the_command_refuses(self, refused, data, words, reason):  # noqa: F811
        assert reason in refused("react", data / KAYKIT_CLIPS, "--situation", "chest_front", *words)
