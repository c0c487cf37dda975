"""Reactions on control rigs: a generated Rigify human, and small rigs made here whose controls are known.

Rigify ships with Blender in every build the tests run in; where a Blender lacks it these tests say so.
"""

import addon_utils
import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, blending, hints, layer, mapping, report
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core import progress, situation
from bl_ext.user_default.parametric_dynamics.core.pose import Envelope
from bl_ext.user_default.parametric_dynamics.core.rotation import exp, to_matrix

from tests.blender import layer_tools as tools
from tests.blender import rigify_walk
from tests.blender.acceptance_tools import between

HAS_RIGIFY = any(module.__name__ == "rigify" for module in addon_utils.modules())
TURN, SHIFT = 0.5, 2.0  # [deg], [mm on a figure of 1.75 m]
HUMAN = 1750.0
BRIEF = Envelope(0.0, 0.1, 0.4)  # half of the frames that a preset takes

pytestmark = pytest.mark.skipif(not HAS_RIGIFY, reason="this Blender comes without the Rigify add-on")


@pytest.fixture
def walker(fresh_scene):
    return rigify_walk.walking()


def solved(rig, name, **changes):
    job = jobs.read(bpy.context, rig, situation.named(name).with_changes(**changes))
    return job, progress.run(job.solve())


def simulated(job, reaction):
    """(K, n, 3, 3) orientations and (K, n, 3) heads of the job's bones in the rig's space, as simulated."""
    clip = jobs.pick(job.clip, job.keyed)
    q, p = mapping.armature_poses(job.actor, clip, *reaction.poses(clip))
    return to_matrix(q), p


def unit(matrices):
    axes = matrices[..., :3, :3]
    return axes / np.linalg.norm(axes, axis=-2, keepdims=True)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("shoulder_front", {"envelope": BRIEF}),
        pytest.param("shoulder_front", {}, marks=pytest.mark.one_blender),
        pytest.param("chest_back", {}, marks=pytest.mark.one_blender),
        pytest.param("leg_front", {}, marks=pytest.mark.one_blender),
    ],
    ids=["shoulder_front, brief", "shoulder_front", "chest_back", "leg_front"],
)
def test_deforming_bones_follow_the_simulation(walker, name, changes):
    bones = rigify_walk.deforming(walker)
    first, last = walker.animation_data.action.frame_range
    state = tools.file_state()
    job, reaction = solved(walker, name, **changes)
    moments = report.moments(job)
    original = report.original(bpy.context, job, moments)
    assert tools.differences(state, tools.file_state()) == []  # nothing is written yet
    outside = np.concatenate((np.arange(first, job.frames[0]), np.arange(np.ceil(job.frames[-1]), last + 3.0)))
    before = rigify_walk.shown(walker, bones, outside)
    clip = rigify_walk.shown(walker, bones, job.frames)
    layer_name = job.write(bpy.context, reaction)
    np.testing.assert_allclose(rigify_walk.shown(walker, bones, outside), before, atol=2e-6)

    moving = [job.actor.skeleton.names.index(job.actor.names[i]) for i in np.flatnonzero(reaction.moving)]
    names = [job.actor.skeleton.names[i] for i in moving]
    assert len(names) >= 20 and set(names) <= set(bones)
    seen = rigify_walk.shown(walker, names, job.frames)
    turn, head = simulated(job, reaction)
    off = between(unit(seen), turn[:, moving])
    away = np.linalg.norm(seen[..., :3, 3] - head[:, moving], axis=-1) / job.actor.anatomy.size * HUMAN
    print(name, "worst", off.max(), "deg", away.max(), "mm")
    assert off.max() <= TURN, names[int(off.max(axis=0).argmax())]
    assert away.max() <= SHIFT, names[int(away.max(axis=0).argmax())]
    told = report.measured(job, reaction, moments, original, report.shown(bpy.context, job, moments.all))["pose_error"]
    assert told["max_deg"] == pytest.approx(off.max(), abs=0.03)
    assert told["max_mm"] == pytest.approx(away.max(), abs=0.1)
    assert 0.0 < told["mean_deg"] < told["max_deg"] and told["frame"] in job.frames
    moved = between(unit(rigify_walk.shown(walker, bones, job.frames)), unit(clip)).max()
    assert moved > 10.0  # the match is no match with the clip

    layer.remove(bpy.context, walker, layer_name)
    bpy.context.scene.frame_set(1)
    assert tools.differences(state, tools.file_state()) == []


