"""Pushes at the chest of standing, walking and running characters of the corpus, simulated: who stays, steps or falls.

ENVS/core/bin/python -m tools.quality.pushes [CLIP...]    prints the table of docs/balance.md
"""

import sys

import numpy as np

from core.react import Hit, react, run
from core.situation import named

from . import cases, corpus

IMPULSES = (20, 50, 80, 120, 160, 200)  # [N s] on 75 kg
WAYS = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.arange(8) * np.pi / 4]
CLIPS = ("kaykit Idle_A", "kaykit Walking_A", "kaykit Running_A")
CLIPS += ("cyberpunk Idle_Neutral", "cyberpunk Walk", "cyberpunk Run")
AHEAD, AFTER, BACK = 0.5, 3.0, 2.5  # [s] of clip before the push and after it, and after which the body is back
ASIDE = 0.03  # [m] that a footprint is off the clip's where it counts as a step
OUTCOMES = ("stays", "steps", "falls")


def main(names):
    print("| clip | " + " | ".join(f"{j} N s" for j in IMPULSES) + " | in order | back |")
    print("|---" * (len(IMPULSES) + 3) + "|")
    for source in corpus.SOURCES:
        if source.name in names:
            actor, clip = cases.load(source)
            clip = cases.longer(actor, clip, AHEAD + AFTER)
            rows = [[outcome(actor, clip, impulse, way) for way in WAYS] for impulse in IMPULSES]
            cells = ["/".join(str([k for k, _ in row].count(k)) for k in OUTCOMES) for row in rows]
            grades = np.array([[OUTCOMES.index(k) for k, _ in row] for row in rows])
            ordered = int((np.diff(grades, axis=0) >= 0).all(axis=0).sum())
            back = 100.0 * max((off for row in rows for _, off in row), default=0.0)
            print(f"| {source.name} | " + " | ".join(cells) + f" | {ordered} of 8 | {back:.1f} cm |", flush=True)


def outcome(actor, clip, impulse, way):
    """What a body does that is pushed AHEAD seconds into the clip, and how far [m] it is off the clip BACK later."""
    hit = Hit(float(clip.frames[0]) + AHEAD * clip.fps, impulse=float(impulse), direction=way)
    reaction = run(react(actor, clip, named("chest_front"), hit))
    plan, down = reaction.footing.plan, reaction.footing.stance.down
    late = clip.times >= reaction.start + BACK
    off = np.linalg.norm(reaction.poses(clip)[1] - actor.canonical(clip)[1], axis=-1)[late].max()
    if reaction.uncaught:
        return "falls", float(off)
    aside = np.linalg.norm(plan.feet[..., :2], axis=-1)[down].max()
    return "steps" if aside > ASIDE else "stays", float(off)


if __name__ == "__main__":
    main(sys.argv[1:] or CLIPS)
