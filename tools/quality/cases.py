"""From clips on disk to cases for the judge: artist clips, artist hits, and artist hits carried over other clips."""

from dataclasses import dataclass, replace

import numpy as np

from core.actor import Actor
from core.anatomy import analyse
from core.bodies import HEIGHT, measure
from core.quality import Blow
from core.reference import to_joints, to_world
from core.roles import base_role
from core.rotation import conjugate, exp, log, multiply, rotate, slerp
from core.skeleton import Clip, Skeleton, Skin

from . import corpus

STRUCK = {  # which bone an artist's hit clip shows to be hit; nobody wrote it down, so it was looked up by eye
    "Hit_A": "chest",
    "Hit_B": "chest",
    "HitRecieve": "pelvis",
    "HitRecieve_2": "head",
    "Idle_HitReact_Left": "chest",
    "Idle_HitReact_Right": "chest",
}
LEAD, TAIL = 0.3, 1.5  # [s] of stance before and after a hit
SHORTEST = 2.2  # [s] of a clip that is corrupted; loops are laid end to end
RATE = 60.0
UPPER = ("spine", "neck", "head", "clavicle", "upper_arm", "forearm")


@dataclass(frozen=True, eq=False)
class Case:
    """motion against clip (None: alone), with a blow or without.  again: the same with another time after the hit."""

    name: str
    character: str
    kind: str
    actor: Actor
    motion: Clip
    clip: Clip | None = None
    blow: Blow | None = None
    again: object = None


def load(source):
    """(Actor, Clip) of a source that `read` has kept."""
    kept = np.load(source.file)
    skin = None
    if "skin_vertices" in kept:
        skin = Skin(**{name.removeprefix("skin_"): kept[name] for name in kept if name.startswith("skin_")})
    fields = (kept[name] for name in ("parent", "head", "tail", "rotation", "deform"))
    skeleton = Skeleton(tuple(kept["names"].tolist()), *fields, skin)
    timed = ("frames", "rotation", "position", "object_rotation", "object_position")
    clip = Clip(float(kept["clip_fps"]), *(kept["clip_" + name] for name in timed), float(kept["clip_scale"]))
    start = clip.frames[0]
    clip = replace(clip, fps=RATE, frames=np.round((clip.frames - start) / clip.fps * RATE, 6))
    anatomy = analyse(skeleton)
    height = 0.8 if anatomy.kind == "quadruped" else HEIGHT
    return Actor(skeleton, anatomy, measure(skeleton, anatomy), height, clip.scale < 0.0), clip


def canonical(actor, clip, q, p):
    """The clip with other world poses of its bodies (T, n, 4), (T, n, 3); the inverse of `Actor.canonical`."""
    factor = actor.masses.scale / abs(clip.scale)
    back = conjugate(clip.object_rotation)[:, None]
    rotation = multiply(back, q)[:, actor.body]
    position = rotate(back, p[:, actor.body] / factor - clip.object_position[:, None]) / clip.scale
    return replace(clip, rotation=rotation, position=position)


def picked(clip, frames, shift=None):
    """The clip at other (integer) samples, new frame numbers from 0; shift: (T, 3) of the object [scene units]."""
    moved = 0.0 if shift is None else shift
    return replace(
        clip,
        frames=np.arange(len(frames), dtype=np.float64),
        rotation=clip.rotation[frames],
        position=clip.position[frames],
        object_rotation=clip.object_rotation[frames],
        object_position=clip.object_position[frames] + moved,
    )


