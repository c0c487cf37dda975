"""How the clip goes on after its end: as the scene plays it, repeated with its travel, or held.

The maths of loops is `core.cycle`; here it meets pose channels, so that what is laid end to end can also be keyed.
"""

from dataclasses import replace

import numpy as np

from ..core import cycle
from ..core.progress import portion
from ..core.rotation import conjugate, from_matrix, multiply, orthonormal, rotate
from . import delta, fk, layer_undo, muting, sampling, timing
from .channels import rotation_property

# Poses nearer than this part of the figure's size are the same.
SAME = 1e-5

SHORTEST = 3.0  # frames: fewer are a pose, not a loop


def sampling_on(context, armature, skeleton, frames, found):
    """A generator: (matrices, world, channels, how, added) as `sampling.sample`, going on after the end; see
    `clip.reading_on`."""
    beyond = frames[frames > found.until + 1e-6]
    if not len(beyond):
        how = "plays on" if frames[-1] > found.end + 1e-6 else ""
        return (*(yield from sampling.sampling(context, armature, skeleton, frames)), how, None)
    plan, inside = _Rounds(beyond, found), frames[: -len(beyond)]
    probes = found.until + np.linspace(0.5, max(frames[-1] - found.until, 1.0), 5)
    steps = _read(context, armature, skeleton, (inside, probes), (plan.ends, plan.phase), _over(armature, plan, found))
    shown, probed, ends, phases = yield from portion(steps, 0.0, 0.5)
    if not (_same(probed[0], probed[0][:1]) and _same(probed[1], probed[1][:1])):  # the scene moves it by itself
        further = yield from portion(sampling.sampling(context, armature, skeleton, beyond), 0.5, 0.5)
        return (*_joined(shown, further), "plays on", None)
    laid = _repeated(context, armature, skeleton, plan, ends, phases) if plan.long_enough else None
    how = "repeated" if laid is not None else "held"
    far, laid = (plan.far, laid) if laid is not None else _held(beyond, found.until, ends)
    kept = how == "held" and all(_same(laid[i][:1], probed[i]) for i in (0, 1))
    added = None if kept else laid[2].at(far >= np.floor(found.until) + 1.0)
    return (*_joined(shown, _rows(laid, np.searchsorted(far, beyond))), how, added)


class _Rounds:
    """The frames of a clip laid end to end.

    far: (K,) the asked frames after the end and all whole frames to the end of their last round.  k: (K,) their round.
    phase: (K,) the frame of the clip they show.  ends: (4,) first two and last two frames of the clip's last round.
    """

    def __init__(self, frames, found):
        self.period = found.end - found.start
        self.long_enough = self.period >= SHORTEST
        self.start = found.until - self.period
        inside = min(1.0, self.period)
        self.ends = np.array([self.start, self.start + inside, found.until - inside, found.until])
        if not self.long_enough:
            self.far = self.k = self.phase = np.empty(0)
            return
        rounds = np.ceil((frames[-1] - self.start) / self.period - 1e-9)
        self.far = _far(frames, found.until, self.start + rounds * self.period)
        self.k, phase = cycle.wrap(self.far, self.start, found.until)
        self.phase = np.clip(np.round(phase, 6), self.start, found.until)  # rounds share their moments

    def share(self, fps):
        """(K,) of the gap that is left."""
        return cycle.fade(self.far, self.start + self.k * self.period, self.period, fps)


def _over(armature, plan, found):
    """(track, strip) of the reactions within the clip's last round: over by its end, they are none of what goes on."""
    kept = armature.parametric_dynamics_reactions
    own = [(t, s) for record in kept for t, s, kind in layer_undo.own_strips(armature, record) if kind == "action"]
    end = found.until + 1e-3
    return [(t, s) for t, s in own if s.extrapolation == "NOTHING" and plan.start < s.frame_end <= end]


def _read(context, armature, skeleton, here, again, over):
    """A generator: `_sampled` of the groups of frames here, and of those again without the strips that are over."""
    if not over:
        return (yield from _sampled(context, armature, skeleton, *here, *again))
    shown = yield from portion(_sampled(context, armature, skeleton, *here), 0.0, 0.5)
    with muting.muted(context, armature, over):
        return shown + (yield from portion(_sampled(context, armature, skeleton, *again), 0.5, 0.5))


