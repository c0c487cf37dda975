"""Four feet: contacts of feet that skid, weight over few feet, blows at the hip, and the time until muscles answer."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import contacts, dip, hits, ik, stance, struck, weight
from core.quality.motion import RATE
from core.react import Hit
from core.reference import to_joints
from core.rotation import angle, exp, multiply, rotate
from core.situation import named
from core.stage import Stage

from .figures import DOG, build
from .test_balance import planned
from .test_react import actor_of, clip_of, hit_on, standing

SECONDS = np.arange(60) / RATE
LEGS = ("1111 1111", "1100 1111", "1000 1001", "1000 1000", "0000 1001")  # which stand, which are near the ground


@pytest.fixture(scope="module")
def dog():
    return build(DOG, skin=True)


def test_soles_that_skid_with_the_ground_stand_and_those_that_swing_do_not():
    """Ground going by at 1 m/s under a body on the spot, and the same on a body that goes along over ground at rest."""
    pace = np.array([0.3, 1.0, 2.2, -1.5, 1.0])
    soles = np.zeros((60, 5, 3))
    soles[..., 1] = SECONDS[:, None] * pace
    soles[:, 4, 2] = 0.08
    for own in (0.0, -1.0):
        motion = SimpleNamespace(com=np.stack((0.0 * SECONDS, own * SECONDS, 0.0 * SECONDS + 0.7), axis=-1))
        moved = soles + own * SECONDS[:, None, None] * [0.0, 1.0, 0.0]
        stand = SimpleNamespace(soles=moved, speed=np.array([0.0, 1.0 + own]))
        found = contacts._carried_along(motion, stand)[5:-5]
        assert (found == [True, True, True, False, False]).all()
    still = SimpleNamespace(com=np.zeros((60, 3)))
    assert not contacts._carried_along(still, SimpleNamespace(soles=soles, speed=np.zeros(2))).any()


def test_weight_rests_on_what_is_near_the_ground_where_too_few_feet_stand():
    low = np.array([True, False, True, True])
    for stands, bears in (("0000", "1011"), ("0100", "1111"), ("1000", "1011"), ("0110", "0110"), ("1111", "1111")):
        told = contacts.bearing(np.array([c == "1" for c in stands]), low)
        assert "".join(str(int(x)) for x in told) == bears
    two = np.array([[True, False], [False, False]])
    assert (contacts.bearing(two, np.array([True, True])) == [[True, False], [True, True]]).all()


def test_what_is_near_the_ground_bears_beside_a_weak_leg(dog):
    """Where it alone stands of four, its part of the weight is that of those that bear it, in the plan and in what is
    simulated; where none stands nothing is missing."""
    found = stance.read(actor_of(dog), standing(dog), 1.0)
    each = np.ones(found.down.shape)
    legs = [[each * [c == "1" for c in some] > 0.0 for some in text.split()] for text in LEGS]
    parts = [dip.missing(replace(found, down=down, low=low), 0.6 * each)[30] for down, low in legs]
    np.testing.assert_allclose(parts[0], [0.6 / 4] * 4)
    np.testing.assert_allclose(parts[1], [0.3, 0.3, 0.0, 0.0])
    np.testing.assert_allclose(parts[2], [0.3, 0.0, 0.0, 0.3])
    np.testing.assert_allclose(parts[3], [0.6, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(parts[4], [0.0] * 4)


def test_an_animal_answers_a_push_after_fifty_milliseconds(dog):
    """Until then its weight goes on as it was pushed; a human's feet answer as they did."""
    found, plan = planned(dog, standing(dog), 40.0, (0.0, 1.0))
    pushed = int(np.flatnonzero(plan.shift[:, 1])[0])
    since = found.times - found.times[pushed - 1]
    early = (since >= 0.0) & (since <= weight.ANSWERS_AFTER + 0.5 / RATE)
    v = 40.0 / 75.0
    np.testing.assert_allclose(plan.shift[early, 1], v * np.maximum(since[early] - 0.5 / RATE, 0.0), atol=1e-4)
    alone = v / (np.e * found.pace[0])  # critically damped from the first moment on
    assert plan.shift[:, 1].max() > alone + 0.6 * v * weight.ANSWERS_AFTER
    assert not plan.moves and plan.lost is None and abs(plan.shift[since > 2.0, 1]).max() < 0.05 * plan.shift.max()


