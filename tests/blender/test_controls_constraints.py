"""Bones that constraints and drivers hold, carry or turn: posed all the same, or refused with what moves them."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import controls_panel, demo_character, mapping
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import errors, progress, situation
from bl_ext.user_default.parametric_dynamics.core.pose import Envelope

from tests.blender import layer_tools as tools
from tests.blender.control_tools import BRIEF, SHIFT, TURN, shown, solved


def test_a_bone_that_no_control_moves_is_refused_by_constraint(puppet):
    """A forearm held by an object outside: refused with bone, constraint and cure, and nothing is changed."""
    outside = bpy.data.objects.new("Outside", None)
    bpy.context.scene.collection.objects.link(outside)
    held = puppet.pose.bones["hand.L"].constraints.new("COPY_TRANSFORMS")
    held.name, held.target = "Held Fast", outside
    bpy.context.view_layer.update()
    state = tools.file_state()
    with pytest.raises(errors.CoreError, match="'hand.L' is moved by constraint.*Mute") as refusal:
        solved(puppet)
    assert "Copy Transforms" in str(refusal.value) or "Held Fast" in str(refusal.value)
    assert tools.differences(state, tools.file_state()) == []
    puppet.pose.bones["hand.L"].dynamics_simulated = "NO"
    held.mute = True
    bpy.context.view_layer.update()
    assert solved(puppet)[0].body.fixed == {}


def test_a_bone_that_nothing_owns_and_no_control_moves_is_refused_as_that(fresh_scene):
    """A hand whose channels are locked, on a rig with a constraint on the other side."""
    rig = demo_character.build(bpy.context)
    target = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(target)
    rig.pose.bones["clavicle.R"].constraints.new("CHILD_OF").target = target
    hand = rig.pose.bones["hand.L"]
    hand.lock_rotation, hand.lock_location = (True,) * 3, (True,) * 3
    bpy.context.view_layer.update()
    with pytest.raises(errors.CoreError, match="^Bone 'hand.L' has no control. Unlock and show one, or exclude"):
        solved(rig)
    told, found = controls_panel.look(bpy.context, rig)
    assert told == "No control moves 'hand.L'. Give it one in the Bone panel, or unlock and show one."
    assert found["hand.L"] == []


def test_a_rig_without_any_free_bone_is_refused(fresh_scene):
    """Every bone copies another armature's, as retargeting leaves it."""
    rig = demo_character.build(bpy.context)
    outside = bpy.data.objects.new("Outside", None)
    bpy.context.scene.collection.objects.link(outside)
    for bone in rig.pose.bones:
        bone.constraints.new("COPY_TRANSFORMS").target = outside
    bpy.context.view_layer.update()
    with pytest.raises(errors.CoreError, match="is moved by constraint.*Mute"):
        solved(rig)


@pytest.mark.parametrize("kind", ("CHILD_OF", "FLOOR", "COPY_LOCATION", "COPY_SCALE", "COPY_ROTATION"))
def test_what_only_carries_a_bone_leaves_it_its_channels(fresh_scene, kind):
    """A spine hung on something else by a constraint is its own control: it goes where the simulation has it."""
    rig = demo_character.build(bpy.context)
    target = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(target)
    made = rig.pose.bones["spine.02"].constraints.new(kind)
    made.target = target
    if kind == "COPY_ROTATION":
        made.mix_mode = "AFTER"  # on top of what the bone does
    bpy.context.view_layer.update()
    job, _ = solved(rig, envelope=Envelope(0.0, 0.1, 0.2))
    assert job.body.controlled and "spine.02" in job.posed.targets
    assert job.posed.turn.max() < TURN and job.posed.shift.max() < SHIFT


def test_a_bone_that_is_driven_in_part_is_told_with_its_driver(fresh_scene):
    """Bones beside it bring it near, not there: the warning says what holds it."""
    rig = demo_character.build(bpy.context)
    rig.pose.bones["clavicle.L"].driver_add("rotation_quaternion", 1).driver.expression = "0.1"
    bpy.context.view_layer.update()
    job, reaction = solved(rig, envelope=Envelope(0.0, 0.1, 0.3))
    job.write(bpy.context, reaction)
    off, held = [text for text in job.warnings if "simulated pose" in text or "driver" in text]
    assert "degrees" in off
    assert held.startswith("Bone 'clavicle.L' is moved by a driver on its rotation_quaternion. Mute that")


