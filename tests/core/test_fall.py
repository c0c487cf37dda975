"""A body that is knocked out: it falls like one, lies on the floor, and stays there while the clip walks on."""

from dataclasses import replace

import numpy as np
import pytest

from core import hinges, knockout, touch
from core.bodies import measure
from core.dynamics import balance, kinematics
from core.errors import SituationError
from core.fall import Falling, fall
from core.forces import Capsules, Floor, Limit, Topple
from core.forces.limit import torque_function
from core.knockout import KnockOut
from core.model import State
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.reference import to_joints, to_world
from core.resample import hermite, rotations
from core.rotation import angle, conjugate, exp, multiply, rotate, to_matrix
from core.simulate import Run, simulate
from core.situation import named
from core.skinning import Skinned
from core.stage import UNCAUGHT

from .figures import DOG, build
from .test_contact import CORNERS, box, lying
from .test_forces import one_body
from .test_react import HIT, actor_of, clip_of, standing

FALLS = {"knock_out_back": {}, "shoulder_front": {"end": "stay", "knock_out": 0.5}}


@pytest.fixture(scope="module", params=["knock_out", *FALLS])
def fallen(request, actor, clip, knocked_out):
    if request.param not in FALLS:
        return knocked_out
    return run(fall(actor, clip, named(request.param).with_changes(**FALLS[request.param]), HIT))


def path(reaction, clip):
    """World poses (K, n, 4), (K, n, 3) at the reaction's own times."""
    q, p = to_joints(reaction.model, *reaction.actor.canonical(clip))
    q, p = rotations(clip.times, q, reaction.times), hermite(clip.times, p, reaction.times)
    return to_world(reaction.model, multiply(q, exp(reaction.turn)), p + reaction.travel)


def surface(reaction, clip):
    """(times from the blow, heights above the floor and speeds of points of the surface)."""
    points = touch.points(reaction.actor)
    places = points.world(*path(reaction, clip))
    height = touch.floor(points, *reaction.actor.canonical(clip))
    speed = np.linalg.norm(np.diff(places, axis=0), axis=-1) / np.diff(reaction.times)[:, None]
    return reaction.times - reaction.start, places[..., 2] - height, speed


def test_the_body_lies_within_four_seconds(fallen, clip):
    """It comes to rest by itself: 4 s are when it would be stopped."""
    since, height, speed = surface(fallen, clip)
    assert since[-1] < 3.5
    pelvis = fallen.actor.first("pelvis")
    assert height[0][touch.points(fallen.actor).bodies == pelvis].min() > 0.7
    assert height[-1].max() < 0.6, "no part of it stands"
    assert speed[-1].max() < 0.01


def test_it_falls_as_fast_as_a_body_does(fallen, clip):
    since, height, speed = surface(fallen, clip)
    head = touch.points(fallen.actor).bodies == fallen.actor.first("head")
    down = since[np.argmax(height[:, head].min(axis=1) < 0.1)]
    assert 0.5 < down < 1.6, "free fall from 1.6 m takes 0.57 s, a toppling pole 1.3 s"
    assert speed.max() < 12.0


def test_it_does_not_sink_into_the_floor(fallen, clip):
    _, height, _ = surface(fallen, clip)
    assert height.min() > -0.01


def test_it_stays_while_the_clip_walks_on(fallen, clip):
    later = clip.times > fallen.times[-1]
    q, p = fallen.poses(clip)
    assert np.count_nonzero(later) > 24
    assert np.ptp(q[later], axis=0).max() < 1e-12 and np.ptp(p[later], axis=0).max() < 1e-12
    own, _ = fallen.actor.canonical(clip)
    assert np.ptp(own[later], axis=0).max() > 0.1, "the clip does move"


