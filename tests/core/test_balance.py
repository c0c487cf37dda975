"""Feet, weight and steps: the pendulum against plain integration, legs against geometry, the plan against physics."""

from dataclasses import replace

import numpy as np
import pytest

from core import legs, stance, steps, support, walker
from core.dynamics import centre, kinematics
from core.plan import Span, Struck
from core.progress import run
from core.react import Hit, react
from core.resample import hermite, rotations
from core.rotation import angle, exp, multiply, rotate
from core.situation import named
from core.weight import Weight

from .figures import DOG, build
from .test_react import actor_of, clip_of, hit_on, standing


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def test_the_pendulum_falls_as_plain_integration_has_it():
    x, v, p, pace = np.array([0.03, -0.1]), np.array([0.4, 0.2]), np.array([0.05, 0.0]), 3.1
    end, speed = support.fall(x, v, p, pace, 0.5)
    h = 1e-5
    for _ in range(50000):
        v = v + h * pace**2 * (x - p)
        x = x + h * v
    np.testing.assert_allclose(end, x, atol=1e-4)
    np.testing.assert_allclose(speed, v, atol=1e-4)


def test_a_foot_on_the_capture_point_brings_the_body_to_rest():
    x, v, pace = np.array([0.1, 0.0]), np.array([0.5, -0.3]), 3.2
    end, speed = support.fall(x, v, x + v / pace, pace, 4.0)
    assert np.linalg.norm(speed) < 1e-4
    np.testing.assert_allclose(end, x + v / pace, atol=1e-4)


def nearest(points, x):
    """(2,) of what points (f, 2) enclose."""
    return np.array(support.pair(support.onto(support.plane(points).tolist(), complex(*x))))


def test_the_nearest_point_of_the_ground_between_feet(rng):
    """Against a search over all mixtures of the corners."""
    for _ in range(20):
        points, x = rng.normal(size=(5, 2)), 2.0 * rng.normal(size=2)
        mixtures = rng.dirichlet(np.full(5, 0.3), size=40000)
        best = np.linalg.norm(mixtures @ points - x, axis=-1).min()
        found = nearest(points, x)
        assert np.linalg.norm(found - x) <= best + 1e-9
        assert best - np.linalg.norm(found - x) < 0.03


def test_feet_may_enclose_no_ground(rng):
    """On a line, all in one place, or some twice: the nearest point is on the way between the two that are nearest."""
    along, across = np.array([3.0, 4.0]) / 5.0, np.array([-4.0, 3.0]) / 5.0
    for _ in range(20):
        at, (far, aside) = np.sort(rng.normal(size=4)), 2.0 * rng.normal(size=2)
        points = rng.permutation(np.concatenate((at, at[:2])))[:, None] * along
        found = nearest(points, far * along + aside * across)
        np.testing.assert_allclose(found, np.clip(far, at[0], at[-1]) * along, atol=1e-12)
        np.testing.assert_allclose(nearest(points[:1], far * along), points[0], atol=1e-12)
        np.testing.assert_allclose(nearest(points, points[2]), points[2], atol=1e-12)


@pytest.mark.parametrize(("way", "part"), [((0.0, -1.0, 0.0), 0.9), ((0.0, 0.0, 1.0), 0.84), ((0.0, 0.0, -1.0), 0.84)])
@pytest.mark.parametrize(("bone", "along"), [("pelvis", 0.5), ("chest", 0.5), ("head", 1.0)])
def test_the_weight_takes_a_blow_whole_before_muscles_answer(skeleton, bone, along, way, part):
    """Wherever it lands, but for the part up or down that feet take until they are led with it, a sample late: the
    ground brakes no bone by itself; then the weight goes where the plan leads it."""
    gone = []

    def watch(stage, part, _):
        for k, one in enumerate(part.runs[:-1]):
            now, own = (centre(kinematics(stage.model, s)) for s in (one.state, part.reference.state(k)))
            gone.append((float(part.reference.times[k]), now[0] - own[0], now[1] - own[1]))

    hit = Hit(25.0, bone=bone, impulse=30.0, along=along, contact=0.005, direction=np.array(way))
    actor, situation = actor_of(skeleton), named("chest_front")
    reaction = run(react(actor, standing(skeleton), situation, hit, watch=watch))
    times, place, speed = (np.array(x) for x in zip(*gone, strict=True))
    taken = 75.0 * speed @ reaction.direction
    before = (times > reaction.start + 0.01) & (times < reaction.start + 0.04)
    assert np.abs(taken[before] / 30.0 - 1.0).max() < 1.0 - part
    seen = times < reaction.start + 1.0
    led = reaction.footing.plan.shifted(times[seen])
    assert np.linalg.norm(place[seen] - led, axis=-1).max() < 0.3 * np.linalg.norm(led, axis=-1).max()


