"""An object that is elsewhere from one frame to the next: what comes before and after goes on as one motion."""

from dataclasses import replace

import numpy as np
import pytest

from core.blows import Hit
from core.cuts import astray, carried, check_near, gone_on, in_bones, spliced, until
from core.errors import ClipError
from core.rotation import angle, exp, multiply, rotate
from core.skeleton import Clip

FPS, SIZE = 24.0, 1.7
FRAMES = np.unique(np.round(np.concatenate((np.arange(49.0), np.arange(0.0, 48.0, FPS / 60.0))), 6))
FALLS = np.clip(FRAMES - 10.0, 0.0, FPS) / FPS
UP, WAY = np.array([0.0, 0.0, 1.0]), np.array([7.0, -2.0, 1.0])


def clip_of(place, turn):
    """A figure of 1.7 m whose object goes along places (T, 3) and turns (T, 4)."""
    bones = np.zeros((len(FRAMES), 2, 3)) + [[0.0, 0.0, 0.0], [0.0, 0.0, 1.7]]
    q = np.zeros((len(FRAMES), 2, 4)) + [1.0, 0.0, 0.0, 0.0]
    return Clip(FPS, FRAMES, q, bones, turn, place)


def walk():
    """One that goes straight on at 1.5 m/s."""
    place = np.stack((0.3 + 0 * FRAMES, 1.5 * FRAMES / FPS, 0 * FRAMES), axis=-1)
    return clip_of(place, exp(0.4 * UP + 0 * place))


def cut(clip, part):
    """The clip with so much (T,) of a cut: it is turned about the vertical and carried along `WAY`."""
    by = exp(part[:, None] * 2.0 * UP)
    place = rotate(by, clip.object_position) + part[:, None] * WAY
    return clip_of(place, multiply(by, clip.object_rotation))


@pytest.mark.parametrize("way", ("held", "baked"))
@pytest.mark.parametrize("frame", (20.0, 26.4))
def test_what_was_cut_goes_on(way, frame):
    """Before a cut that comes after the moment and after one that comes before it nothing moves; the rest follows."""
    whole = np.ceil(frame)
    part = frame <= FRAMES if way == "held" else np.clip(FRAMES - whole + 1.0, 0.0, 1.0)
    shown, meant = cut(walk(), part.astype(float)), walk()
    found, frames = spliced(shown, 0, SIZE, 12.0 / FPS)
    assert frames == [frame if way == "held" else whole]
    assert angle(found.object_rotation, meant.object_rotation).max() < 1e-7
    np.testing.assert_allclose(found.object_position, meant.object_position, atol=1e-12)
    np.testing.assert_array_equal(found.position, shown.position)
    after, _ = spliced(shown, 0, SIZE, 30.0 / FPS)
    moved = cut(meant, np.ones(len(FRAMES)))
    assert angle(after.object_rotation, moved.object_rotation).max() < 1e-7
    np.testing.assert_allclose(after.object_position, moved.object_position, atol=1e-12)


def test_several():
    """Of two cuts, a second apart, each is taken out."""
    shown = cut(walk(), (FRAMES >= 10.0) + 1.0 * (FRAMES >= 34.0))
    found, frames = spliced(shown, 0, SIZE, 0.0)
    assert frames == [10.0, 34.0]
    np.testing.assert_allclose(found.object_position, walk().object_position, atol=1e-12)


@pytest.mark.parametrize("place", (
    5.0 / FPS * np.floor(FRAMES / 4.0) * 4.0,  # a run on fours
    0.1 * (FRAMES >= 20.0),  # a nudge
    np.maximum(FRAMES - 20.0, 0.0) * 60.0 / FPS,  # a train
    8.0 * np.clip((FRAMES - 20.0) / 3.0, 0.0, 1.0),  # a dash of 64 m/s, which lasts three frames
    13.01 * np.sin(np.pi * FRAMES / 48.0),  # a roller coaster that is so fast for half a frame, at both ends
    10.9 * FALLS + 4.9 * FALLS**2,  # a fall that ends at 20.7 m/s
), ids=("steps", "nudge", "train", "dash", "coaster", "fall"))  # fmt: skip
def test_motions(place):
    """What is quick, or goes in steps, is no cut."""
    clip = clip_of(place[:, None] * [0.0, 1.0, 0.0], exp(0.0 * FRAMES[:, None] * UP))
    found, frames = spliced(clip, 0, SIZE, 0.0)
    assert frames == []
    np.testing.assert_array_equal(found.object_position, clip.object_position)


