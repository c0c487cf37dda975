"""Reactions of a made-up human: physics, neutrality, invariance, refusals."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from core import hinges
from core.actor import Actor
from core.anatomy import analyse
from core.bodies import measure
from core.diagnosis import Log
from core.dynamics import balance, kinematics, with_twist
from core.errors import ClipError, SimulationError, SituationError
from core.fall import Falling
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.reference import passing
from core.rotation import angle, exp, multiply, rotate, to_matrix
from core.simulate import moment
from core.situation import BoneSetting, named
from core.skeleton import Clip
from core.spatial import apply
from core.stage import Stage

from .figures import build

FPS = 24.0
HIT = Hit(25.0)
FACING_BACK = np.array([0.0, 1.0, 0.0])


@pytest.fixture(scope="module")
def skeleton():
    return build(skin=True)


def clip_of(skeleton, fps=FPS, seconds=4.0, start=1.0, scale=1.0, turn=(1.0, 0.0, 0.0, 0.0), shift=(0.0, 0.0, 0.0)):
    """Walking on the spot, roughly: arms and legs swing from the shoulders and hips, knees bend; the pelvis bobs."""
    frames = start + np.arange(round(seconds * fps) + 1)
    t = (frames - start) / fps
    q = np.tile(skeleton.rotation, (len(t), 1, 1))
    p = np.tile(skeleton.head, (len(t), 1, 1))
    turns = np.zeros((len(t), len(skeleton.names), 3))
    phase = 2 * np.pi * t
    for name, axis, size, lag, mean in (
        ("upper_arm", 0, 0.35, 0.0, 0.0),
        ("thigh", 0, 0.4, np.pi, -0.1),
        ("shin", 0, 0.3, np.pi / 2, 0.35),
        ("forearm", 2, 0.1, 0.0, -0.3),
    ):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            i = skeleton.index(f"{name}.{side}")
            own = sign if axis == 2 else 1.0
            turns[:, i, axis] = own * mean + own * size * np.sin(phase + lag + (0.0 if sign > 0 else np.pi))
    turns[:, skeleton.index("spine.01"), 2] = 0.08 * np.sin(phase)
    for i, up in enumerate(skeleton.parent):
        if up >= 0:
            back = np.tile(skeleton.rotation[up] * [1, -1, -1, -1], (len(t), 1))
            change = multiply(q[:, up], back)
            p[:, i] = p[:, up] + rotate(change, np.tile(skeleton.head[i] - skeleton.head[up], (len(t), 1)))
            q[:, i] = multiply(multiply(change, exp(turns[:, i])), np.tile(skeleton.rotation[i], (len(t), 1)))
        else:
            p[:, i, 2] += 0.01 * np.sin(2 * phase)
    k = len(t)
    return Clip(fps, frames, q, p, np.tile(np.array(turn), (k, 1)), np.tile(np.array(shift), (k, 1)), scale)


def actor_of(skeleton, mass=None, clip=None):
    anatomy = analyse(skeleton)
    return Actor(skeleton, anatomy, measure(skeleton, anatomy, mass), mirrored=clip is not None and clip.scale < 0)


def hit_on(skeleton, situation="shoulder_front", hit=HIT, clip=None, mass=None, settings=None, fixed=None, **changes):
    clip = clip or clip_of(skeleton)
    s = named(situation).with_changes(**changes)
    return run(react(actor_of(skeleton, mass, clip), clip, s, hit, settings, fixed))


def displacement(reaction, clip, body=None):
    """(T, 3) world displacement of a body's origin at the clip's frames, canonical metres."""
    _, p = reaction.poses(clip)
    _, p0 = reaction.actor.canonical(clip)
    return (p - p0)[:, reaction.struck if body is None else body]


def test_no_impulse_moves_nothing(skeleton):
    reaction = hit_on(skeleton, hit=Hit(25.0, impulse=0.0))
    assert max(reaction.peaks().values()) < 1e-9
    assert np.abs(reaction.travel).max() < 1e-9


def test_the_clip_is_untouched_before_the_hit_and_after_the_end(skeleton):
    clip = clip_of(skeleton, seconds=6.0)
    reaction = hit_on(skeleton, hit=Hit(25.0, impulse=28.0), clip=clip)
    q, p = reaction.poses(clip)
    q0, p0 = reaction.actor.canonical(clip)
    outside = (clip.times <= reaction.start) | (clip.times >= reaction.end)
    assert 20 < outside.sum() < len(outside) - 40
    assert np.degrees(angle(q, q0))[outside].max() < 1e-9
    assert np.abs(p - p0)[outside].max() < 1e-12
    assert 10.0 < max(reaction.peaks().values()) < 120.0


def test_the_blow_pushes_the_way_it_points_and_its_opposite_the_other_way(skeleton):
    clip = clip_of(skeleton)
    moments = (clip.times > 1.0) & (clip.times < 1.2)
    for situation, way in (
        ("shoulder_front", FACING_BACK),
        ("chest_back", -FACING_BACK),
        ("shoulder_outside", [-1.0, 0, 0]),
    ):
        first = displacement(hit_on(skeleton, situation, clip=clip), clip)[moments].mean(axis=0)
        assert first @ way > 0.6 * np.linalg.norm(first) > 0.0
    there = displacement(hit_on(skeleton, clip=clip, hit=Hit(25.0, impulse=0.5)), clip)[moments]
    back = displacement(hit_on(skeleton, clip=clip, hit=Hit(25.0, impulse=-0.5)), clip)[moments]
    assert np.abs(there + back).max() < 0.03 * np.abs(there).max()


def test_small_blows_are_linear(skeleton):
    one, two = (hit_on(skeleton, hit=Hit(25.0, impulse=j)) for j in (0.1, 0.2))
    names = [n for n, v in one.peaks().items() if v > 0.01]
    assert len(names) > 8
    for name in names:
        assert two.peaks()[name] == pytest.approx(2.0 * one.peaks()[name], rel=0.02)


def test_more_mass_less_motion(skeleton):
    light = hit_on(skeleton, hit=Hit(25.0, impulse=5.0))
    heavy = hit_on(skeleton, hit=Hit(25.0, impulse=5.0), mass={"upper_arm.L": 12.0, "spine.02": 60.0})
    assert heavy.peaks()["upper_arm.L"] < 0.8 * light.peaks()["upper_arm.L"]


def half_way(x):
    """When samples first pass half of their largest, between them."""
    k = int(np.argmax(x > 0.5 * x.max()))
    return k - (x[k] - 0.5 * x.max()) / (x[k] - x[k - 1])


def test_the_wave_of_a_blow_runs_outward(skeleton):
    """In a blow on the chest each joint has gone half of its way plainly later than the one before it.

    Seen from the pelvis, which goes where the steps go.  When all is farthest says less: a soft pelvis takes long.
    """
    clip = clip_of(skeleton, fps=120.0)
    for situation in ("chest_front", "chest_back"):
        reaction = hit_on(skeleton, situation, clip=clip, hit=Hit(121.0))
        first = (clip.times > reaction.start) & (clip.times < reaction.start + 1.0)
        _, p = reaction.poses(clip)
        away = p - reaction.actor.canonical(clip)[1]
        far = np.linalg.norm(away - away[:, [reaction.actor.first("pelvis")]], axis=-1)[first]
        for chain in (["spine.02", "neck", "head"], ["spine.02", "upper_arm.L", "forearm.L", "hand.L"]):
            gone = [half_way(far[:, reaction.actor.names.index(name)]) for name in chain]
            assert np.diff(gone).min() > 1.0, (situation, chain, gone)


@pytest.mark.parametrize("change", ["small", "large", "turned", "late", "fps60", "fps30"])
def test_size_place_and_rate_do_not_matter(skeleton, change):
    """Rig units, object scale, the way the object faces, start frame and frame rate: the same reaction."""
    base = hit_on(skeleton)
    hit, clip = Hit(25.0), None
    if change in ("small", "large"):
        clip = clip_of(skeleton, scale={"small": 0.01, "large": 100.0}[change])
    elif change == "turned":
        clip = clip_of(skeleton, turn=exp(np.array([0.0, 0, 2.0])), shift=(50.0, -20.0, 3.0))
    elif change == "late":
        clip, hit = clip_of(skeleton, start=1001.0), Hit(1025.0)
    else:
        fps = float(change[3:])
        clip, hit = clip_of(skeleton, fps=fps), Hit(1.0 + fps)
    other = hit_on(skeleton, hit=hit, clip=clip)
    tolerance = 0.02 if change.startswith("fps") else 1e-6
    for name, peak in base.peaks().items():
        assert other.peaks()[name] == pytest.approx(peak, rel=tolerance, abs=0.05)


def test_a_mirrored_object_gives_the_mirrored_reaction(skeleton):
    """Point reflection of the rig: what was left is right and what faced -y faces +y, so heights go the same way."""
    base = hit_on(skeleton, "chest_front")
    clip = clip_of(skeleton, scale=-1.0, turn=exp(np.array([0.0, np.pi, 0.0])))  # mirrored in y, upright again
    other = hit_on(skeleton, "chest_front", clip=clip)
    assert other.direction @ base.direction < -0.99
    left, right = base.peaks()["upper_arm.L"], other.peaks()["upper_arm.L"]
    assert right == pytest.approx(left, rel=0.05)


@pytest.mark.parametrize("multiplier", [1.0, 2.0])
def test_the_documents_velocities_drive_the_bones(skeleton, multiplier):
    """At the hit every listed bone turns by its velocity about its own link's axis; what answers: `test_kick`."""
    situation = named("leg_back").with_changes(drive="velocities")
    user = {"thigh.R": {"angle": 90.0, "velocity": 300.0, "multiplier": multiplier}}
    stage = Stage(actor_of(skeleton), clip_of(skeleton), [(situation, Hit(25.0))], user, {})
    reference = stage.reference(stage.start, 1, 0.01, 0.01)
    before = reference.state(0)
    rates = np.degrees(stage.kicked(before, stage.start, reference).twist - before.twist)
    legs = [stage.actor.first(name) for name in ("thigh.R", "shin.R", "foot.R")]
    np.testing.assert_allclose(np.linalg.norm(rates[legs], axis=-1), [300.0 * multiplier, 300.0, 300.0])
    assert not rates[legs, 3:].any()


