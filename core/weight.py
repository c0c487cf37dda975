"""The weight over the feet that stand: where they press, and where it goes.

The weight is a linear inverted pendulum (`support`); the pressure under the feet brings it back as far as they reach.
"""

import math
from collections.abc import Sequence

import numpy as np

from .contacts import enough
from .plan import Span
from .quality.motion import RATE
from .rotation import Array
from .stance import Stance
from .support import fall, onto, smooth

HASTE = 0.8  # how much farther than the capture point the pressure goes, as part of its way off
ROUND = 0.05  # [m] by which soles reach beyond the line along their middle
HELP, MORE = 0.08, 0.3  # [m] that arms and trunk do for the balance, and more towards the end of the reaction
ANSWERS_AFTER = 0.05  # [s] from a blow until muscles do
SOME = 0.5  # of a leg's strength from whose loss on the other answers at once and wholly: chosen, of half a hard blow
RAISED, SOON = 0.1, 0.02  # [s] in which their force comes up, and on two feet, which are taut from the weight
FORESEEN, COARSE = 0.5, 6  # [s] that the weight's way is foreseen, and in how many samples at a time

Place = tuple[float, float, float]


def placed(plane: Sequence[complex], high: Sequence[float]) -> list[Place]:
    """Vectors in space from what they are in the plane and above it."""
    return [(z.real, z.imag, up) for z, up in zip(plane, high, strict=True)]


def answered(since: Array, raised: float = SOON) -> Array:
    """(K,) part of the answer that muscles have come up with, a time (K,) after a blow, raised in so long [s]."""
    return np.asarray(smooth((since - ANSWERS_AFTER) / raised))


class Weight:
    """State of weight and feet off the clip, at a sample.

    give: (K, L) what is left of the legs' strength.  weak: (K,) whether any has lost some.
    blows: in order.  blow, stays: of the one that has landed last, end: of all that have.  now: the sample.  hit: the
    one from which on legs have given way to the last blow, and gone: how far one does at most, as part of its strength.
    Vectors in the plane are plain complex numbers: numpy's calls cost ten times as much for what is asked at every
    sample.  moved: of each blow, [m], [m/s] by which it moves the weight as long as nothing answers it.
    x, v: of the weight [m], [m/s].  home: where it is to go.
    feet, going: of the feet in the plane [m], [m/s], high, rising: above it, without the lift of steps.  goal: of those
    in the air.  landed: how many blows have.
    answers: (B, K) part of its answer to a blow that a body has begun, rounds: (K,) [m] by which the pressure gets
    beyond the soles' middle, both as far as blows have landed.
    stage: how far off home feet press to until the next one lands.
    since: of each leg the sample at which a step of our own began, due: at which a foot in the air lands, -1: none.
    """

    def __init__(self, stance: Stance, give: Array, blows: Sequence[Span]) -> None:
        self.stance, self.give, self.blows = stance, give, blows
        self.weak: list[bool] = np.any(give < 1.0, axis=1).tolist()
        self.moved = [(0j, 0j)] * len(blows)
        legs = len(stance.limbs)
        self.h, self.landed = 1.0 / RATE, 0  # not a difference of times, whose rounding would tell a sample from none
        self.feel(0)
        self.x = self.v = self.home = self.stage = 0j
        self.feet, self.going, self.goal = [0j] * legs, [0j] * legs, [0j] * legs
        self.high, self.rising = [0.0] * legs, [0.0] * legs
        self.since, self.due = [-1] * legs, [-1] * legs

    @property
    def place(self) -> list[Place]:
        """[m] where the feet are off the clip's, without the lift of steps."""
        return placed(self.feet, self.high)

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

    def stands(self, k: int) -> list[int]:
        """The legs whose feet are on the ground."""
        down = self.stance.down[k].tolist()
        return [leg for leg, since in enumerate(self.since) if down[leg] and since < 0]

    def carries(self, k: int, stands: list[int]) -> list[int]:
        """The legs that bear the weight: those that stand, with those near the ground where a clip runs on without
        planting enough and doesn't fly, or a blow takes one away."""
        stance = self.stance
        if len(stands) >= enough(len(self.feet)) or stance.flies[k] or stance.floats[k]:
            return stands
        return [leg for leg, low in enumerate(stance.low[k].tolist()) if low or leg in stands]

    def pressure_points(self, k: int, legs: Sequence[int], feet: Sequence[complex] | None = None) -> list[complex]:
        """Soles of the legs, off the clip's own balance; of weak legs, drawn to what else holds."""
        marks, owned = self.stance.marks[k], self.stance.owned
        feet = self.feet if feet is None else feet
        points = [[marks[sole] + feet[leg] for sole in owned[leg]] for leg in legs]
        if self.weak[k]:
            give = self.give[k, legs].tolist()
            strong = [at for own, left in zip(points, give, strict=True) if left >= max(give) for at in own]
            centre = sum(strong) / len(strong)
            points = [[centre + left * (at - centre) for at in own] for own, left in zip(points, give, strict=True)]
        return [at for own in points for at in own]

    def pressure(self, k: int, points: list[complex], capture: complex, x: complex) -> complex:
        """Where the feet press to bring the weight home, which is at x."""
        part, home = self.answers[0][k], self.home + self.stage
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
            x, v = self.moved[i]
            if less > 0.0:
                x += (k - self.now) * self.h * v
                out += less * ((1.0 + HASTE) * (x + v / float(self.stance.sway[k])) - x)
        return out

    def _answered(self, blow: int) -> Array:
        """(K,) part of its answer to a blow that a body has begun; before, stretched muscles bear the weight where it
        goes.  On two feet a blow on a leg is answered at once, as far as the leg gives way, also by one in the air:
        waiting there costs leaps of the other foot later on.  Muscles that answer an earlier blow are taut as well."""
        legs, times = self.give.shape[1], self.stance.times
        own = np.where((np.arange(len(times)) >= self.hit) & (legs < 3), min(self.gone / SOME, 1.0), 0.0)
        raised = RAISED if legs > 2 and not blow else SOON
        return np.maximum(own, answered(times - self.blows[blow].start, raised))

    def foreseen(self, k: int, due: int) -> tuple[complex, complex]:
        """The weight and its velocity at a later sample, as the clip's contacts and the pressure go on."""
        stance, x, v, legs = self.stance, self.x, self.v, range(len(self.feet))
        feet = [self.feet[leg] if self.due[leg] < 0 else self.goal[leg] for leg in legs]
        due = min(due, k + int(FORESEEN / self.h))
        while k < due:
            until, pace = min(due, k + COARSE, stance.until[k]), float(stance.sway[k])
            seconds = (until - k) * self.h
            down = stance.down[k].tolist()
            stands = [leg for leg in legs if down[leg] and (self.since[leg] < 0 or self.due[leg] <= k)]
            carries = self.carries(k, stands)
            if carries:
                p = self.pressure(k, self.pressure_points(k, carries, feet), x + v / pace, x)
                x, v = fall(x, v, p, pace, seconds)
            else:
                x, v = self.borne_by_nothing(k, x, v, seconds)
            k = until
        return x, v

    def borne_by_nothing(self, k: int, x: complex, v: complex, seconds: float) -> tuple[complex, complex]:
        """The weight after a time [s] without a foot on the ground, from sample k on: in flight it goes on, afloat it
        swims back."""
        if not self.stance.floats[k]:
            return x + seconds * v, v
        pace = float(self.stance.sway[k])
        away, fades = x - self.home, math.exp(-pace * seconds)
        drift = v + pace * away
        return self.home + fades * (away + seconds * drift), fades * (v - pace * seconds * drift)
