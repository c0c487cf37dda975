"""Blows."""

import math
from dataclasses import dataclass

import numpy as np

from ..dynamics import Load
from ..reference import Reference
from ..rotation import Array
from ..spatial import apply
from .step import Step


@dataclass(frozen=True, eq=False)
class Pulse:
    """A blow: an impulse on a point fixed in a body, as a sin^2 pulse of force over its contact time.

    point: (3,) body frame [m].  impulse: (..., 3) world [N s].  start, duration: [s].
    couple: (..., 3) angular impulse besides, world [N m s].
    """

    body: int
    point: Array
    impulse: Array
    start: float
    duration: float
    couple: Array | None = None

    def __post_init__(self) -> None:
        if not (0.0 < self.duration < math.inf and math.isfinite(self.start)):
            raise ValueError(f"Pulse: expected a start and a duration above 0, got {self.start} and {self.duration} s")

    def fraction(self, t: float, h: float) -> float:
        """Part of the impulse that falls into [t, t + h]: the exact integral, so the whole is delivered at any h."""

        def done(time: float) -> float:
            x = min(max((time - self.start) / self.duration, 0.0), 1.0)
            return x - np.sin(2.0 * np.pi * x) / (2.0 * np.pi)

        return float(done(t + h) - done(t))

    def part(self, reference: Reference, k: int) -> float:
        """Part of the impulse that falls into step k: its kick acts at its pose."""
        h, t = float(reference.kicks[k]), float(reference.times[k])
        if not self.start - h < t < self.start + self.duration + h:
            return 0.0
        return self.fraction(t - 0.5 * float(reference.earlier[k]), h)

    def force(self, reference: Reference) -> Array:
        """(K, 3) mean over each step [N]."""
        parts = np.array([self.part(reference, k) for k in range(reference.steps)])
        return (parts / reference.kicks)[:, None] * self.impulse

    def add(self, load: Load, step: Step) -> None:
        """Mean force over the step at the point where it is now."""
        part = self.part(step.reference, step.k)
        if part != 0.0:
            at = step.kin.position()[..., self.body, :] + apply(step.kin.R[..., self.body, :, :], self.point)
            wrench = step.kin.wrench(at, np.broadcast_to(self.impulse * (part / step.h), at.shape))
            if self.couple is not None:
                wrench[..., :3] += self.couple * (part / step.h)
            load.add_body(np.array([self.body]), wrench[..., None, :])
