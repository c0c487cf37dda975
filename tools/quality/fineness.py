"""How far reactions depend on the sub-step: the tables of docs/dynamics.md, "How fine".

ENVS/core/bin/python -m tools.quality.fineness [DATA_FOLDER]    prints them, of real rigs where the data is; minutes
"""

import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from core import drive, pace
from core.progress import run
from core.react import Hit, react
from core.situation import named
from tests.core.figures import build
from tests.core.test_react import HIT, actor_of, clip_of

from .. import environments
from .directions import loaded
from .substeps import all_the_way, off

SITUATIONS, STEPS, FINEST = ("shoulder_front", "chest_front", "leg_front"), (60, 120, 240, 480), 1920
RIGS = ("demo", "cyberpunk", "kaykit", "pab", "cmu", "fox", "wolf")


def solved(actor, clip, name, hit, rate=None):
    """The reaction in sub-steps of 1/rate s all the way, None = as `react` runs."""
    with nullcontext() if rate is None else all_the_way(rate, drive, pace):
        return run(react(actor, clip, named(name), hit))


def main(data=None):
    """Print what depends on the sub-step, on the tests' figure and, step by step as `react` runs, on real rigs."""
    skeleton = build(skin=True)
    figure = actor_of(skeleton), clip_of(skeleton)
    _head("sub-step")
    exact = [solved(*figure, name, HIT, FINEST) for name in SITUATIONS]
    for rate in (*STEPS, None):
        found = [off(solved(*figure, name, HIT, rate), fine) for name, fine in zip(SITUATIONS, exact, strict=True)]
        _row("as `react` runs" if rate is None else "1/{} s".format(rate), ["{:.1f}".format(one.peak) for one in found])
    if data is None:
        return
    print()
    _head("rig")
    with tempfile.TemporaryDirectory() as folder:
        reader = [str(environments.python("bpy-4.5")), "-m", "tools.quality.moments", str(data), folder, *RIGS]
        subprocess.run(reader, check=True)
        for rig in RIGS:
            actor, clip, frame = loaded(Path(folder) / (rig + ".npz"))
            pairs = [[solved(actor, clip, name, Hit(frame), rate) for rate in (None, FINEST)] for name in SITUATIONS]
            _row(rig, [_cell(own, off(own, fine)) for own, fine in pairs])


def _head(first):
    print("| {} | {} |".format(first, " | ".join(named(name).name.lower() for name in SITUATIONS)))
    print("|---" * (len(SITUATIONS) + 1) + "|")


def _row(title, cells):
    print("| {} | {} |".format(title, " | ".join(cells)), flush=True)


def _cell(reaction, found):
    where = "{} at {:.2f} s".format(found.bone, found.since)
    return "{:.1f}, {:.1f} {} ({})".format(found.peak, found.way, where, reaction.substeps)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
