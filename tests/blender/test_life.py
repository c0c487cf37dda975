"""Life after Apply in the add-on: stale reactions, cures for what hides them, editing the clip below."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, hints, job, memory, source, staleness

from .interface_tools import OPS, cures, layers, names, peak, play_as_strip
from .layer_tools import farthest, joints, set_frame

FRAMES = np.arange(1.0, 25.0)


def stale(rig):
    return [record.name for record in rig.parametric_dynamics_reactions if staleness.is_stale(rig, record)]


def bend(action, bone, by=0.3):
    """Turn a bone of the clip by a bit at every key, as an animator does."""
    for curve in actions.all_curves(action):
        if curve.data_path == 'pose.bones["{}"].rotation_quaternion'.format(bone) and curve.array_index == 1:
            for key in curve.keyframe_points:
                key.co.y += by
            curve.update()
    action.update_tag()
    bpy.context.view_layer.update()


class TestStale:
    def test_fresh(self, hit):
        set_frame(13)
        bpy.context.view_layer.update()
        assert stale(hit) == []

    def test_a_key_below(self, hit):
        bend(bpy.data.actions["Walk"], "spine.02")
        assert stale(hit) == names(hit)
        assert cures(hit) == ["UPDATE"]

    def test_update_makes_it_fresh(self, hit):
        bend(bpy.data.actions["Walk"], "spine.02")
        before = peak(hit, "upper_arm.L")
        OPS.update_reaction(source="RECIPE")
        assert stale(hit) == [] and cures(hit) == []
        assert peak(hit, "upper_arm.L") != before

    def test_rest_pose(self, hit):
        bpy.ops.object.mode_set(mode="EDIT")
        hit.data.edit_bones["hand.L"].tail.z += 0.1
        bpy.ops.object.mode_set(mode="OBJECT")
        assert stale(hit) == names(hit)

    def test_strip_moved(self, hit):
        hit.animation_data.nla_tracks["Walk"].strips[0].scale = 1.1
        hit.update_tag()
        bpy.context.view_layer.update()
        assert stale(hit) == names(hit)

    @pytest.mark.parametrize("kind", ["influence", "strip_time"])
    def test_curves_of_a_strip(self, hit, kind):
        """Its influence and its time, once they count."""
        strip = hit.animation_data.nla_tracks["Walk"].strips[0]
        strip.use_animated_influence = strip.use_animated_time = True
        OPS.update_reaction(source="RECIPE")
        assert stale(hit) == []
        strip.fcurves.find(kind).keyframe_points.insert(12.0, 0.5)
        hit.update_tag()
        bpy.context.view_layer.update()
        assert stale(hit) == names(hit)
        setattr(strip, {"influence": "use_animated_influence", "strip_time": "use_animated_time"}[kind], False)
        OPS.update_reaction(source="RECIPE")
        strip.fcurves.find(kind).keyframe_points.insert(15.0, 0.7)  # nobody looks at it now
        hit.update_tag()
        bpy.context.view_layer.update()
        assert stale(hit) == []

    @pytest.mark.parametrize("kind", ["GENERATOR", "ENVELOPE"])
    def test_modifiers_of_curves(self, hit, kind):
        """By their values, of which some are lists: not by the action's name, in which they lie."""
        walk = bpy.data.actions["Walk"]
        curve = next(curve for curve in actions.all_curves(walk) if "spine.02" in curve.data_path)
        made = curve.modifiers.new(kind)
        if kind == "ENVELOPE":
            made.control_points.add(3.0)
        OPS.update_reaction(source="RECIPE")
        walk.name = "Stroll"
        walk.update_tag()
        bpy.context.view_layer.update()
        assert stale(hit) == []
        if kind == "ENVELOPE":
            made.control_points[0].max = 0.5
        else:
            made.coefficients[0] = 0.1
        walk.update_tag()
        bpy.context.view_layer.update()
        assert stale(hit) == names(hit)

    def test_frame_rate(self, hit):
        bpy.context.scene.render.fps = 30
        bpy.context.view_layer.update()
        assert stale(hit) == names(hit)

    def test_keys_of_what_carries_it(self, hit):
        car, seat = (bpy.data.objects.new(name, None) for name in ("Car", "Seat"))
        for item in (car, seat):
            bpy.context.scene.collection.objects.link(item)
        hit.parent, seat.parent = seat, car
        bpy.context.view_layer.update()
        assert stale(hit) == []  # it stands where it stood, and nothing moves it
        for frame in (1, 24):
            car.location.x = 0.1 * frame
            car.keyframe_insert("location", frame=frame)
        bpy.context.view_layer.update()
        assert stale(hit) == names(hit)
        OPS.update_reaction()
        assert stale(hit) == []
        for curve in actions.all_curves(car.animation_data.action):
            curve.keyframe_points[1].co.y += 1.0
        car.animation_data.action.update_tag()
        bpy.context.view_layer.update()
        assert stale(hit) == names(hit)
        strip = car.animation_data.nla_tracks.new().strips.new("Drive", 1, car.animation_data.action)
        car.animation_data.action = None
        OPS.update_reaction()
        assert stale(hit) == []
        strip.frame_start += 2.0
        bpy.context.view_layer.update()
        assert stale(hit) == names(hit)

    def test_in_a_window_with_another_scene(self, hit):
        """Both are asked by turns, with no change between."""
        other = bpy.data.scenes.new("Slow")
        other.render.fps = 12
        bpy.context.view_layer.update()
        for _ in range(2):
            assert stale(hit) == []
            with bpy.context.temp_override(scene=other):
                assert stale(hit) == names(hit)

    def test_only_those_above(self, hit):
        OPS.apply_hit_reaction(frame=12.0)
        first, second = names(hit)
        OPS.update_reaction(name=second, source="RECIPE")
        assert stale(hit) == []
        hit.parametric_dynamics.active_reaction = 0
        hit.parametric_dynamics.impulse = 10.0
        OPS.update_reaction(name=first)
        assert names(hit) == [first, second] and stale(hit) == [second]
        tracks = [track.name for track in hit.animation_data.nla_tracks]
        assert tracks.index(first) < tracks.index(second)
        OPS.update_reaction(name=second, source="RECIPE")
        assert names(hit) == [first, second] and stale(hit) == []

    def test_a_clip_that_goes_on_for_another_reaction_counts(self, demo):
        """The lower one, moved past the clip's end, lies on what the upper one has added there, and lacks it then."""
        for curve in actions.all_curves(demo.animation_data.action):
            curve.modifiers.remove(curve.modifiers[0])  # a clip that ends
        OPS.apply_hit_reaction(frame=8.0)
        hit, end = demo, source.of(demo).end
        OPS.apply_hit_reaction(frame=end - 3.0)
        lower, upper = names(hit)
        kept = hit.parametric_dynamics_reactions
        assert kept[upper].continuation is not None and stale(hit) == []
        hit.parametric_dynamics.active_reaction = 0
        hit.parametric_dynamics.frame = end - 4.0
        OPS.update_reaction(name=lower)
        assert kept[lower].continuation is None and stale(hit) == [upper]
        for _ in range(3):  # what the panel offers leads to a clip that goes on, and then to nothing more to do
            for name in stale(hit):
                OPS.update_reaction(name=name, source="RECIPE")
        moving = joints(hit, [end + 4.0, end + 7.0])
        assert stale(hit) == [] and farthest(*moving) > 10.0
        OPS.remove_reaction(name=upper)
        assert kept[lower].continuation is not None and stale(hit) == []

    @pytest.mark.parametrize("seconds", [0.25, 1.5])
    def test_a_clip_goes_on_from_one_reaction_to_the_next(self, demo, seconds):
        """Made anew, however long it lasts then, the first of two that let the clip go on leaves no gap; removed, it
        leaves one over which nothing plays."""
        for curve in actions.all_curves(demo.animation_data.action):
            curve.modifiers.remove(curve.modifiers[0])
        ends = [source.of(demo).end]
        for _ in range(2):
            OPS.apply_hit_reaction(frame=ends[-1] - 3.0)
            ends.append(source.of(demo).until)
        lower, upper = names(demo)
        kept = demo.parametric_dynamics_reactions
        assert ends[0] < ends[1] < ends[2] and kept[upper].continuation.frame_range[0] == ends[1]
        demo.parametric_dynamics.active_reaction = 0
        demo.parametric_dynamics.frame, demo.parametric_dynamics.relaxation = ends[0] - 3.0, seconds
        OPS.update_reaction(name=lower)
        assert kept[lower].continuation.frame_range[0] == ends[0] and source.of(demo).until == ends[2]
        shown = np.arange(ends[0] - 1.0, ends[2])
        assert min(farthest(*joints(demo, [frame, frame + 1.0])) for frame in shown) > 10.0
        OPS.remove_reaction(name=lower)
        assert source.of(demo).until == ends[0] and stale(demo) == [upper]

    def test_what_goes_on_is_the_clip_without_the_hits_in_it(self, demo):
        """A second reaction past the clip's end repeats the clip, not the first one's answer."""
        walk = demo.animation_data.action
        for curve in actions.all_curves(walk):
            curve.modifiers.remove(curve.modifiers[0])
        OPS.apply_hit_reaction(frame=8.0)
        found = source.of(demo)
        OPS.apply_hit_reaction(frame=found.end - 3.0)
        added = demo.parametric_dynamics_reactions[1].continuation
        assert added is not None and peak(demo, "hand.L") > 50.0
        own = {(curve.data_path, curve.array_index): curve for curve in actions.all_curves(walk)}
        frames = np.arange(found.end + 1.0, found.end + 20.0)
        for curve in actions.all_curves(added):
            again = [own[curve.data_path, curve.array_index].evaluate(f - found.end + found.start) for f in frames]
            np.testing.assert_allclose([curve.evaluate(f) for f in frames], again, atol=1e-3)  # the gap is closed

    def test_the_lower_is_solved_without_the_upper(self, hit):
        lower = names(hit)[0]
        before = keys(hit, lower)
        OPS.apply_hit_reaction(frame=9.0)
        OPS.update_reaction(name=lower, source="RECIPE")
        np.testing.assert_allclose(keys(hit, lower), before, atol=1e-5)  # read through the scene now: float32

    def test_a_duplicate_is_fresh(self, hit):
        bpy.ops.object.select_all(action="DESELECT")
        hit.select_set(True)
        bpy.context.view_layer.objects.active = hit
        bpy.ops.object.duplicate()
        assert bpy.context.active_object != hit and stale(bpy.context.active_object) == []

    def test_kept_in_the_file(self, hit, tmp_path):
        path = str(tmp_path / "kept.blend")
        name = hit.name
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        assert stale(bpy.data.objects[name]) == []
        bend(bpy.data.actions["Walk"], "spine.02")
        assert stale(bpy.data.objects[name]) != []


