"""From an animator's numbers to the simulator's: muscles from root to tip, tone around a blow."""

from dataclasses import replace

import numpy as np
import pytest

from core import accuracy, curve, flesh, springs, tuning
from core.dynamics import kinematics
from core.forces import Flesh, Muscle
from core.model import SPHERICAL, Model, State, revolute
from core.pose import Envelope
from core.rotation import exp, log
from core.simulate import Run, simulate
from core.situation import BoneSetting, named
from core.spatial import inertia
from core.stage import SUBSTEP, Stage

from .figures import DOG, HUMAN, build
from .test_forces import one_body, standing
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
    f, ratio = tuning.muscles(actor, s, own, actor.first("pelvis"), np.zeros(1))
    at = actor.first
    np.testing.assert_allclose(f[[at("chest"), at("upper_arm.L"), at("forearm.L"), at("hand.L")]], [2, 2, 3, 4.5])
    np.testing.assert_allclose(ratio[[at("upper_arm.L"), at("forearm.L"), at("hand.L")]], [0.6, 0.9, 1.35])
    assert f[at("pelvis")] == 1.2 and f[at("hand.R")] == 9.0


def test_an_upright_head_is_held_as_an_elbow_is():
    """A human's swings at 2.1 to 2.9 Hz and hardly rings: its peak of 1.1 dB tells a ratio of 0.5 (Peng, Hain and
    Peterson 1996).  A dog's is held before its trunk."""
    for parts, held in ((HUMAN, 1.8), (DOG, 1.0)):
        actor, s = actor_of(build(parts)), named("shoulder_front")
        f, ratio = tuning.muscles(actor, s, [BoneSetting()] * len(actor.roles), actor.first("pelvis"), np.zeros(1))
        head, chest = actor.first("head"), actor.first("chest")
        assert f[head] == pytest.approx(held * f[chest]) and ratio[head] == pytest.approx(held * ratio[chest])
        assert parts is DOG or (2.1 < f[head] < 2.9 and ratio[head] > 0.5)


@pytest.mark.parametrize("ratio", [0.0, 0.7, 10.0])
def test_limbs_that_get_looser_are_damped_as_the_trunk_is(skeleton, ratio):
    """Reckoned on below a taper of 1 their damping would be negative: a hand at 0.13 turned ever faster."""
    actor, none = actor_of(skeleton), [BoneSetting()] * len(skeleton.names)
    for taper in (0.1, 0.5, 1.0):
        s = named("shoulder_back").with_changes(taper=taper, ratio=ratio)
        _, got = tuning.muscles(actor, s, none, -1, np.zeros(1))
        hand = actor.names.index("hand.L")
        assert got.min() >= min(ratio, 1.0) - 1e-12 and got[hand] == pytest.approx(ratio)
    short = Envelope(0.1, 0.1, 0.3, "continue", 0.4)
    reaction = hit_on(skeleton, "shoulder_back", taper=0.13, frequency=14.0, ratio=ratio, envelope=short)
    assert max(reaction.peaks().values()) < 60.0


@pytest.mark.parametrize("preset", ["shoulder_front", "shoulder_back"])
def test_straight_arms_do_not_roll_about_their_own_length(skeleton, preset):
    """Held for the inertia that they have about it, they rolled twice as far as they swung a second after the blow."""
    reaction = hit_on(skeleton, preset, envelope=Envelope(0.0, 2.5, 0.2))
    since = reaction.times - reaction.times[0]
    for arm in ("upper_arm.L", "upper_arm.R"):
        turn = np.abs(reaction.turn[(since > 1.0) & (since < 1.5), reaction.actor.names.index(arm)]).max(axis=0)
        assert turn[1] < 0.6 * max(turn[0], turn[2])


