"""What controls start from where a body doesn't return to its clip.

A body that falls takes its controls along: those that nothing above them carries go with the bone that hangs on them,
or with the first that they move otherwise, so that feet are in place and poles in front of their knees; bones that IK
bends begin as they should end.  Where an action takes it over, the controls go over to the action's own values, moved
to where the body is at the rig's top controls; after that they are those values.
"""

from dataclasses import dataclass

import numpy as np

from ..core.knockout import KnockOut
from ..core.rotation import Array, between, conjugate, exp, multiply, rotate, slerp, to_matrix
from . import layer_undo, mapping
from .actions import bone_and_property
from .channels import Channels, mix, mixed

LIKE = 1e-3  # of a matrix, or of the puppet's length: within which a control was carried along
TURN, SHIFT = np.array([0.1, -0.2, 0.3]), np.array([0.5, -0.3, 0.4])  # [rad], lengths, by which that is tried


@dataclass(frozen=True, eq=False)
class Played:
    """What an action does by itself.

    channels: of all bones, at its A frames.  keyed: (bone, RNA property) of its keys.  tops: the controls that move the
    whole body as one piece.
    """

    channels: Channels
    keyed: frozenset[tuple[str, str]]
    tops: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Lead:
    """channels: of all bones at the T frames, before an action takes the body over.  falls: whether the body does.

    start: the first of the frames that shows something of the action, T for none.  action: its channels at the frames
    from there on.  moves: (T - start, 4, 4) what moves it to where the body is, in the rig's space.  amount:
    (T - start,) how much of it is shown, 0 to 1.  tops: the controls by which it is moved.  written: bones that get
    keys, whether they move the body or not.
    """

    channels: Channels
    falls: bool
    start: int
    action: Channels | None
    moves: Array
    amount: Array
    tops: tuple[str, ...]
    written: tuple[str, ...]


def of(armature, actor, clip, channels, reaction, clips, played):
    """The Lead of a reaction whose body doesn't return.

    clip, channels: at the T frames.  clips, played: what one of takes the body over, as the core sees it and as Played.
    """
    keyed = {bone_and_property(channel.path) for channel in layer_undo.keyed_below(armature)}
    falls, then = reaction.rest is not None, reaction.then
    if falls:
        at = np.round(KnockOut.of(reaction.blows).clip_times(clip.times) * clip.fps, 6)
        channels = at_frames(channels, at)
    if then is None:
        none = np.empty((0, 4, 4))
        return Lead(channels, falls, len(clip.frames), None, none, none, (), _names(channels, keyed))
    own, taken = clips[then.of], played[then.of]
    shown = clip.times > then.start + 1e-6
    since = clip.times[shown] - then.start
    k, part = then.between(since)
    rows = then.shows[k], then.shows[k + 1]
    top = int(actor.order[then.roll.base])
    q, p = (x[shown, top] for x in mapping.armature_poses(actor, clip, *then.played(clip.times - then.start)))
    turn = multiply(q, conjugate(slerp(own.rotation[rows[0], top], own.rotation[rows[1], top], part)))
    a, b = (own.position[row, top] for row in rows)
    moves = np.tile(np.eye(4), (len(since), 1, 1))
    moves[:, :3, :3], moves[:, :3, 3] = to_matrix(turn), p - rotate(turn, a + part[:, None] * (b - a))
    return Lead(
        channels=channels,
        falls=falls,
        start=int(np.argmax(shown)) if shown.any() else len(shown),
        action=mixed(taken.channels.at(rows[0]), taken.channels.at(rows[1]), part),
        moves=moves,
        amount=then.amount(since),
        tops=taken.tops,
        written=_names(channels, keyed | taken.keyed | {(name, "location") for name in taken.tops}),
    )


def _names(channels, keyed):
    """The bones whose place or turn is keyed; keyed: (bone, RNA property)."""
    moved = {bone for bone, rna in keyed if rna == "location" or rna.startswith("rotation_")}
    return tuple(name for name in channels.names if name in moved)


def at_frames(channels, frames):
    """The channels at other moments (K,), straight between their own."""
    k = np.clip(np.searchsorted(channels.frames, frames, side="right") - 1, 0, len(channels.frames) - 2)
    near, far = channels.frames[k], channels.frames[k + 1]
    return mixed(channels.at(k), channels.at(k + 1), np.clip((frames - near) / (far - near), 0.0, 1.0))


