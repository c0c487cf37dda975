"""What a clip says about its feet: which stand when, on which ground, and how the weight lies over them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import climb, contacts
from .actor import Actor
from .ik import Limb
from .legs import legs, parties, toed
from .quality import ground, verdict
from .quality.motion import RATE, Motion, sampled
from .resample import hermite
from .rotation import Array, rotate
from .skeleton import Clip
from .support import dot, onto, pair, plain, plane
from .support import smooth as ramp

LEAP = 90  # samples without a foot on the ground that are a flight, not floating
FALLS = 0.35  # of gravity by which the weight falls in flight
REST = 30  # samples for which all feet stand where there is time for a step
APART = 0.08  # [m] that a foot stays on its own side of the other at least
FIRM = 0.8  # part of a leg's thickness that can't give way: chosen
SHORTEST = 0.01  # [m] that a leg is taken to be long at least, which a clip may scale to nothing


@dataclass(frozen=True, eq=False)
class Stance:
    """Even samples (K,) of a clip with its L legs.

    down: (K, L) bool.  low: (K, L) bool, near enough to the ground to bear weight, however fast.
    soles: (K, S, 2) where the points of the feet are in the ground plane, owner: (S,) their leg.
    points: (S, 3) the same in the foot's frame, level: (S,) height at which they stand [m].
    height: (K,) of the centre of mass above the ground [m].  nominal: (K, 2) the point under the feet from which the
    clip's weight is pushed; deviations of the weight are balanced against it.
    treads: (C, 3) where an ankle stands on stairs, one for each contact; none on slopes.
    grade: (2,) by how much the ground rises along x and y, where the clip climbs; level, low and height are off it.
    hip, ankle: (K, L, 3) world, turn: (K, L, 4) of the feet.  folding: (K, L, 3) unit way across a leg to where its
    shin folds.  length: (L,) of the legs [m].
    ground: (2,) its velocity [m/s].  pace: (K,) of the inverted pendulum [1/s].
    parties: legs that step together, so that the others can bear the weight: of four the diagonals, else one by one.
    apart: [m] that feet stay on their own sides of each other.
    toed: (L,) bool, feet that stand on their toes, as those of dogs: no heel meets the ground.
    """

    times: Array
    limbs: tuple[Limb, ...]
    down: np.ndarray
    soles: Array
    owner: np.ndarray
    points: Array
    level: Array
    height: Array
    nominal: Array
    hip: Array
    ankle: Array
    turn: Array
    folding: Array
    length: Array
    ground: Array
    pace: Array
    parties: tuple[tuple[int, ...], ...]
    low: np.ndarray
    grade: Array
    toed: np.ndarray
    treads: Array
    apart: float

    @property
    def h(self) -> float:
        """Seconds between samples."""
        return float(self.times[1] - self.times[0])

    def at(self, x: Array, times: Array) -> Array:
        """(T, ...) of samples x (K, ...) at any times (T,) [s], the first and last ones beyond."""
        return hermite(self.times, x, np.clip(times, *self.times[[0, -1]]))

    @cached_property
    def bears(self) -> Array:
        """(K, L) 0..1: `down` with a soft way on and off."""
        return contacts.softly(self.down)

    @cached_property
    def sinks(self) -> Array:
        """(K, L) 0..1 the same where the ground may draw a body down: nowhere in the air, so hardly in a run."""
        return contacts.softly(self.down & ~self._near_flight[:, None])

    @cached_property
    def aloft(self) -> Array:
        """(K,) 0..1 in flight, and in contacts so brief that flights meet in them."""
        return contacts.softly(self._near_flight[:, None])[:, 0]

    @cached_property
    def _near_flight(self) -> np.ndarray:
        """(K,) bool: the body flies, or does so SHIFTED samples before or after."""
        return np.convolve(self.flies, np.ones(2 * contacts.SHIFTED + 1))[contacts.SHIFTED : -contacts.SHIFTED] > 0.5

    @cached_property
    def swings(self) -> Array:
        """(K, L) 0 on the ground, up to 1 in the air, SHIFTED samples from it."""
        K = np.arange(len(self.down))[:, None]
        last = np.maximum.accumulate(np.where(self.down, K, -len(K)), axis=0)
        following = np.minimum.accumulate(np.where(self.down, K, 2 * len(K))[::-1], axis=0)[::-1]
        return ramp(np.minimum(K - last, following - K) / contacts.SHIFTED)

    @cached_property
    def flies(self) -> np.ndarray:
        """(K,) bool: no foot is down, but for a jump's time, from the ground to the ground, and the weight falls."""
        out, rise = np.zeros(len(self.times), dtype=bool), np.gradient(self.height, self.times)
        for a, b in self._gaps:
            falls = b < len(out) and (rise[a] - rise[b]) / (self.times[b] - self.times[a])
            out[a:b] = b - a <= LEAP and falls > FALLS * self.pace[a] ** 2 * self.height[a]
        return out

    @cached_property
    def load(self) -> Array:
        """(K,) how many times its weight a body presses the ground, in the mean: 1, more between flights, of which its
        feet then bear half each as well."""
        return contacts.load(self.flies)

    @cached_property
    def sway(self) -> Array:
        """(K,) pace at which the weight falls off the feet that bear it [1/s]."""
        return np.asarray(self.pace * np.sqrt(self.load))

    @cached_property
    def floats(self) -> np.ndarray:
        """(K,) bool: no foot is down for longer than a jump."""
        out = np.zeros(len(self.times), dtype=bool)
        for a, b in self._gaps:
            out[a:b] = b - a > LEAP
        return out

    @cached_property
    def _gaps(self) -> list[tuple[int, int]]:
        """Stretches of samples without a foot on the ground."""
        edges = np.flatnonzero(np.diff(np.pad(1 * ~self.down.any(axis=1), 1)))
        return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]

    def risen(self, k: int, leg: int, way: complex) -> float:
        """[m] by how much the ground is higher where a foot that stands at sample k is put a way off the clip's: on the
        tread of the clip's next contact there, or up its slope."""
        up = dot(way, self.slope)
        if not len(self.treads):
            return up
        along = self.treads[:, :2] @ self.grade
        own = self.ankle[k, leg, :2] @ self.grade
        here, there = (int(np.argmin(np.abs(along - at))) for at in (own, own + up))
        return float(self.treads[there, 2] - self.treads[here, 2])

    @cached_property
    def beside(self) -> tuple[np.ndarray, Array, Array]:
        """Of every leg the one whose hip is nearest to its own (K, L), how far that is (K, L) [m], and the way from
        there (K, L), of length 1, in the plane."""
        hips = plane(self.hip)
        way = hips[:, :, None] - hips[:, None]
        other = np.where(np.eye(len(self.limbs), dtype=bool), np.inf, np.abs(way)).argmin(axis=-1)[..., None]
        way = np.take_along_axis(way, other, axis=-1)[..., 0]
        wide = np.abs(way)
        return other[..., 0], wide, way / np.maximum(wide, 1e-12)

    def pair(self, k: int, leg: int) -> tuple[int, float, complex, complex]:
        """`beside` of a leg at a sample in plain numbers, and the way from the other's ankle to its own [m]."""
        other, wide, way = (told[k, leg] for told in self.beside)
        return int(other), float(wide), complex(way), complex(self.ankles[k, leg] - self.ankles[k, other])

    @cached_property
    def slope(self) -> complex:
        """`grade` in plain numbers."""
        return plain(self.grade)

    @cached_property
    def ankles(self) -> Array:
        """(K, L) where ankles are in the plane, as complex numbers."""
        return plane(self.ankle)

    @cached_property
    def marks(self) -> list[list[complex]]:
        """(K, S) `soles` off the point under the feet from which the clip's weight is pushed, in plain numbers."""
        marks: list[list[complex]] = plane(self.soles - self.nominal[:, None]).tolist()
        return marks

    @cached_property
    def tips(self) -> Array:
        """(L, 3) toes, in the foot's frame; the ankle of one that has no heel on the ground to rise."""
        own = [self.points[self.owner == leg] for leg in range(len(self.limbs))]
        tips = [sole[np.argmax(np.linalg.norm(sole, axis=-1))] for sole in own]
        return np.where(self.toed[:, None], 0.0, tips)

    def clear(self, leg: int, q: Array, p: Array) -> Array:
        """(T,) [m] how high above the ground the lowest sole of a foot is, at poses (T, 4), (T, 3) of it."""
        own = self.owner == leg
        soles = p[:, None] + rotate(q[:, None], self.points[own])
        height = soles[..., 2] - soles[..., :2] @ self.grade
        return np.asarray((height - self.level[own]).min(axis=1))

    @cached_property
    def owned(self) -> list[list[int]]:
        """Of every leg its soles."""
        return [np.flatnonzero(self.owner == leg).tolist() for leg in range(len(self.limbs))]

    def party(self, leg: int) -> tuple[int, ...]:
        """The legs that step with this one."""
        return next(legs for legs in self.parties if leg in legs)

    @cached_property
    def until(self) -> list[int]:
        """(K,) the sample at which other feet stand, or the end."""
        changes = np.flatnonzero((self.down[1:] != self.down[:-1]).any(axis=1)) + 1
        later = np.append(changes, len(self.down))
        return [int(k) for k in later[np.searchsorted(changes, np.arange(len(self.down)), side="right")]]

    @cached_property
    def stood(self) -> list[int]:
        """(K + 1,) in how many samples before each a foot is down."""
        stood: list[int] = np.append(0, np.cumsum(self.down.any(axis=1))).tolist()
        return stood

    def next_landing(self, k: int) -> int:
        """The sample after k at which a foot comes down, or the end."""
        return self._ahead[3][k]

    def rests(self, k: int) -> int:
        """The sample from k on from which all feet stand for so long that there is time for a step, -1 if never."""
        return self._ahead[2][k]

    def lands(self, k: int, leg: int) -> int:
        """The sample from k on at which the leg stands, -1 if it doesn't."""
        return self._ahead[0][k][leg]

    def stays(self, k: int, leg: int) -> int:
        """The sample up to which a leg that stands goes on standing."""
        return self._ahead[1][k][leg]

    @cached_property
    def _ahead(self) -> tuple[list[list[int]], list[list[int]], list[int], list[int]]:
        """What `lands`, `stays`, `rests` and `next_landing` tell of each sample, and of the end."""
        K = len(self.down)
        gaps = np.concatenate(([0], np.cumsum(~self.down.all(axis=1))))
        rest = np.zeros(K, dtype=bool)
        rest[: max(K + 1 - REST, 0)] = gaps[REST:] == gaps[:-REST]
        fresh = np.zeros(K, dtype=bool)
        fresh[1:] = (self.down[1:] & ~self.down[:-1]).any(axis=1)
        after = contacts.following(np.append(fresh[1:], False)[:, None], K - 1)[:, 0] + 1
        told = (
            contacts.following(self.down, -1),
            contacts.following(~self.down, K),
            contacts.following(rest[:, None], -1)[:, 0],
            after,
        )
        return tuple(x.tolist() for x in told)


