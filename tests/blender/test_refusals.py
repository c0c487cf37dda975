"""What is refused, and what is warned of: in words that name the thing and the cure, with nothing changed."""

from pathlib import Path

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, source

from .interface_tools import OPS, cures, play_as_strip
from .layer_tools import differences, file_state


def sets(**values):
    """A change of the panel's settings."""

    def change(rig):
        for name, value in values.items():
            setattr(rig.parametric_dynamics, name, value)

    return change


def locks(rig):
    for bone in rig.pose.bones:
        bone.lock_location, bone.lock_rotation, bone.lock_rotation_w = [True] * 3, [True] * 3, True
        bone.lock_rotations_4d = True


def leaves_out(rig):
    for bone in rig.pose.bones:
        bone.dynamics_simulated = "NO"


REFUSED = {
    "no gain": (sets(gain=0.0), "stronger impulse or gain"),
    "no action": (sets(then="Get Up"), "no action 'Get Up'. Choose one of 'Walk', 'Wave'"),
    "no direction": (sets(direction_mode="WORLD", direction=(0.0, 0.0, 0.0)), "direction has no length"),
    "no such bone": (sets(bone="tail"), "no bone or role 'tail'"),
    "no numbers": (sets(envelope_curve="0 1 fish"), "'0 1 fish' is not a row of numbers"),
    "nothing simulated": (sets(envelope_mode="hold", simulation=0.0), "held after 0 s. Simulate for 0.001 s or more"),
    "all locked": (locks, "'Demo Character' can be keyed. Unlock"),
    "all left out": (leaves_out, "moves no bone of this rig. Choose another or set bones to Simulated"),
    "a blast's mass": (sets(kind="RADIAL", strength="STRIKER"), "A blast has no mass"),
}


@pytest.mark.parametrize(("change", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_applied(demo, change, said):
    change(demo)
    state = file_state()
    with pytest.raises(RuntimeError, match=said):
        OPS.apply_hit_reaction(frame=8.0)
    assert differences(state, file_state()) == []


WRITERS = {
    "fbx": lambda path: OPS.export_fbx(filepath=str(path.with_suffix(".fbx"))),
    "takes": lambda path: OPS.export_takes(filepath=str(path.with_suffix(".fbx")), kind=".fbx"),
    "situation": lambda path: OPS.save_situation(filepath=str(path.with_suffix(".toml"))),
    "hits": lambda path: OPS.save_hits(filepath=str(path.with_suffix(".toml"))),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_where_nothing_can_be_written(hit, tmp_path, write):
    for path, said in (
        (tmp_path / "nowhere" / "take", "There is no folder '.*nowhere'. Make it first"),
        (tmp_path / ("long" * 99), "could not be written \\(File name too long.*\\). Choose another folder or name"),
    ):
        with pytest.raises(RuntimeError, match=said) as refused:
            write(path)
        assert "Errno" not in str(refused.value) and "Location" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_file_there_was(demo, tmp_path, monkeypatch):
    path = tmp_path / "mine.toml"
    assert OPS.save_situation(filepath=str(path)) == {"FINISHED"}
    before, write = path.read_text(encoding="utf-8"), Path.write_text

    def full(self, text, **how):
        write(self, text[:20], **how)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(RuntimeError, match="mine.toml' could not be written \\(No space left on device\\)"):
        OPS.save_situation(filepath=str(path))
    assert path.read_text(encoding="utf-8") == before and list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_no_text(demo, tmp_path):
    (tmp_path / "picture.toml").write_bytes(bytes(range(256)))
    with pytest.raises(RuntimeError, match="picture.toml' is not a text in UTF-8. Save it as such, or choose another"):
        OPS.load_situation(filepath=str(tmp_path / "picture.toml"))


def test_an_action_of_another_rig_is_told(demo, capfd):
    """It may be meant, as a pose: the reaction is made, but said."""
    for curve in actions.all_curves(demo.animation_data.action):
        curve.data_path = curve.data_path.replace('["', '["other ')
    assert OPS.apply_hit_reaction(frame=8.0) == {"FINISHED"}
    assert "'Walk' keys no bone of 'Demo Character'" in capfd.readouterr().out


def test_an_action_of_the_object_over_a_clip_is_none_of_another_rig(demo, capfd):
    play_as_strip(demo)
    demo.keyframe_insert("location", frame=1)
    demo.keyframe_insert("location", frame=40)
    assert source.moves_bones(demo) and OPS.apply_hit_reaction(frame=8.0) == {"FINISHED"}
    assert "keys no bone" not in capfd.readouterr().out


def test_a_hit_before_the_scene_is_told(hit):
    assert cures(hit) == []
    bpy.context.scene.frame_start = 10
    assert cures(hit) == [""]
    hit.parametric_dynamics.frame = 12.0
    OPS.update_reaction()
    assert cures(hit) == []


def test_a_blend_before_the_scene_hits_nobody(demo):
    OPS.blend_actions(action="Wave")
    bpy.context.scene.frame_start = 10
    assert "" not in cures(demo)


@pytest.mark.parametrize("way", ("by curves", "by the scene"))
@pytest.mark.parametrize(("rna", "value", "said"), (
    ("rotation_quaternion", float("nan"), "At frame [78].* a value of bone 'pelvis' is no number. Repair the keys"),
    ("location", float("nan"), "At frame [78].* a value of bone 'pelvis' is no number. Repair the keys"),
    ("location", 1e30, "At frame [78].* bone 'pelvis' is too far away to be shown. Repair the keys"),
), ids=("no turn", "no place", "nowhere"))  # fmt: skip
def test_keys_of_no_use(demo, way, rna, value, said):
    """A turn that is no number had been baked, and of a place of 1e30 m a traceback told."""
    path = actions.bone_path("pelvis", rna)
    curves = actions.all_curves(demo.animation_data.action)
    curve = next(c for c in curves if (c.data_path, c.array_index) == (path, 1))
    next(key for key in curve.keyframe_points if key.co.x >= 8.0).co.y = value
    curve.update()
    if way == "by the scene":
        demo.delta_location.x = 1.0
    state = file_state()
    with pytest.raises(RuntimeError, match=said):
        OPS.apply_hit_reaction(frame=8.0)
    assert repr(file_state()) == repr(state)  # what is no number doesn't equal itself


@pytest.mark.one_blender
def test_keys_of_no_use_in_an_action_that_is_blended(demo):
    curve = next(c for c in actions.all_curves(bpy.data.actions["Wave"]) if "hand.L" in c.data_path)
    curve.keyframe_points[-1].co.y = float("nan")
    curve.update()
    state = file_state()
    with pytest.raises(RuntimeError, match="a value of bone 'hand.L' is no number. Repair the keys"):
        OPS.blend_actions(action="Wave")
    assert repr(file_state()) == repr(state)
