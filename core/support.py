"""The ground that feet enclose, and a body over it as a linear inverted pendulum (Hof 2008; Pratt et al. 2006).

In the ground plane a centre of mass at x, over a centre of pressure at p, is pushed away from it: x'' = w^2 (x - p).
Its capture point x + x'/w runs away from p alone; a foot that stands there brings the body to rest.
"""

import numpy as np

from .rotation import Array


def nearest(points: Array, x: Array) -> Array:
    """(2,) the point of the convex hull of points (f, 2) that is nearest to x (2,)."""
    d = points - x
    bearing = np.sort(np.arctan2(d[:, 1], d[:, 0]))
    gaps = np.diff(bearing, append=bearing[0] + 2.0 * np.pi)
    if len(points) > 2 and gaps.max() < np.pi:
        return x
    i, j = np.triu_indices(len(points))
    a, edge = d[i], d[j] - d[i]
    length = np.einsum("ei,ei->e", edge, edge)
    t = np.clip(-np.einsum("ei,ei->e", a, edge) / np.maximum(length, 1e-12), 0.0, 1.0)
    on = a + t[:, None] * edge
    return np.asarray(x + on[np.argmin(np.einsum("ei,ei->e", on, on))])


def fall(x: Array, v: Array, p: Array, pace: float, h: float) -> tuple[Array, Array]:
    """The pendulum after a time h [s] over a pressure that stays at p: (x, v), exactly."""
    cosh, sinh = np.cosh(pace * h), np.sinh(pace * h)
    away = x - p
    return p + away * cosh + v * (sinh / pace), away * (pace * sinh) + v * cosh


def ahead(capture: Array, p: Array, pace: float, h: float) -> Array:
    """The capture point after a time h [s] over a pressure that stays at p."""
    return p + (capture - p) * np.exp(pace * h)


def smooth(x: Array) -> Array:
    """From 0 at 0 to 1 at 1, level at both ends."""
    x = np.clip(x, 0.0, 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))
