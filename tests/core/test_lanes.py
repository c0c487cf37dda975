"""Batches in lanes: the same numbers as one by one, and no step takes them out of their order."""

import numpy as np
import pytest

from bench import trees
from core import lanes
from core.dynamics import Load, centre, forward_dense, forward_tree, kinematics
from core.lanes import Table, arranged, dot, laned, linear, memory, product, rows, seen, zeros
from core.model import Model, State
from core.rotation import conjugate, cross, exp, log_and_rate, multiply, to_matrix
from core.simulate import Run, step
from core.spatial import apply, apply_T, first_moment, motion_cross

from .trees import mixed, tree

BATCHES = pytest.mark.parametrize("batch", [(7,), (2, 3), (1,)])


@BATCHES
def test_what_numpy_does_not_keep_in_order_is_kept(rng, batch):
    """Every operation of its own gives what plain arrays give, and gives it in lanes."""
    v, m = rng.normal(size=(*batch, 5, 4)), rng.normal(size=(*batch, 5, 4, 3))
    full, some = rng.normal(size=(4, 9)), np.array([3, 0, 3])
    one = rng.normal(size=(5, 4, 3))
    sparse = full * np.array([[1, 0, 1, 0], [0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]])[:, [0, 1, 2, 3, 3, 2, 1, 0, 0]]
    signs = np.zeros((4, 9))  # two in one column, none in another
    signs[[0, 2, 1, 1, 3, 0, 0, 2, 1], [0, 1, 2, 3, 4, 4, 6, 7, 8]] = [1, 1, -1, -1, 1, -1, 1, -1, 1]
    assert Table.of(signs).signed and [len(columns) for columns, _ in Table.of(signs).terms] == [9, 1]
    lying, lying_m = arranged(v), arranged(m, 2)
    np.testing.assert_array_equal(seen(memory(lying_m, 2), 2), m)
    pairs = [
        (linear(lying, Table.of(full)), v @ full),
        (linear(lying, Table.of(sparse)), v @ sparse),
        (linear(lying, Table.of(signs)), v @ signs),
        (linear(lying, Table.of(np.eye(4)[:, some])), v[..., some]),
        (product(lying_m.swapaxes(-1, -2), lying_m), m.swapaxes(-1, -2) @ m),
        (product(one.swapaxes(-1, -2), lying_m), one.swapaxes(-1, -2) @ m),
        (product(lying_m, one.swapaxes(-1, -2)), m @ one.swapaxes(-1, -2)),
        (apply(one, seen(memory(lying)[:3])), np.einsum("nij,...nj->...ni", one, v[..., :3])),
        (apply_T(one, lying), np.einsum("nij,...ni->...nj", one, v)),
        (rows(lying, some), v[..., some, :]),
        (rows(lying_m, some, 2), m[..., some, :, :]),
        (rows(lying_m, slice(1, 3), 2), m[..., 1:3, :, :]),
        (zeros(lying, 2, 6), np.zeros((*batch, 5, 2, 6))),
        (apply_T(lying_m, lying), np.einsum("...ij,...i->...j", m, v)),
        (apply(lying_m.swapaxes(-1, -2), lying), np.einsum("...ij,...i->...j", m, v)),
    ]
    for got, want in pairs:
        assert laned(got) or batch == (1,)
        np.testing.assert_allclose(got, want, atol=1e-14)


@pytest.mark.parametrize("old", [False, True])
def test_few_vectors_are_multiplied_alike_by_any_numpy(rng, monkeypatch, old):
    """numpy 2's own products, and the way round of an older one."""
    if old:
        for name in ("_vecdot", "_matvec", "_vecmat"):
            monkeypatch.setattr(lanes, name, None)
    m, v, w = rng.normal(size=(5, 6, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 6))
    np.testing.assert_allclose(apply(m, v), [a @ x for a, x in zip(m, v, strict=True)], atol=1e-14)
    np.testing.assert_allclose(apply_T(m, w), [a.T @ x for a, x in zip(m, w, strict=True)], atol=1e-14)
    np.testing.assert_allclose(dot(w[:, 1:4], v), [x[1:4] @ y for x, y in zip(w, v, strict=True)], atol=1e-14)
    np.testing.assert_allclose(apply(m[0], v[0]), m[0] @ v[0], atol=1e-14)
    np.testing.assert_allclose(apply_T(m[0], w), w @ m[0], atol=1e-14)


