"""A body that is knocked out falls on the floor and stays there.

`fall` takes what `react` takes and gives the same Reaction, whose `rest` is the pose in which the body stays.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from . import hinges, limp, touch, tuning
from .actor import Actor
from .blows import Blow, Hit
from .crumple import sunk
from .curve import later
from .drive import Stretch, Watch, drive, joined
from .dynamics import forward
from .errors import SituationError
from .forces import Bearing, Force
from .forces.world import motions
from .knockout import SLOWING, KnockOut, Ragdoll, floor_of, slowing
from .model import Model, State
from .pace import FRESH, Pace
from .progress import portion
from .react import react
from .reaction import Reaction, together
from .reference import Reference, to_joints, to_world
from .resample import hermite, rotations
from .rotation import Array, conjugate, log, multiply, unwound
from .simulate import Forward
from .situation import Situation
from .skeleton import Clip
from .springs import pulling
from .stage import SUBSTEP, UNCAUGHT, Stage

ALOFT = 0.05  # [m] above the floor from where on a body is in the air, where nothing holds it
TURN = 0.07  # [rad] most turn of a body in a sub-step: nobody expects a limp body back on a path


class Falling(Stage):
    """The stage with a floor, and a body that goes limp."""

    def __init__(
        self,
        actor: Actor,
        clip: Clip,
        hits: Sequence[tuple[Situation, Hit]],
        settings: Mapping[str, Mapping[str, Any]],
        fixed: Mapping[str, str],
        earlier: Reaction | None = None,
    ) -> None:
        self.earlier = earlier
        super().__init__(actor, clip, hits, settings, fixed, None if earlier is None else earlier.blows[-1].start)
        if self.base < 0:
            raise SituationError(
                f"The rig lacks a pelvis with legs that may move freely, so it can't fall ('{self.situation.end}'). "
                "Give bones those roles, or end with 'return'."
            )
        pelvis = actor.names[self.base]
        if pelvis in actor.limits:
            raise SituationError(
                f"Bone '{pelvis}' may turn only within its own limits, so the body can't lie down. "
                f"Switch off its {' and its '.join(actor.limits[pelvis].said_by) or 'limits'}, or end with 'return'."
            )
        self.warnings += _unheard(self.blows)
        surface = self.surface
        ground = floor_of(self.blows, surface, clip.times, actor.canonical(clip), self.knock.start)
        state = self._state(self.knock.start)
        low = surface.figure.world(*to_world(self.model, state.rotation, state.position))[:, 2].min()
        self.stands = float(low < ground + ALOFT)
        self.ragdoll = Ragdoll.of(
            self.knock, actor, self.model, state, self.inertia, self.hinges, (surface, ground), self.moving, self.base
        )

    @cached_property
    def surface(self) -> touch.Points:
        """Where it touches things."""
        return touch.points(self.actor)

    def _model(self) -> Model:
        """With what hands hold: a hand of a kilogram that meets the floor would flip whatever weighs nothing."""
        model = super()._model()
        return replace(model, inertia=model.inertia + touch.weighing(self.actor, self.surface))

    @cached_property
    def knock(self) -> KnockOut:
        """When and how the body goes limp."""
        return KnockOut.of(self.blows)

    def seen(self, clip: Clip) -> tuple[Array, Array]:
        """The clip, or what earlier hits have made of it."""
        return super().seen(clip) if self.earlier is None else self.earlier.poses(clip)

    def followed(self, samples: Array, rotation: Array, position: Array) -> tuple[Array, tuple[Array, Array]]:
        """The clip, slowing down to a standstill while it sinks to its knees."""
        if self.base < 0:
            return super().followed(samples, rotation, position)
        times, poses = self.knock.slowed(samples, rotation, position)
        gone = 1.0 - self.knock.pace(times)
        return times, sunk(self.actor, self.model, self.base, poses, gone, self.knock.seconds)

    def _tension(self) -> Array:
        """None: what goes limp keeps to no swing."""
        return np.zeros(self.model.n)

    def forces(self, reference: Reference) -> list[Force]:
        """Muscles that go limp, the joints' ranges, the blow, the floor."""
        actor, times = self.actor, reference.times[:-1]
        kin, passing = motions(self.model, reference)
        left = self.knock.tone(times)[:, None]
        part = np.tile(left, self.model.n)
        part[:, self.base] *= self.stands
        tone = tuning.tone(actor, [(b.situation, b.struck, times - b.start) for b in self.blows]).times(part)
        since = times - self.start
        share = left[:, 0] * tuning.carried(self.situation, since)
        muscle = pulling(self.model, reference, passing, self.held(since), tone, share, self.base, self.stands)
        clip = actor.gravity, self.model, passing, muscle.feed_forward
        bearing = Bearing.of_clip(*clip, self.base, self.stands * share, np.ones(len(times)))
        jointed = self.moving & (np.arange(self.model.n) != self.base)
        bent = hinges.bend(actor, self.hinges, kin.R, kin.p)
        said = self.situation.ranges
        ranges = limp.limits(actor, reference, jointed, self.inertia, self.hinges, bent, said, self.ease)
        return [muscle, bearing, *ranges, *self.pulses, *self.ragdoll.forces(times)]


