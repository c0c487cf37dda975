"""Hits as an animator sets them, and the blows they become on a body.

A hit is a direction and a strength at a point of a bone; or it comes from a place and strikes the whole body (a blast);
or it is a thing with a mass and a speed.  Hits in quick succession tell less (`throttle`).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .actor import Actor
from .dynamics import kinematics
from .errors import ClipError, SituationError
from .forces import Pulse, Striker
from .model import Model, State
from .rotation import Array, exp, rotate
from .situation import Situation
from .skeleton import Clip

INSTANT = 0.03  # [s], chosen: as the longest of the strengths that are strikes, a kick; no push is shorter than 0.15
LONGEST = 4.0  # [s] that a body takes at most to come to rest on the floor
# Part of a hit that tells so soon after the one before it [s].
REPEATS = ((0.1, 0.35), (0.25, 0.5), (0.35, 0.7), (0.5, 0.9))
SAME = 1e-9  # [s]
SPREAD, VARIATION = np.radians(15.0), 0.2  # what a seed changes: direction within a cone, strength by a part


@dataclass(frozen=True, eq=False)
class Hit:
    """One hit of a situation at a moment of a clip; None leaves the situation's value.

    frame: may be fractional.  bone: name or role, "" = the situation's.  direction: (3,) world.
    impulse: [N s] on the canonical body.  along: 0 at the bone's head, 1 at its end.
    offset: (3,) from there, [left, forward, up] of the figure [m, canonical body]: off the centre it turns the body.
    angular: [N m s] about the direction, besides.
    origin: (3,) world place of a blast, scene units; `impulse` is then what the whole body gets, spread by area and
    distance, away from that place.
    ground: height of the floor on which a body falls or lies [scene units]; None = where the clip is lowest.
    striker: (mass [kg], speed [m/s], restitution 0..1) of what hits; its impulse comes from the body's own inertia.
    mass: [kg] of what strikes with the impulse: a chest takes all of it, what is lighter takes less, as it yields, and
    what is heavier more; None = `impulse` is what the body gets.
    contact: [s].  gain: times which the strength is exaggerated; None = the situation's, 1 for a strength given here.
    seed: varies direction and strength, always alike for the same seed; 0 = not at all.
    """

    frame: float
    bone: str = ""
    direction: Array | None = None
    impulse: float | None = None
    along: float | None = None
    offset: Array | None = None
    angular: float = 0.0
    origin: Array | None = None
    striker: tuple[float, float, float] | None = None
    mass: float | None = None
    contact: float | None = None
    gain: float | None = None
    seed: int = 0
    ground: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (value is None or isinstance(value, str) or np.isfinite(value).all()):
                raise SituationError(f"The hit's {name} is not finite. Give it numbers that are.")
        for name in ("direction", "offset", "origin", "striker"):
            if (value := getattr(self, name)) is not None and np.shape(value) != (3,):
                raise SituationError(f"The hit's {name} is {np.asarray(value).tolist()}. Give it three numbers.")
        for name, amount in (("contact", self.contact), ("mass", self.mass), ("striker", (self.striker or [1.0])[0])):
            if amount is not None and not amount > 0.0:
                raise SituationError(f"The hit's {name} is {amount:g}. Give it more than 0.")

    @property
    def has_own_strength(self) -> bool:
        """Whether it says how strong it is."""
        return self.impulse is not None or self.striker is not None or self.angular != 0.0


@dataclass(frozen=True, eq=False)
class Blow:
    """A hit as it lands.  start: [s].  struck: body; point: (3,) in its frame [m].  direction: (3,) unit, world.

    gain: dramatic gain.  told: part of the strength that tells, by seed and repetition; repetition: by that alone.
    taken: part of it that the body takes, see `meeting`; of that, `passed` goes through what is struck on what is
    `behind` it: a body and a point (3,) in its frame [m].
    axes: (3, 3) rows left, forward, up of the figure at that moment.
    origin: (3,) of a blast, world [canonical m].  ground: height of the floor, the same; None = the clip's.
    """

    situation: Situation
    hit: Hit
    start: float
    struck: int
    point: Array
    direction: Array
    axes: Array
    origin: Array | None
    gain: float = 1.0
    told: float = 1.0
    taken: float = 1.0
    passed: float = 0.0
    behind: tuple[int, Array] | None = None
    ground: float | None = None
    repetition: float = 1.0

    @property
    def impulse(self) -> float:
        """[N s] of a blow or blast as it lands; what a striker gives, the body decides."""
        given = self.situation.impulse if self.hit.impulse is None else self.hit.impulse
        return self.told * self.taken * self.gain * given

    @property
    def angular(self) -> float:
        """[N m s] about the direction, as it lands."""
        return self.told * self.gain * self.hit.angular

    @property
    def contact(self) -> float:
        """[s] for which it pushes."""
        return self.situation.contact if self.hit.contact is None else self.hit.contact

    @property
    def lasting(self) -> float:
        """[s] for which muscles act on the impulse while the contact lasts, on the mean; what is over in an INSTANT
        meets inertia alone."""
        return 0.5 * max(self.contact - INSTANT, 0.0)

    @property
    def end(self) -> float:
        """Time from which nothing of it shows, or from which the body lies still [s]."""
        return self.start + lasts(self.situation)

    @property
    def simulated(self) -> float:
        """Time up to which the body is simulated for it [s]."""
        envelope = self.situation.envelope
        if self.situation.falls:
            return self.end
        return self.end if envelope.mode == "continue" else self.start + min(envelope.simulation, envelope.duration)

    def amount(self, times: Array) -> Array:
        """(T,) how much of it shows at times [s]."""
        if self.situation.falls:
            return np.where(times >= self.start, 1.0, 0.0)
        return self.situation.envelope(times - self.start)

    def forces(self, actor: Actor, model: Model, moment: State, Z: Array | None = None) -> list[Pulse]:
        """The pulses; `moment`: the clip's state when the blow lands.  Z: (n, 6, 6) joint impedances of `lasting`."""
        if self.situation.drive != "impulse":
            return []
        if self.origin is not None:
            return self._blast(actor, model, moment)
        if self.hit.striker is not None:
            mass, speed, restitution = self.hit.striker
            striker = Striker(self.struck, self.point, mass, speed * self.direction, restitution, time=self.start)
            pulse = striker.pulse(model, moment, self.contact, Z)
            return [replace(pulse, impulse=self.told * self.gain * pulse.impulse)]
        couple = self.angular * self.direction if self.hit.angular else None
        push = self.impulse * self.direction
        if self.behind is None:
            return [Pulse(self.struck, self.point, push, self.start, self.contact, couple)]
        return [
            Pulse(self.struck, self.point, (1.0 - self.passed) * push, self.start, self.contact, couple),
            Pulse(*self.behind, self.passed * push, self.start, self.contact),
        ]

    def felt(self) -> list[Pulse]:
        """What legs and balance feel of a blow that is told as velocities: its impulse, which these don't say."""
        return [Pulse(self.struck, self.point, self.impulse * self.direction, self.start, self.contact)]

    def _blast(self, actor: Actor, model: Model, moment: State) -> list[Pulse]:
        """A share for every body by what it shows to the blast, through its middle."""
        bones = actor.order
        kin = kinematics(model, moment)
        middle = 0.5 * actor.axis
        away = kin.position() + np.einsum("nij,nj->ni", kin.R, middle) - self.origin
        distance = np.maximum(np.linalg.norm(away, axis=-1), 0.1)
        area = 2.0 * actor.masses.radius[bones] * np.maximum(actor.masses.length[bones], actor.masses.radius[bones])
        share = np.where(actor.masses.mass[bones] > 0.0, area / distance**2, 0.0)
        push = self.impulse * (share / share.sum())[:, None] * away / distance[:, None]
        return [Pulse(int(i), middle[i], push[i], self.start, self.contact) for i in np.flatnonzero(share)]


