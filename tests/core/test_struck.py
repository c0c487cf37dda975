"""Legs that are hit: flung, giving way under the weight, and never through each other."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import dip, ik, recovery, sides, stance, struck
from core.forces import Pulse
from core.plan import Span, Struck
from core.progress import run
from core.react import Hit, react
from core.situation import named
from core.struck import YIELDS_AFTER
from core.weight import Weight

from .figures import build
from .test_balance import planned
from .test_react import HIT, actor_of, clip_of, hit_on, standing
from .test_sides import seen


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def test_steps_to_the_side_do_not_cross(skeleton):
    """Pushed to the right, the left foot comes beside the right one at most, which then goes on by itself."""
    for impulse in (60.0, 80.0):
        found, plan = planned(skeleton, standing(skeleton), impulse, (1.0, 0.0))
        assert plan.moves
        ankle = found.ankle[..., :2] + plan.feet[..., :2]
        hips = found.hip[:, 0, :2] - found.hip[:, 1, :2]
        apart = np.einsum("ki,ki->k", ankle[:, 0] - ankle[:, 1], hips / np.linalg.norm(hips, axis=1)[:, None])
        assert apart.min() > min(sides.APART, apart[0]) - 1e-6


def test_a_leg_struck_from_outside_swings_past_the_other(skeleton):
    """Its foot may not go through the one that stands, however far the blow sends it: beside it it stays on its side,
    and it gets across before it at most."""
    clip = clip_of(skeleton)
    reaction = hit_on(skeleton, "leg_outside", clip=clip, hit=Hit(25.0, impulse=70.0))
    (_, p), (_, own) = reaction.poses(clip), reaction.actor.canonical(clip)
    room, along, wide = seen(reaction, p)
    before, _, _ = seen(reaction, own)
    assert np.abs(room - before).max() > 0.03
    assert (room - np.minimum(before, sides.least(along, wide))).min() > -0.005


@pytest.mark.parametrize("impulse", [20.0, 100.0, 400.0])
def test_the_ground_takes_of_a_blow_on_a_leg_what_friction_holds(skeleton, impulse):
    """In the middle of a shin three quarters, by its lever, but no more than the friction of soles, 0.8, does to 75 kg
    in the 0.05 s before the leg is swept away: the rest moves the body."""
    actor, clip = actor_of(skeleton), standing(skeleton)
    shin = actor.first("shin.R")
    pulse = Pulse(shin, 0.5 * actor.axis[shin], np.array([0.0, impulse, 0.0]), 1.0, 0.03)
    given = 75.0 * recovery._push(actor, stance.read(actor, clip, 1.0), [pulse], []).sum(axis=0)
    np.testing.assert_allclose(given, [0.0, max(0.25 * impulse, impulse - 0.8 * 75.0 * 9.81 * 0.05), 0.0], rtol=0.01)


@pytest.mark.parametrize(("bone", "up", "part"), [("shin.R", 1.0, 1.0), ("shin.R", -1.0, 0.25), ("chest", -1.0, 1.0)])
def test_the_ground_takes_of_a_blow_downwards_on_a_leg_what_its_lever_says(skeleton, bone, up, part):
    """In the middle of a shin three quarters, whatever friction is; it holds nobody who is pushed up, and takes
    nothing of a blow on the trunk before legs answer; a body in flight goes by itself."""
    actor, found = actor_of(skeleton), stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    body = actor.first(bone)
    pulse = Pulse(body, 0.5 * actor.axis[body], np.array([0.0, 0.0, 400.0 * up]), 1.0, 0.03)
    given = 75.0 * recovery._push(actor, found, [pulse], []).sum(axis=0)
    np.testing.assert_allclose(given, [0.0, 0.0, 400.0 * up * part], rtol=1e-6)
    near = np.abs(found.times - 1.0) < 0.15
    falls = found.height - 0.5 * 9.81 * np.where(near, found.times - 1.0, 0.15) ** 2
    aloft = replace(found, down=found.down & ~near[:, None], height=falls)
    assert aloft.flies[near].all()
    assert not recovery._push(actor, aloft, [pulse], []).any()


@pytest.mark.parametrize("later, times", [(0.0, 1), (0.025, 1.5), (0.05, 2), (0.3, 2)])
def test_blows_on_legs_share_what_friction_holds(skeleton, later, times):
    """On both shins: there is one weight on the soles, so at once the ground takes no more than of one leg; as parts of
    one blow (a blast) too; one after the other, for as long as both last."""
    actor, clip = actor_of(skeleton), standing(skeleton)
    found, most = stance.read(actor, clip, 1.0), 0.8 * 75.0 * 9.81 * 0.05
    shins = [actor.first(f"shin.{side}") for side in "LR"]
    pulses = [
        Pulse(shin, 0.5 * actor.axis[shin], np.array([0.0, 100.0, 0.0]), at, 0.03)
        for shin, at in zip(shins, (1.0, 1.0 + later), strict=True)
    ]
    grips = []
    given = [75.0 * recovery._push(actor, found, [pulse], grips).sum(axis=0)[1] for pulse in pulses]
    assert given[0] == pytest.approx(100.0 - most, rel=0.01)
    assert sum(given) == pytest.approx(200.0 - times * most, rel=0.01)
    if later == 0.0:
        assert 75.0 * recovery._push(actor, found, pulses, [])[:, 1].sum() == pytest.approx(sum(given), rel=0.01)


def test_a_body_whose_legs_are_both_swept_away_is_not_caught(skeleton):
    """By what sweeps them 3 m/s fast; a kick on both is caught."""
    clip = standing(skeleton)
    for impulse, uncaught in ((30.0, False), (150.0, True)):
        hits = [(named("leg_back"), replace(HIT, bone=f"shin.{side}", impulse=impulse)) for side in "LR"]
        assert run(react(actor_of(skeleton), clip, *hits[0], further=hits[1:])).uncaught is uncaught


@pytest.mark.parametrize("preset", ["leg_front", "leg_back"])
def test_a_leg_that_is_hit_is_flung_and_gives_way(skeleton, preset):
    """Whatever the blow's direction both knees bend under the weight, and only the struck foot leaves its place."""
    clip = standing(skeleton)
    reaction = hit_on(skeleton, preset, clip=clip, hit=Hit(25.0))
    q, p = reaction.poses(clip)
    _, own = reaction.actor.canonical(clip)
    body = {r: reaction.actor.first(r) for r in ("pelvis", "foot.R", "foot.L")}
    off = {r: (p - own)[:, i] for r, i in body.items()}
    low = int(np.argmin(off["pelvis"][:, 2]))
    assert -0.1 < off["pelvis"][low, 2] < -0.03
    for limb in reaction.footing.stance.limbs:
        assert ik.bend(limb, q, p)[0][low] - ik.bend(limb, *reaction.actor.canonical(clip))[0][low] > np.radians(15.0)
    assert 0.05 < (off["foot.R"] @ reaction.direction).max() < 0.2
    assert np.linalg.norm(off["foot.L"], axis=-1).max() < 5e-3
    assert np.linalg.norm(p - own, axis=-1)[clip.times > reaction.start + 2.5].max() < 0.01


