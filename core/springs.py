"""Springs of muscles: from hertz and damping ratios to stiffness and damping, about the inertia that joints turn."""

from typing import NamedTuple

import numpy as np

from . import accuracy, legs, tuning
from .actor import Actor
from .dynamics import Kinematics
from .dynamics.inverse import of_motion
from .forces import Muscle
from .hinges import Hinges
from .model import Model
from .reference import Reference
from .roles import base_role
from .rotation import Array
from .situation import BoneSetting, Situation

TRUNK = ("spine", "chest")
FIRM = 8.0  # power of the pelvis' frequency over a joint's, by which it is held there: chosen, nearly all or nothing
SLENDER = 0.05  # of a limb's inertia across: for that at least it is held about its own length; chosen, see `slender`
ROLLING = 0.14  # the same of what damps arms and heads: forearms else whirl upper arms about, jolt after jolt; chosen
ROLLS = 15.0  # [Hz] that it swings about it for that at most, which sub-steps of 1/120 s show
NONE = 1e-9  # [Hz] below which there is no muscle
HINGE_PACE = 2.0 * np.pi * 9.0  # [rad/s] across a hinge's axis


class Springs(NamedTuple):
    """What muscles are of full tone: stiffness and damping (..., n, 6, 6), body frames, damping over inertia and
    circular frequency (..., n) [1/s]; of every step (K, ...) where they change."""

    stiffness: Array
    damping: Array
    rate: Array
    pace: Array


class Inertias(NamedTuple):
    """Inertia that joints turn, body frame: of all that they carry (..., n, 6, 6), rotation and travel uncoupled, and
    of all there is, about them (..., n, 3, 3)."""

    own: Array
    whole: Array

    def swung(self, body: int, held: Array) -> Array:
        """(..., 3, 3) part of what a joint carries that turns against what carries it: 1/(1/a + 1/b).

        held: (...) how firmly the rest is held, as part of all that there is.
        """
        firm = (1.0 + held)[..., None, None] * self.whole[..., body, :, :]
        return np.asarray(np.eye(3) - np.linalg.solve(firm, np.broadcast_to(self.own[..., body, :3, :3], firm.shape)))


def inertias(model: Model, kin: Kinematics) -> Inertias:
    """What joints turn, mean over the leading axis."""
    flat = kin.I.reshape(kin.I.shape[:-2] + (36,))
    composite = model.inward(flat).reshape(kin.I.shape)
    everything = composite[:, model.parent < 0].sum(axis=1, keepdims=True)
    own, whole = ((kin.X.swapaxes(-1, -2) @ inertia @ kin.X).mean(axis=0) for inertia in (composite, everything))
    own[:, :3, 3:] = 0.0
    own[:, 3:, :3] = 0.0
    return Inertias(own, whole[:, :3, :3])


def slender(inertia: Array, hinges: Hinges, frequency: Array, part: Array | float = SLENDER) -> tuple[Array, Array]:
    """The inertia (..., n, 6, 6) that muscles of frequencies (..., n) [Hz] are made for, and (..., n) how many times as
    fast as told a joint swings at most.

    A straight limb has a hundredth of the inertia about its own length that it has across.  Muscles as weak as that
    would let it roll to and fro for seconds, driven by all that turns it across; a shoulder's resist both alike.
    Fast muscles need no help, which sub-steps would not show.  Hinges turn about their axis alone.
    part: (n,) of the inertia across, or one for all.
    """
    size, way = np.linalg.eigh(inertia[:, :3, :3])
    faster = np.maximum((ROLLS / np.maximum(frequency, NONE)) ** 2, 1.0)[..., None]
    most = np.clip(np.reshape(part, (-1, 1)) * size[:, -1:], size, np.where(size > 0.0, faster * size, np.inf))
    most[..., hinges.bodies, :] = size[hinges.bodies]
    out = np.broadcast_to(inertia, (*most.shape[:-1], 6, 6)).copy()
    out[..., :3, :3] = (way * most[..., None, :]) @ way.swapaxes(-1, -2)
    return out, np.sqrt(np.max(most / np.where(size > 0.0, size, np.inf), axis=-1, initial=1.0))


