"""Muscles: springs and dampers to the clip's joint pose with the clip's own torque."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..dynamics import Kinematics, Load
from ..lanes import beside, laned, product, zeros
from ..model import Model
from ..rotation import Array
from ..spatial import apply, apply_T
from .spring import capped
from .step import Step, once, taken


@dataclass(frozen=True, eq=False)
class Muscle:
    """Springs and dampers to the clip's joint pose, with the clip's own torque as feed-forward.

    stiffness, damping: (n, 6, 6) or (K, n, 6, 6) body frames, turning and travel uncoupled.  tone: (K, n) factor on
    the stiffness over time, or (K, 1).  damped: the same on the damping; None = its root, so that the damping ratio
    stays.  ceiling: (n,) most torque of the spring [N m], inf = none.  share: (n,) or (K, n) part of the clip's inverse
    dynamics that is carried; bears: the same of the weight, None = as much.
    feed_forward: (K, n, 6) inverse dynamics without gravity.  borne: (K, n, 6) joint forces that carry the weight; None
    = what carries it at the current pose.  rate, pace: (n,) or (K, n) damping over inertia and
    circular frequency [1/s], where they are known; without them springs are taken wholly at the end of the step.
    """

    stiffness: Array
    damping: Array
    tone: Array
    ceiling: Array
    share: Array
    feed_forward: Array
    rate: Array | float = np.inf
    pace: Array | float = np.inf
    borne: Array | None = None
    damped: Array | None = None
    bears: Array | None = None

    @cached_property
    def saturates(self) -> bool:
        """Whether any muscle has a ceiling."""
        return bool(np.isfinite(self.ceiling).any())

    @once
    def _taken(self, kicks: Array, sliding: slice) -> "Taken":
        """For steps (K,) of these lengths [s]."""
        tone = np.broadcast_to(self.tone, self.feed_forward.shape[:2])
        root = np.sqrt(tone)
        damped = root if self.damped is None else np.broadcast_to(self.damped, tone.shape)
        late, inert, drag = taken(kicks[:, None], damped * self.rate, root * self.pace)
        tone, damped, late, inert, drag = (x[..., None, None] for x in (tone, damped, late, inert, damped * drag))
        K, D = self.stiffness[..., :3, :3], self.damping[..., :3, :3]
        turning = tone * K, damped * D, inert, drag * D, late[..., 0], np.any(late, axis=(1, 2, 3))
        tone, damped, late, inert, drag = (x[:, sliding] for x in (tone, damped, late, inert, drag))
        K, D = tone * self.stiffness[..., sliding, 3:, 3:], self.damping[..., sliding, 3:, 3:]
        travel = np.concatenate((K, late * K + damped * D), axis=-1)
        carried = self.share[..., None] * (self.feed_forward if self.borne is None else self.feed_forward + self.borne)
        bears = np.broadcast_to(self.share if self.bears is None else self.bears, carried.shape[:2])
        bears = bears if self.borne is None else np.zeros_like(bears)
        most = np.stack((bears.any(axis=-1), (bears == 1.0).all(axis=-1)))
        return Taken(*turning, travel, inert * K + drag * D, carried, bears, *most)

    def add(self, load: Load, step: Step) -> None:
        """Spring, damper, feed-forward and the weight at the current pose.

        The spring pulls along the gradient of its energy e^T K e / 2: with the plain -K e a limb, ten times as easy to
        turn about its length as across, would turn itself up by a few tens of percent at large angles.
        """
        k, own, G, w = step.k, self._taken(step.reference.kicks, step.model.sliding), step.rate, step.e_dot[..., :3]
        e = step.e[..., :3] + own.late[k] * apply(G, w) if own.later[k] else step.e[..., :3]
        slope = product(own.spring[k], G)
        torque = apply_T(slope, e) + apply(own.damper[k], w)
        turning = own.inert[k] * product(G.swapaxes(-1, -2), slope) + beside(G, own.drag[k], 2)
        if self.saturates:  # the impedance is cut alike: without any, a light body would chatter
            torque, turning = capped(torque, turning, self.ceiling)
        Z = zeros(step.e, 6, 6)
        Z[..., :3, :3] = turning
        if (bodies := step.model.sliding).stop:
            Z[..., bodies, 3:, 3:] = own.Z[k]
        load.add_joint(beside(e, own.carried[k]), Z)
        load.force[..., :3] -= torque
        if bodies.stop:
            off = np.concatenate((step.e[..., bodies, 3:], step.e_dot[..., bodies, 3:]), axis=-1)
            load.force[..., bodies, 3:] -= apply(own.travel[k], off)
        if own.whole[k]:
            load.weighs -= 1.0
        elif own.some[k]:
            load.force -= beside(e, own.bears[k][:, None]) * weight(step.model, step.kin, load.gravity)


def weight(model: Model, kin: Kinematics, gravity: Array) -> Array:
    """(..., n, 6) what the weight of all that joints carry puts on them, body frame."""
    return apply_T(kin.X, model.inward(pull(kin, gravity)))


def pull(kin: Kinematics, gravity: Array) -> Array:
    """(..., n, 6) the bodies' own weights, shared frame, for a gravity (..., 3); as one matrix: many small products
    cost twice as much."""
    if gravity.ndim > 1 or laned(kin.V):
        return apply(kin.I[..., 3:], gravity[..., None, :])
    return (kin.I.reshape(-1, 6)[:, 3:] @ gravity).reshape(kin.V.shape)


@dataclass(frozen=True, eq=False)
class Taken:
    """What of muscles doesn't depend on the state, at every step of a reference.

    spring, damper: (K, n, 3, 3) of turning, with the tone in them.  inert: (K, n, 1, 1) factor on the spring in the
    impedance [s^2].  drag: (K, n, 3, 3) the damper's part of that.
    late: (K, n, 1) by how much later than on arrival springs are taken [s].  later: (K,) whether any is.
    travel: (K, s, 3, 6) from displacement and its rate to the force against them, of `Model.sliding`; Z: (K, s, 3, 3)
    its impedance.
    carried: (K, n, 6) joint forces of the clip.  bears: (K, n) part of the weight that is carried at the current pose;
    some, whole: (K,) whether any of it is, and all.
    """

    spring: Array
    damper: Array
    inert: Array
    drag: Array
    late: Array
    later: np.ndarray
    travel: Array
    Z: Array
    carried: Array
    bears: Array
    some: np.ndarray
    whole: np.ndarray
