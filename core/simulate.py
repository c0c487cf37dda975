"""The simulator: a generator over sub-steps of one articulated body that follows a clip."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .dynamics import Kinematics, Load, forward_dense, kinematics
from .errors import SimulationError
from .forces import Force, Step, deviation
from .model import Model, State
from .reference import Reference, advance
from .rotation import Array, conjugate, exp, log, multiply

Forward = Callable[[Model, Kinematics, Load], Array]


@dataclass(frozen=True, eq=False)
class Run:
    """A simulation so far; also the checkpoint from which it goes on.

    k: the step that comes next.  state: on arrival at pose k.  fastest: the largest angular speed met [rad/s].
    """

    k: int
    state: State
    fastest: float = 0.0


def simulate(
    model: Model,
    reference: Reference,
    forces: Sequence[Force],
    gravity: Array,
    start: Run | None = None,
    forward: Forward = forward_dense,
) -> Iterator[Run]:
    """Yield the run after every sub-step; drop the generator to cancel, hand a run back as `start` to go on.

    The integrator is linearly implicit: forces bring their impedances, the velocity is updated by the solved
    acceleration, then the pose by the new velocity.  Prescribed joints take the clip's acceleration.
    Raises SimulationError naming the bone where the motion is no longer finite.
    """
    run = start or Run(0, reference.state(0))
    steps = np.diff(reference.times)
    while run.k < reference.steps:
        run = step(model, reference, forces, gravity, run, float(steps[run.k]), forward)
        yield run


def step(
    model: Model, reference: Reference, forces: Sequence[Force], gravity: Array, run: Run, h: float, forward: Forward
) -> Run:
    """One sub-step of length h."""
    k, state = run.k, run.state
    kin = kinematics(model, state)
    load = Load.zero(model, gravity, state.twist.shape[:-2])
    load.prescribed = load.prescribed + np.einsum("nij,nj->ni", model.residual, reference.acceleration[k])
    now = Step(model, reference, state, kin, k, float(reference.times[k]), h, *deviation(reference, state, k))
    for force in forces:
        force.add(load, now)
    twist = state.twist + h * (load.prescribed + model.expand(forward(model, kin, load)))
    if not np.all(np.isfinite(twist)):
        bad = model.names[int(np.argwhere(~np.isfinite(twist))[0, -2])]
        raise SimulationError(f"The simulation broke down at bone '{bad}'. Lower the impulse or raise the bone's mass.")
    rotation, position = advance(state.rotation, state.position, twist, h)
    rotation = _on_axes(model, reference.rotation[k + 1], rotation)
    speed = float(np.sqrt(np.max(np.einsum("...i,...i->...", kin.V[..., :3], kin.V[..., :3]))))
    return Run(k + 1, State(rotation, position, twist), max(run.fastest, speed))


def _on_axes(model: Model, clip: Array, rotation: Array) -> Array:
    """Keep joints with one or two rotational axes on them: what drifts off the clip across the axes is taken out."""
    partial = [i for i, joint in enumerate(model.joints) if 0 < len(joint) < 3]
    if not partial:
        return rotation
    across = model.residual[partial][:, :3, :3]
    e = log(multiply(conjugate(clip[partial]), rotation[..., partial, :]))
    rotation = rotation.copy()
    kept = e - np.einsum("mij,...mj->...mi", across, e)
    rotation[..., partial, :] = multiply(np.broadcast_to(clip[partial], kept.shape[:-1] + (4,)), exp(kept))
    return rotation
