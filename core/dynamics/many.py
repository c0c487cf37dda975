"""Forward dynamics of many systems side by side: articulated bodies (Featherstone 2008, ch. 7), O(n), in lanes.

As in `tree`, all is done in the shared frame and starts from the forces that joint accelerations of zero need; instead
of limbs, all bodies of one depth go at once, and their equations are solved an entry of all systems at a time.
Letters of einsum: d, e degrees of freedom of a body, i, j components, k bodies, b systems.
"""

import numpy as np

from ..groups import Group
from ..lanes import arranged, memory
from ..model import Model
from ..rotation import Array
from .dense import body_forces, joint_forces
from .kinematics import Kinematics
from .load import Load


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (batch..., nv) of the dynamic degrees of freedom under the load."""
    batch = load.force.shape[:-2]
    own, S, tau, Z = _gathered(model, kin, load)
    answers: list[tuple[Array, Array]] = []
    for group in model.groups.each:
        articulated = own[:, :, group.bodies]
        axes, F, answer = _answer(group, articulated, S, tau, Z)
        if group.adds:
            articulated -= np.einsum("jdkb,idkb->jikb", answer, F[:6])
        for part, parents in group.adds:
            own[:, :, parents] += articulated[:, :, part]
        answers.append((axes, answer))
    u = _outward(model, answers, tau.shape[-1])
    return u.take(model.groups.places, axis=0).reshape((-1, *batch[::-1])).T


def _gathered(model: Model, kin: Kinematics, load: Load) -> tuple[Array, Array, Array, Array | None]:
    """In the order of the groups: [I, f] of bodies (7, 6, n, b), axes (6, nv, b), joint forces (nv, b), and joint
    impedances as `Groups.blocks`."""
    groups, n = model.groups, model.n
    inertia, needed = (kin.I if load.body_Z is None else kin.I + load.body_Z), body_forces(model, kin, load)
    inertia, needed = memory(arranged(inertia, 2), 2), memory(arranged(needed))
    own = np.empty((7, *inertia.shape[1:]))
    inertia.take(groups.order, axis=2, out=own[:6], mode="clip")  # by default numpy copies what it takes once more
    needed.take(groups.order, axis=1, out=own[6], mode="clip")
    tau = joint_forces(model, load).T.reshape(model.nv, -1).take(groups.dofs, axis=0)
    body, column, systems = model.dof_body[groups.dofs], model.column[groups.dofs], tau.shape[-1]
    S = memory(arranged(kin.S, 2), 2).reshape(6, model.width, n, systems)[:, column, body]
    Z = None if load.Z is None else memory(arranged(model.blocks(load.Z), 2), 2).reshape(-1, systems)
    return own.reshape(7, 6, n, -1), S, tau, None if Z is None else Z.take(groups.blocks, axis=0)


def _answer(group: Group, own: Array, S: Array, tau: Array, Z: Array | None) -> tuple[Array, Array, Array]:
    """Of a group of articulated bodies (7, 6, k, b): their axes S (6, d, k, b), what accelerations along these take of
    force on the bodies F (7, d, k, b), with what is needed besides in the last row, and [K, c] (7, d, k, b) of the
    joint accelerations -(K a + c) that answer an acceleration a of what carries them; the rest as it was gathered."""
    d, k = group.shape
    S = S[:, group.dofs].reshape(6, d, k, S.shape[-1])
    F = np.einsum("idkb,jikb->jdkb", S, own)
    F[6] -= tau[group.dofs].reshape(F[6].shape)
    both = np.empty((d + 7, *F.shape[1:]))  # columns of the joint's inertia, then those that it is to be solved for
    np.einsum("idkb,iekb->dekb", F[:6], S, out=both[:d])
    if Z is not None:
        both[:d] += Z[group.blocks].reshape(both[:d].shape)
    both[d:] = F
    for i in range(d):  # Gauss and Jordan: numpy's calls cost more than what is above the diagonal
        row = both[i + 1 :, i] / both[i, i]
        both[i + 1 :] -= row[:, None] * both[i]
        both[i + 1 :, i] = row
    return S, F, both[d:]


def _outward(model: Model, answers: list[tuple[Array, Array]], systems: int) -> Array:
    """From the world to the last bodies: accelerations (nv, b) in the order of the groups."""
    a, u = np.zeros((7, model.n + 1, systems)), np.empty((model.nv, systems))
    a[6] = 1.0  # takes `_answer`'s c
    for group, (S, answer) in zip(model.groups.each[::-1], answers[::-1], strict=True):
        carrier = a.take(group.parent, axis=1)
        x = np.einsum("jdkb,jkb->dkb", answer, carrier)
        np.subtract(carrier[:6], np.einsum("idkb,dkb->ikb", S, x), out=a[:6, group.bodies])
        u[group.dofs] = x.reshape(u[group.dofs].shape)
    return np.negative(u, out=u)