def test_a_light_blow_leaves_the_foot_and_bends_the_knee_less(skeleton):
    clip = standing(skeleton)
    light, strong = (hit_on(skeleton, "leg_back", clip=clip, hit=Hit(25.0, impulse=i)) for i in (5.0, 40.0))
    assert not light.footing.plan.moves and strong.footing.plan.moves
    dips = [-r.footing.plan.shift[:, 2].min() for r in (light, strong)]
    assert dips[0] == pytest.approx(5.0 / 40.0 * dips[1], rel=1e-3)


@pytest.mark.parametrize("gain", [0.0, 2.0])
def test_the_artist_s_gain_scales_the_dip_and_nothing_else_of_the_plan(skeleton, gain):
    clip = standing(skeleton)
    plain, gained = (hit_on(skeleton, "leg_back", clip=clip, hit=Hit(25.0), dip=g).footing.plan for g in (1.0, gain))
    assert plain.shift[:, 2].min() < -0.03
    np.testing.assert_allclose(gained.shift[:, 2], gain * plain.shift[:, 2], atol=1e-12)
    np.testing.assert_array_equal(gained.shift[:, :2], plain.shift[:, :2])
    np.testing.assert_array_equal(gained.feet, plain.feet)


def test_the_dip_is_a_damped_fall_by_what_is_missing_of_the_weight(skeleton):
    """z'' = -g lost - w^2 z - 2 w z', w^2 = g / depth, in small steps; one leg carries what two share."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    struck = Struck.nothing(found.down.shape)
    struck.sinks[30:60, 0] = 0.6
    span = [Span(float(found.times[30]), float(found.times[30]) + 2.7)]
    still = np.zeros((1, len(found.times)))
    z, *_ = dip.dip(found, still, struck, span)
    w = np.sqrt(9.81 / (dip.DEPTH * found.length.mean()))
    y, v, n = 0.0, 0.0, 200
    want = [0.0]
    for k in range(70):
        for _ in range(n):
            v += (-9.81 * struck.sinks[k, 0] / 2.0 - w * w * y - 2.0 * w * v) / (60.0 * n)
            y += v / (60.0 * n)
        want.append(y)
    np.testing.assert_allclose(z[:71], want, atol=2e-4)
    alone = dip.dip(replace(found, down=found.down & [True, False]), still, struck, span)[0]
    np.testing.assert_allclose(alone, 2.0 * z, atol=1e-12)


@pytest.mark.parametrize("speed", [0.4, -0.4])
def test_a_body_pushed_up_or_down_goes_on_until_muscles_answer(skeleton, speed):
    """For 50 ms by v t, as along the ground, then it is braked by the dip's spring; whatever blow came before, as far
    as legs reach."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    starts, push = [30, 45], np.zeros((2, len(found.times)))
    push[[0, 1], starts] = speed
    blows = [Span(float(found.times[k]), float(found.times[k]) + 2.7) for k in starts]
    still = Struck.nothing(found.down.shape)
    z, rate, pull, _ = dip.dip(found, push[:1], still, blows[:1])
    np.testing.assert_allclose(z[31:34], speed * (np.arange(3) + 0.5) / 60.0, rtol=1e-9)
    assert not z[:31].any() and not pull[:33].any()
    w = np.sqrt(9.81 / (dip.GIVES * found.length.mean()))
    since = (found.times - found.times[34])[34:100]  # the answer comes up from 0.05 to 0.07 s
    want = (speed * 3.5 / 60.0 * (1.0 + w * since) + speed * since) * np.exp(-w * since)
    np.testing.assert_allclose(z[34:100], want, atol=1e-3)
    np.testing.assert_allclose(np.gradient(z, found.h)[36:100], rate[36:100], atol=0.05 * abs(speed))
    both = dip.dip(found, push, still, blows)[0]
    np.testing.assert_allclose((both - z)[45:120], z[30:105], atol=1e-9)
    assert np.abs(z[-10:]).max() < 1e-6


