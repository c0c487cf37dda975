"""Several hits by a file, and all that one hit can be, by options: done as told, or refused in a line."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, recipe
from bl_ext.user_default.parametric_dynamics.core import strength

from .test_cli import FOX, KAYKIT_CLIPS, refused, run  # noqa: F401 (fixtures)

CHEST = ("--situation", "chest_front")
TWO = """
[[hits]]
situation = "shoulder_front"
frame = 10
[[hits]]
situation = "chest_back"
after = 0.2
strength = "shove"
gain = 1.5
"""


@pytest.fixture
def hit_file(tmp_path):
    """Call with text: a file of hits outside of what the refusals watch."""
    folder = tmp_path.parent / (tmp_path.name + "_hits")
    folder.mkdir()

    def write(text):
        path = folder / "hits.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def facts_of(run, tmp_path, *words):  # noqa: F811
    status, out, err = run("react", *words, "--report", tmp_path / "r.json")
    assert status == 0, err
    return json.loads((tmp_path / "r.json").read_text(encoding="utf-8")), out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((*CHEST, "--strength", "cannon"), "'cannon'"),
        ((*CHEST, "--strength", "kick", "--impulse", "3"), "--impulse"),
        ((*CHEST, "--striker", "2"), "--striker"),
        ((*CHEST, "--striker", "0", "5"), "mass above 0"),
        ((*CHEST, "--angular", "3", "--striker", "1", "2"), "--striker"),
        ((*CHEST, "--blast", "1", "0", "0", "--direction", "1", "0", "0"), "blast"),
        ((*CHEST, "--blast", "1", "0", "0", "--angular", "2"), "blast"),
        ((*CHEST, "--gain", "-2"), "gain"),
        ((*CHEST, "--seed", "-2"), "seed"),
        ((*CHEST, "--seed", "much"), "--seed"),
        ((*CHEST, "--point", "1", "2"), "--point"),
        ((*CHEST, "--drive", "velocities", "--strength", "kick"), "no effect"),
        ((*CHEST, "--drive", "velocities", "--gain", "2"), "no effect"),
        (("--hits", "nothing.toml"), "nothing.toml"),
        ((*CHEST, "--stumble", "Nothing"), "no action 'Nothing'"),
        ((*CHEST, "--stumble", "Survey", "--stumble-times", "0.1"), "--stumble-times"),
        ((*CHEST, "--stumble-times", "0.1", "0.2"), "--stumble-times has no effect without --stumble."),
        ((*CHEST, "--then-blend", "1"), "--then-blend has no effect without --then."),
    ],
)
def test_refused(refused, data, words, reason):  # noqa: F811
    assert reason in refused("react", data / FOX, *words)


@pytest.mark.parametrize(
    ("text", "words", "reason"),
    [
        (TWO, ("--bone", "head"), "--bone"),
        (TWO, CHEST, "--situation"),
        (TWO.replace("shove", "shoove"), (), "hit 2"),
        (TWO.replace("after", "afer"), (), "'afer'"),
        ("hits = 3", (), "[[hits]]"),
    ],
)
def test_files_refused(refused, hit_file, data, text, words, reason):  # noqa: F811
    assert reason in refused("react", data / FOX, "--hits", hit_file(text), *words)


def test_two_hits_by_a_file(run, hit_file, data, tmp_path):  # noqa: F811
    facts, out = facts_of(run, tmp_path, data / KAYKIT_CLIPS, "--hits", hit_file(TWO), "--out", tmp_path / "o.blend")
    first, second = facts["hits"]
    assert facts["hit"] == first and first["frame"] == 10.0 and first["bone"] == "upperarm.l"
    assert second["frame"] == pytest.approx(10.0 + 0.2 * facts["fps"])
    assert (first["told"], second["told"], second["gain"]) == (1.0, 0.5, 1.5)
    assert second["impulse"] == pytest.approx(0.5 * 1.5 * second["taken"] * strength.named("shove").impulse, rel=1e-5)
    assert first["taken"] == 1.0 and 0.5 < second["taken"] < 2.0
    assert second["contact_s"] == strength.named("shove").contact
    assert facts["return_error_deg"] < 0.01 and facts["clip_error_before_hit_deg"] < 0.01
    assert out.count("hits '") == 2 and out.count("N s: 0.5 of it tells so soon after another.") == 1
    assert (first["repetition"], second["repetition"]) == (1.0, 0.5)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "o.blend"))
    rig = bpy.context.object
    made = recipe.loads(rig.parametric_dynamics_reactions[0].recipe)
    assert [hit.frame for hit in made.hits] == [first["frame"], second["frame"]]
    assert bpy.ops.parametric_dynamics.update_reaction() == {"FINISHED"}
    assert len(rig.parametric_dynamics_hits) == 2


def test_two_files_are_one_list(run, hit_file, data, tmp_path):  # noqa: F811
    one, other = '[[hits]]\nsituation = "chest_front"\nframe = 4', '[[hits]]\nsituation = "chest_back"\nafter = 0.5'
    first = hit_file(one)
    second = first.with_name("more.toml")
    second.write_text(other, encoding="utf-8")
    facts, _ = facts_of(run, tmp_path, data / FOX, "--hits", first, "--hits", second)
    assert [hit["frame"] for hit in facts["hits"]] == [4.0, pytest.approx(4.0 + 0.5 * facts["fps"])]


def test_hits_far_apart_leave_the_clip_alone_between(run, hit_file, data, tmp_path):  # noqa: F811
    text = TWO.replace("after = 0.2", "after = 4.0")
    words = (data / KAYKIT_CLIPS, "--hits", hit_file(text), "--out", tmp_path / "o.blend")
    facts, _ = facts_of(run, tmp_path, *words)
    assert [hit["told"] for hit in facts["hits"]] == [1.0, 1.0]
    record = bpy.context.object.parametric_dynamics_reactions[0]
    end = facts["hits"][0]["frame"] + 2.71 * facts["fps"]
    quiet = 0
    for curve in actions.all_curves(record.action):
        values = [p.co[1] for p in curve.keyframe_points if end < p.co[0] < facts["hits"][1]["frame"] - 1e-3]
        neutral = 1.0 if curve.data_path.endswith("quaternion") and curve.array_index == 0 else 0.0
        assert np.allclose(values, neutral, atol=1e-6)
        quiet += len(values)
    assert quiet > 100


def test_a_point_off_the_centre_twists(run, data, tmp_path):  # noqa: F811
    left, right = (
        facts_of(run, tmp_path, data / KAYKIT_CLIPS, *CHEST, "--impulse", 30, "--point", x, 0, 0)[0]
        for x in (0.2, -0.2)
    )
    assert left["hit"]["impulse"] == right["hit"]["impulse"] == 30.0 and left["hit"]["gain"] == 1.0
    assert any(abs(left["peak_deg"][b] - right["peak_deg"][b]) > 3.0 for b in left["peak_deg"])


@pytest.mark.one_blender
def test_striker_twist_and_blast_are_told(run, data, tmp_path):  # noqa: F811
    facts, _ = facts_of(run, tmp_path, data / KAYKIT_CLIPS, *CHEST, "--striker", 2, 10, "--ground", -0.25)
    assert facts["hit"]["striker"] == [2.0, 10.0, 0.0] and facts["hit"]["ground"] == -0.25
    assert 5.0 < facts["hit"]["impulse"] < 20.0
    facts, _ = facts_of(
        run, tmp_path, data / KAYKIT_CLIPS, *CHEST, "--angular", 8, "--direction", 0, 0, 1, "--gain", 1.5
    )
    assert facts["hit"]["angular"] == 12.0 and facts["hit"]["impulse"] == 0.0
    assert max(facts["peak_deg"].values()) > 5.0
    facts, _ = facts_of(run, tmp_path, data / KAYKIT_CLIPS, *CHEST, "--blast", 3, 0, 1, "--strength", "large_blast")
    assert facts["hit"]["origin"] == [3.0, 0.0, 1.0] and facts["hit"]["direction"][0] < -0.8
    own = strength.named("large_blast")
    assert 0.7 * own.gain * own.impulse < facts["hit"]["impulse"] < own.gain * own.impulse


@pytest.mark.one_blender
def test_a_seed_is_deterministic(run, data, tmp_path):  # noqa: F811
    words = (data / FOX, *CHEST)
    plain, one, again, other = (
        facts_of(run, tmp_path, *words, *seed)[0]["hit"] for seed in ((), ("--seed", 5), ("--seed", 5), ("--seed", 6))
    )
    assert one == again and one["direction"] != plain["direction"] and one["impulse"] != plain["impulse"]
    assert other["direction"] != one["direction"]
    assert abs(one["told"] - 1.0) <= 0.2


def test_a_stumble_below_a_reaction_that_continues(run, data, tmp_path):  # noqa: F811
    stumble = "Survey" if bpy.app.version >= (4, 5, 0) else "Survey_root"  # the importer's name for the action
    words = (*CHEST, "--impulse", "60", "--frame", "5", "--end", "continue", "--stumble", stumble)
    words = (*words, "--stumble-times", "0.1", "0.3", "--out", tmp_path / "o.blend")
    facts, _ = facts_of(run, tmp_path, data / FOX, *words)
    assert facts["stumble"]["frames"][0] == 5.0 and facts["stumble"]["attack_s"] == 0.1
    assert np.linalg.norm(facts["displaced"]) > 1.0 and facts["displaced"][2] == 0.0  # a fox of 76 units
    assert facts["return_error_deg"] < 0.01
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "o.blend"))
    strips = {t.name: t.strips[0] for t in bpy.data.objects[facts["armature"]].animation_data.nla_tracks}
    assert facts["stumble"]["layer"] in strips
    assert [s.extrapolation for s in strips.values()].count("HOLD_FORWARD") >= 1
