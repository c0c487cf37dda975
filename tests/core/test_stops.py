"""Ends that a rig's author sets to joints: Blender's arithmetic, the force, and a reaction that keeps to them.

How Blender itself evaluates a Limit Rotation is compared in tests/blender/test_limits.py.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.blows import Hit
from core.errors import SituationError
from core.fall import fall
from core.forces import EndStop
from core.model import SPHERICAL
from core.progress import run
from core.react import react
from core.reference import to_joints
from core.roles import base_role
from core.rotation import IDENTITY, angle, exp, multiply, normalize
from core.situation import named
from core.stage import Stage
from core.stops import FREE, LOCKED, Stop, Stops, nearest

from .test_forces import load_of, moment_of, one_body, standing

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
LOOSE = named("chest_back").with_changes(taper=1.0)  # a neck as loose as its trunk, or it stays short of its ends


def within(degrees, *others):
    r = np.radians(degrees)
    return ((-r, r), *(others or ((-r, r), (-r, r))))


def stops_of(order, low, high, rest=IDENTITY):
    axes = np.array([["XYZ".index(c) for c in order]])
    return Stops(np.array([0]), normalize(np.array([rest])), axes, np.array([low]), np.array([high]), np.array([True]))


@pytest.mark.parametrize("order", ORDERS)
def test_angles_go_there_and_back_and_have_gradients(order, rng):
    stops = stops_of(order, [-9.0] * 3, [9.0] * 3, rng.normal(size=4))
    q, w = normalize(rng.normal(size=(60, 1, 4))), rng.normal(size=(60, 1, 3))
    angles = stops.angles(q)
    assert angle(stops.rotations(angles), q).max() < 1e-7
    change = [stops.angles(multiply(q, exp(s * 1e-6 * w))) for s in (1.0, -1.0)]
    known = np.abs(np.cos(angles[:, 0, 1])) > 0.25  # nearer to where two axes meet they are bounded
    want = np.einsum("tmai,tmi->tma", stops.gradients(angles), w)
    np.testing.assert_allclose(((change[0] - change[1]) / 2e-6)[known], want[known], atol=1e-5)


def test_angles_are_those_about_the_named_axes(rng):
    a, b, c = np.radians([20.0, -35.0, 50.0])
    turned = multiply(exp(np.array([0, 0, c])), multiply(exp(np.array([0, b, 0])), exp(np.array([a, 0, 0]))))
    np.testing.assert_allclose(stops_of("XYZ", [0] * 3, [0] * 3).angles(turned[None]), [[a, b, c]], atol=1e-12)
    turned = multiply(exp(np.array([a, 0, 0])), multiply(exp(np.array([0, 0, c])), exp(np.array([0, b, 0]))))
    np.testing.assert_allclose(stops_of("YZX", [0] * 3, [0] * 3).angles(turned[None]), [[b, c, a]], atol=1e-12)


def test_what_is_kept(rng):
    """Inside nothing changes, to the bit; outside the angles end; the clip's own are allowed, and all a lock leaves."""
    stops = stops_of("XYZ", [-0.2, np.inf, -np.inf], [0.3, -np.inf, np.inf])
    inside = stops.rotations(np.array([[[0.1, 0.4, 2.0]], [[0.3, 0.4, -3.0]], [[-0.2, 0.4, 0.0]]]))
    clip = stops.rotations(np.full((3, 1, 3), [0.0, 0.4, 0.1]))
    np.testing.assert_array_equal(stops.kept(inside, clip), inside)
    out = stops.rotations(np.array([[[0.5, 0.4, 2.0]], [[-0.5, 0.7, 1.0]], [[3.1, 0.1, 0.0]]]))
    angles = stops.angles(stops.kept(out, clip))
    np.testing.assert_allclose(angles[:, 0], [[0.3, 0.4, 2.0], [-0.2, 0.4, 1.0], [0.3, 0.4, 0.0]], atol=1e-12)
    beyond = stops.rotations(np.full((3, 1, 3), [0.6, 0.4, 0.1]))
    np.testing.assert_allclose(stops.angles(stops.kept(out, beyond))[:, 0, 0], [0.5, -0.2, 0.6], atol=1e-12)


