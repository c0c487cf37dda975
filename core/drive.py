"""The driver of every simulation of a blow: stretches with one length of sub-step, and checkpoints between them.

Where a body turns too far in a sub-step, or a joint too suddenly, it goes on from shortly before with half of it.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .errors import SimulationError
from .pace import BACK, RECENT, SPELL, Pace
from .reference import Reference
from .rotation import Array
from .simulate import Forward, Run, simulate
from .stage import SUBSTEP, Stage


@dataclass(frozen=True, eq=False)
class Stretch:
    """A piece of the simulation with one length of sub-step: its clip and its runs, both ends included."""

    reference: Reference
    runs: list[Run]


Watch = Callable[[Stage, Stretch, Forward], None]  # sees what counts of a simulation, as it goes


def drive(
    stage: Stage,
    end: float,
    pace: Pace,
    solver: Forward,
    done: Callable[[Stretch, int], bool],
    watch: Watch | None = None,
    earlier: Sequence[Stretch] = (),
) -> Generator[float, None, list[Stretch]]:
    """Simulate from the first blow to the end [s]; yields progress 0..1, returns what was simulated.

    earlier: what has been already; it goes on from there.

    done: whether the simulation may end after a stretch; gets it and how often the next one's sub-step is halved.  It
    is asked of long ones alone: in a few sub-steps a swing that passes its clip looks as if it rested there.
    """
    parts = list(earlier)
    now, halvings, before, arrived = stage.start, pace.finer, None, None
    if parts:
        last, arrived = parts[-1].reference, parts[-1].runs[-1]
        now, before = float(last.times[-1]), float(last.lengths[-1])
    while now < end - 1e-6:
        least = pace.least(now)
        halvings = max(halvings, least)
        steps, h = pace.stretch(now, SUBSTEP * 0.5**halvings, end, halvings > least)
        reference = stage.reference(now, steps, h, before, parts[-1].reference.acceleration[-1] if parts else 0.0)
        begins = arrived or Run(0, reference.state(0))
        start = replace(begins, k=0, state=stage.kicked(begins.state, now, reference))
        runs, halvings = yield from go_on(stage, reference, start, pace, solver, halvings, end)
        count = len(runs) - 1
        if not count:
            continue
        parts.append(Stretch(reference.until(count), runs))
        if watch is not None:
            watch(stage, parts[-1], solver)
        arrived, before = runs[-1], h
        now = float(reference.times[count])
        if count >= RECENT and done(parts[-1], halvings):
            break
    return parts


def go_on(
    stage: Stage, reference: Reference, start: Run, pace: Pace, solver: Forward, halvings: int, end: float
) -> Generator[float, None, tuple[list[Run], int]]:
    """Sub-steps from a run on until the reference ends or their length, halved so often, no longer suits: the runs that
    count, and halvings for what follows.  Yields progress as `drive` does."""
    runs, h, times = [start], float(reference.lengths[0]), reference.times
    longer = SUBSTEP * 0.5 ** (halvings - 1)  # not twice this one, which a blow may have cut short
    sub_steps = simulate(stage.model, reference, stage.forces(reference), stage.actor.gravity, start, solver)
    try:
        for run in sub_steps:
            runs.append(run)
            if pace.repeats(run, h):
                return runs[: max(run.k - BACK, 1)], halvings + 1
            yield min(float(times[run.k] - stage.start) / (end - stage.start), 1.0)
            if run.k >= SPELL and pace.relaxed(runs, longer, halvings, float(times[run.k])) < halvings:
                break
    except SimulationError:
        if not pace.may_break_down(h):
            raise
        return runs[:1], halvings + 1
    return runs, pace.relaxed(runs, longer, halvings, float(times[runs[-1].k]))


def joined(arrays: Sequence[Array]) -> Array:
    """Arrays over the moments of stretches that follow each other as one: what they share counts once."""
    return np.concatenate([arrays[0][:1], *(a[1:] for a in arrays)])
