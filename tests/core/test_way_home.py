"""How a weight that feet have caught comes home: step by step, no faster than feet follow."""

from dataclasses import replace

import numpy as np
import pytest

from core import stance, steps
from core.plan import CLOSE, CLOSED, Span, Struck
from core.support import onto, plane

from .figures import build
from .test_react import actor_of, clip_of, standing

WAYS = [np.array([np.cos(a), np.sin(a)]) for a in np.arange(8) * np.pi / 4]


def read(skeleton, clip):
    return stance.read(actor_of(skeleton), clip, clip.times[0] + 0.5)


@pytest.fixture(scope="module")
def walk():
    skeleton = build(skin=True)
    return read(skeleton, clip_of(skeleton))


@pytest.fixture(scope="module")
def stand():
    skeleton = build(skin=True)
    return read(skeleton, standing(skeleton, 4.0))


def pushed(found, blow, push, end=2.7):
    """The plan after a push [m/s] at a sample."""
    pushes = np.zeros((1, len(found.times), 3))
    pushes[0, blow, :2] = push
    start = float(found.times[blow])
    return steps.plan(found, pushes, Struck.nothing(found.down.shape), [Span(start, start + end)])


def landings(found, blow, until):
    """(sample, leg) of feet that the clip puts down after a blow, up to a time."""
    k, leg = np.nonzero(found.down[1:] & ~found.down[:-1])
    return [(i + 1, j) for i, j in zip(k, leg, strict=True) if i + 1 > blow and found.times[i + 1] < until]


@pytest.mark.parametrize("way", WAYS)
def test_the_capture_point_comes_home_by_what_feet_are_put_for(walk, way):
    """Six tenths of its way in each step, and all of it when no time is left: where soles press as far as they get, it
    is back before the feet are, and the weight falls home ahead of them.  It is no quicker than the other foot, which
    has this one between itself and home and can only come up to it."""
    blow = 38
    plan = pushed(walk, blow, 0.92 * way)
    start = walk.times[blow]
    feet = landings(walk, blow, start + 2.7 - CLOSE)
    at = [k for k, _ in feet]
    off = (plan.shift + plan.rate / walk.pace[:, None])[at, :2]
    size = np.linalg.norm(off, axis=-1)
    assert plan.lost is None and not plan.astray and size[0] > 0.25
    for i, (k, leg) in enumerate(feet[1:3]):  # the next one to land, whose own side is away from the one before
        aside = (walk.hip[k, leg] - walk.hip[k, 1 - leg])[:2]
        aside /= np.linalg.norm(aside)
        room = (walk.ankle[k, leg] - walk.ankle[k, 1 - leg])[:2] @ aside - walk.apart
        comes = min(0.6, room / max(off[i] @ aside, 1e-9))
        assert abs(size[i + 1] / size[i] - (1.0 - comes)) < 0.05
    assert size[3] < 0.35 * size[2]


def test_a_foot_that_leaves_the_ground_in_time_finds_home_in_the_air(walk):
    """It need not be home a whole step before: it lands under the weight, and nothing is off at the end."""
    blow, end = 38, 2.45
    start = walk.times[blow]
    k, leg = landings(walk, blow, start + end)[2]
    leaves, again = walk.stays(k, leg), walk.lands(walk.stays(k, leg), leg)
    assert walk.times[leaves] - start <= end - CLOSE and walk.times[again] - start > end - CLOSED
    plan = pushed(walk, blow, [1.2, 0.0], end)
    capture = (plan.shift + plan.rate / walk.pace[:, None])[k, :2]
    assert np.linalg.norm(capture) > 0.08
    assert np.linalg.norm(plan.feet[k, leg, :2] - capture) < 0.5 * np.linalg.norm(capture)
    assert np.ptp(plan.feet[k:leaves, leg], axis=0).max() < 1e-9  # it doesn't slide
    late = walk.times > start + end - CLOSED + 1e-6
    assert not plan.astray and np.abs(plan.feet[late]).max() < 0.005 and np.abs(plan.shift[late]).max() < 1e-9


@pytest.mark.parametrize("way", (WAYS[0], WAYS[1], WAYS[7]))
def test_the_last_foot_of_a_clip_that_then_stands_catches_the_weight(stand, way):
    """There is time for a step of its own home: landed at home at once, it lets the weight run off three times as far,
    or fall."""
    down = stand.down.copy()
    down[20:50, 0] = False
    plan = pushed(replace(stand, down=down), 30, 0.7 * way)
    capture = (plan.shift + plan.rate / stand.pace[:, None])[50, :2]
    assert plan.lost is None and not plan.astray and [move.way for move in plan.moves] == [(0.0, 0.0)]
    assert np.linalg.norm(plan.feet[50, 0, :2] - capture) < 0.1 < 0.5 * np.linalg.norm(capture)
    assert np.linalg.norm(plan.shift[:, :2], axis=-1).max() < 0.25


