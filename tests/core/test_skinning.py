"""Skin that bodies move together: its points are where linear blend skinning has them, and share what presses them."""

from dataclasses import replace

import numpy as np
import pytest

from core import touch
from core.dynamics import kinematics
from core.forces import Compliant, Floor
from core.model import FREE, SPHERICAL, Model, State
from core.reference import to_joints, to_world
from core.rotation import conjugate, exp, multiply, rotate, to_matrix
from core.skinning import Skinned
from core.spatial import inertia

from .figures import build
from .test_forces import GRAVITY, load_of, moment_of, standing
from .test_react import actor_of

AROUND = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)


def sleeved():
    """A human in one sleeve from each shoulder to the wrist, whose weights go over along the elbow."""
    skeleton = build(skin=True)
    skin, index = skeleton.skin, skeleton.index
    vertices, bones, weights = [skin.vertices], [np.stack((skin.owner, 0 * skin.owner - 1), axis=-1)], []
    weights.append(np.tile([1.0, 0.0], (len(skin.vertices), 1)))
    for side in "LR":
        upper, fore, hand = (index(f"{part}.{side}") for part in ("upper_arm", "forearm", "hand"))
        shoulder, elbow, wrist = skeleton.head[[upper, fore, hand]]
        along = np.linspace(0.2, 1.8, 33)
        core = np.where((along < 1.0)[:, None], shoulder + along[:, None] * (elbow - shoulder),
                        elbow + (along[:, None] - 1.0) * (wrist - elbow))  # fmt: skip
        way = (wrist - shoulder) / np.linalg.norm(wrist - shoulder)
        across = np.cross(way, [0.0, 1.0, 0.0])
        ring = 0.07 * (np.cos(AROUND)[:, None] * across + np.sin(AROUND)[:, None] * np.cross(way, across))
        vertices.append((core[:, None] + ring).reshape(-1, 3))
        beyond = np.repeat(np.clip(0.5 + 1.5 * (along - 1.0), 0.0, 1.0), len(AROUND))
        bones.append(np.tile([upper, fore], (len(beyond), 1)))
        weights.append(np.stack((1.0 - beyond, beyond), axis=-1))
    bones, weights = np.concatenate(bones), np.concatenate(weights)
    owner = bones[np.arange(len(bones)), weights.argmax(axis=1)]
    return actor_of(replace(skeleton, skin=replace(skin, vertices=np.concatenate(vertices), owner=owner, bones=bones,
                                                   weights=weights)))  # fmt: skip


def bent(actor, rng):
    """World poses (n, 4), (n, 3) with elbows bent by up to 1.5 rad about any axis."""
    q, p = actor.skeleton.rotation[actor.order], actor.skeleton.head[actor.order] * actor.masses.scale
    model = actor.model(np.ones(len(q), dtype=bool), actor.first("pelvis"))
    joints, at = to_joints(model, q, p)
    for side in "LR":
        elbow, axis = actor.first(f"forearm.{side}"), rng.normal(size=3)
        joints[elbow] = multiply(joints[elbow], exp(rng.uniform(0.5, 1.5) * axis / np.linalg.norm(axis)))
    return to_world(model, joints, at)


def skinned(actor, q, p):
    """(V, 3) all vertices, as Blender's armature modifier has them."""
    skeleton, skin = actor.skeleton, actor.skeleton.skin
    body, out = actor.body[skin.bones], 0.0
    for k in range(skin.bones.shape[1]):
        bone = skin.bones[:, k]
        local = rotate(conjugate(skeleton.rotation[bone]), (skin.vertices - skeleton.head[bone]) * actor.masses.scale)
        out = out + skin.weights[:, [k]] * (p[body[:, k]] + rotate(q[body[:, k]], local))
    return out


def test_points_reach_as_far_as_the_skin_however_joints_are_bent(rng):
    actor = sleeved()
    points = touch.points(actor)
    alone = touch.points(replace(actor, skeleton=replace(actor.skeleton, skin=replace(actor.skeleton.skin, bones=None,
                                                                                      weights=None))))  # fmt: skip
    arms = [i for i, role in enumerate(actor.roles) if role.startswith(("upper_arm", "forearm"))]
    seen = np.isin(actor.body[actor.skeleton.skin.owner], arms)
    short, beyond = [], []
    for _ in range(12):
        q, p = bent(actor, rng)
        whole = skinned(actor, q, p)[seen]
        for direction in rng.normal(size=(12, 3)):
            d = direction / np.linalg.norm(direction)
            mine, rigid = (x.world(q, p)[np.isin(x.bodies, arms)] @ d for x in (points, alone))
            short.append((whole @ d).max() - mine.max())
            beyond.append(abs((whole @ d).max() - rigid.max()))
    assert min(short) > -1e-9 and max(short) < 0.005
    assert max(beyond) > 0.01, "points of one body each don't"
    assert len(points.bodies) < 2.0 * len(alone.bodies)


