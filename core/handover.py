"""Hand over: a body goes from where a reaction leaves it to another action, matched in pose and facing.

The action is moved along the ground and turned about the vertical to where the body is; it begins at the frame whose
pose, so moved, is nearest, of a body that lies at the first that is about as near, by preference to one to which it
needn't roll over.  Of several actions the nearest takes over.  Both poses are blended joint by joint for a while, as
high above the floor as both are.  Where an action by which a body gets up hangs in the air, it is set down.  A body
that lies the other way up rolls over first, its limbs along it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from . import touch
from .actor import Actor
from .knockout import floor_of
from .model import Model
from .reaction import Reaction
from .reference import to_joints
from .rolling import UP, Roll, rolls
from .rotation import Array, multiply, rotate, slerp, to_matrix
from .skeleton import Clip
from .stance import FALLS
from .support import smooth

PAUSE = 0.4  # [s] for which a body that has fallen lies still before it goes on
ROOM = 0.3  # [s] of the action that must be left after the frame at which it begins
UNLIKE = 0.25  # [m] that bodies may be off on average where the action begins
SOONER = 0.02  # [m] by which an earlier frame may be farther off a body that lies: no get-up begins at full speed
LOOPS = 0.02  # [m] by which a loop may fail to meet itself
THICK = 0.1  # [m] from its middle, in which a body's turn counts as it moves what is there
TOUCHES, FLOATS = 0.01, 0.05  # [m] above the ground that count as on it, and from where on a body hangs in the air
FARTHEST, LOOKS = np.radians(225.0), 16  # that a body rolls for the lower way, and how often that is looked at
LOWER = 0.05  # [m] by which a way that is half a turn longer must be lower: a millimetre doesn't choose it
HALF_TURN, BEGINS = 1.4, 0.8  # [s] that half a turn takes at least, and the part of it after which the action begins


@dataclass(frozen=True, eq=False)
class HandOver:
    """An action that takes a body over.

    of: which of the actions it is.  shows: (A,) its frames, as indices, in the order in which they play.
    start: [s] when it begins, at a frame.  seconds: in which it takes over.  times: (A,) [s] from its first frame on.
    rotation, position: world poses (A, n, 4), (A, n, 3) of it, moved to where the body is [m].
    surface, ground: points that stay above the height of the floor [m].
    roll: how the body gets there.  waits: [s] for which the action stands at its first frame meanwhile.
    """

    of: int
    shows: np.ndarray
    start: float
    seconds: float
    times: Array
    rotation: Array
    position: Array
    surface: touch.Points
    ground: float
    roll: Roll
    waits: float = 0.0

    @property
    def end(self) -> float:
        """Time from which its last pose is held [s]."""
        return self.start + max(self.seconds, self.waits + float(self.times[-1]))

    def takes(self, model: Model, times: Array, q: Array, p: Array) -> tuple[Array, Array]:
        """World poses (T, n, 4), (T, n, 3) at times (T,) [s], with the action over those given from its start on."""
        since = times - self.start
        taken = since > 0.0
        if not taken.any():
            return q, p
        q, p = q.copy(), p.copy()
        played = self.played(since[taken])
        action, below = to_joints(model, *played), to_joints(model, q[taken], p[taken])
        amount = self.amount(since[taken])
        turned = slerp(below[0], action[0], np.broadcast_to(amount[:, None], action[0].shape[:-1]))
        joints = turned, below[1] + amount[:, None, None] * (action[1] - below[1])
        new_q, new_p = self.roll.blended(model, joints, (q[taken], p[taken]), played, amount, self.surface)
        own, theirs, low = (self._lowest(*pose) for pose in ((q[taken], p[taken]), played, (new_q, new_p)))
        high, least = (own + amount * (other - own) for other in (theirs, self._deepest(since[taken])))
        new_p[..., 2] += (np.maximum(high, np.minimum(self.ground, least)) - low)[:, None]
        q[taken], p[taken] = new_q, new_p
        return q, p

    def amount(self, since: Array) -> Array:
        """(T,) of the action in what is shown so long after its beginning, 0 to 1."""
        return smooth(since / self.seconds)

    def _lowest(self, q: Array, p: Array) -> Array:
        """(T,) height of the lowest point at world poses."""
        return np.asarray(self.surface.world(q, p)[..., 2].min(axis=-1))

    def played(self, since: Array) -> tuple[Array, Array]:
        """The action's poses so long after its beginning, its last one held; straight between frames, which a cubic
        would leave: feet would dip into the floor."""
        k, part = self.between(since)
        q = slerp(self.rotation[k], self.rotation[k + 1], np.broadcast_to(part[:, None], self.rotation[k].shape[:-1]))
        return q, self.position[k] + part[:, None, None] * (self.position[k + 1] - self.position[k])

    def _deepest(self, since: Array) -> Array:
        """(T,) height of the lowest point in the deeper of the two frames between which the action is."""
        low, (k, _) = self._lowest(self.rotation, self.position), self.between(since)
        return np.asarray(np.minimum(low[k], low[k + 1]))

    def between(self, since: Array) -> tuple[np.ndarray, Array]:
        """(T,) the frames of the action before, and how far on the way to the next."""
        at = np.clip(since - self.waits, 0.0, self.times[-1])
        k = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self.times) - 2)
        return k, (at - self.times[k]) / (self.times[k + 1] - self.times[k])


def hand_over(reaction: Reaction, clip: Clip, actions: Sequence[Clip], seconds: float, until: float) -> Reaction:
    """The reaction, going over to that of the actions which begins most like it ends.

    A body that has fallen goes over after it lay still for PAUSE; one that returns, while the last of the reaction
    fades.  clip: what the reaction is of, to its end at least.  actions: the same skeleton's, at least two frames each.
    seconds: in which one takes over.  until: [s] up to which an action that loops is repeated.
    """
    actor = reaction.actor
    fallen = reaction.rest is not None
    start = float(reaction.times[-1]) + PAUSE if fallen else max(reaction.end - seconds, reaction.start)
    start = float(np.ceil(start * clip.fps - 1e-6) / clip.fps)  # at a frame: its own frames are shown then
    now = int(np.argmin(np.abs(clip.times - start)))
    q, p = reaction.poses(clip)
    there = q[now], p[now]
    surface = touch.points(actor).figure
    ground = floor_of(reaction.blows, surface, clip.times, actor.canonical(clip), reaction.start)
    set_down = [_grounded(actor, action, surface, ground, fallen) for action in actions]
    moved, floats = [poses for poses, _ in set_down], [gap for _, gap in set_down]
    slack = SOONER if fallen else 0.0
    found = [match(actor, there, theirs, action.times, slack) for theirs, action in zip(moved, actions, strict=True)]
    best = int(np.argmin([off for *_, off in found]))
    action, (first, turn, shift, off) = actions[best], found[best]
    times, *played = repeated(actor, action.times, *moved[best], action.times[first] + until - start)
    rotation, position = multiply(turn, played[0][first:]), rotate(turn, played[1][first:]) + shift
    roll = Roll.of(actor, there[0], rotation[0])
    shows = (np.arange(first, len(times)) - 1) % (len(action.times) - 1) + 1
    shows[0] = first
    times = times[first:] - times[first]
    then = HandOver(best, shows, start, seconds, times, rotation, position, surface, ground, roll)
    if roll.over:
        ways = [way for way in (roll, roll.other_way()) if abs(way.angle) < FARTHEST]
        then = min((_rolls(then, way, there, clip.fps) for way in ways), key=partial(_cost, reaction.model, there))
    doubt = f"Where '{action.name}' takes over it is {100.0 * off:.0f} cm off. Choose an action that begins like that."
    if roll.over:
        doubt = f"The body lies the other way up than '{action.name}' begins: it rolls over first. Add one that fits."
    doubts, high = [doubt] if off > UNLIKE else [], float(floats[best][first:].max())
    if high > 0.0:
        doubts.append(f"'{action.name}' floats up to {100.0 * high:.0f} cm above its own ground: it is set down.")
    return replace(reaction, then=then, warnings=(*reaction.warnings, *doubts))


def _rolls(then: HandOver, roll: Roll, there: tuple[Array, Array], fps: float) -> HandOver:
    """A hand-over that waits until the body has rolled over, from a world pose (n, 4), (n, 3)."""
    longer = max(then.seconds, HALF_TURN * abs(roll.angle) / np.pi)
    waits = float(np.ceil(BEGINS * longer * fps) / fps)
    return replace(then, roll=roll, position=then.position + roll.far(there, then.ground), seconds=longer, waits=waits)


def _cost(model: Model, there: tuple[Array, Array], then: HandOver) -> float:
    """[m] how high the base gets as it rolls, and a little for how far."""
    return _height(model, there, then) + LOWER * abs(then.roll.angle) / np.pi


def _height(model: Model, there: tuple[Array, Array], then: HandOver) -> float:
    """[m] how high the base gets as it rolls: on an arm that lies the wrong way, half a metre."""
    times = then.start + np.linspace(0.0, then.waits, LOOKS)
    _, p = then.takes(model, times, *(np.repeat(x[None], LOOKS, axis=0) for x in there))
    return float(p[:, then.roll.base, 2].max())


def longest(action: Clip, seconds: float, fallen: bool) -> float:
    """How long an action may show after a reaction's end [s]; arguments as in `hand_over`."""
    roll = max(seconds, HALF_TURN) if fallen else 0.0
    return (PAUSE if fallen else 0.0) + max(seconds, roll + float(action.times[-1] - action.times[0]))


