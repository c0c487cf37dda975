"""Keys of a reaction that were edited by hand: told, and kept by what replaces or removes them."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, choosing, handwork, layer_undo, remarks

from .interface_tools import OPS, layers, names, play_as_strip
from .layer_tools import farthest, joints
from .test_blend_actions import make_salute

FRAMES = np.arange(1.0, 25.0)
TOLD = "Keys of '{0}' were edited by hand. Update and Remove keep them as an action of their own."


def told(rig):
    """As the panel draws it next."""
    bpy.context.view_layer.update()
    return remarks.edited(rig, rig.parametric_dynamics_reactions[-1])


def own(rig):
    """The actions of the last reaction, its own keys first."""
    found = layer_undo.own_strips(rig, rig.parametric_dynamics_reactions[-1])
    return [strip.action for _, strip, _ in sorted(found, key=lambda each: each[2])]


def lift(action, by=0.3):
    """One key in the middle of the action's first curve, as the graph editor moves it."""
    curve = actions.all_curves(action)[0]
    curve.keyframe_points[len(curve.keyframe_points) // 2].co_ui.y += by
    curve.update()
    action.update_tag()


def plain(_rig):
    OPS.apply_hit_reaction()


def sparse(rig):
    rig.parametric_dynamics.key_tolerance = 0.5
    OPS.apply_hit_reaction()


def absolute(rig):
    rig.parametric_dynamics.blend = "REPLACE"
    OPS.apply_hit_reaction()


def strip(rig):
    play_as_strip(rig)
    OPS.apply_hit_reaction()


def blended(rig):
    make_salute(rig)
    OPS.blend_actions(action="Salute", frame=8.0)


MADE = (plain, sparse, absolute, strip, blended)


@pytest.mark.parametrize("make", MADE)
def test_no_false_alarm(demo, make, tmp_path):
    """Not by what Blender does with a file, with strips or with bones' names, nor by looking at the curves."""
    make(demo)
    name = names(demo)[-1]
    assert own(demo) and all(map(handwork.is_laid, own(demo)))
    layers(demo)[-1].strips[0].frame_start += 3.0
    demo.pose.bones["head"].name = "skull"
    for action in own(demo):
        for curve in actions.all_curves(action):
            for key in curve.keyframe_points:
                key.select_control_point = True
            curve.update()
        action.update_tag()
    assert told(demo) == ""
    bpy.ops.ed.undo_push(message="before")
    lift(own(demo)[0])
    assert told(demo) == TOLD.format(name)
    bpy.ops.ed.undo_push(message="lifted")
    bpy.ops.ed.undo()
    assert told(bpy.context.object) == ""
    bpy.ops.ed.redo()
    assert told(bpy.context.object) == TOLD.format(name)
    bpy.ops.ed.undo()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    assert told(bpy.context.object) == ""
    OPS.remove_all()
    assert not [action.name for action in bpy.data.actions if handwork.is_laid(action)]


def shown(rig):
    return joints(rig, FRAMES)


@pytest.mark.parametrize("make", (plain, sparse, blended))
def test_removed_keys_can_be_laid_again(demo, make):
    """The action that is kept, on a strip as it was, shows what the animator had made."""
    clip = shown(demo)
    make(demo)
    keys, name = own(demo)[0], names(demo)[0]
    lift(keys)
    mine = shown(demo)
    assert farthest(mine, clip) > 10.0 and OPS.remove_reaction() == {"FINISHED"}
    assert farthest(shown(demo), clip) < 0.01
    kept = bpy.data.actions[name + " edited"]
    assert kept.use_fake_user and kept.users == 1
    track = demo.animation_data.nla_tracks.new()
    clip_strip = track.strips.new("Walk", 1, demo.animation_data.action)
    clip_strip.extrapolation = "HOLD"
    demo.animation_data.action = None
    again = demo.animation_data.nla_tracks.new().strips.new("Mine", int(kept.frame_range[0]), kept)
    again.blend_type, again.extrapolation = "COMBINE", "NOTHING"
    assert farthest(shown(demo), mine) < 0.1


def test_update_says_where_they_are(hit, capfd):
    name, before = names(hit)[0], shown(hit)
    lift(own(hit)[0])
    OPS.update_reaction(source="RECIPE")
    text = "Warning: The keys of '{0}' were edited by hand: they are kept as the action '{0} edited'."
    assert capfd.readouterr().out.count(text.format(name)) == 1
    assert names(hit) == [name] == [own(hit)[0].name] and told(hit) == "" and farthest(shown(hit), before) < 0.1
    kept = bpy.data.actions[name + " edited"]
    with pytest.raises(choosing.InputError, match="is the layer of a reaction"):
        choosing.by_name(hit, kept.name)
    known = set(bpy.data.actions)
    OPS.update_reaction(source="RECIPE")
    OPS.remove_all()
    assert "edited by hand" not in capfd.readouterr().out
    assert known - set(bpy.data.actions) and not set(bpy.data.actions) - known and kept in set(bpy.data.actions)


EDITS = {
    "a key deleted": lambda curve: curve.keyframe_points.remove(curve.keyframe_points[3]),
    "a key added": lambda curve: curve.keyframe_points.insert(9.25, 0.7),
    "a key in time": lambda curve: setattr(curve.keyframe_points[3].co, "x", curve.keyframe_points[3].co.x + 0.4),
    "another interpolation": lambda curve: setattr(curve.keyframe_points[3], "interpolation", "CONSTANT"),
    "muted": lambda curve: setattr(curve, "mute", True),
    "noise": lambda curve: curve.modifiers.new("NOISE"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_whatever_is_edited(hit, edit):
    action = own(hit)[0]
    edit(actions.all_curves(action)[0])
    action.update_tag()
    assert told(hit) == TOLD.format(names(hit)[0])


def test_a_handle(demo):
    """Of a segment that it bends."""
    sparse(demo)
    action = own(demo)[0]
    curves = actions.all_curves(action)
    key = next(key for curve in curves for key in curve.keyframe_points[:-1] if key.interpolation == "BEZIER")
    key.handle_right_type = "FREE"
    key.handle_right.y += 0.2
    action.update_tag()
    assert told(demo) != ""


def duplicated(rig):
    rig.select_set(True)
    bpy.ops.object.duplicate()
    return bpy.context.active_object


def test_keys_that_another_rig_plays_stay_with_it(hit):
    double = duplicated(hit)
    strip = layers(double)[0].strips[0]
    strip.action = own(hit)[0]
    lift(own(double)[0])
    OPS.remove_all()
    assert own(hit)[0].name == names(hit)[0] and not own(hit)[0].use_fake_user and told(hit) != ""


def test_a_duplicate_has_its_own(hit):
    """Of copied keys; those of the first one are as they were."""
    double = duplicated(hit)
    strip = layers(double)[0].strips[0]
    if strip.action == own(hit)[0]:
        strip.action = strip.action.copy()
    mine = own(double)[0]
    lift(mine)
    assert told(double) != "" and told(hit) == ""
    OPS.remove_all()
    assert mine.name.endswith(" edited") and mine.use_fake_user and own(hit)[0] != mine and told(hit) == ""
