"""What a body must be to be simulated, joints with axes of their own, bones that have and move some mass; and what a
clip, a state and a number may be.  Callers' faults are ValueErrors, what a user can cure is a CoreError."""

import math
from collections.abc import Sequence

import numpy as np

from .errors import ModelError
from .rotation import Array

IDLE = 1e-13  # part of its own inertia that a direction must keep when others yield, or no digits are left of it
UNIT = 1e-6  # by which the square of a unit quaternion's length may be off
ROUND = 1e-9  # relative: what rounding may leave of symmetry and of zero


def unit(axis: Sequence[float] | Array) -> Array:
    """(3,) the direction of a joint's axis of any length, ValueError for what has none."""
    vector = np.asarray(axis, dtype=np.float64)
    largest = np.abs(vector).max(initial=0.0)
    if vector.shape != (3,) or not 0.0 < largest < np.inf:
        raise ValueError(f"A joint's axis: expected (3,) finite numbers, not all zero, got {vector.tolist()}")
    vector = np.ldexp(vector, -int(np.frexp(largest)[1]))  # neither overflows nor vanishes as it is squared
    return np.asarray(vector / np.linalg.norm(vector))


def check_joints(names: Sequence[str], joints: Sequence[Array]) -> None:
    """Refuse with a ValueError what is no motion subspace (d, 6)."""
    for name, joint in {id(joint): (name, joint) for name, joint in zip(names, joints, strict=True)}.values():
        if np.ndim(joint) != 2 or np.shape(joint)[1] != 6 or not np.isfinite(joint).all():
            raise ValueError(f"Joint of '{name}': expected (d, 6) finite numbers, got shape {np.shape(joint)}")
        if len(joint) and np.linalg.matrix_rank(joint) < len(joint):
            raise ValueError(f"Joint of '{name}': expected {len(joint)} independent axes, got some that are not")


def check_masses(
    names: Sequence[str], parent: np.ndarray, ancestor: Array, joints: Sequence[Array], inertia: Array
) -> None:
    """Refuse bodies that cannot be, and joints that move no mass; arguments as in `Model`."""
    finite = np.isfinite(inertia).all(axis=(1, 2))
    if not finite.all():
        raise ModelError(f"Bone '{names[int(finite.argmin())]}' has no finite inertia. Give it a mass above 0 kg.")
    size = ROUND * np.abs(inertia).max(axis=(1, 2))
    odd = np.abs(inertia - inertia.swapaxes(1, 2)).max(axis=(1, 2)) > size
    odd |= np.linalg.eigvalsh(inertia)[:, 0] < -size
    if odd.any():
        name = names[int(odd.argmax())]
        raise ModelError(f"Bone '{name}' has a negative mass or moment of inertia. Give it a mass above 0 kg.")
    carried, leaf = ancestor.T @ inertia[:, 5, 5], np.isin(np.arange(len(names)), parent, invert=True)
    for i, joint in enumerate(joints):
        if len(joint) and carried[i] <= 0.0:
            raise ModelError(f"Bone '{names[i]}' carries no mass. Give it a mass above 0 kg or stop simulating it.")
        if len(joint) and leaf[i] and idle(joint @ inertia[i] @ joint.T, np.abs(inertia[i]).max()) is not None:
            raise turns_idly(names[i])


def check_poses(times: Array, rotation: Array, position: Array) -> None:
    """Refuse what is no clip: times (T,), joint poses (T, n, 4), (T, n, 3)."""
    t = len(times) if times.ndim == 1 else -1
    if rotation.ndim != 3 or rotation.shape[::2] != (t, 4) or position.shape != (*rotation.shape[:2], 3):
        shapes = f"{times.shape}, {rotation.shape} and {position.shape}"
        raise ValueError(f"A clip: expected times (T,), rotations (T, n, 4) and positions (T, n, 3), got {shapes}")
    if t < 2 or not np.all(np.diff(times) > 0.0):
        raise ValueError("A clip's times: expected two at least, each after the one before")
    known = np.isfinite(position).all(axis=-1) & np.isfinite(rotation).all(axis=-1) & rotation.any(axis=-1)
    if not known.all():
        k, body = np.argwhere(~known)[0]
        raise ValueError(f"A clip's poses: expected finite numbers and turns, got none of body {body} at sample {k}")


def check_steps(start: float, steps: int, h: float) -> None:
    """Refuse sub-steps that lead nowhere."""
    if not (math.isfinite(start) and steps >= 0 and 0.0 < h < math.inf):
        wanted = "none or more, of a length above 0 s, from a time on"
        raise ValueError(f"Sub-steps: expected {wanted}, got {steps} of {h} s from {start} s")


def check_state(names: Sequence[str], *state: Array) -> None:
    """Refuse what is no state of bodies of these names: rotations (..., n, 4), positions and twists; see `State`."""
    batch = np.shape(state[0])[:-2]
    for name, x, size in zip(("rotation", "position", "twist"), state, (4, 3, 6), strict=True):
        if np.shape(x) != (*batch, len(names), size):
            wanted = f"(..., {len(names)}, {size})"
            raise ValueError(f"State.{name}: expected shape {wanted}, one batch for all, got {np.shape(x)}")
        wrong = ~np.isfinite(x).all(axis=-1)
        if name == "rotation":
            wrong |= ~(np.abs(np.square(x).sum(axis=-1) - 1.0) < UNIT)
        if wrong.any():
            body = names[np.argwhere(wrong)[0][-1]]
            number = "a unit quaternion" if name == "rotation" else "finite numbers"
            raise ValueError(f"State.{name}: expected {number} for '{body}', got something else")
    if 0 in batch:
        raise ValueError("State: expected a batch of one system at least, got none")


def idle(H: Array, size: float = 0.0) -> int | None:
    """The degree of freedom that moves most where an inertia (nv, nv) can be moved without effort, None = nowhere.

    size: of the numbers from which the inertia was summed.
    """
    own = np.sqrt(np.maximum(np.diagonal(H), 0.0))
    if own.min() ** 2 <= IDLE * size:
        return int(own.argmin())
    value, way = np.linalg.eigh(H / (own * own[:, None]))
    return int(np.abs(way[:, 0] / own).argmax()) if value[0] < IDLE else None


def turns_idly(name: str) -> ModelError:
    """What is to be said of a bone whose joint moves no mass."""
    return ModelError(f"Bone '{name}' can turn without moving any mass. Give it a radius or a moment of inertia.")
