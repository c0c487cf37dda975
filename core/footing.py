"""The feet of a reaction: where they are led while it is simulated, and the last millimetres afterwards."""

from dataclasses import dataclass

import numpy as np

from . import heels
from .dynamics import Kinematics, centre, centre_of
from .forces import Force, Guide, Heels, Muscle, Track, WorldSpring, Wrench
from .ik import Limb, bend, braced, let_out, nearer, place, reach, reached
from .leg_springs import LegSprings
from .model import Model
from .plan import Plan
from .reference import Reference, to_world
from .resample import linear
from .rotation import Array, conjugate, exp, multiply, rotate, slerp
from .sides import beside, least
from .spatial import apply
from .stance import Stance
from .support import smooth

SOFT = 0.3  # of how far hip and foot are off the clip's: as wide is the way into a stretched leg
LIES, STANDS = 0.4, 0.7  # how steep a leg is, its height over its length, below which none and from which all counts
DEEPEST = 0.06  # [m] that the pelvis sinks at most for legs that don't reach and whose heels can't rise
RISE, SOFTER, STEEPEST = 0.03, 0.065, 0.9  # [m] at most, how soft the way there is, and [rad] how steep the foot gets
LED = 0.1  # part of their muscles that legs keep which stand
SLANTED = 2.0  # times what its leg misses that a foot is lifted at most: a leg near level would ask for any height
FIND = 0.3  # [s] after landing in which the pelvis finds back into its range
EASY = 0.05  # of what holds a heel down, where the body is before its foot
GIVES = 0.015  # [m] how softly feet that move freely stay on their own side
PASSES, HALF = 4, 0.5  # in which legs and the weight find to each other, and part of a leg that goes with its hip
ROUND_OFF = 1e-7  # [m] by which the weight isn't off at all
RAISED = 0.02  # [m] that a foot is up in a step of ours to be in the air
SWINGING = 0.1  # how firmly a foot in the air is led, as part of one that stands

