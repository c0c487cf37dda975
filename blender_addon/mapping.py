"""From the bodies' world poses back to the rig's own channels (numpy only).

The clip itself is the yardstick: a bone's channel rotation changes by M^-1 D^-1 M', where M and M' are its
orientations in the clip and in the reaction and D is what the reaction does to its rig parent.  Rest pose, bone roll,
inherited scale and object transforms all cancel, so an untouched bone gets exactly what it had.
"""

import numpy as np

from ..core.rotation import IDENTITY, angle, conjugate, multiply, rotate
from . import fk
from .channels import Target

TURN = 1e-9  # [rad] turns below this are round-off
CUT = 1e-4  # [rad] below which a bone is shown as its channels have it
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
    bones = [armature.data.bones[name] for name in skeleton.names]
    basis = _shown(actor, clip, fk.rotations(channels))
    lead, scale = _lead(skeleton, clip, channels, basis)
    turned, head = _unparented(skeleton.parent, clip, q, p)
    held = np.array([bone.use_inherit_rotation for bone in bones])
    back = np.where(held[:, None], conjugate(turned), IDENTITY)
    step = multiply(conjugate(clip.rotation), multiply(back, q))
    shift = head - clip.position
    glued = np.array([bone.parent is not None and bone.use_connect for bone in bones])  # locations do nothing there
    turns = every | (2.0 * np.linalg.norm(step[..., 1:], axis=-1).max(axis=0) > TURN)
    travels = (every | (np.linalg.norm(shift, axis=-1).max(axis=0) > TRAVEL * actor.anatomy.size)) & ~glued
    rotation = multiply(basis, step)
    location = channels.location + rotate(conjugate(lead), shift) / scale[..., None]
    return {
        skeleton.names[i]: Target(rotation[:, i] if turns[i] else None, location[:, i] if travels[i] else None)
        for i in np.flatnonzero(turns | travels)
    }


def _shown(actor, clip, basis):
    """The channels' rotations (T, n, 4); where a limit cuts what they say, what it leaves."""
    skeleton = actor.skeleton
    for name in actor.limits:
        bone = skeleton.names.index(name)
        parent = skeleton.parent[bone]
        rest = multiply(conjugate(skeleton.rotation[parent]), skeleton.rotation[bone])
        seen = multiply(conjugate(rest), multiply(conjugate(clip.rotation[:, parent]), clip.rotation[:, bone]))
        cut = angle(seen, basis[:, bone]) > CUT
        basis[cut, bone] = seen[cut]
    return basis


def _unparented(parent, clip, q, p):
    """What the reaction turns every bone's rig parent by (T, n, 4), and the heads (T, n, 3) if it had not."""
    hung = (parent >= 0)[:, None]
    turn = np.where(hung, multiply(q[:, parent], conjugate(clip.rotation[:, parent])), IDENTITY)
    return turn, np.where(hung, clip.position[:, parent] + rotate(conjugate(turn), p - p[:, parent]), p)


def _lead(skeleton, clip, channels, basis):
    """The frame that a bone's location channels live in: its turn (T, n, 4) and its scale (T, n)."""
    scale = np.ones(channels.scale.shape[:2])
    size = np.cbrt(np.prod(channels.scale, axis=-1))
    for i, parent in enumerate(skeleton.parent):
        if parent >= 0:
            scale[:, i] = scale[:, parent] * size[:, parent]
    return multiply(clip.rotation, conjugate(basis)), np.where(np.abs(scale) > 1e-6, scale, 1.0)
