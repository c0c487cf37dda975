"""Keys on the add-on's own settings count at the hit, are never taken for the clip, and outlive every operator."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import (
    actions,
    checks,
    hints,
    keyed_settings,
    recipe,
    records,
    settings,
    source,
    staleness,
)
from bl_ext.user_default.parametric_dynamics.core import situation as situations
from bl_ext.user_default.parametric_dynamics.core.blows import lasts
from bl_ext.user_default.parametric_dynamics.core.curve import begins
from bl_ext.user_default.parametric_dynamics.core.hits import HitSetting
from bl_ext.user_default.parametric_dynamics.core.progress import run

from .interface_tools import OPS, names
from .layer_tools import differences, farthest, file_state, joints, set_frame

FRAMES = np.arange(1.0, 25.0)
TONE, STIFF = "parametric_dynamics.tone", 'pose.bones["upper_arm.L"].dynamics_frequency'
KEYS = {5: (0.1, 1.0), 45: (0.9, 5.0)}  # frame: tone, frequency; far beyond the clip's end at 25


def key(rig):
    """Key two settings as an animator does: Blender puts the keys into the active action, or makes one."""
    for frame, (tone, frequency) in KEYS.items():
        rig.parametric_dynamics.tone, rig.pose.bones["upper_arm.L"].dynamics_frequency = tone, frequency
        rig.keyframe_insert(TONE, frame=frame)
        rig.keyframe_insert(STIFF, frame=frame)
    for curve in [c for action in bpy.data.actions for c in actions.all_curves(action)]:
        if actions.is_setting(curve.data_path):
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
    rig.update_tag()
    bpy.context.view_layer.update()


def value(rig, frame):
    set_frame(frame)
    return rig.parametric_dynamics.tone, rig.pose.bones["upper_arm.L"].dynamics_frequency


def expected(frame):
    (a, low), (b, high) = KEYS.items()
    return [np.interp(frame, (a, b), ends) for ends in zip(low, high, strict=True)]


def made(rig, name=None):
    """Tone and frequency with which a reaction was begun."""
    tone, frequency = followed(rig, name)
    return begins(tone), begins(frequency)


def followed(rig, name=None):
    """Tone and frequency of a reaction: numbers, or curves over the time since its hit."""
    made = recipe.loads(rig.parametric_dynamics_reactions[name or names(rig)[-1]].recipe)
    return made.hits[0].situation.tone, made.bones["upper_arm.L"]["frequency"]


def plays(rig):
    """The keys are heard, whatever the reactions are."""
    for frame in (5, 12, 45):
        np.testing.assert_allclose(value(rig, frame), expected(frame), atol=1e-5)


def test_paths():
    assert actions.is_setting(TONE) and actions.is_setting(STIFF)
    assert actions.is_setting("parametric_dynamics_hits[1].tone")
    assert not actions.is_setting('pose.bones["a].dynamics_mass"].location')
    assert not actions.is_setting('pose.bones["parametric_dynamics"].scale') and not actions.is_setting("location")


@pytest.mark.parametrize("when", ("with the clip", "after a reaction"))
class TestLife:
    @pytest.fixture
    def rig(self, demo, when):
        self.clip = joints(demo, FRAMES)
        self.source = source.of(demo)
        if when == "after a reaction":
            OPS.apply_hit_reaction(frame=8.0)
        key(demo)
        return demo

    def test_reactions(self, rig, tmp_path):
        found = source.of(rig)
        assert (found.start, found.end, found.action) == (self.source.start, self.source.end, "Walk")
        for frame, current in ((10.0, 1), (16.5, 40)):
            set_frame(current)
            OPS.apply_hit_reaction(frame=frame)
            np.testing.assert_allclose(made(rig), expected(frame), atol=1e-5)
            assert bpy.context.scene.frame_current == current
        plays(rig)
        name = names(rig)[-1]
        rig.parametric_dynamics_reactions[name].action.pose_markers[0].frame -= 2
        OPS.update_reaction(name=name, source="SETTINGS")
        np.testing.assert_allclose(made(rig, name), expected(14.5), atol=1e-5)
        rig.keyframe_insert("parametric_dynamics.ratio", frame=30)
        bpy.context.view_layer.update()
        assert not any(staleness.is_stale(rig, r) for r in rig.parametric_dynamics_reactions)
        assert OPS.edit_base() == {"FINISHED"}
        OPS.cure(kind="LEAVE_TWEAK")
        plays(rig)
        rig = self.reloaded(rig, tmp_path)
        assert hints.of(bpy.context, rig) == []
        OPS.remove_all()
        assert rig.animation_data.action == bpy.data.actions["Walk"] and records.base_of(rig) is None
        assert farthest(joints(rig, FRAMES), self.clip) < 0.01
        plays(rig)
        OPS.apply_hit_reaction(frame=12.0)
        np.testing.assert_allclose(made(rig), expected(12.0), atol=1e-5)
        OPS.remove_all()
        assert farthest(joints(rig, FRAMES), self.clip) < 0.01

    def reloaded(self, rig, folder):
        path, name = str(folder / "keyed.blend"), rig.name
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        plays(bpy.data.objects[name])
        return bpy.data.objects[name]

    def test_flatten(self, rig):
        OPS.apply_hit_reaction(frame=10.0)
        shown = joints(rig, FRAMES)
        assert OPS.flatten() == {"FINISHED"} and names(rig) == []
        assert farthest(joints(rig, FRAMES), shown) < 0.1
        plays(rig)


def test_in_the_clip_nothing_changes(demo):
    """Apply and Remove give the file back, settings' keys included."""
    key(demo)
    set_frame(3)
    before = file_state()
    OPS.apply_hit_reaction(frame=10.0)
    assert len(names(demo)) == 1
    OPS.remove_all()
    assert names(demo) == []
    set_frame(3)
    assert differences(before, file_state()) == []


