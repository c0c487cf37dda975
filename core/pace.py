"""How long sub-steps are: fine where bodies turn fast, long where a reaction ends calmly.

A stretch of the simulation has one length of sub-step: `stage.SUBSTEP` halved so many times, or doubled where that
number is negative.  Measured in tests/core/test_stretches.py and docs/dynamics.md, "How fine".
"""

from collections.abc import Sequence

from .blows import Blow
from .simulate import Run
from .stage import HALVINGS, SUBSTEP

STRETCH, RECENT = 24, 12  # sub-steps simulated with one length, and those of them that tell how it goes on
# Most turn of a body in a sub-step [rad], off the clip and in all: the clip itself is exact at any length.  Stretches
# with faster turns are repeated with half the sub-step.
APART, WHOLE = 0.08, 0.3
FINEST = SUBSTEP * 0.5**HALVINGS - 1e-9  # [s] for turns that are too fast
LAST_RESORT = FINEST / 8.0  # [s] where all else breaks down
FRESH = 0.1  # [s] after a contact, up to which sub-steps are at most half as long, and in it a quarter
TAIL = (0.7, 1.0)  # [s] after the last contact, from where on calm sub-steps are twice and four times as long


def stretch(blows: Sequence[Blow], now: float, h: float) -> float:
    """Seconds to go on with sub-steps of the length h [s], up to the next blow at most."""
    ahead = [blow.start - now for blow in blows if blow.start - now > 1e-6]
    return min([STRETCH * h, *ahead])


def too_fast(run: Run, h: float) -> bool:
    """Whether a body turns too far in a sub-step of the length h [s]."""
    return run.apart * h > APART or run.fastest * h > WHOLE


def least(blows: Sequence[Blow], now: float, finer: int) -> int:
    """Halvings below which a stretch that begins now may not go; finer: those that the muscles need."""
    since = [now - blow.start - blow.contact for blow in blows]
    landed = [s for s, blow in zip(since, blows, strict=True) if blow.start <= now + 1e-6]
    if landed and min(landed) < FRESH - 1e-6:
        return max(finer, 2 if min(landed) < -1e-6 else 1)
    return finer - sum(since[-1] >= moment - 1e-6 for moment in TAIL)


def relaxed(runs: Sequence[Run], h: float, halvings: int, least: int) -> int:
    """Halvings for the next stretch: one less where the runs of the last one, with sub-steps h [s], allow it."""
    calm = halvings > least and not any(too_fast(run, 2.0 * h) for run in runs[-RECENT:])
    return halvings - 1 if calm else halvings
