"""Broken motion from good, seeded: at least fourteen ways, each at three strengths.

Strengths are given in degrees, centimetres and seconds of the canonical figure; they were chosen for what is plainly
broken to the eye at middle strength; some were redefined while the checks were developed, see docs/quality.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.hinges import UPPER
from core.quality.verdict import figure_of
from core.reference import to_joints, to_world
from core.roles import base_role
from core.rotation import between, conjugate, exp, log, multiply, rotate

from . import cases

RATE = cases.RATE
AFTER = 0.3  # [s] after a blow, which is a jolt itself, at which a pose that jumps is a fault
APART = 0.1  # [m] a hand's breadth, by which limbs of two sides must differ to be worth swapping
STRENGTHS = ("slight", "middle", "full")
VISIBLE = 0.03  # [m] a corruption that neither turns nor displaces anything enough to be seen is none


class Work:
    """A case taken apart: joint rotations and positions of motion and clip, by body."""

    def __init__(self, case, rng):
        actor = case.actor
        self.case, self.actor, self.rng = case, actor, rng
        self.model = actor.model(np.ones(len(actor.names), dtype=bool), max(actor.first("pelvis"), 0))
        self.times = case.motion.times
        self.q, self.p = actor.canonical(case.motion)
        self.joint_q, self.joint_p = to_joints(self.model, self.q, self.p)
        self.axes = actor.axes(self.q[0])

    def start(self, length, later=0.0):
        """A moment at which something of that length fits; where there is a hit, with it or so much later [s]."""
        free = self.times[-1] - self.times[0] - length - 0.3
        if self.case.blow is not None:
            return self.case.blow.time + later
        return self.times[0] + 0.15 + self.rng.random() * max(free - 0.15, 0.0)

    def turned(self, body, world):
        """World poses with a body and all it carries turned by world rotation vectors (T, 3) about its joint."""
        q = self.joint_q.copy()
        q[:, body] = multiply(q[:, body], exp(rotate(conjugate(self.q[:, body]), world)))
        return to_world(self.model, q, self.joint_p)

    def moved(self, way):
        """World poses displaced by (T, 3) [m]."""
        return self.q, self.p + way[:, None]

    def limb(self, *roles):
        """A body with one of the roles, drawn."""
        found = [i for i, r in enumerate(self.actor.roles) if base_role(r) in roles and np.any(self.actor.axis[i])]
        return int(self.rng.choice(found)) if found else None

    def deviation(self):
        """turn (T, n, 3) and travel (T, n, 3) of the joints from the clip's, and the clip's joints."""
        own_q, own_p = to_joints(self.model, *self.actor.canonical(self.case.clip))
        return log(multiply(conjugate(own_q), self.joint_q)), self.joint_p - own_p, own_q, own_p

    def rebuilt(self, turn, travel, own_q, own_p):
        return to_world(self.model, multiply(own_q, exp(turn)), own_p + travel)

    def bump(self, length, start=None):
        """(T,) 0..1..0, smooth."""
        start = self.start(length) if start is None else start
        u = np.clip((self.times - start) / length, 0.0, 1.0)
        return np.sin(np.pi * u) ** 2

    def plateau(self, hold, ramp=0.15, start=None):
        """(T,) 0..1 held..0."""
        start = self.start(hold + 2.0 * ramp) if start is None else start
        up = np.clip((self.times - start) / ramp, 0.0, 1.0)
        down = np.clip((start + hold + 2.0 * ramp - self.times) / ramp, 0.0, 1.0)
        return 0.5 * (1.0 - np.cos(np.pi * np.minimum(up, down)))


def spun(work, size):
    """A limb or the head is spun about and back within half a second; size: deg."""
    body = work.limb("upper_arm", "thigh", "head", "forearm")
    axis = work.rng.normal(size=3)
    return work.turned(body, np.radians(size) * work.bump(0.5)[:, None] * axis / np.linalg.norm(axis))


def overbent(work, size):
    """An elbow or knee bends the wrong way; size: deg beyond straight."""
    body = work.limb("forearm", "shin")
    if body is None:
        return None
    hinge = rotate(work.q[:, body], work.actor.hinge_axis(body))
    up = int(work.actor.parent[body])
    while base_role(work.actor.roles[up]) != UPPER[base_role(work.actor.roles[body])]:
        up = int(work.actor.parent[up])
        if up < 0:
            return None
    above, below = work.p[:, body] - work.p[:, up], rotate(work.q[:, body], work.actor.axis[body])
    bend = np.arctan2(np.einsum("ti,ti->t", hinge, np.cross(above, below)), np.einsum("ti,ti->t", above, below))
    return work.turned(body, -((bend + np.radians(size)) * work.plateau(0.3))[:, None] * hinge)


def frozen(work, size):
    """The pose stands still and then catches up; size: s."""
    start = work.start(size + 0.1)
    u = np.where((work.times > start) & (work.times < start + size), start, work.times)
    late = (work.times >= start + size) & (work.times < start + size + 0.1)
    u = np.where(late, start + (size + 0.1) * (work.times - start - size) / 0.1, u)
    if work.case.blow is not None:  # where the hit shows
        u = np.where(work.times < start + 0.15, work.times, np.maximum(u, np.minimum(work.times, start + 0.15)))
    at = np.clip(np.round((u - work.times[0]) * RATE).astype(int), 0, len(u) - 1)
    return work.q[at], work.p[at]


def teleport(work, size):
    """The body is elsewhere for a quarter of a second; size: cm."""
    start, way = work.start(0.25), work.rng.normal(size=3) * [1.0, 1.0, 0.0]
    inside = (work.times >= start) & (work.times < start + 0.25)
    return work.moved(0.01 * size * inside[:, None] * way / np.linalg.norm(way))


def _pop(work, size, amount):
    q, p = work.joint_q.copy(), work.joint_p
    for _ in range(3):
        body, axis = work.limb("spine", "neck", "head", "upper_arm", "forearm", "thigh"), work.rng.normal(size=3)
        turn = np.radians(size) * amount[:, None] * axis / np.linalg.norm(axis)
        q[:, body] = multiply(q[:, body], exp(turn))
    return to_world(work.model, q, p)


def _fading(work, start, rising):
    u = (work.times - start) / 0.6
    ramp = 0.5 - 0.5 * np.cos(np.pi * np.clip(u, 0.0, 1.0))
    return np.where((u >= 0.0) & (u <= 1.0 + 1e-9), ramp if rising else 1.0 - ramp, 0.0)


def pop_in(work, size):
    """The pose jumps at once and comes back slowly; size: deg in each of three joints."""
    return _pop(work, size, _fading(work, work.start(0.6, AFTER), False))


def pop_out(work, size):
    """The pose leaves slowly and jumps back; size: deg in each of three joints."""
    return _pop(work, size, _fading(work, work.start(0.6), True))


def loose_start(work, size):
    """The first pose isn't the clip's; size: deg in each of three joints."""
    return _pop(work, size, _fading(work, work.times[0], False))


def loose_end(work, size):
    """The last pose isn't the clip's; size: deg in each of three joints."""
    return _pop(work, size, _fading(work, work.times[-1] - 0.6, True))


def trembling(work, size):
    """All joints shake at 6 to 12 Hz; size: deg."""
    q = work.joint_q.copy()
    for i in range(len(work.actor.names)):
        if base_role(work.actor.roles[i]) in ("", "root", "helper"):
            continue
        f, phase = work.rng.uniform(6.0, 12.0, (3, 1)), work.rng.uniform(0.0, 2.0 * np.pi, (3, 1))
        q[:, i] = multiply(
            q[:, i], exp(np.radians(size) / np.sqrt(3.0) * np.sin(2.0 * np.pi * f * work.times + phase).T)
        )
    return to_world(work.model, q, work.joint_p)


def through_body(work, size):
    """An arm (of an animal a fore leg) goes through the trunk; size: part of the way to the trunk's middle."""
    body, chest = work.limb("upper_arm"), work.actor.first("chest")
    hand = next((i for i, r in enumerate(work.actor.roles) if r == "hand." + work.actor.roles[body][-1]), None)
    if hand is None or chest < 0:
        return None
    aim = work.p[:, chest] - work.p[:, body]
    w = log(between(work.p[:, hand] - work.p[:, body], aim))
    return work.turned(body, size * work.plateau(0.35)[:, None] * w)