def _grounded(
    actor: Actor, action: Clip, surface: touch.Points, ground: float, lies: bool
) -> tuple[tuple[Array, Array], Array]:
    """World poses (A, n, 4), (A, n, 3) of an action with its floor at a height [m], and by how much (A,) [m] it is set
    down on it, as one by which a body that lies gets up."""
    q, p = actor.canonical(action)
    p = p + UP * (ground - touch.floor(surface, q, p))
    gap = afloat(actor, action.times, q, p, surface, ground) if lies else np.zeros(len(p))
    return (q, p - gap[:, None, None] * UP), gap


def afloat(actor: Actor, times: Array, q: Array, p: Array, surface: touch.Points, ground: float) -> Array:
    """(A,) [m] how far world poses (A, n, 4), (A, n, 3) at times (A,) [s] hang in the air: all the way from the ground
    to the ground where they get FLOATS above it and their weight doesn't fall as in a leap.

    A clip made for other proportions sits above its floor, and lies and stands on it.
    """
    mass = actor.masses.mass[actor.order]
    weight = np.einsum("n,an->a", mass / mass.sum(), (p + rotate(q, 0.5 * actor.axis))[..., 2])
    rate, fast = np.gradient(weight, times), FALLS * float(np.linalg.norm(actor.gravity))
    gap = np.maximum(surface.world(q, p)[..., 2].min(axis=-1) - ground - TOUCHES, 0.0)
    edges = np.flatnonzero(np.diff(np.pad(1 * (gap > 0.0), 1)))
    out = np.zeros_like(gap)
    for a, b in zip(edges[::2], edges[1::2] - 1, strict=True):
        falls = (rate[a] - rate[b]) / max(float(times[b] - times[a]), 1e-6)
        if gap[a : b + 1].max() > FLOATS and falls < fast:
            out[a : b + 1] = gap[a : b + 1]
    return out


