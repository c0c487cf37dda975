"""A valley that moves, for the weight: where the plan leads a body off its clip."""

from dataclasses import dataclass

from ..dynamics import Load, centre
from ..rotation import Array
from ..spatial import apply
from .muscle import pull
from .step import Step, once, taken


@dataclass(frozen=True, eq=False)
class Guide:
    """Holds the centre of mass to a way off the clip's.

    The ground knows nothing of single bones: a blow changes the weight's velocity as the plan has it, wherever it
    lands, and what brakes the struck bone are the body's own joints.  The spring is a potential of the weight's place,
    so all bodies are pulled alike: one that pulled at the base alone would feed swings between the two.
    clip: place and velocity (K, 3) of the clip's centre of mass on arrival, world [m], [m/s].  taut: (K, 2) damping
    over mass and circular frequency [1/s].  way: (K, 3) off the clip's, and how fast.
    push: (K, 3) force of the ground besides, at the base [N].  faster: (K, 3) how much more than on its way the weight
    is accelerated by what pushes it besides this, blows above all [m/s^2]: velocities are of half a step before, and a
    guide that brakes hard in a step would come a step too late for a blow.
    """

    body: int
    clip: tuple[Array, Array]
    taut: Array
    way: tuple[Array, Array]
    push: Array
    faster: Array

    @once
    def _laws(self, kicks: Array) -> tuple[Array, Array, Array]:
        """(K, 1) stiffness and damping in steps (K,) of these lengths [s], linearly implicit in what the force itself
        changes, and (K, 3) how much faster than on its way the weight gets besides by when it is braked [m/s]."""
        D, pace = self.taut.T
        K = pace**2
        late, inert, drag = taken(kicks, D, pace)
        whole = 1.0 + inert * K + drag * D
        return (K / whole)[:, None], ((D + late * K) / whole)[:, None], drag[:, None] * self.faster

    def add(self, load: Load, step: Step) -> None:
        """What holds the weight pulls at all bodies alike, as weight does, and bends nothing; the rest at the base."""
        k, (K, D, gained), kin = step.k, self._laws(step.reference.kicks), step.kin
        now, clip, way = centre(kin), self.clip, self.way
        off, drift = clip[0][k] + way[0][k] - now[0], clip[1][k] + way[1][k] - now[1] - gained[k]
        load.wrench += pull(kin, K[k] * off + D[k] * drift)
        load.force[..., self.body, 3:] += apply(kin.R[..., self.body, :, :].swapaxes(-1, -2), self.push[k])