def test_rotations_in_lanes(rng):
    q, w, u = rng.normal(size=(6, 5, 4)), rng.normal(size=(6, 5, 3)), rng.normal(size=(6, 5, 3))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    one = multiply(q, exp(w)), to_matrix(conjugate(q)), *log_and_rate(q), cross(w, u), motion_cross(np.dstack((w, u)))
    q, w, u = arranged(q), arranged(w), arranged(u)
    two = multiply(q, exp(w)), to_matrix(conjugate(q)), *log_and_rate(q), cross(w, u), motion_cross(np.dstack((w, u)))
    for got, want in zip(two, one, strict=True):
        assert laned(got)
        np.testing.assert_allclose(got, want, atol=1e-14)


@BATCHES
def test_sums_along_trees_of_any_order_in_lanes(rng, batch, monkeypatch):
    """By the matrix of ancestors and level by level, also with several roots."""
    model = tree(rng, 30)
    model = Model(model.names, np.where(rng.random(30) < 0.1, -1, model.parent), model.joints, model.inertia)
    values = rng.normal(size=(*batch, 30, 6))
    for few in (0, 10**9):
        monkeypatch.setattr("core.model.BY_LEVEL", few)
        outward, inward = model.outward(arranged(values)), model.inward(arranged(values))
        assert batch == (1,) or (laned(outward) and laned(inward))
        np.testing.assert_allclose(outward, model.ancestor @ values, atol=1e-12)
        np.testing.assert_allclose(inward, model.ancestor.T @ values, atol=1e-12)


@pytest.mark.parametrize("order", [np.copy, arranged], ids=["rows", "lanes"])
def test_the_weight_of_a_batch_is_that_of_each(rng, order):
    """Against sums over bodies: place and momentum of each one's own centre of mass."""
    model = tree(rng, 9)
    poses = exp(rng.normal(size=(4, 9, 3))), rng.normal(size=(4, 9, 3)), rng.normal(size=(4, 9, 6))
    kin = kinematics(model, State(*map(order, poses)))
    mass = model.inertia[:, 5, 5]
    com = apply(kin.R, np.broadcast_to(first_moment(model.inertia) / mass[:, None], kin.p.shape)) + kin.p
    speed = kin.V[..., 3:] + cross(kin.V[..., :3], com)
    for found, each in zip(centre(kin), (com + kin.origin[..., None, :], speed), strict=True):
        np.testing.assert_allclose(found, mass @ each / mass.sum(), atol=1e-12)


@pytest.mark.parametrize("count", trees.SIZES)
def test_a_step_of_a_batch_is_that_of_each_and_stays_in_lanes(count):
    """Muscles and limits; what a step hands on to the next lies as it needs it."""
    scene = trees.scene(count, 6)

    def two_steps(state):
        run = Run(0, state)
        for _ in range(2):
            run = step(scene.model, scene.reference, scene.forces, trees.GRAVITY, run)
        return run

    start, together = scene.run.state, two_steps(scene.run.state)
    state = together.state
    assert all(laned(x) for x in (state.rotation, state.position, state.twist, together.acceleration))
    for i in (0, 5):
        alone = two_steps(State(start.rotation[i], start.position[i], start.twist[i])).state
        for name in ("rotation", "position", "twist"):
            one = getattr(alone, name)
            np.testing.assert_allclose(getattr(state, name)[i], one, rtol=0, atol=1e-9 * np.abs(one).max())


def test_bodies_side_by_side_move_as_each_does(rng):
    """Joints of every kind, several roots and bodies that nothing moves, against the dense solver of one."""
    for n in (1, 4, 14, 30):
        model = mixed(rng, n)
        model = Model(model.names, np.where(rng.random(n) < 0.1, -1, model.parent), model.joints, model.inertia)
        state = State(exp(rng.normal(size=(3, n, 3))), rng.normal(size=(3, n, 3)), rng.normal(size=(3, n, 6)))
        load = Load.zero(model, trees.GRAVITY, (3,))
        load.add_joint(rng.normal(size=(3, n, 6)), np.broadcast_to(np.eye(6), (3, n, 6, 6)))
        together = forward_tree(model, kinematics(model, state), load)
        for k in range(3):
            one = State(state.rotation[k], state.position[k], state.twist[k])
            own = Load.zero(model, trees.GRAVITY)
            own.add_joint(load.force[k], load.Z[k])
            alone = forward_dense(model, kinematics(model, one), own)
            np.testing.assert_allclose(together[k], alone, rtol=1e-8, atol=1e-9 * np.abs(alone).max(initial=1.0))
