"""Going over to another action: matched in pose and facing, begun without a jump, above the floor; loops go on."""

import re
from dataclasses import replace

import numpy as np
import pytest

from core import handover, limp, touch
from core.handover import PAUSE, hand_over, match, repeated
from core.progress import run
from core.react import react
from core.reference import to_joints, to_world
from core.rolling import Roll
from core.rotation import IDENTITY, angle, between, exp, multiply, rotate
from core.situation import named

from .test_react import HIT

SECONDS = 0.5


@pytest.fixture(scope="module")
def fallen(knocked_out):
    return knocked_out


def rising(reaction, clip):
    """A clip made of the fall played backwards, elsewhere in the world and facing elsewhere."""
    q, p = reaction.poses(clip)
    actor, inside = reaction.actor, (clip.times >= reaction.start) & (clip.times <= reaction.times[-1])
    turn, shift = exp(np.array([0.0, 0.0, 2.0])), np.array([3.0, -1.0, 0.0])
    q, p = multiply(turn, q[inside][::-1]), rotate(turn, p[inside][::-1]) + shift
    bones = actor.body
    return replace(
        clip,
        name="Rise",
        frames=clip.frames[inside] - clip.frames[inside][0],
        rotation=q[:, bones],
        position=p[:, bones] / actor.masses.scale,
        object_rotation=np.tile([1.0, 0.0, 0.0, 0.0], (len(q), 1)),
        object_position=np.zeros((len(q), 3)),
        scale=1.0,
    )


def test_a_pose_is_found_wherever_it_lies_and_faces(actor, clip):
    q, p = actor.canonical(clip)
    turn, shift = exp(np.array([0.0, 0.0, -2.3])), np.array([4.0, 5.0, 0.0])
    for k in (0, 11, 40):
        pose = multiply(turn, q[k]), rotate(turn, p[k]) + shift
        found, by, moved, off = match(actor, pose, (q[:60], p[:60]), clip.times[:60] - 10.0)
        np.testing.assert_allclose(rotate(by, p[found]) + moved, pose[1], atol=1e-6)
        assert off < 1e-6


def test_a_fallen_body_gets_up_where_it_lies(actor, clip, fallen):
    action = rising(fallen, clip)
    up = hand_over(fallen, clip, [action], SECONDS, 0.0)
    assert 0.0 <= up.then.start - fallen.times[-1] - PAUSE < 1.0 / clip.fps and not up.warnings
    assert (up.then.start * clip.fps) % 1.0 == pytest.approx(0.0), "at a frame"
    q, p = up.poses(clip)
    before = clip.times <= up.then.start
    lies = fallen.poses(clip)
    np.testing.assert_array_equal(p[before], lies[1][before])
    assert np.linalg.norm(np.diff(p[:, actor.first("pelvis")], axis=0), axis=-1).max() * clip.fps < 6.0, "no jump"
    stands = np.argmax(clip.times > up.then.end + 0.1)
    there = fallen.poses(clip)[1][np.argmax(clip.times >= fallen.start)]
    np.testing.assert_allclose(p[stands], there, atol=0.02, err_msg="it stands again where it was hit")
    height = touch.points(actor).world(q, p)[..., 2].min(axis=-1)
    since = clip.times > up.then.start
    assert height[since].min() > min(touch.points(actor).world(*lies)[..., 2].min(axis=-1).min(), up.then.ground) - 1e-6


def test_a_get_up_is_seen_from_its_beginning(actor, clip, fallen):
    """It lies half a second with a hip 6 degrees off; begun where that is right, it would get up within the blend."""
    action = rising(fallen, clip)
    count, thigh = round(0.5 * clip.fps), actor.order[actor.first("thigh.L")]
    longer = {name: np.concatenate((np.repeat(getattr(action, name)[:1], count, axis=0), getattr(action, name)))
              for name in ("rotation", "position", "object_rotation", "object_position")}  # fmt: skip
    q, p = longer["rotation"], longer["position"]
    limb = [i for i, name in enumerate(actor.skeleton.names) if name in ("thigh.L", "shin.L", "foot.L", "toe.L")]
    turn, hip = exp(np.array([0.0, 0.0, np.radians(6.0)])), p[:count, thigh, None]
    q[:count, limb], p[:count, limb] = multiply(turn, q[:count, limb]), hip + rotate(turn, p[:count, limb] - hip)
    later = replace(action, frames=np.arange(count + len(action.frames), dtype=float), **longer)
    up = hand_over(fallen, clip, [later], SECONDS, 0.0)
    assert up.then.shows[0] == 0 and not up.warnings
    standing = run(react(actor, clip, named("shoulder_front"), HIT))
    walk = replace(clip, frames=clip.frames[:61], **{name: getattr(clip, name)[:61] for name in longer})
    assert hand_over(standing, clip, [walk], SECONDS, 0.0).then.shows[0] > 0, "who walks goes on in step"