def test_muscles_hold_a_limb_about_its_length_for_a_part_of_what_it_has_across(skeleton):
    joint = np.diag([1.0, 0.01, 0.8, 3.0, 3.0, 3.0])
    hinges = Stage(actor_of(skeleton), clip_of(skeleton), [(named("leg_front"), HIT)], {}, {}).hinges
    inertia = np.stack([joint] * (max(hinges.bodies) + 1))
    loose = next(i for i in range(len(inertia)) if i not in hinges.bodies)
    told = np.array([1.3, 10.0, 60.0])
    got, swifter = springs.slender(inertia, hinges, np.repeat(told[:, None], len(inertia), axis=1))
    plain = springs.slender(inertia, hinges, np.full(len(inertia), 1.3))
    for f, held, times in zip(told, got, swifter, strict=True):
        faster = min(np.sqrt(springs.SLENDER / 0.01), max(springs.ROLLS / f, 1.0))  # what sub-steps show
        assert times[loose] == pytest.approx(faster)
        np.testing.assert_allclose(held[loose], np.diag([1.0, 0.01 * faster**2, 0.8, 3.0, 3.0, 3.0]), atol=1e-12)
        np.testing.assert_allclose(held[hinges.bodies], inertia[hinges.bodies], atol=1e-12)
        np.testing.assert_allclose(times[hinges.bodies], 1.0)
    assert got[0, loose, 1, 1] == pytest.approx(springs.SLENDER) and np.array_equal(plain[0], got[0])
    assert accuracy.halvings(springs.ROLLS, SUBSTEP) == 0 < accuracy.halvings(1.1 * springs.ROLLS, SUBSTEP)


def test_what_a_clip_swings_hard_is_taut_and_what_it_walks_with_is_as_told(skeleton):
    """Arms that swing by 0.35 rad once a second are pulled by 9.8 rad/s^2 in the mean square, s times as fast by s^2
    as much: 3.5 of that per radian is a spring of 0.93 s Hz."""
    actor, walk = actor_of(skeleton), clip_of(skeleton, seconds=9.0)
    arm, hand, thigh, pelvis = (actor.first(role) for role in ("upper_arm.L", "hand.L", "thigh.L", "pelvis"))
    told = named("chest_front").with_changes(frequency=0.65)
    for faster in (1.0, 1.2, 2.0, 3.0):
        clip = replace(walk, fps=faster * walk.fps)
        stage = Stage(actor, clip, [(named("chest_front"), HIT)], {}, {})
        asked = 0.93 * faster * np.sinc(tuning.SWING * faster)  # seen at moments so far apart
        assert stage.tense[arm] * 1.3 == pytest.approx(asked, rel=0.15)  # trunk and forearm swing a little, too
        assert stage.tense[thigh] == 0.0
        f, _ = tuning.muscles(actor, stage.situation, stage.settings, stage.base, np.zeros(1), stage.tense)
        loose, _ = tuning.muscles(actor, told, stage.settings, stage.base, np.zeros(1), stage.tense)
        plain, _ = tuning.muscles(actor, stage.situation, stage.settings, stage.base, np.zeros(1))
        assert f[arm] == max(1.3, 1.3 * stage.tense[arm]) and (f[arm] > 1.3) == (faster >= 2.0)
        assert f[hand] >= plain[hand] and f[pelvis] == plain[pelvis] and f[thigh] == plain[thigh]
        np.testing.assert_allclose(np.delete(loose, pelvis), 0.5 * np.delete(f, pelvis))
    by_hand = Stage(actor, clip, [(named("chest_front"), HIT)], {actor.names[arm]: {"frequency": 0.4}}, {})
    f, _ = tuning.muscles(actor, by_hand.situation, by_hand.settings, by_hand.base, np.zeros(1), by_hand.tense)
    assert f[arm] == 0.4, "what is said of a bone counts, however hard it swings"


def test_a_root_that_jumps_stiffens_nobody(skeleton):
    """A metre in one frame asks for more torque than any swing; against the weight nothing has moved."""
    actor, walk = actor_of(skeleton), clip_of(skeleton, seconds=9.0)
    at = walk.object_position.copy()
    at[int(HIT.frame) + 12 :, 1] += 1.0
    jump = replace(walk, object_position=at)
    whole, jumped = (Stage(actor, clip, [(named("chest_front"), HIT)], {}, {}).tense for clip in (walk, jump))
    assert whole.max() > 0.5
    np.testing.assert_allclose(jumped, whole, rtol=1e-6)


def test_tone_falls_most_at_the_blow_and_comes_back(skeleton):
    actor = actor_of(skeleton)
    s = named("shoulder_front").with_changes(tone=0.2, falloff=0.5, recovery=1.0)
    struck, times = actor.first("upper_arm.L"), np.array([-0.1, 0.0, 0.5, 1.0])
    tone = tuning.tone(actor, [(s, struck, times)]).pull
    np.testing.assert_allclose(tone[:, struck], [1.0, 0.2, 0.6, 1.0])
    np.testing.assert_allclose(tone[:, actor.first("hand.L")], [1.0, 0.8, 0.9, 1.0])
    twice = tuning.tone(actor, [(s, struck, times), (s, struck, times)]).pull
    np.testing.assert_allclose(twice, tone**2)


