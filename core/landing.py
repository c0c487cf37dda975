"""How feet are lifted in steps of our own, and where those land that the clip puts down, when the weight over them is
off the clip's."""

from collections.abc import Sequence

import numpy as np

from . import haste
from .plan import CLOSED, Span
from .rotation import Array
from .sides import CROSSED, abreast, least, own_room, side
from .stance import REST, Stance
from .support import ease, nearest, norm, smooth
from .weight import Weight

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


def arc(done: Array, swept: np.ndarray) -> tuple[Array, Array]:
    """(L,) height of steps as part of how far they rise, and its rate, when parts (L,) of their time are over."""
    done, power = np.clip(done, 0.0, 1.0), np.where(swept, SUDDEN, 1.0)
    s = done**power
    half = s * (1.0 - s)
    return 16.0 * half * half, 32.0 * half * (1.0 - 2.0 * s) * power * s / np.maximum(done, 1e-9)


def part(size: float) -> float:
    """How far a foot lands off the clip's, as part of how far the capture point will be, of a size [m]."""
    return max(size - FREE, 0.0) / max(size, 1e-12)


def beyond(stance: Stance, due: int, size: float, home: float) -> float:
    """A factor on that, a little more than 1: so that the weight, pushed home from there, has gone a part of its way
    when the next foot lands.

    A capture point at c over a pressure at p is at p + (c - p) exp(w T) after a time T; for it to be at r c then, the
    foot must be at c (exp(w T) - r) / (exp(w T) - 1).
    due: the sample at which it lands.  home: by when the weight is to be there [s].
    """
    h = float(stance.times[1] - stance.times[0])
    after = stance.next_landing(due)
    stands = max(float(stance.down[due:after].any(axis=1).sum()) * h, BRIEF)
    whole = max((after - due) * h, BRIEF)
    left = max(home - float(stance.times[due]), whole)
    back = min(max(min(BACK, WALK * whole / max(size, 1e-12)), whole / left), 1.0)
    return 1.0 + back / (float(np.exp(stance.pace[due] * stands)) - 1.0)


def is_last(stance: Stance, due: int, leg: int, last: int) -> bool:
    """Whether a foot that comes down at a sample makes no step any more up to the sample `last`, the clip's or, where
    all feet stand long enough, one of our own."""
    again, rest = stance.lands(stance.stays(due, leg), leg), stance.rests(due)
    own = rest >= 0 and rest + REST < last
    return not own and not 0 <= again <= last


def reached(stance: Stance, k: int, leg: int, goal: Array, x: Array, wide: float, sunk: float = SUNK) -> Array:
    """The goal (2,), or as far as the leg gets at sample k with the weight at x (2,): STRIDE from under it, and no
    farther from its hip, sunk by so much of its length, than it is long, or than it gets in the clip, which is so wide
    [m]."""
    length = float(stance.length[leg])
    goal = x + _within(goal - x, STRIDE * length)
    own = stance.ankle[k, leg] - stance.hip[k, leg]
    high = abs(float(own[2])) - sunk * length
    far = float(np.sqrt(max(length**2 - high**2, 0.0)))
    return np.asarray(x - own[:2] + _within(own[:2] + goal - x, max(far, wide)))


def stride(stance: Stance, k: int, leg: int) -> float:
    """[m] that a foot is from under its hip at a sample."""
    return norm((stance.ankle - stance.hip)[k, leg, :2])


def _within(way: Array, most: float) -> Array:
    """The way (2,), no longer than that."""
    return np.asarray(way * min(1.0, most / max(norm(way), 1e-12)))


def swung(at: Array, v: Array, goal: Array, left: float, h: float) -> tuple[Array, Array]:
    """Place and velocity (n,) of a foot after h [s] on the cubic that has it at rest at its goal in `left` [s]."""
    way = goal - at
    a = 6.0 * way / left**2 - 4.0 * v / left
    j = -12.0 * way / left**3 + 6.0 * v / left**2
    return at + h * v + h * h * (a / 2.0 + h * j / 6.0), v + h * (a + h * j / 2.0)


def carried(at: Array, v: Array, x: Array, rate: Array, h: float) -> tuple[Array, Array]:
    """Place and velocity (n,) after h [s] of a foot in the air that goes along with what then is at x (n,) and goes at
    a rate (n,) [m/s]: a critically damped spring, solved exactly."""
    away, drift, decay = at - x + h * rate, v - rate, np.exp(-CARRIED * h)
    push = drift + CARRIED * away
    return x + decay * (away + h * push), rate + decay * (drift - CARRIED * h * push)


