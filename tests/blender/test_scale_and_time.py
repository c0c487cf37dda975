"""Scenes as animators have them: odd scales, rates, time maps and strips.

Exact outside of the reaction, alike inside it.
"""

import bpy
import numpy as np
import pytest
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, report
from bl_ext.user_default.parametric_dynamics.blender_addon import job as jobs
from bl_ext.user_default.parametric_dynamics.core.progress import run
from bl_ext.user_default.parametric_dynamics.core.react import Hit
from bl_ext.user_default.parametric_dynamics.core.rotation import exp, rotate
from bl_ext.user_default.parametric_dynamics.core.situation import named

from .interface_tools import OPS
from .layer_tools import differences, farthest, file_state, joints, set_frame

HIT = 8.0
STRONG = 60.0  # [N s] with which arms turn far: twice what the preset has


def spread(rig, frames, clip):
    """(K,) how far the reaction takes the farthest joint [mm at human size]."""
    return np.linalg.norm(joints(rig, frames) - clip, axis=-1).max(axis=(1, 2))


def react(rig, frame=HIT, stretch=1.0):
    """The greatest displacement [mm] of `course`."""
    return float(np.max(course(rig, frame, stretch)[1]))


def course(rig, frame=HIT, stretch=1.0):
    """Apply, see that nothing moves outside, remove, see that all is as before; frames and their displacement [mm].

    frame: of the action.  stretch: frames of the scene for one of an action.
    """
    render = bpy.context.scene.render
    end = frame + np.ceil(0.35 * render.fps / render.fps_base / stretch) + 1.0
    frames = np.concatenate((np.arange(np.floor(frame) - 4.0, end + 6.0), [frame - 0.5, frame + 1.5, end + 1.25]))
    set_frame(1)
    state, clip = file_state(), joints(rig, frames * stretch)
    set_frame(1)
    assert OPS.apply_hit_reaction(frame=frame) == {"FINISHED"}
    moved = spread(rig, frames * stretch, clip)
    action = rig.parametric_dynamics_reactions[0].action
    outside = (frames <= action.frame_range[0]) | (frames >= action.frame_range[1])
    assert outside.sum() >= 8 and np.max(moved[outside]) < 0.01
    OPS.remove_all()
    set_frame(1)
    assert differences(state, file_state()) == []
    assert farthest(joints(rig, frames * stretch), clip) < 0.01
    return frames[~outside], moved[~outside]


@pytest.fixture(scope="module")
def usual(template):
    """What the hit does in a plain scene [mm]."""
    most = react(template("demo"))
    assert most > 30.0
    return most


def retime(factor):
    """The demo's clip at another rate: its keys stand farther apart by this."""
    for curve in actions.all_curves(bpy.data.actions["Walk"]):
        for key in curve.keyframe_points:
            key.co.x = 1.0 + (key.co.x - 1.0) * factor
            key.handle_left.x = 1.0 + (key.handle_left.x - 1.0) * factor
            key.handle_right.x = 1.0 + (key.handle_right.x - 1.0) * factor
        curve.update()


@pytest.mark.parametrize("fps, base", ((24, 1.001), (25, 1.0), (30, 1.0), (60, 1.001), (120, 1.0)))
def test_rates(usual, demo, fps, base):
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, base
    factor = fps / base / 24.0
    retime(factor)
    found = react(demo, 1.0 + (HIT - 1.0) * factor)
    assert found == pytest.approx(usual, rel=0.05)  # the peak itself falls between frames, elsewhere at each rate


@pytest.mark.parametrize("scale", (0.01, 100.0, -1.0))
def test_object_scales(usual, demo, scale):
    demo.scale = (scale,) * 3
    bpy.context.view_layer.update()
    assert react(demo) == pytest.approx(usual, rel=0.1 if scale < 0 else 0.02)  # mirrored: the other arm is struck


def test_uneven_scale(demo):
    demo.scale = (1.0, 1.0, 1.5)
    bpy.context.view_layer.update()
    assert react(demo) > 20.0


def test_unit_scale(usual, demo):
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert react(demo) == pytest.approx(usual, rel=1e-3)


def test_bone_scale_animated(demo):
    bone = demo.pose.bones["spine.02"]
    for frame, size in ((1, 1.0), (12, 1.2), (24, 1.0)):
        bone.scale = (size,) * 3
        bone.keyframe_insert("scale", frame=frame)
    assert react(demo) > 20.0


def test_negative_frames(usual, demo):
    for curve in actions.all_curves(bpy.data.actions["Walk"]):
        for key in curve.keyframe_points:
            key.co.x -= 100.0
            key.handle_left.x -= 100.0
            key.handle_right.x -= 100.0
        curve.update()
    assert react(demo, HIT - 100.0) == pytest.approx(usual, rel=1e-3)


def test_between_frames(usual, demo):
    assert react(demo, 8.37) == pytest.approx(usual, rel=0.1)


