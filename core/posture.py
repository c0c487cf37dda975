"""How a figure stands at rest: kind, directions, ground and size."""

from dataclasses import dataclass

import numpy as np

from .figure import Draft
from .rotation import Array, cross

PAIRS = ("thigh", "upper_arm", "shin", "forearm", "foot", "hand", "clavicle", "hip")
# Rigs are built along axes: a direction this near to one is it (a rig whose rest pose is a frame of a run leans 22).
SNAP = np.cos(np.radians(30.0))

# Drillis and Contini 1966: heights of the ankle and of the skull's base as parts of body height.
ANKLE_HEIGHT = 0.039
SKULL_HEIGHT = 0.89


@dataclass(frozen=True, eq=False)
class Stance:
    """kind: "biped", "quadruped" or "other".  up, forward, left: (3,).  swapped: names' sides were exchanged."""

    kind: str
    up: Array
    forward: Array
    left: Array
    swapped: bool


def stance(draft: Draft) -> Stance:
    """Kind and directions; exchanges the sides in the draft where the feet (or the trunk) say so."""
    kind = _kind(draft)
    up = _up(draft, kind)
    across = np.zeros(3)
    for role in PAIRS:
        left, right = draft.find(role, "L"), draft.find(role, "R")
        if left and right:
            across += draft.centre(left) - draft.centre(right)
    across -= up * (across @ up)
    if np.linalg.norm(across) < 1e-9 * _extent(draft):
        across = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
        across -= up * (across @ up)
    left_axis = _snap(across)
    left_axis = _unit(left_axis - up * (left_axis @ up))
    forward = cross(left_axis, up)
    ahead = _ahead(draft, kind)
    swapped = bool(ahead @ forward < -0.25 * np.linalg.norm(ahead) and np.linalg.norm(ahead) > 0.01 * _extent(draft))
    if swapped:
        draft.side = [{"L": "R", "R": "L"}.get(side, "") for side in draft.side]
        left_axis, forward = -left_axis, -forward
    return Stance(kind, up, forward, left_axis, swapped)


def _unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


def _snap(v: Array) -> Array:
    """The unit vector, or the axis it nearly is."""
    v = _unit(v)
    k = int(np.argmax(np.abs(v)))
    return np.sign(v[k]) * np.eye(3)[k] if abs(v[k]) > SNAP else v


def _extent(draft: Draft) -> float:
    skeleton = draft.skeleton
    longest = np.linalg.norm(skeleton.tail - skeleton.head, axis=1).max()
    return float(max(np.ptp(skeleton.head, axis=0).max(), longest, 1e-30))


def _ends(draft: Draft, *order: str) -> list[int]:
    """Bones of the first role that exists."""
    return next((draft.find(role) for role in order if draft.find(role)), [])


def _kind(draft: Draft) -> str:
    thighs, feet = draft.find("thigh"), _ends(draft, "foot", "shin")
    upper = _ends(draft, "upper_arm", "clavicle", "head", "neck", "spine")
    if not draft.legged() or not feet or not upper:
        return "other"
    leg = draft.centre(feet) - draft.centre(thighs)
    trunk = draft.centre(upper) - draft.centre(thighs)
    pairs = len(thighs) + len(draft.find("upper_arm"))
    cosine = leg @ trunk / max(np.linalg.norm(leg) * np.linalg.norm(trunk), 1e-30)
    if pairs <= 4 and cosine < -0.7:
        return "biped"
    hands, soles, up = _ends(draft, "hand", "forearm"), _ends(draft, "toe", "foot", "shin"), _up(draft, "quadruped")
    if pairs == 4 and hands and abs((draft.centre(hands) - draft.centre(soles)) @ up) < 0.35 * abs(leg @ up):
        return "quadruped"
    return "other"


def _up(draft: Draft, kind: str) -> Array:
    feet = _ends(draft, "toe", "foot", "shin")
    if kind == "biped":
        return _snap(draft.centre(_ends(draft, "head", "upper_arm", "neck", "spine")) - draft.centre(feet))
    if draft.legged() and feet:
        hands, shoulders = _ends(draft, "hand", "forearm"), draft.find("upper_arm")
        up = draft.centre(draft.find("thigh")) - draft.centre(_ends(draft, "foot", "shin"))
        if hands and shoulders:
            up = up + draft.centre(shoulders) - draft.centre(hands)
        return _snap(up)
    top, pelvis = _ends(draft, "head", "neck"), draft.find("pelvis")
    if top and pelvis and np.linalg.norm(draft.centre(top) - draft.centre(pelvis)) > 0.0:
        return _snap(draft.centre(top) - draft.centre(pelvis))
    return np.array([0.0, 0.0, 1.0])  # Blender's


