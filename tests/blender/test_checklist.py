"""The set-up list: what is wrong is named, and its button puts it right."""

import bpy
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import checklist

from .interface_tools import OPS


def states(rig):
    return {item.name: item.state for item in reversed(checklist.of(bpy.context, rig))}


def item(rig, name):
    return next(item for item in checklist.of(bpy.context, rig) if item.name == name)


def test_a_sound_rig(demo):
    OPS.recognise_bones()
    assert set(states(demo).values()) == {checklist.OK}, checklist.of(bpy.context, demo)
    assert "'Walk', frames 1 to 27" in item(demo, "clip").text and "foot.L" in item(demo, "contacts").text
    assert checklist.worst(checklist.of(bpy.context, demo)) == checklist.OK


def rest(rig):
    rig.data.pose_position = "REST"


def nla_off(rig):
    data = rig.animation_data
    data.nla_tracks.new().strips.new("Walk", 1, data.action)
    data.action, data.use_nla = None, False


def auto_key(_rig):
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True


def unlooked(_rig):
    pass


@pytest.mark.parametrize(
    ("spoil", "name", "state"),
    [
        (rest, "pose", checklist.REFUSE),
        (nla_off, "layers", checklist.REFUSE),
        (auto_key, "layers", checklist.WARN),
        (unlooked, "roles", checklist.WARN),
    ],
)
def test_the_button_cures(demo, spoil, name, state):
    spoil(demo)
    assert states(demo)[name] == state
    button = item(demo, name).button
    if state == checklist.REFUSE:
        assert not OPS.apply_hit_reaction.poll() or refused()
    assert (OPS.cure(kind=button) if "." not in button else OPS.recognise_bones()) == {"FINISHED"}
    assert states(demo)[name] == checklist.OK


def refused():
    with pytest.raises(RuntimeError):
        OPS.apply_hit_reaction()
    return True


def clipless(rig):
    rig.animation_data_clear()


def silenced(rig):
    action, rig.animation_data.action = rig.animation_data.action, None
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("Walk", 1, action)
    track.mute = True


def foreign_clip(rig):
    rig.animation_data.action = action = bpy.data.actions.new("Door")
    rig.keyframe_insert("location", frame=1)
    rig.keyframe_insert("location", frame=20)
    assert rig.animation_data.action == action


def uneven(rig):
    rig.scale = (1.0, 1.0, 1.5)
    bpy.context.view_layer.update()


def flat(rig):
    rig.scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()


def meshless(_rig):
    for thing in [thing for thing in bpy.data.objects if thing.type == "MESH"]:
        bpy.data.objects.remove(thing)


@pytest.mark.parametrize(
    ("spoil", "name", "state", "cure"),
    [
        (clipless, "clip", checklist.REFUSE, "Give it an action"),
        (silenced, "clip", checklist.REFUSE, "Unmute one of its NLA tracks"),
        (foreign_clip, "clip", checklist.WARN, "Choose an action"),
        (uneven, "scale", checklist.WARN, ""),
        (flat, "scale", checklist.REFUSE, ""),
        (meshless, "masses", checklist.WARN, ""),
    ],
)
def test_what_has_no_button_says_what_to_do(demo, spoil, name, state, cure):
    spoil(demo)
    found = item(demo, name)
    assert found.state == state and found.cure.startswith(cure) and found.cure.endswith(".") and not found.button


def test_a_rig_as_it_is_imported_is_told_in_the_panels_words_with_each_button_once(demo):
    demo.animation_data_clear()
    found = checklist.of(bpy.context, demo)
    assert {"clip", "roles", "contacts", "limits"} <= {each.name for each in found if each.state != checklist.OK}
    assert [each.button for each in found if each.button] == [checklist.RECOGNISE]
    assert not any("--" in each.text + each.cure for each in found), "options are the commands' words"


def test_lacking_legs_are_told_with_one_button(demo):
    for name in ("thigh.L", "foot.L"):
        demo.pose.bones[name].dynamics_role = "helper"
    OPS.recognise_bones()
    found = {each.name: each for each in checklist.of(bpy.context, demo)}
    assert {found["roles"].state, found["contacts"].state} == {checklist.WARN}
    assert [each.button for each in found.values() if each.button] == [checklist.RECOGNISE]


def test_an_nla_that_is_off_has_its_button_beside_keyed_settings_too(demo):
    silenced(demo)
    demo.animation_data.use_nla = demo.animation_data.nla_tracks[0].mute = False
    demo.parametric_dynamics.keyframe_insert("impulse", frame=1.0)
    assert item(demo, "layers").button == "NLA_ON"
    OPS.cure(kind="NLA_ON")
    assert {states(demo)[name] for name in ("layers", "clip")} == {checklist.OK}


def test_hints_of_reactions_are_listed(demo):
    OPS.apply_hit_reaction(frame=8.0)
    demo.animation_data.action = bpy.data.actions["Wave"]
    found = item(demo, "layers")
    assert (found.state, found.button) == (checklist.REFUSE, "UNLINK")
    OPS.cure(kind=found.button)
    assert states(demo)["layers"] == checklist.OK
