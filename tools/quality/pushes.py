"""Pushes at the chest of standing, walking and running characters of the corpus: who stays, steps or falls.

ENVS/core/bin/python -m tools.quality.pushes [CLIP...]    prints the table of docs/balance.md
"""

import sys

import numpy as np

from core.progress import run
from core.react import Hit, react
from core.situation import named
from core.stage import Stage

from . import cases, corpus

IMPULSES = (20, 50, 80, 120, 160, 200)  # [N s] on 75 kg
WAYS = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.arange(8) * np.pi / 4]
CLIPS = ("kaykit Idle_A", "kaykit Walking_A", "kaykit Running_A")
CLIPS += ("cyberpunk Idle_Neutral", "cyberpunk Walk", "cyberpunk Run")
CLIPS += ("knight Run", "pab jog", "pab run", "pab walk", "pab crossarms", "demo Walk", "demo Wave")
SIMULATED = (80, 160)  # of these, to see how far off the clip the body still is
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
            cells = ["/".join(str(row.count(k)) for k in OUTCOMES) for row in rows]
            grades = np.array([[OUTCOMES.index(k) for k in row] for row in rows])
            ordered = int((np.diff(grades, axis=0) >= 0).all(axis=0).sum())
            left = [off(actor, clip, impulse, way) for impulse in SIMULATED for way in WAYS]
            back = " / ".join("{:.1f}".format(100.0 * most) for most in np.max(left, axis=0))
            print(f"| {source.name} | " + " | ".join(cells) + f" | {ordered} of 8 | {back} cm |", flush=True)


def push(clip, impulse, way):
    """The hit, AHEAD seconds into the clip."""
    return Hit(float(clip.frames[0]) + AHEAD * clip.fps, impulse=float(impulse), direction=way)


def outcome(actor, clip, impulse, way):
    """What the plan of a body does that is pushed."""
    footing = Stage(actor, clip, [(named("chest_front"), push(clip, impulse, way))], {}, {}).footing
    if footing.fell:
        return "falls"
    aside = np.linalg.norm(footing.plan.feet[..., :2], axis=-1)[footing.stance.down].max()
    return "steps" if aside > ASIDE else "stays"


def off(actor, clip, impulse, way):
    """How far off the clip [m] feet and pelvis, and any joint, still are BACK seconds after the push."""
    reaction = run(react(actor, clip, named("chest_front"), push(clip, impulse, way)))
    late = clip.times >= reaction.start + BACK
    away = np.linalg.norm(reaction.poses(clip)[1] - actor.canonical(clip)[1], axis=-1)[late].max(axis=0)
    return away[[*reaction.footing.feet, reaction.footing.base]].max(), away.max()


if __name__ == "__main__":
    main(sys.argv[1:] or CLIPS)