def test_a_clip_that_stops_between_its_samples_does_not_show(fallen, clip):
    """A fall is its own motion: a frame that the clip shows otherwise than its even samples did moves nothing."""
    k = int(np.searchsorted(clip.times, fallen.start + 0.5))
    rotation = clip.rotation.copy()
    rotation[k] = multiply(rotation[k], exp(np.array([0.0, 0.0, 0.1])))
    other = replace(clip, rotation=rotation)
    for mine, theirs in zip(fallen.poses(clip), fallen.poses(other), strict=True):
        np.testing.assert_allclose(mine[k - 2 : k + 3], theirs[k - 2 : k + 3], atol=1e-9)


def test_it_starts_from_the_clip(fallen, clip):
    assert np.abs(fallen.turn[0]).max() < 1e-9 and np.abs(fallen.travel[0]).max() < 1e-9
    before = clip.times <= fallen.start
    q, p = fallen.poses(clip)
    own_q, own_p = fallen.actor.canonical(clip)
    np.testing.assert_allclose(p[before], own_p[before], atol=1e-9)


def test_knees_and_elbows_bend_as_they_may(fallen, clip):
    q, p = path(fallen, clip)
    R = to_matrix(q)
    found = hinges.find(fallen.actor, fallen.moving, *(lambda q, p: (to_matrix(q), p))(*fallen.actor.canonical(clip)))
    bend = np.degrees(hinges.bend(fallen.actor, found, R, p))
    assert bend.min() > -20.0 and bend.max() < 170.0


def test_knees_of_thin_legs_hold_the_body_over_them(actor, clip):
    """Eight degrees past the 150 that muscles reach a knee bears half of the body's weight on its thigh held level,
    however little shin and foot weigh."""
    skin, names = actor.skeleton.skin, actor.skeleton.names
    thin = np.isin(skin.owner, [names.index(f"{bone}.{side}") for bone in ("shin", "foot", "toe") for side in "LR"])
    axis = np.where(skin.vertices[:, :1] > 0.0, 0.1, -0.1) * [1.0, 0.0, 0.0] + skin.vertices * [0.0, 0.0, 1.0]
    vertices = np.where(thin[:, None], axis + 0.3 * (skin.vertices - axis), skin.vertices)
    thin = actor_of(replace(actor.skeleton, skin=replace(skin, vertices=vertices)))
    stage = Falling(thin, clip, [(named("knock_out"), HIT)], {}, {})
    limit = next(force for force in stage.forces(stage.reference(stage.start, 2, 0.01)) if isinstance(force, Limit))
    weight = float(thin.masses.mass.sum()) * 9.81
    for side in "LR":
        knee = list(limit.bodies).index(thin.first(f"shin.{side}"))
        free, end = limit.soft * limit.high[1, knee], limit.high[1, knee]
        torque, *_ = torque_function(end + np.radians(8.0) - free, end - free, limit.stiffness[knee])
        assert -torque > 0.5 * weight * np.linalg.norm(thin.axis[thin.first(f"thigh.{side}")])


def test_shins_do_not_fold_over_feet_that_stand(fallen, clip):
    """The weight of a body that crumples bends ankles little farther than they go; then heels rise."""
    actor = fallen.actor
    q, _ = path(fallen, clip)
    for side in "LR":
        shin, foot = (actor.first(f"{role}.{side}") for role in ("shin", "foot"))
        ankle = multiply(conjugate(q[:, shin]), q[:, foot])
        assert np.degrees(angle(ankle, ankle[:1])).max() < 70.0


def test_limbs_stay_out_of_the_trunk(fallen, clip):
    q, p = path(fallen, clip)
    kin = kinematics(fallen.model, State(*to_joints(fallen.model, q, p), np.zeros(q.shape[:-1] + (6,))))
    radius = fallen.actor.masses.radius[fallen.actor.order]
    bodies = np.flatnonzero(fallen.moving)
    ends = np.stack((np.zeros((len(bodies), 3)), fallen.actor.axis[bodies]), axis=1)
    cores = Capsules(bodies, ends, radius[bodies]).cores(kin).mean(axis=-2)
    trunk = [fallen.actor.first(role) for role in ("pelvis", "spine.1", "chest")]
    for role in ("hand.L", "hand.R", "shin.L", "shin.R"):
        limb = fallen.actor.first(role)
        for part in trunk:
            apart = cores[:, list(bodies).index(limb)] - cores[:, list(bodies).index(part)]
            assert np.linalg.norm(apart, axis=-1).min() > 0.5 * radius[part], (role, part)


