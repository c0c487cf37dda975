"""A body that is knocked out: its muscles go limp, it stops walking and falls, and the floor holds it.

The clip it follows slows down and stands still while the tone fades, so that its joints' ranges stand still as well:
a body on the floor has nothing to do with a clip that walks on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import touch
from .actor import Actor
from .blows import LONGEST, Blow
from .dynamics import Kinematics, kinematics
from .flesh import ARM
from .forces import Bumper, Capsules, Compliant, DryFriction, Floor, Force, Muscle, Topple
from .forces.bumper import overlap
from .hinges import Hinges
from .model import Model, State
from .reference import advance
from .resample import hermite, rotations
from .roles import base_role
from .rotation import Array
from .springs import brace

TOPPLE, HOLDS = 5.0, 0.9  # [m/s^2] where limbs prop the body up, and of what friction holds, all of it: chosen
PROPPED, THICK = (0.05, 0.15), 0.1  # [m] above where it would lie: what lies still, what stands; of what has no skin
STANDS, LASTS = (0.3, 0.8), (2.0, 2.5)  # [s] after the blow, in which that sets in, and ends
STILL, SLOWING = 0.03, 0.3  # [m/s] of every point of the surface, from where on motion fades in so many [s]
DRY, CREEP = 0.08, 0.01  # part of the weight on a joint that its friction holds, and how fast it gives way [rad/s]
STIFFER, STIFFENS = 9.0, (1.0, 3.4)  # times that friction to which it grows, between [s] after the muscles have gone
SLACK_FREQUENCY, SLACK_RATIO = 0.5, 0.7  # what flesh and ligaments damp: no spring, but the damper of such a muscle
FLOOR_DEPTH, FLOOR_TIME = 0.001, 0.05  # [m] a point sinks under the whole weight, [s] in which it comes up again
FLESH_DEPTH, FLESH_TIME, FLESH_FRICTION = 0.05, 0.05, 0.3  # the same of flesh on flesh
SLIM = 0.8  # part of a capsule's radius that collides
NEARBY = 1.0  # [s] around a blow in which the clip shows where the floor is
FINE = 1.0 / 240.0  # [s] between samples of the slowed clip
RIGID = 1e6  # [1/s] pace of springs that are taken wholly at the end of a step
TRUNK = ("pelvis", "hip", "spine", "neck", "head", "clavicle")


@dataclass(frozen=True, eq=False)
class KnockOut:
    """When it happens.

    start: [s].  seconds: over which the muscles go limp.  longest: [s] until the body lies still.
    direction: (3,) horizontal unit vector in which it falls over where it would be propped up.
    """

    start: float
    seconds: float
    longest: float
    direction: Array

    @classmethod
    def of(cls, blows: Sequence[Blow]) -> "KnockOut":
        """By the first blow that knocks the body out; ValueError where it keeps its senses."""
        first = next((blow for blow in blows if blow.situation.falls), None)
        if first is None:
            raise ValueError("KnockOut: none of the blows knocks the body out")
        across = first.direction * [1.0, 1.0, 0.0]
        across = across if np.linalg.norm(across) > 0.1 else first.axes[0]
        return cls(first.start, first.situation.knock_out, LONGEST, across / np.linalg.norm(across))

    def pace(self, times: Array) -> Array:
        """How fast the clip goes on, 1 to 0."""
        x = np.clip((times - self.start) / self.seconds, 0.0, 1.0)
        return 0.5 * (1.0 + np.cos(np.pi * x))

    def tone(self, times: Array) -> Array:
        """What is left of the muscles, 1 to 0; gone a little before the clip stands, so that they don't brake."""
        return self.pace(times) ** 2

    def clip_times(self, times: Array) -> Array:
        """The moments of the clip that it follows: the integral of `pace`."""
        since = np.clip(times - self.start, 0.0, self.seconds)
        slowed = 0.5 * (since + self.seconds / np.pi * np.sin(np.pi * since / self.seconds))
        return np.minimum(times, self.start) + slowed

    def slowed(self, samples: Array, rotation: Array, position: Array) -> tuple[Array, tuple[Array, Array]]:
        """(times, (rotation, position)) of the clip as the body follows it; samples: (T,) of joint poses (T, n, *)."""
        before = samples[samples < self.start - 1e-9]
        after = self.start + np.arange(int(np.ceil(self.seconds / FINE)) + 2) * FINE
        times = np.concatenate((before, after))
        at = self.clip_times(times)
        return times, (rotations(samples, rotation, at), hermite(samples, position, at))

    def friction(self, times: Array) -> Array:
        """Part of the weight that the friction of joints holds."""
        x = np.clip((times - self.start - self.seconds - STIFFENS[0]) / (STIFFENS[1] - STIFFENS[0]), 0.0, 1.0)
        return DRY * (1.0 - self.tone(times)) * (1.0 + (STIFFER - 1.0) * x * x)

    def topple(self, height: Array, time: float) -> Array:
        """[m/s^2] at heights above where bodies lie [m]: what stands after a fall's time goes on to fall, as long as
        there is time for it."""
        late = np.interp(time - self.start, (*STANDS, *LASTS), (0.0, 1.0, 1.0, 0.0))
        return TOPPLE * late * np.clip((height - PROPPED[0]) / (PROPPED[1] - PROPPED[0]), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Ragdoll:
    """What acts on a limp body besides its joints' ranges: floor, its own limbs, ligaments.

    stands: which points of the floor hold the body up.  lying: (n,) [m] how high bodies are that lie.  holds: [m/s^2]
    by which the whole may be drawn.
    jointed: (m,) bodies that hang on a joint.  carried: (m,) [N m] what the weight that it carries turns it by at most.
    """

    knock: KnockOut
    floor: Floor
    bumper: Bumper
    stands: np.ndarray
    lying: Array
    holds: float
    passive: tuple[Array, Array]
    jointed: np.ndarray
    carried: Array

    @classmethod
    def of(
        cls, knock: KnockOut, actor: Actor, model: Model, state: State, inertia: Array, hinges: Hinges,
        on: tuple[touch.Points, float], moving: np.ndarray, base: int,
    ) -> "Ragdoll":  # fmt: skip
        """on: the surface that touches a floor, and the floor's height [m].  base: the free body, on no joint."""
        surface, height = on
        weight = abs(float(actor.gravity[2])) * float(model.inertia[:, 5, 5].sum())
        stiffness = weight / FLOOR_DEPTH
        floor = Floor(surface.skin, height, stiffness, stiffness * FLOOR_TIME)
        capsules = limbs(actor, moving, surface)
        pairs = capsules.pairs(model, [apart(actor, capsules)])
        soft = np.full(len(pairs), weight / FLESH_DEPTH)
        kin = kinematics(model, state)
        bumper = Bumper(capsules, pairs, soft, FLESH_TIME * soft, FLESH_FRICTION, overlap(capsules, pairs, kin))
        jointed = np.flatnonzero(moving & (np.arange(model.n) != base))
        arms = np.array([actor.anatomy.kind == "biped" and base_role(role) in ARM for role in actor.roles])
        stands = ~(arms[surface.bodies] | surface.held)
        thick = touch.thickness(actor, surface)
        lying = np.where(np.isfinite(thick), thick, THICK)
        passive = ligaments(inertia, hinges)
        holds = HOLDS * floor.friction * abs(float(actor.gravity[2]))
        return cls(knock, floor, bumper, stands, lying, holds, passive, jointed, hung(actor, model, kin)[jointed])

    def forces(self, times: Array) -> list[Force]:
        """Over the steps that begin at times (K,)."""
        tone = self.knock.tone(times)
        K, D = self.passive
        n = len(K)
        none = np.zeros((len(times), n, 6))
        slack = Muscle(K, D, 1.0 - tone[:, None], np.full(n, np.inf), np.zeros(n), none, RIGID, RIGID)
        topple = Topple(self.floor, self.stands, self.lying, self.knock.topple, self.knock.direction, self.holds)
        dry = DryFriction(self.jointed, self.knock.friction(times)[:, None] * self.carried, CREEP)
        return [slack, dry, topple, Compliant([self.floor, self.bumper])]

    def still(self, model: Model, now: float, states: Sequence[State]) -> bool:
        """Whether the body is limp and no point of its surface moved faster than STILL in any of the states."""
        if now < self.knock.start + self.knock.seconds:
            return False
        several = [np.stack([getattr(s, name) for s in states]) for name in ("rotation", "position", "twist")]
        kin = kinematics(model, State(*several))
        v = self.floor.skin.velocity(kin)
        return bool(np.einsum("tmi,tmi->tm", v, v).max() < STILL**2)


def floor_of(
    blows: Sequence[Blow], surface: touch.Points, times: Array, clip: tuple[Array, Array], moment: float
) -> float:
    """Height of the floor [m]: what a blow says, else what the clip shows around a moment; its world poses at times."""
    said = next((blow.ground for blow in blows if blow.ground is not None), None)
    near = np.abs(times - moment) <= NEARBY
    return touch.floor(surface, clip[0][near], clip[1][near]) if said is None else said


def slowing(state: State, h: float, steps: int) -> list[State]:
    """States that go on with the velocity of the first, which fades to zero over the steps of length h [s]."""
    out = [state]
    for k in range(steps):
        part = 1.0 - (k + 0.5) / steps
        twist = part * state.twist
        out.append(State(*advance(out[-1], twist, h), twist))
    return out


def ligaments(inertia: Array, hinges: Hinges) -> tuple[Array, Array]:
    """Stiffness and damping (n, 6, 6) of joints without tone: hinges stay hinges, and flesh damps."""
    K, D = np.zeros_like(inertia), 4.0 * np.pi * SLACK_FREQUENCY * SLACK_RATIO * inertia
    D[:, 3:] = 0.0
    braced, damped = brace(inertia, hinges)
    K[hinges.bodies, :3, :3] = braced
    D[hinges.bodies, :3, :3] += damped
    return K, D


def hung(actor: Actor, model: Model, kin: Kinematics) -> Array:
    """(n,) [N m] what the weight of all that joints carry turns them by where it hangs out level."""
    I = model.inward(kin.I.reshape(-1, 36)).reshape(kin.I.shape)  # noqa: E741
    mass, moment = I[:, 5, 5], I[:, :3, 3:]
    first = np.stack((moment[:, 2, 1], moment[:, 0, 2], moment[:, 1, 0]), axis=-1)
    return np.linalg.norm(actor.gravity) * np.linalg.norm(first - mass[:, None] * kin.p, axis=-1)


def limbs(actor: Actor, moving: np.ndarray, surface: touch.Points) -> Capsules:
    """The capsules of bodies that move by themselves, round ends inside their length, no thicker than the skin where it
    is thinnest."""
    radius = np.minimum(SLIM * actor.masses.radius[actor.order], touch.thickness(actor, surface))
    length = np.linalg.norm(actor.axis, axis=-1)
    bodies = np.flatnonzero(moving & (radius > 0.005) & (length > 0.0))
    inset = np.minimum(radius, 0.45 * length)[bodies, None]
    along = actor.axis[bodies] / length[bodies, None]
    ends = np.stack((inset * along, actor.axis[bodies] - inset * along), axis=1)
    return Capsules(bodies, ends, radius[bodies])


def apart(actor: Actor, capsules: Capsules) -> list[int]:
    """Capsules of the trunk, which never meet."""
    return [i for i, body in enumerate(capsules.bodies) if base_role(actor.roles[body]) in TRUNK]