def through_limb(work, size):
    """A leg goes through the other; size: part of the way to beyond it."""
    body = work.limb("thigh")
    side, other = ("L", "R") if work.actor.roles[body].endswith("L") else ("R", "L")
    ends = [work.actor.first("{}.{}".format(role, s)) for role, s in (("foot", side), ("shin", other), ("foot", other))]
    if min(ends) < 0:
        return None
    foot, knee, ankle = (work.p[:, i] for i in ends)
    aim = 0.5 * (knee + ankle) + 0.25 * (ankle - foot) - work.p[:, body]
    w = log(between(foot - work.p[:, body], aim))
    return work.turned(body, size * work.plateau(0.35)[:, None] * w)


def sliding(work, size):
    """The body glides to the side, fastest while a foot stands, and comes back; size: cm."""
    way = work.axes[0] * work.rng.choice([-1.0, 1.0]) + work.axes[1] * work.rng.normal() * 0.5
    feet = [i for i, r in enumerate(work.actor.roles) if base_role(r) == "foot"]
    start = work.start(0.7)
    near = np.abs(work.times - start - 0.175) < 0.25
    lowest = np.where(near, work.p[:, feet, 2].min(axis=1), np.inf)
    return work.moved(
        0.01 * size * work.bump(0.7, work.times[np.argmin(lowest)] - 0.175)[:, None] * way / np.linalg.norm(way)
    )


