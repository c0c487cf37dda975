"""The channel algebra of the NLA's COMBINE blending, and its inverse, in plain numpy.

Blender (`nla_combine_value`, `nla_combine_quaternion` in anim_sys.cc) mixes a strip over what lies below it
    quaternion   normalize(base) * normalize(delta)
    Euler, location, axis-angle   base + delta, component by component
    scale        base * delta
of which it takes the quaternion's angle as acos(w) in float32: below about four degrees that grain shows (0.04 degree
at worst, near zero; zero itself is exact).

The deltas here are what has to be keyed so that the result is the target, and they are continuous in time:
no sign flips of quaternions, no turns and no flips between the two Euler branches.
"""

import numpy as np

from ..core import eulers, rotation
from ..core.eulers import TAU
from ..core.rotation import Array

_GIMBAL = 1e-7  # cosine of the middle angle below which the outer two turn about the same axis
_ROUND_OFF = 1e-9


def quaternion_delta(base: Array, target: Array) -> Array:
    """base, target: (K, 4) -> (K, 4), unit, first key in the half-sphere of the identity."""
    delta = rotation.multiply(rotation.conjugate(rotation.normalize(base)), rotation.normalize(target))
    delta = rotation.continuous(delta)
    return delta if delta[0, 0] >= 0.0 else -delta


def combined(base: Array, over: Array) -> Array:
    """base, over: (K, 4) -> (K, 4), as Blender mixes them, with the grain of its single precision."""
    lower, strip = (rotation.normalize(np.asarray(q, dtype=np.float32)).astype(np.float32) for q in (base, over))
    angle = np.arccos(np.clip(strip[:, :1], -1.0, 1.0))
    length = np.linalg.norm(strip[:, 1:], axis=-1, keepdims=True)
    axis = strip[:, 1:] / np.where(length > 0.0, length, np.float32(1.0))
    turned = np.concatenate((np.cos(angle), np.sin(angle) * axis), axis=-1)
    return rotation.multiply(lower.astype(np.float64), turned.astype(np.float64)).astype(np.float32)


def axis_angle_to_quaternion(axis_angle: Array) -> Array:
    """[angle, x, y, z] as Blender stores it, the axis of any length: (..., 4) -> (..., 4)."""
    length = np.linalg.norm(axis_angle[..., 1:], axis=-1, keepdims=True)
    axis = axis_angle[..., 1:] / np.where(length > 0.0, length, 1.0)
    half = 0.5 * axis_angle[..., :1]
    turned = np.concatenate((np.cos(half), np.sin(half) * axis), axis=-1)
    return np.where(length > 0.0, turned, rotation.IDENTITY)


def euler_delta(order: str, base: Array, target: Array, locked: tuple[bool, bool, bool] = (False,) * 3) -> Array:
    """What must be added to the Euler angles base (K, 3) to reach the rotations target (K, 4).

    Of the two Euler branches and their turns the one nearest to base + the previous key's delta is taken.
    Locked angles stay as the base has them; the others then come as near to the target as they can.
    """
    if any(locked):
        return _fit(order, base, target, np.array(locked))
    first, second = eulers.branches(order, target)
    delta = np.zeros_like(base)
    previous = np.zeros(3)
    for k in range(len(base)):
        options = _unwrap(np.stack((first[k], second[k])) - base[k], previous)
        middle = eulers.axes_of(order)[1]
        if abs(np.cos(first[k][middle])) < _GIMBAL:
            options = np.concatenate((options, _gimbal_option(order, base[k], target[k], previous)[None]))
        previous = options[np.argmin(np.sum((options - previous) ** 2, axis=-1))]
        delta[k] = previous
    delta[np.abs(delta) < _ROUND_OFF] = 0.0
    return delta


def _unwrap(delta: Array, near: Array) -> Array:
    return delta - TAU * np.round((delta - near) / TAU)


