"""Bones that a rig hangs elsewhere than a body does: the foot of an IK leg under the root, and their poses at the limb.

Mixed in the rig's own channels such a foot goes where another action has it in the room while the leg walks on, and
the two come apart.  So it is mixed relative to the bone that carries it in a body, and then put back.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..core.rotation import from_matrix, orthonormal
from . import fk
from .continuation import turned


@dataclass(frozen=True, eq=False)
class Rehung:
    """bones: the rig at rest.  levels: (own, carrier) index arrays (m,), carriers first."""

    bones: fk.Rest
    levels: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    def joints(self, channels):
        """(rotation (K, n, 4), location (K, n, 3)) of all bones' bases, of these bones relative to their carriers."""
        rotation, location = fk.rotations(channels), channels.location.copy()
        if self.levels:
            posed = fk.pose(self.bones, channels)
            own, up = (np.concatenate(part) for part in zip(*self.levels, strict=True))
            relative = np.linalg.inv(posed[:, up]) @ posed[:, own]
            rotation[:, own] = from_matrix(orthonormal(relative[..., :3, :3]))
            location[:, own] = relative[..., :3, 3]
        return rotation, location

    def bases(self, base, rotation, location):
        """The inverse of `joints`: bases of all bones.  base: Channels that give scales and rotation modes."""
        rotation, location = rotation.copy(), location.copy()
        for own, up in self.levels:
            posed = fk.pose(self.bones, with_bases(base, rotation, location))
            wanted = posed[:, up] @ fk.compose(location[:, own], rotation[:, own], np.ones(3))
            for k, bone in enumerate(own):
                turning, moving = (m[:, 0] for m in fk.parent_space(self.bones, own[k : k + 1], posed))
                lead = orthonormal(turning[:, :3, :3])
                rotation[:, bone] = from_matrix(lead.swapaxes(-1, -2) @ orthonormal(wanted[:, k, :3, :3]))
                away = (wanted[:, k, :3, 3] - moving[:, :3, 3])[..., None]
                location[:, bone] = np.linalg.solve(np.broadcast_to(moving[:, :3, :3], (len(away), 3, 3)), away)[..., 0]
        return rotation, location


def find(armature, names, anatomy, channels):
    """The Rehung of an armature; none where Blender alone can pose it: an IK foot under constraints leads its leg."""
    bones = fk.rest(armature, names)
    if any(len(bone.constraints) for bone in armature.pose.bones):
        return Rehung(bones)
    try:
        fk.pose(bones, channels)
    except fk.InexactError:
        return Rehung(bones)
    levels = {}
    for bone in anatomy.order:
        above = _above(anatomy.parent, bone)
        away = bool(above) and above[0] != bones.parent[bone] and int(bones.parent[bone]) in (*above, -1)
        if away and not bones.connected[bone] and bones.inherit_rotation[bone] and bones.inherit_scale[bone] == "FULL":
            levels.setdefault(len(above), []).append((bone, above[0]))
    return Rehung(bones, tuple(tuple(np.array(levels[depth]).T) for depth in sorted(levels)))


def _above(parent, bone):
    """What carries a bone, the next one first."""
    above = []
    while (bone := int(parent[bone])) >= 0:
        above.append(bone)
    return above


def with_bases(channels, rotation, location):
    """Channels with other bases (K, n, 4), (K, n, 3)."""
    return replace(turned(channels, rotation, range(len(channels.names))), location=location)
