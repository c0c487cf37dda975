"""The commands' contract: what is done, what is refused, in how many lines, and that refusals leave nothing behind."""

import csv
import json

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import cli, demo_character, files, recipe
from bl_ext.user_default.parametric_dynamics.blender_addon.outputs import Outputs

GAME = "1_game_characters/"
ODD = "3_odd_rigs/"
FOX = GAME + "khronos/Fox.glb"
KAYKIT_CLIPS = GAME + "kaykit/Med_MovementBasic.glb"
REPORT_KEYS = {
    "blender", "armature", "action", "bones", "simulated_bones", "fps", "frame_range", "body_height_m", "timings_s",
    "peak_deg", "time_to_peak_s", "return_error_deg", "clip_error_before_hit_deg", "warnings", "hit",
    "clip_extension", "action_choice", "substeps",
}  # fmt: skip


@pytest.fixture
def run(fresh_scene, capfd):
    """Call with words: (status, stdout, stderr) of the command as a process would give them."""

    def call(*words):
        capfd.readouterr()
        status = cli.main([str(word) for word in words])
        out, err = capfd.readouterr()
        return status, out, err

    return call


@pytest.fixture
def refused(run, tmp_path):
    """Call with words that must be refused: the one line on stderr.  Three results are asked for, none may appear."""

    def call(*words):
        room = tmp_path / "results"
        results = ("--out", room / "o.blend", "--report", room / "r.json", "--preview", room / "p.png")
        before = sorted(tmp_path.rglob("*"))
        status, out, err = run(*words, *results)
        assert (status, out) == (2, "")
        assert len(err.splitlines()) == 1 and err.strip().endswith(".")
        assert sorted(tmp_path.rglob("*")) == before
        return err

    return call


# -- refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "situation", "reason"),
    [
        (GAME + "vrm/hips_spine_twisting.vrma", "shoulder_front", "without an armature"),
        (GAME + "ozz_pab/pab_arnaud.fbx", "shoulder_front", "no animation"),
        (GAME + "nothing.glb", "shoulder_front", "There is no file"),
        (FOX, "shoulder_fron", "There is no situation 'shoulder_fron'"),
        (FOX, "nothing.toml", "nothing.toml"),
        (ODD + "ozz_robot.fbx", "leg_front", "the role 'thigh.R'"),
        (ODD + "gltf_03_skinned_cylinder.blend", "shoulder_front", "'upper_arm.L' or 'clavicle.L'"),
        (ODD + "CloudRig_MetaRigs.blend", "shoulder_front", "no animation"),
    ],
)
def test_react_refuses(refused, data, name, situation, reason):
    assert reason in refused("react", data / name, "--situation", situation)


