"""What runs ask of feet that stand between flights."""

import numpy as np
import pytest

from core import contacts, stance
from core.support import fall

from .figures import build
from .test_balance import jumping, shown
from .test_react import actor_of, clip_of


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