def test_a_leg_that_velocities_swing_gives_way_under_the_body(skeleton):
    """Shot from behind it goes forward; it was standing, so its foot leaves the ground, and weight and balance feel it
    as a blow of the situation's impulse."""
    clip = clip_of(skeleton)
    told, hit = hit_on(skeleton, "leg_back", drive="velocities"), hit_on(skeleton, "leg_back")
    assert not told.given.any() and hit.given.any()
    foot = displacement(told, clip, told.actor.first("foot.R"))[(clip.times > 1.0) & (clip.times < 1.22)]
    assert foot[-1] @ FACING_BACK < -0.03 and foot.mean(axis=0) @ FACING_BACK < -0.015 and foot[:, 2].max() > 0.01
    assert told.footing.plan.shift[:, 2].min() < -0.02  # it sinks on that leg
    np.testing.assert_allclose(told.footing.plan.shift, hit.footing.plan.shift, atol=1e-12)


def test_velocities_of_a_trunk_do_not_throw_the_pelvis(skeleton):
    """They come out of nothing: a pelvis that is free would take the reaction, so it stays on the clip; the rest of the
    body above it answers, and under a leg that is swung it is free."""
    clip = clip_of(skeleton)
    trunk, leg = (hit_on(skeleton, name, drive="velocities") for name in ("chest_back", "leg_back"))
    pelvis = trunk.actor.first("pelvis")
    assert (
        np.abs(displacement(trunk, clip, pelvis)).max() < 1e-9 and np.abs(displacement(leg, clip, pelvis)).max() > 0.01
    )
    assert trunk.footing is None and leg.footing is not None
    assert trunk.peaks()["spine.01"] > 5.0 and trunk.peaks()["hand.R"] > 1.0


