"""What the commands do: read, solve, write, measure, save.  Each gives the exit status or raises a CoreError."""

import json
import math
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import bpy

from ..core import hits as planning
from ..core.diagnosis import Log
from ..core.errors import SituationError
from ..core.progress import run as drain
from ..core.situation import named
from . import (
    batch,
    blending,
    demo_character,
    export,
    files,
    grading,
    importing,
    inspection,
    keyed_settings,
    layer_undo,
    operators_react,
    quality,
    report,
    settings,
    takeover,
    timing,
)
from . import filmstrip as film
from . import job as jobs
from . import recipe as recipes
from .outputs import Outputs, folder

# Moments of a film strip [s] from each hit; the last one stands for the end of the reaction.
STRIP = (-0.1, 0.0, 0.1, 0.2, 0.35, 0.55, 0.9, 1.5, math.inf)
MOST = 12  # pictures in a row


class Watch:
    """Seconds since it was last asked."""

    def __init__(self):
        self.last = time.perf_counter()

    def lap(self):
        now = time.perf_counter()
        passed, self.last = now - self.last, now
        return round(passed, 4)


@dataclass(eq=False)
class Done:
    """A reaction that has been written to the scene, with its report."""

    job: jobs.Job
    reaction: object
    name: str
    report: dict


def inspect(options):
    """Print what a file holds, and whether a character in it can react."""
    with Outputs({"report": options.report}, _inputs(options)) as outputs:
        facts = inspection.inspect(options)
        if "report" in outputs:
            _write_json(outputs.staged("report"), facts)
    if facts["action"]:
        _tell_choice(facts)
    print(inspection.as_text(facts))
    return 0


def react(options):
    """Let the character of a file take a hit."""
    wanted = {"out": options.out, "report": options.report, "preview": options.preview, "log": options.log}
    watch, log = Watch(), None if options.log is None else Log()
    _require_together(options)
    with Outputs(wanted, _inputs(options)) as outputs:
        hits = recipes.Recipe(_hits(options), key_tolerance=options.key_tolerance)
        opened = files.open_input(options.input, options.clip, options.armature, options.action)
        if options.then is not None:
            then = tuple(takeover.bring(bpy.data.objects[opened.armature], wanted) for wanted in options.then)
            hits = replace(hits, then=then, then_seconds=options.then_blend or hits.then_seconds)
        stumbled = _stumble(opened, hits, options) if options.stumble else None
        done = _react(opened, hits, watch, extend=not _is_blend(options.input), log=log)
        done.report["stumble"] = stumbled
        _save(done, outputs, watch)
        if log is not None:
            report.write_log(outputs.staged("log"), log, done.job.clip.fps)
    _tell(done, outputs)
    return 0


def _require_together(options):
    """Refuse options that say how something is done which isn't asked for."""
    for option, other in (("then_blend", "then"), ("stumble_times", "stumble")):
        if getattr(options, option) is not None and getattr(options, other) is None:
            text = "--{} has no effect without --{}. Give that too, or leave it out."
            raise SituationError(text.format(option.replace("_", "-"), other))
    if len(options.then or ()) > 2:
        raise SituationError("The panel has room for two actions to go over to. Give --then twice at most.")


def library(options):
    """Let the character take every hit of a recipe, each to a file for an engine."""
    out, takes, plan = folder(options.out, "takes"), [], batch.load(options.recipe)
    with Outputs({"report": options.report}, (options.input, options.clip, options.recipe)) as outputs:
        plan = batch.expanded(options, plan)
        for told in batch.run(options, plan, lambda opened, hits: _react(opened, hits, Watch(), extend=False)):
            takes.append(told)
            end = told["file"] if "file" in told else "refused: " + told["refused"]
            print("{} of {}  {}  {}".format(len(takes), len(plan), told["clip"], end), flush=True)
        written = [told for told in takes if "file" in told]
        if not written:
            raise SituationError("None of {} takes could be made: {}".format(len(takes), takes[0]["refused"]))
        if "report" in outputs:
            _write_json(outputs.staged("report"), {"blender": bpy.app.version_string, "takes": takes})
    print("Wrote {} takes of {} to {}".format(len(written), len(takes), out))
    return 0


