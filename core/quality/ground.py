"""Feet and ground: where the clip stands and at which speed its ground goes by; slip, skid, floating, sinking."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..rotation import Array, conjugate, rotate
from .finding import Finding, at_most
from .motion import RATE, Figure, Motion, smooth, sustained, velocity, widened

NEAR, BEARING = 0.05, 0.1  # [m] above its stand a sole counts as down, or as able to carry
LIFTED = 0.02  # [m] above the clip's own foot a foot counts as lifted: that is a step, not a slip
STILL = 0.15  # [m/s] slower ground doesn't move
BAND, WIDER = 0.4, 0.25  # [m/s] and part of the ground's speed by which a standing foot may differ from it
SKID = 0.05  # [s] for which a foot has to skid
SOME = 150  # moments from which the ground's speed is taken
LEVEL = 0.35  # of a leg's height that hands may stand above the feet, as for quadrupeds (`posture`)
STAY = 0.3  # [s] that a body may be in the air


@dataclass(frozen=True, eq=False)
class Soles:
    """Points of the feet that meet the ground, each at a height of its own above it.

    foot: (f,) index of the judged body.  points: (f, 3) body frame [m].  kind: (f,) points of one kind (ankles, balls)
    share their height.
    """

    foot: np.ndarray
    points: Array
    kind: np.ndarray

    def at(self, motion: Motion) -> Array:
        """(K, f, 3) in the world."""
        bodies = motion.figure.bodies[self.foot]
        return motion.p[:, bodies] + (motion.R[:, bodies] @ self.points[:, :, None])[..., 0]


@lru_cache(maxsize=8)
def soles(figure: Figure) -> Soles:
    """Ankle, ball and tip of every foot, and of hands that stand; without feet the ends of all chains."""
    actor = figure.actor
    feet = figure.having("foot", "hand") if _on_hands(figure) else figure.having("foot")
    if not len(feet):
        feet = np.array([k for k in range(len(figure.bodies)) if k not in figure.up], dtype=int)
    foot, points, kind = [], [], []
    for k in feet:
        hand = 3 * (figure.base[k] == "hand")
        ends = [np.zeros(3), actor.axis[figure.bodies[k]], *_toes(figure, int(figure.bodies[k]))]
        foot += [int(k)] * len(ends)
        points += ends
        kind += [hand, hand + 1, *[hand + 2] * (len(ends) - 2)]
    return Soles(np.array(foot, dtype=int), np.array(points), np.array(kind, dtype=int))


def _on_hands(figure: Figure) -> bool:
    """Whether hands are feet: a quadruped's, and those of more limbs that reach down as far at rest."""
    actor, kind = figure.actor, figure.actor.anatomy.kind
    if kind != "other":
        return kind == "quadruped"
    height = actor.skeleton.head[actor.order[figure.bodies]] @ actor.anatomy.up
    hands, feet, hips = (height[figure.having(role)] for role in ("hand", "foot", "thigh"))
    if not len(hands) or not len(feet) or not len(hips):
        return False
    return bool(abs(hands.mean() - feet.mean()) < LEVEL * abs(hips.mean() - feet.mean()))


def _toes(figure: Figure, foot: int) -> list[Array]:
    """Ends (3,) of the toes that a foot carries, in the foot's frame at rest."""
    actor = figure.actor
    skeleton, bone = actor.skeleton, int(actor.order[foot])
    out = []
    for b in np.flatnonzero(actor.parent == foot):
        toe = int(actor.order[b])
        if actor.roles[b].startswith("toe") and np.any(actor.axis[b]):
            head = (skeleton.head[toe] - skeleton.head[bone]) * actor.masses.scale
            end = head + rotate(skeleton.rotation[toe], actor.masses.axis[toe])
            out.append(actor.sign * rotate(conjugate(skeleton.rotation[bone]), end))
    return out


@dataclass(frozen=True, eq=False)
class Stand:
    """What a motion says about its ground.

    soles: (K, f, 3), their heights above where they stand.  level: (f,) height at which they stand [m].
    speed: (2,) of the ground [m/s].  down: (K, f) bool.
    """

    soles: Array
    level: Array
    speed: Array
    down: np.ndarray

    @property
    def height(self) -> Array:
        """(K,) of the lowest sole above the ground."""
        return self.soles[..., 2].min(axis=1)

    @property
    def bearing(self) -> np.ndarray:
        """(K, f) soles that may carry weight, however fast; few artists plant feet to the centimetre."""
        return np.asarray(self.soles[..., 2] < BEARING)


