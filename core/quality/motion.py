"""A motion as the judge sees it: canonical size, even samples in seconds, the bodies that matter."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..actor import Actor
from ..resample import hermite, rotations
from ..roles import base_role
from ..rotation import Array, conjugate, continuous, log, multiply, to_matrix
from ..skeleton import Clip

RATE = 60.0  # samples per second
SMOOTH = 0.03  # [s] standard deviation of the window in which velocities are taken
# Fingers, toes, ears, eyes and helpers are not judged: nobody reads a body's motion from them.
JUDGED = (
    "pelvis",
    "spine",
    "neck",
    "head",
    "clavicle",
    "upper_arm",
    "forearm",
    "hand",
    "thigh",
    "shin",
    "foot",
    "tail",
)


@dataclass(frozen=True, eq=False)
class Figure:
    """Which bodies of an actor are judged.

    bodies: (m,) bodies of the model, parents first.  up: (m,) index into `bodies` of what carries each, -1 at the top.
    names: bone names.  base: roles without side and number.
    """

    actor: Actor
    bodies: np.ndarray
    up: np.ndarray
    names: tuple[str, ...]
    base: tuple[str, ...]

    @classmethod
    def of(cls, actor: Actor) -> "Figure":
        """The judged bodies: those with a role of the figure, else all that have mass."""
        role = np.array([base_role(r) for r in actor.roles])
        heavy = actor.masses.mass[actor.order] > 0.0
        wanted = heavy & np.isin(role, JUDGED)
        bodies = np.flatnonzero(wanted if wanted.sum() > 3 else heavy)
        index = {int(b): k for k, b in enumerate(bodies)}
        up = []
        for b in bodies:
            p = int(actor.parent[b])
            while p >= 0 and p not in index:
                p = int(actor.parent[p])
            up.append(index.get(p, -1))
        names = tuple(actor.names[b] for b in bodies)
        return cls(actor, bodies, np.array(up, dtype=int), names, tuple(str(role[b]) for b in bodies))

    def first(self, role: str) -> int:
        """Index of the body with a role ("chest", "thigh.L"), or -1."""
        found = np.flatnonzero(self.bodies == self.actor.first(role))
        return int(found[0]) if len(found) else -1

    @cached_property
    def other(self) -> np.ndarray:
        """(m,) index of the same limb on the other side, -1 where there is none."""
        roles = [self.actor.roles[b] for b in self.bodies]
        swap = {"L": "R", "R": "L"}
        wanted = [r[:-1] + swap[r[-1]] if r[-2:] in (".L", ".R") else "" for r in roles]
        return np.array([roles.index(w) if w in roles else -1 for w in wanted], dtype=int)

    def having(self, *roles: str) -> np.ndarray:
        """Indices of the bodies with these roles, sides and numbers aside."""
        return np.flatnonzero(np.isin(self.base, roles))


@dataclass(frozen=True, eq=False)
class Motion:
    """World poses of all bodies of an actor at even samples.

    times: (K,) [s], RATE apart.  q: (K, n, 4).  p: (K, n, 3) [canonical m].
    """

    figure: Figure
    times: Array
    q: Array
    p: Array

    @property
    def step(self) -> float:
        """Seconds between samples."""
        return 1.0 / RATE

    @cached_property
    def R(self) -> Array:
        """(K, n, 3, 3) axes of all bodies in the world."""
        return to_matrix(self.q)

    @cached_property
    def joints(self) -> Array:
        """(K, m, 4) rotation of each judged body against the one that carries it, the first against the world."""
        q, up = self.q[:, self.figure.bodies], self.figure.up
        out, carried = q.copy(), up >= 0
        out[:, carried] = multiply(conjugate(q[:, up[carried]]), q[:, carried])
        return out

    @cached_property
    def heads(self) -> Array:
        """(K, m, 3) origins of the judged bodies."""
        return self.p[:, self.figure.bodies]

    @cached_property
    def ends(self) -> Array:
        """(K, m, 3) ends of their segments."""
        bodies = self.figure.bodies
        return self.heads + (self.R[:, bodies] @ self.figure.actor.axis[bodies, :, None])[..., 0]

    @cached_property
    def com(self) -> Array:
        """(K, 3) centre of mass of the whole body."""
        actor = self.figure.actor
        mass, com = actor.masses.mass[actor.order], actor.sign * actor.masses.com[actor.order]
        heavy = np.flatnonzero(mass)
        at = self.p[:, heavy] + (self.R[:, heavy] @ com[heavy, :, None])[..., 0]
        return np.einsum("i,kij->kj", mass[heavy] / mass.sum(), at)

    @cached_property
    def com_velocity(self) -> Array:
        """(K, 3) its velocity [m/s], smoothed."""
        return velocity(self.com)

    @cached_property
    def steps(self) -> Array:
        """(K - 1, m, 3) turn of each joint from sample to sample [rad], body frame."""
        return log(multiply(conjugate(self.joints[:-1]), self.joints[1:]))

    @cached_property
    def spin(self) -> Array:
        """(K - 1, m, 3) angular velocity of the joints [rad/s], smoothed."""
        return smooth(self.steps * RATE)


def smooth(x: Array, seconds: float = SMOOTH) -> Array:
    """The samples (K, ...) under a Gaussian window in time; both ends are held."""
    reach = int(np.ceil(3.0 * seconds * RATE))
    weight = np.exp(-0.5 * (np.arange(-reach, reach + 1) / (seconds * RATE)) ** 2)
    weight /= weight.sum()
    flat = x.reshape(len(x), -1)
    padded = np.concatenate((np.repeat(flat[:1], reach, axis=0), flat, np.repeat(flat[-1:], reach, axis=0)))
    out = sum(w * padded[i : i + len(flat)] for i, w in enumerate(weight))
    return np.asarray(out).reshape(x.shape)


def velocity(x: Array) -> Array:
    """(K, ...) smoothed rate of change of positions (K, ...)."""
    return np.asarray(np.gradient(smooth(x), 1.0 / RATE, axis=0)) if len(x) > 1 else np.zeros_like(x)


def sustained(x: Array, seconds: float) -> Array:
    """(K', ...) the least value in every window of that length; the whole where the motion is shorter."""
    width = min(max(int(round(seconds * RATE)), 1), len(x))
    return np.lib.stride_tricks.sliding_window_view(x, width, axis=0).min(axis=-1)


def widened(x: Array, seconds: float) -> Array:
    """(K, ...) the largest value near each sample, up to that far away."""
    reach = int(round(seconds * RATE))
    padded = np.concatenate((np.repeat(x[:1], reach, axis=0), x, np.repeat(x[-1:], reach, axis=0)))
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0).max(axis=-1)


def within(times: Array, spans: Sequence[tuple[float, float]]) -> np.ndarray:
    """(K,) bool, whether times [s] lie within any of the spans."""
    return np.array([any(start <= t <= end for start, end in spans) for t in times], dtype=bool)


def grid(*clips: Clip) -> Array:
    """(K,) even samples over the time that all clips cover."""
    start, end = max(c.times[0] for c in clips), min(c.times[-1] for c in clips)
    return start + np.arange(int(np.floor((end - start) * RATE + 1e-6)) + 1) / RATE


def sampled(figure: Figure, clip: Clip, times: Array) -> Motion:
    """The clip at the times; taken as it is where it was read there."""
    q, p = figure.actor.canonical(clip)
    own = clip.times
    near = np.clip(np.searchsorted(own, times - 1e-6), 0, len(own) - 1)
    if np.all(np.abs(own[near] - times) < 1e-5):
        return Motion(figure, times, continuous(q[near]), p[near])
    return Motion(figure, times, rotations(own, q, times), hermite(own, p, times))