def floating(work, size):
    """The body hangs in the air; size: cm."""
    return work.moved(0.01 * size * work.plateau(0.6)[:, None] * [0.0, 0.0, 1.0])


def sunk(work, size):
    """The body sinks into the ground; size: cm."""
    return work.moved(-0.01 * size * work.plateau(0.6)[:, None] * [0.0, 0.0, 1.0])


def leaning(work, size):
    """The whole body leans over without falling; size: deg."""
    mass = work.actor.masses.mass[work.actor.order]
    pivot = np.einsum("i,tij->tj", mass / mass.sum(), work.p)
    pivot[:, 2] = np.quantile(work.p[..., 2].min(axis=1), 0.05)
    angle = work.rng.uniform(0.0, 2.0 * np.pi)
    turn = exp(np.radians(size) * work.plateau(0.7, 0.25)[:, None] * [np.cos(angle), np.sin(angle), 0.0])[:, None]
    return multiply(turn, work.q), pivot[:, None] + rotate(turn, work.p - pivot[:, None])


def swapped(work, size):
    """Left limbs do what right ones should, unmirrored, for most of a second; size: part of it.

    Where both sides do the same there is nothing to swap: a hand or foot has to go APART at full strength.
    """
    amount = work.plateau(0.6, 0.1)[:, None]
    ends = [i for i, role in enumerate(work.actor.roles) if base_role(role) in ("hand", "foot")]
    way = _swap(work, amount)[1][:, ends] - work.p[:, ends]
    return _swap(work, size * amount) if np.linalg.norm(way, axis=-1).max(initial=0.0) > APART else None


