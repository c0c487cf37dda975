"""The forces of contacts: springs that only push, and Coulomb friction (an active-set Newton method, then projection).

Each contact is open, sticks or slides.  Taken as known, these make the forces linear: one solve for all contacts.
The answer says which were wrong; a few rounds are usual.  Where rounds go in circles, Gauss-Seidel passes over
the contacts come near enough.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..lanes import dot
from ..rotation import Array
from ..spatial import apply
from ..spatial import solve as solved
from .sweep import Sweep

Flags = NDArray[np.bool_]

ROUNDS = 8  # of the active set
SWEEPS = 25  # Gauss-Seidel passes where the rounds do not end
STEADY = 1e-3  # change of the directions of sliding in a round at which they count as found
CLOSE = 1e-4  # relative change of the forces in a pass at which they count as found
APART = 1e6  # [m] how far apart contacts count as that are near in other members of the batch only
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
    shut: Flags = _push(rows, v, h) > 0.0
    f, found = _rounds(rows, v, A, h, (shut, np.zeros(shut.shape, dtype=bool), np.zeros(v.shape)))
    for member in map(tuple, np.argwhere(~found)):
        f[member] = _swept(replace(rows, depth=rows.depth[member]), v[member], A[member], h)
    return f


def _rounds(rows: Rows, v: Array, A: Array, h: float, guess: tuple[Flags, Flags, Array]) -> tuple[Array, Flags]:
    """Forces (..., c, 3) and which members of the batch are found (...,).  guess: which contacts are shut, which of
    them slide, and the directions (..., c, 3) of their friction."""
    shut, slides, way = guess
    f, found = np.zeros(v.shape), np.zeros(shut.shape[:-1], dtype=bool)
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
            break
    return _allowed(rows, f), found | same  # a direction that still turns a little may do so


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
    rub = np.where(sliding, rows.kinetic[:, None] * way, 0.0)
    # contacts that are open in the whole batch have no force and need no equations
    on = np.flatnonzero(shut.reshape(-1, shut.shape[-1]).any(axis=0))
    at, index = (3 * on[:, None] + np.arange(3)).reshape(-1), np.arange(3 * len(on))
    a, b, g, w, rub = (x.reshape(x.shape[:-2] + (-1,))[..., at] for x in (a, b, g, v, rub))
    M = b[..., None] * A[..., at[:, None], at]
    M[..., index, index] += a
    M[..., index, index // 3 * 3] -= rub
    f = np.zeros(v.shape[:-2] + (A.shape[-1],))
    f[..., at] = solved(M, g - b * w)
    return np.where(open_, 0.0, f.reshape(v.shape))


def _sliding(rows: Rows, f: Array, speed: Array, slides: Flags, way: Array) -> tuple[Flags, Array]:
    """Which contacts slide, and the direction (..., c, 3) of their friction: against the motion, or what would hold."""
    first = np.where(rows.bound == 0.0, 0.0, 1.0)[:, None] * np.array([1.0, 0, 0]) + np.array([0.0, 1.0, 1.0])
    pull, moves = f * first, speed * first
    size = np.linalg.norm(pull, axis=-1)
    begins = ~slides & (size > rows.static * np.maximum(f[..., 0], 0.0) * (rows.bound == 0.0) + rows.bound)
    ends = slides & (dot(moves, way) >= 0.0)
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
    """(c, 3) forces of one body by Gauss-Seidel passes."""
    K, D = rows.stiffness, rows.damping
    has = rows.bound == 0.0
    normal = np.stack((K * rows.depth + np.minimum(rows.depth, 0.0) * D / h, K * h + D), axis=-1) * has[:, None]
    sweep = Sweep(normal, np.stack((rows.static, rows.kinetic, rows.bound), axis=-1), v, A, HOLD)
    for _ in range(SWEEPS):
        if sweep.once() <= CLOSE * max(sweep.largest(), 1e-9):
            break
    return np.array(sweep.forces)
