"""From hints to a body: settles roles along limbs and trunk with the rig's tree and geometry.

`Draft` is the only mutable thing: role and side per bone, changed step by step by `settle`.
"""

from collections.abc import Iterable

import numpy as np

from .roles import MIDDLE, Hint
from .skeleton import Skeleton

LEG = ("hip", "thigh", "shin", "foot", "toe")
ARM = ("clavicle", "upper_arm", "forearm", "hand", "finger")
LIMB = frozenset(LEG + ARM)
TRUNK = ("pelvis", "spine", "neck", "head")


class Draft:
    """Roles in the making.  role, side: n strings each; skin: (n,) vertices that each bone owns."""

    def __init__(self, skeleton: Skeleton, hints: list[Hint]) -> None:
        n = len(skeleton.names)
        self.skeleton = skeleton
        self.role = [hint.role for hint in hints]
        self.side = [hint.side for hint in hints]
        self.zone = [hint.zone for hint in hints]
        self.skin = np.zeros(n, dtype=int)
        if skeleton.skin is not None:
            owner = skeleton.skin.owner
            self.skin = np.bincount(owner[owner >= 0], minlength=n)
        self.above: list[list[int]] = []  # rig ancestors of each bone, itself first, root last
        for i, parent in enumerate(skeleton.parent):
            self.above.append([i] if parent < 0 else [i, *self.above[parent]])

    def find(self, role: str, side: str = "") -> list[int]:
        """Bones of a role (and side, if given)."""
        return [i for i, r in enumerate(self.role) if r == role and (not side or self.side[i] == side)]

    def common(self, bones: Iterable[int]) -> int:
        """The lowest rig bone above or equal to all of them, or -1."""
        lines = [self.above[i] for i in bones]
        if not lines:
            return -1
        shared = set(lines[0]).intersection(*lines[1:])
        return next((i for i in lines[0] if i in shared), -1)

    def centre(self, bones: list[int]) -> np.ndarray:
        """(3,) mean head."""
        return self.skeleton.head[bones].mean(axis=0)

    def legged(self) -> bool:
        """A left and a right thigh are known."""
        return bool(self.find("thigh", "L") and self.find("thigh", "R"))


def settle(draft: Draft) -> None:
    """Make the roles of a draft consistent: limbs, loose feet, pelvis, spine, neck and head."""
    _inherit_sides(draft)
    named = {(role, side) for role, side in zip(draft.role, draft.side, strict=True)}
    for order in (LEG, ARM):
        for chain in _limbs(draft, order):
            _sequence(draft, chain, order, {role for role in order if (role, draft.side[chain[0]]) in named})
    _loose_feet(draft)
    _one_hand(draft)
    _pelvis(draft)
    _trunk(draft)
    _tails(draft)


def _inherit_sides(draft: Draft) -> None:
    """What hangs on a sided limb is of its side, whatever its name says."""
    for i, line in enumerate(draft.above):
        limb = next((j for j in line[1:] if draft.side[j] and draft.role[j] in LIMB), -1)
        if limb >= 0 and draft.role[i] in LIMB:
            draft.side[i] = draft.side[limb]


def _loose_feet(draft: Draft) -> None:
    """Feet named as IK targets: skinned bones hung from the rig's root near the end of a leg that lacks them."""
    head = draft.skeleton.head
    ends: list[tuple[tuple[str, ...], str, int, float]] = []  # (order, side, last bone of the limb, reach)
    orders: tuple[tuple[str, ...], ...] = (LEG, ARM)
    for order in orders:
        for side in "LR":
            chain = [draft.find(role, side)[-1] for role in order[1:4] if draft.find(role, side)]
            if len(chain) > 1:
                reach = np.linalg.norm(np.diff(head[chain], axis=0), axis=1).max()
                ends.append((order, side, chain[-1], 4.0 * reach))
    loose = [
        i
        for i, line in enumerate(draft.above)
        if draft.skin[i] and draft.side[i] and all(draft.role[j] in ("", "helper", "root") for j in line)
    ]
    found: dict[int, tuple[tuple[str, ...], int]] = {}
    for i in loose:
        outer = next((j for j in draft.above[i][1:] if j in found), -1)
        near = [
            (float(np.linalg.norm(head[i] - head[end])), order, order.index(draft.role[end]) + 1)
            for order, side, end, reach in ends
            if side == draft.side[i] and np.linalg.norm(head[i] - head[end]) < reach
        ]
        if outer >= 0:
            found[i] = (found[outer][0], found[outer][1] + 1)
        elif near:
            found[i] = min(near)[1:3]
    for i, (order, rank) in found.items():
        draft.role[i] = order[min(rank, 4)]


def _limbs(draft: Draft, order: tuple[str, ...]) -> list[list[int]]:
    """Bones of each leg (or arm), from the trunk outwards, fingers and toes left out."""
    chains: list[list[int]] = []
    bones = [i for i, role in enumerate(draft.role) if role in order[:4] and draft.side[i]]
    for i in sorted(bones, key=lambda i: len(draft.above[i])):
        chain = next((c for c in chains if c[-1] in draft.above[i]), None)
        if chain is None:
            chains.append([i])
        else:
            chain.append(i)
    return chains


