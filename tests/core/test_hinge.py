"""The hinge-centred recursion of Armstrong & Green 1985 against both other solvers and the equation of motion."""

from dataclasses import replace

import numpy as np
import pytest

from core.dynamics import Load, forward_dense, forward_tree, hinge, kinematics
from core.dynamics.dense import mass_matrix
from core.errors import ModelError
from core.model import FREE, SPHERICAL, Model, State, revolute
from core.reference import advance
from core.spatial import inertia

from .chains import chain, distance, tumbling
from .trees import motion, tree

GRAVITY = np.array([0.4, -0.2, -9.81])


def some_state(rng, model, batch=()):
    """Random poses and twists, hinges that slide included."""
    times = rng.uniform(0.0, 3.0, batch or (1,))
    q, p = motion(rng, model, times)
    twist = 2.0 * rng.normal(size=batch + (model.n, 6))
    return State(q if batch else q[0], p if batch else p[0], twist)


def some_load(rng, model, batch=()):
    """Gravity, hinge torques, forces and torques on every link, prescribed slides."""
    load = Load.zero(model, GRAVITY, batch)
    load.add_joint(3.0 * rng.normal(size=batch + (model.n, 6)))
    load.add_body(np.arange(model.n), 5.0 * rng.normal(size=batch + (model.n, 6)))
    load.prescribed = np.einsum("nij,...nj->...ni", model.residual, rng.normal(size=batch + (model.n, 6)))
    return load


def residual(model, kin, got, want):
    """Distance of two accelerations as the forces it stands for, relative to the forces at hand."""
    H = mass_matrix(model, kin)
    return np.linalg.norm(H @ (got - want)) / (np.linalg.norm(H) * np.linalg.norm(want))


@pytest.mark.parametrize("free", [True, False], ids=["free root", "hinged root"])
def test_agrees_with_featherstone_on_random_trees(rng, free):
    worst = 0.0
    for _ in range(200):
        model = tree(rng, int(rng.integers(1, 20)), free=free, kinds=("spherical",))
        state, load = some_state(rng, model), some_load(rng, model)
        kin = kinematics(model, state)
        got = hinge.forward(model, state, load)
        worst = max([worst, *(residual(model, kin, got, f(model, kin, load)) for f in (forward_dense, forward_tree))])
    print(f"worst relative residual {worst:.1e}")
    assert worst < 1e-12


def test_every_kind_of_force_matters(rng):
    """The agreement above is not between zeros: leaving out one kind of force changes the answer."""
    model = tree(rng, 8, free=True, kinds=("spherical",))
    state, load = some_state(rng, model), some_load(rng, model)
    whole = hinge.forward(model, state, load)
    for name in ("force", "wrench", "prescribed", "gravity"):
        less = replace(load, **{name: np.zeros_like(getattr(load, name))})
        assert np.abs(hinge.forward(model, state, less) - whole).max() > 1e-2, name
    still = State(state.rotation, state.position, np.zeros_like(state.twist))
    assert np.abs(hinge.forward(model, still, load) - whole).max() > 1e-2


def test_batches_equal_singles(rng):
    model = tree(rng, 9, free=True, kinds=("spherical",))
    state, load = some_state(rng, model, (4,)), some_load(rng, model, (4,))
    together = hinge.forward(model, state, load)
    for i in range(4):
        one = State(state.rotation[i], state.position[i], state.twist[i])
        part = replace(load, **{f: getattr(load, f)[i] for f in ("force", "wrench", "prescribed")})
        np.testing.assert_allclose(hinge.forward(model, one, part), together[i], rtol=1e-10, atol=1e-10)


def test_other_axes_of_the_same_joint(rng):
    """A spherical joint may be written with any three angular axes; the degrees of freedom follow them."""
    plain = tree(rng, 5, kinds=("spherical",))
    turned = tuple(np.pad(rng.normal(size=(3, 3)), ((0, 0), (0, 3))) for _ in range(5))
    model = Model(plain.names, plain.parent, turned, plain.inertia)
    state, load = some_state(rng, model), some_load(rng, model)
    want = forward_tree(model, kinematics(model, state), load)
    np.testing.assert_allclose(hinge.forward(model, state, load), want, rtol=1e-8, atol=1e-8)


def test_bands_apart_equal_the_whole(rng):
    """The slow band once, then other hinge torques: the same as a fresh solution with them (section 4)."""
    model = tree(rng, 7, free=True, kinds=("spherical",))
    state, load = some_state(rng, model), some_load(rng, model)
    band = hinge.slow_band(model, state, load)
    load.add_joint(rng.normal(size=(7, 6)))
    got = hinge.fast_band(model, band, load.force)
    want = forward_tree(model, kinematics(model, state), load)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def banded(model, state, h, steps, every):
    """Eqs 32-38: twists by the fast band in each step, poses by the turns they add up, the slow band every so often."""
    load = Load.zero(model, GRAVITY)
    for k in range(steps):
        if k % every == 0:
            band = hinge.slow_band(model, state, load)
        twist = state.twist + h * model.expand(hinge.fast_band(model, band, load.force))
        state = State(*advance(state, twist, h), twist)
    return state


def test_slow_band_costs_accuracy_in_proportion(rng):
    """v = 1, 2, 4, 8 on a tumbling chain: the error that tardiness adds grows as (v - 1) h, no faster."""
    model = chain(rng, 4, FREE)
    start = tumbling(rng, model)
    fresh = banded(model, start, 1e-3, 240, 1)
    added = [distance(banded(model, start, 1e-3, 240, v), fresh) for v in (2, 4, 8)]
    print("added by v = 2, 4, 8:", [f"{x:.1e}" for x in added])
    assert added[0] > 1e-5
    assert added[1] / added[0] == pytest.approx(3.0, rel=0.15)
    assert added[2] / added[0] == pytest.approx(7.0, rel=0.3)


@pytest.mark.parametrize("joint", [revolute([0, 1, 0]), np.zeros((0, 6)), np.eye(6), np.eye(6)[3:]])
def test_refuses_other_joints_by_name(rng, joint):
    plain = tree(rng, 3, free=True, kinds=("spherical",))
    model = Model(("hips", "arm", "hand"), np.array([-1, 0, 1]), (*plain.joints[:2], joint), plain.inertia)
    with pytest.raises(ModelError, match="'hand' has a joint"):
        hinge.forward(model, some_state(rng, model), Load.zero(model, GRAVITY))


def test_refuses_a_link_that_turns_without_effort(rng):
    """A rod without thickness has no answer about its own axis: the paper falsely enlarges that inertia."""
    along = np.array([0.3, 0.4, 1.2])
    rod = inertia(np.ones(2), np.stack((along / 2, along)), np.stack((np.zeros((3, 3)), np.eye(3))))
    model = Model(("rod", "ball"), np.array([-1, 0]), (SPHERICAL, SPHERICAL), rod)
    state = some_state(rng, model)
    state.position[1] = along
    with pytest.raises(ModelError, match="'rod' can turn"):
        hinge.forward(model, state, Load.zero(model, GRAVITY))


def test_refuses_impedances(rng):
    model = tree(rng, 3, free=True, kinds=("spherical",))
    load = Load.zero(model, GRAVITY)
    load.add_joint(np.zeros((3, 6)), np.zeros((3, 6, 6)))
    with pytest.raises(ValueError, match="without impedances"):
        hinge.forward(model, some_state(rng, model), load)
