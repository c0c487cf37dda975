"""Blender's pose arithmetic on arrays: from pose channels to bone matrices, all frames at once.

Follows `BKE_pchan_to_mat4` and `BKE_bone_parent_transform_calc_from_matrices`.  Matrices are (..., 4, 4), act on
columns and are in armature space.
"""

from dataclasses import dataclass

import numpy as np

from ..core import eulers
from ..core.rotation import Array, continuous, cross, from_matrix, orthonormal, to_matrix
from . import delta

# A bone whose axes are shorter than this part of the longest one has no orientation of its own.
FLAT = 1e-6

# Columns count as orthogonal (no shear) within this cosine.
SHEAR = 1e-5


class InexactError(Exception):
    """This rig needs Blender itself: the reason is the message."""


@dataclass(frozen=True, eq=False)
class Rest:
    """The bones at rest, parents first.

    parent: (n,), -1 at roots.  matrix: (n, 4, 4).  offset: (n, 4, 4) rest relative to the parent's rest.
    connected, local_location, inherit_rotation: (n,) bool.  inherit_scale: n of Blender's names.
    """

    parent: np.ndarray
    matrix: Array
    offset: Array
    connected: np.ndarray
    local_location: np.ndarray
    inherit_rotation: np.ndarray
    inherit_scale: np.ndarray


def rest(armature, names):
    """The armature's rest; names: bones, parents before children, with every parent of theirs."""
    bones = [armature.data.bones[name] for name in names]
    index = {name: i for i, name in enumerate(names)}
    parent = np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones], dtype=int)
    matrix = np.array([bone.matrix_local for bone in bones], dtype=np.float64).reshape(-1, 4, 4)
    offset = matrix.copy()
    child = np.flatnonzero(parent >= 0)
    offset[child] = np.linalg.inv(matrix[parent[child]]) @ matrix[child]
    return Rest(
        parent=parent,
        matrix=matrix,
        offset=offset,
        connected=np.array([bone.use_connect and bone.parent is not None for bone in bones], dtype=bool),
        local_location=np.array([bone.use_local_location for bone in bones], dtype=bool),
        inherit_rotation=np.array([bone.use_inherit_rotation for bone in bones], dtype=bool),
        inherit_scale=np.array([bone.inherit_scale for bone in bones]),
    )


# -- channels to basis -----------------------------------------------------------------------------------------------


def quaternion(mode, quaternion, euler, axis_angle):
    """(..., 4) unit quaternion of the rotation channel that the mode names."""
    if mode == "QUATERNION":
        length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
        # Blender's normalize_qt turns a zero quaternion into half a turn about x.
        return np.where(length > 0.0, quaternion / np.where(length > 0.0, length, 1.0), (0.0, 1.0, 0.0, 0.0))
    if mode == "AXIS_ANGLE":
        return delta.axis_angle_to_quaternion(axis_angle)
    return eulers.to_quaternion(mode, euler)


def rotations(channels):
    """(K, n, 4) unit quaternion of every bone's basis."""
    out = np.empty(np.shape(channels.quaternion))
    modes = np.array(channels.modes)
    for mode in set(channels.modes):
        of = np.flatnonzero(modes == mode)
        out[:, of] = quaternion(mode, channels.quaternion[:, of], channels.euler[:, of], channels.axis_angle[:, of])
    return out


def object_turns(channels):
    """(K, 4) unit quaternion of the object's own rotation."""
    given = {"quaternion": None, "euler": None, "axis_angle": None}
    kind = {"QUATERNION": "quaternion", "AXIS_ANGLE": "axis_angle"}.get(channels.object_mode, "euler")
    return quaternion(channels.object_mode, **{**given, kind: channels.object_rotation})


def object_basis(channels):
    """(K, 4, 4) of the object's own location, rotation and scale."""
    return compose(channels.object_location, object_turns(channels), channels.object_scale)


def compose(location, turn, scale):
    """(..., 4, 4) from location (..., 3), unit quaternion (..., 4) and scale (..., 3)."""
    out = np.zeros(np.shape(location)[:-1] + (4, 4))
    out[..., :3, :3] = to_matrix(turn) * np.asarray(scale)[..., None, :]
    out[..., :3, 3] = location
    out[..., 3, 3] = 1.0
    return out


# -- basis to pose ---------------------------------------------------------------------------------------------------


def pose(bones, channels):
    """(K, n, 4, 4) bone matrices as Blender poses them without constraints; InexactError where shear needs Blender."""
    location = np.where(bones.connected[:, None], 0.0, channels.location)
    basis = compose(location, rotations(channels), channels.scale)
    out = np.empty_like(basis)
    depth = _depths(bones.parent)
    for level in range(int(depth.max()) + 1):
        of = np.flatnonzero(depth == level)
        turning, moving = parent_space(bones, of, out)
        if level and not _plain(bones, of).all():
            turning, after = _inherit(bones, of, out, turning)
        else:
            after = None
        matrix = turning @ basis[:, of]
        matrix[..., :3, 3] = np.einsum("...ij,...j->...i", moving[..., :3, :3], location[:, of]) + moving[..., :3, 3]
        if after is not None:
            matrix[..., :3, :3] *= after[..., None, :]
        out[:, of] = matrix
    return out


