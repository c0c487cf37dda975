"""Clips on twos: what is simulated on goes smoothly through the poses that they hold."""

import numpy as np
import pytest

from core.rotation import angle, conjugate, exp, multiply, rotate
from core.skeleton import Clip
from core.stepped import LONGEST, eased

FPS = 24.0
PARENT = np.array([-1, 0, 1])
MOMENTS = np.unique(np.round(np.concatenate((np.arange(31.0), np.arange(0.0, 30.0, FPS / 60.0))), 6))


def smooth(motion, frames):
    """What a motion shows at the frames (T,)."""
    return motion(frames)


def twos(motion, frames, step=2):
    """The same of a clip that is keyed at every other frame and holds it."""
    return motion(np.floor(frames / step + 1e-9) * step)


def threes(motion, frames):
    """And at every third one."""
    return twos(motion, frames, 3)


def baked(motion, frames):
    """A clip on twos that was keyed anew at every frame, and goes straight from key to key."""
    whole = np.arange(np.ceil(frames[-1]) + 1.0)
    return np.interp(frames, whole, twos(motion, whole))


def clip_of(*shown, frames=MOMENTS):
    """An object and three bones that swing and sway, shown in one of these ways."""
    swing = [show(lambda t, i=i: 0.7 * np.sin(2.0 * np.pi * t / 24.0 + i), frames) for i, show in enumerate(shown)]
    axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [1.0, 0.0, 0.0]]
    turn = exp(np.stack(swing, axis=-1)[..., None] * axes)
    place = np.zeros((len(frames), 4, 3)) + [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.5, 0.0], [0.0, 0.5, 0.0]]
    for bone in (0, 1):
        place[:, bone, 1] += shown[bone](lambda t: 0.04 * t, frames)
    q, p = turn[:, 1:].copy(), place[:, 1:].copy()
    for bone in (1, 2):
        p[:, bone] = p[:, bone - 1] + rotate(q[:, bone - 1], p[:, bone])
        q[:, bone] = multiply(q[:, bone - 1], q[:, bone])
    return Clip(FPS, frames, q, p, turn[:, 0], place[:, 0])


def off(a, b):
    """How far two clips are apart (T, 3): turns [deg] and places [m] of the bones in the world."""
    turns = np.degrees(angle(a.world_rotation(), b.world_rotation()))
    return turns, np.linalg.norm(a.world_position() - b.world_position(), axis=-1)


SMOOTH = clip_of(*[smooth] * 4)


@pytest.mark.parametrize(("way", "step", "degrees"), ((twos, 2, 0.25), (baked, 2, 0.25), (threes, 3, 1.0)))
def test_goes_through_held_poses_as_the_motion_that_they_were_taken_from(way, step, degrees):
    stepped = clip_of(*[way] * 4)
    joined, bones = eased(stepped, PARENT)
    assert bones == [-1, 0, 1, 2]
    inside = (step <= MOMENTS) & (30.0 - step > MOMENTS)  # the last pose is held
    at_keys = inside & (MOMENTS % step == 0.0)
    assert off(stepped, SMOOTH)[0][inside].max() > 15.0
    turns, places = off(joined, SMOOTH)
    assert turns[inside].max() < degrees and places[inside].max() < 0.02 * degrees
    assert turns[at_keys].max() < 1e-9 and places[at_keys].max() < 1e-12


def test_what_does_not_jump_stays():
    joined, bones = eased(clip_of(smooth, smooth, twos, smooth), PARENT)
    assert bones == [1]
    turns, places = off(joined, SMOOTH)
    assert turns[:, 0].max() < 1e-9 and places[:, 0].max() < 1e-12
    assert turns[(MOMENTS >= 2.0) & (MOMENTS < 28.0)].max() < 0.25
    own, theirs = (multiply(conjugate(clip.rotation[:, 1]), clip.rotation[:, 2]) for clip in (joined, SMOOTH))
    assert np.max(angle(own, theirs)) < 1e-9


def at(frames):
    """A way to show a motion at other frames (T,)."""
    return lambda motion, _: motion(frames)