def planned(skeleton, clip, impulse, way, end=2.7, stays=False):
    """The plan after a push of an impulse [N s] on the whole body, 0.5 s into a clip."""
    found = stance.read(actor_of(skeleton), clip, clip.times[0] + 0.5)
    K, L = found.down.shape
    blow = clip.times[0] + 0.5
    push = np.zeros((K, 3))
    push[int(np.searchsorted(found.times, blow - 1e-6)), :2] = impulse / 75.0 * np.asarray(way, dtype=float)
    return found, steps.plan(found, push[None], Struck.nothing((K, L)), [Span(blow, blow + end, stays)])


WAYS = [(np.cos(a), np.sin(a)) for a in np.arange(8) * np.pi / 4]


@pytest.mark.parametrize("way", [(1.0, 0.0), (0.0, -1.0)])
def test_when_a_clip_begins_is_no_difference_to_its_steps(skeleton, way):
    """Not by one sample, whichever way the times of samples are rounded."""
    clip = clip_of(skeleton, fps=60.0)
    _, plan = planned(skeleton, clip, 60.0, way)
    lands = np.diff(1 * plan.stance.down, axis=0)
    rounded = []
    for start in (0.3, 1.7, 4.1, 9.6, 33.2):
        later = replace(clip, frames=clip.frames + round(60.0 * start))
        there, other = planned(skeleton, later, 60.0, way)
        rounded.append(float(there.times[1] - there.times[0]) - 1.0 / 60.0)
        np.testing.assert_array_equal(np.diff(1 * other.stance.down, axis=0), lands)
        np.testing.assert_allclose(other.feet, plan.feet, atol=1e-9)
        np.testing.assert_allclose(other.shift, plan.shift, atol=1e-9)
    assert min(rounded) < 0.0 < max(rounded) and np.abs(plan.feet - plan.hastened).max() > 0.1


@pytest.mark.parametrize("clip", [standing, clip_of], ids=["standing", "walking"])
def test_without_a_push_nothing_is_planned(skeleton, clip):
    found, plan = planned(skeleton, clip(skeleton), 0.0, (1.0, 0.0))
    assert found.down.any()
    assert not plan.moves and plan.lost is None
    assert not plan.shift.any() and not plan.feet.any() and not plan.pull.any()


def test_standing_bodies_stay_step_and_fall_in_that_order(skeleton):
    clip = standing(skeleton)
    for way in WAYS:
        did = []
        for impulse in (20.0, 60.0, 100.0, 150.0, 200.0):
            _, plan = planned(skeleton, clip, impulse, way)
            did.append(2 if plan.lost is not None else min(len(plan.moves), 1))
        assert did == sorted(did) and did[0] == 0 and did[-1] == 2, (way, did)
    assert any(1 in [min(len(planned(skeleton, clip, j, way)[1].moves), 1) for j in (60.0, 100.0)] for way in WAYS)


def test_a_step_lands_where_it_catches_the_weight_and_goes_home(skeleton):
    found, plan = planned(skeleton, standing(skeleton), 80.0, (0.0, 1.0))
    assert plan.lost is None and plan.moves
    first = plan.moves[0]
    assert 0.2 < first.end - first.start < 0.5 and first.way[1] > 0.15
    away = np.linalg.norm(plan.feet[..., :2], axis=-1)
    lifted = plan.feet[..., 2]
    speed = np.linalg.norm(np.diff(plan.feet[..., :2], axis=0), axis=-1) * 60.0
    assert not speed[(lifted[:-1] == 0.0) & (lifted[1:] == 0.0)].any()  # a foot on the ground doesn't slide
    assert lifted.max() > 0.05
    late = found.times > found.times[0] + 0.5 + 2.5
    assert away[late].max() < 1e-6 and np.abs(plan.shift[late]).max() < 0.01


