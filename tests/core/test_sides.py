"""Legs that get past each other: cross-over steps, and the way round the leg that stands."""

from dataclasses import replace

import numpy as np
import pytest

from core import landing, sides, stance
from core.plan import Span, Struck
from core.rotation import exp, rotate
from core.support import dot
from core.walker import Walker

from .figures import build
from .test_react import Hit, clip_of, hit_on


@pytest.mark.parametrize("along", (0.0, 0.05, 0.15, -0.4, 0.7))
def test_crossed_legs_keep_their_thickness(along):
    """Straight legs, seen from above at every height: the other hangs from (0, 0), this one goes from its hip to its
    foot.  As near as a foot may be, lines come as near to each other as legs are thick, if feet don't before."""
    wide = 0.2
    room = float(sides.least(along, wide))
    for more, clear in ((0.0, True), (-0.02, False)):
        down = np.linspace(0.0, 1.0, 2001)
        across, forth = wide + down * (room + more - wide), down * along
        nearest = np.hypot(across, forth).min()
        thick = min(sides.THICK * wide, float(np.hypot(sides.APART, along)))
        assert (nearest > thick - 1e-4) == clear


def test_where_feet_are_beside_each_other_is_told_alike_in_plans_and_in_poses(actor, clip, rng):
    """In plain numbers of a stance, and in arrays of the world, wherever the other foot is and however hips lie."""
    found, turn = stance.read(actor, clip, clip.times[0] + 0.5), exp(np.array([0.0, 0.0, 0.7]))
    found = replace(found, hip=rotate(turn, found.hip), ankle=rotate(turn, found.ankle))
    for k in rng.integers(len(found.times), size=20):
        off = 0.3 * rng.normal(size=(2, 2))
        feet = found.ankle[k].copy()
        feet[:, :2] += off
        for leg in (0, 1):
            both = ((x[leg], x[1 - leg]) for x in (found.hip[k], feet))
            world, plan = sides.beside(*both), sides.side(found, int(k), leg, off.view(complex)[:, 0].tolist())
            np.testing.assert_allclose(world.room, plan.room, atol=1e-12)
            np.testing.assert_allclose(world.along, plan.along, atol=1e-12)
            np.testing.assert_allclose(world.wide, plan.wide, atol=1e-12)
            np.testing.assert_allclose(world.way, [plan.way.real, plan.way.imag], atol=1e-12)
            across = (feet[leg] - feet[1 - leg])[:2] - world.room * world.way
            assert abs(world.along) == pytest.approx(np.linalg.norm(across), abs=1e-12)


def test_a_walk_pushed_over_its_standing_leg_crosses_over():
    """The foot in the air lands beyond the one that stands, well before it; that one then goes round it and home."""
    skeleton = build(skin=True)
    clip = clip_of(skeleton)
    reaction = hit_on(skeleton, clip=clip, hit=Hit(25.0, impulse=70.0, direction=(-1.0, 0.0, 0.0)))
    assert not reaction.footing.fell
    (_, p), (_, own) = reaction.poses(clip), reaction.actor.canonical(clip)
    room, along, wide = seen(reaction, p)
    before, _, _ = seen(reaction, own)
    assert before.min() > 0.1 and room.min() < -0.1
    assert (room - np.minimum(before, sides.least(along, wide))).min() > -0.005
    assert np.linalg.norm(p - own, axis=-1)[clip.times > reaction.start + 2.5].max() < 0.01


def seen(reaction, p):
    """[m] that the first foot is beside and before the other one, and between the hips, of world positions."""
    feet, hips = ([getattr(limb, n) for limb in reaction.footing.stance.limbs] for n in ("end", "upper"))
    side = (p[:, hips[0]] - p[:, hips[1]])[:, :2]
    wide = np.linalg.norm(side, axis=-1)
    to = (p[:, feet[0]] - p[:, feet[1]])[:, :2]
    side /= wide[:, None]
    return np.einsum("ti,ti->t", to, side), to[:, 1] * side[:, 0] - to[:, 0] * side[:, 1], wide


def test_thick_feet_pass_each_other_farther_apart(actor, clip):
    """No nearer than most of them is thick, 8 cm at least."""
    thick = replace(actor, masses=replace(actor.masses, radius=3.0 * actor.masses.radius))
    slim, wide = (stance.read(body, clip, clip.times[0] + 0.5) for body in (actor, thick))
    radius = actor.masses.radius[actor.order[slim.limbs[0].end]]
    assert slim.apart == max(stance.APART, 1.6 * radius) and wide.apart == pytest.approx(4.8 * radius)
    assert sides.least(0.0, 1.0, wide.apart) == wide.apart > sides.least(0.0, 1.0)


@pytest.mark.parametrize("quick", (0.02, 0.05, 0.5))
@pytest.mark.parametrize("leg", (0, 1))
def test_a_foot_lands_where_the_other_gets_round_it_in_time(actor, clip, leg, quick):
    """One that is lifted right beside the other, thick as it is, can't get aside any more: it needs its room at once.

    quick: how fast legs swing, as part of how fast they do.
    """
    found = stance.read(actor, clip, clip.times[0] + 0.5)
    slow = replace(found, length=quick * found.length, apart=0.12)
    walker = Walker(slow, np.zeros((1, len(slow.times), 2)), Struck.nothing(slow.down.shape), [Span(0.5, 3.0)])
    due = slow.lands(int(np.flatnonzero(slow.down[:-1, leg] & ~slow.down[1:, leg])[1]) + 3, leg)
    far = -0.5 * slow.beside[2][due, leg]
    feet = [0j, 0j]
    feet[leg] = walker.apart(due, leg, far)
    leaves = slow.stays(due, 1 - leg)
    there = [sides.side(slow, k, 1 - leg, [0j, 0j]) for k in range(leaves, slow.lands(leaves, 1 - leg))]
    passes = next(i for i, at in enumerate(there) if sides.least(at.along, at.wide, slow.apart) >= slow.apart)
    gets = landing.QUICK * slow.length[1 - leg] * passes / 60.0
    assert passes > 2 and slow.apart - sides.side(slow, due, leg, feet).room < gets + 1e-9


@pytest.mark.parametrize("leg", (0, 1))
def test_a_foot_that_does_not_pass_the_other_goes_along_with_the_weight(actor, clip, leg):
    """The other stands so far behind that it can't be met: a body that is pushed back doesn't leave its foot there
    because it must get a little aside as well."""
    found = stance.read(actor, clip, clip.times[0] + 0.5)
    walker = Walker(found, np.zeros((1, len(found.times), 2)), Struck.nothing(found.down.shape), [Span(0.0, 3.0)])
    start = int(np.flatnonzero(found.down[:-1, leg] & ~found.down[1:, leg])[0]) + 1
    walker.due[leg], behind = found.lands(start, leg), complex(*found.ground) / np.hypot(*found.ground)
    walker.feet[1 - leg] = 0.9 * behind + 0.15 * found.beside[2][start, leg]
    walker.x, walker.goal[leg], walker.across[leg] = 0.7 * behind, 0.3 * behind, True
    samples = range(start, walker.due[leg] - 13)  # until it is led to where it lands
    assert walker.clear(start, leg) > landing.OUT
    for k in samples:
        walker._swing(k)
    done = landing.CARRIED * len(samples) / 60.0
    assert dot(walker.feet[leg], behind) == pytest.approx(0.7 * (1.0 - (1.0 + done) * np.exp(-done)), rel=0.02)
    assert len(samples) > 5
