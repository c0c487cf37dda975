"""Tests I to VI of de Heras Ciechomski 2001 on our rigs, graded and drawn; runs in a bpy environment.

ENVS/bpy-4.5/bin/python -m tools.quality.seed_tests DATA_FOLDER [STRIPS_FOLDER]    writes docs/tests_of_the_document.md
    ... DATA_FOLDER [STRIPS_FOLDER] --only demo_waving kaykit_waving_leg    prints these
"""

import argparse
import contextlib
import io
from dataclasses import dataclass, replace
from pathlib import Path

from . import moments, ours, seed_tests_page, waving

TARGET = Path(__file__).resolve().parents[2] / "docs" / "tests_of_the_document.md"
SIDES = {"shoulder": ("front", "back", "inside", "outside"), "leg": ("front", "back", "inside", "outside")}
SIDES["chest"] = ("front", "back")
BEASTS = ("fox", "wolf")  # the same parameters on quadrupeds, walking


@dataclass(frozen=True)
class Result:
    """One test on one rig.  grade: of the judge, "refused" where nothing was made.  failed: what, worst first."""

    grade: str
    failed: tuple


class Bench:
    """The add-on at work in this process."""

    def __init__(self, data, strips):
        self.ours = moments.start()
        self.data, self.strips, self.jobs = data, strips, {}
        import bpy

        self.bpy = bpy

    def walking(self, rig):
        """The rig's armature with its walk."""
        self.jobs.clear()
        return moments.opened(self.ours, self.data, rig)

    def waving(self, rig):
        """The same with a wave blended over the walk by the pipeline."""
        self.jobs.clear()
        return waving.opened(self.ours, self.data, rig)

    def result(self, armature, situation, strip=""):
        """Solve and judge, a quarter into the clip; draw where a strip's name is given."""
        errors, quality = self.ours("core.errors"), self.ours("blender_addon.quality")
        try:
            job = self.job(armature, situation)
            reaction = self.ours("core.progress").run(job.solve())
        except errors.CoreError as error:
            return Result("refused", (str(error),))
        verdict = quality.of_reaction(job, reaction)
        if self.strips and strip:
            self._draw(job, reaction, self.strips / (strip + ".png"))
        return Result(verdict.grade, tuple(ours.told(verdict)))

    def job(self, armature, situation):
        """The Job; what is read of the scene serves all situations that last as long, until an armature is opened."""
        key = armature.name, situation.envelope.duration
        if key not in self.jobs:
            self.jobs[key] = self.ours("blender_addon.job").read(self.bpy.context, armature, situation)
        return replace(self.jobs[key], hits=((situation, self.jobs[key].hits[0][1]),), warnings=[])

    def _draw(self, job, reaction, path):
        """The film strip of a reaction, which is taken off again."""
        commands, layer = self.ours("blender_addon.commands"), self.ours("blender_addon.layer")
        bpy = self.bpy
        with contextlib.redirect_stdout(io.StringIO()):
            name = job.write(bpy.context, reaction)
            commands.preview(commands.Done(job, reaction, name, {}), path)
        layer.remove(bpy.context, bpy.data.objects[job.armature], name)


def ways(bench, preset):
    """{way: Situation}: our blow; and the document's velocities and envelope.  A leg carries the body, which answers
    as to a blow; else the bones of its tables alone move, the rest is the clip's, and after 0.15 s the pose is held."""
    leg = preset.hit[0].startswith("thigh")
    envelope = bench.ours("core.pose").Envelope(0.1, 0.1, 2.5, "continue" if leg else "hold", 0.15)
    bones = {role: replace(setting, simulated=True) for role, setting in preset.bones.items()}
    changes = {"drive": "velocities", "envelope": envelope, "bones": bones}
    changes |= {} if leg else {"simulate": (), "support": ()}
    return {"impulse": preset, "velocities": preset.with_changes(**changes)}


def main(data, strips, only):
    bench = Bench(data, strips)
    if strips:
        strips.mkdir(parents=True, exist_ok=True)
    named = bench.ours("core.situation").named
    wanted, cells = {}, {}
    for cell in _cells():
        if any(_title(cell).startswith(part) for part in only or [""]):
            wanted.setdefault(cell[:2], []).append(cell)
    for (rig, state), tests in wanted.items():
        armature = getattr(bench, state)(rig)
        for cell in tests:
            situation = ways(bench, named("{}_{}".format(*cell[2:4])))[cell[4]]
            cells[cell] = bench.result(armature, situation, _title(cell))
            print(_title(cell), cells[cell], flush=True)
    if not only:
        TARGET.write_text(seed_tests_page.text(cells, BEASTS), encoding="utf-8")
    moments.installed.leave(0)


def _cells():
    """(rig, state, part, side, way) of all tests."""
    walks = [(rig, state) for rig in waving.WAVES for state in ("walking", "waving")]
    walks += [(rig, "walking") for rig in BEASTS]
    blows = [(part, side, way) for part, sides in SIDES.items() for side in sides for way in ("impulse", "velocities")]
    return [walk + blow for walk in walks for blow in blows]


def _title(cell):
    return "_".join(cell)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(";")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("strips", type=Path, nargs="?", help="folder for film strips")
    parser.add_argument("--only", nargs="*", help="beginnings of rig_state_part_side_way; prints and writes no page")
    main(**vars(parser.parse_args()))
