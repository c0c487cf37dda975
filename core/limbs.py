"""A tree cut into limbs: connected groups of bodies that the tree solver takes as one, and all of one depth at once.

A limb is an unbranched chain with the short ones that it carries; bodies that no dynamic joint moves are merged into
the one that carries them.  A human has a trunk with a head, four limbs and ten fingers: three depths instead of ten
levels of bodies.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .lanes import Part, together
from .rotation import Array

SLOTS = 3  # degrees of freedom at a place: a free base has two places, and limbs hardly any padding
Sizes = tuple[int, int, int]  # degrees of freedom: of a chain, of one that joins the limb that carries it, of a limb
SIZES: Sizes = 15, 9, 30


@dataclass(frozen=True, eq=False)
class Tier:
    """k limbs of one depth, with up to b places of bodies of up to d degrees of freedom each, m = b * d in all; what
    is fewer is padded.  A body with more than SLOTS of them has several places, of which the first has its inertia.

    shape: (k, b, d).  bodies, dofs: where their places lie among those of all tiers.
    carried: (k, b, b) 1.0 where body j of a limb, at its first place, is body i or hangs on it.
    above: (k, m, m) 1.0 where the body of degree of freedom j carries that of i, 0.5 where both move one body.
    ways: (k, b, m) 1.0 where a degree of freedom moves a body.
    parent: (k,) place of the body that carries the limb.  parents: the p different ones, ascending.
    sums: (p, k) 1.0 where limb j hangs on parent i, None = each on its own, in order.  carries: whether any limb hangs
    on these.
    """

    shape: tuple[int, int, int]
    bodies: slice
    dofs: slice
    carried: Array
    above: Array
    ways: Array
    parent: np.ndarray
    parents: Part
    sums: Array | None
    carries: bool


@dataclass(frozen=True, eq=False)
class Limbs:
    """All tiers, the deepest first; the last one hangs on the world.

    bodies: (N,) the body at every place; the world's place is N.
    merged: (N, n) 1.0 where a body hangs rigidly on that at a place or is it; None = every body has a place.
    dofs: (M,) the degree of freedom at each place, padding repeats some.  axes: (M, 6) as `Model.entries`.
    used: (M,) 0.0 for padding; None = there is none.  places: (nv,) where the degrees of freedom are.
    blocks: index of every entry of the tiers' matrices (k, m, m), one after another, in a flat (n, width, width) table
    of joint blocks.  within: 1.0 where it is in one, None = everywhere.  padding: 1.0 on the diagonal of padding.
    """

    tiers: tuple[Tier, ...]
    bodies: np.ndarray
    merged: Array | None
    dofs: np.ndarray
    axes: np.ndarray
    used: Array | None
    places: np.ndarray
    blocks: np.ndarray
    within: Array | None
    padding: Array


def carriers(parent: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """(n,) the nearest of the moving bodies (n,) that carries a body, itself included; -1 where none does."""
    out = np.where(moving, np.arange(len(parent)), -1)
    for i, p in enumerate(parent):
        if not moving[i] and p >= 0:
            out[i] = out[p]
    return out


def cut(parent: np.ndarray, counts: np.ndarray, sizes: Sizes = SIZES) -> list[list[int]]:
    """The bodies of every limb, carriers first, in a tree of bodies with so many degrees of freedom; only those that
    have some take part, and no parent has none."""
    chain, short, most = sizes
    moving = np.flatnonzero(counts)
    sons = np.bincount(parent[moving][parent[moving] >= 0], minlength=len(parent))
    chains = _joined(parent, counts, [[int(i)] for i in moving], lambda p, own, both: sons[p] == 1 and both <= chain)
    return _joined(parent, counts, chains, lambda p, own, both: own <= short and both <= most)


def _joined(
    parent: np.ndarray, counts: np.ndarray, parts: list[list[int]], joins: Callable[[int, int, int], bool]
) -> list[list[int]]:
    """Parts of a tree, each joined to what carries it where `joins` says so of the body that carries it and of the
    degrees of freedom of the part and of both together."""
    groups: list[list[int]] = []
    of = np.zeros(len(parent), dtype=int)
    size: list[int] = []
    for part in parts:
        p, own = parent[part[0]], int(counts[part].sum())
        if p >= 0 and joins(p, own, size[of[p]] + own):
            of[part] = of[p]
            groups[of[p]] += part
            size[of[p]] += own
        else:
            of[part] = len(groups)
            groups.append(list(part))
            size.append(own)
    return groups


def build(parent: np.ndarray, ancestor: Array, dof_body: np.ndarray, slot: np.ndarray, width: int) -> Limbs:
    """The limbs of a tree with any dynamic joint; arguments as in `Model`."""
    counts = np.bincount(dof_body, minlength=len(parent))
    carrier = carriers(parent, counts > 0)
    up = np.where(parent < 0, -1, carrier[parent])
    tiers_of = by_depth(up, cut(up, counts))
    bodies, dofs = zip(*(_places(limbs, dof_body) for limbs in tiers_of), strict=True)
    every, each = (np.concatenate([table.reshape(-1) for table in tables]) for tables in (bodies, dofs))
    place, places = np.full(len(parent), len(every)), np.empty(len(slot), dtype=int)
    found, first = np.unique(every, return_index=True)
    place[found[found >= 0]], places[each[each >= 0]] = first[found >= 0], np.flatnonzero(each >= 0)
    tiers, blocks, a, d = [], [], 0, 0
    for body, dof in zip(bodies, dofs, strict=True):
        part = slice(a, a + body.size), slice(d, d + dof.size)
        root = up[body[:, 0]]
        on = np.where(root < 0, len(every), place[root])
        flat = dof.reshape(len(dof), -1)
        mover = dof_body[flat]
        tiers.append(_tier(ancestor, body, dof, mover, part, on))
        blocks.append(_blocks(flat, mover, slot[flat] % width, width))
        a, d = part[0].stop, part[1].stop
    merged = None if counts.all() else (np.where(every < 0, -2, every)[:, None] == carrier).astype(float)
    used = None if (each >= 0).all() else (each >= 0).astype(float)
    every, each = np.maximum(every, 0), np.maximum(each, 0)
    block, within, padding = (np.concatenate(tables) for tables in zip(*blocks, strict=True))
    axes, mixed = entries(slot[each], width), None if within.all() else within
    return Limbs(tuple(tiers), every, merged, each, axes, used, places, block, mixed, padding)


def entries(slot: np.ndarray, width: int) -> np.ndarray:
    """(m, 6) flat indices in an (n, 6, width) table of joint axes, for slots (m,) of an (n, width) one."""
    body, column = np.divmod(slot, width)
    return np.asarray((6 * width * body + column)[:, None] + width * np.arange(6))


def by_depth(parent: np.ndarray, limbs: list[list[int]]) -> list[list[list[int]]]:
    """The deepest limbs, those that carry them, and so on; limbs are in the order of those that they carry."""
    tiers: list[list[list[int]]] = []
    at: dict[int, int] = {}
    for limb in limbs:  # what carries a limb stands before it
        depth = at.get(int(parent[limb[0]]), -1) + 1
        at |= dict.fromkeys(limb, depth)
        if depth == len(tiers):
            tiers.append([])
        tiers[depth].append(limb)
    for upper, lower in zip(tiers[-2::-1], tiers[:0:-1], strict=True):
        first: dict[int, int] = {}
        for number, limb in enumerate(lower):
            first.setdefault(int(parent[limb[0]]), number)
        upper.sort(key=lambda limb: min(first.get(body, len(lower)) for body in limb))
    return tiers[::-1]


def carrying(parent: np.ndarray) -> tuple[Part, Array | None]:
    """`Tier.parents` and `Tier.sums` of limbs that hang on bodies at these places (k,)."""
    parents, child = np.unique(parent, return_inverse=True)
    sums = (np.arange(len(parents))[:, None] == child.reshape(-1)).astype(float)
    return together(parents), None if np.array_equal(sums, np.eye(len(parent))) else sums


def _places(limbs: list[list[int]], dof_body: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bodies (k, b) and degrees of freedom (k, b, d) at the places of limbs, -1 where there are fewer."""
    rows = []
    for limb in limbs:
        every = [(i, np.flatnonzero(dof_body == i)) for i in limb]
        rows.append([(i, own[first : first + SLOTS]) for i, own in every for first in range(0, len(own), SLOTS)])
    body = np.full((len(rows), max(map(len, rows))), -1)
    dof = np.full((*body.shape, max(len(own) for row in rows for _, own in row)), -1)
    for k, row in enumerate(rows):
        for b, (i, own) in enumerate(row):
            body[k, b], dof[k, b, : len(own)] = i, own
    return body, dof