def test_weights_are_shares_whatever_they_add_up_to():
    """As in Blender, where a vertex of no weight at all goes with nothing."""
    actor = sleeved()
    skeleton, skin = actor.skeleton, actor.skeleton.skin
    first = np.arange(len(skin.vertices))[:, None] == 0
    several = (
        {},
        {"weights": 0.3 * skin.weights},
        {"bones": np.where(first, -1, skin.bones)},
        {"weights": np.where(first, 0.0, 0.3 * skin.weights)},
    )
    changed = [replace(actor, skeleton=replace(skeleton, skin=replace(skin, **changes))) for changes in several]
    whole, less, without, nothing = (shares(touch.points(one).skin, len(actor.names)) for one in changed)
    np.testing.assert_allclose(less, whole)
    np.testing.assert_allclose(nothing, without)


def pair():
    """Two bodies on a ball joint, the first free; a point of both, 0.3 and 0.7."""
    about = np.tile(0.05 * np.eye(3), (2, 1, 1))
    model = Model(("a", "b"), np.array([-1, 0]), (FREE, SPHERICAL), inertia(np.array([3.0, 2.0]), 0.1 * np.eye(3)[:2],
                                                                            about))  # fmt: skip
    places = np.array([[0.2, 0.0, -0.1], [-0.1, 0.05, -0.1]])
    return model, Skinned(np.array([0]), np.array([0, 1]), places, np.array([0.3, 0.7]))


def state_of(model, rng):
    turns, places = exp(0.4 * rng.normal(size=(2, 3))), np.array([[0.0, 0.0, 0.1], [0.3, 0.0, 0.0]])
    twist = rng.normal(size=(2, 6))
    twist[1, 3:] = 0.0
    return State(turns, places, twist)


def shares(skin, n):
    """(m, n) how much each of n bodies counts at each point."""
    out = np.zeros((len(skin.first), n))
    np.add.at(out, (skin.points, skin.bodies), skin.weights)
    return out


def test_a_shared_point_moves_by_its_shares(rng):
    """Its velocity is how its place changes."""
    model, skin = pair()
    state = state_of(model, rng)
    places = []
    for h in (-1e-6, 1e-6):
        rotation = multiply(state.rotation, exp(h * state.twist[:, :3]))
        moved = state.position + h * np.einsum("nij,nj->ni", to_matrix(state.rotation), state.twist[:, 3:])
        places.append(kinematics(model, State(rotation, moved, state.twist)))
    there = [skin.at(kin) + kin.origin for kin in places]
    kin = kinematics(model, state)
    np.testing.assert_allclose(skin.velocity(kin), (there[1] - there[0]) / 2e-6, atol=1e-6)
    assert skin.heights(kin) == pytest.approx(skin.at(kin)[:, 2])
    np.testing.assert_allclose(skin.world(*to_world(model, state.rotation, state.position)), skin.at(kin) + kin.origin)


def test_its_force_is_shared_alike(rng):
    """0.3 and 0.7 of one force, on each body where it would have the point: what they take of its power is the power of
    the force at the point as it moves."""
    model, skin = pair()
    state = state_of(model, rng)
    kin = kinematics(model, state)
    height = kin.origin[2] + skin.at(kin)[0, 2] + 0.1
    step = moment_of(model, standing(model, 1, 1 / 240), state)
    wrench = load_of(Compliant([Floor(skin, height, friction=0.0)]), step, GRAVITY).wrench
    force = wrench[:, 3:].sum(axis=0)
    assert force[2] > 1.0 and np.abs(force[:2]).max() < 1e-9
    np.testing.assert_allclose(wrench[:, 3:], np.outer([0.3, 0.7], force), atol=1e-9)
    np.testing.assert_allclose(np.sum(wrench * kin.V), force @ skin.velocity(kin)[0], atol=1e-9)


def test_points_are_chosen_with_all_their_parts():
    weights = np.array([1.0, 0.6, 0.4, 1.0])
    skin = Skinned(np.array([0, 1, 3]), np.array([0, 1, 2, 3]), np.arange(12.0).reshape(4, 3), weights)
    assert np.array_equal(skin.owners, [0, 1, 3])
    np.testing.assert_allclose(shares(skin, 4), [[1, 0, 0, 0], [0, 0.6, 0.4, 0], [0, 0, 0, 1]])
    for which in ([2, 1], np.array([False, True, True])):
        some = skin.chosen(np.array(which))
        np.testing.assert_allclose(shares(some, 4), shares(skin, 4)[which])
    both = Skinned.joined([skin.chosen(np.array([1])), Skinned.rigid(np.array([0]), np.ones((1, 3)))])
    np.testing.assert_allclose(shares(both, 4), [[0, 0.6, 0.4, 0], [1, 0, 0, 0]])
