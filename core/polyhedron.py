"""Volume, centre of mass and inertia of closed triangle meshes.

The integrals of 1, x, x x^T over a solid are sums over its triangles of signed tetrahedra with the origin (Mirtich
1996, Eberly 2009 in the form of tetrahedra): exact for polyhedra, any orientation counts with its sign.
"""

import numpy as np

from .rotation import Array, cross

TABLE = 1000  # vertices up to which a table of all pairs is the quickest way to look edges up


def welded(vertices: Array) -> tuple[Array, np.ndarray]:
    """(points (P, 3), number (V,) of the point at each vertex): vertices (V, 3) at one place are one point."""
    order = np.lexsort(vertices.T)
    ranked = vertices[order]
    new = np.concatenate(([True], np.any(ranked[1:] != ranked[:-1], axis=1)))
    number = np.empty(len(vertices), dtype=int)
    number[order] = np.cumsum(new) - 1
    return ranked[new], number


def moments(triangles: Array) -> tuple[float, Array, Array]:
    """(volume, first moment (3,), second moment (3, 3)) of the solid inside triangles (M, 3, 3), about the origin.

    second moment = integral of x x^T dV.  Outward triangles give a positive volume.
    """
    if len(triangles) == 0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    six = np.einsum("ti,ti->t", a, cross(b, c))  # six times the signed volume of each tetrahedron
    total = a + b + c
    first = np.einsum("t,ti->i", six, total) / 24.0
    # integral over a tetrahedron (0, a, b, c): V/20 (sum of v v^T + s s^T), s = a + b + c
    second = sum((six[:, None] * v).T @ v for v in (a, b, c, total)) / 120.0
    return float(six.sum() / 6.0), first, np.asarray(second)


def close(triangles: np.ndarray, vertices: Array) -> Array:
    """Corners (M', 3, 3) of the surface with its holes closed.

    triangles: (M, 3) vertex indices, vertices: (V, 3).  Every boundary loop (edges whose reverse no triangle has) is
    closed by a fan to the mean of its corners; loops that touch are told apart as far as edges can.
    """
    corners = vertices[triangles]
    edges: np.ndarray = np.concatenate((triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]))
    key, reverse = edges @ (len(vertices), 1), edges @ (1, len(vertices))
    boundary = edges[~np.isin(key, reverse, kind="table" if len(vertices) < TABLE else "sort")]
    if len(boundary) == 0:
        return corners
    label = _components(boundary)
    count = np.bincount(label)
    ends = vertices[boundary]
    middle: Array = np.stack([np.bincount(label, weights=ends[:, :, k].mean(axis=1)) for k in range(3)], axis=1)
    middle = middle / count[:, None]
    # The hole's edge runs the other way round, so that the patch has the surface's orientation.
    patches = np.stack((ends[:, 1], ends[:, 0], middle[label]), axis=1)
    return np.concatenate((corners, patches))


def _components(edges: np.ndarray) -> np.ndarray:
    """(E,) for every edge (E, 2) the number of the connected piece it lies in, from 0."""
    points, ends = np.unique(edges, return_inverse=True)
    ends = ends.reshape(edges.shape)
    label: np.ndarray = np.arange(len(points))
    while True:  # every pass carries the smallest label across edges and then jumps to its root
        low = label[ends].min(axis=1)
        new = label.copy()
        np.minimum.at(new, ends[:, 0], low)
        np.minimum.at(new, ends[:, 1], low)
        new = new[new]
        if np.array_equal(new, label):
            break
        label = new
    return np.unique(label[ends[:, 0]], return_inverse=True)[1].reshape(-1)


def inertia(volume: float, first: Array, second: Array) -> tuple[Array, Array]:
    """(centre of mass (3,), inertia (3, 3) about it for unit density) of moments about the origin."""
    com = first / volume
    second = second - volume * np.outer(com, com)
    return com, np.trace(second) * np.eye(3) - second


def capsule(length: float, radius: float) -> tuple[float, Array]:
    """(volume, (axial, transverse) inertia about the middle for unit density) of a cylinder with round ends."""
    tube = np.pi * radius**2 * length
    ball = 4.0 / 3.0 * np.pi * radius**3
    axial = tube * radius**2 / 2.0 + ball * 2.0 * radius**2 / 5.0
    transverse = tube * (length**2 / 12.0 + radius**2 / 4.0)
    transverse += ball * (2.0 * radius**2 / 5.0 + length**2 / 4.0 + 3.0 * length * radius / 8.0)
    return tube + ball, np.array([axial, transverse])
