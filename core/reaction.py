"""What hits do to a clip, as numbers: deviations that fade, and the poses that come of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .actor import Actor
from .blows import Blow, shown
from .footing import Footing
from .hanging import Hung
from .model import Model
from .reference import to_joints, to_world
from .resample import hermite, rotations
from .rotation import Array, exp, multiply, unwound
from .skeleton import Clip


class Then(Protocol):
    """What takes a body over from a reaction."""

    def takes(self, model: Model, times: Array, q: Array, p: Array) -> tuple[Array, Array]:
        """World poses (T, n, 4), (T, n, 3) at times (T,) [s], made of those of the reaction."""


@dataclass(frozen=True, eq=False)
class Reaction:
    """What hits do to a clip, as deviations from it in anatomical joints.

    blows: as they landed, in order of time.  given: (B, 3) impulse of each, world [N s].
    weights: (n,) part of the reaction that shows.  times: (K + 1,) [s].
    turn: (K + 1, n, 3) rotation vectors, body frame, on the right of the clip's joint rotation.
    travel: (K + 1, n, 3) displacement of the joint, parent frame [m], besides the footing's.  moving: (n,) bodies that
    may deviate.  footing: where weight and feet are led; None where legs stay on the clip.
    parts: reactions of which this one consists, if it does; they follow each other.
    fell: joint poses (K + 1, n, 4), (K + 1, n, 3) [m] of a body that falls, whatever the clip does between its
    samples; it stays in the last ones.  None = it returns.
    then: what takes the body over afterwards, see `handover`; None = nothing.
    hung: how arms turn besides that hang on a pose which is held (not counted in substeps); None = none does.
    """

    actor: Actor
    model: Model
    blows: tuple[Blow, ...]
    given: Array
    weights: Array
    times: Array
    turn: Array
    travel: Array
    moving: np.ndarray
    substeps: int
    footing: Footing | None = None
    parts: tuple["Reaction", ...] = ()
    fell: tuple[Array, Array] | None = None
    then: Then | None = None
    hung: Hung | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def rest(self) -> tuple[Array, Array] | None:
        """Joint poses (n, 4), (n, 3) [m] in which the body stays from times[-1] on; None = it returns."""
        return None if self.fell is None else (self.fell[0][-1], self.fell[1][-1])

    @property
    def start(self) -> float:
        """Time of the first hit [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time from which the clip is as it was, displaced where the body doesn't come back [s]."""
        return max(blow.end for blow in self.blows)

    @property
    def displaced(self) -> Array:
        """(3,) how far off the clip the body goes on in the end, world [canonical m]."""
        if self.parts and self.rest is None:
            return np.sum([part.displaced for part in self.parts], axis=0)
        return np.zeros(3) if self.footing is None else self.weights[self.footing.base] * self.footing.plan.last

    @property
    def struck(self) -> int:
        """The body that took the first blow."""
        return self.blows[0].struck

    @property
    def point(self) -> Array:
        """(3,) where the first blow landed, frame of the struck body [m]."""
        return self.blows[0].point

    @property
    def direction(self) -> Array:
        """(3,) unit direction of the first blow, world."""
        return self.blows[0].direction

    @property
    def uncaught(self) -> bool:
        """Whether a blow is stronger than feet can catch."""
        parts = () if self.rest is not None else self.parts or (self,)
        return any(part.footing is not None and part.footing.fell for part in parts)

    def amount(self, times: Array) -> Array:
        """(T,) how much of the reaction shows at times [s]."""
        return shown(self.blows, times)

    def deviation(self, times: Array) -> tuple[Array, Array]:
        """Turn and travel (T, n, 3) at any times [s], envelopes and bone weights applied."""
        if self.parts:
            turns, travels = zip(*(part.deviation(times) for part in self.parts), strict=True)
            return sum(turns[1:], turns[0]), sum(travels[1:], travels[0])
        at = np.clip(times, self.times[0], self.times[-1])
        amount = (self.amount(times)[:, None] * self.weights)[..., None]
        turn, (since, fading) = hermite(self.times, self.turn, at), self._fading
        if fading is not self.turn and (late := times > since).any():
            whole = self.weights >= 1.0  # what shows in part would be seen to jump
            turn[np.ix_(late, whole)] = hermite(self.times, fading[:, whole], at[late])
        return amount * turn, amount * hermite(self.times, self.travel, at)

    @cached_property
    def _fading(self) -> tuple[float, Array]:
        """Until when the reaction shows in full [s], and its turns from there on: back by the shorter way, for a joint
        that has come round wholly must not be seen to turn back."""
        full = np.flatnonzero(self.amount(self.times) >= 1.0)
        if not len(full):
            return np.inf, self.turn
        return float(self.times[full[-1]]), unwound(self.turn, int(full[-1]))

    def poses(self, clip: Clip) -> tuple[Array, Array]:
        """World poses of all bodies (T, n, 4), (T, n, 3) [canonical m] at the clip's frames."""
        q, p = self._own_poses(clip)
        return (q, p) if self.then is None else self.then.takes(self.model, clip.times, q, p)

    def _own_poses(self, clip: Clip) -> tuple[Array, Array]:
        """The poses before something else takes the body over."""
        if self.parts:
            return self._in_turn(clip)
        own = self.actor.canonical(clip)
        joints, at = self._joints(own, clip.times)
        q, p = to_world(self.model, joints, at)
        shows = (clip.times > self.start) & (clip.times < self.end)
        if self.footing is not None and shows.any():
            before = own[0][shows], own[1][shows]
            q[shows], p[shows] = self.footing.settled(
                self.model, before, clip.times[shows], joints[shows], at[shows], self.weights
            )
        if self.actor.stops is not None:
            q, p = self.actor.stops.cut(self.model, own, (q, p))
        if self.footing is not None:
            p[np.ix_(clip.times >= self.end, self.footing.carried(self.model))] += self.displaced
        return q, p

    def _in_turn(self, clip: Clip) -> tuple[Array, Array]:
        """The poses of the parts from their start on, each displaced by those before."""
        q, p = self.actor.canonical(clip)
        gone = np.zeros(p.shape[1:])
        for part in self.parts:
            shows = clip.times > part.start
            own = part.poses(clip)
            q[shows], p[shows] = own[0][shows], own[1][shows] + (gone if part.rest is None else 0.0)
            if part.footing is not None:
                gone = gone + part.footing.carried(self.model)[:, None] * part.displaced
        return q, p

    def _joints(self, own: tuple[Array, Array], times: Array) -> tuple[Array, Array]:
        """Joint poses of the clip, whose world poses are given, with the deviation: (T, n, 4), (T, n, 3)."""
        q, p = to_joints(self.model, *own)
        turn, travel = self.deviation(times)
        q, p = multiply(q, exp(turn)), p + travel
        if self.hung is not None:
            q = multiply(q, exp(self.weights[:, None] * self.hung.turned(times)))
        if self.fell is not None and (later := times > self.start).any():
            q[later] = rotations(self.times, self.fell[0], times[later])
            p[later] = hermite(self.times, self.fell[1], times[later])
        return q, p

    def peaks(self) -> dict[str, float]:
        """Largest turn of each moving joint [deg], by bone name."""
        if self.parts:
            each = [part.peaks() for part in self.parts]
            return {name: max(own.get(name, 0.0) for own in each) for own in each for name in own}
        seen = self.amount(self.times)[:, None] * self.weights
        most = np.degrees(np.max(np.linalg.norm(self.turn, axis=-1) * seen, axis=0))
        if self.hung is not None:
            most = np.where(self.hung.bodies, np.degrees(self.hung.peaks(self.deviation, self.weights)), most)
        return {self.actor.names[i]: float(most[i]) for i in np.flatnonzero(self.moving)}


def together(parts: Sequence[Reaction]) -> Reaction:
    """One reaction of several that follow each other; the last one says where the body stays."""
    table: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in ("given", "times", "turn", "travel")
    }
    return replace(
        parts[0],
        blows=tuple(blow for part in parts for blow in part.blows),
        **table,
        weights=np.max([part.weights for part in parts], axis=0),
        moving=np.any([part.moving for part in parts], axis=0),
        substeps=sum(part.substeps for part in parts),
        warnings=tuple(dict.fromkeys(text for part in parts for text in part.warnings)),
        footing=None,
        parts=tuple(own for part in parts for own in part.parts or (part,)),
        fell=parts[-1].fell,
    )
