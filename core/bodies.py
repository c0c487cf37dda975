"""Mass, centre of mass, inertia and capsule of every bone of the canonical body."""

from dataclasses import dataclass

import numpy as np

from .rotation import Array

HEIGHT = 1.75  # [m] of the canonical figure
MASS = 75.0  # [kg]


@dataclass(frozen=True, eq=False)
class Bodies:
    """Rigid bodies of the n bones in canonical units (HEIGHT, MASS), each in its bone's own frame at rest.

    The bone frame: origin at the bone's head, axes `Skeleton.rotation`.
    mass: (n,) [kg], 0 for bones that carry nothing (helpers, nubs, zero length): their skin counts to the nearest
        anatomical ancestor that has mass.
    com: (n, 3) centre of mass [m].  inertia: (n, 3, 3) about the centre of mass [kg m^2].
    axis: (n, 3) from the head to the segment's end [m] (zero for bones without mass): the capsule's core.
    radius, length: (n,) capsule [m]; length = |axis|.
    scale: canonical metres per rig unit.
    """

    mass: Array
    com: Array
    inertia: Array
    axis: Array
    radius: Array
    length: Array
    scale: float
