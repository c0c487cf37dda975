"""Hand over: a body goes from where a reaction leaves it to another action, matched in pose and facing.

The action is moved along the ground and turned about the vertical to where the body is; it begins at the frame whose
pose, so moved, is nearest.  Both poses are blended joint by joint for a while, raised where that would go through the
floor.
"""

from dataclasses import dataclass, replace

import numpy as np

from . import touch
from .actor import Actor
from .knockout import floor_of
from .model import Model
from .react import Reaction
from .reference import to_joints, to_world
from .rotation import Array, multiply, rotate, slerp
from .skeleton import Clip
from .support import smooth

PAUSE = 0.4  # [s] for which a body that has fallen lies still before it goes on
ROOM = 0.3  # [s] of the action that must be left after the frame at which it begins
UNLIKE = 0.25  # [m] that bodies may be off on average where the action begins
LOOPS = 0.02  # [m] by which a loop may fail to meet itself


@dataclass(frozen=True, eq=False)
class HandOver:
    """An action that takes a body over.

    start: [s] when it begins.  seconds: in which it takes over.  times: (A,) [s] from its first frame on.
    rotation, position: world poses (A, n, 4), (A, n, 3) of it, moved to where the body is [m].
    surface, ground: points that stay above the height of the floor [m].
    """

    start: float
    seconds: float
    times: Array
    rotation: Array
    position: Array
    surface: touch.Points
    ground: float

    @property
    def end(self) -> float:
        """Time from which its last pose is held [s]."""
        return self.start + max(self.seconds, float(self.times[-1]))

    def takes(self, model: Model, times: Array, q: Array, p: Array) -> tuple[Array, Array]:
        """World poses (T, n, 4), (T, n, 3) at times (T,) [s], with the action over those given from its start on."""
        since = times - self.start
        taken = since > 0.0
        if not taken.any():
            return q, p
        q, p = q.copy(), p.copy()
        action = to_joints(model, *self._played(since[taken]))
        amount = smooth(since[taken] / self.seconds)
        below = to_joints(model, q[taken], p[taken])
        turned = slerp(below[0], action[0], np.broadcast_to(amount[:, None], action[0].shape[:-1]))
        moved = below[1] + amount[:, None, None] * (action[1] - below[1])
        new_q, new_p = to_world(model, turned, moved)
        low = [self.surface.world(*pose)[..., 2].min(axis=-1) for pose in ((q[taken], p[taken]), (new_q, new_p))]
        deepest = np.where(amount < 1.0, low[0], self._deepest(since[taken]))  # what lay deeper needn't come up
        new_p[..., 2] += np.maximum(np.minimum(self.ground, deepest) - low[1], 0.0)[:, None]
        q[taken], p[taken] = new_q, new_p
        return q, p

    def _played(self, since: Array) -> tuple[Array, Array]:
        """The action's poses so long after its beginning, its last one held; straight between frames, which a cubic
        would leave: feet would dip into the floor."""
        k, part = self._between(since)
        q = slerp(self.rotation[k], self.rotation[k + 1], np.broadcast_to(part[:, None], self.rotation[k].shape[:-1]))
        return q, self.position[k] + part[:, None, None] * (self.position[k + 1] - self.position[k])

    def _deepest(self, since: Array) -> Array:
        """(T,) height of the lowest point in the deeper of the two frames between which the action is."""
        low, (k, _) = self.surface.world(self.rotation, self.position)[..., 2].min(axis=-1), self._between(since)
        return np.asarray(np.minimum(low[k], low[k + 1]))

    def _between(self, since: Array) -> tuple[np.ndarray, Array]:
        """(T,) the frames of the action before, and how far on the way to the next."""
        at = np.clip(since, 0.0, self.times[-1])
        k = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, len(self.times) - 2)
        return k, (at - self.times[k]) / (self.times[k + 1] - self.times[k])


def hand_over(reaction: Reaction, clip: Clip, action: Clip, seconds: float, until: float) -> Reaction:
    """The reaction, going over to the action.

    A body that has fallen goes over after it lay still for PAUSE; one that returns, while the last of the reaction
    fades.  clip: what the reaction is of, to its end at least.  action: the same skeleton's, at least two frames.
    seconds: in which it takes over.  until: [s] up to which an action that loops is repeated.
    """
    actor = reaction.actor
    fallen = reaction.rest is not None
    start = float(reaction.times[-1]) + PAUSE if fallen else max(reaction.end - seconds, reaction.start)
    now = np.array([int(np.argmin(np.abs(clip.times - start)))])
    own = actor.canonical(clip)
    q, p = reaction.poses(clip)
    there = q[now[0]], p[now[0]]
    surface, theirs = touch.points(actor).figure, actor.canonical(action)
    ground = floor_of(reaction.blows, surface, clip.times, own, reaction.start)
    theirs = theirs[0], theirs[1] + [0.0, 0.0, ground - touch.floor(surface, *theirs)]
    first, turn, shift, off = match(actor, there, theirs, action.times)
    played = repeated(actor, action.times, *theirs, action.times[first] + until - start)
    moved = multiply(turn, played[1][first:]), rotate(turn, played[2][first:]) + shift
    then = HandOver(start, seconds, played[0][first:] - played[0][first], *moved, surface, ground)
    doubt = f"Where '{action.name}' takes over it is {100.0 * off:.0f} cm off. Choose an action that begins like that."
    return replace(reaction, then=then, warnings=(*reaction.warnings, *([doubt] if off > UNLIKE else [])))


def match(
    actor: Actor, pose: tuple[Array, Array], poses: tuple[Array, Array], times: Array
) -> tuple[int, Array, Array, float]:
    """(frame, turn (4,), shift (3,), [m] off on average) by which one of poses (A, n, ...) comes nearest to a pose.

    By the middles of the bodies, weighed by their masses.  The best turn about the vertical is known in closed form.
    """
    mass = actor.masses.mass[actor.order]
    weight = mass / mass.sum()
    here, there = (p + rotate(q, 0.5 * actor.axis) for q, p in (pose, poses))
    centre, centres = weight @ here, np.einsum("n,ani->ai", weight, there)
    x, y = there - centres[:, None] * [1.0, 1.0, 0.0], here - centre * [1.0, 1.0, 0.0]
    along = np.einsum("n,ani,ni->a", weight, x[..., :2], y[..., :2])
    across = np.einsum("n,an->a", weight, x[..., 0] * y[:, 1] - x[..., 1] * y[:, 0])
    angle = np.arctan2(across, along)
    zero = np.zeros_like(angle)
    turn = np.stack((np.cos(0.5 * angle), zero, zero, np.sin(0.5 * angle)), axis=-1)
    off = np.sqrt(np.einsum("n,ani->a", weight, (rotate(turn[:, None], x) - y) ** 2))
    possible = times <= max(times[-1] - ROOM, times[0])
    best = int(np.argmin(np.where(possible, off, np.inf)))
    shift = (centre - rotate(turn[best], centres[best])) * [1.0, 1.0, 0.0]
    return best, turn[best], shift, float(off[best])


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