def read(actor: Actor, clip: Clip, moment: float) -> Stance | None:
    """The stance of a clip; None for a figure without legs that end in feet.

    moment: [s] on which one of the samples falls.
    """
    figure, limbs = verdict.figure_of(actor), legs(actor)
    soles = ground.soles(figure)
    feet = np.unique(soles.foot)
    if len(limbs) < 2 or len(limbs) < len(feet):
        return None
    motion = sampled(figure, clip, _samples(clip, moment))
    flat, stand = climb.grounded(motion, grade := climb.grade(motion.com))
    owner = np.searchsorted(feet, soles.foot)
    down, low = contacts.per_leg(flat, stand, owner)
    com, at = motion.com[:, :2], stand.soles[..., :2]
    height = np.maximum(flat.com[:, 2] - float(stand.level.min()), 0.1)
    ends = [limb.end for limb in limbs]
    return Stance(
        motion.times,
        limbs,
        down,
        at,
        owner,
        soles.points,
        stand.level,
        height,
        _nominal(at, contacts.bearing(down, low)[:, owner], com),
        *_joints(motion, limbs),
        stand.speed,
        np.sqrt(abs(float(actor.gravity[2])) / height),
        parties([actor.roles[end] for end in ends]),
        low,
        grade,
        np.array([toed(actor, end, soles.points[owner == i]) for i, end in enumerate(ends)]),
        climb.treads(actor, motion, grade, limbs, down),
        max(APART, 2.0 * FIRM * float(actor.masses.radius[actor.order[ends]].max())),
    )


