"""Legs as springs: what the ground's brake presses them with, how far animals sit back; and what leads the weight."""

import numpy as np
import pytest

from core.leg_springs import STIFF, LegSprings
from core.react import Hit
from core.rotation import rotate

from .figures import DOG, HUMAN, build
from .test_react import hit_on, standing

HIPS = np.array([[0.1, 0.4], [-0.1, 0.4], [0.08, -0.3], [-0.08, -0.3]])


def springs(stands, high=0.8, weight=750.0):
    return LegSprings(np.atleast_2d(stands).astype(float), np.array([high]), 0.75, weight / 9.81, weight)


def test_the_grounds_brake_presses_one_end_more_and_the_other_less():
    """By its moment about the weight, and no force in all; of what pulls across, as much less as hips are nearer to
    each other across than along: a fifteenth is left."""
    along = springs(np.ones(4)).pressed(HIPS[None], np.array([[0.0, 200.0]]))[0]
    assert along.sum() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(along @ HIPS, [0.0, 0.8 * 200.0], atol=1e-9)
    across = springs(np.ones(4)).pressed(HIPS[None], np.array([[200.0, 0.0]]))[0]
    wide, long = (HIPS - HIPS.mean(axis=0)).T ** 2
    assert across.sum() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(across @ HIPS, [0.8 * 200.0 * wide.sum() / long.sum(), 0.0], atol=1e-9)


def test_legs_never_pull_at_the_ground():
    hard = springs(np.ones(4)).pressed(HIPS[None], np.array([[0.0, 1e4]]))[0]
    assert np.abs(hard).max() == pytest.approx(750.0 / 4.0)


def test_those_that_stand_are_as_stiff_as_a_trotting_animals():
    """However many: 13 weights for a length; nothing in the air, and as far as muscles have tone."""
    for stands, whole in (([1, 1, 1, 1], 1.0), ([1, 0, 0, 1], 1.0), ([0, 0, 0, 0], 0.0)):
        told = springs(stands).spring(np.arange(4), None, np.array([0.3]))
        assert told.stiffness[0, :, 5, 5].sum() == pytest.approx(0.3 * whole * STIFF * 750.0 / 0.75)
        assert (told.stiffness[0] != 0.0).sum() == sum(stands) == (told.damping[0] != 0.0).sum()


@pytest.mark.parametrize("preset, sits", [("breast_blast", True), ("chest_back", False)])
def test_an_animal_pushed_along_its_backbone_sits_back_or_bows(preset, sits):
    """Its trunk was moved as a block: by the artist of the Wolf its hips sink by 10 cm, and its chest by 0.6."""
    dog = build(DOG, skin=True)
    clip = standing(dog)
    reaction = hit_on(dog, preset, clip=clip, hit=Hit(25.0))
    (_, p), (_, own) = reaction.poses(clip), reaction.actor.canonical(clip)
    hips, shoulders = (reaction.actor.first(role) for role in ("thigh.L", "upper_arm.L"))
    sunk = (own - p)[..., 2]
    braked = slice(int(round((reaction.start + 0.15) * clip.fps)), int(round((reaction.start + 0.5) * clip.fps)))
    lower = (sunk[:, hips] - sunk[:, shoulders])[braked]
    assert (lower.max() > 0.03) if sits else (lower.min() < -0.01)


@pytest.mark.parametrize(
    "joints, preset, braked, taken", [(DOG, "muzzle_punch", 0.90, 1.03), (HUMAN, "head_blast", 0.73, 0.87)]
)
def test_a_blow_on_a_head_gives_the_body_its_impulse_once(joints, preset, braked, taken):
    """The plan moves the weight from the blow on, while the neck still takes it up: led there itself, the pelvis was
    pushed by a quarter of the blow again.  Of a whole blow the weight never has all, for the ground brakes from the
    first on; a blast lasts longer than a punch, and the weight is at most an eighth slower than planned,
    but goes as far."""
    figure = build(joints, skin=True)
    clip = standing(figure)
    reaction = hit_on(figure, preset, clip=clip, hit=Hit(25.0))
    actor, plan = reaction.actor, reaction.footing.plan
    mass, com = (x[actor.order] for x in (actor.masses.mass, actor.masses.com))
    here, there = (
        p + rotate(q, np.broadcast_to(com, p.shape)) for q, p in (reaction.poses(clip), actor.canonical(clip))
    )
    ways = np.einsum("n,tni->ti", mass, here - there), mass.sum() * plan.at(clip.times)[0]
    soon = (clip.times > reaction.start) & (clip.times < reaction.start + 0.3)
    got, planned = (np.gradient(way @ reaction.direction, clip.times)[soon].max() for way in ways)
    assert planned / np.linalg.norm(reaction.given[0]) == pytest.approx(braked, abs=0.03)
    assert got / planned == pytest.approx(taken, abs=0.03)
    farthest, asked = ((way @ reaction.direction)[soon].max() for way in ways)
    assert farthest == pytest.approx(asked, rel=0.1)
