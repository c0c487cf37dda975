"""The document's own text files: a bone on each line, with its value (de Heras Ciechomski 2001, 5.1 and fig. 5.2).

    Bip01 Spine1 | 1                     one parameter in a file, whose name or first line says which
    Bone Name | Angle (deg) | Velocity   several, as in his tables 5.1 to 5.13; tabs part columns as well
    Attack | 0.1                         the transition: attack, sustain, relaxation, simulation time

Indentation and lines that begin with # are for people.  What his files leave open is settled here: bones are known by
their names' roles, so that any rig will do; masses are his giants', so only their ratios count; a damping is taken as
damping ratio; and angles count from our zero (`links`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import links, roles, segments
from .bodies import MASS
from .errors import SituationError

TRANSITION = {"attack": 0.1, "sustain": 0.1, "relaxation": 2.5, "simulation": 0.15}  # [s], his table 5.5
ANGLE = 90.0  # [deg] where the files give none
IMPULSE, GAIN = 8.0, 3.25  # of a blow, where the files give no velocities: those of `shoulder_front`
# Words of column heads and file names -> what the column holds.
WORDS = {"simulated": "simulated", "simulate": "simulated", "mass": "mass", "masses": "mass",
         "radius": "radius", "radiuses": "radius", "radii": "radius", "angle": "angle", "angles": "angle",
         "rotation": "angle", "velocity": "velocity", "velocities": "velocity", "multiplier": "multiplier",
         "damping": "ratio", "dampening": "ratio", "dampenings": "ratio", "attack": "attack", "sustain": "sustain",
         "relaxation": "relaxation", "sim": "simulation", "simulation": "simulation"}  # fmt: skip
# Whom the blow is said to strike: the first of these that the files set in motion.
STRUCK = ("upper_arm", "thigh", "forearm", "shin", "head", "spine", "clavicle", "neck")
HANGING = ("upper_arm", "forearm", "hand", "finger", "thigh", "shin")
LEG = ("thigh", "shin", "foot", "toe")
PARTS = re.compile(r"\s*\|\s*|\t+|\s{2,}")


@dataclass
class Row:
    """What the files say about one bone.  line: where it was named first, for refusals."""

    bone: str
    line: str
    values: dict[str, float] = field(default_factory=dict)


Table = dict[str, Any]


def read(path: Path) -> Table:
    """What `situation.from_table` reads, of a file or of all .txt files of a folder; SituationError naming file and
    line."""
    paths = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    if not paths:
        raise SituationError(f"Folder '{path}' holds no .txt file. Name one with files of 'Bone | value' lines.")
    return read_all(paths, path.stem)


def read_all(paths: Sequence[Path], name: str) -> Table:
    """What several files say together."""
    texts = []
    for path in paths:
        try:
            texts.append((path.name, path.read_text(encoding="utf-8-sig")))
        except OSError as error:
            raise SituationError(f"Situation file '{path}' cannot be read: {error.strerror}. Check the path.") from None
        except UnicodeDecodeError:
            raise SituationError(f"Situation file '{path}' is not a text in UTF-8. Save it as such.") from None
    return parse(texts, name.replace("_", " "))


def parse(texts: Sequence[tuple[str, str]], name: str) -> Table:
    """What (file name, text) pairs say; refuses by file and line what can't be read."""
    rows: dict[str, Row] = {}
    times = dict(TRANSITION)
    for source, text in texts:
        _table(source, text, rows, times)
    moved = [row for row in rows.values() if _simulated(row, rows)]
    if not moved:
        files = ", ".join(source for source, _ in texts)
        raise SituationError(f"{files}: no bone is simulated. Write 'Bone | 1' for those that are.")
    return _situation(name, _by_role(moved), times)


# -- lines -----------------------------------------------------------------------------------------------------------


def _table(source: str, text: str, rows: dict[str, Row], times: dict[str, float]) -> None:
    """Add what one file says to the rows and to the transition's times."""
    columns = _known(Path(source).stem)
    for number, line in enumerate(text.splitlines(), 1):
        cells, where = [cell.strip() for cell in PARTS.split(line.strip())], f"{source}, line {number}"
        if cells == [""] or cells[0].startswith("#"):
            continue
        if len(cells) < 2:
            raise SituationError(f"{where}: '{cells[0]}' has no value. Write it as 'Bone | value'.")
        numbers = [_number(cell) for cell in cells]
        times_of = [_known(cell) for cell in cells]
        if numbers[0] is None and None in numbers[1:]:
            heads = times_of if times_of[0] else times_of[1:]
            if not all(len(head) == 1 for head in heads):
                raise SituationError(f"{where}: '{line.strip()}' is neither a bone with numbers nor a head of columns. "
                                     "Correct that line.")  # fmt: skip
            columns = [head[0] for head in heads]
        elif numbers[0] is None and len(cells) == 2 and times_of[0] and times_of[0][0] in times:
            times[times_of[0][0]] = _value(numbers[1])
        elif numbers[0] is None:
            row = rows.setdefault(cells[0], Row(cells[0], where))
            meant = ["simulated" if column == "simulation" else column for column in columns]
            row.values |= _valued(where, meant, cells[0], [_value(x) for x in numbers[1:]])
        elif None not in numbers and columns and set(columns) <= set(times):
            times |= _valued(where, columns, "the transition", [_value(x) for x in numbers])
        else:
            raise SituationError(f"{where}: a number stands where a bone's name is expected. Correct that line.")


