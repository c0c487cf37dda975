"""Bone roles from shape alone, for skeletons whose names say nothing.

Twins are siblings on the middle line whose subtrees look alike (same tree, same bone lengths: that holds in any rest
pose).  Long twin chains are limbs; legs point away from the arms along the spine (an animal's stand across it); knees,
toes and feet tell which way the figure faces, and so left from right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .roles import Hint
from .rotation import Array, cross
from .skeleton import Skeleton

LEG = ("thigh", "shin", "foot", "toe")
ARM = ("upper_arm", "forearm", "hand", "finger")


@dataclass(frozen=True, eq=False)
class Limb:
    """A pair of twin chains: bones from the trunk outwards, first of one side and then of the other."""

    chains: tuple[list[int], list[int]]
    length: float


class Tree:
    """The rig's tree with what the search needs: children, bones below, distances to the parent, skin."""

    def __init__(self, skeleton: Skeleton) -> None:
        n = len(skeleton.names)
        self.skeleton, self.head, self.parent = skeleton, skeleton.head, skeleton.parent
        self.children: list[list[int]] = [[] for _ in range(n)]
        for i, p in enumerate(skeleton.parent.tolist()):
            if p >= 0:
                self.children[p].append(i)
        self.roots = [i for i in range(n) if skeleton.parent[i] < 0]
        has_parent = np.asarray(skeleton.parent) >= 0
        self.offset = np.where(has_parent, np.linalg.norm(self.head - self.head[skeleton.parent], axis=1), 0.0)
        self.extent = float(max(np.ptp(self.head, axis=0).max(), 1e-30))
        self.below: list[int] = [1] * n
        self.depth: list[int] = [1] * n
        self.span = np.zeros(n)
        for i in reversed(range(n)):
            for j in self.children[i]:
                self.below[i] += self.below[j]
                self.depth[i] = max(self.depth[i], self.depth[j] + 1)
                self.span[i] = max(self.span[i], self.span[j] + self.offset[j])
        self.skin = np.zeros(n, dtype=int)
        if skeleton.skin is not None:
            self.skin = np.bincount(skeleton.skin.owner[skeleton.skin.owner >= 0], minlength=n)
            self.skin = self.skin if self.skin.sum() >= 100 else np.zeros(n, dtype=int)

    def alike(self, a: int, b: int) -> bool:
        """Whether two siblings' subtrees are twins: about as many bones, and the same lengths along the chain."""
        if abs(self.below[a] - self.below[b]) > 1 + 0.1 * self.below[a] or (self.depth[a] < 2) != (self.depth[b] < 2):
            return False
        slack = 0.02 * self.extent
        pairs = list(zip(_chain(self, a)[:3], _chain(self, b)[:3], strict=False))
        return all(abs(self.offset[i] - self.offset[j]) < 0.15 * self.offset[i] + slack for i, j in pairs)

    def line(self, bone: int) -> list[int]:
        """The bone and all above it."""
        line = [bone]
        while self.parent[line[-1]] >= 0:
            line.append(int(self.parent[line[-1]]))
        return line


def hints(skeleton: Skeleton) -> list[Hint] | None:
    """A hint for every bone, or None where no arms and legs are found."""
    tree = Tree(skeleton)
    middle, twins = _middle(tree)
    limbs = [limb for limb in (_limb(tree, a, b) for a, b in twins) if limb is not None]
    limbs.sort(key=lambda limb: -limb.length)
    found = _upright(tree, limbs) or _on_fours(tree, limbs, middle)
    if found is None:
        return None
    legs, arms, up = found
    legs = _with_feet(tree, legs, twins)
    names = [("", "")] * len(skeleton.names)
    leg_start, arm_start = _start(tree, legs), _arm_start(tree, arms)
    forward = _forward(tree, legs, leg_start, up, _root_of(tree, arms) - _root_of(tree, legs))
    left = cross(up, forward)
    for limb, order, start in ((legs, LEG, leg_start), (arms, ARM, arm_start)):
        first, second = limb.chains
        ahead = (_point(tree, first, start) - _point(tree, second, start)) @ left > 0.0
        for chain, side in ((first, "L" if ahead else "R"), (second, "R" if ahead else "L")):
            _name_limb(tree, names, chain, start, order, side)
    _name_trunk(tree, names, middle, legs, arms)
    return [Hint(role, side) for role, side in names]


