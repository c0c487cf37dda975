"""Read an armature at rest into `core.skeleton`: bones, the meshes they move, and what else moves them."""

import re

import numpy as np

from ..core.errors import CoreError
from ..core.polyhedron import moments
from ..core.rotation import from_matrix, orthonormal
from ..core.skeleton import Skeleton, Skin
from . import envelopes
from .actions import bone_and_property

OVERRIDE = "Choose Object > Library Override > Make first."

# Above this many vertices a mesh is thinned on a grid before its weights are read one vertex at a time.
MAX_VERTICES = 30_000

SHARED = 4  # bones that a vertex goes with at most, as game engines have it

# These keep what the animation says as long as it stays within bounds: they shape a motion, they don't own it.
BOUNDING = {"LIMIT_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE", "MAINTAIN_VOLUME"}

# These carry a bone or hold it up, and its own channels still turn it there: it may be a control.
CARRYING = {"CHILD_OF", "ARMATURE", "PIVOT", "TRANSFORM", "FLOOR", "LIMIT_DISTANCE", "SHRINKWRAP"}
CARRYING |= {"COPY_LOCATION", "COPY_SCALE", "CLAMP_TO", "FOLLOW_PATH", "ACTION"}
MIXING = {"COPY_ROTATION", "COPY_TRANSFORMS"}  # these, too, where they come on top of its own

DRIVEN = re.compile(r"(location|rotation_\w+|scale)$")  # what moves a bone itself


def read(context, armature):
    """The armature's bones (parents first) and skin at rest, armature space, the rig's own units."""
    bones = list(armature.data.bones)  # Blender walks the tree: parents stand first
    index = {bone.name: i for i, bone in enumerate(bones)}
    matrix = np.array([bone.matrix_local for bone in bones], dtype=np.float64).reshape(-1, 4, 4)
    return Skeleton(
        names=tuple(index),
        parent=np.array([index[bone.parent.name] if bone.parent else -1 for bone in bones], dtype=int),
        head=matrix[:, :3, 3].copy(),
        tail=np.array([bone.tail_local for bone in bones], dtype=np.float64).reshape(-1, 3),
        rotation=from_matrix(orthonormal(matrix[:, :3, :3])),
        deform=np.array([bone.use_deform for bone in bones], dtype=bool),
        skin=_skin(context.scene.objects, armature, index),
    )


def require_editable(armature):
    """Refuse a rig whose changes Blender would not keep."""
    _refuse(uneditable(armature))


def require_posed(armature):
    """Refuse a rig that shows its rest position: what would be read is not the clip."""
    _refuse(resting(armature))


def _refuse(found):
    if found is not None:
        raise CoreError(" ".join(found))


def uneditable(armature):
    """(reason, cure) where Blender would not keep changes of the armature, else None."""
    if armature.library is not None:
        text = "'{}' is linked from '{}' and can't be changed here."
        return text.format(armature.name, armature.library.filepath), OVERRIDE
    override = armature.override_library
    if override is not None and override.is_system_override:
        return "The library override of '{}' is not editable.".format(armature.name), OVERRIDE
    if armature.data.is_missing:
        text = "The bones of '{}' are missing, for '{}' can't be found."
        return text.format(armature.name, armature.data.library.filepath), "Put the file back or relocate its library."
    return None


def resting(armature):
    """(reason, cure) where the armature shows its rest position, so that no clip can be read, else None."""
    if armature.data.pose_position != "REST":
        return None
    text = "The armature '{}' shows its rest position."
    return text.format(armature.name), "Switch it to pose position in its data properties."


# -- meshes ----------------------------------------------------------------------------------------------------------


