"""The judge of motions: what it must not see, what it must, and that neither size, rate, side nor names matter."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import ClipError
from core.quality import Blow, judge
from core.quality.bulk import _passed, depths, separation
from core.quality.lines import LIMITS
from core.quality.motion import RATE, grid, sampled, smooth, sustained, widened
from core.quality.rule import grade
from core.quality.verdict import Finding, figure_of
from core.reference import to_joints, to_world
from core.rotation import between, conjugate, exp, log, multiply, rotate

from .figures import build, moved
from .test_react import actor_of, clip_of
from .work import calls

HIT = 1.0  # [s] after the clip's start
BEYOND = ("limits", "penetration", "slip", "skid", "floating", "sinking", "balance", "momentum", "travel", "speed",
          "acceleration", "jerk", "pop", "jump", "frozen", "continuity", "restraint")  # fmt: skip


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


@pytest.fixture(scope="module")
def walk(skeleton):
    return clip_of(skeleton, fps=60.0)


def reaction(actor, clip, factor=1.0):
    """The clip with a smooth hit on the chest: joint after joint gives way, swings past and comes to rest."""
    model = actor.model(np.ones(len(actor.names), dtype=bool), actor.first("pelvis"))
    world, p = actor.canonical(clip)
    q, p = to_joints(model, world, p)
    axes = actor.axes(world[0])
    for role, size, lag, axis in (
        ("spine.1", -0.2, 0.0, 0),
        ("chest", -0.3, 0.0, 0),
        ("head", 0.3, 0.06, 0),
        ("upper_arm.L", 0.4, 0.06, 2),
        ("forearm.L", -0.3, 0.12, 2),
    ):
        u = np.maximum(clip.times - clip.times[0] - HIT - lag, 0.0)
        soon = 1.0 - (1.0 - np.minimum(u / 0.8, 1.0)) ** 2  # a blow is answered at once, and dies away slowly
        turn = factor * size * np.sin(np.pi * soon) ** 2
        i = actor.first(role)
        q[:, i] = multiply(q[:, i], exp(rotate(conjugate(world[:, i]), turn[:, None] * axes[axis])))
    return placed(actor, clip, *to_world(model, q, p))


def placed(actor, clip, q, p):
    """The clip with other world poses of its bodies."""
    back, factor = conjugate(clip.object_rotation)[:, None], actor.masses.scale / abs(clip.scale)
    shift = p[:, actor.body] / factor - clip.object_position[:, None]
    return replace(clip, rotation=multiply(back, q)[:, actor.body], position=rotate(back, shift) / clip.scale)


def blow_of(actor, clip, **changes):
    """The blow that fits the reaction: from the front."""
    struck = actor.first("chest")
    forward = actor.axes(actor.canonical(clip)[0][0])[1]
    return Blow(clip.times[0] + HIT, struck, 0.5 * actor.axis[struck], -forward, **changes)


def values(actor, clip, factor=1.0, mode="hit"):
    """{check: value} and the grade of the reaction."""
    verdict = judge(actor, reaction(actor, clip, factor), clip, blow_of(actor, clip) if mode == "hit" else None)
    return {f.name: f.value for f in verdict.findings}, verdict.grade


def found_in(*case):
    """{check: value} of what is judged."""
    return {f.name: f.value for f in judge(*case).findings}


def alike(one, other):
    """Grades equal, values within 2 %, of the limit where they are far below it."""
    assert one[1] == other[1]
    assert one[0].keys() == other[0].keys()
    for name, value in one[0].items():
        near = 0.02 * max(abs(value), abs(LIMITS["beyond"][name][0]))
        assert other[0][name] == pytest.approx(value, abs=near), name


class TestNothingDone:
    def test_a_clip_against_itself_has_nothing_beyond_it(self, skeleton, walk):
        verdict = judge(actor_of(skeleton), walk, walk)
        found = {f.name: f.value for f in verdict.findings}
        assert set(found) == set(BEYOND)
        assert max(found.values()) < 1e-9
        assert verdict.grade == "good" and not verdict.failed()

    def test_with_a_hit_a_body_that_does_nothing_is_bad(self, skeleton, walk):
        actor = actor_of(skeleton)
        verdict = judge(actor, walk, walk, blow_of(actor, walk))
        assert verdict.grade == "bad"
        assert "response" in {f.name for f in verdict.failed()}

    def test_too_short_a_motion_is_refused(self, skeleton, walk):
        short = replace(walk, **{name: getattr(walk, name)[:5] for name in ("frames", "rotation", "position")},
                        object_rotation=walk.object_rotation[:5], object_position=walk.object_position[:5])  # fmt: skip
        with pytest.raises(ClipError, match="Give at least"):
            judge(actor_of(skeleton), short)


@pytest.fixture(scope="module")
def plain(skeleton, walk):
    found = values(actor_of(skeleton), walk)
    assert found[0]["response"] > 4.0 and found[0]["restraint"] > 15.0  # there is something to compare
    return found


class TestInvariance:
    @pytest.mark.parametrize("scale", [0.01, 100.0])
    def test_scale_of_the_object(self, skeleton, plain, scale):
        alike(plain, values(actor_of(skeleton), clip_of(skeleton, fps=60.0, scale=scale)))

    @pytest.mark.parametrize("scale", [0.01, 100.0])
    def test_size_of_the_rig(self, skeleton, walk, plain, scale):
        large = moved(skeleton, scale=scale)
        alike(plain, values(actor_of(large), replace(walk, position=scale * walk.position)))

    @pytest.mark.parametrize("fps", [24.0, 30.0, 120.0])
    def test_frame_rate(self, skeleton, plain, fps):
        alike(plain, values(actor_of(skeleton), clip_of(skeleton, fps=fps)))

    def test_place_and_heading(self, skeleton, plain):
        turned = clip_of(skeleton, fps=60.0, turn=(np.cos(0.4), 0.0, 0.0, np.sin(0.4)), shift=(3.0, -2.0, 0.0))
        alike(plain, values(actor_of(skeleton), turned))

    def test_other_start(self, skeleton, plain):
        alike(plain, values(actor_of(skeleton), clip_of(skeleton, fps=60.0, start=1001.0)))

    def test_mirrored(self, skeleton, walk, plain):
        def flipped(clip):  # x -> -x in the world
            turn = np.tile([0.0, 1.0, 0.0, 0.0], (len(clip.frames), 1))
            return replace(clip, scale=-clip.scale, object_rotation=turn)

        actor, other = actor_of(skeleton), actor_of(skeleton, clip=flipped(walk))
        motion, blow = reaction(actor, walk), blow_of(other, flipped(walk))
        blow = replace(blow, direction=blow_of(actor, walk).direction * [-1.0, 1.0, 1.0])
        verdict = judge(other, flipped(motion), flipped(walk), blow)
        alike(plain, ({f.name: f.value for f in verdict.findings}, verdict.grade))

    def test_other_names(self, skeleton, walk, plain):
        words = {"upper_arm": "Arm", "forearm": "ForeArm", "thigh": "UpLeg", "shin": "Leg", "clavicle": "Shoulder"}

        def renamed(name):
            base, dot, side = name.partition(".")
            side = {"L": "Left", "R": "Right"}.get(side, "")
            plain = {"pelvis": "Hips", "spine.01": "Spine", "spine.02": "Spine1"}.get(name)
            return "mixamorig:" + (plain or side + words.get(base, base.capitalize()))

        other = replace(skeleton, names=tuple(map(renamed, skeleton.names)))
        alike(plain, values(actor_of(other), walk))


class TestRule:
    def test_one_bad_check_is_enough(self):
        limit, bad = LIMITS["beyond"]["slip"]
        assert grade([Finding("slip", 0.9 * limit, "cm")], "clip") == "good"
        assert grade([Finding("slip", 0.5 * (limit + bad), "cm")], "clip") == "less good"
        assert grade([Finding("slip", 0.0, "cm"), Finding("slip", 1.1 * bad, "cm")], "hit") == "bad"

    def test_where_small_is_bad(self):
        limit, bad = LIMITS["beyond"]["response"]
        assert bad < limit
        assert grade([Finding("response", limit + 1.0, "cm", least=True)], "hit") == "good"
        assert grade([Finding("response", 0.5 * (limit + bad), "cm", least=True)], "hit") == "less good"
        assert grade([Finding("response", bad - 1.0, "cm", least=True)], "hit") == "bad"

    def test_lines_are_in_order(self):
        for stage in LIMITS.values():
            for name, (limit, bad) in stage.items():
                least = name in ("response", "relaxation", "spread")
                assert bad < limit if least else 0.0 < limit < bad, name

    def test_the_report_names_value_limit_unit_bone_and_time(self, skeleton, walk):
        actor = actor_of(skeleton)
        verdict = judge(actor, reaction(actor, walk, 4.0), walk, blow_of(actor, walk))
        table = verdict.table()
        assert verdict.failed()
        worst = table[verdict.failed()[0].name]
        assert not worst["ok"] and worst["bone"] in actor.names
        assert walk.times[0] + HIT - 0.1 < worst["time"] < walk.times[-1]
        assert {"value", "limit", "unit", "ok"} <= set(worst)


def placed_by(actor, clip, change):
    """The clip with joints (T, n, 4) and positions (T, n, 3) changed in place."""
    model = actor.model(np.ones(len(actor.names), dtype=bool), actor.first("pelvis"))
    q, p = to_joints(model, *actor.canonical(clip))
    change(q, p)
    return placed(actor, clip, *to_world(model, q, p))


class TestChecks:
    def test_a_foot_skids_as_fast_as_the_body_glides(self, skeleton, walk):
        actor = actor_of(skeleton)
        q, p = actor.canonical(walk)
        u = np.clip((walk.times - walk.times[0] - 1.0) / 0.5, 0.0, 1.0)
        gliding = placed(actor, walk, q, p + (0.4 * u)[:, None, None] * [1.0, 0.0, 0.0])
        assert found_in(actor, gliding, walk)["skid"] == pytest.approx(0.8, rel=0.02)
        up = 0.1 * (walk.times > walk.times[0] + 0.85)  # off the ground before it glides
        lifted = placed(actor, walk, q, p + u[:, None, None] * [0.4, 0.0, 0.0] + up[:, None, None] * [0.0, 0.0, 1.0])
        assert found_in(actor, lifted, walk)["skid"] < 0.01

    @pytest.mark.parametrize("late", [0.05, 0.1])
    def test_delay_is_what_the_struck_point_waits(self, skeleton, walk, late):
        actor = actor_of(skeleton)
        motion, blow = reaction(actor, walk), blow_of(actor, walk)
        waits = [found_in(actor, motion, walk, replace(blow, time=blow.time - wait))["delay"] for wait in (0.0, late)]
        assert 0.0 < waits[0] < 0.06
        assert waits[1] - waits[0] == pytest.approx(late, abs=2e-3)

    def test_a_body_that_never_answers_waits_for_ever(self, skeleton, walk):
        actor = actor_of(skeleton)
        assert found_in(actor, walk, walk, blow_of(actor, walk))["delay"] == pytest.approx(0.4)

    def test_depth_goes_on_growing_when_a_limb_comes_out_on_the_other_side(self):
        """A gap of 10 cm either way between lines that meet within 12 cm, twice, then from the other side at once."""
        way = np.array([0.2, 0.1, 0.03, -0.03, -0.1, -0.2, -0.1, -0.03, 0.03, -0.03, -0.1])
        gap = way[:, None, None] * [0.0, 0.0, 1.0]
        inside = np.abs(way[:, None]) < 0.12
        passed = _passed(gap, inside, np.zeros_like(inside))[:, 0]
        assert passed.tolist() == [False, False, False, True, True, False, False, False, True, False, False]

    def test_a_limb_that_lies_where_the_clip_has_it_is_not_through_the_other(self):
        """A hand that comes from above and lies before a forearm; the clip's turns about its middle line on the near
        side, the motion's on the far one, 2 mm from it: from then on both are in one place."""
        near = [[0.0, 0.0, 9.0], [0.4, 0.8, 1.1], [0.3, 1.2, -0.6]]
        far = [[0.0, -3.0, 9.0], [0.2, -0.9, 0.9], [0.1, 0.2, 0.0]]
        clip, motion = (0.01 * np.array([*way, [0.6, 3.0, -1.0], [0.6, 3.0, -1.0]]) for way in (near, far))
        gap, own, touching = motion[:, None], clip[:, None], np.array([0.065])
        found = depths(gap, touching, own)[:, 0]
        np.testing.assert_allclose(found, touching - np.linalg.norm(motion, axis=-1), rtol=1e-12)
        assert depths(gap, touching)[-1, 0] > touching  # by the way that it came alone
        assert depths(-gap, touching, own)[-1, 0] > touching  # and one that comes out where the clip doesn't have it
        assert depths(gap, touching, 10.0 * own)[-1, 0] > touching  # nor touches
        beside = np.broadcast_to([[-0.01, 0.0, -0.022]], own.shape)  # on the same side, but elsewhere
        assert depths(gap, touching, beside)[-1, 0] > touching

    @pytest.mark.parametrize("limb", ["upper_arm.L", "thigh.L"])
    def test_a_limb_through_the_body_or_the_other(self, skeleton, walk, limb):
        """An upper arm through the chest, its elbow out on the other side; a thigh through the other."""
        actor = actor_of(skeleton)
        body = actor.first(limb)
        aim = {"upper_arm.L": np.array([-1.0, 0.0, 0.0]), "thigh.L": np.array([-0.6, 0.0, -0.8])}[limb]

        def change(q, _p):
            world, p = actor.canonical(walk)
            axis = rotate(world[:, body], actor.axis[body])
            turn = log(between(axis, np.broadcast_to(aim @ actor.axes(world[0]), axis.shape)))
            u = np.clip((walk.times - walk.times[0] - 1.0) / 0.5, 0.0, 1.0)
            q[:, body] = multiply(q[:, body], exp(rotate(conjugate(world[:, body]), u[:, None] * turn)))

        assert found_in(actor, placed_by(actor, walk, change), walk)["penetration"] > 80.0

    def test_a_moving_jaw_shows_that_a_motion_lives(self):
        """Alone, a body that holds still is frozen only if nothing of it moves."""
        skeleton = build(skin=True, jaw=("head", (0.0, -0.02, 1.6), (0.0, -0.1, 1.58)))
        actor, clip = actor_of(skeleton), clip_of(skeleton, fps=60.0)
        frames = np.arange(len(clip.frames))
        frames[60:120] = 60  # a second
        held = replace(clip, rotation=clip.rotation[frames], position=clip.position[frames])
        assert found_in(actor, held)["frozen"] == pytest.approx(1.0, abs=0.05)

        def chew(q, _p):
            i = actor.first("jaw")
            q[:, i] = multiply(q[:, i], exp(0.3 * np.sin(12.0 * clip.times)[:, None] * [1.0, 0.0, 0.0]))

        assert found_in(actor, placed_by(actor, held, chew))["frozen"] < 0.1
        beside = found_in(actor, placed_by(actor, held, chew), clip)
        assert beside["frozen"] > 0.8  # the clip says that arms and legs should move


