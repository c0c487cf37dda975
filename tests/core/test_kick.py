"""Velocities that are told, and the rest of the body that answers."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from core import arms
from core.dynamics import given, kinematics, response
from core.dynamics.impulse import inertia, point_jacobian
from core.dynamics.momentum import balance
from core.kick import kicked
from core.model import State
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.reference import to_world
from core.rotation import rotate
from core.situation import named
from core.stage import Stage

from .figures import DOG, HUMAN, build
from .test_hanging import told
from .test_react import actor_of, clip_of, standing
from .trees import motion, tree


@pytest.fixture
def body(rng):
    model = tree(rng, free=True)
    rotation, position = motion(rng, model, np.zeros(1))[:2]
    state = State(rotation[0], position[0], rng.normal(size=(model.n, 6)) * (np.arange(6) < 3))
    return model, state, kinematics(model, state)


def test_with_nothing_known_it_is_the_free_answer(body, rng):
    model, state, kin = body
    point, impulse = kin.position()[5] + rng.normal(size=3), rng.normal(size=3)
    push = point_jacobian(model, kin, 5, point).T @ impulse
    u = given(model, kin, np.zeros(model.nv), np.zeros(model.nv, dtype=bool), push)
    np.testing.assert_allclose(u, response(model, kin, 5, point, impulse), rtol=1e-9, atol=1e-12)


def test_it_is_the_motion_nearest_to_the_free_answer(body, rng):
    """Gauss: no other one with the known part is nearer by its kinetic energy."""
    model, state, kin = body
    H, push, known = inertia(model, kin), rng.normal(size=model.nv), rng.random(model.nv) < 0.4
    u = given(model, kin, rng.normal(size=model.nv) * known, known, push)
    free = np.linalg.solve(H, push)

    def far(v):
        return (v - free) @ H @ (v - free)

    assert 0 < known.sum() < model.nv
    for _ in range(20):
        assert far(u + 0.1 * rng.normal(size=model.nv) * ~known) > far(u)


def test_a_leg_that_is_swung_leaves_the_body_the_momentum_of_the_blow():
    """Joints push both ways: on a free body all momentum is the blow's, whatever the table tells its joints."""
    skeleton = build()
    situation = named("leg_inside").with_changes(drive="velocities")
    stage = Stage(actor_of(skeleton), clip_of(skeleton), [(situation, Hit(25.0))], {}, {})
    reference = stage.reference(stage.start, 1, 0.01, 0.01)
    before = reference.state(0)
    after = stage.kicked(before, stage.start, reference)
    gained = [balance(stage.model, kinematics(stage.model, s), np.zeros(3)).momentum for s in (before, after)]
    blow, leg = stage.blows[0], stage.actor.first("thigh.R")
    np.testing.assert_allclose((gained[1] - gained[0])[3:], blow.impulse * blow.direction, atol=1e-9)
    assert np.linalg.norm((after.twist - before.twist)[leg]) == pytest.approx(np.radians(900.0))
    assert np.abs(after.twist - before.twist)[stage.base, 3:].max() > 0.02


def test_arms_stay_behind_a_trunk_that_is_set_in_motion(actor, clip):
    """Rigid ones would start at its speed, out of nothing."""
    stage = Stage(actor, clip, [(told("chest_back"), Hit(25.0))], {}, {})
    reference = stage.reference(stage.start, 1, 0.01, 0.01)
    before = reference.state(0)
    after = stage.kicked(before, stage.start, reference)
    rates = after.twist - before.twist
    elbow = actor.first("forearm.L")
    rigid = State(before.rotation, before.position, rates * ~stage.limp[:, None])
    soft = State(before.rotation, before.position, rates)
    speeds = [np.linalg.norm(velocity(stage.model, state, elbow, actor)) for state in (rigid, soft)]
    assert stage.limp.any() and speeds[1] < 0.7 * speeds[0]


