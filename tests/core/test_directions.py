"""Hits from several sides on several parts in three strengths, as docs/directions.md has them for real characters."""

import numpy as np
import pytest

from .figures import build
from .test_react import actor_of, clip_of

pytest.importorskip("mujoco")
from tools.quality import answers, directions, directions_page  # noqa: E402  they import MuJoCo

SIDES = [(0, -1, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]  # none runs along a bone that is hit
CELLS = [(part, side) for part in ("head", "chest", "belly", "hips") for side in SIDES]


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
    aim = answers.Aim(*figure, "chest_front", "chest", 0.5)
    situation, hit = aim.planned((0, -1, 0), "rifle")
    stage = answers.Stage(aim.actor, aim.clip, [(situation, hit)], {}, {})
    got, want = answers.at_once(stage, stage.blows[0])
    assert np.linalg.norm(got - want) < 1e-6 * np.linalg.norm(want)
    light = answers.replace(stage.model, inertia=0.9 * stage.model.inertia)
    reference = stage.reference(stage.start, 1, answers.INSTANT, answers.INSTANT)
    blow = stage.blows[0]
    other = answers.by_mujoco(light, reference.state(0), blow.struck, blow.point, blow.impulse * blow.direction)
    np.testing.assert_allclose(other, want / 0.9, rtol=1e-6)
