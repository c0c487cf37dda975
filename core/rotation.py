"""Rotations as unit quaternions, wxyz, vectorised over leading axes.

Every function takes arrays of shape (..., 4) or (..., 3) and broadcasts.  `exp` and `log` are the
exponential map of SO(3) on rotation vectors [rad]; `log` returns the shorter way round (angle <= pi).
"""

import numpy as np
from numpy.typing import ArrayLike

from .lanes import Array, Table, apply, dot, linear, product

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])


def _skew_table() -> Array:
    """(3, 9): v @ table is the flat skew(v)."""
    out = np.zeros((3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[i, k, j], out[i, j, k] = 1.0, -1.0
    return out.reshape(3, 9)


def _product_table() -> Array:
    """(4, 16): takes a quaternion a to the flat matrix by which it multiplies, a b = matrix b."""
    out = np.zeros((4, 4, 4))
    out[0] = np.eye(4)
    for i in range(3):
        out[i + 1, 0, i + 1], out[i + 1, i + 1, 0] = -1.0, 1.0
        out[i + 1, 1:, 1:] = _SKEW.matrix[i].reshape(3, 3)
    return out.reshape(4, 16)


def _matrix_table() -> Array:
    """(10, 9): takes products of two components to the flat matrix w^2 1 + 2 w skew(u) + 2 u u^T - u^2 1 of (w, u)."""
    form = np.zeros((4, 4, 3, 3))
    form[0, 0], form[0, 1:] = np.eye(3), _SKEW.matrix.reshape(3, 3, 3)
    for i in range(3):
        for j in range(3):
            form[i + 1, j + 1, i, j] += 1.0
            form[i + 1, j + 1, j, i] += 1.0
        form[i + 1, i + 1] -= np.eye(3)
    return np.array([(1.0 if i == j else 2.0) * form[i, j].reshape(9) for i, j in zip(*_PAIRS, strict=True)])


# Products of components are matrix products with constant tables: numpy's price is the call, not the arithmetic.
_PAIRS = np.triu_indices(4)
EYE: Array = np.eye(3)
_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
_SKEW = Table.of(_skew_table())
_PRODUCT = Table.of(_product_table())
_FIRST, _SECOND = (Table.of(np.eye(4)[:, side]) for side in _PAIRS)
_MATRIX = Table.of(_matrix_table())
_NEXT, _AFTER = (Table.of(np.eye(3)[:, side]) for side in ([1, 2, 2, 0, 0, 1], [2, 1, 0, 2, 1, 0]))
_TURN = Table.of(np.stack((*(0.5 * _SKEW.matrix), 0.5 * np.eye(3).reshape(9)), axis=-1))
_DIFFERENCE = Table.of(np.repeat(np.eye(3), 2, axis=0) * np.tile([1.0, -1.0], 3)[:, None])


def multiply(a: Array, b: Array) -> Array:
    """Hamilton product a b: first b, then a.  (..., 4)"""
    return apply(factor(a), b)


def factor(a: Array) -> Array:
    """(..., 4, 4) the matrix that multiplies by a quaternion a."""
    return linear(a, _PRODUCT).reshape(a.shape[:-1] + (4, 4))


def conjugate(q: Array) -> Array:
    """The inverse of a unit quaternion."""
    return q * _CONJUGATE


def normalize(q: Array) -> Array:
    """Scale to unit length; a zero quaternion becomes the identity."""
    q = np.asarray(q)
    length = np.sqrt(np.square(q).sum(axis=-1, keepdims=True))
    if np.count_nonzero(length) == length.size:
        return np.asarray(q / length)
    return np.where(length == 0.0, IDENTITY, q / np.where(length == 0.0, 1.0, length))


def skew(v: Array) -> Array:
    """(..., 3) -> (..., 3, 3): skew(a) b = a x b."""
    return linear(v, _SKEW).reshape(v.shape[:-1] + (3, 3))


def cross(a: Array, b: Array) -> Array:
    """Vector product, (..., 3)."""
    return linear(linear(a, _NEXT) * linear(b, _AFTER), _DIFFERENCE)


def rotate(q: Array, v: Array) -> Array:
    """Turn the vectors v (..., 3) by q (..., 4)."""
    return apply(to_matrix(q), v)


def exp(w: Array) -> Array:
    """Quaternion of the rotation vector w [rad], (..., 3) -> (..., 4); exact to round-off at zero."""
    u = 0.5 * w
    half = np.sqrt(dot(u, u) + 1e-300)
    return np.concatenate((np.cos(half)[..., None], (np.sin(half) / half)[..., None] * u), axis=-1)


def log(q: Array) -> Array:
    """Rotation vector [rad] of q by the shorter way round, (..., 4) -> (..., 3)."""
    u, half, sine = _halved(q)
    return (2.0 * half / sine)[..., None] * u


def _halved(q: Array) -> tuple[Array, Array, Array]:
    """(u, half, sine): the vector part of q (..., 3), half the angle by the shorter way round (...,), and its sine,
    with the sign of q's scalar part."""
    u = q[..., 1:]
    sine = np.sqrt(dot(u, u)) + 1e-300
    half = np.arctan2(sine, np.abs(q[..., 0]))
    return u, half, np.copysign(sine, q[..., 0])


def log_and_rate(q: Array) -> tuple[Array, Array]:
    """`log` e of q, and (..., 3, 3) G with d/dt e = G w for the angular velocity w in q's own frame.

    G is the inverse of the right Jacobian of SO(3) (Chirikjian 2012, 10.86): a potential V(e) gives the torque
    -G^T dV/de, which keeps springs of unequal stiffness from gaining energy at large angles.
    """
    u, half, sine = _halved(q)
    ratio = half / sine
    bend = (1.0 - ratio * q[..., 0]) / np.maximum(half * half, 1e-300)  # errors of small angles are as small in G
    e = ratio[..., None] * u
    cross = skew(e)
    rate = product(cross, cross)
    rate *= bend[..., None, None]
    rate += cross
    rate += EYE
    return 2.0 * e, rate


def angle(a: Array, b: Array) -> Array:
    """Angle between two rotations [rad], blind to the sign of either."""
    return np.linalg.norm(log(multiply(conjugate(a), b)), axis=-1)


def continuous(q: Array, axis: int = 0) -> Array:
    """Flip signs so that neighbours along `axis` lie in the same half-sphere."""
    q = np.moveaxis(q, axis, 0)
    dots: Array = np.einsum("t...i,t...i->t...", q[1:], q[:-1])
    flips = np.where(dots < 0.0, -1.0, 1.0)
    signs: Array = np.concatenate((np.ones_like(q[:1, ..., 0]), np.cumprod(flips, axis=0)))
    return np.moveaxis(q * signs[..., None], 0, axis)


def unwound(turn: Array, shortest: int = 0) -> Array:
    """Rotation vectors (K, n, 3) made continuous in time past half a turn (the wrong-shortest-path problem), both ways
    from the sample `shortest`, which turns by the shorter way."""
    if np.einsum("kni,kni->kn", turn, turn).max(initial=0.0) < 9.0:  # nothing comes near half a turn
        return turn
    out = turn.copy()
    rows = [(k, k - 1) for k in range(shortest + 1, len(out))] + [(k, k + 1) for k in range(shortest - 1, -1, -1)]
    for k, before in [(shortest, None), *rows]:
        length = np.linalg.norm(out[k], axis=-1, keepdims=True)
        beside = out[k] if before is None else out[before]
        axis = np.where(length > 1e-9, out[k], beside)  # no turn at all has no axis of its own
        axis /= np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-12)
        near = 0.0 if before is None else np.einsum("ni,ni->n", beside, axis)[:, None]
        out[k] += 2.0 * np.pi * np.round((near - length) / (2.0 * np.pi)) * axis
    return out


def slerp(a: Array, b: Array, t: ArrayLike) -> Array:
    """From a (t = 0) to b (t = 1) on the shorter arc."""
    step = log(multiply(conjugate(a), b))
    return multiply(a, exp(np.asarray(t, dtype=np.float64)[..., None] * step))


def to_matrix(q: Array) -> Array:
    """(..., 4) -> (..., 3, 3), columns are the turned axes: v -> q v q^-1, quadratic in q."""
    return linear(linear(q, _FIRST) * linear(q, _SECOND), _MATRIX).reshape(q.shape[:-1] + (3, 3))


def from_matrix(m: Array) -> Array:
    """(..., 3, 3) rotation matrices -> (..., 4), by the largest of the four candidates (Shepperd 1978)."""
    m = np.asarray(m, dtype=np.float64)
    d0, d1, d2 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack((1 + d0 + d1 + d2, 1 + d0 - d1 - d2, 1 - d0 + d1 - d2, 1 - d0 - d1 + d2), axis=-1)
    a = m[..., 2, 1], m[..., 0, 2], m[..., 1, 0]
    b = m[..., 1, 2], m[..., 2, 0], m[..., 0, 1]
    wx, wy, wz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    yz, xz, xy = a[0] + b[0], a[1] + b[1], a[2] + b[2]
    rows = np.stack(
        (
            np.stack((squares[..., 0], wx, wy, wz), axis=-1),
            np.stack((wx, squares[..., 1], xy, xz), axis=-1),
            np.stack((wy, xy, squares[..., 2], yz), axis=-1),
            np.stack((wz, xz, yz, squares[..., 3]), axis=-1),
        ),
        axis=-2,
    )
    best = np.argmax(squares, axis=-1)
    return normalize(np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :])


