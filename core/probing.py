"""Inverse kinematics of a rig known only by trying it: a function from control values x (d,) to a pose.

A pose is (R (m, 3, 3) orientations, p (m, 3) heads, ...) of the bones that are watched; what follows is the caller's.
Differences of poses are (6m,): rotation vectors in the bones' own frames [rad], then displacements in units of
`length`, chosen so that one unit is as visible as one radian.  Controls come in blocks of columns of the Jacobian: what
turns or shifts one control.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .rotation import Array, cross, skew, vector

Pose = tuple[Array, ...]
Show = Callable[[Array], Pose]

STEP = 0.004  # [rad], or of a length: what a control is moved to see what follows
SMALL = 0.02  # part of a block's effect below which a direction is the curvature of the others
ADDED = 2e-3  # part of the square of a joint's motion that a block must add to be taken
REDUNDANT = 1e-4  # square of the effect [rad per rad] below which a combination of controls does nothing
TURN = 1e-3  # [rad] error below which a pose is reached
SLOW = 0.3  # part of the error below which a step says that the Jacobian is stale
SPENT = 0.03  # part of the error below which nothing more can be had
GOOD = 4e-3  # [rad] error from which on a slow approach is given up, and no new Jacobian is sought
LATE = 6  # slow steps after which that is so
WORSE = 3.0  # times the damping after a step that led away
NEAR = 5e-3  # [rad] of all errors together from which on no new Jacobian is sought
ROUNDS, PATIENCE = 20, 3  # steps at most, and after how many twice the error will do, up to four times
IDLE = 0.2  # part of what redundant values give up with an old Jacobian: it doesn't know exactly what is redundant
DAMPING, LEAST, STUCK = 1e-2, 1e-4, 10.0  # of steps at first, at least and at last, in squares of radians per radian
FAR, STRIDE = 0.4, 0.8  # [rad] error that a step goes for at most, and what a control moves in it at most


def difference(a: Pose, b: Pose, length: float) -> Array:
    """(6m,) from pose a to pose b."""
    turned = vector(a[0].swapaxes(-1, -2) @ b[0])
    return np.concatenate((turned.ravel(), ((b[1] - a[1]) / length).ravel()))


def joint_motions(parent: Sequence[int], pose: Pose, length: float) -> Array:
    """(6m, 3m + 3) what the joints of an articulated body can do: the turn of each about its head, in its own frame,
    with all that hangs on it, and last the shift of everything.

    parent: (m,) index of the bone above among the watched, -1 at the top; parents first.
    """
    R, p = pose[:2]
    m = len(p)
    out = np.zeros((2, m, 3, 3 * m + 3))
    below = np.eye(m, dtype=bool)
    for i in range(m):
        if parent[i] >= 0:
            below[i] |= below[parent[i]]
    for i in range(m):
        carried = np.flatnonzero(below[:, i])
        out[0, carried, :, 3 * i : 3 * i + 3] = R[carried].swapaxes(-1, -2) @ R[i]
        out[1, carried, :, 3 * i : 3 * i + 3] = -skew(p[carried] - p[i]) @ R[i] / length
    out[1, :, :, 3 * m :] = np.eye(3)
    return out.reshape(6 * m, 3 * m + 3)


def lengthenings(parent: Sequence[int], pose: Pose, length: float, bones: Sequence[int]) -> Array:
    """(6m, 3k) what joints can't do: the shift of each of k bones' heads away from the bone above, in its own frame,
    with all that hangs on it.  Arguments as of `joint_motions`.
    """
    R, p = pose[:2]
    m = len(p)
    out = np.zeros((2, m, 3, 3 * len(bones)))
    for k, bone in enumerate(bones):
        for i in range(m):
            up = i
            while up not in (bone, -1):
                up = parent[up]
            if up == bone:
                out[1, i, :, 3 * k : 3 * k + 3] = R[bone] / length
    return out.reshape(6 * m, -1)


def carried(w: Array, v: Array, at: Array, pose: Pose, length: float) -> Array:
    """(6m, d) what d controls do to bones that hang on them as one piece.

    w, v: (d, 3) the turn [rad] and the shift of the point at (d, 3) for a value of 1.
    """
    R, p = pose[:2]
    turned = R.swapaxes(-1, -2) @ w.T
    moved = (cross(w, p[:, None] - at) + v) / length
    return np.concatenate((turned.reshape(-1, len(w)), moved.swapaxes(-1, -2).reshape(-1, len(w))))


def rows(moves: np.ndarray) -> np.ndarray:
    """(..., 6m) bool, the components of the difference of poses that belong to bones (..., m)."""
    each = np.repeat(moves, 3, axis=-1)
    return np.concatenate((each, each), axis=-1)


def jacobian(
    show: Show,
    x: Array,
    pose: Pose,
    length: float,
    groups: Sequence[np.ndarray],
    moves: np.ndarray,
    known: Array | float = 0.0,
    h: float = STEP,
) -> Array:
    """(6m, d) by moving the controls by h; pose: at x.  moves: (d, m) bool, what each control moves in unknown ways.

    groups: columns that are moved together because no bone is moved in unknown ways by two of them.
    known: (6m, d) what they do besides.
    """
    out = known + np.zeros((6 * len(pose[1]), len(x)))
    own = rows(moves)
    for group in groups:
        tried = x.copy()
        tried[group] += h
        seen = difference(pose, show(tried), length) / h - out[:, group].sum(axis=1)
        for column in group:
            out[own[column], column] = seen[own[column]]
    return out


def colours(moves: np.ndarray) -> list[np.ndarray]:
    """Columns (d,) in groups in which no bone is moved by two; moves: (d, m) bool."""
    groups: list[tuple[np.ndarray, list[int]]] = []
    for column in np.argsort(-moves.sum(axis=1), kind="stable"):
        for taken, members in groups:
            if not (taken & moves[column]).any():
                taken |= moves[column]
                members.append(int(column))
                break
        else:
            groups.append((moves[column].copy(), [int(column)]))
    return [np.array(members) for _, members in groups]


def choose(blocks: Sequence[Array], wanted: Array) -> tuple[list[int], Array]:
    """Which blocks (6m, b) to use, in the order given, and the part (k,) of each wanted motion that none reaches.

    wanted: (6m, k).  A block is taken if it adds something to what the ones before reach.
    """
    left = wanted / np.maximum(np.linalg.norm(wanted, axis=0), 1e-12)
    basis = np.zeros((len(wanted), 0))
    taken = []
    for i, block in enumerate(blocks):
        u, s, _ = np.linalg.svd(block - basis @ (basis.T @ block), full_matrices=False)
        u = u[:, s > SMALL * max(float(np.linalg.norm(block, 2)), 1e-9)]
        gain = (u.T @ left) ** 2
        if gain.size and gain.sum(axis=0).max() > ADDED:
            taken.append(i)
            basis = np.concatenate((basis, u), axis=1)
            left = left - u @ (u.T @ left)
    return taken, np.linalg.norm(left, axis=0)


def within(block: Array, motions: Array) -> float:
    """Least part (0..1) of any column of a block that the motions of an articulated body can make."""
    u, s, _ = np.linalg.svd(motions, full_matrices=False)
    u = u[:, s > 1e-6 * s[0]]
    size = np.linalg.norm(block, axis=0)
    felt = size > SMALL * max(size.max(initial=0.0), 1e-9)
    return float((np.linalg.norm(u.T @ block, axis=0)[felt] / size[felt]).min(initial=1.0))


@dataclass(eq=False)
class Solver:
    """Finds control values for one pose after the other, each from where the one before ended.

    refresh: gives the Jacobian (6m, d) at x where the pose is known.  carry: the same from an old one, as far as it
    follows from the pose alone.  counted: (6m,) weight of each error, 0 or 1.  moves: (6m, d) bool, what is learnt from
    steps: the entries that don't follow from the pose.
    """

    show: Show
    refresh: Callable[[Array, Pose], Array]
    carry: Callable[[Array, Array, Pose], Array]
    length: float
    counted: Array
    moves: np.ndarray
    known: Array | None = None
    left: float = 0.0

    def solve(self, target: Pose, x: Array) -> tuple[Array, Array]:
        """(x (d,), what is left (6m,)) near the start x.

        Damped Gauss-Newton steps; what they do, also wrong ones, keeps the Jacobian: a new one is sought only where
        many are slow, not where the frame before was left as near as this one is now in spite of one.
        """
        pose = self.show(x)
        error = difference(pose, target, self.length)
        fresh, slow, damping = self.known is None, 0, DAMPING
        known = self.refresh(x, pose) if self.known is None else self.carry(self.known, x, pose)
        weight = self._weights(known)
        for k in range(ROUNDS):
            size = np.linalg.norm(weight * error) + 1e-12
            if k > 0 and np.abs(self.counted * error).max() < TURN * min(2.0 ** (k // PATIENCE), 4.0):
                break
            step = self._step(known, weight, error, (1.0 if fresh else IDLE) * x if k == 0 else 0.0 * x, damping)
            promise = 1.0 - np.linalg.norm(weight * (error - known @ step)) / size
            if promise < (SPENT if fresh else SLOW if size < NEAR else 0.0) and damping <= DAMPING or damping > STUCK:
                break
            tried = self.show(x + step)
            left = difference(tried, target, self.length)
            gain = 1.0 - np.linalg.norm(weight * left) / size
            known = known + self._lesson(error - left - known @ step, step)
            if gain > 0.0:
                x, error, pose, damping = x + step, left, tried, max(0.2 * damping, LEAST)
            else:
                damping = WORSE * damping
            slow += 1 if gain < SLOW else 0
            if slow >= LATE:
                worst = np.abs(self.counted * error).max()
                if worst < max(GOOD, self.left):
                    break
                if not fresh:
                    known, fresh = self.refresh(x, pose), True
                    weight = self._weights(known)
        worst = np.abs(self.counted * error).max()
        self.known, self.left = known, worst if GOOD < worst < 2.0 * GOOD and (fresh or self.left) else 0.0
        return x, error

    def _lesson(self, wrong: Array, step: Array) -> Array:
        """Broyden's update by rows, of the entries that a step may have to do with (Schubert 1970)."""
        part = self.moves * step
        size = np.einsum("rd,rd->r", part, part)
        return (wrong / np.where(size > 1e-3 * (step @ step), size, np.inf))[:, None] * part

    def _weights(self, known: Array) -> Array:
        """(6m,) of the errors: those that answer a value more than one for one count less.

        The bend of a limb by IK that is nearly straight answers like a square root: steps that follow it go astray,
        while to place both ends of the limb, which answer plainly, brings the bend by itself.
        """
        return self.counted / np.maximum(1.0, np.abs(self.moves * known).max(axis=1, initial=0.0))

    def _step(self, known: Array, weight: Array, error: Array, idle: Array, damping: float) -> Array:
        """Levenberg-Marquardt.  idle: what the values give up where controls are redundant."""
        error = weight * error * min(1.0, FAR / max(float(np.abs(error).max()), 1e-12))
        J = weight[:, None] * known
        curved, gradient = J.T @ J, J.T @ error
        some = np.eye(len(curved))
        step = np.asarray(np.linalg.solve(curved + damping * some, gradient), dtype=np.float64)
        if idle.any():
            step = step - np.linalg.solve(curved / REDUNDANT + some, idle)
        return step * min(1.0, STRIDE / max(float(np.abs(step).max()), 1e-12))