@pytest.mark.parametrize("along, part", [(0.0, 0.0), (0.25, 0.5), (0.9, 1.0)])
def test_a_blow_at_the_hip_leaves_the_foot_where_it_stands(dog, along, part):
    """The trunk takes it, and the leg keeps its strength: a shoulder is the hip of a front leg."""
    actor = actor_of(dog)
    clip = standing(dog)
    stage = Stage(actor, clip, [(named("shoulder_outside"), Hit(25.0, impulse=50.0, along=along))], {}, {})
    blow, plan, limbs = stage.blows[0], stage.footing.plan, stage.footing.stance.limbs
    limb = next(limb for limb in limbs if limb.upper == blow.struck)
    assert struck._lever(actor, blow, limb) == pytest.approx(part, abs=1e-9)
    assert plan.hold[:, limbs.index(limb)].min() >= 1.0 - part - 1e-9
    assert any(move.start == stage.start for move in plan.moves) == (part >= 0.5)
    given_way = stage.footing.missing[:, limbs.index(limb)].max()
    wholly = Stage(actor, clip, [(named("shoulder_outside"), Hit(25.0, impulse=50.0, along=0.9))], {}, {}).footing
    assert given_way == pytest.approx(part * wholly.missing.max(), rel=1e-9) and wholly.missing.max() > 50.0
    quiet = Stage(actor, clip, [(named("chest_back"), Hit(25.0, impulse=50.0))], {}, {}).footing
    after = np.array([stage.start + 0.1])
    others = [i for other in limbs if other is not limb for i in (other.upper, other.lower, other.end)]
    led = quiet.tone(after, len(actor.names))[:, others]  # a body whose leg isn't struck is led by its plan alone
    np.testing.assert_allclose(
        stage.footing.tone(after, len(actor.names))[:, others], part + (1.0 - part) * led, atol=1e-9
    )


def test_an_arm_that_bears_the_body_takes_what_a_situation_says_of_forelegs(dog):
    """A shoulder's strengths are those of arms that hang; what a hit says itself is taken as it is."""

    def given(figure, name, hit, **changes):
        stage = Stage(actor_of(figure), standing(figure), [(named(name).with_changes(**changes), hit)], {}, {})
        return np.linalg.norm(stage.given[0])

    hit, human = Hit(25.0), build(skin=True)
    for name, arms in (("shoulder_front", 26.0), ("shoulder_back", 22.4), ("shoulder_punch", 0.7 * 34.0)):
        assert given(human, name, hit) == pytest.approx(arms)
        assert given(dog, name, hit) == pytest.approx(2.0 * arms)
        assert given(dog, name, hit, foreleg=1.0) == pytest.approx(arms)
    assert given(dog, "shoulder_front", Hit(25.0, bone="Spine2")) == pytest.approx(26.0)
    assert given(dog, "leg_front", hit) == pytest.approx(40.0)
    assert given(dog, "shoulder_front", Hit(25.0, impulse=30.0)) == pytest.approx(30.0)
    plain = hits.from_entry({"situation": "shoulder_front", "impulse": 30.0}, "here")
    stage = Stage(actor_of(dog), standing(dog), [(plain.situation, plain.hit(25.0))], {}, {})
    assert np.linalg.norm(stage.given[0]) == pytest.approx(30.0)


def test_in_the_air_an_ankle_goes_with_its_leg():
    """It is bent as the simulation bends it; on the ground the foot keeps the clip's rotation in the world, under a
    blow that raises no heel."""
    human = build(skin=True)
    clip = clip_of(human)
    reaction = hit_on(human, "chest_front", clip=clip, hit=Hit(25.0, impulse=25.0))
    actor, footing = reaction.actor, reaction.footing
    q, p = reaction.poses(clip)
    own = actor.canonical(clip)
    joints, clips = (to_joints(reaction.model, *poses)[0] for poses in ((q, p), own))
    want = multiply(clips, exp(reaction.deviation(clip.times)[0]))
    shows = (clip.times > reaction.start) & (clip.times < reaction.start + 1.0)
    for i, limb in enumerate(footing.stance.limbs):
        swings = np.interp(clip.times, footing.stance.times, footing.stance.swings[:, i])
        air, ground = shows & (swings == 1.0), shows & (swings == 0.0)
        assert air.sum() > 5 and ground.sum() > 5
        assert angle(want, joints)[air, limb.end].max() < 1e-6
        assert np.median(angle(own[0], q)[ground, limb.end]) < 1e-3


