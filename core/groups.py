"""Bodies of one depth with as many degrees of freedom each: what a solver of many systems takes at once."""

from dataclasses import dataclass

import numpy as np

from .lanes import Part, together
from .levels import Levels


@dataclass(frozen=True, eq=False)
class Group:
    """k bodies with d degrees of freedom each, by their places among all.

    bodies: the k of them.  dofs: their d k degrees of freedom, all first ones first.  shape: (d, k).
    blocks: where their impedances (d, d, k) lie in `Groups.blocks`.
    parent: (k,) places of what carries them, n = the world.  adds: parts of the group with their parents, of which none
    occurs twice in a part; of what hangs on the world there are none.
    """

    bodies: slice
    dofs: slice
    shape: tuple[int, int]
    blocks: slice
    parent: np.ndarray
    adds: tuple[tuple[Part, Part], ...]


@dataclass(frozen=True, eq=False)
class Groups:
    """All of them, the deepest first.

    order: (n,) the body at every place.  dofs: (nv,) the degree of freedom at every place of theirs, and places: (nv,)
    where each is.  blocks: flat indices of all groups' impedances in a (width, width, n) table of them.
    """

    each: tuple[Group, ...]
    order: np.ndarray
    dofs: np.ndarray
    places: np.ndarray
    blocks: np.ndarray


def build(parent: np.ndarray, levels: Levels, dof_body: np.ndarray, column: np.ndarray, width: int) -> Groups:
    """The groups of a tree; arguments as in `Model`."""
    counts = np.bincount(dof_body, minlength=len(parent))
    first = np.searchsorted(dof_body, np.arange(len(parent)))
    ends = [level.bodies.start for level in levels.inner]
    depths = np.split(levels.order, ends)[::-1]
    members = [level[counts[level] == d] for level in depths for d in np.unique(counts[level])]
    order = np.concatenate(members)
    place = np.argsort(order)
    groups, dofs, blocks, a, d, z = [], [], [], 0, 0, 0
    for body in members:
        own = first[body] + np.arange(counts[body[0]])[:, None]
        of_world = parent[body[0]] < 0
        up = np.full(len(body), len(parent)) if of_world else place[parent[body]]
        block = ((width * column[own][:, None] + column[own]) * len(parent) + body).reshape(-1)
        bodies, slots, square = slice(a, a + len(body)), slice(d, d + own.size), slice(z, z + len(block))
        groups.append(Group(bodies, slots, (len(own), len(body)), square, up, () if of_world else _apart(up)))
        dofs.append(own.reshape(-1))
        blocks.append(block)
        a, d, z = bodies.stop, slots.stop, square.stop
    every = np.concatenate(dofs)
    return Groups(tuple(groups), order, every, np.argsort(every), np.concatenate(blocks))


def _apart(parent: np.ndarray) -> tuple[tuple[Part, Part], ...]:
    """`Group.adds`: the first that hang on each parent, the second ones, and so on."""
    rank = np.array([np.count_nonzero(parent[:i] == up) for i, up in enumerate(parent)])
    return tuple((together(own), together(parent[own])) for own in (np.flatnonzero(rank == r) for r in set(rank)))
