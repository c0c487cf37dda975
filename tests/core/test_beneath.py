"""What is hit where it lies meets the floor: as deep as the clip has it, and no deeper."""

from dataclasses import replace

import numpy as np
import pytest

from core import beneath, touch
from core.progress import run
from core.react import Hit, react
from core.rotation import exp, multiply
from core.situation import named
from core.stage import Stage

from .figures import build
from .test_react import HIT, actor_of, clip_of, standing

ON_ITS_BACK = exp(np.array([-0.5 * np.pi, 0.0, 0.0]))
DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture(scope="module")
def lies():
    """A human who lies on the back, and one who walks as he lies, in part through the floor."""
    skeleton = build(skin=True)
    clips = standing(skeleton), clip_of(skeleton)
    return actor_of(skeleton), *(replace(c, object_rotation=multiply(ON_ITS_BACK, c.object_rotation)) for c in clips)


def sunk(actor, clip, reaction):
    """[m] how much deeper than the floor and the clip the figure gets, but for its legs."""
    points = touch.points(actor)
    own, there = (points.world(*poses)[..., 2] for poses in (actor.canonical(clip), reaction.poses(clip)))
    legs = np.array([role.startswith(("thigh", "shin", "foot", "toe")) for role in actor.roles])
    deeper = np.minimum(own, touch.floor(points, *actor.canonical(clip))) - there
    return deeper[:, ~legs[points.bodies]].max()


@pytest.mark.parametrize("struck", ["chest_front", "shoulder_front"])
def test_a_blow_on_a_body_that_lies_presses_it_onto_the_floor_and_not_through(lies, struck, monkeypatch):
    actor, clip, _ = lies
    hit = replace(HIT, direction=DOWN, impulse=60.0)
    reaction = run(react(actor, clip, named(struck), hit))
    assert sunk(actor, clip, reaction) < 0.005
    turned = np.degrees(max(reaction.peaks().values()))
    assert turned > 10.0, "it does react"
    monkeypatch.setattr(beneath, "floor", lambda *_: None)
    assert sunk(actor, clip, run(react(actor, clip, named(struck), hit))) > 0.015


def test_a_clip_that_goes_through_the_floor_may(lies):
    """Without a blow nothing moves, though bodies of the clip come and go through the floor."""
    actor, _, clip = lies
    height = touch.points(actor).world(*actor.canonical(clip))[..., 2]
    through = (height.min(axis=0) < -0.03) & (height.max(axis=0) > 0.03)
    assert through.sum() > 20
    seen = []
    nothing, hit = named("chest_front").with_changes(impulse=0.0), replace(HIT, ground=0.0)
    reaction = run(react(actor, clip, nothing, hit, watch=lambda stage, *_: seen.append(stage.floor)))
    assert seen[0] is not None and len(seen[0].skin.first) > 20
    assert np.abs(reaction.turn).max() < 1e-9 and np.abs(reaction.travel).max() < 1e-9


def test_a_given_floor_is_the_floor(lies):
    """Half a metre below the body it holds nothing up."""
    actor, clip, _ = lies
    hit = Hit(HIT.frame, direction=DOWN, impulse=60.0, ground=-0.5)
    assert sunk(actor, clip, run(react(actor, clip, named("chest_front"), hit))) > 0.015


def test_a_body_that_stands_has_no_floor_but_its_feet_s(lies, monkeypatch):
    """Nobody asks for its surface, which would cost time."""
    actor = lies[0]
    monkeypatch.setattr(touch, "points", None)
    for clip in (standing(actor.skeleton), clip_of(actor.skeleton)):
        assert Stage(actor, clip, [(named("chest_front"), HIT)], {}, {}).floor is None
