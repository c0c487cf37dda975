"""A spring's valley that moves: where the free base is led off its clip."""

from dataclasses import dataclass

from ..dynamics import Load
from ..rotation import Array
from ..spatial import apply
from .step import Step


@dataclass(frozen=True, eq=False)
class Guide:
    """Moves the valley of a joint's linear spring, which `Muscle` holds at the clip, to a way in the world.

    stiffness, damping: (K, 3, 3) of that spring, body frame.  way, rate: (K, 3) off the clip [m], [m/s], world.
    push: (K, 3) force besides [N], world.
    """

    body: int
    stiffness: Array
    damping: Array
    way: Array
    rate: Array
    push: Array

    def add(self, load: Load, step: Step) -> None:
        """The force by which the spring's pull differs; its impedance is the muscle's."""
        back = step.kin.R[..., self.body, :, :].swapaxes(-1, -2)
        k = step.k
        way, rate, push = (apply(back, x[k]) for x in (self.way, self.rate, self.push))
        load.force[..., self.body, 3:] += apply(self.stiffness[k], way) + apply(self.damping[k], rate) + push
