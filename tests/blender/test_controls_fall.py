"""Control rigs that are knocked out, and get up by an action keyed on their controls."""

import addon_utils
import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, control_rig, leading, posing, takeover
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.blender_addon.puppet import Puppet
from bl_ext.user_default.parametric_dynamics.core import errors, probing, progress, situation
from bl_ext.user_default.parametric_dynamics.core.pose import Envelope
from bl_ext.user_default.parametric_dynamics.core.rotation import exp, to_matrix

from tests.blender import layer_tools as tools
from tests.blender import rigify_walk
from tests.blender.interface_tools import OPS

HAS_RIGIFY = any(module.__name__ == "rigify" for module in addon_utils.modules())
TURN, SHIFT = 0.5, 2e-3  # [deg], [m on a figure of 1.75 m]


def values(action, frame):
    """(path, index) -> value of every curve of an action at a frame."""
    return {(c.data_path, c.array_index): c.evaluate(frame) for c in actions.all_curves(action)}


def alone(rig, action, bones, frames):
    """What an action shows by itself on a rig whose animation is put back."""
    data = rig.animation_data
    before = data.action, data.use_nla, actions.slot_identifier(data)
    data.use_nla = False
    for bone in rig.pose.bones:  # what the action doesn't key is at rest
        bone.location, bone.rotation_euler, bone.rotation_quaternion = (0.0,) * 3, (0.0,) * 3, (1.0, 0.0, 0.0, 0.0)
    actions.assign(data, action, action.slots[0].identifier if actions.LAYERED else "")
    seen = rigify_walk.shown(rig, bones, frames)
    data.use_nla = before[1]
    actions.assign(data, before[0], before[2])
    return seen


def relative(matrices):
    """Matrices (T, n, 4, 4) as the first bone sees them."""
    return np.linalg.inv(matrices[:, :1]) @ matrices


@pytest.mark.one_blender
@pytest.mark.skipif(not HAS_RIGIFY, reason="this Blender comes without the Rigify add-on")
def test_rigify_falls_on_its_back_and_gets_up(fresh_scene):
    """By the panel, of two actions that which lies face up; in the end the layer is that action, moved at the root."""
    rig = rigify_walk.walking()
    up, push = rigify_walk.get_up(rig), rigify_walk.get_up(rig, face_up=False)
    bones, scene = rigify_walk.deforming(rig), bpy.context.scene
    scene.frame_end = 200
    tools.set_frame(1)
    group = rig.parametric_dynamics
    group.situation, group.then, group.then_or, group.then_seconds = "knock_out", push, up, 0.5
    state = tools.file_state()
    assert OPS.apply_hit_reaction(frame=29.0) == {"FINISHED"}
    layer = rig.parametric_dynamics_reactions[0].action
    first, last = layer.frame_range
    frames = np.arange(last - 20.0, last + 3.0)
    shown = rigify_walk.shown(rig, bones, np.concatenate((frames, np.arange(29.0, last))))
    since = 72.0 - (last - frames[:21])  # the action's frames: its last one is held
    own = alone(rig, bpy.data.actions[up], bones, np.append(since, [72.0, 72.0]))
    np.testing.assert_allclose(relative(shown[:23]), relative(own), atol=1e-4)
    moved = shown[:23, 0] @ np.linalg.inv(own[:, 0])
    np.testing.assert_allclose(moved, moved[:1].repeat(23, axis=0), atol=1e-4, err_msg="moved as one piece")
    np.testing.assert_allclose(moved[0, 2], [0.0, 0.0, 1.0, moved[0, 2, 3]], atol=1e-4, err_msg="upright")
    assert abs(moved[0, 2, 3]) < 0.02, "on the floor"
    assert np.linalg.norm(moved[0, :2, 3]) > 0.3, "where the body lies"
    keyed, played = values(layer, last), values(bpy.data.actions[up], 72.0)
    assert all(abs(keyed[channel] - value) < 1e-4 for channel, value in played.items())
    assert any('"root"' in path for path, _ in keyed)
    steps = np.linalg.norm(np.diff(shown[23:, :, :3, 3], axis=0), axis=-1) * scene.render.fps
    assert steps.max() < 9.0, "no bone jumps"
    assert OPS.remove_reaction() == {"FINISHED"}
    tools.set_frame(1)
    assert tools.differences(state, tools.file_state()) == []


