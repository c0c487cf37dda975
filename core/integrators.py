"""Integrators for any motion law: Euler, midpoint, Runge-Kutta 4, and Fehlberg 4(5) with step control.

The project's default step is the linearly implicit one of `simulate`; these stand beside it, to measure it and for
smooth motions without stiff springs.  Poses stay on the manifold (Munthe-Kaas 1999): a step seeks the rotation vector
theta with q = q0 exp(theta), whose rate is dexp^-1(theta) w for a body-frame angular velocity w, so that every
Runge-Kutta method keeps its order and rotations stay rotations.  Positions and twists are vectors:
p' = R(q) v, twist' = acceleration(state, t).  A joint with one axis stays on it, because all stages turn about it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .dynamics import Kinematics, Load, forward_dense, kinematics
from .errors import SimulationError
from .lanes import dot
from .model import Model, State
from .rotation import Array, cross, exp, multiply, normalize, rotate

Acceleration = Callable[[State, float], Array]  # twist accelerations (..., n, 6), body frame, at a state and a time
Act = Callable[[Load, State, Kinematics, float], None]  # adds what acts at a state and a time to the load
Forward = Callable[[Model, Kinematics, Load], Array]
Method = Callable[[State, float, float, Acceleration], State]  # one step of a length [s] from a time [s]


def of_model(
    model: Model,
    gravity: Array,
    act: Act | None = None,
    forward: Forward = forward_dense,
    prescribed: Callable[[float], Array] | None = None,
) -> Acceleration:
    """The acceleration of a model under gravity (3,) and whatever `act` adds to the load.

    prescribed: joint twist accelerations (n, 6), body frame, of a time [s]; only what the joints' axes leave open
    counts.
    Impedances are no part of a continuous motion law: `act` should add none.
    """

    def acceleration(state: State, t: float) -> Array:
        kin = kinematics(model, state)
        load = Load.zero(model, gravity, state.twist.shape[:-2])
        if prescribed is not None:
            load.prescribed = load.prescribed + np.einsum("nij,nj->ni", model.residual, prescribed(t))
        if act is not None:
            act(load, state, kin, t)
        return load.prescribed + model.expand(forward(model, kin, load))

    return acceleration


@dataclass(frozen=True, eq=False)
class Tableau:
    """An explicit Runge-Kutta method of s stages (Butcher): nodes c (s,), stages a (s, s), weights b (s,)."""

    order: int
    c: Array
    a: Array
    b: Array


def _tableau(order: int, rows: list[list[float]], b: list[float]) -> Tableau:
    a = np.zeros((len(b), len(b)))
    for i, row in enumerate(rows):
        a[i + 1, : len(row)] = row
    return Tableau(order, a.sum(axis=1), a, np.array(b))


EULER = _tableau(1, [], [1.0])
MIDPOINT = _tableau(2, [[0.5]], [0.0, 1.0])
RK4 = _tableau(4, [[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6])
FEHLBERG = _tableau(  # Fehlberg 1969, NASA TR R-315, table III
    5,
    [
        [1 / 4],
        [3 / 32, 9 / 32],
        [1932 / 2197, -7200 / 2197, 7296 / 2197],
        [439 / 216, -8.0, 3680 / 513, -845 / 4104],
        [-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40],
    ],
    [16 / 135, 0.0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55],
)
FOURTH: Array = np.array([25 / 216, 0.0, 1408 / 2565, 2197 / 4104, -1 / 5, 0.0])  # its embedded weights of order 4


def dexp_inverse(theta: Array, w: Array) -> Array:
    """Rate of theta (..., 3) in q = q0 exp(theta) for the body-frame angular velocity w (..., 3) [rad/s].

    w + theta x w / 2 + (1 - x cot x) / |theta|^2 theta x (theta x w) with x = |theta| / 2.
    """
    square = dot(theta, theta)
    x = 0.5 * np.sqrt(square)
    small = x < 1e-2
    safe = np.where(small, 1.0, x)
    series = 1.0 / 12.0 + square / 720.0 + square**2 / 30240.0
    factor = np.where(small, series, (1.0 - safe / np.tan(safe)) / (4.0 * safe**2))
    turn = cross(theta, w)
    return w + 0.5 * turn + factor[..., None] * cross(theta, turn)


def _moved(state: State, change: Array) -> State:
    """The state after a change (..., n, 12): rotation vector, displacement in the parent, twist."""
    rotation = normalize(multiply(state.rotation, exp(change[..., :3])))
    return State(rotation, state.position + change[..., 3:6], state.twist + change[..., 6:])


def _rate(at: State, theta: Array, acceleration: Array) -> Array:
    """(..., n, 12) rate of change of the step's own coordinates at a stage."""
    w, v = at.twist[..., :3], at.twist[..., 3:]
    return np.concatenate((dexp_inverse(theta, w), rotate(at.rotation, v), acceleration), axis=-1)


def stages(tableau: Tableau, state: State, t: float, h: float, acceleration: Acceleration) -> Array:
    """(s, ..., n, 12) rates at the stages of one step."""
    k = np.zeros((len(tableau.b), *state.twist.shape[:-1], 12))
    for i, (c, row) in enumerate(zip(tableau.c, tableau.a, strict=True)):
        change = h * np.einsum("s,s...->...", row[:i], k[:i])
        at = _moved(state, change) if i else state
        k[i] = _rate(at, change[..., :3], acceleration(at, t + float(c) * h))
    return k