def _middle(tree: Tree) -> tuple[list[int], list[tuple[int, int]]]:
    """(bones on the middle line, twin pairs that hang on it)."""
    middle, twins, groups = [], [], [tree.roots]
    while groups:
        group = list(groups.pop())
        while group:
            a = group.pop(0)
            like = [(abs(tree.offset[a] - tree.offset[b]), b) for b in group if tree.alike(a, b)]
            b = min(like)[1] if like else -1
            if b >= 0:
                group.remove(b)
                twins.append((a, b))
            else:
                middle.append(a)
                groups.append(tree.children[a])
    return middle, twins


def _limb(tree: Tree, a: int, b: int) -> Limb | None:
    """The two chains of a twin pair if they are long enough for a limb."""
    chains = (_chain(tree, a), _chain(tree, b))
    length = float(tree.span[a])
    if min(len(chains[0]), len(chains[1])) < 2 or length < 0.06 * tree.extent:
        return None
    return Limb(chains, length)


def _chain(tree: Tree, bone: int) -> list[int]:
    """From a bone outwards along the children with the most below them, then the farthest."""
    chain = [bone]
    while tree.children[chain[-1]]:
        chain.append(max(tree.children[chain[-1]], key=lambda i: (tree.below[i], tree.span[i] + tree.offset[i])))
    return chain


def _root_of(tree: Tree, limb: Limb) -> Array:
    return tree.head[[limb.chains[0][0], limb.chains[1][0]]].mean(axis=0)


def _point(tree: Tree, chain: list[int], k: int) -> Array:
    return tree.head[chain[min(k, len(chain) - 1)]]


def _direction(tree: Tree, limb: Limb) -> Array:
    """Mean of the two sides' unit vectors from first bone to last: short where the limbs point apart (a T-pose)."""
    ways = [tree.head[chain[-1]] - tree.head[chain[0]] for chain in limb.chains]
    return np.mean([way / max(np.linalg.norm(way), 1e-30) for way in ways], axis=0)


def _upright(tree: Tree, limbs: Sequence[Limb]) -> tuple[Limb, Limb, Array] | None:
    """(legs, arms, up) of the two longest limbs that are so placed: legs point away from the arms."""
    if len(limbs) > 2 and limbs[2].length > 0.6 * limbs[1].length:
        return None  # more than four limbs
    top = limbs[:3]
    for a, b in ((a, b) for a in top for b in top if a is not b):
        spine = _root_of(tree, b) - _root_of(tree, a)
        length = np.linalg.norm(spine)
        if length > 0.05 * tree.extent and _direction(tree, a) @ spine < -0.6 * length and len(a.chains[0]) >= 2:
            return a, b, _axis(spine / length - _direction(tree, a))
    return None


def _on_fours(tree: Tree, limbs: Sequence[Limb], middle: list[int]) -> tuple[Limb, Limb, Array] | None:
    """(hind legs, front legs, up) where exactly two limbs point the same way, across the line between them."""
    if len(limbs) < 2 or (len(limbs) > 2 and limbs[2].length > 0.6 * limbs[1].length):
        return None
    a, b = limbs[:2]
    spine, down = _root_of(tree, b) - _root_of(tree, a), _direction(tree, a) + _direction(tree, b)
    length = np.linalg.norm(spine)
    if length < 0.05 * tree.extent or _direction(tree, a) @ _direction(tree, b) < 0.5:
        return None
    if abs(down @ spine) > 0.6 * length * np.linalg.norm(down):
        return None
    weight = [0.0, 0.0]  # the end of the body with more skin, then fewer bones, is the head's
    for i in middle:
        along = (tree.head[i] - _root_of(tree, a)) @ spine / length**2
        if not 0.0 <= along <= 1.0:
            weight[int(along > 1.0)] += tree.skin[i] - 1e-3
    return (b, a, _axis(-down)) if weight[0] > weight[1] else (a, b, _axis(-down))