def test_the_same_input_gives_the_same_fall(actor, clip, knocked_out):
    again = run(fall(actor, clip, named("knock_out"), HIT))
    assert np.array_equal(knocked_out.turn, again.turn) and np.array_equal(knocked_out.times, again.times)


def test_its_weight_and_its_hips_come_down_to_the_floor(fallen, clip):
    """To a thigh's thickness above it: not onto folded legs, nor an arch of them."""
    q, p = path(fallen, clip)
    mass = fallen.actor.masses.mass[fallen.actor.order]
    middles = p[-1] + rotate(q[-1], 0.5 * fallen.actor.axis)
    ground = touch.floor(touch.points(fallen.actor), *fallen.actor.canonical(clip))
    assert mass @ middles[:, 2] / mass.sum() - ground < 0.2
    assert p[-1, fallen.actor.first("pelvis"), 2] - ground < 0.25


def armed():
    """A human with a sword in the right hand, which the clip holds otherwise than the rest pose does."""
    skeleton = build(skin=True, **{"weapon.R": ("hand.R", (-0.8, 0.0, 1.45), (-0.8, -1.0, 1.45))})
    clip = clip_of(skeleton, seconds=8.0)
    rotation, sword = clip.rotation.copy(), skeleton.index("weapon.R")
    rotation[:, sword] = multiply(rotation[:, sword], exp(np.array([0.5, 0.0, 0.0])))
    return actor_of(skeleton), replace(clip, rotation=rotation)


def test_a_sword_falls_with_the_hand_and_stays_above_the_floor():
    actor, clip = armed()
    points, sword = touch.points(actor), actor.names.index("weapon.R")
    assert np.array_equal(points.bodies[points.held], np.full(points.held.sum(), sword)) and points.held.any()
    q, p = actor.canonical(clip)
    tip = points.world(q[:1], p[:1])[0, points.held]
    assert np.linalg.norm(tip - p[0, sword] - rotate(q[0, sword], actor.sign * points.places[points.held])).max() < 1e-9
    assert touch.floor(points, q, p) == pytest.approx(touch.floor(points.figure, q, p))
    fallen = run(fall(actor, clip, named("knock_out"), HIT))
    height = surface(fallen, clip)[1]
    assert height[:, points.held].min() > -0.01 and height[-1, points.held].min() < 0.3
    way = points.world(*fallen.poses(clip))[:, points.held]
    assert np.linalg.norm(np.diff(way, axis=0), axis=-1).max() * clip.fps < 6.0  # [m/s]; 11 of one that weighs nothing


def test_a_sword_weighs_what_its_bone_is_given():
    """Nothing by itself; with a mass, its mesh says where that is: a metre of box in the hand is hard to turn.  In a
    fall it is as such a box of a kilogram a metre, unless its bone is given a mass: then it has that alone."""
    actor, _ = armed()
    skeleton, sword = actor.skeleton, actor.skeleton.index("weapon.R")
    assert actor.masses.mass[sword] == 0.0
    given = measure(skeleton, actor.anatomy, {"weapon.R": 1.2})
    length = actor.masses.scale
    assert given.mass[sword] == pytest.approx(1.2)
    np.testing.assert_allclose(given.com[sword], [0.0, 0.5 * length, 0.0], atol=1e-6)
    about = np.linalg.eigvalsh(given.inertia[sword])
    np.testing.assert_allclose(about[1:], 1.2 / 12.0 * (1.0 + 0.1**2) * length**2, rtol=1e-6)
    np.testing.assert_allclose(np.delete(given.mass, sword), np.delete(actor.masses.mass, sword), rtol=0.01)
    alone = touch.weighing(actor, touch.points(actor))
    body, heavy = actor.names.index("weapon.R"), replace(actor, masses=given)
    assert alone[body, 5, 5] == pytest.approx(length) and not np.delete(alone, body, axis=0).any()
    np.testing.assert_allclose(alone[body] / length, heavy.inertia[body] / 1.2, atol=2e-3)
    assert not touch.weighing(heavy, touch.points(heavy)).any()
    skin, owned = skeleton.skin, skeleton.skin.owner == sword
    speck = replace(skin, vertices=np.where(owned[:, None], skin.vertices[owned][0], skin.vertices))
    small = actor_of(replace(skeleton, skin=speck))
    assert touch.points(small).held.any() and not touch.weighing(small, touch.points(small)).any()