def _depths(parent):
    depth = np.zeros(len(parent), dtype=int)
    for b, p in enumerate(parent):
        depth[b] = depth[p] + 1 if p >= 0 else 0
    return depth


def _plain(bones, of):
    return bones.inherit_rotation[of] & (bones.inherit_scale[of] == "FULL")


def parent_space(bones, of, posed):
    """What turns and what moves the bones `of`: (K or 1, m, 4, 4) each, as if all was inherited."""
    parents = bones.parent[of]
    if parents[0] < 0:
        turning = bones.offset[of][None]
        free = np.broadcast_to(np.eye(3), turning.shape[:-2] + (3, 3))
    else:
        turning = posed[:, parents] @ bones.offset[of]
        free = posed[:, parents][..., :3, :3]
    moving = turning
    if not bones.local_location[of].all():
        moving = turning.copy()
        outside = np.flatnonzero(~bones.local_location[of])
        moving[:, outside, :3, :3] = free[:, outside]
    return turning, moving


def _inherit(bones, of, posed, turning):
    """(turning, scale to apply after) where bones inherit not all of their parent's rotation and scale."""
    after = np.ones(turning.shape[:2] + (3,))
    turning = turning.copy()
    for i, bone in enumerate(of):
        kind = str(bones.inherit_scale[bone])
        if bones.inherit_rotation[bone] and kind == "FULL":
            continue
        parent = bones.parent[bone]
        matrix = posed[:, parent, :3, :3]
        size = np.linalg.norm(matrix, axis=-2)
        _refuse_shear(matrix, size)
        volume = np.cbrt(np.abs(np.prod(size, axis=-1)))[:, None, None]
        if bones.inherit_rotation[bone]:
            bare = matrix / size[:, None, :]
            if kind == "FIX_SHEAR":
                fixed = matrix @ bones.offset[bone, :3, :3]
                _refuse_shear(fixed, np.linalg.norm(fixed, axis=-2))
                bare = matrix
        else:
            bare = np.broadcast_to(bones.matrix[parent, :3, :3], matrix.shape)
            if kind in ("FULL", "FIX_SHEAR"):
                bare = bare * size[:, None, :]
                fixed = bare @ bones.offset[bone, :3, :3]
                if kind == "FIX_SHEAR":
                    _refuse_shear(fixed, np.linalg.norm(fixed, axis=-2))
        if kind == "AVERAGE":
            bare = bare * volume
        elif kind == "ALIGNED":
            after[:, i] = size
        turning[:, i, :3, :3] = bare @ bones.offset[bone, :3, :3]
    return turning, after


def _refuse_shear(matrix, size):
    if np.min(size) < 1e-9:
        raise InexactError("a parent scaled to nothing")
    unit = matrix / size[..., None, :]
    gram = unit.swapaxes(-1, -2) @ unit
    if np.max(np.abs(gram - np.eye(3))) > SHEAR:
        raise InexactError("sheared parents")


# -- pose to turns ---------------------------------------------------------------------------------------------------


def turns(matrices, rest):
    """(T, n, 4) continuous quaternions of the rotations nearest to the matrices (T, n, 3, 3).

    A bone scaled to nothing shows no orientation: it keeps that of the nearest frame that does, else `rest` (n, 4).
    """
    size = np.linalg.norm(matrices, axis=-2)
    longest = size.max(axis=-1)
    flat = size.min(axis=-1) <= FLAT * longest.max(axis=0, initial=1e-30)
    unit = matrices / np.where(size > 0.0, size, 1.0)[..., None, :]
    a, b, c = np.moveaxis(unit, -1, 0)
    skew = np.abs(np.stack([np.einsum("...i,...i->...", *pair) for pair in ((a, b), (b, c), (c, a))])).max(axis=0)
    hand = np.einsum("...i,...i->...", a, cross(b, c))
    odd = ((skew > 1e-6) | (hand < 0.0)) & ~flat
    if odd.any():
        unit[odd] = orthonormal(matrices[odd])
    out = from_matrix(unit)
    for bone in np.flatnonzero(flat.any(axis=0)):
        out[:, bone] = _filled(out[:, bone], flat[:, bone], rest[bone])
    return continuous(out)


def _filled(turn, missing, rest):
    known = np.flatnonzero(~missing)
    if not len(known):
        return np.tile(rest, (len(turn), 1))
    nearest = known[np.argmin(np.abs(np.arange(len(turn))[:, None] - known), axis=1)]
    return turn[nearest]