def _axis(v: Array) -> Array:
    """Unit vector, or the axis it nearly is (30 degrees)."""
    v = v / np.linalg.norm(v)
    k = int(np.argmax(np.abs(v)))
    return np.sign(v[k]) * np.eye(3)[k] if abs(v[k]) > 0.866 else v


def _with_feet(tree: Tree, legs: Limb, twins: Sequence[tuple[int, int]]) -> Limb:
    """The legs with feet that hang elsewhere: a twin pair near where two-bone legs would go on to."""
    first, second = legs.chains
    if len(first) > 2:
        return legs
    best, nearest = legs, 1.0
    for pair in twins:
        for a, b in (pair, pair[::-1]):
            if a in first or a in second:
                continue
            ends = [2.0 * tree.head[chain[-1]] - tree.head[chain[-2]] for chain in (first, second)]
            reach = tree.offset[first[-1]] + tree.offset[second[-1]]
            away = (np.linalg.norm(tree.head[a] - ends[0]) + np.linalg.norm(tree.head[b] - ends[1])) / reach
            if away < nearest:
                nearest = away
                best = Limb((first + _chain(tree, a), second + _chain(tree, b)), legs.length)
    return best


def _start(tree: Tree, limb: Limb) -> int:
    """Where in the chain the two long bones begin: the neighbours with the greatest length together."""
    chain = limb.chains[0]
    lengths = [float(np.linalg.norm(tree.head[b] - tree.head[a])) for a, b in zip(chain, chain[1:], strict=False)]
    sums = [a + b for a, b in zip(lengths[:4], lengths[1:4], strict=False)]
    return int(np.argmax(sums)) if sums else 0


def _arm_start(tree: Tree, limb: Limb) -> int:
    """As `_start`; where the chain branches into fingers, the hand tells: two bones before it."""
    chain = limb.chains[0]
    for k in range(2, len(chain) - 1):
        fingers = tree.children[chain[k]]
        if len(fingers) >= 2:
            nearest = min(tree.offset[j] for j in fingers)
            forearm = nearest > 0.5 * tree.offset[chain[k]] and nearest > 0.04 * tree.extent
            return k - 1 if forearm else k - 2
    return _start(tree, limb)


def _forward(tree: Tree, legs: Limb, start: int, up: Array, spine: Array) -> Array:
    """(3,) horizontal unit vector the figure faces: along a lying spine; else by toes, knees or feet."""
    flat = spine - up * (spine @ up)
    if np.linalg.norm(flat) > 0.7 * np.linalg.norm(spine):
        return _axis(flat)
    votes = np.zeros((4, 3))
    for chain in legs.chains:
        hip, knee = tree.head[chain[start]], _point(tree, chain, start + 1)
        foot = chain[min(start + 2, len(chain) - 1)]
        line = tree.head[foot] - hip
        if len(chain) > start + 3:
            votes[0] += tree.head[chain[start + 3]] - tree.head[foot]
        votes[1] += knee - hip - line * ((knee - hip) @ line) / max(line @ line, 1e-30)
        if tree.skin[foot] and tree.skeleton.skin is not None:
            skin = tree.skeleton.skin
            votes[2] += skin.vertices[skin.owner == foot].mean(axis=0) - tree.head[foot]
        votes[3] += tree.skeleton.tail[foot] - tree.head[foot]
    across = tree.head[legs.chains[0][start]] - tree.head[legs.chains[1][start]]
    across = _axis(across - up * (across @ up) + 1e-12)
    for vote, least in zip(votes, (0.02, 0.01, 0.01, 0.01), strict=True):
        vote = vote - up * (vote @ up) - across * (vote @ across)
        if np.linalg.norm(vote) > least * tree.extent:
            return _axis(vote)
    left = across * (1.0 if across[int(np.argmax(np.abs(across)))] > 0.0 else -1.0)  # most rigs have left at +
    return cross(left, up)


