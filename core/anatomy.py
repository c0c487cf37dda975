"""Which bone is which: roles, the anatomical tree, the directions and the size of a figure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from . import posture, roles, topology
from .errors import ModelError
from .figure import TRUNK, Draft, settle
from .rotation import Array, conjugate, cross, rotate
from .skeleton import Skeleton

# Which roles may carry a role; the first that exists is where a bone is hung if the rig hangs it elsewhere.
CARRIERS = {
    "toe": ("foot",),
    "foot": ("shin", "thigh"),
    "shin": ("thigh",),
    "thigh": ("pelvis", "hip"),
    "hip": ("pelvis",),
    "finger": ("hand", "finger", "forearm"),
    "hand": ("forearm", "upper_arm"),
    "forearm": ("upper_arm",),
    "upper_arm": ("clavicle", "spine", "neck", "pelvis"),
    "clavicle": ("spine", "neck", "pelvis"),
    "neck": ("spine", "pelvis"),
    "head": ("neck", "spine", "pelvis"),
    "jaw": ("head",),
    "eye": ("head",),
    "ear": ("head",),
    "spine": ("pelvis", "hip"),
    "tail": ("pelvis", "hip", "spine"),
}


@dataclass(frozen=True, eq=False)
class Anatomy:
    """What a skeleton's bones are.  Same bone indices as the `Skeleton`; armature space, the rig's own units.

    role: n roles, "" where none is known.  "pelvis", "spine.1" (lowest) ... "spine.k", "neck.1" ..., "head", "jaw",
        "tail.1" (at the pelvis) ..., "root" (above the pelvis, carries the figure), "helper" (controls, nubs, twist),
        "hip" (unsided: part of the pelvic girdle that carries the spine), and with side .L / .R: "clavicle.L",
        "upper_arm.L", "forearm.L", "hand.L", "finger.L" (any number of them), "hip.L" (girdle bone between pelvis and
        thigh), "thigh.L", "shin.L", "foot.L", "toe.L", "ear.L", "eye.L".
    parent: (n,) anatomical parent, -1 at the top.  Bones of the figure form one tree below the pelvis; the pelvis hangs
        from the rig's root bone if there is one.  Differs from the rig's parent only where that is anatomically wrong.
    order: (n,) bone indices, parents first.
    kind: "biped" (upright trunk, two legs), "quadruped" or "other".
    up, forward, left: (3,) unit vectors, right-handed (forward x left = up).
    floor: coordinate of the ground along `up` [rig units].
    size: figure height [rig units]: see `posture.measure`.
    fallback: what was guessed from shape because names did not say, "" if nothing.
    """

    role: tuple[str, ...]
    parent: np.ndarray
    order: np.ndarray
    kind: str
    up: Array
    forward: Array
    left: Array
    floor: float
    size: float
    fallback: str = ""

    def bone(self, role: str) -> int:
        """Index of the first bone (parents first) with this role ("upper_arm.L"), or -1."""
        return next((int(i) for i in self.order if self.role[i] == role), -1)

    def children(self, bone: int) -> tuple[int, ...]:
        """Anatomical children of a bone."""
        return tuple(int(i) for i in np.flatnonzero(self.parent == bone))


def analyse(skeleton: Skeleton, overrides: Mapping[str, str] | None = None) -> Anatomy:
    """Find out what the bones are, by name and where names say nothing by shape.

    overrides: bone name -> role ("upper_arm.L", "spine", "helper", ""), stronger than anything found.
    """
    draft, notes = Draft(skeleton, roles.recognise(skeleton.names)), []
    if not draft.legged():
        found = topology.hints(skeleton)
        if found is not None:
            known = draft
            draft = Draft(skeleton, found)
            for i, name in enumerate(known.role):
                if draft.role[i] == "" and name in ("tail", "ear", "jaw", "eye", "helper"):
                    draft.role[i], draft.side[i] = name, known.side[i]
            notes.append("Bone roles were guessed from the shape of the skeleton.")
    settle(draft)
    _override(draft, overrides or {})
    stance = posture.stance(draft)
    if stance.swapped:
        notes.append("Left and right in the bone names contradict the direction the feet point; the feet decide.")
    role = _numbered(draft, stance)
    parent = _anatomical_parents(draft, role)
    floor, size, note = posture.measure(draft, stance)
    return Anatomy(
        role=tuple(role),
        parent=parent,
        order=_topological(parent),
        kind=stance.kind,
        up=stance.up,
        forward=stance.forward,
        left=stance.left,
        floor=floor,
        size=size,
        fallback=" ".join([*notes, note]).strip(),
    )


def hinge_axis(skeleton: Skeleton, anatomy: Anatomy, bone: int) -> Array | None:
    """(3,) unit hinge axis of an elbow or knee in the frame of the bone below it (forearm, shin) at rest; turning by a
    positive angle about it flexes: shins go backward, forearms forward.  None for other bones.

    A limb bent by more than 20 degrees at rest shows its axis (none hyperextends that far).  Below that the bend counts
    if it agrees with the way the figure faces within 30 degrees, and else the facing direction alone.
    """
    role, _, side = anatomy.role[bone].partition(".")
    chain = {"forearm": ("upper_arm", "hand"), "shin": ("thigh", "foot")}.get(role)
    if chain is None:
        return None
    above, below = (_nearest(skeleton, anatomy, f"{name}.{side}", bone) for name in chain)
    lower = skeleton.head[below] - skeleton.head[bone] if below >= 0 else skeleton.tail[bone] - skeleton.head[bone]
    upper = skeleton.head[bone] - skeleton.head[above] if above >= 0 else lower
    toward = anatomy.forward if role == "forearm" else -anatomy.forward
    expected = cross(lower, toward)
    if np.linalg.norm(expected) <= 0.2 * np.linalg.norm(lower):  # also where it has no length
        expected = anatomy.left if role == "shin" else -anatomy.left
    expected = expected / np.linalg.norm(expected)
    bend = cross(upper, lower)
    size = np.linalg.norm(bend) / (np.linalg.norm(upper) * np.linalg.norm(lower) + 1e-30)
    axis = expected
    if size > np.sin(np.radians(20.0)) or upper @ lower < 0.0 < size:
        axis = bend / np.linalg.norm(bend)
    elif size > np.sin(np.radians(3.0)) and abs(bend @ expected) > 0.866 * np.linalg.norm(bend):
        axis = bend / np.linalg.norm(bend) * np.sign(bend @ expected)
    return rotate(conjugate(skeleton.rotation[bone]), axis)


def _nearest(skeleton: Skeleton, anatomy: Anatomy, role: str, bone: int) -> int:
    """The bone with this role whose head is nearest, or -1."""
    found = [i for i, name in enumerate(anatomy.role) if name == role]
    away = np.linalg.norm(skeleton.head[found] - skeleton.head[bone], axis=1) if found else np.zeros(0)
    return found[int(np.argmin(away))] if found else -1


def _override(draft: Draft, overrides: Mapping[str, str]) -> None:
    for name, text in overrides.items():
        role, _, tail = text.partition(".")
        if role and role not in roles.ROLES:
            known = ", ".join(sorted(roles.ROLES))
            raise ModelError(f"'{text}' is no bone role. Use one of {known}; those of limbs end in .L or .R.")
        i = draft.skeleton.index(name)
        if role == "pelvis":
            for other in draft.find("pelvis"):
                draft.role[other] = "hip"
        draft.role[i], draft.side[i] = role, tail if tail in ("L", "R") else ""


def _numbered(draft: Draft, stance: posture.Stance) -> list[str]:
    """Roles with side or number: spine, neck and tail count from the pelvis outwards."""
    role = list(draft.role)
    for i, side in enumerate(draft.side):
        if role[i] in roles.SIDED and side:
            role[i] += "." + side
    pelvis = draft.find("pelvis")
    start = draft.skeleton.head[pelvis[0]] if pelvis else np.zeros(3)
    for name in ("spine", "neck", "tail"):
        bones = draft.find(name)
        away = {i: float(np.linalg.norm(draft.skeleton.head[i] - start)) for i in bones}
        for k, i in enumerate(sorted(bones, key=lambda i: (len(draft.above[i]), away[i]))):
            role[i] = f"{name}.{k + 1}"
    return role


def _anatomical_parents(draft: Draft, role: list[str]) -> np.ndarray:
    """(n,) keep the rig's parent wherever the nearest role above may carry the bone; else hang it where it belongs."""
    parent = np.array(draft.skeleton.parent, dtype=int)
    for i, name in enumerate(draft.role):
        if name == "pelvis":
            parent[i] = next((j for j in draft.above[i][1:] if _outside(draft, j)), -1)
            continue
        carriers = CARRIERS.get(name, ())
        above = next((j for j in draft.above[i][1:] if draft.role[j] not in ("", "helper")), -1)
        carried = above >= 0 and draft.role[above] in (*carriers, name) and _same_side(draft, above, i)
        if not carriers or (carried and not _past_spine(draft, above, i)):
            continue
        target = _carrier(draft, role, i)
        if target >= 0:
            parent[i] = target
    return parent if _topological(parent).size == len(parent) else np.array(draft.skeleton.parent, dtype=int)


