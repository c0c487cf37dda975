"""What is on stage when a body is hit: which bodies move, about which axes, under which forces.

Everything here is read from the clip once, but for where feet come down that are hit in the air (`flight`); nothing
depends on the length of the sub-steps.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from . import accuracy, arms, beneath, casting, flesh, hinges, joint_limits, legs, links, meeting, recovery, tuning
from .actor import Actor
from .blows import Blow, Hit, land, throttle
from .cast import cast, told
from .dynamics import Kinematics, eases, kinematics
from .errors import SituationError
from .forces import Bearing, Compliant, Floor, Force, Pulse, SwingTwist
from .forces.world import motions
from .kick import kicked
from .model import Model, State
from .reference import Reference, along, to_joints, to_world
from .resample import Poses
from .rotation import Array, conjugate, rotate, to_matrix
from .situation import BoneSetting, Situation
from .skeleton import Clip
from .springs import Inertias, Springs, impedance, inertias, pulling, springs

SUBSTEP, HALVINGS = 1.0 / 120.0, 5  # [s], and how often it may be halved for accuracy's sake
COARSE = 0.1  # [s] between the poses at which inertias are averaged
UNCAUGHT = (
    "The blow is stronger than feet can catch: the body is caught as by a weaker one. "
    "End with 'stay' to let it fall (--end stay)."
)


class Stage:
    """Bodies and forces of one or more blows on a clip.

    Muscles, envelopes apart, are those of the first situation; every blow takes its own tone from them for a while.
    """

    def __init__(
        self,
        actor: Actor,
        clip: Clip,
        hits: Sequence[tuple[Situation, Hit]],
        settings: Mapping[str, Mapping[str, Any]],
        fixed: Mapping[str, str],
        before: float | None = None,
    ) -> None:
        self.actor, self.user = actor, settings
        hits, self.warnings = arms.on_all_fours(actor, hits, settings)
        for situation, _ in hits:
            casting.meant(actor, situation)  # refuses bones that the rig lacks by their line, before the blow looks
        q, p = self.seen(clip)
        self.blows = throttle([land(actor, clip, situation, hit, (q, p)) for situation, hit in hits], before)
        self.start = self.blows[0].start
        self.situation = self.blows[0].situation
        self.said = [casting.settings(actor, blow.situation, settings) for blow in self.blows]
        self.settings = self.said[0]
        self.moving, self.base = self._cast(fixed)
        self.hanging, self.limp = self._arms(fixed)
        self.moving = self.moving | self.limp
        self.axes = self._axes(clip, q, p)
        self.model = self._model()
        self.moving = self._moved()
        self.samples, self.joints = self.followed(clip.times, *to_joints(self.model, q, p))
        self.hinges = hinges.find(actor, self.moving, to_matrix(q), p)
        self.about = self._about()
        self.inertia = self.about.own
        self.tense = self._tension()
        self.ease = eases(self.model, kinematics(self.model, self._state(self.start)))
        self.flesh = flesh.between(actor, self.model, self.moving)
        self.finer, doubts = self._accuracy()
        self.warnings += doubts
        catches = self.base >= 0 and not any(blow.situation.falls for blow in self.blows)
        pulses = self._met(catches)
        felt = [own or blow.felt() for blow, own in zip(self.blows, pulses, strict=True)]
        self.planned = partial(recovery.prepare, actor, clip, self.blows, felt, self.base, self.moving)
        self.footing = self.planned() if catches else None
        self.floor = self._floor(clip.times, (q, p))

    def _met(self, led: bool) -> list[list[Pulse]]:
        """Of every blow what it gives to the body that it meets, see `meeting`; led: as in `_impedance`."""
        met = [(self.model, self._state(blow.start), self._impedance(blow, led)) for blow in self.blows]
        both = zip(self.blows, met, strict=True)
        self.blows = [meeting.met(blow, self.actor, *what, self.flesh) for blow, what in both]
        pulses = [blow.forces(self.actor, *what) for blow, what in zip(self.blows, met, strict=True)]
        self.pulses = [pulse for several in pulses for pulse in several]
        self.given = np.array([sum((pulse.impulse for pulse in several), np.zeros(3)) for several in pulses])
        return pulses

    def _arms(self, fixed: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray]:
        """(n,) bool, arms that hang on a pose that is held, and limp ones, of those that nobody keeps."""
        names = enumerate(self.actor.names)
        able = np.array([name not in fixed and told(self.said, i) is not False for i, name in names])
        hanging = arms.hanging(self.actor, self.moving) & able & self.holds
        return hanging, arms.limp(self.actor, hanging, self.said) & self.posed

    def _model(self) -> Model:
        """The bodies and their joints."""
        return self.actor.model(self.moving, self.base, self.axes)

    def _moved(self) -> np.ndarray:
        """(n,) bool, the bodies whose joints move: none without mass.  Refuses a stage on which none does."""
        moved = np.array([len(joint) > 0 for joint in self.model.joints])
        if moved.any():
            return moved
        text = "Situation '{}' moves no bone of this rig. Choose another or set bones to Simulated."
        raise SituationError(text.format(self.situation.name))

    def _floor(self, times: Array, clip: tuple[Array, Array]) -> Floor | None:
        """Beneath what a returning body may touch it with."""
        if not self.situation.coupled or any(blow.situation.falls for blow in self.blows):
            return None
        limbs = () if self.footing is None else self.footing.stance.limbs
        return beneath.floor(self.actor, self.model, self.blows, times, clip, legs.bodies(self.actor, *limbs))

    def seen(self, clip: Clip) -> tuple[Array, Array]:
        """World poses (T, n, 4), (T, n, 3) of the body when the blows land."""
        return self.actor.canonical(clip)

    def followed(self, samples: Array, rotation: Array, position: Array) -> tuple[Array, tuple[Array, Array]]:
        """(times (T,), (rotation (T, n, 4), position (T, n, 3))) of what the bodies follow, from the clip's samples."""
        return samples, (rotation, position)

    def _about(self) -> Inertias:
        """What each joint turns, over the clip's own poses."""
        whole = self._whole(COARSE)
        still = np.zeros_like(whole.twist)
        kin = kinematics(self.model, State(whole.rotation[:-1], whole.position[:-1], still))
        return inertias(self.model, kin)

    def _tension(self) -> Array:
        """(n,) what the clip's own swing asks of muscles."""
        return tuning.tension(self.actor, self.model, self._whole(tuning.SWING), self.inertia)

    def _whole(self, h: float) -> Reference:
        """What is followed while the first blow counts, in steps of h [s]; what later ones make of it isn't known."""
        seconds = self.blows[0].end - self.start
        return self.reference(self.start, int(np.ceil(seconds / h - 1e-6)), h, h)

    def _accuracy(self) -> tuple[int, list[str]]:
        """How often sub-steps must be halved for the fastest muscle, and what then still is in doubt."""
        since = np.arange(0.0, max(blow.end for blow in self.blows) - self.start, COARSE)
        told = tuning.muscles(self.actor, self.situation, self.settings, self.base, since, self.tense)
        f, ratio = (np.atleast_2d(values) for values in told)
        f, ratio = np.where(self.moving, f.max(axis=0), 0.0), np.where(self.moving, ratio.min(axis=0), np.inf)
        mass = self.actor.masses.mass[self.actor.order]
        doubts = accuracy.doubts(self.actor.names, mass, self.actor.parent, f, ratio, SUBSTEP, HALVINGS)
        return min(accuracy.halvings(accuracy.fastest(f, ratio), SUBSTEP), HALVINGS), doubts

    def _state(self, time: float) -> State:
        """The clip's own state at a moment."""
        return self.reference(time, 1, COARSE, 1e-3).state(0)

    def _impedance(self, blow: Blow, led: bool) -> Array | None:
        """(n, 6, 6) what muscles add to the inertia that a blow meets which lasts; None for one that doesn't.

        They have the tone that all blows leave when it lands; what legs lose that stand or give way isn't known yet.
        led: whether the base travels with the weight: then nothing holds it to the world while the contact lasts.
        """
        if not blow.lasting:
            return None
        actor, since = self.actor, np.array([blow.start - self.start])
        tone = tuning.tone(actor, [(b.situation, b.struck, np.array([blow.start - b.start])) for b in self.blows])
        own = self._springs(since, led)
        return impedance(own.stiffness, own.damping, tone, blow.lasting)

    def _springs(self, since: Array, led: bool) -> Springs:
        """Of the muscles, times (K,) after the first blow [s]; led: as in `_impedance`."""
        told = self.actor, self.situation, self.settings, self.base
        return springs(*told, since, self.tense, self.about, self.hinges, led)

    @cached_property
    def _steady(self) -> Springs | None:
        """Of the muscles, where they don't change."""
        changing = tuning.changing(self.situation, self.settings)
        return None if changing else self._springs(np.zeros(1), self.footing is not None)

    def held(self, since: Array) -> Springs:
        """What muscles hold with, times (K,) after the first blow [s]."""
        return self._steady or self._springs(since, self.footing is not None)

    def _cast(self, fixed: Mapping[str, str]) -> tuple[np.ndarray, int]:
        """Which bodies move by themselves, and which of them is the free base (-1: none)."""
        moving, base, doubts = cast(self.actor, self.blows, self.said, fixed)
        self.warnings += doubts
        return moving, base

    def _axes(self, clip: Clip, q: Array, p: Array) -> dict[int, Array]:
        """Body -> (3,) the one axis about which it turns, body frame: the document's joints, where a pose is held.

        q, p: (T, n, 4), (T, n, 3) world poses.  Elbows and knees have axes of their own; limp arms have none, and what
        one blow turns about another axis than the next, or pushes.
        """
        if not self.posed:
            if self.kicks and any(blow.situation.held for blow, _ in self.kicks):
                self.warnings.append("Another blow comes with velocities that are held: joints turn about all axes.")
            return {}
        now = q[int(np.argmin(np.abs(clip.times - self.start)))]
        bends = hinges.find(self.actor, self.moving, to_matrix(q), p)
        out = dict(zip(bends.bodies.tolist(), bends.axis, strict=True))
        angles: dict[int, set[float]] = {}
        for blow, own in self.kicks:
            for i in casting.meant(self.actor, blow.situation):
                if self.moving[i] and not self.limp[i] and i not in bends.bodies:
                    angles.setdefault(i, set()).add(own[i].angle)
                    out.setdefault(i, self._axis(now, i, own[i].angle, blow))
        return {i: axis for i, axis in out.items() if len(angles.get(i, ())) < 2}

    def _axis(self, q: Array, body: int, angle: float, blow: Blow) -> Array:
        """(3,) a link's axis in the body's frame, for world rotations (n, 4)."""
        axis = links.axis(rotate(q[body], self.actor.axis[body]), angle, blow.axes)
        return rotate(conjugate(q[body]), axis)

    @property
    def kicks(self) -> list[tuple[Blow, list[BoneSetting]]]:
        """The blows that are told as velocities, each with what is said of the bodies."""
        both = zip(self.blows, self.said, strict=True)
        return [(blow, own) for blow, own in both if blow.situation.drive == "velocities"]

    @property
    def posed(self) -> bool:
        """Whether nothing but the document's velocities leads to a pose that is held."""
        return all(blow.situation.held and blow.situation.drive == "velocities" for blow in self.blows)

    @property
    def holds(self) -> bool:
        """Whether the pose that is reached is held, on a pelvis that stays with the clip."""
        return self.base < 0 and all(blow.situation.held for blow in self.blows)

    def reference(
        self, start: float, steps: int, h: float, before: float | None = None, last: Array | float = 0.0
    ) -> Reference:
        """The clip from a moment on, in sub-steps of length h; `before` and `last` are length and acceleration of the
        sub-step that ends there."""
        return along(self._clip, start, steps, h, before, last)

    @cached_property
    def _clip(self) -> Poses:
        """What the bodies follow."""
        return Poses.of(self.samples, *self.joints)

    @cached_property
    def ends(self) -> joint_limits.Ends:
        """Ranges of hinges and cones."""
        said = self.situation.ranges
        speeds = self._speeds() if self.posed else None
        return joint_limits.ends(
            self.actor, self.moving, self.inertia, self.hinges, said, ease=self.ease, speeds=speeds
        )

    def _speeds(self) -> Array:
        """(n,) the fastest that a blow tells each joint [deg/s]."""
        return np.max([[abs(one.velocity * one.multiplier) for one in own] for own in self.said], axis=0)

    @cached_property
    def balls(self) -> SwingTwist | None:
        """Ranges of shoulders and hips."""
        return joint_limits.balls(self.actor, self.moving, self.inertia, self.situation.ranges, self.ease)

    def forces(self, reference: Reference) -> list[Force]:
        """Muscles, limits, planted feet and the blow over a stretch of the clip."""
        actor = self.actor
        kin, passing = motions(self.model, reference)
        since = reference.times[:-1] - self.start
        tone, grounded, upright = self._tone(reference.times[:-1])
        share = tuning.carried(self.situation, since)
        muscle = pulling(self.model, reference, passing, self.held(since), tone, share, self.base, grounded)
        forces: list[Force] = [muscle, *self._limits(reference, kin, upright)]
        if self.footing is not None:
            feet = tuning.foot_spring(actor)
            forces += self.footing.forces(self.model, reference, (kin, passing), feet, muscle, self.pulses)
        if self.base >= 0:
            clip = actor.gravity, self.model, passing, muscle.feed_forward
            forces.append(Bearing.of_clip(*clip, self.base, share, grounded))
        forces += self.pulses
        if self.flesh is not None:
            forces.append(self.flesh.of_clip(kin))
        if self.floor is not None:
            forces.append(Compliant([self.floor.of_clip(self.model, kin, passing, reference)]))
        return forces

    def _tone(self, times: Array) -> tuple[tuning.Tone, Array, Array]:
        """Tone of the muscles, and (T,) 0..1 how far the body stands and its pelvis keeps its range."""
        tone = tuning.tone(self.actor, [(b.situation, b.struck, times - b.start) for b in self.blows])
        if self.footing is None:
            return tone, np.ones(len(times)), np.ones(len(times))
        grounded = self.footing.grounded(times)
        part = self.footing.tone(times, self.model.n)
        part[:, self.base] *= grounded * self.footing.load(times) ** 2
        return tone.times(part), grounded, self.footing.upright(times)

    def _limits(self, reference: Reference, kin: Kinematics, upright: Array) -> list[Force]:
        """Ranges of hinges and cones, of balls, and where bones stop bones.  kin, upright: over the stretch."""
        ranges = self.ends.about(hinges.bend(self.actor, self.hinges, kin.R, kin.p), self.base, upright)
        stops = joint_limits.end_stops(self.actor, self.moving, self.inertia, reference, self.ease)
        return [force for force in (ranges, self.balls, stops) if force is not None]

    def kicked(self, state: State, time: float, reference: Reference) -> State:
        """The state with the document's initial velocities of the blows that land at this moment, see `kick`."""
        rates: dict[int, Array] = {}
        landing = [(blow, settings) for blow, settings in self.kicks if abs(blow.start - time) <= 1e-6]
        for blow, settings in landing:
            q, _ = to_world(self.model, reference.rotation[0], reference.position[0])
            for i in map(int, np.flatnonzero(self.moving)):
                rate = blow.told * np.radians(settings[i].velocity * settings[i].multiplier)
                if rate:
                    axis, own = self._axis(q, i, settings[i].angle, blow), self.axes.get(i)
                    rates[i] = rates.get(i, 0.0) + rate * (axis if own is None else own * (own @ axis))
        pulses = [pulse for blow, _ in landing for pulse in blow.felt()]
        answers = (self.limp if self.posed else np.ones_like(self.moving)) & self.situation.coupled
        if self.base < 0:
            answers &= ~arms.firm(self.actor, rates)
        return kicked(self.model, state, rates, pulses, answers)
