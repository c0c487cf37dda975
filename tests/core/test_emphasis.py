"""The artist's gains: counter-rotation above the blow, and the whip of limbs that aren't struck."""

import numpy as np
import pytest

from core import emphasis, hinges, joint_limits, ranges
from core.blows import land
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.roles import base_role
from core.rotation import rotate, to_matrix
from core.situation import named
from core.skeleton import Clip

from .figures import DOG, build
from .test_react import actor_of, clip_of, standing

RIGS = {"human": {}, "long": {"forearm.L": ("upper_arm.L", (0.46, 0.01, 1.45), (0.82, -0.02, 1.45)),
                              "hand.L": ("forearm.L", (0.82, -0.02, 1.45), (1.0, -0.02, 1.45))}}  # fmt: skip
CHEST = named("chest_front").with_changes(impulse=5.0, envelope=Envelope(0.0, 0.35, 0.25))
GAINS = (0.0, 0.5, 1.0, 2.0)


@pytest.fixture(scope="module", params=sorted(RIGS))
def stage(request):
    """(actor, clip, {(counter, whip): Reaction}), solved as they are asked for."""
    skeleton = build(skin=True, **RIGS[request.param])
    actor, clip, made = actor_of(skeleton), clip_of(skeleton), {}

    def of(counter=1.0, whip=1.0):
        if (counter, whip) not in made:
            made[counter, whip] = run(react(actor, clip, CHEST.with_changes(counter=counter, whip=whip), Hit(20.0)))
        return made[counter, whip]

    return actor, clip, of


def peak(actor, reaction, bone):
    return float(np.linalg.norm(reaction.turn[:, actor.names.index(bone)], axis=-1).max())


def test_gain_1_is_the_physics_bitwise(stage, monkeypatch):
    actor, clip, of = stage
    one = of(1.0, 1.0)
    monkeypatch.setattr(emphasis, "gains", lambda *_: None)
    np.testing.assert_array_equal(one.turn, run(react(actor, clip, CHEST, Hit(20.0))).turn)


@pytest.mark.parametrize(("gain", "bones", "others"), [
    ("counter", ("neck", "head"), ("spine.01", "spine.02", "upper_arm.R", "forearm.L", "thigh.L", "pelvis")),
    ("whip", ("clavicle.R", "upper_arm.R", "forearm.R", "hand.L"), ("spine.01", "spine.02", "neck", "head", "thigh.L")),
])  # fmt: skip
def test_a_gain_grows_its_own_bones_alone(stage, gain, bones, others):
    actor, _, of = stage
    made = [of(**{gain: value}) for value in GAINS]
    for bone in bones:
        peaks = [peak(actor, reaction, bone) for reaction in made]
        assert peaks[0] == 0.0 and peaks[1] == pytest.approx(0.5 * peaks[2])
        assert all(b > 1.1 * a for a, b in zip(peaks[1:], peaks[2:], strict=False))
    for bone in others:
        i = actor.names.index(bone)
        for reaction in made:
            np.testing.assert_array_equal(reaction.turn[:, i], of().turn[:, i])


def test_counter_rotation_is_against_the_blow(stage):
    """Hit from the front the chest goes back; neck and head turn forward on it first, twice as far with gain 2."""
    actor, clip, of = stage
    early = slice(0, int(np.searchsorted(of().times, of().start + 0.12)))
    left = of().blows[0].axes[0]
    q = actor.canonical(clip)[0][int(np.argmin(np.abs(clip.times - of().start)))]
    def about_left(reaction, bone):
        i = actor.names.index(bone)
        return float((rotate(q[i], reaction.turn[early, i]) @ left)[-1])

    moved = (of().poses(clip)[1] - actor.canonical(clip)[1])[:, actor.names.index("neck")]
    then = int(np.searchsorted(clip.times, of().start + 0.12))
    assert moved[then] @ of().direction > 0.0  # where the chest ends: back, with the blow
    assert about_left(of(), "neck") > 0.0  # tips forward, against it
    assert about_left(of(counter=2.0), "neck") > 1.4 * about_left(of(), "neck")


