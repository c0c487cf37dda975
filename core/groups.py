"""Bodies of one depth with as many degrees of freedom each: what a solver of many systems takes at once."""

from dataclasses import dataclass

import numpy as np

from .lanes import Part, together
from .levels import Levels


@dataclass(frozen=True, eq=False)
class Group:
    """k bodies with d degrees of freedom each, by their places among all.

    bodies: the k of them.  dofs: their d k degrees of freedom, all first ones first.  shape: (d, k).
    body: (k,) in the model, column: (d, k) as `Model.column`.
    parent: (k,) places of what carries them, None = the world.  adds: parts of the group with their parents, of which
    none occurs twice in a part.
    """

    bodies: slice
    dofs: slice
    shape: tuple[int, int]
    body: np.ndarray
    column: np.ndarray
    parent: np.ndarray | None
    adds: tuple[tuple[Part, Part], ...]


@dataclass(frozen=True, eq=False)
class Groups:
    """All of them, the deepest first.

    order: (n,) the body at every place.  dofs: (nv,) the degree of freedom at every place of theirs, and places: (nv,)
    where each is.
    """

    each: tuple[Group, ...]
    order: np.ndarray
    dofs: np.ndarray
    places: np.ndarray


def build(parent: np.ndarray, levels: Levels, dof_body: np.ndarray, column: np.ndarray) -> Groups:
    """The groups of a tree; arguments as in `Model`."""
    counts = np.bincount(dof_body, minlength=len(parent))
    first = np.searchsorted(dof_body, np.arange(len(parent)))
    ends = [level.bodies.start for level in levels.inner]
    depths = np.split(levels.order, ends)[::-1]
    members = [level[counts[level] == d] for level in depths for d in np.unique(counts[level])]
    order = np.concatenate(members)
    place = np.argsort(order)
    groups, dofs, a, d = [], [], 0, 0
    for body in members:
        own = first[body] + np.arange(counts[body[0]])[:, None]
        up = place[parent[body]] if parent[body[0]] >= 0 else None
        adds = () if up is None else _apart(up)
        bodies, slots = slice(a, a + len(body)), slice(d, d + own.size)
        groups.append(Group(bodies, slots, (len(own), len(body)), body, column[own], up, adds))
        dofs.append(own.reshape(-1))
        a, d = bodies.stop, slots.stop
    every = np.concatenate(dofs)
    return Groups(tuple(groups), order, every, np.argsort(every))


def _apart(parent: np.ndarray) -> tuple[tuple[Part, Part], ...]:
    """`Group.adds`: the first that hang on each parent, the second ones, and so on."""
    rank = np.array([np.count_nonzero(parent[:i] == up) for i, up in enumerate(parent)])
    return tuple((together(own), together(parent[own])) for own in (np.flatnonzero(rank == r) for r in set(rank)))
