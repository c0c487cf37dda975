"""Springs and dampers per axis, linear or exponential, with ceiling and release, to a pose of the clip or of rest."""

from dataclasses import dataclass, replace

import numpy as np

from ..dynamics import Kinematics, Load, Turns
from ..model import Model
from ..reference import Reference
from ..rotation import Array, conjugate, log, multiply, vector
from ..spatial import apply
from .checks import finite, pointing, positive
from .step import Step, Swift, log_rate, table
from .world import Track, motions, to_point


@dataclass(frozen=True)
class Release:
    """A spring that gives way: its stiffness falls from all at the force `low` to nothing at `high`.

    k' = k ((high - f) / (high - low))^power, Westenhofer 1995, eq. 33, which is printed with the numerator inverted.
    low, high: [N] or [N m].
    """

    low: float
    high: float
    power: float = 2.0

    def __post_init__(self) -> None:
        if not (0.0 <= self.low < self.high < np.inf and 0.0 < self.power < np.inf):
            raise ValueError(f"Release: expected 0 <= low < high and a power above 0, got {self}")

    def __call__(self, size: Array) -> Array:
        """(...) part of the stiffness that is left at the spring force `size` (...)."""
        rest = (self.high - size) / (self.high - self.low)
        return np.clip(rest, 0.0, 1.0) ** self.power


@dataclass(frozen=True, eq=False)
class Law:
    """How m springs and dampers pull along their three axes.

    stiffness [N/m, N m/rad], damping [N s/m, N m s/rad]: (m, 3), or (K, m, 3) over the steps.
    exponent, valley: force K w (|d| / w)^exponent, as strong as the linear spring at the deviation d = w and looser
    below it: Westenhofer's beta k d^alpha (1995, eq. 30) with beta = w^(1 - alpha).  exponent >= 1.
    rate_exponent, rate_valley: the same for the damper.
    ceiling: (m,) most force of spring and damper together [N, N m].
    swift: how fast they are (m,), None = not known: first order in the step, and damped by it.
    """

    stiffness: Array
    damping: Array
    exponent: float = 1.0
    valley: float = 0.1
    rate_exponent: float = 1.0
    rate_valley: float = 1.0
    ceiling: Array | None = None
    release: Release | None = None
    swift: Swift | None = None

    def __post_init__(self) -> None:
        if not (self.exponent >= 1.0 and self.rate_exponent >= 1.0 and self.valley > 0.0 and self.rate_valley > 0.0):
            raise ValueError("Law: exponents must be at least 1 and valleys above 0")
        positive("Law", stiffness=self.stiffness, damping=self.damping)
        if self.ceiling is not None and not np.all(np.asarray(self.ceiling) >= 0.0):
            raise ValueError(f"Law.ceiling: expected forces from 0 on or none at all, got {self.ceiling}")

    def __call__(self, k: int, h: float, d: Array, rate: Array) -> tuple[Array, Array]:
        """(force, z), (..., m, 3) each, in step k of length h at the deviation d and its rate on arrival.

        z is the impedance along each axis by the tangents at the deviation as far ahead as `Swift` says.  What cuts a
        force down, ceiling or release, cuts its impedance by the same factor: dropping it whole would let a light body
        chatter.
        """
        late, inert, damp = (h, h * h, h) if self.swift is None else (x[:, None] for x in self.swift.taken(h)[:3])
        pull, slope = _power(table(self.stiffness, k, 2), d + late * rate, self.exponent, self.valley)
        if self.release is not None:
            left = self.release(np.linalg.norm(pull, axis=-1, keepdims=True))
            pull, slope = pull * left, slope * left
        drag, tangent = _power(table(self.damping, k, 2), rate, self.rate_exponent, self.rate_valley)
        force, z = -pull - drag, damp * tangent + inert * slope
        return (force, z) if self.ceiling is None else capped(force, z, self.ceiling)


def _power(K: Array, d: Array, exponent: float, valley: float) -> tuple[Array, Array]:
    """(force, its tangent) of a power spring."""
    if exponent == 1.0:
        return K * d, np.broadcast_to(K, d.shape)
    secant = K * (np.abs(d) / valley) ** (exponent - 1.0)
    return secant * d, exponent * secant


def capped(force: Array, z: Array, ceiling: Array) -> tuple[Array, Array]:
    """Force (..., m, c) of at most `ceiling` (m,), and its impedance (..., m, c) or (..., m, c, c), cut alike."""
    size = np.linalg.norm(force, axis=-1)
    part = np.minimum(1.0, ceiling / np.maximum(size, 1e-300))
    shape = part.shape + (1,) * (z.ndim - part.ndim)
    return force * part[..., None], z * part.reshape(shape)


@dataclass(frozen=True, eq=False)
class JointSpring:
    """Turns joints towards the clip's joint pose, or towards a rest pose.

    bodies: (m,).  law: per axis of the body frame [N m].  rest: (m, 4) joint rotations, None = the clip's.
    A spring to a rest pose is not silent on the clip: it pulls the figure off it.
    """

    bodies: np.ndarray
    law: Law
    rest: Array | None = None

    def __post_init__(self) -> None:
        if self.rest is not None:
            finite("JointSpring", rest=self.rest)
            pointing("JointSpring", rest=self.rest)

    def add(self, load: Load, step: Step) -> None:
        """Torque along the rotation vector's axes, by the potential, so that it gives back what it took."""
        if self.rest is None:
            e, w = step.e[..., self.bodies, :3], step.e_dot[..., self.bodies, :3]
        else:
            e = log(multiply(conjugate(self.rest), step.state.rotation[..., self.bodies, :]))
            w = step.state.twist[..., self.bodies, :3]
        torque, Z = turned(self.law, step, e, w)
        if self.rest is not None:
            torque = step.from_rest(self.bodies, torque, Z)
        every = Turns.of(np.arange(step.model.n))
        load.add_turn(every, step.spread(self.bodies, torque), step.spread(self.bodies, Z))


