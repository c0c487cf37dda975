"""One reaction from scene to scene: read once, solve in the core, write once.

    job = job.read(context, armature, situation, hit)     refuses, changes nothing
    reaction = yield-ing job.solve()                      pure numbers, may be dropped
    name = job.write(context, reaction)                   the baker
The job keeps names and arrays, never bpy references: it survives undo and modal steps.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import bpy
import numpy as np

from ..core import casting, cuts
from ..core.actor import Actor
from ..core.anatomy import Anatomy
from ..core.blows import Blow
from ..core.bodies import HEIGHT, measure
from ..core.fall import fall
from ..core.handover import hand_over, longest
from ..core.progress import portion, run
from ..core.react import Hit, react
from ..core.reaction import Reaction
from ..core.rotation import Array
from ..core.situation import Situation
from ..core.skeleton import Clip
from . import (
    choosing,
    control_rig,
    layer,
    leading,
    limits,
    mapping,
    moments,
    props,
    records,
    rig,
    source,
    takeover,
    thinning,
    timing,
)
from . import clip as clips
from .channels import Channels
from .clip import pick


@dataclass(eq=False)
class Job:
    """Everything a reaction needs, read from the scene.

    shown, channels: at all T moments read. clip: as shown, but it goes on where the body jumps, as at a cut, until that
    stays. keyed: (T,) bool, frames that get keys. timed: (T,) bool, the even samples that the simulation sees; smooth:
    the clip at these, as it is simulated on. hits: in the order given, as they come on the clip. settings: bone name ->
    fields of `BoneSetting`. plays: where the clip is shorter than the reaction: "" | "plays on" | "repeated" | "held".
    continuation: channels of frames that we must add to it. body: what is simulated; clips are of its bones, channels
    of all. posed: where controls move it, their values. then: actions of which one takes over, in how many seconds;
    None = none. played: what they do, on controls.
    """

    armature: str
    actor: Actor
    shown: Clip
    clip: Clip
    smooth: Clip
    channels: Channels
    keyed: np.ndarray
    timed: np.ndarray
    hits: tuple[tuple[Situation, Hit], ...]
    settings: dict[str, dict[str, Any]]
    body: control_rig.Body
    source: source.Source
    plays: str = ""
    continuation: Channels | None = None
    warnings: list[str] = field(default_factory=list)
    posed: control_rig.Posed | None = None
    then: tuple[tuple[Clip, ...], float] | None = None
    played: tuple[leading.Played, ...] = ()

    def solve(self, watch=None):
        """A generator: yields progress 0..1, returns the Reaction; on a control rig the controls follow it then.

        watch: sees every stretch of the simulation, e.g. a `core.diagnosis.Log`.
        """
        first, *further = self.hits
        answer = fall if self.falls else react
        steps = answer(self.actor, self.smooth, *first, self.settings, self.body.fixed, further, watch)
        if not self.body.controlled:
            return self._handed_over((yield from steps))
        reaction = self._handed_over((yield from portion(steps, 0.0, 0.3)))
        clip, channels = pick(self.clip, self.keyed), self.channels.at(self.keyed)
        armature, lead = bpy.data.objects[self.armature], None
        if self.stays:
            actions = () if self.then is None else self.then[0]
            lead = leading.of(armature, self.actor, clip, channels, reaction, actions, self.played)
        excluded = [name for name, own in self.settings.items() if own.get("simulated") is False]
        steps = self.body.pose(bpy.context, armature, self.actor, clip, channels, reaction, excluded, lead)
        self.posed = yield from portion(steps, 0.3, 0.7)
        return reaction

    def _handed_over(self, reaction: Reaction) -> Reaction:
        """The reaction with the action that takes the body over; no keys after that."""
        if self.then is None:
            return reaction
        reaction = hand_over(reaction, pick(self.clip, self.timed), *self.then, self.frames[-1] / self.clip.fps)
        if not source.carries(bpy.data.objects[self.armature]):
            self.keyed = self.keyed & (self.clip.frames <= np.ceil(reaction.then.end * self.clip.fps - 1e-6))
        return reaction

    @property
    def stays(self) -> bool:
        """Whether the body doesn't find back to its clip, so that its layer holds the last pose."""
        return self.falls or self.then is not None

    @property
    def falls(self) -> bool:
        """Whether a hit knocks the body out, so that it stays where it falls."""
        return any(situation.falls for situation, _ in self.hits)

    @property
    def continues(self) -> bool:
        """Whether a hit leaves the body displaced, so that the layer must hold it there."""
        return any(situation.end == "continue" for situation, _ in self.hits)

    @property
    def title(self) -> str:
        """What hits, for people."""
        first, *further = (situation.name for situation, _ in self.hits)
        return "{} + {}".format(first, len(further)) if further else first

    @property
    def frames(self) -> Array:
        """(K,) frames that get keys."""
        return self.clip.frames[self.keyed]

    def seen(self, blow: Blow) -> Hit:
        """The hit of a blow as Blender shows it, with the direction from which it came."""
        return cuts.carried(replace(blow.hit, direction=blow.direction), self.clip, self.shown)

    def write(self, context, reaction: Reaction, *, name="", blend="COMBINE", key_tolerance=0.0, over="") -> str:
        """Bake the reaction to its own NLA layer; its name.

        A body that stays away from its clip: absolute poses of all bones, held after the last key; one that continues
        displaced is held there.
        key_tolerance: [deg], 0 = a key at every frame.  over: the reaction right above which it goes, "" = on top.
        """
        armature = bpy.data.objects[self.armature]
        clip, channels = pick(self.clip, self.keyed), self.channels.at(self.keyed)
        self.warnings.extend(reaction.warnings)
        if self.posed is None:
            q, p = mapping.armature_poses(self.actor, clip, *reaction.poses(clip))
            targets = mapping.targets(self.actor, clip, channels, armature, q, p, every=self.stays)
        else:
            targets = self.posed.targets
            self.warnings.extend(self.posed.doubts())
        notes = []
        bake = partial(
            layer.apply,
            context,
            armature,
            name=name or "{}, {}".format(self.title, choosing.title(self.source.action, self.armature)),
            frames=self.frames,
            targets=targets,
            base=channels,
            continuation=self.continuation,
            blend="REPLACE" if self.stays else blend,
            hold=self.stays or self.continues,
            keep=[hit.frame for _, hit in self.hits],
            over=over,
            warnings=notes,
        )
        if self.posed is None or key_tolerance == 0.0:
            baked = bake(key_tolerance=key_tolerance)
        else:
            body = self.body.skeleton, self.body.movers
            baked = thinning.thinned(context, armature, *body, self.frames, bake, key_tolerance, over, notes)
        self.warnings.extend(dict.fromkeys(notes))
        _keep(armature.parametric_dynamics_reactions[baked], self, reaction)
        return baked


