"""What a reaction did, measured on what Blender shows: the numbers of the JSON report.

The clip is measured before the reaction is applied and again afterwards, both times through the evaluated scene.
"""

import csv
from dataclasses import dataclass

import bpy
import numpy as np

from ..core.bodies import HEIGHT
from ..core.roles import base_role
from ..core.rotation import angle, conjugate, multiply, rotate
from ..core.skeleton import Clip
from . import clip as clips
from . import mapping
from .clip import pick
from .moments import MARGIN

LATER = (0.5, 1.0, 2.0)  # [s] after the reaction at which the clip is looked at again, where it still plays


@dataclass(frozen=True, eq=False)
class Shown:
    """World orientations of all bones, (T, n, 4), at frames (T,), and the same as the core's Clip."""

    frames: np.ndarray
    rotation: np.ndarray
    clip: Clip

    def at(self, frames):
        """(K, n, 4) at some of the frames."""
        return self.rotation[np.searchsorted(self.frames, frames)]


def shown(context, job, frames):
    """What Blender shows of the job's armature at the frames (ascending)."""
    skeleton = job.actor.skeleton
    matrices, world, _ = clips.sample_scene(context, bpy.data.objects[job.armature], skeleton, frames)
    seen = clips.to_clip(context.scene, bpy.data.objects[job.armature], skeleton, frames, matrices, world)
    return Shown(frames, seen.world_rotation(), seen)


@dataclass(frozen=True, eq=False)
class Moments:
    """Frames at which a reaction is measured: before the hit, during it (those with keys), and from its end on."""

    before: np.ndarray
    during: np.ndarray
    after: np.ndarray

    @property
    def all(self):
        return np.unique(np.concatenate((self.before, self.during, self.after)))


def moments(job):
    """Every frame of the clip before the hit, every keyed one, the end, the frames after it and some later ones."""
    hit, end = float(job.frames[0]), float(job.frames[-1])
    before = np.arange(np.ceil(min(job.source.start, hit - MARGIN)), hit - 1e-6)
    before = before[(before <= job.source.until + 1e-6) | (before >= job.clip.frames[0])]
    near = np.concatenate(([end], job.clip.frames[job.clip.frames > end]))
    far = np.floor(end + job.clip.fps * np.array(LATER))
    return Moments(before, job.frames, np.unique(np.concatenate((near, far[far <= job.source.until + 1e-6]))))


def original(context, job, at):
    """The clip at the moments, before the reaction is applied.

    Past the end of what the scene plays there is nothing to see yet: there the clip goes on as the job read it.
    """
    now = shown(context, job, at.all)
    beyond = np.flatnonzero(now.frames > job.source.until + 1e-6)
    if len(beyond):
        read = np.searchsorted(job.clip.frames, now.frames[beyond])
        now.rotation[beyond] = job.shown.world_rotation()[read]
    return now


def differences(before, after, frames):
    """Worst difference [deg] of any bone's orientation between two Shown at frames; 0 for none."""
    return float(np.degrees(np.max(angle(before.at(frames), after.at(frames)), initial=0.0)))


def deviations(job, before, after, frames):
    """(K, n) by body [deg]: how far each joint, a bone against its anatomical parent, is from the clip."""
    actor = job.actor
    q, clip = after.at(frames)[:, actor.order], before.at(frames)[:, actor.order]
    carried = actor.parent >= 0
    joint, own = q.copy(), clip.copy()
    joint[:, carried] = multiply(conjugate(q[:, actor.parent[carried]]), q[:, carried])
    own[:, carried] = multiply(conjugate(clip[:, actor.parent[carried]]), clip[:, carried])
    return np.degrees(angle(own, joint))


def _answering(job, reaction):
    """Bodies that move because a situation says so or are struck; all that move where that is none."""
    simulated = {role for blow in reaction.blows for role in blow.situation.simulate}
    struck = {blow.struck for blow in reaction.blows}
    moving = np.flatnonzero(reaction.moving)
    chosen = [i for i in moving if base_role(job.actor.roles[i]) in simulated or i in struck]
    return np.array(chosen) if chosen else moving


def measured(job, reaction, at, before, after):
    """Peaks and errors of a reaction, from what Blender showed before and after it was applied.

    peak_deg: per simulated bone the largest deviation of its joint, i.e. of its orientation relative to its
        anatomical parent's (for a bone without one, in the world), from the clip, at the keyed frames.
    peak_bone, time_to_peak_s: the largest of all peaks, and when it was, from the hit on; of the bones that the
        situations simulate, not of the legs that only catch the body, which may step a second later.
    clip_error_before_hit_deg: worst difference of any bone's orientation in the world from the clip before the hit.
    return_error_deg: the same from the end of the reaction on; None for a body that stays down.
    rest: how such a body lies, see `rested`.
    pose_error: of a control rig, see `followed`.
    displaced: [x, y, z] how far off its clip the body goes on, world [scene units].
    """
    turns = deviations(job, before, after, at.during)
    moving = np.flatnonzero(reaction.moving)
    peaks = turns.max(axis=0)
    answering = _answering(job, reaction)
    displaced = reaction.displaced * abs(job.clip.scale) / job.actor.masses.scale
    latest, most = np.unravel_index(np.argmax(turns[:, answering]), (len(at.during), len(answering)))
    return {
        "peak_bone": job.actor.names[answering[most]],
        "peak_deg": {job.actor.names[i]: round(float(peaks[i]), 4) for i in moving},
        "time_to_peak_s": round(float(at.during[latest] - at.during[0]) / job.clip.fps, 4),
        "return_error_deg": None if job.stays else differences(before, after, at.after),
        "displaced": [round(float(x), 6) for x in displaced],
        "pose_error": followed(job, reaction, after),
        "rest": rested(job, reaction, after, at.after) if job.falls and job.then is None else None,
        "clip_error_before_hit_deg": differences(before, after, at.before),
    }


