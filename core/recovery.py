"""What blows ask of the body's balance: the weight's push, times the artist's gain on the body's shift, and the plan by
which the body gets over it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from . import dip, stance, steps, struck
from .actor import Actor
from .blows import Blow
from .footing import Footing
from .forces import Pulse
from .legs import bodies
from .plan import Plan, Span, Struck
from .rotation import Array
from .skeleton import Clip
from .stance import Stance

GRIP = 0.8  # friction of soles
WEAKER, LEAST = 0.85, 0.1  # of a blow that makes the body fall is tried next, and at least of it


class Grip(NamedTuple):
    """What the ground takes of a blow on a leg [m/s], all of a body's friction being one, from `start` to `end` [s]."""

    start: float
    end: float
    taken: float

    def shared(self, other: "Grip") -> float:
        """What another one takes meanwhile."""
        both = min(self.end, other.end) - max(self.start, other.start)
        return other.taken * max(both, 0.0) / (other.end - other.start)


def prepare(
    actor: Actor,
    clip: Clip,
    blows: Sequence[Blow],
    pulses: Sequence[Sequence[Pulse]],
    base: int,
    moving: np.ndarray,
    behind: Array | None = None,
) -> Footing | None:
    """Legs and plan for blows, each with its pulses, on a clip; None where no legs stand.

    behind: (B, K, 2) how far hips are behind the weight [m] as is known after each blow, see `flight`.
    """
    found = stance.read(actor, clip, blows[0].start)
    if found is None or not all(moving[[x.upper, x.lower, x.end]].all() for x in found.limbs):
        return None
    spans = [Span(blow.start, blow.end, blow.situation.end == "continue") for blow in blows]
    pushes, fell, grips, falls = np.zeros((0, len(found.times), 3)), False, list[Grip](), list[Array]()
    whole, thighs = Struck.nothing(found.down.shape), [limb.upper for limb in found.limbs]
    for i, own in enumerate(pulses):  # one after the other: what is caught of a blow doesn't depend on later ones
        more = blows[i].situation.shift * _push(actor, found, own, grips)
        known = np.append(pushes, more[None], axis=0)[..., 2]
        asked = blows[i].struck in thighs and more[:, 2].min() < 0.0  # no other blow puts a foot down
        falls.append(-dip.dip(found, known, whole, spans[: i + 1])[0] if asked else np.zeros(len(found.times)))
        legs = struck.legs(actor, found, blows[: i + 1], pulses[: i + 1], falls)
        legs = legs if behind is None else replace(legs, behind=behind[i])
        play = partial(steps.plan, found, struck=legs, blows=spans[: i + 1])
        plan, caught = _caught(play, pushes, more)
        pushes, fell = np.append(pushes, caught * more[None], axis=0), fell or caught < 1.0
    weight = float(actor.masses.mass.sum()) * abs(float(actor.gravity[2]))
    return Footing(plan.stance, plan, base, legs.loose, weight * dip.missing(found, legs.sinks), legs.hit, fell)


def _caught(play: Callable[[Array], Plan], pushes: Array, more: Array) -> tuple[Plan, float]:
    """The plan after a blow (K, 3) on others (B, K, 3), and how much of it feet can catch: the rest goes nowhere."""

    def with_part(part: float) -> Plan:
        return play(np.append(pushes, part * more[None], axis=0))

    full = plan = with_part(1.0)
    if full.lost is None and not full.astray:
        return full, 1.0
    caught, alone = WEAKER, with_part(0.0)
    while caught >= LEAST and alone.lost is None:
        plan = with_part(caught)
        if plan.lost is None and not plan.astray:
            return plan, caught
        caught *= WEAKER
    return (full, 1.0) if full.lost is None else (alone, 0.0)  # not because of this blow


def _push(actor: Actor, found: Stance, pulses: Sequence[Pulse], grips: list[Grip]) -> Array:
    """(K, 3) what a blow's pulses add to the weight's velocity from sample to sample [m/s], from the first one in them
    on; up and down in flight nothing, where the simulation goes by itself.  grips: of the blows before it; its own
    come to them."""
    mass = float(actor.masses.mass.sum())
    out = np.zeros((len(found.times), 3))
    for pulse, borne in zip(pulses, _borne(actor, found, pulses, grips), strict=True):
        first = min(int(np.searchsorted(found.times, pulse.start - 1e-6)), len(found.times) - 1)
        whole = replace(pulse, start=float(found.times[first]))
        part = np.array([whole.fraction(float(t), found.h) for t in found.times])
        downward = pulse.impulse[2] < 0.0  # which the ground takes of a leg that stands, by the lever; it pulls nobody
        high = 0.0 if found.flies[first] else 1.0 - downward * _leant(actor, found, pulse)
        out += part[:, None] * (np.array([borne, borne, high]) * pulse.impulse / mass)
    return out


def _borne(actor: Actor, found: Stance, pulses: Sequence[Pulse], grips: list[Grip]) -> list[float]:
    """Parts of a blow's pulses that the weight takes: of those on legs that stand, the ground takes some, by the lever,
    but together no more than friction holds."""
    mass, g = float(actor.masses.mass.sum()), abs(float(actor.gravity[2]))
    given = [float(np.linalg.norm(pulse.impulse[:2])) / mass for pulse in pulses]
    asked = [
        Grip(pulse.start, pulse.start + max(pulse.duration, struck.LEAVES), _leant(actor, found, pulse) * size)
        for pulse, size in zip(pulses, given, strict=True)
    ]
    held = []
    for own in asked:
        room = GRIP * g * (own.end - own.start) - sum(own.shared(grip) for grip in grips)
        held.append(own.taken * float(np.clip(room / max(sum(map(own.shared, asked)), 1e-12), 0.0, 1.0)))
    grips += [own._replace(taken=taken) for own, taken in zip(asked, held, strict=True)]
    return [1.0 - taken / max(size, 1e-12) for taken, size in zip(held, given, strict=True)]


def _leant(actor: Actor, found: Stance, pulse: Pulse) -> float:
    """Part of a pulse that a foot on the ground would take, by the lever."""
    k = min(int(np.searchsorted(found.times, pulse.start - 1e-6)), len(found.times) - 1)
    for i, limb in enumerate(found.limbs):
        if pulse.body in bodies(actor, limb) and found.down[k, i]:
            axis = actor.axis[pulse.body]
            along = float(np.clip(pulse.point @ axis / max(float(axis @ axis), 1e-12), 0.0, 1.0))
            return {limb.upper: 0.5 * along, limb.lower: 0.5 + 0.5 * along}.get(pulse.body, 1.0)
    return 0.0
