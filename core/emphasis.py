"""An artist's gains on what a blow does away from where it lands: counter-rotation above it, the whip of limbs, and
the shift of the body as a whole.

The simulation gives both (1).  A joint that nothing strikes is driven by the motion of what carries it alone; while
angles are moderate its answer is linear: scaling the coupling would scale the joint's turn off the clip.  So the
turn is what is scaled, joint by joint; below 1 all of it, down to a joint that rides along rigidly at 0; above 1 as
far as the joint's range has room, which it approaches without reaching it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import tuning
from .actor import Actor
from .blows import Blow
from .forces import SwingTwist
from .hinges import Hinges
from .joint_limits import Ends
from .roles import base_role
from .rotation import Array
from .support import smooth

TRUNK = ("spine", "neck", "head", "jaw")
LIMBS = ("clavicle", "upper_arm", "forearm", "hand", "finger", "tail", "ear")
TAKE = 0.25  # [s] in which the gains of a further blow take the place of the one before


def gains(actor: Actor, blows: Sequence[Blow], times: Array, standing: Sequence[int] = ()) -> Array | None:
    """(T, n) factor on every joint's turn, None where no blow asks for any.  standing: bodies on which limbs stand."""
    asked = [_asked(actor, blow, standing) for blow in blows]
    if all((own == 1.0).all() for own in asked):
        return None
    return _blended(asked, blows, times)


def shifted(travel: Array, blows: Sequence[Blow], times: Array, planned: bool) -> Array:
    """The free base's travel (T, n, 3) besides its plan, times the gains on the body's shift.

    planned: the plan of the feet has the gains too, so that a base which goes farther does so by it alone: at 2 it
    is seen to go less than twice as far.
    """
    asked = [np.array(min(blow.situation.shift, 1.0) if planned else blow.situation.shift) for blow in blows]
    if all(own == 1.0 for own in asked):
        return travel
    return _blended(asked, blows, times)[:, None, None] * travel


def _blended(asked: Sequence[Array], blows: Sequence[Blow], times: Array) -> Array:
    """(T, ...) gains of blows (...), each of which takes the place of the one before within TAKE."""
    out = np.broadcast_to(asked[0], (len(times), *asked[0].shape)).copy()
    for blow, own in zip(blows[1:], asked[1:], strict=True):
        out += np.multiply.outer(smooth((times - blow.start) / TAKE), np.ones_like(own)) * (own - out)
    return out


def _asked(actor: Actor, blow: Blow, standing: Sequence[int]) -> Array:
    """(n,) the gains of one blow."""
    parent, roles = actor.parent, [base_role(role) for role in actor.roles]
    carrying = tuning.upward(parent, blow.struck)
    limb = _limb(parent, roles, blow.struck)
    held = {i for body in standing for i in tuning.upward(parent, body)}
    out = np.ones(len(parent))
    for i, role in enumerate(roles):
        if role in TRUNK and i not in carrying:
            out[i] = blow.situation.counter
        elif role in LIMBS and i not in held and limb not in tuning.upward(parent, i):
            out[i] = blow.situation.whip
    return out


def _limb(parent: np.ndarray, roles: Sequence[str], body: int) -> int:
    """The first body of the limb that a body belongs to, -1 for the trunk's."""
    on = [i for i in tuning.upward(parent, body) if roles[i] in LIMBS]
    return on[-1] if on else -1


@dataclass(frozen=True, eq=False)
class Room:
    """How far joints may turn off the clip.

    cone: (n,) in any direction [rad], inf = without bounds.  balls: (m,) with rows `scaled` (m, 3, 3) that take a
    turn to one of length 1 at the end of its range.  hinges: those that bend about an axis, low, high: (T, m) about it
    [rad].
    """

    cone: Array
    balls: np.ndarray
    scaled: Array
    hinges: Hinges
    low: Array
    high: Array

    @classmethod
    def of(cls, ends: Ends, balls: SwingTwist | None, hinges: Hinges, flexion: Array, n: int) -> "Room":
        """Of the limits that n bodies have; flexion: (T, m) of the clip's hinges."""
        limit, count = ends.about(flexion), len(ends.half)
        cone = np.full(n, np.inf)
        cone[ends.bodies[:count]] = ends.half
        low, high = limit.low[:, count:], limit.high[:, count:]
        if balls is None:
            return cls(cone, np.zeros(0, dtype=int), np.zeros((0, 3, 3)), hinges, low, high)
        scaled = balls.frame / np.concatenate((balls.twist[:, 1:], balls.swing), axis=1)[..., None]
        return cls(cone, balls.bodies, scaled, hinges, low, high)


def scaled(turn: Array, factor: Array, room: Room) -> Array:
    """The turns (T, n, 3) times the factor (T, n), above 1 within the room."""
    out = np.minimum(factor, 1.0)[..., None] * turn
    more = np.maximum(factor, 1.0)
    size = np.linalg.norm(turn, axis=-1)
    bounds = np.broadcast_to(room.cone, size.shape).copy()
    reach = np.linalg.norm(np.einsum("mai,tmi->tma", room.scaled, turn[:, room.balls]), axis=-1)
    bounds[:, room.balls] = size[:, room.balls] / np.maximum(reach, 1e-12)
    bounds[:, room.hinges.bodies] = np.inf  # bounded about their axis
    out += (_added(size, bounds, more) / np.maximum(size, 1e-12))[..., None] * turn
    for m, body in enumerate(room.hinges.bodies):
        axis = room.hinges.axis[m]
        x = turn[:, body] @ axis
        end = np.where(x > 0.0, room.high[:, m], -room.low[:, m])
        on = more[:, body] > 1.0
        bent = np.sign(x) * _added(np.abs(x), end, more[:, body])
        out[on, body] = turn[on, body] + bent[on, None] * axis
    return out


def _added(x: Array, end: Array, factor: Array) -> Array:
    """What an angle x from 0 on gains by a factor of 1 or more, below an end that it never reaches."""
    room = np.minimum(np.maximum(end - x, 1e-9), 1e9)
    return -room * np.expm1((1.0 - factor) * x / room)
