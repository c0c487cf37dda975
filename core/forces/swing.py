"""Ranges of ball joints: how far the bone swings, and how far it twists about itself."""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ..dynamics import Load
from ..reference import Reference
from ..rotation import Array, conjugate, cross, log_and_rate, multiply, rotate
from ..spatial import apply_T
from .limit import about, past
from .step import Step

MARGIN = 1e-9  # [rad] by which the free play is wider than the clip's own motion


@dataclass(frozen=True, eq=False)
class SwingTwist:
    """An elliptic cone for the swing of the bone, and a range for the twist about it.

    The deviation from the middle is a twist about the bone's own axis followed by a swing that turns the axis.
    bodies: (m,).  frame: (m, 3, 3) rows are the bone's long axis and the two axes of the ellipse, body frame.
    swing: (m, 2) half-widths of the ellipse about its two axes, twist: (m, 2) lowest and highest [rad].
    soft: part of the range that is free.
    stiffness, damping: (m, 2) of swing and twist where their ranges end [N m/rad], [N m s/rad].
    middle: (m, 4) joint rotation in the middle of the range, None = the clip's at every moment.
    wider: (K, m, 3) [rad] by which swing and twist (below, above) leave the free play on the clip itself, which stays
    free; see `of_rest`.
    """

    bodies: np.ndarray
    frame: Array
    swing: Array
    twist: Array
    soft: float
    stiffness: Array
    damping: Array
    middle: Array | None = None
    wider: Array | None = None

    @classmethod
    def of_rest(cls, reference: Reference, limit: "SwingTwist", middle: Array) -> "SwingTwist":
        """The same range about a joint rotation (m, 4) at rest, nowhere narrower than the clip itself."""
        states = reference.arrivals()
        h = reference.kicks[:, None]
        own = replace(limit, middle=middle, wider=None)
        d, w = own._deviation(states.rotation, states.twist)
        angle, g = own._measures(d)
        ahead = angle + h[..., None] * np.einsum("...mai,...mi->...ma", g, w)
        over = [past(a, *own._free()) for a in (angle, ahead)]
        size = np.where(np.abs(over[0]) > np.abs(over[1]), over[0], over[1])
        wider = np.stack((size[..., 0], np.minimum(size[..., 1], 0.0), np.maximum(size[..., 1], 0.0)), axis=-1)
        return replace(own, wider=wider)

    def add(self, load: Load, step: Step) -> None:
        """Torques of swing and twist at the predicted angles, along the gradients of the angles."""
        if self.middle is None:
            d, w = step.turn.take(self.bodies, axis=-2), step.e_dot.take(self.bodies, axis=-2)[..., :3]
        else:
            d, w = self._deviation(step.state.rotation, step.state.twist)
        if self._far_inside(d, step.h, w):
            return
        angle, g = self._measures(d)
        ahead = angle + step.h * np.einsum("...mai,...mi->...ma", g, w)
        low, high = self._free()
        if self.wider is not None:
            wider = self.wider[step.k] + MARGIN * np.array([1.0, -1.0, 1.0])
            low, high = low + wider[:, [1, 1]] * [0.0, 1.0], high + wider[:, [0, 2]]
        x = past(ahead, low, high)
        spring = self.stiffness, self.damping
        torque, Z = about(step.h, x, (1.0 - self.soft) * self._size(ahead), spring, g, w[..., None, :])
        add = load.add_turn if self.middle is not None else partial(step.add_turn, load)
        add(self.bodies, torque.sum(axis=-2), Z.sum(axis=-3))

    def _deviation(self, rotation: Array, twist: Array) -> tuple[Array, Array]:
        """Deviation from the middle (..., m, 4) and its angular velocity (..., m, 3), body frame."""
        middle = np.asarray(self.middle)
        return multiply(conjugate(middle), rotation.take(self.bodies, axis=-2)), twist.take(self.bodies, axis=-2)[
            ..., :3
        ]

    def _far_inside(self, d: Array, h: float, w: Array) -> bool:
        """Whether no joint can reach the end of its free play: neither swing nor twist changes faster than the joint
        turns, twice that for swings beyond a right angle."""
        scalar, along = d[..., 0], np.einsum("...mi,mi->...m", d[..., 1:], self.frame[:, 0])
        kept = np.sqrt(scalar * scalar + along * along)  # cosine of half the swing
        reach = 2.0 * h * np.sqrt(np.einsum("...i,...i->...", w, w))
        swing = 2.0 * np.arccos(np.minimum(kept, 1.0)) + reach
        twist = 2.0 * np.arctan2(np.abs(along), np.abs(scalar)) + reach
        inside = (swing < self.soft * self.swing.min(axis=-1)) & (twist < self.soft * np.abs(self.twist).min(axis=-1))
        return bool(inside.all())

    @cached_property
    def _mean(self) -> Array:
        """(m,) mean half-width of the ellipses."""
        return np.asarray(np.sqrt(self.swing[:, 0] * self.swing[:, 1]))

    def _free(self) -> tuple[Array, Array]:
        """Ends (m, 2) of the free play of swing and twist; the swing has only an upper one."""
        far = np.full(len(self.bodies), -np.inf)
        return (
            np.stack((far, self.soft * self.twist[:, 0]), axis=-1),
            np.stack((self.soft * self._mean, self.soft * self.twist[:, 1]), axis=-1),
        )

    def _size(self, angle: Array) -> Array:
        """(..., m, 2) width of the range on the side on which the angles lie."""
        twist = np.where(angle[..., 1] > 0.0, self.twist[:, 1], -self.twist[:, 0])
        return np.maximum(np.stack((np.broadcast_to(self._mean, twist.shape), twist), axis=-1), 1e-6)

    def _measures(self, d: Array) -> tuple[Array, Array]:
        """Swing, scaled to a round cone of the ellipse's mean width, and twist of d (..., m, 4): angles (..., m, 2) and
        their gradients by the angular velocity (..., m, 2, 3), body frame."""
        a = self.frame[:, 0]
        swing, back, twist, about_axis = swing_twist(d, a)
        swing, rate = log_and_rate(swing)
        ratio = self._mean[:, None] / self.swing
        parts = ratio * np.einsum("mai,...mi->...ma", self.frame[:, 1:], swing)
        angle = np.linalg.norm(parts, axis=-1)
        slope = np.einsum("...ma,mai->...mi", ratio * parts / np.maximum(angle, 1e-12)[..., None], self.frame[:, 1:])
        # angular velocity of the swing: the whole one turned by the twist, less the twist's own
        along = apply_T(rate, slope)
        spin = np.einsum("...mi,mi->...m", along, a)[..., None]
        gradient = rotate(back, along) - spin * about_axis
        return np.stack((angle, twist), axis=-1), np.stack((gradient, about_axis), axis=-2)


def swing_twist(d: Array, axis: Array) -> tuple[Array, Array, Array, Array]:
    """d (..., m, 4) as a twist about `axis` (m, 3) followed by a swing.

    (swing (..., m, 4), whose axis is square to the other, inverse of the twist (..., m, 4), its angle (..., m), and
    the angle's gradient by the angular velocity in d's own frame (..., m, 3)).
    """
    d = np.where(d[..., :1] < 0.0, -d, d)
    w, v = d[..., 0], d[..., 1:]
    p = np.einsum("...mi,mi->...m", v, axis)
    size = np.maximum(w * w + p * p, 1e-12)
    half = np.arctan2(p, w)
    back = np.concatenate((np.cos(half)[..., None], -np.sin(half)[..., None] * axis), axis=-1)
    turned = cross(np.broadcast_to(axis, v.shape), v)
    gradient = ((w * w)[..., None] * axis + w[..., None] * turned + p[..., None] * v) / size[..., None]
    return multiply(d, back), back, 2.0 * half, gradient