def _unheard(blows: Sequence[Blow]) -> list[str]:
    """What a fall doesn't do of what is asked for."""
    out = []
    if any({s.counter, s.whip, s.dip, s.shift} != {1.0} for s in (blow.situation for blow in blows)):
        out.append("A body that falls does as the physics has it: counter, whip, dip and shift have no effect.")
    if not all(blow.situation.coupled for blow in blows):
        out.append("A body that falls is simulated as one: its bones are coupled.")
    return out


def fall(
    actor: Actor,
    clip: Clip,
    situation: Situation,
    hit: Hit,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    fixed: Mapping[str, str] | None = None,
    further: Sequence[tuple[Situation, Hit]] = (),
    watch: Watch | None = None,
) -> Generator[float, None, Reaction]:
    """Simulate hits of which one at least knocks the body out, until it lies still; arguments as in `react.react`.

    Hits before the knock-out are what they would be without it, up to that moment.
    """
    hits = sorted([(situation, hit), *further], key=lambda one: one[1].frame)
    knocked = next(one.frame for situation, one in hits if situation.falls)
    first = [one for one in hits if one[1].frame < knocked - 1e-6]
    if not first:
        return (yield from _fall(actor, clip, hits, settings or {}, fixed or {}, watch))
    until = knocked / clip.fps - 1e-9
    steps = react(actor, clip, *first[0], settings, fixed, first[1:], None if watch is None else _cut(watch, until))
    earlier = yield from portion(steps, 0.0, 0.5)
    counts = [int(np.count_nonzero(part.times[:-1] < until)) for part in earlier.parts or (earlier,)]
    said = tuple(text for text in earlier.warnings if text != UNCAUGHT)  # for it does fall
    earlier = replace(earlier, substeps=sum(counts), warnings=said)
    gone = knocked / clip.fps - earlier.start
    left = {bone: {key: later(v, gone) for key, v in own.items()} for bone, own in (settings or {}).items()}
    steps = _fall(actor, clip, hits[len(first) :], left, fixed or {}, watch, earlier)
    return together([earlier, (yield from portion(steps, 0.5, 0.5))])


def _cut(watch: Watch, until: float) -> Watch:
    """Sees the sub-steps that begin before a moment [s]."""

    def seen(stage: Stage, part: Stretch, solver: Forward) -> None:
        count = int(np.count_nonzero(part.reference.times[:-1] < until))
        if count:
            watch(stage, Stretch(part.reference.until(count), part.runs[: count + 1]), solver)

    return seen


def _fall(
    actor: Actor,
    clip: Clip,
    hits: Sequence[tuple[Situation, Hit]],
    settings: Mapping[str, Mapping[str, Any]],
    fixed: Mapping[str, str],
    watch: Watch | None,
    earlier: Reaction | None = None,
) -> Generator[float, None, Reaction]:
    """The hits from the knock-out on, after an earlier reaction."""
    stage = Falling(actor, clip, hits, settings, fixed, earlier)
    landed = max(blow.start + blow.contact for blow in stage.blows)
    end = max(stage.knock.start + stage.knock.longest - SLOWING, landed + FRESH)

    def still(last: Stretch, _: int) -> bool:
        now, states = float(last.reference.times[-1]), [run.state for run in last.runs[1:]]
        return now > landed and stage.ragdoll.still(stage.model, now, states)

    pace = Pace(stage.blows, stage.finer, TURN, np.inf, ())
    parts = yield from drive(stage, end, pace, forward, still, watch)
    times = joined([part.reference.times for part in parts])
    states = [parts[0].runs[0].state, *(run.state for part in parts for run in part.runs[1:])]
    steps = int(round(SLOWING / SUBSTEP))
    states += slowing(states[-1], SUBSTEP, steps)[1:]
    times = np.concatenate((times, times[-1] + SUBSTEP * np.arange(1, steps + 1)))
    return _reaction(stage, clip, times, states, sum(len(part.runs) - 1 for part in parts))


def _reaction(stage: Falling, clip: Clip, times: Array, states: list[State], substeps: int) -> Reaction:
    """Deviations from the clip itself, all joints', for those that follow it have stopped with the body."""
    rotation, position = (np.stack([getattr(state, name) for state in states]) for name in ("rotation", "position"))
    own_rotation, own_position = to_joints(stage.model, *stage.actor.canonical(clip))
    turn = log(multiply(conjugate(rotations(clip.times, own_rotation, times)), rotation))
    return Reaction(
        actor=stage.actor,
        model=stage.model,
        blows=tuple(stage.blows),
        given=stage.given,
        weights=np.ones(stage.model.n),
        times=times,
        turn=unwound(turn),
        travel=position - hermite(clip.times, own_position, times),
        moving=stage.moving,
        substeps=substeps,
        fell=(rotation, position),
        warnings=tuple(stage.warnings),
    )