def _name_limb(
    tree: Tree, names: list[tuple[str, str]], chain: list[int], start: int, order: tuple[str, ...], side: str
) -> None:
    """Roles along one chain; what hangs beside it goes with the bone it hangs on (fingers with the hand)."""
    girdle = "hip" if order is LEG else "clavicle"
    nub = bool(tree.skin.any()) and not tree.skin[chain[-1]] or order is LEG
    for k, i in enumerate(chain):
        role = girdle if k < start else order[min(k - start, 3)]
        if i == chain[-1] and k - start > 3 and nub:
            role = "helper"
        names[i] = (role, side)
    for i in chain[max(start + 1, 1) :]:
        for j in tree.children[i]:
            if j not in chain:
                for member in _all_below(tree, j):
                    names[member] = (order[3], side) if names[i][0] != order[0] else ("", "")


def _all_below(tree: Tree, bone: int) -> list[int]:
    return [bone, *(k for j in tree.children[bone] for k in _all_below(tree, j))]


def _name_trunk(tree: Tree, names: list[tuple[str, str]], middle: list[int], legs: Limb, arms: Limb) -> None:
    """Pelvis, spine, neck, head and tail on the middle line."""
    hold_legs, hold_arms = (int(tree.parent[limb.chains[0][0]]) for limb in (legs, arms))
    if hold_arms < 0:  # arms on no bone: the trunk's middle bone nearest to them
        hold_arms = min(middle, key=lambda i: float(np.linalg.norm(tree.head[i] - _root_of(tree, arms))))
    above = tree.line(hold_arms)
    pelvis = next((i for i in above if i in tree.line(hold_legs)), -1) if hold_legs >= 0 else -1
    thighs = _root_of(tree, legs)
    if pelvis < 0 or not tree.skin[pelvis] and np.linalg.norm(tree.head[pelvis] - thighs) > 0.25 * legs.length:
        pelvis = min(above, key=lambda i: float(np.linalg.norm(tree.head[i] - thighs)))
    over = int(tree.parent[pelvis])
    if over >= 0 and (tree.skin[over] or not tree.skin.any()):
        near = np.linalg.norm(tree.head[over] - thighs) < 0.15 * legs.length
        pelvis = over if near else pelvis  # legs on the lowest spine bone, as 3ds Max's bipeds have them
    for i in above[: above.index(pelvis)]:
        names[i] = ("spine", "")
    names[pelvis] = ("pelvis", "")
    for i in above[above.index(pelvis) + 1 :]:
        names[i] = ("root", "")
    top = _head_line(tree, middle, hold_arms)
    for k, i in enumerate(top):
        names[i] = ("head" if k == len(top) - 1 else "neck", "")
    for i in middle:
        if names[i][0] == "" and pelvis in tree.line(i) and i not in top and hold_arms not in tree.line(i):
            names[i] = ("tail", "")


def _head_line(tree: Tree, middle: list[int], base: int) -> list[int]:
    """From the bone above the arms up to the head: the first that branches or ends; a far last bone is its tip."""
    line: list[int] = []
    while True:
        onward = [j for j in tree.children[line[-1] if line else base] if j in middle]
        if not onward or (line and len(tree.children[line[-1]]) > 1):
            break
        line.append(max(onward, key=lambda j: (tree.below[j], tree.skin[j])))
    if len(line) > 1:
        bare = tree.skin.any() and not tree.skin[line[-1]]
        if bare or (not tree.skin.any() and tree.offset[line[-1]] > 1.5 * tree.offset[line[-2]]):
            line.pop()
    return line
