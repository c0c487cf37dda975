"""Feet that stand: what holds them turns about their toes, and how far a heel must rise for its leg to reach."""

from dataclasses import replace

import numpy as np
import pytest

from core.forces import Heels, Track, WorldSpring
from core.heels import before, holds, steep
from core.model import State
from core.react import Hit
from core.rotation import exp, rotate
from core.settling import DEEPEST, Settling

from .figures import build
from .test_forces import load_of, moment_of, one_body, standing, tumbling
from .test_react import displacement, hit_on
from .test_react import standing as at_rest

TOES = np.array([0.2, 0.0, -0.1])
PART = 0.1


def heeled(model, reference, points, stiffness=1e4, damping=1e2):
    """Every body held at a point, easier to turn in the positive sense about the world's y axis."""
    bodies = np.arange(model.n)
    axis, part = np.tile([0.0, 1.0, 0.0], (reference.steps, model.n, 1)), np.full((reference.steps, model.n), PART)
    K, D = (np.tile(size * np.eye(6), (model.n, 1, 1)) for size in (stiffness, damping))
    return WorldSpring(bodies, K, D, Track.of_clip(model, reference, bodies, points), points, Heels(axis, part))


def test_a_foot_that_follows_its_clip_feels_nothing(rng):
    model, reference = tumbling()
    force = heeled(model, reference, 0.2 * rng.normal(size=(model.n, 3)))
    for k in (0, 20):
        step = moment_of(model, reference, reference.state(k), k)
        load = load_of(force, step)
        held = load.wrench - np.einsum("nij,nj->ni", load.body_Z, _world(model, reference, k))
        assert np.abs(held).max() < 1e-6 * np.abs(load.body_Z).max()


def _world(model, reference, k):
    """(n, 6) the clip's accelerations in the shared frame, velocity products included."""
    step = moment_of(model, reference, reference.state(k), k)
    return model.ancestor @ (step.passing.c + np.einsum("nij,nj->ni", step.kin.X, reference.acceleration[k]))


@pytest.mark.parametrize(("turn", "part"), [(0.1, PART), (-0.1, 1.0)])
def test_a_heel_rises_more_easily_than_it_sinks_and_toes_stay(turn, part):
    """About its toes a foot is turned back by the heel's part; away from them its toes are held alike."""
    model = one_body()
    reference = standing(model, 2, 1.0 / 120.0)
    q = exp(np.array([[0.0, turn, 0.0]]))
    about = State(q, (TOES - rotate(q[0], TOES))[None], np.zeros((1, 6)))
    force = heeled(model, reference, TOES[None])
    wrench = load_of(force, moment_of(model, reference, about)).wrench[0]
    np.testing.assert_allclose(wrench, [0.0, -1e4 * part * turn, 0.0, 0.0, 0.0, 0.0], atol=1e-9)
    moved = State(q, about.position + [0.02, 0.0, 0.01], np.zeros((1, 6)))
    wrench = load_of(force, moment_of(model, reference, moved)).wrench[0]
    np.testing.assert_allclose(wrench[3:], [-200.0, 0.0, -100.0])


def test_a_heel_rises_as_far_as_its_leg_lacks(rng):
    """The ankle, turned about the toes by what is found, is as far from the hip as the leg reaches."""
    ankle = np.tile(-TOES, (20, 1))
    axis = np.tile([0.0, 1.0, 0.0], (20, 1))  # toes along x: the heel rises
    hip = np.array([0.3, 0.0, 0.8]) + rng.uniform(-0.1, 0.1, (20, 3))
    reached = np.linalg.norm(hip - ankle, axis=-1) - rng.uniform(0.0, 0.08, 20)
    turn = steep(hip, ankle, axis, reached)
    assert (turn > -1e-9).all() and turn.max() > 0.2
    there = rotate(exp(turn[:, None] * axis), ankle)
    np.testing.assert_allclose(np.linalg.norm(hip - there, axis=-1), reached, atol=1e-12)
    assert (there[:, 2] >= ankle[:, 2] - 1e-12).all()


@pytest.mark.parametrize("ahead", [0.3, -0.3])
def test_toes_that_pass_under_their_ankle_change_little(ahead):
    """They have no direction there: a steep foot neither raises its heel nor holds the body down at once."""
    toes = np.stack((np.linspace(-0.005, 0.005, 101), np.zeros(101), np.full(101, -0.1)), axis=-1)
    way = np.array([ahead, 0.0, 0.8])
    for part in (before(toes, way)[0], holds(toes, way)):
        assert np.abs(np.diff(part)).max() < 1e-3 and part.max() < 0.01
    flat = np.array([0.2, 0.0, -0.1])
    assert holds(flat, way) == 1.0 - before(flat, way)[0] == (ahead < 0.0)


def test_what_brakes_a_heel_does_not_jump_where_it_begins_to_rise():
    """At no turn, while it turns, the force is the same from both sides; once it is up it is braked by the root of its
    part, so that the damping ratio stays."""
    model = one_body()
    reference = standing(model, 2, 1.0 / 120.0)
    force = heeled(model, reference, TOES[None], stiffness=0.0)
    loads = []
    for turn in (-1e-9, 1e-9, 0.2):
        q = exp(np.array([[0.0, turn, 0.0]]))
        twist = np.array([[0.0, 1.0, 0.0, *np.cross(TOES, [0.0, 1.0, 0.0])]])
        about = State(q, (TOES - rotate(q[0], TOES))[None], twist)
        loads.append(load_of(force, moment_of(model, reference, about)))
    below, above, up = (load.wrench[0, 1] for load in loads)
    assert below < -10.0
    np.testing.assert_allclose(above, below, rtol=1e-6)
    np.testing.assert_allclose(loads[1].body_Z, loads[0].body_Z, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(up, np.sqrt(PART) * below, rtol=1e-6)


@pytest.mark.parametrize("part", [1.0, 0.4])
def test_hips_sink_the_less_the_shorter_legs_are(monkeypatch, part):
    """Whatever a leg lacks: 6 cm are a fifteenth of a leg of 0.9 m, and a fifth of KayKit's."""
    clip, figure = at_rest(build(skin=True)), build(skin=True)
    reaction = hit_on(figure, "chest_front", clip=clip, hit=Hit(25.0, impulse=40.0))
    footing, length = reaction.footing, reaction.footing.stance.length
    plain = displacement(reaction, clip, footing.base)[:, 2]
    short = replace(reaction, footing=replace(footing, stance=replace(footing.stance, length=part * length)))
    monkeypatch.setattr(Settling, "_lacks", lambda *args: np.ones(len(args[3])))
    sunk = plain - displacement(short, clip, footing.base)[:, 2]
    assert sunk.max() == pytest.approx(DEEPEST * part * length.mean(), rel=0.05)
