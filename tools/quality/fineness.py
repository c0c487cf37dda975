"""How far reactions depend on the sub-step: the tables of docs/dynamics.md, "How fine".

ENVS/core/bin/python -m tools.quality.fineness [DATA_FOLDER]    prints them, of real rigs where the data is; minutes
"""

import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np

from core import drive, pace
from core.progress import run
from core.react import Hit, react
from core.situation import named
from tests.core.figures import build
from tests.core.test_react import HIT, actor_of, clip_of

from .. import environments
from .directions import loaded

SITUATIONS, STEPS, FINEST = ("shoulder_front", "chest_front", "leg_front"), (60, 120, 240, 480), 1920
RIGS = ("demo", "cyberpunk", "kaykit", "pab", "cmu", "fox", "wolf")
SHOWN = 60.0  # [1/s] moments at which two reactions are compared


@dataclass(frozen=True)
class Off:
    """How far a reaction is off a finer one, in percent of the finer one's largest peak.

    peak: of any joint's peak.  way: of any joint at any moment, which is `bone`, `since` [s] after the hit.
    """

    peak: float
    way: float
    bone: str
    since: float


def off(reaction, fine):
    """Off of two reactions to one hit."""
    least = fine.peaks()
    most, got = max(least.values()), reaction.peaks()
    times = np.arange(fine.start, fine.end, 1.0 / SHOWN)
    way = np.degrees(np.linalg.norm(reaction.deviation(times)[0] - fine.deviation(times)[0], axis=-1))
    k, joint = np.unravel_index(way.argmax(), way.shape)
    peak = max(abs(got[bone] - least[bone]) for bone in least)
    since = float(times[k]) - fine.start
    return Off(100.0 * peak / most, 100.0 * float(way[k, joint]) / most, fine.actor.names[joint], since)


@contextmanager
def all_the_way(rate, drive=drive, pace=pace):
    """Simulations of the modules' core take sub-steps of 1/rate s from end to end; None = as they would."""
    if rate is None:
        yield
        return
    always = {name: mock.Mock(return_value=told) for name, told in (("repeats", False), ("least", 0), ("relaxed", 0))}
    with mock.patch.object(drive, "SUBSTEP", 1.0 / rate), mock.patch.multiple(pace.Pace, **always):
        yield


def solved(actor, clip, name, hit, rate=None):
    """The reaction in sub-steps of 1/rate s all the way, None = as `react` runs."""
    with all_the_way(rate):
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
