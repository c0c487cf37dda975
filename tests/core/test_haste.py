"""Feet in the air: how they go along with the weight, and those that land before the clip's time."""

from dataclasses import replace

import numpy as np
import pytest

from core import haste, landing, stance, steps
from core.plan import Span, Struck
from core.progress import run
from core.react import react
from core.reference import to_joints
from core.resample import rotations
from core.rotation import angle
from core.situation import named

from .test_react import Hit, clip_of, hit_on


@pytest.fixture(scope="module")
def found(actor, clip):
    return stance.read(actor, clip, clip.times[0] + 0.5)


def swing(found, leg):
    """A sample early in a swing of a leg."""
    return int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[1]) + 3


@pytest.mark.parametrize("part", (0.3, 1.0))
def test_a_hastened_foot_makes_the_clips_own_way_sooner(found, part):
    """Seen from the ground its way is the clip's, later samples of which come earlier; it doesn't run backwards."""
    leg = 0
    k = swing(found, leg)
    due = found.lands(k, leg)
    at = due - int(part * (due - max(haste.soonest(found, k, leg), due - 8)))
    now = haste.hastened(found, k, leg, at)
    assert now.lands(k, leg) == at < due
    assert now.stays(now.lands(k, leg), leg) == found.stays(due, leg)
    own, sooner = (x.ankle[:, leg] - found.times[:, None] * np.append(found.ground, 0.0) for x in (found, now))
    fine = np.linspace(0, len(own) - 1, 20 * len(own))
    way = np.stack([np.interp(fine, np.arange(len(own)), x) for x in own.T], axis=-1)
    some = slice(k, found.stays(due, leg))
    apart = np.linalg.norm(sooner[some, None] - way[None], axis=-1)
    assert apart.min(axis=1).max() < 0.003  # chords between samples
    forth, clips = (np.diff(x[some, :2], axis=0) @ (own[due] - own[k])[:2] for x in (sooner, own))
    assert forth.min() > clips.min() - 0.001 * forth.max()
    assert np.array_equal(sooner[: k + 1], own[: k + 1])
    late = (due + found.stays(due, leg)) // 2
    assert np.abs(sooner[late:] - own[late:]).max() < 1e-12
    assert np.array_equal(now.down[:, 1 - leg], found.down[:, 1 - leg])
    assert np.linalg.norm((sooner - own)[k:late], axis=-1).max() > 0.05 * part


@pytest.fixture(scope="module")
def legless(actor, clip):
    """A clip may put knees and ankles where hips are."""
    place = clip.position.copy()
    for side in "LR":
        hip, *rest = (actor.skeleton.index(f"{name}.{side}") for name in ("thigh", "shin", "foot"))
        place[:, rest] = place[:, [hip]]
    return replace(clip, position=place)


