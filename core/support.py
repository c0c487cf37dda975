"""The ground that feet enclose, and a body over it as a linear inverted pendulum (Hof 2008; Pratt et al. 2006).

In the ground plane a centre of mass at x, over a centre of pressure at p, is pushed away from it: x'' = w^2 (x - p).
Its capture point x + x'/w runs away from p alone; a foot that stands there brings the body to rest.
"""

import math
from typing import TypeVar

import numpy as np

from .rotation import Array

Plane = TypeVar("Plane", Array, complex)


def plain(v: Array) -> complex:
    """A vector (2,) as one plain number, for what is asked at every sample: numpy's calls cost ten times as much."""
    return complex(*v.tolist())


def vector(z: complex) -> Array:
    """(2,) of a plain number."""
    return np.array((z.real, z.imag))


def norm(v: Array) -> float:
    """Of a single vector; numpy's takes four times as long for it."""
    return math.hypot(*v.tolist())


def nearest(points: Array, x: Array) -> Array:
    """(2,) the point of the convex hull of points (f, 2) that is nearest to x (2,)."""
    return vector(onto(points.tolist(), plain(x)))


def onto(points: list[list[float]], x: complex) -> complex:
    """`nearest` in plain numbers."""
    here, there = x.real, x.imag
    hull = _hull([(a - here, b - there) for a, b in points])
    on, least, inside = (0.0, 0.0), float("inf"), len(hull) > 2
    for (a, b), (c, d) in zip(hull, hull[1:] + hull[:1], strict=True):
        along, up = c - a, d - b
        inside = inside and a * up - b * along >= 0.0
        t = min(max(-(a * along + b * up) / max(along * along + up * up, 1e-12), 0.0), 1.0)
        at = a + t * along, b + t * up
        size = at[0] * at[0] + at[1] * at[1]
        if size < least:
            on, least = at, size
    return x if inside else x + complex(*on)


def _hull(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of the convex hull, counter-clockwise (Andrew's monotone chains, 1979)."""
    ranked = sorted(points)
    hull: list[tuple[float, float]] = []
    for sweep in (ranked, ranked[::-1]):
        chain: list[tuple[float, float]] = []
        for c in sweep:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], c) <= 0.0:
                chain.pop()
            chain.append(c)
        hull += chain[:-1]
    return hull or ranked


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Above 0 where the way from a over b to c turns to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def fall(x: Plane, v: Plane, p: Plane, pace: float, h: float) -> tuple[Plane, Plane]:
    """The pendulum after a time h [s] over a pressure that stays at p: (x, v), exactly."""
    cosh, sinh = math.cosh(pace * h), math.sinh(pace * h)
    away = x - p
    return p + away * cosh + v * (sinh / pace), away * (pace * sinh) + v * cosh


def ahead(capture: Array, p: Array, pace: float, h: float) -> Array:
    """The capture point after a time h [s] over a pressure that stays at p."""
    return p + (capture - p) * math.exp(pace * h)


def ease(x: float) -> float:
    """`smooth` of a plain number."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


def smooth(x: Array | float) -> Array:
    """From 0 at 0 to 1 at 1, level at both ends."""
    x = np.minimum(np.maximum(x, 0.0), 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))