def vector(m: Array) -> Array:
    """Rotation vector [rad] of rotation matrices, (..., 3, 3) -> (..., 3): `log` without the way over quaternions."""
    both = linear(m.reshape(m.shape[:-2] + (9,)), _TURN)  # the sine along each axis, and half the trace
    v, cosine = both[..., :3], both[..., 3] - 0.5
    if np.count_nonzero(cosine < -0.9):  # near half a turn the sine says too little
        return log(from_matrix(m))
    sine = np.sqrt(dot(v, v)) + 1e-300
    return (np.arctan2(sine, cosine) / sine)[..., None] * v


def orthonormal(m: Array) -> Array:
    """The nearest rotation to the matrices m (..., 3, 3); a mirror is removed as -1 (point reflection)."""
    m = np.asarray(m, dtype=np.float64)
    volume = dot(m[..., 0], cross(m[..., 1], m[..., 2]))
    size = np.where(volume < 0.0, -1.0, 1.0) * np.maximum(np.cbrt(np.abs(volume)), 1e-100)
    m = m / size[..., None, None]
    far = ~(np.abs(m.swapaxes(-1, -2) @ m - np.eye(3)).max(axis=(-2, -1)) < 1e-4)
    out = np.where(far[..., None, None], np.eye(3), m)
    for _ in range(2):  # Newton's steps towards the polar factor: from 1e-4 off it, two are exact
        out = 1.5 * out - 0.5 * out @ (out.swapaxes(-1, -2) @ out)
    if far.any():
        u, _, vt = np.linalg.svd(m[far])
        out[far] = u @ vt
    return out


def between(a: Array, b: Array) -> Array:
    """The shortest rotation that turns direction a (..., 3) into direction b (..., 3); none where one has no length."""
    a = a / np.maximum(np.linalg.norm(a, axis=-1, keepdims=True), 1e-300)
    b = b / np.maximum(np.linalg.norm(b, axis=-1, keepdims=True), 1e-300)
    w = 1.0 + dot(a, b)
    opposite = w < 1e-12
    side = np.where(np.abs(a[..., :1]) < 0.9, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    axis = np.where(opposite[..., None], cross(a, side), cross(a, b))
    return normalize(np.concatenate((np.where(opposite, 0.0, w)[..., None], axis), axis=-1))
