"""Bodies that a blow lifts off the ground: they fly as weight does, and their feet come down where they were."""

from dataclasses import replace

import numpy as np
import pytest

from core import dip, hop, ik, stance, steps
from core.dynamics import centre_of
from core.heels import STEEPEST
from core.plan import CLOSE, Span, Struck
from core.react import Hit
from core.rotation import conjugate, rotate

from .figures import build
from .test_balance import jumping
from .test_react import actor_of, clip_of, hit_on, standing

START = 30  # sample of a push
UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


@pytest.fixture(scope="module")
def reaction(skeleton):
    """(reaction, clip at 60 frames per second) of a figure that stands and is thrown up by 1.73 m/s."""
    slow = standing(skeleton)
    frames = np.arange(4 * 60 + 1)
    held = {name: np.repeat(getattr(slow, name)[:1], len(frames), axis=0) for name in ("rotation", "position")}
    held |= {
        name: np.repeat(getattr(slow, name)[:1], len(frames), axis=0) for name in ("object_rotation", "object_position")
    }
    clip = replace(slow, fps=60.0, frames=1.0 * frames, **held)
    hit = Hit(60.0, bone="pelvis", impulse=130.0, contact=0.005, direction=UP)
    return hit_on(skeleton, "chest_front", clip=clip, hit=hit), clip


def pushed(found, *way):
    """The plan of a body that is pushed (3,) [m/s] at START."""
    push = np.zeros((1, len(found.times), 3))
    push[0, START] = way
    blow = Span(float(found.times[START]), float(found.times[START]) + 2.7)
    return steps.plan(found, push, Struck.nothing(found.down.shape), [blow])


def lifted(found, speed, start=START):
    """`dip` of a body that is pushed up by so much [m/s] at a sample."""
    push = np.zeros((1, len(found.times)))
    push[0, start] = speed
    blow = Span(float(found.times[start]), float(found.times[start]) + 2.7)
    return dip.dip(found, push, Struck.nothing(found.down.shape), [blow])


def soles(found, q, p):
    """(T, L) [m] how high the lowest point of each foot is above where it stands."""
    out = []
    for leg, limb in enumerate(found.limbs):
        own = found.owner == leg
        at = p[:, limb.end, None] + rotate(q[:, limb.end, None], found.points[own])
        out.append((at[..., 2] - found.level[own]).min(axis=1))
    return np.stack(out, axis=1)


@pytest.mark.parametrize("clip", [standing, clip_of])
@pytest.mark.parametrize("speed", [0.6, 1.2, 2.4])
def test_the_ground_pulls_nobody(skeleton, clip, speed):
    """A body is braked by its weight at most, however fast it rises."""
    found = stance.read(actor_of(skeleton), clip(skeleton), 1.0)
    _, _, pull, _ = lifted(found, speed)
    own = np.gradient(np.gradient(found.height, found.h), found.h)
    assert pull.min() < -4.0 and (pull + own).min() > -9.81 - 0.3  # the clip's own is smoothed


@pytest.mark.parametrize("speed", [1.4, 2.4])
def test_above_its_legs_a_body_falls_as_weight_does(skeleton, speed):
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    high, rate, pull, borne = lifted(found, speed)
    flies = np.flatnonzero(borne == 0.0)
    assert len(flies) > 6 and (np.diff(flies) == 1).all()
    np.testing.assert_allclose(pull[flies], -9.81, rtol=1e-6)
    since = found.times[flies] - found.times[flies[0]]
    np.testing.assert_allclose(high[flies], high[flies[0]] + rate[flies[0]] * since - 9.81 / 2.0 * since**2, atol=1e-9)
    low, up = hop.rises(found)
    assert (high[flies] >= up[flies]).all() and (borne[high < low] == 1.0).all()