def test_of_frames_that_are_as_near_one_without_a_roll_begins(actor, clip, fallen):
    """Turned about the trunk by 66 degrees, 65 and so on: two centimetres are five degrees."""
    q, p = (x[-1] for x in fallen.poses(clip))
    base = actor.first("pelvis")
    angles, times = np.radians(np.arange(66.0, 59.0, -1.0)), np.arange(7.0)
    turns = exp(angles[:, None, None] * rotate(q[base], Roll.of(actor, q, q).along))
    poses = multiply(turns, q), p[base] + rotate(turns, p - p[base])
    over = [Roll.of(actor, q, multiply(match(actor, (q, p), (a[None], b[None]), times[:1])[1], a)).over
            for a, b in zip(*poses, strict=True)]  # fmt: skip
    assert over[0] and not over[-2]
    assert match(actor, (q, p), poses, times)[0] == 5, "the last frame leaves no room"
    assert match(actor, (q, p), poses, times, handover.SOONER)[0] == over.index(False) < 5
    rolled = poses[0][:2], poses[1][:2]
    assert match(actor, (q, p), rolled, 0.1 * times[:2] - 1.0, handover.SOONER)[0] == 0, "where all need one, the first"


def test_floors_of_different_heights_are_no_difference(actor, clip, fallen):
    """The action is filmed on a stage a metre up, the body lies on a floor that its blow says."""
    action = rising(fallen, clip)
    lifted = replace(action, position=action.position + np.array([0.0, 0.0, 1.0]) / actor.masses.scale)
    up, plain = (hand_over(fallen, clip, [x], SECONDS, 0.0) for x in (lifted, action))
    np.testing.assert_allclose(up.poses(clip)[1], plain.poses(clip)[1], atol=1e-6)
    assert not up.warnings
    low = replace(fallen, blows=tuple(replace(blow, ground=-0.5) for blow in fallen.blows))
    assert hand_over(low, clip, [action], SECONDS, 0.0).then.ground == -0.5


def test_a_get_up_that_hangs_in_the_air_is_set_down_and_a_leap_is_not(actor, clip, fallen):
    """It sits half a metre up in its middle, lies and stands on the floor; in the end it leaps, with what g gives."""
    plain = rising(fallen, clip)
    t = plain.times - plain.times[0]
    lift = 0.5 * np.sin(np.pi * t / t[-1]) ** 2
    fly = np.arange(1.0 / clip.fps, 0.45, 1.0 / clip.fps)
    leap = 9.81 * fly * (0.5 - fly) / 2.0

    def moved(rise):
        """The action so much higher, which then leaps and stands."""
        hold = lambda x, k: np.concatenate((x, np.repeat(x[-1:], k, axis=0)))  # noqa: E731
        count = len(leap) + 6
        up = np.concatenate((rise, leap, np.zeros(6))) / actor.masses.scale
        position = hold(plain.position, count) + up[:, None, None] * np.array([0.0, 0.0, 1.0])
        still = {name: hold(getattr(plain, name), count) for name in ("rotation", "object_rotation", "object_position")}
        return replace(plain, frames=np.arange(len(up), dtype=float), position=position, **still)

    floats, stays = (hand_over(fallen, clip, [moved(rise)], SECONDS, 0.0) for rise in (lift, 0.0 * t))
    told = re.search(r"'Rise' floats up to (\d+) cm", " ".join(floats.warnings))
    assert told and int(told[1]) == pytest.approx(49, abs=2) and not stays.warnings
    last = slice(-min(len(floats.then.times), len(stays.then.times)), None)
    lowest = touch.points(actor).world(stays.then.rotation, stays.then.position)[last, :, 2].min()
    sunk = max(stays.then.ground - lowest, 0.0)  # as the fall itself is in its floor
    off = floats.then.position[last] - stays.then.position[last]
    assert sunk < 0.003 and not off[..., :2].any() and off.min() > -handover.TOUCHES
    assert off.max() == pytest.approx(handover.TOUCHES + sunk, abs=1e-5), "what is set down lies so high"
    places = touch.points(actor).world(floats.then.rotation, floats.then.position)
    high = places[..., 2].min(axis=-1) - floats.then.ground
    assert high.max() == pytest.approx(9.81 * 0.25**2 / 2.0, abs=0.02), "the leap"
    assert high[: -len(leap) - 6].max() < 0.02
    walks = hand_over(replace(fallen, fell=None), clip, [moved(lift)], SECONDS, 0.0)
    assert not any("floats" in text for text in walks.warnings)