def grade(options):
    """Grade a clip by itself, against another, or as the answer to a hit."""
    with Outputs({"report": options.report}, _inputs(options)) as outputs:
        found, facts = grading.grade(options)
        if "report" in outputs:
            _write_json(outputs.staged("report"), facts)
    _tell_choice(facts)
    print(found)
    return 0


def demo(options):
    """The main job on the built-in character."""
    into = folder(options.out, "results")
    wanted = {"out": "demo.blend", "fbx": "demo.fbx", "preview": "demo.png", "report": "demo.json"}
    watch = Watch()
    with Outputs({kind: into / name for kind, name in wanted.items()}) as outputs:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rig = demo_character.build(bpy.context)
        opened = files.Opened(rig.name, rig.animation_data.action.name, "the demo's own walk")
        done = _react(opened, recipes.Recipe((planning.HitSetting(named("shoulder_front")),)), watch, extend=True)
        _save(done, outputs, watch)
    _tell(done, outputs)
    return 0


# -- parts of a reaction ---------------------------------------------------------------------------------------------


def _inputs(options):
    """The files that a command reads, none of which it may write."""
    then = (importing.file_and_action(wanted)[0] for wanted in getattr(options, "then", None) or ())
    return (options.input, options.clip, *then)


def _is_blend(path):
    return Path(path).suffix.lower() == ".blend"


OPTIONS = {  # of one hit -> its key in a file of hits
    "situation": "situation", "frame": "frame", "bone": "bone", "direction": "direction", "point": "offset",
    "blast": "origin", "impulse": "impulse", "strength": "strength", "striker": "striker", "angular": "angular",
    "gain": "gain", "seed": "seed", "drive": "drive", "end": "end", "ground": "ground",
    "counter": "counter", "whip": "whip", "dip": "dip", "shift": "shift", "influence": "influence",
    "tone_curve": "tone_curve", "ranges": "ranges", "light": "coupled",
}  # fmt: skip


def _hits(options):
    """The hits of the files, or the one that the options say."""
    entry = {key: getattr(options, name) for name, key in OPTIONS.items() if getattr(options, name) is not None}
    if options.envelope_curve is not None:
        entry["envelope"] = {"curve": options.envelope_curve}
    if not options.hits:
        if options.situation is None:
            raise SituationError("Name a hit with --situation, or a file of hits with --hits.")
        return (planning.from_entry(entry, "The hit"),)
    if entry:
        name = next((name for name, key in OPTIONS.items() if key in entry), "envelope_curve").replace("_", "-")
        raise SituationError("The file of hits says all about them. Leave --{} out, or --hits.".format(name))
    return tuple(hit for path in options.hits for hit in planning.load(Path(path)))


def _stumble(opened, hits, options):
    """Blend the stumble action in from the first hit on; what the report tells of it."""
    armature = bpy.data.objects[opened.armature]
    times = recipes.frames(bpy.context, armature, [hit for hit in hits.hits if hit.enabled])
    transition = options.stumble_times or blending.STUMBLE
    return blending.stumble(bpy.context, armature, options.stumble, float(min(times)), *transition,
                            settings.roles(armature))  # fmt: skip


def _react(opened, hits, watch, *, extend, log=None):
    """Read, solve, write and measure.  hits: a Recipe; what the file says about single bones, roles and height stays.

    extend: let the scene's range contain the reaction.  log: takes the simulation apart, see `core.diagnosis`.
    """
    context = bpy.context
    armature = bpy.data.objects[opened.armature]
    first, last = keyed_settings.span(context, armature, hits.hits)
    with keyed_settings.shown(context, armature, first):
        made = replace(hits, roles=settings.roles(armature), height=settings.plain(armature.parametric_dynamics.height))
    made = replace(made, bones=keyed_settings.bones(context, armature, first, last))
    job = recipes.prepare(context, armature, made)
    timings = {"read": watch.lap()}
    reaction = drain(job.solve(log))
    timings["simulate"] = watch.lap()
    moments = report.moments(job)
    before = report.original(context, job, moments)
    watch.lap()
    name = _write(context, job, reaction, recipes.dated(made, job))
    timings["write"] = watch.lap()
    if extend:
        end = math.ceil(job.frames[-1] * timing.stretch(context.scene))
        context.scene.frame_end = max(context.scene.frame_end, end)
    after = report.shown(context, job, moments.all)
    numbers = report.measured(job, reaction, moments, before, after)
    numbers["quality"] = quality.report_of(job, reaction, before, after)
    if name and numbers["quality"] is not None:
        quality.keep(bpy.data.objects[job.armature].parametric_dynamics_reactions[name], numbers["quality"])
    return Done(job, reaction, name, report.full(opened, job, reaction, numbers, timings))


