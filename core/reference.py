"""The clip as the simulator sees it: joint poses at sub-steps with *discrete* velocities and accelerations.

The differences match the integrator: w_k = log(q_k^-1 q_k+1) / h takes pose k to pose k+1 in one step, and
a_k = (w_k - w_k-1) / h takes the velocity of the step before to it (with the time between the middles of both steps
where their lengths differ).  So the inverse dynamics of these numbers is
exactly the force with which the simulator repeats the clip, to round-off, whatever the step.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .lanes import dot, largest
from .levels import Levels
from .model import Model, State
from .resample import Poses
from .rotation import Array, conjugate, cross, exp, factor, log, multiply, rotate
from .soundness import check_poses, check_steps
from .spatial import apply, turned

KNOWN, LOST = 0.5, 1.0  # [rad] turn of a joint in a step


@dataclass(frozen=True, eq=False)
class Reference:
    """K sub-steps of a clip in the anatomical tree, model order.

    times: (K + 1,) [s] start of each step, and the end.  rotation: (K + 1, n, 4).  position: (K + 1, n, 3) [m].
    twist: (K, n, 6) from pose k to k + 1, see `advance`.  acceleration: (K, n, 6).  initial: (n, 6) twist on arrival at
    pose 0.  last: (n, 6) acceleration in the step before.  before: [s] length of that step, None = of the first.
    """

    times: Array
    rotation: Array
    position: Array
    twist: Array
    acceleration: Array
    initial: Array
    last: Array | float = 0.0
    before: float | None = None

    @property
    def steps(self) -> int:
        """Number of sub-steps."""
        return len(self.twist)

    @cached_property
    def lengths(self) -> Array:
        """(K,) of the steps [s]."""
        return np.diff(self.times)

    @cached_property
    def earlier(self) -> Array:
        """(K,) length of the step before each [s]."""
        return np.concatenate((self.lengths[:1] if self.before is None else [self.before], self.lengths[:-1]))

    @cached_property
    def kicks(self) -> Array:
        """(K,) how long each acceleration acts [s]: from the middle of the step before to the middle of its own."""
        return 0.5 * (self.earlier + self.lengths)

    def until(self, k: int) -> "Reference":
        """Its first k steps."""
        poses = self.times[: k + 1], self.rotation[: k + 1], self.position[: k + 1]
        return Reference(*poses, self.twist[:k], self.acceleration[:k], self.initial, self.last, self.before)

    def arrival(self, k: int) -> Array:
        """(n, 6) twist of the step before pose k."""
        return self.initial if k == 0 else self.twist[k - 1]

    def state(self, k: int) -> State:
        """The clip's own state on arrival at pose k."""
        return State(self.rotation[k], self.position[k], self.arrival(k))

    @cached_property
    def gone(self) -> Array:
        """(K, n, 6) acceleration in the step before each."""
        return np.concatenate((np.broadcast_to(self.last, self.initial.shape)[None], self.acceleration[:-1]))

    @cached_property
    def rows(self) -> Array:
        """(K, n, 6, 3) what a step needs of the clip: arrival, acceleration and the one before, each [angular, linear],
        parent's axes."""
        own = self.arrivals
        each = np.concatenate((own.twist, self.acceleration, self.gone), axis=-1)
        return each.reshape(each.shape[:-1] + (6, 3)) @ turned(own.R)

    @cached_property
    def back(self) -> Array:
        """(K + 1, n, 4, 4) the matrices that multiply by the inverses of the clip's rotations."""
        return factor(conjugate(self.rotation))

    def passing(self) -> Array:
        """(K, n, 6) twists at the poses themselves, see `passing`."""
        return passing(self.arrivals.twist, self.gone, self.earlier[:, None, None])

    @cached_property
    def arrivals(self) -> State:
        """The states on arrival at the start of every step, (K, n, *)."""
        twist = np.concatenate((self.initial[None], self.twist[:-1]))
        return State(self.rotation[:-1], self.position[:-1], twist)


def passing(twist: Array, last: Array | float, h: float | Array) -> Array:
    """Twists (..., n, 6) at a pose from those of the step before it, which belong to its middle, and its acceleration.

    h: [s] length of that step.

    Velocity products of a pose and of a velocity half a step older feed energy into a free fall.  Where joints turn so
    far in a step that nothing is to be known half a step later, the old velocity is the safer one.
    """
    squares = dot(twist[..., :3], twist[..., :3])
    if isinstance(h, float) and h * h * largest(squares) <= KNOWN * KNOWN:  # as nearly always
        return twist + (0.5 * h) * last
    turn = h * np.sqrt(squares.max(axis=-1, keepdims=True))[..., None]
    known = np.minimum(np.maximum((LOST - turn) / (LOST - KNOWN), 0.0), 1.0)
    return twist + (0.5 * h * known) * last


