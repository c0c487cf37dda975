"""How feet are lifted in steps of our own, and where those land that the clip puts down, when the weight over them is
off the clip's."""

import math
from collections.abc import Sequence
from copy import copy
from typing import TypeVar

import numpy as np

from . import haste, lowering
from .plan import CLOSE, CLOSED, Span, Struck
from .rotation import Array
from .sides import CROSSED, Beside, least, passing, side
from .stance import REST, Stance
from .support import dot, ease, onto, plain, plane, smooth
from .weight import Weight, placed

Number = TypeVar("Number", float, complex)

OUT = 0.01  # [m] that counts as off the clip
NOTICE = 0.1  # [s] from a blow to the first decision
LATE = 0.1  # [s] before it lands in which a foot's goal stays
QUICK = 4.5  # [1/s] lengths of its leg that a foot goes at most, in the mean, to get round the other
HOME = 1.0  # [s] before the end from where feet that all stand go home whatever the balance
FREE = 0.03  # [m] that the pressure under a foot makes up for without the foot being put elsewhere
BACK, WALK = 0.6, 1.2  # of what is off that a foot brings home until the next one lands, and [m/s] at most
BRIEF = 0.15  # [s] that a foot stands at least
STRIDE, SUNK = 0.5, 0.12  # of a leg's length that it reaches from under the weight, and that hips sink for it
LIFT, HIGHER, HIGHEST, SHORT = 0.05, 0.12, 0.12, 0.12  # [m] that a step rises, more per metre, at most; and of a leg
CARRIED = 8.0  # [1/s] pace at which a leg in the air follows its hip: that of the presets' muscles, 1.3 Hz
DRAGGED, SUDDEN = 0.018, 0.6  # [m] that a foot rises which a blow knocks off the ground, and power of time by which


def rise(way: float, length: float, swept: bool) -> float:
    """[m] that a step of so far [m] rises of a leg so long [m].  swept: a blow knocks the foot off the ground."""
    return min((DRAGGED if swept else LIFT) + HIGHER * way, HIGHEST, SHORT * length)


def arc(done: float, swept: bool) -> tuple[float, float]:
    """Height of a step as part of how far it rises, and its rate, when a part of its time is over."""
    done, power = min(max(done, 0.0), 1.0), SUDDEN if swept else 1.0
    s = done**power
    half = s * (1.0 - s)
    return 16.0 * half * half, 32.0 * half * (1.0 - 2.0 * s) * power * s / max(done, 1e-9)


def part(size: float) -> float:
    """How far a foot lands off the clip's, as part of how far the capture point will be, of a size [m]."""
    return max(size - FREE, 0.0) / max(size, 1e-12)


def beyond(stance: Stance, due: int, brought: float) -> float:
    """A factor on that, a little more than 1: so that the weight, pushed home from there, has been brought a part of
    its way when the next foot lands.

    A capture point at c over a pressure at p is at p + (c - p) exp(w T) after a time T; for it to be at r c then, the
    foot must be at c (exp(w T) - r) / (exp(w T) - 1).
    due: the sample at which it lands.
    """
    stands = max((stance.stood[stance.next_landing(due)] - stance.stood[due]) * stance.h, BRIEF)
    return 1.0 + brought / (math.exp(float(stance.sway[due]) * stands) - 1.0)


def is_last(stance: Stance, due: int, leg: int, last: int) -> bool:
    """Whether a foot that comes down at a sample makes no step home any more up to the sample `last`, when all are
    there: the clip's, of which the way through the air is enough, or, where all feet stand long enough, one of our
    own."""
    leaves, rest = stance.stays(due, leg), stance.rests(due)
    steps = 0 <= stance.lands(leaves, leg) <= last or leaves <= last - round((CLOSE - CLOSED) / stance.h)
    return not steps and not (rest >= 0 and rest + REST < last)


