"""Friction in joints: viscous, and Coulomb friction that creeps or holds still."""

from dataclasses import dataclass

import numpy as np

from ..dynamics import Load
from ..lanes import dot
from ..rotation import EYE, Array
from ..spatial import apply
from .checks import positive
from .contact import TURNS
from .coulomb import Rows
from .step import Step, Turning


@dataclass(frozen=True, eq=False)
class Viscous(Turning):
    """Damping of joints: torque -d w (Armstrong and Green 1985, section 5).

    bodies: (m,).  damping: (m,) [N m s/rad].  clip: w counts from the clip's own (and is silent on it), else from rest.
    """

    bodies: np.ndarray
    damping: Array
    clip: bool = True

    def __post_init__(self) -> None:
        positive("Viscous", damping=self.damping)

    def add(self, load: Load, step: Step) -> None:
        """Torque on arrival and its impedance."""
        w = (step.e_dot if self.clip else step.state.twist)[..., self.bodies, :3]
        torque, Z = -self.damping[:, None] * w, step.h * self.damping[:, None, None] * EYE
        load.add_turn(self._turns, torque if self.clip else step.from_rest(self.bodies, torque, Z), Z)


@dataclass(frozen=True, eq=False)
class DryFriction(Turning):
    """Coulomb friction of joints against any turning, without a contact solver: torque T w / sqrt(w^2 + creep^2).

    It is taken as the damper that its chord from rest at the velocity on arrival is, at the end of the step: the slope
    of a curve that bends towards its axis is less than that, so no step is too long.  What holds still creeps.
    bodies: (m,).  torque: (K, m) [N m] T at every step.  creep: [rad/s] at which friction has 70 % of its strength.
    """

    bodies: np.ndarray
    torque: Array
    creep: float

    def __post_init__(self) -> None:
        positive("DryFriction", torque=self.torque)
        if not 0.0 < self.creep < np.inf:
            raise ValueError(f"DryFriction.creep: expected a speed above 0, got {self.creep}")

    def add(self, load: Load, step: Step) -> None:
        """Torque on arrival and its impedance."""
        w = step.state.twist[..., self.bodies, :3]
        chord = self.torque[step.k] / np.sqrt(dot(w, w) + self.creep**2)
        torque, Z = -chord[..., None] * w, step.h * chord[..., None, None] * EYE
        load.add_turn(self._turns, step.from_rest(self.bodies, torque, Z), Z)


@dataclass(frozen=True, eq=False)
class HingeFriction:
    """Coulomb friction of joints: a source of `Contacts`, so it sticks without creeping.

    bodies: (m,).  torque: (m,) [N m] most friction torque, in every axis of the joint together.
    clip: holds against motion off the clip (silent on it), else against any turning.
    """

    bodies: np.ndarray
    torque: Array
    clip: bool = True

    def __post_init__(self) -> None:
        positive("HingeFriction", torque=self.torque)

    def rows(self, step: Step) -> Rows | None:
        """One contact of three axes per joint, with an equal and opposite torque on the parent."""
        m, n = len(self.bodies), step.model.n
        axes = step.kin.R[..., self.bodies, :, :].swapaxes(-1, -2)  # rows: the body's axes in the world
        wrench = np.zeros(axes.shape[:-2] + (3, n, 6))
        index, up = np.arange(m), step.model.parent[self.bodies]
        inner = np.flatnonzero(up >= 0)
        wrench[..., index, :, self.bodies, :3] = np.moveaxis(axes, -3, 0)
        wrench[..., inner, :, up[inner], :3] = -np.moveaxis(axes[..., inner, :, :], -3, 0)
        drift = TURNS * step.h * apply(axes, step.passing.c[..., self.bodies, :3])  # the axes turn with the body
        if self.clip:
            own = step.state.twist - step.e_dot + step.h * step.a_clip
            drift = drift + own[..., self.bodies, :3]
        zero = np.zeros(m)
        return Rows(wrench, np.zeros(axes.shape[:-2]), zero, zero, zero, zero, drift, self.torque)
