"""How long sub-steps are: fine where bodies turn fast, long where a reaction ends calmly.

A stretch of the simulation has one length of sub-step: `stage.SUBSTEP` halved so many times, or doubled where that
number is negative.  Measured in tests/core/test_stretches.py and docs/dynamics.md, "How fine".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .blows import Blow
from .plan import UNSEEN
from .reference import KNOWN
from .simulate import Run
from .stage import HALVINGS, SUBSTEP

STRETCH = 54  # most sub-steps simulated with one length at a time: those of LOOSE before they may get longest
RESTING, RECENT = 24, 12  # as many where they may get longer or end at any time, and those at least that tell of a rest
SPELL, BACK = 8, 2  # calm sub-steps after which they may be longer, and those taken back where one turns out too long
BEND = 0.04  # of the largest turn so far: most by which a joint's turn off the clip differs from that before: chosen
LARGE = 0.22  # [rad] that a turn is taken for which is smaller: what it is off by then is not to be seen
FINEST = SUBSTEP * 0.5**HALVINGS - 1e-9  # [s] for turns that are too fast
LAST_RESORT = FINEST / 8.0  # [s] where all else breaks down
PULSE, QUARTER = 24, 2  # sub-steps that a contact is to have, as far as two halvings go
ASLEEP = np.radians(0.05), UNSEEN  # [rad, m] shown of a deviation that is not worth going on for
FRESH = 0.1  # [s] after a contact, in which the body doesn't fall asleep
TAIL = (0.6, 1.2)  # [s] after the last contact, from where on calm sub-steps are twice and four times as long
LOOSE = (0.3, 1.2)  # the same where no feet are planted: what longer ones get wrong are theirs


@dataclass(frozen=True, eq=False)
class Pace:
    """The rule for one simulation.

    blows: in order of time.  finer: halvings that the muscles need.  whole: [rad] most turn of a body in a sub-step.
    bend: of the largest turn of a joint off the clip so far, most by which its turn in a sub-step differs from that in
    the one before.  tail: [s] after the last contact from where on sub-steps may be twice as long.
    """

    blows: Sequence[Blow]
    finer: int
    whole: float
    bend: float
    tail: tuple[float, ...]

    @classmethod
    def returning(cls, blows: Sequence[Blow], finer: int, planted: bool = True) -> "Pace":
        """For a body that comes back to its clip; planted: whether it has feet that are led and stand."""
        return cls(blows, finer, KNOWN, BEND, TAIL if planted else LOOSE)

    def stretch(self, now: float, h: float, end: float, finer: bool) -> tuple[int, float]:
        """How many sub-steps to go on with, and their length [s], which is h or a little less before the end, and what
        is left before the next blow: it begins with a sub-step.

        finer: whether they are shorter than they have to be at least: then they are few, for what comes of them is soon
        known, otherwise as many as until they may be longer, in equal parts, and as those few at least: one that is to
        go on as it is there costs no other stretch, and one that isn't ends there by itself.
        """
        change = self._change(now, 2.0 * h)
        ahead = min((blow.start - now for blow in self.blows if blow.start - now > 1e-6), default=np.inf)
        h = min(h, ahead)
        most = RESTING
        if not finer and np.isfinite(change):
            left = np.ceil((change - now) / h - 1e-6)
            most = max(int(np.ceil(left / np.ceil(left / STRETCH))), RESTING)
        left = np.ceil((end - now) / h - 1e-6)
        steps = max(int(min(most, ahead / h + 1e-6, left)), 1)
        return steps, (end - now) / steps if steps == left else h

    def _change(self, now: float, longer: float) -> float:
        """The moment [s] from where on sub-steps may be longer than now, where such of that length [s] may begin."""
        ends = [blow.start + blow.contact for blow in self.blows if blow.start <= now + 1e-6]
        ends += [max(ends) + moment for moment in self.tail] if ends else []
        first = min((moment for moment in ends if moment > now + 1e-6), default=np.inf)
        last = self._last(now)
        return last + longer * np.ceil((first - last) / longer - 1e-6)

    def _last(self, now: float) -> float:
        """When the last blow so far began [s]."""
        return max((blow.start for blow in self.blows if blow.start <= now + 1e-6), default=now)

    def too_fast(self, run: Run, h: float) -> bool:
        """Whether a body turns too far in a sub-step of the length h [s], or a joint too suddenly."""
        return run.fastest * h > self.whole or run.bent * h * h > self.bend * max(run.turned, LARGE)

    def repeats(self, run: Run, h: float) -> bool:
        """Whether a sub-step h [s] must be done again with half of it."""
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

    def relaxed(self, runs: Sequence[Run], longer: float, halvings: int, now: float) -> int:
        """Halvings for what follows from now on: one less where the last of these runs, and what they began with, allow
        the longer sub-steps [s] that come of it.  Those begin at multiples of their length after a blow, or a blow to
        come would be told by when they end."""
        count = (now - self._last(now)) / longer
        due = abs(count - round(count)) < 1e-6 and halvings > self.least(now)
        return halvings - 1 if due and not any(self.too_fast(run, longer) for run in runs[-SPELL - 1 :]) else halvings
