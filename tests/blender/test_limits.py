"""The artist's own limits on bones: read as Blender means them, kept by reactions, told."""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import (
    checklist,
    cli,
    control_rig,
    inspection,
    layer,
    limits,
    mapping,
    memory,
    report,
    rig,
)
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import eulers
from bl_ext.user_default.parametric_dynamics.core.anatomy import analyse
from bl_ext.user_default.parametric_dynamics.core.pose import Envelope
from bl_ext.user_default.parametric_dynamics.core.progress import run
from bl_ext.user_default.parametric_dynamics.core.rotation import angle
from bl_ext.user_default.parametric_dynamics.core.situation import named
from bl_ext.user_default.parametric_dynamics.core.stops import FREE, LOCKED, Stops, nearest
from mathutils import Quaternion

from .interface_tools import OPS, cures
from .layer_tools import set_frame

FRAMES = range(8, 22)
SHORT = {"envelope": Envelope(0.0, 0.1, 0.4)}


def limit(bone, degrees, axes="xyz", space="LOCAL", **values):
    """A Limit Rotation of the same range either way."""
    constraint = bone.constraints.new("LIMIT_ROTATION")
    constraint.owner_space = space
    for axis in axes:
        setattr(constraint, "use_limit_" + axis, True)
        setattr(constraint, "min_" + axis, -np.radians(degrees))
        setattr(constraint, "max_" + axis, np.radians(degrees))
    for name, value in values.items():
        setattr(constraint, name, value)
    return constraint


def read(armature):
    """(stops, warnings) of an armature as it is now."""
    bpy.context.view_layer.update()
    skeleton = rig.read(bpy.context, armature)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return limits.read(shown, skeleton, analyse(skeleton), rig.constraint_owners(shown))


