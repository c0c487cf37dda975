"""The last millimetres of a reaction's feet, on what is shown: legs are closed, heels rise, the pelvis gives way."""

from dataclasses import dataclass

import numpy as np

from . import heels
from .dynamics import centre_of
from .ik import Limb, bend, bent, braced, let_out, nearer, place, reach, reached
from .model import Model
from .plan import Plan
from .reference import to_world
from .resample import linear
from .rotation import Array, conjugate, exp, log, multiply, rotate, slerp
from .sides import beside, least
from .stance import Stance
from .support import smooth

SOFT = 0.3  # of how far hip and foot are off the clip's: as wide is the way into a stretched leg
RUNS = 0.7  # part of that in contacts of a run: such a foot leaves the ground again at once; chosen
LIES, STANDS = 0.4, 0.7  # how steep a leg is, its height over its length, below which none and from which all counts
DEEPEST = 0.067  # of a leg's length that the pelvis sinks at most for legs that don't reach and whose heels can't rise
RISE, SOFTER = 0.03, 0.065  # [m] at most, and how soft the way there is
SLANTED = 2.0  # times what its leg misses that a foot is lifted at most: a leg near level would ask for any height
FLEXES = np.radians(25.0)  # that an ankle gives way where toes in the air meet the ground (people's: 20 to 30)
GIVES = 0.015  # [m] how softly feet that move freely stay on their own side
PASSES, HALF = 4, 0.5  # in which legs and the weight find to each other, and part of a leg that goes with its hip
HANGS, OFF = np.radians(22.0), 0.03  # that a foot hangs steeper under a body that is lifted, and [m] by which: chosen
UP = np.array([0.0, 0.0, 1.0])
ROUND_OFF = 1e-7  # [m] by which the weight isn't off at all
RAISED = 0.02  # [m] that a foot is up in a step of ours to be in the air