def keys(rig, name):
    """All key values of a reaction."""
    found = sorted(actions.all_curves(rig.parametric_dynamics_reactions[name].action), key=path)
    return np.concatenate([[key.co.y for key in curve.keyframe_points] for curve in found])


def path(curve):
    return curve.data_path, curve.array_index


class TestCures:
    def cured(self, rig, kind, name=""):
        assert kind in cures(rig)
        assert OPS.cure(kind=kind, reaction=name) == {"FINISHED"}
        assert cures(rig) == []

    def test_nla(self, hit):
        hit.animation_data.use_nla = False
        self.cured(hit, "NLA_ON")

    def test_action(self, hit):
        hit.animation_data.action = bpy.data.actions["Wave"]
        self.cured(hit, "UNLINK")
        assert bpy.data.actions["Wave"].use_fake_user

    def test_solo(self, hit):
        hit.animation_data.nla_tracks["Walk"].is_solo = True
        self.cured(hit, "SOLO_OFF")

    def test_the_reaction_alone(self, hit):
        layers(hit)[0].is_solo = True
        assert hints.of(bpy.context, hit)[0].text == f"'{names(hit)[0]}' plays alone, without its clip."
        with pytest.raises(RuntimeError, match=f"NLA track '{names(hit)[0]}' plays alone. Switch its star off"):
            OPS.update_reaction()
        self.cured(hit, "SOLO_OFF")

    @pytest.mark.parametrize("strip", (True, False))
    def test_mute(self, hit, strip):
        track = layers(hit)[0]
        (track.strips[0] if strip else track).mute = True
        self.cured(hit, "UNMUTE", names(hit)[0])

    def test_deleted(self, hit):
        hit.animation_data.nla_tracks.remove(layers(hit)[0])
        assert cures(hit) == ["UPDATE"]
        OPS.update_reaction(source="RECIPE")
        assert cures(hit) == [] and len(layers(hit)) == 1

    def test_short_scene(self, hit):
        bpy.context.scene.frame_end = 10
        self.cured(hit, "LONGER_SCENE")

    def test_autokey(self, hit):
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
        self.cured(hit, "AUTOKEY_OFF")


