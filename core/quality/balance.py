"""Weight: whether the body would fall where it doesn't, and forces that no ground can give."""

from collections.abc import Sequence

import numpy as np

from ..rotation import Array
from .finding import Finding, at_most
from .ground import Stand
from .motion import RATE, Motion, sustained, widened, within

FALLING = 0.35  # [s] out of balance before it shows
FRICTION = 1.0
PUSH = 0.2  # [s] over which impossible forces are summed


def lean(motion: Motion, now: Stand) -> Array:
    """(K,) distance [m] of the extrapolated centre of mass (Hof 2005) from the ground that the feet enclose; 0 in the
    air."""
    g = abs(float(motion.figure.actor.gravity[2]))
    height = np.maximum(motion.com[:, 2] - now.level.min(), 0.1)
    toward = (motion.com_velocity[:, :2] - now.speed) * np.sqrt(height / g)[:, None]
    x = motion.com[:, :2] + toward
    feet, low = now.soles[..., :2], now.bearing
    some = np.take_along_axis(feet, low.argmax(axis=1)[:, None, None], axis=1)
    feet = np.where(low[..., None], feet, some)  # soles in the air stand in for one on the ground
    return np.where(low.any(axis=1), _from_hull(x[:, None] - feet), 0.0)


def _from_hull(d: Array) -> Array:
    """(K,) distance of a point from the convex hull of others, given its ways d (K, f, 2) from them."""
    f = d.shape[1]
    i, j = np.triu_indices(f, 1)
    a, b = d[:, i], d[:, j]
    edge = b - a
    length = np.einsum("kei,kei->ke", edge, edge)
    t = np.clip(-np.einsum("kei,kei->ke", a, edge) / np.maximum(length, 1e-12), 0.0, 1.0)
    nearest = (
        np.linalg.norm(a + t[..., None] * edge, axis=-1).min(axis=1) if len(i) else np.linalg.norm(d[:, 0], axis=-1)
    )
    # inside: no direction has all points on one side; the largest gap between their bearings is below half a turn
    bearing = np.sort(np.arctan2(d[..., 1], d[..., 0]), axis=1)
    gap = np.diff(np.concatenate((bearing, bearing[:, :1] + 2.0 * np.pi), axis=1), axis=1).max(axis=1)
    return np.where(gap < np.pi, 0.0, nearest)


def balance(motion: Motion, now: Stand, clip: Motion | None, own: Stand | None) -> Finding:
    """[cm] how far the weight stays beyond the feet, against the clip at the same moment."""
    x = lean(motion, now)
    if clip is not None and own is not None:
        x = x - lean(clip, own)
    stays = sustained(x, FALLING)
    found = at_most("balance", 100.0 * stays[:, None], "cm", motion, None, len(x) - len(stays))
    return Finding("balance", found.value, "cm", motion.figure.names[0] if found.value else "", found.time)


def impossible(motion: Motion, now: Stand) -> Array:
    """(K,) [N] the part of the force on the body that neither its weight nor ground under its feet explains."""
    mass = float(motion.figure.actor.masses.mass.sum())
    a = np.gradient(motion.com_velocity, 1.0 / RATE, axis=0)
    F = mass * (a - motion.figure.actor.gravity)
    across, up = np.linalg.norm(F[:, :2], axis=-1), F[:, 2]
    slope = np.hypot(1.0, FRICTION)
    outside = np.maximum(across - FRICTION * up, 0.0) / slope
    apex = FRICTION * across + up < 0.0  # nearer to the cone's tip than to its side
    outside = np.where(apex, np.hypot(across, up), outside)
    return np.where(now.bearing.any(axis=1), outside, np.hypot(across, up))


def momentum(
    motion: Motion, now: Stand, clip: Motion | None, own: Stand | None, blows: Sequence[tuple[float, float]] = ()
) -> Finding:
    """[N s] impulse from nowhere within PUSH, beyond the clip's own.  blows: times [s] in which a hit explains it."""
    x = impossible(motion, now)
    if clip is not None and own is not None:
        x = np.maximum(x - widened(impossible(clip, own), 0.1), 0.0)
    x = np.where(within(motion.times, blows), 0.0, x)
    width = min(int(PUSH * RATE), len(x))
    total = np.cumsum(np.concatenate(([0.0], x))) / RATE
    found = at_most("momentum", (total[width:] - total[:-width])[:, None], "N s", motion, None, width)
    return Finding("momentum", found.value, "N s", motion.figure.names[0] if found.value else "", found.time)
