"""The simulator: a generator over sub-steps of one articulated body that follows a clip."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from .dynamics import Factor, Kinematics, Load, forward, kinematics, with_twist
from .dynamics.dense import joint_impedance, mass_matrix
from .errors import CoreError, SimulationError
from .forces import Force, Pulse, Step, deviation
from .lanes import arranged, beside, dot, laned, largest
from .model import Model, State
from .reference import Reference, advance, passing, untwisted
from .rotation import Array, conjugate, cross, exp, log, multiply
from .soundness import check_state, idle, turns_idly
from .spatial import apply

FAR = 1.0  # [rad] turn of a body in a step that no motion of a body has
LOST = 1e150  # [rad/s, m/s] of which no pose can be worked out: beyond, squares overflow
ROUND_OFF, SILENT = 1e-12, 1e-9  # [rad, m] off a clip, and part of its accelerations, that are none
SPINS = 0.05  # [rad] turn of a free body in a step up to which its way hardly grows by it: 2e-6 of it
RETURN = 2.0  # [Hz] of prescribed joints that are off the clip

Forward = Callable[[Model, Kinematics, Load], Array]


@dataclass(eq=False)  # not frozen: one is made in every sub-step, see `forces.step.Step`
class Run:
    """A simulation so far; also the checkpoint from which it goes on.

    k: the step that comes next.  state: on arrival at pose k.
    fastest: the largest angular speed of a body in the last step [rad/s].
    bent: the largest angular acceleration of a joint in it, off the clip's [rad/s^2].
    turned: the largest turn of a joint off the clip so far [rad].
    band: what the slow band keeps until its next refresh.
    acceleration: (..., n, 6) in the last step, None = the clip's.
    led: how far off the clip joints are across their axes, see `_led`.
    """

    k: int
    state: State
    fastest: float = 0.0
    bent: float = 0.0
    turned: float = 0.0
    band: tuple[Kinematics, Factor] | None = None
    acceleration: Array | None = None
    led: tuple[Array, Array] | None = None


def simulate(
    model: Model,
    reference: Reference,
    forces: Sequence[Force],
    gravity: Array,
    start: Run | None = None,
    solver: Forward = forward,
    refresh: int = 1,
) -> Iterator[Run]:
    """Yield the run after every sub-step; drop the generator to cancel, hand a run back as `start` to go on.

    The integrator is a leapfrog, linearly implicit: twists belong to the middle of the steps, poses to their ends.
    Forces bring their impedances, the solved acceleration updates the twist, the new twist the pose.  It is of second
    order for what a step can show, and damps what it can't (`forces.step`).  Prescribed joints take the clip's
    acceleration and return to it from wherever they are, so a run may go on under another model: joints become
    prescribed, or free, or keep some of their axes, without a jump.
    refresh: kinematics, inertia, bias and what acts on bodies are renewed every so many steps (the slow band); joint
    forces in all.
    Raises SimulationError naming the bone where the motion is no longer finite, ModelError where a joint moves no mass,
    ValueError for what is none of model, clip, state or steps.
    """
    run = start or Run(0, reference.state(0))
    gravity = np.asarray(gravity, dtype=np.float64)
    _check(model, reference, gravity, run, refresh)
    if run.acceleration is None:  # one that goes on has been looked at
        _check_forces(model, forces)
    keep_memory()
    while run.k < reference.steps:
        run = step(model, reference, forces, gravity, run, solver, refresh)
        yield run


def _check(model: Model, reference: Reference, gravity: Array, run: Run, refresh: int) -> None:
    """Refuse what would end in shapes that don't match, or in numbers that mean nothing."""
    if reference.rotation.shape[1:] != (model.n, 4):
        raise ValueError(f"The clip has poses {reference.rotation.shape[1:]} for a model of {model.n} bodies")
    if gravity.shape != (3,) or not np.isfinite(gravity).all():
        raise ValueError(f"Gravity: expected (3,) finite numbers, got {gravity.tolist()}")
    if refresh != int(refresh) or refresh < 1:
        raise ValueError(f"refresh: expected a whole number from 1 on, got {refresh}")
    if not 0 <= run.k <= reference.steps:
        raise ValueError(f"The start is at step {run.k} of a clip of {reference.steps} steps")
    check_state(model.names, run.state.rotation, run.state.position, run.state.twist)


def _check_forces(model: Model, forces: Sequence[Force]) -> None:
    """Refuse what is no force, and forces on bodies that the model lacks: numpy takes those below zero from the end."""
    for force in forces:
        if not hasattr(force, "add"):
            raise ValueError(f"{type(force).__name__} is no force by itself; a source of contacts goes to Contacts")
        bodies = np.asarray(getattr(force, "bodies", getattr(force, "body", 0)))
        if bodies.dtype.kind not in "iu" or not np.all((bodies >= 0) & (bodies < model.n)):
            wanted = f"expected bodies of a model that has {model.n}, by whole numbers from 0"
            raise ValueError(f"{type(force).__name__}: {wanted}, got {bodies.tolist()}")