@pytest.mark.parametrize("new", (50, 150))
def test_time_stretched(demo, new):
    """A clip whose keys stand closer by as much as the scene's time is stretched plays, and reacts, as before.

    With 16 keys a second a peak between them is cut off: compared is where both have keys.
    """
    want = dict(zip(*course(demo), strict=True))
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, new
    retime(100.0 / new)
    frame = 1.0 + (HIT - 1.0) * 100.0 / new
    others, found = course(demo, frame, new / 100.0)
    at = 1.0 + (others - 1.0) * new / 100.0
    both = [(x, want[round(a)]) for a, b, x in zip(at, others, found, strict=True)
            if abs(a - round(a)) + abs(b - round(b)) < 1e-6 and round(a) in want]  # fmt: skip
    assert len(both) > 2
    found, want = np.array(both).T
    assert want.max() > 30.0
    np.testing.assert_allclose(found, want, atol=0.03 * want.max())


@pytest.mark.parametrize("change", ("scale", "reversed", "repeated", "offset"))
def test_strips(demo, change):
    data = demo.animation_data
    action = data.action
    strip = data.nla_tracks.new().strips.new("Walk", 1, action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = data.action_slot
    data.action = None
    if change == "scale":
        strip.scale = 1.7
    elif change == "reversed":
        strip.use_reverse = True
    elif change == "repeated":
        strip.repeat = 3.0
    else:
        strip.frame_start_ui = -20.0
        strip.repeat = 3.0
    assert react(demo) > 20.0


ALIKE = {  # other values of the same rotation
    "a turn": ("XYZ", ((1.0, 0.0), (1.0, 0.0), (1.0, 2.0 * np.pi))),
    "past the pole": ("XYZ", ((1.0, -np.pi), (-1.0, np.pi), (1.0, -np.pi))),  # by less than half a turn each
    "sign": ("QUATERNION", ((-1.0, 0.0),) * 4),
}


@pytest.mark.parametrize("way", ALIKE)
def test_keys_that_jump_between_frames_to_what_shows_the_same(demo, way, capfd):
    """At whole frames such a clip is what it was, so its reaction is that of one without the jump."""
    mode, others = ALIKE[way]
    bone, prop = demo.pose.bones["upper_arm.L"], "rotation_" + ("euler" if mode == "XYZ" else "quaternion")
    curves = rekeyed(bone, mode, prop)
    shown = np.arange(2.0, 24.0)
    OPS.apply_hit_reaction()
    smooth = joints(demo, shown)
    OPS.remove_all()
    capfd.readouterr()
    for curve, (times, more) in zip(curves, others, strict=True):
        for key in [key for key in curve.keyframe_points if key.co.x > 12.5]:
            key.co.y = times * key.co.y + more
        curve.update()
    OPS.apply_hit_reaction()
    told = capfd.readouterr()
    assert "Keys of bone 'upper_arm.L' jump by half a turn or more between frames 12 and 13:" in told.out + told.err
    assert farthest(joints(demo, shown), smooth) < 0.5  # half-way by quaternions instead of by curves


def solved(rig):
    """(Job, Reaction) of a hit on the shoulder."""
    job = jobs.read(bpy.context, rig, named("shoulder_front"), Hit(HIT, impulse=STRONG))
    return job, run(job.solve())


@pytest.mark.one_blender
def test_on_twos(demo):
    """Such a clip reacts as the motion from which its poses were taken, and no sooner or later."""
    _, smooth = solved(demo)
    usual = course(demo)
    for curve in actions.all_curves(bpy.data.actions["Walk"]):
        curve.modifiers.new("STEPPED").frame_step = 2.0
    job, stepped = solved(demo)
    assert any(text.startswith("Stepped keys of bone 'pelvis' and ") for text in job.warnings)
    assert stepped.substeps < 1.05 * smooth.substeps
    times = smooth.times[smooth.times < stepped.times[-1]]
    turns = [np.degrees(reaction.deviation(times)[0]) for reaction in (smooth, stepped)]
    assert np.linalg.norm(turns[0], axis=-1).max() > 20.0
    assert np.linalg.norm(turns[1] - turns[0], axis=-1).max() < 0.5
    np.testing.assert_allclose(course(demo)[1], usual[1], atol=0.1 * usual[1].max())


@pytest.fixture(scope="module")
def walking(template):
    """The course of the hit in a plain scene, as it is keyed: what COMBINE makes of small turns is good to 0.2 mm."""
    return course(replacing(template("demo")))[1]


def replacing(rig):
    rig.parametric_dynamics.blend = "REPLACE"
    return rig


def cut(rig, frame, what="object"):
    """Let the object or its root bone be elsewhere from a frame on, as at a cut."""
    moved = rig if what == "object" else rig.pose.bones["root"]
    moved.rotation_mode = "XYZ"
    up = 2 if what == "object" else 1
    for at, place, turn in ((1, 0.0, 0.0), (frame, 9.0, 2.0)):
        moved.location.x, moved.rotation_euler[up] = place, turn
        moved.keyframe_insert("location", frame=at)
        moved.keyframe_insert("rotation_euler", frame=at)
    for curve in actions.all_curves(rig.animation_data.action):
        if what == "object" and "bones" not in curve.data_path or '"root"' in curve.data_path:
            for key in curve.keyframe_points:
                key.interpolation = "CONSTANT"


@pytest.mark.one_blender
@pytest.mark.parametrize("what", ("object", "root"))
def test_cut(demo, walking, what, capfd):
    """A character that is elsewhere from one frame to the next, as between two shots or where a loop begins anew."""
    cut(demo, 14.0, what)
    capfd.readouterr()
    np.testing.assert_allclose(course(replacing(demo))[1], walking, rtol=5e-3, atol=0.1)
    told = capfd.readouterr()
    assert "The character jumps at frame 14, as at a cut" in told.out + told.err


@pytest.mark.one_blender
@pytest.mark.parametrize("what", ("object", "pelvis"))
def test_a_key_astray(demo, walking, what, capfd):
    """30 m off for a frame, as a marker that is lost leaves it: it had been told to lower the blow."""
    moved = demo if what == "object" else demo.pose.bones["pelvis"]
    for frame in range(1, 25):
        set_frame(frame)
        moved.location = moved.location
        moved.keyframe_insert("location", frame=frame)
    path = moved.path_from_id("location") if what == "pelvis" else "location"
    curve = next(c for c in actions.all_curves(demo.animation_data.action) if (c.data_path, c.array_index) == (path, 0))
    for key in curve.keyframe_points:
        key.co.y += 30.0 * (key.co.x == 11.0)
        key.interpolation = "LINEAR"
    curve.update()
    capfd.readouterr()
    np.testing.assert_allclose(course(replacing(demo))[1], walking, rtol=5e-3, atol=0.1)
    told = capfd.readouterr()
    assert "The character is off at frame 11, as by a key that is astray" in told.out + told.err


@pytest.mark.one_blender
def test_a_cut_near_the_end_is_no_error(demo):
    """Where the clip goes on for us after it, bones are expected as the turned object has them."""
    cut(demo, 21.0)
    for curve in actions.all_curves(demo.animation_data.action):
        for modifier in list(curve.modifiers):
            curve.modifiers.remove(modifier)
    job = jobs.read(bpy.context, demo, named("shoulder_front"), Hit(18.0))
    at = report.moments(job)
    before, reaction = report.original(bpy.context, job, at), run(job.solve())
    job.write(bpy.context, reaction)
    told = report.measured(job, reaction, at, before, report.shown(bpy.context, job, at.all))
    assert at.after[0] > job.source.until and max(told["peak_deg"].values()) > 10.0
    assert told["return_error_deg"] < 0.01


@pytest.mark.one_blender
def test_who_is_knocked_out_after_a_cut_falls_where_he_is_then(demo):
    """Not where he was before it, when another blow hit him."""
    cut(demo, 14.0)
    job = jobs.read(bpy.context, demo, named("shoulder_front"), Hit(8.0), further=((named("knock_out"), Hit(18.0)),))
    seen, *simulated = (clip.world_position()[clip.frames >= 18.0][0] for clip in (job.shown, job.clip, job.smooth))
    assert np.abs(seen[:, 0] - 9.0).max() < 1.0
    for places in simulated:
        np.testing.assert_allclose(places, seen, atol=0.01)
    goes_on = np.linalg.norm(np.diff(job.clip.world_position(), axis=0), axis=-1)
    assert goes_on[job.clip.frames[1:] <= 19.0].max() < 0.2


@pytest.mark.one_blender
def test_a_blow_after_a_cut_comes_from_where_it_is_told(demo):
    """It strikes the body as it stands then, and is shown there."""
    cut(demo, 14.0)
    way, later = np.array([0.6, 0.0, 0.8]), ((named("chest_front"), Hit(18.0, direction=[0.6, 0.0, 0.8])),)
    job = jobs.read(bpy.context, demo, named("shoulder_front"), Hit(8.0), further=later)
    reaction = run(job.solve())
    first, last = reaction.blows
    after = exp(np.array([0.0, 0.0, 2.0]))
    np.testing.assert_allclose(rotate(after, last.direction), way, atol=5e-3)  # the pelvis turns in that frame, too
    np.testing.assert_allclose(job.seen(last).direction, way, atol=1e-4)
    np.testing.assert_array_equal(job.seen(first).direction, first.direction)
    assert [round(report.struck_point(job, blow)[0]) for blow in (first, last)] == [0, 9]


def rekeyed(bone, mode, prop):
    """The curves of a bone's rotation with a key at every frame, in a mode."""
    rig, turns = bone.id_data, []
    for frame in range(1, 30):
        set_frame(frame)
        turns.append(bone.matrix_basis.to_quaternion())
    bone.rotation_mode = mode
    for frame, turn in enumerate(turns, 1):
        setattr(bone, prop, turn if mode == "QUATERNION" else turn.to_euler(mode))
        bone.keyframe_insert(prop, frame=frame)
    found = [c for c in actions.all_curves(rig.animation_data.action) if c.data_path == bone.path_from_id(prop)]
    for key in (key for curve in found for key in curve.keyframe_points):
        key.interpolation = "LINEAR"
    return found
