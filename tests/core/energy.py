"""A figure that stands and takes 50 N s, and the energy it then has: of motion and of its muscles."""

from contextlib import ExitStack
from unittest import mock

import numpy as np

from core import drive, recovery
from core.dynamics import balance, kinematics, with_twist
from core.forces import Muscle, Pulse, deviation
from core.pose import Envelope
from core.progress import run
from core.react import Hit, react
from core.reference import passing
from core.situation import named
from core.skeleton import Clip
from core.spatial import apply

from .test_react import actor_of


def still(skeleton, seconds=2.0, fps=24.0):
    """A clip in which the figure stands, so that all energy comes from the blow."""
    n = round(seconds * fps) + 1
    one = np.tile(np.array([1.0, 0, 0, 0]), (n, 1))
    pose = np.tile(skeleton.rotation, (n, 1, 1)), np.tile(skeleton.head, (n, 1, 1))
    return Clip(fps, 1.0 + np.arange(n), *pose, one, np.zeros((n, 3)), 1.0)


def struck(skeleton, frequency, ratio, hand, seconds=0.5):
    """A blow of 50 N s on the shoulder of a figure that stands, with one setting for all muscles and a hand's mass."""
    situation = named("shoulder_front").with_changes(
        frequency=frequency, ratio=ratio, taper=1.0, base_frequency=frequency, tone=1.0, contact=0.05,
        envelope=Envelope(0.1, seconds - 0.2, 0.1, "continue", seconds),
    )  # fmt: skip
    actor = actor_of(skeleton, {"hand.L": hand})
    return run(react(actor, still(skeleton), situation, Hit(13.0, impulse=50.0)))


class Watch(ExitStack):
    """While it is open reactions have sub-steps of h [s], and feet that stay: those led to a step do work, which nobody
    counts.  `stretches`: (model, reference, forces, runs) of all that was simulated, repeated ones included."""

    def __init__(self, h=1 / 120):
        super().__init__()
        self.stretches, simulate, prepare = [], drive.simulate, recovery.prepare

        def watched(model, reference, forces, gravity, start, *more):
            runs = [start]
            self.stretches.append((model, reference, forces, runs))
            for one in simulate(model, reference, forces, gravity, start, *more):
                runs.append(one)
                yield one

        def staying(actor, clip, blows, _, *more):
            return prepare(actor, clip, blows, [[]] * len(blows), *more)

        for owner, name, new in (
            (drive, "simulate", watched), (drive, "SUBSTEP", h), (recovery, "prepare", staying)
        ):  # fmt: skip
            self.enter_context(mock.patch.object(owner, name, new))

    def kept(self):
        """Of the stretches what counts: until where the next one begins."""
        starts = [float(reference.times[0]) for _, reference, _, _ in self.stretches[1:]]
        out = []
        for (model, reference, forces, runs), end in zip(self.stretches, [*starts, np.inf], strict=True):
            if steps := int((reference.times[:-1] < end - 1e-9).sum()):
                out.append((model, reference.until(steps), forces, runs[: steps + 1]))
        return out

    def excess(self):
        """Largest energy after the blow beyond its work, as a part of that.

        Twists belong to the middle of the steps: at a pose a body has half a step's acceleration more.
        """
        work, worst = 0.0, -1.0
        for model, reference, forces, runs in self.kept():
            pull = next(f for f in forces if isinstance(f, Muscle))
            blow = next(f for f in forces if isinstance(f, Pulse))
            kins = [kinematics(model, one.state) for one in runs]
            for k, h in enumerate(reference.lengths.tolist()):
                part = blow.fraction(float(reference.times[k] - 0.5 * reference.earlier[k]), float(reference.kicks[k]))
                work += part * float(blow.impulse @ (_speed(kins[k], blow) + _speed(kins[k + 1], blow))) / 2.0
                if part == 0.0 and k + 1 < reference.steps:
                    one = runs[k + 1]
                    now = with_twist(model, kins[k + 1], passing(one.state.twist, one.acceleration, h))
                    e = deviation(reference, one.state, k + 1)[0]
                    K = pull.stiffness * pull.tone[k + 1][:, None, None]
                    spring = 0.5 * float(np.einsum("ni,nij,nj->", e, K, e))
                    energy = float(balance(model, now, np.zeros(3)).kinetic) + spring
                    worst = max(worst, energy / work - 1.0)
        return worst


def _speed(kin, blow):
    """(3,) velocity of the point that is struck, world [m/s]."""
    x = kin.p[blow.body] + apply(kin.R[blow.body], blow.point)
    return kin.V[blow.body, 3:] + np.cross(kin.V[blow.body, :3], x)
