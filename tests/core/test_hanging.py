"""Arms on a pose that is held, and the document's joints of one axis."""

from dataclasses import replace

import numpy as np
import pytest

from core import joint_limits, links
from core.blend import of_reaction
from core.diagnosis import Log
from core.forces.limit import torque_function
from core.hanging import hang
from core.pose import Envelope
from core.progress import run
from core.quality import bulk
from core.quality.motion import grid, sampled
from core.quality.verdict import figure_of, rest
from core.react import Hit, react
from core.reference import to_joints, to_world
from core.rotation import angle, conjugate, exp, multiply, rotate
from core.situation import BoneSetting, named
from core.stage import Stage

from .test_react import FPS, clip_of

HELD = Envelope(0.1, 0.1, 2.5, "hold", 0.15)
ARMS = ("upper_arm", "forearm", "hand")


def told(name, multiplier=1.0):
    """A preset with the document's velocities, as its files tell it."""
    preset = named(name)
    bones = {key: replace(bone, simulated=True, multiplier=multiplier) for key, bone in preset.bones.items()}
    return preset.with_changes(drive="velocities", simulate=(), support=(), envelope=HELD, bones=bones)


@pytest.fixture(scope="module")
def watched(actor, clip):
    """A reaction and its log."""
    log = Log()
    return run(react(actor, clip, told("shoulder_inside"), Hit(25.0), watch=log)), log


@pytest.fixture(scope="module")
def held(watched):
    return watched[0]


def hangs(reaction):
    """Roles of what hangs."""
    turned = np.abs(reaction.hung.turn).max(axis=(0, 2)) > 0.0
    return {reaction.actor.roles[i] for i in np.flatnonzero(turned)}


def test_arms_that_hang_are_paced_as_bodies_without_feet(watched):
    """In sub-steps of 1/60 s from 0.3 s after the contact on: what longer ones get wrong are feet that stand."""
    reaction, log = watched
    arms = {reaction.actor.names[i] for i in np.flatnonzero(reaction.hung.bodies)}
    times = np.unique(np.concatenate([t for t, names, _, _ in log.stretches if set(names) == arms]))
    calm = times - reaction.start - reaction.blows[0].contact
    steps = np.diff(times[(calm > 0.35) & (calm < 0.6)])
    assert len(steps) > 10
    np.testing.assert_allclose(steps, 1 / 60, rtol=1e-6)


def test_the_log_has_what_turned_the_arms_that_hang(watched):
    """To the end, in which the pose they hang on is long held: their own weight, and what muscles have of it."""
    reaction, log = watched
    arms = {reaction.actor.names[i] for i in np.flatnonzero(reaction.hung.bodies)}
    rows = [row for row in log.rows() if row[1] in arms]
    assert {bone for _, bone, _, _ in rows} == arms
    assert max(time for time, *_ in rows) > reaction.blows[0].end - 0.1
    assert all(abs(sum(parts) - whole) < 1e-6 * max(whole, 1.0) for _, _, whole, parts in rows[::31])
    assert all(max(abs(parts[log.causes.index(cause)]) for *_, parts in rows) > 1.0 for cause in ("Muscle", "gravity"))


def test_without_velocities_nothing_moves(actor, clip):
    reaction = run(react(actor, clip, told("shoulder_inside", 0.0), Hit(25.0)))
    for own, shown in zip(actor.canonical(clip), reaction.poses(clip), strict=True):
        np.testing.assert_allclose(shown, own, atol=1e-9)


def test_arms_lie_on_the_body_instead_of_going_through_it(actor, clip, held):
    """An arm (in a T) is led down into the trunk and back: flesh keeps most of it out."""
    arm, (q, _) = actor.first("upper_arm.L"), actor.canonical(clip)
    now = int(np.argmin(np.abs(clip.times - held.start)))
    inward = rotate(conjugate(q[now, arm]), -np.radians(110.0) * held.blows[0].axes[1])

    def led(times):
        turn = np.zeros((len(times), len(actor.names), 3))
        turn[:, arm] = HELD(times - held.start)[:, None] * inward
        return turn, np.zeros_like(turn)

    stage = Stage(actor, clip, [(told("shoulder_inside"), Hit(25.0))], {}, {})
    rigid, soft = led(clip.times)[0], run(hang(stage, clip, led)).turned(clip.times)
    assert depth(actor, clip, rigid) > 50.0
    assert depth(actor, clip, rigid, soft) < 0.5 * depth(actor, clip, rigid)


