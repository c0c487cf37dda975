"""How bodies that are hit in the air come down: a blow turns them about their weight, so that hips stay behind it and
feet, which reach no farther than legs are long, land under the hips.

Nothing holds a body in flight and no plan leads its simulation, which therefore shows where the hips will be.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .blows import Blow
from .drive import Stretch
from .dynamics import centre_of
from .footing import FIND, Footing
from .reference import to_world
from .rotation import Array
from .stage import Stage
from .support import smooth


class Flight(NamedTuple):
    """blow: which one lands in it.  start: its moment [s], lands: when a foot does.

    seen: when hips are looked at: as a foot lands, the simulation ends or the next blow lands [s].  goes: how many
    times as far behind as then they get until the first of the former two.
    """

    blow: int
    start: float
    lands: float
    seen: float
    goes: float


def flights(footing: Footing, blows: Sequence[Blow], end: float) -> list[Flight]:
    """Those in which blows land, of what is simulated up to the end [s]."""
    times, flies, h, out = footing.stance.times, footing.stance.flies, footing.stance.h, []
    ends = [blow.start for blow in blows[1:]] + [np.inf]
    for i, (blow, later) in enumerate(zip(blows, ends, strict=True)):
        k = int(np.searchsorted(times, blow.start - 1e-6))
        if k < len(times) and flies[k] and not flies[k:].all():
            lands = float(times[k + int(np.argmin(flies[k:]))])
            moves = min(lands, end) - blow.start
            whole = blow.start + int(moves / h + 1e-6) * h  # sub-steps are parts of this
            if (seen := min(whole, later)) > blow.start + 1e-6:
                out.append(Flight(i, blow.start, lands, seen, moves / (seen - blow.start)))
    return out


def behind(stage: Stage, flight: Flight, last: Stretch, known: Array) -> Array:
    """(B, K, 2) how far hips are behind the weight [m] as is known after each blow, at the samples of a stance.

    last: what was simulated up to when they are seen.  known: (B, K, 2) of earlier flights.  Until a foot lands they
    get there as they have so far; then the pelvis finds back into its range.
    """
    assert stage.footing is not None
    times, out = stage.footing.stance.times, known.copy()
    rights = 1.0 - np.asarray(smooth((times - flight.lands) / FIND))
    since = times > flight.start - 1e-6
    out[flight.blow :, since] = (flight.goes * rights[:, None] * _seen(stage, stage.footing, last))[since]
    return out


def _seen(stage: Stage, footing: Footing, last: Stretch) -> Array:
    """(2,) how far hips are shown behind the weight at the end of a stretch, beyond the clip's [m]."""
    model, reference, state = stage.model, last.reference, last.runs[-1].state
    clip = to_world(model, reference.rotation[-1:], reference.position[-1:])
    at = state.position[None].copy()
    at[:, footing.base] -= footing.led(model, reference)[-1]
    own = footing.settled(model, clip, reference.times[-1:], state.rotation[None], at, np.ones(model.n))
    hips = [limb.upper for limb in footing.stance.limbs]
    ahead = [centre_of(model, q, p)[0] - p[0, hips].mean(axis=0) for q, p in (clip, own)]
    return np.asarray(ahead[1] - ahead[0])[:2]