def test_legs_of_no_length_plan_finite_steps(actor, legless):
    found = stance.read(actor, legless, legless.times[0] + 0.5)
    assert found.length.max() == stance.SHORTEST
    found = replace(found, down=np.arange(len(found.times))[:, None] // 20 % 3 != [0, 1])  # one lifts, then the other
    push = np.zeros((1, len(found.times), 3))
    push[0, 30, :2] = 1.0, 0.5
    start = float(found.times[30])
    plan = steps.plan(found, push, Struck.nothing(found.down.shape), [Span(start, start + 2.7)])
    assert np.isfinite(plan.feet).all() and np.isfinite(plan.shift).all() and np.isfinite(plan.turned).all()


def test_legs_of_no_length_are_shown(actor, legless):
    """They point nowhere, so nothing turns them; what is hit does turn."""
    reaction = run(react(actor, legless, named("chest_front"), Hit(25.0)))
    with np.errstate(invalid="raise"):
        q, p = reaction.poses(legless)
    assert reaction.footing is not None and max(reaction.peaks().values()) > 5.0
    assert np.isfinite(q).all() and np.isfinite(p).all()


def longer(found, by):
    """The walk, but with feet that stand so many samples longer at either end."""
    stands = [np.any([np.roll(x, i) for i in range(-by, by + 1)], axis=0) for x in found.down.T]
    return replace(found, down=np.stack(stands, axis=1))


@pytest.fixture(scope="module")
def running(found):
    """The walk, but with the ends of its contacts only, between which the weight is thrown into the air."""
    down, height = np.zeros_like(found.down), np.full_like(found.height, found.height.mean())
    for leg in (0, 1):
        for a, b in runs(found.down[:, leg]):
            down[b - 9 * (b - a) // 20 : b, leg] = True
    for a, b in runs(~down.any(axis=1)):
        since = found.times[a:b] - found.times[a]
        height[a:b] += 0.5 * 9.81 * since * (found.times[b] - found.times[a] - since)
    return replace(found, down=down, height=height)


def runs(true):
    """Where (K,) bool is true, but at both ends: [(first, one after the last)]."""
    edges = np.flatnonzero(np.diff(1 * true)) + 1
    edges = edges[int(true[0]) :]
    return list(zip(edges[::2], edges[1::2], strict=False))


@pytest.mark.parametrize("braked", (1.0, 1.1))
def test_a_foot_of_a_run_lands_where_its_leg_reaches_all_the_time_that_it_stands(running, braked):
    """At both ends of its contact: there is no time for hips to sink, as they may while a walk steps far out."""
    assert running.flies.any()
    leaping = replace(running, height=np.full_like(running.height, running.height.mean()))
    assert np.array_equal(leaping.down, running.down) and not leaping.flies.any()
    lacks = []
    for stood in (running, leaping):
        blow = runs(stood.down[:, 0])[1][1]
        push = np.zeros((1, len(stood.times), 3))
        push[0, blow, :2] = braked * stood.ground / np.linalg.norm(stood.ground)
        start = float(stood.times[blow])
        plan = steps.plan(stood, push, Struck.nothing(stood.down.shape), [Span(start, start + 2.7)])
        lacks.append(0.0)
        for leg in (0, 1):
            due = np.array([k for a, b in runs(stood.down[:, leg]) for k in (a, b - 1) if blow < a < blow + 100])
            legs = (stood.ankle - stood.hip)[due, leg]
            far = legs + (plan.feet - plan.hastened)[due, leg] - plan.shift[due]
            own, now = (np.linalg.norm(x, axis=-1) for x in (legs, far))
            lacks[-1] = max(lacks[-1], (now - np.maximum(own, stood.length[leg])).max())
    assert lacks[0] < 0.01 and lacks[1] > 0.03


@pytest.fixture(scope="module")
def strolling(found):
    """Feet that stand longer than they swing."""
    return longer(found, 7)


@pytest.mark.parametrize(("impulse", "sooner"), [(20.0, False), (60.0, True)])
def test_a_foot_that_must_catch_the_weight_lands_sooner(strolling, impulse, sooner):
    """Not before feet answer the blow, and in proportion; its way has no jump."""
    blow = int(np.flatnonzero(strolling.down[:-1, 0] & ~strolling.down[1:, 0])[1])
    start = float(strolling.times[blow])
    push = np.zeros((1, len(strolling.times), 3))
    push[0, blow, :2] = impulse / 75.0, 0.0
    plan = steps.plan(strolling, push, Struck.nothing(strolling.down.shape), [Span(start, start + 2.7)])
    early = (plan.stance.down & ~strolling.down).any(axis=1)
    assert early.any() == sooner and plan.hastened.any() == sooner == plan.turned.any()
    assert not plan.hastened[plan.times < start + landing.NOTICE - 1e-6].any()
    if sooner:
        lands, due = (x.lands(blow + 2, 0) for x in (plan.stance, strolling))
        assert 0.05 < strolling.times[due] - strolling.times[lands] < 0.2
        between = (plan.feet[1:] + plan.feet[:-1]) / 2.0 + (plan.speed[:-1] - plan.speed[1:]) / (8.0 * 60.0)
        middle = plan.at(plan.times[:-1] + 0.5 / 60.0)[1]
        np.testing.assert_allclose(middle, between, atol=1e-9)
        assert np.abs(np.diff(plan.hastened, axis=0)).max() < 0.12  # [m] in 1/60 s, of a leg that swings at 2 m/s


def test_a_foot_is_shown_where_it_is_hastened_to(actor):
    """As it lies on the ground then, wherever the clip's foot is in the air."""
    clip, leg = clip_of(actor.skeleton, fps=60.0), 0
    reaction = hit_on(actor.skeleton, "chest_front", clip=clip, hit=Hit(31.0, impulse=1e-6))
    footing = reaction.footing
    found = footing.stance
    k = swing(found, leg)
    now = haste.hastened(found, k, leg, found.lands(k, leg) - 3)  # this walk goes 2 m/s: its legs reach no farther
    way, pace, turn = haste.off(found, now)
    plan = replace(footing.plan, stance=now, feet=way, speed=pace, hastened=way, turned=turn)
    q, p = actor.canonical(clip)
    some = (clip.times > found.times[k]) & (clip.times < found.times[found.lands(k, leg)] - 1e-6)
    joints, at = to_joints(reaction.model, q[some], p[some])
    shown = replace(footing, stance=now, plan=plan).settled(
        reaction.model, (q[some], p[some]), clip.times[some], joints, at, np.ones(len(actor.parent))
    )
    foot = found.limbs[leg].end
    early = now.down[np.searchsorted(now.times, clip.times[some] - 1e-6), leg]
    there = now.at(now.ankle[:, leg], clip.times[some])
    assert early.sum() == 3 and np.linalg.norm(there - p[some][:, foot], axis=-1)[early].min() > 0.03
    assert np.linalg.norm(shown[1][:, foot] - there, axis=-1)[early].max() < 0.01  # its legs are nearly straight then
    turned = rotations(now.times, now.turn[:, leg], clip.times[some])
    off, clips = (angle(x[:, foot], turned)[early].max() for x in (shown[0], q[some]))
    assert off < 0.03 < 0.06 < clips


def test_a_foot_that_is_back_only_at_a_clips_end_is_at_rest_at_its_start(found):
    """Rates don't wrap from the end to the start."""
    ankle, t = found.ankle.copy(), found.times - found.times[-1]
    ankle[:, 0, 0] += np.where(t > -0.5, 0.1 * np.sin(2.0 * np.pi * t), 0.0)
    _, pace, _ = haste.off(found, replace(found, ankle=ankle))
    assert not pace[t < -0.6].any()
    late = (t > -0.4) & (t < -0.04)
    assert np.abs(pace[late, 0, 0] - 0.2 * np.pi * np.cos(2.0 * np.pi * t[late])).max() < 1e-4


@pytest.mark.parametrize("direction", ((0.0, 0.45), (0.25, -0.1)))
def test_a_foot_in_the_air_goes_along_with_the_weight(found, direction):
    """The weight is pushed as one foot leaves the ground: 0.2 s before it lands that foot is as far off the clip's as
    a critically damped spring that hangs at the weight, integrated here in small steps; it lands and stays there."""
    k = int(np.flatnonzero(found.down[:-1, 0] & ~found.down[1:, 0])[0]) + 1
    lands, blow = found.lands(k, 0), float(found.times[k])
    push = np.zeros((1, len(found.times), 3))
    push[0, k, :2] = direction
    plan = steps.plan(found, push, Struck.nothing(found.down.shape), [Span(blow, blow + 3.0)])
    until = lands - int(np.ceil(0.2 / (1.0 / 60.0)))
    assert until - k > 6
    times = np.linspace(found.times[k], found.times[until], 4001)
    shift = plan.shifted(times)[:, :2]
    h, foot, v, last = times[1] - times[0], np.zeros(2), np.zeros(2), shift[0]
    for x in shift[1:]:
        v = v + h * (64.0 * (x - foot) + 16.0 * ((x - last) / h - v))
        foot, last = foot + h * v, x
    assert np.linalg.norm(foot) > 0.01
    np.testing.assert_allclose(plan.feet[until, 0, :2], foot, atol=0.005)
    np.testing.assert_allclose(plan.speed[lands, 0], 0.0, atol=1e-12)
    np.testing.assert_array_equal(plan.feet[lands, 0], plan.feet[lands + 3, 0])


@pytest.mark.parametrize("way", (-0.4, 0.4))
def test_a_foot_on_the_ground_that_its_leg_does_not_reach_goes_along_with_its_leg(actor, way):
    """No farther from its place than the leg lacks, but for what keeps it clear of the ground; lifted straight up until
    its leg reaches, one far behind would rise twice as much."""
    clip = clip_of(actor.skeleton, fps=60.0)
    reaction = hit_on(actor.skeleton, "chest_front", clip=clip, hit=Hit(31.0, impulse=1e-6))
    footing, found = reaction.footing, reaction.footing.stance
    off = way * np.append(found.ground, 0.0) / np.linalg.norm(found.ground)
    feet = np.broadcast_to(off, footing.plan.feet.shape)
    q, p = actor.canonical(clip)
    joints, at = to_joints(reaction.model, q, p)
    led = replace(footing, plan=replace(footing.plan, feet=feet, speed=0.0 * feet))
    _, shown = led.settled(reaction.model, (q, p), clip.times, joints, at, np.ones(len(actor.parent)))
    for leg, limb in enumerate(found.limbs):
        down = np.interp(clip.times, found.times, 1.0 * found.down[:, leg]) > 0.999
        place = p[:, limb.end] + off
        lacks = np.linalg.norm(shown[:, limb.upper] - place, axis=-1) - found.length[leg]
        some = down & (lacks > 0.02)
        away = np.linalg.norm(shown[:, limb.end] - place, axis=-1)
        assert some.any() and (away - lacks)[some].max() < 0.03


def test_a_leg_that_hurries_straightens_evenly_until_its_foot_lands():
    """Its foot is ahead of its hip in half of the time: the knee follows the cubic from the rate that it has."""
    length, h, n = 0.8, 1.0 / 60.0, 12
    ahead = np.sin(0.5 * np.pi * np.minimum(np.linspace(0.0, 2.0, n + 1), 1.0)) ** 2
    way = np.stack((0.5 * ahead, 0.0 * ahead, 0.0 * ahead - 0.55), axis=-1)
    knee = haste.bends(way, length)
    thigh = np.arcsin(np.linalg.norm(way, axis=-1) / length)  # half a leg, and half of its way
    np.testing.assert_allclose(knee, np.pi - 2.0 * thigh, atol=1e-12)
    hangs, swift = haste.hanging(way, length, h)
    start, slope, end, T = knee[1], (knee[1] - knee[0]) / h, knee[-1], (n - 1) * h
    a, b = np.linalg.solve([[T**2, T**3], [2.0 * T, 3.0 * T**2]], [end - start - slope * T, -slope])
    t = np.arange(n) * h
    np.testing.assert_allclose(hangs[1:], start + slope * t + a * t**2 + b * t**3, atol=1e-12)
    assert (hangs[3:-1] > knee[3:-1] + 0.01).all()
    angle = np.arccos(way[0] @ way[-1] / np.linalg.norm(way[0]) / np.linalg.norm(way[-1]))
    assert swift == pytest.approx(6.0 * max(angle / (n * h) ** 2, (start - end) / T**2))


def test_a_leg_hurries_no_more_than_it_can(strolling, monkeypatch):
    """One that may start and stop half as swiftly lands later."""
    blow = int(np.flatnonzero(strolling.down[:-1, 0] & ~strolling.down[1:, 0])[1])
    push, span = np.zeros((1, len(strolling.times), 3)), Span(float(strolling.times[blow]), strolling.times[blow] + 2.7)
    push[0, blow, :2] = 0.8, 0.0
    lands = []
    for swift in (haste.SWIFT, 0.5 * haste.SWIFT):
        monkeypatch.setattr(haste, "SWIFT", swift)
        plan = steps.plan(strolling, push, Struck.nothing(strolling.down.shape), [span])
        lands.append(plan.stance.lands(blow + 2, 0))
        assert (plan.hangs[: blow + 6] == 0.0).all() and (plan.hangs[lands[-1] :, 0] < 0.01).all()
    assert plan.hangs.any()
    assert lands[0] + 2 <= lands[1] <= strolling.lands(blow + 2, 0)


def test_a_walk_with_a_moment_of_flight_hastens_onto_the_ground(found):
    """The foot lands while the other still stands: there is no flight then."""
    flies = longer(found, 4)
    blow = int(np.flatnonzero(flies.down[:-1, 0] & ~flies.down[1:, 0])[1])
    due = flies.lands(blow + 2, 0)
    assert due == flies.stays(blow + 4, 1) + 2  # samples in the air
    push = np.zeros((1, len(flies.times), 3))
    push[0, blow, :2] = 0.8, 0.0
    start = float(flies.times[blow])
    plan = steps.plan(flies, push, Struck.nothing(flies.down.shape), [Span(start, start + 2.7)])
    assert plan.stance.lands(blow + 2, 0) < due - 2 and plan.lost is None and not plan.astray
    assert plan.stance.down[blow + 4 : due + 1].any(axis=1).all()


def test_a_foot_that_hangs_is_shown_nearer_to_its_hip(actor):
    clip, leg = clip_of(actor.skeleton, fps=60.0), 0
    reaction = hit_on(actor.skeleton, "chest_front", clip=clip, hit=Hit(31.0, impulse=1e-6))
    footing = reaction.footing
    q, p = actor.canonical(clip)
    air = (footing.stance.at(footing.stance.swings[:, leg], clip.times) >= 1.0) & (clip.times < reaction.end - 0.1)
    joints, at = to_joints(reaction.model, q[air], p[air])
    limb, legs = footing.stance.limbs[leg], []
    for by in (0.0, 0.03):
        hangs = footing.plan.hangs + by * (np.arange(2) == leg)
        shown = replace(footing, plan=replace(footing.plan, hangs=hangs)).settled(
            reaction.model, (q[air], p[air]), clip.times[air], joints, at, np.ones(len(actor.parent))
        )[1]
        legs.append((shown[:, limb.upper], shown[:, limb.end]))
        other = footing.stance.limbs[1 - leg].end
        assert np.linalg.norm(shown[:, other] - p[air][:, other], axis=-1).max() < 2e-3
    (_, led), (hip, foot) = legs  # the hip gives way to a leg that is drawn up
    far, near = (np.linalg.norm(hip - ankle, axis=-1) for ankle in (led, foot))
    np.testing.assert_allclose(far - near, 0.03, atol=5e-6)
    assert np.abs(np.cross(hip - led, hip - foot)).max() < 5e-6
