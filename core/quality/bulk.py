"""Limbs through the body and through each other: capsules, all pairs and frames at once."""

from functools import lru_cache

import numpy as np

from ..lanes import dot
from ..rotation import Array
from .finding import Finding
from .motion import Figure, Motion

TRUNK = ("pelvis", "spine", "neck", "head")
ARM, LEG = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")
THINNEST = 0.02  # [m] radius of a limb that counts
SLIM = 0.8  # part of a capsule's radius that counts: a sleeve or a belly gives way


@lru_cache(maxsize=8)
def pairs(figure: Figure) -> tuple[np.ndarray, Array]:
    """(P, 2) judged bodies of different limbs that should not be in each other, and (P, 2) the part of each left out.

    Upper arms and thighs are in the trunk and in each other where limbs begin: there they count from their middle.
    """
    limb = []
    for body, role in zip(figure.bodies, figure.base, strict=True):
        side = figure.actor.roles[body].partition(".")[2]
        part = "arm" if role in ARM else "leg" if role in LEG else "trunk" if role in TRUNK else ""
        limb.append(part + side if part in ("arm", "leg") else part)
    out, skipped = [], []
    for i, a in enumerate(limb):
        for j in range(i):
            b = limb[j]
            roots = [figure.base[k] in ("upper_arm", "thigh") for k in (j, i)]
            seat = "pelvis" in (figure.base[i], figure.base[j]) and "leg" in (a + b)  # heels may touch it
            if a and b and a != b and not seat:
                near = all(roots) or (any(roots) and "trunk" in (a, b))
                out.append((j, i))
                skipped.append([0.5 * (near and root) for root in roots])
    return np.array(out, dtype=int).reshape(-1, 2), np.array(skipped).reshape(-1, 2)


def depths(gap: Array, touching: Array, clips: Array | None = None) -> Array:
    """(K, P) how deep the bodies of pairs are in each other [m], negative where they are apart, by the gaps (K, P, 3)
    between their middle lines and (P,) how far apart these are where they touch.

    Once the middle lines have passed each other the depth goes on growing, until the two come apart or are home: nearer
    to where the clip has one touch the other than that is to its middle line.  clips: (K, P, 3) the clip's gaps.
    """
    size, home = np.sqrt(dot(gap, gap)), np.zeros(gap.shape[:-1], dtype=bool)
    if clips is not None:
        off, far = gap - clips, dot(clips, clips)
        home = (far < touching**2) & (dot(off, off) < far)
    return touching - np.where(_passed(gap, size < touching, home), -size, size)


def _gaps(motion: Motion, who: np.ndarray, skipped: Array) -> Array:
    """(K, P, 3) shortest ways between the middle lines of pairs."""
    (p, u), (q, v) = (_outer(motion, who[:, s], skipped[:, s]) for s in (0, 1))
    return separation(p, u, q, v)


def _outer(motion: Motion, who: np.ndarray, skipped: Array) -> tuple[Array, Array]:
    """Start and way (K, P, 3) of the segments of judged bodies, without the part that is left out."""
    start = motion.heads[:, who]
    way = motion.ends[:, who] - start
    return start + skipped[:, None] * way, (1.0 - skipped)[:, None] * way


def _passed(gap: Array, inside: np.ndarray, home: np.ndarray) -> np.ndarray:
    """(K, P) whether the lines have passed each other since the bodies met, or since they were last home, (K, P): the
    gap (K, P, 3) then turns round."""
    turned = np.zeros(inside.shape, dtype=int)
    turned[1:] = np.cumsum((dot(gap[1:], gap[:-1]) < 0.0) & inside[1:] & inside[:-1], axis=0)
    known = np.where(inside & ~home, 0, turned + 1)  # turned only grows, so this is when they met, plus 1
    met = np.maximum.accumulate(known, axis=0) - 1
    return np.asarray(inside & ((turned - np.maximum(met, 0)) % 2 == 1))


def separation(p: Array, u: Array, q: Array, v: Array) -> Array:
    """(..., 3) shortest way to the segment p + s u from q + t v, s and t in 0..1 (Ericson 2005, 5.1.9, without
    branches)."""
    r = p - q
    a, b, e = dot(u, u) + 1e-18, dot(u, v), dot(v, v) + 1e-18
    c, f = dot(u, r), dot(v, r)
    across = a * e - b * b
    s = np.clip(np.where(across > 1e-9 * a * e, (b * f - c * e) / np.maximum(across, 1e-12 * a * e), 0.5), 0.0, 1.0)
    t = np.clip((b * s + f) / e, 0.0, 1.0)
    s = np.clip((b * t - c) / a, 0.0, 1.0)
    return np.asarray(r + s[..., None] * u - t[..., None] * v)


def _reach(motion: Motion, who: np.ndarray) -> Array:
    """(P,) the least gap [m] that bounding spheres leave between the bodies of each pair; a cheap lower bound."""
    figure = motion.figure
    actor = figure.actor
    radius = SLIM * actor.masses.radius[actor.order][figure.bodies] + 0.5 * np.linalg.norm(
        actor.axis[figure.bodies], axis=-1
    )
    middle = 0.5 * (motion.heads + motion.ends)
    apart = middle[:, who[:, 0]] - middle[:, who[:, 1]]
    return np.sqrt(dot(apart, apart).min(axis=0)) - radius[who[:, 0]] - radius[who[:, 1]]


def penetration(motion: Motion, clip: Motion | None, rest: Motion) -> Finding:
    """[%] of the thinner one's thickness by which two limbs are deeper in each other than in the clip, or at rest.

    Only beside its clip can a motion be asked on which side of the other a limb should have stayed.
    """
    who, skipped = pairs(motion.figure)
    if len(who):
        near = _reach(motion, who) < 0.0
        who, skipped = who[near], skipped[near]
    if not len(who):
        return Finding("penetration", 0.0, "%", "", float(motion.times[0]))
    actor, bodies = motion.figure.actor, motion.figure.bodies[who]
    thin = 2.0 * np.maximum(actor.masses.radius[actor.order][bodies].min(axis=1), THINNEST)
    touching = SLIM * actor.masses.radius[actor.order][bodies].sum(axis=1)
    gap, own = (_gaps(m, who, skipped) for m in (motion, rest if clip is None else clip))
    if clip is None:
        depth, allowed = (touching - np.sqrt(dot(g, g)) for g in (gap, own))
    else:
        depth, allowed = depths(gap, touching, own), depths(own, touching)
    x = 100.0 * (depth - np.maximum(allowed.max(axis=0), 0.0)) / thin
    k, j = np.unravel_index(int(np.argmax(x)), x.shape)
    name = motion.figure.names[int(who[j, 1])]
    return Finding("penetration", max(float(x[k, j]), 0.0), "%", name, float(motion.times[int(k)]))