def test_the_force_is_the_slope_of_an_energy_and_drives_back(rng):
    model = one_body(SPHERICAL)
    reference = standing(model, 2, 1e-4)
    r = np.radians(20.0)
    stops = stops_of("ZXY", [-r, -r, -np.inf], [r, r, np.inf])
    stop = EndStop.of_clip(stops, reference, (np.array([50.0]), np.array([0.0])))
    assert np.degrees(stop.high[0, 0, 0]) == pytest.approx(13.0) and np.isinf(stop.high[0, 0, 2])

    def torque(turn):
        state = replace(reference.state(0), rotation=exp(turn)[None], twist=np.zeros((1, 6)))
        return load_of(stop, moment_of(model, reference, state)).force[0, :3]

    assert not torque(np.radians([12.0, 100.0, 0.0])).any()
    middle = np.radians([17.0, 5.0, 24.0])
    assert torque(middle) @ middle < 0.0
    ends = rng.normal(size=(2, 3)) * 0.05 + middle
    square = [middle, ends[0], ends[1], middle]  # no work on a way round
    steps = np.concatenate([np.linspace(a, b, 80) for a, b in zip(square, square[1:], strict=False)])
    q = exp(steps)
    turns = [np.array(2.0 * multiply(q[k] * [1, -1, -1, -1], q[k + 1])[1:]) for k in range(len(q) - 1)]
    work = [torque(0.5 * (steps[k] + steps[k + 1])) @ turns[k] for k in range(len(turns))]
    assert abs(sum(work)) < 2e-3 * np.abs(work).sum() > 0.0


@pytest.fixture(scope="module")
def authored(actor):
    """The human with stops that its walk keeps to, but for the right shoulder, which swings by 20 degrees."""
    r, far = np.radians(10.0), np.radians(25.0)
    return replace(actor, limits={
        "neck": Stop("XYZ", within(8.0)),
        "head": Stop("ZYX", within(5.0)),
        "clavicle.L": Stop("YXZ", within(4.0)),
        "upper_arm.L": Stop("XYZ", within(25.0, (-far, far), (-r, r))),
        "upper_arm.R": Stop("XYZ", within(10.0)),
        "spine.02": Stop("XYZ", (LOCKED, FREE, FREE)),
    })  # fmt: skip


def test_an_end_brakes_alike_whether_the_other_side_has_one():
    rest = standing(one_body(SPHERICAL), 3, 0.01)
    spring = np.array([50.0]), np.array([0.0])
    far = EndStop.of_clip(stops_of("XYZ", [-9.0] * 3, [9.0] * 3), rest, spring)
    above = EndStop.of_clip(stops_of("XYZ", [-np.inf] * 3, [9.0] * 3), rest, spring)
    below = EndStop.of_clip(stops_of("XYZ", [-9.0] * 3, [np.inf] * 3), rest, spring)
    np.testing.assert_array_equal(above.high, far.high)
    np.testing.assert_array_equal(above.above, far.above)
    np.testing.assert_array_equal(below.low, far.low)
    np.testing.assert_array_equal(below.below, far.below)
    assert np.isinf(above.low).all() and np.isinf(below.high).all()


def angles_of(actor, reaction, clip):
    """(shown, clip's) angles [deg] of the actor's stops, (T, m, 3)."""
    stops, shown, own = actor.stops, reaction.poses(clip), actor.canonical(clip)
    return [np.degrees(stops.angles(to_joints(reaction.model, *poses)[0])) for poses in (shown, own)]


@pytest.fixture(scope="module")
def free(actor, clip):
    """A reaction without any of them."""
    return run(react(actor, clip, LOOSE, Hit(25.0, impulse=50.0)))


def test_a_reaction_keeps_to_the_stops(actor, authored, clip, free):
    kept = run(react(authored, clip, LOOSE, Hit(25.0, impulse=50.0)))
    stops = authored.stops
    names = [actor.names[i] for i in stops.bodies]
    shown, own = angles_of(authored, kept, clip)
    low, high = np.minimum(np.degrees(stops.low), own), np.maximum(np.degrees(stops.high), own)
    assert np.all((shown < high + 1e-6) & (shown > low - 1e-6))
    loose, _ = angles_of(authored, free, clip)
    over = np.maximum(loose - high, low - loose).max(axis=(0, 2))
    assert over[names.index("head")] > 3.0 and over[names.index("neck")] > 1.5  # it matters
    simulated = kept._joints(authored.canonical(clip), clip.times)[0]
    raw = np.degrees(stops.angles(simulated))
    beyond = np.maximum(raw - high, low - raw).max(axis=(0, 2))
    tight = [names.index(name) for name in ("neck", "head", "clavicle.L", "spine.02")]
    assert beyond[tight].max() < 0.8  # the force brakes; little is left to cut


