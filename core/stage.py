"""What is on stage for one hit: which bodies move, about which axes, under which forces.

Everything here is read from the clip once; nothing depends on the length of the sub-steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from . import hinges, links, tuning
from .actor import Actor, base_role
from .dynamics import kinematics
from .errors import ClipError, SituationError
from .forces import Force, Pulse
from .model import State
from .reference import Reference, build, to_joints, to_world
from .rotation import Array, conjugate, rotate, to_matrix
from .situation import BoneSetting, Situation
from .skeleton import Clip

COARSE = 1.0 / 20.0  # [s] between the poses at which inertias are averaged


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


class Stage:
    """Bodies, axes and forces of one hit on a clip."""

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
            raise SituationError(
                f"Situation '{situation.name}' moves no bone of this rig. Choose another or set bones to Simulated."
            )
        self.start = hit.frame / clip.fps
        if not clip.times[0] - 1e-9 <= self.start <= clip.times[-1] + 1e-9:
            raise ClipError(
                f"Frame {hit.frame:g} lies outside the clip ({clip.frames[0]:g} to {clip.frames[-1]:g}). "
                "Choose a frame inside it."
            )
        self.samples = clip.times
        q, p = actor.canonical(clip)
        self.joints = to_joints(self.model, q, p)
        self.axes = actor.axes(q[int(np.argmin(np.abs(clip.times - self.start)))])
        self.hinges = hinges.find(actor, self.moving, to_matrix(q), p)
        whole = self.reference(self.start, int(np.ceil(situation.envelope.duration / COARSE)), COARSE, COARSE)
        still = np.zeros_like(whole.twist)
        kin = kinematics(self.model, State(whole.rotation[:-1], whole.position[:-1], still))
        self.inertia = tuning.effective_inertia(self.model, kin)

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
                raise SituationError(
                    f"Bone '{name}' is moved by {fixed[name]}. Mute that, or exclude the bone from the simulation."
                )
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

    def reference(self, start: float, steps: int, h: float, before: float) -> Reference:
        """The clip from a moment on, in sub-steps of length h; `before` is the length of the sub-step that ends
        there."""
        return build(self.samples, *self.joints, start, steps, h, before)

    def forces(self, reference: Reference) -> list[Force]:
        """Muscles, limits, planted feet and the blow over a stretch of the clip."""
        actor, situation = self.actor, self.situation
        kin = kinematics(self.model, reference.arrivals())
        bent = hinges.bend(actor, self.hinges, kin.R, kin.p)
        since = reference.times[:-1] - self.start
        muscle = tuning.muscle(
            self.model, reference, kin, since, self.inertia, situation, self.settings, self.hinges, self.base
        )
        forces: list[Force] = [muscle, tuning.limit(actor, self.moving, self.inertia, self.hinges, bent)]
        if balls := tuning.balls(actor, self.moving, self.inertia):
            forces.append(balls)
        loose = {actor.first(role) for role in situation.loose}
        feet = ("foot", "hand") if actor.anatomy.kind == "quadruped" else ("foot",)
        planted = [i for i, r in enumerate(actor.roles) if base_role(r) in feet and self.moving[i] and i not in loose]
        if self.base >= 0 and planted:
            forces.append(tuning.feet(actor, self.model, reference, kin, np.array(planted)))
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
