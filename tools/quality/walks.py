"""Feet of every walk and run of the corpus: nothing without a blow, no slip and no flipped knee with one.

ENVS/core/bin/python -m tools.quality.walks    prints the table of docs/balance.md
"""

import numpy as np

from core.progress import run
from core.react import Hit, react
from core.rotation import rotate
from core.situation import named

from . import cases, corpus

WORDS = ("walk", "run", "jog", "sprint", "gallop", "strafe", "survey")
SITUATIONS = ("chest_front", "shoulder_outside", "leg_back")
AHEAD, AFTER = 0.5, 2.9  # [s] of clip before the blow and after it
LIFTED = 0.02  # [m] above the clip's from which on toes have left the ground
BENT = np.radians(10.0)  # of a knee, from where on it has a side


def main():
    print("| clip | without a blow | slip | lifted early | knees flipped |\n|---|---|---|---|---|")
    for source in corpus.SOURCES:
        if any(word in source.name.lower() for word in WORDS):
            actor, clip = cases.load(source)
            clip = cases.longer(actor, clip, AHEAD + AFTER)
            still = struck(actor, clip, "chest_front", 0.0)
            if still.footing is None:
                print(f"| {source.name} | no legs that step | | | |", flush=True)
                continue
            moved = np.linalg.norm(still.poses(clip)[1] - actor.canonical(clip)[1], axis=-1).max()
            seen = [feet(actor, clip, struck(actor, clip, name)) for name in SITUATIONS]
            slip, early = (1e3 * max(column) for column in list(zip(*seen, strict=True))[:2])
            flips, steps = sum(flips for _, _, flips in seen), len(still.footing.plan.moves)
            without = f"{steps} steps, {1e3 * moved:.1g} mm"
            print(f"| {source.name} | {without} | {slip:.2f} mm | {early:.0f} mm | {flips} |", flush=True)


def struck(actor, clip, name, impulse=None):
    """The reaction to a preset, AHEAD seconds into the clip."""
    return run(react(actor, clip, named(name), Hit(float(clip.frames[0]) + AHEAD * clip.fps, impulse=impulse)))


def feet(actor, clip, reaction):
    """(slip [m] of the toes of a planted foot beyond the clip's own while they are near its ground, how far [m] a leg
    that doesn't reach has them off it, samples of knees that bend to the other side)."""
    found, plan = reaction.footing.stance, reaction.footing.plan
    (q, p), (own_q, own_p) = reaction.poses(clip), actor.canonical(clip)
    slip, early, flips = 0.0, 0.0, 0
    for i, limb in enumerate(found.limbs):
        sole = found.points[found.owner == i]
        toes = sole[np.argmax(np.linalg.norm(sole, axis=-1))][None]
        off = (p - own_p)[:, limb.end] + rotate(q[:, limb.end], toes) - rotate(own_q[:, limb.end], toes)
        down = np.interp(clip.times, found.times, 1.0 * found.down[:, i]) > 0.999
        held = plan.at(clip.times)[2][:, i] > 0.999
        planted = down & held & ~np.diff(plan.at(clip.times)[1][:, i], axis=0, prepend=0.0).any(axis=-1)
        edges = np.flatnonzero(np.diff(np.pad(1 * planted, 1)))
        for a, b in zip(edges[::2], edges[1::2], strict=True):
            early = max(early, float(off[a:b, 2].max()))
            low = off[a:b][off[a:b, 2] < LIFTED]
            slip = max(slip, float(np.linalg.norm((low - low[:1])[:, :2], axis=-1).max(initial=0.0)))
        flips += int((_side(limb, p) * _side(limb, own_p) < 0.0).sum())
    return slip, early, flips


def _side(limb, p):
    """(T,) about which way the knee bends, seen along its axis in the first pose; 0 for one that is straight."""
    u, w = p[:, limb.lower] - p[:, limb.upper], p[:, limb.end] - p[:, limb.lower]
    normal = np.cross(u, w) / (np.linalg.norm(u, axis=-1) * np.linalg.norm(w, axis=-1))[:, None]
    front = np.median(normal, axis=0)
    along = normal @ front / max(np.linalg.norm(front), 1e-9)
    return np.where(np.abs(along) > np.sin(BENT), np.sign(along), 0.0)


if __name__ == "__main__":
    main()