def test_without_a_hit_stops_move_nothing_even_where_the_clip_is_beyond_them(authored, clip):
    reaction = run(react(authored, clip, named("chest_front"), Hit(25.0, impulse=0.0)))
    assert max(reaction.peaks().values()) < 1e-9
    q, p = reaction.poses(clip)
    own = authored.canonical(clip)
    assert np.degrees(angle(q, own[0])).max() < 1e-9 and np.abs(p - own[1]).max() < 1e-9


def test_the_author_says_what_would_be_guessed_and_a_situation_more(actor, clip, free):
    """Neck and head may turn by 60 degrees and do so further than the usual 22, unless the situation says 5."""
    wide = replace(actor, limits={name: Stop("XYZ", within(60.0)) for name in ("neck", "head")})
    narrow = LOOSE.with_changes(ranges={"neck": (5.0,), "head": (5.0,)})
    far, near = (run(react(wide, clip, s, free.blows[0].hit)) for s in (LOOSE, narrow))
    assert _head(far) > 1.15 * _head(free) and _head(near) < 0.6 * _head(free)


@pytest.mark.parametrize(("role", "wider", "narrower"), (
    ("spine", (60.0,), (42.0,)),
    ("upper_arm", (75.0, 90.0, 50.0), (90.0, 90.0, 49.0)),
    ("forearm", (-3.0, 170.0), (0.0, 170.0)),
))  # fmt: skip
def test_an_author_goes_before_what_a_situation_lets_joints_turn_further(actor, clip, role, wider, narrower):
    """A belly's blow asks for trunks that bend by 60 degrees: it makes no range where the author has set ends."""
    names = [name for name, own in zip(actor.names, actor.roles, strict=True) if base_role(own) == role]
    mine = replace(actor, limits={name: Stop("XYZ", within(80.0)) for name in names})
    bodies = [mine.names.index(name) for name in names]
    for said, guessed in (({}, False), ({role: wider}, False), ({role: narrower}, True)):
        assert _ranged(mine, clip, bodies, said) == guessed
        assert _ranged(actor, clip, bodies, said)


def _ranged(actor, clip, bodies, said):
    """Whether all of the bodies have a range of the situation's, or none."""
    stage = Stage(actor, clip, [(named("chest_front").with_changes(ranges=said), Hit(25.0))], {}, {})
    ends, balls = stage.ends, stage.balls
    found = dict(zip(ends.bodies.tolist(), [*ends.half, *ends.ranges[:, 1]], strict=True))
    found |= {} if balls is None else dict.fromkeys(balls.bodies.tolist(), 1.0)
    (answer,) = {found.get(i, np.inf) < 10.0 for i in bodies}
    return answer


def _head(reaction):
    peaks = reaction.peaks()
    return max(peaks["head"], peaks["neck"])


@pytest.mark.parametrize(("sources", "cure"), [
    (("constraint 'Bound'",) * 3, "Switch off its constraint 'Bound', or end"),
    (("IK limit", "IK lock", "IK limit"), "Switch off its IK limit and its IK lock, or end"),
    (("IK limit", "locked rotation", ""), "Switch off its locked rotation, or end"),
    (("", "", ""), "Switch off its limits, or end"),
])  # fmt: skip
def test_a_body_whose_pelvis_is_bounded_cannot_fall(actor, clip, sources, cure):
    ranges = (FREE, LOCKED, FREE) if "locked rotation" in sources else within(10.0)
    bound = replace(actor, limits={"pelvis": Stop("XYZ", ranges, sources)})
    with pytest.raises(SituationError, match=f"Bone 'pelvis' may turn only within its own limits.*{cure}"):
        run(fall(bound, clip, named("chest_front").with_changes(end="stay"), Hit(25.0)))


def test_nonsense_is_refused(actor):
    for order, ranges in (("XYX", within(1.0)), ("XYZ", ((0.0, 1.0),) * 2), ("XYZ", within(float("nan")))):
        with pytest.raises(ValueError, match="Stop: expected an order"):
            Stop(order, ranges)
    with pytest.raises(ValueError, match="nothing carries"):
        assert replace(actor, limits={"root": Stop("XYZ", within(1.0))}).stops
    turns = np.array([3.0, -4.0])
    np.testing.assert_allclose(nearest(turns, np.array([-1.0, 2.0]), np.array([1.0, 3.0])), [3.0, 2 * np.pi - 4.0])