def _sequence(draft: Draft, chain: list[int], order: tuple[str, ...], named: set[str]) -> None:
    """Give repeated roles along a limb the roles that no name has: leg, leg, foot, foot -> thigh, shin, foot, toe.

    A repetition with no role free is the second piece of a divided bone, or a twist bone: a helper.
    """
    rank = [order.index(draft.role[i]) for i in chain]
    if rank.count(0) > 1:  # two girdle bones in one limb: only the first is one
        rank, named = [min(k, 4) for k in range(len(chain))], set(order)
    last = rank[0]
    draft.role[chain[0]] = order[last]
    for k in range(1, len(chain)):
        if rank[k] <= last < 4:
            if order[last + 1] in named:
                draft.role[chain[k]] = "helper"
                continue
            rank[k] = last + 1
        last = rank[k]
        draft.role[chain[k]] = order[last]


def _one_hand(draft: Draft) -> None:
    """Several palms on one forearm: the first is the hand, the others count as fingers."""
    for side in "LR":
        seen: set[int] = set()
        for i in draft.find("hand", side):
            parent = int(draft.skeleton.parent[i])
            if parent in seen and parent >= 0 and draft.role[parent] in ARM:
                draft.role[i] = "finger"
            seen.add(parent)


def _pelvis(draft: Draft) -> None:
    """One pelvis: the lowest bone that carries legs and trunk, unless that is the rig's root; else the named one.

    A named pelvis below it ("Hips" under a "Body" that carries the legs too) becomes part of the girdle ("hip").
    """
    named = sorted(draft.find("pelvis"), key=lambda i: len(draft.above[i]))
    legs = draft.find("thigh") + draft.find("hip")
    upper = draft.find("head") + draft.find("neck") + draft.find("upper_arm") or draft.find("spine")
    trunk = draft.common(legs + upper) if legs and upper else -1
    if trunk >= 0 and _is_root(draft, trunk, legs):
        trunk = -1
    if trunk < 0 or any(i in draft.above[trunk] for i in named):
        trunk = named[0] if named else trunk
    if trunk < 0 and draft.find("spine"):
        trunk = min(draft.find("spine"), key=lambda i: len(draft.above[i]))
    for i in named:
        draft.role[i] = "hip"
    if trunk >= 0:
        draft.role[trunk] = "pelvis"
        for i in draft.above[trunk][1:]:
            if draft.role[i] in MIDDLE:
                draft.role[i] = "root"


def _is_root(draft: Draft, bone: int, legs: list[int]) -> bool:
    """Whether a bone only carries the figure: it has no skin and stands far from the hips."""
    if draft.skin[bone] or draft.role[bone] in ("pelvis", "spine"):
        return False
    head, thighs = draft.skeleton.head, draft.find("thigh") or legs
    hips = draft.centre(thighs)
    ends = draft.find("shin") or draft.find("foot")
    leg = np.linalg.norm(draft.centre(ends) - hips) if ends else np.ptp(head, axis=0).max()
    return bool(np.linalg.norm(head[bone] - hips) > 0.5 * leg)


def _trunk(draft: Draft) -> None:
    """Spine, neck and head on the line from the pelvis up; roles off that line are taken back."""
    arms = draft.common([i for side in "LR" for i in (draft.find("clavicle", side) or draft.find("upper_arm", side))])
    pelvis = next(iter(draft.find("pelvis")), -1)
    for i in draft.find("head")[::-1]:
        if any(draft.role[j] == "head" for j in draft.above[i][1:]):
            draft.role[i] = ""  # a part of it, such as a half of the skull
    if not draft.find("head"):
        beyond = [i for i in draft.find("spine") + draft.find("neck") if arms in draft.above[i][1:]]
        if beyond:
            head = max(beyond, key=lambda i: (_on_middle(draft, i), len(draft.above[i])))
            for i in set(beyond) & set(draft.above[head]):
                draft.role[i] = "neck"
            draft.role[head] = "head"
    tops = [i for i in (*draft.find("head")[:1], *draft.find("neck")[-1:], arms) if i >= 0]
    tops = tops or draft.find("spine")[-1:]
    line = {j for top in tops for j in draft.above[top] if pelvis < 0 or pelvis in draft.above[j][1:]}
    for i in line:
        if draft.role[i] in ("", "root"):
            draft.role[i] = "spine"
    for i in draft.find("spine"):
        if i not in line and (pelvis < 0 or pelvis in draft.above[i] or line):
            draft.role[i] = ""


def _on_middle(draft: Draft, bone: int) -> bool:
    """Named without a side."""
    return draft.side[bone] == ""


def _tails(draft: Draft) -> None:
    """Unnamed bones between the pelvis and a tail belong to the tail."""
    for i in draft.find("tail"):
        for j in draft.above[i][1:]:
            if draft.role[j] != "":
                break
            draft.role[j] = "tail"