def test_a_pelvis_is_thrown_by_what_has_velocities_whatever_is_struck(skeleton):
    """By those of a trunk, with a blow on a leg or a push besides, and by a leg's table that moves a spine; a body that
    falls is free."""
    actor, clip = actor_of(skeleton), clip_of(skeleton)
    trunk, leg = (named(name).with_changes(drive="velocities") for name in ("chest_back", "leg_back"))
    spine = leg.with_changes(bones={**leg.bones, "spine": BoneSetting(velocity=300.0, simulated=True)})

    def base(*situations):
        return Stage(actor, clip, [(one, Hit(25.0 + k)) for k, one in enumerate(situations)], {}, {}).base

    assert base(trunk, leg) == base(leg, trunk) == base(trunk, named("chest_front")) == base(spine) == -1
    assert base(leg, named("chest_front")) == base(leg) == actor.first("pelvis")
    assert Falling(actor, clip, [(trunk.with_changes(end="stay"), Hit(25.0))], {}, {}).base == actor.first("pelvis")


def test_hold_keeps_the_pose_that_was_reached(skeleton):
    envelope = Envelope(0.1, 0.1, 2.5, "hold", 0.15)
    reaction = hit_on(skeleton, "chest_back", drive="velocities", envelope=envelope)
    assert reaction.times[-1] == pytest.approx(reaction.start + 0.15)
    turn, _ = reaction.deviation(np.array([reaction.start + 0.2, reaction.start + 0.2 + 1.25, reaction.end]))
    np.testing.assert_allclose(turn[0], reaction.turn[-1], atol=1e-12)
    np.testing.assert_allclose(turn[1], 0.5 * reaction.turn[-1], atol=1e-12)
    assert not turn[2].any()


