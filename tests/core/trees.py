"""Random articulated bodies and smooth motions for tests."""

import numpy as np

from core.model import FIXED, FREE, SPHERICAL, Model, planar, prismatic, revolute
from core.rotation import exp, multiply, normalize
from core.spatial import inertia
from core.stops import Stops


def tree(rng, n=12, free=False, kinds=("spherical", "hinge")):
    """A tree of n bodies with joints drawn from `kinds`; the first is a free base where asked for."""
    parent = np.array([-1] + [int(rng.integers(0, i)) for i in range(1, n)])
    joints = []
    for i in range(n):
        kind = kinds[int(rng.integers(len(kinds)))]
        joints.append({"spherical": SPHERICAL, "hinge": revolute(rng.normal(size=3)), "fixed": np.zeros((0, 6))}[kind])
        if i == 0 and free:
            joints[0] = FREE
    a = rng.normal(size=(n, 3, 3)) * 0.2
    about = a @ a.swapaxes(-1, -2) + 0.02 * np.eye(3)
    return Model(
        tuple(f"b{i}" for i in range(n)),
        parent,
        tuple(joints),
        inertia(rng.uniform(0.5, 3.0, n), rng.normal(size=(n, 3)) * 0.1, about),
    )


def mixed(rng, n=12):
    """A tree of n bodies and joints of every kind there is; a universal one is two hinges with a massless body between.

    Some joints have axes that are none of the coordinates', so solvers see both of their ways.
    """
    plain = tree(rng, n)
    parent, joints, masses = plain.parent.copy(), [], plain.inertia.copy()
    kinds = (
        lambda: SPHERICAL, lambda: FREE, lambda: FIXED, lambda: revolute(rng.normal(size=3)),
        lambda: prismatic(rng.normal(size=3)), lambda: planar(rng.normal(size=3)), lambda: revolute([0.0, 1.0, 0.0]),
        lambda: np.linalg.qr(rng.normal(size=(6, 6)))[0][: rng.integers(1, 6)],
    )  # fmt: skip
    while len(joints) < n:
        i = len(joints)
        if i + 1 < n and rng.integers(8) == 0:
            joints += [revolute([1.0, 0.0, 0.0]), revolute([0.0, 1.0, 0.0])]
            masses[i], parent[i + 1] = 0.0, i
        else:
            joints.append(kinds[rng.integers(len(kinds))]())
    return Model(plain.names, parent, tuple(joints), masses)


def motion(rng, model, times, amplitude=0.6):
    """Smooth joint poses (T, n, 4), (T, n, 3) of a made-up clip; roots travel, other joints keep their place."""
    n = model.n
    phase, rate = rng.uniform(0, 6, (n, 3)), rng.uniform(1.0, 4.0, (n, 3))
    rest = normalize(rng.normal(size=(n, 4)))
    place = rng.normal(size=(n, 3)) * 0.3
    turn = amplitude * np.sin(rate * times[:, None, None] + phase)
    position = np.broadcast_to(place, (len(times), n, 3)).copy()
    position[:, model.parent < 0] += 0.3 * turn[:, model.parent < 0] + np.array([1.2, 0, 0]) * times[:, None, None]
    return multiply(np.broadcast_to(rest, (len(times), n, 4)), exp(turn)), position


def stops(rest, low, high):
    """Ends of the first Euler angle (zxy) of every joint off its rest (n, 4), low, high: (n,); a lock, a free angle."""
    n, far = len(rest), np.full(len(rest), np.inf)
    ends = np.stack((low, far, -far), axis=-1), np.stack((high, -far, far), axis=-1)
    return Stops(np.arange(n), rest, np.tile([2, 0, 1], (n, 1)), *ends, np.zeros(n, dtype=bool))
