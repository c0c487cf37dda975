"""Motions that answer several hits are judged by all of them, and a twist not as a push."""

from dataclasses import replace

import numpy as np
import pytest

from core.blows import Hit
from core.progress import run
from core.quality import Blow, judge
from core.react import react
from core.rotation import conjugate, multiply, rotate
from core.situation import named

from .figures import build
from .test_react import actor_of, clip_of


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def answered(skeleton, gap):
    """(actor, motion, clip, blows) of two strong hits, gap [s] apart."""
    clip, actor = clip_of(skeleton, seconds=8.0), actor_of(skeleton)
    second = (named("chest_back"), Hit(25.0 + gap * 24.0, contact=0.005))
    reaction = run(react(actor, clip, named("shoulder_front"), Hit(25.0), further=[second]))
    return actor, *seen(actor, clip, reaction)


def seen(actor, clip, reaction):
    """(motion, clip, blows) of a reaction."""
    q, p = reaction.poses(clip)
    back, factor = conjugate(clip.object_rotation)[:, None], actor.masses.scale / abs(clip.scale)
    shift = p[:, actor.body] / factor - clip.object_position[:, None]
    motion = replace(clip, rotation=multiply(back, q)[:, actor.body], position=rotate(back, shift) / clip.scale)
    blows = [
        Blow(b.start, b.struck, b.point, b.direction, float(np.linalg.norm(given)), b.contact)
        for b, given in zip(reaction.blows, reaction.given, strict=True)
    ]
    return motion, clip, blows


def found(actor, motion, clip, first, further=(), *displaced):
    return {f.name: f for f in judge(actor, motion, clip, first, further, *displaced).findings}


def test_a_second_hit_is_no_fault(skeleton):
    """What it jolts is its own; who knows only the first sees momentum from nowhere."""
    actor, motion, clip, (first, second) = answered(skeleton, 1.0)
    one, both = found(actor, motion, clip, first), found(actor, motion, clip, first, [second])
    assert both["momentum"].value < 0.5 * one["momentum"].value or both["pop"].value < 0.5 * one["pop"].value
    assert both["settling"].value == pytest.approx(one["settling"].value - 1.0, abs=0.02)
    assert set(one) == set(both)  # a second later the first has been answered


def test_the_answer_to_the_first_is_not_told_where_the_second_comes_at_once(skeleton):
    actor, motion, clip, (first, second) = answered(skeleton, 0.2)
    one, both = found(actor, motion, clip, first), found(actor, motion, clip, first, [second])
    assert {"response", "direction", "delay"} <= set(one) - set(both)
    assert {"settling", "wobble", "pop", "restraint"} <= set(both)


def test_a_twist_is_not_asked_for_the_way_of_a_push(skeleton):
    actor, motion, clip, (first, _) = answered(skeleton, 1.0)
    assert "direction" not in found(actor, motion, clip, replace(first, pushes=False, impulse=0.0))


def test_a_body_that_goes_on_displaced_settles_where_it_goes_on(skeleton):
    """Beside its clip it would never; beside the clip as far off on the other side neither."""
    clip, actor = clip_of(skeleton, seconds=8.0), actor_of(skeleton)
    situation = named("chest_front").with_changes(end="continue")
    reaction = run(react(actor, clip, situation, Hit(25.0, impulse=70.0)))
    gone = reaction.displaced
    assert np.linalg.norm(gone) > 0.1
    motion, clip, (blow,) = seen(actor, clip, reaction)
    off, own, wrong = (found(actor, motion, clip, blow, (), at) for at in (0.0 * gone, gone, -gone))
    lasts = clip.times[-1] - blow.time
    assert off["settling"].value == pytest.approx(lasts, abs=0.02) == wrong["settling"].value
    assert own["settling"].value < reaction.end - reaction.start < 0.5 * lasts
    changed = {name for name in own if own[name].value != off[name].value}
    assert changed <= {"settling", "relaxation", "wobble"}