def _gimbal_option(order: str, base: Array, target: Array, previous: Array) -> Array:
    """Where the outer axes coincide: keep the first angle where it was going, and solve for the last."""
    i, j, k = eulers.axes_of(order)
    wanted = base + previous
    middle = eulers.branches(order, target)[0][j]
    middle = wanted[j] + _unwrap(middle - wanted[j], np.zeros(()))
    inner = np.array([0.0, 0.0, 0.0])
    inner[i], inner[j] = wanted[i], middle
    rest = rotation.multiply(target, rotation.conjugate(eulers.to_quaternion(order, inner)))
    out = inner.copy()
    out[k] = 2.0 * np.arctan2(rest[1 + k], rest[0])
    return _unwrap(out - base, previous)


def _fit(order: str, base: Array, target: Array, locked: Array) -> Array:
    """The delta (K, 3) of the free angles that leaves the least rotation to the target (K, 4).

    The cosine of half the angle left over is bilinear in the half-angle vectors (cos, sin) of two free angles
    (linear in one), so the best pair is the leading pair of singular vectors: no iteration, no local optimum.
    """
    free = np.flatnonzero(~locked)
    if not len(free):
        return np.zeros_like(base)
    weights = np.empty((len(base), 2, 2 if len(free) == 2 else 1))
    for row in range(2):
        for column in range(weights.shape[-1]):
            euler = base.copy()
            euler[:, free[0]] = row * np.pi
            if len(free) == 2:
                euler[:, free[1]] = column * np.pi
            weights[:, row, column] = np.einsum("ki,ki->k", eulers.to_quaternion(order, euler), target)
    left, _, right = np.linalg.svd(weights)
    delta = np.zeros_like(base)
    for axis, half in zip(free, (left[:, :, 0], right[:, 0, :]), strict=False):
        turn = 2.0 * np.arctan2(half[:, 1], half[:, 0]) - base[:, axis]
        delta[:, axis] = np.unwrap(np.concatenate(([0.0], turn)))[1:]
    return np.where(np.abs(delta) < _ROUND_OFF, 0.0, delta)


def axis_angle_delta(base: Array, target: Array) -> Array:
    """base: (K, 4) [angle, x, y, z], target: (K, 4) rotations -> (K, 4) to be added component by component.

    The axis keeps the base's length; axis and angle are taken on the side and turn nearest to the way they came.
    """
    w = rotation.log(rotation.normalize(target))
    angles = np.linalg.norm(w, axis=-1)
    delta = np.zeros_like(base)
    previous = np.zeros(4)
    for k in range(len(base)):
        wanted = base[k] + previous
        length = np.linalg.norm(base[k, 1:]) or 1.0
        ahead = wanted[1:] / (np.linalg.norm(wanted[1:]) or 1.0)
        axis = w[k] / angles[k] if angles[k] > _ROUND_OFF else ahead
        side = -1.0 if float(axis @ ahead) < 0.0 else 1.0
        angle = wanted[0] + _unwrap(side * angles[k] - wanted[0], np.zeros(()))
        previous = np.concatenate(([angle], side * length * axis)) - base[k]
        delta[k] = previous
    delta[np.abs(delta) < _ROUND_OFF] = 0.0
    return delta


def combine(mode: str, base: Array, delta: Array) -> Array:
    """What Blender makes of a rotation channel and its delta, as the rotation (..., 4) that results."""
    if mode == "QUATERNION":
        return rotation.multiply(rotation.normalize(base), rotation.normalize(delta))
    if mode == "AXIS_ANGLE":
        return axis_angle_to_quaternion(base + delta)
    return eulers.to_quaternion(mode, base + delta)


def rotation_delta(mode: str, base: Array, target: Array, locked: tuple[bool, bool, bool] = (False,) * 3) -> Array:
    """The delta of a bone's rotation channel in its mode: base as stored (K, 3 or 4), target (K, 4) rotations."""
    if mode == "QUATERNION":
        return quaternion_delta(base, target)
    if mode == "AXIS_ANGLE":
        return axis_angle_delta(base, target)
    return euler_delta(mode, base, rotation.normalize(target), locked)


def rotation_value(mode: str, base: Array, delta: Array) -> Array:
    """The stored value (K, 3 or 4) that a rotation channel takes with the delta: what a REPLACE strip keys."""
    if mode == "QUATERNION":
        value = rotation.continuous(combine(mode, base, delta))
        return value if float(value[0] @ base[0]) >= 0.0 else -value
    return base + delta
