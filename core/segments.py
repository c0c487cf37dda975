"""Segments of a figure: where each bone ends, which bones carry mass, and what a human's or a dog's would weigh."""

import numpy as np

from .anatomy import Anatomy
from .roles import base_role
from .rotation import Array
from .skeleton import Skeleton

# Parts of body mass, de Leva 1996 (men): both sides of a limb counted once each; they add up to 1.
# Trunk: lower 0.1117, middle and upper together 0.3229, of which a shoulder girdle takes 0.0115 a side: collar bone
# 0.156 kg, shoulder blade with its muscles 0.704 kg (Blana et al. 2008, J Biomech 41:1714).
FRACTION = {
    "head": 0.0544,
    "neck": 0.0150,
    "pelvis": 0.1117,
    "spine": 0.2999,
    "clavicle": 0.0115,
    "upper_arm": 0.0271,
    "forearm": 0.0162,
    "hand": 0.0061,
    "thigh": 0.1416,
    "shin": 0.0433,
    "foot": 0.0137,
}
# The same of a dog, estimates: trunk a half, fore legs 0.14 with their shoulder blades, hind legs 0.16.  Paws measured:
# Jones, Raschke, Riches 2018, PLoS One 13:e0206037 (manus of German shepherds 0.0072).
DOG = {
    "head": 0.08,
    "neck": 0.08,
    "pelvis": 0.12,
    "spine": 0.414,
    "clavicle": 0.028,
    "upper_arm": 0.02,
    "forearm": 0.0125,
    "hand": 0.0072,
    "thigh": 0.055,
    "shin": 0.018,
    "foot": 0.008,
    "tail": 0.0086,
}
# Small parts, as parts of the segment that carries them.
SMALL = {"finger": ("hand", 0.4), "toe": ("foot", 0.2), "hip": ("pelvis", 0.25), "jaw": ("head", 0.1),
         "ear": ("head", 0.002), "eye": ("head", 0.004), "tail": ("pelvis", 0.1)}  # fmt: skip
# Centre of mass along the segment from its upper end, de Leva 1996; 0.5 elsewhere.  A girdle's is where it resists
# turning about the breast bone as in the shoulder model: its blade hangs at the outer end.
CENTRE = {"clavicle": 0.68, "upper_arm": 0.577, "forearm": 0.457, "thigh": 0.41, "shin": 0.446, "foot": 0.44,
          "head": 0.5}  # fmt: skip
# What moves beneath a biped's skin: that of the trunk says nothing of a shoulder girdle.
BENEATH = ("clavicle",)
# What weighs as much as a human's, whatever its skin holds: heads are drawn big for faces, and wear hair and helmets.
HUMAN = ("head", *BENEATH)
# Lengths as parts of height where neither child nor tail tells (Drillis and Contini 1966), [1].
LENGTH = {"head": 0.13, "hand": 0.1, "foot": 0.12, "toe": 0.04, "finger": 0.03, "shin": 0.246, "forearm": 0.146,
          "neck": 0.05, "spine": 0.1, "pelvis": 0.08, "tail": 0.1, "clavicle": 0.1, "thigh": 0.245,
          "upper_arm": 0.186, "ear": 0.03, "eye": 0.015, "jaw": 0.05, "hip": 0.05}  # fmt: skip

# Bones inside the body's bulk: the middle of their skin does not tell where they end.
SHEATHED = ("pelvis", "spine", "clavicle", "thigh", "upper_arm")
NEXT = {"pelvis": "spine", "spine": "spine", "neck": "neck", "clavicle": "upper_arm", "upper_arm": "forearm",
        "forearm": "hand", "hand": "finger", "finger": "finger", "hip": "thigh", "thigh": "shin", "shin": "foot",
        "foot": "toe", "toe": "toe", "tail": "tail", "ear": "ear"}  # fmt: skip


def carriers(anatomy: Anatomy, skinned: Array) -> np.ndarray:
    """(n,) bool: bones that have a body of their own.

    All with a role of the figure; nameless ones only with skin; helpers and what stands above the pelvis never, unless
    nothing else would be left.  skinned: (n,) bool.
    """
    names = [base_role(role) for role in anatomy.role]
    nameless = np.array([name == "" for name in names])
    carry = np.array([name not in ("", "helper", "root") for name in names]) | (nameless & skinned)
    if not carry.any():
        carry = nameless
    return carry if carry.any() else np.ones(len(names), dtype=bool)


def of_biped(anatomy: Anatomy, names: tuple[str, ...]) -> np.ndarray:
    """(n,) bool: a biped's bodies of these roles, whatever side."""
    return np.array([anatomy.kind == "biped" and base_role(role) in names for role in anatomy.role], dtype=bool)


def homes(anatomy: Anatomy, carry: np.ndarray) -> np.ndarray:
    """(n,) the bone whose body a bone's skin belongs to: itself, the nearest carrier above, else the first below.

    -1 for what a hand holds (a helper on a hand: a weapon), which is no part of the body.
    """
    home = np.full(len(carry), -1)
    for i in anatomy.order:
        above = anatomy.parent[i]
        home[i] = i if carry[i] else home[above] if above >= 0 else -1
        if not carry[i] and home[i] >= 0 and base_role(anatomy.role[home[i]]) in ("hand", "finger"):
            home[i] = -1
    for i in anatomy.order[::-1]:
        above = anatomy.parent[i]
        if above >= 0 and home[above] < 0:
            home[above] = home[i]
    return home


