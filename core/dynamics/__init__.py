"""Dynamics of articulated bodies: kinematics, forward dynamics by two solvers, inverse dynamics, balances."""

from ..model import Model
from ..rotation import Array
from .dense import Factor
from .dense import forward as forward_dense
from .impulse import coupling, eases, effective_inverse, given, point_jacobian, response
from .inverse import inverse
from .kinematics import Kinematics, kinematics, with_twist
from .light import forward as forward_light
from .load import Load, Turns
from .momentum import Balance, balance, centre, centre_of
from .tree import forward as forward_tree

DENSE_UP_TO = 100  # degrees of freedom up to which fewer, larger calls pay for one body; never for a batch


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (..., nv) by the solver that is faster for the model's size."""
    alone = load.force.ndim == 2
    return (forward_dense if alone and model.nv <= DENSE_UP_TO else forward_tree)(model, kin, load)


__all__ = [
    "Balance",
    "Factor",
    "Kinematics",
    "Load",
    "Turns",
    "balance",
    "centre",
    "centre_of",
    "coupling",
    "eases",
    "effective_inverse",
    "forward",
    "forward_dense",
    "forward_light",
    "forward_tree",
    "given",
    "inverse",
    "kinematics",
    "point_jacobian",
    "response",
    "with_twist",
]
