"""What forces see of one step, and the rule they keep."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..dynamics import Kinematics, Load
from ..model import Model, State
from ..reference import Reference
from ..rotation import Array, conjugate, log, multiply, rotate, skew, to_matrix
from ..spatial import apply


@dataclass(frozen=True, eq=False)
class Step:
    """What forces may look at: step k of length h [s] at time t, the state on arrival and its deviation from the clip.

    e: (..., n, 6) pose relative to the clip's, [rotation vector, displacement], body frame.
    e_dot: (..., n, 6) its rate on arrival.  a_clip: (..., n, 6) the clip's joint acceleration in the step, body frame.
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


def deviation(reference: Reference, state: State, k: int) -> tuple[Array, Array, Array]:
    """(e, e_dot, a_clip) of `Step`."""
    back = conjugate(state.rotation)
    turn = multiply(back, reference.rotation[k])
    e = np.concatenate((-log(turn), rotate(back, state.position - reference.position[k])), axis=-1)
    R = np.swapaxes(to_matrix(turn), -1, -2)
    return e, state.twist - _turned(R, reference.arrival(k)), _turned(R, reference.acceleration[k])


def _turned(R: Array, v: Array) -> Array:
    """Both halves of spatial vectors (..., 6) turned by the transposes of R (..., 3, 3)."""
    return (v.reshape(v.shape[:-1] + (2, 3)) @ R).reshape(R.shape[:-2] + (6,))


def log_rate(e: Array) -> Array:
    """(..., 3, 3) G with d/dt e = G w for a rotation vector e (..., 3) and its angular velocity w in its own frame.

    The inverse of the right Jacobian of SO(3) (Chirikjian 2012, 10.86): a potential V(e) gives the torque -G^T dV/de,
    which keeps springs of unequal stiffness from gaining energy at large angles.
    """
    angle = np.sqrt(np.einsum("...i,...i->...", e, e))
    near = angle < 1e-4
    half = 0.5 * np.where(near, 1.0, angle)
    factor = np.where(near, 1.0 / 12.0, (1.0 - half / np.tan(half)) / (4.0 * half**2))
    cross = skew(e)
    return np.eye(3) + 0.5 * cross + factor[..., None, None] * (cross @ cross)


def table(values: Array, k: int, axes: int) -> Array:
    """A setting at step k: values of `axes` axes are constant, one more axis in front runs over the steps."""
    return values[k] if np.ndim(values) > axes else values