def test_switches_say_which_controls_are_written(walker):
    """Legs by IK, arms by FK, as the switches stand; with the left arm on IK its IK control gets the keys."""
    job, reaction = solved(walker, "shoulder_front", envelope=BRIEF)
    written = {name for name, target in job.posed.targets.items() if _moves(job, name, target)}
    assert {"torso", "foot_ik.L", "foot_ik.R", "upper_arm_fk.L", "forearm_fk.L", "head"} <= written
    assert not written & {"hand_ik.L", "hand_ik.R", "upper_arm_ik.L", "thigh_fk.L", "shin_fk.R", "root"}
    walker.pose.bones["upper_arm_parent.L"]["IK_FK"] = 0.0
    walker.pose.bones["hand_ik.L"].location = (0.0, -0.15, -0.1)
    walker.update_tag()
    job, reaction = solved(walker, "shoulder_front", envelope=BRIEF)
    written = {name for name, target in job.posed.targets.items() if _moves(job, name, target)}
    assert "hand_ik.L" in written and not written & {"upper_arm_fk.L", "forearm_fk.L", "hand_ik.R"}


def _moves(job, name, target):
    """Whether a control is turned or shifted by more than round-off."""
    i, frames = job.channels.names.index(name), job.keyed
    shifted = 0.0 if target.location is None else np.abs(target.location - job.channels.location[frames, i]).max()
    return target.rotation is not None or shifted > 1e-4


def test_the_animator_can_still_pose(walker):
    """Keys of the walk changed by 20 degrees turn the arm under the reaction; a free control moves at once."""
    job, reaction = solved(walker, "chest_front", envelope=BRIEF)
    job.write(bpy.context, reaction)
    frame = float(job.frames[-1]) + 1.0
    arm = ["DEF-forearm.R"]
    for at in (job.frames[10], frame):
        before = rigify_walk.shown(walker, arm, [at])
        walk = bpy.data.actions["Rigify Walk"]
        with _turned(walk, "forearm_fk.R", np.radians(20.0)):
            after = rigify_walk.shown(walker, arm, [at])
        assert between(unit(after), unit(before))[0, 0] == pytest.approx(20.0, abs=1.5)
        np.testing.assert_allclose(rigify_walk.shown(walker, arm, [at]), before, atol=1e-6)
    bpy.context.scene.frame_set(int(job.frames[8]))
    before = _now(walker, "DEF-breast.L")
    walker.pose.bones["breast.L"].rotation_euler.x += 0.3
    bpy.context.view_layer.update()
    assert between(unit(_now(walker, "DEF-breast.L")), unit(before)) == pytest.approx(np.degrees(0.3), abs=1e-3)


def _now(rig, bone):
    return np.array(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone].matrix, dtype=np.float64)


class _turned:
    """While it lasts, every key of a bone's quaternion in an action is turned about the bone's x."""

    def __init__(self, action, bone, angle):
        path = 'pose.bones["{}"].rotation_quaternion'.format(bone)
        self.curves = sorted(
            (c for c in actions.all_curves(action) if c.data_path == path), key=lambda c: c.array_index
        )
        self.angle = angle

    def __enter__(self):
        self._turn(self.angle)

    def __exit__(self, *_):
        self._turn(-self.angle)

    def _turn(self, angle):
        c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
        for keys in zip(*(curve.keyframe_points for curve in self.curves), strict=True):
            w, x, y, z = (key.co[1] for key in keys)
            for key, value in zip(keys, (w * c - x * s, x * c + w * s, y * c + z * s, z * c - y * s), strict=True):
                key.co[1] = value
        for curve in self.curves:
            curve.update()


def test_a_dropped_solve_leaves_nothing_behind(walker):
    bpy.context.scene.frame_set(7)
    state = tools.file_state()
    job = jobs.read(bpy.context, walker, situation.named("shoulder_front"))
    steps = job.solve()
    while next(steps) < 0.5:
        pass
    steps.close()
    assert bpy.context.scene.frame_current == 7
    assert tools.differences(state, tools.file_state()) == []
    for until in (0.3, 0.8):  # reading the clip, trying controls out
        steps, seen = jobs.reading(bpy.context, walker, situation.named("shoulder_front")), [0.0]
        while seen[-1] < until:
            seen.append(next(steps))
        assert seen == sorted(seen)
        steps.close()
        assert bpy.context.scene.frame_current == 7
        assert tools.differences(state, tools.file_state()) == []