def explicit(tableau: Tableau) -> Method:
    """The method of a tableau."""

    def step(state: State, t: float, h: float, acceleration: Acceleration) -> State:
        k = stages(tableau, state, t, h, acceleration)
        return _moved(state, h * np.einsum("s,s...->...", tableau.b, k))

    return step


def semi_implicit_euler(state: State, t: float, h: float, acceleration: Acceleration) -> State:
    """The twist first, the pose by the new twist: order 1, but it neither gains nor loses energy steadily."""
    twist = state.twist + h * acceleration(state, t)
    rotation = normalize(multiply(state.rotation, exp(h * twist[..., :3])))
    return State(rotation, state.position + h * rotate(state.rotation, twist[..., 3:]), twist)


METHODS: dict[str, Method] = {
    "euler": explicit(EULER),
    "semi-implicit euler": semi_implicit_euler,
    "midpoint": explicit(MIDPOINT),
    "rk4": explicit(RK4),
    "fehlberg": explicit(FEHLBERG),
}


def integrate(method: Method, state: State, times: Array, acceleration: Acceleration) -> Iterator[State]:
    """Yield the state at times[1:]; one step each, from the state at times[0] [s], ascending."""
    if not np.all(np.diff(times) >= 0.0):
        raise ValueError("integrate: expected ascending times, got some that are not")
    for t, after in pairwise(np.asarray(times, dtype=np.float64).tolist()):
        state = method(state, t, after - t, acceleration)
        _finite(state, t)
        yield state


@dataclass(frozen=True, eq=False)
class Progress:
    """Where an adaptive integration stands: time t [s], the state there, and the length h [s] it would try next.

    taken, rejected: steps so far.  error: the last accepted step's, as a part of the tolerance.
    """

    t: float
    state: State
    h: float
    taken: int = 0
    rejected: int = 0
    error: float = 0.0


def adaptive(
    state: State,
    start: float,
    end: float,
    acceleration: Acceleration,
    tolerance: float = 1e-8,
    first: float = 1e-3,
    most: int = 100_000,
) -> Iterator[Progress]:
    """Yield the progress after every accepted step from `start` to `end` [s], by Fehlberg's pair of orders 4 and 5.

    The difference of the pair, the error of a step, stays below `tolerance` [rad, m, rad/s, m/s], relative where a
    value exceeds 1; the fifth-order result goes on.  A batch shares its steps.  first: [s] length tried first.
    Raises SimulationError after `most` steps, rejected ones included, and where no step is short enough.
    """
    if not -np.inf < start <= end < np.inf:
        raise ValueError(f"adaptive: expected an end after the start, got {start} to {end} s")
    if not (tolerance > 0.0 and first > 0.0):
        raise ValueError(f"adaptive: expected a tolerance and a first step above 0, got {tolerance} and {first}")
    _finite(state, start)
    now = Progress(start, state, min(first, end - start))
    while now.t < end:
        now = _controlled(now, end, acceleration, tolerance, most)
        yield now


def _controlled(now: Progress, end: float, acceleration: Acceleration, tolerance: float, most: int) -> Progress:
    """One accepted step: shortened until its error fits."""
    h, tried = now.h, 0
    while now.taken + now.rejected + tried < most and now.t + h > now.t:
        last = now.t + h * (1.0 + 1e-9) >= end
        h = end - now.t if last else h
        ahead, error = _pair(now.state, now.t, h, acceleration, tolerance)
        factor = float(np.clip(0.9 * max(error, 1e-9) ** -0.2, 0.2, 5.0)) if np.isfinite(error) else 0.2
        if error <= 1.0:
            after = h * (min(factor, 1.0) if tried else factor)  # no growth right after a rejection
            return Progress(end if last else now.t + h, ahead, after, now.taken + 1, now.rejected + tried, error)
        h, tried = min(factor, 0.9) * h, tried + 1
    raise SimulationError(
        f"The adaptive integrator stood at {now.t:.4g} s after {now.taken + now.rejected + tried} steps. Loosen the"
        " tolerance, lower the stiffness of the springs, or use the default implicit integrator."
    )


def _pair(state: State, t: float, h: float, acceleration: Acceleration, tolerance: float) -> tuple[State, float]:
    """The fifth-order step and its distance from the fourth-order one, as a part of the tolerance."""
    k = stages(FEHLBERG, state, t, h, acceleration)
    ahead = _moved(state, h * np.einsum("s,s...->...", FEHLBERG.b, k))
    gap = h * np.einsum("s,s...->...", FEHLBERG.b - FOURTH, k)
    size = np.concatenate((np.ones_like(ahead.position), ahead.position, ahead.twist), axis=-1)
    return ahead, float(np.max(np.abs(gap) / (tolerance * np.maximum(np.abs(size), 1.0)), initial=0.0))


def _finite(state: State, t: float) -> None:
    if not (np.all(np.isfinite(state.twist)) and np.all(np.isfinite(state.position))):
        raise SimulationError(
            f"The explicit integrator broke down at {t:.4g} s. Shorten the step, lower the stiffness of the springs, or"
            " use the default implicit integrator."
        )
