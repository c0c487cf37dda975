"""Forward dynamics by the hinge-centred recursion of Armstrong & Green 1985, link by link, O(n).

A second derivation beside Featherstone's: three-vectors and 3x3 matrices in the frames of the links instead of
spatial vectors in one frame, forces instead of articulated inertias.  It verifies the other solvers and shares no
formula with them.  Every link turns freely about its proximal hinge; a root may also be free to travel.

Letters of the paper, in link r's own frame except l and ac (its parent's); `tilde(x) y = x x y`:
    R        link to parent                          J, m, mc  inertia about the proximal hinge, mass, mass times centre
    l        proximal hinge as seen from the parent  w         angular velocity
    a        acceleration of the proximal hinge      w_dot     angular acceleration
    f, g     force and torque on the parent at the proximal hinge
The recursion's hypothesis (eqs 7, 8) is w_dot = K a + d and f = M a + f1.

Beyond the print: hinges may slide by a prescribed motion, which adds to ac (eq. 6), and roots may be hinged to the
world.  The paper's split into a slow and a fast band (section 4) is kept, so that either can be called alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..model import Model, State
from ..rotation import Array, cross, to_matrix
from ..soundness import turns_idly
from .load import Load

_WORST_CONDITION = 1e13  # of a link's turning inertia; beyond it its acceleration has no digits left
_FREE, _HINGED = 6, 3


@dataclass(frozen=True, eq=False)
class Motion:
    """Velocities and places of the links.

    R, R_I: (..., n, 3, 3) link to parent, to world.  p: (..., n, 3) proximal hinges in the world from the first one.
    l: (..., n, 3).  w: (..., n, 3).  w_parent: (..., n, 3) the parent's, in the link's frame.  w_rel: w - w_parent.
    slide: (..., n, 3) velocity of the hinge against the parent, link frame.
    """

    R: Array
    R_I: Array
    p: Array
    l: Array
    w: Array
    w_parent: Array
    w_rel: Array
    slide: Array


@dataclass(frozen=True, eq=False)
class SlowBand:
    """What the paper refreshes every v-th step only (eqs 15-22), (..., n, 3) and (..., n, 3, 3).

    ac: acceleration of the hinge beyond what its parent's acceleration gives it.  Q: R M R^T.  T: inverse of the
    turning inertia.  K, M: the recursive coefficients.  g_sigma, f_sigma: torques and forces that depend neither on an
    acceleration nor on the hinge torques.
    """

    motion: Motion
    ac: Array
    Q: Array
    T: Array
    K: Array
    M: Array
    g_sigma: Array
    f_sigma: Array


def forward(model: Model, state: State, load: Load) -> Array:
    """Accelerations (..., nv) of the degrees of freedom, in the order and the frames of the other solvers.

    Hinge torques, wrenches (shared frame: world axes at the first body's origin), gravity and prescribed slides of the
    load act.  Impedances are refused: the paper has none.
    """
    return fast_band(model, slow_band(model, state, load), load.force)


def slow_band(model: Model, state: State, load: Load) -> SlowBand:
    """Velocity products, applied forces and inertia-like coefficients, from the leaves to the root (eqs 15-22)."""
    check(model)
    if load.Z is not None or load.body_Z is not None:
        raise ValueError("hinge.forward: a load without impedances expected; use forward_tree or forward_dense")
    at = motion(model, state)
    g_sigma, f_sigma = _applied(model, at, load)
    Q, T, K, M = (np.zeros(at.R.shape) for _ in range(4))
    J, mass, mc = model.inertia[:, :3, :3], model.inertia[:, 5, 5], _moment(model)
    for r in reversed(range(model.n)):
        sons = np.flatnonzero(model.parent == r)
        W, turning = np.zeros(at.R[..., r, :, :].shape), J[r]
        for s in sons:
            l_tilde = _tilde(at.l[..., s, :])
            W = W + l_tilde @ Q[..., s, :, :]  # eq. 17
            turning = turning + l_tilde @ Q[..., s, :, :] @ l_tilde
        T[..., r, :, :] = _inverse(turning, model.names[r])  # eq. 18
        K[..., r, :, :] = T[..., r, :, :] @ (W - _tilde(mc[r]))  # eq. 19
        M[..., r, :, :] = _tilde(mc[r]) @ K[..., r, :, :] - mass[r] * np.eye(3)  # eq. 20
        for s in sons:
            M[..., r, :, :] += Q[..., s, :, :] @ (np.eye(3) - _tilde(at.l[..., s, :]) @ K[..., r, :, :])
        Q[..., r, :, :] = at.R[..., r, :, :] @ M[..., r, :, :] @ at.R[..., r, :, :].swapaxes(-1, -2)  # eq. 16
    return SlowBand(at, _hinge_acceleration(model, at, load.prescribed), Q, T, K, M, g_sigma, f_sigma)


def fast_band(model: Model, band: SlowBand, force: Array) -> Array:
    """Accelerations (..., nv) for the joint forces (..., n, 6) of the moment: in for d and f1, out for a and w_dot."""
    d, f1 = _inbound(model, band, force)
    at, root_free = band.motion, [len(j) == _FREE for j in model.joints]
    a, w_dot, u = np.zeros(d.shape), np.zeros(d.shape), []
    for r, p in enumerate(model.parent):
        R_T = at.R[..., r, :, :].swapaxes(-1, -2)
        from_parent = np.zeros(d[..., r, :].shape)
        if root_free[r]:
            a[..., r, :] = -_apply(np.linalg.inv(band.M[..., r, :, :]), f1[..., r, :])  # eq. 27
        elif p < 0:
            a[..., r, :] = _apply(R_T, band.ac[..., r, :])
        else:
            from_parent = _apply(R_T, w_dot[..., p, :])
            hinge = band.ac[..., r, :] + a[..., p, :] - cross(at.l[..., r, :], w_dot[..., p, :])
            a[..., r, :] = _apply(R_T, hinge)  # eq. 29
        w_dot[..., r, :] = _apply(band.K[..., r, :, :], a[..., r, :]) + d[..., r, :]  # eqs 28, 30
        turn = w_dot[..., r, :] - from_parent + cross(at.w_rel[..., r, :], at.w_parent[..., r, :])
        travel = a[..., r, :] - cross(at.w[..., r, :], at.slide[..., r, :])
        twist = np.concatenate((turn, travel if root_free[r] else np.zeros_like(travel)), axis=-1)
        u.append(_apply(np.linalg.pinv(model.joints[r].T), twist))
    return np.concatenate(u, axis=-1)


def motion(model: Model, state: State) -> Motion:
    """Rotations, places and angular velocities, from the root to the leaves."""
    R, l, w_rel, slide = to_matrix(state.rotation), state.position, state.twist[..., :3], state.twist[..., 3:]
    R_I, p, w, w_parent = R.copy(), np.zeros(l.shape), w_rel.copy(), np.zeros(l.shape)
    p[...] = l - l[..., :1, :]
    for r, up in enumerate(model.parent):
        if up >= 0:
            R_I[..., r, :, :] = R_I[..., up, :, :] @ R[..., r, :, :]
            p[..., r, :] = p[..., up, :] + _apply(R_I[..., up, :, :], l[..., r, :])
            w_parent[..., r, :] = _apply(R[..., r, :, :].swapaxes(-1, -2), w[..., up, :])
            w[..., r, :] = w_parent[..., r, :] + w_rel[..., r, :]
    return Motion(R, R_I, p, l, w, w_parent, w_rel, slide)


def check(model: Model) -> None:
    """Refuse joints that the recursion doesn't know, by name."""
    for name, parent, joint in zip(model.names, model.parent, model.joints, strict=True):
        spherical = joint.shape == (_HINGED, 6) and not np.any(joint[:, 3:])
        if not (spherical or (parent < 0 and len(joint) == _FREE)):
            raise ModelError(
                f"Bone '{name}' has a joint the hinge recursion doesn't know. Make it spherical (a root may be free),"
                " or use the tree or the dense solver."
            )


def _hinge_acceleration(model: Model, at: Motion, prescribed: Array) -> Array:
    """ac (..., n, 3), parent's frame: eq. 15, and for a sliding hinge Coriolis and its own acceleration."""
    w_up = np.einsum("...nij,...nj->...ni", at.R, at.w_parent)
    slide = 2.0 * cross(at.w_parent, at.slide) + cross(at.w_rel, at.slide) + prescribed[..., 3:]
    return cross(w_up, cross(w_up, at.l)) + np.einsum("...nij,...nj->...ni", at.R, slide)


def _applied(model: Model, at: Motion, load: Load) -> tuple[Array, Array]:
    """g_sigma and f_sigma (..., n, 3): gyroscopic terms, gravity and wrenches at the proximal hinges (eqs 21, 22)."""
    J, mass, mc = model.inertia[:, :3, :3], model.inertia[:, 5, 5, None], _moment(model)
    R_T = at.R_I.swapaxes(-1, -2)
    fE = load.wrench[..., 3:]
    gE = load.wrench[..., :3] - cross(at.p, fE)
    a_G = _apply(R_T, np.broadcast_to(load.weighs * load.gravity, at.p.shape))
    g_sigma = -cross(at.w, _apply(J, at.w)) + _apply(R_T, gE) + cross(np.broadcast_to(mc, at.p.shape), a_G)
    f_sigma = -cross(at.w, cross(at.w, np.broadcast_to(mc, at.p.shape))) + _apply(R_T, fE) + mass * a_G
    return g_sigma, f_sigma


def _inbound(model: Model, band: SlowBand, force: Array) -> tuple[Array, Array]:
    """d and f1 (..., n, 3) from the leaves to the root (eqs 23-26); the torque on a link is the paper's -g."""
    at, mc = band.motion, _moment(model)
    d, f1, f2 = (np.zeros(at.w.shape) for _ in range(3))
    for r in reversed(range(model.n)):
        sons = np.flatnonzero(model.parent == r)
        g_sigma, f_sigma = band.g_sigma[..., r, :] + force[..., r, :3], band.f_sigma[..., r, :]
        if len(model.joints[r]) == _FREE:
            f_sigma = f_sigma + force[..., r, 3:]
        for s in sons:
            g_sigma = g_sigma - _apply(at.R[..., s, :, :], force[..., s, :3])  # eq. 23
            pull = f2[..., s, :] + _apply(band.Q[..., s, :, :], band.ac[..., s, :])
            g_sigma = g_sigma + cross(at.l[..., s, :], pull)
            f_sigma = f_sigma + pull
        d[..., r, :] = _apply(band.T[..., r, :, :], g_sigma)  # eq. 24
        f_sigma = f_sigma + cross(np.broadcast_to(mc[r], d[..., r, :].shape), d[..., r, :])
        for s in sons:  # eq. 25
            f_sigma = f_sigma - _apply(band.Q[..., s, :, :], cross(at.l[..., s, :], d[..., r, :]))
        f1[..., r, :] = f_sigma
        f2[..., r, :] = _apply(at.R[..., r, :, :], f_sigma)  # eq. 26
    return d, f1


def _moment(model: Model) -> Array:
    """(n, 3) mass times centre of mass, read off the spatial inertia."""
    c = model.inertia[:, :3, 3:]
    return np.stack((c[:, 2, 1], c[:, 0, 2], c[:, 1, 0]), axis=-1)


def _tilde(x: Array) -> Array:
    """(..., 3) -> (..., 3, 3): tilde(x) y = x x y."""
    return np.cross(x[..., None, :], np.eye(3)).swapaxes(-1, -2)


def _apply(m: NDArray[np.floating], x: Array) -> Array:
    return np.einsum("...ij,...j->...i", m, x)


def _inverse(turning: Array, name: str) -> Array:
    """Inverse of a link's turning inertia (..., 3, 3), unless it can be turned without effort."""
    if not np.all(np.linalg.cond(turning) < _WORST_CONDITION):
        raise turns_idly(name)
    return np.asarray(np.linalg.inv(turning), dtype=np.float64)