def test_bones_can_be_left_out_softened_and_weighted(skeleton):
    base = hit_on(skeleton).peaks()
    out = hit_on(skeleton, settings={"forearm.L": {"simulated": False}}).peaks()
    assert "forearm.L" not in out and "forearm.L" in base
    half = hit_on(skeleton, settings={"head": {"weight": 0.5}}).peaks()
    assert half["head"] == pytest.approx(0.5 * base["head"], rel=1e-6)
    stiff = hit_on(skeleton, settings={"neck": {"frequency": 12.0}}).peaks()
    assert stiff["neck"] < 0.5 * base["neck"]


@pytest.mark.parametrize("situation", ["shoulder_front", "chest_back", "leg_front", "leg_inside"])
def test_elbows_and_knees_stay_hinges_in_their_range(skeleton, situation):
    clip = clip_of(skeleton)
    reaction = hit_on(skeleton, situation, clip=clip, hit=Hit(25.0, impulse=80.0))
    q, p = reaction.poses(clip)
    clip_q, clip_p = reaction.actor.canonical(clip)
    found = hinges.find(reaction.actor, reaction.moving, to_matrix(clip_q), clip_p)
    assert len(found.bodies) >= 2
    bent = np.degrees(hinges.bend(reaction.actor, found, to_matrix(q), p))
    assert bent.min() > -12.0 and bent.max() < 165.0


def standing(skeleton, seconds=4.0):
    """The rest pose, held."""
    frames = 1.0 + np.arange(round(seconds * FPS) + 1)
    q, p = (np.tile(x, (len(frames), 1, 1)) for x in (skeleton.rotation, skeleton.head))
    return Clip(FPS, frames, q, p, np.tile([1.0, 0, 0, 0], (len(frames), 1)), np.zeros((len(frames), 3)))


def test_planted_feet_stay(skeleton):
    """A push that the feet can hold moves the pelvis and no foot, to the tenth of a millimetre."""
    clip = standing(skeleton)
    reaction = hit_on(skeleton, "chest_front", clip=clip, hit=Hit(25.0, impulse=25.0))
    pelvis = reaction.actor.first("pelvis")
    feet = [reaction.actor.first(f"foot.{s}") for s in "LR"]
    assert np.linalg.norm(displacement(reaction, clip, pelvis), axis=-1).max() > 0.01
    for foot in feet:
        assert np.linalg.norm(displacement(reaction, clip, foot), axis=-1).max() < 1e-4


def test_rigs_without_the_bones_are_refused_by_role(skeleton):
    armless = build(skin=True, **{"upper_arm.L": None, "forearm.L": None, "hand.L": None, "clavicle.L": None})
    with pytest.raises(SituationError, match="'upper_arm.L' or 'clavicle.L'"):
        hit_on(armless, clip=clip_of(skeleton))


def test_wrong_hits_are_refused(skeleton):
    for hit, error, named_ in (
        (Hit(1e6), ClipError, "outside"),
        (Hit(25.0, bone="tail"), SituationError, "'tail'"),
        (Hit(25.0, direction=np.zeros(3)), SituationError, "direction"),
    ):
        with pytest.raises(error, match=named_):
            hit_on(skeleton, hit=hit)