def test_the_momentum_of_the_plan_is_what_push_and_ground_give(skeleton):
    """Mass times velocity of the weight = the push's impulse and the ground's, summed up independently."""
    found, plan = planned(skeleton, clip_of(skeleton, fps=60.0), 40.0, (1.0, 0.0))
    h = 1.0 / 60.0
    v = np.gradient(plan.shift[:, :2], h, axis=0)
    k = int(np.searchsorted(found.times, 1.0 / 60.0 + 0.5 - 1e-6))
    given = 40.0 / 75.0 * np.array([1.0, 0.0]) + h * np.cumsum(plan.pull[:-1, :2], axis=0)
    some = slice(k + 3, k + 90)  # of the samples after: what is pulled in one shows in the next
    assert np.abs(v[1:][some] - given[some]).max() < 0.03
    assert np.abs(plan.rate[1:, :2][some] - given[some]).max() < 1e-12


def test_a_walk_that_was_pushed_steps_aside_and_is_back_in_phase(skeleton):
    clip = clip_of(skeleton)
    reaction = hit_on(skeleton, "chest_front", clip=clip, hit=Hit(25.0, impulse=70.0))
    _, p = reaction.poses(clip)
    _, own = reaction.actor.canonical(clip)
    away = np.linalg.norm((p - own)[:, reaction.footing.feet], axis=-1)
    assert away.max() > 0.1
    assert np.linalg.norm(p - own, axis=-1)[clip.times > reaction.start + 2.5].max() < 0.01


@pytest.mark.parametrize(("clip", "heels", "early"), [(clip_of, (0.0, 0.02), 0.0065), (standing, (0.005, 0.1), 0.012)])
def test_planted_feet_keep_their_toes_where_they_are(skeleton, clip, heels, early):
    """Over a whole contact they slip by less than a hundredth of a millimetre on the moving ground, of which the issue
    allows 5 mm, wherever they were put.  A leg that doesn't reach comes down late, or leaves early: this is no slip.
    It raises its heel, and its toes by no more than `early`."""
    clip = clip(skeleton)
    reaction = hit_on(skeleton, "chest_front", clip=clip, hit=Hit(25.0, impulse=65.0))
    (q, p), own = reaction.poses(clip), reaction.actor.canonical(clip)
    found, plan = reaction.footing.stance, reaction.footing.plan
    assert np.abs(plan.feet).max() > 0.05
    rises = []
    for i, foot in enumerate(reaction.footing.feet):
        sole = found.points[found.owner == i]
        toes = sole[np.argmax(np.linalg.norm(sole, axis=-1))]
        at, before = (p[:, foot] + rotate(q[:, foot], toes[None]) for q, p in ((q, p), own))
        down = np.interp(clip.times, found.times, 1.0 * found.down[:, i]) > 0.999
        still = down[:-1] & down[1:] & ~np.diff(plan.at(clip.times)[1][:, i], axis=0).any(axis=-1)
        assert still.sum() > 20
        edges = np.flatnonzero(np.diff(np.pad(1 * still, 1)))
        for touch, end in zip(edges[::2], edges[1::2], strict=True):
            off = (at - before)[touch : end + 1]
            assert np.linalg.norm((off - off[0])[:, :2], axis=-1).max() < 1e-5
            assert off[:, 2].min() > -1e-9 and off[:, 2].max() < early
            rises.append((p - own[1])[touch : end + 1, foot, 2].max())
    assert heels[0] < max(rises) < heels[1]


def test_a_body_without_feet_has_no_footing():
    bare = build(skin=True, **{f"{r}.{s}": None for r in ("foot", "toe") for s in "LR"})
    actor = actor_of(bare)
    found = stance.read(actor, clip_of(bare), 1.0)
    assert found is None or all(limb.end >= 0 for limb in found.limbs)


def shown(clip, frames):
    """The clip at other frames."""
    turns = {name: rotations(clip.frames, getattr(clip, name), frames) for name in ("rotation", "object_rotation")}
    places = {name: hermite(clip.frames, getattr(clip, name), frames) for name in ("position", "object_position")}
    return replace(clip, frames=frames, **turns, **places)


