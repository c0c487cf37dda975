"""Ends that a rig's author has set to the Euler angles of a joint."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..dynamics import Load
from ..reference import Reference
from ..rotation import Array
from ..spatial import apply
from ..stops import Stops, nearest
from .limit import along, past, pressed
from .step import Step, Swift, Turning, before, each
from .swing import MARGIN

BRAKE, LONGEST = 0.35, 0.25  # part of half a range, and at most so many rad, in which a joint is braked before its end
HARD = 0.02  # [rad] the shortest way to an end, where the clip leaves none


@dataclass(frozen=True, eq=False)
class EndStop(Turning):
    """Torques that brake a joint before the ends of its ranges; silent on the clip, which is always in free play.

    low, high: (K, m, 3) ends of the free play [rad].  below, above: (K, m, 3) way from there to the end of the range.
    stiffness, damping: (m,) of each angle where the range ends [N m/rad], [N m s/rad].
    swift: how fast they are there (m,), None = not known.
    """

    stops: Stops
    low: Array
    high: Array
    below: Array
    above: Array
    stiffness: Array
    damping: Array
    swift: Swift | None = None
    bodies: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bodies", self.stops.bodies)

    @classmethod
    def of_clip(
        cls, stops: Stops, reference: Reference, spring: tuple[Array, Array], swift: Swift | None = None
    ) -> "EndStop":
        """The ranges, nowhere narrower than the clip.  spring: stiffness and damping."""
        states = reference.arrivals
        low, high, own = stops.widened(states.rotation)
        rate = np.einsum("kmai,kmi->kma", stops.gradients(own), states.twist[:, stops.bodies, :3])
        ahead = own + reference.kicks[:, None, None] * rate
        brake = np.minimum(0.5 * BRAKE * np.abs(stops.high - stops.low), LONGEST)
        free_low = np.minimum(stops.low + brake, np.minimum(own, ahead)) - MARGIN
        free_high = np.maximum(stops.high - brake, np.maximum(own, ahead)) + MARGIN
        ends = np.isfinite(low), np.isfinite(high)
        below = np.maximum(np.subtract(free_low, low, where=ends[0], out=np.zeros_like(low)), HARD)
        above = np.maximum(np.subtract(high, free_high, where=ends[1], out=np.zeros_like(low)), HARD)
        return cls(stops, free_low, free_high, below, above, *spring, swift)

    @cached_property
    def _swift(self) -> Swift:
        """Of all three angles, (m, 1) each."""
        return each(self.swift, len(self.stiffness))

    def add(self, load: Load, step: Step) -> None:
        """Torques at the angles as far ahead as `Swift` says, along their gradients."""
        low, high = self.low[step.k], self.high[step.k]
        angles = nearest(self.stops.angles(step.state.rotation), low, high)
        g = self.stops.gradients(angles)
        w, last = (v.take(self.bodies, axis=-2)[..., :3] for v in (step.state.twist, step.last))
        part, grows = self._swift.taken(step.h), apply(g, w)
        x = past(angles + part[0] * grows, low, high)
        if not x.any():
            return
        zone = np.where(x > 0.0, self.above[step.k], self.below[step.k])
        spring = self.stiffness[:, None], self.damping[:, None]
        speed = before(grows, part[3] * apply(g, last))
        torque, Z = along(*pressed(part, x, zone, spring, speed), g)
        load.add_turn(self._turns, step.from_rest(self.bodies, torque, Z), Z)
