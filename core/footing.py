"""The feet of a reaction: where they are led while it is simulated, and the last millimetres afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import stance, steps
from .actor import Actor
from .blows import Blow
from .dynamics import Kinematics
from .forces import Force, Guide, Muscle, Pulse, Track, WorldSpring, Wrench
from .ik import Limb, place, reach
from .model import Model
from .reference import Reference, to_world
from .resample import hermite
from .rotation import Array, conjugate, rotate, slerp
from .skeleton import Clip
from .stance import Stance
from .steps import Plan
from .support import smooth

STRAIGHT = 0.99  # of a leg's length up to which it may stretch beyond the clip's own
SOFT = 0.1  # [s] ahead of time that the pelvis begins to sink for a leg that doesn't reach
DEEPEST = 0.4  # of a leg's length that it may sink
KNOCKED, FULL = 0.08, 40.0  # [m] that a foot in the air lands aside of its way, from this blow on [N s]
SWINGING = 0.1  # how firmly a foot in the air is led, as part of one that stands
TAKE = 0.5  # [s] in which a struck foot finds back to its place before it lands

WEAKER = 0.85  # of a blow that makes the body fall is tried next

Poses = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Footing:
    """Legs that stand, and the plan of their steps.

    base: the pelvis.  span: from when to when the reaction shows [s].
    times: (T,) [s], sunk: (T,) how far the pelvis is lowered for the legs to reach [m].
    missing: (K, L) force that the legs don't carry any more [N], at the stance's samples.
    """

    stance: Stance
    plan: Plan
    base: int
    span: tuple[float, float]
    times: Array
    sunk: Array
    missing: Array

    @property
    def feet(self) -> np.ndarray:
        """(L,) bodies."""
        return np.array([limb.end for limb in self.stance.limbs])

    def forces(
        self,
        model: Model,
        reference: Reference,
        kins: tuple[Kinematics, Kinematics],
        spring: tuple[Array, Array],
        muscle: Muscle,
    ) -> list[Force]:
        """Springs to where the feet are led, and the way of the pelvis.

        kins: as in `Track.of_clip`.  spring: stiffness and damping (6, 6) of a foot.
        """
        t = reference.times
        grid = np.concatenate((t[:1] - reference.earlier[0], t))  # one step more in front, for the rates on arrival
        shift, feet, hold = self.plan.at(grid)
        h = np.diff(grid)[:, None]
        rate, speed = np.diff(shift, axis=0) / h, np.diff(feet, axis=0) / h[..., None]
        track = Track.of_clip(model, reference, self.feet, np.zeros((len(self.feet), 3)), kins)
        track = track.moved(feet[1:-1], speed[:-1], np.diff(speed, axis=0) / reference.kicks[:, None, None])
        down = hermite(self.stance.times, 1.0 * self.stance.down, np.clip(t[:-1], *self.stance.times[[0, -1]]))
        firm = hold[1:-1, :, None, None] * (SWINGING + (1.0 - SWINGING) * np.clip(down, 0.0, 1.0)[..., None, None])
        mass = float(model.inertia[:, 5, 5].sum())
        tone = muscle.tone[:, self.base, None, None]
        own_K, own_D = (x[self.base, 3:, 3:] for x in (muscle.stiffness, muscle.damping))
        load = np.zeros((reference.steps, len(self.feet), 6))
        load[..., 5] = -hermite(self.stance.times, self.missing, np.clip(t[:-1], *self.stance.times[[0, -1]]))
        hips = np.array([limb.upper for limb in self.stance.limbs])
        return [
            Wrench(hips, np.zeros((len(hips), 3)), load),
            WorldSpring(self.feet, firm * spring[0], firm * spring[1], track),
            Guide(
                self.base,
                tone * own_K,
                np.sqrt(tone) * own_D,
                shift[1:-1],
                rate[:-1],
                mass * self.plan.pulled(0.5 * (grid[1:] + grid[:-1])),
            ),
        ]

    def led(self, model: Model, reference: Reference) -> Array:
        """(K + 1, 3) where the plan leads the base over a stretch of the clip, in its parent's frame."""
        way = self.plan.at(reference.times)[0]
        up = int(model.parent[self.base])
        return (
            way if up < 0 else rotate(conjugate(to_world(model, reference.rotation, reference.position)[0][:, up]), way)
        )

    def settled(self, model: Model, clip: Poses, times: Array, joints: Array, at: Array, part: Array) -> Poses:
        """World poses (T, n, 4), (T, n, 3) with the pelvis where the plan has it, and the feet to the point.

        clip: its world poses at the times (T,).  joints: (T, n, 4), at: (T, n, 3) joint poses of the reaction besides
        the plan.  part: (n,) of the reaction that shows.
        """
        way, feet, hold = self.plan.at(times)
        way[:, 2] -= hermite(self.times, self.sunk, np.clip(times, self.times[0], self.times[-1]))
        joints, at = joints.copy(), at.copy()
        q, p = to_world(model, joints, at)
        p[:, model.ancestor[:, self.base] > 0.0] += way[:, None]
        up = model.parent[self.base]
        at[:, self.base] += way if up < 0 else rotate(conjugate(q[:, up]), way)
        for i, limb in enumerate(self.stance.limbs):
            target, turn = self._target(limb, clip, (q, p), feet[:, i], hold[:, i])
            swing, lower = reach(limb, q, p, target)
            shows = np.full(len(times), float(part[[limb.upper, limb.lower, limb.end]].min()))
            place(model, limb, q, joints, swing, lower, turn, shows)
        return to_world(model, joints, at)

    def sinking(self, model: Model, clip: Poses, times: Array, joints: Array, at: Array) -> "Footing":
        """The same with the pelvis lowered as far as the legs need; arguments as in `settled`, at even times."""
        way, feet, hold = self.plan.at(times)
        q, p = to_world(model, joints, at)
        p[:, model.ancestor[:, self.base] > 0.0] += way[:, None]
        need = np.zeros(len(times))
        for i, limb in enumerate(self.stance.limbs):
            target, _ = self._target(limb, clip, (q, p), feet[:, i], hold[:, i])
            need = np.maximum(need, _lack(limb, clip[1], p, target))
        width = max(int(round(SOFT / max(float(times[1] - times[0]), 1e-6))), 1)
        first, last = self.span
        ends = np.minimum((times - first) / SOFT, (last - times) / (2.0 * SOFT))
        return replace(self, times=times, sunk=_rounded(need, width) * smooth(ends))

    def _target(self, limb: Limb, clip: Poses, own: Poses, way: Array, hold: Array) -> Poses:
        """Place (T, 3) and rotation (T, 4) of a foot: the clip's, led off it, as far as it is held."""
        q, p = (x[:, limb.end] for x in own)
        clip_q, clip_p = (x[:, limb.end] for x in clip)
        turn, at = slerp(q, clip_q, hold), p + hold[:, None] * (clip_p + way - p)
        deep = self._deep(limb, turn, at) - np.maximum(self._deep(limb, clip_q, clip_p), 0.0)
        at[:, 2] += np.maximum(deep, 0.0)
        return at, turn

    def _deep(self, limb: Limb, q: Array, p: Array) -> Array:
        """(T,) how far a foot at a pose is in the ground [m]."""
        own = self.stance.owner == self.stance.limbs.index(limb)
        z = p[:, 2:] + rotate(q[:, None], self.stance.points[own])[..., 2]
        return np.asarray((self.stance.level[own] - z).max(axis=1))