Poses = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Settling:
    """Legs whose feet go where a plan has them.

    base: the pelvis.  loose: (K, L) 0..1, how far legs fold under a blow, at the stance's samples.
    """

    stance: Stance
    plan: Plan
    base: int
    loose: Array

    @property
    def feet(self) -> np.ndarray:
        """(L,) bodies."""
        return np.array([limb.end for limb in self.stance.limbs])

    def carried(self, model: Model) -> np.ndarray:
        """(n,) bool, the bodies that go where the pelvis goes."""
        return np.asarray(model.ancestor[:, self.base] > 0.0)

    def settled(self, model: Model, clip: Poses, times: Array, joints: Array, at: Array, part: Array) -> Poses:
        """World poses (T, n, 4), (T, n, 3) with the pelvis where the plan has it, in the air the weight, and the feet
        to the point.

        Where a leg would not reach and has the time, the pelvis sinks.
        clip: its world poses at the times (T,).  joints: (T, n, 4), at: (T, n, 3) joint poses of the reaction besides
        the plan.  part: (n,) of the reaction that shows; feet stand whatever shows of their legs.
        """
        shows = part[self.base]
        by = [shows * self.stance.at(x, times) for x in (self.plan.hastened, self.plan.turned)]
        hastened = self._hastened(clip, *by)
        way, feet, hold = self.plan.at(times)
        way, feet = shows * way, shows * feet - by[0]
        bends = [bend(limb, *clip) for limb in self.stance.limbs]
        draws = part[[limb.lower for limb in self.stance.limbs]] * linear(self.plan.times, self.plan.draws, times)
        joints = self._kneed(model, hastened[0], joints, draws, bends)
        q, p = to_world(model, joints, at)
        carried = self.carried(model)
        p[:, carried] += way[:, None]
        sinks, swings = (self.stance.at(x, times) for x in (self.stance.sinks, self.stance.swings))
        free = self._free(swings, shows * self.plan.lifted(times), hold)
        goals, rolls = self._goals(hastened, (q, p), feet, hold, self._loose(times), free)
        air = self.stance.at(self.stance.aloft, times)[:, None]
        deepest, lifted = DEEPEST * float(self.stance.length.mean()), (1.0 - air[:, 0]) * self._raised(way)
        hop = smooth(lifted / OFF), linear(self.plan.times, self.plan.stood, times)
        sunk = self._sunk(hastened[1], p - lifted[:, None, None] * UP, goals, sinks)  # nobody pulls down what rises
        sunk = shows * deepest * np.tanh(sunk / deepest)
        way[:, 2] -= sunk
        p[:, carried, 2] -= sunk[:, None]
        eased, eager = np.maximum(swings * hold, RUNS * air), self._eager(model, air)
        hangs, weight = shows * linear(self.plan.times, self.plan.hangs, times), centre_of(model, q, p)
        for _ in range(PASSES if air.any() else 1):
            led = self._reached(hastened[1], p, goals, swings, eased, air[:, 0], hangs, hop)
            shown = self._placed(model, (q, p), (joints, at), way, led, rolls, bends, swings)
            off = eager * shows * (centre_of(model, *shown) - weight)  # no ground takes what a leg swings
            off[np.linalg.norm(off, axis=-1) < ROUND_OFF] = 0.0  # a straight leg would make more of it
            way, p = way - off, p - carried[:, None] * off[:, None]
        return shown

    def _goals(
        self, clip: Poses, own: Poses, feet: Array, hold: Array, folds: Array, free: Array
    ) -> tuple[list[Poses], list[Array]]:
        """Places and rotations of all feet, of `_target`, beside each other as far as they are free (T, L), and by how
        much each turns on the ground (T, 4).  feet: (T, L, 3) ways, hold, folds: (T, L)."""
        led = zip(self.stance.limbs, feet.swapaxes(0, 1), hold.T, folds.T, strict=True)
        targets = [self._target(limb, clip, own, *of) for limb, *of in led]
        ankles = [at for at, *_ in targets]
        places = [self._beside(i, clip[1], own[1], ankles, free[:, i]) for i in range(len(targets))]
        return [(at, turn) for at, (_, turn, _) in zip(places, targets, strict=True)], [roll for *_, roll in targets]

    def _sunk(self, clip: Array, p: Array, goals: list[Poses], sinks: Array) -> Array:
        """(T,) how much lower the pelvis must get for legs to reach their goals, which may draw it down by a part
        (T, L).  clip, p: (T, n, 3) world positions."""
        legs = enumerate(zip(self.stance.limbs, goals, strict=True))
        sunk = [sinks[:, i] * self._lacks(limb, clip, p, goal) for i, (limb, goal) in legs]
        return np.asarray(np.linalg.norm(sunk, ord=4, axis=0))

    def _raised(self, way: Array) -> Array:
        """(T,) [m] how far a way (T, 3) lifts the body off its ground."""
        return np.maximum(way[:, 2] - way[:, :2] @ self.stance.grade, 0.0)

    def _eager(self, model: Model, air: Array) -> Array:
        """How far the body makes way, in the air (T, 1), for what legs swing: more than once, as legs go along."""
        held = model.inertia[:, 5, 5] @ model.ancestor[:, [limb.upper for limb in self.stance.limbs]].sum(axis=1)
        return np.asarray(air / (1.0 - HALF * held / model.inertia[:, 5, 5].sum()))

    def _reached(
        self,
        clip: Array,
        p: Array,
        goals: list[Poses],
        swings: Array,
        eased: Array,
        runs: Array,
        hangs: Array,
        hop: tuple[Array, Array],
    ) -> list[Poses]:
        """Places and rotations of feet as far as their legs reach, see `_risen`, which hang nearer (T, L) to hips."""
        out = []
        for i, (limb, goal) in enumerate(zip(self.stance.limbs, goals, strict=True)):
            foot, turn = self._risen(limb, clip, p, goal, swings[:, i], eased[:, i], runs, (hop[0], hop[1][:, i]))
            out.append((nearer(foot, p[:, limb.upper], hangs[:, i]), turn))
        return out

    def _loose(self, times: Array) -> Array:
        """(T, L) how far legs fold under a blow."""
        return linear(self.stance.times, self.loose, times)

    def _kneed(self, model: Model, clip: Array, joints: Array, draws: Array, bends: list[Poses]) -> Array:
        """The joint rotations (T, n, 4) with knees that turn as knees do, bent farther by `draws` (T, L) [rad], as far
        as they fold, the less the more the blow itself bends them.

        clip: (T, n, 4) world rotations.  bends: of the clip's knees.
        """
        out = joints.copy()
        for i, limb in enumerate(self.stance.limbs):
            knee = multiply(conjugate(clip[:, model.parent[limb.lower]]), clip[:, limb.lower])
            own, folded = braced(limb, knee, joints[:, limb.lower]), bends[i][0]
            flexion = folded + log(multiply(conjugate(knee), own)) @ limb.axis
            left = np.maximum(np.maximum(self.plan.folds[i], folded) - flexion, 0.0)
            by = np.maximum(flexion - folded, 0.0)
            farther = np.hypot(by, draws[:, i]) - by
            out[:, limb.lower] = multiply(own, bent(limb, np.minimum(farther, left), folded))
        return out

    def _placed(
        self,
        model: Model,
        world: Poses,
        own: Poses,
        way: Array,
        feet: list[Poses],
        rolls: list[Array],
        bends: list[Poses],
        swings: Array,
    ) -> Poses:
        """World poses with the pelvis a way (T, 3) off, and the feet where they are led.

        world, own: of the world and of the joints, without those.  rolls: (T, 4) of feet pressed to the ground.
        bends: of the clip's knees, see `reach`.
        """
        (q, p), (joints, at), up = world, (x.copy() for x in own), int(model.parent[self.base])
        at[:, self.base] += way if up < 0 else rotate(conjugate(q[:, up]), way)
        for i, (limb, (foot, turn)) in enumerate(zip(self.stance.limbs, feet, strict=True)):
            swing, lower = reach(limb, q, p, foot, bends[i])
            swung = multiply(rolls[i], multiply(lower, q[:, limb.end]))  # in the air an ankle goes with its leg
            turn = slerp(turn, swung, swings[:, i])
            place(model, limb, q, joints, swing, lower, turn)
        return to_world(model, joints, at)

    def _hastened(self, clip: Poses, way: Array, turn: Array) -> Poses:
        """The clip's world poses, but for feet a way (T, L, 3) and turns (T, L, 3) off it."""
        q, p = (x.copy() for x in clip)
        p[:, self.feet] += way
        q[:, self.feet] = multiply(exp(turn), q[:, self.feet])
        return q, p

    def _target(
        self, limb: Limb, clip: Poses, own: Poses, way: Array, hold: Array, folds: Array
    ) -> tuple[Array, Array, Array]:
        """Place (T, 3) and rotation (T, 4) of a foot: the clip's, led off it, as far as it is held; and by how much it
        turns on the ground as its leg folds (T, 4)."""
        q, p = (x[:, limb.end] for x in own)
        clip_q, clip_p = (x[:, limb.end] for x in clip)
        turn, at = slerp(q, clip_q, hold), p + hold[:, None] * (clip_p + way - p)
        clips = np.maximum(self._deep(limb, clip_q, clip_p), 0.0)
        roll = self._flexed(limb, turn, folds * np.maximum(self._deep(limb, turn, at) - clips, 0.0))
        turn = multiply(roll, turn)
        at[:, 2] += np.maximum(self._deep(limb, turn, at) - clips, 0.0)
        lift = way[:, 2]  # a foot that a step takes up is as high, however freely it moves
        at[:, 2] = np.where(lift > 0.0, np.maximum(at[:, 2], clip_p[:, 2] + lift), at[:, 2])
        return at, turn, roll

    def _flexed(self, limb: Limb, turn: Array, deep: Array) -> Array:
        """(T, 4) by how much a foot turns whose toes are pressed into the ground, so deep (T,) [m]: its ankle gives way
        before its knee does, until it is flat."""
        toes = rotate(turn, self._tip(limb))
        across, long = np.linalg.norm(toes[:, :2], axis=-1), np.maximum(np.linalg.norm(toes, axis=-1), 1e-9)
        pitch = np.clip(np.arctan2(-toes[:, 2], across), 0.0, FLEXES)
        axis = np.stack((toes[:, 1], -toes[:, 0], 0.0 * across), axis=-1) / np.maximum(across, 1e-9)[:, None]
        return exp(np.minimum(deep / long, pitch)[:, None] * axis)

    def _free(self, swings: Array, lift: Array, hold: Array) -> Array:
        """(T, L) how freely feet move: those in the air, and of four legs, which cross each other, only those that
        are not led.  lift: (T, L) of steps of ours, off their ground [m]."""
        if len(self.stance.limbs) > 2:
            return 1.0 - hold
        aloft = np.maximum(swings, smooth(lift / RAISED))
        return np.maximum(aloft, 1.0 - hold)

    def _beside(self, leg: int, clip: Array, p: Array, feet: list[Array], free: Array) -> Array:
        """Places (T, 3) of a foot that, as far as it is free (T,), stays on its own side of the nearest other, as wide
        as in the clip or as legs are thick.  clip, p: (T, n, 3) world positions.  feet: of all."""
        limbs = self.stance.limbs
        hips = p[:, [limb.upper for limb in limbs]]
        other = int(self.stance.beside[0][0, leg])
        both = [limbs[i].end for i in (leg, other)]
        places = (clip[:, both[0]], clip[:, both[1]]), (feet[leg], feet[other])
        clips, own = (beside((hips[:, leg], hips[:, other]), each) for each in places)
        short = [
            np.minimum(clips.room, least(each.along, each.wide, self.stance.apart)) - each.room for each in (clips, own)
        ]
        before, pushed = (GIVES * np.logaddexp(0.0, x / GIVES) for x in short)
        return feet[leg] + (free * (pushed - before))[:, None] * np.pad(own.way, ((0, 0), (0, 1)))

    def _lacks(self, limb: Limb, clip: Array, p: Array, target: Poses) -> Array:
        """(T,) how much lower a hip must get for its leg to reach, but where its heel rises: one that is steep already,
        about to leave the ground, pulls nobody down, nor does a leg that lies on it."""
        way = p[:, limb.upper] - target[0]
        sunk = heels.lower(way, reached(limb, clip, p, target[0], SOFT, 0.0))
        steep = way[:, 2] / np.maximum(np.linalg.norm(way, axis=-1), 1e-12)
        sunk = sunk * smooth((steep - LIES) / (STANDS - LIES))
        return np.asarray(heels.holds(rotate(target[1], self._tip(limb)), way) * sunk)

    def _risen(
        self,
        limb: Limb,
        clip: Array,
        p: Array,
        target: Poses,
        air: Array,
        eased: Array,
        runs: Array,
        hop: tuple[Array, Array],
    ) -> Poses:
        """The foot's place and rotation where its leg doesn't reach: a heel rises over toes that stay where they are as
        long as the body is before them, or is lifted off a foot that stood; on the ground it is then lifted off it;
        what is left it is drawn to its hip, from which it is let out in the air.

        air, eased: (T,) 0..1, how far it swings, and how softly its leg gets to its full length: as a run goes on, a
        knee that is kept to the ground up to there would snap as the foot leaves it.  hop: (T,) 0..1 how far the body
        is lifted, and 1 if it stood then.
        """
        ankle, turn = target
        softness = SOFTER + eased * (SOFT - SOFTER)
        hip, far = p[:, limb.upper], reached(limb, clip, p, ankle, softness, air)
        toes = rotate(turn, self._tip(limb))
        before, axis = heels.before(toes, hip - ankle, hop[0] * hop[1])
        steep = np.maximum(heels.steep(hip - ankle - toes, -toes, axis, far), 0.0)
        turns = (1.0 - hop[0]) * np.minimum(steep, heels.STEEPEST) + hop[0] * HANGS * np.tanh(steep / HANGS)
        roll = exp(((1.0 - air) * before * turns)[:, None] * axis)
        ankle = ankle + toes - rotate(roll, toes)
        way = hip - ankle
        missing = np.maximum(np.linalg.norm(way, axis=-1) - far, 0.0)
        ankle[:, 2] += (1.0 - air) * np.minimum(heels.lower(way, far), np.minimum(SLANTED * missing, RISE))
        ankle = nearer(ankle, hip, np.maximum(np.linalg.norm(hip - ankle, axis=-1) - far, 0.0))
        own, length = clip[:, limb.end] - clip[:, limb.upper], self.stance.length[self.stance.limbs.index(limb)]
        return ankle + air[:, None] * let_out(own, ankle - hip, float(length), runs), multiply(roll, turn)

    def _tip(self, limb: Limb) -> Array:
        """(3,) `Stance.tips` of a foot."""
        return np.asarray(self.stance.tips[self.stance.limbs.index(limb)])

    def _deep(self, limb: Limb, q: Array, p: Array) -> Array:
        """(T,) how far a foot at a pose is in the ground [m]."""
        return -self.stance.clear(self.stance.limbs.index(limb), q, p)