def springs(
    actor: Actor,
    situation: Situation,
    settings: list[BoneSetting],
    base: int,
    since: Array,
    tense: Array | float,
    about: Inertias,
    hinges: Hinges,
    led: bool,
) -> Springs:
    """Springs of a frequency and a damping ratio about the joint's own inertia, stiff across a hinge's axis; a trunk on
    a free pelvis is damped by that ratio of what swings there, see `_let_swing`.

    since: (K,) the time since the blow [s].  tense: as in `tuning.muscles`.
    led: whether the base travels with the weight, see `forces.Guide`.
    """
    f, ratio = tuning.muscles(actor, situation, settings, base, since, tense)
    ratio = accuracy.damped(ratio, actor.masses.mass[actor.order], actor.parent)
    omega = 2.0 * np.pi * f[..., None, None]
    inertia, swifter = slender(about.own, hinges, f)
    slowed, calmer = slender(about.own, hinges, f, np.where(tuning.light(actor), ROLLING, SLENDER))
    K, D = omega**2 * inertia, 2.0 * ratio[..., None, None] * omega * slowed
    if base >= 0 and len(legs.legs(actor)) <= 2:  # what stands at both ends is held at both
        own, whole = inertia, about.whole + (inertia - about.own)[..., :3, :3]
        _let_swing(actor, base, f, Inertias(own, whole), D)
    braced, damped = brace(about.own, hinges)
    K[..., hinges.bodies, :3, :3] += braced
    D[..., hinges.bodies, :3, :3] += damped
    if led:
        K[..., base, 3:, 3:] = D[..., base, 3:, 3:] = 0.0
    # of a trunk too: damped for what swings, it calms as fast as a joint damped for all that it carries on what stays
    rate, pace = 4.0 * np.pi * ratio * f * calmer**2, 2.0 * np.pi * f * swifter
    rate[..., hinges.bodies] += 2.0 * HINGE_PACE
    pace[..., hinges.bodies] = np.maximum(pace[..., hinges.bodies], HINGE_PACE)
    return Springs(K, D, rate, pace)


def _let_swing(actor: Actor, base: int, f: Array, about: Inertias, D: Array) -> None:
    """Damp a trunk on a free pelvis, in place, as what swings there: both sides of its joints.

    What is below is no heavier than what is above.  Damped for all that is above, a trunk stopped within 15 ms of a
    blow beside it, while arms and legs went on.  What is braked feels a pelvis that is looser than the joint as free,
    and one that is tauter as fixed.
    f: (..., n) frequencies.  about: that muscles are made for.  D: (..., n, 6, 6) for all that joints carry.
    """
    for i, role in enumerate(actor.roles):
        if base_role(role) in TRUNK and i != base and about.own[..., i, :, :].any():
            held = (f[..., base] / np.maximum(f[..., i], NONE)) ** FIRM
            D[..., i, :3, :3] = D[..., i, :3, :3] @ about.swung(i, held)


def impedance(K: Array, D: Array, tone: tuning.Tone, h: float) -> Array:
    """(n, 6, 6) what muscles add to the inertia of joints over a time h [s], h D + h^2 K.

    K, D: (n, 6, 6) their stiffness and damping.  tone: what is left of them, (1, n).
    """
    pull, damping = (factor[0, :, None, None] for factor in tone)
    return h * damping * D + h**2 * pull * K


def brace(inertia: Array, hinges: Hinges) -> tuple[Array, Array]:
    """Stiffness and damping (m, 3, 3) that keep hinges to their axes."""
    across = np.eye(3) - hinges.axis[:, :, None] * hinges.axis[:, None, :]
    about = across @ inertia[hinges.bodies][:, :3, :3] @ across
    return HINGE_PACE**2 * about, 2.0 * HINGE_PACE * about


def pulling(
    model: Model,
    reference: Reference,
    kin: Kinematics,
    springs: Springs,
    tone: tuning.Tone,
    share: Array,
    base: int,
    grounded: Array | float = 1.0,
) -> Muscle:
    """Muscles over a stretch of the clip.

    kin: of the reference's poses and passing twists.  tone: what is left of the springs at each step.
    share: (K,) see `tuning.carried`.  grounded: (K,) part of the weight that the base carries at most.
    """
    forward = of_motion(model, kin, reference.acceleration, np.zeros(3))
    bears = np.ones(model.n) * share[:, None]
    carries = bears.copy()
    if base >= 0:  # of the clip's forces what bears the base doesn't turn with it, see `forces.Bearing`
        carries[:, base], bears[:, base] = 0.0, grounded * share
    K, D, rate, pace = springs
    strong = np.full(model.n, np.inf)
    return Muscle(K, D, tone.pull, strong, carries, forward, rate, pace, damped=tone.damping, bears=bears)