def depth(actor, clip, *turns):
    """[%] of the judge's penetration, of joints that are turned off the clip (T, n, 3)."""
    model = actor.model(np.ones(len(actor.names), dtype=bool), -1)
    q, p = to_joints(model, *actor.canonical(clip))
    for turn in turns:
        q = multiply(q, exp(turn))
    q, p = (x[:, actor.body] for x in to_world(model, q, p))
    back, place = conjugate(clip.object_rotation)[:, None], abs(clip.scale) / actor.masses.scale * p
    place = rotate(back, place - clip.object_position[:, None]) / clip.scale
    figure, moments = figure_of(actor), grid(clip)
    shown = sampled(figure, replace(clip, rotation=multiply(back, q), position=place), moments)
    return bulk.penetration(shown, sampled(figure, clip, moments), rest(figure)).value


def test_both_arms_hang_on_a_trunk(held):
    assert hangs(held) == {f"{role}.{side}" for role in ARMS for side in "LR"}


def test_arms_that_hang_are_among_what_moves(actor, clip, held):
    """With the turns that show of them, so that reports and blending know of them."""
    other = [i for i, role in enumerate(actor.roles) if role in {f"{role}.R" for role in ARMS}]
    often = clip_of(actor.skeleton, fps=8.0 * FPS, seconds=8.0, start=8.0)  # between frames, too
    own, seen = (to_joints(held.model, *poses)[0] for poses in (actor.canonical(often), held.poses(often)))
    shown = np.degrees(angle(own, seen).max(axis=0))
    assert held.moving[other].all() and shown[other].max() > 1.0
    for i in np.flatnonzero(held.hung.bodies):
        assert held.peaks()[actor.names[i]] == pytest.approx(shown[i], rel=0.01)
    assert (of_reaction(held, clip).importance[other] > 0.0).all()


def test_a_situation_leaves_an_arm_out_too(actor, clip):
    bones = {f"{role}.L": BoneSetting(simulated=False) for role in ARMS}
    told_so = told("chest_back")
    stage = Stage(actor, clip, [(told_so.with_changes(bones=told_so.bones | bones), Hit(25.0))], {}, {})
    assert {actor.roles[i] for i in np.flatnonzero(stage.hanging)} == {f"{role}.R" for role in ARMS}


def test_two_blows_have_the_documents_axes_where_both_hold_their_velocities(actor, clip):
    first, second = (told("chest_back"), Hit(25.0)), (told("shoulder_inside"), Hit(28.0))
    stage, twice = (Stage(actor, clip, [first, one], {}, {}) for one in (second, (first[0], Hit(28.0))))
    assert actor.first("clavicle.L") in stage.axes and actor.first("chest") in twice.axes and not stage.warnings
    assert actor.first("chest") not in stage.axes, "they turn it about two"
    push = named("shoulder_front").with_changes(envelope=HELD), Hit(28.0)
    for pair in ([first, push], [(push[0], Hit(25.0)), (first[0], Hit(28.0))]):
        stage = Stage(actor, clip, pair, {}, {})
        assert not stage.axes and any("about all axes" in text for text in stage.warnings)


def test_it_begins_and_ends_on_the_clip(held):
    times, turn = held.hung.times, held.hung.turn
    assert (times[0], times[-1]) == pytest.approx((held.start, held.end))
    assert np.abs(turn[0]).max() < 1e-12 and np.abs(turn[-1]).max() < 1e-12


def test_an_arm_that_is_left_out_or_owned_goes_along(actor, clip):
    names = {role: actor.names[actor.first(role)] for role in ("upper_arm.R", "forearm.R", "hand.R")}
    left_out = {names["upper_arm.R"]: {"simulated": False}, names["forearm.R"]: {"simulated": False}}
    reaction = run(react(actor, clip, told("chest_back"), Hit(25.0), left_out, {names["hand.R"]: "a constraint"}))
    assert hangs(reaction) == {f"{role}.L" for role in ARMS}


def test_held_bones_turn_about_one_axis(actor, clip, held):
    """As the document's joints do; elbows bend about their own, arms that are told no velocity give way all round."""
    q = actor.canonical(clip)[0][int(np.argmin(np.abs(clip.times - held.start)))]
    for role, bone in told("shoulder_inside").bones.items():
        i = actor.first(role)
        if i < 0 or not bone.velocity:
            continue
        axis = rotate(conjugate(q[i]), links.axis(rotate(q[i], actor.axis[i]), bone.angle, held.blows[0].axes))
        along = np.abs(held.turn[-1, i] @ axis)
        assert along > np.radians(1.0) and along == pytest.approx(np.linalg.norm(held.turn[-1, i]), rel=1e-6)
    ranks = {role: axes_of(held.turn[:, actor.first(role)]) for role in ("forearm.L", "forearm.R", "upper_arm.L")}
    assert ranks == {"forearm.L": 1, "forearm.R": 1, "upper_arm.L": 3}