def test_above_and_limbs_go_by_what_is_struck():
    skeleton = build(skin=True)
    actor, clip = actor_of(skeleton), clip_of(skeleton)

    def asked(bone):
        situation = CHEST.with_changes(counter=2.0, whip=0.5)
        blow = land(actor, clip, situation, Hit(20.0, bone), actor.canonical(clip))
        factor = emphasis.gains(actor, [blow], np.zeros(1))[0]
        return [{actor.names[i] for i in np.flatnonzero(factor == value)} for value in (2.0, 0.5)]

    arms = {f"{bone}.{side}" for bone in ("clavicle", "upper_arm", "forearm", "hand") for side in "LR"}
    right = {name for name in arms if name.endswith("R")}
    assert asked("spine.02") == [{"neck", "head"}, arms]
    assert asked("forearm.L") == [{"neck", "head"}, right]
    assert asked("thigh.R") == [{"spine.01", "spine.02", "neck", "head"}, arms]
    assert asked("head") == [set(), arms]


def test_front_legs_that_stand_are_left_alone():
    """A dog that stands: its neck and head are above a blow on the croup, its tail whips, its paws stay."""
    skeleton = build(DOG, skin=True)
    k, n = 96, len(skeleton.names)
    still = np.tile(skeleton.rotation, (k, 1, 1)), np.tile(skeleton.head, (k, 1, 1))
    clip = Clip(24.0, np.arange(k), *still, np.tile([1.0, 0, 0, 0], (k, 1)), np.zeros((k, 3)))
    actor = actor_of(skeleton)
    situation = named("croup_punch").with_changes(counter=2.0, whip=2.0, envelope=CHEST.envelope)
    reaction = run(react(actor, clip, situation, Hit(5.0)))
    factor = emphasis.gains(actor, reaction.blows, reaction.times, reaction.footing.feet.tolist())[0]
    twice = {base_role(actor.roles[i]) for i in np.flatnonzero(factor == 2.0)}
    assert twice == {"spine", "neck", "head", "tail"} and n == len(factor)


def test_no_gain_leaves_the_range(rng):
    """Cones, balls and elbows: far beyond what a gain of 3 asks for, the end is approached and never passed."""
    skeleton = build(skin=True)
    actor, clip = actor_of(skeleton), clip_of(skeleton)
    q, p = (x[:40] for x in actor.canonical(clip))
    moving = np.ones(len(actor.names), dtype=bool)
    inertia = np.tile(np.eye(6), (len(moving), 1, 1))
    found = hinges.find(actor, moving, to_matrix(q), p)
    limits = joint_limits.ends(actor, moving, inertia, found, {}), joint_limits.balls(actor, moving, inertia, {})
    room = emphasis.Room.of(*limits, found, hinges.bend(actor, found, to_matrix(q), p), len(moving))
    neck, arm, elbow = (actor.names.index(bone) for bone in ("neck", "upper_arm.L", "forearm.L"))
    turn = 0.05 * rng.normal(size=(40, len(moving), 3))
    turn[:, neck] *= np.radians(21.0) / np.linalg.norm(turn[:, neck], axis=-1, keepdims=True)
    axis = found.axis[found.bodies.tolist().index(elbow)]
    turn[:, elbow] = -np.radians(1.5) * axis  # half of what an elbow may be overstretched
    bigger = emphasis.scaled(turn, np.full(turn.shape[:2], 3.0), room)
    size = np.degrees(np.linalg.norm(bigger[:, neck], axis=-1))
    assert (size > 21.0).all() and (size <= ranges.CONE["neck"][0] + 1e-9).all()
    straight = np.degrees(room.low[:, found.bodies.tolist().index(elbow)])
    assert (np.degrees(bigger[:, elbow] @ axis) >= np.minimum(straight, -1.5) - 1e-9).all()
    np.testing.assert_allclose(bigger[:, arm], 3.0 * turn[:, arm], rtol=0.2)