def test_what_is_flat_is_no_thicker_than_that(actor):
    points = touch.points(actor)
    chest = actor.first("chest")
    thinner = points.skin.places * np.where(np.arange(3) == 2, 0.3, 1.0)
    flat = replace(points, skin=replace(points.skin, places=thinner))
    whole, thin = touch.thickness(actor, points), touch.thickness(actor, flat)
    assert thin[chest] == pytest.approx(0.3 * whole[chest], rel=0.05)


def test_a_given_floor_counts(actor, clip):
    low = run(fall(actor, clip, named("knock_out"), replace(HIT, ground=-0.5)))
    points = touch.points(actor)
    assert points.world(*path(low, clip))[-1, :, 2].min() == pytest.approx(-0.5 * actor.masses.scale, abs=0.01)


def test_the_blow_gives_its_momentum(actor, clip):
    """Two falls that differ in the impulse alone differ by it in momentum, before the floor can tell."""
    momentum = []
    for impulse in (5.0, 10.0):
        situation = named("knock_out_back").with_changes(impulse=impulse, gain=1.0, contact=0.01)
        stage = Falling(actor, clip, [(situation, replace(HIT, ground=-1.0))], {}, {})
        reference = stage.reference(stage.start, 4, 1 / 240)
        *_, last = simulate(stage.model, reference, stage.forces(reference), actor.gravity, Run(0, reference.state(0)))
        momentum.append(balance(stage.model, kinematics(stage.model, last.state), actor.gravity).momentum[3:])
    np.testing.assert_allclose(momentum[1] - momentum[0], 5.0 * stage.blows[0].direction, atol=0.35)


