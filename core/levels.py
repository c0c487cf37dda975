"""The bodies of a tree by depth: sums along it take a step per level, on all bodies of a level and a batch at once."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .lanes import Part
from .limbs import by_depth, carrying
from .rotation import Array


@dataclass(frozen=True, eq=False)
class Level:
    """Bodies of one depth, by their places in the order of depth.

    bodies: the m of them.  parent: (m,).  parents, sums: as in `limbs.Tier`.
    """

    bodies: slice
    parent: np.ndarray
    parents: Part
    sums: Array | None


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
            own = out[..., level.bodies, :]
            out[..., level.parents, :] += own if level.sums is None else level.sums @ own
        return out.take(self.place, axis=-2)


@lru_cache(maxsize=32)  # rigs that are hit again and again
def build(parents: tuple[int, ...]) -> Levels:
    """Levels of n bodies with these parents, -1 = world."""
    parent = np.array(parents)
    first, *inner = by_depth(parent, [[i] for i in range(len(parent))])[::-1]
    order = np.array([body for level in (first, *inner) for (body,) in level])
    place = np.argsort(order)
    levels, start = [], len(first)
    for level in inner:
        bodies = slice(start, start + len(level))
        up = place[parent[order[bodies]]]
        levels.append(Level(bodies, up, *carrying(up)))
        start = bodies.stop
    return Levels(order, place, tuple(levels))
