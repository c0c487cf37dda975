"""From an animator's numbers to the simulator's: muscles from root to tip, tone around a blow."""

import numpy as np
import pytest

from core import flesh, tuning
from core.forces import Flesh
from core.situation import BoneSetting, named
from core.stage import Stage

from .figures import build
from .test_react import HIT, actor_of, clip_of, hit_on


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def test_joints_between_bodies_are_counted_along_the_tree():
    #   0 - 1 - 2 - 3
    #        \- 4 - 5     6 is a second root
    parent = np.array([-1, 0, 1, 2, 1, 4, -1])
    np.testing.assert_array_equal(tuning.joints_between(parent, 3), [3, 2, 1, 0, 3, 4, 4])
    np.testing.assert_array_equal(tuning.joints_between(parent, 1), [1, 0, 1, 2, 1, 2, 2])


def test_limbs_get_tauter_and_calmer_towards_the_tips(skeleton):
    actor = actor_of(skeleton)
    s = named("shoulder_front").with_changes(frequency=2.0, ratio=0.6, taper=1.5, base_frequency=1.2)
    own = [BoneSetting(frequency=9.0) if role == "hand.R" else BoneSetting() for role in actor.roles]
    f, ratio = tuning.muscles(actor, s, own, actor.first("pelvis"))
    at = actor.first
    np.testing.assert_allclose(f[[at("chest"), at("upper_arm.L"), at("forearm.L"), at("hand.L")]], [2, 2, 3, 4.5])
    np.testing.assert_allclose(ratio[[at("upper_arm.L"), at("forearm.L")]], [0.6, 1 - 0.4 / 1.5])
    assert f[at("pelvis")] == 1.2 and f[at("hand.R")] == 9.0


def test_tone_falls_most_at_the_blow_and_comes_back(skeleton):
    actor = actor_of(skeleton)
    s = named("shoulder_front").with_changes(tone=0.2, falloff=0.5, recovery=1.0)
    struck, times = actor.first("upper_arm.L"), np.array([-0.1, 0.0, 0.5, 1.0])
    tone = tuning.tone(actor, [(s, struck, times)])
    np.testing.assert_allclose(tone[:, struck], [1.0, 0.2, 0.6, 1.0])
    np.testing.assert_allclose(tone[:, actor.first("hand.L")], [1.0, 0.8, 0.9, 1.0])
    twice = tuning.tone(actor, [(s, struck, times), (s, struck, times)])
    np.testing.assert_allclose(twice, tone**2)


def test_a_struck_arm_does_not_whip_its_hand(skeleton):
    """Without the taper the hand of an arm struck from behind ran to the end of its range and back in a tenth of a
    second."""

    def fastest(**changes):
        reaction = hit_on(skeleton, "shoulder_back", clip=clip_of(skeleton), **changes)
        hand = reaction.actor.first("hand.L")
        return np.abs(np.diff(reaction.turn[:, hand], axis=0) / np.diff(reaction.times)[:, None]).max()

    assert fastest() < 0.7 * fastest(taper=1.0)


def test_limbs_are_kept_out_of_the_trunk_and_of_each_other(skeleton):
    actor = actor_of(skeleton)
    everything = np.ones(len(actor.names), dtype=bool)
    model = actor.model(everything, actor.first("pelvis"))
    made = flesh.between(actor, model, everything)
    roles = [actor.roles[i] for i in made.capsules.bodies]
    pairs = {frozenset((roles[a], roles[b])) for a, b in made.pairs}
    for a, b in (("forearm.L", "spine.2"), ("forearm.R", "thigh.R"), ("forearm.L", "head"), ("shin.L", "shin.R")):
        assert frozenset((a, b)) in pairs
    for a, b in (("upper_arm.L", "spine.3"), ("thigh.L", "thigh.R"), ("shin.L", "pelvis"), ("hand.L", "spine.1")):
        assert frozenset((a, b)) not in pairs
    assert flesh.between(actor, model, ~everything) is None


def test_every_reaction_is_under_flesh_that_is_silent_on_its_clip(skeleton):
    clip, actor = clip_of(skeleton), actor_of(skeleton)
    stage = Stage(actor, clip, [(named("shoulder_outside"), HIT)], {}, {})
    reference = stage.reference(stage.start, 10, 1 / 120, 1 / 120)
    (made,) = [force for force in stage.forces(reference) if isinstance(force, Flesh)]
    assert made.sunk.shape == (10, len(made.pairs))
