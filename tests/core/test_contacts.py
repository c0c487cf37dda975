"""What runs ask of feet that stand between flights."""

import numpy as np
import pytest

from core import contacts, settling, stance
from core.haste import bends
from core.react import Hit
from core.support import fall

from .figures import build
from .test_balance import jumping, shown
from .test_react import actor_of, clip_of, hit_on


def run_of(stands, flies, strides=4):
    """(K,) bool, in flight, of even strides that begin and end in the middle of a flight."""
    half = flies // 2
    return np.tile(np.array([True] * half + [False] * stands + [True] * (flies - half)), strides)


@pytest.mark.parametrize("stands, flies", [(6, 18), (14, 9), (20, 0)])
def test_feet_bear_the_flights_as_well(stands, flies):
    """Over a stride the ground gives a body its weight, no more and no less."""
    air = run_of(stands, flies)
    load = contacts.load(air)
    whole = load[stands + flies : 3 * (stands + flies)]
    ground = ~air[stands + flies : 3 * (stands + flies)]
    assert whole[ground].sum() == pytest.approx(len(whole))
    np.testing.assert_array_equal(load[air], 1.0)


@pytest.mark.parametrize("cut", [1, 4, 30])
def test_a_contact_that_the_clip_cuts_bears_no_more_than_one_as_long_as_the_flight(cut):
    """Of two samples of a contact nobody knows how long it lasts: alone they would bear 4.75 times the weight."""
    air = np.array([False] * cut + [True] * 15 + [False] * cut)
    np.testing.assert_allclose(contacts.load(air)[~air], 1.0 + 7.5 / max(cut, 15))


def test_a_run_falls_as_fast_as_who_stands():
    """A body that bounces is as unstable from stride to stride as one that bears its weight all the time: its feet
    stand more briefly, but press harder by as much.  Plain steps of both pendulums, 0.1 s of 0.24 on the ground."""
    pace, h, x, v = 3.2, 1e-3, 0.0, 0.1
    air = run_of(100, 140, 6)
    for k, load in zip(air, contacts.load(air), strict=True):
        if not k:
            v += h * pace**2 * load * x
        x += h * v
    stands = fall(np.zeros(1), np.array([0.1]), np.zeros(1), pace, h * len(air))
    assert np.log(x / float(stands[0][0])) / (h * len(air)) == pytest.approx(0.0, abs=0.02 * pace)


def test_no_ground_draws_a_body_down_in_flight():
    """Hips that sink for legs that don't reach do so while feet stand, all of the way in 0.3 s; in a walk as ever."""
    figure = build()
    actor = actor_of(figure)
    found, walk = (stance.read(actor, clip, 1.0) for clip in (jumping(figure), clip_of(figure)))
    assert found.flies.any() and not walk.flies.any()
    np.testing.assert_array_equal(walk.sinks, walk.bears)
    np.testing.assert_array_equal(walk.aloft, 0.0)
    assert found.aloft[found.flies].min() > 0.99 and found.aloft[[0, -1]].max() == 0.0
    np.testing.assert_array_equal(walk.sway, walk.pace)
    assert found.sinks[found.flies].max() < 0.01
    lands = np.flatnonzero(found.flies)[-1] + 1
    np.testing.assert_allclose(found.sinks[lands : lands + 9], found.bears[lands - 9 : lands])  # from there on
    np.testing.assert_allclose(found.sinks[[0, lands + 18]], 1.0)
    stood = found.down.all(axis=1)
    assert np.all(found.sway[stood] > found.pace[stood]) and np.all(found.sway[stood] < 1.5 * found.pace[stood])


def test_a_clip_of_a_few_samples_is_read_as_well():
    figure = build()
    short = shown(jumping(figure), np.arange(1.0, 5.0, 0.4))
    found = stance.read(actor_of(figure), short, float(short.times[0]))
    assert len(found.times) < 2 * contacts.SHIFTED
    np.testing.assert_allclose(found.sinks, 1.0)


@pytest.fixture(scope="module")
def landed():
    """A reaction to a blow in a jump, which lands 0.39 s later."""
    figure = build(skin=True)
    hit = Hit(27.8, impulse=60.0, direction=np.array([0.0, 1.0, 0.0]))
    return hit_on(figure, "chest_front", clip=jumping(figure), hit=hit)


def test_a_knee_does_not_snap_where_a_body_runs_away_from_its_foot(landed):
    """A hip goes away from a foot that stands: eased, the knee straightens over more of the way, half as suddenly.
    What is on its clip stays there either way."""
    footing, limb = landed.footing, landed.footing.stance.limbs[0]
    q, p = landed.actor.canonical(jumping(build(skin=True)))
    p = np.tile(p[:1], (41, 1, 1))
    length = np.linalg.norm(np.diff(p[0, [limb.upper, limb.lower, limb.end]], axis=0), axis=-1).sum()
    p[:, limb.end, 2] = p[:, limb.upper, 2] - 0.9 * length
    own = p.copy()
    own[:, [limb.upper, limb.lower], 0] += np.linspace(0.0, 0.6 * length, 41)[:, None]
    foot, none = (p[:, limb.end], np.tile(q[:1, limb.end], (41, 1))), np.zeros(41)
    sudden = []
    for eased in (0.0, settling.RUNS):
        at, _ = footing._risen(limb, p, own, foot, none, none + eased, none, (none, none))
        np.testing.assert_allclose(at[0], foot[0][0], atol=1e-9)
        knee = bends(at - own[:, limb.upper], length)
        sudden.append(np.abs(np.diff(knee, n=2)).max())
    assert sudden[1] < 0.5 * sudden[0]


def test_legs_are_eased_in_the_air_and_as_a_run_goes_on(landed, monkeypatch):
    """Where flights are near, on the ground too; where a walk stands, not at all."""
    seen = []
    risen = settling.Settling._risen
    monkeypatch.setattr(settling.Settling, "_risen", lambda *args: seen.append(args[-4:-2]) or risen(*args))
    clip = jumping(build(skin=True))
    landed.poses(clip)
    times = clip.times[(clip.times > landed.start) & (clip.times < landed.end)]
    aloft = landed.footing.stance.at(landed.footing.stance.aloft, times)
    air, eased = seen[0]
    lands = (air < 0.01) & (aloft > 0.5)
    assert lands.any() and eased[lands].min() > 0.3
    seen.clear()
    figure = build(skin=True)
    walk = hit_on(figure, "chest_front")
    walk.poses(clip_of(figure))
    air, eased = seen[0]
    assert (air == 0.0).any() and eased[air == 0.0].max() == 0.0 and eased.max() > 0.9