def test_what_makes_a_body_topple_does_not_make_it_slide(actor, clip):
    """What is half a metre up is drawn, what is as high as it is thick not at all, the whole by less than friction
    holds, and when it would not lie in time any more nothing."""
    stage = Falling(actor, clip, [(named("knock_out"), HIT)], {}, {})
    ragdoll, mass, n = stage.ragdoll, stage.model.inertia[:, 5, 5], stage.model.n
    topple = next(force for force in ragdoll.forces(np.array([0.0])) if isinstance(force, Topple))
    holds, late = ragdoll.floor.friction * np.linalg.norm(actor.gravity), ragdoll.knock.start + 2.0
    drawn = topple.drawn(np.array([0.05, *[0.5] * (n - 1)])[:, None], late, mass)[:, 0]
    assert drawn[0] == 0.0 and (drawn[1:] > 2.0).all()
    for count in (2, n // 3, n):
        drawn = topple.drawn(2.0 * (np.arange(n) < count)[:, None], late, mass)[:, 0]
        assert 0.0 < mass @ drawn / mass.sum() < holds
    assert not topple.drawn(np.full((n, 1), 2.0), ragdoll.knock.start + 3.5, mass).any()


def test_what_is_propped_up_topples_where_its_support_ends_soonest():
    """A box 0.6 m wide and 0.4 m deep: across its depth, to where the weight is, or where the blow went if it is in the
    middle, or to one side all the same; nowhere in the air; what doesn't hold it up doesn't count."""
    model, out = box(), np.array([[0.0, 3.0, -0.1]])
    floor = Floor(Skinned.rigid(np.zeros(9, dtype=int), np.concatenate((CORNERS, out))), 0.0)
    holds = np.arange(9) < 8
    ways = ((1.0, 0.0, 0.0), 1.0, 0.99), ((0.6, 0.8, 0.0), 1.0, 0.99), ((0.6, -0.8, 0.0), -1.0, 0.99)
    for blow, side, least in ways:
        topple = Topple(floor, holds, np.zeros(1), lambda height, t: 0.0 * height + 3.0, np.array(blow))
        way = topple.way(kinematics(model, lying(model)))
        assert least < side * way[1] < 1.0 + 1e-9 and abs(way[0]) < 0.05
        assert not topple.way(kinematics(model, lying(model, lift=0.2))).any()
    for side in (1.0, -1.0):
        heavy = one_body(mass=75.0, com=(0.0, 0.06 * side, 0.0))
        way = topple.way(kinematics(heavy, lying(heavy)))
        np.testing.assert_allclose(way, [0.0, side, 0.0], atol=0.05)
    wide = replace(topple, stands=np.ones(9, dtype=bool)).way(kinematics(model, lying(model)))
    assert wide[1] < -0.9, "an outrigger that does count"


@pytest.mark.parametrize("way", [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0)])
def test_an_animal_that_falls_along_its_length_does_not_stay_propped_up_on_its_legs(way):
    """It comes to lie on its side, hips and chest down, though it is exactly as wide on both; its tail goes limp."""
    dog = actor_of(build(DOG, skin=True))
    clip = standing(dog.skeleton, 8.0)
    fallen = run(fall(dog, clip, named("knock_out"), replace(HIT, direction=np.array(way))))
    assert fallen.times[-1] - fallen.start < 3.5, "by itself"
    hips, chest = (dog.first(role) for role in ("pelvis", "chest"))
    (own, _), (q, p) = dog.canonical(clip), fallen.poses(clip)
    aside = rotate(multiply(q[-1, hips], conjugate(own[-1, hips])), np.array([1.0, 0.0, 0.0]))
    assert abs(aside[2]) > 0.6
    assert p[-1, [hips, chest], 2].max() < 0.3 < 0.8 < p[0, [hips, chest], 2].min()
    tail, held = (multiply(conjugate(x[-1, hips]), x[-1, dog.first("tail.1")]) for x in (q, own))
    assert np.degrees(angle(tail, held)) > 10.0


def test_a_body_in_the_air_keeps_its_momentum(actor, clip):
    """With the floor a metre below its feet: what it had and what the blow gives, and it falls freely."""
    situation = named("knock_out").with_changes(impulse=20.0, gain=1.0, contact=0.01)
    stage = Falling(actor, clip, [(situation, replace(HIT, ground=-1.0))], {}, {})
    reference = stage.reference(stage.start, 48, 1 / 240)
    runs = list(simulate(stage.model, reference, stage.forces(reference), actor.gravity, Run(0, reference.state(0))))
    first, last = (balance(stage.model, kinematics(stage.model, r.state), actor.gravity) for r in (runs[0], runs[-1]))
    seconds = reference.times[runs[-1].k] - reference.times[runs[0].k]
    given = 20.0 * stage.blows[0].direction + first.mass * seconds * actor.gravity
    np.testing.assert_allclose(last.momentum[3:] - first.momentum[3:], given, atol=0.02 * np.linalg.norm(given))


def test_what_a_fall_does_not_do_is_said(actor, clip):
    """A blow that no feet would catch is no news; gains and the light simulator are."""
    plain = Falling(actor, clip, [(named("knock_out").with_changes(impulse=400.0), HIT)], {}, {})
    assert plain.warnings == [] and plain.footing is None
    situation = named("knock_out").with_changes(coupled=False, counter=2.0)
    told = " ".join(Falling(actor, clip, [(situation, HIT)], {}, {}).warnings)
    assert "coupled" in told and "counter" in told


