"""Dynamics of articulated bodies: kinematics, forward dynamics by two solvers, inverse dynamics, balances."""

from .dense import forward as forward_dense
from .inverse import inverse
from .kinematics import Kinematics, kinematics
from .load import Load
from .momentum import Balance, balance
from .tree import forward as forward_tree

__all__ = ["Balance", "Kinematics", "Load", "balance", "forward_dense", "forward_tree", "inverse", "kinematics"]
