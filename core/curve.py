"""Curves that an artist gives by a few points: from one to the next by a cosine, without swinging over."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import SituationError
from .rotation import Array

Points = tuple[tuple[float, float], ...]
Value = float | Points  # a number, or its curve over the time since a blow [s]


def at(points: Points, t: ArrayLike) -> Array:
    """Values at t (...,); before the first and after the last point theirs.  points: (t, value) in order of t."""
    times, values = np.array(points).T
    t = np.clip(np.asarray(t, dtype=np.float64), times[0], times[-1])
    i = np.clip(np.searchsorted(times, t, side="right") - 1, 0, max(len(times) - 2, 0))
    j = np.minimum(i + 1, len(times) - 1)
    u = (t - times[i]) / np.maximum(times[j] - times[i], 1e-12)
    return values[i] + 0.5 * (1.0 - np.cos(np.pi * u)) * (values[j] - values[i])


def over(value: Value, t: ArrayLike) -> Array | float:
    """A number as it stands, a curve at t (...,)."""
    return value if isinstance(value, (int, float)) else at(value, t)


def later(value: Any, by: float) -> Any:
    """A curve from `by` seconds on, level where it is cut; what is none as it stands."""
    if not isinstance(value, tuple) or by <= 0.0:
        return value
    return (0.0, float(at(value, by))), *((t - by, own) for t, own in value if t > by)


def begins(value: Value) -> float:
    """A number, or with what its curve begins."""
    return value if isinstance(value, (int, float)) else value[0][1]


def check(points: Sequence[Sequence[float]], what: str, high: float) -> None:
    """Refuse points that are no curve from 0 s on with values from 0 to `high`."""
    if not all(len(point) == 2 and np.isfinite(point).all() for point in points):
        raise SituationError(f"{what}: a point of the curve is no pair of numbers. Write it as [seconds, value].")
    times = [point[0] for point in points]
    if times and (times[0] < 0.0 or any(b <= a for a, b in zip(times, times[1:], strict=False))):
        raise SituationError(f"{what}: the curve's times are {times}. Let them rise, from 0 s on.")
    wrong = next((value for _, value in points if not 0.0 <= value <= high), None)
    if wrong is not None:
        raise SituationError(f"{what}: the curve has the value {wrong:g}. Give it 0 to {high:g}.")
