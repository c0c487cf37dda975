"""Grades of motions: from a job's numbers, from what Blender shows, and as text for people, panels and reports."""

import contextlib
import json
from dataclasses import replace

import numpy as np

from ..core.actor import Actor
from ..core.bodies import measure
from ..core.errors import ClipError, CoreError
from ..core.quality import Blow, judge
from . import clip as clips
from . import control_rig, mapping, source, timing
from . import job as jobs
from .moments import LEAD

RATE = 60.0  # samples per second of a motion that is read to be judged
LONGEST = 20.0  # [s] of it that are looked at
UNITS = {"deg/s2": "deg/s²", "deg/s3": "deg/s³"}
CHECKS = {  # what people read: name, and what is wrong where it is beyond its limit
    "limits": ("Joint limits", "A joint turns farther than people animate it"),
    "penetration": ("Penetration", "Two limbs are in each other, in parts of the thinner one's thickness"),
    "slip": ("Slip", "A planted foot moves away from where it was put down"),
    "skid": ("Skid", "A planted foot goes over the ground at speed"),
    "floating": ("Floating", "The body stays above the ground for longer than a hop"),
    "sinking": ("Sinking", "A body part is below the ground"),
    "balance": ("Balance", "The weight stays beyond the feet, and the body doesn't fall"),
    "momentum": ("Momentum", "The body moves as no weight, ground or blow can make it"),
    "travel": ("Travel", "The whole body goes elsewhere faster than a step"),
    "speed": ("Speed", "A joint turns faster than people animate it"),
    "acceleration": ("Acceleration", "A joint starts or stops too suddenly"),
    "jerk": ("Jerk", "A joint trembles"),
    "pop": ("Pops", "A joint jumps from one frame to the next"),
    "jump": ("Jumps", "A part of the body is elsewhere from one frame to the next"),
    "frozen": ("Stands still", "Nothing moves in the middle of the motion"),
    "continuity": ("Continuity", "The first or the last pose isn't the clip's"),
    "restraint": ("Restraint", "A joint turns too far from the clip"),
    "response": ("Response", "The struck point hardly moves"),
    "delay": ("Delay", "The struck point moves too late after the hit"),
    "direction": ("Direction", "The struck point doesn't go where the blow sends it"),
    "settling": ("Settling", "The reaction takes too long to end"),
    "relaxation": ("Relaxation", "The reaction is over too soon"),
    "wobble": ("Wobble", "The body swings back and forth too long"),
    "spread": ("Spread", "Joints far from the blow turn before those near it"),
    "gain": ("Momentum gained", "The body takes more momentum than the blow gives"),
}


def blows_of(reaction):
    """The core's Blows of a reaction's hits; their impulses are unknown where velocities drive them."""
    return [_blow(*landed) for landed in zip(reaction.blows, reaction.given, strict=True)]


def _blow(blow, given):
    size = float(np.linalg.norm(given))
    return Blow(
        time=blow.start,
        body=blow.struck,
        point=blow.point,
        direction=given / size if size else blow.direction,
        impulse=size,
        contact=blow.contact,
        pushes=not blow.hit.angular,
    )


def of_reaction(job, reaction):
    """The Verdict on a reaction as it was computed, before any key is written."""
    clip = jobs.pick(job.clip, job.timed)
    q, p = mapping.armature_poses(job.actor, clip, *reaction.poses(clip))
    first, *further = blows_of(reaction)
    return judge(job.actor, replace(clip, rotation=q, position=p), clip, first, further, reaction.displaced)


def of_shown(job, reaction, before, after):
    """The Verdict on a reaction as Blender shows it.  before, after: `report.Shown` without and with the reaction."""
    hit, end = float(job.frames[0]), float(job.frames[-1])
    seen = (after.frames >= hit - LEAD * job.clip.fps) & (after.frames <= end + 1e-6)
    motion, clip = jobs.pick(after.clip, seen), jobs.pick(before.clip, seen)
    known = np.isin(motion.frames, job.clip.frames)  # where the clip had to go on, only the job has it
    at = np.searchsorted(job.clip.frames, motion.frames[known])
    for name in ("rotation", "position", "object_rotation", "object_position"):
        getattr(clip, name)[known] = getattr(job.clip, name)[at]
        if name.startswith("object"):  # a reaction leaves the object alone, and the job knows of no cuts
            getattr(motion, name)[known] = getattr(job.clip, name)[at]
    first, *further = blows_of(reaction)
    return judge(job.actor, motion, clip, first, further, reaction.displaced)