@pytest.mark.parametrize(
    ("clip", "later", "most"),
    [(standing, 22.0, 1e-12), (clip_of, 22.0, 1e-12), (clip_of, 23.5, 2e-5), (clip_of, 23.3, 5e-5)],
)
def test_nothing_before_a_blow_knows_of_it(skeleton, clip, later, most):
    """A second, stronger one: to round-off.  Off the samples, up to what a curve through them changes before it, and
    sub-steps that are taken back over its moment where it doesn't come [m]."""
    clip = clip(skeleton)
    first = (named("chest_front"), Hit(17.0, impulse=45.0))
    second = (named("chest_back"), Hit(later, impulse=150.0))
    alone, both = (run(react(actor_of(skeleton), clip, *first, further=more)) for more in ([], [second]))
    fine = np.arange(17.0, 60.0, 0.25)
    (q, p), (q1, p1) = (reaction.poses(shown(clip, fine)) for reaction in (alone, both))
    off = np.linalg.norm(p1 - p, axis=-1).max(axis=1)
    assert off[fine > later].max() > 0.05
    assert off[fine <= later].max() < most


@pytest.mark.parametrize("clip", [standing, clip_of])
def test_a_body_that_continues_goes_on_displaced(skeleton, clip):
    """By as much as its feet were put elsewhere, every hit from where the one before left it."""
    clip = clip(skeleton, seconds=8.0)
    situation = named("chest_front").with_changes(end="continue")
    hits = [(situation, Hit(13.0, impulse=70.0)), (situation, Hit(13.0 + 3.5 * 24, impulse=60.0))]
    both = run(react(actor_of(skeleton), clip, *hits[0], further=hits[1:]))
    (q, p), (own_q, own_p) = both.poses(clip), both.actor.canonical(clip)
    first, second = both.parts
    assert 0.1 < first.displaced[1] < 1.0 and 0.1 < second.displaced[1] < 1.0 and not both.displaced[2]
    for part, gone, until in ((first, first.displaced, second.start), (second, both.displaced, np.inf)):
        home = part.footing.plan.feet[-1]
        np.testing.assert_allclose(home, np.broadcast_to(part.displaced, home.shape), atol=1e-9)
        later = (clip.times >= part.end) & (clip.times <= until)
        assert later.any()
        carried = part.footing.carried(part.model)
        assert np.abs((p - own_p)[later][:, carried] - gone).max() < 1e-9
        assert not (p - own_p)[later][:, ~carried].any() and np.degrees(angle(q, own_q))[later].max() < 1e-6
        before = np.abs((p - own_p)[clip.times < part.end - 1e-9][-1][carried] - gone).max()
        assert before < 0.02  # it gets there by itself


def jumping(skeleton, fps=60.0, up=1.0, air=0.55):
    """The rest pose, thrown into the air `up` seconds after the start."""
    clip = shown(standing(skeleton), 1.0 + np.arange(0.0, 96.0, 24.0 / fps))
    since = np.clip(clip.times - clip.times[0] - up, 0.0, air)
    height = 0.5 * 9.81 * since * (air - since)
    return replace(clip, position=clip.position + height[:, None, None] * [0.0, 0.0, 1.0])


@pytest.mark.parametrize("way", [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.6, 0.8)])
def test_a_body_in_the_air_keeps_the_momentum_of_a_blow(skeleton, way):
    """In every direction, off the clip's own ballistic one, until it lands, 0.39 s after the blow, also while
    its legs swing to where its feet are to be; the ground that it lands on takes from that and gives no more; then it
    is back."""
    clip = jumping(skeleton)
    reaction = hit_on(skeleton, "chest_front", clip=clip, hit=Hit(27.8, impulse=60.0, direction=np.array(way)))
    found = reaction.footing.stance
    walk = stance.read(reaction.actor, clip_of(skeleton), 1.0)
    assert not walk.down.any(axis=1).all() and not walk.flies.any()  # short of contacts, but nothing falls
    assert found.flies[int(np.searchsorted(found.times, reaction.start - 1e-6))]
    actor = reaction.actor
    mass, middle = actor.masses.mass[actor.order], actor.masses.com[actor.order]
    weights = [
        np.einsum("i,tij->tj", mass, p + rotate(q, middle[None]))
        for q, p in (reaction.poses(clip), actor.canonical(clip))
    ]
    momentum = np.gradient(weights[0] - weights[1], clip.times, axis=0)
    free = (clip.times > reaction.start + 0.08) & (clip.times < reaction.start + 0.39)
    assert free.sum() > 15
    assert np.abs(momentum[free] - 60.0 * np.array(way)).max() < 0.03 * 60.0
    assert (momentum @ way).max() < 1.05 * 60.0
    assert np.abs(weights[0] - weights[1])[-5:].max() < 1e-6


