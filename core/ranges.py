"""How far joints may leave the clip, and what a situation says instead (its legal angles)."""

from collections.abc import Mapping
from math import inf

from .errors import SituationError
from .roles import SIDED, base_role

TRUNK_RANGE = 42.0  # [deg], which a trunk shares among its spine bones
SINKS = 10.0  # [deg] that a girdle can: of its ways the shortest (up 45, forward and back 15 to 30; Neumann 2010)
# All round the clip's pose [deg].
CONE = {"spine": (TRUNK_RANGE,), "neck": (22.0,), "head": (22.0,), "clavicle": (22.0,), "hand": (45.0,)}
CONE |= {"foot": (35.0,), "toe": (30.0,), "tail": (35.0,), "ear": (25.0,), "finger": (20.0,), "pelvis": (30.0,)}
# Ball joints: swing forward and back, swing sideways, twist about the bone [deg].
BALL = {"upper_arm": (75.0, 75.0, 50.0), "thigh": (55.0, 40.0, 35.0)}
HINGE = {"forearm": (-3.0, 150.0), "shin": (-2.0, 150.0)}  # flexion from straight [deg]
ASKED = (
    (tuple(CONE), 1, (0.1, 180.0), "one angle, all round the clip's pose"),
    (tuple(HINGE), 2, (-60.0, 175.0), "two angles, the least and the most flexion"),
    (tuple(BALL), 3, (0.1, 175.0), "three angles: swing forward and back, swing sideways, twist"),
)

Ranges = Mapping[str, tuple[float, ...]]


def check(said: Ranges, what: str) -> None:
    """Refuse by name a role without a range, and numbers that make none.  said: role -> angles [deg]."""
    for key, values in said.items():
        role, _, side = key.partition(".")
        asked = next((asked for asked in ASKED if role in asked[0]), None)
        if asked is None or (side and (role not in SIDED or side not in "LR")):
            known = ", ".join(sorted(role for roles, *_ in ASKED for role in roles))
            raise SituationError(f"{what}: ranges of '{key}' are unknown. Use {known}; limbs may end in .L or .R.")
        _, count, (low, high), meaning = asked
        if len(values) != count or not all(low <= v <= high for v in values) or (count == 2 and values[0] >= values[1]):
            raise SituationError(
                f"{what}: the range of '{key}' is {list(values)}. Give it {meaning}, {low:g} to {high:g} degrees."
            )


def own(said: Ranges, role: str) -> tuple[float, ...] | None:
    """What is said of a body's role ("upper_arm.L"): of its side, else of both; None = nothing."""
    return said.get(role, said.get(base_role(role)))


def widens(said: Ranges, role: str) -> bool:
    """Whether what is said of a body's role is wider than usual, and nowhere narrower: it asks for more freedom."""
    told = own(said, role)
    usual = next(table[base_role(role)] for table in (CONE, HINGE, BALL) if base_role(role) in table)
    if told is None or told == usual:
        return False
    bounds = [-1.0, 1.0] if len(told) == 2 else [1.0] * len(told)
    return all(sign * (a - b) >= 0.0 for sign, a, b in zip(bounds, told, usual, strict=True))


def folds(said: Ranges, role: str) -> float:
    """[deg] the most flexion of an elbow or knee; infinite where nothing tells it."""
    return (own(said, role) or HINGE.get(base_role(role), (0.0, inf)))[1]
