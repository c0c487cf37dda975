"""The tapping finger of Armstrong and Green 1985: five links, 8 s at steps of 0.01 s, a spike every 2 s.

A base of no length and a hundred times the mass, held by a force in proportion to its offset, three phalanges and a
tip of no length.  The paper needed 604 s on a SUN and 89 s on a VAX 11/780 (385 and 56.6 s with its slow band).
"""

from functools import cache

import numpy as np

from core.forces import Muscle, Pulse
from core.model import FREE, SPHERICAL, Model, State
from core.reference import Reference
from core.simulate import Run, simulate
from core.spatial import inertia

PAPER = {"SUN": 604.0, "VAX 11/780": 89.0, "SUN, slow band": 385.0, "VAX 11/780, slow band": 56.6}
H, SECONDS = 0.01, 8.0
LENGTH = np.array([0.0, 0.045, 0.03, 0.02, 0.0])  # [m]
MASS = np.array([3.0, 0.03, 0.02, 0.01, 0.005])  # [kg]
SPIKE, EVERY, FORCE = 0.11, 2.0, 1.0  # [s], [s], [N]
GRAVITY = np.array([0.0, 0.0, -9.81])


@cache
def _scene():
    n, steps = len(MASS), round(SECONDS / H)
    com = np.stack((0.5 * LENGTH, 0.0 * LENGTH, 0.0 * LENGTH), axis=-1)
    about = (MASS * (LENGTH**2 / 12.0 + 0.008**2))[:, None, None] * np.eye(3)
    body = Model(("base", "proximal", "middle", "distal", "tip"), np.arange(-1, n - 1), (FREE, *[SPHERICAL] * (n - 1)),
                 inertia(MASS, com, about))  # fmt: skip
    place = np.zeros((n, 3))
    place[1:, 0] = LENGTH[:-1]
    one, zero = np.tile([1.0, 0.0, 0.0, 0.0], (steps + 1, n, 1)), np.zeros((steps, n, 6))
    clip = Reference(H * np.arange(steps + 1), one, np.tile(place, (steps + 1, 1, 1)), zero, zero, zero[0])
    K = np.tile(np.diag([0.2] * 3 + [0.0] * 3), (n, 1, 1))
    K[0] = np.diag([50.0] * 3 + [2000.0] * 3)
    D = 0.02 * K
    held = Muscle(K, D, np.ones(steps), np.full(n, np.inf), np.zeros(n), zero)
    spikes = [Pulse(4, np.zeros(3), np.array([0.0, 0.0, -FORCE * SPIKE]), t, SPIKE) for t in np.arange(2.0, 8.0, EVERY)]
    return body, clip, [held, *spikes], Run(0, State(one[0], place, zero[0]))


def run(v=1):
    """The 8 s, the slow band renewed every v-th step; the last run."""
    body, clip, forces, start = _scene()
    last = start
    for last in simulate(body, clip, forces, GRAVITY, start, refresh=v):  # noqa: B007  drained
        pass
    return last