def test_every_blow_is_answered_after_a_reaction_time_of_its_own(skeleton):
    """While the first is being answered a second one moves the weight by v t for 50 ms, as the first did, then less."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    pushes = np.zeros((2, len(found.times), 3))
    starts = np.array([30, 48])
    pushes[[0, 1], starts, 0] = 0.15  # [m/s]
    blows = [Span(float(found.times[k]), float(found.times[k]) + 2.7) for k in starts]
    still = Struck.nothing(found.down.shape)
    first, both = (steps.plan(found, pushes[:n], still, blows[:n]).shift[:, 0] for n in (1, 2))
    free = 0.15 * (found.times[:4] - found.times[0] + 0.5 / 60.0)  # lands within its first sample
    for moved in (first[31:35], (both - first)[49:53]):  # the pressure follows the weight from sample to sample
        np.testing.assert_allclose(moved, free, rtol=4e-3)
    assert (both - first)[60] < 0.9 * 0.15 * 11.5 / 60.0


def test_a_body_afloat_comes_back_by_itself(skeleton):
    """No foot is ever down: it doesn't fly on until the end, as a jumper to his landing."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    found = replace(found, down=np.zeros_like(found.down))
    assert found.floats.all() and not found.flies.any()
    push = np.zeros((len(found.times), 3))
    push[60, 1] = 1.0
    blow = Span(float(found.times[60]), float(found.times[60]) + 2.7)
    shift = steps.plan(found, push[None], Struck.nothing(found.down.shape), [blow]).shift[:, 1]
    most = float(shift.max())
    assert most == pytest.approx(1.0 / (np.e * found.pace[60]), rel=0.06)  # x = v t exp(-w t), and half a sample
    assert shift[found.times > blow.start + 2.0].max() < 0.05 * most
    weight = Weight(found, np.ones(found.down.shape), [blow])
    weight.v = 1j
    seconds = 20.0 / 60.0
    assert weight.foreseen(60, 80)[0].imag == pytest.approx(seconds * np.exp(-found.pace[60] * seconds), rel=1e-3)


def test_four_feet_step_by_diagonals(skeleton):
    """Of two legs each steps alone; of four, those that stand on the two sides, before and behind, together."""
    assert stance.read(actor_of(skeleton), standing(skeleton), 1.0).parties == ((0,), (1,))
    assert legs.parties(["hand.L", "hand.R", "foot.L", "foot.R"]) == ((1, 2), (0, 3))
    assert legs.parties(["foot.L", "foot.R", "foot.L", "foot.R"]) == ((0,), (1,), (2,), (3,))


def test_a_dog_stays_steps_and_falls_in_that_order(skeleton):
    """Pushed aside it trots: two feet at a time, on the diagonal; no foot slides, all are home in the end."""
    dog = build(DOG, skin=True)
    clip = standing(dog)
    did = []
    for impulse in (30.0, 60.0, 80.0, 100.0, 200.0):
        found, plan = planned(dog, clip, impulse, (1.0, 0.0))
        did.append(2 if plan.lost is not None or plan.astray else min(len(plan.moves), 1))
        together = [{move.leg for move in plan.moves if move.start == start} for start in {m.start for m in plan.moves}]
        assert all(tuple(sorted(legs)) in found.parties for legs in together)
        if did[-1] < 2:
            still = (plan.feet[:-1, :, 2] == 0.0) & (plan.feet[1:, :, 2] == 0.0)
            assert np.abs(np.diff(plan.feet[..., :2], axis=0)[still]).max() < 1e-3
            assert np.abs(plan.feet[-1]).max() < 1e-9
    assert did == [0, 1, 1, 2, 2], did