class TestTools:
    def test_distance_of_segments(self, rng):
        p, q = rng.normal(size=(2, 200, 3))
        u, v = rng.normal(size=(2, 200, 3))
        s = np.linspace(0.0, 1.0, 101)
        points = [x[:, None] + s[:, None] * y[:, None] for x, y in ((p, u), (q, v))]
        brute = np.linalg.norm(points[0][:, :, None] - points[1][:, None], axis=-1).min(axis=(1, 2))
        found = np.linalg.norm(separation(p, u, q, v), axis=-1)
        assert np.all(found < brute + 1e-12)
        assert found == pytest.approx(brute, abs=0.02)  # the grid is 1 % of a segment

    def test_windows(self, rng):
        x = rng.normal(size=(40, 3))
        assert smooth(np.ones((40, 2))) == pytest.approx(1.0, abs=1e-12)
        assert sustained(x, 5 / RATE)[7] == pytest.approx(x[7:12].min(axis=0))
        assert widened(x, 2 / RATE)[10] == pytest.approx(x[8:13].max(axis=0))

    def test_samples_that_lie_on_the_grid_are_taken_as_they_are(self, skeleton, walk):
        figure = figure_of(actor_of(skeleton))
        motion = sampled(figure, walk, grid(walk))
        q, p = figure.actor.canonical(walk)
        assert np.abs(motion.p - p).max() == 0.0
        assert np.abs(motion.q - q).max() < 1e-12


def test_cost():
    """25 bones, 120 frames, with a hit (10 ms where this was made)."""
    face = {"eye.L": ("head", (0.03, -0.08, 1.68), (0.03, -0.1, 1.68)), "jaw": ("head", (0, 0, 1.6), (0, -0.1, 1.6))}
    skeleton = build(skin=True, **face)
    clip = clip_of(skeleton, fps=60.0, seconds=119.0 / 60.0)
    actor = actor_of(skeleton)
    assert len(clip.frames) == 120 and len(actor.names) == 25
    motion, blow = reaction(actor, clip), blow_of(actor, clip)
    made = calls(lambda: judge(actor, motion, clip, blow))
    print(made)
    assert made < 12000