def test_legs_reach_as_high_as_they_are_long_over_heels_that_rise(skeleton):
    """By geometry: a straight leg from a hip right above to an ankle that has turned about its toes."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    toes = rotate(found.turn[0], found.tips)
    steep = np.arctan2(-toes[:, 2], np.linalg.norm(toes[:, :2], axis=-1))
    for angle, reach in zip((0.5 * STEEPEST, STEEPEST), hop.rises(found), strict=True):
        size = np.linalg.norm(toes, axis=-1)
        ahead = np.linalg.norm(toes[:, :2], axis=-1) - size * np.cos(steep + angle)
        ankle = found.ankle[0] + toes / np.linalg.norm(toes[:, :2], axis=-1)[:, None] * ahead[:, None] * [1.0, 1.0, 0.0]
        ankle[:, 2] = found.ankle[0, :, 2] + size * np.sin(steep + angle) + toes[:, 2]
        across = np.linalg.norm((found.hip[0] - ankle)[:, :2], axis=-1)
        want = (ankle[:, 2] + np.sqrt(found.length**2 - across**2) - found.hip[0, :, 2]).max()
        np.testing.assert_allclose(reach, want, atol=1e-6)


def test_feet_without_heels_reach_as_far_as_legs(skeleton):
    """Those that stand on their toes, as dogs' do, have none to rise."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    across = np.linalg.norm((found.hip - found.ankle)[0, :, :2], axis=-1)
    want = (np.sqrt(found.length**2 - across**2) - (found.hip - found.ankle)[0, :, 2]).max()
    for reach in hop.rises(replace(found, toed=np.array([True, True]))):
        np.testing.assert_allclose(reach, want, atol=1e-9)


def test_feet_that_stand_on_end_reach_as_far_as_legs(skeleton):
    """Their heels, right over their toes, are as high as they get; their knees may be bent all the same."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    tip = rotate(conjugate(found.turn[0, 0]), np.array([0.0, -0.002, -0.1]))
    pegs = replace(found, points=np.broadcast_to(tip, found.points.shape))
    across = np.linalg.norm((found.hip - found.ankle)[0, 0, :2])
    want = np.sqrt(found.length[0] ** 2 - across**2) - (found.hip - found.ankle)[0, 0, 2]
    for reach in hop.rises(replace(pegs, down=found.down & [True, False], low=found.low & [True, False])):
        np.testing.assert_allclose(reach, want, atol=1e-4)


def test_flights_of_the_clip_are_left_to_it(skeleton):
    """A jump's feet have no plan of landing later: its body is braked as on the ground."""
    found = stance.read(actor_of(skeleton), jumping(skeleton), 1.0)
    assert found.flies.sum() > 20 and not hop.stands(found)[found.flies].any()
    assert (hop.stands(stance.read(actor_of(skeleton), clip_of(skeleton), 1.0)) == 1.0).all()
    high, *_, borne = lifted(found, 2.4, int(np.argmax(found.flies)) - 1)
    assert high[found.flies].max() > 0.1 and (borne[found.flies] == 1.0).all()


def test_a_second_push_in_the_air_changes_nothing_before_itself(skeleton):
    """And adds its speed, which nothing brakes there either."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    push, later = np.zeros((2, len(found.times))), START + 12
    push[[0, 1], [START, later]] = 2.0, 0.7
    blows = [Span(float(found.times[k]), float(found.times[k]) + 2.7) for k in (START, later)]
    still = Struck.nothing(found.down.shape)
    first, both = (dip.dip(found, push[:n], still, blows[:n]) for n in (1, 2))
    assert first[3][later] == 0.0
    np.testing.assert_array_equal(both[0][: later + 1], first[0][: later + 1])
    flies = np.flatnonzero(first[3] == 0.0)
    flies = flies[flies > later]
    assert len(flies) > 5
    np.testing.assert_allclose((both[1] - first[1])[flies], 0.7, atol=1e-9)


def test_in_the_air_nothing_turns_a_body_back(skeleton):
    """It goes on as fast as it left the ground, where one that is only pushed aside is braked."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    thrown, aside = (pushed(found, 0.3, 0.0, up) for up in (2.4, 0.0))
    flies = np.flatnonzero(lifted(found, 2.4)[3] == 0.0)
    np.testing.assert_allclose(thrown.rate[flies, 0], thrown.rate[flies[0], 0], rtol=1e-6)
    np.testing.assert_allclose(thrown.pull[flies[:-1], :2], 0.0, atol=1e-5)
    assert aside.rate[flies[-1], 0] < 0.5 * thrown.rate[flies[-1], 0]


def test_the_weight_that_is_shown_flies_and_feet_come_down_where_they_were(reaction):
    """What is seen: both feet leave the ground, the weight then falls by g, feet meet the ground under bent knees, and
    stand where they stood."""
    reaction, clip = reaction
    found, (q, p), own = reaction.footing.stance, reaction.poses(clip), reaction.actor.canonical(clip)
    high, since = soles(found, q, p), clip.times - reaction.start
    air = np.flatnonzero((high > 0.05).all(axis=1))
    assert 15 < len(air) < 30 and (np.diff(air) == 1).all()
    assert 0.08 < high.max() < 0.3 and high.min() > -1e-3
    t, z = since[air], centre_of(reaction.model, q, p)[air, 2]
    fall = np.polyfit(t, z, 2)
    assert 2.0 * fall[0] == pytest.approx(-9.81, rel=0.05)
    assert np.abs(np.polyval(fall, t) - z).max() < 2e-3
    knees = [ik.bend(limb, q, p)[0] - ik.bend(limb, *own)[0] for limb in found.limbs]
    landed = (since > t[-1]) & (since < t[-1] + 0.4)
    assert min(np.degrees(knee[landed].max()) for knee in knees) > 15.0
    feet = [limb.end for limb in found.limbs]
    away = np.linalg.norm((p - own[1])[:, feet], axis=-1)
    assert away[since > t[-1] + 0.15].max() < 0.01


