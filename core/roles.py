"""What a bone's name says: its role, its side, and whether it belongs to a front or a hind leg.

Names of every school are cut into lower-case words and numbers ("mixamorig:LeftForeArm" -> left fore arm,
"J_Bip_L_UpperArm" -> upper arm, "lShldrBend" -> shldr bend); the side is taken out, and the rest is looked up.
Nothing here knows geometry: `anatomy` checks and completes the answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

SIDED = frozenset(
    ("hip", "clavicle", "upper_arm", "forearm", "hand", "finger", "thigh", "shin", "foot", "toe", "ear", "eye")
)
MIDDLE = frozenset(("pelvis", "spine", "neck", "head", "jaw", "tail", "root"))
ROLES = SIDED | MIDDLE | {"helper"}


@cache
def base_role(role: str) -> str:
    """The role without side or number: "upper_arm.L" -> "upper_arm", "spine.2" -> "spine"."""
    return role.partition(".")[0]


@dataclass(frozen=True)
class Hint:
    """role: a member of ROLES, or "" (the name says nothing).  side: "L", "R" or "".  zone: "front", "hind" or ""."""

    role: str = ""
    side: str = ""
    zone: str = ""
    word: str = ""  # the words it was recognised by, joined


# Names before these marks belong to a rig or a tool, not to the body.
_PREFIX = re.compile(
    r"^(?:.*:|valvebiped[._]|bip\d*[ _.]*|biped[ _.]*|cc_base_|j_(?:bip|sec|adj|opt)_|mixamorig\d*_?|def[-_]|org[-_]"
    r"|b_|jnt_|bn_)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SIDE = {"l": "L", "left": "L", "lft": "L", "lt": "L", "r": "R", "right": "R", "rgt": "R", "rt": "R"}

_TEXT = {
    "helper": """ik fk pole poletarget target targets nub nubs footstep footsteps twist roll end site tip ctrl control
        controller mch mstr str prop props properties handslot slot socket weapon pt pv heel helper dummy camera gun
        pivot heelpivot parents hng con attach effector goal aim lookat tweak vis""",
    "finger": """finger fingers thumb index middle ring pinky pinkie little carpal carpals metacarpal metacarpals
        fingerbase knuckle""",
}
_HELPER, _FINGER = (frozenset(text.split()) for text in _TEXT.values())
_ZONE = {"front": "front", "fore": "front", "back": "hind", "hind": "hind", "rear": "hind"}

# Joined words -> role.  A trailing * in the table: what it means depends on its neighbours, see `_settle`.
_TABLE = {
    "pelvis": "pelvis hips hip",
    "spine": """spine chest upperchest lowerchest chestupper chestlower torso uppertorso lowertorso abdomen abdomenlower
        abdomenupper lowerback upperback midback back ribcage ribs thorax waist stomach belly trunk shoulders
        upperbody spineintermediate spinelower spineupper spinemid spinebase""",
    "neck": "neck lowerneck upperneck necklower neckupper necktwist",
    "head": "head skull",
    "jaw": "jaw lowerjaw chin mandible mouth",
    "tail": "tail tailbase",
    "root": """root rootjoint master reference origin bone armature cog com trajectory global world rootmotion motion
        bip biped""",
    "body*": "body",
    "hip": "hipjoint",
    "clavicle": "clavicle collar collarbone scapula shoulderblade",
    "shoulder*": "shoulder",
    "arm*": "arm",
    "upper_arm": "upperarm uparm armupper shldr shldrbend humerus bicep arm0 upperarmbend",
    "forearm": "forearm lowerarm lowarm armlower forearmbend elbow radius ulna lowerarmbend",
    "hand": "hand",
    "wrist*": "wrist",
    "palm*": "palm",
    "thigh": "thigh upleg upperleg legupper thighbend femur",
    "leg*": "leg",
    "shin": "shin calf lowerleg lowleg leglower crus tibia shinbend",
    "knee*": "knee",
    "foot": "foot ankle paw hoof feet",
    "toe": "toe toes toebase ball footthumb metatarsals bigtoe toefront",
    "ear": "ear",
    "eye": "eye eyeball",
}
_ROLE = {words: role for role, text in _TABLE.items() for words in text.split()}

# On a front leg the leg words mean the arm's bones.
_FRONT = {"thigh": "upper_arm", "shin": "forearm", "foot": "hand", "toe": "finger", "hip": "clavicle"}


def words(name: str) -> list[str]:
    """Lower-case words and numbers of a bone's name without the prefixes of tools."""
    while True:
        rest = _PREFIX.sub("", name, count=1)
        if rest == name or not re.search(r"[A-Za-z]", rest):
            break
        name = rest
    return [word.lower() for word in _WORD.findall(name)]