def _valued(where: str, columns: Sequence[str], what: str, values: Sequence[float]) -> dict[str, float]:
    """Values by column; without any head ones and noughts say whether a bone is simulated."""
    if not columns and len(values) == 1 and values[0] in (0.0, 1.0):
        columns = ["simulated"]
    if len(columns) != len(values):
        raise SituationError(
            f"{where}: it is not said what the {len(values)} value(s) of '{what}' are. "
            "Begin the file with a head, such as 'Bone | Angle | Velocity'."
        )
    return dict(zip(columns, values, strict=True))


def _known(text: str) -> list[str]:
    """What the words of a head or of a file's name say."""
    found = [WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in WORDS]
    return list(dict.fromkeys(found))


def _number(text: str) -> float | None:
    try:
        return _value(float(text))
    except ValueError:
        return None


def _value(number: float | None) -> float:
    """A finite number."""
    if number is None or not np.isfinite(number):
        raise ValueError(f"expected a finite number, got {number}")
    return number


# -- meaning ---------------------------------------------------------------------------------------------------------


def _simulated(row: Row, rows: dict[str, Row]) -> bool:
    """As the files say; where none does, all bones are that a table of velocities or angles lists."""
    if any("simulated" in other.values for other in rows.values()):
        return bool(row.values.get("simulated", 0.0))
    return "velocity" in row.values or "angle" in row.values


def _by_role(rows: Sequence[Row]) -> dict[str, Row]:
    """The rows by role, or by name where that says none; of two bones of a role the first speaks for both."""
    out: dict[str, Row] = {}
    count: dict[str, int] = {}
    for row, hint in zip(rows, roles.recognise([row.bone for row in rows]), strict=True):
        role = hint.role if hint.role not in ("root", "helper") else ""
        if role in ("spine", "neck", "tail"):
            count[role] = count.get(role, 0) + 1
            role = f"{role}.{count[role]}"
        key = role + (f".{hint.side}" if role and hint.side else "")
        out.setdefault(key or row.bone, row)
    return out


def _situation(name: str, rows: dict[str, Row], times: dict[str, float]) -> Table:
    """A pose is held after the simulation; but legs carry the body, which answers as to a blow, and walk on."""
    masses = _masses(rows)
    bones: dict[str, Table] = {}
    for key, row in rows.items():
        bones[key] = {k: v for k, v in row.values.items() if k in ("angle", "velocity", "multiplier", "ratio")}
        bones[key] |= {"mass": masses[key]} if key in masses else {}
        bones[key] |= {"simulated": True, "bone": row.bone, "line": row.line}
    moved = {key: bone for key, bone in bones.items() if _speed(bone)}
    struck = _struck(moved or bones)
    alone = roles.base_role(struck) not in LEG
    return {
        "name": name,
        "hit": [struck],
        "direction": _direction(moved) if moved else [0.0, -1.0, 0.0],
        "impulse": IMPULSE,
        "gain": GAIN,
        "drive": "velocities" if moved else "impulse",
        "envelope": {**times, "mode": "hold" if alone else "continue"},
        "bones": bones,
        **({"simulate": [], "support": []} if alone else {}),
    }


def _speed(bone: Table) -> float:
    """[deg/s] about its axis."""
    return float(bone.get("velocity", 0.0) * bone.get("multiplier", 1.0))


def _masses(rows: dict[str, Row]) -> dict[str, float]:
    """[kg] of bones whose mass or radius [m] is given: together what a human's weigh, in the files' ratios."""
    given, human = {}, {}
    for key, row in rows.items():
        role = roles.base_role(key)
        carrier, part = segments.SMALL.get(role, (role, 1.0))
        size = row.values.get("mass", 4.0 / 3.0 * np.pi * row.values.get("radius", 0.0) ** 3)
        if carrier not in segments.FRACTION or size == 0.0:
            continue
        given[key] = size
        human[key] = MASS * part * segments.FRACTION[carrier] / len(_row_of(rows, key))
    total = sum(given.values())
    return {key: size / total * sum(human.values()) for key, size in given.items()}


def _row_of(rows: dict[str, Row], key: str) -> list[str]:
    """The keys that share a human's fraction with this one: spines and necks a row, sided bones each their own."""
    return [key] if key.endswith((".L", ".R")) else [k for k in rows if roles.base_role(k) == roles.base_role(key)]


def _struck(bones: dict[str, Table]) -> str:
    """Whom the blow strikes: of the trunk the highest bone."""
    for role in STRUCK:
        found = [key for key in bones if roles.base_role(key) == role]
        if found:
            return "chest" if role == "spine" else found[0]
    return next(iter(bones))


def _direction(bones: dict[str, Table]) -> list[float]:
    """Where the fastest bone's tip goes, [left, forward, up]."""
    key, fast = max(bones.items(), key=lambda item: abs(_speed(item[1])))
    link = np.array([0.0, 0.0, -1.0 if roles.base_role(key) in HANGING else 1.0])
    axis = links.axis(link, fast.get("angle", ANGLE), np.eye(3))
    return [round(float(v), 6) + 0.0 for v in np.sign(_speed(fast)) * np.cross(axis, link)]