def test_a_leg_struck_in_the_air_lands_weak(skeleton):
    """Its tone comes back from its landing on, so that the body sinks on it, not while it swings."""
    clip = clip_of(skeleton)
    actor = actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    at = found.times
    k = int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[0]) + 4
    reaction = hit_on(skeleton, "leg_front", clip=clip, hit=Hit(float(at[k]) * clip.fps))
    found, z = reaction.footing.stance, reaction.footing.plan.shift[:, 2]
    lands = found.times[found.lands(int(np.searchsorted(found.times, reaction.start)), leg)]
    assert lands > reaction.start + 0.15
    assert not z[found.times <= lands].any()
    assert z.min() < -0.02 and lands < found.times[np.argmin(z)] < lands + 0.5


def in_the_air(skeleton, passed):
    """(clip, its stance, right leg, sample) so many samples after its foot has left the ground."""
    clip, actor = clip_of(skeleton), actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    return clip, found, leg, int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[0]) + passed


@pytest.mark.parametrize("passed", [4, 24])
def test_a_thigh_struck_in_the_air_draws_its_knee_up(skeleton, monkeypatch, passed):
    """It bends farther at once as far as its foot is free, where that isn't led, the less the more the blow bends it,
    and the foot lands where it would without."""
    clip, actor = clip_of(skeleton), actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    k = int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[0]) + passed
    hit = Hit(float(found.times[k]) * clip.fps)
    drawn = hit_on(skeleton, "leg_inside", clip=clip, hit=hit)
    monkeypatch.setattr(struck, "DRAWN", 0.0)
    plain = hit_on(skeleton, "leg_inside", clip=clip, hit=hit)
    poses, plains = drawn.poses(clip), plain.poses(clip)
    limb = found.limbs[leg]
    knee, plain_knee, own = (np.degrees(ik.bend(limb, *x)[0]) for x in (poses, plains, actor.canonical(clip)))
    off = np.linalg.norm(poses[1][:, limb.end] - plains[1][:, limb.end], axis=-1)
    since, lands = clip.times - drawn.start, found.times[found.lands(k, leg)] - drawn.start
    free = np.interp(clip.times, found.times, 1.0 - drawn.footing.plan.hold[:, leg])
    x = np.clip(since / 0.12, 0.0, 1.0)
    drawn_by = 0.9 * 20.0 * x * x * (3.0 - 2.0 * x) * free * (since < lands)  # 36 N s of 40
    blown = np.maximum(plain_knee - own, 0.0)
    want = free * (np.hypot(blown, drawn_by) - blown)
    assert want.max() > 5.0
    np.testing.assert_allclose(knee - plain_knee, want, atol=0.2 * want.max())
    assert not (knee - plain_knee)[since <= 0.0].any() and off[since >= lands].max() < 1e-3
    np.testing.assert_array_equal(drawn.footing.plan.feet, plain.footing.plan.feet)