def land(actor: Actor, clip: Clip, situation: Situation, hit: Hit, poses: tuple[Array, Array]) -> Blow:
    """Resolve a hit on a clip; poses: (T, n, 4), (T, n, 3) of the bodies in the world [canonical m].

    Refuses by name what can't land.
    """
    start = hit.frame / clip.fps
    if not clip.times[0] - 1e-9 <= start <= clip.times[-1] + 1e-9:
        raise ClipError(
            f"Frame {hit.frame:g} lies outside the clip ({clip.frames[0]:g} to {clip.frames[-1]:g}). "
            "Choose a frame inside it."
        )
    now = int(np.argmin(np.abs(clip.times - start)))
    turned, place = poses[0][now], poses[1][now]
    axes = actor.axes(turned)
    struck = actor.find(hit.bone, situation.hit, situation.name)
    point = (situation.along if hit.along is None else hit.along) * actor.axis[struck]
    if hit.offset is not None:
        back = turned[struck] * [1.0, -1.0, -1.0, -1.0]
        point = point + rotate(back, np.asarray(hit.offset, dtype=np.float64) @ axes)
    size = actor.masses.scale / abs(clip.scale)
    origin = None if hit.origin is None else size * np.asarray(hit.origin, dtype=np.float64)
    at = place[struck] + rotate(turned[struck], point)
    direction, told = _varied(_direction(situation, hit, axes, at, origin), hit.seed)
    own = 1.0 if hit.has_own_strength else situation.gain
    return Blow(
        situation=situation,
        hit=hit,
        start=start,
        struck=struck,
        point=point,
        direction=direction,
        axes=axes,
        origin=origin,
        gain=own if hit.gain is None else hit.gain,
        told=told,
        ground=None if hit.ground is None else size * hit.ground,
    )