Poses = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Footing:
    """Legs that stand, and the plan of their steps.

    base: the pelvis.
    missing: (K, L) force that the legs don't carry any more [N], at the stance's samples.
    struck: (K, L) 0..1, how far a blow has struck them by then.
    fell: whether a blow was stronger than feet can catch, so that the plan is of a weaker one.
    """

    stance: Stance
    plan: Plan
    base: int
    missing: Array
    struck: Array
    fell: bool = False

    @property
    def feet(self) -> np.ndarray:
        """(L,) bodies."""
        return np.array([limb.end for limb in self.stance.limbs])

    def carried(self, model: Model) -> np.ndarray:
        """(n,) bool, the bodies that go where the pelvis goes."""
        return np.asarray(model.ancestor[:, self.base] > 0.0)

    def grounded(self, times: Array) -> Array:
        """(T,) 1 on the ground, 0 in flight, where nothing holds the body as a whole."""
        return 1.0 - linear(self.stance.times, 1.0 * self.stance.flies, times)

    def load(self, times: Array) -> Array:
        """(T,) how many times its weight the body presses the ground in the mean."""
        return linear(self.stance.times, self.stance.load, times)

    def tone(self, times: Array, bodies: int) -> Array:
        """(T, n) what is left of the muscles of bodies: legs that stand give way to the plan, which has the ground's
        force already; theirs would brake the weight once more.  Where a leg is struck, the others bear the body for it
        and stay taut."""
        out = np.ones((len(times), bodies))
        whole = linear(self.stance.times, 1.0 - self.struck.max(axis=1), times)
        for limb, part in zip(self.stance.limbs, self._stands(times).T, strict=True):
            out[:, [limb.upper, limb.lower, limb.end]] = 1.0 - (1.0 - LED) * (whole * part)[:, None]
        return out

    def _stands(self, times: Array) -> Array:
        """(T, L) how far legs stand that nothing strikes."""
        bears = self.stance.at(self.stance.bears, times)
        spared = linear(self.stance.times, 1.0 - self.struck, times)
        return np.clip(bears * linear(self.plan.times, self.plan.hold, times) * spared, 0.0, 1.0)

    def upright(self, times: Array) -> Array:
        """(T,) how far the pelvis' range about the clip's pose holds: in flight it has no joint, and finds back to it
        after landing."""
        found = self.stance
        flight = np.where(found.flies, found.times, -np.inf)
        since = found.times - np.maximum.accumulate(flight)
        return linear(found.times, np.asarray(smooth(since / FIND)), times)

    def forces(
        self,
        model: Model,
        reference: Reference,
        kins: tuple[Kinematics, Kinematics],
        spring: tuple[Array, Array],
        muscle: Muscle,
    ) -> list[Force]:
        """Springs to where the feet are led, and what leads the weight, as tautly as the pelvis' muscle.

        kins: as in `Track.of_clip`.  spring: stiffness and damping (6, 6) of a foot.
        """
        t = reference.times
        grid = np.concatenate((t[:1] - reference.earlier[0], t))  # one step more in front, for the rates on arrival
        shift, feet, hold = self.plan.at(grid)
        sunk = shift[:, 2] - shift[:, :2] @ self.stance.grade
        feet[..., 2] += sunk[:, None]  # a body sinks together with its ground; `settled` bends the knees
        h = np.diff(grid)[:, None]
        rate, speed = np.diff(shift, axis=0) / h, np.diff(feet, axis=0) / h[..., None]
        tips = np.array([self._tip(limb) for limb in self.stance.limbs])  # go as ankles do: feet turn as in the clip
        track = Track.of_clip(model, reference, self.feet, tips, kins)
        kicks = reference.kicks
        track = track.moved(feet[1:-1], speed[:-1], np.diff(speed, axis=0) / kicks[:, None, None], kicks)
        firm = self._firm(t[:-1], hold[1:-1])[..., None, None]
        eased, lever = self._heels(kins[0], tips, shift[1:-1], feet[1:-1])
        stiff, damped = (firm * (own + own[5, 5] * lever) for own in spring)
        mass = float(model.inertia[:, 5, 5].sum())
        usual = np.stack((muscle.rate, muscle.pace), axis=-1)[..., self.base, :]
        taut = np.sqrt(muscle.tone[:, self.base, None]) * usual
        pull = mass * self.plan.pulled(0.5 * (grid[1:] + grid[:-1]))
        hips = np.array([limb.upper for limb in self.stance.limbs])
        load = np.zeros((reference.steps, len(hips), 6))
        load[..., 5] = -linear(self.stance.times, self.missing, t[:-1])
        push = pull - load[..., 3:].sum(axis=1)
        springs = [WorldSpring(self.feet, stiff, damped, track, tips, eased)]
        if len(hips) > 2:
            legs = LegSprings.of(self.stance, self._stands(t[:-1]), mass, t[:-1])
            load[..., 5] += legs.pressed(kins[0].p[:, hips, :2], pull[:, :2])
            faster = np.diff(rate, axis=0) / kicks[:, None]
            way = Track.of_clip(model, reference, hips, np.zeros((len(hips), 3)), kins)
            way = way.moved(shift[1:-1, None], rate[:-1, None], faster[:, None], kicks)
            springs.append(legs.spring(hips, way, muscle.tone[:, self.base]))
        return [
            Wrench(hips, np.zeros((len(hips), 3)), load),
            *springs,
            Guide(self.base, centre(kins[0]), taut, (shift[1:-1], rate[:-1]), push),
        ]

    def _firm(self, times: Array, hold: Array) -> Array:
        """(T, L) how firmly feet are led that are held so (T, L): in the air less than on the ground, not in flight."""
        down = np.clip(self.stance.at(1.0 * self.stance.down, times), 0.0, 1.0)
        return self.grounded(times)[:, None] * hold * (SWINGING + (1.0 - SWINGING) * down)

    def _heels(self, kin: Kinematics, tips: Array, shift: Array, feet: Array) -> tuple[Heels, Array]:
        """How feet turn about their toes, and how long they are about that axis [m^2], (K, L, 6, 6): a heel that stands
        is pressed against the ground as toes are, and rises where the body is before it.

        kin: of the clip.  tips: (L, 3) toes.  shift: (K, 3), feet: (K, L, 3) off the clip.
        """
        toes = apply(kin.R[:, self.feet], tips)
        hips = np.array([limb.upper for limb in self.stance.limbs])
        way = kin.p[:, hips] + shift[:, None] - kin.p[:, self.feet] - feet
        before, axis = heels.before(toes, way)
        lever = np.zeros((*before.shape, 6, 6))
        across = np.linalg.norm(toes[..., :2], axis=-1)[..., None] * axis
        lever[..., :3, :3] = across[..., :, None] * across[..., None, :]
        return Heels(axis, 1.0 - (1.0 - EASY) * before), lever

    def led(self, model: Model, reference: Reference) -> Array:
        """(K + 1, 3) where the plan leads the base over a stretch of the clip, in its parent's frame."""
        way, up = self.plan.shifted(reference.times), int(model.parent[self.base])
        turn: Array | None = None
        while up >= 0:  # no more than a root or two
            turn = reference.rotation[:, up] if turn is None else multiply(reference.rotation[:, up], turn)
            up = int(model.parent[up])
        return way if turn is None else rotate(conjugate(turn), way)

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
        joints = joints.copy()
        for limb in self.stance.limbs:
            knee = multiply(conjugate(hastened[0][:, model.parent[limb.lower]]), hastened[0][:, limb.lower])
            joints[:, limb.lower] = braced(limb, knee, joints[:, limb.lower])
        q, p = to_world(model, joints, at)
        carried = self.carried(model)
        p[:, carried] += way[:, None]
        limbs = list(enumerate(self.stance.limbs))
        targets = [self._target(limb, hastened, (q, p), feet[:, i], hold[:, i]) for i, limb in limbs]
        ankles = [at for at, _ in targets]
        sinks, swings = (self.stance.at(x, times) for x in (self.stance.sinks, self.stance.swings))
        lift, hangs = (shows * linear(self.plan.times, x, times) for x in (self.plan.lift, self.plan.hangs))
        free = self._free(swings, lift, hold)
        targets = [(self._beside(i, hastened[1], p, ankles, free[:, i]), turn) for i, (_, turn) in enumerate(targets)]
        sunk = [sinks[:, i] * self._lacks(limb, hastened[1], p, targets[i]) for i, limb in limbs]
        sunk = shows * DEEPEST * np.tanh(np.linalg.norm(sunk, ord=4, axis=0) / DEEPEST)
        way[:, 2] -= sunk
        p[:, carried, 2] -= sunk[:, None]
        held = model.inertia[:, 5, 5] @ model.ancestor[:, [limb.upper for limb in self.stance.limbs]].sum(axis=1)
        air = 1.0 - sinks.max(axis=1, keepdims=True)
        eager = air / (1.0 - HALF * held / model.inertia[:, 5, 5].sum())
        weight, bends = centre_of(model, q, p), [bend(limb, *clip) for limb in self.stance.limbs]
        for _ in range(PASSES if air.any() else 1):
            led = [self._risen(limb, hastened[1], p, targets[i], swings[:, i], hold[:, i]) for i, limb in limbs]
            led = [(nearer(led[i][0], p[:, limb.upper], hangs[:, i]), led[i][1]) for i, limb in limbs]
            shown = self._placed(model, (q, p), (joints, at), way, led, bends, swings)
            off = eager * shows * (centre_of(model, *shown) - weight)  # no ground takes what a leg swings
            off[np.linalg.norm(off, axis=-1) < ROUND_OFF] = 0.0  # a straight leg would make more of it
            way, p = way - off, p - carried[:, None] * off[:, None]
        return shown

    def _placed(
        self,
        model: Model,
        world: Poses,
        own: Poses,
        way: Array,
        feet: list[Poses],
        bends: list[Poses],
        swings: Array,
    ) -> Poses:
        """World poses with the pelvis a way (T, 3) off, and the feet where they are led.

        world, own: of the world and of the joints, without those.  bends: of the clip's knees, see `reach`.
        """
        (q, p), (joints, at), up = world, (x.copy() for x in own), int(model.parent[self.base])
        at[:, self.base] += way if up < 0 else rotate(conjugate(q[:, up]), way)
        for i, (limb, (foot, turn)) in enumerate(zip(self.stance.limbs, feet, strict=True)):
            swing, lower = reach(limb, q, p, foot, bends[i])
            turn = slerp(turn, multiply(lower, q[:, limb.end]), swings[:, i])  # in the air an ankle goes with its leg
            place(model, limb, q, joints, swing, lower, turn)
        return to_world(model, joints, at)

    def _hastened(self, clip: Poses, way: Array, turn: Array) -> Poses:
        """The clip's world poses, but for feet a way (T, L, 3) and turns (T, L, 3) off it."""
        q, p = (x.copy() for x in clip)
        p[:, self.feet] += way
        q[:, self.feet] = multiply(exp(turn), q[:, self.feet])
        return q, p

    def _target(self, limb: Limb, clip: Poses, own: Poses, way: Array, hold: Array) -> Poses:
        """Place (T, 3) and rotation (T, 4) of a foot: the clip's, led off it, as far as it is held."""
        q, p = (x[:, limb.end] for x in own)
        clip_q, clip_p = (x[:, limb.end] for x in clip)
        turn, at = slerp(q, clip_q, hold), p + hold[:, None] * (clip_p + way - p)
        deep = self._deep(limb, turn, at) - np.maximum(self._deep(limb, clip_q, clip_p), 0.0)
        at[:, 2] += np.maximum(deep, 0.0)
        lift = way[:, 2]  # a foot that a step takes up is as high, however freely it moves
        at[:, 2] = np.where(lift > 0.0, np.maximum(at[:, 2], clip_p[:, 2] + lift), at[:, 2])
        return at, turn

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
        sunk = heels.lower(way, reached(limb, clip, p, target[0], SOFT))
        steep = way[:, 2] / np.maximum(np.linalg.norm(way, axis=-1), 1e-12)
        sunk = sunk * smooth((steep - LIES) / (STANDS - LIES))
        return np.asarray(heels.holds(rotate(target[1], self._tip(limb)), way) * sunk)

    def _risen(self, limb: Limb, clip: Array, p: Array, target: Poses, air: Array, hold: Array) -> Poses:
        """The foot's place and rotation where its leg doesn't reach: a heel rises over toes that stay where they are as
        long as the body is before them; on the ground it is then lifted off it; what is left it is drawn to its
        hip, from which it is let out in the air."""
        ankle, turn = target
        softness = SOFTER + air * hold * (SOFT - SOFTER)
        hip, far = p[:, limb.upper], reached(limb, clip, p, ankle, softness)
        toes = rotate(turn, self._tip(limb))
        before, axis = heels.before(toes, hip - ankle)
        steep = heels.steep(hip - ankle - toes, -toes, axis, far)
        roll = exp(((1.0 - air) * before * np.clip(steep, 0.0, STEEPEST))[:, None] * axis)
        ankle = ankle + toes - rotate(roll, toes)
        way = hip - ankle
        missing = np.maximum(np.linalg.norm(way, axis=-1) - far, 0.0)
        ankle[:, 2] += (1.0 - air) * np.minimum(heels.lower(way, far), np.minimum(SLANTED * missing, RISE))
        ankle = nearer(ankle, hip, np.maximum(np.linalg.norm(hip - ankle, axis=-1) - far, 0.0))
        own, length = clip[:, limb.end] - clip[:, limb.upper], self.stance.length[self.stance.limbs.index(limb)]
        return ankle + air[:, None] * let_out(own, ankle - hip, float(length)), multiply(roll, turn)

    def _tip(self, limb: Limb) -> Array:
        """(3,) of a foot's toes, in its frame; the ankle of one that has no heel on the ground to rise."""
        leg = self.stance.limbs.index(limb)
        sole = self.stance.points[self.stance.owner == leg]
        return np.zeros(3) if self.stance.toed[leg] else np.asarray(sole[np.argmax(np.linalg.norm(sole, axis=-1))])

    def _deep(self, limb: Limb, q: Array, p: Array) -> Array:
        """(T,) how far a foot at a pose is in the ground [m]."""
        own = self.stance.owner == self.stance.limbs.index(limb)
        soles = p[:, None] + rotate(q[:, None], self.stance.points[own])
        height = soles[..., 2] - soles[..., :2] @ self.stance.grade
        return np.asarray((self.stance.level[own] - height).max(axis=1))