def _past_spine(draft: Draft, above: int, bone: int) -> bool:
    """Whether an arm hangs from the pelvis though a bone of the spine is nearer."""
    spine = draft.find("spine")
    if draft.role[above] != "pelvis" or draft.role[bone] not in ("clavicle", "upper_arm") or not spine:
        return False
    x, (head, tail) = draft.skeleton.head[bone], (draft.skeleton.head, draft.skeleton.tail)
    away = {i: min(float(np.linalg.norm(end[i] - x)) for end in (head, tail)) for i in (above, *spine)}
    return min(away, key=lambda i: away[i]) != above


def _outside(draft: Draft, bone: int) -> bool:
    """A bone above the pelvis with nothing of the figure above it."""
    return all(draft.role[j] in ("", "root", "helper") for j in draft.above[bone])


def _same_side(draft: Draft, a: int, b: int) -> bool:
    return not draft.side[a] or not draft.side[b] or draft.side[a] == draft.side[b]


def _carrier(draft: Draft, role: list[str], bone: int) -> int:
    """The bone that should carry this one: the one before it in a numbered row, the top of the trunk, or the limb
    whose bones come nearest."""
    name, _, number = role[bone].partition(".")
    if number.isdigit() and int(number) > 1:
        return role.index(f"{name}.{int(number) - 1}")
    head = draft.skeleton.head
    for carrier in CARRIERS[name]:
        found = [i for i in draft.find(carrier) if _same_side(draft, i, bone) and bone not in draft.above[i]]
        if found and carrier in TRUNK:
            return max(found, key=lambda i: (len(draft.above[i]), i))
        if found:
            own = {i: [j for j, line in enumerate(draft.above) if i in line and bone not in line] for i in found}
            return min(found, key=lambda i: float(np.linalg.norm(head[own[i]] - head[bone], axis=1).min()))
    return -1


def _topological(parent: np.ndarray) -> np.ndarray:
    """Indices parents first, in the skeleton's order where possible; shorter than n if there is a cycle."""
    children: dict[int, list[int]] = {}
    for i, p in enumerate(parent.tolist()):
        children.setdefault(p, []).append(i)
    order, stack = [], children.get(-1, [])[::-1]
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(children.get(i, [])[::-1])
    return np.array(order, dtype=int)