def _keep(record, job: Job, reaction: Reaction) -> None:
    """Keep every hit as it landed, and mark it in the layer's action, for the NLA editor.

    point: from the bone's head, in its axes [rig units]; impulse: [N s]."""
    landed = [
        {
            "frame": round(blow.start * job.clip.fps, 4),
            "bone": job.actor.names[blow.struck],
            "point": (blow.point / job.actor.masses.scale).round(6).tolist(),
            "direction": job.seen(blow).direction.round(6).tolist(),
            "impulse": round(float(np.linalg.norm(given)), 4),
        }
        for blow, given in zip(reaction.blows, reaction.given, strict=True)
    ]
    record.landed, record.uncaught = records.dump(landed), reaction.uncaught
    for hit in landed:
        text = "{bone} {impulse:.3g} N s".format(**hit)
        record.action.pose_markers.new(text).frame = round(hit["frame"])


def read(*args, **options):
    """`reading` in one go."""
    return run(reading(*args, **options))


def reading(context, armature, situation, hit=None, *, further=(), settings=None, roles=None, height=0.0, then=None):
    """A generator that reads the rig and its clip around one or more hits to a Job; raises CoreError with the reason
    where it can't react.

    hit: None = the situation's, a quarter into the clip.  further: (situation, hit) of those solved together with it.
    settings: bone name -> fields of `BoneSetting`.  roles: bone name -> role.
    height: what the figure measures [m], 0 = as usual for its kind.  then: (actions, seconds): one takes the body over.
    """
    rig.require_editable(armature)
    rig.require_posed(armature)
    found = source.require(armature)
    hits = ((situation, hit or Hit(moments.default_frame(found))), *further)
    body = props.weighed(context, armature, roles, min(hit.frame for _, hit in hits))
    settings = settings or {}
    keys, even = moments.of_hits(hits, timing.rate(context.scene), source.begins(armature, found))
    falls = any(situation.falls for situation, _ in hits)
    since = min([hit.frame for one, hit in hits if one.falls] or [keys[-1 if then else 0]])
    then, played, later = _followed_by(context, armature, body, keys[-1], falls, then)
    keys = np.unique(np.concatenate((keys, later, moments.carried_on(context, armature, found, keys[-1], hits, then))))
    shown, channels, plays, continuation = yield from _clip(context, armature, body, keys, even, found, falls)
    timed = np.isin(shown.frames, even)
    clip, smooth = clips.simulated(shown, body, timed, since / shown.fps, stays=falls or then is not None)
    actor, doubts = _actor(context, armature, body, clip, situation, settings, height)
    return Job(
        armature=armature.name,
        actor=actor,
        shown=shown,
        clip=clip,
        smooth=smooth,
        channels=channels,
        keyed=np.isin(shown.frames, keys),
        timed=timed,
        hits=tuple((one, cuts.carried(hit, shown, clip)) for one, hit in hits),
        settings=settings,
        body=body,
        source=found,
        plays=plays,
        continuation=continuation,
        warnings=[*smooth.warnings, *doubts, *_stretched(armature, body, channels), *takeover.unheard(armature, then)],
        then=then,
        played=played,
    )


