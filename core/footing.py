"""The feet of a reaction: where they are led while it is simulated, and the last millimetres afterwards."""

from dataclasses import dataclass

import numpy as np

from .dynamics import Kinematics
from .forces import Force, Guide, Muscle, Track, WorldSpring, Wrench
from .ik import Limb, place, reach
from .model import Model
from .plan import Plan
from .reference import Reference, to_world
from .resample import hermite, linear
from .rotation import Array, conjugate, rotate, slerp
from .stance import Stance

STRAIGHT, SOFT = 0.99, 0.05  # of a leg's length: up to which it may stretch beyond the clip's own, and softly before
DEEPEST = 0.4  # of a leg's length that it may sink
SWINGING = 0.1  # how firmly a foot in the air is led, as part of one that stands

Poses = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Footing:
    """Legs that stand, and the plan of their steps.

    base: the pelvis.
    missing: (K, L) force that the legs don't carry any more [N], at the stance's samples.
    """

    stance: Stance
    plan: Plan
    base: int
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
        load[..., 5] = -linear(self.stance.times, self.missing, t[:-1])
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

        Where a leg would not reach, the pelvis sinks.
        clip: its world poses at the times (T,).  joints: (T, n, 4), at: (T, n, 3) joint poses of the reaction besides
        the plan.  part: (n,) of the reaction that shows.
        """
        way, feet, hold = self.plan.at(times)
        joints, at = joints.copy(), at.copy()
        q, p = to_world(model, joints, at)
        carried = model.ancestor[:, self.base] > 0.0
        p[:, carried] += way[:, None]
        targets = [self._target(x, clip, (q, p), feet[:, i], hold[:, i]) for i, x in enumerate(self.stance.limbs)]
        lacks = [_lack(x, clip[1], p, to[0]) for x, to in zip(self.stance.limbs, targets, strict=True)]
        sunk = np.max(lacks, axis=0)
        way[:, 2] -= sunk
        p[:, carried, 2] -= sunk[:, None]
        up = model.parent[self.base]
        at[:, self.base] += way if up < 0 else rotate(conjugate(q[:, up]), way)
        for limb, (target, turn) in zip(self.stance.limbs, targets, strict=True):
            swing, lower = reach(limb, q, p, target)
            shows = np.full(len(times), float(part[[limb.upper, limb.lower, limb.end]].min()))
            place(model, limb, q, joints, swing, lower, turn, shows)
        return to_world(model, joints, at)

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
    """(T,) how far the hip must sink for the leg to reach; clip, p: (T, n, 3) world positions.

    Nothing where the leg is as long as in the clip; beyond that it gets to its full length ever more slowly.
    """
    bones = np.diff(p[:, [limb.upper, limb.lower, limb.end]], axis=1)
    length = np.linalg.norm(bones, axis=-1).sum(axis=-1)
    own = np.linalg.norm(clip[:, limb.end] - clip[:, limb.upper], axis=-1)
    free = np.maximum(own, (STRAIGHT - SOFT) * length)
    room = np.maximum(np.maximum(own, STRAIGHT * length) - free, 1e-9)
    away = p[:, limb.upper] - target
    across = np.einsum("ti,ti->t", away[:, :2], away[:, :2])
    over = np.maximum(np.linalg.norm(away, axis=-1) - free, 0.0)
    most = free + room * (1.0 - np.exp(-over / room))
    high = np.sqrt(np.maximum(most**2 - across, (0.3 * length) ** 2))
    return np.where(over > 0.0, np.clip(away[:, 2] - high, 0.0, DEEPEST * length), 0.0)