def test_an_action_unlike_the_pose_is_named(clip, fallen):
    assert any("'Walk'" in text for text in hand_over(fallen, clip, [replace(clip, name="Walk")], 0.5, 0.0).warnings)


def test_a_standing_body_goes_over_while_its_reaction_fades(actor, clip):
    """To the same walk with the head turned by 0.3 rad, in the same phase."""
    reaction = run(react(actor, clip, named("shoulder_front"), HIT))
    head = actor.first("head")
    rotation = clip.rotation.copy()
    rotation[:, actor.order[head]] = multiply(rotation[:, actor.order[head]], exp(np.array([0.0, 0.3, 0.0])))
    over = hand_over(reaction, clip, [replace(clip, rotation=rotation)], SECONDS, 8.0)
    assert 0.0 <= over.then.start - reaction.end + SECONDS < 1.0 / clip.fps
    (q, p), (own_q, own_p) = over.poses(clip), reaction.poses(clip)
    before, after = clip.times <= over.then.start, clip.times >= over.then.start + SECONDS
    np.testing.assert_array_equal(p[before], own_p[before])
    turned = angle(q[after, head], own_q[after, head])
    assert after.sum() > 20 and np.abs(turned - 0.3).max() < 0.03
    feet = p[after][:, [i for i, role in enumerate(actor.roles) if role.startswith("foot")]]
    assert np.ptp(feet[..., 2], axis=0).min() > 0.05, "it walks on"


def test_loops_go_on_and_others_do_not(actor, clip):
    q, p = actor.canonical(clip)
    t = np.arange(25) / 24.0
    turns = exp(np.outer(t, [0.0, 0.0, 0.7]))
    walk = multiply(turns[:, None], q[0]), rotate(turns[:, None], p[0]) + np.outer(t, [1.0, 0.0, 0.0])[:, None]
    times, a, b = repeated(actor, t, *walk, 3.5)
    assert times[-1] == pytest.approx(4.0) and len(times) == len(np.unique(times)) == 97
    step = np.linalg.norm(np.diff(b[:, actor.first("pelvis")], axis=0), axis=-1)
    assert step.max() < 1.5 * step.min() + 1e-9
    lift = walk[1] + np.outer(t, [0.0, 0.0, 1.0])[:, None]
    assert len(repeated(actor, t, walk[0], lift, 3.5)[0]) == 25


@pytest.fixture(scope="module")
def other_side(actor, clip, fallen):
    """A get-up that begins the other way up: a body rolled by half a turn about its length, and stretched, for limbs
    that lay on the floor would point into it."""
    action = rising(fallen, clip)
    q, p = actor.canonical(action)
    joints, at = to_joints(fallen.model, q[0], p[0])
    bodies, along = limp.straight(actor)
    joints[bodies] = along
    stretched = to_world(fallen.model, joints, at)
    pelvis, head = (actor.first(role) for role in ("pelvis", "head"))
    way = stretched[1][head] - stretched[1][pelvis]
    flat = way * [1.0, 1.0, 0.0] / np.linalg.norm(way[:2])
    half = multiply(exp(np.pi * flat), between(way, flat))
    lies = multiply(half, stretched[0]), p[0, pelvis] + rotate(half, stretched[1] - p[0, pelvis])
    before, after = (touch.points(actor).world(*pose)[..., 2].min() for pose in ((q[0], p[0]), lies))
    lies[1][:, 2] += before - after
    amount = np.minimum(np.arange(len(q)) / 10.0, 1.0)[:, None, None]
    q, p = (a + amount * (b[-1] - a) for a, b in zip(lies, (q, p), strict=True))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    return replace(action, name="Other", rotation=q[:, actor.body], position=p[:, actor.body] / actor.masses.scale)


def test_of_several_actions_the_nearest_takes_over(actor, clip, fallen, other_side):
    fits = rising(fallen, clip)
    alone = hand_over(fallen, clip, [fits], SECONDS, 0.0)
    for several in ([other_side, fits], [fits, other_side]):
        up = hand_over(fallen, clip, several, SECONDS, 0.0)
        assert not up.warnings and not up.then.roll.over
        np.testing.assert_array_equal(up.poses(clip)[1], alone.poses(clip)[1])