def _swap(work, amount):
    """World poses with the limbs swapped by an amount (T, 1)."""
    q = work.joint_q.copy()
    rest = work.actor.skeleton.rotation[work.actor.order]
    for i, role in enumerate(work.actor.roles):
        base, _, side = role.partition(".")
        other = work.actor.first("{}.{}".format(base, {"L": "R", "R": "L"}.get(side, "-")))
        if base not in ("upper_arm", "forearm", "thigh", "shin") or other < 0:
            continue
        # the other's turn from its rest, in the rig's axes, laid on this one
        parents = [rest[max(int(work.actor.parent[k]), 0)] for k in (i, other)]
        turn = [multiply(multiply(parents[s], work.joint_q[:, k]), conjugate(rest[k])) for s, k in ((0, i), (1, other))]
        q[:, i] = multiply(
            q[:, i], exp(amount * rotate(conjugate(rest[i]), log(multiply(conjugate(turn[0]), turn[1]))))
        )
    return to_world(work.model, q, work.joint_p)


# -- of hits ----------------------------------------------------------------------------------------------------------


def faint(work, size):
    """Hardly any response; size: part of it that is left."""
    turn, travel, *own = work.deviation()
    return work.rebuilt(size * turn, size * travel, *own)


def excessive(work, size):
    """The body is thrown about; size: deg that the joint turns which turns most, the others in proportion."""
    turn, travel, *own = work.deviation()
    most = np.degrees(np.linalg.norm(turn, axis=-1).max())
    return work.rebuilt(max(size / most, 1.0) * turn, travel, *own)


def wrong_way(work, size):
    """The body answers in another direction; size: deg about the vertical."""
    turn, travel, *own = work.deviation()
    world = work.actor.canonical(work.case.clip)[0]
    about = exp(np.radians(size) * work.axes[2])
    up = np.where(work.actor.parent >= 0, work.actor.parent, 0)
    carrier = np.where((work.actor.parent >= 0)[:, None], world[:, up], [1.0, 0.0, 0.0, 0.0])
    turn = rotate(conjugate(world), rotate(about, rotate(world, turn)))
    travel = rotate(conjugate(carrier), rotate(about, rotate(carrier, travel)))
    return work.rebuilt(turn, travel, *own)


def _peak(work, turn):
    return int(np.argmax(np.linalg.norm(turn, axis=-1).sum(axis=1)))


def wobbling(work, size):
    """The body swings on without end; size: swing as part of the first peak."""
    turn, travel, *own = work.deviation()
    k = _peak(work, turn)
    t = work.times - work.times[k]
    swing = size * np.cos(2.0 * np.pi * 2.5 * t) * np.where(t > 0.0, 1.0, 0.0) * np.clip((t[-1] - t) / 0.2, 0.0, 1.0)
    later = (t > 0.0)[:, None, None]
    mixed = np.clip(t / 0.1, 0.0, 1.0)[:, None, None]
    return work.rebuilt(
        np.where(later, turn + mixed * swing[:, None, None] * turn[k], turn),
        np.where(later, travel + mixed * swing[:, None, None] * travel[k], travel),
        *own,
    )


def _warped(work, times):
    """The deviation at other times (T,)."""
    turn, travel, *own = work.deviation()
    at = np.clip((times - work.times[0]) * RATE, 0.0, len(times) - 1.0)
    low = np.minimum(at.astype(int), len(times) - 2)
    part = (at - low)[:, None, None]
    return work.rebuilt(*((1.0 - part) * x[low] + part * x[low + 1] for x in (turn, travel)), *own)


def too_fast(work, size):
    """The whole answer in a fraction of its time; size: that fraction."""
    t = work.case.blow.time
    return _warped(work, np.where(work.times > t, t + (work.times - t) / size, work.times))


def too_slow(work, size):
    """After its peak the answer takes so long to go; size: s."""
    turn = work.deviation()[0]
    k, total = _peak(work, turn), np.linalg.norm(turn, axis=-1).sum(axis=1)
    gone = work.times[np.flatnonzero(total > 0.1 * total.max())[-1]]
    peak = work.times[k]
    factor = max((work.case.blow.time + size - peak) / max(gone - peak, 0.1), 1.0)
    return _warped(work, np.where(work.times > peak, peak + (work.times - peak) / factor, work.times))


