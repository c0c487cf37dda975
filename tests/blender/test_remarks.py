"""What the panel remarks on the chosen reaction: other settings than it was made with, another at its time."""

import math
from dataclasses import replace

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import recipe, remarks, settings

from .interface_tools import OPS, layers


def drawn(rig):
    """As the panel draws it next."""
    bpy.context.view_layer.update()
    return remarks.unapplied(rig, rig.parametric_dynamics_reactions[-1])


def unapplied(rig):
    """The same after a change by hand, of which Blender tells."""
    rig.update_tag()
    return drawn(rig)


def set_bone(rig):
    rig.pose.bones["hand.L"].dynamics_mass = 3.0


def set_start(rig):
    bone = rig.pose.bones["head"]
    bone.dynamics_custom, bone.dynamics_angle, bone.dynamics_velocity = True, math.radians(30.0), 250.0
    bone.dynamics_simulated, bone.dynamics_role = "YES", "head"


CHANGES = {
    "impulse": (lambda rig: setattr(rig.parametric_dynamics, "impulse", 12.0), "Impulse."),
    "frame": (lambda rig: setattr(rig.parametric_dynamics, "frame", 9.0), "Frame."),
    "envelope": (lambda rig: setattr(rig.parametric_dynamics, "sustain", 0.2), "Envelope."),
    "preset": (lambda rig: setattr(rig.parametric_dynamics, "situation", "leg_back"), "Situation."),
    "sparse keys": (lambda rig: setattr(rig.parametric_dynamics, "key_tolerance", 0.5), "Sparse Keys."),
    "another hit": (lambda _rig: OPS.add_hit(), "Hits."),
    "a bone": (set_bone, "bone 'hand.L'."),
    "a bone's start": (set_start, "bone 'head'."),
}


@pytest.mark.parametrize(("change", "told"), CHANGES.values(), ids=CHANGES)
def test_other_settings_are_named_and_taken_back(hit, change, told):
    assert unapplied(hit) == ""
    change(hit)
    assert unapplied(hit).endswith("was made: {} Update takes it over.".format(told))
    assert OPS.cure(kind="SHOW_OWN") == {"FINISHED"}
    assert unapplied(hit) == "" and settings.bones(hit) == {} and settings.roles(hit) == {}


def copies(rig):
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    rig.pose.bones["head"].dynamics_mass = 3.0
    assert "made: bone 'head'." in unapplied(rig)
    OPS.copy_bone_settings()


BUTTONS = {
    "frame": (lambda _rig: OPS.use_current_frame(), "Frame."),
    "bone": (lambda _rig: OPS.use_active_bone(), "Bone."),
    "cursor": (lambda _rig: OPS.use_cursor(target="ORIGIN"), "Origin."),
    "copy": (copies, "and 20 more"),
}


@pytest.mark.parametrize(("press", "told"), BUTTONS.values(), ids=BUTTONS)
def test_what_a_button_sets_is_told_at_once(hit, press, told):
    hit.data.bones.active = hit.data.bones["head"]
    assert drawn(hit) == ""
    press(hit)
    assert told in drawn(hit)


def test_hits_that_buttons_move_and_remove_are_told_at_once(hit):
    OPS.add_hit()
    OPS.add_hit(duplicate=True)
    OPS.update_reaction()
    assert drawn(hit) == ""
    OPS.move_hit(way="UP")
    OPS.move_hit(way="UP")
    assert "Frame" in drawn(hit)
    OPS.remove_hit()
    assert "made: Hits." in drawn(hit)


def test_update_takes_them_over(hit):
    set_bone(hit)
    set_start(hit)
    OPS.update_reaction()
    own = settings.bones(hit)
    assert unapplied(hit) == ""
    for bone in ("hand.L", "head"):
        for name in ("mass", "custom", "role", "simulated"):
            hit.pose.bones[bone].property_unset("dynamics_" + name)
    assert unapplied(hit) != ""
    OPS.cure(kind="SHOW_OWN")
    assert settings.bones(hit) == own and settings.roles(hit) == {"head": "head"}


def test_what_the_panel_rounds_is_no_difference(hit):
    """A command gives more digits than properties hold, and names a strength without its gain."""
    record, made = hit.parametric_dynamics_reactions[0], settings.recipe(hit)
    entry = {"frame": 8.123456, "direction": (1.0 / 3.0, -2.0 / 3.0, 0.1), "strength": "shotgun"}
    planned = replace(made.hits[0], **entry)
    record.recipe = recipe.dumps(replace(made, hits=(planned,), key_tolerance=1.0 / 3.0))
    told = remarks.differences(hit, record)
    assert told == ["Dramatic Gain", "Frame", "Direction", "Strength", "Sparse Keys"]
    assert "Dramatic Gain, Frame, Direction and 2 more." in unapplied(hit)
    settings.show_reaction(hit.parametric_dynamics)
    assert unapplied(hit) == ""


def test_keyed_settings_differ_from_frame_to_frame(hit):
    hit.parametric_dynamics.keyframe_insert("impulse", frame=1)
    hit.parametric_dynamics.impulse = 40.0
    assert unapplied(hit) == ""


def test_two_at_the_same_frame_are_told(hit):
    OPS.apply_hit_reaction(situation="leg_back", frame=8.0)
    one, two = hit.parametric_dynamics_reactions
    assert "'{}' hits at the same frame".format(one.name) in remarks.doubled(hit, two)
    assert "'{}' hits at the same frame".format(two.name) in remarks.doubled(hit, one)
    layers(hit)[0].mute = True
    assert [remarks.doubled(hit, record) for record in hit.parametric_dynamics_reactions] == ["", ""], "one shows"
    layers(hit)[0].mute = False
    hit.parametric_dynamics.frame = 14.0
    OPS.update_reaction(name=two.name, source="SETTINGS")
    assert [remarks.doubled(hit, record) for record in hit.parametric_dynamics_reactions] == ["", ""]
