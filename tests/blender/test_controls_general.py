"""Control rigs that are not Rigify's: CloudRig as its authors made it, and a small one whose controls are known."""

import math

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import control_rig, controls, controls_panel, demo_character
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import errors, situation

from tests.blender import layer_tools as tools
from tests.blender.control_tools import BRIEF, SHIFT, TURN, shown, solved
from tests.blender.rig_tables import CLOUDRIG


def test_cloudrig_is_solved(data, fresh_scene):
    """449 bones, 290 constraints, 508 drivers, Euler angles: keys on its controls make a clip, and it reacts."""
    bpy.ops.wm.open_mainfile(filepath=str(data / CLOUDRIG))
    rig = bpy.data.objects["RIG-Cloud_Human"]
    for frame in range(1, 122, 6):
        sway = math.sin(2.0 * math.pi * frame / 40.0)
        for name, property_, value in (
            ("MSTR-Torso", "location", (0.02 * sway, 0.0, -0.03)),
            ("MSTR-Torso", "rotation_euler", (0.03 * sway, 0.0, 0.06 * sway)),
            ("FK-Chest", "rotation_euler", (0.05 * sway, 0.08 * sway, 0.0)),
            ("IK-MSTR-Wrist.L", "location", (0.05 * sway, -0.1 * sway, -0.3)),
            ("IK-MSTR-Wrist.R", "location", (0.05 * sway, 0.1 * sway, -0.3)),
            ("IK-MSTR-Foot.L", "location", (0.0, 0.05 * sway, 0.0)),
        ):
            setattr(rig.pose.bones[name], property_, value)
            rig.pose.bones[name].keyframe_insert(property_, frame=frame)
    job, reaction = solved(rig, envelope=BRIEF)
    assert job.body.fixed == {}
    print("worst", job.posed.turn.max(), "deg", 1e3 * job.posed.shift.max(), "mm")
    assert job.posed.turn.max() < TURN and job.posed.shift.max() < SHIFT
    tools.set_frame(1)
    state = tools.file_state()
    name = job.write(bpy.context, reaction)
    assert {"FK-Chest", "IK-MSTR-Wrist.L"} <= set(job.posed.targets)
    assert not any(target.startswith(("DEF-", "ORG-")) for target in job.posed.targets)
    tools.layer.remove(bpy.context, rig, name)
    tools.set_frame(1)
    assert tools.differences(state, tools.file_state()) == []


def test_controls_are_found_by_what_they_move(puppet):
    job, reaction = solved(puppet)
    assert job.body.controlled and job.body.fixed == {}
    assert all(name.startswith("ctl-") for name in job.posed.targets)
    assert job.body.by_control["ctl-hand.L"] == ["hand.L"]
    assert job.posed.turn.max() < TURN and job.posed.shift.max() < SHIFT
    peaks = reaction.peaks()
    assert peaks["upper_arm.L"] > 5.0
    job.write(bpy.context, reaction)
    names = list(job.actor.skeleton.names)
    seen = shown(puppet, names, [float(job.frames[-1]) + 3.0])
    for made in tools.layer.reactions(puppet):
        tools.layer.remove(bpy.context, puppet, made.name)
    np.testing.assert_allclose(shown(puppet, names, [float(job.frames[-1]) + 3.0]), seen, atol=1e-5)


def test_bones_that_the_clip_stretches_are_told():
    """Of a thigh, shin and foot only the shin's head moves away from the bone above; a turn is no stretch."""
    rest = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.1]])
    turned = np.array([[0.0, 0.0, 1.0], [0.3, 0.0, 0.6], [0.3, 0.0, 0.2]])
    longer = rest - [[0.0, 0.0, 0.0], [0.0, 0.0, 0.001], [0.0, 0.0, 0.001]]
    parents = np.array([-1, 0, 1])
    assert controls.stretched(parents, np.stack((rest, turned)), rest).tolist() == []
    assert controls.stretched(parents, np.stack((rest, longer)), rest).tolist() == [1]


