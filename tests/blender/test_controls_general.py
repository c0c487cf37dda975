"""Control rigs that are not Rigify's: CloudRig as its authors made it, and small rigs whose controls are known."""

import math

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import (
    control_rig,
    controls,
    controls_panel,
    demo_character,
    layer_keys,
    mapping,
    sampling,
)
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import errors, progress, situation
from bl_ext.user_default.parametric_dynamics.core.pose import Envelope

from tests.blender import layer_tools as tools
from tests.blender.rig_tables import CLOUDRIG

TURN, SHIFT = 0.5, 2e-3  # [deg], [m on a figure of 1.75 m]


def solved(rig, name="shoulder_front", **changes):
    job = jobs.read(bpy.context, rig, situation.named(name).with_changes(**changes))
    return job, progress.run(job.solve())


def shown(rig, names, frames):
    out = []
    for frame in frames:
        tools.set_frame(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        out.append(np.array([seen.pose.bones[name].matrix for name in names], dtype=np.float64))
    return np.stack(out)


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
    job, reaction = solved(rig)
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


@pytest.fixture
def puppet(fresh_scene):
    """The demo's walk on copies of its bones ("ctl-..."), which the deforming bones follow by Copy Transforms."""
    rig = demo_character.build(bpy.context)
    names = [bone.name for bone in rig.data.bones]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    edit = rig.data.edit_bones
    for name in names:
        bone, control = edit[name], edit.new("ctl-" + name)
        control.head, control.tail, control.roll = bone.head, bone.tail, bone.roll
        control.use_deform = False
        control.parent = edit["ctl-" + bone.parent.name] if bone.parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for curve in list(tools.actions.all_curves(rig.animation_data.action)):
        curve.data_path = curve.data_path.replace('pose.bones["', 'pose.bones["ctl-')
    for name in names:
        rig.pose.bones["ctl-" + name].rotation_mode = rig.pose.bones[name].rotation_mode
        if rig.data.bones[name].use_deform:
            constraint = rig.pose.bones[name].constraints.new("COPY_TRANSFORMS")
            constraint.target, constraint.subtarget = rig, "ctl-" + name
    bpy.context.view_layer.update()
    return rig


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
    with pytest.raises(errors.CoreError, match="leave bone 'upper_arm.L' .* degrees and .* at frame .* weakly"):
        solved(puppet, "shoulder_back", impulse=40.0)
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
    job, reaction = solved(puppet)
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


BRIEF = Envelope(0.0, 0.1, 0.3)


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


class TestFewerKeys:
    """What guards the bake that is thinned by what the deforming bones show."""

    @pytest.fixture
    def solved_puppet(self, puppet):
        return solved(puppet, envelope=BRIEF)

    @pytest.fixture
    def careless(self, monkeypatch):
        """Keys are left out as if ten times the tolerance were allowed, whatever is asked back."""
        thin = layer_keys.thin
        monkeypatch.setattr(layer_keys, "thin", lambda *args: thin(*args[:3], 10.0 * args[3], args[4], {}))

    @pytest.mark.parametrize("listed", (True, False))
    def test_where_no_control_mends_a_bone_every_frame_is_keyed(self, solved_puppet, careless, monkeypatch, listed):
        job, reaction = solved_puppet
        rig, bones = bpy.data.objects[job.armature], list(job.body.skeleton.names)
        name = job.write(bpy.context, reaction)
        full = shown(rig, bones, job.frames)
        tools.layer.remove(bpy.context, rig, name)
        if not listed:
            monkeypatch.setattr(control_rig.Body, "by_control", {})
        name = job.write(bpy.context, reaction, key_tolerance=0.5)
        np.testing.assert_allclose(shown(rig, bones, job.frames), full, atol=1e-6)
        assert [made.name for made in tools.layer.reactions(rig)] == [name]
        told = [text for text in job.warnings if "every frame has its key" in text]
        assert len(told) == 1 and any("'{}'".format(bone) in told[0] for bone in bones)

    @pytest.mark.parametrize("good", (0, 1))
    def test_a_failure_leaves_no_layer(self, solved_puppet, monkeypatch, good):
        """Reading what is shown fails after the full bake, or after the thinned one."""
        job, reaction = solved_puppet
        tools.set_frame(1)
        state, read, calls = tools.file_state(), sampling.sample_scene, []

        def failing(*args):
            calls.append(args)
            if len(calls) > good:
                raise RuntimeError("out of memory")
            return read(*args)

        monkeypatch.setattr(sampling, "sample_scene", failing)
        with pytest.raises(RuntimeError, match="out of memory"):
            job.write(bpy.context, reaction, key_tolerance=0.5)
        tools.set_frame(1)
        assert tools.differences(state, tools.file_state()) == []

    def test_what_is_replaced_is_mute_while_it_is_measured(self, solved_puppet, monkeypatch):
        """The same reaction over itself: measured as alone, and the old one plays on until it is removed."""
        job, reaction = solved_puppet
        rig, read, seen = bpy.data.objects[job.armature], sampling.sample_scene, []

        def noted(*args):
            seen.append(read(*args))
            return seen[-1]

        monkeypatch.setattr(sampling, "sample_scene", noted)
        first = job.write(bpy.context, reaction, key_tolerance=0.5)
        alone = len(seen)
        job.write(bpy.context, reaction, key_tolerance=0.5, over=first)
        assert alone >= 2 and len(seen) == 2 * alone
        for before, after in zip(seen[:alone], seen[alone:], strict=True):
            np.testing.assert_allclose(after[0], before[0], atol=1e-5)
        assert len(tools.layer.reactions(rig)) == 2
        assert not any(strip.mute for track in rig.animation_data.nla_tracks for strip in track.strips)
