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


def plane(points: Array) -> Array:
    """(...) the first two of vectors (..., 2 or more) as complex numbers."""
    return np.ascontiguousarray(points[..., :2]).view(complex)[..., 0]


def dot(a: complex, b: complex) -> float:
    """Of two vectors as plain numbers."""
    return a.real * b.real + a.imag * b.imag


def pair(z: complex) -> tuple[float, float]:
    """The vector of a plain number."""
    return z.real, z.imag


def onto(points: list[complex], x: complex) -> complex:
    """The point of the convex hull of points that is nearest to x.

    From an edge the search goes on to the point that lies farthest out from it towards x, until none does or three
    enclose x (Gilbert, Johnson and Keerthi 1988): no hull is made.
    """
    from_x = [point - x for point in points]
    on = a = b = min(from_x, key=abs)
    size = abs(on)
    while size > 0.0:
        u, v = on.real, on.imag
        along = [u * point.real + v * point.imag for point in from_x]
        c = from_x[along.index(min(along))]
        end, nearer = a, _on_edge(a, c)
        if a is not b:
            turn = _turn(c, b)
            if _turn(a, c) * turn > 0.0 and turn * _turn(b, a) > 0.0:
                return x
            other = _on_edge(b, c)
            if abs(other) < abs(nearer):
                end, nearer = b, other
        if abs(nearer) >= size:
            break
        size, on, a, b = abs(nearer), nearer, end, c
    return x + on


def _on_edge(a: complex, b: complex) -> complex:
    """The point between two that is nearest to 0."""
    way = b - a
    size = way.real * way.real + way.imag * way.imag
    return a - way * min(max((way.real * a.real + way.imag * a.imag) / size, -1.0), 0.0) if size > 0.0 else a


def _turn(a: complex, b: complex) -> float:
    """Above 0 where the turn about 0 from a to b is to the left."""
    return a.real * b.imag - a.imag * b.real


def fall(x: Plane, v: Plane, p: Plane, pace: float, h: float) -> tuple[Plane, Plane]:
    """The pendulum after a time h [s] over a pressure that stays at p: (x, v), exactly."""
    cosh, sinh = math.cosh(pace * h), math.sinh(pace * h)
    away = x - p
    return p + away * cosh + v * (sinh / pace), away * (pace * sinh) + v * cosh


def ahead(capture: complex, p: complex, pace: float, h: float) -> complex:
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