def test_hits_before_are_as_without_the_knock_out(actor, clip, monkeypatch):
    """To the moment of the knock-out, with planted feet; there neither place nor velocity jumps.  What is watched is
    what counts, once, and of a body that falls nobody says that it is caught."""
    monkeypatch.setattr(knockout, "LONGEST", 1.2)
    seen, short = [], named("chest_front").with_changes(envelope=Envelope(0.1, 0.4, 0.3))
    before = (short, replace(HIT, frame=HIT.frame - 9.0))
    alone = run(react(actor, clip, *before))
    watch = lambda stage, part, _: seen.append(part.reference.times[:-1])  # noqa: E731

    def doubtful(*args):
        return replace((yield from react(*args)), warnings=(UNCAUGHT, "Another."))

    monkeypatch.setattr("core.fall.react", doubtful)
    knock = named("knock_out").with_changes(impulse=0.0)
    both = run(fall(actor, clip, knock, HIT, further=[before], watch=watch))
    times = np.concatenate(seen)
    assert (np.diff(times) > 0.0).all() and len(times) == both.substeps
    assert both.warnings == ("Another.",)
    knocked = HIT.frame / clip.fps
    (q, p), (own_q, own_p) = both.poses(clip), alone.poses(clip)
    until = clip.times <= knocked + 1e-9
    np.testing.assert_allclose(p[until], own_p[until], atol=1e-12)
    np.testing.assert_allclose(q[until], own_q[until], atol=1e-12)
    shown = np.linalg.norm(p - actor.canonical(clip)[1], axis=-1).max(axis=1)
    assert shown[until][-1] > 0.02, "the earlier hit still shows"
    k = int(np.argmin(np.abs(clip.times - knocked)))
    kicks = np.linalg.norm(np.diff(p, 2, axis=0), axis=-1).max(axis=1) * clip.fps**2
    assert kicks[k - 1] < 60.0, "no jump of the velocity"
    assert both.start == alone.start and both.times[-1] == both.parts[-1].times[-1]
    lies = p[clip.times > both.times[-1]]
    assert np.ptp(lies, axis=0).max() < 1e-9 and len(both.blows) == 2


def test_a_blow_on_a_body_that_lies_lands(actor, clip):
    late = replace(HIT, frame=HIT.frame + 4.2 * clip.fps, impulse=60.0)
    fallen = run(fall(actor, clip, named("knock_out"), HIT, further=[(named("chest_front"), late)]))
    assert fallen.times[-1] > late.frame / clip.fps
    since, _, speed = surface(fallen, clip)
    lands = np.searchsorted(since, fallen.blows[1].start - fallen.start)
    assert speed[lands : lands + 12].max() > 0.05 > 2.0 * speed[lands - 6 : lands].max()


def test_a_rig_without_legs_cannot_fall(actor, clip):
    loose = {name: "a constraint" for name in actor.names if "thigh" in name}
    with pytest.raises(SituationError, match="can't fall"):
        run(fall(actor, clip, named("knock_out"), HIT, fixed=loose))


def test_the_clip_slows_down_with_its_own_pace():
    knock = KnockOut(1.0, 0.4, 4.0, np.array([1.0, 0.0, 0.0]))
    times = np.linspace(0.5, 2.0, 3001)
    rate = np.gradient(knock.clip_times(times), times)
    np.testing.assert_allclose(rate, knock.pace(times), atol=1e-3)
    assert knock.tone(np.array([0.9, 1.4]))[1] == pytest.approx(0.0, abs=1e-12)


def test_points_of_the_surface_reach_as_far_as_the_skin(actor, rng):
    points = touch.points(actor)
    skeleton = actor.skeleton
    height = skeleton.skin.vertices * actor.masses.scale
    q, p = skeleton.rotation[actor.order], skeleton.head[actor.order] * actor.masses.scale
    places = points.world(q, p)
    for direction in rng.normal(size=(20, 3)):
        d = direction / np.linalg.norm(direction)
        assert (height @ d).max() - (places @ d).max() < 0.004


