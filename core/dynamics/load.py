"""What acts on an articulated body during one step, for either solver."""

from dataclasses import dataclass

import numpy as np

from ..lanes import Part, together, zeros
from ..model import Model
from ..rotation import Array


@dataclass(frozen=True, eq=False)
class Turns:
    """Turns of the joints of m different bodies, and where they stand in flat tables of all joints.

    torque: (3 m,) in one of (n, 6).  Z: (9 m,) in one of (n, 6, 6).
    """

    bodies: Part
    torque: np.ndarray
    Z: np.ndarray

    @classmethod
    def of(cls, bodies: np.ndarray) -> "Turns":
        """Of the joints of these bodies (m,)."""
        torque = 6 * bodies[:, None] + np.arange(3)
        return cls(together(bodies), torque.reshape(-1), (6 * torque[..., None] + np.arange(3)).reshape(-1))


@dataclass
class Load:
    """Forces, and impedances Z that make them linear in the acceleration (linearly implicit): at joints
    f(a) = f - Z (a - expected), on bodies f(a) = f - Z a.  Impedances are symmetric, and no less than 0: the solvers
    that go along the tree count on it.

    force: (..., n, 6) at the joints, dual to the joint twist, body frame.  Z: (..., n, 6, 6) joint impedance, same
    frame.
    wrench: (..., n, 6) on the bodies, shared frame of the Kinematics.  body_Z: (..., n, 6, 6) body impedance, same
    frame; it acts on the true acceleration, gravity left out.
    expected: (..., n, 6) acceleration of the joint twist on the clip, to be set before anything is added.
    prescribed: (..., n, 6) acceleration of the joint twist where the joint is not dynamic, body frame.
    gravity: (3,) world [m/s^2].
    weighs: part of their weight that bodies feel, less by 1 for every force that carries all of it wherever they go.
    """

    force: Array
    Z: Array | None
    wrench: Array
    body_Z: Array | None
    prescribed: Array
    gravity: Array
    expected: Array
    weighs: float = 1.0

    @classmethod
    def zero(cls, model: Model, gravity: Array, batch: tuple[int, ...] = ()) -> "Load":
        """Nothing acts but gravity (3,)."""
        still = np.zeros(batch + (model.n, 6))
        return cls.of(np.asarray(gravity, dtype=np.float64), still, still.copy())

    @classmethod
    def of(cls, gravity: Array, prescribed: Array, expected: Array) -> "Load":
        """Nothing acts but gravity (3,) on joints of which this is prescribed and expected."""
        force, wrench = zeros(prescribed, 6), zeros(prescribed, 6)
        return cls(force, None, wrench, None, prescribed, gravity, expected)

    def add_joint(self, force: Array, Z: Array | None = None) -> None:
        """Add joint forces (..., n, 6) and impedances (..., n, 6, 6), body frames.

        The first of those becomes ours: one that nobody else has, and that lies as `zeros` does (see `add_turn`).
        """
        self.force += force
        if Z is not None:
            self.Z = Z if self.Z is None else self.Z + Z

    def add_turn(self, turns: Turns, torque: Array, Z: Array) -> None:
        """Add torques (..., m, 3) and impedances (..., m, 3, 3) to turns of joints."""
        if self.Z is None:
            self.Z = zeros(self.force, 6, 6)
        if self.force.ndim > 2:
            self.force[..., turns.bodies, :3] += torque
            self.Z[..., turns.bodies, :3, :3] += Z
        else:  # a third of what numpy takes for rows and a slice at once
            self.force.reshape(-1)[turns.torque] += torque.reshape(-1)
            self.Z.reshape(-1)[turns.Z] += Z.reshape(-1)

    def add_body(self, bodies: np.ndarray, wrench: Array, Z: Array | None = None) -> None:
        """Add wrenches (..., m, 6) and impedances (..., m, 6, 6) on the m given bodies, shared frame."""
        alone = self.wrench.ndim == 2  # dots in front would take as long again
        self.wrench[bodies if alone else (..., bodies, slice(None))] += wrench
        if Z is not None:
            if self.body_Z is None:
                self.body_Z = zeros(self.wrench, 6, 6)
            self.body_Z[bodies if alone else (..., bodies, slice(None), slice(None))] += Z
