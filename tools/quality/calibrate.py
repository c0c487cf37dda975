"""One parameter set for all rigs, chosen by coordinate descent on what the frozen judge says.

ENVS/core/bin/python -m tools.quality.calibrate DATA_FOLDER [ratio=0.7 ...]    writes docs/calibration.md

Begins at the set that the code has, with the values that are given, and is compared with the code's.  The descent
doesn't see the tests of physics: what the code takes of its end must hold there, and the page must say so.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from core import joint_limits, weight
from core import situation as situations
from core.blows import Hit
from core.progress import run
from core.quality import rule
from core.react import react
from core.rotation import angle

from .. import environments
from . import answers, calibrate_page, directions, ways

TARGET = directions.TARGET.parent / "calibration.md"
CELLS = [
    *((rig, name) for rig in ("demo", "kaykit", "cyberpunk", "pab")
      for name in ("chest_front", "chest_back", "shoulder_front", "shoulder_back", "belly_bullet")),
    *((rig, name) for rig in ("fox", "wolf") for name in ("breast_bullet", "flank_bullet")),
]  # fmt: skip
# What is chosen, each of a list of values: fields of `Situation`, then constants of modules.
GRID = {
    "frequency": (0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8),
    "ratio": (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9),
    "taper": (1.0, 1.2, 1.4, 1.6, 1.8, 2.0),
    "tone": (0.2, 0.25, 0.3, 0.35, 0.45, 0.6),
    "base_frequency": (0.5, 0.6, 0.7, 0.8, 1.0, 1.2),
    "SOFT": (0.1, 0.25, 0.4, 0.55),
    "BALLS": (0.25, 0.33, 0.4),
    "TAUT": (0.05, 0.15, 0.25),
    "HASTE": (0.6, 0.8, 1.0, 1.2, 1.5),
}
CONSTANTS = {"SOFT": joint_limits, "BALLS": joint_limits, "TAUT": joint_limits, "HASTE": weight}
PLAIN, TURN = 10.0, 15.0  # [cm] way of the struck point, [deg] turn of the chest, hit there or above, that show plainly
GRADES = {"good": 0.0, "less good": 0.5, "bad": 1.0}
BUDGET, PROCESSES = 30, 2  # sets that are tried at most
SEEN = 1.0  # [s] from the hit in which the chest's turn is looked for


@dataclass(frozen=True)
class Answer:
    """One cell.  excess: what is beyond the judge's limits, as parts of them.  way [cm], turn [deg]: what shows; the
    turn is endless where none is asked for.
    """

    grade: str
    excess: float
    way: float
    turn: float

    @property
    def cost(self):
        """What is too much, and what is missing for the hit to show plainly."""
        missing = max(0.0, 1.0 - self.way / PLAIN) + max(0.0, 1.0 - self.turn / TURN)
        return GRADES[self.grade] + self.excess + missing


@lru_cache
def loaded(file):
    return directions.loaded(file)


def answer(work):
    """Answer of a cell with a set of values."""
    folder, rig, name, values = work
    for key, module in CONSTANTS.items():
        setattr(module, key, values[key])
    actor, clip, frame = loaded(str(Path(folder) / (rig + ".npz")))
    own = {key: value for key, value in values.items() if key not in CONSTANTS}
    reaction = run(react(actor, clip, situations.named(name).with_changes(**own), Hit(frame)))
    aim = ways.Aim(actor, clip, frame, name, "", 0.0)
    verdict = answers.graded(aim, reaction)
    found = {f.name: f for f in verdict.findings}
    over = sum(rule.excess(f, verdict.mode) - 1.0 for f in verdict.failed() if f.name != "response")
    seen = (clip.times >= reaction.start) & (clip.times < reaction.start + SEEN)
    chest = actor.first("chest")
    own, new = (q[seen, chest] for q, _ in (actor.canonical(clip), reaction.poses(clip)))
    above = reaction.model.ancestor[reaction.struck, chest] > 0.0
    turn = float(np.degrees(angle(own, new).max())) if above else np.inf
    return Answer(verdict.grade, over, found["response"].value, turn)


def descend(start, tried, budget):
    """Coordinate descent on GRID: yields (values, answers) of every better set, the first one included.

    tried: (values) -> [Answer].  Each parameter is moved to its neighbours as long as that is better; the descent ends
    where no neighbour is, or the budget of sets.
    """
    best, found = dict(start), tried(start)
    yield best, found
    asked = {tuple(best.values())}
    better = True
    while better:
        better = False
        for key, way in ((key, way) for key in GRID for way in (-1, 1)):
            while len(asked) < budget and (new := neighbour(best, key, way)) and tuple(new.values()) not in asked:
                asked.add(tuple(new.values()))
                answers_ = tried(new)
                if total(answers_) >= total(found):
                    break
                best, found, better = new, answers_, True
                yield best, found


def neighbour(values, key, way):
    """The values with one moved along its list; None at the list's end."""
    line = sorted({*GRID[key], values[key]})
    k = line.index(values[key]) + way
    return {**values, key: line[k]} if 0 <= k < len(line) else None


def total(found):
    """Cost of a set."""
    return sum(cell.cost for cell in found)


def present():
    """The set that the code has."""
    chosen = situations.named("chest_front")
    return {key: getattr(CONSTANTS.get(key, chosen), key) for key in GRID}


def main(data, given):
    rigs = list(dict.fromkeys(rig for rig, _ in CELLS))
    every = []
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(PROCESSES) as pool:
        reader = [str(environments.python("bpy-4.5")), "-m", "tools.quality.moments", str(data), folder, *rigs]
        subprocess.run(reader, check=True)

        def tried(values):
            found = list(pool.map(answer, [(folder, *cell, values) for cell in CELLS], chunksize=2))
            every.append((values, found))
            print(values, "{:.2f}".format(total(found)), calibrate_page.counts(found), flush=True)
            return found

        better = [(present(), tried(present()))] if given else []
        for values, found in descend(present() | given, tried, BUDGET):
            better.append((values, found))
            TARGET.write_text(calibrate_page.text(better, every, total), encoding="utf-8")


if __name__ == "__main__":
    pairs = [text.partition("=") for text in sys.argv[2:]]
    main(Path(sys.argv[1]), {key: float(value) for key, _, value in pairs})