def _sampled(context, armature, skeleton, *groups):
    """A generator: `sampling.sample` of several groups of frames, every moment once, in as many parts."""
    moments, back = np.unique(np.concatenate(groups), return_inverse=True)
    sampled = yield from sampling.sampling(context, armature, skeleton, moments)
    return [_rows(sampled, rows) for rows in np.split(back, np.cumsum([len(group) for group in groups[:-1]]))]


def _rows(sampled, rows):
    matrices, world, channels = sampled
    return matrices[rows], world[rows], channels.at(rows)


def _joined(first, second):
    """(matrices, world, channels) at the frames of both."""
    matrices, world = (np.concatenate((first[i], second[i])) for i in (0, 1))
    return matrices, world, first[2].followed_by(second[2])


def _same(a, b):
    size = max(float(np.ptp(b[..., :3, 3])), 1e-9)
    return bool(
        np.abs(a[..., :3, 3] - b[..., :3, 3]).max() < SAME * size
        and np.abs(a[..., :3, :3] - b[..., :3, :3]).max() < SAME * max(1.0, float(np.abs(b[..., :3, :3]).max()))
    )


def _far(frames, until, last):
    return np.unique(np.concatenate((frames, np.arange(np.floor(until) + 1.0, np.ceil(last) + 1.0))))


def _held(frames, until, ends):
    """(frames, (matrices, world, channels)) of the clip's last pose at the frames after its end."""
    far = _far(frames, until, frames[-1])
    matrices, world, channels = _rows(ends, np.full(len(far), 3))
    return far, (matrices, world, replace(channels, frames=far))


def _repeated(context, armature, skeleton, plan, ends, phases):
    """(matrices, world, channels) at plan.far of the loop laid end to end; None where the clip is no loop."""
    end_matrices, end_world, end_channels = ends
    turns = fk.turns(end_matrices[..., :3, :3], skeleton.rotation)
    carrier = fk.turns(end_world[:, None, :3, :3], np.array([[1.0, 0.0, 0.0, 0.0]]))[:, 0]
    size = float(np.cbrt(np.linalg.det(end_world[0, :3, :3])))
    loop = cycle.find(skeleton.parent, turns, end_matrices[..., :3, 3], carrier, end_world[:, :3, 3], size)
    bones = fk.rest(armature, skeleton.names)
    if not loop.closes or bones.connected[loop.carriers].any():
        return None
    base = _parent_matrix(armature)
    if base is None and not (loop.whole.still and _same(end_world[:1], end_world[3:])):
        return None
    share = plan.share(timing.rate(context.scene))
    matrices, world, channels = phases
    laid = replace(channels, frames=plan.far)
    laid = _close_bones(loop, bones, laid, end_channels, matrices, end_matrices, plan.k, share)
    if base is not None:
        laid = _close_object(loop, laid, end_channels, base, plan.k, share)
        world = base @ fk.object_basis(laid)
    return _posed(armature, bones, loop, laid, matrices, plan.k), world, laid


def _parent_matrix(armature):
    """The constant matrix under the object's own, or None where something else moves the object."""
    try:
        return sampling.still_carrier(armature)
    except fk.InexactError:
        return None


def _posed(armature, bones, loop, channels, matrices, k):
    """Bone matrices of the laid channels; constrained rigs keep what Blender showed, carried along."""
    if not any(len(bone.constraints) for bone in armature.pose.bones):
        try:
            return fk.pose(bones, channels)
        except fk.InexactError:
            pass
    turn, move = loop.body.times(k)
    step = fk.compose(move, turn, np.ones((len(k), 3)))
    out = matrices.copy()
    out[:, loop.carried] = step[:, None] @ matrices[:, loop.carried]
    return out


# -- closing the seam, adding the travel -----------------------------------------------------------------------------


