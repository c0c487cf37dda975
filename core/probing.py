"""Inverse kinematics of a rig known only by trying it: a function from control values x (d,) to a pose.

A pose is (R (m, 3, 3) orientations, p (m, 3) heads) of the bones that are watched.  Differences of poses are (6m,):
rotation vectors in the bones' own frames [rad], then displacements in units of `length`, chosen so that one unit is as
visible as one radian.  Controls come in blocks of columns of the Jacobian: what turns or shifts one control.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .rotation import Array, skew, vector

Pose = tuple[Array, Array]
Show = Callable[[Array], Pose]

STEP = 0.004  # [rad], or of a length: what a control is moved to see what follows
SMALL = 0.02  # part of a block's effect below which a direction is the curvature of the others
ADDED = 2e-3  # part of the square of a joint's motion that a block must add to be taken
REDUNDANT = 1e-4  # square of the effect [rad per rad] below which a combination of controls does nothing
TURN = 1e-3  # [rad] error below which a pose is reached
SLOW = 0.3  # part of the error below which a step says that the Jacobian is stale
SPENT = 0.03  # part of the error below which nothing more can be had
NEAR = 5e-3  # [rad] of all errors together from which on no new Jacobian is sought
ROUNDS, PATIENCE = 20, 3  # steps at most, and after how many twice the error will do, up to four times
IDLE = 0.2  # part of what redundant values give up with an old Jacobian: it doesn't know exactly what is redundant
AGAIN = 8  # step after which a new Jacobian may be stale, too
DAMPING, LEAST, STUCK = 1e-2, 1e-4, 10.0  # of steps at first, at least and at last, in squares of radians per radian
FAR, STRIDE = 0.4, 0.8  # [rad] error that a step goes for at most, and what a control moves in it at most


def difference(a: Pose, b: Pose, length: float) -> Array:
    """(6m,) from pose a to pose b."""
    turned = vector(np.swapaxes(a[0], -1, -2) @ b[0])
    return np.concatenate((turned.ravel(), ((b[1] - a[1]) / length).ravel()))


def joint_motions(parent: Sequence[int], pose: Pose, length: float) -> Array:
    """(6m, 3m + 3) what the joints of an articulated body can do: the turn of each about its head, in its own frame,
    with all that hangs on it, and last the shift of everything.

    parent: (m,) index of the bone above among the watched, -1 at the top; parents first.
    """
    R, p = pose
    m = len(p)
    out = np.zeros((2, m, 3, 3 * m + 3))
    below = np.eye(m, dtype=bool)
    for i in range(m):
        if parent[i] >= 0:
            below[i] |= below[parent[i]]
    for i in range(m):
        carried = np.flatnonzero(below[:, i])
        out[0, carried, :, 3 * i : 3 * i + 3] = np.swapaxes(R[carried], -1, -2) @ R[i]
        out[1, carried, :, 3 * i : 3 * i + 3] = -skew(p[carried] - p[i]) @ R[i] / length
    out[1, :, :, 3 * m :] = np.eye(3)
    return out.reshape(6 * m, 3 * m + 3)


def jacobian(
    show: Show, x: Array, pose: Pose, length: float, groups: Sequence[np.ndarray], moves: np.ndarray, h: float = STEP
) -> Array:
    """(6m, d) by moving the controls by h; pose: at x.  moves: (d, m) bool, what each control can move.

    groups: columns that are moved together because no bone is moved by two of them.
    """
    out = np.zeros((6 * len(pose[1]), len(x)))
    rows = np.concatenate((np.repeat(moves, 3, axis=1), np.repeat(moves, 3, axis=1)), axis=1)
    for group in groups:
        tried = x.copy()
        tried[group] += h
        seen = difference(pose, show(tried), length) / h
        for column in group:
            out[rows[column], column] = seen[rows[column]]
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

    refresh: gives the Jacobian (6m, d) at x where the pose is known.  cost: (d,) how reluctantly each value is used.
    counted: (6m,) weight of each error, 0 or 1.
    """

    show: Show
    refresh: Callable[[Array, Pose], Array]
    length: float
    cost: Array
    counted: Array
    known: Array | None = None

    def solve(self, target: Pose, x: Array) -> tuple[Array, Array]:
        """(x (d,), what is left (6m,)) near the start x.

        Damped Gauss-Newton steps; Broyden's updates keep the Jacobian as long as steps do what it says.
        """
        pose = self.show(x)
        error = difference(pose, target, self.length)
        known, fresh, damping = self.known, False, DAMPING
        if known is None:
            known, fresh = self.refresh(x, pose), True
        for k in range(ROUNDS):
            size = np.linalg.norm(self.counted * error) + 1e-12
            if k > 0 and np.abs(self.counted * error).max() < TURN * min(2.0 ** (k // PATIENCE), 4.0):
                break
            step = self._step(known, error, (1.0 if fresh else IDLE) * x if k == 0 else 0.0 * x, damping)
            promise = 1.0 - np.linalg.norm(self.counted * (error - known @ step)) / size
            if promise < (SPENT if fresh else SLOW if size < NEAR else 0.0) and damping <= DAMPING or damping > STUCK:
                break
            tried = self.show(x + step)
            left = difference(tried, target, self.length)
            gain = 1.0 - np.linalg.norm(self.counted * left) / size
            if gain > 0.0:
                known = known + np.outer(error - left - known @ step, step) / (step @ step)
                x, error, pose, damping = x + step, left, tried, max(0.2 * damping, LEAST)
            if gain < SLOW and (not fresh or k == AGAIN):
                known, fresh = self.refresh(x, pose), True
            elif gain < 0.0:
                damping = 10.0 * damping
        self.known = known
        return x, error

    def _step(self, known: Array, error: Array, idle: Array, damping: float) -> Array:
        """Levenberg-Marquardt.  idle: what the values give up where controls are redundant."""
        error = self.counted * error * min(1.0, FAR / max(float(np.abs(error).max()), 1e-12))
        J = self.counted[:, None] * known / self.cost
        strength, axes = np.linalg.eigh(J.T @ J)
        strength = np.maximum(strength, 0.0)
        push = (axes.T @ (J.T @ error)) / (strength + damping)
        rest = REDUNDANT / (strength + REDUNDANT) * (axes.T @ (self.cost * idle))
        step = (axes @ (push - rest)) / self.cost
        return step * min(1.0, STRIDE / max(float(np.abs(step).max()), 1e-12))