@pytest.mark.parametrize("impulse", [30.0, 45.0])
def test_legs_do_not_draw_down_a_pelvis_that_is_lifted_off_them(skeleton, impulse):
    """Straight legs that would be too short for it had drawn it back by half: it rises with the weight."""
    clip = standing(skeleton)
    hit = Hit(25.0, bone="pelvis", impulse=impulse, contact=0.005, direction=UP)
    reaction = hit_on(skeleton, "chest_front", clip=clip, hit=hit)
    pelvis, (_, p), (_, own) = reaction.footing.base, reaction.poses(clip), reaction.actor.canonical(clip)
    planned = reaction.footing.plan.shifted(clip.times)[:, 2]
    assert planned.max() > 0.03
    assert (p - own)[:, pelvis, 2].max() == pytest.approx(planned.max(), rel=0.1)


def test_feet_that_are_lifted_off_the_ground_point_down(reaction):
    """Toes leave it last and meet it first, by as much as a foot hangs."""
    reaction, clip = reaction
    found, (q, _) = reaction.footing.stance, reaction.poses(clip)
    for leg, limb in enumerate(found.limbs):
        toes = rotate(q[:, limb.end], found.tips[leg])
        down = np.degrees(np.arctan2(-toes[:, 2], np.linalg.norm(toes[:, :2], axis=-1)))
        assert 15.0 < (down - down[0]).max() < 23.0
        assert abs(down[-1] - down[0]) < 0.1


def test_only_heels_of_feet_that_stood_rise_under_a_body_that_is_lifted(skeleton):
    """One that the clip puts down meanwhile lands as in the clip; once the body is down again, all may."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    down = found.down.copy()
    down[:40, 1] = False
    high = np.zeros(len(found.times))
    high[30:60], high[80:90] = 0.2, 0.2
    heels = hop.stood(replace(found, down=down), high)
    np.testing.assert_array_equal(heels[:60], np.tile([1.0, 0.0], (60, 1)))
    np.testing.assert_array_equal(heels[60:], 1.0)


def test_feet_that_stand_when_a_body_is_lifted_once_more_are_those_that_stood(skeleton):
    """A spring never is at its end: millimetres are left of an earlier push, off the other foot."""
    found = stance.read(actor_of(skeleton), clip_of(skeleton), 1.0)
    first, later = (
        int(np.flatnonzero(found.down[:, leg] & ~found.down[:, 1 - leg])[i]) for leg, i in ((0, 5), (1, 45))
    )
    push = np.zeros((2, len(found.times), 3))
    push[0, first, 2], push[1, later, 2] = 0.5, 2.4
    blows = [Span(float(found.times[k]), float(found.times[k]) + 2.7) for k in (first, later)]
    plan = steps.plan(found, push, Struck.nothing(found.down.shape), blows)
    assert 1e-4 < plan.shift[later, 2] < hop.LEAST
    up = np.flatnonzero(plan.shift[later:, 2] > 0.1) + later
    assert found.down[up, 0].any()  # the clip puts the other down meanwhile
    np.testing.assert_array_equal(plan.stood[up], np.tile([0.0, 1.0], (len(up), 1)))


def test_who_does_not_land_before_the_reaction_ends_is_lifted_less(skeleton):
    """The end would pull him down from metres, untold."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    assert not pushed(found, 0.0, 0.0, 6.0).astray and pushed(found, 0.0, 0.0, 12.0).astray
    hit = Hit(25.0, bone="pelvis", impulse=900.0, contact=0.005, direction=UP)
    reaction = hit_on(skeleton, "chest_front", clip=standing(skeleton), hit=hit)
    assert reaction.footing.fell and any("stronger than feet can catch" in text for text in reaction.warnings)
    plan, near = reaction.footing.plan, reaction.blows[0].end - CLOSE
    assert plan.shift[:, 2].max() > 1.0
    assert plan.shifted(np.array([near]))[0, 2] < 0.1