def backward(work, size):
    """Hands and head go first and the struck bone last; size: s from joint to joint."""
    turn, travel, *own = work.deviation()
    away = {work.case.blow.body: 0}
    queue = [work.case.blow.body]
    while queue:
        i = queue.pop(0)
        near = [int(j) for j in np.flatnonzero(work.actor.parent == i)] + [int(work.actor.parent[i])]
        for j in (j for j in near if j >= 0 and j not in away):
            away[j] = away[i] + 1
            queue.append(j)
    farthest = max(away.values())
    for i, steps in away.items():
        late = int(round(size * (farthest - steps) * RATE))
        keep = np.maximum(np.arange(len(turn)) - late, 0)
        turn[:, i], travel[:, i] = turn[keep, i], travel[keep, i]
    return work.rebuilt(turn, travel, *own)


@dataclass(frozen=True)
class Kind:
    """One way to break motion.  sizes: slight, middle, full.  hit: needs a hit.

    lasts: [s] of stance or clip after an artist's hit.  shows: [deg] by which a joint must turn for it to be seen,
    unless bodies move by VISIBLE without turning.
    """

    make: object
    sizes: tuple
    hit: bool = False
    lasts: float = cases.TAIL
    shows: float = 4.0

    @property
    def name(self):
        return self.make.__name__


KINDS = (
    Kind(spun, (90.0, 180.0, 340.0)),
    Kind(overbent, (30.0, 60.0, 100.0)),
    Kind(frozen, (0.2, 0.45, 0.9), shows=10.0),  # an idle that breathes less in that time is not seen to stop
    Kind(teleport, (8.0, 20.0, 50.0)),
    Kind(pop_in, (8.0, 20.0, 40.0)),
    Kind(pop_out, (8.0, 20.0, 40.0)),
    Kind(loose_start, (8.0, 20.0, 40.0)),
    Kind(loose_end, (8.0, 20.0, 40.0)),
    Kind(trembling, (1.5, 4.0, 8.0), shows=1.2),
    Kind(through_body, (0.6, 0.85, 1.0)),
    Kind(through_limb, (0.6, 0.85, 1.0)),
    Kind(sliding, (8.0, 25.0, 50.0)),
    Kind(floating, (6.0, 15.0, 30.0)),
    Kind(sunk, (5.0, 12.0, 25.0)),
    Kind(leaning, (10.0, 20.0, 35.0)),
    Kind(swapped, (0.35, 0.7, 1.0)),
    Kind(faint, (0.4, 0.2, 0.08), hit=True),
    Kind(excessive, (80.0, 120.0, 170.0), hit=True),
    Kind(wrong_way, (75.0, 120.0, 180.0), hit=True),
    Kind(wobbling, (0.3, 0.6, 1.0), hit=True),
    Kind(too_fast, (0.5, 0.3, 0.15), hit=True),
    Kind(too_slow, (3.5, 5.0, 7.5), hit=True, lasts=8.0),
    Kind(backward, (0.012, 0.025, 0.05), hit=True),
)


def _seen(work, kind, q, p):
    """Whether the judged bodies (no fingers, no helpers) show that something was done."""
    seen = figure_of(work.actor).bodies
    joints = to_joints(work.model, q, p)[0][:, seen]
    turn = np.degrees(np.linalg.norm(log(multiply(conjugate(work.joint_q[:, seen]), joints)), axis=-1)).max()
    return turn >= kind.shows or (turn <= 1.0 and np.linalg.norm((p - work.p)[:, seen], axis=-1).max() >= VISIBLE)


def corrupt(case, kind, strength, seed):
    """The case with its motion broken; None where the kind can't be made of it or can't be seen on it."""
    if kind.hit and case.blow is None:
        return None
    rng = np.random.default_rng([seed, sum(map(ord, case.name + kind.name)), 7])
    work = Work(case, rng)
    made = kind.make(work, kind.sizes[strength])
    if made is None or not _seen(work, kind, *made):
        return None
    q, p = made
    name = "{}, {} {}".format(case.name, STRENGTHS[strength], kind.name)
    return replace(case, name=name, motion=cases.canonical(case.actor, case.motion, q, p))
