"""From the demo character's half cage to its skin: mirror, subdivide, sculpt."""

from dataclasses import dataclass

import numpy as np

from .demo_mesh import half_cage
from .demo_shape import DENTS
from .demo_skeleton import DEFORM_BONES, mirrored_name

SUBDIVISIONS = 2
INFLUENCES = 4       # bones a vertex follows at most, as game engines want it


@dataclass(frozen=True)
class Skin:
    """points: (n, 3) m. weights: (n, bones) rows sum to 1. loops: vertex per corner, quads. materials: per quad."""

    points: np.ndarray
    weights: np.ndarray
    quads: np.ndarray
    materials: np.ndarray


def build():
    """Return the finished `Skin`, the same to the last bit every time."""
    values, loops, sizes, materials = _whole_cage()
    for _ in range(SUBDIVISIONS):
        values, loops, sizes, materials = subdivide(values, loops, sizes, materials)
    points, weights = values[:, :3].copy(), values[:, 3:].copy()
    _sculpt(points)
    points[:, 2] = np.maximum(points[:, 2], 0.0)                     # flat soles
    least = np.argsort(weights, axis=1, kind="stable")[:, :-INFLUENCES]
    np.put_along_axis(weights, least, 0.0, axis=1)
    weights[weights < 1e-4] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    return Skin(points, weights, loops.reshape(-1, 4), materials)


def _whole_cage():
    """The half cage and its mirror image: values (n, 3 + bones), corner vertices, face sizes, materials."""
    cage = half_cage()
    column = {name: 3 + k for k, name in enumerate(DEFORM_BONES)}
    left = np.zeros((len(cage.points), 3 + len(DEFORM_BONES)))
    left[:, :3] = cage.points
    for row, weights in zip(left, cage.weights, strict=True):
        for bone, weight in weights.items():
            row[column[bone]] += weight
    right = left[:, [0, 1, 2] + [column[mirrored_name(bone)] for bone in DEFORM_BONES]]
    right[:, 0] *= -1
    own = np.abs(left[:, 0]) > 1e-9                                          # the others lie in the middle: shared
    other = np.where(own, len(left) + np.cumsum(own) - 1, np.arange(len(left)))
    faces = cage.faces + [tuple(other[i] for i in reversed(face)) for face in cage.faces]
    loops = np.array([i for face in faces for i in face])
    used, loops = np.unique(loops, return_inverse=True)              # points inside the arms' openings are not
    values = np.vstack([left, right[own]])[used]
    return values, loops.reshape(-1), np.array([len(face) for face in faces]), np.array(cage.materials * 2)


def subdivide(values, loops, sizes, materials):
    """One step of Catmull and Clark (1978) on a closed mesh; `values` may hold any attributes beside the position."""
    face_of = np.repeat(np.arange(len(sizes)), sizes)
    first = np.cumsum(sizes) - sizes
    corner = np.arange(len(loops)) - first[face_of]
    following = first[face_of] + (corner + 1) % sizes[face_of]
    preceding = first[face_of] + (corner - 1) % sizes[face_of]
    ends = np.sort(np.stack([loops, loops[following]], axis=1), axis=1)
    edges, edge_of = np.unique(ends, axis=0, return_inverse=True)
    edge_of = edge_of.reshape(-1)
    face_points = _mean(values[loops], face_of, len(sizes))
    middles = values[edges].mean(axis=1)
    edge_points = (middles + _mean(face_points[face_of], edge_of, len(edges))) / 2
    valence = np.bincount(loops, minlength=len(values))[:, None]
    around = _mean(face_points[face_of], loops, len(values))
    spokes = _mean(middles[edge_of], loops, len(values)) + _mean(middles[edge_of[preceding]], loops, len(values))
    moved = (around + spokes + (valence - 3) * values) / valence
    e, f = len(values), len(values) + len(edges)
    quads = np.stack([loops, e + edge_of, f + face_of, e + edge_of[preceding]], axis=1)
    result = np.vstack([moved, edge_points, face_points])
    return result, quads.reshape(-1), np.full(len(quads), 4), materials[face_of]


def _mean(rows, group, count):
    """Mean of the rows of each group."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(count))
    return np.add.reduceat(rows[order], starts, axis=0) / np.bincount(group, minlength=count)[:, None]


def _sculpt(points):
    """Push the surface in and out where the cage is too coarse for it."""
    before = points.copy()
    for centre, widths, push in DENTS:
        for side in (1, -1) if centre[0] else (1,):
            mirror = np.array((side, 1, 1))
            distance = (before - centre * mirror) / widths
            points += np.exp(-0.5 * (distance**2).sum(axis=1))[:, None] * (push * mirror)
