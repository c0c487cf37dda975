"""Heels that rise where a body is before its feet: plain geometry."""

import numpy as np

from .lanes import dot
from .rotation import Array, cross
from .support import smooth

STEEPEST = 0.9  # [rad] by which a heel rises at most


def before(toes: Array, way: Array, lifted: Array | float = 0.0) -> tuple[Array, Array]:
    """How far a body is before a foot (...,), 1 where its hip is over the toes, or where it is lifted (...,), and the
    axis (..., 3) about which the heel then rises.  Toes that are not before their ankle raise nothing.

    toes, way: (..., 3) to the toes and to the hip, from the ankle.
    """
    long, along, ahead = _over(toes, way)
    return np.asarray(long * (1.0 - (1.0 - smooth(along)) * (1.0 - lifted))), cross(np.array([0.0, 0.0, 1.0]), ahead)


def holds(toes: Array, way: Array) -> Array:
    """How much a foot holds its body down (...,): 1 where it is flat and the hip not before it; where its heel rises,
    or stands steep already, about to leave the ground, nothing.  toes, way: as `before`."""
    long, along, _ = _over(toes, way)
    return np.asarray(long * (1.0 - smooth(along)))


def flat(toes: Array) -> Array:
    """How flat feet are (...,): 0 where toes, (..., 3) from the ankle, are right under it."""
    return np.asarray(smooth(np.linalg.norm(toes[..., :2], axis=-1) / np.maximum(-toes[..., 2], 1e-6)))


def _over(toes: Array, way: Array) -> tuple[Array, Array, Array]:
    """How flat a foot is (...,), 0 where its toes are under the ankle, which have no direction there; how far the hip
    is along it (...,), as part of its length; and the level direction (..., 3) of its toes."""
    level = toes * [1.0, 1.0, 0.0]
    length = np.maximum(np.linalg.norm(level, axis=-1), 1e-6)
    ahead = level / length[..., None]
    return flat(toes), dot(way, ahead) / length, ahead


def steep(hip: Array, ankle: Array, axis: Array, reached: Array) -> Array:
    """(T,) by how much a foot must turn for its ankle to be so far from the hip (T,): as little as it can [rad].

    hip, ankle: (T, 3) from the toes, about which it turns.  axis: (T, 3) unit, level.
    """
    along = np.einsum("ti,ti->t", hip, axis) * np.einsum("ti,ti->t", ankle, axis)
    size = 0.5 * (np.einsum("ti,ti->t", hip, hip) + np.einsum("ti,ti->t", ankle, ankle) - reached**2) - along
    flat = [x - axis * np.einsum("ti,ti->t", x, axis)[:, None] for x in (hip, ankle)]
    most = np.maximum(np.linalg.norm(flat[0], axis=-1) * np.linalg.norm(flat[1], axis=-1), 1e-12)
    turn = np.arctan2(np.einsum("ti,ti->t", cross(flat[1], flat[0]), axis), np.einsum("ti,ti->t", flat[0], flat[1]))
    return np.asarray(turn - np.arccos(np.clip(size / most, -1.0, 1.0)))


def lower(way: Array, reached: Array) -> Array:
    """(T,) how much lower a hip must get for its leg to reach.  way: (T, 3) from the foot to it."""
    across = np.einsum("ti,ti->t", way[:, :2], way[:, :2])
    return np.maximum(way[:, 2] - np.sqrt(np.maximum(reached**2 - across, 0.0)), 0.0)
