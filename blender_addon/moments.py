"""Which frames a reaction is read at, simulated at and keyed at."""

import numpy as np

from ..core.blows import lasts
from ..core.rotation import Array
from . import source
from .channels import frame_grid

SAMPLES = 60.0  # per second of clip, from the hit on: the simulation must not see the scene's frame rate
MARGIN = 3  # samples before and after a reaction, for velocities at its ends
LEAD = 0.3  # [s] of the clip that are read before a hit, where it has them: the judge looks for what a jolt isn't


def of_hits(hits, rate, since) -> tuple[Array, Array]:
    """Frames that get keys, and the even samples of the simulation, from the first hit to the last one's end.

    since: the clip's first frame.
    """
    landed = [hit.frame for _, hit in hits]
    start = min(landed)
    end = max(hit.frame + lasts(s) * rate for s, hit in hits)
    lead = np.clip(np.floor((start - since) * SAMPLES / rate + 1e-6), MARGIN, LEAD * SAMPLES)
    samples = np.arange(-lead, np.ceil((end - start) * SAMPLES / rate - 1e-6) + MARGIN + 1.0)
    even = np.round(start + samples * (rate / SAMPLES), 6)  # whole frames stay whole
    return np.unique(np.concatenate((frame_grid(start, end), landed))), even


def carried_on(context, armature, found, end, hits, then) -> Array:
    """Frames after the end that need keys, as long as the clip goes on and the scene shows it: of a body that stays
    where the object's own motion must be made up for, of a displaced one all, for its parents may turn."""
    stays = then is not None or any(situation.falls for situation, _ in hits)
    displaced = any(situation.end == "continue" for situation, _ in hits)
    if (stays and not source.carries(armature)) or not (stays or displaced):
        return np.empty(0)
    last = min(found.until, context.scene.frame_end) if np.isfinite(found.until) else context.scene.frame_end
    if not stays and end > found.until:  # a clip that is repeated for us ends with a whole round
        period = max(found.end - found.start, 1.0)
        last = found.until + np.ceil((end - found.until) / period - 1e-9) * period
    return np.arange(np.floor(end) + 1.0, np.floor(last) + 1.0)


def default_frame(found) -> float:
    """A quarter into the clip, on a whole frame."""
    return float(np.round(found.start + 0.25 * (found.end - found.start)))
