"""Strips that play their actions as they are: their curves equal what Blender shows; others go through the scene."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, clip, fk, nla, rig, source

from . import test_clip
from .test_clip import FRAMES, assert_same, both_ways, keyed

zoo = test_clip.zoo


def pushed_down(zoo, rng, extrapolations=("HOLD", "HOLD_FORWARD")):
    """The zoo's action on a track, and over it a strip of another that keys some of its channels, later and shorter."""
    anim = zoo.animation_data
    below, slot = anim.action, actions.slot_identifier(anim)
    anim.action = None
    keyed(zoo, rng, 'pose.bones["c"].location', 3, frames=(3, 9, 15))
    keyed(zoo, rng, 'pose.bones["b"].rotation_axis_angle', 4, frames=(4, 15))
    above, over = anim.action, actions.slot_identifier(anim)
    anim.action = None
    first = nla.new_strip(nla.new_track(anim, "Below"), below, slot, 1.0, 20.0, "REPLACE", extrapolations[0])
    second = nla.new_strip(nla.new_track(anim, "Above"), above, over, 3.0, 15.0, "REPLACE", extrapolations[1])
    second.frame_start_raw, second.frame_end_raw = 5.5, 17.5
    return first, second


@pytest.mark.parametrize("above", ["NOTHING", "HOLD", "HOLD_FORWARD"])
@pytest.mark.parametrize("below", ["NOTHING", "HOLD", "HOLD_FORWARD"])
def test_strips_that_play_their_actions_as_they_are(zoo, rng, below, above):
    """One over the other, moved in time: before, between and after them, where channels fall back to defaults, too."""
    pushed_down(zoo, rng, (below, above))
    assert clip.shortcut(bpy.context, zoo) == "" and not source.alone(zoo)
    taken = both_ways(zoo, FRAMES)
    assert_same(*taken)
    fallen = np.all(taken[0][1].quaternion[:, 0] == (1.0, 0.0, 0.0, 0.0), axis=-1)
    assert fallen.any() == (below != "HOLD") and not fallen.all()


@pytest.mark.parametrize("extrapolation", ["NOTHING", "HOLD", "HOLD_FORWARD"])
@pytest.mark.parametrize("alone", [False, True])
def test_a_layer_that_is_combined_with_what_is_below(zoo, rng, extrapolation, alone):
    """Of all that the clip keys, with another clip over some of it, or over that alone and defaults."""
    keyed(zoo, rng, 'pose.bones["h"].scale', 3)
    first, second = pushed_down(zoo, rng)
    anim = zoo.animation_data
    layer = nla.new_strip(nla.new_track(anim, "Layer"), first.action.copy(), "", 4.0, 20.0, "COMBINE", extrapolation)
    actions.set_slot(layer, actions.slot_identifier(first))
    first.mute = alone
    assert clip.shortcut(bpy.context, zoo) == ""
    combined = both_ways(zoo, FRAMES)
    assert_same(*combined)
    layer.mute = True
    without = both_ways(zoo, FRAMES)
    assert_same(*without)
    for field in ("location", "quaternion", "euler", "scale"):
        gone = getattr(combined[0][1], field) - getattr(without[0][1], field)
        assert np.abs(gone).max() > 0.1 and gone[FRAMES < 4.0].any() == (extrapolation == "HOLD")


def test_ends_between_frames(zoo, rng):
    """A strip acts at its very ends, which are of single precision: 5.3 is a little less in Python than in Blender."""
    first, second = pushed_down(zoo, rng, ("NOTHING", "NOTHING"))
    first.frame_start_raw, first.frame_end_raw = 5.3, 24.3
    second.frame_start_raw, second.frame_end_raw = 7.1, 19.1
    assert clip.shortcut(bpy.context, zoo) == ""
    assert_same(*both_ways(zoo, np.array([5.3, 7.1, 19.1, 24.3])))


