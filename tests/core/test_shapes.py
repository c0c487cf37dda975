"""Solids against numeric integration over a fine grid, and against each other."""

import numpy as np
import pytest

from core import shapes
from core.errors import ModelError
from core.rotation import exp, to_matrix

from .figures import CUBE, FACES

CELLS = 120


def integrated(inside, low, high, density=shapes.DENSITY):
    """(mass, com, inertia about it) of where inside(points) holds, by the midpoints of a grid of cells."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    axes = [a + (b - a) * (np.arange(CELLS) + 0.5) / CELLS for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    points = points[inside(points)]
    dm = density * np.prod((high - low) / CELLS)
    com = points.mean(axis=0)
    d = points - com
    second = dm * d.T @ d
    return dm * len(points), com, np.trace(second) * np.eye(3) - second


def near_capsule(axis, radius):
    def inside(points):
        t = np.clip(points @ axis / (axis @ axis), 0.0, 1.0)
        return np.linalg.norm(points - t[:, None] * axis, axis=-1) < radius

    return inside


@pytest.mark.parametrize(
    ("solid", "inside", "low", "high"),
    [
        (shapes.box([0.3, 0.1, 0.2]), lambda x: np.all(np.abs(x) < [0.15, 0.05, 0.1], axis=1), [-0.2] * 3, [0.2] * 3),
        (
            shapes.ellipsoid([0.3, 0.1, 0.2]),
            lambda x: np.sum((x / [0.3, 0.1, 0.2]) ** 2, axis=1) < 1.0,
            [-0.3, -0.1, -0.2],
            [0.3, 0.1, 0.2],
        ),
        (
            shapes.capsule([0.3, 0.1, -0.2], 0.08),
            near_capsule(np.array([0.3, 0.1, -0.2]), 0.08),
            [-0.1, -0.1, -0.3],
            [0.4, 0.2, 0.1],
        ),
    ],
    ids=["box", "ellipsoid", "capsule"],
)
def test_solids_equal_their_integrals(solid, inside, low, high):
    mass, com, inertia = integrated(inside, low, high)
    assert solid.mass == pytest.approx(mass, rel=0.02)
    np.testing.assert_allclose(solid.com, com, atol=1e-3)
    np.testing.assert_allclose(solid.inertia, inertia, atol=0.02 * np.trace(inertia))


def test_a_mesh_of_a_box_is_the_box_wherever_it_lies_and_whichever_way_round():
    size = np.array([0.3, 0.1, 0.2])
    want = shapes.box(size)
    R, p = to_matrix(exp(np.array([0.4, -1.0, 0.3]))), np.array([30.0, -40.0, 5.0])
    vertices = ((CUBE - 0.5) * size) @ R.T + p
    for faces in (FACES, FACES[:, ::-1], FACES[1:]):  # the last has a hole
        got = shapes.mesh(faces, vertices)
        moved = want.moved(R, p)
        assert got.mass == pytest.approx(want.mass, rel=1e-9)
        np.testing.assert_allclose(got.com, moved.com, atol=1e-9)
        np.testing.assert_allclose(got.inertia, moved.inertia, rtol=1e-7, atol=1e-9)


def test_a_fine_mesh_of_a_ball_approaches_the_ellipsoid():
    theta, phi = np.linspace(0, np.pi, 61), np.linspace(0, 2 * np.pi, 121)[:-1]
    grid = np.stack(np.meshgrid(theta, phi, indexing="ij"), axis=-1)
    t, f = grid[..., 0], grid[..., 1]
    vertices = np.stack((np.sin(t) * np.cos(f), np.sin(t) * np.sin(f), np.cos(t)), axis=-1).reshape(-1, 3)
    rows, columns = np.meshgrid(np.arange(60), np.arange(120), indexing="ij")
    a, b = rows * 120 + columns, rows * 120 + (columns + 1) % 120
    faces = np.concatenate([np.stack(c, axis=-1).reshape(-1, 3) for c in ((a, a + 120, b), (b, a + 120, b + 120))])
    got, want = shapes.mesh(faces, 0.2 * vertices), shapes.ellipsoid([0.2] * 3)
    assert got.mass == pytest.approx(want.mass, rel=3e-3)
    np.testing.assert_allclose(got.inertia, want.inertia, atol=5e-3 * np.trace(want.inertia))


def test_a_capsule_without_a_length_is_a_ball():
    got, want = shapes.capsule(np.zeros(3), 0.2), shapes.ellipsoid([0.2] * 3)
    assert got.mass == pytest.approx(want.mass)
    np.testing.assert_allclose(got.inertia, want.inertia, rtol=1e-12, atol=1e-15)


def test_two_halves_make_the_whole():
    whole = shapes.box([0.4, 0.1, 0.2])
    half = shapes.box([0.2, 0.1, 0.2])
    both = half.moved(np.eye(3), np.array([0.1, 0, 0])) + half.moved(np.eye(3), np.array([-0.1, 0, 0]))
    assert both.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(both.inertia, whole.inertia, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose((whole + whole).spatial(), 2.0 * whole.spatial())


def test_a_thin_link_is_thickened_about_its_length_only():
    bone = shapes.capsule([0.0, 0.4, 0.0], 0.01)
    thick = shapes.thickened(bone.inertia, np.array([0.0, 1.0, 0.0]), part=0.1)
    assert thick[1, 1] == pytest.approx(0.1 * bone.inertia[0, 0])
    np.testing.assert_allclose(np.delete(np.diag(thick), 1), np.delete(np.diag(bone.inertia), 1))
    ball = shapes.ellipsoid([0.1] * 3).inertia
    np.testing.assert_allclose(shapes.thickened(ball, np.array([1.0, 2.0, 3.0])), ball)


def test_solids_without_volume_are_refused():
    with pytest.raises(ModelError, match="above 0 m"):
        shapes.box([0.1, 0.0, 0.1])
    with pytest.raises(ModelError, match="encloses no volume"):
        shapes.mesh(FACES[:2], CUBE)
    with pytest.raises(ModelError, match="encloses no volume"):
        shapes.mesh(FACES[:0], CUBE[:0])
    with pytest.raises(ModelError, match="An ellipsoid of size"):
        shapes.ellipsoid([0.1, np.inf, 0.1])
    for wrong in (lambda: shapes.box([1.0, 2.0]), lambda: shapes.capsule([0.0, np.nan, 1.0], 0.1)):
        with pytest.raises(ValueError, match="expected"):
            wrong()