def _write(context, job, reaction, made):
    """Bake the reaction with the recipe that the panel's Update needs; its name, "" where there is nothing to bake."""
    if max(reaction.peaks().values(), default=0.0) < operators_react.NOTHING:
        job.warnings.append("The blow moves nothing, so no layer was added.")
        return ""
    name = job.write(context, reaction, key_tolerance=made.key_tolerance)
    operators_react.keep(bpy.data.objects[job.armature], name, made)
    return name


def _save(done, outputs, watch):
    """Write the files that were asked for; the report last, for it tells how long the others took."""
    if "preview" in outputs:
        preview(done, outputs.staged("preview"))
    armature = bpy.data.objects[done.job.armature]
    watch.lap()
    for kind in ("out", "fbx"):
        if kind in outputs:
            span = (float(done.job.frames[0]), float(done.job.frames[-1]))
            export.save(
                bpy.context, armature, outputs.staged(kind), name=done.name or done.job.source.action, frames=span
            )
    done.report["timings_s"]["export"] = watch.lap()
    if "report" in outputs:
        _write_json(outputs.staged("report"), done.report)


def preview(done, path):
    """The film strip: the original above the reaction, at the moments of STRIP."""
    job, context = done.job, bpy.context
    armature = bpy.data.objects[job.armature]
    hit, end = float(job.frames[0]), float(job.frames[-1])
    frames = _moments(done.reaction, job.clip.fps, float(math.ceil(min(job.source.start, hit))), end)
    rows = [("original", lambda: _mute(done, True)), ("reaction", lambda: _mute(done, False))]
    hits = [
        (blow.start * job.clip.fps, tuple(report.struck_point(job, blow)), tuple(job.seen(blow).direction))
        for blow in done.reaction.blows
    ]
    with importing.quiet():
        film.strip(path, context, [armature], frames, rows, hits=hits)


def _moments(reaction, fps, first, last):
    """Whole frames to show: those of STRIP from the first hit, and what further hits, and an action after it, need."""
    frames, then = [], reaction.then
    for blow in reaction.blows:
        near = [round(fps * min(blow.start + seconds, last / fps)) for seconds in STRIP]
        frames += near if not frames else [frame for frame in near[1:5] if frame not in frames]
    if then is not None:
        frames += [round(fps * (then.start + part * (then.end - then.start))) for part in (0.0, 0.2, 0.5)]
    kept = frames[: len(STRIP)] + frames[len(STRIP) :][: MOST - len(STRIP)]
    return sorted({float(min(max(frame, first), round(last))) for frame in kept})


def _mute(done, mute):
    """Switch the reaction's layer off or on."""
    armature = bpy.data.objects[done.job.armature]
    record = armature.parametric_dynamics_reactions.get(done.name)
    for track, _, layer in layer_undo.own_strips(armature, record) if record is not None else ():
        if layer == "action":
            track.mute = mute
    bpy.context.view_layer.update()


def _write_json(path, content):
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _tell(done, outputs):
    """What was chosen goes to stderr, what came out to stdout."""
    facts = done.report
    _tell_choice(facts)
    for warning in facts["warnings"]:
        print(warning, file=sys.stderr)
    bone, after = facts["peak_bone"], facts["time_to_peak_s"]
    print(quality.as_text(facts["quality"], "Quality"))
    for hit in facts["hits"]:
        less = "" if hit["repetition"] == 1.0 else ": {repetition:g} of it tells so soon after another".format(**hit)
        print("{situation} hits '{bone}' at frame {frame:g}, {impulse:.3g} N s{less}.".format(**hit, less=less))
    print("'{}' turns most, {:.1f} degrees after {:.2f} s.".format(bone, facts["peak_deg"][bone], after))
    for path in outputs.paths.values():
        print("Wrote {}".format(path))


def _tell_choice(facts):
    text = "Action '{}' of armature '{}': {}."
    print(text.format(facts["action"], facts["armature"], facts["action_choice"]), file=sys.stderr)