class Lander(Weight):
    """A body whose feet in the air come down where they catch its weight.

    knocks: see `Struck`.  across: (L,) bool, feet beyond the other.  clip: the stance before any foot is hastened,
    hasty: (L,) the sample at which the clip has the one land that was hastened last, hangs: (K, L) how far its knee is
    bent at least until then [rad].
    """

    def __init__(self, stance: Stance, give: Array, blows: Sequence[Span], knocks: Array) -> None:
        super().__init__(stance, give, blows)
        legs = len(stance.limbs)
        self.knocks, self.across = knocks, np.zeros(legs, dtype=bool)
        self.clip, self.hasty = stance, np.full(legs, -1)
        self.hangs = np.zeros((len(stance.times), legs))

    def aim(self, k: int) -> None:
        """Where the feet that the clip has in the air at sample k are to land, and when."""
        for leg in map(int, np.flatnonzero(~self.stance.down[k] & (self.since < 0))):
            self.due[leg] = due = self.stance.lands(k, leg)
            if due < 0 or (due - k) * self.h < LATE or self.stance.times[k] < self.blow - 1e-6:
                continue
            last = self.sample(self.end - CLOSED)
            leads = self.stays and self.stance.next_landing(due) <= last  # the other foot will come to it
            if not leads and is_last(self.stance, due, leg, last):
                self.goal[leg] = self.home
                continue
            self._hasten(k, leg)
            self.due[leg] = due = self.stance.lands(k, leg)
            goal = self._caught(k, leg, due, *self.foreseen(k, due))
            self.goal[leg] = self._leaving_room(due, leg, self.apart(due, leg, goal), last)
            if self.across[leg]:
                self.aside = self.goal[leg] - goal

    def _leaving_room(self, due: int, leg: int, goal: Array, last: int) -> Array:
        """The goal (2,) of a foot of two, but where it gets round the other again that goes home next, for good."""
        if len(self.feet) != 2 or self.stays:
            return goal
        then = self.stance.lands(self.stance.stays(due, 1 - leg), 1 - leg)
        if then < 0 or not is_last(self.stance, then, 1 - leg, last):
            return goal
        feet = np.tile(self.home, (2, 1))
        feet[leg] = goal
        return self._beside(then, leg, feet, self._room(then, 1 - leg, feet))

    def _caught(self, k: int, leg: int, due: int, x: Array, v: Array) -> Array:
        """(2,) where a foot catches the weight that is due at a sample, weight and velocity then being x, v (2,)."""
        stance = self.stance
        off = x + v / float(stance.pace[due]) - self.home
        size = norm(off)
        far = part(size) * (1.0 if self.stays else beyond(stance, due, size, self.end - HOME))
        goal = self.home + far * off + self.knocks[k, leg]
        wide = stride(self.clip, self.clip.lands(k, leg), leg)
        leaves = stance.stays(due, leg)
        if leaves == len(stance.times) or not stance.flies[leaves]:
            return reached(stance, due, leg, goal, x, wide)
        goal, last = reached(stance, due, leg, goal, x, wide, 0.0), leaves - 1  # runs have no time to sink
        return reached(stance, last, leg, goal, self.foreseen(k, last)[0], stride(self.clip, last, leg), 0.0)

    def _hasten(self, k: int, leg: int) -> None:
        """A foot in the air lands sooner, by how much nearer the feet are to the capture point then, as soon as its leg
        can; of two, while the other stands, and not one that is struck."""
        stance, due = self.stance, self.stance.lands(k, leg)
        waits = len(self.feet) != 2 or not stance.down[k, 1 - leg] or due <= self.hasty[leg]
        if due < 0 or waits or not self.noticed(k) or self.give[self.hit :, leg].min(initial=1.0) < 1.0:
            return
        early = max(haste.soonest(stance, k, leg), k + int(LATE / self.h))
        x, v = self.foreseen(k, early)
        capture = x + v / float(stance.pace[early])
        alone = self._beyond(early, np.arange(2) != leg, self.feet, capture)
        if early >= due or alone == 0.0:
            return
        self.stance = haste.hastened(stance, k, leg, early)
        feet, length = self.feet.copy(), float(stance.length[leg])
        feet[leg] = self.apart(early, leg, self._caught(k, leg, early, x, v))
        helps = 1.0 - self._beyond(early, np.ones(2, dtype=bool), feet, capture) / alone
        part = ease(alone / (STRIDE * length)) * ease(2.0 * helps)
        for at in range(due - int(part * (due - early)), min(due, stance.stays(k, 1 - leg))):
            self.stance = haste.hastened(stance, k, leg, at)
            hangs, swift = haste.hanging(self._swing_to(k, leg, at), length, self.h)
            if swift <= haste.SWIFT:
                self.hangs[k:, leg], self.hasty[leg] = 0.0, due
                self.hangs[k : at + 1, leg] = hangs
                return
        self.stance = stance

    def _swing_to(self, k: int, leg: int, at: int) -> Array:
        """(at - k + 1, 3) the way from its hip of a foot that from sample k on goes to land at another [m]."""
        stance, some = self.stance, slice(k, at + 1)
        x, v = self.foreseen(k, at)
        goal = self.apart(at, leg, self._caught(k, leg, at, x, v))
        ends = np.array([*goal, stance.risen(at, leg, goal)]), np.append(x, 0.0)
        starts = self.place[leg], np.append(self.x - self.h * self.v, 0.0)  # the weight is a sample ahead of the feet
        done = np.asarray(smooth(np.linspace(0.0, 1.0, at - k + 1)))[:, None]
        foot, weight = (a + done * (b - a) for a, b in zip(starts, ends, strict=True))
        return np.asarray((stance.ankle - stance.hip)[some, leg] + foot - weight)

    def drawn(self, k: int) -> Array:
        """(L,) [m] by how much nearer to their hips feet hang at a sample than they are led."""
        hangs, stance = self.hangs[k], self.stance
        way = (stance.ankle - stance.hip)[k] + self.place - np.append(self.x, 0.0)
        far = np.minimum(np.linalg.norm(way, axis=-1), stance.length)
        return np.asarray((hangs > 0.0) * np.maximum(far - stance.length * np.cos(0.5 * hangs), 0.0))

    def _beyond(self, k: int, legs: np.ndarray, feet: Array, capture: Array) -> float:
        """[m] that the capture point (2,) is farther out than the legs (L,) bool press at sample k."""
        out = norm(capture - nearest(self.pressure_points(k, legs, feet), capture))
        return max(out - self.rounds[k], 0.0)

    def apart(self, k: int, leg: int, goal: Array, passes: bool = False) -> Array:
        """The goal, but on the leg's own side of the other as far as the clip's foot is there, or, well before it or
        behind it, as far across as legs get past each other; from across it first goes back to its side, and so does
        one that has yet to pass the other."""
        feet = self.feet.copy()
        feet[leg] = goal
        if passes or self.across[leg]:
            return self._beside(k, leg, feet, self.stance.apart)
        return self._beside(k, leg, feet, self._room(k, leg, feet))

    def clear(self, k: int, leg: int) -> float:
        """[m] that a foot still has to go aside to pass the other."""
        return min(own_room(self.stance, k, leg), self.stance.apart) - float(side(self.stance, k, leg, self.feet).room)

    def _room(self, k: int, leg: int, feet: Array) -> float:
        """[m] that a foot which lands at sample k must have on its own side, feet (L, 2) off the clip's: below 0 it
        may be across."""
        there = side(self.stance, k, leg, feet)
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
        passes = abreast(stance, leaves, lands if lands >= 0 else len(stance.times), other, np.zeros((2, 2)))
        first = int(np.argmax(np.append(passes, True)))
        return min(most, QUICK * float(stance.length[other]) * first * self.h - stance.apart)

    def _beside(self, k: int, leg: int, feet: Array, room: float) -> Array:
        """(2,) a foot's place, feet (L, 2) off the clip's, but so far [m] or as in the clip on its own side."""
        there, own = side(self.stance, k, leg, feet), own_room(self.stance, k, leg)
        return np.asarray(feet[leg] + there.way * max(min(room, own) - float(there.room), 0.0))

    def noticed(self, k: int) -> bool:
        """Whether feet answer the last blow already."""
        return bool(self.stance.times[k] >= self.blow + NOTICE - 1e-6)

    def sample(self, time: float) -> int:
        """The first one from a time [s] on."""
        return int(np.ceil((time - float(self.stance.times[0])) / self.h - 1e-6))