def _looking(kind):
    """The demo character whose head a constraint turns to an empty."""
    rig = demo_character.build(bpy.context)
    target = bpy.data.objects.new("Look", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (1.0, -5.0, 1.6)
    rig.pose.bones["head"].constraints.new(kind).target = target
    bpy.context.view_layer.update()
    return rig, np.array(target.location)


@pytest.mark.parametrize("kind", ("DAMPED_TRACK", "COPY_ROTATION"))
def test_a_head_that_a_constraint_turns_is_refused_with_it_or_may_be_left_out(fresh_scene, kind):
    """Not the neck above it, which has its control: that goes where the simulation has it while the head looks on."""
    rig, target = _looking(kind)
    state = tools.file_state()
    with pytest.raises(errors.CoreError, match="Bone 'head' is moved by constraint '.*'. Mute that, or exclude"):
        solved(rig, envelope=BRIEF)
    assert tools.differences(state, tools.file_state()) == []
    hit = situation.named("shoulder_front").with_changes(envelope=BRIEF)
    job = jobs.read(bpy.context, rig, hit, settings={"head": {"simulated": False}})
    reaction = progress.run(job.solve())
    job.write(bpy.context, reaction)
    assert job.posed.turn.max() < TURN and job.posed.shift.max() < SHIFT and job.warnings == []
    assert reaction.peaks()["neck"] > 1.0 and "neck" in job.posed.targets
    if kind == "DAMPED_TRACK":
        matrix = shown(rig, ["head"], job.frames)[:, 0]
        to = target - matrix[:, :3, 3]
        axis = matrix[:, :3, 1] / np.linalg.norm(matrix[:, :3, 1], axis=-1, keepdims=True)
        away = np.linalg.norm(np.cross(axis, to / np.linalg.norm(to, axis=-1, keepdims=True)), axis=-1)
        assert np.degrees(away.max()) < 0.1


def test_what_hangs_on_a_bone_that_is_left_out_is_posed_as_ever(puppet):
    """Left out, a bone that its control moves has the clip's turn on what it hangs on, and a simulated arm on it."""
    hit = situation.named("shoulder_front").with_changes(envelope=BRIEF)
    job = jobs.read(bpy.context, puppet, hit, settings={"clavicle.L": {"simulated": False}})
    reaction = progress.run(job.solve())
    shot = jobs.pick(job.clip, job.keyed)
    _, heads = mapping.armature_poses(job.actor, shot, *reaction.poses(shot))
    job.write(bpy.context, reaction)
    arm = ["clavicle.L", "upper_arm.L", "forearm.L", "hand.L"]
    rows = [job.actor.skeleton.names.index(bone) for bone in arm]
    assert job.warnings == [] and reaction.peaks()["forearm.L"] > 5.0
    assert np.linalg.norm(shown(puppet, arm, job.frames)[..., :3, 3] - heads[:, rows], axis=-1).max() < SHIFT


def test_what_a_constraint_moves_is_told_though_others_make_up_for_it(fresh_scene):
    rig, _ = _looking("COPY_SCALE")
    made = rig.pose.bones["upper_arm.L"].constraints.new("COPY_ROTATION")
    made.target, made.influence = bpy.data.objects["Look"], 0.5
    bpy.context.view_layer.update()
    with pytest.raises(errors.CoreError, match="Bone 'upper_arm.L' is moved by constraint 'Copy Rotation'"):
        solved(rig, envelope=BRIEF)


@pytest.mark.parametrize("place", ((0.7, 1.4, 0.2), (0.35, -0.45, 1.2)), ids=("out of reach", "at hand"))
def test_an_arm_that_holds_on_to_something_is_told_with_its_constraint_or_may_be_left_out(fresh_scene, place):
    """Not the clavicle, which is its own control: an arm stretched to what is out of reach only doesn't go along."""
    rig = demo_character.build(bpy.context)
    target = bpy.data.objects.new("Rail", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = place
    made = rig.pose.bones["forearm.L"].constraints.new("IK")
    made.target, made.chain_count = target, 2
    bpy.context.view_layer.update()
    with pytest.raises(errors.CoreError, match="'(upper_arm|forearm).L' is moved by constraint 'IK'.*Mute that, or ex"):
        solved(rig)
    hit = situation.named("shoulder_front").with_changes(envelope=BRIEF)
    arm = "upper_arm.L", "forearm.L", "hand.L"
    job = jobs.read(bpy.context, rig, hit, settings={bone: {"simulated": False} for bone in arm})
    reaction = progress.run(job.solve())
    job.write(bpy.context, reaction)
    assert reaction.peaks()["clavicle.L"] > 1.0 and "clavicle.L" in job.posed.targets
