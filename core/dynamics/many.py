"""Forward dynamics of many systems side by side: articulated bodies (Featherstone 2008, ch. 7), O(n), in lanes.

As in `tree`, all is done in the shared frame and starts from the forces that joint accelerations of zero need; instead
of limbs, all bodies of one depth go at once, and their equations are eliminated an entry of all systems at a time.
Letters of einsum: d, e degrees of freedom of a body, i, j components, k bodies, b systems.
"""

from typing import NamedTuple

import numpy as np

from ..groups import Group
from ..lanes import arranged, memory
from ..model import Model
from ..rotation import Array
from .dense import body_forces, joint_forces
from .kinematics import Kinematics
from .load import Load


class Answer(NamedTuple):
    """What bodies do when their carriers accelerate: U u = -(F a + f), with U upper triangular.

    S: (6, d, k, b) axes.  F: (7, d, k, b) with f in the last row.  U: (d, d, k, b), of use above the diagonal.
    inverse: (d, k, b) of U's diagonal.
    """

    S: Array
    F: Array
    U: Array
    inverse: Array


def forward(model: Model, kin: Kinematics, load: Load) -> Array:
    """Accelerations (batch..., nv) of the dynamic degrees of freedom under the load."""
    batch = load.force.shape[:-2]
    own, S, tau, Z = _gathered(model, kin, load)
    answers: list[Answer] = []
    for group in model.groups.each:
        articulated = own[:, :, group.bodies]
        answer = _eliminated(group, articulated, S, tau, Z)
        if group.parent is not None:
            articulated -= np.einsum("jdkb,idkb->jikb", answer.F * answer.inverse, answer.F[:6])
            for part, parents in group.adds:
                own[:, :, parents] += articulated[:, :, part]
        answers.append(answer)
    u = _outward(model, answers, tau.shape[-1])
    return u.take(model.groups.places, axis=0).reshape((-1, *batch[::-1])).T


def _gathered(model: Model, kin: Kinematics, load: Load) -> tuple[Array, Array, Array, Array | None]:
    """In the order of the groups: [I, f] of bodies (7, 6, n, b), axes (6, nv, b), joint forces (nv, b); and joint
    impedances (width, width, n, b) in the model's order."""
    groups, n = model.groups, model.n
    inertia, needed = (kin.I if load.body_Z is None else kin.I + load.body_Z), body_forces(model, kin, load)
    inertia, needed = memory(arranged(inertia, 2), 2), memory(arranged(needed))
    own = np.empty((7, *inertia.shape[1:]))
    inertia.take(groups.order, axis=2, out=own[:6], mode="clip")  # by default numpy copies what it takes once more
    needed.take(groups.order, axis=1, out=own[6], mode="clip")
    tau = joint_forces(model, load).T.reshape(model.nv, -1).take(groups.dofs, axis=0)
    body, column, slots = model.dof_body[groups.dofs], model.column[groups.dofs], (model.width, n, tau.shape[-1])
    S = memory(arranged(kin.S, 2), 2).reshape(6, *slots)[:, column, body]
    Z = None if load.Z is None else memory(arranged(model.blocks(load.Z), 2), 2).reshape(model.width, *slots)
    return own.reshape(7, 6, n, -1), S, tau, Z


def _eliminated(group: Group, own: Array, S: Array, tau: Array, Z: Array | None) -> Answer:
    """The equations of a group of articulated bodies (7, 6, k, b), triangular; the rest as it was gathered."""
    d, k = group.shape
    S = S[:, group.dofs].reshape(6, d, k, S.shape[-1])
    F = np.einsum("idkb,jikb->jdkb", S, own)
    U = np.einsum("idkb,iekb->dekb", F[:6], S)
    F[6] -= tau[group.dofs].reshape(F[6].shape)
    if Z is not None:
        U += Z[group.column[:, None], group.column[None, :], group.body]
    inverse = np.empty(F[6].shape)
    for i in range(d):
        inverse[i] = 1.0 / U[i, i]
        if i + 1 == d:
            break
        part = U[i, i + 1 :] * inverse[i]
        U[i + 1 :, i + 1 :] -= part[:, None] * U[i, i + 1 :]
        F[:, i + 1 :] -= part * F[:, i, None]
    return Answer(S, F, U, inverse)


def _outward(model: Model, answers: list[Answer], systems: int) -> Array:
    """From the world to the last bodies: accelerations (nv, b) in the order of the groups."""
    a, u = np.empty((6, model.n, systems)), np.empty((model.nv, systems))
    for group, answer in zip(model.groups.each[::-1], answers[::-1], strict=True):
        x = -answer.F[6]
        if group.parent is not None:
            carrier = a.take(group.parent, axis=1)
            x -= np.einsum("jdkb,jkb->dkb", answer.F[:6], carrier)
        for i in range(group.shape[0] - 1, -1, -1):
            x[i] *= answer.inverse[i]
            x[:i] -= answer.U[:i, i] * x[i]
        u[group.dofs] = x.reshape(u[group.dofs].shape)
        moved = np.einsum("idkb,dkb->ikb", answer.S, x)
        a[:, group.bodies] = moved if group.parent is None else carrier + moved
    return u