def _lack(limb: Limb, clip: Array, p: Array, target: Array) -> Array:
    """(T,) how far the hip must sink for the leg to reach; clip, p: (T, n, 3) world positions."""
    bones = np.diff(p[:, [limb.upper, limb.lower, limb.end]], axis=1)
    length = np.linalg.norm(bones, axis=-1).sum(axis=-1)
    own = np.linalg.norm(clip[:, limb.end] - clip[:, limb.upper], axis=-1)
    most = np.maximum(own, STRAIGHT * length)
    away = p[:, limb.upper] - target
    across = np.einsum("ti,ti->t", away[:, :2], away[:, :2])
    high = np.sqrt(np.maximum(most**2 - across, (0.3 * length) ** 2))
    return np.clip(away[:, 2] - high, 0.0, DEEPEST * length)


def _rounded(need: Array, width: int) -> Array:
    """(T,) never less than what is needed, and smooth: the largest nearby, averaged."""

    def windows(x: Array) -> Array:
        padded = np.concatenate((np.full(width, x[0]), x, np.full(width, x[-1])))
        return np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1)

    weight = np.hanning(2 * width + 3)[1:-1]
    return np.asarray(windows(windows(need).max(axis=-1)) @ (weight / weight.sum()))


def prepare(
    actor: Actor, clip: Clip, blows: Sequence[Blow], pulses: Sequence[Force], base: int, moving: np.ndarray
) -> Footing | None:
    """Legs and plan for blows on a clip; None where no legs stand."""
    found = stance.read(actor, clip, blows[0].start)
    if found is None or not all(moving[[x.upper, x.lower, x.end]].all() for x in found.limbs):
        return None
    weak, hold, knocks = _struck(actor, found, blows)
    push = _push(actor, found, blows, pulses)
    spans = [(blow.start, blow.end) for blow in blows]
    end = max(blow.end for blow in blows)
    plan = steps.plan(found, push, 1.0 - weak, hold, knocks, spans, False)
    while plan.lost is not None and np.abs(push).max() > 0.0:  # more than feet can catch: the rest goes nowhere
        push = WEAKER * push
        plan = replace(steps.plan(found, push, 1.0 - weak, hold, knocks, spans, False), fell=True)
    return Footing(
        found, plan, base, (blows[0].start, end), found.times, np.zeros(len(found.times)), _missing(actor, found, weak)
    )


