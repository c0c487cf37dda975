"""Legs in steps of our own: what they do to the body while they are in the air."""

import numpy as np
import pytest

from core.footing import LED
from core.react import Hit

from .figures import build
from .test_react import displacement, hit_on, standing


@pytest.fixture(scope="module")
def pushed():
    """Clip and reaction of a body that stands, pushed from behind so that it steps, and its steps."""
    clip, figure = standing(build(skin=True)), build(skin=True)
    reaction = hit_on(figure, "chest_back", clip=clip, hit=Hit(25.0, impulse=75.0))
    assert len(reaction.footing.plan.moves) == 2
    return clip, reaction, reaction.footing.plan.moves


def test_a_leg_has_its_muscles_while_it_steps(pushed):
    """One that stands gives way to the plan."""
    _, reaction, steps = pushed
    footing, limbs = reaction.footing, reaction.footing.stance.limbs
    for step in steps:
        times = np.array([step.start, 0.5 * (step.start + step.end), step.end])
        tone = footing.tone(times, len(reaction.actor.names))
        np.testing.assert_allclose(tone[:, limbs[step.leg].lower], [LED, 1.0, LED], atol=1e-9)
        np.testing.assert_allclose(tone[:, limbs[1 - step.leg].lower], LED, atol=1e-9)


def test_nobody_hops_as_he_steps(pushed):
    """Who stands on straight legs gets no higher on one: a foot that is lifted by 9 cm bends its knee."""
    clip, reaction, steps = pushed
    for step in steps:
        at = (clip.times > step.start) & (clip.times < step.end)
        bodies = reaction.footing.stance.limbs[step.leg].end, reaction.footing.base
        foot, pelvis = (displacement(reaction, clip, body)[at, 2] for body in bodies)
        assert foot.max() > 0.09
        assert pelvis.max() < 0.0


def test_how_high_feet_are_goes_at_the_rate_told(pushed):
    """Between samples as feet do, which have it in them: a force on the difference would shake."""
    plan = pushed[1].footing.plan
    for step in plan.moves:
        t = np.linspace(step.start, step.end, 100)
        high = plan.lifted(t)[:, step.leg]
        assert high.max() > 0.09
        np.testing.assert_allclose(plan.at(t)[1][:, step.leg, 2], high, atol=1e-9)