def tops(puppet, bones):
    """Of controls that can be shifted and turned, where the puppet stands, those that move the whole body as one piece:
    one that carries it, the topmost, or all that nothing carries."""
    base, before = puppet.base, puppet.show()
    goal = _moved(puppet, before[2])
    wanted = puppet.posed(goal)
    for name in _down(puppet, bones):
        puppet.stand(puppet.carried({name: goal[puppet.index[name]]}, before[2]))
        shown = puppet.show()
        puppet.stand(base)
        if np.abs(shown[0] - wanted[0]).max() < LIKE and np.abs(shown[1] - wanted[1]).max() < LIKE * puppet.length:
            return (name,)
    return carriers(puppet, bones)


def carriers(puppet, bones):
    """Those of the controls that must be moved for all of them to go as one piece, where the puppet stands."""
    base, before = puppet.base, puppet.matrices()
    goal, every = _moved(puppet, before), [puppet.index[name] for name in bones]

    def off(names):
        """[of a length] that controls are off when these are moved, one after the other, and which had to be."""
        puppet.stand(base)
        now, moved = before, []
        for name in names:
            i = puppet.index[name]
            if np.abs(now[i, :3, 3] - goal[i, :3, 3]).max() > LIKE * puppet.length:
                puppet.stand(puppet.carried({name: goal[i]}, now))
                now = puppet.matrices()
                moved.append(name)
        return np.abs(now[every, :3, 3] - goal[every, :3, 3]).max(initial=0.0) / puppet.length, moved

    left, taken = off(_down(puppet, bones))
    for name in list(taken):  # a later one may carry it, by a constraint
        fewer, kept = off([other for other in taken if other != name])
        if fewer <= max(left, LIKE):
            left, taken = fewer, kept
    puppet.stand(base)
    return tuple(taken)


def _down(puppet, bones):
    """The bones, those first that the fewest hang above."""
    return sorted(bones, key=lambda name: len(puppet.armature.data.bones[name].parent_recursive))


def _moved(puppet, matrices):
    """Matrices (n, 4, 4) turned and shifted as one piece, about the topmost watched bone."""
    move = np.eye(4)
    move[:3, :3] = to_matrix(exp(TURN))
    pivot = matrices[puppet.rows[0], :3, 3]
    move[:3, 3] = pivot - move[:3, :3] @ pivot + puppet.length * SHIFT
    return move @ matrices


class Course:
    """Where controls start from at one frame after the other: values on which a puppet may stand.

    last: those that were found for the frame before.  fallen: those of the last frame before an action plays.
    """

    def __init__(self, puppet, lead):
        self.puppet, self.lead, self.carriers, self.last, self.fallen = puppet, lead, {}, {}, None
        self.folded = folded(puppet) if lead.falls else ()

    def use(self, found):
        """The puppet's blocks have changed to those found, and it stands at a frame of the clip."""
        free = {t.block.bone: t for t in found.tried if t.block.rna == "location" and len(t.block.axes) == 3}
        self.carriers = {name: _with(free[name]) for name in carriers(self.puppet, list(free))}

    def before(self, k, goal):
        """Values at frame k, before an action plays.  goal: (R, p, ...) of the watched bones."""
        values = self.puppet.row(self.lead.channels, k)
        if not self.lead.falls:
            return values
        values = self._along(values, goal)
        for bone in self.folded:
            self.puppet.turn(values, self.puppet.index[bone.name], bone.begin(goal[0]))
        return values

    def over(self, k, goal, x):
        """[values] to begin with at frame k, the likeliest first, while an action takes over.  x: what a reaction that
        returns has come to."""
        puppet, lead = self.puppet, self.lead
        there = self._there(k - lead.start)
        amount = lead.amount[k - lead.start]
        if amount >= 1.0:
            return [there]
        own = self.fallen = self.fallen or self.last
        if not lead.falls:
            puppet.stand(puppet.row(lead.channels, k))
            own = puppet.values(x)
        tops = [puppet.index[name] for name in lead.tops]
        way, ends = _between(own, there, amount), []
        for values in (own, there):
            values = {rna: array.copy() for rna, array in values.items()}
            for rna, array in values.items():
                array[tops] = way[rna][tops]
            ends.append(self._along(values, goal))
        return [_between(*ends, amount), *ends, self.last]

    def _there(self, k):
        """The action's own values, moved to where the body is."""
        puppet, lead = self.puppet, self.lead
        puppet.stand(puppet.row(lead.action, k))
        now = puppet.matrices()
        return puppet.carried({name: lead.moves[k] @ now[puppet.index[name]] for name in lead.tops}, now)

    def _along(self, values, goal):
        """The values, with all that hangs on nothing moved as the watched bone that it goes with should be."""
        puppet = self.puppet
        puppet.stand(values)
        R, p, now = puppet.show()
        moves = np.tile(np.eye(4), (len(p), 1, 1))
        moves[:, :3, :3] = goal[0] @ R.swapaxes(-1, -2)
        moves[:, :3, 3] = goal[1] - (moves[:, :3, :3] @ p[:, :, None])[:, :, 0]
        return puppet.carried({name: moves[k] @ now[puppet.index[name]] for name, k in self.carriers.items()}, now)