@pytest.mark.parametrize("name", ["text.fbx", "cut.glb"])
def test_react_refuses_broken_files(refused, data, tmp_path, name):
    whole = (data / FOX).read_bytes()
    path = tmp_path / name
    path.write_bytes(b"this is a text file\n" if name == "text.fbx" else whole[: len(whole) // 2])
    assert name in refused("react", path, "--situation", "shoulder_front")


def test_react_refuses_linked_data(refused, tmp_path, fresh_scene):
    library, user = tmp_path / "library.blend", tmp_path / "user.blend"
    demo_character.build(bpy.context)
    bpy.ops.wm.save_as_mainfile(filepath=str(library), copy=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (there, here):
        here.objects = list(there.objects)
    for item in here.objects:
        bpy.context.scene.collection.objects.link(item)
    bpy.ops.wm.save_as_mainfile(filepath=str(user), copy=True)
    assert "Library Override" in refused("react", user, "--situation", "shoulder_front")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "--situation"),
        (("--situation", "chest_front", "--impulse", "much"), "--impulse"),
        (("--situation", "chest_front", "--impulse", "nan"), "not a finite number"),
        (("--situation", "chest_front", "--direction", "0", "1"), "--direction"),
        (("--situation", "chest_front", "--direction", "0", "0", "0"), "no length"),
        (("--situation", "chest_front", "--end", "hand_over"), "--then ACTION"),
        (("--situation", "chest_front", "--then", "Get Up"), "no action 'Get Up'"),
        (("--situation", "chest_front", "--then-blend", "0"), "0.05 to 10 seconds"),
        (("--situation", "chest_front", *("--then", "Run") * 3), "--then twice at most"),
        (("--situation", "chest_front", "--log", "x.txt"), "ends in .csv"),
        (("--situation", "chest_front", "--end", "dance"), "unknown"),
        (("--situation", "chest_front", "--bone", "Tentacle"), "no bone or role 'Tentacle'"),
        (("--situation", "chest_front", "--action", "Rum"), "It has 'Run'"),
        (("--situation", "chest_front", "--armature", "rot"), "It has 'root'"),
        (("--situation", "chest_front", "--clip", "nothing.glb"), "nothing.glb"),
        (("--situation", "chest_front", "--drive", "velocities", "--impulse", "2"), "no effect"),
        (("--situation", "chest_front", "--walk"), "--walk"),
    ],
)
def test_react_refuses_what_it_cannot_do(refused, data, words, reason):
    assert reason in refused("react", data / FOX, *words)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--out", "o.obj"), "o.obj"),
        (("--preview", "p.jpg"), ".png"),
        (("--out", "same.blend", "--report", "same.blend"), "named twice"),
        (("--out", "."), "no file I can write"),
        (("--report", "."), "folder"),
    ],
)
def test_react_refuses_results_it_cannot_write(run, data, tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("react", data / FOX, "--situation", "chest_front", *words)
    assert (status, out, len(err.splitlines())) == (2, "", 1) and reason in err
    assert not list(tmp_path.iterdir())


def test_the_input_is_never_overwritten(run, data, tmp_path):
    """Nor a file of an action to go over to."""
    path = tmp_path / "fox.glb"
    path.write_bytes((data / FOX).read_bytes())
    for words in ((path,), (data / FOX, "--then", path), (data / FOX, "--then", "Run", "--then", path / "Run")):
        status, _, err = run("react", *words, "--situation", "chest_front", "--out", path)
        assert status == 2 and "named twice" in err
        assert path.read_bytes() == (data / FOX).read_bytes()


def test_a_file_may_be_read_twice():
    """Both ways to get up may be in one file, and in the input's."""
    assert not Outputs({"out": None}, ("up.glb", "up.glb")).paths


@pytest.mark.parametrize("words", [(), ("juggle",), ("follow", "x.fbx"), ("inspect",), ("demo",)])
def test_commands_that_do_not_exist_or_lack_words(run, words):
    status, out, err = run(*words)
    assert (status, out, len(err.splitlines())) == (2, "", 1)


def test_a_bug_shows_and_leaves_nothing(run, data, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(cli.commands.export, "save", broken)
    room = tmp_path / "room"
    words = ("react", data / FOX, "--situation", "chest_front", "--out", room / "o.blend", "--report", room / "r.json")
    with pytest.raises(ZeroDivisionError):
        run(*words)
    assert not list(tmp_path.iterdir())


# -- done --------------------------------------------------------------------------------------------------------------


def test_help_is_no_refusal(run):
    status, out, err = run("react", "--help")
    assert status == 0 and "--situation" in out and not err


def test_react_reports(run, data, tmp_path):
    path, table = tmp_path / "new" / "r.json", tmp_path / "new" / "why.csv"
    words = ("--frame", 3, "--bone", "head", "--direction", "-1e-1", 0, 0, "--impulse", 2.5)
    status, out, err = run("react", data / FOX, "--situation", "chest_front", *words, "--report", path, "--log", table)
    assert status == 0
    facts = json.loads(path.read_text(encoding="utf-8"))
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == facts["substeps"] * facts["simulated_bones"] and float(rows[0]["frame"]) == 3.0
    causes = [key for key in rows[0] if key not in ("frame", "bone", "deg_per_s2")]
    assert {"Muscle", "Pulse", "Limit", "gravity", "motion"} <= set(causes)
    assert all(abs(sum(float(row[key]) for key in causes) - float(row["deg_per_s2"])) < 1.0 for row in rows[::37])
    assert set(facts) >= REPORT_KEYS | {"quality"}
    assert facts["blender"] == bpy.app.version_string
    assert facts["hit"]["frame"] == 3.0 and facts["hit"]["impulse"] == 2.5
    assert facts["hit"]["direction"] == [-1.0, 0.0, 0.0]
    assert facts["frame_range"] == [0.0, 17.0] and facts["body_height_m"] == 0.8
    assert facts["substeps"] >= 24
    assert set(facts["timings_s"]) >= {"read", "simulate", "write", "export"}
    assert len(facts["peak_deg"]) == facts["simulated_bones"] <= facts["bones"] == 24
    assert "Walk" in facts["action"] and "walk" in facts["action_choice"]
    assert facts["action"] in err and facts["action_choice"] in err
    assert "Wrote" in out


def test_the_panel_can_update_what_the_command_made(run, data, tmp_path):
    words = ("--frame", 3, "--impulse", 9.5, "--direction", 1, 0, 0, "--out", tmp_path / "o.blend")
    assert run("react", data / FOX, "--situation", "chest_front", *words)[0] == 0
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "o.blend"))
    made = recipe.loads(bpy.context.object.parametric_dynamics_reactions[0].recipe)
    hit = made.hits[0]
    assert (hit.frame, hit.situation.impulse, hit.direction) == (3.0, 9.5, (1.0, 0.0, 0.0))
    assert bpy.ops.parametric_dynamics.update_reaction() == {"FINISHED"}