def test_controls_that_fall_keep_to_the_simulation(puppet):
    """To the end, and with all that the clip keys, an extra control too, which stands still with the body."""
    bpy.ops.object.mode_set(mode="EDIT")
    prop = puppet.data.edit_bones.new("prop")
    prop.head, prop.tail, prop.use_deform = (0.0, 1.0, 0.0), (0.0, 1.0, 0.1), False
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, height in ((1.0, 0.0), (200.0, 2.0)):
        puppet.pose.bones["prop"].location.z = height
        puppet.pose.bones["prop"].keyframe_insert("location", frame=frame)
    job = jobs.read(bpy.context, puppet, situation.named("knock_out"))
    job.write(bpy.context, progress.run(job.solve()))
    assert job.posed.turn.max() < TURN and job.posed.shift.max() < SHIFT
    frames = [float(job.frames[-1]), float(job.frames[-1]) + 40.0]
    names = ["prop", *job.actor.skeleton.names]
    seen = rigify_walk.shown(puppet, names, frames)
    np.testing.assert_allclose(seen[1], seen[0], atol=1e-5)


@pytest.mark.one_blender
def test_a_fall_that_controls_can_not_show_says_how_to_bake_it(puppet, monkeypatch):
    """IK right on bones that deform doesn't fold them as a limp body does; a reaction that returns has other cures."""
    monkeypatch.setattr(posing, "LOST", -1.0)
    bake = "Bake Action with Visual Keying and Clear Constraints"
    for name, cure in (("knock_out", bake), ("chest_front", "weakly")):
        job = jobs.read(bpy.context, puppet, situation.named(name))
        state = tools.file_state()
        with pytest.raises(errors.CoreError, match=cure):
            progress.run(job.solve())
        assert tools.differences(state, tools.file_state()) == []


@pytest.mark.one_blender
def test_knees_that_fold_by_ik(open_file, data):
    """Blender's IK finds no deep fold from a straight leg, nor where the rig locks an axis: that is said by name."""
    robot = open_file(data / "3_odd_rigs/RobotExpressive.blend")[0]
    idle, legs = bpy.data.actions["Robot_Idle"], ("UpperLeg.L", "LowerLeg.L", "UpperLeg.R", "LowerLeg.R")
    actions.assign(robot.animation_data, idle, idle.slots[0].identifier if actions.LAYERED else "")
    knock = situation.named("knock_out").with_changes(direction=(1.0, 0.0, 0.0))
    job = jobs.read(bpy.context, robot, knock)
    said = r"locked axes \('LowerLeg.([LR])', 'UpperLeg.\1'\).*: unlock those.* Or bake the clip"
    with pytest.raises(errors.CoreError, match=said):
        progress.run(job.solve())
    for bone in (robot.pose.bones[name] for name in legs):
        bone.lock_ik_x = bone.lock_ik_y = bone.lock_ik_z = False
    job = jobs.read(bpy.context, robot, knock)
    job.write(bpy.context, progress.run(job.solve()))
    assert job.posed.turn.max() < 2.0 and job.posed.shift.max() < 8e-3
    along = rigify_walk.shown(robot, legs, job.frames)[:, :, :3, 1]
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    bent = np.degrees(np.arccos(np.einsum("tkj,tkj->tk", along[:, ::2], along[:, 1::2])))
    assert (bent.max(axis=0) > 135.0).all() and np.abs(np.diff(bent, axis=0)).max() < 30.0


