"""The driver of every simulation of a blow: stretches with one length of sub-step, and checkpoints between them.

Where a body turns too far in a sub-step, or a joint too suddenly, it goes on from shortly before with half of it.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .errors import SimulationError
from .pace import RECENT, Pace
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
) -> Generator[float, None, list[Stretch]]:
    """Simulate from the first blow to the end [s]; yields progress 0..1, returns what was simulated.

    done: whether the simulation may end after a stretch; gets it and how often the next one's sub-step is halved.  It
    is asked of long ones alone: in a few sub-steps a swing that passes its clip looks as if it rested there.
    """
    parts: list[Stretch] = []
    now, halvings, before, arrived = stage.start, pace.finer, None, None
    while now < end - 1e-6:
        least = pace.least(now)
        halvings = max(halvings, least)
        steps, h = pace.stretch(now, SUBSTEP * 0.5**halvings, end, halvings > least)
        reference = stage.reference(now, steps, h, before, parts[-1].reference.acceleration[-1] if parts else 0.0)
        forces = stage.forces(reference)
        last = arrived or Run(0, reference.state(0))
        state = stage.kicked(last.state, now, reference)
        runs = [replace(last, k=0, state=state)]
        steps_on = simulate(stage.model, reference, forces, stage.actor.gravity, runs[0], solver)
        for run in _careful(steps_on, pace.may_break_down(h)):
            runs.append(run)
            if pace.repeats(run, h):
                break
            yield min((now + run.k * h - stage.start) / (end - stage.start), 1.0)
        count = pace.counting(runs, reference.steps, h)
        if count < reference.steps:
            halvings += 1
            if not count:
                continue
            reference, runs = reference.until(count), runs[: count + 1]
        else:
            longer = SUBSTEP * 0.5 ** (halvings - 1)  # not twice this one, which a blow may have cut short
            halvings = pace.relaxed(runs, longer, halvings, float(reference.times[-1]))
        parts.append(Stretch(reference, runs))
        if watch is not None:
            watch(stage, parts[-1], solver)
        arrived, before = runs[-1], h
        now = float(reference.times[-1])
        if count >= RECENT and done(parts[-1], halvings):
            break
    return parts


def _careful(runs: Iterator[Run], again: bool) -> Iterator[Run]:
    """The runs; one that breaks down ends early as long as the sub-step can be halved."""
    try:
        yield from runs
    except SimulationError:
        if not again:
            raise


def joined(arrays: Sequence[Array]) -> Array:
    """Arrays over the moments of stretches that follow each other as one: what they share counts once."""
    return np.concatenate([arrays[0][:1], *(a[1:] for a in arrays)])
