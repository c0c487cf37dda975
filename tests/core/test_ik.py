"""Legs closed by two-bone inverse kinematics, by plain geometry."""

import numpy as np
import pytest

from core import ik
from core.reference import to_joints, to_world
from core.rotation import angle, exp, multiply
from core.settling import SOFTER

from .figures import build
from .test_react import actor_of, standing


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def bent_leg(skeleton, by=1.2):
    actor = actor_of(skeleton)
    model = actor.model(np.ones(len(actor.names), dtype=bool), actor.first("pelvis"))
    limb = ik.Limb(*(actor.first(f"{r}.L") for r in ("thigh", "shin", "foot")), actor.hinge_axis(actor.first("shin.L")))
    q, p = to_joints(model, *(x[0][None] for x in actor.canonical(standing(skeleton, 0.5))))
    q[0, limb.lower] = multiply(q[0, limb.lower], exp(by * limb.axis))
    return model, limb, q, p


def test_two_bones_reach_their_target_and_keep_their_knee(skeleton, rng):
    model, limb, joints, at = bent_leg(skeleton)
    q, p = to_world(model, joints, at)
    before = np.cross(p[0, limb.lower] - p[0, limb.upper], p[0, limb.end] - p[0, limb.lower])
    for _ in range(30):
        target = p[:, limb.end] + 0.05 * rng.normal(size=3)
        swing, lower = ik.reach(limb, q, p, target, ik.bend(limb, q, p))
        new = joints.copy()
        ik.place(model, limb, q, new, swing, lower, q[:, limb.end])
        turned, moved = to_world(model, new, at)
        assert np.linalg.norm(moved[0, limb.end] - target[0]) < 1e-9
        assert angle(turned[0, limb.end], q[0, limb.end]) < 1e-9
        after = np.cross(moved[0, limb.lower] - moved[0, limb.upper], moved[0, limb.end] - moved[0, limb.lower])
        assert after @ before > 0.9 * np.linalg.norm(after) * np.linalg.norm(before)
        others = [i for i in range(model.n) if i not in (limb.upper, limb.lower, limb.end)]
        np.testing.assert_array_equal(new[0, others], joints[0, others])


@pytest.mark.parametrize("air", (0.0, 1.0))
@pytest.mark.parametrize("by", (-1.2, -0.6, -0.3, -0.15, -0.02, 0.0, 0.02, 0.6))
def test_a_leg_at_its_target_is_left_as_it_is(skeleton, by, air):
    """Whichever side the clip bends its knee to; and it reaches there to round-off, of which a knee near straight
    makes a hundred times as much."""
    model, limb, joints, at = bent_leg(skeleton, by)
    q, p = to_world(model, joints, at)
    way = np.linalg.norm(p[:, limb.end] - p[:, limb.upper], axis=-1)
    np.testing.assert_allclose(ik.reached(limb, p, p, p[:, limb.end], 0.1, air), way, rtol=0.0, atol=1e-14)
    swing, lower = ik.reach(limb, q, p, p[:, limb.end], ik.bend(limb, q, p))
    assert angle(swing, np.array([1.0, 0, 0, 0])) < 1e-6 and angle(lower, np.array([1.0, 0, 0, 0])) < 1e-6


@pytest.mark.parametrize("by", (-1.2, -0.6))
def test_a_knee_that_bends_the_other_way_reaches_there_too(skeleton, by):
    model, limb, joints, at = bent_leg(skeleton, by)
    q, p = to_world(model, joints, at)
    target = p[:, limb.end] + (0.02, -0.03, 0.04)
    swing, lower = ik.reach(limb, q, p, target, ik.bend(limb, q, p))
    ik.place(model, limb, q, joints, swing, lower, q[:, limb.end])
    assert np.linalg.norm(to_world(model, joints, at)[1][0, limb.end] - target[0]) < 1e-9
    assert angle(lower, swing) < 0.3


@pytest.mark.parametrize("by", (-1.2, -0.6, 0.0, 0.6))
def test_a_knee_bends_farther_to_the_side_to_which_it_is_bent(skeleton, by):
    model, limb, joints, at = bent_leg(skeleton, by)
    side, _ = ik.bend(limb, *to_world(model, joints, at))
    joints[:, limb.lower] = multiply(joints[:, limb.lower], ik.bent(limb, np.array([0.3]), side))
    more, _ = ik.bend(limb, *to_world(model, joints, at))
    np.testing.assert_allclose(more, side + (0.3 if by >= 0.0 else -0.3), atol=1e-9)