def _close_bones(loop, bones, channels, ends, matrices, end_matrices, k, share):
    """Bone channels at round k (K,) with the body's step on the carriers and a share (K,) of the gap on all.

    channels, matrices: (K, ...) of the phases; ends, end_matrices: (4, ...) of its first two, last two frames.
    """
    turn, end_turn = fk.rotations(channels), fk.rotations(ends)
    location, end_location = channels.location.copy(), ends.location.copy()
    first_turn, first_location = end_turn[0].copy(), end_location[0].copy()
    last_location = end_location[3]
    changed = np.zeros(turn.shape[1], dtype=bool)
    for bone in loop.carriers:
        lead, moving, linear = _lead(bones, bone, matrices)
        step_turn, step_move = loop.body.times(k)
        first = _carry(end_turn[:1, bone], end_matrices[:1, bone, :3, 3], lead[:1], *loop.body.times(np.array([1])))
        turn[:, bone], head = _carry(turn[:, bone], matrices[:, bone, :3, 3], lead, step_turn, step_move)
        first_turn[bone] = first[0][0]
        gap = end_matrices[3, bone, :3, 3] - first[1][0]
        head = head + share[:, None] * rotate(loop.body.times(k - 1)[0], gap)
        location[:, bone] = np.einsum("kij,kj->ki", linear, head - moving)
        first_location[bone] = last_location[bone]  # its gap is closed above
        changed[bone] = True
    changed |= np.abs(multiply(conjugate(first_turn), end_turn[3])[:, 1:]).max(axis=-1) > 1e-7
    turn = cycle.closed(turn, first_turn, end_turn[3], share)
    location += share[:, None, None] * (last_location - first_location)
    scale = channels.scale + share[:, None, None] * (ends.scale[3] - ends.scale[0])
    return replace(turned(channels, turn, np.flatnonzero(changed)), location=location, scale=scale)


def _lead(bones, bone, matrices):
    """Before a bone's basis: rotation (K, 4); before its location: origin (K, 3), inverse axes (K, 3, 3)."""
    turning, moving = fk.parent_space(bones, np.array([bone]), matrices)
    turning, moving = (np.broadcast_to(m[:, 0], (len(matrices), 4, 4)) for m in (turning, moving))
    if not bones.inherit_rotation[bone]:
        turning = bones.matrix[bone][None].repeat(len(matrices), axis=0)
    return from_matrix(orthonormal(turning[:, :3, :3])), moving[:, :3, 3], np.linalg.inv(moving[:, :3, :3])


def _carry(turn, head, lead, step_turn, step_move):
    """A basis rotation and a head after a step in armature space.  turn, lead, step_turn: (K, 4); heads: (K, 3)."""
    own = multiply(multiply(conjugate(lead), step_turn), multiply(lead, turn))
    return own, rotate(step_turn, head) + step_move


def _close_object(loop, channels, ends, base, k, share):
    """Object channels at round k with the object's step and a share of its gap; base: (4, 4) of its still parents."""
    if loop.whole.still and np.array_equal(ends.object_location[0], ends.object_location[3]):
        return channels
    lead = from_matrix(orthonormal(base[:3, :3]))[None]
    linear = np.linalg.inv(base[:3, :3])
    turn, end_turn = fk.object_turns(channels), fk.object_turns(ends)
    heads, end_heads = (c.object_location @ base[:3, :3].T + base[:3, 3] for c in (channels, ends))
    once = loop.whole.times(np.array([1]))
    first = _carry(end_turn[:1], end_heads[:1], lead, *once)
    turn, heads = _carry(turn, heads, lead, *loop.whole.times(k))
    turn = cycle.closed(turn, first[0][0], end_turn[3], share)
    heads = heads + share[:, None] * rotate(loop.whole.times(k - 1)[0], end_heads[3] - first[1][0])
    return replace(
        channels,
        object_location=(heads - base[:3, 3]) @ linear.T,
        object_rotation=stored(channels.object_mode, channels.object_rotation, turn),
    )


def turned(channels, turn, bones):
    """Channels in which the bases of some bones have the rotations turn (K, n, 4)."""
    fields = {name: getattr(channels, name).copy() for name in ("quaternion", "euler", "axis_angle")}
    for bone in bones:
        mode = channels.modes[bone]
        values = fields[sampling.BONE[rotation_property(mode)][0]]
        values[:, bone] = stored(mode, values[:, bone], turn[:, bone])
    return replace(channels, **fields)


def stored(mode, base, turn):
    """Values (K, 3 or 4) of a rotation channel in its mode that show the rotations turn (K, 4), near to the base's."""
    return delta.rotation_value(mode, base, delta.rotation_delta(mode, base, turn))
