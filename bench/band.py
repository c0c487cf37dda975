"""The slow band: what renewing the equations of motion every v-th step only costs in error and gains in time."""

from functools import cache

import numpy as np

from core.errors import SimulationError
from core.forces import Pulse
from core.rotation import angle
from core.simulate import simulate

from . import trees

INTERVALS = (1, 2, 4, 8)
COUNT = 22
SECONDS = 0.5
FINER = 8  # times: the sub-steps of what errors are measured against
IMPULSE = 10.0  # [N s] on the chest


@cache
def _scene(h=trees.H):
    scene = trees.scene(COUNT, seconds=SECONDS, h=h, off=0.0)
    start = float(scene.reference.times[0])
    chest = scene.model.names.index("chest")
    blow = Pulse(chest, np.array([0.0, 0.05, 0.1]), np.array([0.0, IMPULSE, 0.0]), start + 0.05, 0.05)
    return scene.with_forces(*scene.forces, blow)


def run(v, h=trees.H):
    """Joint rotations (K, n, 4) of a blow on the chest, the slow band renewed every v-th sub-step."""
    scene = _scene(h)
    runs = simulate(scene.model, scene.reference, scene.forces, trees.GRAVITY, scene.run, refresh=v)
    return np.stack([run.state.rotation for run in runs])


@cache
def _truth():
    return run(1, trees.H / FINER)[FINER - 1 :: FINER]


def error(v):
    """Largest angle [deg] of any joint at any time off a run with much finer sub-steps; v = 1: the integrator's own.

    None where the run breaks down.
    """
    try:
        return float(np.degrees(angle(run(v), _truth()).max()))
    except SimulationError:
        return None
