"""Elbows and knees: about which axis they bend, and how far they are bent."""

from dataclasses import dataclass

import numpy as np

from .actor import Actor
from .lanes import apply, dot
from .roles import base_role
from .rotation import Array, cross

UPPER = {"forearm": "upper_arm", "shin": "thigh"}
STRAIGHT = np.sin(np.radians(10.0))  # a limb straighter than this says nothing about its plane
SLIGHT = np.sin(np.radians(25.0))  # no limb hyperextends further


@dataclass(frozen=True, eq=False)
class Hinges:
    """Joints that bend about one axis.

    bodies: (m,).  uppers: (m,) the segments above them.  axis: (m, 3) body frame, unit; turning about it bends.
    """

    bodies: np.ndarray
    uppers: np.ndarray
    axis: Array


def find(actor: Actor, moving: np.ndarray, R: Array, p: Array) -> Hinges:
    """Hinges among the `moving` (n,) bodies from their world axes (T, n, 3, 3) and origins (T, n, 3).

    The axis is the mean normal of the bend over the clip; a limb that stays straight gets the anatomical one (shins go
    backward, forearms forward, in the rest pose).
    """
    bodies, uppers, axes = [], [], []
    for i in np.flatnonzero(moving):
        upper = _upper(actor, int(i))
        if upper < 0 or not np.any(actor.axis[i]):
            continue
        normal = cross(*_segments(actor, int(i), upper, R, p))
        mean = np.einsum("tji,tj->i", R[:, i], normal) / len(R)
        anatomical = actor.hinge_axis(int(i))
        axis = mean if np.linalg.norm(mean) > STRAIGHT else anatomical
        axis = axis / np.linalg.norm(axis)
        if axis @ anatomical < -0.5 and np.linalg.norm(mean) < SLIGHT:
            axis = -axis  # slightly beyond straight
        bodies.append(int(i))
        uppers.append(upper)
        axes.append(axis)
    return Hinges(np.array(bodies, dtype=int), np.array(uppers, dtype=int), np.array(axes).reshape(-1, 3))


def bend(actor: Actor, hinges: Hinges, R: Array, p: Array) -> Array:
    """(T, m) flexion from straight [rad] from world axes (T, n, 3, 3) and origins (T, n, 3)."""
    above, below = _segments(actor, hinges.bodies, hinges.uppers, R, p)
    sine = dot(apply(R[:, hinges.bodies], hinges.axis), cross(above, below))
    return np.asarray(np.arctan2(sine, dot(above, below)))


def _segments(actor: Actor, body: int | np.ndarray, upper: int | np.ndarray, R: Array, p: Array) -> tuple[Array, Array]:
    """World directions (T, ..., 3) of the upper segments and of those below the hinges."""
    return _unit(p[:, body] - p[:, upper]), _unit(apply(R[:, body], actor.axis[body]))


def _upper(actor: Actor, body: int) -> int:
    """The limb's upper segment above a forearm or shin, -1 for other bodies."""
    wanted = UPPER.get(base_role(actor.roles[body]))
    up = int(actor.parent[body])
    while wanted and up >= 0 and base_role(actor.roles[up]) != wanted:
        up = int(actor.parent[up])
    return up if wanted else -1


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)