def test_an_action_that_overrides_leaves_its_settings(demo):
    """The action over the reactions keys a bone, too: unlinked it goes, its settings stay."""
    OPS.apply_hit_reaction(frame=8.0)
    shown = joints(demo, FRAMES)
    key(demo)
    demo.pose.bones["head"].location.x = 1.0
    demo.pose.bones["head"].keyframe_insert("location", frame=5)
    assert [hint.cure for hint in hints.of(bpy.context, demo)] == ["UNLINK"]
    OPS.cure(kind="UNLINK")
    plays(demo)
    assert [hint.cure for hint in hints.of(bpy.context, demo)] == []
    assert farthest(joints(demo, FRAMES), shown) < 0.01


def test_settings_alone_are_no_animation(demo):
    demo.animation_data_clear()
    key(demo)
    assert not checks.has_animation(demo.animation_data) and source.of(demo) is None
    assert not OPS.apply_hit_reaction.poll()


def test_driven(demo):
    """A driver is followed to the hit like keys."""
    curve = demo.driver_add(TONE)
    curve.driver.expression = "frame / 40"
    OPS.apply_hit_reaction(frame=10.0)
    made = json.loads(demo.parametric_dynamics_reactions[0].recipe)
    assert "tone = [[0.0, 0.25], [0.041667, 0.275]," in made["hits"][0]["situation"]


def test_muscles_follow(demo):
    """Keys within the reaction are what the muscles do: a tone that falls by a cosine is a tone curve through it."""
    group, (start, end) = demo.parametric_dynamics, (8.0, 14.0)
    seconds = (end - start) / 24.0
    falls = [(k / 24.0, 0.5 + 0.5 * np.cos(np.pi * k / 24.0 / seconds)) for k in range(7)]
    group.tone_curve = ", ".join("{!r} {!r}".format(*map(float, point)) for point in falls)
    OPS.apply_hit_reaction(frame=start)
    wanted = joints(demo, FRAMES)
    OPS.remove_all()
    group.tone_curve, group.recovery = "", 0.1
    for frame, tone in ((start, 1.0), (end, 0.0)):
        group.tone = tone
        demo.keyframe_insert(TONE, frame=frame)
    (tone,) = actions.settings_of(demo.animation_data.action, actions.slot_of(demo.animation_data))
    tone.keyframe_points[0].interpolation, tone.keyframe_points[0].easing = "SINE", "EASE_IN_OUT"
    OPS.apply_hit_reaction(frame=start)
    points = recipe.loads(demo.parametric_dynamics_reactions[0].recipe).hits[0].situation.tone
    times, values = np.transpose(points)
    np.testing.assert_allclose(np.transpose((times, values)), falls, atol=1e-5)
    shown = joints(demo, FRAMES)
    assert farthest(shown, wanted) < 0.01  # [mm]
    assert group.tone_curve == ""
    OPS.update_reaction(source="RECIPE")
    assert farthest(joints(demo, FRAMES), shown) < 0.01
    OPS.remove_all()
    group.tone_curve = "0 1, 1 1"
    OPS.apply_hit_reaction(frame=start)
    assert farthest(joints(demo, FRAMES), wanted) > 5.0  # tone counts


def test_keys_that_stand_still_are_no_keys(demo):
    """To the last bit: one key, or several of one value, from the hit to the end."""
    OPS.apply_hit_reaction(frame=8.0)
    wanted = joints(demo, FRAMES)
    OPS.remove_all()
    for path in (TONE, "parametric_dynamics.frequency", "parametric_dynamics.share"):
        for frame in (2, 8, 30):
            demo.keyframe_insert(path, frame=frame)
    OPS.apply_hit_reaction(frame=8.0)
    assert np.array_equal(joints(demo, FRAMES), wanted)