class TestMoved:
    """A hit is moved where animators move things: on the timeline."""

    def test_the_strip(self, hit):
        strip = layers(hit)[0].strips[0]
        strip.frame_start_ui += 6
        self.check(hit, 14.0)

    def test_the_marker(self, hit):
        hit.parametric_dynamics_reactions[0].action.pose_markers[0].frame += 6
        self.check(hit, 14.0)

    def check(self, rig, frame):
        assert cures(rig) == ["UPDATE"]
        OPS.update_reaction(source="RECIPE")
        assert cures(rig) == []
        moved = keys(rig, names(rig)[0])
        action = rig.parametric_dynamics_reactions[0].action
        assert action.frame_range[0] == frame and [marker.frame for marker in action.pose_markers] == [frame]
        OPS.remove_all()
        OPS.apply_hit_reaction(frame=frame)
        np.testing.assert_allclose(moved, keys(rig, names(rig)[0]), atol=1e-5)

    def test_a_frame_given_in_the_panel_counts_more(self, hit):
        hit.parametric_dynamics_reactions[0].action.pose_markers[0].frame += 6
        OPS.update_reaction(name=names(hit)[0], source="RECIPE")
        hit.parametric_dynamics_reactions[0].action.pose_markers[0].frame += 6
        hit.parametric_dynamics.frame = 10.0
        OPS.update_reaction()
        assert hit.parametric_dynamics_reactions[0].action.frame_range[0] == 10.0


