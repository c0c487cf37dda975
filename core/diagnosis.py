"""Why did it jump?  Any checkpoint of a run, or all sub-steps of a reaction, force by force and bone by bone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .drive import Stretch
from .dynamics import Load, forward, kinematics
from .forces import Force
from .model import Model
from .reference import Reference
from .rotation import Array
from .simulate import Forward, Run, moment, spin
from .stage import Stage


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """One sub-step, split into its causes.

    causes: names of the forces, in the order given, then "gravity" (nothing while muscles carry the weight wholly:
    then theirs don't have it either), "motion" (velocity products and the clip's own prescribed accelerations).
    acceleration: (causes, ..., n, 6) of the joint twists, body frame [rad/s^2, m/s^2]; they add up to the step's.
    """

    causes: tuple[str, ...]
    bones: tuple[str, ...]
    acceleration: Array

    def worst(self, count: int = 5) -> list[tuple[str, str, float]]:
        """(cause, bone, angular acceleration [rad/s^2]) of the largest contributions, of a batch in any member."""
        size = np.linalg.norm(self.acceleration[..., :3], axis=-1)
        size = size.reshape(len(self.causes), -1, len(self.bones)).max(axis=1)
        order = np.argsort(size, axis=None)[::-1][:count]
        rows = [np.unravel_index(i, size.shape) for i in order]
        return [(self.causes[f], self.bones[b], float(size[f, b])) for f, b in rows]


def diagnose(
    model: Model,
    reference: Reference,
    forces: Sequence[Force],
    gravity: Array,
    run: Run,
    solver: Forward = forward,
) -> Diagnosis:
    """Take the step that follows a checkpoint apart; arguments as those of `simulate.step`, which it explains.

    Accelerations are linear in the forces once the impedances of all of them are in the inertia.
    """
    kin = kinematics(model, run.state)
    now, whole = moment(model, reference, forces, gravity, run, kin)
    _, load = moment(model, reference, [], gravity, run, kin)
    none = np.zeros_like(load.force)
    still = replace(whole, force=none, wrench=none, weighs=0.0)

    def answer(part: Load) -> Array:
        return model.expand(solver(model, now.passing, part))

    motion, parts = answer(still), []
    for force in forces:  # in order: contacts answer to what acted before them
        before, wrench = load.force.copy(), load.wrench.copy()
        force.add(load, now)
        parts.append(answer(replace(still, force=load.force - before, wrench=load.wrench - wrench)) - motion)
    parts.append(answer(replace(still, weighs=whole.weighs)) - motion)
    motion = motion + whole.prescribed
    step = motion + np.sum(parts, axis=0)
    spun = step.copy()
    spin(model, now, spun, step - now.a_clip)
    motion = motion + (spun - step)
    names = [type(force).__name__ for force in forces]
    return Diagnosis((*names, "gravity", "motion"), model.names, np.stack((*parts, motion)))


@dataclass(eq=False)
class Log:
    """All sub-steps of a reaction taken apart: hand it to `react` or `fall` as `watch`, then read `rows`.

    stretches: (times (K,) [s], names of the moving bodies, causes, angular accelerations (K, causes, m, 3)
    [rad/s^2] of their joints, body frame), forces of one kind together.
    """

    stretches: list[tuple[Array, list[str], list[str], Array]] = field(default_factory=list)

    def __call__(self, stage: Stage, part: Stretch, solver: Forward) -> None:
        """Take one stretch apart."""
        forces, moving = stage.forces(part.reference), np.flatnonzero(stage.moving)
        told = [
            diagnose(stage.model, part.reference, forces, stage.actor.gravity, run, solver) for run in part.runs[:-1]
        ]
        kinds = list(dict.fromkeys(told[0].causes))
        same = np.array([[cause == kind for cause in told[0].causes] for kind in kinds], dtype=float)
        turns = np.stack([one.acceleration[:, moving, :3] for one in told])
        names = [stage.model.names[i] for i in moving]
        times = part.reference.times[: len(told)]
        self.stretches.append((times, names, kinds, np.einsum("fc,kcmi->kfmi", same, turns)))

    @property
    def causes(self) -> list[str]:
        """What acted anywhere, "gravity" and "motion" last."""
        every = dict.fromkeys(kind for _, _, kinds, _ in self.stretches for kind in kinds)
        last = ["gravity", "motion"]
        return [kind for kind in every if kind not in last] + last

    def rows(self) -> Iterator[tuple[float, str, float, list[float]]]:
        """(time [s], bone, its joint's angular acceleration [rad/s^2], what each of `causes` gives of it along its own
        direction) for every sub-step and bone; the parts add up to the whole."""
        for times, names, kinds, turns in self.stretches:
            whole = turns.sum(axis=1)
            size = np.linalg.norm(whole, axis=-1)
            way = whole / np.maximum(size, 1e-300)[..., None]
            along = np.zeros((len(self.causes), *size.shape))
            along[[self.causes.index(kind) for kind in kinds]] = np.einsum("kfmi,kmi->fkm", turns, way)
            for k, time in enumerate(times.tolist()):
                for m, name in enumerate(names):
                    yield time, name, float(size[k, m]), along[:, k, m].tolist()
