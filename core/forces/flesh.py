"""Flesh on flesh: limbs that swing against the body are braked softly, without a contact solver."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..dynamics import Kinematics, Load
from ..lanes import dot
from ..rotation import Array, cross
from .collide import Capsules
from .contact import MARGIN
from .step import Step

BONE = 0.8  # part of the thinner one's thickness after which bone would be on bone: a limb's own flesh, and as much
# of what it sinks into; chosen so that a waving arm that is hit stays good
FASTEST = 0.5  # [rad] of an oscillation in a sub-step, and part of its speed that it may lose; stable below 2


@dataclass(frozen=True, eq=False)
class Flesh:
    """Springs and dampers between pairs of capsules, frictionless, silent on the clip.

    Two are pushed as if the one that shows less mass where they meet, both rods in the air, swung at one frequency,
    and more and more stiffly the nearer bone comes to bone.  A touch is no jolt: what is lost grows with the pressure
    (Hunt and Crossley 1975).  Forces act as they are found on arrival; in long sub-steps they are no stiffer than
    stays stable.
    pairs: (P, 2) indices of capsules.  mass: (m,) of the capsules [kg].  omega: circular frequency [1/s].
    loss: part of the pressure that comes on top for every m/s together [s/m].
    clip: of the arrivals at every step, None = all counts.  Only what goes deeper than there is pressed, and only what
    goes apart slower than there is damped, or a body hardly off its clip would be braked by its clip's own motion.
    """

    capsules: Capsules
    pairs: np.ndarray
    mass: Array
    omega: float
    loss: float
    clip: Kinematics | None = None
    parted: dict[tuple[int, ...], Array] = field(default_factory=dict, repr=False)

    def of_clip(self, kin: Kinematics) -> "Flesh":
        """The same, pressed only deeper than the clip itself does; kin: of the reference's arrivals."""
        return replace(self, clip=kin)

    @cached_property
    def _cores(self) -> Array:
        """(K, m, 2, 3) of the clip; where nothing comes near nobody asks."""
        assert self.clip is not None
        return self.capsules.cores(self.clip)

    def _shown(self, cores: Array, pairs: np.ndarray, normal: Array, points: Array) -> Array:
        """(..., len(pairs)) smaller mass that the two of these pairs, rods in the air, show along the normal [kg]."""
        both = cores.take(pairs, axis=-3)
        way = points[..., None, :] - 0.5 * (both[..., 0, :] + both[..., 1, :])
        along = np.einsum("...ai,...i->...a", way, normal)
        spin = (dot(way, way) - along * along) / self._gyration[pairs]
        shown = self.mass[pairs] / (1.0 + spin)
        return np.minimum(shown[..., 0], shown[..., 1])

    @cached_property
    def _gyration(self) -> Array:
        """(m,) square of the radius of gyration across each rod [m^2]."""
        long = self.capsules.ends[:, 1] - self.capsules.ends[:, 0]
        return np.asarray(np.einsum("mi,mi->m", long, long) / 12.0 + np.square(self.capsules.radius) / 4.0)

    @cached_property
    def _thick(self) -> tuple[Array, Array]:
        """(P,) how deep pairs are in each other where bone would be on bone, and the radius of the thinner one [m]."""
        thin = self.capsules.radius[self.pairs].min(axis=1)
        return BONE * 2.0 * thin, thin

    @cached_property
    def _reach(self) -> Array:
        return self.capsules.reach(self.pairs)

    def _parted(self, batch: tuple[int, ...]) -> Array:
        """(batch..., P, 3) see `parted`; to begin with they part nothing."""
        if batch not in self.parted:
            self.parted[batch] = np.zeros((*batch, len(self.pairs), 3))
        return self.parted[batch]

    def add(self, load: Load, step: Step) -> None:
        """Equal and opposite forces at the point between the two bodies of every pair that is pressed."""
        middles = self.capsules.middles(step.kin)
        near = self.capsules.close(middles, self.pairs, self._reach)
        if not len(near):
            return
        rods, parted = self.capsules.rods(step.kin, middles), self._parted(middles.shape[:-2])
        near = near[self.capsules.meeting(rods, self.pairs[near], parted[..., near, :])]
        if not len(near):
            return
        cores, pairs, (room, thin) = rods.ends, self.pairs[near], self._thick
        own = (None, None) if self.clip is None else (self._cores[step.k], self.clip.V[step.k])
        depth, normal, points = self.capsules.nearest(_beside(cores, own[0]), pairs)
        parted[..., near, :] = normal[0]
        sunk = 0.0 if self.clip is None else np.maximum(depth[1], 0.0) + MARGIN
        deeper = depth[0] - sunk
        pressed = deeper > 0.0
        if not np.count_nonzero(pressed):
            return
        moving = self.capsules.relative(points, pairs, _beside(step.kin.V, own[1]))
        apart = dot(normal, moving)
        apart = apart[0] if self.clip is None else apart[0] - apart[1]
        part = np.maximum(deeper, 0.0) / np.maximum(room[near] - sunk, thin[near])
        omega, soft = min(self.omega, FASTEST / step.h), min(self.omega * step.h, 1.0)
        pull = omega * omega * deeper / np.maximum(1.0 - part * part, soft)
        braked = np.minimum(self.loss * pull, FASTEST / step.h) * apart
        push = self._shown(cores, pairs, normal[0], points[0]) * (pull - braked)
        force = np.where(pressed, np.maximum(push, 0.0), 0.0)[..., None] * normal[0]
        wrench = np.concatenate((cross(points[0], force), force), axis=-1)
        both = np.concatenate((wrench, -wrench), axis=-2)
        load.wrench = load.wrench + step.spread(self.capsules.bodies[pairs.T].reshape(-1), both)


def _beside(now: Array, clip: Array | None) -> Array:
    """(2, ..., *) what is now (..., *), and in the clip (*): looked at together; (1, ..., *) where that is None."""
    out = np.empty((1 if clip is None else 2, *now.shape))
    out[0], out[1:] = now, 0.0 if clip is None else clip
    return out