def test_where_no_pose_is_held_all_stays_behind_that_is_told_nothing(actor, clip):
    """Heads too, also where the pelvis stays on the clip: joints that are told nothing take no impulse of their own.
    Tendons keep hands to their forearms, and an arm's own velocity isn't lost in what carries it."""
    situation = named("chest_back").with_changes(drive="velocities")
    stage = Stage(actor, clip, [(situation, Hit(25.0))], {}, {})
    reference = stage.reference(stage.start, 1, 0.01, 0.01)
    before = reference.state(0)
    rates = stage.kicked(before, stage.start, reference).twist - before.twist
    kin, blow = kinematics(stage.model, before), stage.blows[0]
    at = kin.position()[blow.struck] + kin.R[blow.struck] @ blow.point
    push = point_jacobian(stage.model, kin, blow.struck, at).T @ (blow.impulse * blow.direction)
    spines = [i for i, own in enumerate(stage.settings) if own.velocity and stage.moving[i]]
    hands = [actor.first("hand.L"), actor.first("hand.R")]
    free = ~np.isin(stage.model.dof_body, [*spines, *hands])
    taken = inertia(stage.model, kin) @ stage.model.coordinates(rates) - push
    np.testing.assert_allclose(taken[free], 0.0, atol=1e-9)
    head, rigid = actor.first("head"), np.where(np.isin(np.arange(stage.model.n), spines)[:, None], rates, 0.0)
    speeds = [velocity(stage.model, State(before.rotation, before.position, v), head, actor) for v in (rigid, rates)]
    assert stage.base < 0 and np.linalg.norm(speeds[1]) < 0.7 * np.linalg.norm(speeds[0])
    elbow, carrier = actor.first("forearm.R"), actor.first("upper_arm.R")
    user = {actor.names[elbow]: {"velocity": 400.0, "multiplier": 2.0}}
    own = Stage(actor, clip, [(situation, Hit(25.0))], user, {})
    gained = own.kicked(before, own.start, reference).twist - before.twist
    assert np.linalg.norm(gained[elbow]) == pytest.approx(np.radians(800.0))
    assert np.any(rates[carrier]) and not np.any(gained[carrier]) and not np.any(gained[hands])


def velocity(model, state, body, actor):
    """(3,) of a segment's end [m/s]."""
    kin = kinematics(model, state)
    q, p = to_world(model, state.rotation[None], state.position[None])
    end = p[0, body] + rotate(q[0, body], actor.axis[body])
    return point_jacobian(model, kin, body, end) @ model.coordinates(state.twist)


def test_an_animals_level_trunk_takes_the_blow_for_which_velocities_stand():
    """Nothing else of the table is left in a chest's; held poses and a pelvis on the clip are for bodies that stand on
    their legs alone."""
    dog = build(DOG, skin=True)
    clip = standing(dog)
    envelope = Envelope(0.1, 0.1, 2.5, "hold", 0.15)
    table = held("chest_front", envelope)
    got = run(react(actor_of(dog), clip, table, Hit(25.0)))
    blow = named("chest_front").with_changes(envelope=replace(envelope, mode="continue"))
    want = run(react(actor_of(dog), clip, blow, Hit(25.0)))
    np.testing.assert_array_equal(got.turn, want.turn)
    assert got.footing is not None and got.hung is None and got.warnings == (arms.LEVEL, *want.warnings)
    human = build(skin=True)
    there = Stage(actor_of(human), standing(human), [(table, Hit(25.0))], {}, {})
    assert there.posed and there.base < 0 and not there.warnings
    own = replace(table.bones["spine.2"], simulated=True)
    printed = table.with_changes(bones=MappingProxyType({"Spine2": own}))
    as_printed = Stage(actor_of(dog), clip, [(printed, Hit(25.0))], {}, {})
    assert as_printed.posed and as_printed.base < 0 and len(as_printed.kicks) == 1


def test_arms_of_a_bust_are_no_forelegs():
    """It has no legs, yet hangs its arms: a table for humans is meant for it as printed, and of a blow on a shoulder it
    takes what a human does."""
    bust = build({name: of for name, of in HUMAN.items() if not name.startswith(("thigh", "shin", "foot", "toe"))})
    actor, clip, human = actor_of(bust), standing(bust), build()
    table = held("chest_front", Envelope(0.1, 0.1, 2.5, "hold", 0.15))
    stage = Stage(actor, clip, [(table, Hit(25.0))], {}, {})
    assert stage.posed and not stage.pulses and not stage.warnings and not arms.forelegs(actor)
    blow = [(named("shoulder_front"), Hit(25.0))]
    own, theirs = (Stage(actor_of(body), standing(body), blow, {}, {}).given[0] for body in (bust, human))
    assert np.linalg.norm(own) == pytest.approx(np.linalg.norm(theirs), rel=1e-6)