def reached(
    stance: Stance, k: int, leg: int, goal: complex, x: complex, hips: complex, wide: float, sunk: float = SUNK
) -> complex:
    """The goal, or as far as the leg gets at sample k with the weight at x: STRIDE from under it, and no farther from
    its hip, sunk by so much of its length, than it is long, or than it gets in the clip, which is so wide [m].

    hips: how far these are off the clip's.
    """
    length = float(stance.length[leg])
    goal = x + _within(goal - x, STRIDE * length)
    own, high = _from_hip(stance, k, leg)
    far = math.sqrt(max(length**2 - (abs(high) - sunk * length) ** 2, 0.0))
    return hips - own + _within(own + goal - hips, max(far, wide))


def stride(stance: Stance, k: int, leg: int) -> float:
    """[m] that a foot is from under its hip at a sample."""
    return abs(_from_hip(stance, k, leg)[0])


def _from_hip(stance: Stance, k: int, leg: int) -> tuple[complex, float]:
    """The way to a foot from its hip at a sample, in the plane and up [m]."""
    x, y, z = (stance.ankle[k, leg] - stance.hip[k, leg]).tolist()
    return complex(x, y), z


def _within(way: complex, most: float) -> complex:
    """The way, no longer than that."""
    return way * min(1.0, most / max(abs(way), 1e-12))


def swung(at: Number, v: Number, goal: Number, left: float, h: float) -> tuple[Number, Number]:
    """Place and velocity of a foot after h [s] on the cubic that has it at rest at its goal in `left` [s]."""
    way = goal - at
    a = 6.0 * way / left**2 - 4.0 * v / left
    j = -12.0 * way / left**3 + 6.0 * v / left**2
    return at + h * v + h * h * (a / 2.0 + h * j / 6.0), v + h * (a + h * j / 2.0)


def carried(at: Number, v: Number, x: Number, rate: Number, h: float) -> tuple[Number, Number]:
    """Place and velocity after h [s] of a foot in the air that goes along with what then is at x and goes at a rate
    [m/s]: a critically damped spring, solved exactly."""
    away, drift, decay = at - x + h * rate, v - rate, math.exp(-CARRIED * h)
    push = drift + CARRIED * away
    return x + decay * (away + h * push), rate + decay * (drift - CARRIED * h * push)


def _aside(foot: complex, there: Beside, room: float) -> complex:
    """A foot's place, but so far [m] or as in the clip on its own side."""
    return foot + there.way * max(min(room, there.own) - there.room, 0.0)


