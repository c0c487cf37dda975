"""How far peaks depend on the sub-step: the table of docs/dynamics.md, "How fine".

ENVS/core/bin/python -m tools.quality.fineness    prints it; minutes
"""

from contextlib import ExitStack
from unittest import mock

from core import drive
from core.pace import Pace
from core.progress import run
from core.react import react
from core.situation import named
from tests.core.figures import build
from tests.core.test_react import HIT, actor_of, clip_of

SITUATIONS, STEPS, FINEST = ("shoulder_front", "chest_front", "leg_front"), (60, 120, 240, 480), 1920


def peaks(skeleton, situation, rate=None):
    """Largest turn of every joint [deg] in sub-steps of 1/rate s all the way, None = as `react` runs."""
    with ExitStack() as patches:
        if rate is not None:
            patches.enter_context(mock.patch.object(drive, "SUBSTEP", 1.0 / rate))
            for name, answer in (("repeats", False), ("least", 0), ("relaxed", 0)):
                patches.enter_context(mock.patch.object(Pace, name, return_value=answer))
        return run(react(actor_of(skeleton), clip_of(skeleton), named(situation), HIT)).peaks()


def main():
    """Print the largest change of any joint's peak, in percent of the largest peak."""
    skeleton = build(skin=True)
    exact = {name: peaks(skeleton, name, FINEST) for name in SITUATIONS}
    print("| sub-step | {} |".format(" | ".join(named(name).name.lower() for name in SITUATIONS)))
    print("|---" * (len(SITUATIONS) + 1) + "|")
    for rate in (*STEPS, None):
        cells = []
        for name in SITUATIONS:
            got = peaks(skeleton, name, rate)
            most = max(exact[name].values())
            cells.append("{:.1f}".format(100.0 * max(abs(got[bone] - exact[name][bone]) for bone in got) / most))
        title = "as `react` runs" if rate is None else "1/{} s".format(rate)
        print("| {} | {} |".format(title, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    main()