def test_moments_all_but_the_same():
    """A hit's frame of many digits beside the sample there: a place 1e-6 m on, as Blender rounds, is no jump."""
    frames = np.sort(np.append(FRAMES, 25.6 + 3e-7))
    still = np.zeros((len(frames), 3, 4)) + [1.0, 0.0, 0.0, 0.0]
    place = (frames * 5.0 / FPS + 1e-6 * (frames > 25.6))[:, None] * [0.0, 1.0, 0.0]
    assert spliced(Clip(FPS, frames, still[:, 1:], 0.0 * still[:, 1:, 1:], still[:, 0], place), 0, SIZE, 0.0)[1] == []


def test_bones():
    """Where bones jump and their object doesn't, they are what goes on; a bone above them stays."""
    shown = cut(walk(), 1.0 * (FRAMES >= 20.0))
    place, turn = np.array([3.0, 1.0, 0.5]), exp(np.array([0.1, -0.2, 0.7]))
    rotation = np.stack((np.tile([1.0, 0.0, 0.0, 0.0], (len(FRAMES), 1)), shown.object_rotation), axis=1)
    position = np.stack((0.0 * shown.object_position, shown.object_position), axis=1)
    still = np.tile(turn, (len(FRAMES), 1)), np.tile(place, (len(FRAMES), 1))
    clip = Clip(FPS, FRAMES, rotation, position, *still, scale=-0.5)
    found, frames = spliced(clip, 1, SIZE, 0.0)
    assert frames == [20.0]
    bones = in_bones(found, clip, SIZE)
    for name in ("object_rotation", "object_position"):
        np.testing.assert_array_equal(getattr(bones, name), getattr(clip, name))
    np.testing.assert_allclose(bones.position[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(bones.world_position()[:, 1], found.world_position()[:, 1], atol=1e-12)
    assert np.linalg.norm(np.diff(bones.position[:, 1], axis=0), axis=-1).max() < 2.0 / FPS
    assert np.linalg.norm(np.diff(clip.position[:, 1], axis=0), axis=-1).max() > 5.0


@pytest.mark.parametrize("far", (0.0, 30.0))
@pytest.mark.parametrize("jump", (0.37, 1.4))
def test_all_that_hangs_on_a_body_goes_on_with_it(far, jump):
    """Also a foot that swings on as a loop begins anew, so that it jumps less than the body, however small that jump
    is, and however far off the root bone they all are."""
    since = (FRAMES / FPS + 0.5) % 1.0
    way = far + jump * since
    course = np.stack((0.0 * way, way, way, way + 0.6 * np.sin(2.0 * np.pi * since)), axis=-1)
    position = course[..., None] * [0.0, 1.0, 0.0] + np.array([0.0, 1.0, 1.7, 0.1])[:, None] * UP
    still = np.zeros((len(FRAMES), 5, 4)) + [1.0, 0.0, 0.0, 0.0]
    clip = Clip(FPS, FRAMES, still[:, 1:], position, still[:, 0], np.zeros((len(FRAMES), 3)))
    found, frames = spliced(clip, 1, SIZE, 0.0)
    assert frames == [12.0, 36.0]
    bones = in_bones(found, clip, SIZE)
    np.testing.assert_array_equal(bones.position[:, 0], clip.position[:, 0])
    own = clip.position - clip.position[:, 1:2]
    np.testing.assert_allclose((bones.position - bones.position[:, 1:2])[:, 1:], own[:, 1:], atol=1e-12)
    np.testing.assert_allclose(np.diff(bones.position[:, 1, 1]), jump * np.diff(FRAMES) / FPS, atol=1e-12)


def test_a_cut_is_told():
    """By the frame that begins after it; a clip without one is itself, and says no more than it did."""
    whole = walk()
    assert gone_on(whole, 0, SIZE, 0.0) is whole
    shown = replace(cut(whole, (FRAMES >= 10.4) + 1.0 * (FRAMES >= 34.0)), warnings=("So it was.",))
    found = gone_on(shown, 0, SIZE, 0.0)
    text = "The character jumps at frame 11 and 1 times more, as at a cut: the reaction goes on there as if it had not "
    assert found.warnings == ("So it was.", text + "moved.")
    np.testing.assert_allclose(found.object_position, whole.object_position, atol=1e-12)
    np.testing.assert_array_equal(found.rotation, shown.rotation)


def test_what_stays_where_it_is_goes_with_the_clip_from_then_on():
    """Up to the moment, that included, as if it had not jumped, and so where the clip is then."""
    shown = cut(walk(), 1.0 * (FRAMES >= 20.0))
    at = 30.0 / FPS
    found = until(spliced(shown, 0, SIZE, at)[0], shown, at)
    moved = cut(walk(), np.ones(len(FRAMES)))
    np.testing.assert_allclose(found.object_position, moved.object_position, atol=1e-12)
    early = until(spliced(shown, 0, SIZE, 10.0 / FPS)[0], shown, 10.0 / FPS)
    np.testing.assert_allclose(early.object_position, shown.object_position, atol=1e-12)
    later = spliced(cut(walk(), 1.0 * (FRAMES >= 34.0)), 0, SIZE, 12.0 / FPS)[0]
    both = until(later, cut(walk(), 1.0 * (FRAMES >= 34.0)), 12.0 / FPS)
    jumps = np.linalg.norm(np.diff(both.object_position, axis=0), axis=-1)
    assert np.flatnonzero(jumps > 1.0).tolist() == [int(np.flatnonzero(FRAMES >= 34.0)[0]) - 1]


def test_a_hit_goes_along():
    """With the object it is told beside: a quarter turn to the left and 2 m along x, 3 m up."""
    whole = walk()
    hit = Hit(20.0, direction=np.array([0.0, 1.0, 0.0]), origin=np.array([1.3, 20.0 * 1.5 / FPS, 1.0]), ground=0.1)
    place = rotate(exp(np.pi / 2.0 * UP), whole.object_position - whole.object_position[0]) + [2.0, 0.0, 3.0]
    other = clip_of(place, multiply(exp(np.pi / 2.0 * UP), whole.object_rotation))
    assert carried(hit, whole, whole) is hit
    there = carried(hit, whole, other)
    np.testing.assert_allclose(there.direction, [-1.0, 0.0, 0.0], atol=1e-12)
    at = other.object_position[FRAMES == 20.0][0]
    np.testing.assert_allclose(there.origin, at + [0.0, 1.0, 1.0], atol=1e-12)  # it was 1 m along x beside it
    assert there.ground == pytest.approx(3.1)
    bare = carried(Hit(20.0), whole, other)
    assert (bare.direction, bare.origin, bare.ground) == (None, None, None)


@pytest.mark.parametrize("way", ("straight", "held", "longer"))
@pytest.mark.parametrize("off", (3.0, 300.0))
def test_a_key_astray(way, off):
    """Of one frame, its neighbours joined with it by straight lines, or held: the body goes on past it."""
    whole = walk()
    out = np.clip(1.0 - np.abs(FRAMES - 20.0), 0.0, 1.0)
    part = {"straight": out, "held": (FRAMES >= 20.0) & (FRAMES < 21.0), "longer": np.abs(FRAMES - 21.0) < 1.3}[way]
    moved = whole.object_position + off * (part * 1.0)[:, None] * [0.6, 0.0, 0.8]
    shown = clip_of(moved, whole.object_rotation)
    found, frames = astray(shown, 0, SIZE)
    if way == "longer":  # three frames: a shot of its own, or what jumps about
        assert frames == [] and found is shown
        return
    assert frames == [20.0]
    np.testing.assert_allclose(found.object_position, whole.object_position, atol=1e-9)
    told = gone_on(shown, 0, SIZE, 10.0 / FPS)
    np.testing.assert_allclose(told.object_position, whole.object_position, atol=1e-9)
    assert told.warnings[0].startswith("The character is off at frame 20, as by a key that is astray: the reaction")


@pytest.mark.parametrize("place", (
    0.5 * np.abs(np.sin(np.pi * FRAMES / 6.0)),  # to and fro, four times a second
    0.12 * np.clip(1.0 - np.abs(FRAMES - 20.0), 0.0, 1.0),  # a jerk
    5.0 / FPS * np.floor(FRAMES / 4.0) * 4.0,  # on fours
    8.0 * (FRAMES >= 20.0),  # a cut
), ids=("to and fro", "jerk", "steps", "cut"))  # fmt: skip
def test_what_no_key_leads_astray(place):
    clip = clip_of(place[:, None] * [0.0, 1.0, 0.0], exp(0.0 * FRAMES[:, None] * UP))
    found, frames = astray(clip, 0, SIZE)
    assert frames == [] and found is clip


def test_what_is_too_far_away_is_refused():
    """A value of 1e30 of a single key: where Blender shows things to 2 cm, nothing can be laid on."""
    whole = walk()
    names = [str(bone) for bone in range(whole.position.shape[1])]
    check_near(whole, names, SIZE)
    whole.position[FRAMES == 20.0, 1] = 1e30
    with pytest.raises(ClipError, match="^At frame 20 bone '1' is too far away to be shown. Repair the keys"):
        check_near(whole, names, SIZE)
