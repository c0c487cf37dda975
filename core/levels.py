"""The bodies of a tree by depth: sums along it take a step per level, on all bodies of a level and a batch at once."""

from dataclasses import dataclass

import numpy as np

from .rotation import Array


@dataclass(frozen=True, eq=False)
class Level:
    """Bodies of one depth, by their places in the order of depth.

    bodies: the m of them.  parent: (m,).  parents: (p,) the different ones.  sums: (p, m) 1.0 where they carry a body.
    """

    bodies: slice
    parent: np.ndarray
    parents: np.ndarray
    sums: Array


@dataclass(frozen=True, eq=False)
class Levels:
    """All levels but that of the roots, which comes first.

    order: (n,) bodies by depth.  place: (n,) where a body is in that.
    """

    order: np.ndarray
    place: np.ndarray
    inner: tuple[Level, ...]

    def outward(self, values: Array) -> Array:
        """(..., n, c) sums over all bodies that carry a body, itself included."""
        out = values.take(self.order, axis=-2)
        for level in self.inner:
            out[..., level.bodies, :] += out.take(level.parent, axis=-2)
        return out.take(self.place, axis=-2)

    def inward(self, values: Array) -> Array:
        """(..., n, c) sums over all bodies that a body carries, itself included."""
        out = values.take(self.order, axis=-2)
        for level in self.inner[::-1]:
            out[..., level.parents, :] += level.sums @ out[..., level.bodies, :]
        return out.take(self.place, axis=-2)


def build(parent: np.ndarray, depth: np.ndarray) -> Levels:
    """Levels of bodies with these parents (n,), -1 = world, and depths (n,), 1 = a root."""
    order = np.argsort(depth, kind="stable")
    place = np.argsort(order)
    ends = np.cumsum(np.bincount(depth))
    inner = []
    for first, last in zip(ends[1:-1].tolist(), ends[2:].tolist(), strict=True):
        up = place[parent[order[first:last]]]
        parents = np.unique(up)
        inner.append(Level(slice(first, last), up, parents, (parents[:, None] == up).astype(float)))
    return Levels(order, place, tuple(inner))
