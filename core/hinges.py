"""Elbows and knees: about which axis they bend, and how far they are bent."""

from dataclasses import dataclass

import numpy as np

from .actor import Actor, base_role
from .rotation import Array, conjugate, cross, rotate

UPPER = {"forearm": "upper_arm", "shin": "thigh"}
STRAIGHT = np.sin(np.radians(10.0))  # a limb straighter than this says nothing about its plane


@dataclass(frozen=True, eq=False)
class Hinges:
    """Joints that bend about one axis.

    bodies: (m,).  axis: (m, 3) body frame, unit; turning about it bends.  flexion: (T, m) angle from straight [rad].
    """

    bodies: np.ndarray
    axis: Array
    flexion: Array


def find(actor: Actor, moving: np.ndarray, q: Array, p: Array) -> Hinges:
    """Hinges among the `moving` (n,) bodies from their world poses (T, n, 4), (T, n, 3).

    The axis is the mean normal of the bend over the clip; a limb that stays straight gets the anatomical one (shins go
    backward, forearms forward, in the rest pose).
    """
    bodies, axes, flexion = [], [], []
    for i in np.flatnonzero(moving):
        upper = _upper(actor, int(i))
        if upper < 0 or not np.any(actor.axis[i]):
            continue
        above = _unit(p[:, i] - p[:, upper])
        below = _unit(rotate(q[:, i], actor.axis[i]))
        normal = cross(above, below)
        mean = rotate(conjugate(q[:, i]), normal).mean(axis=0)
        anatomical = _anatomical(actor, int(i))
        axis = mean if np.linalg.norm(mean) > STRAIGHT else anatomical
        axis = axis / np.linalg.norm(axis)
        if axis @ anatomical < -0.5 and np.linalg.norm(mean) < np.sin(np.radians(25.0)):
            axis = -axis  # slightly beyond straight
        world = rotate(q[:, i], axis)
        bodies.append(int(i))
        axes.append(axis)
        flexion.append(np.arctan2(np.einsum("ti,ti->t", world, normal), np.einsum("ti,ti->t", above, below)))
    if not bodies:
        return Hinges(np.zeros(0, dtype=int), np.zeros((0, 3)), np.zeros((len(q), 0)))
    return Hinges(np.array(bodies), np.array(axes), np.stack(flexion, axis=-1))


def _upper(actor: Actor, body: int) -> int:
    """The limb's upper segment above a forearm or shin, -1 for other bodies."""
    wanted = UPPER.get(base_role(actor.roles[body]))
    up = int(actor.parent[body])
    while wanted and up >= 0 and base_role(actor.roles[up]) != wanted:
        up = int(actor.parent[up])
    return up if wanted else -1


def _anatomical(actor: Actor, body: int) -> Array:
    """Bending axis at rest, body frame."""
    rest = actor.skeleton.rotation[actor.order[body]]
    segment = rotate(rest, actor.axis[body])
    ahead = actor.sign * np.asarray(actor.anatomy.forward)
    axis = np.cross(segment, ahead if base_role(actor.roles[body]) == "forearm" else -ahead)
    if np.linalg.norm(axis) < 0.1 * np.linalg.norm(segment):
        axis = actor.sign * np.asarray(actor.anatomy.left)
    return _unit(rotate(conjugate(rest), axis))


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)
