"""Recovery steps: where the feet go when a blow takes the weight beyond them, and how the weight comes back.

Everything is a deviation from the clip, so a clip without a blow has none: the clip balances itself, however
an artist made it.  A foot that is in the air lands where the capture point will be, along the clip's own timing; where
all feet stand, one is lifted and put there, and goes home later, of four those on a diagonal.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import landing, lowering, weight
from .landing import OUT, Lander
from .plan import CLOSED, UNSEEN, Move, Span, Struck, closing
from .rotation import Array
from .sides import passing, side
from .stance import Stance
from .support import ahead, dot, fall, onto, plane
from .weight import ROUND, Place, placed

SWING, LEG, FARTHER = 0.28, 0.9, 0.1  # [s] that a step takes of a leg of this length [m], and more per metre of way
BRISK = 0.2  # [s] that it takes at least
STRAINED = 0.4  # of a leg's length that feet are away from under the weight before they follow
ROLLS = 0.06  # of a step's time in which its foot only leaves the ground
MISSED = 3.0  # [m] that a step may be longer for each by which it catches the weight better
AIMED = 0.2  # [s] before it lands from where on a foot that the clip has in the air goes there
ADRIFT = 0.15  # [m] that the weight may be off when the end comes near
NOTHING = 1e-9  # part that feet bear of a body in the air
LOST = 0.8  # of its height, and of a leg's length, that the weight may be away from the feet before the body falls
Choice = tuple[float, tuple[int, ...], list[complex], float]


class Walker(Lander):
    """The weight and the feet of a body while it looks for its balance; one `advance` per sample.

    push: (B, K, 2) change of the weight's velocity by each blow in each sample [m/s].  struck: what blows do to legs.
    blows: in order.  What happens before a blow doesn't know of it.  borne: (K,) part of the body that feet bear off
    which a blow lifts it.
    rise: to which a step goes [m], swept: whether a blow began it, of each leg.  pull: the ground's [m/s^2].
    leg: how long they are [m].  swing: [s] that a step takes.  lost: [s] when the balance was.  calm: the last sample
    in which a blow does anything.
    """

    def __init__(
        self, stance: Stance, push: Array, struck: Struck, blows: Sequence[Span], borne: Array | float = 1.0
    ) -> None:
        super().__init__(stance, blows, struck)
        self.push = plane(push.swapaxes(0, 1)).tolist()
        self.sweeps, self.lowered = struck.sweeps, struck.lowered
        self.borne: list[float] = np.broadcast_to(np.sqrt(np.maximum(borne, NOTHING)), len(stance.times)).tolist()
        legs = len(stance.limbs)
        self.rise, self.swept, self.pull = [0.0] * legs, [False] * legs, 0j
        self.moves: list[Move] = []
        self.leg = float(stance.length.mean())
        self.swing = max(SWING * float(np.sqrt(self.leg / LEG)), BRISK)
        stirs = push.any(axis=(0, 2)) | (struck.weak > 0.0).any(axis=1) | struck.knocks.any(axis=(1, 2))
        self.calm = max([int(np.flatnonzero(stirs).max(initial=0)), *(sweep.due for sweep in struck.sweeps)])
        self.lost: float | None = None
        self.astray = False  # not home when the end comes near

    def advance(self, k: int) -> None:
        """From sample k to the next."""
        stance, h, pace = self.stance, self.h, float(self.stance.sway[k])
        self.feel(k)
        self._lower(k)
        self._land(k)
        self._sweep(k)
        carries = self.carries(k, self.stands(k))
        capture = self.x + self.v / pace
        if carries:
            points = self.pressure_points(k, carries)
            p = self.pressure(k, points, capture, self.x)
            if self._too_far(k, points):
                self.lost = float(stance.times[k])
                return
            if self.noticed(k):
                self._decide(k, carries, points, capture)
            x, v = fall(self.x, self.v, p, pace * self.borne[k], h)
        else:
            x, v = self.borne_by_nothing(k, self.x, self.v, h)
        self.pull = (v - self.v) / h
        each = zip(self.moved, self.push[k], strict=True)
        self.moved = [(way + h * (rate + 0.5 * push), rate + push) for (way, rate), push in each]
        push = sum(self.push[k])
        self.x, self.v = x + 0.5 * h * push, v + push
        self._drive(-1)
        self.aim(k)
        self._swing(k)
        self.driven = [ways[1:] for ways in self.driven]
        self._drive(1)
        self._close(k)

    def _too_far(self, k: int, points: list[complex]) -> bool:
        """Whether the weight is farther from what carries it than a body stays up."""
        far = LOST * min(float(self.stance.height[k]), self.leg)
        return abs(self.x - points[0]) > far and abs(self.x - onto(points, self.x)) > far

    def closing(self, k: int) -> tuple[float, float]:
        """What is left of what was off when the end came near, 1 to 0, and its rate [1/s]."""
        return closing(float(self.stance.times[k]), self.end)

    def _close(self, k: int) -> None:
        """Towards the end whatever is off fades; feet that stand do so only where they don't step any more."""
        then = self.closing(k + 1)[0]
        if then == 1.0:
            return
        now, fade = self.closing(k)[0], self._fade(k)
        left = then / now if now > 0.0 else 0.0
        if now == 1.0:
            slides = max((abs(self.feet[leg] - self.home) for leg in fade if leg in self.stands(k)), default=0.0)
            self.astray = slides > OUT or abs(self.x - self.home) > ADRIFT
        self.x, self.v = self.home + left * (self.x - self.home), left * self.v
        self.rise = [left * high for high in self.rise]
        for leg in fade:
            level = self.stance.risen(k, leg, self.home)
            self.feet[leg] = self.home + left * (self.feet[leg] - self.home)
            self.high[leg] = level + left * (self.high[leg] - level)
        self.going, self.rising = [left * v for v in self.going], [left * v for v in self.rising]

    def _fade(self, k: int) -> list[int]:
        """Feet that go home with the rest: all but those on the ground that have a step to come."""
        last, stands = self.sample(self.end - CLOSED), self.stands(k)
        return [leg for leg in range(len(self.feet)) if leg not in stands or self.stance.stays(k, leg) >= last]

    def rates(self, k: int) -> tuple[complex, list[Place]]:
        """Of the weight and of the feet at sample k [m/s], but for the lift of steps."""
        left, slope = self.closing(k)
        pace, going, rising = slope / left if left > 0.0 else 0.0, list(self.going), list(self.rising)
        for leg in self._fade(k) if pace else ():
            going[leg] += pace * (self.feet[leg] - self.home)
            rising[leg] += pace * (self.high[leg] - self.stance.risen(k, leg, self.home))
        return self.v + pace * (self.x - self.home), placed(going, rising)

    def is_home(self, k: int) -> bool:
        """Whether nothing will be off home any more from sample k on."""
        later = any(blow.start > self.stance.times[k] + 1e-6 for blow in self.blows)
        return not later and k > self.sample(self.end - CLOSED) and max(self.since) < 0

    def is_over(self, k: int) -> bool:
        """Whether nobody sees what will be off the clip from sample k on, before the end closes it."""
        if k <= self.calm or self.home or max(self.since) >= 0 or self.closing(k)[0] < 1.0:
            return False
        goals = [goal for goal, due in zip(self.goal, self.due, strict=True) if due >= 0]
        off = (self.x, *self.feet, *self.high, *goals)
        rates, pace = (self.v, *self.going, *self.rising), float(self.stance.sway[k])
        return all(max(abs(way.real), abs(way.imag)) < UNSEEN for way in (*off, *(rate / pace for rate in rates)))

    def _land(self, k: int) -> None:
        """Feet that come down at this sample."""
        for leg, due in enumerate(self.due):
            if 0 <= due <= k:
                self.going[leg], self.rising[leg] = 0j, 0.0
                if self.stays and abs(self.goal[leg]) > OUT:
                    self.home = self.goal[leg]
                self.since[leg] = self.due[leg] = -1
                self.driven[leg] = []
                self.stage = self._staged(k, leg)
        if len(self.feet) == 2 and any(self.feet):
            for leg in self.stands(k):
                self.across[leg] = self.clear(k, leg) > OUT

    def _staged(self, k: int, leg: int) -> complex:
        """How far off home the feet press to when one has landed, so that the capture point has come the part of its
        way home that feet are put for when the next one lands."""
        if self.stays:
            return 0j
        pace = float(self.stance.sway[k])
        off = self.x + self.v / pace - self.home
        left = 1.0 - self.brought(k, leg, off)
        still = math.exp(-weight.HASTE * pace * (self.stance.next_landing(k) - k) * self.h)
        return max(left - still, 0.0) / (1.0 - still) * landing.part(abs(off)) * off

    def _decide(self, k: int, carries: list[int], points: list[complex], capture: complex) -> None:
        """Lift feet where all stand: to catch the weight, or to go home."""
        stance = self.stance
        if len(self.stands(k)) < len(self.feet) or len(points) < 2:
            return
        away = [abs(foot - self.home) for foot in self.feet]
        behind = [abs(foot - self.x) / length for foot, length in zip(self.feet, stance.length.tolist(), strict=True)]
        many, last = len(away) > 2, self.moves[-1].leg if self.moves else -1
        turns = [legs for legs in stance.parties if not many or last not in legs]  # diagonals take turns
        steps = []
        if abs(capture - onto(points, capture)) > self.rounds[k]:
            steps = [self._catch(k, legs, carries, capture) for legs in turns]
        elif many and max(behind) > STRAINED and (legs := stance.party(behind.index(max(behind)))) in turns:
            there = self._without(k, legs, carries, capture)[1]  # four legs don't lunge: they follow
            steps = [(0.0, legs, [there] * len(legs), self.swing)]
        elif max(away) > OUT:
            legs, seconds = stance.party(away.index(max(away))), self.swing + FARTHER * max(away)
            if self._can_go_home(k, legs, carries, capture):
                steps = [(0.0, legs, [self.home] * len(legs), seconds)]
        if steps:
            _, legs, goals, seconds = min(steps, key=lambda step: step[0])
            due = k + int(round(seconds / self.h))
            if due < min(stance.stays(k, other) for other in range(len(away))) and due < len(stance.times):
                for leg, goal in zip(legs, goals, strict=True):
                    self._lift(k, leg, goal, due)

    def _lower(self, k: int) -> None:
        """Feet in the air that a blow drives to the ground land there."""
        for each in (lowered for lowered in self.lowered if lowered.start == k):
            due = self.stance.lands(k, each.leg)
            if self.since[each.leg] < 0 and each.due < due:
                sooner = lowering.landed(self.stance, each)
                self.driven[each.leg] = lowering.way(self.stance, sooner, each)
                self.hasty[each.leg], self.stance = due, sooner

    def _sweep(self, k: int) -> None:
        """Feet that are knocked off the ground, on their own side."""
        for leg, _, due, way in (sweep for sweep in self.sweeps if sweep.start == k):
            aloft = self.since[leg] >= 0
            goal = self.apart(k, leg, (self.goal if aloft else self.feet)[leg] + complex(*way))
            if not aloft:
                self._lift(k, leg, goal, due, True)
            elif (self.due[leg] - k) * self.h > landing.LATE:  # it lands elsewhere, when it would have
                self.goal[leg] = goal
                step = max(i for i, move in enumerate(self.moves) if move.leg == leg)
                self.moves[step] = replace(self.moves[step], way=(goal.real, goal.imag))

    def _lift(self, k: int, leg: int, goal: complex, due: int, swept: bool = False) -> None:
        times = self.stance.times
        way = abs(goal - self.feet[leg])
        self.since[leg], self.due[leg], self.goal[leg], self.swept[leg] = k, due, goal, swept
        self.rise[leg] = landing.rise(way, float(self.stance.length[leg]), swept)
        self.moves.append(Move(leg, float(times[k]), float(times[due]), (goal.real, goal.imag)))

    def _catch(self, k: int, legs: tuple[int, ...], carries: list[int], capture: complex) -> Choice:
        """(cost, legs, goals, seconds) of a step with these legs to where the weight will be."""
        stance, pace, marks = self.stance, float(self.stance.sway[k]), self.stance.marks[k]
        points, _ = self._without(k, legs, carries, capture)
        out = capture - onto(points, capture)
        beyond = ROUND * out / max(abs(out), 1e-12)
        p = self.pressure(k, points, capture, self.x)
        middle = [sum(marks[sole] for sole in stance.owned[leg]) / len(stance.owned[leg]) for leg in legs]
        stand = [at + self.feet[leg] for leg, at in zip(legs, middle, strict=True)]
        wide, seconds, hips = [landing.stride(stance, k, leg) for leg in legs], self.swing, -self.behind[k]
        for _ in range(2):  # a longer step takes longer
            x, v = fall(self.x, self.v, p, pace, seconds)
            there = x + v / pace
            way = there + beyond - onto(stand, there + beyond)
            ways = [(leg, self.feet[leg] + way) for leg in legs]
            goals = [landing.reached(stance, k, *to, x, x + hips, gets) for to, gets in zip(ways, wide, strict=True)]
            if len(legs) == 1:  # those of a diagonal may cross the others, which come after
                goals[0] = self.apart(k, legs[0], goals[0])
            most = max(abs(goal - self.feet[leg]) for leg, goal in zip(legs, goals, strict=True))
            seconds = self.swing + FARTHER * most
        after = points + [at + goal for at, goal in zip(middle, goals, strict=True)]
        return most + MISSED * abs(there - onto(after, there)), legs, goals, seconds

    def _without(
        self, k: int, legs: tuple[int, ...], carries: list[int], capture: complex
    ) -> tuple[list[complex], complex]:
        """Soles that carry but for these legs, and where over them the capture point gets in a step."""
        points = self.pressure_points(k, [leg for leg in carries if leg not in legs])
        return points, ahead(capture, self.pressure(k, points, capture, self.x), float(self.stance.sway[k]), self.swing)

    def _can_go_home(self, k: int, legs: tuple[int, ...], carries: list[int], capture: complex) -> bool:
        """Whether the weight will be over the feet when these are home, and the others hold it until then."""
        if self.stance.times[k] > self.end - landing.HOME:
            return True
        points, there = self._without(k, legs, carries, capture)
        back = [self.stance.marks[k][sole] + self.home for leg in legs for sole in self.stance.owned[leg]]
        return not self._too_far(k, points) and abs(there - onto(points + back, there)) < ROUND

    def _swing(self, k: int) -> None:
        """Move the feet in the air: those of the clip along with the weight, then to where they land, at rest there."""
        for leg, due in enumerate(self.due):
            if due < 0:
                continue
            left, since = (due - k) * self.h, self.since[leg]
            if since >= 0 and k - since < ROLLS * (due - since):
                continue
            first = passing(self.stance, k, due, leg, self.feet) if self.across[leg] else due - k
            if since < 0 and left > AIMED and first == due - k:
                self._go_along(k, leg)
                continue
            place, left = self._past(k, leg, left, first * self.h) if self.across[leg] else (self.goal[leg], left)
            up = self.stance.risen(due, leg, place)
            if left <= self.h:
                self.feet[leg], self.high[leg], self.going[leg], self.rising[leg] = place, up, 0j, 0.0
                continue
            self.feet[leg], self.going[leg] = landing.swung(self.feet[leg], self.going[leg], place, left, self.h)
            self.high[leg], self.rising[leg] = landing.swung(self.high[leg], self.rising[leg], up, left, self.h)

    def _go_along(self, k: int, leg: int) -> None:
        """Move a foot along with the weight, on its own side, over its ground."""
        place = self.apart(k, leg, self.x)
        rate = self.v if place == self.x else 0j
        up, climbs = self.stance.risen(self.due[leg], leg, place), dot(rate, self.stance.slope)
        self.feet[leg], self.going[leg] = landing.carried(self.feet[leg], self.going[leg], place, rate, self.h)
        self.high[leg], self.rising[leg] = landing.carried(self.high[leg], self.rising[leg], up, climbs, self.h)

    def _past(self, k: int, leg: int, left: float, first: float) -> tuple[complex, float]:
        """Where a foot across the other, which it passes in a time [s], is to go first, and how long it has: to its own
        side, and along its way home as far as it gets by then."""
        place, aside = self.apart(self.due[leg], leg, self.goal[leg]), self.clear(k, leg)
        if aside <= 0.0:
            return place, left
        quick, way = landing.QUICK * float(self.stance.length[leg]), place - self.feet[leg]
        if abs(way) <= quick * first:
            return place, min(left, first)
        out = side(self.stance, k, leg, self.feet).way
        soon = min(left, max(first, aside / quick))
        return self.feet[leg] + aside * out + (way - dot(way, out) * out) * (soon / max(left, self.h)), soon

    def lift(self, k: int) -> tuple[list[float], list[float]]:
        """Height of the feet in steps of our own [m], and its rate [m/s]."""
        height, rate = [0.0] * len(self.feet), [0.0] * len(self.feet)
        for leg, since in enumerate(self.since):
            if since >= 0:
                length = max(self.due[leg] - since, 1)
                part, pace = landing.arc((k - since) / length, self.swept[leg])
                height[leg], rate[leg] = self.rise[leg] * part, self.rise[leg] * pace / (length * self.h)
        return height, rate