def test_a_body_without_skin_has_no_surface_where_the_figure_has_one():
    """A boot that goes with the shin is what stands on the floor, not the foot's bone, which points down through it; of
    a figure that wears no more than boots all else is capsules."""
    skeleton = build(skin=True, **{"foot.L": ("shin.L", (0.1, 0.02, 0.09), (0.1, -0.12, -0.2))})
    skin, index = skeleton.skin, skeleton.index
    boots = {index(f"{part}.{side}"): index(f"shin.{side}") for part in ("foot", "toe") for side in "LR"}
    low = skin.vertices[skin.owner == index("toe.R"), 2].min()
    up = np.where(skin.vertices[:, 2:] < low, [0.0, 0.0, 1.0], 0.0) * (low - skin.vertices[:, 2:])
    boot = replace(skin, vertices=skin.vertices + up, owner=np.array([boots.get(i, i) for i in skin.owner.tolist()]))
    actor = actor_of(replace(skeleton, skin=boot))
    points = touch.points(actor)
    assert not {actor.roles[i] for i in points.bodies} & {"foot.L", "foot.R", "toe.L", "toe.R"}
    floor = touch.floor(points, *actor.canonical(standing(skeleton)))
    assert floor == pytest.approx(low * actor.masses.scale, abs=0.003)
    only = np.isin(boot.owner, list(boots.values()))
    triangles = np.cumsum(only)[boot.triangles[only[boot.triangles].all(axis=1)]] - 1
    worn = replace(boot, vertices=boot.vertices[only], owner=boot.owner[only], triangles=triangles)
    actor = actor_of(replace(skeleton, skin=worn))
    assert {"head", "pelvis", "hand.L", "foot.L"} <= {actor.roles[i] for i in touch.points(actor).bodies}


def test_a_toe_that_dips_does_not_move_the_floor(actor, clip):
    points = touch.points(actor)
    q, p = actor.canonical(clip)
    dipped = p.copy()
    dipped[10:14, :, 2] -= 0.05
    assert touch.floor(points, q, dipped) == pytest.approx(touch.floor(points, q, p), abs=0.004)
    assert Hit(1.0).ground is None


def test_legs_give_way_over_feet_that_stay(actor, clip):
    """What the body follows sinks by bent knees; with muscles that fade fast there is no time for it."""
    slow = Falling(actor, clip, [(named("knock_out").with_changes(knock_out=1.5), HIT)], {}, {})
    fast = Falling(actor, clip, [(named("knock_out").with_changes(knock_out=0.2), HIT)], {}, {})
    sinks = []
    for stage in (slow, fast):
        times, plain = stage.knock.slowed(clip.times, *to_joints(stage.model, *actor.canonical(clip)))
        (q, p), (own_q, own_p) = (to_world(stage.model, *poses) for poses in (stage.joints, plain))
        feet = [i for i, role in enumerate(actor.roles) if role.startswith("foot")]
        np.testing.assert_allclose(p[:, feet], own_p[:, feet], atol=1e-6)
        np.testing.assert_allclose(q[:, feet], own_q[:, feet], atol=1e-9)
        down = own_p[:, stage.base, 2] - p[:, stage.base, 2]
        assert np.abs(down[times <= stage.knock.start + 1e-9]).max() < 1e-12, "nothing before the blow"
        bend = np.degrees(hinges.bend(actor, stage.hinges, to_matrix(q[-1:]), p[-1:]))[0]
        knees = bend[[actor.roles[i].startswith("shin") for i in stage.hinges.bodies]]
        sinks.append((down[-1], knees.min()))
    assert 0.2 < sinks[0][0] < 0.4 and sinks[0][1] > 60.0
    assert 0.03 < sinks[1][0] < 0.1