def test_a_knee_is_drawn_up_by_what_shows_of_it(skeleton, monkeypatch):
    """Of a shin that shows nothing of the reaction nothing, whatever shows of the rest."""
    clip, actor = clip_of(skeleton), actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    k = int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[0]) + 4
    told = {"clip": clip, "hit": Hit(float(found.times[k]) * clip.fps), "settings": {"shin.R": {"weight": 0.0}}}
    drawn = hit_on(skeleton, "leg_inside", **told)
    assert np.degrees(drawn.footing.plan.draws.max()) > 5.0
    monkeypatch.setattr(struck, "DRAWN", 0.0)
    for one, other in zip(drawn.poses(clip), hit_on(skeleton, "leg_inside", **told).poses(clip), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_a_knee_is_drawn_up_no_farther_than_it_folds(skeleton, monkeypatch):
    """Hardly by a situation that lets it fold no farther than its clip does."""
    clip, actor = clip_of(skeleton), actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    k = int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[0]) + 4
    told = {"clip": clip, "hit": Hit(float(found.times[k]) * clip.fps)}

    def folded(**ranges):
        reaction = hit_on(skeleton, "leg_inside", **told, ranges=ranges)
        return np.degrees(ik.bend(found.limbs[leg], *reaction.poses(clip))[0])

    wide, narrow = folded(), folded(shin=(0.0, 5.0))
    monkeypatch.setattr(struck, "DRAWN", 0.0)
    plain = folded(shin=(0.0, 5.0))
    assert (wide - plain).max() > 10.0
    assert (narrow - plain).max() < 2.5


