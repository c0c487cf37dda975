"""Forward dynamics by articulated bodies (Featherstone 2008, ch. 7), O(n), with limbs in the place of single bodies.

Of one system; for a batch see `many`.

What a limb shows of itself to the body that carries it comes from composite inertias (ch. 6): with its joint-space
inertia H, and F the force on its carrier per joint acceleration, it is I^c - F^T H^-1 F.  All is done in the shared
frame, so between bodies nothing is transformed, and starts from the forces that joint accelerations of zero need, so
velocity products appear nowhere.  Limbs of one depth go at once, see `core.limbs`.
Joint impedance adds to H, body impedance to that body's inertia.
"""

from typing import Any

import numpy as np

from ..limbs import Limbs
from ..model import Model
from ..rotation import Array
from ..spatial import apply, turned
from .dense import body_forces, joint_forces
from .kinematics import Kinematics
from .load import Load
from .many import forward as many


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (..., nv) of the dynamic degrees of freedom under the load."""
    if not model.nv:
        return np.zeros(load.force.shape[:-2] + (0,))
    if load.force.ndim > 2:
        return many(model, kin, load)
    limbs = model.limbs
    axes, answers = _inward(model, limbs, kin, load)
    return _outward(limbs, axes, answers)


def _inward(model: Model, limbs: Limbs, kin: Kinematics, load: Load) -> tuple[Array, list[Array]]:
    """From the limbs that carry none to the world: the axes of all degrees of freedom (M, 6), and for every tier
    [K, d] (k, m, 7) of the accelerations -(K a + d) that an acceleration a of its carrier leaves to a limb."""
    inertia = kin.I if load.body_Z is None else kin.I + load.body_Z
    needed = np.concatenate((inertia, body_forces(model, kin, load)[..., None]), axis=-1)
    if limbs.merged is None:
        own = needed.take(limbs.bodies, axis=0)  # (N, 6, 7)
    else:
        own = (limbs.merged @ needed.reshape(model.n, 42)).reshape(-1, 6, 7)
    axes, tau = kin.axes(limbs.axes), joint_forces(model, load).take(limbs.dofs, axis=-1)
    if limbs.used is not None:
        axes, tau = axes * limbs.used[:, None], tau * limbs.used
    Z, z = _impedance(model, limbs, load), 0
    answers = []
    for tier in limbs.tiers:
        k, b, d = tier.shape
        m = b * d
        composite, S = own[tier.bodies], axes[tier.dofs]
        if b > 1:
            composite = (tier.carried @ composite.reshape(k, b, 42)).reshape(k * b, 6, 7)
        F = (S.reshape(k * b, d, 6) @ composite).reshape(k, m, 7)
        F[..., 6] -= tau[tier.dofs].reshape(k, m)
        H = F[..., :6] @ turned(S.reshape(k, m, 6))
        if b > 1:
            H *= tier.above
            H = H + H.swapaxes(-1, -2)
        H += Z[z : z + k * m * m].reshape(k, m, m)
        answer: Any = np.linalg.solve(H, F)
        answers.append(answer)
        if tier is limbs.tiers[-1]:
            break
        shown = composite[::b] - F[..., :6].swapaxes(-1, -2) @ answer
        if tier.sums is not None:
            shown = (tier.sums @ shown.reshape(k, 42)).reshape(-1, 6, 7)
        own[tier.parents] += shown
        z += k * m * m
    return axes, answers


def _outward(limbs: Limbs, axes: Array, answers: list[Array]) -> Array:
    """From the world to the last limbs: accelerations (nv,)."""
    a, u = np.zeros((len(limbs.bodies) + 1, 6)), np.empty(len(limbs.dofs))
    for tier, answer in zip(limbs.tiers[::-1], answers[::-1], strict=True):
        k, b, d = tier.shape
        carrier = a.take(tier.parent, axis=0)
        x = -apply(answer[..., :6], carrier) - answer[..., 6]
        u[tier.dofs] = x.reshape(k * b * d)
        if tier.carries:
            moved = (tier.ways * x[:, None, :]) @ axes[tier.dofs].reshape(k, b * d, 6)
            a[tier.bodies] = (carrier[:, None, :] + moved).reshape(k * b, 6)
    return u.take(limbs.places)


def _impedance(model: Model, limbs: Limbs, load: Load) -> Array:
    """(sum of k m m,) joint impedances in the matrices of all tiers, 1 on the diagonal of padding."""
    if load.Z is None:
        return limbs.padding
    Z = model.blocks(load.Z).reshape(-1).take(limbs.blocks)
    return Z if limbs.within is None else Z * limbs.within + limbs.padding
