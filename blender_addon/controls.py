"""Which controls move which bones of a rig: found by trying them, the artist's own map first.

    found = yield from find(puppet, ...)   the controls to use, in blocks, and the bones that none of them reaches
Names say nothing here: a control is what the artist can take hold of (a bone with a shape of its own, that nothing else
owns) and what moves a bone of the body when it is moved.
"""

from dataclasses import dataclass

import numpy as np

from ..core import probing
from ..core.progress import portion
from ..core.roles import base_role
from . import actions, influence, layer_undo
from .channels import rotation_property
from .layer_curves import driven_channels
from .puppet import Block

# Bones that a reaction moves, or carries; what else deforms hangs on them.
BODY = frozenset(
    ("pelvis", "spine", "neck", "head", "clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
)

SHAPED = 4  # controls with shapes of their own from which on only such bones are controls
MOVES = 1e-5  # of a matrix, or of the rig's size, above which a bone has moved
FELT = 3e-3  # [rad per rad] of a control above which it moves a bone of the body: Blender's matrices are float32
NATURAL = 0.97  # part of a control's effect that joints make: below it bones are stretched or torn apart
KINK = 0.1  # difference of a control's effects to both sides above which limits play a part
UNREACHED = 0.6  # part of every motion of a joint that no control makes: above it the bone counts as unreachable
STRETCHED = 1e-3  # of a bone's distance from the one above, by which a clip changes it that stretches
FIRM = 0.01  # part of a bone's motion by which it may miss that of a piece of its control
TRIAL = probing.STEP * np.array([1.0, 0.7, 1.3])  # of the values of a block, to see what it moves
ARTIST, JOINTS, WHOLE, TEARS = range(4)


@dataclass(eq=False)
class Tried:
    """A block and what it did to the m watched bones.

    effect: (6m, b), see `core.probing`.  reach: (m,) bool, the bones that it can move.  firm: (m,) bool, those that
    hang on its control as one piece.  spread: how many of the rig's.  even: whether it does the same to both sides;
    limits make it do something else.
    """

    block: Block
    effect: np.ndarray
    reach: np.ndarray
    firm: np.ndarray
    spread: int
    even: bool


@dataclass(eq=False)
class Found:
    """tried: the blocks of the controls to use, best first.  names: m watched bones.  unreached:
    those that no control moves.
    """

    tried: list[Tried]
    names: tuple[str, ...]
    unreached: tuple[str, ...] = ()

    @property
    def blocks(self):
        return [item.block for item in self.tried]

    @property
    def reach(self):
        """(d, m) bool, which watched bones each value can move."""
        return self._each("reach")

    @property
    def firm(self):
        """(d, m) bool, which of them hang on its control as one piece."""
        return self._each("firm")

    def _each(self, field):
        rows = [np.tile(getattr(item, field), (len(item.block.axes), 1)) for item in self.tried]
        return np.concatenate([np.zeros((0, len(self.names)), dtype=bool), *rows])

    @property
    def effect(self):
        """(6m, d), what each value does at the frame where it was tried."""
        return np.concatenate([np.zeros((6 * len(self.names), 0)), *(item.effect for item in self.tried)], axis=1)

    @property
    def by_control(self):
        """Control -> the bones of the body that it moves."""
        out = {}
        for item in self.tried:
            moved = [name for name, on in zip(self.names, item.reach, strict=True) if on]
            out[item.block.bone] = list(dict.fromkeys([*out.get(item.block.bone, []), *moved]))
        return out


def watched(anatomy, names):
    """(names, (m,) bones, (m,) the nearest of them above each or -1) of the bones that carry the body."""
    bones = [int(i) for i in anatomy.order if base_role(anatomy.role[i]) in BODY]
    index = {b: k for k, b in enumerate(bones)}
    parents = []
    for b in bones:
        up = int(anatomy.parent[b])
        while up >= 0 and up not in index:
            up = int(anatomy.parent[up])
        parents.append(index.get(up, -1))
    return tuple(names[b] for b in bones), np.array(bones), np.array(parents)


def stretched(parents, heads, rest):
    """The watched bones that the clip moves away from the bone above, or towards it, as IK that stretches does.

    heads: (T, m, 3) in the clip.  rest: (m, 3).
    """
    hung = np.flatnonzero(parents >= 0)
    now = np.linalg.norm(heads[:, hung] - heads[:, parents[hung]], axis=-1)
    usual = np.linalg.norm(rest[hung] - rest[parents[hung]], axis=-1)
    return hung[np.abs(now - usual).max(axis=0) > STRETCHED * usual]


def find(puppet, held, parents, chosen=(), stretching=()):
    """A generator of the Found, with the puppet at a frame of the clip.

    held: bones that are no controls, for something owns them.  parents: (m,) of the watched bones.
    chosen: controls that the artist has named.  stretching: watched bones whose distance from the bone above must be
    met too: a reaction keeps the clip's, and IK that bends a limb gives it up.
    """
    armature = puppet.armature
    keyed = {channel.path for channel in layer_undo.keyed_below(armature)}
    pose = puppet.show()
    motions = probing.joint_motions(parents, pose, puppet.length)
    tried = yield from _tried(puppet, _candidates(armature, held, keyed, chosen))
    reached = [np.ones(len(parents), dtype=bool), *(item.reach for item in tried if _path(item.block) in keyed)]
    most = max(reached[1:] or reached, key=np.sum)
    ranks = {id(item): _rank(item, motions, keyed, chosen, most) for item in tried}
    tried.sort(key=lambda item: ranks[id(item)])
    longer = probing.lengthenings(parents, pose, puppet.length, stretching)
    taken, left = probing.choose([item.effect for item in tried], np.concatenate((motions, longer), axis=1))
    use = [tried[i] for i in taken]
    each = left[: 3 * len(parents)].reshape(-1, 3).min(axis=1)
    turning = {item.block.bone for item in use if item.block.rna != "location"}
    owned, own = (np.array([name in bones for name in puppet.watched]) for bones in (held, turning))
    lost = _lost(each > UNREACHED, parents, owned, own)
    names = np.array(puppet.watched)
    return Found(tried=use, names=tuple(puppet.watched), unreached=tuple(names[lost].tolist()))


def _lost(unreached, parents, owned, turning):
    """(m,) bool, the watched bones that no control moves; one above a bone that something owns doesn't take that
    along, which is not for lack of a control: it is one itself, or that isn't moved either.
    unreached, owned, turning: (m,) bool; turning: what is a control that turns itself."""
    above = np.zeros((2, len(parents)), dtype=bool)
    for bone in np.flatnonzero(owned):
        below = bone
        while (bone := parents[bone]) >= 0:
            above[:, bone] |= unreached[below], turning[bone]
    return unreached & (owned | ~above.any(axis=0))


def _rank(item, motions, keyed, chosen, most):
    """Sorts blocks: the artist's own first, then those that are keyed, then by how much of the rig they move.

    What is not keyed and moves all that the largest keyed one does, and so maybe that itself, comes late (a root above
    a keyed torso), and last what tears joints apart.  most: (m,) bool, what the largest keyed one moves.
    """
    own = _path(item.block) in keyed
    if item.block.bone in chosen:
        return (ARTIST, not own, -item.spread)
    if not own and not (item.even and probing.within(item.effect, motions) >= NATURAL):
        return (TEARS, not own, -item.spread)
    if not own and item.reach[most].all():
        return (WHOLE, True, item.spread)
    return (JOINTS, not own, -item.spread)


def _candidates(armature, owned, keyed, chosen):
    """The blocks of every bone that may be a control: free, and with a shape, keyed or named by the artist."""
    bones = armature.pose.bones
    shaped = {bone.name for bone in bones if bone.custom_shape is not None}
    driven = {(c.path, c.index) for c in driven_channels(armature)} if armature.animation_data is not None else set()
    blocks = []
    for bone in bones:
        held = bone.name in shaped if len(shaped) >= SHAPED else not bone.bone.hide
        if bone.name in owned and bone.name not in chosen:
            continue
        own = [block for block in (_turn(bone, driven), _shift(bone, driven)) if block is not None]
        if held or bone.name in chosen or any(_path(block) in keyed for block in own):
            blocks += own
    return blocks


def placed(armature, held):
    """The controls that can be shifted and turned anyhow.  held: bones that are none, for something owns them."""
    keyed = {channel.path for channel in layer_undo.keyed_below(armature)}
    blocks = [(b.bone, b.rna == "location") for b in _candidates(armature, held, keyed, ()) if len(b.axes) == 3]
    return [bone for bone, shift in blocks if shift and (bone, False) in blocks]


def _path(block):
    return actions.bone_path(block.bone, block.rna)


def _turn(bone, driven):
    rna = rotation_property(bone.rotation_mode)
    path = actions.bone_path(bone.name, rna)
    if any((path, i) in driven for i in range(4)):
        return None
    locks = [bool(lock) for lock in bone.lock_rotation]
    if rna == "rotation_euler":
        axes = tuple(i for i in range(3) if not locks[i])
    else:
        fourth = bone.lock_rotations_4d and bone.lock_rotation_w
        axes = () if any(locks) or fourth else (0, 1, 2)
    return Block(bone.name, rna, axes) if axes else None


def _shift(bone, driven):
    if bone.bone.use_connect and bone.parent is not None:
        return None
    path = actions.bone_path(bone.name, "location")
    axes = tuple(i for i in range(3) if not bone.lock_location[i] and (path, i) not in driven)
    return Block(bone.name, "location", axes) if axes else None


def _tried(puppet, blocks):
    """A generator of the [Tried], the blocks that move the body.

    What hangs on a control as one piece moves as the control's place says: only the rest is tried value by value.
    """
    puppet.use(blocks)
    if not blocks:  # every bone is owned or locked
        return []
    none = np.zeros(puppet.size)
    pose = puppet.show()
    moved, seen = yield from portion(_trials(puppet, pose), 0.0, 0.5)
    reach = np.concatenate([np.tile(row[puppet.rows], (len(b.axes), 1)) for row, b in zip(moved, blocks, strict=True)])
    firm = probing.carried(*puppet.motions(none, pose[2]), pose, puppet.length)
    held = np.zeros(reach.shape, dtype=bool)
    for k, columns in enumerate(puppet.columns):
        off = np.abs(firm[:, columns] @ TRIAL[: len(columns)] - seen[k]).reshape(2, -1, 3).max(axis=(0, 2))
        size = np.abs(seen[k]).reshape(2, -1, 3).max(axis=(0, 2))
        held[columns] = reach[columns] & (off < FIRM * size + FIRM * TRIAL[0])
    bent = reach & ~held
    firm = firm * probing.rows(held).T
    effect = probing.jacobian(puppet.show, none, pose, puppet.length, probing.colours(bent), bent, firm)
    yield 0.8
    even = _even(puppet, pose, effect, bent)
    found = []
    for k, (block, columns) in enumerate(zip(puppet.blocks, puppet.columns, strict=True)):
        if np.abs(effect[:, columns]).max() > FELT:
            first = columns[0]
            found.append(Tried(block, effect[:, columns], reach[first], held[first], int(moved[k].sum()), even[k]))
    return found


def _even(puppet, pose, effect, bent):
    """Of each block whether it does the same to both sides."""
    first = np.array([columns[0] for columns in puppet.columns])
    out = [True] * len(first)
    for group in probing.colours(bent[first]):
        x = np.zeros(puppet.size)
        for k in group:
            x[puppet.columns[k]] = -TRIAL[: len(puppet.columns[k])]
        off = probing.difference(pose, puppet.show(x), puppet.length) - effect @ x
        for k in group:
            own = probing.rows(bent[first[k]])
            here = np.abs(effect @ np.where(np.isin(np.arange(puppet.size), puppet.columns[k]), x, 0.0)).max()
            out[k] = bool(np.abs(off[own]).max(initial=0.0) < KINK * here)
    return out


def _trials(puppet, pose):
    """A generator of (B, n) bool, the bones that each block moves, and (B, 6m) what TRIAL on it does to those watched.

    Blocks are tried together where the rig says that no bone moves with two of them; what then moves against
    its word is tried again in halves.
    """
    before, blocks = pose[2], puppet.blocks
    may = influence.reach(puppet.armature)[[puppet.index[block.bone] for block in blocks]]
    tolerance = MOVES * np.array([1.0, 1.0, 1.0, np.abs(before[:, :3, 3]).max(initial=1e-9)])
    moved, seen = np.zeros(may.shape, dtype=bool), np.zeros((len(blocks), 6 * len(puppet.rows)))
    waiting = [list(group) for group in probing.colours(may)]
    while waiting:
        yield 1.0 - len(waiting) / len(blocks)
        group = waiting.pop()
        x = np.zeros(puppet.size)
        for k in group:
            x[puppet.columns[k]] = TRIAL[: len(puppet.columns[k])]
        after = puppet.matrices(x)
        changed = (np.abs(after - before) > tolerance).any(axis=(1, 2))
        if len(group) > 1 and (changed & ~may[group].any(axis=0)).any():
            waiting += [group[: len(group) // 2], group[len(group) // 2 :]]
            continue
        moved[group] = changed & may[group] if len(group) > 1 else changed
        seen[group] = probing.difference(pose, puppet.posed(after), puppet.length) * probing.rows(
            moved[group][:, puppet.rows]
        )
    return moved, seen
