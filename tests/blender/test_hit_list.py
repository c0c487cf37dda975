"""The list of hits: several make one reaction, taking one away solves the others anew, the file keeps them."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import (
    aiming,
    figures,
    files,
    memory,
    panels_hits,
    recipe,
    settings,
)
from bl_ext.user_default.parametric_dynamics.core import situation as situations
from bl_ext.user_default.parametric_dynamics.core import strength as strengths
from mathutils import Vector

from .interface_tools import OPS, names, peak
from .layer_tools import differences, file_state, joints, set_frame
from .test_interface_react import keys, same

FLOAT32 = 1e-4


@pytest.fixture
def pair(demo):
    """Two hits 0.2 s apart: the shoulder from the front at frame 8, the chest from behind 5 frames later."""
    bpy.context.scene.frame_set(8 + round(0.2 * bpy.context.scene.render.fps))
    assert OPS.add_hit() == {"FINISHED"}
    second = settings.active(demo)
    second.situation = "chest_back"
    second.sustain, second.relaxation = 0.1, 0.25
    return demo


def hits(rig):
    return rig.parametric_dynamics_hits


class TestList:
    def test_it_begins_empty_and_one_hit_needs_no_list(self, demo):
        assert len(hits(demo)) == 0 and settings.holders(demo) == [demo.parametric_dynamics]
        assert OPS.apply_hit_reaction() == {"FINISHED"}
        assert len(hits(demo)) == 0 and len(settings.recipe(demo).hits) == 1
        for operator in (OPS.remove_hit, OPS.move_hit):
            assert not operator.poll()

    def test_add_keeps_the_first_and_puts_the_second_at_the_current_frame(self, demo):
        first = settings.recipe(demo).hits[0]
        bpy.context.scene.frame_set(21)
        OPS.add_hit()
        made = settings.recipe(demo)
        assert made.hits[0] == first and demo.parametric_dynamics.active_hit == 1
        assert made.hits[1].frame == 21.0 and made.hits[1].situation == situations.named(settings.FIRST)

    def test_duplicate_remove_move(self, pair):
        pair.parametric_dynamics.active_hit = 0
        hits(pair)[0].strength, hits(pair)[0].gain, hits(pair)[0].seed = "kick", 2.5, 4
        OPS.add_hit(duplicate=True)
        a, b, c = settings.recipe(pair).hits
        assert a == b and a != c and a.strength == "kick" and a.gain == 2.5 and a.seed == 4
        OPS.move_hit(way="DOWN")
        assert settings.recipe(pair).hits == (a, c, b) and pair.parametric_dynamics.active_hit == 2
        assert OPS.move_hit(way="DOWN") == {"CANCELLED"}
        OPS.remove_hit()
        assert settings.recipe(pair).hits == (a, c)
        pair.parametric_dynamics.active_hit = 0
        OPS.remove_hit()  # one is left: as simple as at first
        assert len(hits(pair)) == 0 and settings.recipe(pair).hits == (c,)

    def test_buttons_act_on_the_hit_that_is_shown(self, pair):
        bpy.context.scene.frame_set(30)
        pair.parametric_dynamics.active_hit = 0
        OPS.use_current_frame()
        bpy.ops.object.mode_set(mode="POSE")
        pair.data.bones.active = pair.data.bones["head"]
        OPS.use_active_bone()
        assert [(h.frame, h.bone) for h in settings.recipe(pair).hits] == [(30.0, "head"), (13.0, "")]

    def test_names_for_people(self, pair):
        second = hits(pair)[1]
        assert second.shown == "Chest, back"
        second.bone = "head"
        assert second.shown == "head, Chest, back"
        second.shown = " the shot "
        assert (second.shown, second.name) == ("the shot", "the shot")
        second.shown = ""
        assert (second.shown, second.name) == ("head, Chest, back", "")

    def test_the_panel_says_what_repetition_leaves(self, pair):
        first, second = hits(pair)
        assert [panels_hits.repeated(pair, hit) for hit in (first, second)] == [1.0, 0.5]
        second.frame = first.frame  # one blow
        assert panels_hits.repeated(pair, second) == 1.0
        second.frame, first.enabled = 9.0, False
        assert panels_hits.repeated(pair, second) == 1.0

    def test_undo(self, demo):
        bpy.ops.ed.undo_push(message="before")
        OPS.add_hit()
        bpy.ops.ed.undo_push(message="added")
        bpy.ops.ed.undo()
        assert len(hits(bpy.context.active_object)) == 0
        bpy.ops.ed.redo()
        assert len(hits(bpy.context.active_object)) == 2

    def test_what_is_known_of_rigs_is_forgotten_by_undo_and_redo(self, demo):
        known = memory.memory()
        for name in ("before", "after"):
            bpy.ops.ed.undo_push(message=name)
        for step in (bpy.ops.ed.undo, bpy.ops.ed.redo):
            known["rig"] = 1
            step()
            assert not known


class TestReaction:
    def test_one_layer_for_all(self, pair):
        OPS.apply_hit_reaction()
        assert names(pair) == ["Shoulder, front + 1, Walk"]
        made = recipe.loads(pair.parametric_dynamics_reactions[0].recipe)
        assert [hit.frame for hit in made.hits] == [8.0, 13.0]
        action = pair.parametric_dynamics_reactions[0].action
        assert [marker.frame for marker in action.pose_markers] == [8, 13]
        first, second = (situations.named(name) for name in ("shoulder_front", "chest_back"))
        assert action.pose_markers[0].name == "upper_arm.L {:.3g} N s".format(first.gain * first.impulse)
        half = 0.5 * second.gain * second.impulse  # 0.2 s after another
        assert action.pose_markers[1].name == "spine.03 {:.3g} N s".format(half)

    def test_without_the_first_it_is_the_second_alone(self, pair):
        OPS.apply_hit_reaction()
        pair.parametric_dynamics.active_hit = 0
        OPS.remove_hit()
        OPS.update_reaction()
        left = keys(pair)
        OPS.remove_all()
        OPS.apply_hit_reaction()
        assert same(keys(pair), left, FLOAT32)
        assert pair.parametric_dynamics_reactions[0].action.frame_range[0] == 13.0

    def test_one_switched_off_is_as_if_it_were_not_there(self, pair):
        hits(pair)[1].enabled = False
        OPS.apply_hit_reaction()
        without = keys(pair)
        made = settings.recipe(pair)  # it is kept, though
        assert [hit.enabled for hit in made.hits] == [True, False]
        OPS.remove_all()
        OPS.remove_hit() if pair.parametric_dynamics.active_hit else None
        OPS.apply_hit_reaction()
        assert len(settings.recipe(pair).hits) == 1 and same(keys(pair), without, FLOAT32)

    def test_all_switched_off(self, pair):
        for hit in hits(pair):
            hit.enabled = False
        state = file_state()
        with pytest.raises(RuntimeError, match="switched off"):
            OPS.apply_hit_reaction()
        assert differences(state, file_state()) == []

    def test_a_later_hit_changes_the_body_only_from_then_on(self, pair):
        hits(pair)[1].enabled = False
        OPS.apply_hit_reaction()
        frames = np.arange(6.0, 22.0)
        first = joints(pair, frames)
        pair.parametric_dynamics.active_hit = 1
        hits(pair)[1].enabled = True
        OPS.update_reaction()
        off = np.linalg.norm(joints(pair, frames) - first, axis=-1).max(axis=1)
        assert off[frames > 13.0].max() > 10.0  # mm
        assert off[frames < 13.0].max() < 0.03  # mm; of two hits more of the clip is read, by which the rig is known

    def test_the_reaction_remembers_its_hits(self, pair):
        OPS.apply_hit_reaction()
        first = settings.recipe(pair)
        OPS.remove_hit()
        OPS.apply_hit_reaction(frame=40.0)
        assert len(hits(pair)) == 0 and len(names(pair)) == 2
        pair.parametric_dynamics.active_reaction = 0
        assert settings.recipe(pair) == first and len(hits(pair)) == 2
        pair.parametric_dynamics.active_reaction = 1
        assert len(hits(pair)) == 0 and settings.recipe(pair).hits[0].frame == 40.0

    def test_operator_properties_change_the_hit_that_is_shown(self, pair):
        OPS.apply_hit_reaction(impulse=5.0, bone="head", frame=11.0)
        first, second = settings.recipe(pair).hits
        assert (first.bone, first.frame, first.situation.name) == ("", 8.0, "Shoulder, front")
        assert (second.bone, second.frame) == ("head", 11.0)
        assert (second.situation.impulse, second.situation.gain) == (5.0, 1.0)

    def test_file_keeps_list_and_reaction(self, pair, tmp_path):
        OPS.apply_hit_reaction()
        made, before = settings.recipe(pair), keys(pair)
        path = str(tmp_path / "hits.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        rig = bpy.context.active_object
        assert settings.recipe(rig) == made
        OPS.update_reaction()
        assert same(keys(rig), before, FLOAT32)
        OPS.remove_reaction()
        assert not rig.animation_data.nla_tracks and rig.animation_data.action.name == "Walk"

    def test_a_list_on_an_override_outlives_the_file(self, pair, tmp_path):
        library, shot = str(tmp_path / "character.blend"), str(tmp_path / "shot.blend")
        OPS.remove_hit()
        bpy.ops.wm.save_as_mainfile(filepath=library)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(library, link=True) as (_, wanted):
            wanted.objects = ["Demo Character"]
        linked = bpy.data.objects["Demo Character"]
        bpy.context.scene.collection.objects.link(linked)
        rig = linked.override_create(remap_local_usages=True)
        rig.override_library.is_system_override = False
        bpy.context.view_layer.objects.active = rig
        OPS.add_hit()
        hits(rig)[1].situation, hits(rig)[1].impulse, hits(rig)[1].frame = "leg_front", 12.5, 17.0
        hits(rig)[0].name = "first"
        made = settings.recipe(rig)
        for _ in range(2):
            bpy.ops.wm.save_as_mainfile(filepath=shot)
            bpy.ops.wm.open_mainfile(filepath=shot)
        assert settings.recipe(bpy.context.view_layer.objects.active) == made and len(made.hits) == 2

    def test_hits_between_frames_keep_their_keys(self, pair):
        pair.parametric_dynamics.key_tolerance = 2.0
        hits(pair)[1].frame = 13.5
        OPS.apply_hit_reaction()
        channels = [values[0::2] for values in keys(pair).values()]
        assert all(8.0 in times and 13.5 in times for times in channels)
        start, end = pair.parametric_dynamics_reactions[0].action.frame_range
        full = np.floor(end) - start + 3.0  # the whole frames, the hit between two of them, the end
        assert np.mean([len(times) for times in channels]) < 0.75 * full


class TestFiles:
    def test_save_and_load(self, pair, tmp_path):
        hits(pair)[0].strength, hits(pair)[1].tone, hits(pair)[1].name = "club", 0.9, "the second"
        made, path = settings.recipe(pair), tmp_path / "mine.toml"
        assert OPS.save_hits(filepath=str(path)) == {"FINISHED"}
        OPS.remove_hit()
        hits(pair).clear()
        assert settings.recipe(pair) != made
        assert OPS.load_hits(filepath=str(path)) == {"FINISHED"}
        assert settings.recipe(pair) == made

    def test_seconds_become_frames(self, demo, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_text(
            '[[hits]]\nsituation = "leg_front"\nframe = 4\n[[hits]]\nsituation = "leg_back"\nafter = 0.5\n',
            encoding="utf-8",
        )
        OPS.load_hits(filepath=str(path))
        assert [hit.frame for hit in settings.recipe(demo).hits] == [4.0, 4.0 + 0.5 * bpy.context.scene.render.fps]

    def test_a_wrong_file_changes_nothing(self, pair, tmp_path):
        path = tmp_path / "wrong.toml"
        path.write_text('[[hits]]\nsituation = "chest_front"\nstrength = "cannon"\n', encoding="utf-8")
        made = settings.recipe(pair)
        with pytest.raises(RuntimeError, match="cannon"):
            OPS.load_hits(filepath=str(path))
        with pytest.raises(RuntimeError):
            OPS.save_hits(filepath=str(tmp_path / "nowhere" / "x.toml"))
        assert settings.recipe(pair) == made


class TestStrength:
    def test_named_ones_bring_their_gain(self, demo):
        group = demo.parametric_dynamics
        group.strength = "pistol"
        own = strengths.named("pistol")
        assert group.gain == pytest.approx(own.gain)
        hit = settings.recipe(demo).hits[0].hit(8.0)
        assert (hit.impulse, hit.contact, hit.gain) == (own.impulse, own.contact, own.gain)
        group.gain = 1.0
        assert settings.recipe(demo).hits[0].hit(8.0).gain == 1.0
        group.strength = "IMPULSE"
        assert group.gain == settings.plain(situations.named("shoulder_front").gain)
        group.situation = "chest_front"  # a situation has its own strength
        assert group.strength == "IMPULSE" and group.gain == situations.named("chest_front").gain

    def test_a_situation_has_its_own_and_says_what_it_leaves_to_the_hit(self, demo, tmp_path, capfd):
        group, path = demo.parametric_dynamics, tmp_path / "mine.toml"
        group.tone, group.seed, group.bone = 0.6, 3, "head"
        for change in ({"strength": "shotgun"}, {"strength": "STRIKER"}, {"kind": "ANGULAR", "gain": 2.0}):
            for name, value in change.items():
                setattr(group, name, value)
            capfd.readouterr()
            OPS.save_situation(filepath=str(path))
            told = capfd.readouterr()
            what = "Twist" if group.kind == "ANGULAR" else "Strength"
            assert f"leaves to each hit what you have set here: Bone, {what}, Seed." in told.out + told.err
            saved, own = situations.load(path), situations.named("shoulder_front")
            assert (saved.impulse, saved.gain, saved.tone) == (own.impulse, own.gain, 0.6)

    def test_striker_twist_and_blast_survive_as_text(self, demo):
        group = demo.parametric_dynamics
        for change in (
            {"strength": "STRIKER", "mass": 3.0, "speed": 7.5, "bounce": 0.25, "gain": 2.0},
            {"kind": "ANGULAR", "twist": -3.5, "gain": 1.5},
            {"kind": "RADIAL", "strength": "large_blast", "origin": (1.0, 2.0, 0.5)},
            {"kind": "LINEAR", "strength": "IMPULSE", "offset": (0.1, 0.0, -0.05), "seed": 9},
        ):
            for name, value in change.items():
                setattr(group, name, value)
            made = settings.recipe(demo)
            assert recipe.loads(recipe.dumps(made)) == made
            settings.choose(group)
            settings.put(demo, made)
            assert settings.recipe(demo) == made
            assert OPS.apply_hit_reaction() == {"FINISHED"}
            assert recipe.loads(demo.parametric_dynamics_reactions[0].recipe) == made
            OPS.remove_all()
            settings.put(demo, made)

    def test_a_blast_has_no_mass(self, demo):
        demo.parametric_dynamics.kind, demo.parametric_dynamics.strength = "RADIAL", "STRIKER"
        with pytest.raises(RuntimeError, match="no mass"):
            OPS.apply_hit_reaction()
        assert names(demo) == []

    def test_gain_and_seed_show(self, demo):
        OPS.apply_hit_reaction()
        before = peak(demo, "upper_arm.L")
        demo.parametric_dynamics.gain *= 0.5
        OPS.update_reaction()
        half = peak(demo, "upper_arm.L")
        assert half < 0.75 * before
        plain = keys(demo)
        demo.parametric_dynamics.seed = 3
        OPS.update_reaction()
        varied = keys(demo)
        assert not same(varied, plain, 1e-3)
        OPS.update_reaction()
        assert same(keys(demo), varied, FLOAT32)

    def test_an_impulse_given_alone_is_taken_as_it_is_and_the_redo_panel_keeps_what_it_shows(self, demo):
        demo.parametric_dynamics.strength = "shotgun"
        OPS.apply_hit_reaction()
        assert settings.recipe(demo).hits[0].strength == "shotgun"
        OPS.remove_all()
        # what F9 does: the properties are all set, to what was shown, but for the one that was changed
        shown = {"situation": "shoulder_front", "shown": "shoulder_front", "impulse": 14.0, "frame": 8.0}
        OPS.apply_hit_reaction(**shown, gain=2.0)
        assert (settings.recipe(demo).hits[0].strength, settings.recipe(demo).hits[0].gain) == ("shotgun", 2.0)
        OPS.remove_all()
        OPS.apply_hit_reaction(**{**shown, "impulse": 6.0}, gain=2.0)
        hit = settings.recipe(demo).hits[0]
        assert (hit.strength, hit.situation.impulse, hit.situation.gain) == ("", 6.0, 2.0)


class TestCursor:
    def test_point(self, demo):
        """The blow lands where the cursor is, on the bone that is nearest."""
        set_frame(8)
        bone = demo.pose.bones["forearm.R"]
        middle = demo.matrix_world @ ((bone.head + bone.tail) / 2.0)
        bpy.context.scene.cursor.location = middle + Vector((0.0, -0.03, 0.0))
        assert OPS.use_cursor(target="POINT") == {"FINISHED"}
        hit = settings.recipe(demo).hits[0]
        assert hit.bone == "forearm.R" and 0.3 < hit.situation.along < 0.7
        lands = aiming.struck_point(bpy.context, demo, hit)
        assert (lands - bpy.context.scene.cursor.location).length < 1e-4

    def test_point_on_the_chosen_bone(self, demo):
        set_frame(8)
        demo.parametric_dynamics.bone = "spine.03"
        bone = demo.pose.bones["spine.03"]
        bpy.context.scene.cursor.location = demo.matrix_world @ bone.head + Vector((0.2, 0.0, 0.0))
        OPS.use_cursor(target="POINT", nearest=False)
        hit = settings.recipe(demo).hits[0]
        lands = aiming.struck_point(bpy.context, demo, hit)
        assert hit.bone == "spine.03" and (lands - bpy.context.scene.cursor.location).length < 1e-4
        assert abs(hit.offset[0]) > 0.1  # to the figure's left: scene units are canonical metres, nearly

    def test_away_from_the_figure(self, demo):
        bpy.context.scene.cursor.location = (5.0, 0.0, 0.0)
        before = settings.recipe(demo)
        with pytest.raises(RuntimeError, match="away from 'Demo Character'"):
            OPS.use_cursor(target="POINT")
        assert settings.recipe(demo) == before

    def test_direction_and_blast(self, demo):
        set_frame(8)
        bpy.context.scene.cursor.location = (0.0, -3.0, 1.4)
        OPS.use_cursor(target="DIRECTION")
        direction = settings.recipe(demo).hits[0].direction
        assert direction[1] > 0.9
        OPS.use_cursor(target="ORIGIN")
        hit = settings.recipe(demo).hits[0]
        assert hit.origin == pytest.approx((0.0, -3.0, 1.4)) and hit.direction is None
        OPS.apply_hit_reaction()
        assert peak(demo, "head") > 10.0

    def test_the_pose_by_hand_is_left(self, demo):
        """Looking at the figure must not move it."""
        set_frame(8)
        state = file_state()
        bpy.context.scene.cursor.location = (0.0, -3.0, 1.4)
        OPS.use_cursor(target="DIRECTION")
        assert differences(state, file_state()) == []


def test_an_animals_panel_says_what_a_foreleg_gets(fresh_scene, data):
    """Strengths for arms count twice there, but an impulse that is given to the operator is taken as it is."""
    name = files.open_input(data / "1_game_characters/khronos/Fox.glb").armature
    fox = bpy.data.objects[name]
    holder = fox.parametric_dynamics
    assert panels_hits._felt(holder) == "8 × 3.25 = 26 N s"  # nobody has looked what kind of figure it is
    figures.find_out(bpy.context, fox, {})
    assert panels_hits._felt(holder) == "8 × 3.25 = 26 N s, 52 on a foreleg"
    holder.situation = "chest_front"
    assert panels_hits._felt(holder) == "14 × 3.5 = 49 N s"
    holder.situation, holder.strength = "shoulder_front", "punch"
    assert panels_hits._felt(holder).endswith("N s on a chest")
    bpy.context.view_layer.objects.active = fox
    holder.situation = "shoulder_front"
    assert OPS.apply_hit_reaction(impulse=30.0) == {"FINISHED"}
    made = recipe.loads(fox.parametric_dynamics_reactions[0].recipe).hits[0].situation
    assert made == situations.named("shoulder_front").with_changes(impulse=30.0, gain=1.0, foreleg=1.0)