def test_a_clip_that_plants_no_foot_bears_its_weight_with_those_near_the_ground(skeleton):
    """For half a second, and doesn't fly: a push is braked as by feet that stand, where else it would drift by v t."""
    found = stance.read(actor_of(skeleton), standing(skeleton), 1.0)
    gap = found.down.copy()
    gap[55:90] = False
    blow = Span(float(found.times[60]), float(found.times[60]) + 2.7)
    push = np.zeros((len(found.times), 3))
    push[60, 1] = 0.2  # [m/s], which feet brake within their own length; unbraked it is 8 cm in the 25 samples left
    still = Struck.nothing(gap.shape)
    stood, slid = (
        steps.plan(replace(found, down=down), push[None], still, [blow]).shift[:90, 1] for down in (found.down, gap)
    )
    assert 0.02 < stood.max() < 0.06
    np.testing.assert_array_equal(slid, stood)
    bare = replace(found, down=gap, low=np.zeros_like(gap))
    assert steps.plan(bare, push[None], still, [blow]).shift[85, 1] > 0.08


def climbing(skeleton, slope):
    """The walk, going along on its feet up a slope [rad] that it faces."""
    clip = clip_of(skeleton, seconds=3.6)
    found = stance.read(actor_of(skeleton), clip, 1.5)
    step = found.soles[1:] - found.soles[:-1]
    stands = (found.down[1:] & found.down[:-1])[:, found.owner]
    speed = -60.0 * np.median(step[stands], axis=0) / actor_of(skeleton).masses.scale
    gone = (clip.times - clip.times[0])[:, None] * np.append(speed, 0.0)
    tilt = exp(np.array([slope, 0.0, 0.0]))
    turned = multiply(np.broadcast_to(tilt, clip.object_rotation.shape), clip.object_rotation)
    return replace(clip, object_rotation=turned, object_position=rotate(tilt, clip.object_position + gone))


@pytest.mark.parametrize("slope", [-0.2, 0.15])
def test_feet_stand_on_the_slope_that_a_clip_climbs(skeleton, slope):
    """Contacts are those of the same walk on level ground; feet that are put elsewhere stay on the slope."""
    level, clip = climbing(skeleton, 0.0), climbing(skeleton, slope)
    flat, found = (stance.read(actor_of(skeleton), c, 1.5) for c in (level, clip))
    rise = found.hip[-1, 0, 2] - found.hip[0, 0, 2]
    assert abs(rise) > 0.3 and not flat.grade.any()
    np.testing.assert_allclose(found.grade, [0.0, np.tan(slope)], atol=0.01)
    assert (found.down == flat.down).mean() > 0.93 and not (found.flies.any() or found.floats.any())
    hit = Hit(13.0, impulse=60.0, direction=np.array((0.0, 1.0, 0.0)))
    plan = hit_on(skeleton, "chest_front", clip=clip, hit=hit).footing.plan
    away = plan.feet[np.linalg.norm(plan.feet[..., :2], axis=-1) > 0.05]
    assert len(away) > 20
    off = np.abs(away[:, 2] - away[:, 1] * np.tan(slope))
    assert np.median(off) < 0.005


@pytest.mark.parametrize("length", [0.2, 0.3, 0.4])
def test_legs_bear_no_weight_that_is_farther_away_than_they_reach(skeleton, length):
    """However high it is: a body on short legs falls as soon as it is 0.8 of one from its feet, which may step."""
    found = replace(stance.read(actor_of(skeleton), standing(skeleton), 1.0), length=np.full(2, length))
    assert found.height[0] > 0.9
    push = np.zeros((1, len(found.times), 3))
    push[0, 60, 1] = 1.3
    blow = Span(float(found.times[60]), float(found.times[60]) + 2.7)
    plan = steps.plan(found, push, Struck.nothing(found.down.shape), [blow])
    lost = int(np.searchsorted(found.times, plan.lost - 1e-6))

    def away(k):
        on = (found.down[k] & (plan.lift[k] == 0.0))[found.owner]
        feet = found.soles[k] + plan.feet[k, found.owner, :2] - found.nominal[k]
        return np.linalg.norm(plan.shift[k, :2] - nearest(feet[on], plan.shift[k, :2]))

    assert away(lost - 1) <= walker.LOST * length < away(lost) < walker.LOST * length + 1.5 / 60.0 * 1.5
