"""The weight over the feet that stand: where they press, and where it goes.

The weight is a linear inverted pendulum (`support`); the pressure under the feet brings it back as far as they reach.
"""

from collections.abc import Sequence

import numpy as np

from .plan import Span
from .quality.motion import RATE
from .rotation import Array
from .stance import Stance, bearing, enough
from .support import fall, onto, plain, smooth, vector

HASTE = 0.8  # how much farther than the capture point the pressure goes, as part of its way off
ROUND = 0.05  # [m] by which soles reach beyond the line along their middle
HELP, MORE = 0.08, 0.3  # [m] that arms and trunk do for the balance, and more towards the end of the reaction
ANSWERS_AFTER = 0.05  # [s] from a blow until muscles do
SOME = 0.5  # of a leg's strength from whose loss on the other answers at once and wholly: chosen, of half a hard blow
RAISED, SOON = 0.1, 0.02  # [s] in which their force comes up, and on two feet, which are taut from the weight
FORESEEN, COARSE = 0.5, 6  # [s] that the weight's way is foreseen, and in how many samples at a time


class Weight:
    """State of weight and feet off the clip, at a sample.

    give: (K, L) what is left of the legs' strength.  weak: (K,) whether any has lost some.
    blows: in order.  blow, stays: of the one that has landed last, end: of all that have.  now: the sample.  hit: the
    one from which on legs have given way to the last blow, and gone: how far one does at most, as part of its strength.
    moved: (B, 2, 2) [m], [m/s] by which each blow but the first moves the weight as long as nothing answers it.
    x, v: (2,) of the weight [m], [m/s].  home: (2,) where it is to go.
    place, velocity: (L, 3) of the feet [m], [m/s], without the lift of steps; feet, high: (L, 2), (L,) views of the
    first.  goal: (L, 2) of those in the air.  landed: how many blows have.
    answers: (B, K) part of its answer to a blow that a body has begun, rounds: (K,) [m] by which the pressure gets
    beyond the soles' middle, both as far as blows have landed.
    aside: (2,) by how much farther a foot lands to get round the other, and draws the weight along.
    since: (L,) sample at which a step of our own began, due: (L,) at which a foot in the air lands, -1: none.
    """

    def __init__(self, stance: Stance, give: Array, blows: Sequence[Span]) -> None:
        self.stance, self.give, self.blows = stance, give, blows
        self.weak: list[bool] = np.any(give < 1.0, axis=1).tolist()
        self.moved = np.zeros((len(blows), 2, 2))
        legs = len(stance.limbs)
        self.h, self.landed = 1.0 / RATE, 0  # not a difference of times, whose rounding would tell a sample from none
        self.feel(0)
        self.x, self.v, self.home = np.zeros(2), np.zeros(2), np.zeros(2)
        self.place, self.velocity, self.goal = np.zeros((legs, 3)), np.zeros((legs, 3)), np.zeros((legs, 2))
        self.feet, self.high = self.place[:, :2], self.place[:, 2]
        self.aside = np.zeros(2)
        self.since, self.due = np.full(legs, -1), np.full(legs, -1)

    def feel(self, k: int) -> None:
        """Take up the blows that have landed by sample k, the first before it lands; of later ones nothing is known."""
        self.now, times = k, self.stance.times
        now = float(times[k]) + 1e-6
        landed = [blow for blow in self.blows if blow.start <= now] or self.blows[:1]
        if len(landed) == self.landed:
            return
        self.landed = len(landed)
        self.blow, _, self.stays = landed[-1]
        self.end = max(blow.end for blow in landed)
        starts = [*(blow.start for blow in self.blows[len(landed) - 1 :]), np.inf][:2]
        self.hit, later = (int(i) for i in np.searchsorted(times, np.array(starts) - 1e-6))
        self.gone = 1.0 - float(self.give[self.hit : later].min(initial=1.0))
        self.answers = [self._answered(i).tolist() for i in range(len(self.blows))]
        gone = smooth((times - self.blow) / (self.end - self.blow))
        self.rounds: list[float] = (ROUND + HELP + MORE * gone).tolist()  # the sole's own width, and arms and trunk

    def stands(self, k: int) -> np.ndarray:
        """(L,) bool, feet on the ground."""
        return np.asarray(self.stance.down[k] & (self.since < 0))

    def carries(self, k: int, stands: np.ndarray) -> np.ndarray:
        """(L,) bool, the legs that bear the weight: those that stand (L,), with those near the ground where a clip runs
        on without planting enough and doesn't fly, or a blow takes one away."""
        some = np.count_nonzero(stands) >= enough(len(stands))
        return stands if some or self.stance.flies[k] or self.stance.floats[k] else bearing(stands, self.stance.low[k])

    def pressure_points(self, k: int, legs: np.ndarray, feet: Array | None = None) -> Array:
        """(s, 2) soles of the legs (L,) bool, off the clip's own balance; of weak legs, drawn to what else holds."""
        owner = self.stance.owner
        at = self.stance.soles[k] + (self.feet if feet is None else feet)[owner] - self.stance.nominal[k]
        some = legs[owner]
        if self.weak[k] and np.any(self.give[k, legs] < 1.0):
            strong = at[some] if legs.sum() < 2 else at[some & (self.give[k, owner] >= self.give[k, legs].max())]
            centre = strong.mean(axis=0)
            at = centre + self.give[k, owner, None] * (at - centre)
        return np.asarray(at[some])

    def pressure(self, k: int, points: Array, capture: Array, x: Array) -> Array:
        """(2,) where the feet press to bring the weight home, which is at x (2,)."""
        home = plain(self.home + self.aside)
        return vector(self._pressure(k, points.tolist(), plain(capture), plain(x), home))

    def _pressure(self, k: int, points: list[list[float]], capture: complex, x: complex, home: complex) -> complex:
        """`pressure` in plain numbers."""
        part = self.answers[0][k]
        wanted = x + part * (capture + HASTE * (capture - home) - x) - self._to_come(k, part)
        on = onto(points, wanted)
        over = wanted - on
        return on + over * min(1.0, self.rounds[k] / max(abs(over), 1e-12))

    def _to_come(self, k: int, part: float) -> complex:
        """What is in a part of the whole answer at a sample, but is the answer to blows that nothing answers so far
        yet."""
        out = 0j
        for i in range(1, len(self.blows)):
            less = part - self.answers[i][k]
            if less > 0.0 and self.moved[i].any():
                x, v = map(plain, self.moved[i])
                x += (k - self.now) * self.h * v
                out += less * ((1.0 + HASTE) * (x + v / float(self.stance.pace[k])) - x)
        return out

    def _answered(self, blow: int) -> Array:
        """(K,) part of its answer to a blow that a body has begun; before, stretched muscles bear the weight where it
        goes.  On two feet a blow on a leg is answered at once, as far as the leg gives way, also by one in the air:
        waiting there costs leaps of the other foot later on.  Muscles that answer an earlier blow are taut as well."""
        legs, times = self.give.shape[1], self.stance.times
        own = np.where((np.arange(len(times)) >= self.hit) & (legs < 3), min(self.gone / SOME, 1.0), 0.0)
        raised = RAISED if legs > 2 and not blow else SOON
        return np.maximum(own, smooth((times - self.blows[blow].start - ANSWERS_AFTER) / raised))

    def foreseen(self, k: int, due: int) -> tuple[Array, Array]:
        """The weight and its velocity at a later sample, as the clip's contacts and the pressure go on."""
        stance, x, v, home = self.stance, plain(self.x), plain(self.v), plain(self.home + self.aside)
        feet = np.where(self.due[:, None] >= 0, self.goal, self.feet)
        due = min(due, k + int(FORESEEN / self.h))
        while k < due:
            until, pace = min(due, k + COARSE, stance.until[k]), float(stance.pace[k])
            seconds = (until - k) * self.h
            carries = self.carries(k, stance.down[k] & ((self.since < 0) | (self.due <= k)))
            if carries.any():
                p = self._pressure(k, self.pressure_points(k, carries, feet).tolist(), x + v / pace, x, home)
                x, v = fall(x, v, p, pace, seconds)
            else:
                x, v = map(plain, self.borne_by_nothing(k, vector(x), vector(v), seconds))
            k = until
        return vector(x), vector(v)

    def borne_by_nothing(self, k: int, x: Array, v: Array, seconds: float) -> tuple[Array, Array]:
        """The weight after a time [s] without a foot on the ground, from sample k on: in flight it goes on, afloat it
        swims back."""
        if not self.stance.floats[k]:
            return x + seconds * v, v
        pace = float(self.stance.pace[k])
        away, fades = x - self.home, np.exp(-pace * seconds)
        drift = v + pace * away
        return self.home + fades * (away + seconds * drift), fades * (v - pace * seconds * drift)
