"""Heels that rise where a body is before its feet: plain geometry."""

import numpy as np

from .rotation import Array, cross
from .support import smooth


def before(toes: Array, way: Array) -> tuple[Array, Array]:
    """How far a body is before a foot (...,), 1 where its hip is over the toes, and the axis (..., 3) about which the
    heel then rises.  Toes that are not before their ankle raise nothing.

    toes, way: (..., 3) to the toes and to the hip, from the ankle.
    """
    flat = toes * [1.0, 1.0, 0.0]
    length = np.maximum(np.linalg.norm(flat, axis=-1), 1e-6)
    ahead = flat / length[..., None]
    along = np.einsum("...i,...i->...", way, ahead) / length
    long = smooth(length / np.maximum(-toes[..., 2], 1e-6))
    return np.asarray(long * smooth(along)), cross(np.array([0.0, 0.0, 1.0]), ahead)


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