def test_a_knee_that_is_simulated_past_straight_bends_to_the_clips_side(skeleton):
    """Cyberpunk's walk: nearly straight legs, which a blow brings a little past straight."""
    model, limb, joints, at = bent_leg(skeleton, 0.08)
    clip = ik.bend(limb, *to_world(model, joints, at))
    target = to_world(model, joints, at)[1][:, limb.end]
    for by in (0.05, 0.0, -0.05):
        model, limb, joints, at = bent_leg(skeleton, by)
        q, p = to_world(model, joints, at)
        swing, lower = ik.reach(limb, q, p, target, clip)
        ik.place(model, limb, q, joints, swing, lower, q[:, limb.end])
        assert ik.bend(limb, *to_world(model, joints, at))[0] == pytest.approx(clip[0], abs=1e-6)


@pytest.mark.parametrize("aside", (-0.07, 0.07))
def test_a_knee_that_is_simulated_sideways_past_straight_turns_as_evenly(skeleton, aside):
    """In the clip's plane, which the simulated bones' own leaves there: 20 degrees in a frame on cyberpunk's walk."""
    model, limb, joints, at = bent_leg(skeleton, 0.02)
    q, p = to_world(model, joints, at)
    clip, target = ik.bend(limb, q, p), p[:, limb.end] + (0.0, 0.0, 0.06)
    across = exp(aside * np.cross(limb.axis, (0.0, 1.0, 0.0)))
    ways = []
    for by in np.linspace(0.2, -0.2, 81):
        _, _, joints, _ = bent_leg(skeleton, by)
        joints[0, limb.lower] = multiply(joints[0, limb.lower], across)
        swing, lower = ik.reach(limb, *to_world(model, joints, at), target, clip)
        ik.place(model, limb, to_world(model, joints, at)[0], joints, swing, lower, q[:, limb.end])
        ways.append(to_world(model, joints, at)[0][0, limb.lower])
    steps = [float(np.degrees(angle(*pair))) for pair in zip(ways, ways[1:], strict=False)]
    assert max(steps) < 0.1


@pytest.mark.parametrize("short", (0.0, 0.001, 0.003, 0.01))
def test_a_knee_passes_straight_as_evenly_as_in_the_clip(skeleton, short):
    """Cesium man's walk: 7.5 degrees past straight and back.  A leg 3 mm shorter snapped over within two frames, by as
    much as it may bend to either side."""
    bends, clips = [], np.radians(-7.5 + 20.0 * (1.0 + np.cos(np.linspace(0.0, 2.0 * np.pi, 61))))
    model, limb, joints, at = bent_leg(skeleton, 0.0)
    rest = float(ik.bend(limb, *to_world(model, joints, at))[0][0])
    for by in clips:
        model, limb, joints, at = bent_leg(skeleton, by - rest)
        q, p = to_world(model, joints, at)
        way = p[:, limb.upper] - p[:, limb.end]
        target = p[:, limb.end] + short * way / np.linalg.norm(way)
        swing, lower = ik.reach(limb, q, p, target, ik.bend(limb, q, p))
        ik.place(model, limb, q, joints, swing, lower, q[:, limb.end])
        turned, moved = to_world(model, joints, at)
        full = sum(np.linalg.norm(np.diff(p[0, [limb.upper, limb.lower, limb.end]], axis=0), axis=-1))
        straight = full - np.linalg.norm(target[0] - p[0, limb.upper])
        assert np.linalg.norm(moved[0, limb.end] - target[0]) < straight + 1e-9
        bends.append(float(ik.bend(limb, turned, moved)[0][0]))
    assert max(np.abs(np.diff(bends))) < 1.8 * max(np.abs(np.diff(clips)))
    assert short or bends == pytest.approx(clips.tolist(), abs=1e-6)


def test_a_knee_is_braced_about_other_axes_than_its_own(skeleton, rng):
    """The bend stays, what is across it doesn't go on growing, and a knee on its clip is left to round-off."""
    _, limb, joints, _ = bent_leg(skeleton)
    clip = joints[:, limb.lower]
    np.testing.assert_allclose(ik.braced(limb, clip, clip), clip, atol=1e-15)
    bent = multiply(clip, exp(0.7 * limb.axis))
    np.testing.assert_allclose(ik.braced(limb, clip, bent), bent, atol=1e-12)
    aside = np.cross(limb.axis, rng.normal(size=3))
    aside /= np.linalg.norm(aside)
    for across in (0.01, 0.2, 0.8):
        found = ik.braced(limb, clip, multiply(multiply(clip, exp(across * aside)), exp(0.7 * limb.axis)))
        assert angle(found, bent)[0] == pytest.approx(ik.ACROSS * np.tanh(across / ik.ACROSS), rel=1e-6)


def test_a_target_out_of_reach_is_pointed_at(skeleton):
    model, limb, joints, at = bent_leg(skeleton)
    q, p = to_world(model, joints, at)
    target = p[:, limb.upper] + np.array([0.3, -0.2, -3.0])
    swing, lower = ik.reach(limb, q, p, target, ik.bend(limb, q, p))
    ik.place(model, limb, q, joints, swing, lower, q[:, limb.end])
    _, moved = to_world(model, joints, at)
    leg, way = moved[0, limb.end] - moved[0, limb.upper], target[0] - p[0, limb.upper]
    assert np.linalg.norm(np.cross(leg, way)) < 1e-6 * np.linalg.norm(leg) * np.linalg.norm(way)