def test_a_blow_leaves_what_damps_arms_and_heads(skeleton):
    """Legs and trunk with neck and collar bones, an animal's forelegs, and joints that are told velocities keep their
    damping ratio instead."""
    times = np.array([-0.1, 0.0, 0.4])

    def left(actor, drive="impulse", **changes):
        s = named("chest_front").with_changes(tone=0.25, falloff=1.0, recovery=0.8, drive=drive, **changes)
        return actor, tuning.tone(actor, [(s, actor.first("chest"), times)])

    human, tone = left(actor_of(skeleton))
    light = [human.first(role) for role in ("upper_arm.L", "forearm.R", "hand.L", "head")]
    heavy = [human.first(role) for role in ("chest", "neck", "clavicle.L", "pelvis", "thigh.L", "shin.R", "foot.L")]
    np.testing.assert_allclose(tone.pull, np.tile([[1.0], [0.25], [0.625]], len(human.names)))
    assert (tone.damping[:, light] == 1.0).all()
    np.testing.assert_allclose(tone.damping[:, heavy], np.sqrt(tone.pull[:, heavy]))
    _, told = left(human, "velocities")
    np.testing.assert_allclose(told.damping, np.sqrt(told.pull))
    tauter = tuning.tone(human, [(named("chest_front").with_changes(tone=4.0), human.first("chest"), times[1:2])])
    np.testing.assert_allclose(tauter.damping, np.sqrt(tauter.pull))  # what is added is damped as muscles are
    dog, tone = left(actor_of(build(DOG, skin=True)))
    legs = [dog.first(role) for role in ("upper_arm.L", "forearm.R", "hand.L", "thigh.R")]
    np.testing.assert_allclose(tone.damping[:, legs], np.sqrt(tone.pull[:, legs]))
    assert (tone.damping[:, dog.first("head")] == 1.0).all()


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
    for a, b in (("forearm.L", "spine.2"), ("forearm.R", "thigh.R"), ("forearm.L", "head"), ("shin.L", "shin.R"),
                 ("hand.L", "spine.1"), ("hand.R", "forearm.L"), ("hand.L", "hand.R")):  # fmt: skip
        assert frozenset((a, b)) in pairs
    for a, b in (("upper_arm.L", "spine.3"), ("thigh.L", "thigh.R"), ("shin.L", "pelvis"), ("hand.L", "upper_arm.L")):
        assert frozenset((a, b)) not in pairs
    assert flesh.between(actor, model, ~everything) is None


def test_every_reaction_is_under_flesh_that_is_silent_on_its_clip(skeleton):
    clip, actor = clip_of(skeleton), actor_of(skeleton)
    stage = Stage(actor, clip, [(named("shoulder_outside"), HIT)], {}, {})
    reference = stage.reference(stage.start, 10, 1 / 120, 1 / 120)
    (made,) = [force for force in stage.forces(reference) if isinstance(force, Flesh)]
    assert made.clip is not None and len(made.clip.p) == 10