def read(context, armature):
    """(Actor, Clip) of what plays on the armature, to be judged; CoreError where nothing does."""
    found = source.require(armature)
    body = control_rig.read(context, armature)
    skeleton, anatomy = body.skeleton, body.anatomy
    fps = timing.rate(context.scene)
    seconds = min((found.end - found.start) / fps, LONGEST)
    frames = found.start + np.arange(int(np.floor(seconds * RATE + 1e-6)) + 1) * fps / RATE
    if len(frames) < 2:
        raise ClipError("The action '{}' has a single frame. Choose one that moves.".format(found.action))
    clip, _ = clips.read(context, armature, skeleton, frames)
    actor = Actor(skeleton, anatomy, measure(skeleton, anatomy), jobs.usual_height(anatomy), clip.scale < 0.0)
    return actor, clip


def against(actor, clip, other_actor, other):
    """Another rig's clip as one of this actor's: bones by name, frames from the same start where they don't overlap."""
    theirs = {name: i for i, name in enumerate(other_actor.skeleton.names)}
    missing = [name for name in actor.skeleton.names if name not in theirs]
    if missing:
        raise CoreError(
            "The clips have different rigs: '{}' is only in the first. Compare clips of one character.".format(
                missing[0]
            )
        )
    order = [theirs[name] for name in actor.skeleton.names]
    times = other.times
    overlap = min(times[-1], clip.times[-1]) - max(times[0], clip.times[0])
    if overlap < 0.5 * (clip.times[-1] - clip.times[0]):
        times = times - times[0] + clip.times[0]
    return replace(
        other,
        fps=clip.fps,
        frames=times * clip.fps,
        rotation=other.rotation[:, order],
        position=other.position[:, order],
    )


def facts(verdict, fps):
    """The `quality` of a report: grade, checks, and the bone and frame of the worst of those that failed."""
    checks = verdict.table()
    for row in checks.values():
        row["frame"] = round(row.pop("time") * fps, 2)
    failed = [finding.name for finding in verdict.failed()]
    worst = {key: checks[failed[0]][key] for key in ("bone", "frame")} | {"check": failed[0]} if failed else None
    return {"grade": verdict.grade, "judged": verdict.mode, "checks": checks, "worst": worst}


def number(value):
    """Three digits that count, without an exponent."""
    digits = 2 - int(np.floor(np.log10(abs(value)))) if value else 0
    text = "{:,.{}f}".format(round(value, digits), max(digits, 0))
    return text.rstrip("0").rstrip(".") if "." in text else text


def headline(name, row):
    """The check and its value."""
    return "{} {} {}".format(CHECKS[name][0], number(row["value"]), UNITS.get(row["unit"], row["unit"]))


def limit(row):
    """The check's limit."""
    return "{} {}".format("at least" if row.get("at_least") else "at most", number(row["limit"]))


def sentence(name, row):
    """What a failed check found."""
    where = " at '{}'".format(row["bone"]) if row["bone"] else ""
    return "{}{}, frame {:.0f}; {}.".format(headline(name, row), where, row["frame"], limit(row))


def is_bad(row):
    """Whether a check is beyond the line from which it is bad, not only less good."""
    return row["value"] < row["bad"] if row.get("at_least") else row["value"] > row["bad"]


def failures(found):
    """[(check, row)] of a report's quality that failed, the worst first."""
    return [(name, row) for name, row in found["checks"].items() if not row["ok"]]


def keep(holder, found):
    """Keep a report's quality as text with a reaction or an armature's settings."""
    holder.quality = json.dumps(found)


def kept(holder):
    """What was kept, or None."""
    try:
        found = json.loads(holder.quality) if holder.quality else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and "checks" in found else None


def grade_reaction(armature, name, job, reaction):
    """Judge a reaction that has just been made and keep that with it; one that is too short has no grade."""
    record = armature.parametric_dynamics_reactions.get(name)
    if record is not None and not job.stays:
        with contextlib.suppress(ClipError):
            keep(record, facts(of_reaction(job, reaction), job.clip.fps))


def report_of(job, reaction, before, after):
    """The `quality` of a reaction's report, None for one that is too short to be judged, or that stays down."""
    if job.stays:
        return None
    try:
        return facts(of_shown(job, reaction, before, after), job.clip.fps)
    except ClipError:
        return None


def as_text(found, what):
    """For people on the command line; found: None where nothing could be judged."""
    if found is None:
        return "{}: not judged".format(what)
    lines = ["{}: {}".format(what, found["grade"])]
    lines += ["  " + sentence(name, row) for name, row in failures(found)]
    return "\n".join(lines)
