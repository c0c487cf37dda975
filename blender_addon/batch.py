"""A library of takes: every situation of a list on every clip of a list, one file for an engine each.

for told in run(options, load(path), react): ...      one dict per take: written, or refused with the reason
A recipe is TOML:
    situations = ["shoulder_front", "chest_back", "mine.toml"]
    clips = ["Walk", "Idle"]        # "*": all that move the body; left out: the one that `react` would take
    at = [0.25, 0.6]                # when the hit lands, as a part of the clip; left out: a quarter
    seeds = [0, 1, 2]               # variations of direction and strength; left out: none
    format = "fbx"                  # or "glb"
    root = "KEEP"                   # and additive, marker: see `engine.Take`
"""

import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import bpy

from ..core import hits as planning
from ..core.errors import CoreError, SituationError
from . import choosing, engine, files, layer, recipe, records, source

ALL = "*"
FORMATS = ("fbx", "glb")
MODES = {"root": [kind for kind, _, _ in engine.ROOTS], "additive": [kind for kind, _, _ in engine.ADDITIVE]}


@dataclass(frozen=True)
class Plan:
    """What a recipe says.  clips: names, None = the one that is found.  at: parts of the clip, None = a quarter."""

    situations: tuple[str, ...]
    clips: tuple[str | None, ...] = (None,)
    at: tuple[float | None, ...] = (None,)
    seeds: tuple[int, ...] = (0,)
    format: str = "fbx"
    take: engine.Take = engine.Take()

    def __len__(self):
        return len(self.clips) * len(self.situations) * len(self.at) * len(self.seeds)


def load(path):
    """The Plan of a recipe; SituationError that names the file and what is wrong in it."""
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SituationError("The recipe '{}' can't be read: {}.".format(Path(path).name, error)) from None
    known = {"situations": (str,), "clips": (str,), "at": (int, float), "seeds": (int,)}
    for key, value in table.items():
        if key in known:
            fits = isinstance(value, list) and value and all(type(item) in known[key] for item in value)
            _require(fits, path, key, "a list that isn't empty")
        elif key in MODES:
            _require(value in MODES[key], path, key, "one of " + ", ".join(MODES[key]))
        elif key == "format":
            _require(value in FORMATS, path, key, "fbx or glb")
        elif key == "marker":
            _require(isinstance(value, bool), path, key, "true or false")
        else:
            raise SituationError("The recipe '{}' has an unknown key '{}'.".format(Path(path).name, key))
    _require("situations" in table, path, "situations", "a list that isn't empty")
    _require(all(0.0 <= part <= 1.0 for part in table.get("at", ())), path, "at", "parts from 0 to 1")
    take = engine.Take(**{key: table.pop(key) for key in ("root", "additive", "marker") if key in table})
    lists = {key: tuple(table.pop(key)) for key in known if key in table}
    for name in lists["situations"]:
        planning.from_entry({"situation": name}, "The recipe")
    return Plan(**lists, **table, take=take)


def _require(fits, path, key, wanted):
    if not fits:
        raise SituationError("In the recipe '{}', '{}' must be {}.".format(Path(path).name, key, wanted))


def run(options, plan, react):
    """Make the takes of a plan whose clips are `expanded`, one after the other; a dict about each.

    react(opened, hits) -> commands.Done.
    """
    taken = set()
    for clip in plan.clips:
        try:
            opened = files.open_input(options.input, options.clip, options.armature, clip or options.action)
        except CoreError as error:
            if clip is None:
                raise
            yield {"clip": clip, "refused": str(error)}
            continue
        for entry in _entries(plan, source.of(bpy.data.objects[opened.armature])):
            yield _take(options, plan, opened, entry, react, taken)


def expanded(options, plan):
    """The plan with all clips that move the body in the place of the star; CoreError where one isn't there."""
    if plan.clips == (None,) or (options.clip is not None and ALL not in plan.clips):
        return plan
    opened = files.open_input(options.input, options.clip, options.armature, options.action)
    found = choosing.candidates(bpy.data.objects[opened.armature])
    if not found:
        raise choosing.InputError(choosing.still(Path(options.input), bpy.data.objects[opened.armature]))
    if ALL in plan.clips:
        most = max(item.bones for item in found)
        return replace(plan, clips=tuple(sorted(item.title for item in found if 2 * item.bones >= most)))
    for name in plan.clips:
        choosing.named(Path(options.input), name, found)
    return plan


def _entries(plan, found):
    """The hits of a clip, as entries of a file of hits, each with what its file name needs besides."""
    for situation in plan.situations:
        for at in plan.at:
            for seed in plan.seeds:
                entry, words = {"situation": situation, "seed": seed}, [Path(situation).stem]
                if at is not None:
                    entry["frame"] = float(round(found.start + at * (found.end - found.start)))
                words += ["{:g}".format(at)] if len(plan.at) > 1 else []
                words += [str(seed)] if len(plan.seeds) > 1 else []
                yield entry, words


def unlike(clip, words, taken):
    """A name for a take, of clip and words, that none of those taken has; added to them.  A long clip's name is cut."""
    end = "_".join(["", *words])
    stem = bpy.path.clean_name(clip[: max(records.LONGEST - len(end) - 4, 8)] + end)  # 4: room for a number
    number = 1 + sum(1 for name in taken if name == stem or name.rpartition(".")[0] == stem)
    stem = stem if number == 1 else "{}.{}".format(stem, number)
    taken.add(stem)
    return stem


def _take(options, plan, opened, entry, react, taken):
    """Make, write and take off one reaction."""
    began = time.perf_counter()
    armature = bpy.data.objects[opened.armature]
    clip = choosing.title(source.of(armature).action, armature.name)
    told = {"clip": clip, **entry[0]}
    try:
        done = react(opened, recipe.Recipe((planning.from_entry(entry[0], "The recipe"),)))
    except CoreError as error:
        return told | {"refused": " ".join(str(error).split())}
    if not done.name:
        return told | {"refused": "The blow moves nothing."}
    stem = unlike(clip, entry[1], taken)
    final = layer.rename(armature, done.name, stem)
    path = Path(options.out) / "{}.{}".format(stem, plan.format)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = engine.write(bpy.context, armature, armature.parametric_dynamics_reactions[final], path, plan.take)
    except (CoreError, OSError) as error:
        return told | {"refused": " ".join(str(error).split())}
    finally:
        layer.remove(bpy.context, armature, final)
    quality = done.report["quality"]
    return told | {
        "file": path.name,
        **facts,
        "peak_bone": done.report["peak_bone"],
        "peak_deg": done.report["peak_deg"][done.report["peak_bone"]],
        "grade": quality["grade"] if quality else "",
        "warnings": done.report["warnings"],
        "took_s": round(time.perf_counter() - began, 2),
    }
