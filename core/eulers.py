"""Euler angles as Blender has them: an order such as "XYZ" names the axes in the order in which it turns about them."""

import numpy as np

from . import rotation
from .rotation import Array

TAU = 2.0 * np.pi


def axes_of(order: str) -> tuple[int, int, int]:
    """("XYZ" ...) -> axis indices in the order in which Blender turns about them."""
    return "XYZ".index(order[0]), "XYZ".index(order[1]), "XYZ".index(order[2])


def to_quaternion(order: str, euler: Array) -> Array:
    """Blender's Euler angles [rad], stored x, y, z whatever the order: (..., 3) -> (..., 4)."""
    q = None
    for axis in axes_of(order):
        turn = np.zeros(euler.shape[:-1] + (4,))
        turn[..., 0] = np.cos(0.5 * euler[..., axis])
        turn[..., 1 + axis] = np.sin(0.5 * euler[..., axis])
        q = turn if q is None else rotation.multiply(turn, q)
    assert q is not None
    return q


def branches(order: str, q: Array) -> tuple[Array, Array]:
    """Both Euler triples (..., 3) of the rotations q."""
    i, j, k = axes_of(order)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    m = rotation.to_matrix(rotation.normalize(q))
    cosine = np.hypot(m[..., i, i], m[..., j, i])
    first, second = np.empty(q.shape[:-1] + (3,)), np.empty(q.shape[:-1] + (3,))
    first[..., i] = np.arctan2(sign * m[..., k, j], m[..., k, k])
    first[..., j] = np.arctan2(-sign * m[..., k, i], cosine)
    first[..., k] = np.arctan2(sign * m[..., j, i], m[..., i, i])
    second[..., i] = first[..., i] + np.pi
    second[..., j] = np.pi - first[..., j]
    second[..., k] = first[..., k] + np.pi
    return first, second


def angles(order: str, q: Array) -> Array:
    """(..., 3) of both triples the one that Blender takes: whose angles, within half a turn, are smaller in sum."""
    first, second = (turn - TAU * np.round(turn / TAU) for turn in branches(order, q))
    smaller = np.abs(first).sum(axis=-1) <= np.abs(second).sum(axis=-1)
    return np.where(smaller[..., None], first, second)
