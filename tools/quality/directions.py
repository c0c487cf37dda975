"""Hits from 26 directions on 8 parts of the body in 3 strengths, on two characters: does the body answer as it must?

ENVS/core/bin/python -m tools.quality.directions DATA_FOLDER    writes docs/directions.md
... --characters demo --parts hips,belly --strengths pistol     prints only that
"""

import argparse
import subprocess
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

from core.actor import Actor
from core.anatomy import analyse
from core.bodies import measure
from core.skeleton import Clip, Skeleton, Skin

from .. import environments
from . import answers, directions_page, ways

TARGET = Path(__file__).resolve().parents[2] / "docs" / "directions.md"
CHARACTERS = ("demo", "cyberpunk")
STRENGTHS = ("pistol", "rifle", "shotgun")  # names in core/strengths.toml, with the gains that stand there
PARTS = {  # what is hit: situation, bone, how far along it
    "head": ("chest_front", "head", 0.5),
    "chest": ("chest_front", "chest", 0.5),
    "belly": ("chest_front", "spine.1", 0.5),
    "hips": ("chest_front", "pelvis", 0.5),
    "shoulder": ("shoulder_front", "upper_arm.L", 0.1),
    "upper arm": ("shoulder_front", "upper_arm.L", 0.7),
    "thigh": ("leg_front", "thigh.R", 0.7),
    "shin": ("leg_front", "shin.R", 0.5),
}
DIRECTIONS = [d for d in product((1, 0, -1), repeat=3) if any(d)]  # [left, forward, up], where the blow pushes
PROCESSES = 2


def main(data, characters, parts, strengths):
    """{(character, part): {direction: [Cell of each strength]}}."""
    with tempfile.TemporaryDirectory() as folder:
        reader = [str(environments.python("bpy-4.5")), "-m", "tools.quality.moments", str(data), folder, *characters]
        subprocess.run(reader, check=True)
        work = [(str(Path(folder) / (rig + ".npz")), part, strengths) for rig in characters for part in parts]
        with ProcessPoolExecutor(PROCESSES) as pool:
            found = list(pool.map(_part, work))
    return {(Path(file).stem, part): cells for (file, part, _), cells in zip(work, found)}


def options():
    """What the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    for name, every in (("characters", CHARACTERS), ("parts", PARTS), ("strengths", STRENGTHS)):
        parser.add_argument("--" + name, default=tuple(every), type=lambda text: tuple(text.split(",")))
    return parser.parse_args()


def loaded(file):
    """(Actor, Clip, frame of the hit) of a file that `tools.quality.moments` wrote."""
    kept = np.load(file)

    def group(name):
        return {key.partition("_")[2]: kept[key] for key in kept if key.startswith(name + "_")}

    plain = group("skeleton")
    skin = group("skin")
    plain["names"] = tuple(str(name) for name in plain["names"])
    skeleton = Skeleton(**plain, skin=Skin(**skin) if skin else None)
    timed = group("clip")
    clip = Clip(**timed | {name: float(timed[name]) for name in ("fps", "scale")})
    anatomy = analyse(skeleton)
    actor = Actor(skeleton, anatomy, measure(skeleton, anatomy), float(kept["height"]), bool(kept["mirrored"]))
    return actor, clip, float(kept["frame"])


def _part(work):
    """All cells of one part of one character."""
    file, part, strengths = work
    actor, clip, frame = loaded(file)
    cells = part_of(actor, clip, frame, *PARTS[part], strengths=strengths)
    print(Path(file).stem, part, len(cells), flush=True)
    return cells


def part_of(actor, clip, frame, situation, bone, along, directions=DIRECTIONS, strengths=STRENGTHS):
    """{direction: [Cell of each strength]} of a part of the body."""
    aim = ways.Aim(actor, clip, frame, situation, bone, along)
    return {d: answers.cells(aim, d, strengths) for d in directions}


if __name__ == "__main__":
    asked = options()
    page = directions_page.text(main(**vars(asked)), asked.strengths)
    if (asked.characters, asked.parts, asked.strengths) == (CHARACTERS, tuple(PARTS), STRENGTHS):
        TARGET.write_text(page, encoding="utf-8")
    else:
        print(page)
