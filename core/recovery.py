"""What blows ask of legs: the weight's push, what a struck leg loses, and the plan by which the body gets over it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from . import stance, steps, tuning
from .actor import Actor
from .blows import Blow
from .footing import Footing
from .forces import Pulse
from .ik import Limb
from .plan import Span
from .rotation import Array
from .skeleton import Clip
from .stance import Stance
from .support import smooth

KNOCKED, FULL = 0.08, 40.0  # [m] that a foot in the air lands aside of its way, from this blow on [N s]
TAKE, READY = 0.5, 0.2  # [s] in which a struck foot finds back to its place before it lands, and all feet in flight
WEAKER, LEAST = 0.85, 0.1  # of a blow that makes the body fall is tried next, and at least of it


def prepare(
    actor: Actor,
    clip: Clip,
    blows: Sequence[Blow],
    pulses: Sequence[Sequence[Pulse]],
    base: int,
    moving: np.ndarray,
) -> Footing | None:
    """Legs and plan for blows, each with its pulses, on a clip; None where no legs stand."""
    found = stance.read(actor, clip, blows[0].start)
    if found is None or not all(moving[[x.upper, x.lower, x.end]].all() for x in found.limbs):
        return None
    spans = [Span(blow.start, blow.end, blow.situation.end == "continue") for blow in blows]
    push, fell = np.zeros((len(found.times), 2)), False
    for i, own in enumerate(pulses):  # one after the other: what is caught of a blow doesn't depend on later ones
        weak, hold, knocks = _struck(actor, found, blows[: i + 1])
        more = _push(actor, found, own)
        play = partial(steps.plan, found, give=1.0 - weak, hold=hold, knocks=knocks, blows=spans[: i + 1])
        plan, caught, alone = play(push + more), 1.0, None
        while plan.lost is not None or plan.astray:  # more than feet can catch: the rest goes nowhere
            alone = alone or play(push)
            caught *= WEAKER
            if caught < LEAST or alone.lost is not None:  # not because of this blow
                caught, plan = (0.0, alone) if plan.lost is not None else (1.0, play(push + more))
                break
            plan, fell = play(push + caught * more), True
        more = caught * more
        push = push + more
    return Footing(found, plan, base, _missing(actor, found, weak), fell)


def _push(actor: Actor, found: Stance, pulses: Sequence[Pulse]) -> Array:
    """(K, 2) what pulses add to the weight's velocity from sample to sample [m/s], from the first one in them on."""
    mass = float(actor.masses.mass.sum())
    h = float(found.times[1] - found.times[0])
    out = np.zeros((len(found.times), 2))
    for pulse in pulses:
        first = min(int(np.searchsorted(found.times, pulse.start - 1e-6)), len(found.times) - 1)
        whole = replace(pulse, start=float(found.times[first]))
        part = np.array([whole.fraction(float(t), h) for t in found.times])
        out += part[:, None] * (_borne(actor, found, pulse) * pulse.impulse[:2] / mass)
    return out


def _borne(actor: Actor, found: Stance, pulse: Pulse) -> float:
    """Part of a blow that the weight takes: of one on a leg that stands, the ground takes some, by the lever."""
    k = min(int(np.searchsorted(found.times, pulse.start - 1e-6)), len(found.times) - 1)
    for i, limb in enumerate(found.limbs):
        if pulse.body in _leg(actor, limb) and found.down[k, i]:
            axis = actor.axis[pulse.body]
            along = float(np.clip(pulse.point @ axis / max(float(axis @ axis), 1e-12), 0.0, 1.0))
            return {limb.upper: 1.0 - 0.5 * along, limb.lower: 0.5 - 0.5 * along}.get(pulse.body, 0.0)
    return 1.0


def _struck(actor: Actor, found: Stance, blows: Sequence[Blow]) -> tuple[Array, Array, Array]:
    """(K, L) how much of its strength each leg has lost, (K, L) how firmly each foot is held, and (K, L, 2) how far
    aside [m] a foot will land that was struck in the air."""
    knocks = np.zeros((*found.down.shape, 2))
    weak, hold = np.zeros(found.down.shape), np.ones(found.down.shape)
    h = float(found.times[1] - found.times[0])
    for n, blow in enumerate(blows):
        since = found.times - blow.start - min(n, 1) * h  # later ones a sample later: nothing shows before the blow
        situation = blow.situation
        k = int(np.searchsorted(found.times, blow.start - 1e-6))
        if found.flies[k]:  # in the air all legs move freely
            for i in range(len(found.limbs)):
                lands = found.lands(k, i)
                ready = found.times[lands] if lands >= 0 else blow.end
                hold[:, i] *= _freed(found, since, blow.start, float(ready), READY)
        for i, limb in enumerate(found.limbs):
            if blow.struck not in _leg(actor, limb):
                continue
            weak[:, i] = np.maximum(weak[:, i], np.where(since > -1e-6, tuning.lost(situation, since), 0.0))
            if not found.down[k, i] or situation.drive == "velocities":
                lands = -1 if found.down[k, i] else found.lands(k, i)
                ready = found.times[lands] if lands >= 0 else blow.start + situation.recovered
                last = lands if lands >= 0 else k
                knocks[k : last + 1, i] = KNOCKED * min(1.0, abs(blow.impulse) / FULL) * blow.direction[:2]
                if not found.flies[k]:
                    hold[:, i] *= _freed(found, since, blow.start, ready, TAKE)
    return weak, hold, knocks


def _freed(found: Stance, since: Array, start: float, ready: float, take: float) -> Array:
    """(K,) how firmly a foot is held that moves freely from `start` on, and takes so long [s] to be back when it is
    ready."""
    firm = np.clip(1.0 - (ready - found.times) / min(take, max(ready - start, 1e-3)), 0.0, 1.0)
    return np.where(since > -1e-6, smooth(firm), 1.0)


def _leg(actor: Actor, limb: Limb) -> set[int]:
    """Bodies from thigh to toes."""
    leg = {limb.upper}
    for i, up in enumerate(actor.parent):
        if int(up) in leg:
            leg.add(i)
    return leg


def _missing(actor: Actor, found: Stance, weak: Array) -> Array:
    """(K, L) force [N] by which legs that carry the weight give way."""
    weight = float(actor.masses.mass.sum()) * abs(float(actor.gravity[2]))
    carries = found.down / np.maximum(found.down.sum(axis=1, keepdims=True), 1)
    return np.asarray(weight * weak * carries)
