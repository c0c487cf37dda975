"""The deforming bones of a control rig as a skeleton of their own.

On such rigs the bones that deform hang from controls and mechanism: from the root, or from a bone that lies where
another deforming bone lies and moves it.  Here they hang from each other, as the body does.
"""

from dataclasses import replace

import numpy as np

from .skeleton import Skeleton

SAME = 1e-3  # of the skeleton's size within which two points are one
ALONG = 0.995  # cosine above which two bones point the same way


def deforming(skeleton: Skeleton, kept: np.ndarray) -> tuple[Skeleton, np.ndarray]:
    """(skeleton of the kept bones, parents first; (m,) the bone of the whole skeleton that each is).

    kept: (n,) bool.  A kept bone hangs from its rig parent if that deforms, else from the bone at whose tail it begins,
    else from the nearest bone above it that is kept, or that one of them lies on.
    """
    bones = np.flatnonzero(kept)
    stands = _standing(skeleton, bones)
    tails = _tails(skeleton, bones)
    parent = {int(b): _parent(skeleton, stands, tails, int(b)) for b in bones}
    order: list[int] = []
    waiting = [int(b) for b in bones]
    while waiting:
        ready = [b for b in waiting if parent[b] < 0 or parent[b] in order]
        if not ready:  # a ring of bones that begin where another ends, or lie on each other
            above = _parent(skeleton, stands, {}, waiting[0])
            parent[waiting[0]] = above if above != parent[waiting[0]] else -1
            continue
        order += ready
        waiting = [b for b in waiting if b not in order]
    index = {b: i for i, b in enumerate(order)}
    rows = np.array(order, dtype=int)
    skin = skeleton.skin
    if skin is not None:
        owner = np.full(len(skeleton.names) + 1, -1)
        for b in range(len(skeleton.names)):
            owner[b] = _owner(skeleton, stands, b, index)
        skin = replace(skin, owner=owner[skin.owner], bones=None if skin.bones is None else owner[skin.bones])
    reduced = Skeleton(
        names=tuple(skeleton.names[b] for b in order),
        parent=np.array([index.get(parent[b], -1) for b in order], dtype=int),
        head=skeleton.head[rows],
        tail=skeleton.tail[rows],
        rotation=skeleton.rotation[rows],
        deform=skeleton.deform[rows],
        skin=skin,
    )
    return reduced, rows


def _standing(skeleton: Skeleton, bones: np.ndarray) -> np.ndarray:
    """(n,) the kept bone that each bone is or lies on, head to head and the same way; -1 where there is none."""
    size = float(np.max(np.ptp(skeleton.head, axis=0), initial=1e-9))
    stands = np.full(len(skeleton.names), -1)
    axis = skeleton.tail - skeleton.head
    axis = axis / np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-12)
    away = np.linalg.norm(skeleton.head[:, None] - skeleton.head[bones], axis=-1)
    near = (away < SAME * size) & (axis @ axis[bones].T > ALONG)
    found = near.any(axis=1)
    stands[found] = bones[np.argmax(near[found], axis=1)]
    stands[bones] = bones
    return stands


def _tails(skeleton: Skeleton, bones: np.ndarray) -> dict[int, int]:
    """Kept bone -> the kept bone at whose tail it begins, where there is exactly one that deforms."""
    size = float(np.max(np.ptp(skeleton.head, axis=0), initial=1e-9))
    ends = bones[skeleton.deform[bones]]
    near = np.linalg.norm(skeleton.head[bones][:, None] - skeleton.tail[ends], axis=-1) < SAME * size
    near &= bones[:, None] != ends
    return {int(b): int(ends[np.argmax(row)]) for b, row in zip(bones, near, strict=True) if row.sum() == 1}


def _parent(skeleton: Skeleton, stands: np.ndarray, tails: dict[int, int], bone: int) -> int:
    up = int(skeleton.parent[bone])
    if up >= 0 and stands[up] == up and skeleton.deform[up]:
        return up
    if bone in tails:
        return tails[bone]
    while up >= 0 and stands[up] in (-1, bone):
        up = int(skeleton.parent[up])
    return int(stands[up]) if up >= 0 else -1


def _owner(skeleton: Skeleton, stands: np.ndarray, bone: int, index: dict[int, int]) -> int:
    """The kept bone that carries what hangs on a bone, or -1."""
    while bone >= 0 and stands[bone] < 0:
        bone = int(skeleton.parent[bone])
    return index.get(int(stands[bone]), -1) if bone >= 0 else -1