def _take_side(parts: list[str]) -> tuple[str, list[str]]:
    """The side and the words without it."""
    for i, word in enumerate(parts):
        if word in _SIDE:
            return _SIDE[word], parts[:i] + parts[i + 1 :]
    for i, word in enumerate(parts):
        for start in ("left", "right", "l", "r"):
            rest = word[len(start) :]
            if word.startswith(start) and (rest in _ROLE or rest in _FINGER):
                return _SIDE[start], [*parts[:i], rest, *parts[i + 1 :]]
    return "", parts


def _take_zone(parts: list[str]) -> tuple[str, list[str]]:
    """Zone and the words without it, where what remains is a limb's ("back leg", not "lower back")."""
    zone = next((_ZONE[word] for word in parts if word in _ZONE), "")
    rest = [word for word in parts if word not in _ZONE and word not in ("mid", "middle")]
    role = _ROLE.get("".join(rest), "").rstrip("*")
    if zone and role in ("thigh", "leg", "shin", "knee", "foot", "toe", "shoulder"):
        return zone, rest
    if zone and _HELPER & set(rest):
        return zone, rest
    return "", parts


def read(name: str) -> Hint:
    """What one name says by itself; a role with * still depends on the other names."""
    side, parts = _take_side(words(name))
    parts = [word for word in parts if not word.isdigit() and word != "c"]
    zone, parts = _take_zone(parts)
    joined = "".join(parts)
    if _HELPER & set(parts):
        return Hint("helper", side, zone, joined)
    if _FINGER & set(parts) or joined in ("middlehand", "handend"):
        toe = "foot" in parts or "toe" in parts
        return Hint("toe" if toe else "finger", side, zone, joined)
    role = _ROLE.get(joined, "")
    if role == "" and parts:
        role = next((_ROLE[word] for word in (parts[0], parts[-1]) if word in ("tail", "ear", "toe")), "")
    if role == "pelvis" and side:
        role = "hip*"
    return Hint(role, side, zone, joined)


def recognise(names: Sequence[str]) -> list[Hint]:
    """A Hint for every bone; words that depend on their neighbours are settled."""
    if sum(name.startswith("DEF-") for name in names) >= 8:
        hints = [read(name) if name.startswith("DEF-") or name == "root" else Hint("helper") for name in names]
    else:
        hints = [read(name) for name in names]
    present = {(hint.role, hint.side, hint.zone) for hint in hints}
    return [_settle(hint, present) for hint in hints]


def _settle(hint: Hint, present: set[tuple[str, str, str]]) -> Hint:
    """Decide the words with * by what else there is on the same side: a "shoulder" is a clavicle beside an "arm" ..."""

    def has(*roles: str) -> bool:
        return any((role, hint.side, hint.zone) in present for role in roles)

    role = hint.role
    if role == "shoulder*":
        on_leg = hint.zone != "" or not has("arm*", "upper_arm", "forearm", "hand")
        role = "hip" if hint.zone == "hind" else "clavicle" if on_leg or has("arm*", "upper_arm") else "upper_arm"
    elif role == "hip*":
        role = "hip" if has("thigh", "leg*") or not has("knee*", "shin") else "thigh"
    elif role == "leg*":
        whole = has("thigh", "hip*")
        role = ("hip" if has("shin") else "shin") if whole else "thigh"
    elif role == "knee*":
        role = "shin" if not has("shin") else "helper"
    elif role == "arm*":
        role = "upper_arm" if hint.side else ""
    elif role == "wrist*":
        role = "hand"
    elif role == "palm*":
        role = "finger" if has("hand", "wrist*") else "hand"
    elif role == "hand" and has("wrist*"):
        role = "finger"
    elif role == "body*":
        role = "root"
    if hint.zone == "front":
        role = _FRONT.get(role, role)
    if role in SIDED - {"ear", "eye"} and not hint.side:
        role = ""
    return Hint(role, hint.side if role not in MIDDLE else "", hint.zone, hint.word)
