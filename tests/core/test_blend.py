"""The blending pipeline: transitions, importances, automatic importance, and two clips with two hits in one pose."""

import numpy as np
import pytest

from core.actor import Actor
from core.anatomy import analyse
from core.blend import Layer, automatic, blend, of_clip, of_reaction, over, standing, together
from core.bodies import measure
from core.pose import IMPORTANT, UNIMPORTANT, VERY_IMPORTANT, Envelope, Pose
from core.progress import run
from core.react import Hit, react
from core.reference import to_world
from core.rotation import angle, exp, log
from core.situation import named

from .figures import build
from .test_react import FPS, clip_of

TIMES = np.linspace(0.0, 4.0, 97)


def turning(*vectors):
    """(T, n, 4) joints that turn to a fixed pose each."""
    return np.tile(exp(np.array(vectors, dtype=float)), (len(TIMES), 1, 1))


def swinging(*amplitudes):
    """(T, n, 4) joints that swing about x."""
    phase = np.sin(2 * np.pi * TIMES)[:, None, None]
    return exp(phase * np.array(amplitudes)[:, None] * np.array([1.0, 0, 0]))


def layer(rotation, importance, envelope=None, start=0.0, translation=None):
    shape = (*rotation.shape[:2], 3)
    importance = np.broadcast_to(np.asarray(importance, dtype=float), rotation.shape[1])
    return Layer(rotation, np.zeros(shape) if translation is None else translation, importance, envelope, start)


class TestTransition:
    def test_half_the_attack_is_half_the_way_however_unequal_the_importances(self):
        base, other = turning([0, 0, 0]), turning([0, 0, 1.0])
        envelope = Envelope(1.0, 1.0, 1.0)
        for importance in (UNIMPORTANT, IMPORTANT, VERY_IMPORTANT):
            out = log(blend([layer(base, 10.0), layer(other, importance, envelope, 0.5)], TIMES).rotation)[:, 0, 2]
            whole = importance / (importance + 10.0)
            np.testing.assert_allclose(
                np.interp([0.25, 1.0, 2.0, 3.0, 3.6], TIMES, out) / whole, [0, 0.5, 1, 0.5, 0], atol=1e-9
            )

    def test_a_layer_that_does_not_show_changes_nothing(self):
        base = swinging(0.4, 0.2)
        shut = layer(turning([1, 0, 0], [0, 1, 0]), VERY_IMPORTANT, Envelope(0.1, 0.1, 0.1), 50.0)
        later = layer(turning([0, 0, 1], [0, 0, 1]), 50.0)
        alone = blend([layer(base, 10.0), later], TIMES)
        both = blend([layer(base, 10.0), shut, later], TIMES)
        np.testing.assert_allclose(both.rotation, alone.rotation, atol=1e-12)
        np.testing.assert_allclose(both.weight, alone.weight)

    def test_the_sum_keeps_the_highest_importance_and_moves_translations_alike(self):
        move = np.ones((len(TIMES), 1, 3))
        still = turning([0, 0, 0])
        out = blend([layer(still, 10.0), layer(still, 50.0, translation=move), layer(still, 5.0)], TIMES)
        assert np.all(out.weight == 50.0)
        np.testing.assert_allclose(out.translation, 50.0 / 60.0 * 50.0 / 55.0)

    def test_the_first_layers_transition_scales_its_importance(self):
        """The document's product: half of 50 against 50 is a third."""
        out = blend(
            [layer(turning([0, 0, 0]), 50.0, Envelope(0.0, 9.0, 0.0)), layer(turning([0, 0, 0.9]), 50.0)], TIMES
        )
        np.testing.assert_allclose(log(out.rotation)[:, 0, 2], 0.45, atol=1e-12)
        fading = layer(turning([0, 0, 0]), 50.0, Envelope(0.0, 0.0, 4.0))
        out = blend([fading, layer(turning([0, 0, 0.9]), 50.0)], TIMES)
        np.testing.assert_allclose(log(out.rotation)[48, 0, 2], 0.9 * 50.0 / 75.0, atol=1e-9)

    def test_over_and_nothing(self):
        a, b = Pose(turning([0, 0, 0]), np.zeros((97, 1, 3)), np.full((97, 1), 10.0)), None
        b = Pose(turning([0, 0, 1]), np.zeros((97, 1, 3)), np.full((97, 1), 30.0))
        np.testing.assert_allclose(over(a, b, np.ones((97, 1))).rotation, (a + b).rotation, atol=1e-12)
        np.testing.assert_allclose(over(a, b, np.zeros((97, 1))).rotation, a.rotation, atol=1e-12)
        with pytest.raises(ValueError, match="no layers"):
            blend([], TIMES)


