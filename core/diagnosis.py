"""Why did it jump?  Any checkpoint of a run, taken apart force by force and bone by bone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .dynamics import Kinematics, Load, kinematics, with_twist
from .dynamics.dense import equations, joint_forces
from .forces import Force
from .model import Model
from .reference import Reference
from .rotation import Array
from .simulate import Run, moment
from .spatial import solve


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """One sub-step, split into its causes.

    causes: names of the forces, in the order given, then "gravity", "motion" (velocity products and the clip's own
    prescribed accelerations).  acceleration: (causes, n, 6) of the joint twists, body frame; they add up to the step's.
    """

    causes: tuple[str, ...]
    bones: tuple[str, ...]
    acceleration: Array

    def worst(self, count: int = 5) -> list[tuple[str, str, float]]:
        """(cause, bone, angular acceleration [rad/s^2]) of the largest contributions."""
        size = np.linalg.norm(self.acceleration[..., :3], axis=-1)
        order = np.argsort(size, axis=None)[::-1][:count]
        rows = [np.unravel_index(i, size.shape) for i in order]
        return [(self.causes[f], self.bones[b], float(size[f, b])) for f, b in rows]


def diagnose(model: Model, reference: Reference, forces: Sequence[Force], gravity: Array, run: Run) -> Diagnosis:
    """Take the step that follows a checkpoint apart.

    All parts are solved with the whole step's inertia and impedance, so that they add up to what `step` does.
    """
    kin = kinematics(model, run.state)
    now, whole = moment(model, reference, forces, gravity, run, kin)
    inertia, _ = equations(model, now.passing, whole)
    still = with_twist(model, kin, np.zeros_like(kin.V))
    parts, (_, load) = [], moment(model, reference, [], gravity, run, kin)
    for force in forces:  # in order: contacts answer to what acted before them
        part = Load.zero(model, np.zeros(3))
        before, wrench = load.force.copy(), load.wrench.copy()
        force.add(load, now)
        part.force, part.wrench = load.force - before, load.wrench - wrench
        parts.append(_answer(model, inertia, still, part))
    parts.append(_answer(model, inertia, still, Load.zero(model, gravity)))
    motion = Load.zero(model, np.zeros(3))
    motion.prescribed, motion.Z, motion.body_Z = whole.prescribed, whole.Z, whole.body_Z
    parts.append(_answer(model, inertia, now.passing, motion))
    names = [type(force).__name__ for force in forces]
    return Diagnosis((*names, "gravity", "motion"), model.names, np.stack(parts))


def _answer(model: Model, inertia: Array, kin: Kinematics, load: Load) -> Array:
    """(n, 6) joint accelerations that a load causes under the inertia (nv, nv) of the whole step."""
    _, bias = equations(model, kin, load)
    return model.expand(solve(inertia, joint_forces(model, load) - bias))