@pytest.mark.parametrize("short", (0.003, 0.01, 0.03, 0.06))
def test_a_knee_bends_as_evenly_as_in_the_clip_whose_hip_is_farther_off(short):
    """KayKit's take-off, pushed from behind: a leg that was a hundredth of its length too short for its foot waited
    nearly straight, at 0.4 of the clip's pace, and then made up for it at 1.3."""
    bends = np.radians(np.linspace(0.5, 90.0, 180))
    limb, clip = ik.Limb(0, 1, 2, np.array([0.0, 1.0, 0.0])), np.zeros((len(bends), 3, 3))
    clip[:, 0, 2], clip[:, 1, 2], clip[:, 1, 0] = np.cos(bends / 2), 0.5 * np.cos(bends / 2), 0.5 * np.sin(bends / 2)
    far = ik.reached(limb, clip, clip + (0.0, 0.0, short), clip[:, limb.end], SOFTER, 0.0)
    pace = np.diff(2.0 * np.arccos(far)) / np.diff(bends)
    assert pace.min() > 0.65 and pace.max() < 1.15
    lacks = np.cos(bends / 2) + short - far
    assert lacks.min() > -1e-12 and lacks.max() < 1.1 * short and lacks[-1] < 0.8 * short


def test_a_leg_in_the_air_is_drawn_longer():
    """By a blow along it: from 0.8 of its length, six tenths of what is left, and a third on the ground."""
    limb, clip, p = ik.Limb(0, 1, 2, np.array([0.0, 1.0, 0.0])), np.zeros((1, 3, 3)), np.zeros((1, 3, 3))
    clip[0, :, 2], clip[0, 1, 0] = (0.8, 0.4, 0.0), 0.3  # bones of 0.5 m
    p[0, :, 2], p[0, 1, 0] = (0.8, 0.4, 0.0), 0.3
    far = [ik.reached(limb, clip, p, np.array([[0.0, 0.0, -1.0]]), 1e-3, air)[0] for air in (0.0, 1.0)]
    np.testing.assert_allclose(far, 0.8 + np.array([0.33, 0.6]) * 0.19, atol=1e-3)


def test_a_leg_is_not_folded_farther_than_in_the_clip(rng):
    """Where its foot gets near to its hip it is let out, steadily, also where the foot is at the hip; nowhere else."""
    clip = rng.normal(size=(200, 3))
    clip *= rng.uniform(0.1, 0.8, (200, 1)) / np.linalg.norm(clip, axis=-1, keepdims=True)
    size, runs = np.linalg.norm(clip, axis=-1), np.ones(200)
    near = np.minimum(size, ik.NEAREST)
    assert not ik.let_out(clip, clip, 1.0, runs).any()
    far = clip * (near / size * rng.uniform(1.0, 3.0, 200))[:, None]
    np.testing.assert_allclose(ik.let_out(clip, far, 1.0, 0.0 * runs), 0.0, atol=1e-9)
    for part in (0.0, 0.3, 0.7, 0.9):
        short = part * (near / size)[:, None] * clip
        reached = np.linalg.norm(short + ik.let_out(clip, short, 1.0, 0.0 * runs), axis=-1)
        assert (reached > 0.98 * near).all() and (reached < size * 1.3).all()
    way = np.linspace(-1.0, 1.0, 2001)[:, None] * clip[:1]
    out = ik.let_out(np.broadcast_to(clip[:1], way.shape), way, 1.0, np.zeros(2001))
    assert np.linalg.norm(np.diff(out, axis=0), axis=-1).max() < 1.1 * size[0] / near[0] * 1e-3 * size[0]


def test_a_running_foot_goes_along_with_its_hip_as_its_leg_folds():
    """8 cm from its hip a foot that this is 2 cm off would turn the leg by 14 degrees; wholly folded it is where the
    clip has it from the hip, bent by a right angle or less it is where it is led, and so it is in a walk."""
    size = np.array([1e-3, 0.08, 0.3, np.sqrt(0.5), 1.0])
    clip, off = size[:, None] * [0.0, 0.0, -1.0], np.full(5, 0.02)[:, None] * [1.0, 0.0, 0.0]
    for runs in (0.0, 0.5, 1.0):
        let = ik.let_out(clip, clip + off, 1.0, np.full(5, runs))
        left = (off + let)[:, 0] / 0.02
        np.testing.assert_allclose(let[3:], 0.0, atol=1e-12)
        assert left[0] == pytest.approx(1.0 - runs, abs=1e-5)
        assert left[1] == pytest.approx(1.0 - 0.964 * runs, abs=1e-3)
        assert (np.diff(left) >= -1e-12).all()