def test_velocities_that_the_user_gives_an_animals_bones_are_meant_for_it():
    """They start these bones as they say, where a table for humans alone would be a blow."""
    dog = build(DOG, skin=True)
    actor, clip = actor_of(dog), standing(dog)
    table = held("chest_front", Envelope(0.1, 0.1, 2.5, "hold", 0.15))
    user = {"Spine2": {"velocity": 200.0, "multiplier": 1.0, "angle": 90.0}}
    stage = Stage(actor, clip, [(table, Hit(25.0))], user, {})
    bone = actor.names.index("Spine2")
    given_bones = [i for i, own in enumerate(stage.settings) if own.velocity]
    assert given_bones == [bone] and len(stage.kicks) == 1 and not stage.pulses and stage.warnings == [arms.LEVEL]
    reference = stage.reference(stage.start, 1, 0.01, 0.01)
    before = reference.state(0)
    rates = stage.kicked(before, stage.start, reference).twist - before.twist
    assert np.degrees(np.linalg.norm(rates[bone, :3])) == pytest.approx(200.0, rel=1e-6)


def test_an_animals_arms_start_as_legs_do():
    """At the velocity of the table, with the momentum of the blow in all, whatever it tells the trunk."""
    dog = build(DOG, skin=True)
    clip = standing(dog)
    table = held("shoulder_front", Envelope(0.1, 0.1, 2.5, "hold", 0.15))
    stage = Stage(actor_of(dog), clip, [(table, Hit(25.0))], {}, {})
    assert stage.base >= 0 and not stage.holds and not stage.pulses
    reference = stage.reference(stage.start, 1, 0.01, 0.01)
    before = reference.state(0)
    after = stage.kicked(before, stage.start, reference)
    struck, names = stage.blows[0].struck, stage.actor.names
    turned = np.linalg.norm((after.twist - before.twist)[:, :3], axis=-1)
    assert names[struck] == "FrontUpperLeg.L" and turned[struck] == pytest.approx(np.radians(300.0))
    gained = [balance(stage.model, kinematics(stage.model, s), np.zeros(3)).momentum for s in (before, after)]
    np.testing.assert_allclose((gained[1] - gained[0])[3:], [0.0, 52.0, 0.0], atol=1e-9)
    arm = MappingProxyType({"upper_arm.L": table.bones["upper_arm.L"]})
    alone = Stage(actor_of(dog), clip, [(table.with_changes(bones=arm), Hit(25.0))], {}, {})
    np.testing.assert_array_equal(alone.kicked(before, stage.start, reference).twist, after.twist)


def held(name, envelope):
    """A preset as the document has it: the bones of its table alone move, and their pose is held."""
    preset = named(name)
    bones = {role: replace(said, simulated=True) for role, said in preset.bones.items()}
    changes = {"drive": "velocities", "envelope": envelope, "simulate": (), "support": ()}
    return preset.with_changes(bones=MappingProxyType(bones), **changes)


def test_what_does_not_answer_starts_with_nothing(body, rng):
    model, state, _ = body
    rate = rng.normal(size=3)
    after = kicked(model, state, {3: rate}, [], np.zeros(model.n, dtype=bool))
    np.testing.assert_array_equal(np.flatnonzero((after.twist != state.twist).any(axis=1)), [3])
    np.testing.assert_allclose(after.twist[3, :3] - state.twist[3, :3], rate)
    assert kicked(model, state, {}, [], np.ones(model.n, dtype=bool)) is state


@pytest.mark.parametrize("held", [told("chest_front"), named("chest_front").with_changes(drive="velocities")])
def test_a_kick_after_velocities_of_a_trunk_moves_no_leg_whose_pelvis_stays_on_the_clip(actor, clip, held):
    """Nothing balances that body: a leg that was flung took its foot along the ground, 15 to 35 cm in walks."""
    kick = (named("leg_back"), Hit(27.0))
    reaction = run(react(actor, clip, held, Hit(25.0), further=[kick]))
    turned = {actor.roles[i] for i in np.flatnonzero(np.abs(reaction.turn).max(axis=(0, 2)) > 1e-9)}
    assert "spine.1" in turned and not turned & {"pelvis", "thigh.R", "shin.R", "foot.R"}
    assert any("Legs that are struck stay there" in warning for warning in reaction.warnings)
    thigh = {actor.names[actor.first("thigh.R")]: {"simulated": True}}  # asked for by name
    reaction = run(react(actor, clip, held, Hit(25.0), thigh, further=[kick]))
    assert np.abs(reaction.turn[:, actor.first("thigh.R")]).max() > np.radians(10.0)
