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
from ..spatial import apply, solve
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
        taking = np.unique(c.bodies)
        moves = model.ancestor[taking][:, model.dof_body]
        J = moves[:, None, :] * kin.axes(model.entries).swapaxes(-1, -2)[..., None, :, :]
        free = ahead(model, kin, step.passing, load.prescribed, step.h)[..., taking, :]
        if np.isfinite(H).all() and np.isfinite(C).all() and np.isfinite(free).all():  # else the simulator says where
            problem = Problem.of(c, np.searchsorted(taking, c.bodies), J, free, step.h)
            add_wrenches(load, step, taking, problem.solve(H, joint_forces(model, load) - C))


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
    """Contacts c of m bodies in one step.

    own: (a, m) 1 where a part is of a body.  reach: (..., a, 3, 6) from the motion of its body to what a part gives of
    the velocity along the frame's rows.  contact: (a,) of each part.  pairs: (2, b) parts of the same contact.
    J: (..., m, 6, nv) bodies' motions by degree of freedom.  free: (..., m, 6) motions at the end of the step for
    accelerations of zero.  h: [s].
    """

    c: Touching
    own: Array
    reach: Array
    contact: np.ndarray
    pairs: np.ndarray
    J: Array
    free: Array
    h: float

    @classmethod
    def of(cls, c: Touching, bodies: np.ndarray, J: Array, free: Array, h: float) -> "Problem":
        """Of contacts whose parts are of these of the m bodies (a,)."""
        count = np.diff(np.append(c.first, len(bodies)))
        contact = np.repeat(np.arange(len(count)), count)
        pairs = np.array(np.nonzero(contact[:, None] == contact))
        reach = c.shares[:, None, None] * (c.frame[..., contact, :, :] @ to_point(c.at)[..., 3:, :])
        return cls(c, np.eye(J.shape[-3])[bodies], reach, contact, pairs, J, free, h)

    def solve(self, H: Array, tau: Array) -> Array:
        """(..., m, 6) contact wrenches; H: (..., nv, nv), tau: (..., nv) of H a = tau + J^T wrench.

        a and wrench go together in every round, so that what is returned holds exactly, found or not quite.
        """
        flat = self.J.reshape(self.J.shape[:-3] + (-1, self.J.shape[-1]))
        Jt = flat.swapaxes(-1, -2)
        a = solve(H, tau)
        wrench = np.zeros(flat.shape[:-1])
        v = self._velocity(self.free + self.h * apply(self.J, a[..., None, :]))
        bound = np.zeros(v.shape[:-1])
        for _ in range(PASSES):
            going = np.ones(v.shape[:-2])  # members of the batch that are not found yet
            for _ in range(ROUNDS):
                f, G = self._forces(v, bound)
                now, slope = self._flat_wrench(f), self.h * _product(self._stiffness(G), flat)
                d = solve(H + _product(Jt, slope), apply(Jt, now - wrench))
                dv = self.h * self._velocity(apply(self.J, d[..., None, :]))
                curve, rest = apply(H, d), apply(Jt, wrench)
                part = going * self._along(v, dv, bound, *(dot(d, x) for x in (curve, -rest)))
                a, v = a + part[..., None] * d, v + part[..., None, None] * dv
                wrench = wrench + part[..., None] * (now - apply(slope, d) - wrench)
                going = going * (np.max(np.abs(dv), axis=(-2, -1)) >= CLOSE)
                if not going.any():
                    break
            bound = self.c.friction * self._push(v)
        return wrench.reshape(self.free.shape)

    def _velocity(self, motion: Array) -> Array:
        """(..., c, 3) along the rows, of motions (..., m, 6)."""
        return np.add.reduceat(apply(self.reach, self.own @ motion), self.c.first, axis=-2)

    def _flat_wrench(self, f: Array) -> Array:
        """(..., 6 m) of contact forces (..., c, 3)."""
        wrench = self.own.T @ apply(self.reach.swapaxes(-1, -2), f[..., self.contact, :])
        return wrench.reshape(wrench.shape[:-2] + (-1,))

    def _stiffness(self, G: Array) -> Array:
        """(..., 6 m, 6 m) of the bodies' motions, from that of the contacts (..., c, 3, 3)."""
        (one, other), m = self.pairs, self.own.shape[1]
        stiff = G[..., self.contact, :, :] @ self.reach
        Q = self.reach.swapaxes(-1, -2)[..., one, :, :] @ stiff[..., other, :, :]
        both = (self.own[one][:, :, None] * self.own[other][:, None, :]).reshape(len(one), m * m)
        W = _product(both.T, Q.reshape(Q.shape[:-2] + (36,))).reshape(Q.shape[:-3] + (m, m, 6, 6))
        return W.swapaxes(-3, -2).reshape(Q.shape[:-3] + (6 * m, 6 * m))

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
