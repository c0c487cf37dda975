"""Film strips of pushes at the chest, to be looked at: one sheet for each clip and strength, a row for each direction.

ENVS/core/bin/python -m tools.quality.push_strips FOLDER [CLIP...] [--impulses 50 90 130]
"""

import argparse
from pathlib import Path

import numpy as np

from core.progress import run
from core.react import Hit, react
from core.situation import named

from . import cases, corpus, drawn, pushes

IMPULSES = (50, 90, 130)  # [N s] on 75 kg
CLIPS = (*pushes.CLIPS, "demo Wave", "demo Walk", "wolf Idle", "wolf Walk", "wolf Gallop", "fox Survey", "fox Walk")
MOMENTS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.1, 1.3, 1.6, 1.9, 2.2, 2.5)  # [s] after the push
ASIDE, ABOVE = 0.55, 0.25  # of the eye, which else looks square to the push


def main(folder, clips, impulses):
    folder.mkdir(parents=True, exist_ok=True)
    for source in corpus.SOURCES:
        if source.name in clips:
            actor, clip = cases.load(source)
            clip = cases.longer(actor, clip, pushes.AHEAD + pushes.AFTER)
            for impulse in impulses:
                path = folder / "{} {:g} N s.png".format(source.name, impulse).replace(" ", "_")
                drawn.sheet(path, actor, [row(actor, clip, impulse, way) for way in pushes.WAYS])
                print(path, flush=True)


def row(actor, clip, impulse, way):
    """A row of `drawn.sheet`."""
    start = float(clip.frames[0]) + pushes.AHEAD * clip.fps
    reaction = run(react(actor, clip, named("chest_front"), Hit(start, impulse=float(impulse), direction=way)))
    own, shown = actor.canonical(clip), reaction.poses(clip)
    at = [int(np.argmin(np.abs(clip.times - reaction.start - t))) for t in MOMENTS]
    across = np.array([-way[1], way[0], 0.0])
    view = across + ASIDE * way + [0.0, 0.0, ABOVE]
    moments = [(t, *((q[k], p[k]) for q, p in (own, shown))) for t, k in zip(MOMENTS, at, strict=True)]
    label = "{:.0f} deg{}".format(np.degrees(np.arctan2(way[1], way[0])), " falls" if reaction.uncaught else "")
    return label, view, moments


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("clips", nargs="*", default=CLIPS)
    parser.add_argument("--impulses", type=float, nargs="+", default=IMPULSES)
    main(**vars(parser.parse_args()))
