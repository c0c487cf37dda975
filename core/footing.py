"""The feet of a reaction: where they are led while it is simulated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import heels
from .dynamics import Kinematics, centre
from .forces import Force, Guide, Heels, Muscle, Pulse, Track, WorldSpring, Wrench
from .leg_springs import LegSprings
from .model import Model
from .reference import Reference
from .resample import linear, smoothly
from .rotation import Array, conjugate, multiply, rotate
from .settling import RAISED, Settling
from .spatial import apply
from .support import smooth

LED = 0.1  # part of their muscles that legs keep which stand
FIND = 0.3  # [s] after landing in which the pelvis finds back into its range
EASY = 0.05  # of what holds a heel down, where the body is before its foot
FOLDING = 0.08  # part of its muscles that a leg keeps which folds under a blow along it
SWINGING = 0.1  # how firmly a foot in the air is led, as part of one that stands


@dataclass(frozen=True, eq=False)
class Footing(Settling):
    """Legs that stand, and the plan of their steps.

    missing: (K, L) force that the legs don't carry any more [N], at the stance's samples.
    struck: (K, L) 0..1, how far a blow has struck them by then.
    fell: whether a blow was stronger than feet can catch, so that the plan is of a weaker one.
    """

    missing: Array
    struck: Array
    fell: bool = False

    def grounded(self, times: Array) -> Array:
        """(T,) 1 on the ground, 0 in flight, where nothing holds the body as a whole."""
        return 1.0 - linear(self.stance.times, 1.0 * self.stance.flies, times)

    def load(self, times: Array) -> Array:
        """(T,) how many times its weight the body presses the ground in the mean."""
        return linear(self.stance.times, self.stance.load, times)

    def tone(self, times: Array, bodies: int) -> Array:
        """(T, n) what is left of the muscles of bodies: legs that stand give way to the plan, which has the ground's
        force already; theirs would brake the weight once more.  Where a leg is struck, the others bear the body for it
        and stay taut.  One that folds is loose: hip and knee turn against each other, each damped for all that it
        carries, and little moves."""
        out = np.ones((len(times), bodies))
        whole = linear(self.stance.times, 1.0 - self.struck.max(axis=1), times)
        both = self._stands(times).T, self._loose(times).T
        for limb, stands, loose in zip(self.stance.limbs, *both, strict=True):
            part = (1.0 - (1.0 - LED) * whole * stands) * FOLDING**loose
            out[:, [limb.upper, limb.lower, limb.end]] = part[:, None]
        return out

    @cached_property
    def _bears(self) -> Callable[[Array], Array]:
        """`Stance.bears` at any times."""
        return smoothly(self.stance.times, self.stance.bears)

    @cached_property
    def _down(self) -> Callable[[Array], Array]:
        """`Stance.down` at any times."""
        return smoothly(self.stance.times, 1.0 * self.stance.down)

    def _stands(self, times: Array) -> Array:
        """(T, L) how far legs stand that nothing strikes; in a step of ours none does."""
        bears = self._bears(times)
        spared = linear(self.stance.times, 1.0 - self.struck, times)
        held = linear(self.plan.times, self.plan.hold, times) * (1.0 - smooth(self.plan.lifted(times) / RAISED))
        return np.clip(bears * held * spared, 0.0, 1.0)

    def upright(self, times: Array) -> Array:
        """(T,) how far the pelvis' range about the clip's pose holds, and feet their places: in flight neither, and
        both find back after landing."""
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
        pulses: Sequence[Pulse],
    ) -> list[Force]:
        """Springs to where the feet are led, and what leads the weight, as tautly as the pelvis' muscle.

        kins: as in `Track.of_clip`.  spring: stiffness and damping (6, 6) of a foot.
        """
        t, kicks = reference.times, reference.kicks
        grid = np.concatenate((t[:1] - reference.earlier[0], t))  # one step more in front, for the rates on arrival
        shift, feet, hold = self.plan.at(grid)
        sunk = shift[:, 2] - shift[:, :2] @ self.stance.grade
        # A body sinks together with its ground, and feet pulled up would push it up on its straight legs: `settled`
        # bends the knees.
        feet[..., 2] += sunk[:, None] - self.plan.lifted(grid)
        weight, ankles = _way(shift, grid, kicks), _way(feet, grid, kicks)
        mass = float(model.inertia[:, 5, 5].sum())
        pull = mass * self.plan.pulled(0.5 * (grid[1:] + grid[:-1]))
        hips = np.array([limb.upper for limb in self.stance.limbs])
        load = np.zeros((reference.steps, len(hips), 6))
        load[..., 5] = -linear(self.stance.times, self.missing, t[:-1])
        push = pull - load[..., 3:].sum(axis=1)
        springs = [self._held(model, reference, kins, spring, weight[0], ankles, hold[1:-1])]
        if len(hips) > 2:
            legs = LegSprings.of(self.stance, self._stands(t[:-1]), mass, t[:-1])
            load[..., 5] += legs.pressed(kins[0].p[:, hips, :2], pull[:, :2])
            track = Track.of_clip(model, reference, hips, np.zeros((len(hips), 3)), kins)
            place, rate, gain = (x[:, None] for x in weight)
            track = track.moved(place, rate, gain, kicks)
            springs.append(legs.spring(hips, track, muscle.tone[:, self.base]))
        blown = sum((pulse.force(reference) for pulse in pulses), np.zeros(3))
        faster = (pull + blown) / mass - weight[2]
        guide = Guide(self.base, centre(kins[0]), self._taut(muscle), weight[:2], push, faster)
        forces: list[Force] = [*springs, guide]
        return [Wrench(hips, np.zeros((len(hips), 3)), load), *forces] if load.any() else forces

    def _held(
        self,
        model: Model,
        reference: Reference,
        kins: tuple[Kinematics, Kinematics],
        spring: tuple[Array, Array],
        weight: Array,
        ankles: tuple[Array, Array, Array],
        hold: Array,
    ) -> WorldSpring:
        """Springs to where the feet are led.

        kins, spring: as in `forces`.  weight: (K, 3) where that is led.  ankles: of `_way`.  hold: (K, L) how firmly.
        """
        tips = self.stance.tips  # go as ankles do: feet turn as in the clip
        track = Track.of_clip(model, reference, self.feet, tips, kins).moved(*ankles, reference.kicks)
        firm = self._firm(reference.times[:-1], hold)[..., None, None]
        eased, lever = self._heels(kins[0], tips, weight, ankles[0])
        stiff, damped = (firm * (own + own[5, 5] * lever) for own in spring)
        return WorldSpring(self.feet, stiff, damped, track, tips, eased)

    def _taut(self, muscle: Muscle) -> Array:
        """(T, 2) rate and pace [1/s] of the pelvis' muscle with the tone that it has."""
        usual = np.stack((muscle.rate, muscle.pace), axis=-1)[..., self.base, :]
        return np.asarray(np.sqrt(muscle.tone[:, self.base, None]) * usual)

    def _firm(self, times: Array, hold: Array) -> Array:
        """(T, L) how firmly feet are led that are held so (T, L): in the air less than on the ground, not in flight.
        After one it comes up as the pelvis' range does: legs, a third of the body, would be yanked to where they stand.
        """
        down = np.clip(self._down(times), 0.0, 1.0)
        return self.upright(times)[:, None] * hold * (SWINGING + (1.0 - SWINGING) * down)

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


def _way(x: Array, times: Array, kicks: Array) -> tuple[Array, Array, Array]:
    """Places (T, ...) of a way (T + 2, ...) but for its ends, its rates on arrival there [/s], and by how much these
    grow in the steps that follow, over `kicks` (T,) [/s^2]."""
    rate = ((np.diff(x, axis=0).T) / np.diff(times)).T
    return x[1:-1], rate[:-1], (np.diff(rate, axis=0).T / kicks).T
