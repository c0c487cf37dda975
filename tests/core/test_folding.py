"""Legs that fold in the air: under a blow along them, at hip, knee and ankle."""

from dataclasses import replace

import numpy as np
import pytest

from core import footing, settling, struck
from core.forces import Pulse
from core.react import Hit
from core.rotation import conjugate, log, multiply, rotate

from .figures import build
from .test_react import actor_of, hit_on
from .test_struck import in_the_air


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def along(found, leg, k, part):
    """(3,) unit direction of which so much of the energy goes along a leg, (3,) one across it."""
    line = found.ankle[k, leg] - found.hip[k, leg]
    line /= np.linalg.norm(line)
    across = np.cross(line, [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    return np.sqrt(part) * line + np.sqrt(1.0 - part) * across, across


@pytest.mark.parametrize(("part", "impulse"), [(0.0, 30.0), (0.36, 30.0), (1.0, 30.0), (1.0, 90.0), (1.0, 200.0)])
def test_a_leg_in_the_air_folds_by_the_part_of_a_blow_along_it(skeleton, part, impulse):
    """The square of that of its energy, the less the harder it is, as far as the foot is free, which is led the less
    then; a leg that stands folds not at all."""
    clip, found, leg, k = in_the_air(skeleton, 15)
    actor, (way, across) = actor_of(skeleton), along(found, leg, k, part)
    hit = Hit(float(found.times[k]) * clip.fps, bone="shin.R", impulse=impulse, direction=way)
    blow = hit_on(skeleton, "leg_front", clip=clip, hit=hit).blows[0]
    legs, bare = (
        struck.legs(actor, found, [x], [[Pulse(x.struck, x.point, impulse * x.direction, x.start, 0.002)]])
        for x in (blow, replace(blow, direction=across))
    )
    free = np.where(found.times < blow.start - 1e-6, 0.0, 1.0 - bare.hold[:, leg])
    want = part**2 * max(0.0, 1.0 - impulse / struck.BRACED) * free
    np.testing.assert_allclose(legs.loose[:, leg], want, atol=1e-9)
    np.testing.assert_allclose(legs.hold[:, leg], (1.0 - free) * (1.0 - want) ** 2, atol=1e-9)
    assert not legs.loose[:, 1 - leg].any() and not legs.loose[found.lands(k, leg) :].any()
    stands = replace(blow, struck=actor.first("shin.L"))
    assert not struck.legs(actor, found, [stands], [blow.felt()]).loose.any()


def test_a_foot_pressed_to_the_ground_gives_way_at_its_ankle(skeleton, monkeypatch):
    """Under a leg struck from above in the air: its ankle goes farther down than where it is stiff, its toes less, and
    it turns by no more than it may."""
    clip, found, leg, k = in_the_air(skeleton, 4)
    at = int(round(found.times[k] * clip.fps))
    hit = Hit(float(at), bone="shin.R", impulse=30.0, direction=np.array([0.0, 0.0, -1.0]), contact=0.002)
    reaction = hit_on(skeleton, "leg_front", clip=clip, hit=hit)
    limb = reaction.footing.stance.limbs[leg]

    def shown():
        q, p = (x[at : at + 4, limb.end] for x in reaction.poses(clip))
        return q, p, reaction.footing._deep(limb, q, p).max()

    turn, ankle, deep = shown()
    monkeypatch.setattr(settling, "FLEXES", 0.0)
    stiff, high, deeper = shown()
    flexed = np.degrees(np.linalg.norm(log(multiply(turn, conjugate(stiff))), axis=-1).max())
    assert (high - ankle)[:, 2].max() > 0.005 and deep < deeper and 2.0 < flexed < 25.0


def test_a_shin_struck_from_below_in_the_air_goes_up_with_its_leg(skeleton, monkeypatch):
    """In two frames, 0.08 s, by more than two fifths of what bones alone do, which whole muscles wouldn't let it; what
    strikes across a leg moves it as ever."""
    clip, found, leg, k = in_the_air(skeleton, 4)
    at = int(round(found.times[k] * clip.fps))
    line = found.ankle[k, leg] - found.hip[k, leg]

    def gone(direction, **changes):
        hit = Hit(float(at), bone="shin.R", impulse=20.0, direction=np.array(direction), contact=0.002)
        reaction = hit_on(skeleton, "leg_front", clip=clip, hit=hit, **changes)
        i, both = reaction.struck, (reaction.poses(clip), reaction.actor.canonical(clip))
        shown, own = (p[at + 1, i] + rotate(q[at + 1, i], reaction.point) for q, p in both)
        return shown - own

    aside = np.cross(line, [1.0, 0.0, 0.0])
    up, across = gone([0.0, 0.0, 1.0]), gone(aside)
    bare = gone([0.0, 0.0, 1.0], frequency=1e-3, base_frequency=1e-3)
    monkeypatch.setattr(footing, "FOLDING", 1.0)
    assert up[2] > 0.42 * bare[2] and gone([0.0, 0.0, 1.0])[2] < 0.38 * bare[2]
    np.testing.assert_allclose(gone(aside), across, atol=1e-9)