@pytest.mark.parametrize(("tone", "damped"), [(1.0, None), (0.3, None), (0.3, 1.0)])
def test_a_muscle_over_time_swings_as_the_equation_of_its_number_does(tone, damped):
    """x'' = - p w(t)^2 x - 2 d r(t) w(t) x', integrated by Runge and Kutta; p: tone, d: its root, or as told."""
    of_damper = np.sqrt(tone) if damped is None else damped
    h, steps = 1.0 / 400.0, 400
    model = one_body(revolute(np.array([0.0, 0.0, 1.0])), about=(0.05, 0.05, 0.05))
    frequency, ratio = ((0.1, 1.0), (0.6, 3.0)), ((0.0, 0.1), (1.0, 0.6))
    w, r = (lambda t: 2.0 * np.pi * curve.at(frequency, t)), (lambda t: curve.at(ratio, t))

    def slope(t, x):
        return np.array([x[1], -tone * w(t) ** 2 * x[0] - 2.0 * of_damper * r(t) * w(t) * x[1]])

    wanted, x = [], np.array([0.6, 0.0])
    for t in h * np.arange(steps):
        a = slope(t, x)
        b = slope(t + 0.5 * h, x + 0.5 * h * a)
        c = slope(t + 0.5 * h, x + 0.5 * h * b)
        x = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + slope(t + h, x + h * c))
        wanted.append(x[0])
    t, unit = h * np.arange(steps), np.eye(6)[None] * model.inertia[:, 2, 2]
    K, D = (unit[None] * values[:, None, None, None] for values in (w(t) ** 2, 2.0 * r(t) * w(t)))
    rate, pace = (2.0 * r(t) * w(t))[:, None], w(t)[:, None]
    one, none = np.ones((steps, 1)), np.zeros((steps, 1, 6))
    factors = tone * one, None if damped is None else damped * one
    muscle = Muscle(K, D, factors[0], np.array([np.inf]), np.zeros(1), none, rate, pace, damped=factors[1])
    twist = np.zeros((1, 6))
    twist[0, 2] = 0.5 * h * tone * w(0.0) ** 2 * 0.6  # of the step before: half of one ago it still came
    start = State(exp(np.array([[0.0, 0.0, 0.6]])), np.zeros((1, 3)), twist)
    runs = simulate(model, standing(model, steps, h), [muscle], np.zeros(3), Run(0, start))
    np.testing.assert_allclose([log(run.state.rotation)[0, 2] for run in runs], wanted, atol=2e-4)


def test_one_factor_for_all_muscles_is_that_of_each(rng):
    """On the pull and on the damping, of what turns and of what travels."""
    D = rng.uniform(0.5, 1.0, (3, 1, 1)) * np.eye(6)
    rate, kicks, bodies = rng.uniform(1.0, 9.0, 3), np.full(2, 0.01), slice(1, 3)
    tone, damped = np.array([[0.3], [0.5]]), np.array([[1.0], [0.7]])

    def parts(*factors):
        pull, drag = factors
        still = np.zeros(3), np.zeros((2, 3, 6))
        muscle = Muscle(40.0 * D, D, pull, np.full(3, np.inf), *still, rate, 3.0 * rate, damped=drag)
        return vars(muscle._taken(kicks, bodies))

    one, each = parts(tone, damped), parts(np.tile(tone, 3), np.tile(damped, 3))
    np.testing.assert_allclose(one["damper"], damped[..., None, None] * D[:, :3, :3])
    for name, value in each.items():
        np.testing.assert_array_equal(one[name], value)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_two_halves_swing_about_their_joint_at_the_frequency_of_its_muscle(axis):
    """Simulated, with nothing that holds either: back on the other side after half a period, and each has turned by
    its part of it.  With all that the upper one weighs the muscle would take 0.61 of that, or less."""
    f, steps, opened = 1.3, 200, 0.05
    lower, upper = np.array([1.2, 0.9, 0.4]), np.array([2.0, 1.9, 0.8])
    each = inertia(np.ones(2), np.zeros((2, 3)), np.stack([np.diag(lower), np.diag(upper)]))
    model = Model(("lower", "upper"), np.array([-1, 0]), (SPHERICAL, SPHERICAL), each)
    h = 0.5 / f / steps
    clip = standing(model, steps, h)
    still = State(clip.rotation[:-1], clip.position[:-1], clip.twist)
    about = springs.inertias(model, kinematics(model, still))
    K = (2.0 * np.pi * f) ** 2 * about.own
    K[0], K[1, :3, :3] = 0.0, K[1, :3, :3] @ about.swung(1, np.array(0.0))
    pace = np.array([0.0, 2.0 * np.pi * f])
    strong, free = np.full(2, np.inf), np.zeros((steps, 2, 6))
    muscle = Muscle(K, 0.0 * K, np.ones((steps, 1)), strong, np.zeros(2), free, np.zeros(2), pace)
    turn = np.zeros((2, 3))
    turn[1, axis] = opened
    start = State(exp(turn), np.zeros((2, 3)), np.zeros((2, 6)))
    *_, last = simulate(model, clip, [muscle], np.zeros(3), Run(0, start))
    ends = log(last.state.rotation)[:, axis]
    np.testing.assert_allclose(ends[1], -opened, rtol=0.01)
    np.testing.assert_allclose(ends[0], 2.0 * opened * upper[axis] / (lower + upper)[axis], rtol=0.01)