class TestEditBase:
    def test_there_and_back(self, hit):
        shown = joints(hit, FRAMES)
        assert OPS.edit_base() == {"FINISHED"}
        data = hit.animation_data
        assert data.use_tweak_mode and data.action == bpy.data.actions["Walk"]
        assert farthest(joints(hit, FRAMES), shown) < 0.01, "the layers above play on"
        bend(bpy.data.actions["Walk"], "head")
        assert cures(hit) == ["LEAVE_TWEAK"]
        OPS.cure(kind="LEAVE_TWEAK")
        assert not data.use_tweak_mode and cures(hit) == ["UPDATE"]
        assert farthest(joints(hit, FRAMES), shown) > 1.0

    def test_again_and_again(self, hit):
        for _ in range(2):
            assert OPS.edit_base() == {"FINISHED"}
            OPS.cure(kind="LEAVE_TWEAK")
        assert cures(hit) == []

    def test_what_is_selected_stays(self, hit):
        track = hit.animation_data.nla_tracks.new()
        track.strips.new("Wave", 100, bpy.data.actions["Wave"]).select = True
        OPS.edit_base()
        assert track.strips[0].select

    def test_strips_of_the_animators_own(self, demo):
        play_as_strip(demo)
        OPS.apply_hit_reaction(frame=8.0)
        with pytest.raises(RuntimeError, match="strips of your own"):
            OPS.edit_base()

    def test_the_window_stays(self, hit):
        kinds = [area.ui_type for area in bpy.context.window_manager.windows[0].screen.areas]
        OPS.edit_base()
        assert [area.ui_type for area in bpy.context.window_manager.windows[0].screen.areas] == kinds