def leg_by_ik(iterations):
    """A leg of a thigh and a shin half as long again, which IK bends to a foot, with a pole in front of its knee."""
    places = {"hip": (2.0, 2.1), "thigh": (2.0, 1.4), "shin": (1.4, 0.5), "foot": (0.5, 0.4), "pole": (1.4, 1.5)}
    rig = bpy.data.objects.new("Leg", bpy.data.armatures.new("Leg"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = {name: rig.data.edit_bones.new(name) for name in places}
    for name, bone in bones.items():
        bone.head, bone.tail = ((0.0, -1.0 if name == "pole" else 0.0, z) for z in places[name])
    bones["thigh"].parent, bones["shin"].parent = bones["hip"], bones["thigh"]
    bpy.ops.object.mode_set(mode="OBJECT")
    ik = rig.pose.bones["shin"].constraints.new("IK")
    ik.target, ik.subtarget, ik.pole_target, ik.pole_subtarget = rig, "foot", rig, "pole"
    ik.chain_count, ik.pole_angle, ik.iterations = 2, -np.pi / 2.0, iterations
    return rig, ik


@pytest.mark.one_blender
@pytest.mark.parametrize("iterations", [20, 500])
def test_a_knee_with_a_pole_begins_where_ik_finds_every_fold(fresh_scene, iterations):
    """As FK has it, with foot and pole where that brings them; above 132 degrees that is behind the thigh's root."""
    rig, ik = leg_by_ik(iterations)
    with Puppet(bpy.context, rig, ("hip", "thigh", "shin"), 1.0) as puppet:
        rest, index = puppet.at(1.0).base, puppet.index
        matrices = puppet.matrices()
        for fold in (10.0, 60.0, 90.0, 110.0, 125.0, 130.0, 132.0, 135.0, 150.0):
            ik.mute, values = True, {rna: array.copy() for rna, array in rest.items()}
            puppet.turn(values, index["thigh"], to_matrix(exp(np.array([0.4, -0.8, 0.5]))))
            puppet.turn(values, index["shin"], to_matrix(exp(np.radians([fold, 0.0, 0.0]))))
            puppet.stand(values)
            goal = puppet.show()
            moves = goal[2] @ np.linalg.inv(matrices)
            with_leg = {"foot": "shin", "pole": "thigh"}
            to = {name: moves[index[up]] @ matrices[index[name]] for name, up in with_leg.items()}
            values = puppet.carried(to, goal[2])
            ik.mute = False
            for bone in leading.folded(puppet):
                puppet.turn(values, index[bone.name], bone.begin(goal[0]))
            puppet.stand(values)
            off = probing.difference(puppet.show(), goal, 1.0)
            assert np.abs(off).max() < 2e-3, fold


def test_what_begins_as_ik_should_end(character):
    """Bones of the chain whose parents are known; none whose locks keep it from keys: what is solved is what shows."""
    leg = character.pose.bones["foot.L"].constraints.new("IK")
    leg.target, leg.subtarget, leg.use_tail, leg.chain_count = character, "root", False, 2
    with Puppet(bpy.context, character, ("pelvis", "thigh.L", "shin.L", "thigh.R"), 0.2) as held:
        assert {bone.name for bone in leading.folded(held)} == {"thigh.L", "shin.L"}
        character.pose.bones["shin.L"].lock_rotation[1] = True
        assert [bone.name for bone in leading.folded(held)] == ["thigh.L"]
        leg.mute = True
        assert leading.folded(held) == ()


def test_a_hinge_alone_is_no_cause(character):
    leg = character.pose.bones["foot.L"].constraints.new("IK")
    leg.target, leg.subtarget, leg.use_tail, leg.chain_count = character, "root", False, 2
    character.pose.bones["shin.L"].lock_ik_y = character.pose.bones["shin.L"].lock_ik_z = True
    assert leading.locked(character) == {}
    character.pose.bones["thigh.L"].lock_ik_y = True
    assert leading.locked(character) == dict.fromkeys(("shin.L", "thigh.L"), ["shin.L", "thigh.L"])


def test_a_control_rig_goes_over_to_another_action(puppet):
    """While a reaction fades: to the same walk with the head turned, whose control it is that turns."""
    action = puppet.animation_data.action
    other = action.copy()
    other.name, other.use_fake_user = "Look", True
    for curve in list(actions.all_curves(other)):
        if '"ctl-head"' in curve.data_path and "rotation" in curve.data_path:
            for point in curve.keyframe_points:
                point.co.y = point.handle_left.y = point.handle_right.y = (0.96, 0.0, 0.28, 0.0)[curve.array_index]
    brief = situation.named("shoulder_front").with_changes(envelope=Envelope(0.0, 0.2, 0.6))
    tools.set_frame(1)
    state = tools.file_state()
    job = jobs.read(bpy.context, puppet, brief, then=(("Look",), 0.3))
    reaction = progress.run(job.solve())
    assert tools.differences(state, tools.file_state()) == []
    assert job.posed.turn.max() < TURN and job.posed.shift.max() < SHIFT
    name = job.write(bpy.context, reaction)
    layer = puppet.parametric_dynamics_reactions[name].action
    last = layer.frame_range[1]
    head = [values(layer, last)[(actions.bone_path("ctl-head", "rotation_quaternion"), i)] for i in range(4)]
    np.testing.assert_allclose(np.abs(head), (0.96, 0.0, 0.28, 0.0), atol=1e-4)
    tools.layer.remove(bpy.context, puppet, name)
    tools.set_frame(1)
    assert tools.differences(state, tools.file_state()) == []


def test_an_action_shows_what_its_own_switches_say(puppet):
    """A hand that the action lets go of its control hangs as its own channels have it; the switch is put back."""
    action = puppet.animation_data.action
    held = puppet.pose.bones["hand.L"].constraints[0]
    loose = action.copy()
    loose.name, loose.use_fake_user = "Loose", True
    puppet.animation_data.action = loose
    held.influence = 0.0
    held.keyframe_insert("influence", frame=1)
    held.influence = 1.0
    actions.assign(puppet.animation_data, action, action.slots[0].identifier if actions.LAYERED else "")
    tools.set_frame(1)
    held.influence = 1.0
    state, body = tools.file_state(), control_rig.read(bpy.context, puppet)
    (tight, _), (free, played) = (takeover.read(bpy.context, puppet, body, n, 1.0) for n in (action.name, "Loose"))
    assert tools.differences(state, tools.file_state()) == []
    hand, forearm = (body.skeleton.names.index(name) for name in ("hand.L", "forearm.L"))
    np.testing.assert_allclose(free.position[:, forearm], tight.position[:, forearm], atol=1e-5)
    assert np.abs(free.rotation[:, hand] - tight.rotation[:, hand]).max() > 0.05
    assert len(played.tops) >= 1 and all(name.startswith("ctl-") for name in played.tops)


def test_what_nothing_carries_goes_along(puppet):
    """A hand's control without a parent beside a body that hangs on one: two move all."""
    bpy.ops.object.mode_set(mode="EDIT")
    puppet.data.edit_bones["ctl-hand.L"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    job = jobs.read(bpy.context, puppet, situation.named("knock_out"))
    found = job.body.stages[0][1]
    with Puppet(bpy.context, puppet, found.names, posing.SPAN * job.body.anatomy.size) as held:
        held.use(found.blocks)
        held.at(1.0)
        tops = leading.tops(held, [bone.name for bone in puppet.pose.bones if bone.name.startswith("ctl-")])
    assert set(tops) & {"ctl-hand.L"} and len(tops) == 2


def test_what_a_constraint_carries_is_not_moved_twice(puppet):
    """A hand's control without a parent that a Child Of hangs on the forearm's, looked at before what carries it."""
    bpy.ops.object.mode_set(mode="EDIT")
    puppet.data.edit_bones["ctl-hand.L"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    hung = puppet.pose.bones["ctl-hand.L"].constraints.new("CHILD_OF")
    hung.target, hung.subtarget = puppet, "ctl-forearm.L"
    names = ["ctl-hand.L", *(bone.name for bone in puppet.pose.bones if bone.name.startswith("ctl-"))]
    with Puppet(bpy.context, puppet, ("pelvis", "hand.L"), 0.2) as held:
        held.at(1.0)
        taken = leading.carriers(held, list(dict.fromkeys(names)))
    assert len(taken) == 1 and taken[0] != "ctl-hand.L"