def _direction(situation: Situation, hit: Hit, axes: Array, at: Array, origin: Array | None) -> Array:
    """(3,) unit, world, of a hit at a point (3,): away from where it comes from, else as the hit or the situation says;
    axes: (3, 3) of the figure."""
    if origin is not None:
        way = at - origin
    elif hit.direction is not None:
        way = np.asarray(hit.direction, dtype=np.float64)
    else:
        way = np.asarray(situation.direction) @ axes
    if not np.linalg.norm(way) > 0.0:
        raise SituationError("The hit's direction has no length. Give it one that points somewhere.")
    return np.asarray(way / np.linalg.norm(way))


def _varied(direction: Array, seed: int) -> tuple[Array, float]:
    """The unit direction (3,) within a cone around itself, and a factor on the strength: always alike for a seed."""
    if not seed:
        return direction, 1.0
    chance = random.Random(seed)
    tilt, azimuth = SPREAD * np.sqrt(chance.random()), 2.0 * np.pi * chance.random()
    aside = np.eye(3)[np.argmin(np.abs(direction))]
    first = np.cross(direction, aside)
    first /= np.linalg.norm(first)
    about = np.cos(azimuth) * first + np.sin(azimuth) * np.cross(direction, first)
    return rotate(exp(tilt * about), direction), 1.0 + VARIATION * (2.0 * chance.random() - 1.0)


def throttle(blows: Sequence[Blow], before: float | None = None) -> list[Blow]:
    """In order of time, with what follows soon after another weakened.  before: as in `repetition`."""
    blows = sorted(blows, key=lambda blow: blow.start)
    parts = repetition([blow.start for blow in blows], before)
    return [replace(blow, told=part * blow.told, repetition=part) for blow, part in zip(blows, parts, strict=True)]


def repetition(starts: Sequence[float], before: float | None = None) -> list[float]:
    """Part of each hit that tells (`REPEATS`) by when they land [s], ascending; those at one moment are one blow.

    before: [s] when an earlier one landed that is not among them.
    """
    out: list[float] = []
    for k, start in enumerate(starts):
        if k and start - starts[k - 1] > SAME:
            before = starts[k - 1]
        gap = np.inf if before is None else start - before
        out.append(next((part for limit, part in REPEATS if gap < limit - SAME), 1.0))
    return out


def lasts(situation: Situation) -> float:
    """How long the reaction to a blow takes at most [s]."""
    return LONGEST if situation.falls else situation.envelope.duration


def episodes(hits: Sequence[tuple[Situation, Hit]], fps: float) -> list[list[tuple[Situation, Hit]]]:
    """The hits in order of time, parted where nothing shows any more of all before: those don't feel each other."""
    out: list[list[tuple[Situation, Hit]]] = []
    end = -np.inf
    for situation, hit in sorted(hits, key=lambda one: one[1].frame):
        start = hit.frame / fps
        if start >= end:
            out.append([])
        out[-1].append((situation, hit))
        end = max(end, start + situation.envelope.duration)
    return out


def shown(blows: Sequence[Blow], times: Array) -> Array:
    """(T,) how much of a reaction to several blows shows: 1 - product of (1 - envelope) over them."""
    hidden = np.ones(len(times))
    for blow in blows:
        hidden = hidden * (1.0 - blow.amount(times))
    return 1.0 - hidden
