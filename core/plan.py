"""Where weight and feet are led off the clip, as samples with their rates.

Between samples a plan is a cubic by the rates at both ends, which were known when each was made: what happens before a
blow doesn't know of it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .resample import cubic, linear
from .rotation import Array
from .stance import Stance
from .support import ease

UNSEEN = 1e-4  # [m] that nobody sees
CLOSE, CLOSED = 0.55, 0.2  # [s] before the end from where on what is left off fades, and when nothing is left


class Span(NamedTuple):
    """When a blow lands and by when the body is back [s].  stays: it goes on where it then is, not home."""

    start: float
    end: float
    stays: bool = False


class Lowered(NamedTuple):
    """A foot in the air that a blow drives to the ground: which leg, and the samples of the blow, at which it meets the
    ground and from which on it stands."""

    leg: int
    start: int
    meets: int
    due: int


class Sweep(NamedTuple):
    """A foot that stands and is knocked off the ground: which leg, from which sample to which, and how far [m]."""

    leg: int
    start: int
    due: int
    way: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Struck:
    """What blows do to the legs, at a stance's samples.

    weak: (K, L) what each has lost of its strength.  sinks: (K, L) the same for how far the body sinks, times the
    artist's gain.  hold: (K, L) how firmly each foot is kept to its place, 0 = not at all.  knocks: (K, L, 2) how far
    off its goal a foot in the air lands [m].  hit: (K, L) 0..1, how far a blow has struck it by then.  draws: (K, L) by
    how much farther knees bend in the air [rad], and folds: (L,) how far they are bent by that at most.
    loose: (K, L) 0..1, how far legs in the air fold under blows along them.  behind: (K, 2) how far hips are behind
    the weight [m], see `flight`.  sweeps: feet that are knocked off the ground,
    lowered: that are driven to it.
    """

    weak: Array
    sinks: Array
    hold: Array
    knocks: Array
    hit: Array
    draws: Array
    folds: Array
    loose: Array
    behind: Array
    sweeps: tuple[Sweep, ...] = ()
    lowered: tuple[Lowered, ...] = ()

    @classmethod
    def nothing(cls, shape: tuple[int, ...]) -> "Struck":
        """Legs (K, L) that nothing strikes."""
        weak, sinks, hit, draws, loose = np.zeros((5, *shape))
        knocks, folds = np.zeros((*shape, 2)), np.full(shape[1], np.inf)
        return cls(weak, sinks, np.ones(shape), knocks, hit, draws, folds, loose, np.zeros((shape[0], 2)))


@dataclass(frozen=True)
class Move:
    """A step off the clip's: which leg, from when to when [s], and where its foot then stands off the clip's [m]."""

    leg: int
    start: float
    end: float
    way: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Plan:
    """Deviations from the clip at its stance's samples: shift (K, 3) of the weight, feet (K, L, 3).

    stance: the clip's, with the feet that land sooner.

    rate: (K, 3) and speed: (K, L, 3) of them [m/s].
    pull: (K, 3) what the ground adds to the weight's acceleration [m/s^2].
    hold: (K, L) how firmly a foot is kept to its place, 0 = not at all.  lift: (K, L) how high it is off its ground in
    a step of ours [m], and rising: (K, L) its rate; `feet` have it in them, and what that ground is higher by.
    hastened: (K, L, 3) how far feet are off the clip's because they land sooner [m], which `feet` have in them, too,
    turned: (K, L, 3) by how much they turn for it [rad], and hangs: (K, L) by how much nearer to their hips they hang
    than `feet` have them [m].  draws: (K, L) by how much farther knees bend than is simulated, of feet that are free
    [rad], and folds: (L,) how far they are bent by that at most, but for what the clip bends them.
    stood: (K, L) 1 for feet that stood when the body was lifted off them, else 0.
    moves: what was stepped.
    lost: [s] when the balance could not be saved, or None.  astray: whether feet or weight are not home in time, so
    that they slide there, or fly then.
    """

    stance: Stance
    shift: Array
    rate: Array
    feet: Array
    speed: Array
    pull: Array
    hold: Array
    lift: Array
    rising: Array
    hastened: Array
    turned: Array
    hangs: Array
    draws: Array
    folds: Array
    stood: Array
    moves: tuple[Move, ...] = ()
    lost: float | None = None
    astray: bool = False

    @property
    def times(self) -> Array:
        """(K,) [s]"""
        return self.stance.times

    @property
    def last(self) -> Array:
        """(3,) how far off the clip the body goes on."""
        return np.asarray(self.shift[-1])

    def pulled(self, times: Array) -> Array:
        """(T, 3) the mean pull from each of the times to the next, (T + 1,) [s]."""
        sums = np.cumsum(np.concatenate((np.zeros((1, 3)), np.diff(self.times)[:, None] * self.pull[:-1])), axis=0)
        return np.asarray(np.diff(linear(self.times, sums, times), axis=0) / np.diff(times)[:, None])

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """(shift, feet, hold) at any times; the ends are held."""
        feet = cubic(self.times, self.feet, self.speed, times)
        return self.shifted(times), feet, linear(self.times, self.hold, times)

    def lifted(self, times: Array) -> Array:
        """(T, L) how high feet are off their ground in steps of ours [m]."""
        return cubic(self.times, self.lift, self.rising, times)

    def shifted(self, times: Array) -> Array:
        """(T, 3) the weight's shift of `at`."""
        return cubic(self.times, self.shift, self.rate, times)


def closing(time: float, end: float) -> tuple[float, float]:
    """What is left of what was off when the end [s] came near, 1 to 0, and its rate [1/s]."""
    width = CLOSE - CLOSED
    x = min(max((time - end + CLOSE) / width, 0.0), 1.0)
    return 1.0 - ease(x), -6.0 * x * (1.0 - x) / width