@pytest.mark.parametrize(
    "odd",
    [{"impulse": np.nan}, {"impulse": np.inf}, {"offset": np.array([0.0, np.nan, 0.0])}, {"contact": 0.0},
     {"striker": (0.0, 1.0, 0.0)}, {"striker": (1.0, np.nan, 0.0)}, {"angular": np.nan}, {"frame": np.nan},
     {"mass": -1.0}, {"gain": np.inf}, {"origin": np.array([np.inf, 0.0, 0.0])}],
)  # fmt: skip
def test_hits_of_no_numbers_are_refused_by_what_is_wrong(odd):
    with pytest.raises(SituationError, match=f"The hit's {next(iter(odd))} is .*. Give it"):
        replace(HIT, **odd)


@pytest.mark.parametrize(("field", "value"), [("rotation", np.nan), ("rotation", 0.0), ("position", np.inf)])
def test_clips_without_a_pose_are_refused_by_the_frame(skeleton, field, value):
    clip = clip_of(skeleton)
    broken = getattr(clip, field).copy()
    broken[30, 5] = value
    with pytest.raises(ClipError, match=r"At frame 31 a bone has no pose .* Repair"):
        replace(clip, **{field: broken})
    with pytest.raises(ClipError, match="scaled by 0"):
        replace(clip, scale=0.0)


def test_a_blow_beyond_all_measure_is_told_of_as_one(skeleton):
    """Not as a bone without inertia, though no equation can be solved any more."""
    with pytest.raises(SimulationError, match="turned ever faster. Lower the blow"):
        hit_on(skeleton, hit=replace(HIT, impulse=1e9))


def test_owned_bones_are_refused_where_simulated_and_left_alone_where_supporting(skeleton):
    with pytest.raises(SituationError, match="'forearm.L' is moved by constraint 'IK'"):
        hit_on(skeleton, fixed={"forearm.L": "constraint 'IK'"})
    reaction = hit_on(skeleton, fixed={"shin.L": "constraint 'IK'"})
    assert any("'shin.L'" in w for w in reaction.warnings)
    assert "pelvis" not in reaction.peaks() and "thigh.R" not in reaction.peaks()
    assert max(reaction.peaks().values()) > 10.0


@pytest.mark.parametrize("bone", ["pelvis", "shin.L", "foot.R"])
def test_legs_and_pelvis_stay_on_the_clip_where_one_is_left_out(skeleton, bone):
    reaction = hit_on(skeleton, settings={bone: {"simulated": False}})
    assert [w for w in reaction.warnings if f"'{bone}' is left out" in w]
    assert not {"pelvis", "thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R"} & set(reaction.peaks())
    assert not reaction.travel.any() and max(reaction.peaks().values()) > 10.0


def test_same_input_same_output(skeleton):
    a, b = hit_on(skeleton), hit_on(skeleton)
    assert np.array_equal(a.turn, b.turn) and np.array_equal(a.travel, b.travel)


def test_a_hit_between_frames_starts_between_frames(skeleton):
    reaction = hit_on(skeleton, hit=Hit(25.5))
    assert reaction.start == pytest.approx(25.5 / FPS)
    clip = clip_of(skeleton)
    q, _ = reaction.poses(clip)
    q0, _ = reaction.actor.canonical(clip)
    changed = np.degrees(angle(q, q0)).max(axis=1) > 1e-6
    assert clip.frames[changed][0] == 26.0


def test_clip_that_is_scaled_up_keeps_its_offsets(skeleton):
    """Bones that travel in the clip (scaled or keyed locations) are carried along: still no motion without a blow."""
    clip = clip_of(skeleton)
    grown = replace(clip, position=clip.position * (1.0 + 0.1 * np.sin(clip.times))[:, None, None])
    reaction = hit_on(skeleton, clip=grown, hit=Hit(25.0, impulse=0.0))
    assert max(reaction.peaks().values()) < 1e-9