WITHOUT_JUMPS = {
    "moves": MOMENTS,
    "stands": 0.0 * MOMENTS,
    "moves once": np.clip(MOMENTS, 5.0, 15.0),
    "moves at its end": np.maximum(MOMENTS, 29.0),
    "straight from key to key": np.interp(MOMENTS, [0.0, 6.0, 7.0, 8.0, 30.0], [0.0, 6.0, 6.5, 9.0, 30.0]),
}


@pytest.mark.parametrize("what", WITHOUT_JUMPS)
def test_a_clip_that_does_not_jump_is_the_same(what):
    clip = clip_of(*[at(WITHOUT_JUMPS[what])] * 4)
    assert eased(clip, PARENT) == (clip, [])


@pytest.mark.parametrize(("first", "step"), [(3e-4, 0.5), (1e-3, 0.5), (3.0, 0.4995), (3.0, 0.999)])
def test_moments_close_to_each_other_make_no_hold(first, step):
    """Even samples right beside whole frames, of a hit between two or at 29.97 and 59.94 fps, and one more: a motion
    goes on."""
    frames = np.unique(np.concatenate((np.arange(31.0), np.arange(first, 30.0, step), [12.0001])))
    motion = clip_of(*[smooth] * 4, frames=frames)
    assert eased(motion, PARENT) == (motion, [])
    joined, bones = eased(clip_of(*[twos] * 4, frames=frames), PARENT)
    assert bones == [-1, 0, 1, 2]
    assert off(joined, motion)[0][(frames >= 2.0) & (frames <= 28.0)].max() < 0.25


def test_a_pose_that_is_held_for_long_stands_until_the_next_is_near():
    stepped = clip_of(*[at(np.where(MOMENTS < 20.0, 0.0, 6.0))] * 4)
    joined, _ = eased(stepped, PARENT)
    turns, _ = off(joined, stepped)
    way = (MOMENTS > 20.0 - LONGEST * FPS) & (MOMENTS < 20.0)
    assert turns[~way].max() < 1e-9
    assert turns[way][0].max() < 5.0 < 30.0 < turns[way][-1].max()
    assert np.all(np.diff(turns[way][:, 0]) > 0.0)


def at_a_foot(frames):
    """How a thigh turns in the world [rad]."""
    return 0.5 * np.sin(frames / 4.0)


def test_what_jumps_in_the_world_on_a_bone_that_moves():
    """Such as a thigh whose foot is on twos: to its parent it is never still, but others on twos say when it jumps."""
    clip, rotation = clip_of(smooth, smooth, smooth, twos), SMOOTH.rotation.copy()
    rotation[:, 1] = exp(twos(at_a_foot, MOMENTS)[:, None] * [1.0, 0.0, 0.0])
    rotation[:, 2] = multiply(rotation[:, 1], multiply(conjugate(clip.rotation[:, 1]), clip.rotation[:, 2]))
    clip = Clip(FPS, MOMENTS, rotation, clip.position, clip.object_rotation, clip.object_position)
    joined, bones = eased(clip, PARENT)
    assert bones == [1, 2]
    wanted, inside = exp(at_a_foot(MOMENTS)[:, None] * [1.0, 0.0, 0.0]), MOMENTS < 28.0  # the last pose is held
    before, after = (np.degrees(angle(wanted, q[:, 1])[inside].max()) for q in (clip.rotation, joined.rotation))
    assert before > 11.0 and after < 1.5


@pytest.mark.parametrize("back", (True, False))
def test_a_jump_among_bones_that_tremble_is_its_own(rng, back):
    """Where a recorded bone jumps, once or there and back, the others go on as they were recorded."""

    def jumps(motion, frames):
        return 0.7 * ((frames >= 15.0) & ~(back & (frames >= 18.0)))

    def twitches(motion, frames):
        return motion(frames) + 0.01 * rng.normal(size=len(frames)) + 0.1 * (frames >= 15.0)

    shown = clip_of(twitches, jumps, twitches, twitches)
    joined, bones = eased(shown, PARENT)
    assert bones == [0]
    own, theirs = (multiply(conjugate(clip.rotation[:, :-1]), clip.rotation[:, 1:]) for clip in (joined, shown))
    assert np.max(angle(own, theirs)) < 1e-7
