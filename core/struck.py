"""What a blow does to the legs: a leg that is struck loses its tone and gives way under the weight that it carries, its
foot is knocked off the ground, or off its way where it was in the air."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import lowering, tuning
from .actor import Actor
from .blows import Blow
from .forces import Pulse
from .ik import Limb
from .legs import bodies
from .plan import Lowered, Struck, Sweep
from .ranges import folds
from .rotation import Array
from .stance import Stance
from .support import smooth

KNOCKED = 0.07  # of a leg's length that a foot in the air lands aside of its way
FLUNG = 0.14  # and that one is flung which stands
FULL, HEAVY = 40.0, 15.0  # [N s] from which on blows do all that, and [kg] from which on a leg asks for more; chosen
LEAST = 0.02  # [m] a foot that would be flung less far stays where it is
MIDDLE = 0.5  # of a thigh, from where on its leg is moved as a whole
SWEPT, LEAVES = 0.25, 0.05  # [s] for which a foot that stood is off the ground, and that friction holds it
YIELDS_AFTER, YIELDS = 0.04, 0.18  # [s] from a blow until its leg begins to give way, and from there until it does
SOONER = 2.0  # times as fast does tone come back on which a leg lands
BRACED = 120.0  # [N s] from which on a blow braces the leg along which it goes, so that it folds no more easily
DRAWN, DRAWS = np.radians(20.0), 0.12  # that the knee of a leg struck in the air bends farther, and [s] in which
TAKE, READY = 0.5, 0.2  # [s] in which a foot finds back to its place before it lands, and all feet in flight


def legs(
    actor: Actor,
    found: Stance,
    blows: Sequence[Blow],
    pulses: Sequence[Sequence[Pulse]],
    falls: Sequence[Array] = (),
) -> Struck:
    """Of several blows, each with its pulses.  falls: (K,) how far each and those before it push the body down [m]."""
    out, sweeps, lowered = Struck.nothing(found.down.shape), list[Sweep](), list[Lowered]()
    for n, (blow, own) in enumerate(zip(blows, pulses, strict=True)):
        since = found.times - blow.start - min(n, 1) * found.h  # later ones a sample later: nothing shows before
        k = int(np.searchsorted(found.times, blow.start - 1e-6))
        if found.flies[k]:  # in the air all legs move freely
            for i in range(len(found.limbs)):
                out.hold[:, i] *= _freed(found, since, blow.start, _ready(found, blow, k, i), READY)
        for i, limb in enumerate(found.limbs):
            if blow.struck in bodies(actor, limb):
                put = _lowered(actor, found, blow, falls[n], k, i) if falls else None
                lowered += [] if put is None else [put]
                sweeps += _strike(out, actor, lowering.landed(found, put), blow, own, since, k, i, put is not None)
    said = blows[0].situation.ranges  # as joints have them
    most = np.radians([folds(said, actor.roles[limb.lower]) for limb in found.limbs])
    free = 1.0 - out.hold
    loose = free * out.loose
    hold = out.hold * (1.0 - loose) ** 2  # led, the foot of a leg that folds would hardly go
    led = {"hold": hold, "draws": free * out.draws, "folds": most, "loose": loose}
    return replace(out, **led, sweeps=tuple(sweeps), lowered=tuple(lowered))


def _strike(
    out: Struck,
    actor: Actor,
    found: Stance,
    blow: Blow,
    own: Sequence[Pulse],
    since: Array,
    k: int,
    i: int,
    lowered: bool,
) -> list[Sweep]:
    """Add to `out`, in place, what a blow does to leg i that it strikes, and say whether that is swept away.

    own: its pulses.  since: (K,) time since the blow [s], at sample k.  lowered: the foot is put down, not drawn up.
    """
    limb, h = found.limbs[i], found.h
    lever = _lever(actor, blow, limb)
    out.hit[:, i] = np.maximum(out.hit[:, i], lever * (since > -1e-6))
    strong = lever * _strong(actor, limb, own)
    lost = strong * _weakened(found, blow, since, k, i)
    out.weak[:, i] = np.maximum(out.weak[:, i], lost)
    out.sinks[:, i] = np.maximum(out.sinks[:, i], blow.situation.dip * lost)
    lands = found.lands(k, i)
    on = lands if 0 <= lands <= k + LEAVES / h + 1e-6 else k  # one that lands just then stands
    off = found.stays(on, i) if found.down[on, i] else k  # where it leaves the ground by itself
    held = 1.0 - smooth(since / LEAVES) if off > k else np.zeros(len(since))
    if (off - on) * h > LEAVES + 1e-6:
        due = on + int(round(SWEPT / h))
        way = FLUNG * float(found.length[i]) * strong * blow.direction[:2]
        if np.linalg.norm(way) <= LEAST or due >= len(found.times):
            return []
        free = _freed(found, since, blow.start, _ready(found, blow, due, i, float(found.times[due])))
        out.hold[:, i] *= 1.0 - lever * (1.0 - np.maximum(free, held))
        return [Sweep(i, on, due, (float(way[0]), float(way[1])))]
    lands = found.lands(off, i)
    far = KNOCKED * float(found.length[i]) * strong
    out.knocks[k : (lands if lands >= 0 else k) + 1, i] = far * blow.direction[:2]
    out.loose[:, i] = np.maximum(out.loose[:, i], lever * _folding(found, blow, own, k, i) * (since > -1e-6))
    if blow.situation.drive == "impulse" and not lowered:
        met = strong * _met(found, blow, k, i)
        out.draws[:, i] = np.maximum(out.draws[:, i], met * _drawn(found, since - (off - k) * h, lands))
    if not found.flies[k]:
        ready = _ready(found, blow, off, i)
        free = _freed(found, since, _led_from(blow, limb, ready), ready)
        out.hold[:, i] *= 1.0 - lever * (1.0 - np.maximum(free, held))
    return []


def _lowered(actor: Actor, found: Stance, blow: Blow, falls: Array, k: int, i: int) -> Lowered | None:
    """How leg i is put down whose thigh a blow at sample k drives to the ground, by the part of its energy that goes
    down: what goes aside swings it.  A foot that is driven there by its shin scrapes and swings on."""
    limb = found.limbs[i]
    if blow.struck != limb.upper or found.flies[k]:
        return None
    return lowering.lowered(found, k, i, _lever(actor, blow, limb) * float(blow.direction[2]) ** 2 * falls)


def _folding(found: Stance, blow: Blow, own: Sequence[Pulse], k: int, leg: int) -> float:
    """How easily a leg folds under a blow at sample k: by the square of the part of its energy that goes along the leg,
    from hip to ankle or back, and the less the harder it is: the faster muscles are stretched, the more they resist."""
    line = found.ankle[k, leg] - found.hip[k, leg]
    along = float((line @ blow.direction) ** 2 / max(float(line @ line), 1e-12)) ** 2
    return along * max(0.0, 1.0 - _size(own) / BRACED)


def _met(found: Stance, blow: Blow, k: int, leg: int) -> float:
    """Part of a blow at sample k over which a leg draws its knee up: all on its thigh, and below the knee what comes
    from before it, for a shin that is kicked on from behind meets nothing."""
    if blow.struck == found.limbs[leg].upper:
        return 1.0
    return max(float(found.folding[k, leg] @ blow.direction), 0.0)


def _led_from(blow: Blow, limb: Limb, ready: float) -> float:
    """[s] when a foot in the air begins to be led to its place, where it is at `ready`: after a blow below the knee
    that lasts, as if all of it came in the middle, and at the latest when half the time is left.  Led against what
    still pushes it, a shin would hardly go."""
    waits = min(blow.lasting, 0.5 * max(ready - blow.start, 0.0))
    return blow.start + (0.0 if blow.struck == limb.upper else waits)


def _drawn(found: Stance, since: Array, lands: int) -> Array:
    """(K,) [rad] by how much farther a knee bends whose leg is struck in the air, as far as its foot is free: it is
    drawn up over what it met (cats: Forssberg 1979; people: Eng, Winter and Patla 1994).

    since: (K,) time that it has been in the air since the blow [s].  lands: the sample at which it does, -1: never.
    """
    late = found.times >= found.times[lands] if lands >= 0 else True
    return np.where((since < -1e-6) | late, 0.0, DRAWN * smooth(since / DRAWS))


def _weakened(found: Stance, blow: Blow, since: Array, k: int, leg: int) -> Array:
    """(K,) what a leg has lost; of one in the air, tone only begins to come back as it lands: it gives way then.

    since: (K,) time since the blow [s], at sample k.
    """
    lands, passed = found.lands(k, leg), since
    if lands > k and found.times[lands] < blow.end:
        passed = SOONER * np.maximum(since - (found.times[lands] - found.times[k]), 0.0)
    yields = smooth((since - YIELDS_AFTER) / YIELDS)
    return np.where(since > -1e-6, yields * tuning.lost(blow.situation, passed), 0.0)


def _strong(actor: Actor, limb: Limb, pulses: Sequence[Pulse]) -> float:
    """Part of what a blow can do to a leg: a heavy one is moved less."""
    mass = float(actor.masses.mass[actor.order][list(bodies(actor, limb))].sum())
    return min(1.0, _size(pulses) / (FULL * max(1.0, mass / HEAVY)))


def _size(pulses: Sequence[Pulse]) -> float:
    """[N s] of a blow."""
    return float(np.linalg.norm(sum((pulse.impulse for pulse in pulses), np.zeros(3))))


def _lever(actor: Actor, blow: Blow, limb: Limb) -> float:
    """How far a blow on a leg is one on the leg, by its lever about the hip: all of it from the middle of the thigh on,
    nothing at the hip itself, where the trunk takes the push."""
    if blow.struck != limb.upper:
        return 1.0
    axis = actor.axis[limb.upper]
    return float(smooth(blow.point @ axis / (MIDDLE * max(float(axis @ axis), 1e-12))))


def _ready(found: Stance, blow: Blow, k: int, leg: int, stands: float | None = None) -> float:
    """[s] when a foot must be in its place: it stands at sample k, then `stands`, or lands next."""
    if stands is not None and found.down[k, leg]:
        return stands
    lands = found.lands(k, leg)
    return float(found.times[lands]) if lands >= 0 else blow.end


def _freed(found: Stance, since: Array, start: float, ready: float, take: float = TAKE) -> Array:
    """(K,) how firmly a foot is held that moves freely from `start` on, and takes so long [s] to be back when it is
    ready."""
    firm = np.clip(1.0 - (ready - found.times) / min(take, max(ready - start, 1e-3)), 0.0, 1.0)
    return np.where(since > -1e-6, smooth(firm), 1.0)
