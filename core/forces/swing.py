"""Ranges of ball joints: how far the bone swings, and how far it twists about itself."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..dynamics import Load
from ..lanes import dot
from ..reference import Reference
from ..rotation import Array, conjugate, cross, multiply
from ..spatial import apply
from .checks import positive, within
from .limit import JUST, along, past, pressed
from .step import Step, Swift, Turning, before, each

Complex = NDArray[np.complex128]

MARGIN = 1e-9  # [rad] by which the free play is wider than the clip's own motion


@dataclass(frozen=True, eq=False)
class SwingTwist(Turning):
    """An elliptic cone for the swing of the bone, and a range for the twist about it.

    The deviation from the middle is a twist about the bone's own axis followed by a swing that turns the axis.
    bodies: (m,).  frame: (m, 3, 3) rows are the bone's long axis and the two axes of the ellipse, body frame.
    swing: (m, 2) half-widths of the ellipse about its two axes, twist: (m, 2) lowest and highest [rad].
    soft: part of the range that is free.
    stiffness, damping: (m, 2) of swing and twist where their ranges end [N m/rad], [N m s/rad].
    swift: how fast they are there (m,), None = not known.
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
    swift: Swift | None = None
    middle: Array | None = None
    wider: Array | None = None

    def __post_init__(self) -> None:
        if not (np.all(self.swing > 0.0) and np.all(self.twist[:, 0] <= 0.0) and np.all(self.twist[:, 1] >= 0.0)):
            raise ValueError("SwingTwist: expected a swing above 0 and twists from below 0 to above it, got others")
        within("SwingTwist", 0.0, JUST, soft=self.soft)
        positive("SwingTwist", stiffness=self.stiffness, damping=self.damping)

    @classmethod
    def of_rest(cls, reference: Reference, limit: "SwingTwist", middle: Array) -> "SwingTwist":
        """The same range about a joint rotation (m, 4) at rest, nowhere narrower than the clip itself."""
        states = reference.arrivals
        h = reference.kicks[:, None]
        own = replace(limit, middle=middle, wider=None)
        d, w = own._deviation(states.rotation, states.twist)
        angle, g = own._measures(*own._angles(d))
        ahead = angle + h[..., None] * np.einsum("...mai,...mi->...ma", g, w)
        over = [past(a, *own._free) for a in (angle, ahead)]
        size = np.where(np.abs(over[0]) > np.abs(over[1]), over[0], over[1])
        wider = np.stack((size[..., 0], np.minimum(size[..., 1], 0.0), np.maximum(size[..., 1], 0.0)), axis=-1)
        return replace(own, wider=wider)

    def add(self, load: Load, step: Step) -> None:
        """Torques of swing and twist at the angles as far ahead as `Swift` says, along the gradients of the angles."""
        if self.middle is None:
            d, w, last = step.turn.take(self.bodies, axis=-2), self._own(step.e_dot), self._own(step.off)
        else:
            d, w = self._deviation(step.state.rotation, step.state.twist)
            last = self._own(step.last)
        halves, swing, twist = self._angles(d)
        if self._far_inside(swing, twist, step.h, w):
            return
        angle, g = self._measures(halves, swing, twist)
        part = self._swift.taken(step.h)
        grows = apply(g, w)
        ahead, speed = angle + part[0] * grows, before(grows, part[3] * apply(g, last))
        low, high = self._free
        if self.wider is not None:
            wider = self.wider[step.k] + MARGIN * np.array([1.0, -1.0, 1.0])
            low, high = low + wider[:, [1, 1]] * [0.0, 1.0], high + wider[:, [0, 2]]
        spring = self.stiffness, self.damping
        zone = np.where(ahead > 0.0, *self._zones)
        torque, Z = along(*pressed(part, past(ahead, low, high), zone, spring, speed), g)
        load.add_turn(self._turns, torque if self.middle is None else step.from_rest(self.bodies, torque, Z), Z)

    @cached_property
    def _swift(self) -> Swift:
        """Of both angles, (m, 1) each."""
        return each(self.swift, len(self.bodies))

    def _deviation(self, rotation: Array, twist: Array) -> tuple[Array, Array]:
        """Deviation from the middle (..., m, 4) and its angular velocity (..., m, 3), body frame."""
        middle = np.asarray(self.middle)
        return multiply(conjugate(middle), rotation.take(self.bodies, axis=-2)), self._own(twist)

    def _own(self, twist: Array) -> Array:
        """(..., m, 3) the turning of twists (..., n, 6)."""
        return twist.take(self.bodies, axis=-2)[..., :3]

    def _far_inside(self, swing: Array, twist: Array, h: float, w: Array) -> bool:
        """Whether no joint can reach the end of its free play: neither swing nor twist changes faster than the joint
        turns, twice that for swings beyond a right angle."""
        reach = 2.0 * h * np.sqrt(dot(w, w))
        inside = (swing + reach < self._narrowest[0]) & (np.abs(twist) + reach < self._narrowest[1])
        return int(np.count_nonzero(inside)) == inside.size

    @cached_property
    def _ratio(self) -> Array:
        """(m, 2) from the ellipses' axes to round cones of their mean width."""
        return np.asarray(self._mean[:, None] / self.swing)

    @cached_property
    def _mean(self) -> Array:
        """(m,) mean half-width of the ellipses."""
        return np.asarray(np.sqrt(self.swing[:, 0] * self.swing[:, 1]))

    @cached_property
    def _narrowest(self) -> tuple[Array, Array]:
        """(m,) the least free play of the swing and of the twist."""
        return self.soft * self.swing.min(axis=-1), self.soft * np.abs(self.twist).min(axis=-1)

    @cached_property
    def _free(self) -> tuple[Array, Array]:
        """Ends (m, 2) of the free play of swing and twist; the swing has only an upper one."""
        far = np.full(len(self.bodies), -np.inf)
        return (
            np.stack((far, self.soft * self.twist[:, 0]), axis=-1),
            np.stack((self.soft * self._mean, self.soft * self.twist[:, 1]), axis=-1),
        )

    @cached_property
    def _zones(self) -> tuple[Array, Array]:
        """(m, 2) ways from the free play to the range's end, for angles above and below zero."""
        ends = (np.stack((self._mean, side), axis=-1) for side in (self.twist[:, 1], -self.twist[:, 0]))
        above, below = ((1.0 - self.soft) * np.maximum(end, 1e-6) for end in ends)
        return above, below

    @cached_property
    def _into(self) -> Array:
        """(m, 4, 4) takes quaternions to the frame, whose third axis may be turned round: an ellipse has both ends."""
        out = np.zeros((len(self.bodies), 4, 4))
        out[:, 0, 0] = 1.0
        out[:, 1:3, 1:] = self.frame[:, :2]
        out[:, 3, 1:] = cross(self.frame[:, 0], self.frame[:, 1])
        return out

    def _angles(self, d: Array) -> tuple[Complex, Array, Array]:
        """`swing_twist` of d (..., m, 4)."""
        return swing_twist(apply(self._into, d))

    def _measures(self, halves: Complex, swing: Array, twist: Array) -> tuple[Array, Array]:
        """Swing, scaled to a round cone of the ellipse's mean width, and twist, from `_angles`: angles (..., m, 2) and
        their gradients by the angular velocity (..., m, 2, 3), body frame.

        All across the bone is a complex number, along the frame's second axis + i along its third: of the quaternion
        (w, p, y, z), W = w + i p and Y = y + i z.  The swing goes along W Y, and grows by an angular velocity along
        W* Y; one at right angles turns it by as much over the sine of the swing.
        """
        W, Y, lengths = halves[..., 0], halves[..., 1], np.abs(halves)
        cosine, sine = lengths[..., 0], lengths[..., 1]  # of half the swing
        kept, size = np.maximum(cosine * cosine, 1e-12), np.maximum(cosine * sine, 1e-12)
        grows = W.conj() * Y
        along, growth = W * Y / size, grows / size
        scaled = _complex(_pair(swing * along) * self._ratio)
        angle = np.abs(scaled)
        share = _complex(_pair(scaled) * self._ratio).conj() * along / np.maximum(angle, 1e-12)
        gradient = np.zeros((*angle.shape, 2, 3))
        gradient[..., 0, 1:] = _pair(growth * (share.real - 0.5j * swing / size * share.imag))
        gradient[..., 1, 0] = 1.0
        gradient[..., 1, 1:] = _pair(1j * grows / kept)
        both = np.empty(gradient.shape[:-1])
        both[..., 0], both[..., 1] = angle, twist
        return both, gradient @ self._into[:, 1:, 1:]


def swing_twist(d: Array) -> tuple[Complex, Array, Array]:
    """Quaternions (..., 4) as a twist about the first axis followed by a swing about one across it.

    (complex halves (..., 2): w + i x and y + i z, swing (...) >= 0, twist (...) in -pi to pi); the swing's axis has the
    direction of the halves' product, real part along y.
    """
    halves: Complex = np.ascontiguousarray(d).view(np.complex128)
    size, whole = np.abs(halves), halves[..., 0] * halves[..., 0]
    return halves, 2.0 * np.arctan2(size[..., 1], size[..., 0]), np.arctan2(whole.imag, whole.real)


def _pair(z: Complex) -> Array:
    """(..., 2) real and imaginary part of complex numbers (...)."""
    return z[..., None].view(np.float64)


def _complex(pair: Array) -> Complex:
    """The inverse of `_pair`."""
    return pair.view(np.complex128)[..., 0]