def test_settings_of_the_file_count(run, data, tmp_path):
    """What an animator has set on single bones is used by the command, too."""
    files.open_input(data / FOX)
    bpy.context.object.pose.bones["b_Neck_04"].dynamics_weight = 0.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"), copy=True)
    words = ("--situation", "chest_front", "--report", tmp_path / "r.json")
    assert run("react", tmp_path / "fox.blend", *words)[0] == 0
    peaks = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["peak_deg"]
    assert peaks["b_Neck_04"] < 0.01 < 5.0 < max(peaks.values())


def test_situation_from_a_file(run, data, tmp_path):
    from bl_ext.user_default.parametric_dynamics.core import situation

    own = situation.named("chest_front").with_changes(name="A gust", impulse=1.0, gain=2.0, contact=0.3)
    path = tmp_path / "gust.toml"
    path.write_text(situation.dump(own), encoding="utf-8")
    status, _, _ = run("react", data / FOX, "--situation", path, "--report", tmp_path / "r.json")
    facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert status == 0 and facts["situation"] == "A gust" and facts["hit"]["impulse"] == 2.0


def test_velocities_drive(run, data, tmp_path):
    """The document's way: no force, but the table's velocities."""
    words = ("react", data / KAYKIT_CLIPS, "--situation", "shoulder_front", "--drive", "velocities")
    status, _, _ = run(*words, "--report", tmp_path / "r.json")
    facts = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert status == 0 and facts["hit"]["drive"] == "velocities" and facts["hit"]["impulse"] == 0.0
    assert max(facts["peak_deg"].values()) > 5.0


def test_preview_is_a_picture(run, data, tmp_path):
    path = tmp_path / "p.png"
    assert run("react", data / KAYKIT_CLIPS, "--situation", "chest_front", "--preview", path)[0] == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [item.name for item in tmp_path.iterdir()] == ["p.png"]


# -- inspect -----------------------------------------------------------------------------------------------------------


def test_inspect(run, data, tmp_path):
    status, out, err = run("inspect", data / KAYKIT_CLIPS, "--report", tmp_path / "i.json")
    facts = json.loads((tmp_path / "i.json").read_text(encoding="utf-8"))
    assert status == 0 and facts["kind"] == "biped" and facts["bones"] == 23 and facts["fps"] == 24.0
    assert facts["roles"]["upperarm.l"] == "upper_arm.L" and facts["body_height_m"] == 1.75
    assert len(facts["actions"]) == 11 and "Walking_A" in facts["action"] and "walk" in facts["action_choice"]
    assert not facts["refused"] and set(facts["situations"].values()) == {""} and len(facts["situations"]) == 12
    assert all(word in out for word in ("upperarm.l", "Walking_A", "biped", "shoulder_front"))
    told = {check["name"]: check["state"] for check in facts["checks"]}
    assert told.pop("masses") == "warn" and set(told.values()) == {"ok"}  # the file has no mesh
    assert "Check     ok" in out
    assert set(facts["feet_stand"]) == {"foot.l", "foot.r"} and all(0.2 < v < 0.9 for v in facts["feet_stand"].values())
    assert "Walking_A" in err


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (GAME + "kaykit/manny_med_mod.gltf", "no animation"),
        (ODD + "CloudRig_MetaRigs.blend", "no animation"),
    ],
)
def test_inspect_tells_why_react_would_be_refused(run, data, tmp_path, name, reason):
    status, out, _ = run("inspect", data / name, "--report", tmp_path / "i.json")
    facts = json.loads((tmp_path / "i.json").read_text(encoding="utf-8"))
    assert status == 0 and reason in facts["refused"] and reason in out and facts["bones"] > 20
    told = {check["name"]: check for check in facts["checks"]}
    assert told["clip"]["state"] == told["reaction"]["state"] == "refuse" and "--clip" in told["clip"]["cure"]


def test_inspect_tells_which_situations_a_rig_lacks_the_bones_for(run, data, tmp_path):
    assert run("inspect", data / (ODD + "ozz_robot.fbx"), "--report", tmp_path / "i.json")[0] == 0
    facts = json.loads((tmp_path / "i.json").read_text(encoding="utf-8"))
    assert "thigh.R" in facts["situations"]["leg_front"] and not facts["situations"]["shoulder_front"]


@pytest.mark.parametrize("name", [GAME + "vrm/hips_spine_twisting.vrma", GAME + "nothing.fbx"])
def test_inspect_refuses_what_holds_no_character(run, data, name):
    status, out, err = run("inspect", data / name)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