def _samples(clip: Clip, moment: float) -> Array:
    """(K,) even samples over a clip [s], one of them at that moment."""
    first = moment - int((moment - clip.times[0]) * RATE + 1e-6) / RATE
    return first + np.arange(int((clip.times[-1] - first) * RATE + 1e-6) + 1) / RATE


def _joints(motion: Motion, limbs: Sequence[Limb]) -> tuple[Array, Array, Array, Array, Array]:
    """Of the legs `hip`, `ankle`, `turn`, `folding` and `length`, as `Stance` has them."""
    bones = np.array([[limb.upper, limb.lower, limb.end] for limb in limbs])
    joints = motion.p[:, bones]
    length = np.maximum(np.linalg.norm(np.diff(joints, axis=2), axis=-1).sum(axis=-1).mean(axis=0), SHORTEST)
    hinge = rotate(motion.q[:, bones[:, 1]], np.array([limb.axis for limb in limbs]))
    way = np.cross(hinge, joints[:, :, 2] - joints[:, :, 0])
    folding = way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-12)
    return joints[:, :, 0], joints[:, :, 2], motion.q[:, bones[:, 2]], folding, length


def _nominal(soles: Array, bear: np.ndarray, com: Array) -> Array:
    """(K, 2) the points nearest to the weight (K, 2) of what soles (K, S, 2) enclose that bear it (K, S)."""
    out: list[complex] = plane(com).tolist()
    for k, (row, some) in enumerate(zip(plane(soles).tolist(), bear.tolist(), strict=True)):
        if any(some):
            out[k] = onto([point for point, bears in zip(row, some, strict=True) if bears], out[k])
    return np.array([pair(point) for point in out])