def _stretched(armature, body, channels):
    """What `clip.stretched` says; on a control rig it is seen how far bones are off."""
    able = {name for name, role in zip(body.skeleton.names, body.anatomy.role, strict=True) if role}
    return [] if body.controlled else clips.stretched(armature, channels, able)


def _clip(context, armature, body, keys, even, found, falls):
    """A generator: as `clip.reading_on`, at these frames and of the body; one on the floor has no use for a clip that
    goes on."""
    whole = np.arange(np.floor(even[0]), keys[0])  # before the hit, too: `clips.steady` goes by them
    where = context, armature, body.whole, np.unique(np.concatenate((keys, even, whole)))
    steps = clips.reading(*where) if falls else clips.reading_on(*where, found)
    clip, channels, *goes_on = yield from portion(steps, 0.0, 0.7)
    clip = clips.steady(clip, channels)
    if body.controlled:
        clip = body.of(clip)
        yield from portion(body.seek(context, armature, keys, channels, clip.position), 0.7, 0.3)
    return (clip, channels, *(goes_on or ("", None)))


def _actor(context, armature, body, clip, situation, settings, height):
    """(Actor, what is doubtful about it)."""
    anatomy = body.anatomy
    limited, doubts = limits.of_body(context, armature, body)
    masses = measure(body.skeleton, anatomy, casting.masses(body.skeleton, anatomy, situation, settings))
    actor = Actor(body.skeleton, anatomy, masses, height or usual_height(anatomy), clip.scale < 0.0, limited)
    return actor, [*filter(None, [anatomy.fallback]), *doubts]


def _followed_by(context, armature, body, end, falls, then):
    """((Clips of the actions, seconds) or None, what they do on controls, frames after the reaction's end at which one
    may need keys, a loop all).  then: (names, seconds), or None."""
    if then is None:
        return None, (), np.empty(0)
    names, seconds = then
    read = [takeover.read(context, armature, body, name, end) for name in names]
    several, played = zip(*read, strict=True)
    length = max(longest(action, seconds, falls) for action in several)
    last = max(np.ceil(end + length * several[0].fps) + 2.0, context.scene.frame_end)
    return (several, seconds), played, np.arange(np.floor(end) + 1.0, last + 1.0)


def usual_height(anatomy: Anatomy) -> float:
    """How tall a figure of this kind usually is [m]."""
    return 0.8 if anatomy.kind == "quadruped" else HEIGHT