def test_a_blow_that_no_simulation_survives_is_refused_by_the_bone_and_nothing_else_is_said(skeleton):
    """A hand that gets 10 000 N m s would turn a million times a second, and its forearm with it."""
    with warnings.catch_warnings(), pytest.raises(SimulationError, match="'hand.L' turned ever faster"):
        warnings.simplefilter("error")
        hit_on(skeleton, hit=replace(HIT, bone="hand.L", impulse=0.0, angular=1e4))


@pytest.mark.parametrize("coupled", [True, False])
def test_a_reaction_tells_what_turned_each_joint(skeleton, coupled):
    """Every sub-step that counts, of either simulator: the causes add up to what each joint did."""
    actor, log, seen = actor_of(skeleton), Log(), []

    def watch(stage, part, solver):
        log(stage, part, solver)
        seen.append((stage, part))

    situation = named("shoulder_front").with_changes(coupled=coupled, envelope=Envelope(0.1, 0.1, 0.1, "continue", 0.2))
    clip = clip_of(skeleton)
    reaction = run(react(actor, clip, situation, HIT, watch=watch))
    assert sum(len(times) for times, *_ in log.stretches) == reaction.substeps
    for (_, names, _, turns), (stage, part) in zip(log.stretches, seen, strict=True):
        want = np.stack([one.acceleration[stage.moving, :3] for one in part.runs[1:]])
        np.testing.assert_allclose(turns.sum(axis=1), want, atol=1e-7 * max(np.abs(want).max(), 1.0))
        assert names == [name for name, moves in zip(stage.model.names, stage.moving, strict=True) if moves]
    rows = list(log.rows())
    assert len(rows) == reaction.substeps * reaction.moving.sum()
    assert all(abs(sum(parts) - whole) < 1e-6 * max(whole, 1.0) for _, _, whole, parts in rows[::97])
    first = [parts[log.causes.index("Pulse")] for time, bone, _, parts in rows if bone == "upper_arm.L"][:12]
    assert max(first) > 10.0  # the blow
    assert run(react(actor, clip, situation, HIT)).turn.tobytes() == reaction.turn.tobytes()  # watching changes nothing


def test_momentum_changes_by_blow_weight_feet_and_base(skeleton):
    """Linear, and angular about the centre of mass: what the body gains is what acts on it from outside, with the
    impedances' part in it; muscles, ranges and flesh between bodies give nothing."""
    times, momentum, outside = [], [], []

    def watch(stage, part, _):
        model, reference, gravity, base = stage.model, part.reference, stage.actor.gravity, stage.base
        forces = stage.forces(reference)
        for k, (one, after) in enumerate(pairwise(part.runs)):
            kin, last = kinematics(model, one.state), 0.0 if one.acceleration is None else one.acceleration
            now, load = moment(model, reference, forces, gravity, one, kin)
            a = model.ancestor @ (now.passing.c + apply(kin.X, after.acceleration))
            wrench = (load.wrench - apply(load.body_Z, a)).sum(axis=0)  # on all bodies: those between them cancel
            held = load.force[base] - load.Z[base] @ after.acceleration[base]
            wrench += np.linalg.solve(kin.X[base].T, held)
            at = with_twist(model, kin, passing(one.state.twist, last, float(reference.earlier[k])))
            now_has = balance(model, at, gravity)
            wrench[:3] -= np.cross(now_has.com - kin.origin, wrench[3:])
            wrench[3:] += now_has.mass * load.weighs * gravity  # none where joints carry it wholly: nor has `held` then
            times.append(reference.times[k])
            momentum.append(now_has.momentum)
            outside.append(wrench)

    situation = named("shoulder_front").with_changes(envelope=Envelope(0.1, 0.2, 0.1, "continue", 0.4))
    run(react(actor_of(skeleton), clip_of(skeleton), situation, Hit(25.0, impulse=28.0), watch=watch))
    gained, force = np.array(momentum) - momentum[0], np.array(outside)
    given = np.cumsum(0.5 * (force[1:] + force[:-1]) * np.diff(times)[:, None], axis=0)
    most = np.abs(gained).max(axis=0)
    assert most[4] > 22.0 and most[0] > 7.0  # [N s] along the blow, [N m s] about the axis across it
    assert (np.abs(gained[1:] - given).max(axis=0) < 0.01 * np.repeat([most[:3].max(), most[3:].max()], 3)).all()
