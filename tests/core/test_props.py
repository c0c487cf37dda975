"""What is no part of a body and is struck: tentacles, ropes, skirts, props of bones without roles."""

import numpy as np
import pytest

from core.react import Hit
from core.situation import named
from core.stage import Stage

from .figures import HUMAN, build
from .test_react import actor_of, hit_on, standing

ROPE = {f"Rope{k}": (f"Rope{k - 1}" if k else "pelvis", (0, 0.1 + 0.2 * k, 1), (0, 0.3 + 0.2 * k, 1)) for k in range(4)}
POST = {f"Joint{k}": (f"Joint{k - 1}" if k else None, (0, 0, 0.5 * k), (0, 0, 0.5 * k + 0.5)) for k in range(4)}


def moving(joints, bone, fixed=()):
    """Names of the bodies that move when a bone is struck."""
    skeleton = build(joints, skin=True)
    owners = dict.fromkeys(fixed, "a constraint")
    stage = Stage(actor_of(skeleton), standing(skeleton), [(named("chest_front"), Hit(25.0, bone))], {}, owners)
    return {name for name, moves in zip(stage.actor.names, stage.moving, strict=True) if moves}


def test_what_is_joined_to_a_struck_bone_without_a_role_swings_with_it():
    rope = {f"Rope{k}" for k in range(4)}
    assert moving({**HUMAN, **ROPE}, "Rope2") >= rope
    assert not moving({**HUMAN, **ROPE}, "spine.02") & rope  # it rides along
    assert moving({**HUMAN, **ROPE}, "Rope3", fixed=["Rope1"]) & rope == {"Rope2", "Rope3"}


@pytest.mark.parametrize("bone, swing", [("Joint3", "123"), ("Joint1", "123"), ("Joint0", "0123")])
def test_a_prop_bends_as_a_whole_above_its_root(bone, swing):
    """Its root stays with the clip unless it is what is struck."""
    assert moving(POST, bone) == {f"Joint{k}" for k in swing}


def test_a_struck_prop_bends_and_comes_back():
    skeleton = build(POST, skin=True)
    clip = standing(skeleton)
    reaction = hit_on(skeleton, "chest_front", clip=clip, hit=Hit(25.0, "Joint3", impulse=200.0, along=1.0))
    (_, p), (_, own) = reaction.poses(clip), reaction.actor.canonical(clip)
    assert min(reaction.peaks().values()) > 1.0
    np.testing.assert_allclose(p[-1], own[-1], atol=1e-9)