def longer(actor, clip, seconds):
    """The clip laid end to end with its travel until it lasts that long."""
    count, period = int(np.ceil(seconds * RATE)) + 1, len(clip.frames) - 1
    if period >= count:
        return picked(clip, np.arange(len(clip.frames)))
    world = clip.world_position()[:, actor.order[max(actor.first("pelvis"), 0)]]
    step = world[-1] - world[0]
    step[2] = 0.0
    if np.linalg.norm(step) < 0.1 * actor.anatomy.size * abs(clip.scale):
        step[:] = 0.0
    frames = np.arange(count)
    return picked(clip, frames % period, (frames // period)[:, None] * step)


def plain(source):
    """An artist's clip by itself."""
    actor, clip = load(source)
    return Case(source.name, source.character, source.kind, actor, clip)


def ongoing(source):
    """A clip against itself, long enough to be corrupted."""
    actor, clip = load(source)
    clip = longer(actor, clip, SHORTEST)
    return Case(source.name, source.character, source.kind, actor, clip, clip)


def posed(source):
    """An artist's idle as what was done to its own first pose."""
    actor, clip = load(source)
    return Case(source.name, source.character, "idle", actor, clip, picked(clip, np.zeros(len(clip.frames), dtype=int)))


def hit(source, tail=TAIL):
    """An artist's hit against the stance it begins with, with what can be seen of the blow."""
    actor, clip = load(source)
    lead, rest = int(LEAD * RATE), int(tail * RATE)
    last = len(clip.frames) - 1
    frames = np.concatenate((np.zeros(lead, dtype=int), np.arange(last + 1), np.full(rest, last)))
    motion, stance = picked(clip, frames), picked(clip, 0 * frames)
    motion = _landing(actor, motion, stance, lead, last)
    struck = actor.first(STRUCK[source.action])
    blow = _seen(actor, motion, stance, struck)
    return Case(source.name, source.character, "hit", actor, motion, stance, blow, lambda t: hit(source, t))


def _landing(actor, motion, stance, lead, last):
    """End exactly on the stance: what is left at the clip's end (a degree or none) fades in its last third."""
    amount = np.clip((np.arange(len(motion.frames)) - lead - 0.67 * last) / (0.33 * last), 0.0, 1.0)
    left = log(multiply(conjugate(motion.rotation[-1]), stance.rotation[-1]))
    gap = stance.position[-1] - motion.position[-1]
    rotation = multiply(motion.rotation, exp(amount[:, None, None] * left))
    return replace(motion, rotation=rotation, position=motion.position + amount[:, None, None] * gap)


def _seen(actor, motion, stance, struck):
    """A Blow as the motion shows it: the way the struck bone's middle goes at first."""
    point = 0.5 * actor.axis[struck]
    way = [q[:, struck] * 0 + 0 if q is None else p[:, struck] + rotate(q[:, struck], point)
           for q, p in (actor.canonical(c) for c in (motion, stance))]  # fmt: skip
    first = slice(int(LEAD * RATE), int((LEAD + 0.25) * RATE))
    apart = (way[0] - way[1])[first]
    toward = apart[int(np.argmax(np.linalg.norm(apart, axis=-1)))]
    return Blow(LEAD, struck, point, toward / np.linalg.norm(toward))


def carried(source, hit_source, at=0.5, tail=TAIL):
    """An artist's hit laid over another character's clip: the turns of trunk, head and arms, in the figures' axes."""
    actor, clip = load(source)
    given = hit(hit_source, tail)
    lasts = len(given.motion.frames) / RATE
    clip = longer(actor, clip, at + lasts)
    model = actor.model(np.ones(len(actor.names), dtype=bool), max(actor.first("pelvis"), 0))
    q, p = to_joints(model, *actor.canonical(clip))
    world = actor.canonical(clip)[0]
    axes = actor.axes(world[0])
    start = int(at * RATE)
    span = slice(start, start + len(given.motion.frames))
    for role, turn in _turns(given).items():
        bodies = [i for i, r in enumerate(actor.roles) if (base_role(r) if role == "spine" else r) == role]
        for i in bodies:
            share = turn[: len(q) - start] @ axes / (len(bodies) if role == "spine" else 1)
            q[span, i] = multiply(q[span, i], exp(rotate(conjugate(world[span, i]), share)))
    motion = canonical(actor, clip, *to_world(model, q, p))
    struck = actor.first(STRUCK[hit_source.action])
    direction = (given.actor.axes(given.actor.canonical(given.clip)[0][0]) @ given.blow.direction) @ axes
    blow = Blow(at + LEAD, struck, 0.5 * actor.axis[struck], direction)
    name = "{} over {}".format(hit_source.name, source.name)
    return Case(
        name, source.character, "carried", actor, motion, clip, blow, lambda t: carried(source, hit_source, at, t)
    )


def _turns(given):
    """{role: (T, 3)} turn of the joints of a hit in the figure's axes; the spine's bones added up."""
    actor = given.actor
    model = actor.model(np.ones(len(actor.names), dtype=bool), max(actor.first("pelvis"), 0))
    world, p = actor.canonical(given.clip)
    own, _ = to_joints(model, world, p)
    now, _ = to_joints(model, *actor.canonical(given.motion))
    axes = actor.axes(world[0])
    turn = rotate(world, log(multiply(conjugate(own), now))) @ axes.T
    out = {}
    for i, role in enumerate(actor.roles):
        name = base_role(role)
        if name in UPPER or name == "pelvis":  # what the pelvis turns, the trunk has to turn where the legs go on
            key = "spine" if name in ("spine", "pelvis") else role
            out[key] = out.get(key, 0.0) + turn[:, i]
    return out


__all__ = ["Case", "canonical", "carried", "corpus", "hit", "load", "longer", "ongoing", "plain", "posed", "slerp"]