def _push(actor: Actor, found: Stance, blows: Sequence[Blow], pulses: Sequence[Force]) -> Array:
    """(K, 2) what the blows add to the weight's velocity from sample to sample [m/s]."""
    mass = float(actor.masses.mass.sum())
    h = float(found.times[1] - found.times[0])
    out = np.zeros((len(found.times), 2))
    for pulse in pulses:
        if isinstance(pulse, Pulse):
            part = np.array([pulse.fraction(float(t), h) for t in found.times])
            out += part[:, None] * (_borne(actor, found, pulse) * pulse.impulse[:2] / mass)
    return out


def _borne(actor: Actor, found: Stance, pulse: Pulse) -> float:
    """Part of a blow that the weight takes: of one on a leg that stands, the ground takes some, by the lever."""
    k = min(int(np.searchsorted(found.times, pulse.start - 1e-6)), len(found.times) - 1)
    for i, limb in enumerate(found.limbs):
        if pulse.body in _leg(actor, limb) and found.down[k, i]:
            axis = actor.axis[pulse.body]
            along = float(np.clip(pulse.point @ axis / max(float(axis @ axis), 1e-12), 0.0, 1.0))
            return {limb.upper: 1.0 - 0.5 * along, limb.lower: 0.5 - 0.5 * along}.get(pulse.body, 0.0)
    return 1.0


def _struck(actor: Actor, found: Stance, blows: Sequence[Blow]) -> tuple[Array, Array, Array]:
    """(K, L) how much of its strength each leg has lost, (K, L) how firmly each foot is held, and (K, L, 2) how far
    aside [m] a foot will land that was struck in the air."""
    knocks = np.zeros((*found.down.shape, 2))
    weak, hold = np.zeros(found.down.shape), np.ones(found.down.shape)
    for blow in blows:
        since = found.times - blow.start
        situation = blow.situation
        for i, limb in enumerate(found.limbs):
            if blow.struck not in _leg(actor, limb):
                continue
            back = 0.5 * (1.0 - np.cos(np.pi * np.clip(since / max(situation.recovery, 1e-9), 0.0, 1.0)))
            lost = np.where(since > -1e-6, (1.0 - situation.tone) * (1.0 - back), 0.0)
            weak[:, i] = np.maximum(weak[:, i], lost)
            k = int(np.searchsorted(found.times, blow.start - 1e-6))
            if not found.down[k, i] or situation.drive == "velocities":
                lands = -1 if found.down[k, i] else found.lands(k, i)
                ready = found.times[lands] if lands >= 0 else blow.start + situation.recovery
                last = lands if lands >= 0 else k
                knocks[k : last + 1, i] = KNOCKED * min(1.0, abs(blow.impulse) / FULL) * blow.direction[:2]
                firm = np.clip(1.0 - (ready - found.times) / min(TAKE, max(ready - blow.start, 1e-3)), 0.0, 1.0)
                hold[:, i] *= np.where(since > -1e-6, smooth(firm), 1.0)
    return weak, hold, knocks


def _leg(actor: Actor, limb: Limb) -> set[int]:
    """Bodies from thigh to toes."""
    leg = {limb.upper}
    for i, up in enumerate(actor.parent):
        if int(up) in leg:
            leg.add(i)
    return leg


def _missing(actor: Actor, found: Stance, weak: Array) -> Array:
    """(K, L) force [N] by which legs that carry the weight give way."""
    weight = float(actor.masses.mass.sum()) * abs(float(actor.gravity[2]))
    carries = found.down / np.maximum(found.down.sum(axis=1, keepdims=True), 1)
    return np.asarray(weight * weak * carries)
