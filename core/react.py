"""A reaction: the body of a clip takes blows and finds back to it.

`react` is a generator (progress 0..1 per yield) that returns a `Reaction`; the host drives it and may drop it.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field

import numpy as np

from . import hinges, links, tuning
from .actor import Actor, base_role
from .errors import ClipError, SituationError
from .forces import Force, Pulse
from .model import Model, State
from .pose import Envelope
from .reference import Reference, build, to_joints, to_world
from .resample import hermite
from .rotation import Array, conjugate, exp, log, multiply, rotate
from .simulate import Run, simulate
from .situation import BoneSetting, Situation
from .skeleton import Clip

SUBSTEP = 1.0 / 120.0  # [s]
TURN_PER_STEP = 0.12  # [rad] most turn of a body in one sub-step; faster runs are repeated with half the sub-step
FINEST = SUBSTEP / 16.0


@dataclass(frozen=True, eq=False)
class Hit:
    """One blow of a situation at a moment of a clip.

    frame: may be fractional.  bone: name or role, "" = the situation's.  direction: (3,) world, None = the situation's.
    impulse: [N s] on the canonical body, None = the situation's.
    """

    frame: float
    bone: str = ""
    direction: Array | None = None
    impulse: float | None = None


@dataclass(frozen=True, eq=False)
class Reaction:
    """What a hit does to a clip, as deviations from it in anatomical joints.

    actor, model.  start: [s] of the hit.  times: (K + 1,) [s].  turn: (K + 1, n, 3) rotation vectors, body frame, on the
    right of the clip's joint rotation.  travel: (K + 1, n, 3) displacement of the joint, parent frame [m].
    moving: (n,) bodies that may deviate.  struck: body that took the blow; point: where, body frame [m];
    direction: (3,) world.  warnings: sentences for the user.
    """

    actor: Actor
    model: Model
    envelope: Envelope
    weights: Array
    times: Array
    turn: Array
    travel: Array
    moving: np.ndarray
    struck: int
    point: Array
    direction: Array
    substep: float
    warnings: tuple[str, ...] = field(default=())

    @property
    def start(self) -> float:
        """Time of the hit [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time from which the clip is as it was [s]."""
        return self.start + self.envelope.duration

    def deviation(self, times: Array) -> tuple[Array, Array]:
        """Turn and travel (T, n, 3) at any times [s], envelope and bone weights applied."""
        at = np.clip(times, self.times[0], self.times[-1])
        amount = (self.envelope(times - self.start)[:, None] * self.weights)[..., None]
        return amount * hermite(self.times, self.turn, at), amount * hermite(self.times, self.travel, at)

    def poses(self, clip: Clip) -> tuple[Array, Array]:
        """World poses of all bodies (T, n, 4), (T, n, 3) [canonical m] at the clip's frames."""
        q, p = self.actor.canonical(clip)
        q, p = to_joints(self.model, q, p)
        turn, travel = self.deviation(clip.times)
        return to_world(self.model, multiply(q, exp(turn)), p + travel)

    def peaks(self) -> dict[str, float]:
        """Largest turn of each moving joint [deg], by bone name."""
        shown = self.envelope(self.times - self.start)[:, None] * self.weights
        most = np.degrees(np.max(np.linalg.norm(self.turn, axis=-1) * shown, axis=0))
        return {self.actor.names[i]: float(most[i]) for i in np.flatnonzero(self.moving)}


def react(
    actor: Actor,
    clip: Clip,
    situation: Situation,
    hit: Hit,
    settings: Mapping[str, BoneSetting] | None = None,
    fixed: Mapping[str, str] | None = None,
) -> Generator[float, None, Reaction]:
    """Simulate one hit on a clip that lasts at least as long as the reaction.

    settings: what the user says about single bones, by bone name.  fixed: bones that something else owns (a constraint, a
    driver), by bone name, with the owner; a simulated bone among them is refused, a supporting one left to the clip.
    """
    stage = _Stage(actor, clip, situation, hit, settings or {}, fixed or {})
    h = SUBSTEP
    while True:
        reference = stage.reference(h)
        forces = stage.forces(reference)
        run = Run(0, stage.first_state(reference))
        runs = [run]
        steps = _steps(situation.envelope, h)
        for run in simulate(stage.model, reference, forces, actor.gravity, run):
            runs.append(run)
            yield run.k / steps
            if run.k >= steps or (run.fastest * h > TURN_PER_STEP and h > FINEST):
                break
        if run.k >= steps or h <= FINEST:
            return stage.reaction(reference, runs, h)
        h *= 0.5


def _steps(envelope: Envelope, h: float) -> int:
    """Sub-steps that a reaction simulates."""
    seconds = envelope.duration if envelope.mode == "continue" else min(envelope.simulation, envelope.duration)
    return max(int(np.ceil(seconds / h - 1e-9)), 1)


class _Stage:
    """Everything that does not change with the sub-step: bodies, axes, the clip in joints."""

    def __init__(
        self,
        actor: Actor,
        clip: Clip,
        situation: Situation,
        hit: Hit,
        settings: Mapping[str, BoneSetting],
        fixed: Mapping[str, str],
    ) -> None:
        self.actor, self.situation, self.hit = actor, situation, hit
        self.warnings: list[str] = []
        self.settings = [tuning.setting_of(actor, situation, settings, i) for i in range(len(actor.names))]
        self.struck = actor.find(hit.bone, situation.hit, situation.name)
        self.moving, self.base = self._cast(fixed)
        self.model = actor.model(self.moving, self.base)
        self.moving = np.array([len(j) > 0 for j in self.model.joints])
        if not self.moving[self.struck] and not self.moving.any():
            raise SituationError(f"Situation '{situation.name}' moves no bone of this rig. Choose another or set bones to Simulated.")
        self.start = hit.frame / clip.fps
        if not clip.times[0] - 1e-9 <= self.start <= clip.times[-1] + 1e-9:
            raise ClipError(
                f"Frame {hit.frame:g} lies outside the clip ({clip.frames[0]:g} to {clip.frames[-1]:g}). "
                "Choose a frame inside it."
            )
        self.samples = clip.times
        q, p = actor.canonical(clip)
        self.joints = to_joints(self.model, q, p)
        now = int(np.argmin(np.abs(clip.times - self.start)))
        self.axes = actor.axes(q[now])
        self.hinges = hinges.find(actor, self.moving, q, p)

    def _cast(self, fixed: Mapping[str, str]) -> tuple[np.ndarray, int]:
        """Which bodies move by themselves, and which of them is the free base (-1: none)."""
        actor, situation = self.actor, self.situation
        wanted = [base_role(r) in situation.simulate for r in actor.roles]
        for i, setting in enumerate(self.settings):
            if setting.simulated is not None:
                wanted[i] = setting.simulated
        wanted[self.struck] = wanted[self.struck] or self.settings[self.struck].simulated is None
        owned = [i for i, name in enumerate(actor.names) if name in fixed]
        for i in owned:
            if wanted[i]:
                name = actor.names[i]
                raise SituationError(f"Bone '{name}' is moved by {fixed[name]}. Mute that, or exclude the bone from the simulation.")
        support = [i for i, r in enumerate(actor.roles) if base_role(r) in situation.support and not wanted[i]]
        legs = [i for i in range(len(actor.roles)) if base_role(actor.roles[i]) in ("thigh", "shin", "foot")]
        base = actor.first("pelvis") if "pelvis" in situation.support else -1
        given_up = [i for i in {*support, *legs, base} if i in owned]
        if base < 0 or not legs or given_up:
            if given_up:
                name = actor.names[given_up[0]]
                self.warnings.append(f"Bone '{name}' is moved by {fixed[name]}, so legs and pelvis stay on the clip.")
            return np.array(wanted), -1
        moving = np.array(wanted)
        moving[support] = True
        return moving, base

    def reference(self, h: float) -> Reference:
        """The clip at sub-steps of length h."""
        return build(self.samples, *self.joints, self.start, _steps(self.situation.envelope, h), h)

    def forces(self, reference: Reference) -> list[Force]:
        """Muscles, limits, planted feet and the blow."""
        from .dynamics import kinematics

        actor, situation = self.actor, self.situation
        pick = np.unique(np.linspace(0, reference.steps - 1, 12).astype(int))
        zero = np.zeros((len(pick), self.model.n, 6))
        kin = kinematics(self.model, State(reference.rotation[pick], reference.position[pick], zero))
        inertia = tuning.effective_inertia(self.model, kin)
        found = hinges.find(actor, self.moving, *to_world(self.model, reference.rotation, reference.position))
        bent = hinges.Hinges(self.hinges.bodies, self.hinges.axis, found.flexion)
        forces: list[Force] = [
            tuning.muscle(actor, self.model, reference, inertia, situation, self.settings, bent, self.base),
            *tuning.limits(actor, self.moving, inertia, bent, reference.steps),
        ]
        loose = {actor.first(role) for role in situation.loose}
        planted = [i for i, r in enumerate(actor.roles) if base_role(r) == "foot" and self.moving[i] and i not in loose]
        if self.base >= 0 and planted:
            forces.append(tuning.feet(actor, self.model, reference, np.array(planted)))
        if situation.drive == "impulse":
            forces.append(Pulse(self.struck, self.point, self.impulse * self.direction, self.start, situation.contact))
        return forces

    @property
    def point(self) -> Array:
        """Where the blow lands, frame of the struck body [m]."""
        return self.situation.along * self.actor.axis[self.struck]

    @property
    def direction(self) -> Array:
        """(3,) unit direction of the blow in the world."""
        given = self.hit.direction
        d = np.asarray(self.situation.direction) @ self.axes if given is None else np.asarray(given, dtype=np.float64)
        if not np.linalg.norm(d) > 0.0:
            raise SituationError("The hit's direction has no length. Give it one that points somewhere.")
        return d / np.linalg.norm(d)

    @property
    def impulse(self) -> float:
        """[N s] on the canonical body."""
        return self.situation.impulse if self.hit.impulse is None else self.hit.impulse

    def first_state(self, reference: Reference) -> State:
        """The clip's own state at the hit, with the document's velocities where these drive."""
        state = reference.state(0)
        if self.situation.drive != "velocities":
            return state
        q, _ = to_world(self.model, reference.rotation[0], reference.position[0])
        twist = state.twist.copy()
        for i in np.flatnonzero(self.moving):
            s = self.settings[i]
            rate = np.radians(s.velocity * s.multiplier)
            if rate:
                link = rotate(q[i], self.actor.axis[i])
                twist[i, :3] += rate * rotate(conjugate(q[i]), links.axis(link, s.angle, self.axes))
        return State(state.rotation, state.position, twist)

    def reaction(self, reference: Reference, runs: list[Run], h: float) -> Reaction:
        """Deviations of the whole run from the clip."""
        k = len(runs)
        rotation = np.stack([r.state.rotation for r in runs])
        position = np.stack([r.state.position for r in runs])
        turn = log(multiply(conjugate(reference.rotation[:k]), rotation))
        turn[:, ~self.moving] = 0.0
        travel = position - reference.position[:k]
        travel[:, [i for i in range(self.model.n) if i != self.base]] = 0.0
        return Reaction(
            actor=self.actor,
            model=self.model,
            envelope=self.situation.envelope,
            weights=np.array([s.weight for s in self.settings]),
            times=reference.times[:k],
            turn=_unwound(turn),
            travel=travel,
            moving=self.moving,
            struck=self.struck,
            point=self.point,
            direction=self.direction,
            substep=h,
            warnings=tuple(self.warnings),
        )


def _unwound(turn: Array) -> Array:
    """Rotation vectors (K, n, 3) made continuous in time past half a turn (the wrong-shortest-path problem)."""
    out = turn.copy()
    for k in range(1, len(out)):
        length = np.linalg.norm(out[k], axis=-1, keepdims=True)
        around = out[k] * (1.0 - 2.0 * np.pi / np.maximum(length, 1e-12))
        nearer = np.linalg.norm(around - out[k - 1], axis=-1) < np.linalg.norm(out[k] - out[k - 1], axis=-1)
        out[k] = np.where((nearer & (length[..., 0] > 1e-9))[:, None], around, out[k])
    return out


def run(steps: Generator[float, None, Reaction]) -> Reaction:
    """Drain a reaction's generator: for callers who don't show progress."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
