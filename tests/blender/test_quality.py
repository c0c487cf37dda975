"""Grades in Blender: in the report, as a command, in the panel; the scene's rate doesn't show in them."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import cli, panels_quality, quality, report
from bl_ext.user_default.parametric_dynamics.core.quality import judge
from bl_ext.user_default.parametric_dynamics.core.quality.lines import LIMITS

from tests.blender import acceptance_tools as tools

GAME = "1_game_characters/"
CYBERPUNK = GAME + "quaternius/cyberpunk_Character.glb"
GRADES = ("good", "less good", "bad")


def run(*words):
    return cli.main([str(word) for word in words])


@pytest.fixture
def demo(character):
    return character


class TestReport:
    def test_react_is_graded_on_what_blender_shows(self, addon, data, tmp_path):
        words = ("react", data / CYBERPUNK, "--situation", "chest_front", "--report", tmp_path / "r.json")
        assert run(*words) == 0
        found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["quality"]
        assert found["grade"] in GRADES and found["judged"] == "hit"
        assert set(found["checks"]) >= {"limits", "penetration", "slip", "balance", "speed", "response", "settling"}
        for name, row in found["checks"].items():
            assert {"value", "limit", "unit", "ok", "frame"} <= set(row)
            over = row["value"] < row["limit"] if row.get("at_least") else row["value"] > row["limit"]
            assert row["ok"] != over, name
        assert (found["worst"] is None) == (found["grade"] == "good")

    def test_what_is_shown_is_what_was_computed(self, demo):
        """The verdict of the job's numbers and of the report, which samples 24 frames a second, agree to a fifth of
        each check's limit: what goes before the hit is looked at in both, or a jolt would shake for shorter.  When the
        answer begins between two frames, which have keys, is known to half a frame."""
        job, reaction = tools.solved(demo, "shoulder_blast")
        at = report.moments(job)
        before = report.original(bpy.context, job, at)
        job.write(bpy.context, reaction)
        seen = quality.of_shown(job, reaction, before, report.shown(bpy.context, job, at.all))
        meant = {f.name: f.value for f in quality.of_reaction(job, reaction).findings}
        assert meant["response"] > 2.0 and meant["jerk"] > 1.5e4  # beyond what may differ
        for f in seen.findings:
            near = 0.5 / job.clip.fps if f.name == "delay" else 0.2 * abs(LIMITS["beyond"][f.name][0])
            assert f.value == pytest.approx(meant[f.name], abs=near), f.name

    @pytest.mark.one_blender
    @pytest.mark.parametrize("preset", ["chest_front", "shoulder_back"])
    def test_a_whipped_head_and_arm_calm_at_once(self, addon, data, tmp_path, preset):
        """Pab's neck and four spines brake from the first degree on; with free play his head shook for 0.3 s."""
        words = ("react", data / GAME / "ozz_pab/pab_walk.fbx", "--situation", preset, "--report", tmp_path / "r.json")
        assert run(*words) == 0
        found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["quality"]
        assert found["grade"] == "good", found["worst"]
        assert found["checks"]["response"]["value"] > 5.3

    @pytest.mark.one_blender
    def test_a_reaction_that_is_over_at_once_is_bad(self, addon, data, tmp_path):
        short = tmp_path / "short.toml"
        short.write_text(
            'name = "Short"\nhit = ["head"]\ndirection = [0.0, -1.0, 0.0]\nimpulse = 10.0\n'
            "[envelope]\nattack = 0.02\nsustain = 0.02\nrelaxation = 0.04\n",
            encoding="utf-8",
        )
        assert run("react", data / CYBERPUNK, "--situation", short, "--report", tmp_path / "r.json") == 0
        found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["quality"]
        assert found["grade"] == "bad" and not found["checks"]["relaxation"]["ok"]


class TestCommand:
    def test_a_clip_by_itself(self, addon, data, tmp_path, capsys):
        assert run("quality", data / CYBERPUNK, "--action", "Walk", "--report", tmp_path / "q.json") == 0
        facts = json.loads((tmp_path / "q.json").read_text(encoding="utf-8"))
        assert facts["quality"]["judged"] == "alone" and facts["quality"]["grade"] == "good"
        assert facts["action"] + " by itself: good" in capsys.readouterr().out

    def test_an_artists_hit_against_the_stance_it_comes_from(self, addon, data, tmp_path):
        """Idle and hit begin alike but are different clips: the judge compares them, and says what."""
        words = ("quality", data / CYBERPUNK, "--action", "HitRecieve_2", "--against", "Idle_Gun_Pointing")
        assert run(*words, "--report", tmp_path / "q.json") == 0
        facts = json.loads((tmp_path / "q.json").read_text(encoding="utf-8"))
        assert facts["quality"]["judged"] == "clip"
        assert "Idle_Gun_Pointing" in facts["against"]

    def test_a_clip_against_itself_is_good_with_nothing_beyond(self, addon, data, tmp_path):
        both = data / CYBERPUNK
        words = ("quality", both, "--action", "Walk", "--against", "{}/Walk".format(both))
        assert run(*words, "--report", tmp_path / "q.json") == 0
        found = json.loads((tmp_path / "q.json").read_text(encoding="utf-8"))["quality"]
        assert found["grade"] == "good"
        assert max(row["value"] for row in found["checks"].values()) == 0.0

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (("--frame", "5"), "--against"),
            (("--against", "Nothing"), "Nothing"),
            (("--against", "OTHER"), "different rigs"),
            (("--against", "Walk", "--frame", "5", "--direction", "0", "0", "0"), "no length"),
            (("--against", "Walk", "--frame", "5", "--direction", "0", "1", "0", "--bone", "wing"), "wing"),
        ],
    )
    def test_refusals(self, addon, data, tmp_path, capsys, words, reason):
        words = [data / (GAME + "khronos/Fox.glb") if word == "OTHER" else word for word in words]
        report = tmp_path / "q.json"
        assert run("quality", data / CYBERPUNK, "--action", "Walk", *words, "--report", report) == 2
        assert reason in capsys.readouterr().err
        assert not report.exists()


