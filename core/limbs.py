"""A tree cut into limbs: connected groups of bodies that the tree solver takes as one, and all of one height at once.

A limb is an unbranched chain, with the short ones that it carries and all bodies that no dynamic joint moves.  A human
has a trunk with a head, four limbs and ten fingers: three heights instead of ten levels of bodies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .rotation import Array

CHAIN, SHORT, MOST = 15, 9, 30  # degrees of freedom: of a chain, of one that joins the limb that carries it, of a limb


@dataclass(frozen=True, eq=False)
class Tier:
    """k limbs of one height, with up to b bodies and m degrees of freedom each; what is fewer is padded.

    shape: (k, b, m).  bodies, dofs: where their places lie among those of all tiers.
    carried: (k, b, b) 1.0 where body j of a limb is body i or hangs on it.
    axis: (k * m,) row of each degree of freedom in the tier's (k * b * width) table.  used: (k, m, 1) 0.0 for padding.
    above: (k, m, m) 1.0 where the body of degree of freedom j carries that of i, 0.5 where both move one body.
    ways: (k, b, m) 1.0 where a degree of freedom moves a body.
    parent: (k,) place of the body that carries the limb.  parents: (p,) the different ones.
    sums: (p, k) 1.0 where limb j hangs on parent i.  carries: whether any limb hangs on these.
    """

    shape: tuple[int, int, int]
    bodies: slice
    dofs: slice
    carried: Array
    axis: np.ndarray
    used: Array
    above: Array
    ways: Array
    parent: np.ndarray
    parents: np.ndarray
    sums: Array
    carries: bool


@dataclass(frozen=True, eq=False)
class Limbs:
    """All tiers; those that carry nothing come first.

    bodies: (N + 1,) the body at every place; the last place is the world's.  dofs: (M,) the degree of freedom at each
    place, axes: (M,) its row in an (N * width) table; padding repeats some.  places: (nv,) where they are.
    blocks: index of every entry of the tiers' matrices (k, m, m), one after another, into a flat (n, width, width)
    table of joint blocks that 0.0 and 1.0 follow.
    """

    tiers: tuple[Tier, ...]
    bodies: np.ndarray
    dofs: np.ndarray
    axes: np.ndarray
    places: np.ndarray
    blocks: np.ndarray


def cut(parent: np.ndarray, counts: Sequence[int] | np.ndarray) -> list[list[int]]:
    """The bodies of every limb, for bodies with so many degrees of freedom; carriers come first."""
    n = len(parent)
    moves = np.array(counts, dtype=bool)
    for i in reversed(range(n)):
        if parent[i] >= 0:
            moves[parent[i]] |= moves[i]
    sons = np.bincount([p for i, p in enumerate(parent) if p >= 0 and moves[i]], minlength=n)
    chains: list[list[int]] = []
    of = np.zeros(n, dtype=int)  # the chain of each body
    for i, p in enumerate(parent):
        goes_on = p >= 0 and (not moves[i] or sons[p] == 1)
        if goes_on and sum(counts[j] for j in chains[of[p]]) + counts[i] <= CHAIN:
            of[i] = of[p]
            chains[of[i]].append(i)
        else:
            of[i] = len(chains)
            chains.append([i])
    limbs: list[list[int]] = []
    at = np.zeros(len(chains), dtype=int)  # the limb of each chain
    for c, chain in enumerate(chains):
        p, more = parent[chain[0]], sum(counts[j] for j in chain)
        carrier = limbs[at[of[p]]] if p >= 0 else []
        if carrier and more <= SHORT and sum(counts[j] for j in carrier) + more <= MOST:
            at[c] = at[of[p]]
            carrier.extend(chain)
        else:
            at[c] = len(limbs)
            limbs.append(list(chain))
    return [sorted(limb) for limb in limbs]


def build(parent: np.ndarray, ancestor: Array, dof_body: np.ndarray, slot: np.ndarray, width: int) -> Limbs:
    """The limbs of a tree with any dynamic joint; arguments as in `Model`."""
    by_height = _by_height(parent, cut(parent, np.bincount(dof_body, minlength=len(parent))))
    bodies = [_padded(limbs) for limbs in by_height]
    dofs = [_padded([np.flatnonzero(np.isin(dof_body, limb)) for limb in limbs]) for limbs in by_height]
    every, each = (np.concatenate([table.reshape(-1) for table in tables]) for tables in (bodies, dofs))
    place, places = np.empty(len(parent), dtype=int), np.empty(len(slot), dtype=int)
    place[every[every >= 0]], places[each[each >= 0]] = np.flatnonzero(every >= 0), np.flatnonzero(each >= 0)
    axes = place[dof_body[each]] * width + slot[each] % width
    tiers, blocks, a, d = [], [], 0, 0
    for body, dof in zip(bodies, dofs, strict=True):
        part = slice(a, a + body.size), slice(d, d + dof.size)
        up = parent[body[:, 0]]
        up = np.where(up < 0, len(every), place[up])
        mover = dof_body[dof]
        tiers.append(_tier(ancestor, body, dof, mover, part, axes[part[1]] - a * width, up))
        blocks.append(_blocks(dof, mover, slot[dof] % width, width, len(parent)))
        a, d = part[0].stop, part[1].stop
    every, each = np.maximum(np.append(every, 0), 0), np.maximum(each, 0)
    return Limbs(tuple(tiers), every, each, axes, places, np.concatenate(blocks))


def _by_height(parent: np.ndarray, limbs: list[list[int]]) -> list[list[list[int]]]:
    """The limbs that carry none, those that carry only such, and so on."""
    of = {body: number for number, limb in enumerate(limbs) for body in limb}
    height = [0] * len(limbs)
    for number in reversed(range(len(limbs))):
        up = of.get(int(parent[limbs[number][0]]))
        if up is not None:
            height[up] = max(height[up], height[number] + 1)
    return [[limb for limb, own in zip(limbs, height, strict=True) if own == h] for h in range(max(height) + 1)]


def _padded(rows: Sequence[Sequence[int] | np.ndarray]) -> np.ndarray:
    """(k, most) the rows, -1 after their ends."""
    out = np.full((len(rows), max(map(len, rows))), -1)
    for own, row in zip(out, rows, strict=True):
        own[: len(row)] = row
    return out


def _tier(
    ancestor: Array,
    body: np.ndarray,
    dof: np.ndarray,
    mover: np.ndarray,
    part: tuple[slice, slice],
    axis: np.ndarray,
    parent: np.ndarray,
) -> Tier:
    """A tier of the bodies (k, b) and degrees of freedom (k, m), each of which moves a body: mover (k, m)."""
    real, used = body >= 0, dof >= 0
    parents, child = np.unique(parent, return_inverse=True)
    same = np.where(mover[:, :, None] == mover[:, None, :], 0.5, 1.0)
    return Tier(
        shape=(*body.shape, dof.shape[1]),
        bodies=part[0],
        dofs=part[1],
        carried=ancestor[body[:, None, :], body[:, :, None]] * real[:, :, None] * real[:, None, :],
        axis=np.where(used.reshape(-1), axis, 0),
        used=used[..., None].astype(float),
        above=ancestor[mover[:, :, None], mover[:, None, :]] * same * used[:, :, None] * used[:, None, :],
        ways=ancestor[body[:, :, None], mover[:, None, :]] * real[:, :, None] * used[:, None, :],
        parent=parent,
        parents=parents,
        sums=(np.arange(len(parents))[:, None] == child.reshape(-1)).astype(float),
        carries=part[0].start > 0,
    )


def _blocks(dof: np.ndarray, mover: np.ndarray, column: np.ndarray, width: int, n: int) -> np.ndarray:
    """Flat indices of joint blocks in a tier's matrices (k, m, m), as in `Limbs.blocks`."""
    used = dof >= 0
    one = (mover[:, :, None] == mover[:, None, :]) & used[:, :, None] & used[:, None, :]
    within = (mover[:, :, None] * width + column[:, :, None]) * width + column[:, None, :]
    none = n * width * width + np.eye(dof.shape[1], dtype=int) * ~used[:, :, None]
    return np.where(one, within, none).reshape(-1)
