"""The ground of a clip that climbs: an even slope, or stairs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .actor import Actor
from .ik import Limb
from .quality import ground
from .quality.motion import RATE, Motion, smooth
from .rotation import Array, rotate

CLIMBS, TRAVELS = 0.15, 0.5  # [m] that the weight rises or sinks on a clip that climbs, and goes at least
UNEVEN = 0.1  # part of its rise that may be off an even slope
RESTS = 0.3  # [m/s] slower a sole rests, in all directions
STEEP = 0.3  # rise per way from which a climb may be stairs: ramps are flatter, and feet aren't level to a few degrees
LEVEL = 0.5  # of the slope that a foot at rest is tilted by, up to which it stands on a tread


def grade(com: Array) -> Array:
    """(2,) by how much the ground rises along x and y under a weight that goes (K, 3): up or down an even slope, or
    stairs, along its way; 0 where it doesn't climb."""
    way = com[-1, :2] - com[0, :2]
    far = float(np.linalg.norm(way))
    if far < TRAVELS or abs(com[-1, 2] - com[0, 2]) < CLIMBS:
        return np.zeros(2)
    along = (com[:, :2] - com[:, :2].mean(axis=0)) @ way / far
    high = com[:, 2] - com[:, 2].mean()
    slope = float(along @ high / (along @ along))
    even = float(np.sum((high - slope * along) ** 2)) < UNEVEN * float(high @ high)
    return slope * way / far if even else np.zeros(2)


def grounded(motion: Motion, grade: Array) -> tuple[Motion, ground.Stand]:
    """The motion off its grade, and its contacts there.

    The ground of a climb stands still and is where soles rest: in the air some get below the slope of stairs.
    """
    if not grade.any():
        return motion, ground.stand(motion)
    flat = replace(motion, p=motion.p - (motion.p[..., :2] @ grade)[..., None] * [0.0, 0.0, 1.0])
    stand = ground.stand(flat)
    soles = ground.soles(motion.figure)
    z, v = soles.at(flat)[..., 2], np.gradient(smooth(soles.at(motion)), 1.0 / RATE, axis=0)
    rests, level = np.linalg.norm(v, axis=-1) < RESTS, stand.level.copy()
    for kind in np.unique(soles.kind):
        own = soles.kind == kind
        if rests[:, own].any():
            level[own] = np.median(z[:, own][rests[:, own]])
    return flat, ground.stand(flat, replace(stand, level=level, speed=np.zeros(2)))


def treads(actor: Actor, motion: Motion, grade: Array, limbs: Sequence[Limb], down: np.ndarray) -> Array:
    """(C, 3) where ankles stand in the middle of each contact, down: (K, L), of feet that are level on a steep climb:
    stairs.  On slopes, where feet lie along the ground, none."""
    if np.linalg.norm(grade) < STEEP:
        return np.zeros((0, 3))
    rises, slopes, out = [], [], []
    for leg, limb in enumerate(limbs):
        ahead, bone = actor.axis[limb.end], int(actor.order[limb.end])
        level = actor.sign * rotate(actor.skeleton.rotation[bone], ahead) @ actor.anatomy.up
        edges = np.flatnonzero(np.diff(np.pad(1 * down[:, leg], 1)))
        for k in (edges[::2] + edges[1::2]) // 2:
            foot = motion.R[k, limb.end] @ ahead
            rises.append(float(foot[2] - level))
            slopes.append(float(foot[:2] @ grade))
            out.append(motion.p[k, limb.end])
    rise, slope = np.array(rises), np.array(slopes)
    return np.array(out) if rise @ slope < LEVEL * (slope @ slope) else np.zeros((0, 3))