@pytest.mark.parametrize("bone", ["shin.R", "thigh.L"])
def test_no_knee_is_drawn_up_by_a_blow_below_it_or_on_a_leg_that_stands(skeleton, bone):
    clip, actor = clip_of(skeleton), actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    k = int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[0]) + 15
    assert found.down[k].sum() == 1 and not found.down[k, leg]
    plan = hit_on(skeleton, "leg_back", clip=clip, hit=Hit(float(found.times[k]) * clip.fps, bone=bone)).footing.plan
    assert plan.hold.min() < 0.2 and not plan.draws.any()


@pytest.mark.parametrize("size", [1.0, 0.4])
def test_a_foot_in_the_air_is_knocked_aside_by_a_part_of_its_leg(skeleton, size):
    clip, actor = clip_of(skeleton), actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    k = int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[0]) + 4
    blow = hit_on(skeleton, "leg_outside", clip=clip, hit=Hit(float(found.times[k]) * clip.fps)).blows[0]
    short = replace(found, length=size * found.length)
    pulse = Pulse(blow.struck, blow.point, 100.0 * blow.direction, 1.0, 0.03)
    knocks = struck.legs(actor, short, [blow], [[pulse]]).knocks
    np.testing.assert_allclose(knocks[k, leg], 0.07 * size * found.length[leg] * blow.direction[:2], rtol=1e-12)
    assert not knocks[:, 1 - leg].any() and not knocks[found.lands(k, leg) + 1 :].any()


@pytest.mark.parametrize(("before", "swept"), [(0.03, False), (0.2, True)])
def test_a_foot_that_leaves_anyway_is_not_swept(skeleton, before, swept):
    """Friction holds it as long as it stands: hit just before toe-off it swings off its way, and doesn't step."""
    clip = clip_of(skeleton)
    actor = actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    stands = found.down[:, leg]
    off = float(found.times[np.flatnonzero(stands[:-1] & ~stands[1:] & (found.times[:-1] > 1.3))[0] + 1])
    plan = hit_on(skeleton, "leg_outside", clip=clip, hit=Hit((off - before) * clip.fps)).footing.plan
    first = plan.times < off + 0.1
    assert any(move.leg == leg and move.start < off for move in plan.moves) == swept
    assert (plan.feet[first, leg, 2].max() > 0.005) == swept
    assert plan.hold[first, leg].min() < 0.3


def test_a_foot_that_is_just_landing_is_swept_as_it_lands(skeleton):
    """Else it would neither swing on nor be moved, as if nothing had hit it."""
    clip = clip_of(skeleton)
    actor = actor_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    leg = [limb.end for limb in found.limbs].index(actor.first("foot.R"))
    stands = found.down[:, leg]
    on = float(found.times[np.flatnonzero(~stands[:-1] & stands[1:] & (found.times[:-1] > 1.3))[0] + 1])
    plan = hit_on(skeleton, "leg_front", clip=clip, hit=Hit((on - 0.03) * clip.fps)).footing.plan
    first = next(move for move in plan.moves if move.leg == leg)
    assert on - 0.03 < first.start == pytest.approx(on, abs=0.02) and np.linalg.norm(first.way) > 0.05


def test_a_leg_hit_again_in_the_air_lands_elsewhere_without_a_jump(skeleton):
    clip = standing(skeleton)
    again = Hit(25.0 + 0.12 * clip.fps)
    once = hit_on(skeleton, "leg_back", clip=clip, hit=Hit(25.0)).footing.plan
    s = named("leg_back")
    plan = run(react(actor_of(skeleton), clip, s, Hit(25.0), further=[(s, again)])).footing.plan
    leg = once.moves[0].leg
    swept = [move for move in plan.moves if move.leg == leg and move.start < once.moves[0].end]
    assert len(swept) == 1 and swept[0].end == once.moves[0].end
    assert np.linalg.norm(swept[0].way) > 1.2 * np.linalg.norm(once.moves[0].way)
    jumps = [np.abs(np.diff(p.feet[:, leg, 2])).max() for p in (once, plan)]
    assert jumps[1] < 1.05 * jumps[0]


