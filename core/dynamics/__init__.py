"""Dynamics of articulated bodies: kinematics, forward dynamics by two solvers, inverse dynamics, balances."""

from .dense import Factor
from .dense import forward as forward_dense
from .impulse import coupling, effective_inverse, point_jacobian, response
from .inverse import inverse
from .kinematics import Kinematics, kinematics
from .load import Load
from .momentum import Balance, balance
from .tree import forward as forward_tree

__all__ = [
    "Balance",
    "Factor",
    "Kinematics",
    "Load",
    "balance",
    "coupling",
    "effective_inverse",
    "forward_dense",
    "forward_tree",
    "inverse",
    "kinematics",
    "point_jacobian",
    "response",
]
