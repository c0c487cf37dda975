"""Projected Gauss-Seidel over contacts, one by one: it always gets somewhere, if not far.

A contact is three numbers, so this is plain arithmetic: numpy's calls would cost ten times what they compute.
"""

from math import sqrt
from typing import Any

import numpy as np

from ..rotation import Array

Triple = tuple[float, float, float]
NONE: Triple = (0.0, 0.0, 0.0)


class Sweep:
    """Contact forces of one body, improved pass by pass; they start from nothing.

    From the forces of a wrong guess a few passes would leave some that add energy.
    """

    def __init__(self, normal: Array, friction: Array, v: Array, A: Array, hold: float) -> None:
        """Arguments of c contacts: normal (c, 2), the push of the normal spring at rest [N] and how much less it is per
        velocity [N s/m]; friction (c, 3), static and kinetic coefficient, or bound [N] of a contact without a normal;
        v (c, 3), velocities of the rows without forces, and A (3c, 3c), their change per force; hold [N s/m], damping
        of friction that holds."""
        c = len(v)
        self.speed, self.forces = v.reshape(-1).copy(), [NONE] * c
        self.columns = [np.ascontiguousarray(A[:, 3 * i : 3 * i + 3]) for i in range(c)]
        own = A.reshape(c, 3, c, 3)[np.arange(c), :, np.arange(c)]
        soft = own + np.eye(3) / hold
        held: Any = np.linalg.inv(soft)
        held[:, 1:, 1:] = np.where(
            (friction[:, 2] > 0.0)[:, None, None], held[:, 1:, 1:], np.linalg.inv(soft[:, 1:, 1:])
        )
        self.own, self.held = own.reshape(c, 9).tolist(), held.reshape(c, 9).tolist()
        self.normal, self.friction = normal.tolist(), friction.tolist()

    def once(self) -> float:
        """One pass over all contacts: the largest change of any force [N]."""
        change = 0.0
        for i, old in enumerate(self.forces):
            push, less = self.normal[i]
            if old == NONE and less > 0.0 and push <= less * self.speed[3 * i]:
                continue  # open, and stays so
            x, y, z = self.speed[3 * i : 3 * i + 3].tolist()
            a, (f, g, h) = self.own[i], old
            x, y, z = (x - a[0] * f - a[1] * g - a[2] * h, y - a[3] * f - a[4] * g - a[5] * h,
                       z - a[6] * f - a[7] * g - a[8] * h)  # fmt: skip
            new = self._force(i, x, y, z)
            if new != old:
                d = np.array((new[0] - f, new[1] - g, new[2] - h))
                self.speed += self.columns[i] @ d
                self.forces[i] = new
                change = max(change, abs(new[0] - f), abs(new[1] - g), abs(new[2] - h))
        return change

    def largest(self) -> float:
        """The largest force in any direction [N]."""
        return max(max(map(abs, f)) for f in self.forces)

    def _force(self, i: int, x: float, y: float, z: float) -> Triple:
        """Of contact i, whose rows would move with these velocities without it: the normal spring first, then the
        friction that this allows, which holds still where it may, else slides."""
        static, kinetic, bound = self.friction[i]
        b = self.held[i]
        if bound > 0.0:
            p, q, r = (
                -b[0] * x - b[1] * y - b[2] * z,
                -b[3] * x - b[4] * y - b[5] * z,
                -b[6] * x - b[7] * y - b[8] * z,
            )
            size = sqrt(p * p + q * q + r * r)
            part = 1.0 if size <= bound else bound / size
            return p * part, q * part, r * part
        a, (push, less) = self.own[i], self.normal[i]
        f = (push - less * x) / (1.0 + less * a[0])
        if not f > 0.0:
            return NONE
        y, z = y + a[3] * f, z + a[6] * f
        q, r = -b[4] * y - b[5] * z, -b[7] * y - b[8] * z
        size = sqrt(q * q + r * r)
        part = 1.0 if size <= static * f else kinetic * f / size
        return f, q * part, r * part
