"""Recovery steps: where the feet go when a blow takes the weight beyond them, and how the weight comes back.

Everything is a deviation from the clip, so a clip without a blow has none: the clip balances itself, however
an artist made it.  A foot that is in the air lands where the capture point will be, along the clip's own timing; where
all feet stand, one is lifted and put there, and goes home later, of four those on a diagonal.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import landing
from .landing import OUT, Lander
from .plan import CLOSED, UNSEEN, Move, Span, Struck, closing
from .rotation import Array
from .sides import abreast, side
from .stance import Stance
from .support import ahead, fall, nearest, norm
from .weight import ROUND

SWING, LEG, FARTHER = 0.28, 0.9, 0.1  # [s] that a step takes of a leg of this length [m], and more per metre of way
BRISK = 0.2  # [s] that it takes at least
STRAINED = 0.4  # of a leg's length that feet are away from under the weight before they follow
MISSED = 2.0  # [m] that a step may be longer for each by which it catches the weight better
AIMED = 0.2  # [s] before it lands from where on a foot that the clip has in the air goes there
ADRIFT = 0.15  # [m] that the weight may be off when the end comes near
LOST = 0.8  # of its height, and of a leg's length, that the weight may be away from the feet before the body falls
Choice = tuple[float, tuple[int, ...], Array, float]


class Walker(Lander):
    """The weight and the feet of a body while it looks for its balance; one `advance` per sample.

    push: (B, K, 2) change of the weight's velocity by each blow in each sample [m/s].  struck: what blows do to legs.
    blows: in order.  What happens before a blow doesn't know of it.
    rise: (L,) to which a step goes [m], swept: (L,) bool, one that a blow began.  pull: (2,) the ground's [m/s^2].
    swing: [s] that a step takes.  lost: [s] when the balance was.  calm: the last sample in which a blow does anything.
    """

    def __init__(self, stance: Stance, push: Array, struck: Struck, blows: Sequence[Span]) -> None:
        super().__init__(stance, 1.0 - struck.weak, blows, struck.knocks)
        self.push, self.sweeps = push, struck.sweeps
        legs = len(stance.limbs)
        self.rise, self.swept, self.pull = np.zeros(legs), np.zeros(legs, dtype=bool), np.zeros(2)
        self.moves: list[Move] = []
        self.swing = max(SWING * float(np.sqrt(stance.length.mean() / LEG)), BRISK)
        stirs = push.any(axis=(0, 2)) | (struck.weak > 0.0).any(axis=1) | struck.knocks.any(axis=(1, 2))
        self.calm = max([int(np.flatnonzero(stirs).max(initial=0)), *(sweep.due for sweep in struck.sweeps)])
        self.lost: float | None = None
        self.astray = False  # not home when the end comes near

    def advance(self, k: int) -> None:
        """From sample k to the next."""
        stance, h, pace = self.stance, self.h, float(self.stance.pace[k])
        self.feel(k)
        self._land(k)
        self._sweep(k)
        carries = self.carries(k, self.stands(k))
        capture = self.x + self.v / pace
        if carries.any():
            points = self.pressure_points(k, carries)
            p = self.pressure(k, points, capture, self.x)
            far = LOST * min(float(stance.height[k]), float(stance.length.mean()))
            if norm(self.x - points[0]) > far and norm(self.x - nearest(points, self.x)) > far:
                self.lost = float(stance.times[k])
                return
            if self.noticed(k):
                self._decide(k, carries, points, capture)
            x, v = fall(self.x, self.v, p, pace, h)
        else:
            x, v = self.borne_by_nothing(k, self.x, self.v, h)
        self.pull = (v - self.v) / h
        push = self.push[:, k]
        self.moved[1:, 0] += h * (self.moved[1:, 1] + 0.5 * push[1:])
        self.moved[1:, 1] += push[1:]
        push = push.sum(axis=0)
        self.x, self.v = x + 0.5 * h * push, v + push
        self.aim(k)
        self._swing(k)
        self._close(k)

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
            slides = np.linalg.norm(self.feet - self.home, axis=-1)[fade & self.stands(k)]
            self.astray = bool(slides.max(initial=0.0) > OUT or norm(self.x - self.home) > ADRIFT)
        self.x, self.v, self.rise = self.home + left * (self.x - self.home), left * self.v, left * self.rise
        self.feet[fade] = self.home + left * (self.feet[fade] - self.home)
        level = self._level(k)
        self.high[fade] = (level + left * (self.high - level))[fade]
        self.velocity *= left

    def _fade(self, k: int) -> np.ndarray:
        """(L,) bool, feet that go home with the rest: all but those on the ground that have a step to come."""
        last = self.sample(self.end - CLOSED)
        steps = [self.stance.stays(k, leg) < last for leg in range(len(self.feet))]
        return ~(self.stands(k) & np.array(steps))

    def rates(self, k: int) -> tuple[Array, Array]:
        """(2,) of the weight and (L, 3) of the feet at sample k [m/s], but for the lift of steps."""
        left, slope = self.closing(k)
        pace = slope / left if left > 0.0 else 0.0
        if pace == 0.0:
            return self.v, self.velocity
        away = np.column_stack((self.feet - self.home, self.high - self._level(k)))
        return self.v + pace * (self.x - self.home), self.velocity + pace * self._fade(k)[:, None] * away

    def _level(self, k: int) -> Array:
        """(L,) [m] by how much the ground is higher than the clip's where feet are home."""
        return np.array([self.stance.risen(k, leg, self.home) for leg in range(len(self.feet))])

    def is_home(self, k: int) -> bool:
        """Whether nothing will be off home any more from sample k on."""
        later = any(blow.start > self.stance.times[k] + 1e-6 for blow in self.blows)
        return not later and k > self.sample(self.end - CLOSED) and bool((self.since < 0).all())

    def is_over(self, k: int) -> bool:
        """Whether nobody sees what will be off the clip from sample k on, before the end closes it."""
        if k <= self.calm or self.home.any() or (self.since >= 0).any() or self.closing(k)[0] < 1.0:
            return False
        pace = float(self.stance.pace[k])
        goals = self.goal[self.due >= 0]
        off = (self.x, self.v / pace, self.place, self.velocity / pace, goals)
        return max(float(np.abs(way).max(initial=0.0)) for way in off) < UNSEEN

    def _land(self, k: int) -> None:
        """Feet that come down at this sample."""
        own = (self.since >= 0) & (self.due <= k)
        clips = (self.since < 0) & (self.due >= 0) & (self.due <= k)
        for leg in np.flatnonzero(own | clips):
            self.velocity[leg] = 0.0
            if self.stays and norm(self.goal[leg]) > OUT:
                self.home = self.goal[leg].copy()
            self.aside = np.zeros(2)
        self.since[own] = -1
        self.due[own | clips] = -1
        for leg in np.flatnonzero(self.stands(k) & self.feet.any(axis=1).any()):
            self.across[leg] = len(self.feet) == 2 and self.clear(k, int(leg)) > OUT

    def _decide(self, k: int, carries: np.ndarray, points: Array, capture: Array) -> None:
        """Lift feet where all stand: to catch the weight, or to go home."""
        stance = self.stance
        if not self.stands(k).all() or len(points) < 2:
            return
        off = capture - nearest(points, capture)
        away = np.linalg.norm(self.feet - self.home, axis=-1)
        behind = np.linalg.norm(self.feet - self.x, axis=-1) / stance.length
        many, last = len(away) > 2, self.moves[-1].leg if self.moves else -1
        turns = [legs for legs in stance.parties if not many or last not in legs]  # diagonals take turns
        steps = []
        if norm(off) > self.rounds[k]:
            steps = [self._catch(k, legs, carries, capture) for legs in turns]
        elif many and behind.max() > STRAINED and (legs := stance.party(int(np.argmax(behind)))) in turns:
            there = self._without(k, legs, carries, capture)[1]  # four legs don't lunge: they follow
            steps = [(0.0, legs, np.tile(there, (len(legs), 1)), self.swing)]
        elif away.max() > OUT:
            legs, seconds = stance.party(int(np.argmax(away))), self.swing + FARTHER * float(away.max())
            if self._can_go_home(k, legs, carries, capture):
                steps = [(0.0, legs, np.tile(self.home, (len(legs), 1)), seconds)]
        if steps:
            _, legs, goals, seconds = min(steps, key=lambda step: step[0])
            due = k + int(round(seconds / self.h))
            if due < min(stance.stays(k, other) for other in range(len(carries))) and due < len(stance.times):
                for leg, goal in zip(legs, goals, strict=True):
                    self._lift(k, leg, goal, due)

    def _sweep(self, k: int) -> None:
        """Feet that are knocked off the ground, on their own side."""
        for leg, _, due, way in (sweep for sweep in self.sweeps if sweep.start == k):
            aloft = self.since[leg] >= 0
            goal = self.apart(k, leg, (self.goal if aloft else self.feet)[leg] + way)
            if not aloft:
                self._lift(k, leg, goal, due, True)
            elif (self.due[leg] - k) * self.h > landing.LATE:  # it lands elsewhere, when it would have
                self.goal[leg] = goal
                step = max(i for i, move in enumerate(self.moves) if move.leg == leg)
                self.moves[step] = replace(self.moves[step], way=(float(goal[0]), float(goal[1])))

    def _lift(self, k: int, leg: int, goal: Array, due: int, swept: bool = False) -> None:
        times = self.stance.times
        way = norm(goal - self.feet[leg])
        self.since[leg], self.due[leg], self.goal[leg], self.swept[leg] = k, due, goal, swept
        self.rise[leg] = landing.rise(way, float(self.stance.length[leg]), swept)
        self.moves.append(Move(leg, float(times[k]), float(times[due]), (float(goal[0]), float(goal[1]))))

    def _catch(self, k: int, legs: tuple[int, ...], carries: np.ndarray, capture: Array) -> Choice:
        """(cost, legs, goals (l, 2), seconds) of a step with these legs to where the weight will be."""
        stance, pace = self.stance, float(self.stance.pace[k])
        points, _ = self._without(k, legs, carries, capture)
        on = nearest(points, capture)
        out = capture - on
        way = out / max(norm(out), 1e-12)
        stands = np.array([stance.soles[k, stance.owner == leg].mean(axis=0) + self.feet[leg] for leg in legs])
        seconds, feet = self.swing, self.feet[list(legs)]
        for _ in range(2):  # a longer step takes longer
            there = ahead(capture, on + ROUND * way, pace, seconds)
            far = max(float(((there - stands + stance.nominal[k]) @ way).min()) + ROUND, 0.0)
            x = fall(self.x, self.v, on, pace, seconds)[0]
            wide = [landing.stride(stance, k, leg) for leg in legs]
            ways = [self.feet[leg] + far * way for leg in legs]
            goals = np.array(
                [landing.reached(stance, k, *each) for each in zip(legs, ways, [x] * len(legs), wide, strict=True)]
            )
            if len(legs) == 1:  # those of a diagonal may cross the others, which come after
                goals[0] = self.apart(k, legs[0], goals[0])
            most = float(np.linalg.norm(goals - feet, axis=-1).max())
            seconds = self.swing + FARTHER * most
        after = np.concatenate((points, stands - stance.nominal[k] + goals - feet))
        return most + MISSED * norm(there - nearest(after, there)), legs, goals, seconds

    def _without(self, k: int, legs: tuple[int, ...], carries: np.ndarray, capture: Array) -> tuple[Array, Array]:
        """(s, 2) soles that carry but for these legs, and where over them the capture point (2,) gets in a step."""
        points = self.pressure_points(k, carries & ~np.isin(np.arange(len(carries)), legs))
        return points, ahead(capture, self.pressure(k, points, capture, self.x), float(self.stance.pace[k]), self.swing)

    def _can_go_home(self, k: int, legs: tuple[int, ...], carries: np.ndarray, capture: Array) -> bool:
        """Whether the weight will be over the feet when these are home."""
        if self.stance.times[k] > self.end - landing.HOME:
            return True
        points, there = self._without(k, legs, carries, capture)
        back = self.stance.soles[k, np.isin(self.stance.owner, legs)] + self.home - self.stance.nominal[k]
        return norm(there - nearest(np.concatenate((points, back)), there)) < ROUND

    def _swing(self, k: int) -> None:
        """Move the feet in the air: those of the clip along with the weight, then to where they land, at rest there."""
        for leg in map(int, np.flatnonzero(self.due >= 0)):
            left = (self.due[leg] - k) * self.h
            if self.since[leg] >= 0:
                done = (k - self.since[leg]) / max(self.due[leg] - self.since[leg], 1)
                if done < 0.12:
                    continue
                left -= 0.05 * (self.due[leg] - self.since[leg]) * self.h
            place, due, at, v = self.goal[leg], int(self.due[leg]), self.place[leg], self.velocity[leg]
            passes = abreast(self.stance, k, due, leg, self.feet) if len(self.feet) == 2 else np.zeros(1, dtype=bool)
            if self.since[leg] < 0 and left > AIMED and not self.across[leg]:
                at[:], v[:] = self._along(k, leg, bool(passes.any()))
                continue
            if passes.any() or self.across[leg]:
                place, left = self._past(k, leg, left, int(np.argmax(np.append(passes, True))) * self.h)
            goal = np.array([*place, self.stance.risen(due, leg, place)])
            at[:], v[:] = (goal, 0.0) if left <= self.h else landing.swung(at, v, goal, left, self.h)

    def _along(self, k: int, leg: int, passes: bool) -> tuple[Array, Array]:
        """Place and velocity (3,) of a foot that goes along with the weight, on its own side, over its ground."""
        place = self.apart(k, leg, self.x, passes)
        rate = self.v * bool(np.all(place == self.x))
        to = np.array([*place, self.stance.risen(int(self.due[leg]), leg, place)])
        rates = np.array([*rate, rate @ self.stance.grade])
        return landing.carried(self.place[leg], self.velocity[leg], to, rates, self.h)

    def _past(self, k: int, leg: int, left: float, first: float) -> tuple[Array, float]:
        """Where a foot that passes the other in a time [s] is to go first, and how long it has: to its own side, and
        along its way home as far as it gets by then."""
        place = self.apart(int(self.due[leg]), leg, self.goal[leg], True)
        if not self.across[leg]:
            return place, left
        quick, way = landing.QUICK * float(self.stance.length[leg]), place - self.feet[leg]
        if norm(way) <= quick * first:
            return place, min(left, first)
        out = side(self.stance, k, leg, self.feet).way
        aside = max(self.clear(k, leg), 0.0)
        soon = min(left, max(first, aside / quick))
        return self.feet[leg] + aside * out + (way - (way @ out) * out) * (soon / max(left, self.h)), soon

    def lift(self, k: int) -> tuple[Array, Array]:
        """(L,) height of the feet in steps of our own [m], and its rate [m/s]."""
        if (self.since < 0).all():
            return np.zeros(len(self.since)), np.zeros(len(self.since))
        length = np.maximum(self.due - self.since, 1)
        height, rate = landing.arc((k - self.since) / length, self.swept)
        rise = np.where(self.since >= 0, self.rise, 0.0)
        return rise * height, rise * rate / (length * self.h)