class TestAutomaticImportance:
    """Joints: a leg that walks, an upper arm that swings in the walk and is raised, still, in the wave, a hand."""

    walk = swinging(0.5, 0.3, 0.02)
    wave = turning([0.15, 0, 0], [-2.0, 0, 0], [0, 0, 0])
    waving = swinging(0, 0, 0.8)

    def shares(self, **moves):
        wave = np.stack((self.wave[:, 0], self.wave[:, 1], self.waving[:, 2]), axis=1)
        base, other = layer(self.walk, 0), layer(wave, 0, **moves)
        own, new = automatic(base, other)
        assert own.min() >= UNIMPORTANT and own.max() <= IMPORTANT and new.max() <= VERY_IMPORTANT
        return new / (own + new)

    def test_legs_walk_and_the_arm_waves(self):
        leg, arm, hand = self.shares()
        assert leg < 0.02
        assert arm > 0.85
        assert hand > 0.95

    def test_a_clip_that_holds_a_location_elsewhere_counts(self):
        move = np.zeros((len(TIMES), 3, 3))
        move[:, 0] = [0.0, 0.0, -0.3]
        assert self.shares(translation=move)[0] > 0.6

    def test_the_same_clip_again_changes_nothing(self):
        base = layer(self.walk, 0)
        own, new = automatic(base, base)
        out = blend([layer(self.walk, own), layer(self.walk, new, Envelope())], TIMES)
        np.testing.assert_allclose(angle(out.rotation, self.walk), 0.0, atol=1e-7)


def test_what_stands_on_the_ground_is_one():
    """A clip that stands holds the pelvis elsewhere, but the legs walk: the pelvis is theirs, the arm is not."""
    own, new = np.array([20.0, 50.0, 40.0, 50.0, 10.0]), np.array([110.0, 4.0, 8.0, 60.0, 400.0])
    pelvis, legs = np.array([0, 3]), np.array([1, 2])
    assert [list(weight) for weight in together(own, new, pelvis, legs)] == [[45] * 4 + [10], [6] * 4 + [400]]
    assert [list(weight) for weight in together(own, new, pelvis, legs[:0])] == [list(own), list(new)]
    anatomy = analyse(build(skin=False))
    pelvis, legs = ({anatomy.role[i] for i in part} for part in standing(anatomy))
    assert legs == {"thigh.L", "thigh.R", "shin.L", "shin.R"}
    assert pelvis == {"pelvis", "foot.L", "foot.R"} | {role for role in anatomy.role if role.startswith("toe")}


@pytest.fixture(scope="module")
def scene():
    skeleton = build(skin=True)
    anatomy = analyse(skeleton)
    actor = Actor(skeleton, anatomy, measure(skeleton, anatomy, {}), 1.75)
    clip = clip_of(skeleton)
    situation = named("shoulder_front").with_changes(envelope=Envelope(0.0, 0.3, 0.4))
    hits = [run(react(actor, clip, situation, Hit(frame))) for frame in (20.0, 45.0)]
    return actor, clip, hits


def test_a_reaction_of_overwhelming_importance_is_itself(scene):
    """Blended over its own clip with nothing else to say, a reaction is what `Reaction.poses` gives."""
    _, clip, (hit, _) = scene
    out = blend([of_clip(hit, clip), of_reaction(hit, clip, 1e12)], clip.times)
    q, p = to_world(hit.model, out.rotation, out.translation)
    expected = hit.poses(clip)
    np.testing.assert_allclose(angle(q, expected[0]), 0.0, atol=1e-6)
    np.testing.assert_allclose(p, expected[1], atol=1e-6)


def test_a_reaction_that_does_not_come_back_goes_on_showing(scene):
    actor, clip, _ = scene
    hit = Hit(20.0, impulse=70.0)
    situation = named("chest_front").with_changes(end="continue", envelope=Envelope(0.0, 0.5, 1.0))
    reaction = run(react(actor, clip, situation, hit))
    assert np.linalg.norm(reaction.displaced) > 0.02 and clip.times[-1] > reaction.end + 0.2
    out = blend([of_clip(reaction, clip), of_reaction(reaction, clip, 1e12)], clip.times)
    _, p = to_world(reaction.model, out.rotation, out.translation)
    np.testing.assert_allclose(p, reaction.poses(clip)[1], atol=1e-6)


def test_walk_and_wave_and_two_hits(scene):
    actor, clip, hits = scene
    walk, (first, second) = of_clip(hits[0], clip), (of_reaction(hit, clip) for hit in hits)
    arm = hits[0].actor.names.index("upper_arm.R")
    raised = walk.rotation.copy()
    raised[:, arm] = exp(np.array([[0.0, 1.2, 0.0]]))
    importance = np.zeros(len(actor.names))
    importance[arm] = VERY_IMPORTANT
    wave = Layer(raised, walk.translation, importance, Envelope(0.4, 1.5, 0.4), 0.3)
    both = blend([walk, wave], clip.times)
    everything = blend([walk, wave, first, second], clip.times)
    off = angle(both.rotation, everything.rotation)
    quiet = (clip.times <= hits[0].start) | ((clip.times >= hits[0].end) & (clip.times <= hits[1].start))
    quiet |= clip.times >= hits[1].end
    assert quiet.sum() > 30
    np.testing.assert_allclose(off[quiet], 0.0, atol=1e-7)
    struck = hits[0].struck
    assert all(np.degrees(off[(clip.times > hit.start) & (clip.times < hit.end), struck].max()) > 5.0 for hit in hits)
    full = clip.times == np.clip(clip.times, 0.3 + 0.5, 0.3 + 1.8)
    share = VERY_IMPORTANT / (VERY_IMPORTANT + UNIMPORTANT)
    np.testing.assert_allclose(
        angle(walk.rotation[full & quiet, arm], both.rotation[full & quiet, arm]),
        share * angle(walk.rotation[full & quiet, arm], raised[full & quiet, arm]),
        atol=1e-6,
    )
    assert clip.fps == FPS