def _tier(
    ancestor: Array,
    body: np.ndarray,
    dof: np.ndarray,
    mover: np.ndarray,
    part: tuple[slice, slice],
    parent: np.ndarray,
) -> Tier:
    """A tier of the bodies (k, b) and degrees of freedom (k, b, d), each of which moves a body: mover (k, m)."""
    real, used = body >= 0, dof.reshape(mover.shape) >= 0
    parents, sums = carrying(parent)
    first = np.diff(body, prepend=-1, axis=1) != 0
    same = np.where(mover[:, :, None] == mover[:, None, :], 0.5, 1.0)
    return Tier(
        shape=(dof.shape[0], dof.shape[1], dof.shape[2]),
        bodies=part[0],
        dofs=part[1],
        carried=ancestor[body[:, None, :], body[:, :, None]] * real[:, :, None] * (real & first)[:, None, :],
        above=ancestor[mover[:, :, None], mover[:, None, :]] * same * used[:, :, None] * used[:, None, :],
        ways=ancestor[body[:, :, None], mover[:, None, :]] * real[:, :, None] * used[:, None, :],
        parent=parent,
        parents=parents,
        sums=sums,
        carries=part[0].start > 0,
    )


def _blocks(dof: np.ndarray, mover: np.ndarray, column: np.ndarray, width: int) -> tuple[np.ndarray, Array, Array]:
    """`Limbs.blocks`, `within` and `padding` of a tier's matrices (k, m, m), flat."""
    used = dof >= 0
    one = (mover[:, :, None] == mover[:, None, :]) & used[:, :, None] & used[:, None, :]
    within = (mover[:, :, None] * width + column[:, :, None]) * width + column[:, None, :]
    spare = np.eye(dof.shape[1]) * ~used[:, :, None]
    return within.reshape(-1), one.astype(float).reshape(-1), spare.reshape(-1)
