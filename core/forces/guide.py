"""A valley that moves, for the weight: where the plan leads a body off its clip."""

from dataclasses import dataclass
from functools import cached_property

from ..dynamics import Load, centre
from ..rotation import Array
from ..spatial import apply
from .step import INERTIA, Step, implicit, stiff


@dataclass(frozen=True, eq=False)
class Guide:
    """Holds the centre of mass to a way off the clip's, by a force of the ground at the free base.

    The ground knows nothing of single bones: a blow changes the weight's velocity as the plan has it, wherever it
    lands, and what brakes the struck bone are the body's own joints.
    mass: of all bodies [kg].  clip: place and velocity (K, 3) of the clip's centre of mass on arrival, world [m],
    [m/s].  taut: (K, 2) damping over mass and circular frequency [1/s].  way: (K, 3) off the clip's, and how fast.
    push: (K, 3) force besides [N].
    """

    body: int
    mass: float
    clip: tuple[Array, Array]
    taut: Array
    way: tuple[Array, Array]
    push: Array

    @cached_property
    def _known(self) -> dict[bytes, tuple[Array, Array]]:
        return {}

    def _laws(self, kicks: Array) -> tuple[Array, Array]:
        """(K, 1) stiffness and damping in steps (K,) of these lengths [s], linearly implicit in what the force itself
        changes, as those of `Muscle`."""
        key = kicks.tobytes()
        if key not in self._known:
            D, pace = self.taut.T
            late, K = stiff(kicks * pace), pace**2
            inert = kicks**2 * (INERTIA + (1.0 - INERTIA) * late)
            whole = (1.0 + inert * K + kicks * implicit(kicks * D) * D) / self.mass
            self._known[key] = (K / whole)[:, None], ((D + kicks * late * K) / whole)[:, None]
        return self._known[key]

    def add(self, load: Load, step: Step) -> None:
        """The force at the base's origin."""
        k, (K, D) = step.k, self._laws(step.reference.kicks)
        now, clip, way = centre(step.kin), self.clip, self.way
        off, drift = (clip[i][k] + way[i][k] - now[i] for i in (0, 1))
        force = K[k] * off + D[k] * drift + self.push[k]
        load.force[..., self.body, 3:] += apply(step.kin.R[..., self.body, :, :].swapaxes(-1, -2), force)