class Lander(Weight):
    """A body whose feet in the air come down where they catch its weight.

    knocks, behind: see `Struck`.  across: of each foot whether it is beyond the other.  clip: the stance before any
    foot is hastened, hasty: of each the sample at which the clip has it land that was hastened last, hangs: (K, L) how
    far its knee is bent at least until then [rad].  driven: of each the way on which it is put down, from now on, which
    it goes besides its own, see `lowering.way`.
    """

    def __init__(self, stance: Stance, blows: Sequence[Span], struck: Struck) -> None:
        super().__init__(stance, 1.0 - struck.weak, blows)
        legs = len(stance.limbs)
        self.knocks, self.across = struck.knocks, [False] * legs
        self.behind: list[complex] = plane(struck.behind).tolist()
        self.clip, self.hasty = stance, [-1] * legs
        self.hangs = np.zeros((len(stance.times), legs))
        self.driven: list[list[tuple[complex, float, complex, float]]] = [[] for _ in range(legs)]

    def aim(self, k: int) -> None:
        """Where the feet that the clip has in the air at sample k are to land, and when."""
        for leg, down in enumerate(self.stance.down[k].tolist()):
            if down or self.since[leg] >= 0:
                continue
            self.due[leg] = due = self.stance.lands(k, leg)
            late = lowering.BRAKES * self.h - 1e-6 if self.driven[leg] else LATE
            if due < 0 or (due - k) * self.h < late or self.stance.times[k] < self.blow - 1e-6:
                continue
            last = self.sample(self.end - CLOSED)
            leads = self.stays and self.stance.next_landing(due) <= last  # the other foot will come to it
            if not leads and is_last(self.stance, due, leg, last):
                self.goal[leg] = self.home
                continue
            self._hasten(k, leg)
            self.due[leg] = due = self.stance.lands(k, leg)
            self.goal[leg] = self.apart(due, leg, self._caught(k, leg, due, *self.foreseen(k, due)))
            if self.driven[leg]:
                self.goal[leg] = self._farther(self.goal[leg], self.driven[leg][-1][0])

    def _drive(self, by: int) -> None:
        """Add or take away by how much feet are driven to the ground."""
        for leg, ways in enumerate(self.driven):
            if ways:
                place, high, rate, rises = ways[0]
                self.feet[leg] += by * place
                self.high[leg] += by * high
                self.going[leg] += by * rate
                self.rising[leg] += by * rises
                self.goal[leg] += by * ways[-1][0]

    def _farther(self, goal: complex, short: complex) -> complex:
        """What of a goal is left to a foot that is put down so far from the clip's place: there it is already as far as
        the goal is that way."""
        there = dot(goal, short) / max(abs(short) ** 2, 1e-12)
        return goal - min(max(there, 0.0), 1.0) * short

    def _caught(self, k: int, leg: int, due: int, x: complex, v: complex) -> complex:
        """Where a foot catches the weight that is due at a sample, weight and velocity then being x and v."""
        stance = self.stance
        off = x + v / float(stance.sway[due]) - self.home
        far = part(abs(off)) * (1.0 if self.stays else beyond(stance, due, self.brought(due, leg, off)))
        goal = self.home + far * off + plain(self.knocks[k, leg])
        wide = stride(self.clip, self.clip.lands(k, leg), leg)
        leaves = stance.stays(due, leg)
        if leaves == len(stance.times) or not stance.flies[leaves]:
            return reached(stance, due, leg, goal, x, x - self.behind[due], wide)
        goal, last = reached(stance, due, leg, goal, x, x - self.behind[due], wide, 0.0), leaves - 1
        x, _ = self.foreseen(k, last)  # runs have no time to sink
        return reached(stance, last, leg, goal, x, x - self.behind[last], stride(self.clip, last, leg), 0.0)

    def brought(self, due: int, leg: int, off: complex) -> float:
        """Part of how far the capture point is off [m] that a foot which lands at sample `due` brings it home until the
        next one lands: no more than that other one, which stays on its own side, can go along."""
        stance, following = self.stance, self.stance.next_landing(due)
        whole = max((following - due) * self.h, BRIEF)
        left = max(self.end - HOME - float(stance.times[due]), whole)
        out = min(max(min(BACK, WALK * whole / max(abs(off), 1e-12)), whole / left), 1.0)
        if len(self.feet) != 2 or stance.lands(stance.stays(due, 1 - leg), 1 - leg) != following:
            return out
        _, _, way, to = stance.pair(following, leg)
        room = max(dot(to, way) - stance.apart, 0.0)
        return min(out, room / max(dot(-off, way), 1e-12)) if dot(off, way) < 0.0 else out

    def _hasten(self, k: int, leg: int) -> None:
        """A foot in the air lands sooner, by how much nearer the feet are to the capture point then, as soon as its leg
        can; of two, while the other stands, and not one that is struck."""
        stance, due = self.stance, self.stance.lands(k, leg)
        waits = len(self.feet) != 2 or not stance.down[k, 1 - leg] or due <= self.hasty[leg]
        if due < 0 or waits or not self.noticed(k) or self.give[self.hit :, leg].min(initial=1.0) < 1.0:
            return
        early = max(haste.soonest(stance, k, leg), k + int(LATE / self.h))
        x, v = self.foreseen(k, early)
        capture = x + v / float(stance.sway[early])
        alone = self._beyond(early, [1 - leg], self.feet, capture)
        if early >= due or alone == 0.0:
            return
        feet, length = list(self.feet), float(stance.length[leg])
        sooner = self._in(haste.hastened(stance, k, leg, early))
        feet[leg] = sooner.apart(early, leg, sooner._caught(k, leg, early, x, v))
        helps = 1.0 - sooner._beyond(early, [0, 1], feet, capture) / alone
        part = ease(alone / (STRIDE * length)) * ease(2.0 * helps)
        for at in range(due - int(part * (due - early)), min(due, stance.stays(k, 1 - leg))):
            sooner = self._in(haste.hastened(stance, k, leg, at))
            hangs, swift = haste.hanging(sooner._swing_to(k, leg, at), length, self.h)
            if swift <= haste.SWIFT:
                self.stance, self.hasty[leg] = sooner.stance, due
                self.hangs[k:, leg] = 0.0
                self.hangs[k : at + 1, leg] = hangs
                return

    def _in(self, stance: Stance) -> "Lander":
        """The same body at the same moment, in another stance."""
        other = copy(self)
        other.stance = stance
        return other

    def _swing_to(self, k: int, leg: int, at: int) -> Array:
        """(at - k + 1, 3) the way from its hip of a foot that from sample k on goes to land at another [m]."""
        stance, now = self.stance, self.x - self.h * self.v  # the weight is a sample ahead of the feet
        x, v = self.foreseen(k, at)
        goal = self.apart(at, leg, self._caught(k, leg, at, x, v))
        high = self.high[leg], stance.risen(at, leg, goal)
        start, end = np.array(placed((self.feet[leg] - now, goal - x), high))
        done = smooth(np.linspace(0.0, 1.0, at - k + 1))[:, None]
        own = stance.ankle[k : at + 1, leg] - stance.hip[k : at + 1, leg]
        return np.asarray(own + start + done * (end - start))

    def _beyond(self, k: int, legs: Sequence[int], feet: Sequence[complex], capture: complex) -> float:
        """[m] that the capture point is farther out than the legs press at sample k."""
        return max(abs(capture - onto(self.pressure_points(k, legs, feet), capture)) - self.rounds[k], 0.0)

    def apart(self, k: int, leg: int, goal: complex) -> complex:
        """The goal, but on the leg's own side of the other as far as the clip's foot is there, or, well before it or
        behind it, as far across as legs get past each other; from across it first goes back to its side."""
        feet = list(self.feet)
        feet[leg] = goal
        there = side(self.stance, k, leg, feet)
        return _aside(goal, there, self.stance.apart if self.across[leg] else self._room(k, leg, there))

    def clear(self, k: int, leg: int) -> float:
        """[m] that a foot still has to go aside to pass the other."""
        there = side(self.stance, k, leg, self.feet)
        return min(there.own, self.stance.apart) - there.room

    def _room(self, k: int, leg: int, there: Beside) -> float:
        """[m] that a foot which lands there at sample k must have on its own side: below 0 it may be across."""
        return max(float(least(there.along, there.wide, self.stance.apart)), -self._across(k, leg))

    def _across(self, k: int, leg: int) -> float:
        """[m] that it may be across, or below 0 must be on its own side: as the other one gets round it until it
        passes next."""
        stance, other = self.stance, 1 - leg
        most = CROSSED * float(stance.length[leg])
        leaves = stance.stays(k, other) if len(self.feet) == 2 else len(stance.times)
        if leaves == len(stance.times):
            return most
        lands = stance.lands(leaves, other)
        first = passing(stance, leaves, lands if lands >= 0 else len(stance.times), other, (0j, 0j))
        return min(most, QUICK * float(stance.length[other]) * first * self.h - stance.apart)

    def noticed(self, k: int) -> bool:
        """Whether feet answer the last blow already."""
        return bool(self.stance.times[k] >= self.blow + NOTICE - 1e-6)

    def sample(self, time: float) -> int:
        """The first one from a time [s] on."""
        return math.ceil((time - float(self.stance.times[0])) / self.h - 1e-6)
