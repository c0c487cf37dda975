"""Limbs through the body and through each other: capsules, all pairs and frames at once."""

from functools import lru_cache

import numpy as np

from ..rotation import Array
from .finding import Finding
from .motion import Figure, Motion

TRUNK = ("pelvis", "spine", "neck", "head")
ARM, LEG = ("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")
THINNEST = 0.02  # [m] radius of a limb that counts
SLIM = 0.8  # part of a capsule's radius that counts: a sleeve or a belly gives way


@lru_cache(maxsize=8)
def pairs(figure: Figure) -> np.ndarray:
    """(P, 2) judged bodies that should not be in each other: of different limbs, none of them where limbs begin."""
    limb = []
    for body, role in zip(figure.bodies, figure.base, strict=True):
        side = figure.actor.roles[body].partition(".")[2]
        part = "arm" if role in ARM else "leg" if role in LEG else "trunk" if role in TRUNK else ""
        limb.append(part + side if part in ("arm", "leg") else part)
    out = []
    for i, a in enumerate(limb):
        for j in range(i):
            b = limb[j]
            roots = {figure.base[i], figure.base[j]} & {"upper_arm", "thigh"}
            near = roots and "trunk" in (a, b)
            both = figure.base[i] == figure.base[j] == "thigh"
            seat = "pelvis" in (figure.base[i], figure.base[j]) and "leg" in (a + b)  # heels may touch it
            if a and b and a != b and not (near or both or seat) and roots != {"upper_arm"}:
                out.append((j, i))
    return np.array(out, dtype=int).reshape(-1, 2)


def depths(motion: Motion, who: np.ndarray) -> Array:
    """(K, P) how deep the bodies of each pair are in each other [m], negative where they are apart."""
    first, second = motion.figure.bodies[who[:, 0]], motion.figure.bodies[who[:, 1]]
    actor = motion.figure.actor
    radius = SLIM * actor.masses.radius[actor.order]
    p, q = motion.heads[:, who[:, 0]], motion.heads[:, who[:, 1]]
    u, v = motion.ends[:, who[:, 0]] - p, motion.ends[:, who[:, 1]] - q
    return radius[first] + radius[second] - distance(p, u, q, v)


def distance(p: Array, u: Array, q: Array, v: Array) -> Array:
    """(...,) distance of the segments p + s u and q + t v, s and t in 0..1 (Ericson 2005, 5.1.9, without branches)."""
    r = p - q
    a, b, e = _dot(u, u) + 1e-18, _dot(u, v), _dot(v, v) + 1e-18
    c, f = _dot(u, r), _dot(v, r)
    across = a * e - b * b
    s = np.clip(np.where(across > 1e-9 * a * e, (b * f - c * e) / np.maximum(across, 1e-12 * a * e), 0.5), 0.0, 1.0)
    t = np.clip((b * s + f) / e, 0.0, 1.0)
    s = np.clip((b * t - c) / a, 0.0, 1.0)
    apart = r + s[..., None] * u - t[..., None] * v
    return np.sqrt(_dot(apart, apart))


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("...i,...i->...", a, b))


def _reach(motion: Motion, who: np.ndarray) -> Array:
    """(P,) the least gap [m] that bounding spheres leave between the bodies of each pair; a cheap lower bound."""
    figure = motion.figure
    actor = figure.actor
    radius = SLIM * actor.masses.radius[actor.order][figure.bodies] + 0.5 * np.linalg.norm(
        actor.axis[figure.bodies], axis=-1
    )
    middle = 0.5 * (motion.heads + motion.ends)
    apart = middle[:, who[:, 0]] - middle[:, who[:, 1]]
    return np.sqrt(_dot(apart, apart).min(axis=0)) - radius[who[:, 0]] - radius[who[:, 1]]


def penetration(motion: Motion, clip: Motion | None, rest: Motion) -> Finding:
    """[%] of the thinner one's thickness by which two limbs are deeper in each other than in the clip, or at rest."""
    who = pairs(motion.figure)
    who = who[_reach(motion, who) < 0.0] if len(who) else who
    if not len(who):
        return Finding("penetration", 0.0, "%", "", float(motion.times[0]))
    actor, bodies = motion.figure.actor, motion.figure.bodies[who]
    thin = 2.0 * np.maximum(actor.masses.radius[actor.order][bodies].min(axis=1), THINNEST)
    own = depths(rest if clip is None else clip, who).max(axis=0)
    x = 100.0 * (depths(motion, who) - np.maximum(own, 0.0)) / thin
    k, j = np.unravel_index(int(np.argmax(x)), x.shape)
    name = motion.figure.names[int(who[j, 1])]
    return Finding("penetration", max(float(x[k, j]), 0.0), "%", name, float(motion.times[int(k)]))
