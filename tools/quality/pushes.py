"""Pushes on the weight of standing, walking and running clips of the corpus: who stays, steps or falls.

ENVS/core/bin/python -m tools.quality.pushes    prints the table of docs/balance.md
"""

import numpy as np

from core import stance, steps
from core.plan import Span

from . import cases, corpus

IMPULSES = (20, 50, 80, 110, 140, 170, 200)  # [N s] on 75 kg
WAYS = [np.array([np.cos(a), np.sin(a)]) for a in np.arange(8) * np.pi / 4]
CLIPS = ("demo Wave", "kaykit Idle_A", "cyberpunk Idle_Neutral", "demo Walk", "kaykit Walking_A", "cyberpunk Walk")
CLIPS += ("pab walk", "kaykit Running_A", "cyberpunk Run", "pab jog")
SECONDS, AHEAD = 2.7, 0.5  # of a reaction, and of clip before the push
ASIDE = 0.03  # [m] that a footprint is off the clip's where it counts as a step


def main():
    print("| clip | " + " | ".join(f"{j} N s" for j in IMPULSES) + " |")
    print("|---" * (len(IMPULSES) + 1) + "|")
    for source in corpus.SOURCES:
        if source.name in CLIPS:
            actor, clip = cases.load(source)
            found = stance.read(actor, cases.longer(actor, clip, AHEAD + SECONDS + 0.2), AHEAD)
            rows = [[outcome(found, impulse, way) for way in WAYS] for impulse in IMPULSES]
            cells = ["/".join(str(row.count(k)) for k in ("stays", "steps", "falls")) for row in rows]
            print(f"| {source.name} | " + " | ".join(cells) + " |", flush=True)


def outcome(found, impulse, way):
    """What a body of this stance does when its weight is pushed AHEAD seconds into the clip."""
    push = np.zeros((len(found.times), 2))
    push[int(np.searchsorted(found.times, AHEAD - 1e-6))] = impulse / 75.0 * way
    firm = np.ones(found.down.shape)
    none = np.zeros((*found.down.shape, 2))
    plan = steps.plan(found, push, firm, firm, none, [Span(AHEAD, AHEAD + SECONDS)])
    if plan.lost is not None:
        return "falls"
    return "steps" if np.abs(plan.feet[..., :2]).max() > ASIDE else "stays"


if __name__ == "__main__":
    main()