def _backwards(strip):
    strip.use_reverse = True


def _twice(strip):
    strip.repeat = 2.0


def _slow(strip):
    strip.scale = 2.0


def _longer(strip):
    strip.frame_end = strip.frame_end + 8.0


def _shorter(strip):
    strip.frame_end_raw = 12.0


def _half(strip):
    nla.set_influence(strip, 0.5)


def _soft(strip):
    strip.blend_in = 4.0


def _added(strip):
    strip.blend_type = "ADD"


@pytest.mark.parametrize("silent", [0, 1])
def test_what_only_a_muted_strip_keys_has_its_default(zoo, rng, silent):
    strips = pushed_down(zoo, rng)
    strips[silent].mute = True
    strips[silent].blend_type = "COMBINE"
    assert clip.shortcut(bpy.context, zoo) == ""
    taken = both_ways(zoo, FRAMES)
    assert_same(*taken)
    assert np.all(taken[0][1].quaternion[:, 0] == (1.0, 0.0, 0.0, 0.0)) == (silent == 0)
    assert np.ptp(taken[0][1].location[:, 2], axis=0).min() > 0.1


BENT = [_backwards, _twice, _slow, _longer, _shorter, _half, _soft, _added]


@pytest.mark.parametrize("bend", BENT, ids=lambda bend: bend.__name__)
def test_strips_that_do_not_go_through_the_scene(zoo, rng, bend):
    bend(pushed_down(zoo, rng)[1])
    assert clip.shortcut(bpy.context, zoo) == "NLA strips"


def test_an_action_over_strips_goes_through_the_scene(zoo, rng):
    pushed_down(zoo, rng)
    keyed(zoo, rng, 'pose.bones["c"].location', 3)
    assert clip.shortcut(bpy.context, zoo) == "NLA strips"


def test_muted_strips_have_an_action_mixed_by_its_influence(zoo, rng):
    """With what they key at its default: nothing that the action's own curves tell."""
    strips = pushed_down(zoo, rng)
    for strip in strips:
        strip.mute = True
    assert clip.shortcut(bpy.context, zoo) == ""
    assert_same(*both_ways(zoo, FRAMES))
    anim = zoo.animation_data
    anim.action = strips[0].action
    actions.set_slot(anim, actions.slot_identifier(strips[0]))
    anim.action_influence = 0.4
    assert not source.alone(zoo) and clip.shortcut(bpy.context, zoo) == "NLA strips"


def test_an_action_that_a_solo_silences_goes_through_the_scene(zoo, rng):
    """What it keys has its default then, so the strips' curves don't tell all."""
    pushed_down(zoo, rng)
    anim = zoo.animation_data
    keyed(zoo, rng, 'pose.bones["g"].location', 3)
    anim.nla_tracks[1].is_solo = True
    assert clip.shortcut(bpy.context, zoo) == "NLA strips"
    _, shown = clip.sample_scene(bpy.context, zoo, rig.read(bpy.context, zoo), FRAMES)[1:]
    assert not shown.location[:, shown.names.index("g")].any()
    anim.action = None
    zoo.pose.bones["g"].location = (1.0, 2.0, 3.0)
    assert clip.shortcut(bpy.context, zoo) == ""
    assert_same(*both_ways(zoo, FRAMES))


def test_quaternions_that_strips_key_in_part_go_through_the_scene(zoo, rng):
    _, above = pushed_down(zoo, rng)
    zoo.animation_data.action = above.action
    keyed(zoo, rng, 'pose.bones["quo\\"te"].rotation_quaternion', 4)
    curves_of = source.curves_in_force(zoo)
    partial = next(c for c in curves_of if c.data_path.endswith("quaternion") and c.array_index == 2)
    partial.mute = True
    zoo.animation_data.action = None
    with pytest.raises(fk.InexactError):
        clip.sample_curves(bpy.context, zoo, rig.read(bpy.context, zoo), FRAMES)