def test_a_pose_that_controls_cannot_show_is_refused(puppet):
    """An arm whose control is held within what the clip does: told by bone and frame, and nothing is changed."""
    turns = []
    for frame in range(1, 60, 2):
        tools.set_frame(frame)
        turns.append(puppet.pose.bones["ctl-upper_arm.L"].matrix_basis.to_euler("XYZ"))
    low, high = np.min(turns, axis=0) - 0.02, np.max(turns, axis=0) + 0.02
    limit = puppet.pose.bones["ctl-upper_arm.L"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.euler_order = "LOCAL", "XYZ"
    for axis, a, b in zip("xyz", low, high, strict=True):
        setattr(limit, "use_limit_" + axis, True)
        setattr(limit, "min_" + axis, a)
        setattr(limit, "max_" + axis, b)
    tools.set_frame(1)
    state = tools.file_state()
    for impulse in (20.0, 40.0, 60.0):  # collar bone, and head, are bent to make up for it
        with pytest.raises(errors.CoreError, match="leave bone 'upper_arm.L' .* degrees and .* at frame .* weakly"):
            solved(puppet, "shoulder_back", impulse=impulse)
    assert tools.differences(state, tools.file_state()) == []


def test_the_artists_map_names_a_control(puppet):
    """Among controls with shapes one without is not seen, until the artist names it."""
    shape = bpy.data.objects.new("Shape", None)
    bpy.context.scene.collection.objects.link(shape)
    for curve in list(tools.actions.all_curves(puppet.animation_data.action)):
        if '"ctl-head"' in curve.data_path:
            curve.data_path = curve.data_path.replace("ctl-head", "nobody")
    for bone in puppet.pose.bones:
        if bone.name.startswith("ctl-") and bone.name != "ctl-head":
            bone.custom_shape = shape
    body = control_rig.read(bpy.context, puppet)
    job = jobs.read(bpy.context, puppet, situation.named("chest_front"))
    assert "head" in job.body.unreached
    setattr(puppet.pose.bones["head"], control_rig.MAP, "ctl-head")
    job = jobs.read(bpy.context, puppet, situation.named("chest_front"))
    assert "ctl-head" in job.body.by_control and not job.body.unreached
    assert body.controlled


def _mapped(rig):
    return {bone.name: getattr(bone, control_rig.MAP) for bone in rig.pose.bones if getattr(bone, control_rig.MAP)}


def test_the_artists_map_is_kept_with_the_rig(puppet, tmp_path):
    """Through save and reload, append, and a library override, which may name another one and keeps that, too."""
    own = {"head": "ctl-head", "hand.L": "ctl-forearm.L"}
    for bone, control in own.items():
        setattr(puppet.pose.bones[bone], control_rig.MAP, control)
    path, shot, name = str(tmp_path / "rig.blend"), str(tmp_path / "shot.blend"), puppet.name
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert _mapped(bpy.data.objects[name]) == own
    for link in (False, True):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        with bpy.data.libraries.load(path, link=link) as (_, into):
            into.objects = [name]
        bpy.context.scene.collection.objects.link(into.objects[0])
        assert _mapped(into.objects[0]) == own
    into.objects[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    override = next(o for o in bpy.context.scene.objects if o.override_library is not None and o.type == "ARMATURE")
    setattr(override.pose.bones["head"], control_rig.MAP, "ctl-neck")
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    override = next(o for o in bpy.context.scene.objects if o.override_library is not None and o.type == "ARMATURE")
    assert _mapped(override) == own | {"head": "ctl-neck"}


def test_a_control_that_is_named_in_vain_is_refused(puppet):
    setattr(puppet.pose.bones["head"], control_rig.MAP, "ctl-haed")
    before = tools.file_state()
    with pytest.raises(errors.CoreError, match="Bone 'head' is to be moved by 'ctl-haed', which"):
        jobs.read(bpy.context, puppet, situation.named("chest_front"))
    assert tools.differences(before, tools.file_state()) == []


def _switching(puppet, frames):
    """Another control for the left hand, to which the clip goes over within the frames."""
    bpy.ops.object.mode_set(mode="EDIT")
    edit = puppet.data.edit_bones
    old, new = edit["ctl-hand.L"], edit.new("other")
    new.head, new.tail, new.roll, new.use_deform, new.parent = old.head, old.tail, old.roll, False, old.parent
    bpy.ops.object.mode_set(mode="OBJECT")
    hand = puppet.pose.bones["hand.L"]
    other = hand.constraints.new("COPY_TRANSFORMS")
    other.target, other.subtarget = puppet, "other"
    for frame, value in zip(frames, np.linspace(0.0, 1.0, len(frames)), strict=True):
        for constraint, influence in ((hand.constraints[0], 1.0), (other, value)):
            constraint.influence = influence
            constraint.keyframe_insert("influence", frame=frame)


def test_a_switch_that_turns_within_the_reaction_is_respected(puppet):
    """Until it turns one control holds the hand, then the other; its keys stay as they are."""
    job = jobs.read(bpy.context, puppet, situation.named("shoulder_front"))
    turn = float(np.ceil(job.frames[0])) + 6.0
    _switching(puppet, (turn - 1.0, turn))
    job, reaction = solved(puppet, envelope=BRIEF)
    (_, before), (k, after) = job.body.stages
    assert job.frames[k] == turn
    assert "ctl-hand.L" in before.by_control and "other" not in before.by_control
    assert "other" in after.by_control and "ctl-hand.L" not in after.by_control
    assert job.posed.turn.max() < TURN and job.posed.shift.max() < SHIFT and job.posed.doubts() == []
    moved = job.posed.targets["other"].rotation is not None
    assert moved and job.posed.targets["ctl-hand.L"].rotation is not None


def test_a_switch_that_turns_slowly_is_refused_by_bone_and_property(puppet):
    first = jobs.read(bpy.context, puppet, situation.named("shoulder_front")).frames[0]
    _switching(puppet, np.arange(np.ceil(first), np.ceil(first) + 12.0))
    state = tools.file_state()
    with pytest.raises(errors.CoreError, match="Bone 'hand.L' changes its switch .*influence.* at too many frames"):
        solved(puppet)
    assert tools.differences(state, tools.file_state()) == []


def test_finding_controls_tells_the_artist_and_changes_nothing(puppet):
    bpy.context.view_layer.objects.active = puppet
    told, found = controls_panel.look(bpy.context, puppet)
    assert "controls move the" in told
    assert found["hand.L"][-1] == "ctl-hand.L" and "ctl-forearm.L" in found["hand.L"]
    state = tools.file_state()
    assert bpy.ops.parametric_dynamics.find_controls() == {"FINISHED"}
    assert tools.differences(state, tools.file_state()) == []


def test_a_rig_whose_bones_move_by_themselves_needs_no_controls(fresh_scene):
    rig = demo_character.build(bpy.context)
    body = control_rig.read(bpy.context, rig)
    assert not body.controlled and body.skeleton is body.whole and body.fixed == {}
