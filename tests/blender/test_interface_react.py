"""Apply, Update, Remove and Export as the buttons call them, on the demo character and on rigs of others."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import (
    actions,
    checks,
    choosing,
    figures,
    hints,
    job,
    layer,
    layer_undo,
    mapping,
    operators_react,
    recipe,
    sampling,
    settings,
    solving,
)
from bl_ext.user_default.parametric_dynamics.core import progress
from bl_ext.user_default.parametric_dynamics.core import situation as situations
from bl_ext.user_default.parametric_dynamics.core.errors import CoreError

from .interface_tools import OPS, names, peak, short
from .layer_tools import differences, farthest, file_state, height, joints, set_frame

CYBERPUNK = "1_game_characters/quaternius/cyberpunk_Character.glb"
KAYKIT = "1_game_characters/kaykit/manny_med_mod.gltf"
KAYKIT_CLIPS = "1_game_characters/kaykit/Med_MovementBasic.glb"
FLOAT32 = 1e-4
NEUTRAL = 0.05  # mm at human size, through float32 channels


def play(rig, title):
    choosing.play(rig, next(offered for offered in choosing.candidates(rig) if offered.title == title))


@pytest.fixture(params=["demo", "cyberpunk", "kaykit"])
def character(request, open_file, data, template):
    """The demo character and two game characters, walking."""
    if request.param == "demo":
        rig = template("character")
    elif request.param == "cyberpunk":
        rig = open_file(data / CYBERPUNK)[0]
        play(rig, "Walk")
    else:
        rig = open_file(data / KAYKIT, data / KAYKIT_CLIPS)[0]
        play(rig, "Walking_A")
    for action in bpy.data.actions:
        action.use_fake_user = True
    short(rig)
    return rig


class TestApply:
    def test_apply_update_remove(self, character):
        rig = character
        frames = np.arange(-3.0, 40.0, 2.5)
        set_frame(1)
        state, before = file_state(), joints(rig, frames)
        set_frame(1)
        assert OPS.apply_hit_reaction() == {"FINISHED"}
        assert len(names(rig)) == 1
        after = joints(rig, frames)
        hit = frames >= 9.0
        assert farthest(before[~hit], after[~hit]) < NEUTRAL
        assert farthest(before[hit], after[hit]) > 20.0
        first, name = names(rig), names(rig)[0]
        rig.parametric_dynamics.impulse *= 0.5
        assert OPS.update_reaction() == {"FINISHED"}
        assert names(rig) == first
        record = rig.parametric_dynamics_reactions[name]
        assert record.action.name == name and name in rig.animation_data.nla_tracks
        assert farthest(after[hit], joints(rig, frames)[hit]) > 5.0
        assert OPS.remove_reaction() == {"FINISHED"}
        set_frame(1)
        assert differences(state, file_state()) == []
        assert farthest(before, joints(rig, frames)) < 0.01

    def test_an_update_shows_no_frames(self, character, monkeypatch):
        """The clip lies on a track then: its curves tell as much as before, and as exactly."""

        def shown(*_):
            raise AssertionError("the scene was asked")

        monkeypatch.setattr(sampling, "_shown", shown)
        assert OPS.apply_hit_reaction() == {"FINISHED"}
        first = keys(character)
        assert OPS.update_reaction() == {"FINISHED"}
        assert same(keys(character), first, 0.0)

    def test_settings_follow_what_was_given(self, demo):
        assert OPS.apply_hit_reaction(situation="leg_front", impulse=5.0, frame=10.0) == {"FINISHED"}
        made = settings.recipe(demo)
        assert made.hits[0].frame == 10.0
        assert made.hits[0].situation == situations.named("leg_front").with_changes(impulse=5.0, gain=1.0)
        assert demo.parametric_dynamics.situation == "leg_front"
        assert recipe.loads(demo.parametric_dynamics_reactions[0].recipe) == made

    def test_direction_given_is_the_world_s(self, demo):
        OPS.apply_hit_reaction(direction=(1.0, 0.0, 0.0))
        assert settings.recipe(demo).hits[0].direction == (1.0, 0.0, 0.0)
        assert demo.parametric_dynamics.direction_mode == "WORLD"

    def test_a_quarter_into_the_clip(self, demo):
        demo.parametric_dynamics.automatic_frame = True
        OPS.apply_hit_reaction()
        start, end = bpy.data.actions["Walk"].curve_frame_range
        assert settings.recipe(demo).hits[0].frame == round(start + 0.25 * (end - start))

    def test_same_settings_same_keys(self, demo):
        OPS.apply_hit_reaction()
        first = keys(demo)
        OPS.remove_reaction()
        OPS.apply_hit_reaction()
        assert same(keys(demo), first)

    def test_no_blow_no_layer(self, demo):
        state = file_state()
        with pytest.raises(RuntimeError, match="moves nothing"):
            OPS.apply_hit_reaction(impulse=0.0)
        assert differences(state, file_state()) == []

    def test_replace(self, demo):
        OPS.apply_hit_reaction()
        combined = joints(demo, [10.0, 14.0])
        OPS.remove_reaction()
        demo.parametric_dynamics.blend = "REPLACE"
        OPS.apply_hit_reaction()
        assert demo.parametric_dynamics_reactions[0].blend == "REPLACE"
        # Keys agree to 1e-7 rad: Blender's COMBINE shows a knee that turns little 1e-4 off the product of its curves.
        assert farthest(combined, joints(demo, [10.0, 14.0])) < 2.0 * NEUTRAL

    def test_initial_velocities(self, demo):
        demo.parametric_dynamics.drive = "velocities"
        OPS.apply_hit_reaction()
        assert peak(demo, "spine.03") > 10.0

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"bone": "no such bone"}, "no bone or role 'no such bone'"),
            ({"direction": (0.0, 0.0, 0.0)}, "direction"),
        ],
    )
    def test_refused_with_nothing_changed(self, demo, change, reason):
        state, made = file_state(), settings.recipe(demo)
        with pytest.raises(RuntimeError, match=reason):
            OPS.apply_hit_reaction(**change)
        assert differences(state, file_state()) == []
        assert settings.recipe(demo) == made and names(demo) == []


def keys(rig):
    """Channel -> keys of the first reaction."""
    found = {}
    for curve in actions.all_curves(rig.parametric_dynamics_reactions[0].action):
        values = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", values)
        found[curve.data_path, curve.array_index] = values
    return found


def same(a, b, tolerance=0.0):
    """The clip is read from f-curves or, with layers over it, from the scene: float64 against float32."""
    return a.keys() == b.keys() and all(np.allclose(a[key], b[key], rtol=0.0, atol=tolerance) for key in a)


class TestUpdate:
    def test_after_a_change_of_the_clip(self, demo):
        OPS.apply_hit_reaction()
        made = recipe.loads(demo.parametric_dynamics_reactions[0].recipe)
        demo.parametric_dynamics.impulse = 1.0
        OPS.update_reaction(source="RECIPE")
        assert recipe.loads(demo.parametric_dynamics_reactions[0].recipe) == made

    def test_equals_a_fresh_one(self, demo):
        OPS.apply_hit_reaction(impulse=3.0)
        demo.parametric_dynamics.impulse = 9.0
        OPS.update_reaction()
        updated = keys(demo)
        OPS.remove_reaction()
        OPS.apply_hit_reaction(impulse=9.0)
        assert same(keys(demo), updated, FLOAT32)

    def test_refused_with_nothing_changed(self, demo):
        OPS.apply_hit_reaction()
        set_frame(1)
        state, kept = file_state(), demo.parametric_dynamics_reactions[0].recipe
        demo.parametric_dynamics.bone = "no such bone"
        with pytest.raises(RuntimeError, match="no such bone"):
            OPS.update_reaction()
        assert differences(state, file_state()) == []
        assert demo.parametric_dynamics_reactions[0].recipe == kept

    def test_a_write_that_fails_leaves_the_old_one(self, demo, monkeypatch):
        OPS.apply_hit_reaction()
        set_frame(1)
        state = file_state()
        monkeypatch.setattr(job.Job, "write", refuse)
        with pytest.raises(RuntimeError, match="can't be written"):
            OPS.update_reaction()
        assert differences(state, file_state()) == []

    def test_one_of_two(self, demo):
        OPS.apply_hit_reaction(frame=8.0)
        OPS.apply_hit_reaction(frame=12.0, situation="chest_back")
        first, second = names(demo)
        demo.parametric_dynamics.active_reaction = 0
        assert settings.recipe(demo).hits[0].frame == 8.0
        assert demo.parametric_dynamics.situation == "shoulder_front"
        demo.parametric_dynamics.impulse = 4.0
        OPS.update_reaction()
        assert sorted(names(demo)) == sorted([first, second])
        made = recipe.loads(demo.parametric_dynamics_reactions[first].recipe)
        assert (made.hits[0].frame, made.hits[0].situation.impulse) == (8.0, 4.0)
        assert recipe.loads(demo.parametric_dynamics_reactions[second].recipe).hits[0].frame == 12.0

    def test_after_save_and_reload(self, demo, tmp_path):
        OPS.apply_hit_reaction(impulse=6.0)
        path = str(tmp_path / "kept.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        rig = bpy.context.active_object
        first = keys(rig)
        assert settings.recipe(rig).hits[0].situation.impulse == 6.0
        assert OPS.update_reaction() == {"FINISHED"}
        assert same(keys(rig), first, FLOAT32)
        assert OPS.remove_reaction() == {"FINISHED"}
        assert not rig.animation_data.nla_tracks and rig.animation_data.action.name == "Walk"


def refuse(*_args, **_options):
    raise CoreError("It can't be written.")


class TestRemove:
    def test_by_name(self, demo):
        OPS.apply_hit_reaction(frame=8.0)
        OPS.apply_hit_reaction(frame=12.0)
        first, second = names(demo)
        OPS.remove_reaction(name=first)
        assert names(demo) == [second]
        with pytest.raises(RuntimeError, match="no reaction"):
            OPS.remove_reaction(name=first)

    def test_all(self, demo):
        set_frame(1)
        state = file_state()
        OPS.apply_hit_reaction(frame=8.0)
        OPS.apply_hit_reaction(frame=12.0)
        assert OPS.remove_all() == {"FINISHED"}
        set_frame(1)
        assert differences(state, file_state()) == []

    def test_settings_stay(self, demo):
        OPS.apply_hit_reaction(frame=8.0)
        OPS.apply_hit_reaction(frame=12.0)
        demo.parametric_dynamics.impulse = 3.3
        OPS.remove_reaction()
        assert settings.recipe(demo).hits[0].situation.impulse == 3.3
        assert checks.active_reaction(demo) is not None


class TestHints:
    @pytest.fixture
    def hit(self, hit):
        assert hints.of(bpy.context, hit) == []
        return hit

    def expect(self, rig, words):
        found = [hint.text for hint in hints.of(bpy.context, rig)]
        assert any(words in text for text in found), found

    def test_muted(self, hit):
        hit.animation_data.nla_tracks[names(hit)[0]].mute = True
        self.expect(hit, "is muted")

    def test_solo(self, hit):
        hit.animation_data.nla_tracks["Walk"].is_solo = True
        self.expect(hit, "plays alone")

    def test_nla_off(self, hit):
        hit.animation_data.use_nla = False
        self.expect(hit, "NLA is switched off")

    def test_action_on_top(self, hit):
        hit.animation_data.action = bpy.data.actions["Wave"]
        self.expect(hit, "'Wave' lies over the reactions")
        with pytest.raises(RuntimeError, match="lies over"):
            OPS.apply_hit_reaction()

    def test_deleted(self, hit):
        hit.animation_data.nla_tracks.remove(hit.animation_data.nla_tracks[names(hit)[0]])
        self.expect(hit, "was deleted")

    def test_beyond_the_scene(self, hit):
        bpy.context.scene.frame_end = 12
        self.expect(hit, "after the scene's last frame")


class TestSolving:
    """The modal way, driven by hand: a wheel has no events."""

    def test_slices_end_in_the_same_reaction(self, demo):
        ready = recipe.prepare(bpy.context, demo, settings.recipe(demo))
        runner = solving.Solving()
        runner._job, runner._steps = ready, ready.solve()
        pieces = 0
        reaction = None
        while reaction is None:
            reaction = runner._drain(bpy.context, 0.02)
            pieces += 1
        assert pieces > 1
        assert np.array_equal(progress.run(ready.solve()).turn, reaction.turn)

    def test_progress_grows(self, demo):
        ready = recipe.prepare(bpy.context, demo, settings.recipe(demo))
        runner = solving.Solving()
        runner._job, runner._steps = ready, ready.solve()
        runner._drain(bpy.context, 0.02)
        assert 0.0 < runner._progress < 1.0

    def test_reading_can_be_dropped(self, hit):
        """An Update mutes the reaction while it reads, and shows one frame after the other of a rig with constraints:
        dropped, all is back."""
        hit.pose.bones[0].constraints.new("COPY_ROTATION").mute = True
        set_frame(5)
        state = file_state()
        update = SimpleNamespace(name=names(hit)[0], source="RECIPE", fall=False)
        steps = operators_react.DYNAMICS_OT_update_reaction.prepare(update, bpy.context)
        while next(steps) < 0.3:
            pass
        assert bpy.context.scene.frame_current != 5 and differences(state, file_state()) != []
        steps.close()
        assert bpy.context.scene.frame_current == 5
        assert differences(state, file_state()) == []


class TestFigure:
    def test_another_file_knows_nothing_of_it(self, demo, tmp_path):
        """Its rig may have the same names and be another one."""
        OPS.recognise_bones()
        path, name = str(tmp_path / "same.blend"), demo.name
        bpy.ops.wm.save_as_mainfile(filepath=path)
        assert figures.known(bpy.data.objects[name]) is not None
        bpy.ops.wm.open_mainfile(filepath=path)
        assert figures.known(bpy.data.objects[name]) is None

    def test_recognise(self, demo):
        assert OPS.recognise_bones() == {"FINISHED"}
        figure = figures.known(demo)
        assert figure.kind == "biped" and figure.roles["upper_arm.L"] == "upper_arm.L"
        assert 1.4 < figure.height < 2.1

    def test_export(self, demo, tmp_path):
        OPS.apply_hit_reaction()
        path = tmp_path / "hit.fbx"
        state = file_state()
        assert OPS.export_fbx(filepath=str(path)) == {"FINISHED"}
        assert path.stat().st_size > 10_000
        assert differences(state, file_state()) == []
        with pytest.raises(RuntimeError):
            OPS.export_fbx(filepath=str(tmp_path / "nowhere" / "hit.fbx"))


def test_rename_takes_everything_along(demo):
    OPS.apply_hit_reaction()
    record = demo.parametric_dynamics_reactions[0]
    assert layer.rename(demo, record.name, "Other", exactly=True) == "Other"
    own = list(layer_undo.own_strips(demo, record))
    assert {track.name for track, _, _ in own} >= {"Other"}
    assert all(name.startswith("Other") for track, strip, _ in own for name in (track.name, strip.name))
    assert record.name == "Other" and height(demo) > 0.0
    assert OPS.remove_reaction(name="Other") == {"FINISHED"}
    assert not demo.animation_data.nla_tracks


def test_a_reaction_between_two_frames_is_refused_with_the_cure(demo):
    """At one frame a second nothing of it would be keyed: neither its first nor its last key moves a bone."""
    bpy.context.scene.render.fps = 1
    state = file_state()
    with pytest.raises(RuntimeError, match="moves at the 2 frames from 8 to 8.35. Let the reaction last longer"):
        OPS.apply_hit_reaction()
    assert differences(state, file_state()) == []


@pytest.mark.skipif(not hasattr(bpy.types, "ActionSlot"), reason="no slots before Blender 4.4")
def test_an_action_without_a_slot_is_refused_with_the_cure(demo):
    demo.animation_data.action_slot = None
    for operator in (OPS.apply_hit_reaction, OPS.grade_motion):
        with pytest.raises(RuntimeError, match="plays no slot of its action 'Walk'. Choose one beside"):
            operator()


def test_muted_tracks_are_told_as_what_does_not_play(demo):
    action, slot = demo.animation_data.action, getattr(demo.animation_data, "action_slot", None)
    demo.animation_data.action = None
    track = demo.animation_data.nla_tracks.new()
    strip = track.strips.new("Walk", 1, action)
    if slot is not None:
        strip.action_slot = slot
    track.mute = True
    with pytest.raises(RuntimeError, match="Nothing plays on armature '.*'. Unmute one of its NLA tracks"):
        OPS.apply_hit_reaction()
    track.mute = demo.animation_data.use_nla = False
    for _ in range(2):
        with pytest.raises(RuntimeError, match="The NLA of armature '.*' is switched off. Switch it on"):
            OPS.apply_hit_reaction()
        demo.parametric_dynamics.keyframe_insert("impulse", frame=1.0)  # an action of a setting alone moves nothing


@pytest.mark.parametrize("inherits", ["FULL", "AVERAGE"])
def test_an_uneven_scale_that_stretches_what_turns_is_told_with_its_cure(demo, inherits):
    """Under a sheared parent a bone is as long as it points: heads miss by centimetres; averaged, by float32 alone."""
    demo.pose.bones["spine.02"].scale = (1.2, 0.8, 1.1)
    demo.pose.bones["head"].scale = (1.2, 0.8, 1.1)  # on which nothing hangs that reacts
    for bone in demo.data.bones:
        bone.inherit_scale = inherits
    bpy.context.view_layer.update()
    ready = recipe.prepare(bpy.context, demo, settings.recipe(demo))
    reaction = progress.run(ready.solve())
    shown = job.pick(ready.clip, ready.keyed)
    _, heads = mapping.armature_poses(ready.actor, shown, *reaction.poses(shown))
    ready.write(bpy.context, reaction)
    off = []
    for frame, wanted in zip(ready.frames, heads, strict=True):
        set_frame(frame)
        seen = demo.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        off.append(np.linalg.norm([seen[n].head for n in ready.actor.skeleton.names] - wanted, axis=-1))
    told = [text for text in ready.warnings if "scaled unevenly" in text]
    assert (np.max(off) > 0.02) == (inherits == "FULL") == bool(told) and (told or np.max(off) < 0.001)
    if told:
        assert told[0].startswith("Bone 'spine.02' is scaled unevenly") and "'spine.03' to Average" in told[0]