def twist_between(q0: Array, p0: Array, q1: Array, p1: Array, h: float | Array) -> Array:
    """Twist (..., 6) that takes the pose (q0, p0) to (q1, p1) in the time h, in the body's axes half-way.

    It is what `advance` goes along.  Axes of either end would turn with the body, and its path be of first order in h.
    """
    back = conjugate(q0)
    turn, way = log(multiply(back, q1)), rotate(back, p1 - p0)
    return np.concatenate((turn, untwisted(0.5 * turn, way)), axis=-1) / h


def untwisted(half: Array, way: Array) -> Array:
    """(1 + [half]x)^-1 way of vectors (..., 3)."""
    square, share = (dot(half, x)[..., None] for x in (half, way))
    return np.asarray((way - cross(half, way) + share * half) / (1.0 + square))


def advance(state: State, twist: Array, h: float) -> tuple[Array, Array]:
    """The inverse of `twist_between`: rotation and position after a step with a constant twist (..., n, 6).

    1 + [turn / 2]x stands for half of the turn: the same to second order, cheaper, and it has an inverse for any turn.
    """
    way = h * twist
    turn, along = way[..., :3], way[..., 3:]
    along = apply(state.R, along + 0.5 * cross(turn, along))
    return multiply(state.rotation, exp(turn)), state.position + along


def to_joints(model: Model, q: Array, p: Array) -> tuple[Array, Array]:
    """World poses (..., n, 4), (..., n, 3) to poses relative to the parents."""
    return to_parents(model.parent, q, p)


def to_parents(parents: np.ndarray, q: Array, p: Array) -> tuple[Array, Array]:
    """The same of any bones with parents (n,), -1 at the top."""
    roots = parents < 0
    parent = np.where(roots, 0, parents)
    q_up = np.where(roots[:, None], np.array([1.0, 0.0, 0.0, 0.0]), q[..., parent, :])
    p_up = np.where(roots[:, None], 0.0, p[..., parent, :])
    back = conjugate(q_up)
    return multiply(back, q), rotate(back, p - p_up)


def to_world(model: Model, q: Array, p: Array) -> tuple[Array, Array]:
    """Joint poses (..., n, 4), (..., n, 3) to world poses."""
    return from_parents(model.levels, q, p)


def from_parents(levels: Levels, q: Array, p: Array) -> tuple[Array, Array]:
    """The same of any bones, one pass down the tree by levels; takes back `to_parents`."""
    q, p = q.take(levels.order, axis=-2), p.take(levels.order, axis=-2)
    for level in levels.inner:
        up, own = level.parent, level.bodies
        p[..., own, :] = p[..., up, :] + rotate(q[..., up, :], p[..., own, :])
        q[..., own, :] = multiply(q[..., up, :], q[..., own, :])
    return q.take(levels.place, axis=-2), p.take(levels.place, axis=-2)


def build(
    samples: Array,
    rotation: Array,
    position: Array,
    start: float,
    steps: int,
    h: float,
    before: float | None = None,
    last: Array | float = 0.0,
) -> Reference:
    """`along` joint poses (T, n, 4), (T, n, 3) at the clip's samples (T,) [s]; quaternions may be of any length."""
    samples, rotation, position = (np.asarray(x, dtype=np.float64) for x in (samples, rotation, position))
    check_poses(samples, rotation, position)
    return along(Poses.of(samples, rotation, position), start, steps, h, before, last)


def along(
    clip: Poses, start: float, steps: int, h: float, before: float | None = None, last: Array | float = 0.0
) -> Reference:
    """Reference of the joint poses of a clip.

    start: time of pose 0 [s].  h: [s] length of the steps.  before: [s] length of the step that ends at pose 0, where
    it differs.  last: (n, 6) acceleration in that step, where it is known.
    """
    check_steps(start, steps, h)
    grid: Array = start + h * np.arange(-1.0, steps + 1.0)
    grid[0] = start - (before or h)
    q, p = clip.at(grid)
    length = np.full((steps + 1, 1, 1), h)
    length[0] = before or h
    twist = twist_between(q[:-1], p[:-1], q[1:], p[1:], length)
    acceleration = np.diff(twist, axis=0) / (0.5 * (length[:-1] + length[1:]))
    return Reference(grid[1:], q[1:], p[1:], twist[1:], acceleration, twist[0], last, before)