def test_a_trunk_on_a_free_pelvis_is_damped_as_what_swings_there(skeleton):
    """On a pelvis that is hardly held as both sides, on one that is held far more firmly as what is above alone, and
    so where it stays on the clip.  Necks and arms are light beside what carries them."""
    actor, clip = actor_of(skeleton), clip_of(skeleton)
    waist, rest = actor.first("spine.1"), [actor.first(role) for role in ("neck", "upper_arm.L", "thigh.L")]

    def told(base_frequency, **changes):
        alike = {"frequency": 1.3, "ratio": 0.7, "taper": 1.0}
        s = named("chest_front").with_changes(base_frequency=base_frequency, **alike, **changes)
        stage = Stage(actor, clip, [(s, HIT)], {}, {})
        f = np.full(len(stage.inertia), 1.3)
        own, carried = stage.held(np.zeros(1)), springs.slender(stage.inertia, stage.hinges, f)[0]
        above = (2.0 * np.pi * 1.3) ** 2 * carried[..., :3, :3]
        np.testing.assert_allclose(own.stiffness[[waist, *rest], :3, :3], above[[waist, *rest]], rtol=1e-12)
        damping = own.damping[..., :3, :3] * np.pi * 1.3 / 0.7  # as stiffness, of the same inertia
        np.testing.assert_allclose(damping[rest[0]], above[rest[0]], rtol=1e-12)
        return damping[waist], above[waist], stage

    damped, above, stage = told(0.01)
    below = (2.0 * np.pi * 1.3) ** 2 * (stage.about.whole[waist] - stage.inertia[waist, :3, :3])
    both = np.linalg.inv(np.linalg.inv(above) + np.linalg.inv(below))
    np.testing.assert_allclose(damped, both, atol=1e-4 * above.max())
    assert both[0, 0] < 0.8 * above[0, 0]
    damped, above, _ = told(40.0)
    np.testing.assert_allclose(damped, above, atol=2e-3 * above.max())
    damped, above, _ = told(0.8, support=())
    np.testing.assert_allclose(damped, above, rtol=1e-12)


def test_arms_are_damped_about_their_length_as_nothing_else_is(skeleton):
    """Held for 0.05 of the inertia across, damped for 0.14 of it, a thigh for as much as it is held."""
    stage = Stage(actor_of(skeleton), clip_of(skeleton), [(named("shoulder_front"), HIT)], {}, {})
    held = stage.held(np.zeros(1))
    for name, part in (("upper_arm.L", 0.14), ("thigh.R", 0.05)):
        i = stage.actor.names.index(name)
        size, way = np.linalg.eigh(stage.inertia[i, :3, :3])
        pull, damping = (np.einsum("ia,ij,ja->a", way, x[i, :3, :3], way) for x in (held.stiffness, held.damping))
        assert size[0] < 0.05 * size[2]
        assert pull[0] == pytest.approx(0.05 * pull[2]) and damping[0] == pytest.approx(part * damping[2])


def test_a_slender_trunk_is_damped_against_every_turn(skeleton, rng):
    """A stick on a stick, aslant in its body's frame: its muscles are made for more than it has about its length."""
    actor, clip = actor_of(skeleton), clip_of(skeleton)
    s = named("chest_front").with_changes(base_frequency=0.01, frequency=1.3, ratio=0.7)
    stage = Stage(actor, clip, [(s, HIT)], {}, {})
    waist, base = actor.first("spine.1"), actor.first("pelvis")
    aslant = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    stick, below = (aslant @ np.diag(size) @ aslant.T for size in ([2.0, 1.8, 0.01], [1.0, 1.5, 0.02]))
    own, whole = stage.about.own.copy(), stage.about.whole.copy()
    own[waist, :3, :3], whole[waist] = stick, stick + below
    about, plain = springs.Inertias(own, whole), [BoneSetting()] * len(actor.roles)
    found = springs.springs(actor, s, plain, base, np.zeros(1), 0.0, about, stage.hinges, False)
    made = springs.slender(own, stage.hinges, np.full(len(own), 1.3))[0][waist, :3, :3]
    damped = found.damping[..., waist, :3, :3] / (2.0 * 0.7 * 2.0 * np.pi * 1.3)
    np.testing.assert_allclose(damped, np.linalg.inv(np.linalg.inv(made) + np.linalg.inv(below)), rtol=1e-9)
    assert np.linalg.eigvalsh(made)[0] > 5.0 * 0.01 and np.linalg.eigvalsh(damped)[0] > 0.0