def test_bones_follow(demo):
    """Bones and the whole body as the keys have it from the hit on; what isn't keyed is a number."""
    key(demo)
    for frame, value in ((10, 2.0), (20, 4.0)):
        demo.parametric_dynamics.frequency = value
        demo.keyframe_insert("parametric_dynamics.frequency", frame=frame)
    OPS.apply_hit_reaction(frame=10.0)
    tone, arm = followed(demo)
    at = np.arange(9.0)  # until frame 18.4
    np.testing.assert_allclose(np.transpose(tone)[1][:9], [expected(10.0 + k)[0] for k in at], atol=1e-5)
    np.testing.assert_allclose(np.transpose(arm)[1][:9], [expected(10.0 + k)[1] for k in at], atol=1e-5)
    made = recipe.loads(demo.parametric_dynamics_reactions[0].recipe).hits[0].situation
    assert made.frequency[0] == (0.0, 2.0) and made.frequency[-1][1] > 3.5 and isinstance(made.ratio, float)


def test_each_hit_of_a_list(demo):
    """Every hit has the values of its own frame."""
    OPS.add_hit()
    OPS.add_hit()
    for i, frame in enumerate((10.0, 20.0)):
        hit = demo.parametric_dynamics_hits[i]
        hit.automatic_frame, hit.frame = False, frame
        for at, value in ((0, 0.0), (40, 0.8)):
            hit.tone = value
            demo.keyframe_insert("parametric_dynamics_hits[{}].tone".format(i), frame=at)
    for curve in actions.settings_of(demo.animation_data.action, actions.slot_of(demo.animation_data)):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    OPS.apply_hit_reaction()
    hits = json.loads(demo.parametric_dynamics_reactions[0].recipe)["hits"]
    assert ["tone = [[0.0, 0.2]," in hits[0]["situation"], "tone = [[0.0, 0.4]," in hits[1]["situation"]] == [True] * 2


def test_a_bone_that_gives_its_value_up_keeps_the_last(demo):
    """0 at the hit is the body's; 0 later leaves the muscle as it was."""
    bone = demo.pose.bones["upper_arm.L"]
    for frame, number in ((9, 2.0), (12, 4.0), (13, 0.0)):
        bone.dynamics_frequency = number
        demo.keyframe_insert(STIFF, frame=frame)
    for curve in actions.settings_of(demo.animation_data.action, actions.slot_of(demo.animation_data)):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    assert keyed_settings.bones(bpy.context, demo, 13.0, 20.0) == {}
    (arm,) = keyed_settings.bones(bpy.context, demo, 10.0, 20.0).values()
    times, values = np.transpose(arm["frequency"])
    np.testing.assert_allclose(times * bpy.context.scene.render.fps, (0.0, 1.0, 2.0), atol=1e-4)
    assert values.tolist() == [2.0, 2.0, 4.0] and list(arm) == ["frequency"]


def test_until_the_last_reaction_ends(demo):
    """That needn't be the last hit's."""
    long, short = situations.named("knock_out"), situations.named(settings.FIRST)
    hits = [HitSetting(long, 10.0), HitSetting(short, 20.0), HitSetting(long, 50.0, enabled=False)]
    rate = bpy.context.scene.render.fps
    assert keyed_settings.span(bpy.context, demo, hits) == (10.0, 10.0 + rate * lasts(long))
    assert keyed_settings.span(bpy.context, demo, hits[1:]) == (20.0, 20.0 + rate * lasts(short))


def test_keys_go_before_the_curve_of_a_file(demo):
    curve = ((0.0, 2.0), (0.5, 4.0))
    made = situations.named(settings.FIRST).with_changes(frequency=curve, ratio=curve)
    settings.put_situation(demo.parametric_dynamics, made)
    for frame in (5, 45):
        demo.keyframe_insert("parametric_dynamics.frequency", frame=frame)
    (hit,) = run(keyed_settings.at_hits(bpy.context, demo, settings.recipe(demo))).hits
    assert hit.situation == made.with_changes(frequency=2.0)


def test_following_can_be_dropped(demo):
    key(demo)
    set_frame(5)
    state = file_state()
    parts = list(keyed_settings.at_hits(bpy.context, demo, settings.recipe(demo)))
    assert len(parts) > 10 and parts == sorted(parts) and parts[-1] <= 1.0
    steps = keyed_settings.at_hits(bpy.context, demo, settings.recipe(demo))
    for _ in range(3):
        next(steps)
    assert bpy.context.scene.frame_current != 5
    steps.close()
    assert bpy.context.scene.frame_current == 5
    assert differences(state, file_state()) == []
