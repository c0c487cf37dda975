"""Feet in the air that a blow drives to the ground."""

from dataclasses import replace

import numpy as np
import pytest

from core import lowering
from core.progress import run
from core.react import Hit, react
from core.rotation import rotate
from core.situation import named

from .figures import build
from .test_react import actor_of, hit_on
from .test_struck import in_the_air

LATE = 28  # samples after which the swing's foot is on its way down


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def struck_down(skeleton, passed=LATE, bone="thigh.R", impulse=100.0, direction=(0.0, 0.0, -1.0)):
    """(clip, its stance, right leg, sample, reaction) of a blow so long after its foot has left the ground."""
    clip, found, leg, k = in_the_air(skeleton, passed)
    hit = Hit(float(found.times[k]) * clip.fps, bone=bone, impulse=impulse, direction=np.array(direction), along=0.7)
    return clip, found, leg, k, hit_on(skeleton, "leg_front", clip=clip, hit=hit)


def test_a_foot_that_is_driven_to_the_ground_stands_there(skeleton):
    """Sooner than in the clip and short of its place: it is on the ground, goes with it and bears the weight."""
    clip, found, leg, k, reaction = struck_down(skeleton)
    plan, limb = reaction.footing.plan, found.limbs[leg]
    stands, due = plan.stance.lands(k, leg), found.lands(k, leg)
    assert k < stands <= due - 5
    p, q = (x[:, limb.end] for x in reversed(reaction.poses(clip)))
    soles = p[:, None] + rotate(q[:, None], found.points[found.owner == leg])
    high = (soles[..., 2] - found.level[found.owner == leg]).min(axis=1)
    rests = (clip.times > found.times[stands]) & (clip.times < found.times[due] + 0.2)
    assert rests.sum() > 4 and np.abs(high[rests]).max() < 0.012
    gone, clips = (
        np.linalg.norm(np.diff(x[rests, :2], axis=0) - found.ground / clip.fps, axis=-1).sum()
        for x in (p, reaction.actor.canonical(clip)[1][:, limb.end])
    )
    assert gone < 0.025 and clips > 4.0 * gone  # after landing the clip's own foot goes that far
    short = plan.feet[due, leg] @ np.append(found.ankle[k, leg, :2] - found.ankle[due, leg, :2], 0.0)
    assert short > 0.0


@pytest.mark.parametrize(
    "other",
    [
        {"passed": 8},  # early in its swing it goes on, drawn up
        {"bone": "shin.R"},  # it scrapes
        {"impulse": 5.0},
        {"direction": (0.0, 0.0, 1.0)},
        {"direction": (1.0, 0.0, 0.0)},
    ],
)
def test_other_feet_land_with_the_clip(skeleton, other):
    _, found, leg, k, reaction = struck_down(skeleton, **other)
    assert reaction.footing.plan.stance.lands(k, leg) == found.lands(k, leg)
    assert "passed" not in other or reaction.footing.plan.draws[:, leg].any()


def test_a_foot_goes_on_its_clips_way_until_it_is_braked(skeleton):
    """It comes to rest where no more than its own speed takes it, and is on the ground from when it meets it."""
    _, found, leg, k = in_the_air(skeleton, LATE)
    falls = np.maximum(found.times - found.times[k], 0.0)
    put = lowering.lowered(found, k, leg, falls)
    now = lowering.landed(found, put)
    ways = lowering.way(found, now, put)
    some = np.arange(k, put.due + 1)
    assert len(ways) == len(some) and now.lands(k, leg) == put.due

    def over_ground(x):
        return x.ankle[some, leg, 0] + 1j * x.ankle[some, leg, 1] - x.times[some] * complex(*x.ground)

    shown, clips = over_ground(now) + [place for place, *_ in ways], over_ground(found)
    begins = len(some) - 1 - lowering.BRAKES
    np.testing.assert_allclose(shown[: begins + 1], clips[: begins + 1], atol=1e-12)
    rates = np.abs(np.diff(shown))
    assert (np.diff(rates[begins:]) < 0.35 * rates[begins - 1]).all() and rates[-1] < 0.75 * rates[begins - 1]
    assert abs(shown[-1] - shown[begins] - lowering.BRAKES * (clips[begins] - clips[begins - 1])) < 1e-12
    np.testing.assert_allclose(ways[0][:2], 0.0, atol=1e-12)
    assert ways[-1][2:] == (0.0, 0.0)


def test_a_foot_that_would_stand_too_short_goes_on(skeleton):
    """The weight wouldn't get over it."""
    _, found, leg, k = in_the_air(skeleton, LATE)
    falls = np.maximum(found.times - found.times[k], 0.0)
    assert lowering.lowered(found, k, leg, falls) is not None
    assert lowering.lowered(replace(found, length=0.1 * found.length), k, leg, falls) is None
    assert lowering.lowered(found, k, leg, 0.0 * falls) is None


def test_nothing_before_a_second_blow_knows_of_it(skeleton):
    """That one drives a foot to the ground."""
    clip, found, leg, k = in_the_air(skeleton, LATE)
    down = Hit(float(found.times[k]) * clip.fps, bone="thigh.R", impulse=100.0, direction=np.array((0.0, 0.0, -1.0)))
    first = (named("chest_front"), Hit(down.frame - 4.0, impulse=30.0))
    actor = actor_of(skeleton)
    alone, both = (run(react(actor, clip, *first, further=m)) for m in ([], [(named("leg_front"), down)]))
    (_, p), (_, p1) = (reaction.poses(clip) for reaction in (alone, both))
    off, since = np.linalg.norm(p1 - p, axis=-1).max(axis=1), clip.times - found.times[k]
    assert both.footing.plan.stance.lands(k, leg) < found.lands(k, leg)
    assert off[since > 0.0].max() > 0.05
    assert off[since < 1e-6].max() < 2e-5
