"""Reactions in sub-steps of one length, and how far off one is.

Of whichever copy of the core: what needs one gets its modules.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import numpy as np

SHOWN = 60.0  # [1/s] moments at which two reactions are compared


@dataclass(frozen=True)
class Off:
    """How far a reaction is off a finer one, in percent of the finer one's largest peak.

    peak: of any joint's peak.  way: of any joint at any moment, which is `bone`, `since` [s] after the hit.
    """

    peak: float
    way: float
    bone: str
    since: float


def off(reaction, fine):
    """Off of two reactions to one hit."""
    least = fine.peaks()
    most, got = max(least.values()), reaction.peaks()
    times = np.arange(fine.start, fine.end, 1.0 / SHOWN)
    way = np.degrees(np.linalg.norm(reaction.deviation(times)[0] - fine.deviation(times)[0], axis=-1))
    k, joint = np.unravel_index(way.argmax(), way.shape)
    peak = max(abs(got[bone] - least[bone]) for bone in least)
    since = float(times[k]) - fine.start
    return Off(100.0 * peak / most, 100.0 * float(way[k, joint]) / most, fine.actor.names[joint], since)


@contextmanager
def all_the_way(rate, drive, pace):
    """Simulations take sub-steps of 1/rate s from end to end; drive, pace: modules of their core."""
    always = {name: mock.Mock(return_value=told) for name, told in (("repeats", False), ("least", 0), ("relaxed", 0))}
    with mock.patch.object(drive, "SUBSTEP", 1.0 / rate), mock.patch.multiple(pace.Pace, **always):
        yield
