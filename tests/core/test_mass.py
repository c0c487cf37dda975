"""What a bone weighs tells how far a blow sends it, whatever part of the body it is."""

import numpy as np
import pytest

from core.react import Hit
from core.rotation import rotate

from .figures import build
from .test_react import actor_of, clip_of, hit_on, standing


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


PARTS = [
    ("chest_front", "spine.02"),
    ("chest_front", "spine.01"),
    ("chest_front", "head"),
    ("chest_front", "pelvis"),
    ("leg_front", "thigh.R"),
    ("leg_front", "shin.R"),
    ("leg_back", "thigh.R"),
]


@pytest.mark.parametrize("stands", [True, False])
@pytest.mark.parametrize(("situation", "bone"), PARTS)
def test_every_part_that_is_struck_goes_less_far_the_heavier_it_is(skeleton, situation, bone, stands):
    """Its middle, in the world, in the first 0.4 s; of legs too, which give way by a rule of their own."""
    clip = standing(skeleton) if stands else clip_of(skeleton)
    actor = actor_of(skeleton)
    i = actor.names.index(bone)
    own = float(actor.masses.mass[actor.order[i]])
    ways = []
    for times in (1.0, 2.0, 4.0):
        reaction = hit_on(skeleton, situation, clip=clip, hit=Hit(25.0, bone=bone, along=0.5), mass={bone: times * own})
        first = (clip.times > reaction.start) & (clip.times < reaction.start + 0.4)
        (q, p), (q0, p0) = reaction.poses(clip), reaction.actor.canonical(clip)
        middle = 0.5 * reaction.actor.axis[i]
        off = p[:, i] + rotate(q[:, i], middle) - p0[:, i] - rotate(q0[:, i], middle)
        ways.append(np.linalg.norm(off[first], axis=-1).max())
    assert ways[1] < 0.95 * ways[0] and ways[2] < 0.8 * ways[0] and ways[2] < ways[1]