def match(
    actor: Actor, pose: tuple[Array, Array], poses: tuple[Array, Array], times: Array, slack: float = 0.0
) -> tuple[int, Array, Array, float]:
    """(frame, turn (4,), shift (3,), [m] off on average) by which the first of poses (A, n, ...) comes as near to a
    pose as any, or by so much [m] not quite; of these the first to which a body that lies needn't roll over.

    By the middles of the bodies and what is THICK around them, weighed by their masses: a body that lies on its face is
    another than one on its back.  The best turn about the vertical is known in closed form.
    """
    mass = actor.masses.mass[actor.order]
    weight = np.tile(mass / mass.sum(), 4)
    here, there = (_spread(actor, *own) for own in (pose, poses))
    count, level = len(mass), np.array([1.0, 1.0, 0.0])
    centre, centres = (np.einsum("n,...ni->...i", weight[:count], x[..., :count, :]) for x in (here, there))
    middle = np.repeat([1.0, 0.0], [count, 3 * count])[:, None] * level
    x, y = there - centres[:, None] * middle, here - centre * middle
    along = np.einsum("n,ani,ni->a", weight, x[..., :2], y[..., :2])
    across = np.einsum("n,an->a", weight, x[..., 0] * y[:, 1] - x[..., 1] * y[:, 0])
    angle = np.arctan2(across, along)
    zero = np.zeros_like(angle)
    turn = np.stack((np.cos(0.5 * angle), zero, zero, np.sin(0.5 * angle)), axis=-1)
    off = np.sqrt(np.einsum("n,ani->a", weight, (rotate(turn[:, None], x) - y) ** 2))
    possible = times <= max(times[-1] - ROOM, times[0])
    near = possible & (off <= off[possible].min() + slack)
    flat = near & ~rolls(actor, pose[0], multiply(turn[:, None], poses[0]))
    best = int(np.argmax(flat if flat.any() else near))
    shift = (centre - rotate(turn[best], centres[best])) * level
    return best, turn[best], shift, float(off[best])


def _spread(actor: Actor, q: Array, p: Array) -> Array:
    """(..., 4 n, 3) middles of the bodies, then their three axes as long as THICK."""
    axes = THICK * np.moveaxis(to_matrix(q), -1, 0)
    return np.concatenate((p + rotate(q, 0.5 * actor.axis), *axes), axis=-2)


def repeated(actor: Actor, times: Array, q: Array, p: Array, until: float) -> tuple[Array, Array, Array]:
    """Times and poses (T, n, ...) laid end to end up to a time [s] where they loop, travelling or not; else as is."""
    _, turn, shift, off = match(actor, (q[-1], p[-1]), (q[:1], p[:1]), times[:1])
    if off > LOOPS:
        return times, q, p
    period, rounds = times[-1] - times[0], [(times, q, p)]
    while rounds[-1][0][-1] < until:
        t, a, b = rounds[-1]
        rounds.append((t[-len(times) + 1 :] + period, multiply(turn, a[-len(times) + 1 :]),
                       rotate(turn, b[-len(times) + 1 :]) + shift))  # fmt: skip
    t, a, b = (np.concatenate(parts) for parts in zip(*rounds, strict=True))
    return t, a, b
