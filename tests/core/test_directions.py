"""Hits from several sides on several parts in three strengths, as docs/directions.md has them for real characters."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.rotation import exp, rotate

from .figures import build
from .test_react import actor_of, clip_of

pytest.importorskip("mujoco")
from tools.quality import answers, causes, directions, directions_page, ways  # noqa: E402  they import MuJoCo

BACK, FORWARD, LEFT, ASLANT = (0, -1, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)  # none runs along a bone that is hit
SIDES = {"head": (BACK, LEFT), "chest": (FORWARD, ASLANT), "belly": (BACK, ASLANT), "hips": (FORWARD, LEFT)}
CELLS = [(part, side) for part, sides in SIDES.items() for side in sides]


@pytest.fixture(scope="module")
def figure():
    skeleton = build(skin=True)
    return actor_of(skeleton), clip_of(skeleton), 25.0


@pytest.mark.parametrize(("part", "side"), CELLS, ids=lambda x: x if isinstance(x, str) else directions_page.name(x))
def test_a_hit_sends_its_point_where_mujoco_says_and_farther_when_stronger(figure, part, side):
    cells = directions.part_of(*figure, *directions.PARTS[part], directions=[side])[side]
    for cell in cells:
        print(cell)
        assert cell.velocity < 1e-6
        assert cell.along > 0.0
        assert not directions_page.astray(cell)
    assert cells[0].peak > 0.01
    assert directions_page.grows(cells) and directions_page.spans(cells)


def test_velocity_errors_are_seen(figure):
    """A body that is a tenth lighter for MuJoCo than for us is noticed."""
    aim = ways.Aim(*figure, "chest_front", "chest", 0.5)
    situation, hit = aim.planned((0, -1, 0), "rifle")
    stage = answers.Stage(aim.actor, aim.clip, [(situation, hit)], {}, {})
    got, want = answers.at_once(stage, stage.blows[0])
    assert np.linalg.norm(got - want) < 1e-6 * np.linalg.norm(want)
    light = answers.replace(stage.model, inertia=0.9 * stage.model.inertia)
    reference = stage.reference(stage.start, 1, answers.INSTANT, answers.INSTANT)
    blow = stage.blows[0]
    other = answers.by_mujoco(light, reference.state(0), blow.struck, blow.point, blow.impulse * blow.direction)
    np.testing.assert_allclose(other, want / 0.9, rtol=1e-6)


@pytest.mark.parametrize(("direction", "why"), [((1, 1, 1), "limits"), ((0, 1, 0), "")])
def test_a_range_that_blocks_a_shoulder_is_named(figure, direction, why):
    """Shoulders that turn by no more than a fifth of a degree, pushed outwards, on and up, go elsewhere."""
    aim = ways.Aim(*figure, *directions.PARTS["shoulder"])
    situation, hit = aim.planned(direction, "rifle")
    plan = situation.with_changes(ranges={"upper_arm": (0.2, 0.2, 0.2), "clavicle": (0.2,)}), hit
    stage = answers.Stage(aim.actor, aim.clip, [plan], {}, {})
    want = answers.at_once(stage, stage.blows[0])[1]
    way = causes.way(aim, plan)
    assert (ways.between(way[ways.first_peak(way)], want) > ways.ALONG) == bool(why)
    if why:
        name, left = causes.excuse(aim, plan, want)
        assert name == why and left <= ways.ALONG


@pytest.mark.parametrize(("narrow", "held"), [(True, "limits"), (False, "")])
def test_an_answer_that_ranges_hold_is_named(figure, narrow, held):
    """A shoulder that turns by no more than a fifth of a degree hardly moves; a free one is held by nothing."""
    aim = ways.Aim(*figure, *directions.PARTS["shoulder"])
    situation, hit = aim.planned((0, 1, 0), "rifle")
    ranges = {"upper_arm": (0.2, 0.2, 0.2), "clavicle": (0.2,), "spine": (0.2,)} if narrow else {}
    plan = situation.with_changes(ranges=ranges), hit
    reaction = causes.again(aim, plan, (), lambda _, reaction: reaction)
    verdict = answers.graded(aim, reaction)
    assert bool(answers._bad(verdict)) == narrow
    assert answers._held(aim, plan, reaction.blows[0], verdict) == held


@pytest.mark.parametrize(("turns", "swings", "why"), [(40.0, 20.0, "clip"), (0.0, 80.0, "arc"), (20.0, 64.0, "arc")])
def test_a_point_on_a_bone_that_turns_leaves_its_tangent(turns, swings, why):
    """It hangs on a hinge which a clip turns by one angle, a blow by another [deg]: chords lie half of that off."""
    times = np.arange(0.0, 0.5, 1.0 / 60.0)
    rises = np.sin(np.pi * times / 0.4)[:, None] * [1.0, 0.0, 0.0]

    def poses(angle):
        return exp(np.radians(angle) * rises)[:, None], np.zeros((len(times), 1, 3))

    aim = SimpleNamespace(clip=SimpleNamespace(times=times), own=lambda: poses(turns))
    shown = SimpleNamespace(
        start=0.0, struck=0, point=np.array([0.0, 0.0, -0.2]), poses=lambda _: poses(turns + swings)
    )
    way = ways.displacement(aim, shown)
    tangent = rotate(exp(np.array([1e-3, 0.0, 0.0])), shown.point) - shown.point
    np.testing.assert_allclose(ways.between(way[ways.first_peak(way)], tangent), turns + 0.5 * swings, atol=0.1)
    assert causes.cause(aim, None, shown, tangent) == why
    np.testing.assert_allclose(causes.turning(aim, shown, tangent), 0.5 * swings, atol=0.1)


@pytest.mark.parametrize(("part", "within", "leaves"), [("chest", 5.0, False), ("upper arm", 10.0, True)])
def test_alone_a_body_begins_along_its_answer_and_a_light_limb_leaves_it(figure, part, within, leaves):
    """On one who stands, nothing of ours acting: after a frame it is where MuJoCo says, after 0.15 s no arm is."""
    aim = ways.Aim(*figure, *directions.PARTS[part])
    plan = aim.planned((0, 1, 0), "pistol")
    stage = answers.Stage(aim.actor, aim.clip, [plan], {}, {})
    want = answers.at_once(stage, stage.blows[0])[1]
    assert causes.alone(aim, plan, want, 1) < within
    assert (causes.alone(aim, plan, want, 9) > ways.ALONG) == leaves


@pytest.mark.parametrize("whole", [True, False])
def test_a_point_that_goes_with_the_whole_body_is_told_from_one_that_goes_alone(figure, whole):
    """All of the way is the weight's where every bone goes it, the hand's part of the weight where that goes alone."""
    actor, clip, _ = figure
    hand = actor.first("hand.L")
    q, p = actor.canonical(clip)
    moved = np.ones(len(actor.names)) if whole else np.arange(len(actor.names)) == hand
    off = np.sin(2.5 * np.pi * np.clip(clip.times - 0.5, 0.0, 0.4))[:, None, None] * moved[:, None] * [0.1, 0.0, 0.0]
    shown = SimpleNamespace(start=0.5, struck=hand, point=np.zeros(3), poses=lambda _: (q, p + off))
    mass = actor.masses.mass[actor.order]
    part = 1.0 if whole else mass[hand] / mass.sum()
    assert causes.carried(ways.Aim(*figure, "chest_front", "hand.L", 0.0), shown) == pytest.approx(part, rel=1e-9)


def test_the_page_counts_aims_by_the_issues_excuses_and_by_all():
    """Eight hits, two of which aim: the issue leaves out what is axial or limited, nothing else."""
    whys = ("", "", "axial", "limits", "flesh", "legs", "floating", "together")
    cells = [
        answers.Cell(1e-9, 0.1, off, turning, 0.0, 0.1, why, "", "", "good", (), 0.1)
        for why, off, turning in zip(whys, 2 * [10.0] + 6 * [50.0], 5 * [20.0] + 3 * [40.0], strict=True)
    ]
    head, _, row = directions_page._counts({("demo", "head"): {(0, 1, 0): cells}})
    told = dict(zip(*([x.strip() for x in line.split("|")] for line in (head, row)), strict=True))
    assert (told["aims"], told["aims free"], told["turning"]) == ("2/6", "2/2", "5/8")
    assert all(told[why] == "1" for why in whys[2:]) and set(whys[4:-1]) < set(causes.BLOCKS)
