"""Many contacts at once: compliant, with friction, implicit, by a convex minimum.

A contact pushes with N = max(0, K depth - (h K + D) v) at the normal velocity v of the end of the step, and rubs with
mu N u / sqrt(u^2 + creep^2) against the slip u.  For a given N these are gradients of a convex potential, so the
accelerations of the step minimise (a - a_free)^T H (a - a_free) / 2 + potential, which Newton's method with a line
search finds from anywhere, in joint coordinates, whatever the number of contacts (Todorov 2014; Castro et al. 2022).
N in the friction is that of a solution without.  Nothing is remembered between steps, and members of a batch do not
know of each other.  Against `Contacts` friction creeps, and static and kinetic friction are one; hundreds of contacts
cost little more than one.  Must be the last of the forces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..dynamics import Load
from ..dynamics.dense import equations, joint_forces
from ..lanes import dot
from ..rotation import Array
from ..spatial import apply, apply_T, solve
from .contact import ahead
from .spring import add_wrenches
from .step import Step
from .world import to_point

CREEP = 5e-3  # [m/s] slip at which friction has 70 % of its strength
SMALL = 200_000  # multiplications that libraries do on one thread (OpenBLAS: 262144)
PASSES = 2  # the first finds the pressure, without friction
ROUNDS, LINE = 20, 4  # of Newton's method in a pass, and of the search along each of its directions
CLOSE = 1e-3  # change of the velocity of contacts in a round [m/s] at which they count as found


@dataclass(frozen=True, eq=False)
class Touching:
    """c contacts, each of one part or more, whose motions add up to how its first side goes against its second.

    first: (c,) first part of each contact.  bodies: (a,) of the parts.  shares: (a,) how much each goes with the first
    side, less than 0 with the second: 1 and -1 of two bodies, or of a skin what moves its point.  at: (..., a, 3) where
    the parts are, shared frame [m].
    frame: (..., c, 3, 3) rows normal (from the second to the first) and two tangents.  depth: (..., c) [m].
    stiffness [N/m], damping [N s/m], friction: (c,).
    """

    first: np.ndarray
    bodies: np.ndarray
    shares: Array
    at: Array
    frame: Array
    depth: Array
    stiffness: Array
    damping: Array
    friction: Array

    def rows(self, own: np.ndarray, m: int) -> Array:
        """(..., 3 c, 6 m) from motions of m bodies to velocities along the frames' rows; own: (a,) the body of each
        part."""
        contact = np.repeat(np.arange(len(self.first)), np.diff(np.append(self.first, len(self.bodies))))
        reach = self.shares[:, None, None] * (self.frame[..., contact, :, :] @ to_point(self.at)[..., 3:, :])
        out = np.zeros(self.frame.shape[:-3] + (len(self.first), 3, m, 6))
        out[..., contact, :, own, :] = np.moveaxis(reach, -3, 0)  # a body has no more than one part of a contact
        return out.reshape(out.shape[:-4] + (3 * len(self.first), 6 * m))


class Toucher(Protocol):
    """Where contacts come from."""

    def touching(self, step: Step) -> Touching | None:
        """The contacts that there may be by the end of the step, None for none."""


@dataclass(frozen=True, eq=False)
class Compliant:
    """All contacts of several sources, solved together."""

    sources: Sequence[Toucher]

    def add(self, load: Load, step: Step) -> None:
        """Wrenches of the contact forces that hold at the end of the step."""
        parts = [found for source in self.sources if (found := source.touching(step)) is not None]
        if not parts:
            return
        model, kin = step.model, step.kin
        c = _joined(parts, step.e.shape[:-2])
        H, C = equations(model, step.passing, load)
        taking, own = np.unique(c.bodies, return_inverse=True)
        moves = model.ancestor[taking][:, model.dof_body]
        J = moves[:, None, :] * kin.axes(model.entries).swapaxes(-1, -2)[..., None, :, :]
        free = ahead(model, kin, step.passing, load.prescribed, step.h)[..., taking, :]
        if np.isfinite(H).all() and np.isfinite(C).all() and np.isfinite(free).all():  # else the simulator says where
            A = c.rows(own, len(taking))
            by_joints = _product(A, J.reshape(J.shape[:-3] + (-1, J.shape[-1])))
            speeds = apply(A, _flat(free)).reshape(free.shape[:-2] + (-1, 3))
            f = Problem(c, by_joints, speeds, step.h).solve(H, joint_forces(model, load) - C)
            add_wrenches(load, step, taking, apply_T(A, _flat(f)).reshape(free.shape))


def _flat(x: Array) -> Array:
    """(..., k l) of (..., k, l)."""
    return x.reshape(x.shape[:-2] + (-1,))


def _product(a: Array, b: Array) -> Array:
    """a @ b in slices of rows too small for a library to start threads: on busy cores these wait for each other."""
    slices = -(-a.shape[-2] * a.shape[-1] * b.shape[-1] // SMALL)
    return a @ b if slices == 1 else np.concatenate([part @ b for part in np.array_split(a, slices, axis=-2)], axis=-2)


def _joined(parts: Sequence[Touching], batch: tuple[int, ...]) -> Touching:
    axes = {"at": 2, "frame": 3, "depth": 1}
    start = np.cumsum([0] + [len(part.bodies) for part in parts[:-1]])

    def join(name: str) -> Any:
        arrays = [getattr(part, name) for part in parts]
        if name == "first":
            return np.concatenate([a + k for a, k in zip(arrays, start, strict=True)])
        if name not in axes:
            return np.concatenate(arrays)
        spread = [np.broadcast_to(a, batch + a.shape[a.ndim - axes[name] :]) for a in arrays]
        return np.concatenate(spread, axis=-axes[name])

    return Touching(**{name: join(name) for name in Touching.__dataclass_fields__})


@dataclass(frozen=True, eq=False)
class Problem:
    """Contacts c in one step.

    J: (..., 3 c, nv) velocities along the frames' rows by degree of freedom.  free: (..., c, 3) the same at the end of
    the step for accelerations of zero.  h: [s].
    """

    c: Touching
    J: Array
    free: Array
    h: float

    def solve(self, H: Array, tau: Array) -> Array:
        """(..., c, 3) contact forces along the rows; H: (..., nv, nv), tau: (..., nv) of H a = tau + J^T f.

        a and f go together in every round, so that what is returned holds exactly, found or not quite.
        """
        Jt = self.J.swapaxes(-1, -2)
        a = solve(H, tau)
        f = np.zeros(self.free.shape)
        v = self.free + self._gained(a)
        bound = np.zeros(v.shape[:-1])
        for _ in range(PASSES):
            going = np.ones(v.shape[:-2])  # members of the batch that are not found yet
            for _ in range(ROUNDS):
                now, G = self._forces(v, bound)
                slope = self.h * (G @ self.J.reshape(v.shape + (-1,))).reshape(self.J.shape)
                d = solve(H + _product(Jt, slope), apply(Jt, _flat(now - f)))
                dv = self._gained(d)
                curve, rest = apply(H, d), apply(Jt, _flat(f))
                part = going * self._along(v, dv, bound, *(dot(d, x) for x in (curve, -rest)))
                a, v = a + part[..., None] * d, v + part[..., None, None] * dv
                f = f + part[..., None, None] * (now - apply(slope, d).reshape(v.shape) - f)
                going = going * (np.max(np.abs(dv), axis=(-2, -1)) >= CLOSE)
                if not going.any():
                    break
            bound = self.c.friction * self._push(v)
        return f

    def _gained(self, a: Array) -> Array:
        """(..., c, 3) by accelerations (..., nv) in the step."""
        return self.h * apply(self.J, a).reshape(self.free.shape)

    def _push(self, v: Array) -> Array:
        """(..., c) normal forces at velocities v; before bodies touch, only what goes beyond touching is damped."""
        K, D, depth = self.c.stiffness, self.c.damping, self.c.depth
        return np.maximum(K * depth + np.minimum(depth, 0.0) * D / self.h - (K * self.h + D) * v[..., 0], 0.0)

    def _forces(self, v: Array, bound: Array) -> tuple[Array, Array]:
        """Contact forces (..., c, 3) at velocities v and their slopes -df/dv (..., c, 3, 3)."""
        push, slip = self._push(v), v[..., 1:]
        size = np.sqrt(dot(slip, slip) + CREEP * CREEP)
        way = slip / size[..., None]
        f = np.concatenate((push[..., None], -bound[..., None] * way), axis=-1)
        G = np.zeros(v.shape + (3,))
        G[..., 0, 0] = np.where(push > 0.0, self.c.stiffness * self.h + self.c.damping, 0.0)
        G[..., 1:, 1:] = (bound / size)[..., None, None] * (np.eye(2) - way[..., :, None] * way[..., None, :])
        return f, G

    def _along(self, v: Array, dv: Array, bound: Array, curve: Array, straight: Array) -> Array:
        """(...,) how far to go along the direction for the least potential.

        The slope of the potential on the way, s curve - straight - f dv / h, rises steadily: false position finds its
        zero.
        """

        def slope(s: Array) -> Array:
            f, _ = self._forces(v + s[..., None, None] * dv, bound)
            return s * curve - straight - np.einsum("...ci,...ci->...", f, dv) / self.h

        low, high = np.zeros(curve.shape), np.ones(curve.shape)
        above = slope(high)
        whole = above <= 1e-6 * np.abs(straight)
        if np.all(whole):
            return high
        below = slope(low)
        for _ in range(LINE):
            rise = np.where(above > below, above - below, 1.0)
            s = np.clip(low - below * (high - low) / rise, low + 0.1 * (high - low), high - 0.1 * (high - low))
            now = slope(s)
            up = now > 0.0
            high, above = np.where(up, s, high), np.where(up, now, above)
            low, below = np.where(up, low, s), np.where(up, below, now)
        return np.where(whole, 1.0, 0.5 * (low + high))