def keep_memory() -> None:
    """Let the C library keep the memory of large arrays that are dropped, for the next ones.

    The arrays of a batch would go back to the system, and come from it anew, page by page, hundreds of times in a step.
    glibc keeps what is no larger than the largest block that was ever dropped, up to 32 MB; others don't mind.
    """
    np.empty(31 * 2**20, dtype=np.uint8)


def moment(
    model: Model, reference: Reference, forces: Sequence[Force], gravity: Array, run: Run, kin: Kinematics
) -> tuple[Step, Load]:
    """What acts in the step that comes next, and what its solver sees; kin: of the run's state."""
    k, state = run.k, run.state
    h = float(reference.kicks[k])
    gone = beside(state.twist, reference.gone[k]) if run.acceleration is None else run.acceleration
    ahead = with_twist(model, kin, passing(state.twist, gone, float(reference.earlier[k])))
    off = deviation(reference, state, k, run.acceleration)
    now = Step(model, reference, state, kin, ahead, k, float(reference.times[k]), h, *off)
    back = beside(now.e, reference.acceleration[k]) - _return(now.e, now.e_dot, h)
    load = Load.of(gravity, model.held(back), now.a_clip)
    for force in forces:
        try:
            force.add(load, now)
        except np.linalg.LinAlgError:  # contacts ask how the body gives way; this error, too, is a ValueError
            raise _broken(now, load, forces) from None
        except (IndexError, ValueError) as error:  # shapes; whatever else is raised is a fault of the force
            what = f"{type(force).__name__} doesn't fit {model.n} bodies and {reference.steps} steps"
            raise ValueError(f"{what}: {error}") from error
    return now, load


@np.errstate(all="ignore")  # a simulation that breaks down is told in one sentence
def step(
    model: Model,
    reference: Reference,
    forces: Sequence[Force],
    gravity: Array,
    run: Run,
    solver: Forward = forward,
    refresh: int = 1,
) -> Run:
    """One sub-step."""
    if run.state.twist.ndim > 2 and not laned(run.state.twist):
        run = in_lanes(run)
    k, state = run.k, run.state
    held = run.band if k % refresh and run.band and run.band[1].fits(model) else None
    kin = held[0] if held else kinematics(model, state)
    now, load = moment(model, reference, forces, gravity, run, kin)
    try:
        if refresh == 1:
            u, band = solver(model, now.passing, load), None
        else:
            band = held or (kin, Factor.of(model, now.passing, load))
            u = band[1].forward(model, load)
    except np.linalg.LinAlgError:
        raise _broken(now, load, forces) from None
    acceleration = load.prescribed + model.expand(u)
    off, turned = acceleration - now.a_clip, max(run.turned, _largest(now.e[..., :3]))
    fastest, bent = _largest(kin.V[..., :3]), _largest(off[..., :3])
    if turned < ROUND_OFF and _on_clip(now, off):
        return Run(k + 1, _clip(reference, k + 1, state), fastest, bent, turned, band)
    if len(model.roaming):
        spin(model, now, acceleration, off)
    twist = state.twist + now.h * acceleration
    speeds = twist.ravel(order="K")  # as it lies
    if not np.vdot(speeds, speeds) < LOST * LOST:
        raise _broken(now, load, forces)
    rotation, position = advance(state, twist, float(reference.lengths[k]))
    led = None
    if len(model.partial):
        led = _led(model, run, now, float(reference.lengths[k]))
        rotation = _on_axes(model, reference.rotation[k + 1], rotation, led)
    return Run(k + 1, State(rotation, position, twist), fastest, bent, turned, band, acceleration, led)


def spin(model: Model, now: Step, acceleration: Array, off: Array) -> None:
    """Let the linear velocity of bodies that spin turn against their axes by the mean of before and after a step, where
    they are free, if only in a plane.

    The solver has it by the acceleration of the step before, by which a way grows by (h w)^4 / 4 a step.
    acceleration: (..., n, 6) that is changed.  off: the same off the clip's, whose own is exact already.
    """
    bodies = model.roaming
    w = now.state.twist.take(bodies, axis=-2)[..., :3]
    spins = now.h * np.sqrt(dot(w, w)) >= SPINS
    if not np.count_nonzero(spins):
        return
    w = w + (0.5 * now.h) * now.last.take(bodies, axis=-2)[..., :3]
    half, own = (0.5 * now.h) * spins[..., None] * w, off.take(bodies, axis=-2)[..., 3:]
    acceleration[..., bodies, 3:] += untwisted(half, own + cross(half, now.off.take(bodies, axis=-2)[..., 3:])) - own


def _on_clip(now: Step, off: Array) -> bool:
    """Whether a body is on its clip and stays on it but for round-off, with accelerations (..., n, 6) off its own.

    A clip is no stable way for weak muscles: what a walk's arms do to each other at 0.3 Hz makes three times as much of
    all that is off in a second, of round-off too.
    """
    here = max(largest(np.abs(now.e)), now.h * largest(np.abs(now.e_dot))) < ROUND_OFF
    return here and largest(np.abs(off)) <= SILENT * largest(np.abs(now.a_clip))


