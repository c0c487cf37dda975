"""A body on the floor rolls over: about its length, limbs and trunk straight half-way, on the floor at both ends.

Blended joint by joint, half a turn would go about any axis and on whatever limbs stick out: in the air.
"""

from dataclasses import dataclass, replace

import numpy as np

from . import limp, touch
from .actor import Actor
from .model import Model
from .reference import to_world
from .rotation import Array, between, conjugate, cross, exp, log, multiply, rotate, slerp

Poses = tuple[Array, Array]

# A trunk that turns more about its length rolls; it lies if its length rises by less (45 degrees).  Chosen by eye.
ROLLS, LIES = np.radians(60.0), 0.7
STIFF, HALVINGS = 0.5, 20  # [m] of lever that tips a body by 45 degrees, and in how many steps it is found how far
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Roll:
    """How a body's base gets from one pose to another.

    base: body.  along: (3,) unit vector up the trunk, its frame.  angle: [rad] about it, of the first poses.
    over: whether the body lies and rolls over.  tucked: bodies (m,) and their joint rotations (m, 4) half-way.
    """

    base: int
    along: Array
    angle: float
    over: bool
    tucked: tuple[np.ndarray, Array]

    @classmethod
    def of(cls, actor: Actor, own: Array, goal: Array) -> "Roll":
        """From one world pose's rotations (n, 4) to another's."""
        base, along = _trunk(actor)
        _, roll = _about(own[None, base], goal[None, base], along, 0.0)
        return cls(base, along, float(roll[0]), bool(rolls(actor, own, goal[None])[0]), limp.straight(actor))

    def other_way(self) -> "Roll":
        """The same pose by rolling the other way round."""
        return replace(self, angle=self.angle - np.copysign(2.0 * np.pi, self.angle))

    def far(self, own: Poses, ground: float) -> Array:
        """(3,) how far the trunk rolls along a floor of some height, from a world pose (n, 4), (n, 3) [m]."""
        thick = max(float(own[1][self.base, 2]) - ground, 0.0)
        return self.angle * thick * cross(rotate(own[0][self.base], self.along), UP)

    def blended(self, model: Model, joints: Poses, own: Poses, goal: Poses, amount: Array, on: touch.Points) -> Poses:
        """World poses (T, n, *) of blended joint poses, the base on its way by amount (T,) from its own pose to its
        goal, world poses (T, n, *).  on: the points of the surface that lie on the floor."""
        turned, moved = joints[0].copy(), joints[1].copy()
        bodies, straight = self.tucked
        tuck = self.over * (1.0 - np.cos(np.pi * amount) ** 8)
        if self.over:
            part = np.broadcast_to(tuck[:, None], (len(tuck), len(bodies)))
            turned[:, bodies] = slerp(turned[:, bodies], np.broadcast_to(straight, turned[:, bodies].shape), part)
        base, part = self.base, amount[:, None]
        swing, roll = _about(own[0][:, base], goal[0][:, base], self.along, self.angle)
        length = rotate(own[0][:, base], self.along)
        q = multiply(exp(part * log(swing)), multiply(exp(part * roll[:, None] * length), own[0][:, base]))
        p = own[1][:, base] + part * (goal[1][:, base] - own[1][:, base])
        out = self._placed(model, turned, moved, q, p)
        if self.over:
            pitch = tuck * self._level(q, p, on.world(*out))
            q = multiply(exp(pitch[:, None] * _across(rotate(q, self.along))), q)
            out = self._placed(model, turned, moved, q, p)
        return out

    def _placed(self, model: Model, turned: Array, moved: Array, q: Array, p: Array) -> Poses:
        """World poses of joint poses (T, n, *), in which the base's become those of its world pose (T, *)."""
        base, up = self.base, int(model.parent[self.base])
        turned[:, base], moved[:, base] = q, p
        if up >= 0:
            above = [x[:, up] for x in to_world(model, turned, moved)]
            back = conjugate(above[0])
            turned[:, base], moved[:, base] = multiply(back, q), rotate(back, p - above[1])
        return to_world(model, turned, moved)

    def _level(self, q: Array, p: Array, places: Array) -> Array:
        """(T,) [rad] by which turning about `_across` lays a body with surface points (T, m, 3) down on the floor.

        It lies where its base is lowest: tan a of the largest min(z + s tan a) - STIFF / 2 tan^2 a, for points z above
        and s along the trunk from it.  The last term makes it follow smoothly what it lies on, and not tip over what is
        right under it.
        """
        way = cross(UP[None], _across(rotate(q, self.along)))
        s = np.einsum("tmi,ti->tm", places - p[:, None], way)
        low, high = np.full(len(q), -1.0), np.ones(len(q))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            lowest = np.argmin(places[..., 2] + middle[:, None] * s, axis=1)
            more = s[np.arange(len(s)), lowest] > STIFF * middle
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return np.asarray(np.arctan(0.5 * (low + high)))


def rolls(actor: Actor, own: Array, goals: Array) -> np.ndarray:
    """(A,) bool, whether a body lies and rolls over, from one world pose's rotations (n, 4) to others (A, n, 4)."""
    base, along = _trunk(actor)
    _, roll = _about(np.repeat(own[None, base], len(goals), axis=0), goals[:, base], along, 0.0)
    rises = np.maximum(np.abs(rotate(goals[:, base], along)[:, 2]), abs(float(rotate(own[base], along)[2])))
    return np.asarray((np.abs(roll) > ROLLS) & (rises < LIES))


def _trunk(actor: Actor) -> tuple[int, Array]:
    """The body that carries all others, and (3,) a unit vector up the trunk, its frame."""
    base = max(actor.first("pelvis"), 0)
    up = actor.sign * np.asarray(actor.anatomy.up)
    return base, rotate(conjugate(actor.skeleton.rotation[actor.order[base]]), up)


def _across(length: Array) -> Array:
    """(T, 3) horizontal unit vectors; turning about them by a small angle lifts the end of `length` (T, 3)."""
    side = cross(length, UP[None])
    return np.asarray(side / np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-9))


def _about(own: Array, goal: Array, along: Array, near: float) -> tuple[Array, Array]:
    """The shortest turn (T, 4) between the lengths of two rotations (T, 4), and the roll (T,) about the first one's
    that comes before it, within half a turn of `near` [rad]."""
    length = rotate(own, along)
    swing = between(length, rotate(goal, along))
    turn = log(multiply(conjugate(swing), multiply(goal, conjugate(own))))
    roll = np.einsum("ti,ti->t", turn, length)
    return swing, near + np.remainder(roll - near + np.pi, 2.0 * np.pi) - np.pi
