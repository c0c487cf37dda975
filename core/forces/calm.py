"""Rest: what a body on the floor loses to all that this model leaves out."""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Load
from ..rotation import Array
from ..spatial import apply
from .step import Step


@dataclass(frozen=True, eq=False)
class Calm:
    """Damping of every body's motion in the world, proportional to its own inertia (Rayleigh's), linearly implicit.

    rate: (K,) [1/s] at which velocities decay at each step.
    """

    rate: Array

    def add(self, load: Load, step: Step) -> None:
        """-rate times momentum."""
        rate, inertia = float(self.rate[step.k]), step.kin.I
        if rate > 0.0:
            drag = -rate * apply(inertia, step.kin.V)
            load.add_body(np.arange(step.model.n), drag, step.h * rate * inertia)
