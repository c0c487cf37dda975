"""Legs that are struck below the knee in the air: drawn up over what they meet, and led the less."""

import numpy as np
import pytest

from core import stance, struck
from core.react import Hit

from .figures import build
from .test_react import actor_of, clip_of, hit_on
from .test_struck import in_the_air


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def struck_there(skeleton, bone, cosine):
    """(clip, its stance, right leg, sample, Hit) of a blow in the air, so far towards where the knee folds."""
    clip, found, leg, k = in_the_air(skeleton, 10)
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


@pytest.mark.parametrize(("bone", "cosine"), [("shin.R", 1.0), ("shin.R", -1.0), ("foot.R", 0.8), ("thigh.R", 1.0)])
def test_a_foot_is_led_the_less_whose_shin_is_struck_where_it_bends(skeleton, monkeypatch, bone, cosine):
    """Both ways alike, by the square of that part of the blow's energy; what strikes the thigh changes nothing.  It is
    in its place as it lands."""
    clip, found, leg, k, hit = struck_there(skeleton, bone, cosine)
    hold = hit_on(skeleton, "leg_front", clip=clip, hit=hit).footing.plan.hold
    monkeypatch.setattr(struck, "EASED", 0.0)
    bare = hit_on(skeleton, "leg_front", clip=clip, hit=hit).footing.plan.hold
    left = 1.0 if bone == "thigh.R" else (1.0 - 0.4 * cosine**4 * (1.0 - bare[:, leg])) ** 2
    np.testing.assert_allclose(hold[:, leg], left * bare[:, leg], atol=1e-9)
    np.testing.assert_array_equal(hold[:, 1 - leg], bare[:, 1 - leg])
    assert hold[found.lands(k, leg), leg] == 1.0 and bare.min() < 0.1
