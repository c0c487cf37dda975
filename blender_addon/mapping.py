"""From the bodies' world poses back to the rig's own channels (numpy only).

The clip itself is the yardstick: a bone's channel rotation changes by M^-1 D^-1 M', where M and M' are its
orientations in the clip and in the reaction and D is what the reaction does to its rig parent.  Rest pose, bone roll,
inherited scale and object transforms all cancel, so an untouched bone gets exactly what it had.
"""

import numpy as np

from ..core.rotation import conjugate, multiply, rotate, to_matrix
from . import delta
from .channels import Target

TURN = 1e-9  # [rad] turns below this are round-off
TRAVEL = 1e-7  # of the figure's size: displacements below this are round-off


def armature_poses(actor, clip, q, p):
    """Canonical world poses (T, n, 4), (T, n, 3) by body to bone poses in armature space, the rig's units, by bone."""
    q, p = q[:, actor.body], p[:, actor.body]
    back = conjugate(clip.object_rotation)[:, None]
    factor = abs(clip.scale) / actor.masses.scale
    return multiply(back, q), rotate(back, factor * p - clip.object_position[:, None]) / clip.scale


def targets(actor, clip, channels, armature, q, p, every=False):
    """{bone: Target} for every bone whose channels the reaction changes.

    clip, channels: at the keyed frames.  q, p: armature-space poses of all bones in the reaction.
    armature: read for rig parents and inheritance flags only.  every: all bones, changed or not.
    """
    skeleton = actor.skeleton
    up = skeleton.parent
    basis = _basis_rotation(channels)
    carried = _parent_linear(skeleton, clip, channels, basis)
    out = {}
    for i, name in enumerate(skeleton.names):
        bone = armature.data.bones[name]
        turned, moved = _parent_change(clip, q, p, int(up[i]))
        held = bone.use_inherit_rotation
        back = conjugate(turned) if held else np.broadcast_to([1.0, 0.0, 0.0, 0.0], turned.shape)
        step = multiply(conjugate(clip.rotation[:, i]), multiply(back, q[:, i]))
        rotation = multiply(basis[:, i], step)
        head = moved(p[:, i]) - clip.position[:, i]
        shift = np.linalg.solve(carried[:, i], head[..., None])[..., 0]
        turns = every or np.max(2.0 * np.linalg.norm(step[:, 1:], axis=-1)) > TURN
        travels = (every or np.max(np.linalg.norm(head, axis=-1)) > TRAVEL * actor.anatomy.size) and not _glued(bone)
        if turns or travels:
            location = channels.location[:, i] + shift if travels else None
            out[name] = Target(rotation if turns else None, location)
    return out


def _glued(bone):
    """Whether location channels do nothing: a bone connected to its parent."""
    return bone.parent is not None and bone.use_connect


def _parent_change(clip, q, p, up):
    """(turn (T, 4), function that takes points back to where the rig parent of the clip would have them)."""
    if up < 0:
        return np.broadcast_to([1.0, 0.0, 0.0, 0.0], q[:, 0].shape), lambda x: x
    turn = multiply(q[:, up], conjugate(clip.rotation[:, up]))
    return turn, lambda x: clip.position[:, up] + rotate(conjugate(turn), x - p[:, up])


def _basis_rotation(channels):
    """(T, n, 4) unit rotation of every bone's channels in its own rotation mode."""
    out = np.empty(channels.quaternion.shape)
    for i, mode in enumerate(channels.modes):
        if mode == "QUATERNION":
            length = np.linalg.norm(channels.quaternion[:, i], axis=-1, keepdims=True)
            out[:, i] = np.where(length > 0.0, channels.quaternion[:, i] / np.maximum(length, 1e-12), [1.0, 0, 0, 0])
        elif mode == "AXIS_ANGLE":
            out[:, i] = delta.axis_angle_to_quaternion(channels.axis_angle[:, i])
        else:
            out[:, i] = delta.euler_to_quaternion(mode, channels.euler[:, i])
    return out


def _parent_linear(skeleton, clip, channels, basis):
    """(T, n, 3, 3) what a bone's location channels are multiplied by: the frame they live in, with its scale."""
    frame = to_matrix(multiply(clip.rotation, conjugate(basis)))
    scale = np.ones(channels.scale.shape[:2])
    size = np.cbrt(np.prod(channels.scale, axis=-1))
    for i, parent in enumerate(skeleton.parent):
        if parent >= 0:
            scale[:, i] = scale[:, parent] * size[:, parent]
    return frame * np.where(np.abs(scale) > 1e-6, scale, 1.0)[..., None, None]