def _clip(reference: Reference, k: int, like: State) -> State:
    """The clip's own state at pose k, of as many systems as another state is of."""
    own = reference.state(k)
    if like.twist.ndim == 2:
        return own
    both = (own.rotation, like.rotation), (own.position, like.position), (own.twist, like.twist)
    return State(*(arranged(np.broadcast_to(x, y.shape)) for x, y in both))


def in_lanes(run: Run) -> Run:
    """A run of a batch as its steps leave it, also where it comes from a file."""
    state = State(*(arranged(x) for x in (run.state.rotation, run.state.position, run.state.twist)))
    last = None if run.acceleration is None else arranged(run.acceleration)
    band = None if run.band is None else (run.band[0].in_lanes(), run.band[1])
    return replace(run, state=state, acceleration=last, band=band)


def _largest(w: Array) -> float:
    """The largest of any turns, angular velocities or accelerations (..., n, 3)."""
    return largest(dot(w, w)) ** 0.5


def _broken(now: Step, load: Load, forces: Sequence[Force]) -> CoreError:
    """What is to be said where there are no accelerations: a force is none, a joint moves no mass, or something went
    too fast.

    Where bodies have come to turn far in the step, that is what went wrong.  Of those the one that was struck is named:
    which turns most by then is chance.
    """
    model, kin, h = now.model, now.kin, now.h
    H = mass_matrix(model, kin, load.body_Z)
    H = (H if load.Z is None else H + joint_impedance(model, load.Z)).reshape(-1, model.nv, model.nv)
    speed = np.nan_to_num(np.linalg.norm(kin.V[..., :3], axis=-1)).reshape(-1, model.n)
    if (h * speed < FAR).all() and (said := _no_number(now, load.gravity, forces)):
        return SimulationError(said)
    for one in H[np.isfinite(H).all(axis=(-2, -1)) & (h * speed.max(axis=-1) < FAR)]:
        if (dof := idle(one)) is not None:
            return turns_idly(model.names[model.dof_body[dof]])
    speed = speed.max(axis=0)
    struck = [force.body for force in forces if isinstance(force, Pulse) and not h * speed[force.body] < FAR]
    text = "The simulation broke down: bone '{}' turned ever faster. Lower the blow or raise the bone's mass."
    return SimulationError(text.format(model.names[struck[0] if struck else int(speed.argmax())]))


def _no_number(now: Step, gravity: Array, forces: Sequence[Force]) -> str:
    """The sentence that says which force is none of a body that moves soundly, "" where all are."""
    for force in forces:
        load = Load.of(gravity, np.zeros_like(now.e), np.zeros_like(now.e))
        with suppress(np.linalg.LinAlgError):  # contacts, of a body that gives way without the others
            force.add(load, now)
        given = np.concatenate([load.force, load.wrench], axis=-1)
        for Z in (load.Z, load.body_Z):
            given = given if Z is None else np.concatenate([given, Z.reshape((*given.shape[:-1], 36))], axis=-1)
        known = np.isfinite(given).all(axis=-1).reshape(-1, now.model.n).all(axis=0)
        if not known.all():
            bone = now.model.names[int(known.argmin())]
            return f"{type(force).__name__} is no finite number at bone '{bone}'. Give it settings that are."
    return ""


def _return(e: Array, e_dot: Array, h: float) -> Array:
    """Acceleration (..., n, 6) by which prescribed joints off the clip go back to it, critically damped, implicit."""
    w = 2.0 * np.pi * RETURN
    k = w * w / (1.0 + h * w) ** 2
    return k * e + (k * (h + 2.0 / w)) * e_dot


def _led(model: Model, run: Run, now: Step, length: float) -> tuple[Array, Array]:
    """(n, 6, 6) the model's `residual`, and (2, ..., m, 3) how far off the clip its joints that turn about fewer than
    three axes are across them after a step of a length [s], as a rotation vector, and how fast that changes.

    What is left of it where joints lost axes returns as all that is prescribed.
    """
    if run.led is not None and np.array_equal(run.led[0], model.residual):
        e, rate = run.led[1]
    else:
        off = now.e[..., :3], apply(now.rate, now.e_dot[..., :3])
        e, rate = (apply(model.across, v.take(model.partial, axis=-2)) for v in off)
    rate = rate - now.h * _return(e, rate, now.h)
    return model.residual, np.stack((e + length * rate, rate))


def _on_axes(model: Model, clip: Array, rotation: Array, led: tuple[Array, Array]) -> Array:
    """Keep joints that turn about fewer than three axes on them: off the clip across the axes they are as far as they
    are led, what else drifts there is taken out."""
    partial = model.partial
    e = log(multiply(conjugate(clip[partial]), rotation[..., partial, :]))
    rotation = rotation.copy()
    kept = e - apply(model.across, e) + led[1][0]
    rotation[..., partial, :] = multiply(np.broadcast_to(clip[partial], kept.shape[:-1] + (4,)), exp(kept))
    return rotation
