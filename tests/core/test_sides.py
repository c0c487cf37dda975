"""Legs that get past each other: cross-over steps, and the way round the leg that stands."""

from dataclasses import replace

import numpy as np
import pytest

from core import sides, stance

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
