"""Smooth values between samples: the clip between its frames."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from .rotation import Array, continuous, normalize


def hermite(times: Array, values: Array, at: Array) -> Array:
    """Cubic Hermite interpolation with three-point tangents (Catmull-Rom on uneven times), C1.

    times: (T,) ascending [s].  values: (T, ...).  at: (K,) [s]; outside the samples the end value is held.
    """
    near = _near(times, at)
    times, values = times[near], values[near]
    return cubic(times, values, tangents(times, values), at)


def tangents(times: Array, values: Array) -> Array:
    """(T, ...) three-point tangents of samples (T, ...), one-sided at the ends."""
    step = np.diff(times).reshape((-1,) + (1,) * (values.ndim - 1))
    slope = np.diff(values, axis=0) / step
    inner = (slope[:-1] * step[1:] + slope[1:] * step[:-1]) / (step[:-1] + step[1:])
    return np.concatenate((slope[:1], inner, slope[-1:]))


def cubic(times: Array, values: Array, tangent: Array, at: Array) -> Array:
    """The same with given tangents (T, ...): what lies between two samples depends on these two alone."""
    at = np.clip(at, times[0], times[-1])
    i = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    step = np.diff(times)[i]
    tail = (-1,) + (1,) * (values.ndim - 1)
    h, u = step.reshape(tail), ((at - times[i]) / step).reshape(tail)
    v = 1.0 - u
    return (
        (1.0 + 2.0 * u) * v * v * values[i]
        + u * u * (3.0 - 2.0 * u) * values[i + 1]
        + u * v * h * (v * tangent[i] - u * tangent[i + 1])
    )


def smoothly(times: Array, values: Array) -> Callable[[Array], Array]:
    """`hermite` of samples, for many moments: their tangents are worked out once."""
    return partial(cubic, times, values, tangents(times, values))


def linear(times: Array, values: Array, at: Array) -> Array:
    """Straight lines between samples (T, ...); outside the end value is held."""
    flat = values.reshape(len(times), -1)
    return np.stack([np.interp(at, times, x) for x in flat.T], axis=-1).reshape((len(at), *values.shape[1:]))


def rotations(times: Array, q: Array, at: Array) -> Array:
    """Unit quaternions (T, ..., 4) at other times: `hermite` of the sign-continuous components, normalised."""
    near = _near(times, at)
    return normalize(hermite(times[near], continuous(q[near]), at))


@dataclass(frozen=True, eq=False)
class Poses:
    """`rotations` and `hermite` of a clip at once, with all that is the same at any moments worked out in advance.

    times: (T,) [s].  values, tangent: (T, n, 7) rotations and places with their rates of change.
    """

    times: Array
    values: Array
    tangent: Array

    @classmethod
    def of(cls, times: Array, q: Array, p: Array) -> "Poses":
        """Of samples q (T, n, 4), p (T, n, 3)."""
        values = np.concatenate((continuous(q), p), axis=-1)
        return cls(times, values, tangents(times, values))

    def at(self, times: Array) -> tuple[Array, Array]:
        """(K, n, 4), (K, n, 3) at times (K,)."""
        both = cubic(self.times, self.values, self.tangent, times)
        return normalize(both[..., :4]), both[..., 4:]


def _near(times: Array, at: Array) -> slice:
    """The samples that matter: those around and one more at both ends, for the tangents."""
    first, last = np.searchsorted(times, (np.min(at), np.max(at)), side="right")
    return slice(max(int(first) - 2, 0), max(int(last) + 2, 2))
