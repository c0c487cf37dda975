"""What forces see of one step, and the rule they keep."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Protocol, TypeVar

import numpy as np

from ..dynamics import Kinematics, Load, Turns
from ..lanes import beside, product
from ..model import Model, State
from ..reference import Reference
from ..rotation import Array, exp, log_and_rate
from ..spatial import apply, apply_T
from ..support import smooth

Result = TypeVar("Result")


@dataclass(eq=False)  # not frozen: one is made in every sub-step, and to freeze it would be a fiftieth of that
class Step:
    """What forces may look at: step k at time t, the state on arrival and its deviation from the clip.

    h: [s] how long the step's acceleration acts (`Reference.kicks`): its length, if the one before was as long.
    kin: of the state; passing: with the velocities that the solver's velocity products see, half a step later.
    e: (..., n, 6) pose relative to the clip's, [rotation vector, displacement], body frame.
    turn: (..., n, 4) the rotation of e as a quaternion of either sign.
    rate: (..., n, 3, 3) d/dt of the rotation vector in e per angular velocity, see `rotation.log_and_rate`.
    e_dot: (..., n, 6) its velocity on arrival.  a_clip: (..., n, 6) the clip's joint acceleration, body frame.
    last: (..., n, 6) acceleration of the joint twists in the step before.  off: the same off the clip's.
    """

    model: Model
    reference: Reference
    state: State
    kin: Kinematics
    passing: Kinematics
    k: int
    t: float
    h: float
    e: Array
    e_dot: Array
    a_clip: Array
    last: Array
    off: Array
    rate: Array
    turn: Array

    def from_rest(self, bodies: np.ndarray, torque: Array, Z: Array) -> Array:
        """(..., m, 3) what makes torques on joints with impedances (..., m, 3, 3) to all of their acceleration out of
        such as give way to what goes off the clip's only, as `Load` takes them."""
        return torque - apply(Z, self.a_clip.take(bodies, axis=-2)[..., :3])

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


class Turning:
    """A force that turns the joints of m different `bodies` (m,)."""

    bodies: np.ndarray

    @cached_property
    def _turns(self) -> Turns:
        return Turns.of(self.bodies)


def deviation(reference: Reference, state: State, k: int, last: Array | None = None) -> tuple[Array, ...]:
    """(e, e_dot, a_clip, last, off, rate, turn) of `Step`.  last: None = the clip's."""
    turn = apply(reference.back[k], state.rotation)
    e, rate = log_and_rate(turn)
    clip = product(reference.rows[k], state.R).reshape(e.shape[:-1] + (18,))
    away = apply_T(state.R, state.position - beside(state.position, reference.position[k]))
    last = clip[..., 12:] if last is None else last
    off = last - clip[..., 12:]
    return np.concatenate((e, away), axis=-1), state.twist - clip[..., :6], clip[..., 6:12], last, off, rate, turn


INERTIA = 0.25  # part of h^2 K that counts as inertia: from here on no spring is too stiff (Newmark 1959, beta)
SHOWN, LOST = 0.5, 2.0  # [rad] turn of an oscillation in a step that still shows well, and that is lost between steps


def stiff(turn: Array | float) -> Array:
    """How much of a spring is taken at the end of the step, for the turn of its oscillation in a step [rad].

    0 up to SHOWN: second order, keeps energy.  1 from LOST on: an oscillation that no step can show is damped away.
    """
    return smooth((np.asarray(turn) - SHOWN) / (LOST - SHOWN))


def implicit(x: Array | float) -> Array:
    """Part of a damper that acts at the end of the step, for x = step length times damping over inertia.

    One half for slow dampers, which makes them second order; growing so that a step decays by exp(-x), however large.
    """
    x = np.asarray(x)
    small = x < 1e-3
    safe = np.where(small, 1.0, x)
    return np.where(small, 0.5 + x / 12.0, -1.0 / np.expm1(-safe) - 1.0 / safe)


Taken = tuple[Array, Array, Array, Array]


def taken(h: Array | float, rate: Array, pace: Array) -> tuple[Array, Array, Array]:
    """How springs and dampers are taken in steps of lengths h [s], for damping over inertia and circular frequencies
    [1/s]: how long after the arrival [s] the spring is looked at, and factors on its stiffness [s^2] and on its damping
    [s] in the impedance."""
    late = stiff(h * pace)
    return h * late, h * h * (INERTIA + (1.0 - INERTIA) * late), h * implicit(h * rate)


def before(rate: Array, gained: Array) -> Array:
    """Rates less what was gained, but no more of that than they are themselves: twice a rate at most, and never against
    it.  What changes faster no step can show, and a damper that went by it would turn a bone back."""
    most = np.abs(rate)
    return rate - np.minimum(np.maximum(gained, -most), most)


def once(laws: Callable[..., Result]) -> Callable[..., Result]:
    """A method of a force that sees of a reference only the lengths (K,) of its steps: worked out once as long as it
    gets the same array.

    What it gets besides must be the same in every call."""
    name = laws.__name__ + " of kicks"

    @wraps(laws)
    def known(self: Any, kicks: Array, *more: Any) -> Result:
        last: tuple[Array, Result] | None = self.__dict__.get(name)
        if last is None or last[0] is not kicks:
            self.__dict__[name] = last = kicks, laws(self, kicks, *more)
        return last[1]

    return known


@dataclass(frozen=True, eq=False)
class Swift:
    """How fast springs and dampers would swing and decay: their circular frequencies `pace` and damping over inertia
    `rate` [1/s], (m,) each; infinite = not known, taken wholly at the end of a step.

    ease: (m,) how many times as easily a joint turns alone.  It turns slowly with all that it carries, for which rate
    and pace are, and fast with its own bone, for the limb stays behind at the next joint.  What suits the limb throws
    the bone back from a range that it runs into, and to and fro; what suits the bone is of first order for the limb.
    So there a damper is taken by a lag later, as late as the bone needs, at a rate that is less by what the
    acceleration of the step before gains in that time, see `before`: second order for both.
    """

    rate: Array
    pace: Array
    ease: Array | float = 1.0

    @cached_property
    def _known(self) -> dict[float, Taken]:
        return {}

    def taken(self, h: float) -> Taken:
        """`taken`, with the damping as late as the bone needs, and the lag in that [s], (m,) each, for steps of a
        length [s], of which few occur."""
        if h not in self._known:
            late, inert, drag = taken(h, self.rate, self.pace)
            whole = h * implicit(h * self.rate * self.ease)
            self._known[h] = late, inert, whole, whole - drag
        return self._known[h]


def unknown(m: int) -> Swift:
    """Of m springs of which nothing is known."""
    return Swift(np.full(m, np.inf), np.full(m, np.inf))


def each(swift: Swift | None, m: int) -> Swift:
    """The same for several angles of every joint, (m, 1); None = nothing is known of them."""
    own = swift or unknown(m)
    return Swift(own.rate[:, None], own.pace[:, None], np.reshape(own.ease, (-1, 1)))


def log_rate(e: Array) -> Array:
    """(..., 3, 3) the rate of `rotation.log_and_rate` for a rotation vector e (..., 3)."""
    return log_and_rate(exp(e))[1]


def table(values: Array, k: int, axes: int) -> Array:
    """A setting at step k: values of `axes` axes are constant, one more axis in front runs over the steps."""
    return values[k] if np.ndim(values) > axes else values