def stand(motion: Motion, clip: "Stand | None" = None) -> Stand:
    """Ground and contacts of a motion; with a clip's Stand the ground is that one's."""
    on = soles(motion.figure)
    at = on.at(motion)
    v = np.gradient(smooth(at[..., :2]), 1.0 / RATE, axis=0)
    level = _levels(at[..., 2], on.kind) if clip is None else clip.level
    at[..., 2] -= level
    low = at[..., 2] < NEAR
    speed = _ground_speed(v[low]) if clip is None else clip.speed
    slow = np.linalg.norm(v - speed, axis=-1) < BAND + WIDER * np.linalg.norm(speed)
    return Stand(at, level, speed, low & slow)


def _levels(z: Array, kind: np.ndarray) -> Array:
    """(f,) how high the points (K, f) of each kind stand: rarely is one lower."""
    level = np.empty(len(kind))
    for k in np.unique(kind):
        level[kind == k] = np.quantile(z[:, kind == k].min(axis=1), 0.05)
    return level


def _ground_speed(v: Array) -> Array:
    """(2,) the velocity most of the low soles (c, 2) share; zero where as many stand still."""
    if not len(v):
        return np.zeros(2)
    some = v[:: len(v) // SOME + 1]
    size = np.sum(some * some, axis=-1)
    near = size[:, None] + size - 2.0 * some @ some.T < BAND**2
    best = int(np.argmax(near.sum(axis=1)))
    standing = np.count_nonzero(size < BAND**2)
    common = some[near[best]].mean(axis=0)
    if np.linalg.norm(common) < STILL or standing > 0.8 * near[best].sum():
        return np.zeros(2)
    return np.asarray(common)


def slip(motion: Motion, now: Stand, clip: Stand | None) -> Finding:
    """[cm] how far a planted foot goes from where it was put down, beyond the clip's own foot or ground."""
    drift, down = _planted(motion, now, clip)
    count = np.arange(len(down))[:, None]
    fresh = down & ~np.concatenate((np.zeros_like(down[:1]), down[:-1]))
    start = np.maximum.accumulate(np.where(fresh, count, 0), axis=0)
    moved = np.linalg.norm(drift - np.take_along_axis(drift, start[..., None], axis=0), axis=-1)
    return at_most("slip", 100.0 * np.where(down, moved, 0.0), "cm", motion, soles(motion.figure).foot)


def skid(motion: Motion, now: Stand, clip: Stand | None) -> Finding:
    """[m/s] speed at which a planted foot goes over its ground, or against the clip's own foot, held for SKID: a run
    plants its feet so briefly that even a fast one doesn't get far."""
    drift, down = _planted(motion, now, clip)
    v = np.linalg.norm(velocity(drift), axis=-1)
    held = sustained(np.where(down, v, 0.0), SKID)
    return at_most("skid", held, "m/s", motion, soles(motion.figure).foot, len(v) - len(held))


def _planted(motion: Motion, now: Stand, clip: Stand | None) -> tuple[Array, np.ndarray]:
    """(K, f, 2) where the soles are, seen from the ground or the clip's own, and (K, f) which should stay there."""
    if clip is None:
        return now.soles[..., :2] - (motion.times - motion.times[0])[:, None, None] * now.speed, now.down
    apart = now.soles - clip.soles
    return apart[..., :2], clip.down & (apart[..., 2] < LIFTED)


def floating(motion: Motion, now: Stand, clip: Stand | None) -> Finding:
    """[cm] how high the body stays in the air beyond the clip, for longer than a hop lasts."""
    height = now.height if clip is None else now.height - widened(clip.height, 0.1)
    stays = sustained(height, STAY)
    lowest = int(np.bincount(now.soles[..., 2].argmin(axis=1)).argmax())
    who = soles(motion.figure).foot[lowest : lowest + 1]
    return at_most("floating", 100.0 * stays[:, None], "cm", motion, who, len(height) - len(stays))


def sinking(motion: Motion, now: Stand, clip: Motion | None, own: Stand | None) -> Finding:
    """[cm] how deep a body is below the ground beyond the clip's own."""
    depth = _depth(motion, now)
    if clip is not None and own is not None:
        depth = depth - np.maximum(widened(_depth(clip, own), 0.1), 0.0)
    return at_most("sinking", 100.0 * depth, "cm", motion)


def _depth(motion: Motion, now: Stand) -> Array:
    """(K, m) how far every judged body's joint, or a foot's soles, are below where the lowest sole stands."""
    depth = float(now.level.min()) - motion.heads[..., 2]
    on = soles(motion.figure)
    for k in np.unique(on.foot):
        depth[:, k] = -now.soles[:, on.foot == k, 2].min(axis=1)
    return depth