def turned(law: Law, step: Step, e: Array, w: Array) -> tuple[Array, Array]:
    """(torque (..., m, 3), impedance (..., m, 3, 3)) of a law on rotation vectors e with angular velocities w."""
    G = log_rate(e)
    back = G.swapaxes(-1, -2)
    pull, z = law(step.k, step.h, e, apply(G, w))
    return apply(back, pull), back @ (z[..., :, None] * G)


@dataclass(frozen=True, eq=False)
class PointSpring:
    """Pulls points of bodies to where the clip has them in the world: the zero-length springs of kinematic clones.

    bodies: (m,).  points: (m, 3) body frame [m].  law: per axis of the body frame [N].  track: the clip's points.
    The force acts at the point, so a base follows as well; Westenhofer put the moment on the inner joint because that
    was easier (1995, p. 39) and names the base that cannot follow as its price.
    """

    bodies: np.ndarray
    points: Array
    law: Law
    track: Track

    @classmethod
    def of_clip(cls, model: Model, reference: Reference, bodies: np.ndarray, points: Array, law: Law) -> "PointSpring":
        """To the clip's own motion of the points."""
        return cls(bodies, points, law, _followed(model, reference, bodies, points))

    def add(self, load: Load, step: Step) -> None:
        """Force and impedance at the point, moved to the shared frame."""
        kin, k = step.kin, step.k
        R = kin.R[..., self.bodies, :, :]
        back = R.swapaxes(-1, -2)
        x = kin.p[..., self.bodies, :] + apply(R, self.points)
        J = to_point(x)[..., 3:, :]
        d = x + kin.origin[..., None, :] - self.track.position[k]
        rate = apply(J, _arriving(step.model, kin, step.passing, step.h)[..., self.bodies, :])
        rate = rate - self.track.twist[k, :, 3:]
        f, z = self.law(k, step.h, apply(back, d), apply(back, rate))
        Z = R @ (z[..., :, None] * back)
        f = apply(R, f) + apply(Z, self.track.acceleration[k, :, 3:])
        Jt = J.swapaxes(-1, -2)
        add_wrenches(load, step, self.bodies, apply(Jt, f), Jt @ Z @ J)


@dataclass(frozen=True, eq=False)
class OrientationSpring:
    """Turns bodies to the clip's orientation in the world.

    bodies: (m,).  law: per axis of the body frame [N m].  track: the clip's orientations.
    """

    bodies: np.ndarray
    law: Law
    track: Track

    @classmethod
    def of_clip(cls, model: Model, reference: Reference, bodies: np.ndarray, law: Law) -> "OrientationSpring":
        """To the clip's own orientations."""
        return cls(bodies, law, _followed(model, reference, bodies, np.zeros((len(bodies), 3))))

    def add(self, load: Load, step: Step) -> None:
        """Torque and angular impedance on the bodies."""
        k, R = step.k, step.kin.R[..., self.bodies, :, :]
        back = R.swapaxes(-1, -2)
        e = vector(self.track.R[k].swapaxes(-1, -2) @ R)
        arriving = _arriving(step.model, step.kin, step.passing, step.h)[..., self.bodies, :3]
        w = apply(back, arriving - self.track.twist[k, :, :3])
        torque, Z = turned(self.law, step, e, w)
        wrench, full = np.zeros(e.shape[:-1] + (6,)), np.zeros(e.shape[:-1] + (6, 6))
        full[..., :3, :3] = R @ Z @ back
        wrench[..., :3] = apply(R, torque) + apply(full[..., :3, :3], self.track.acceleration[k, :, :3])
        add_wrenches(load, step, self.bodies, wrench, full)


def _arriving(model: Model, kin: Kinematics, passing: Kinematics, h: Array | float) -> Array:
    """(..., n, 6) velocities of bodies on arrival, shared frame, less what they gain by the turning of joints' axes in
    half a step of h [s]: a pose's axes have turned already, and accelerations, to which an impedance answers, have it
    once more."""
    return kin.V - 0.5 * h * model.outward(passing.c)


def _followed(model: Model, reference: Reference, bodies: np.ndarray, points: Array) -> Track:
    """How points (m, 3) of bodies (m,) move in the clip, `_arriving` as those that follow them."""
    kin, passing = motions(model, reference)
    track = Track.of_clip(model, reference, bodies, points, (kin, passing))
    at = to_point(kin.p[:, bodies] + apply(kin.R[:, bodies], points))
    arriving = _arriving(model, kin, passing, reference.kicks[:, None, None])
    return replace(track, twist=apply(at, arriving[:, bodies]))


def add_wrenches(load: Load, step: Step, bodies: np.ndarray, wrench: Array, Z: Array | None = None) -> None:
    """Add shared-frame wrenches (..., m, 6) and impedances on bodies that may occur more than once."""
    every = np.arange(step.model.n)
    load.add_body(every, step.spread(bodies, wrench), None if Z is None else step.spread(bodies, Z))