@pytest.mark.parametrize("bent", [0.03, 0.1, 0.4])
def test_the_axis_of_a_leg_that_comes_to_bend_sideways_does_not_jump(bent):
    """It is that of the bend, to the hinge's side; across the hinge it passes through the hinge itself."""
    way = np.linspace(0.0, 2.0 * np.pi, 721)
    about = np.stack((np.cos(way), np.sin(way), 0.0 * way), axis=-1)
    u = np.tile([0.0, 0.0, -1.0], (len(way), 1))
    w = rotate(exp(bent * about), u)
    axis = ik._axis(u, w, np.tile([1.0, 0.0, 0.0], (len(way), 1)))
    np.testing.assert_allclose(np.linalg.norm(axis, axis=-1), 1.0, atol=1e-12)
    steps = np.degrees(np.arccos(np.clip(np.einsum("ki,ki->k", axis[1:], axis[:-1]), -1.0, 1.0)))
    assert steps.max() < 3.0 and (axis[:, 0] > -1e-9).all()
    np.testing.assert_allclose(axis[180], [1.0, 0.0, 0.0], atol=1e-9)
    if np.sin(bent) > ik.BENT:
        near = np.cos(way) > ik.AGREES
        np.testing.assert_allclose(axis[near], about[near], atol=1e-9)


def test_a_neck_of_three_bones_swings_as_one_of_a_single_bone():
    """n springs in a row give way n times as far; they are n times as firm, damping and all."""
    cut = {
        "Neck": ("Spine2", (0, -0.4, 0.85), (0, -0.4 - 0.2 / 3, 0.9)),
        "Neck2": ("Neck", (0, -0.4 - 0.2 / 3, 0.9), (0, -0.4 - 0.4 / 3, 0.95)),
        "Neck3": ("Neck2", (0, -0.4 - 0.4 / 3, 0.95), (0, -0.6, 1.0)),
        "Head": ("Neck3", (0, -0.6, 1.0), (0, -0.85, 1.0)),
    }
    ways = []
    for changes in ({}, cut):
        beast = build(DOG, skin=True, **changes)
        clip = standing(beast)
        reaction = hit_on(beast, "muzzle_punch", clip=clip, hit=Hit(25.0))
        assert sum(role.startswith("neck") for role in reaction.actor.roles) == (3 if changes else 1)
        (q, p), (own, at) = reaction.poses(clip), reaction.actor.canonical(clip)
        i = reaction.struck
        ways.append((p + rotate(q, reaction.point) - at - rotate(own, reaction.point))[:, i, 0])
    one, three = ways
    assert one.min() < -0.08 and one.max() > 0.02
    assert three.min() == pytest.approx(one.min(), rel=0.25)
    assert three.max() == pytest.approx(one.max(), rel=0.2)  # it would swing back by 0.7 more with springs of one each


def test_a_tail_swings_along_and_is_left_to_what_owns_it(dog):
    clip = standing(dog)
    assert 1.0 < hit_on(dog, "croup_push", clip=clip, hit=Hit(25.0)).peaks()["Tail2"] < 45.0

    def moving(situation, fixed):
        stage = Stage(actor_of(dog), clip, [(situation, Hit(25.0))], {}, fixed)
        return {stage.actor.names[i] for i in np.flatnonzero(stage.moving)}

    owned = moving(named("croup_push"), {"Tail1": "a constraint"})
    assert not {"Tail1", "Tail2"} & owned and "Head" in owned
    assert "Tail1" not in moving(named("chest_front").with_changes(simulate=(), support=()), {})


def test_hands_of_more_than_four_limbs_are_feet_where_they_stand():
    """An insect stands on all of its legs, a dinosaur on its hind ones."""
    middle = {
        "MidFrontUpperLeg.L": ("Spine1", (0.12, 0.1, 0.7), (0.2, 0.1, 0.4)),
        "MidFrontLowerLeg.L": ("MidFrontUpperLeg.L", (0.2, 0.1, 0.4), (0.3, 0.1, 0.1)),
        "MidFrontFoot.L": ("MidFrontLowerLeg.L", (0.3, 0.1, 0.1), (0.35, 0.1, 0.0)),
    }
    short = {
        "FrontUpperLeg.L": ("Spine2", (0.12, -0.35, 0.7), (0.12, -0.3, 0.6)),
        "FrontLowerLeg.L": ("FrontUpperLeg.L", (0.12, -0.3, 0.6), (0.12, -0.4, 0.55)),
        "FrontFoot.L": ("FrontLowerLeg.L", (0.12, -0.4, 0.55), (0.12, -0.45, 0.53)),
    }
    for changes, legs in ((middle, 6), (short, 2)):
        beast = build(DOG, skin=True, **changes)
        actor = actor_of(beast)
        assert actor.anatomy.kind == "other"
        found = stance.read(actor, standing(beast), 1.0)
        assert len(found.limbs) == legs and found.down.all()