def test_a_body_that_lies_the_other_way_up_rolls_on_the_floor(actor, clip, fallen, other_side):
    """Never in the air, never upright: what lies on the floor does so all the way, and the pelvis stays low."""
    up = hand_over(fallen, clip, [other_side], SECONDS, 0.0)
    then, pelvis = up.then, actor.first("pelvis")
    assert then.roll.over and any("'Other' begins: it rolls over first" in text for text in up.warnings)
    assert 1.0 < then.seconds < 1.5 and abs(np.degrees(then.roll.angle)) == pytest.approx(180.0, abs=30.0)
    q, p = up.poses(clip)
    rolls = (clip.times > then.start) & (clip.times < then.start + then.waits)
    low = touch.points(actor).world(q[rolls], p[rolls])[..., 2].min(axis=-1)
    assert np.abs(low - low[0]).max() < 0.01, "on the floor"
    high = p[rolls][:, [pelvis, actor.first("chest"), actor.first("head")], 2] - then.ground
    assert high.max() < 0.42, "it lies, and rolls to the side of the arm that isn't under it: the other way 0.54"
    mass = actor.masses.mass[actor.order] / actor.masses.mass.sum()
    centre = np.einsum("n,tni->ti", mass, p[rolls] + rotate(q[rolls], 0.5 * actor.axis))[:, :2]
    thick = p[rolls][0, pelvis, 2] - then.ground
    assert np.linalg.norm(centre[-1] - centre[0]) == pytest.approx(0.9 * np.pi * thick, rel=0.3), "as far as it rolls"
    assert np.linalg.norm(np.diff(p[rolls], axis=0), axis=-1).max() * clip.fps < 6.0, "no jump"
    rises, own = clip.times > then.start + then.waits - 0.05, np.diff(then.position, axis=0)
    fastest = np.linalg.norm(own / np.diff(then.times)[:, None, None], axis=-1).max()
    assert np.linalg.norm(np.diff(p[rises], axis=0), axis=-1).max() * clip.fps < 1.4 * fastest, (
        "it goes over as it rises"
    )


@pytest.mark.parametrize("gain, longer", [(0.001, False), (0.1, True)])
def test_a_body_rolls_the_longer_way_only_where_that_is_clearly_lower(
    actor, clip, fallen, other_side, monkeypatch, gain, longer
):
    """Of 160 degrees and 200: a millimetre is chance, a decimetre an arm."""
    whole, of = np.radians(160.0), Roll.of
    monkeypatch.setattr(Roll, "of", lambda *args: replace(of(*args), angle=whole))
    monkeypatch.setattr(handover, "_height", lambda model, there, then: 0.3 - gain * (abs(then.roll.angle) > whole))
    up = hand_over(fallen, clip, [other_side], SECONDS, 0.0)
    assert np.degrees(up.then.roll.angle) == pytest.approx(-200.0 if longer else 160.0)


def test_a_body_is_laid_on_what_it_lies_on(rng):
    """A plank that slopes is laid flat; what a prop under its middle holds stays, what leans on one end gives way by
    no more than it is off, and little differences make little ones."""
    roll = Roll(0, np.array([1.0, 0.0, 0.0]), np.pi, True, (np.zeros(0, dtype=int), np.zeros((0, 4))))
    plank = np.stack((np.linspace(-0.8, 0.8, 30), np.zeros(30), np.zeros(30)), axis=-1)
    pitch = exp(np.array([0.0, 0.3, 0.0]))  # x goes down
    tilted, prop = rotate(pitch, plank), np.array([[0.02, 0.0, -0.4]])
    shapes = (plank, tilted, np.concatenate((plank, prop)), plank[16:])
    flat, laid, propped, end = (
        float(roll._level(q[None], np.zeros((1, 3)), shape[None])[0])
        for q, shape in zip((IDENTITY, pitch, IDENTITY, IDENTITY), shapes, strict=True)
    )
    assert abs(flat) < 0.01 and laid == pytest.approx(0.3, abs=0.01)
    assert abs(propped) < 0.05 and 0.0 <= end < 0.2
    close = roll._level(pitch[None], np.zeros((1, 3)), tilted[None] + rng.normal(0.0, 1e-3, tilted.shape))
    assert close[0] == pytest.approx(laid, abs=0.01)