def test_each_of_several_hits_has_its_own():
    """The second hit's gain takes over smoothly: no jump, and from a quarter second on it is all its own."""
    skeleton = build(skin=True)
    actor, clip = actor_of(skeleton), clip_of(skeleton)
    first, second = CHEST, CHEST.with_changes(counter=2.0)
    pair = [(first, Hit(20.0)), (second, Hit(24.0))]
    reaction = run(react(actor, clip, *pair[0], further=pair[1:]))
    plain = run(react(actor, clip, first, Hit(20.0), further=[(first, Hit(24.0))]))
    neck, start = actor.names.index("neck"), reaction.blows[1].start
    before, later = reaction.times <= start, reaction.times > start + emphasis.TAKE
    np.testing.assert_array_equal(reaction.turn[before], plain.turn[before])
    big = np.linalg.norm(reaction.turn[later, neck], axis=-1) / np.linalg.norm(plain.turn[later, neck], axis=-1)
    assert big.min() > 1.3 and big.max() <= 2.0 + 1e-9
    factor = emphasis.gains(actor, reaction.blows, reaction.times)[:, neck]
    assert np.abs(np.diff(factor) / np.diff(reaction.times)).max() < 7.0 and factor[-1] == 2.0


def shifted(skeleton, gain):
    clip = standing(skeleton)
    return run(react(actor_of(skeleton), clip, CHEST.with_changes(impulse=25.0, shift=gain), Hit(20.0))), clip


def test_the_body_shifts_as_far_as_the_artist_likes():
    """At 0 the pelvis keeps its place, trunk and arms still answer; at 2 the weight goes twice as far, by its plan."""
    skeleton = build(skin=True)
    made = {gain: shifted(skeleton, gain)[0] for gain in (0.0, 1.0, 2.0)}
    pelvis, spine = made[1.0].footing.base, made[1.0].actor.names.index("spine.02")
    assert not made[0.0].footing.plan.moves and not made[0.0].footing.plan.shift.any() and not made[0.0].travel.any()
    assert all(np.degrees(np.linalg.norm(reaction.turn[:, spine], axis=-1).max()) > 1.0 for reaction in made.values())
    far = {gain: np.linalg.norm(reaction.footing.plan.shift, axis=-1).max() for gain, reaction in made.items()}
    assert far[1.0] > 0.02 and far[2.0] == pytest.approx(2.0 * far[1.0], rel=0.1)
    plain = run(react(made[1.0].actor, standing(skeleton), CHEST.with_changes(impulse=25.0), Hit(20.0)))
    np.testing.assert_array_equal(made[1.0].travel, plain.travel)
    shown = [reaction.poses(standing(skeleton))[1][:, pelvis, :2] for reaction in made.values()]
    still = made[0.0].actor.canonical(standing(skeleton))[1][:, pelvis, :2]
    ways = [np.linalg.norm(own - still, axis=-1).max() for own in shown]
    assert ways[0] < 1e-9 and ways[1] > 0.02 and ways[2] > 1.4 * ways[1]


def test_a_body_without_a_plan_shifts_by_its_travel():
    bare = build(skin=True, **{f"{r}.{s}": None for r in ("foot", "toe") for s in "LR"})
    half, one, two = (shifted(bare, gain)[0].travel for gain in (0.5, 1.0, 2.0))
    assert np.abs(one).max() > 0.005
    np.testing.assert_array_equal(half, 0.5 * one)
    np.testing.assert_array_equal(two, 2.0 * one)


def test_the_clip_stays_exact_before_and_after():
    skeleton = build(skin=True)
    actor, clip = actor_of(skeleton), clip_of(skeleton)
    reaction = run(react(actor, clip, CHEST.with_changes(counter=2.0, whip=2.0), Hit(20.0)))
    q, p = reaction.poses(clip)
    own = actor.canonical(clip)
    outside = (clip.times <= reaction.start) | (clip.times >= reaction.end)
    assert outside.sum() > 10
    np.testing.assert_allclose(p[outside], own[1][outside], atol=1e-12)
    still = run(react(actor, clip, CHEST.with_changes(counter=2.0, whip=2.0, impulse=0.0), Hit(20.0)))
    assert np.abs(still.turn).max() < 1e-8
