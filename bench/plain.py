"""The articulated-body algorithm as the book prints it (Featherstone 2008, table 7.1): bone by bone, 6x6 transforms.

What a careful reader would write first; the measure for what whole-tree passes gain.  Shares no code with the core's
solvers.
"""

import numpy as np


def skew(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def motion_transform(E, r):
    """X (6, 6), motions of the parent's frame to the child's: E (3, 3) parent to child axes, r (3,) child origin."""
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = E
    X[3:, :3] = -E @ skew(r)
    return X


def cross_motion(v):
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = skew(v[:3])
    out[3:, :3] = skew(v[3:])
    return out


def matrix(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def aba(parent, subspace, inertia, rotation, position, twist, tau, gravity):
    """Joint accelerations, one array per bone.

    parent: (n,).  subspace: n matrices (6, d).  inertia: (n, 6, 6).  rotation: (n, 4) wxyz, position: (n, 3), child in
    parent.  twist: (n, 6) of the joint, child's frame.  tau: n arrays (d,).  gravity: (3,).
    """
    n = len(parent)
    X, v, c, IA, pA = [None] * n, [None] * n, [None] * n, [None] * n, [None] * n
    U, D_inverse, u = [None] * n, [None] * n, [None] * n
    for i in range(n):
        X[i] = motion_transform(matrix(rotation[i]).T, position[i])
        v[i] = twist[i] if parent[i] < 0 else X[i] @ v[parent[i]] + twist[i]
        c[i] = cross_motion(v[i]) @ twist[i]
        IA[i] = inertia[i].copy()
        pA[i] = -cross_motion(v[i]).T @ (inertia[i] @ v[i])
    for i in reversed(range(n)):
        S = subspace[i]
        U[i] = IA[i] @ S
        D_inverse[i] = np.linalg.inv(S.T @ U[i])
        u[i] = tau[i] - S.T @ pA[i]
        if parent[i] >= 0:
            Ia = IA[i] - U[i] @ D_inverse[i] @ U[i].T
            pa = pA[i] + Ia @ c[i] + U[i] @ (D_inverse[i] @ u[i])
            IA[parent[i]] += X[i].T @ Ia @ X[i]
            pA[parent[i]] += X[i].T @ pa
    a, qdd = [None] * n, [None] * n
    up = np.concatenate((np.zeros(3), -np.asarray(gravity)))
    for i in range(n):
        a[i] = X[i] @ (up if parent[i] < 0 else a[parent[i]]) + c[i]
        qdd[i] = D_inverse[i] @ (u[i] - U[i].T @ a[i])
        a[i] = a[i] + subspace[i] @ qdd[i]
    return qdd
