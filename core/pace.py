"""How long sub-steps are: fine where bodies turn fast, long where a reaction ends calmly.

A stretch of the simulation has one length of sub-step: `stage.SUBSTEP` halved so many times, or doubled where that
number is negative.  Measured in tests/core/test_stretches.py and docs/dynamics.md, "How fine".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .blows import Blow
from .plan import UNSEEN
from .simulate import Run
from .stage import HALVINGS, SUBSTEP

STRETCH, RECENT = 24, 12  # sub-steps simulated with one length, and those of them that tell how it goes on
APART, WHOLE = 0.08, 0.3  # [rad] most turn of a body in a sub-step, off the clip and in all: the clip itself is exact
BEND = 0.025  # [rad] most by which a joint's turn off the clip differs from that of the sub-step before
FINEST = SUBSTEP * 0.5**HALVINGS - 1e-9  # [s] for turns that are too fast
LAST_RESORT = FINEST / 8.0  # [s] where all else breaks down
PULSE, QUARTER = 24, 2  # sub-steps that a contact is to have, as far as two halvings go
ASLEEP = np.radians(0.05), UNSEEN  # [rad, m] shown of a deviation that is not worth going on for
FRESH = 0.1  # [s] after a contact, in which the body doesn't fall asleep
TAIL = (1.0, 1.2)  # [s] after the last contact, from where on calm sub-steps are twice and four times as long


@dataclass(frozen=True, eq=False)
class Pace:
    """The rule for one simulation.

    blows: in order of time.  finer: halvings that the muscles need.  apart, whole: [rad] most turn of a body in a
    sub-step, off the clip and in all.  bend: [rad] most by which a joint's turn off the clip differs from that of the
    sub-step before.  tail: [s] after the last contact from where on sub-steps may be twice as long.
    """

    blows: Sequence[Blow]
    finer: int
    apart: float
    whole: float
    bend: float
    tail: tuple[float, ...]

    @classmethod
    def returning(cls, blows: Sequence[Blow], finer: int) -> "Pace":
        """For a body that comes back to its clip."""
        return cls(blows, finer, APART, WHOLE, BEND, TAIL)

    def stretch(self, now: float, h: float, end: float) -> tuple[int, float]:
        """How many sub-steps to go on with, and their length [s], which is h or what is left until the next blow.

        A blow begins with a sub-step; only the end may lie within one.
        """
        ahead = min((blow.start - now for blow in self.blows if blow.start - now > 1e-6), default=np.inf)
        h = min(h, ahead)
        return max(int(min(STRETCH, ahead / h + 1e-6, np.ceil((end - now) / h - 1e-6))), 1), h

    def too_fast(self, run: Run, h: float) -> bool:
        """Whether a body turns too far in a sub-step of the length h [s], or a joint too suddenly."""
        return run.apart * h > self.apart or run.fastest * h > self.whole or run.bent * h * h > self.bend

    def repeats(self, run: Run, h: float) -> bool:
        """Whether a stretch with sub-steps h [s] must be done again with half of it because of this one."""
        return self.too_fast(run, h) and 0.5 * h >= FINEST

    def may_break_down(self, h: float) -> bool:
        """Whether a stretch with sub-steps h [s] that breaks down can be done again with half of it."""
        return 0.5 * h >= LAST_RESORT

    def least(self, now: float) -> int:
        """Halvings below which a stretch that begins now may not go."""
        begun = [blow for blow in self.blows if blow.start <= now + 1e-6]
        touching = [blow.contact for blow in begun if now < blow.start + blow.contact - 1e-6]
        if touching:
            pulse = int(np.ceil(np.log2(PULSE * SUBSTEP / min(touching)) - 1e-6))
            return max(self.finer, min(pulse, QUARTER))
        last = min((now - blow.start - blow.contact for blow in begun), default=0.0)
        return self.finer - sum(last >= moment - 1e-6 for moment in self.tail)

    def relaxed(self, runs: Sequence[Run], h: float, halvings: int, now: float) -> int:
        """Halvings for the stretch that begins now: one less where the runs of the last one, sub-steps h, allow it."""
        calm = halvings > self.least(now) and not any(self.too_fast(run, 2.0 * h) for run in runs[-RECENT:])
        return halvings - 1 if calm else halvings
