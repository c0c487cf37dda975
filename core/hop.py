"""Bodies that a blow lifts: how high their legs reach, how they fall where these don't, and off which feet.

On straight legs over raised heels feet bear a body the less the higher it is, and beyond that it flies.
"""

import numpy as np

from . import heels
from .contacts import bearing
from .plan import CLOSE
from .quality.motion import smooth
from .rotation import Array, exp, rotate
from .stance import Stance
from .support import smooth as ramp

LEAST = 0.01  # [m] of a body's rise in which feet leave the ground
AIR = 0.5  # part of a body that feet bear below which it is in the air


def rises(stance: Stance) -> tuple[Array, Array]:
    """(K,) [m] how much higher than in the clip a body gets on straight legs, over heels that are halfway up, on which
    feet still bear it, and over heels as high as they get, of feet as far as these are flat; 0 in the air."""
    toes = rotate(stance.turn, stance.tips)
    across = np.stack((-toes[..., 1], toes[..., 0], np.zeros(toes.shape[:-1])), axis=-1)
    across /= np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-9)
    across *= heels.flat(toes)[..., None]
    bears, out = bearing(stance.down, stance.low), []
    for angle in (0.5 * heels.STEEPEST, heels.STEEPEST):
        ankle = stance.ankle + toes - rotate(exp(angle * across), toes)
        out.append((bears * _over(stance.hip - ankle, stance.length)).max(axis=1))
    low = np.maximum(out[0], 0.0)
    return low, np.maximum(low, out[1])


def _over(way: Array, length: Array) -> Array:
    """(K, L) [m] how much higher hips get over ankles, a way (K, L, 3) below them, on legs so long (L,)."""
    across = np.einsum("kli,kli->kl", way[..., :2], way[..., :2])
    return np.sqrt(np.maximum(length**2 - across, 0.0)) - way[..., 2]


def falls(stance: Stance) -> Array:
    """(K,) [m/s^2] the least acceleration off its clip of a body that the ground doesn't pull: together with the clip's
    own it is gravity's."""
    own = np.gradient(smooth(np.gradient(stance.height, stance.h)), stance.h)
    return np.minimum(-(stance.pace**2) * stance.height - own, 0.0)


def unborne(high: Array, reach: tuple[Array, Array]) -> Array:
    """(...) part of a body that feet don't bear any more, which is so much higher (...) than in the clip [m].

    reach: of `rises`."""
    low, up = reach
    return ramp((high - low) / np.maximum(up - low, LEAST))


def stands(stance: Stance) -> Array:
    """(K,) 1 where a body stands or walks, of which all this is told; 0 afloat, in flights and between them: feet of a
    run have no plan of landing later than the clip's."""
    return np.where(stance.floats, 0.0, 1.0 - stance.aloft)


def stood(stance: Stance, high: Array) -> Array:
    """(K, L) 1 for feet that stood when a body was lifted off them, which is so much higher (K,) than in the clip [m],
    or do where it isn't lifted, else 0."""
    out = 1.0 * stance.down
    for k in np.flatnonzero(high[1:] > LEAST) + 1:
        out[k] = out[k - 1]
    return out


def late(stance: Stance, borne: Array, end: float) -> bool:
    """Whether a body of which feet bear a part (K,) is in the air when the end [s] comes near, which would pull it
    down."""
    near = int(np.searchsorted(stance.times, end - CLOSE - 1e-6))
    return bool(borne[min(near, len(borne) - 1)] < AIR)