def test_fewer_keys(walker):
    """Off the full bake by the tolerance at most, in the armature, on every bone that deforms: also between frames."""
    job, reaction = solved(walker, "shoulder_front", envelope=BRIEF)
    bones, seen, keys = rigify_walk.deforming(walker), [], []
    looks = np.arange(job.frames[0] - 1.0, job.frames[-1] + 1.0, 0.125)
    for tolerance in (0.0, 0.5, 1.0):
        name = job.write(bpy.context, reaction, key_tolerance=tolerance)
        seen.append(unit(rigify_walk.shown(walker, bones, looks)))
        action = walker.parametric_dynamics_reactions[name].action
        keys.append(sum(len(curve.keyframe_points) for curve in actions.all_curves(action)))
        layer.remove(bpy.context, walker, name)
    for tolerance, thinned in zip((0.5, 1.0), seen[1:], strict=True):
        assert 0.05 < between(seen[0], thinned).max() <= tolerance
    assert keys[2] < keys[1] < 0.75 * keys[0]


def test_fewer_keys_of_a_blend(walker):
    """Controls one on the other: together they leave the bones within the tolerance, as a reaction's do."""
    frames = np.arange(0.0, 25.0)
    sway = np.sin(2.0 * np.pi * frames / 12.0)[:, None]
    turns = {"upper_arm_fk.R": [0.3, 0.0, 0.2], "forearm_fk.R": [0.6, 0.0, 0.5], "hand_fk.R": [0.5, 0.0, 0.0]}
    turns |= {"chest": [0.2, 0.1, 0.0], "hips": [0.0, 0.1, 0.0]}
    curves = []
    for bone, vector in turns.items():
        path, q = actions.bone_path(bone, "rotation_quaternion"), exp(sway * vector)
        curves += [actions.Curve(actions.Channel(path, i), bone, q[:, i]) for i in range(4)]
    actions.create("Greet", walker, curves, frames)[0].use_fake_user = True
    bones, looks, seen, keys = rigify_walk.deforming(walker), np.arange(9.0, 36.0, 0.25), [], []
    for tolerance in (0.0, 0.5):
        made = blending.read(bpy.context, walker, blending.Wish("Greet", frame=10.0, key_tolerance=tolerance))
        name = made.write(bpy.context)
        seen.append(unit(rigify_walk.shown(walker, bones, looks)))
        curves = actions.all_curves(walker.parametric_dynamics_reactions[name].action)
        keys.append(sum(len(curve.keyframe_points) for curve in curves))
        layer.remove(bpy.context, walker, name)
    assert 0.05 < between(*seen).max() <= 0.5 and keys[1] < 0.75 * keys[0]


def test_life_after_apply(walker):
    """A marker dragged, Update, Flatten: on controls as on bones."""
    group, ops, looks = walker.parametric_dynamics, bpy.ops.parametric_dynamics, np.arange(18.0, 36.0)
    group.automatic_frame, group.frame, group.sustain, group.relaxation = False, 20.0, 0.1, 0.3
    bones = rigify_walk.deforming(walker)
    clip = rigify_walk.shown(walker, bones, looks)
    ops.apply_hit_reaction()
    record = walker.parametric_dynamics_reactions[0]
    record.action.pose_markers[0].frame += 3
    assert [hint.cure for hint in hints.of(bpy.context, walker)] == ["UPDATE"]
    ops.update_reaction(source="RECIPE")
    record = walker.parametric_dynamics_reactions[0]
    assert hints.of(bpy.context, walker) == [] and record.action.frame_range[0] == 23.0
    moved = rigify_walk.shown(walker, bones, looks)
    away = np.linalg.norm(moved[..., :3, 3] - clip[..., :3, 3], axis=-1).max(axis=1)
    assert away[looks <= 23.0].max() < 1e-5 and away[looks > 23.0].max() > 0.05
    assert ops.flatten() == {"FINISHED"}
    assert walker.animation_data.action.name == "Rigify Walk flat" and not len(walker.parametric_dynamics_reactions)
    np.testing.assert_allclose(rigify_walk.shown(walker, bones, looks), moved, atol=1e-5)


def test_size_does_not_matter(walker):
    """With the object a hundred times as large the body does the same, and its controls bring it there as near."""
    turns = []
    for scale in (1.0, 100.0):
        walker.scale = [scale] * 3
        bpy.context.view_layer.update()
        job, reaction = solved(walker, "chest_back", envelope=Envelope(0.0, 0.1, 0.2))
        turns.append(simulated(job, reaction)[0])
        assert job.posed.turn.max() <= TURN and 1e3 * job.posed.shift.max() <= SHIFT
        assert {"chest", "torso", "upper_arm_fk.L"} <= job.posed.targets.keys()
    assert between(*turns).max() < 0.05