class TestTogether:
    """Several reactions, several rigs."""

    def test_overlapping_reactions_have_tracks_of_their_own(self, hit):
        OPS.apply_hit_reaction(frame=9.0)
        tracks, made = layers(hit), [record.action for record in hit.parametric_dynamics_reactions]
        assert len({track.name for track in tracks}) == 2 == len(set(made))
        assert all(len(track.strips) == 1 for track in tracks)

    def test_rigs_that_share_an_action(self, demo):
        alone = after(demo)
        OPS.remove_all()
        walk = bpy.data.actions["Walk"]
        for part in (demo, *demo.children):
            part.select_set(True)  # the mesh weighs the bones
        bpy.ops.object.duplicate()
        other = bpy.context.active_object
        own, slot = other.animation_data.action, actions.slot_identifier(demo.animation_data)
        actions.assign(other.animation_data, walk, slot)
        if own != walk:
            bpy.data.actions.remove(own)
        still = joints(other, FRAMES)
        bpy.context.view_layer.objects.active = demo
        np.testing.assert_allclose(after(demo), alone, atol=1e-3)
        assert farthest(joints(other, FRAMES), still) < 1e-3, "the other one goes on walking"
        bpy.context.view_layer.objects.active = other
        np.testing.assert_allclose(after(other), alone, atol=1e-3)
        OPS.remove_all()
        assert farthest(joints(other, FRAMES), still) < 0.01 and other.animation_data.action == walk
        assert len(demo.parametric_dynamics_reactions) == 1 and stale(demo) == []

    def test_nothing_of_ours_runs_while_the_scene_plays(self, hit):
        modules = [f.__module__ for name in dir(bpy.app.handlers) if name.startswith("frame_change")
                   for f in getattr(bpy.app.handlers, name)]  # fmt: skip
        assert not [name for name in modules if "parametric_dynamics" in name]
        assert not [name for name in bpy.app.driver_namespace if "dynamics" in name.lower()]
        read = []
        counted = staleness.fingerprint
        staleness.fingerprint = lambda *given: read.append(given) or counted(*given)
        try:
            stale(hit)
            for frame in range(1, 20):
                set_frame(frame)
                stale(hit)  # what the panel asks at every redraw
        finally:
            staleness.fingerprint = counted
        assert len(read) <= 1

    def test_a_clip_is_read_once_for_all_reactions(self, hit, monkeypatch):
        OPS.apply_hit_reaction(frame=12.0)
        first = hit.parametric_dynamics_reactions[0].action
        read, add = [], staleness._add_curve
        seen = lambda digest, curve: read.append((curve.id_data, *path(curve))) or add(digest, curve)  # noqa: E731
        monkeypatch.setattr(staleness, "_add_curve", seen)
        memory.forget()
        assert stale(hit) == [] and len(read) == len(set(read))
        assert {action for action, *_ in read} == {bpy.data.actions["Walk"], first}, "the second lies on the first"
        first.name = "renamed"
        memory.forget()
        assert stale(hit) == []

    def test_a_run_that_broke_leaves_no_mark(self, demo, monkeypatch):
        before = sorted(demo.keys()), sorted(bpy.context.scene.keys())
        with monkeypatch.context() as broken:
            broken.setattr(job.Job, "solve", breaks)
            with pytest.raises(RuntimeError, match="a bug"):
                OPS.apply_hit_reaction(frame=8.0)
        assert (sorted(demo.keys()), sorted(bpy.context.scene.keys())) == before
        assert OPS.apply_hit_reaction(frame=8.0) == {"FINISHED"} and len(layers(demo)) == 1


def after(rig):
    """Where the joints of a rig are with a hit of ours."""
    OPS.apply_hit_reaction(frame=8.0)
    return joints(rig, FRAMES)


def breaks(_job):
    yield 0.1
    raise ZeroDivisionError("a bug")