@pytest.mark.parametrize("side", (-1.0, 1.0))
def test_a_hard_push_sideways_is_caught_by_the_foot_on_that_side(stand, side):
    """It steps out at once: to draw the other foot near first leaves the weight beyond both for a step longer."""
    across = stand.ankle[30, 0, :2] - stand.ankle[30, 1, :2]
    way = side * across / np.linalg.norm(across)
    plan = pushed(stand, 30, 0.8 * way)
    first = plan.moves[0]
    assert first.leg == (0 if side > 0 else 1)
    k = int(np.searchsorted(stand.times, first.end - 1e-6))
    capture = (plan.shift + plan.rate / stand.pace[:, None])[k, :2] @ way
    reach = (stand.soles + plan.feet[:, stand.owner, :2] - stand.nominal[:, None])[k, stand.owner == first.leg] @ way
    assert plan.lost is None and capture < reach.max() + 0.05  # by the width of a sole


@pytest.mark.parametrize("push", (0.6, 0.8))
def test_a_step_lands_where_the_weight_will_be_and_not_beside_it(stand, push):
    """While a foot is in the air the other pushes the weight to the side of the foot that steps, up to 13 cm: the
    ground between both feet must have it as soon as that lands."""
    stepped = 0
    for way in WAYS:
        plan = pushed(stand, 30, push * way)
        if not plan.moves:
            continue
        k = int(np.searchsorted(stand.times, plan.moves[0].end - 1e-6))
        capture = complex(*(plan.shift + plan.rate / stand.pace[:, None])[k, :2])
        soles = plane(stand.soles + plan.feet[:, stand.owner, :2] - stand.nominal[:, None])[k]
        assert abs(capture - onto(soles.tolist(), capture)) < 1e-6
        stepped += 1
    assert stepped == 5


@pytest.mark.parametrize("way", (WAYS[5], WAYS[7]))
def test_a_foot_goes_home_once_the_other_holds_the_weight(stand, way):
    """On short legs it waits until the weight has come near enough: gone at once, it lets the body down."""
    short = replace(stand, length=np.full(2, 0.4))
    plan = pushed(short, 30, 0.9 * way)
    assert plan.lost is None and [move.way == (0.0, 0.0) for move in plan.moves] == [False, True]


def test_a_foot_takes_its_whole_time_for_a_step(stand):
    """From rest to rest evenly: six times its way by its time squared is the least that starts and stops it."""
    plan = pushed(stand, 30, [1.0, 0.0])
    for move in plan.moves:
        a, b = np.searchsorted(stand.times, [move.start - 1e-6, move.end - 1e-6])
        at = plan.feet[a : b + 1, move.leg, :2]
        seconds, way = move.end - move.start, np.linalg.norm(at[-1] - at[0])
        hurried = 3600.0 * np.linalg.norm(np.diff(at, n=2, axis=0), axis=-1).max()
        assert way > 0.2 and hurried < 7.2 * way / seconds**2


@pytest.mark.parametrize("side", (-1.0, 1.0))
def test_a_foot_that_comes_home_past_the_other_does_so_in_one_step(stand, side):
    """Once it is on its own side it goes on: it doesn't stop beside the other until it lands, 8 cm from home."""
    plan = pushed(stand, 30, 0.5 * np.array([side, 1.0]))
    assert plan.lost is None and len({move.leg for move in plan.moves}) == 1
    out, back = plan.moves
    assert back.way == (0.0, 0.0) and np.hypot(*out.way) > 0.3
    for move in plan.moves:
        k = int(np.searchsorted(stand.times, move.end - 1e-6))
        np.testing.assert_allclose(plan.feet[k, move.leg, :2], move.way, atol=1e-9)


def test_what_fades_near_the_end_does_so_at_the_rate_that_is_told(walk):
    """Feet in the air and those that slide: the way from sample to sample is the mean of the rates at both."""
    for end in (1.2, 2.0, 2.7):
        plan, since = pushed(walk, 38, [0.9, 0.3], end), walk.times - walk.times[38] - end
        fades = np.flatnonzero((since > 0.01 - CLOSE) & (since < -0.03 - CLOSED))
        for way, rate in ((plan.shift, plan.rate), (plan.feet, plan.speed)):
            gone = np.diff(way, axis=0)[fades] * 60.0
            told = 0.5 * (rate[1:] + rate[:-1])[fades]
            assert np.abs(gone).max() > 0.05 and np.abs(gone - told).max() < 0.02 * np.abs(gone).max()