def ends(skeleton: Skeleton, anatomy: Anatomy, carry: np.ndarray, reach: Array) -> Array:
    """(n, 3) from each carrier's head to the end of its segment [rig units]; zero for the others.

    The head of the next bone of the chain, else a nub, else the tail where tails mean something in this rig, else the
    skin (reach: (n, 3) from the head to the middle of its skin, nan without), else a human's proportions.
    """
    axis = np.zeros_like(skeleton.head)
    trust = _tails_mean_something(skeleton, anatomy)
    for i in anatomy.order:
        if not carry[i]:
            continue
        name = base_role(anatomy.role[i])
        away = np.linalg.norm(skeleton.head - skeleton.head[i], axis=1)
        children = [j for j in anatomy.children(i) if away[j] > 1e-3 * anatomy.size]
        chain = _continuation(anatomy, name, children)
        if name == "hand" and not chain and np.isnan(reach[i, 0]):
            chain = [j for j in children if base_role(anatomy.role[j]) == "helper"]
        tail = skeleton.tail[i] - skeleton.head[i]
        if chain:
            axis[i] = skeleton.head[chain].mean(axis=0) - skeleton.head[i]
        elif trust and 0.005 * anatomy.size < np.linalg.norm(tail) < 0.35 * anatomy.size:
            axis[i] = tail
        elif name not in SHEATHED and np.linalg.norm(reach[i]) > 0.003 * anatomy.size:  # nan compares false
            axis[i] = 2.0 * reach[i]
        else:
            axis[i] = _guess(anatomy, axis, i, name)
    return axis


def _continuation(anatomy: Anatomy, name: str, children: list[int]) -> list[int]:
    """The children that continue the segment."""
    names = {j: base_role(anatomy.role[j]) for j in children}
    wanted = [NEXT.get(name, "")]
    if name in ("pelvis", "spine", "hip", "neck"):
        wanted += ["spine", "neck", "head"]
    if name == "pelvis":
        children = [j for j in children if not anatomy.role[j].endswith((".L", ".R"))]
        wanted += ["hip"]
    for want in wanted:
        chain = [j for j in children if want and names[j] == want]
        if chain:
            return chain
    if name in ("", "tail", "finger", "toe"):
        return [j for j in children if names[j] in ("", "helper")]
    return []


def _tails_mean_something(skeleton: Skeleton, anatomy: Anatomy) -> bool:
    """Whether bones' tails lie near their child's head, as modelled skeletons have it (imports often don't)."""
    gaps = []
    for i in anatomy.order:
        name = base_role(anatomy.role[i])
        if name in ("upper_arm", "forearm", "thigh", "shin", "spine", ""):
            chain = _continuation(anatomy, name, list(anatomy.children(i)))
            length = np.linalg.norm(skeleton.head[chain].mean(axis=0) - skeleton.head[i]) if chain else 0.0
            if length > 1e-3 * anatomy.size:
                gaps.append(np.linalg.norm(skeleton.head[chain].mean(axis=0) - skeleton.tail[i]) / length)
    return bool(not gaps or np.median(gaps) < 0.25)


def _guess(anatomy: Anatomy, axis: Array, i: int, name: str) -> Array:
    """A human's length in a plausible direction."""
    direction = {"head": anatomy.up, "neck": anatomy.up, "spine": anatomy.up, "pelvis": anatomy.up,
                 "foot": anatomy.forward, "toe": anatomy.forward, "shin": -anatomy.up, "thigh": -anatomy.up,
                 "jaw": anatomy.forward, "eye": anatomy.forward, "ear": anatomy.up}.get(name)  # fmt: skip
    above = anatomy.parent[i]
    if direction is None:
        onward = axis[above] if above >= 0 else np.zeros(3)
        length = np.linalg.norm(onward)
        direction = onward / length if length > 0.0 else anatomy.up
    return np.asarray(direction) * LENGTH.get(name, 0.05) * anatomy.size


def fractions(anatomy: Anatomy, carry: np.ndarray, length: Array) -> Array:
    """(n,) the part of body mass that a human's segment of each role has, or a dog's; they add up to 1.

    Bones that share a role share its mass: the spine by length, others evenly.
    """
    names = [base_role(role) for role in anatomy.role]
    part = np.zeros(len(names))
    usual = DOG if anatomy.kind == "quadruped" else FRACTION
    for name in {*usual, *SMALL} & {names[i] for i in np.flatnonzero(carry)}:
        bones = np.array([i for i in np.flatnonzero(carry) if names[i] == name])
        if name in usual:
            sides = max(1, len({anatomy.role[i] for i in bones if anatomy.role[i][-2:] in (".L", ".R")}))
            share = length[bones] + 0.02 if name in ("spine", "neck", "tail") else np.ones(len(bones))
            part[bones] = usual[name] * sides * share / share.sum()
        else:
            owner, ratio = SMALL[name]
            part[bones] = usual[owner] * ratio * (2 if name in ("finger", "toe", "ear", "eye") else 1) / len(bones)
    loose = carry & (part == 0.0)
    part[loose] = 0.002
    return part / part.sum()