def turns(armature, names):
    """(T, m, 4) of the bones off their rest pose against their parents, as Blender shows them."""
    out = []
    for frame in FRAMES:
        set_frame(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        out.append([_own_turn(bones[name]) for name in names])
    return np.array(out)


def _own_turn(bone):
    rest = bone.bone.parent.matrix_local.inverted() @ bone.bone.matrix_local
    return list((rest.inverted() @ bone.parent.matrix.inverted() @ bone.matrix).to_quaternion().normalized())


def stops_of(stop):
    axes = np.array([["XYZ".index(c) for c in stop.order]])
    ranges = np.array(stop.ranges)[axes[0]]
    identity = np.array([[1.0, 0.0, 0.0, 0.0]])
    return Stops(np.array([0]), identity, axes, ranges[None, :, 0], ranges[None, :, 1], np.array([True]))


def test_what_is_read_does_what_blender_does(demo, rng):
    """Any pose under any Limit Rotation: what we make of it is what Blender shows."""
    bone = demo.pose.bones["head"]
    constraint = limit(bone, 10.0)
    demo.animation_data_clear()
    worst = 0.0
    for order in ("AUTO", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX") * 4:
        bone.rotation_mode = str(rng.choice(["QUATERNION", "YZX", "XYZ"]))
        bone.rotation_quaternion = Quaternion(rng.normal(size=4)).normalized()
        bone.rotation_euler = rng.uniform(-3.0, 3.0, 3)
        constraint.euler_order = order
        low, width = rng.uniform(-3.0, 1.0, 3), rng.uniform(0.05, 3.5, 3)
        used = rng.random(3) < 0.7
        used[0] = True
        for axis, a, b, on in zip("xyz", low, width, used, strict=True):
            for name, value in (("min_", a), ("max_", a + b), ("use_limit_", bool(on))):
                setattr(constraint, name + axis, value)
        bpy.context.view_layer.update()
        stops = stops_of(limits.said(demo, ["head"], {})[0]["head"])
        basis = np.array([bone.matrix_basis.to_quaternion().normalized()])
        angles = nearest(stops.angles(basis), stops.low, stops.high)
        if abs(np.cos(angles[0, 1])) < 1e-3:  # two axes meet: Blender's angles are round-off
            continue
        kept = stops.rotations(np.clip(angles, stops.low, stops.high))[0]
        shown = demo.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["head"]
        worst = max(worst, float(angle(kept, np.array(_own_turn(shown)))))
    assert np.degrees(worst) < 1e-3


def test_sources_and_what_goes_before_what(demo):
    neck, head, arm = (demo.pose.bones[name] for name in ("neck", "head", "forearm.L"))
    neck.use_ik_limit_x, neck.ik_min_x, neck.ik_max_x, neck.lock_ik_y = True, -0.5, 0.25, True
    arm.rotation_mode, arm.lock_rotation = "ZXY", (False, True, False)
    limit(arm, 20.0, "xy")
    head.rotation_mode, head.lock_rotation = "QUATERNION", (True, False, False)
    demo.pose.bones["spine.01"].constraints.new("LIMIT_ROTATION")  # limits no axis
    limit(demo.pose.bones["spine.02"], 400.0).mute = True
    found, warnings = read(demo)
    r = np.radians(20.0)
    assert found["neck"].ranges == (pytest.approx((-0.5, 0.25)), LOCKED, FREE) and found["neck"].order == "XYZ"
    assert found["forearm.L"].order == "ZXY" and found["forearm.L"].ranges == (pytest.approx((-r, r)), LOCKED, FREE)
    assert found["head"].ranges == (LOCKED,) * 3  # the layer leaves such a quaternion alone
    assert set(found) == {"neck", "head", "forearm.L"} and not warnings
    text = "x -20 to 20 (constraint 'Limit Rotation'), y as the clip has it (locked rotation)"
    assert str(found["forearm.L"]) == text
    assert str(found["neck"]) == "x -28.65 to 14.32 (IK limit), y as the clip has it (IK lock)"
    assert str(found["head"]) == "x as the clip has it, y as the clip has it, z as the clip has it (locked rotation)"


UNKNOWN = {
    "a Limit Rotation that is not in Local Space": lambda bone: limit(bone, 10.0, space="POSE"),
    "a Limit Rotation with an influence below 1": lambda bone: limit(bone, 10.0, influence=0.5),
    "more than one Limit Rotation": lambda bone: [limit(bone, 10.0), limit(bone, 20.0)],
    "a Limit Rotation of legacy behaviour": lambda bone: limit(bone, 200.0, use_legacy_behavior=True),
    "limits, but no inherited rotation": lambda bone: (limit(bone, 10.0), _alone(bone)),
    "a Limit Rotation that is keyed or driven": lambda bone: limit(bone, 10.0).keyframe_insert("max_x"),
}


def _alone(bone):
    bone.bone.use_inherit_rotation = False


def test_limits_of_travel_and_of_controls_are_said_too(demo):
    for bone in (demo.pose.bones["pelvis"], demo.pose.bones["head"]):
        bone.constraints.new("LIMIT_LOCATION")
    (told,) = read(demo)[1]
    assert told.startswith("Bone 'pelvis' has a Limit Location, which the simulation doesn't know: what Blender cuts")
    for name in ("neck", "head", "hand.L", "hand.R"):
        limit(demo.pose.bones[name], 10.0)
    ((told, cure),) = limits.of_controls(demo, ("neck", "head", "hand.L", "hand.R", "pelvis"))
    assert told.startswith("Controls 'neck', 'head', 'hand.L' and 1 more have a Limit Rotation, which no simulation")
    assert cure == "Mute it where too little of the reaction shows."
    assert limits.of_controls(demo, ("pelvis",)) == []


@pytest.mark.parametrize(
    ("reason", "cure"),
    [
        ("a locked location", "Unlock it."),
        ("a head that is connected to its parent's tail", "Switch Connected off in edit mode."),
    ],
)
def test_a_pelvis_that_cannot_travel_is_said(demo, reason, cure):
    """Feet slip by what it doesn't go along: the reaction's own location of the pelvis isn't seen."""
    if "locked" in reason:
        demo.pose.bones["pelvis"].lock_location = (False, True, False)
    else:
        bpy.ops.object.mode_set(mode="EDIT")
        pelvis = demo.data.edit_bones["pelvis"]
        pelvis.parent.tail, pelvis.use_connect = pelvis.head, True
        bpy.ops.object.mode_set(mode="OBJECT")
    OPS.recognise_bones()
    end = "which the simulation doesn't know: what Blender cuts of the reaction is lost."
    (item,) = listed(demo)
    assert (item.text, item.cure) == ("Bone 'pelvis' has {}, {}".format(reason, end), cure)
    assert read(demo)[1] == [item.text + " " + cure]


def test_what_is_not_honoured_is_said(demo):
    bone = demo.pose.bones["neck"]
    for reason, put in UNKNOWN.items():
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
        put(bone)
        found, warnings = read(demo)
        assert not found and len(warnings) == 1
        assert warnings[0].startswith("Bone 'neck' has " + reason)
        end = "which the simulation doesn't know: what Blender cuts of the reaction is lost. " + _cure(reason)
        assert warnings[0].endswith(end)


def _cure(reason):
    (cure,) = [cure for known, cure in limits.CURES.items() if known.startswith(reason)]
    return cure


# -- in a reaction ---------------------------------------------------------------------------------------------------

GRAIN = 0.1  # [deg] the NLA's quaternions have a grain of 0.04 a joint, see delta.py
TIGHT, CUT = ("neck", "head", "spine.03"), "upper_arm.L"  # the walk keeps to the first; the last it goes beyond


def struck(armature):
    """(job, worst difference [deg] of what Blender shows from what was simulated) of a heavy blow, applied."""
    situation = named("chest_back").with_changes(**SHORT, taper=1.0)  # a neck as loose as its trunk
    job = jobs.read(bpy.context, armature, situation, jobs.Hit(8.0, impulse=75.0))
    reaction = run(job.solve())
    job.write(bpy.context, reaction)
    clip = jobs.pick(job.clip, job.keyed)
    q, _ = mapping.armature_poses(job.actor, clip, *reaction.poses(clip))
    shown = report.shown(bpy.context, job, job.frames)
    return job, float(np.degrees(angle(shown.clip.rotation, q)).max())


def angles(armature, names):
    """(T, m, 3) [deg] XYZ Euler angles of the bones off their rest pose, as Blender shows them."""
    return np.degrees(eulers.angles("XYZ", turns(armature, names)))


def test_a_reaction_keeps_to_the_limits_and_is_what_blender_shows(demo):
    clip = angles(demo, (*TIGHT, CUT))
    assert np.abs(clip[:, :3]).max() < 8.0 < 12.0 < np.abs(clip[:, 3]).max()
    job, wrong = struck(demo)
    free = angles(demo, (*TIGHT, CUT))
    assert wrong < GRAIN and not job.warnings
    assert np.abs(free[:, :3]).max() > 16.0 and np.abs(free[:, 3]).max() > 25.0
    layer.remove(bpy.context, demo, demo.parametric_dynamics_reactions[-1].name)
    for name in TIGHT:
        limit(demo.pose.bones[name], 10.0)
    limit(demo.pose.bones[CUT], 12.0)
    demo.pose.bones["head"].rotation_mode = "XYZ"  # its quaternion keys say nothing any more: at rest
    clip = turns(demo, (*TIGHT, CUT))
    job, wrong = struck(demo)
    assert wrong < GRAIN and not job.warnings and set(job.actor.limits) == {*TIGHT, CUT}
    kept = angles(demo, (*TIGHT, CUT))
    assert np.abs(kept[:, :3]).max() < 10.0 + 1e-3 and np.abs(kept[:, 3]).max() < 12.0 + 1e-3
    assert np.abs(kept[:, :3]).max() > 9.0  # leans on them
    assert np.degrees(angle(turns(demo, (*TIGHT, CUT)), clip)).max(axis=0).min() > 3.0  # and still moves, all of them
    layer.remove(bpy.context, demo, demo.parametric_dynamics_reactions[-1].name)
    assert np.degrees(angle(turns(demo, (*TIGHT, CUT)), clip)).max() < 1e-4


def test_locked_axes_stay_as_the_clip_has_them(demo):
    """Euler angles one by one, quaternions wholly; and what is simulated is what the layer can key."""
    neck, head = demo.pose.bones["neck"], demo.pose.bones["head"]
    neck.rotation_mode, neck.lock_rotation = "XYZ", (True, False, False)
    head.lock_rotation = (False, True, False)
    before = turns(demo, ("neck", "head"))
    job, wrong = struck(demo)
    after = turns(demo, ("neck", "head"))
    change = np.degrees(eulers.angles("XYZ", after) - eulers.angles("XYZ", before))
    assert wrong < GRAIN
    assert np.abs(change[:, 0, 0]).max() < 1e-3 and np.abs(change[:, 0, 1:]).max() > 1.0
    assert np.abs(change[:, 1]).max() < 1e-3


def cut(armature, constraint):
    """Most [deg] that Blender cuts of what the layers say of the head."""
    shown = turns(armature, ("head",))
    constraint.mute = True
    said = turns(armature, ("head",))
    constraint.mute = False
    return float(np.degrees(angle(shown, said)).max())


def test_a_reaction_is_stale_when_a_limit_has_changed(hit):
    assert "UPDATE" not in cures(hit)
    constraint = limit(hit.pose.bones["head"], 3.0)
    bpy.context.view_layer.update()
    assert "UPDATE" in cures(hit)
    assert cut(hit, constraint) > 5.0
    assert OPS.update_reaction() == {"FINISHED"} and "UPDATE" not in cures(hit)
    assert cut(hit, constraint) < GRAIN  # what was simulated is what Blender shows
    assert np.abs(angles(hit, ("head",))).max() > 2.6  # and leans on the limit
    constraint.max_x = 0.2
    bpy.context.view_layer.update()
    assert "UPDATE" in cures(hit)


def listed(armature):
    """The set-up list's items about limits."""
    bpy.context.view_layer.update()
    return [item for item in checklist.of(bpy.context, armature) if item.name == "limits"]


def test_the_list_says_what_a_reading_says(demo):
    """Each reason with its own cure; nothing is kept to that the simulation doesn't know."""
    OPS.recognise_bones()
    limit(demo.pose.bones["neck"], 10.0)
    _alone(demo.pose.bones["neck"])
    demo.pose.bones["pelvis"].constraints.new("LIMIT_LOCATION")
    items = listed(demo)
    assert [item.cure for item in items] == ["Switch Inherit Rotation on.", "Mute it."]
    assert {item.state for item in items} == {"warn"}
    assert ({}, [item.text + " " + item.cure for item in items]) == read(demo)
    owner = demo.pose.bones["forearm.L"].constraints.new("COPY_ROTATION")
    owner.target, owner.subtarget = demo, "forearm.R"
    (item,) = listed(demo)
    assert control_rig.read(bpy.context, demo).controlled
    assert item.state == "warn" and item.text.startswith("Bone 'neck' has a Limit Rotation, which no simulation of a")
    demo.pose.bones["neck"].constraints[0].mute = True
    (item,) = listed(demo)
    assert item.state == "ok" and item.text == "No control has a Limit Rotation: the usual limits are taken."


def test_limits_are_told(demo, tmp_path):
    limit(demo.pose.bones["neck"], 10.0, "z")
    memory.forget()
    OPS.recognise_bones()
    (item,) = listed(demo)
    assert item.state == "ok" and item.text == "Bone 'neck' has limits, which a reaction keeps to."
    limit(demo.pose.bones["head"], 10.0, space="WORLD")
    (item,) = listed(demo)
    assert item.state == "warn" and "'head' has a Limit Rotation that is not in Local Space" in item.text
    assert item.cure == "Set its Owner to Local Space."
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "demo.blend"))
    facts = inspection.inspect(cli.parser().parse_args(["inspect", str(tmp_path / "demo.blend")]))
    assert facts["limits"] == {"neck": "z -10 to 10 (constraint 'Limit Rotation')"}
    assert "Limit     neck           z -10 to 10" in inspection.as_text(facts)
    assert any("'head' has a Limit Rotation that is not in Local Space" in text for text in facts["warnings"])