@dataclass(frozen=True, eq=False)
class Folded:
    """A bone that IK bends, which begins with what the bone's own channels say, and from far off finds no deep fold.

    row, up: which of the watched bones it is, and the one it hangs on.  rest: (3, 3) how it lies on that at rest.
    poled: whether both are of a chain whose plane a pole gives.
    """

    name: str
    row: int
    up: int
    rest: Array
    poled: bool

    def begin(self, R):
        """(3, 3) its basis to begin with where the watched bones should be R (m, 3, 3).

        Before it bends anything, IK turns a chain about the line from its root to its end until the side of the first
        bone that should face the pole does.  An end more than a right angle off that bone, as of a long shin that is
        folded by 130 degrees, sees the other side of it: the leg is turned by half a turn, and stays so.  A knee that
        begins with a right angle at most is on the safe side, and near enough to any fold.
        """
        turn = R[self.up].T @ R[self.row]
        along = turn[:, 1]
        if self.poled and along[1] < 0.0:
            flat = np.array((along[0], 0.0, along[2]))
            turn = to_matrix(between(along, flat)) @ turn
        return self.rest.T @ turn


def folded(puppet):
    """The watched bones that IK bends and whose parent is watched, too; those whose rotation is locked get no keys."""
    rows, pose = {name: k for k, name in enumerate(puppet.watched)}, puppet.armature.pose.bones
    chains = [(c, _chain(bone, c)) for bone in pose for c in bone.constraints]
    poled = {name for c, chain in chains for name in chain[:-1] if c.pole_target is not None}
    out = []
    for name in dict.fromkeys(name for _, chain in chains for name in chain):
        bone = puppet.armature.data.bones[name]
        if name not in rows or any(pose[name].lock_rotation):
            continue
        if bone.parent is not None and bone.parent.name in rows and bone.use_inherit_rotation:
            rest = np.array(bone.parent.matrix_local.inverted() @ bone.matrix_local)[:3, :3]
            out.append(Folded(name, rows[name], rows[bone.parent.name], rest, name in poled))
    return tuple(out)


def locked(armature):
    """Bone -> those of its IK chain with axes that IK may not turn, for the bones of all such chains; a hinge alone, at
    a chain's end, does no harm."""
    pose, out = armature.pose.bones, {}
    for chain in (_chain(bone, c) for bone in pose for c in bone.constraints):
        held = [name for name in chain if pose[name].lock_ik_x or pose[name].lock_ik_y or pose[name].lock_ik_z]
        out |= {name: held for name in chain if held and held != chain[:1]}
    return out


def _chain(bone, constraint):
    """Names of the bones that an IK constraint on a pose bone bends."""
    if constraint.type != "IK" or constraint.mute or constraint.target is None:
        return []
    bones = [bone, *bone.parent_recursive][0 if constraint.use_tail else 1 :]
    return [item.name for item in bones[: constraint.chain_count or None]]


def _with(tried):
    """Which watched bone a control goes with: the first that hangs on it as one piece, or else that it moves."""
    return int(np.argmax(tried.firm if tried.firm.any() else tried.reach))


def _between(a, b, part):
    return {rna: mix(rna, a[rna], b[rna], part) for rna in a}
