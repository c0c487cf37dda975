"""Hits as an animator sets them, and the blows they become on a body.

A hit is a direction and a strength at a point of a bone; or it comes from a place and strikes the whole body (a blast);
or it is a thing with a mass and a speed.  Hits in quick succession tell less (`throttle`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .actor import Actor
from .dynamics import kinematics
from .errors import ClipError, SituationError
from .forces import Force, Pulse, Striker
from .model import Model, State
from .rotation import Array, rotate
from .situation import Situation
from .skeleton import Clip

# Part of a hit that tells so soon after the one before it [s].
REPEATS = ((0.1, 0.35), (0.25, 0.5), (0.35, 0.7), (0.5, 0.9))


@dataclass(frozen=True, eq=False)
class Hit:
    """One hit of a situation at a moment of a clip; None leaves the situation's value.

    frame: may be fractional.  bone: name or role, "" = the situation's.  direction: (3,) world.
    impulse: [N s] on the canonical body.  along: 0 at the bone's head, 1 at its end.
    offset: (3,) from there, [left, forward, up] of the figure [m, canonical body]: off the centre it turns the body.
    angular: [N m s] about the direction, besides.
    origin: (3,) world place of a blast, scene units; `impulse` is then what the whole body gets, spread by area and
    distance, away from that place.
    striker: (mass [kg], speed [m/s], restitution 0..1) of what hits; its impulse comes from the body's own inertia.
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


@dataclass(frozen=True, eq=False)
class Blow:
    """A hit as it lands.  start: [s].  struck: body; point: (3,) in its frame [m].  direction: (3,) unit, world.

    impulse: [N s].  axes: (3, 3) rows left, forward, up of the figure at that moment.
    origin: (3,) of a blast, world [canonical m].
    """

    situation: Situation
    hit: Hit
    start: float
    struck: int
    point: Array
    direction: Array
    impulse: float
    axes: Array
    origin: Array | None

    @property
    def end(self) -> float:
        """Time from which nothing of it shows [s]."""
        return self.start + self.situation.envelope.duration

    @property
    def simulated(self) -> float:
        """Time up to which the body is simulated for it [s]."""
        envelope = self.situation.envelope
        return self.end if envelope.mode == "continue" else self.start + min(envelope.simulation, envelope.duration)

    def forces(self, actor: Actor, model: Model, moment: State) -> list[Force]:
        """The pulses; `moment`: the clip's own state when the blow lands."""
        if self.situation.drive != "impulse":
            return []
        contact = self.situation.contact
        if self.origin is not None:
            return self._blast(actor, model, moment)
        if self.hit.striker is not None:
            mass, speed, restitution = self.hit.striker
            striker = Striker(self.struck, self.point, mass, speed * self.direction, restitution, time=self.start)
            return [striker.pulse(model, moment, contact)]
        out: list[Force] = [Pulse(self.struck, self.point, self.impulse * self.direction, self.start, contact)]
        if self.hit.angular:
            out.append(
                Pulse(self.struck, self.point, np.zeros(3), self.start, contact, self.hit.angular * self.direction)
            )
        return out

    def _blast(self, actor: Actor, model: Model, moment: State) -> list[Force]:
        """A share for every body by what it shows to the blast, through its middle."""
        bones = actor.order
        kin = kinematics(model, moment)
        middle = 0.5 * actor.axis
        away = kin.position() + np.einsum("nij,nj->ni", kin.R, middle) - self.origin
        distance = np.maximum(np.linalg.norm(away, axis=-1), 0.1)
        area = 2.0 * actor.masses.radius[bones] * np.maximum(actor.masses.length[bones], actor.masses.radius[bones])
        share = np.where(actor.masses.mass[bones] > 0.0, area / distance**2, 0.0)
        push = self.impulse * (share / share.sum())[:, None] * away / distance[:, None]
        contact = self.situation.contact
        return [Pulse(int(i), middle[i], push[i], self.start, contact) for i in np.flatnonzero(share)]


def land(actor: Actor, clip: Clip, situation: Situation, hit: Hit, rotation: Array) -> Blow:
    """Resolve a hit on a clip; rotation: (T, n, 4) of the bodies in the world.  Refuses by name what can't land."""
    start = hit.frame / clip.fps
    if not clip.times[0] - 1e-9 <= start <= clip.times[-1] + 1e-9:
        raise ClipError(
            f"Frame {hit.frame:g} lies outside the clip ({clip.frames[0]:g} to {clip.frames[-1]:g}). "
            "Choose a frame inside it."
        )
    now = rotation[int(np.argmin(np.abs(clip.times - start)))]
    axes = actor.axes(now)
    struck = actor.find(hit.bone, situation.hit, situation.name)
    d = np.asarray(situation.direction) @ axes if hit.direction is None else np.asarray(hit.direction, dtype=np.float64)
    if not np.linalg.norm(d) > 0.0:
        raise SituationError("The hit's direction has no length. Give it one that points somewhere.")
    along = situation.along if hit.along is None else hit.along
    point = along * actor.axis[struck]
    if hit.offset is not None:
        point = point + rotate(now[struck] * [1.0, -1.0, -1.0, -1.0], np.asarray(hit.offset, dtype=np.float64) @ axes)
    factor = actor.masses.scale / abs(clip.scale)
    return Blow(
        situation=situation,
        hit=hit,
        start=start,
        struck=struck,
        point=point,
        direction=d / np.linalg.norm(d),
        impulse=situation.impulse if hit.impulse is None else hit.impulse,
        axes=axes,
        origin=None if hit.origin is None else factor * np.asarray(hit.origin, dtype=np.float64),
    )


def throttle(blows: Sequence[Blow]) -> list[Blow]:
    """In order of time, with what follows soon after another weakened (`REPEATS`)."""
    ordered = sorted(blows, key=lambda blow: blow.start)
    out = ordered[:1]
    for before, blow in zip(ordered, ordered[1:], strict=False):
        gap = blow.start - before.start
        part = next((part for limit, part in REPEATS if gap < limit), 1.0)
        out.append(replace(blow, impulse=part * blow.impulse))
    return out