def _skin(objects, armature, index):
    """All meshes that move with the armature joined to one Skin, or None."""
    parts, deforming = [], {bone.name: index[bone.name] for bone in armature.data.bones if bone.use_deform}
    for mesh_object in objects:
        if mesh_object.type != "MESH":
            continue
        skinned = is_skinned(mesh_object, armature)
        bone, placement = _placement(mesh_object, armature)
        if placement is None or not (skinned or bone):
            continue
        part = _mesh(mesh_object)
        if part is not None:
            kept, vertices, triangles = part
            vertices = vertices @ placement[:3, :3].T + placement[:3, 3]
            if moments(vertices[triangles] - vertices.mean(axis=0))[0] < 0.0:
                triangles = triangles[:, ::-1]  # faces look in: mirrored, or modelled so; a flat sheet has no side
            if skinned:
                moved = _moved(mesh_object, armature, deforming, kept, vertices)
            else:
                moved = np.full((len(kept), SHARED), -1), np.zeros((len(kept), SHARED))
                moved[0][:, 0], moved[1][:, 0] = index.get(bone, -1), 1.0
            parts.append((vertices, triangles, moved))
    if not parts:
        return None
    starts = np.cumsum([0] + [len(vertices) for vertices, _, _ in parts])
    bones, weights = (np.concatenate([moved[k] for _, _, moved in parts]) for k in (0, 1))
    return Skin(
        vertices=np.concatenate([vertices for vertices, _, _ in parts]),
        triangles=np.concatenate([tris + start for (_, tris, _), start in zip(parts, starts, strict=False)]),
        owner=bones[:, 0],
        bones=bones,
        weights=weights,
    )


def above(item):
    """What an object hangs on, from its parent up."""
    while (item := item.parent) is not None:
        yield item


def is_skinned(mesh_object, armature):
    """Whether the armature bends the mesh."""
    return mesh_object.type == "MESH" and any(_bound(mesh_object, armature))


def _bound(mesh_object, armature):
    """Whether the mesh's vertex groups, and whether the bones' envelopes, say which bones move it."""
    modifiers = [m for m in mesh_object.modifiers if m.type == "ARMATURE" and m.object == armature]
    parented = mesh_object.parent == armature and mesh_object.parent_type == "ARMATURE"
    by_groups = parented or any(m.use_vertex_groups for m in modifiers)
    return by_groups, parented or any(m.use_bone_envelopes for m in modifiers)


def _placement(child, armature):
    """(bone name or "", 4x4 taking the object's coordinates to armature space with every bone at rest).

    Follows the parents up to the armature, so that meshes on empties on bones are found too; an object that
    never gets there is placed as it stands in the world, and an unplaceable one gives None.
    """
    bone, matrix = "", np.eye(4)
    while child != armature:
        if child.parent is None:
            world = np.array(armature.matrix_world, dtype=np.float64)
            if abs(np.linalg.det(world)) == 0.0:
                return bone, None
            return bone, np.linalg.inv(world) @ np.array(child.matrix_world, dtype=np.float64) @ matrix
        local = np.array(child.matrix_parent_inverse @ child.matrix_basis, dtype=np.float64)
        matrix = local @ matrix
        if child.parent == armature and child.parent_type == "BONE":
            rest = armature.data.bones.get(child.parent_bone)
            if rest is not None:
                bone = rest.name
                matrix = _bone_socket(rest) @ matrix
        child = child.parent
    return bone, matrix


def _bone_socket(rest):
    """4x4 of the point where Blender hangs a bone's children: its tail, or nothing with relative parenting."""
    if rest.use_relative_parent:
        return np.eye(4)
    socket = np.array(rest.matrix_local, dtype=np.float64)
    socket[:3, 3] += socket[:3, 1] * rest.length
    return socket


def _mesh(mesh_object):
    """(kept vertices (V,), places (V, 3) in object space, triangles (M, 3) among them); None for an empty mesh."""
    mesh = mesh_object.data
    mesh.calc_loop_triangles()
    vertices = np.empty((len(mesh.vertices), 3), dtype=np.float32)
    triangles = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
    if not len(triangles):
        return None
    mesh.vertices.foreach_get("co", vertices.ravel())
    mesh.loop_triangles.foreach_get("vertices", triangles.ravel())
    kept, triangles = thin(vertices.astype(np.float64), triangles.astype(np.int64), MAX_VERTICES)
    return kept, vertices[kept].astype(np.float64), triangles


def thin(vertices, triangles, limit):
    """(kept vertex indices, triangles among them): vertices in one cell of a grid become one.

    vertices (V, 3), triangles (M, 3).  The grid is the finest of a few that leaves at most `limit` vertices; collapsed
    triangles go.  A closed surface stays closed: every edge keeps its partner or both vanish.
    """
    if len(vertices) <= limit:
        return np.arange(len(vertices)), triangles
    low, span = vertices.min(axis=0), max(np.ptp(vertices, axis=0).max(), 1e-30)
    for cells in (512, 384, 256, 192, 128, 96, 64, 48, 32):
        _, kept, label = np.unique(
            np.floor((vertices - low) / span * cells).astype(np.int64) @ (1, 1024, 1 << 20),
            return_index=True,
            return_inverse=True,
        )
        if len(kept) <= limit:
            break
    triangles = label.reshape(-1)[triangles]
    a, b, c = triangles.T
    return kept, triangles[(a != b) & (b != c) & (c != a)]