def axes_of(turn):
    """About how many axes (K, 3) turns go, a thousandth of the largest aside."""
    sizes = np.linalg.svd(turn, compute_uv=False)
    return int(np.count_nonzero(sizes > 1e-3 * sizes[0]))


def test_a_trunk_of_which_some_bones_move_shares_its_whole_range_among_them(actor):
    """However many its rig has besides."""
    spines = [i for i, role in enumerate(actor.roles) if role.startswith("spine")]
    every, one = np.ones(len(actor.names), dtype=bool), np.zeros(len(actor.names), dtype=bool)
    one[spines[0]] = True
    whole = sum(joint_limits.cones(actor, every, {})[i] for i in spines)
    assert len(spines) > 1 and joint_limits.cones(actor, one, {})[spines[0]] == pytest.approx(whole)
    speeds = np.zeros(len(actor.names))
    speeds[spines[:2]] = 600.0, 300.0  # one that is told nothing counts as the slowest
    parts = [joint_limits.cones(actor, every, {}, speeds=speeds)[i] / whole for i in spines]
    assert parts == pytest.approx(np.array([2.0, *[1.0] * (len(spines) - 1)]) / (len(spines) + 1))


def test_a_held_trunk_turns_most_where_it_is_told_to(actor, clip):
    """The document's lowest spine starts twice as fast as the others: ends that are alike stopped all of them alike."""
    spines = [actor.first(f"spine.{k}") for k in (1, 2, 3)]
    spines = [i for i in spines if i >= 0]
    for situation, parts in ((told("shoulder_front"), (2.0, 1.0, 1.0)), (named("shoulder_front"), (1.0, 1.0, 1.0))):
        ends = Stage(actor, clip, [(situation, Hit(25.0))], {}, {}).ends
        half = ends.half[[ends.bodies.tolist().index(i) for i in spines]]
        assert half / half[-1] == pytest.approx(parts[: len(spines)])


def test_a_held_pose_keeps_most_of_the_way_to_its_ends(actor, clip):
    """What the document holds is where his bones arrive: ends take less than a third of it back."""
    reaction = run(react(actor, clip, told("chest_front"), Hit(25.0)))
    turns = np.linalg.norm(reaction.turn[:, [i for i, r in enumerate(actor.roles) if "spine" in r]], axis=-1)
    assert (turns.max(axis=0) > np.radians(5.0)).all()
    assert (turns[-1] > 0.65 * turns.max(axis=0)).all()


def test_a_girdle_glides_as_far_as_a_human_one_sinks_before_it_is_braked(actor, clip):
    """10 degrees (Neumann 2010), while it can rise by 45: its range lies between."""
    ends = Stage(actor, clip, [(named("chest_front"), Hit(25.0))], {}, {}).ends
    girdle = [k for k, i in enumerate(ends.bodies) if actor.roles[i].startswith("clavicle")]
    free, whole = np.degrees(ends.soft[girdle] * ends.half[girdle]), np.degrees(ends.half[girdle])
    assert free == pytest.approx([10.0, 10.0]) and np.all((whole > 15.0) & (whole < 45.0))


@pytest.mark.parametrize("speed", [150.0, 400.0])
def test_a_fifth_of_its_speed_comes_back_from_the_end_of_a_limbs_swing(actor, speed):
    """Past its free play [deg/s], as one with all that it carries: the equation of motion, integrated here."""
    inertia = np.tile(np.eye(6), (len(actor.names), 1, 1))
    limit = joint_limits.balls(actor, np.ones(len(actor.names), dtype=bool), inertia, {})
    K, D = limit.stiffness[:, 0], limit.damping[:, 0]
    zone = (1.0 - limit.soft) * np.sqrt(limit.swing.prod(axis=1))
    x, v, h = np.zeros(len(K)), np.full(len(K), np.radians(speed)), 1e-4
    back = np.zeros(len(K))
    for _ in range(5000):
        torque, _, part = torque_function(x, zone, K)
        v = v + h * (torque - part * D * v)
        x = np.maximum(x + h * v, 0.0)
        back = np.maximum(back, -v / np.radians(speed))
    assert np.all((back > 0.0) & (back < 0.22))
