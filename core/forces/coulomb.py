"""The forces of contacts: springs that only push, and Coulomb friction (an active-set Newton method, then projection).

Each contact is open, sticks or slides.  Taken as known, these make the forces linear: one solve for all contacts.
The answer says which were wrong; a few rounds are usual.  Where rounds go in circles, Gauss-Seidel passes over
the contacts come near enough.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rotation import Array
from ..spatial import apply
from ..spatial import solve as solved

Flags = NDArray[np.bool_]

ROUNDS = 8  # of the active set
SWEEPS = 25  # Gauss-Seidel passes where the rounds do not end
STEADY = 1e-3  # change of the directions of sliding in a round at which they count as found
CLOSE = 1e-4  # relative change of the forces in a pass at which they count as found
HOLD = 1e7  # [N s/m, N m s/rad] damping of a contact that sticks: the creep under 1 kN is 0.1 mm/s


@dataclass(frozen=True, eq=False)
class Rows:
    """c contacts of three rows each: a normal and two tangents, or three directions of friction alone.

    wrench: (..., c, 3, n, 6) shared-frame wrench on every body of a unit force along each row.
    depth: (..., c) on arrival [m], negative = apart.  stiffness, damping: (c,) of the normal spring [N/m], [N s/m].
    static, kinetic: (c,) friction coefficients.  drift: (..., c, 3) velocity of the rows' other side [m/s].
    bound: (c,) most friction of a contact without a normal [N, N m]; 0 = it has a normal, the first row.
    """

    wrench: Array
    depth: Array
    stiffness: Array
    damping: Array
    static: Array
    kinetic: Array
    drift: Array
    bound: Array


def solve(rows: Rows, v: Array, A: Array, h: float) -> Array:
    """(..., c, 3) contact forces.

    v: (..., c, 3) velocities at the end of the step without them.  A: (..., 3c, 3c) their change per impulse.
    """
    A = h * A
    f, way = np.zeros(v.shape), np.zeros(v.shape)
    shut: Flags = _push(rows, v, h) > 0.0
    slides: Flags = np.zeros(shut.shape, dtype=bool)
    found: Flags = np.zeros(shut.shape[:-1], dtype=bool)  # members of the batch that are done
    same = found
    for _ in range(ROUNDS):
        f = np.where(found[..., None, None], f, _linear(rows, v, A, h, shut, slides, way))
        speed = v + apply(A, f.reshape(f.shape[:-2] + (-1,))).reshape(v.shape)
        before = shut, slides, way
        shut = np.where(shut, f[..., 0] >= 0.0, _push(rows, speed, h) > 0.0) | (rows.bound > 0.0)
        slides, way = _sliding(rows, f, speed, slides, way)
        same = np.all((before[0] == shut) & (before[1] == slides), axis=-1)
        found = found | (same & (np.max(np.abs(way - before[2]), axis=(-2, -1)) < STEADY))
        if np.all(found):
            return _allowed(rows, f)
    f, found = _allowed(rows, f), found | same  # a direction that still turns a little may do so
    return f if np.all(found) else np.where(found[..., None, None], f, _swept(rows, v, A, h))


def _push(rows: Rows, speed: Array, h: float) -> Array:
    """(..., c) what the normal springs would push with at these velocities at the end of the step.

    Before the bodies touch, the damper only counts the part of the step in which they do.
    """
    K, D = rows.stiffness, rows.damping
    push: Array = K * rows.depth + np.minimum(rows.depth, 0.0) * D / h - (K * h + D) * speed[..., 0]
    return np.where(rows.bound > 0.0, 1.0, push)


def _linear(rows: Rows, v: Array, A: Array, h: float, shut: Flags, slides: Flags, way: Array) -> Array:
    """(..., c, 3) forces of contacts that are shut, and slide along `way` (..., c, 3), as given: a f + b (v + A f) =
    g."""
    normal = np.zeros(v.shape, dtype=bool)
    normal[..., 0] = rows.bound == 0.0
    stiff = rows.stiffness * h + rows.damping
    open_ = ~shut[..., None]
    smooth = ((rows.static == 0.0) & (rows.kinetic == 0.0) & (rows.bound == 0.0))[:, None]
    held = ~open_ & ~(slides[..., None] | smooth)
    a = np.where(normal | ~held, 1.0, 1.0 / HOLD)
    b = np.where(normal, np.where(open_, 0.0, stiff[:, None]), np.where(held, 1.0, 0.0))
    g = np.zeros(v.shape)
    spring = rows.stiffness * rows.depth + np.minimum(rows.depth, 0.0) * rows.damping / h
    g[..., 0] = np.where(shut & normal[..., 0], spring, 0.0)
    sliding = (slides & shut)[..., None] & ~normal & ~smooth
    g = g + np.where(sliding, rows.bound[:, None] * way, 0.0)
    flat = v.shape[:-2] + (-1,)
    M = b.reshape(flat)[..., None] * A
    index = np.arange(M.shape[-1])
    M[..., index, index] += a.reshape(flat)
    rub = np.where(sliding, rows.kinetic[:, None] * way, 0.0).reshape(flat)
    M[..., index, index // 3 * 3] -= rub
    return solved(M, g.reshape(flat) - b.reshape(flat) * v.reshape(flat)).reshape(v.shape)


def _sliding(rows: Rows, f: Array, speed: Array, slides: Flags, way: Array) -> tuple[Flags, Array]:
    """Which contacts slide, and the direction (..., c, 3) of their friction: against the motion, or what would hold."""
    first = np.where(rows.bound == 0.0, 0.0, 1.0)[:, None] * np.array([1.0, 0, 0]) + np.array([0.0, 1.0, 1.0])
    pull, moves = f * first, speed * first
    size = np.linalg.norm(pull, axis=-1)
    begins = ~slides & (size > rows.static * np.maximum(f[..., 0], 0.0) * (rows.bound == 0.0) + rows.bound)
    ends = slides & (np.einsum("...i,...i->...", moves, way) >= 0.0)
    along = np.linalg.norm(moves, axis=-1, keepdims=True)
    turned = -moves / np.maximum(along, 1e-300)
    new = pull / np.maximum(size, 1e-300)[..., None]
    way = np.where(begins[..., None], new, np.where((slides & ~ends)[..., None], turned, way))
    return (slides | begins) & ~ends, way


def _allowed(rows: Rows, f: Array) -> Array:
    """Forces cut down to what contacts can do."""
    f = f.copy()
    has = rows.bound == 0.0
    f[..., 0] = np.where(has, np.maximum(f[..., 0], 0.0), f[..., 0])
    rub = np.where(has[:, None], f * [0.0, 1.0, 1.0], f)
    most = np.where(has, np.maximum(rows.static, rows.kinetic) * f[..., 0], rows.bound)
    size = np.linalg.norm(rub, axis=-1)
    cut = np.minimum(1.0, most / np.maximum(size, 1e-300))[..., None]
    return np.where(has[:, None], f * [1.0, 0.0, 0.0], 0.0) + rub * cut


def _swept(rows: Rows, v: Array, A: Array, h: float) -> Array:
    """Projected Gauss-Seidel over the contacts, one by one.

    It starts from nothing: from the forces of a wrong guess a few passes would leave some that add energy.
    """
    c = rows.depth.shape[-1]
    f, speed = np.zeros(v.shape), v.copy()  # speed: v + A f, kept up to date
    A = A.reshape(A.shape[:-2] + (c, 3, c, 3))
    own = [A[..., i, :, i, :] for i in range(c)]
    answers: Any = [
        np.linalg.inv(a[..., k:, k:] + np.eye(3 - k) / HOLD) for a, k in zip(own, _first(rows), strict=True)
    ]
    for _ in range(SWEEPS):
        change = 0.0
        for i in range(c):
            free = speed[..., i, :] - apply(own[i], f[..., i, :])
            if rows.bound[i] > 0.0:
                new = _grip(free, answers[i], rows.bound[i], rows.bound[i])
            else:
                new = _touch(rows, i, free, own[i], answers[i], h)
            d = new - f[..., i, :]
            if d.any():
                speed = speed + apply(A[..., i, :].reshape(speed.shape[:-2] + (3 * c, 3)), d).reshape(speed.shape)
                f[..., i, :] = new
                change = max(change, float(np.abs(d).max()))
        if change <= CLOSE * max(float(np.max(np.abs(f), initial=0.0)), 1e-9):
            break
    return f


def _first(rows: Rows) -> list[int]:
    """(c,) the first row of friction of every contact."""
    return [0 if bound > 0.0 else 1 for bound in rows.bound]


def _touch(rows: Rows, i: int, free: Array, own: Array, answer: Array, h: float) -> Array:
    """(..., 3) force of contact i: its normal spring first, then the friction that this allows."""
    depth, K, D = rows.depth[..., i], rows.stiffness[i], rows.damping[i]
    push = K * depth + np.minimum(depth, 0.0) * D / h - (K * h + D) * free[..., 0]
    f = np.zeros(free.shape)
    f[..., 0] = np.maximum(push / (1.0 + (K * h + D) * own[..., 0, 0]), 0.0)
    if (f[..., 0] > 0.0).any() and (rows.static[i] > 0.0 or rows.kinetic[i] > 0.0):
        moved = free[..., 1:] + own[..., 1:, 0] * f[..., :1]
        f[..., 1:] = _grip(moved, answer, rows.static[i] * f[..., 0], rows.kinetic[i] * f[..., 0])
    return f


def _grip(free: Array, answer: Array, static: Array, kinetic: Array) -> Array:
    """Friction (..., r) that holds the rows still where it may (`static`), else as much as slides with (`kinetic`).

    free: (..., r) velocities without it, answer: (..., r, r) the force per velocity that stops them.
    """
    f = -apply(answer, free)
    size = np.sqrt(np.einsum("...i,...i->...", f, f))
    return f * np.where(size <= static, 1.0, kinetic / np.maximum(size, 1e-300))[..., None]