def followed(job, reaction, after):
    """How far Blender shows the bones of a control rig from the simulated pose, at the keyed frames; None elsewhere.

    The mm are those of a figure of 1.75 m; bone, frame: of the worst turn.
    """
    if job.posed is None:
        return None
    clip, actor = pick(job.clip, job.keyed), job.actor
    rows = [actor.skeleton.names.index(name) for name in job.posed.names]
    at = np.searchsorted(after.frames, job.frames)
    q, p = (values[:, rows] for values in mapping.armature_poses(actor, clip, *reaction.poses(clip)))
    turn = np.degrees(angle(after.clip.rotation[at][:, rows], q))
    shift = 1e3 * HEIGHT / actor.anatomy.size * np.linalg.norm(after.clip.position[at][:, rows] - p, axis=-1)
    frame, bone = np.unravel_index(np.argmax(turn), turn.shape)
    numbers = {"max_deg": turn.max(), "mean_deg": turn.mean(), "max_mm": shift.max(), "mean_mm": shift.mean()}
    return {name: round(float(value), 4) for name, value in numbers.items()} | {
        "bone": job.posed.names[bone],
        "frame": float(job.frames[frame]),
    }


def rested(job, reaction, after, frames):
    """How a body lies: {"after_s": from the hit, "speed_cm_s": of the fastest bone's head from then on, canonical}."""
    still = reaction.times[-1] * job.clip.fps
    frames = np.unique(np.concatenate((job.frames[job.frames >= still], frames)))
    at = np.searchsorted(after.frames, frames)
    heads = after.clip.world_position()[at] * job.actor.masses.scale / abs(job.clip.scale)
    speed = np.linalg.norm(np.diff(heads, axis=0), axis=-1) / np.diff(frames)[:, None] * job.clip.fps
    return {
        "after_s": round(float(reaction.times[-1] - reaction.start), 4),
        "speed_cm_s": round(100.0 * float(np.max(speed, initial=0.0)), 4),
    }


def struck_point(job, blow):
    """(3,) where a blow lands on the body's surface, world, scene units."""
    bone = int(job.actor.order[blow.struck])
    now = int(np.argmin(np.abs(job.clip.times - blow.start)))
    inside = rotate(job.shown.world_rotation()[now, bone], blow.point)
    surface = inside - job.actor.masses.radius[bone] * job.seen(blow).direction
    return job.shown.world_position()[now, bone] + surface * abs(job.clip.scale) / job.actor.masses.scale


def _hit(job, blow, given):
    """One hit as it landed; impulse: what the body got of it [N s], signed along the direction."""
    seen = job.seen(blow)
    about = {"angular": round(blow.angular, 6)} if blow.hit.angular else {}
    about |= {"origin": [round(float(x), 6) for x in seen.origin]} if blow.origin is not None else {}
    about |= {"striker": list(blow.hit.striker)} if blow.hit.striker is not None else {}
    about |= {"ground": round(seen.ground, 6)} if seen.ground is not None else {}
    size = float(np.linalg.norm(given))
    return {
        "situation": blow.situation.name,
        "frame": round(blow.start * job.clip.fps, 6),
        "bone": job.actor.names[blow.struck],
        "direction": [round(float(x), 6) for x in seen.direction],
        "impulse": round(-size if float(given @ blow.direction) < 0.0 else size, 6),
        "contact_s": blow.contact,
        "gain": blow.gain,
        "told": round(blow.told, 6),
        "repetition": blow.repetition,
        "taken": round(blow.taken, 6),
        "drive": blow.situation.drive,
        "seed": blow.hit.seed,
        "counter": blow.situation.counter,
        "whip": blow.situation.whip,
        "dip": blow.situation.dip,
        "shift": blow.situation.shift,
        "coupled": blow.situation.coupled,
        **about,
    }


def full(opened, job, reaction, numbers, timings):
    """The report of `react`."""
    hits = [_hit(job, *landed) for landed in zip(reaction.blows, reaction.given, strict=True)]
    return {
        "blender": bpy.app.version_string,
        "armature": job.armature,
        "action": job.source.action,
        "action_choice": opened.why,
        "situation": reaction.blows[0].situation.name,
        "bones": len(job.actor.names),
        "simulated_bones": int(np.count_nonzero(reaction.moving)),
        "fps": job.clip.fps,
        "frame_range": [job.source.start, job.source.end],
        "reaction_range": [float(job.frames[0]), float(job.frames[-1])],
        "clip_extension": job.plays,
        "body_height_m": job.actor.height,
        "limits": {bone: str(stop) for bone, stop in job.actor.limits.items()},
        "scene_height": round(job.actor.anatomy.size * abs(job.clip.scale), 4),
        "hit": hits[0],
        "hits": hits,
        "substeps": reaction.substeps,
        "timings_s": timings,
        **numbers,
        "warnings": [*opened.warnings, *job.warnings],
    }


def write_log(path, log, fps):
    """A `core.diagnosis.Log` as a CSV table: a row for every sub-step and joint, a column for every cause."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["frame", "bone", "deg_per_s2", *log.causes])
        for time, bone, whole, parts in log.rows():
            numbers = np.degrees([whole, *parts])
            table.writerow(["{:.4f}".format(time * fps), bone, *("{:.1f}".format(x) for x in numbers)])