def _ahead(draft: Draft, kind: str) -> Array:
    """(3,) a vector that points roughly forward, zero if nothing tells."""
    if kind != "biped":
        front = _ends(draft, "head", "upper_arm", "neck", "spine")
        back = _ends(draft, "pelvis", "thigh")
        return draft.centre(front) - draft.centre(back) if front and back else np.zeros(3)
    ahead = np.zeros(3)
    for side in "LR":
        feet, toes = draft.find("foot", side), draft.find("toe", side)
        if feet and toes:
            ahead += draft.centre(toes) - draft.centre(feet)
    return ahead


def measure(draft: Draft, stance: Stance) -> tuple[float, float, str]:
    """(floor, size, note): where the ground is along `up` and the length that counts as the figure's height.

    biped: floor to the top of the head (skin, else bones).  quadruped: twice the height of the shoulder or hip joint
    that stands higher, because a 75 kg animal (a big wolf) is about 0.85 m high there.  other: the largest extent
    of skin and joints.
    """
    skeleton, up = draft.skeleton, stance.up
    heights, skin = skeleton.head @ up, skeleton.skin
    levels = skin.vertices @ up if skin is not None else np.zeros(0)
    owned = skin.owner if skin is not None else np.zeros(0, dtype=int)
    figure = levels[owned >= 0]
    if stance.kind == "other" or not draft.find("thigh"):
        body = [i for i, role in enumerate(draft.role) if role != "helper"]
        points = np.concatenate((skeleton.head[body], skeleton.tail[body]) if body else (skeleton.head, skeleton.tail))
        if skin is not None and len(figure) > 3:
            points = np.concatenate((skeleton.head[body], skin.vertices[owned >= 0]))
        low = float((points @ up).min())
        return low, max(float(np.ptp(points, axis=0).max()), 1e-9), "The figure's height was taken from its extent."
    bare = len(figure) < 50
    floor = _floor(draft, heights, up) if bare else float(figure.min())
    if stance.kind == "quadruped":
        joints = draft.find("thigh") + draft.find("upper_arm")
        return floor, 2.0 * (float(heights[joints].max()) - floor), ""
    top = _top_of_skin(draft, levels, owned) if not bare else None
    if top is None:
        top = _top_of_bones(draft, heights, up, floor)
    return floor, top - floor, ""


def _floor(draft: Draft, heights: Array, up: Array) -> float:
    """The ground by bones: lowest toe, nub or believable tail; below a bare ankle by the anthropometric ratio."""
    feet, toes = _ends(draft, "foot", "shin"), draft.find("toe")
    below = [i for i, line in enumerate(draft.above) if any(j in line for j in feet)]
    floor = float(heights[below + feet].min())
    ankle = float(heights[feet].mean())
    hip = float(heights[draft.find("thigh")].mean())
    tails = draft.skeleton.tail[toes or feet] @ up
    if hip - floor > 0.0 and ankle - tails.min() < 0.25 * (hip - ankle):
        floor = min(floor, float(tails.min()))
    if ankle - floor < 0.2 * ANKLE_HEIGHT * (hip - ankle):
        floor = ankle - ANKLE_HEIGHT / 0.49 * (hip - ankle)
    return floor


def _top_of_skin(draft: Draft, levels: Array, owner: np.ndarray) -> float | None:
    """The top of the head's skin, with what hangs on the head."""
    heads = draft.find("head") or draft.find("neck")
    over = [i for i, line in enumerate(draft.above) if any(j in line for j in heads)]
    crown = levels[np.isin(owner, over)]
    return float(crown.max()) if len(crown) > 8 else float(levels[owner >= 0].max())


def _top_of_bones(draft: Draft, heights: Array, up: Array, floor: float) -> float:
    """The top of the head by a nub or tail of a believable length, else from the height of the skull's base."""
    heads = _ends(draft, "head", "neck", "spine", "upper_arm")
    head = max(heads, key=lambda i: heights[i])
    base = float(heights[head])
    over = [float(heights[i]) for i, line in enumerate(draft.above) if head in line[1:]]
    over.append(float(draft.skeleton.tail[head] @ up))
    believable = [top for top in over if 0.07 * (base - floor) < top - base < 0.35 * (base - floor)]
    return max(believable) if believable else floor + (base - floor) / SKULL_HEIGHT