def test_the_dip_s_rate_is_that_of_the_dip_where_it_fades_too(skeleton):
    """Of muscles that are slow to come back something is left to fade at the end."""
    reaction = hit_on(skeleton, "leg_back", clip=standing(skeleton), hit=Hit(25.0), recovery=6.0)
    plan = reaction.footing.plan
    h = plan.times[1] - plan.times[0]
    z, v = plan.shift[:, 2], plan.rate[:, 2]
    late = np.abs(plan.times - reaction.end + 0.375) < 0.15
    assert np.abs(v[late]).max() > 0.05
    np.testing.assert_allclose(np.gradient(z, h)[late], v[late], atol=0.1 * np.abs(v[late]).max())


@pytest.mark.parametrize(
    ("full", "weaker", "alone", "caught"),
    [
        ("", "", "", 1.0),  # feet catch it
        ("lost", "", "", recovery.WEAKER),
        ("lost", "astray", "astray", 0.0),  # none of it, and not because it isn't home in time
        ("lost", "lost", "lost", 0.0),
        ("astray", "astray", "astray", 1.0),  # it would be so without the blow: it is taken as it is
        ("astray", "", "", recovery.WEAKER),
    ],
)
def test_what_of_a_blow_feet_catch(full, weaker, alone, caught):
    def play(push):
        kind = {0.0: alone, 1.0: full}.get(float(push[0, 0]), weaker)
        return SimpleNamespace(lost=1.0 if kind == "lost" else None, astray=kind == "astray", push=push)

    plan, part = recovery._caught(play, np.zeros((0, 1)), np.ones(1))
    assert part == pytest.approx(caught) and plan.push == pytest.approx(caught)


def test_a_leg_that_gives_way_gives_its_weight_to_the_other_at_once(skeleton):
    """A blow is answered after a while, one on a leg is not: and none before it lands."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    k = int(np.searchsorted(found.times, 1.0 - 1e-6))
    give = np.ones(found.down.shape)
    since = found.times - 1.0
    give[:, 0] = np.where(since > YIELDS_AFTER, 0.5, 1.0)
    slight = 1.0 - 0.02 * (1.0 - give)
    calm, weak, touched = (Weight(found, g, [Span(1.0, 3.7)]) for g in (np.ones_like(give), give, slight))
    assert calm.answers[0][k + 1] == 0.0 and weak.answers[0][k + 1] == 1.0 and 0.0 < touched.answers[0][k + 1] < 0.05
    assert weak.answers[0][k - 1] == 0.0 and calm.answers[0][len(since) - 1] == 1.0
    later = since > 0.02 + YIELDS_AFTER  # of a leg that a second blow strikes the answer to the first knows nothing
    give[:, 0] = np.where(later, 0.5, 1.0)
    twice = Weight(found, give, [Span(1.0, 3.7), Span(1.02, 3.7)])
    assert twice.answers[0][k + 1] == 0.0
    twice.feel(k + 2)
    assert twice.answers[0][k + 2] == 1.0


def test_a_leg_may_be_hit_at_the_very_end_of_a_clip(skeleton):
    """Where its foot stands on, and friction holds it beyond the last sample."""
    clip = standing(skeleton)
    plan = hit_on(skeleton, "leg_back", clip=clip, hit=Hit(float(clip.times[-1] - 0.04) * clip.fps)).footing.plan
    assert not plan.moves and not plan.feet.any()


def test_a_weight_that_is_lost_stays_where_it_is(skeleton):
    """Between samples too: it has no velocity any more, but for a foot that came up, which comes down."""
    _, plan = planned(skeleton, standing(skeleton), 400.0, (1.0, 0.0))
    assert plan.lost is not None
    after = plan.times > plan.lost + 0.5 / 60.0
    assert np.abs(plan.shift).max() > 0.1 and after.sum() > 20
    assert not plan.rate[after, :2].any() and not plan.speed[after, :, :2].any()
    np.testing.assert_array_equal(plan.speed[after, :, 2], plan.rising[after])
    assert plan.lift[after].max() > 0.0 and not plan.lift[-1].any() and not plan.rising[-1].any()
