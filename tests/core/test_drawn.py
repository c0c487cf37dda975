"""Legs that are struck below the knee in the air: drawn up over what they meet, and not led against it."""

from dataclasses import replace

import numpy as np
import pytest

from core import stance
from core.react import Hit

from .figures import build
from .test_react import actor_of, clip_of, hit_on
from .test_struck import in_the_air


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def struck_there(skeleton, bone, cosine, passed=10):
    """(clip, its stance, right leg, sample, Hit) of a blow in the air, so far towards where the knee folds."""
    clip, found, leg, k = in_the_air(skeleton, passed)
    back = found.folding[k, leg]
    aside = np.cross(back, found.ankle[k, leg] - found.hip[k, leg])
    way = cosine * back + np.sqrt(1.0 - cosine**2) * aside / np.linalg.norm(aside)
    hit = Hit(float(found.times[k]) * clip.fps, bone=bone, impulse=30.0, direction=way, along=0.9)
    return clip, found, leg, k, hit


def test_the_side_to_which_a_leg_folds_is_behind_it(skeleton):
    """Across it, where its knee doesn't point, whether it is bent or straight."""
    actor, clip = actor_of(skeleton), clip_of(skeleton)
    found = stance.read(actor, clip, 1.0)
    line, back = found.ankle - found.hip, -actor.axes(actor.canonical(clip)[0][0])[1]
    assert np.abs(np.sum(line * found.folding, axis=-1)).max() < 1e-12
    np.testing.assert_allclose(np.linalg.norm(found.folding, axis=-1), 1.0, atol=1e-12)
    assert (found.folding @ back).min() > 0.7


@pytest.mark.parametrize(("bone", "cosine"), [("shin.R", 1.0), ("shin.R", 0.5), ("shin.R", -1.0), ("thigh.R", -1.0)])
def test_a_knee_is_drawn_up_over_what_comes_from_before(skeleton, bone, cosine):
    """Below the knee by the part of the blow that does, not by what kicks it on; over all that strikes a thigh."""
    clip, found, leg, k, hit = struck_there(skeleton, bone, cosine)
    plan = hit_on(skeleton, "leg_front", clip=clip, hit=hit).footing.plan
    lands = found.lands(k, leg)
    rise = np.clip((found.times - found.times[k]) / 0.12, 0.0, 1.0)
    size = 20.0 * 30.0 / 40.0 * (1.0 if bone == "thigh.R" else max(cosine, 0.0))
    want = size * rise**2 * (3.0 - 2.0 * rise) * (1.0 - plan.hold[:, leg]) * (np.arange(len(rise)) < lands)
    np.testing.assert_allclose(np.degrees(plan.draws[:, leg]), want, atol=1e-9)
    assert not plan.draws[:, 1 - leg].any()


@pytest.mark.parametrize(("bone", "contact"), [("shin.R", 0.02), ("shin.R", 0.15), ("foot.R", 0.1), ("thigh.R", 0.15)])
def test_a_foot_is_not_led_against_what_pushes_its_shin(skeleton, bone, contact):
    """It begins to be at half of the contact, but for what is over at once or strikes the thigh, and is in its place as
    it lands."""
    clip, found, leg, k, hit = struck_there(skeleton, bone, 1.0, passed=20)
    hold = hit_on(skeleton, "leg_front", clip=clip, hit=replace(hit, contact=contact)).footing.plan.hold[:, leg]
    start, lands = float(found.times[k]), float(found.times[found.lands(k, leg)])
    begins = start + (0.0 if bone == "thigh.R" else 0.5 * max(contact - 0.03, 0.0))
    x = np.clip((found.times[k:] - begins) / (lands - begins), 0.0, 1.0)
    np.testing.assert_allclose(hold[k:], x**2 * (3.0 - 2.0 * x), atol=1e-9)


def test_a_foot_that_is_pushed_until_it_lands_finds_its_place_in_half_that_time(skeleton):
    """Whatever still pushes it then."""
    clip, found, leg, k, hit = struck_there(skeleton, "shin.R", 1.0, passed=35)
    assert found.lands(k, leg) == k + 6
    hold = hit_on(skeleton, "leg_front", clip=clip, hit=replace(hit, contact=0.3)).footing.plan.hold[:, leg]
    np.testing.assert_allclose(hold[k : k + 7], [0.0, 0.0, 0.0, 0.0, 7.0 / 27.0, 20.0 / 27.0, 1.0], atol=1e-6)