@pytest.mark.one_blender
def test_the_scenes_rate_does_not_show(addon, data):
    """The same seconds at 24 and at 60 frames: grade and values within 2 % (of the limit where they are small)."""
    found = []
    for fps in (24, 60):
        rig = tools.loaded(data / CYBERPUNK, action="Run")
        tools.retime(rig, fps / 24.0)
        bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, 1.0
        actor, clip = quality.read(bpy.context, rig)
        found.append(judge(actor, clip))
    assert found[0].grade == found[1].grade
    one, other = ({f.name: f.value for f in verdict.findings} for verdict in found)
    for name, value in one.items():
        assert other[name] == pytest.approx(value, abs=0.02 * max(value, LIMITS["alone"][name][0])), name


class TestPanel:
    def test_apply_keeps_the_grade_with_the_reaction(self, demo):
        assert bpy.ops.parametric_dynamics.apply_hit_reaction(impulse=40.0) == {"FINISHED"}
        found = quality.kept(demo.parametric_dynamics_reactions[0])
        assert found["grade"] in GRADES and found["judged"] == "hit"

    def test_a_reaction_too_short_to_be_judged_has_no_grade(self, demo):
        """Where the clip has nothing before it either."""
        group = demo.parametric_dynamics
        group.attack, group.sustain, group.relaxation = 0.0, 0.03, 0.035
        group.automatic_frame, group.frame = False, 1.0
        assert bpy.ops.parametric_dynamics.apply_hit_reaction(impulse=40.0) == {"FINISHED"}
        assert quality.kept(demo.parametric_dynamics_reactions[0]) is None

    def test_grade_motion(self, demo):
        assert bpy.ops.parametric_dynamics.grade_motion() == {"FINISHED"}
        found = quality.kept(demo.parametric_dynamics)
        assert found["judged"] == "alone" and found["grade"] == "good"

    def test_go_to_fault(self, demo):
        body = next(child for child in demo.children if child.type == "MESH")
        bpy.context.view_layer.objects.active = body  # a mesh that the armature moves does as well
        assert bpy.ops.parametric_dynamics.go_to_fault(bone="shin.L", frame=6.7) == {"FINISHED"}
        scene = bpy.context.scene
        assert (scene.frame_current, scene.frame_subframe) == (7, 0.0)
        assert bpy.context.mode == "POSE" and bpy.context.active_pose_bone.name == "shin.L"
        assert [bone.name for bone in bpy.context.selected_pose_bones] == ["shin.L"]

    def test_go_to_a_fault_without_a_bone(self, demo):
        assert bpy.ops.parametric_dynamics.go_to_fault(frame=12.0) == {"FINISHED"}
        assert bpy.context.scene.frame_current == 12 and bpy.context.mode == "OBJECT"

    def test_a_broken_motion_is_bad_and_says_where(self, demo):
        """A knee that bends far the other way for a moment, keyed into the walk."""
        bone = demo.pose.bones["shin.L"]
        bpy.context.scene.frame_set(12)
        w, *axis = bone.rotation_quaternion
        back = -np.sin(1.2) * np.array(axis) / np.linalg.norm(axis)
        bone.rotation_quaternion = (np.cos(1.2), *(back if w > 0.0 else -back))
        bone.keyframe_insert("rotation_quaternion", frame=12)
        assert bpy.ops.parametric_dynamics.grade_motion() == {"FINISHED"}
        found = quality.kept(demo.parametric_dynamics)
        assert found["grade"] != "good"
        assert "shin.L" in {row["bone"] for _, row in quality.failures(found)}

    def test_nothing_to_grade_is_said(self, fresh_scene):
        bpy.ops.object.armature_add()
        with pytest.raises(RuntimeError, match="no animation"):
            bpy.ops.parametric_dynamics.grade_motion()

    def test_texts(self):
        row = {"value": 12.3, "limit": 9.0, "unit": "cm", "ok": False, "bone": "foot.L", "frame": 14.0}
        assert quality.sentence("slip", row) == "Slip 12.3 cm at 'foot.L', frame 14; at most 9."
        assert "at least 5" in quality.sentence("response", {**row, "limit": 5.0, "at_least": True})
        assert set(panels_quality.ICONS) == set(GRADES)
        assert [quality.number(x) for x in (20070.0, 104.9, 9.606, 0.07249, -14.73, 0.0)] == [
            "20,100", "105", "9.61", "0.0725", "-14.7", "0"]  # fmt: skip

    def test_every_check_is_explained(self):
        assert set(quality.CHECKS) == set(LIMITS["beyond"])
        assert set(LIMITS["alone"]) < set(LIMITS["beyond"])
