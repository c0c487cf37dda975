"""What forces see of one step, and the rule they keep."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..dynamics import Kinematics, Load
from ..model import Model, State
from ..reference import Reference
from ..rotation import Array, conjugate, exp, log_and_rate, multiply, rotate, to_matrix
from ..spatial import apply


@dataclass(frozen=True, eq=False)
class Step:
    """What forces may look at: step k of length h [s] at time t, the state on arrival and its deviation from the clip.

    e: (..., n, 6) pose relative to the clip's, [rotation vector, displacement], body frame.
    rate: (..., n, 3, 3) d/dt of the rotation vector in e per angular velocity, see `rotation.log_and_rate`.
    e_dot: (..., n, 6) its velocity on arrival.  a_clip: (..., n, 6) the clip's joint acceleration, body frame.
    """

    model: Model
    reference: Reference
    state: State
    kin: Kinematics
    k: int
    t: float
    h: float
    e: Array
    e_dot: Array
    a_clip: Array
    rate: Array

    def add_joint(self, load: Load, force: Array, Z: Array) -> None:
        """Joint forces on arrival and their impedance to accelerations off the clip's."""
        load.add_joint(force + apply(Z, self.a_clip), Z)

    def spread(self, bodies: np.ndarray, values: Array) -> Array:
        """(..., m, *) values of the given bodies as a table of all n bodies; those that share a body add up."""
        at = np.zeros((self.model.n, len(bodies)))
        at[bodies, np.arange(len(bodies))] = 1.0
        flat = values.reshape(self.e.shape[:-2] + (len(bodies), -1))
        return (at @ flat).reshape(self.e.shape[:-1] + values.shape[self.e.ndim - 1 :])


class Force(Protocol):
    """Anything that acts on the body."""

    def add(self, load: Load, step: Step) -> None:
        """Add this force to the load of the step."""


def deviation(reference: Reference, state: State, k: int) -> tuple[Array, Array, Array, Array]:
    """(e, e_dot, a_clip, rate) of `Step`."""
    turn = multiply(conjugate(reference.rotation[k]), state.rotation)
    e, rate = log_and_rate(turn)
    back = np.swapaxes(to_matrix(turn), -1, -2)
    clip = np.swapaxes(back @ reference.columns[k], -1, -2)
    flat = clip.reshape(clip.shape[:-2] + (12,))
    away = rotate(conjugate(state.rotation), state.position - reference.position[k])
    return np.concatenate((e, away), axis=-1), state.twist - flat[..., :6], flat[..., 6:], rate


def log_rate(e: Array) -> Array:
    """(..., 3, 3) the rate of `rotation.log_and_rate` for a rotation vector e (..., 3)."""
    return log_and_rate(exp(e))[1]


def table(values: Array, k: int, axes: int) -> Array:
    """A setting at step k: values of `axes` axes are constant, one more axis in front runs over the steps."""
    return values[k] if np.ndim(values) > axes else values