def _moved(mesh_object, armature, deforming, kept, vertices):
    """(K, SHARED) the bones that move each kept vertex, the heaviest first, -1 for none, and their weights.

    vertices: (K, 3) where they are, armature space.  As Blender has it, envelopes move what is in no bone's group, were
    it with a weight of 0.
    """
    by_groups, by_envelopes = _bound(mesh_object, armature)
    groups = [deforming.get(group.name, -1) for group in mesh_object.vertex_groups] if by_groups else []
    entries = _grouped(mesh_object.data, kept, groups)
    if by_envelopes:
        alone = np.setdiff1d(np.arange(len(kept)), entries[0])
        rows, bones, weights = envelopes.weights(armature, deforming, vertices[alone])
        entries = [np.concatenate(pair) for pair in zip(entries, (alone[rows], bones, weights), strict=True)]
    rows, bones, weights = (column[entries[2] > 0.0] for column in entries)
    order = np.lexsort((-weights, rows))
    rows = rows[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    few = place < SHARED
    out = np.full((len(kept), SHARED), -1), np.zeros((len(kept), SHARED))
    for table, values in zip(out, (bones, weights), strict=True):
        table[rows[few], place[few]] = values[order][few]
    return out


def _grouped(mesh, kept, bone_of_group):
    """(rows among the kept vertices, bones, weights) of the groups of bones, weights of 0 too."""
    points = mesh.vertices if len(kept) == len(mesh.vertices) else [mesh.vertices[i] for i in kept.tolist()]
    groups, weights, counts = [], [], []
    for point in points:
        own = point.groups
        counts.append(len(own))
        for entry in own:
            groups.append(entry.group)
            weights.append(entry.weight)
    bones = np.array([*bone_of_group, -1], dtype=int)[np.minimum(np.array(groups, dtype=int), len(bone_of_group))]
    weights, rows = np.array(weights), np.repeat(np.arange(len(counts)), counts)
    counted = np.flatnonzero(bones >= 0)
    return rows[counted], bones[counted], weights[counted]


# -- who else moves a bone -------------------------------------------------------------------------------------------


def constraint_owners(armature, but=lambda _: False):
    """{bone name: what owns its transform} for constraints in force (with the chains of IK) and drivers.

    but: which constraints are passed over.  A constraint of a type this Blender doesn't know (`type` raises
    AttributeError) does nothing here and owns nothing.
    """
    owners = {}
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            kind = getattr(constraint, "type", None)
            if kind is None or kind in BOUNDING or not in_force(constraint) or but(constraint):
                continue
            for owned in chain(bone, constraint):
                text = "constraint '{}'".format(constraint.name)
                owners.setdefault(owned, text if owned == bone.name else "{} of bone '{}'".format(text, bone.name))
    for name, driver in driven(armature).items():
        owners.setdefault(name, driver)
    return owners


def carries(constraint):
    """Whether a constraint leaves its bone to its own channels where it turns."""
    return constraint.type in CARRYING or (constraint.type in MIXING and constraint.mix_mode != "REPLACE")


def driven(armature):
    """{bone name: the driver that owns its transform, or a part of it}."""
    found = {}
    for curve in armature.animation_data.drivers if armature.animation_data is not None else ():
        name, moved = bone_and_property(curve.data_path)
        if curve.mute or not curve.driver.is_valid:
            continue
        if name and name in armature.pose.bones and DRIVEN.match(moved):
            found.setdefault(name, "a driver on its {}".format(moved))
    return found


def in_force(constraint):
    """Whether a constraint does anything."""
    return constraint.enabled and constraint.influence > 0.0 and constraint.is_valid


def chain(bone, constraint):
    """Names of the bones that a constraint on `bone` moves."""
    kind = getattr(constraint, "type", None)
    if kind not in {"IK", "SPLINE_IK"}:
        return [bone.name]
    chain = [bone, *bone.parent_recursive]
    if kind == "IK" and not constraint.use_tail:
        chain = chain[1:]
    return [link.name for link in chain[: constraint.chain_count or len(chain)]]