def test_dogs_stand_on_their_toes_and_have_no_heel_to_raise():
    """The hock bears no ground below it: held by the toes a foot would turn about them, pressed down or raised."""
    paws = {
        "BackLowerLeg.L": ("BackUpperLeg.L", (0.12, 0.4, 0.4), (0.12, 0.55, 0.3)),
        "BackFoot.L": ("BackLowerLeg.L", (0.12, 0.55, 0.3), (0.12, 0.45, 0.0)),
    }
    dog, flat = build(DOG, skin=True, **paws), build(skin=True)
    found = stance.read(actor_of(dog), standing(dog), 1.0)
    hind = [actor_of(dog).roles[limb.end].startswith("foot") for limb in found.limbs]
    assert found.toed[hind].all() and sum(hind) == 2
    assert not stance.read(actor_of(flat), standing(flat), 1.0).toed.any()
    footing = Stage(actor_of(dog), standing(dog), [(named("breast_push"), Hit(25.0))], {}, {}).footing
    tips = [np.linalg.norm(footing._tip(limb)) for limb in footing.stance.limbs]
    assert [tip == 0.0 for tip in tips] == found.toed.tolist()


def _weights_way(reaction, clip):
    """How far the weight goes along the blow at most, and how far its plan has it [m]."""
    (_, p), (_, own) = reaction.poses(clip), reaction.actor.canonical(clip)
    mass = reaction.actor.masses.mass[reaction.actor.order]
    went = (((p - own) * mass[:, None]).sum(axis=1) / mass.sum()) @ reaction.direction
    return went.max(), (reaction.footing.plan.shift @ reaction.direction).max()


def test_a_standing_animal_is_braked_by_its_plan_and_not_by_its_legs_as_well(dog):
    """Pushed along its backbone its weight goes as far as the pendulum has it; four legs' own muscles would stop it at
    two thirds of that.  Knees bend with it; straight forelegs keep it back a little as it sits back."""
    clip = standing(dog)
    reaction = hit_on(dog, "breast_push", clip=clip, hit=Hit(25.0))
    went, planned_way = _weights_way(reaction, clip)
    assert 0.75 * planned_way < went < 1.1 * planned_way
    (_, p), (_, own) = reaction.poses(clip), reaction.actor.canonical(clip)
    feet = [limb.end for limb in reaction.footing.stance.limbs]
    assert np.abs(p - own)[:, feet].max() < 1e-3


def test_legs_that_stand_give_their_muscles_to_the_plan_but_where_one_is_struck(dog):
    """Legs of a dog and of a human that nothing strikes keep a tenth; where a leg is struck, the others bear for it."""
    t, human = np.array([1.05, 1.3]), build(skin=True)
    for body, pushed in ((dog, "breast_push"), (human, "chest_back")):
        for situation, left in ((pushed, 0.1), ("leg_back", 1.0)):
            footing = Stage(actor_of(body), standing(body), [(named(situation), Hit(25.0))], {}, {}).footing
            tone = footing.tone(t, len(body.names))
            legs = [body for limb in footing.stance.limbs for body in (limb.upper, limb.lower, limb.end)]
            np.testing.assert_allclose(tone[:, legs], left, atol=1e-6)
            np.testing.assert_array_equal(np.delete(tone, legs, axis=1), 1.0)


def test_a_standing_humans_weight_goes_as_far_as_its_plan_has_it():
    """Pushed back at the pelvis; legs that kept their muscles stopped it at four fifths of that."""
    human = build(skin=True)
    clip, hit = standing(human), Hit(25.0, bone="pelvis", impulse=28.0, contact=0.01)
    reaction = hit_on(human, "chest_back", hit, clip, direction=(0.0, -1.0, 0.0))
    went, planned_way = _weights_way(reaction, clip)
    assert 0.9 * planned_way < went < 1.1 * planned_way


def test_muscles_know_nothing_of_a_later_blow_on_their_leg(dog):
    clip, push = standing(dog), (named("breast_push"), Hit(25.0))
    later = Hit(25.0 + 0.3 * clip.fps)
    once, twice = (Stage(actor_of(dog), clip, hits, {}, {}) for hits in ([push], [push, (named("leg_back"), later)]))
    t = once.start + np.linspace(0.0, 0.3, 40)
    np.testing.assert_array_equal(twice.footing.tone(t, 40), once.footing.tone(t, 40))
    assert np.abs((twice.footing.tone(t + 0.1, 40) - once.footing.tone(t + 0.1, 40))[t > once.start + 0.25]).max() > 0.5
