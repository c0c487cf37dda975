"""Rigs whose bones are moved by others: what their body is, and which controls pose it.

    body = read(context, armature)         skeleton and anatomy; of the deforming bones where the rig has controls
    yield from body.seek(context, ...)     the controls that move it
    posed = yield from body.pose(...)      their values for a reaction
"""

from dataclasses import dataclass, replace

import numpy as np

from ..core.anatomy import Anatomy, analyse
from ..core.deforming import deforming
from ..core.errors import CoreError
from ..core.progress import portion
from ..core.roles import base_role
from ..core.skeleton import Skeleton
from . import actions, controls, layer_undo, mapping, posing, rig, switches
from .channels import rotation_property
from .posing import Posed
from .puppet import Puppet

__all__ = ["Body", "Posed", "read"]

MAP = "dynamics_control"  # on a deforming bone: the control that the artist wants to move it


@dataclass(eq=False)
class Body:
    """whole: skeleton of all bones.  skeleton: of the bones that are simulated, rows (n,) their indices in the whole.
    owners: bone -> what owns it; held: of them, bones that can't be controls.  controlled: whether something owns bones
    of the body, so that controls must pose it.
    stages: the controls, once they are sought, and from which of the frames on.
    """

    whole: Skeleton
    skeleton: Skeleton
    rows: np.ndarray
    anatomy: Anatomy
    owners: dict[str, str]
    held: dict[str, str]
    controlled: bool
    stages: tuple[tuple[int, controls.Found], ...] = ()

    @property
    def by_control(self):
        """Control -> the bones of the body that it moves, at any of the frames."""
        out = {}
        for _, found in self.stages:
            for control, moved in found.by_control.items():
                out[control] = list(dict.fromkeys([*out.get(control, []), *moved]))
        return out

    def movers(self, bone):
        """The controls that move a bone of the body (its row), or the nearest one above it that any does."""
        while bone >= 0:
            moved = [control for control, bones in self.by_control.items() if self.skeleton.names[bone] in bones]
            if moved:
                return moved
            bone = self.skeleton.parent[bone]
        return list(self.by_control)

    @property
    def unreached(self):
        """The bones that no control moves at some frame."""
        return tuple(dict.fromkeys(name for _, found in self.stages for name in found.unreached))

    @property
    def fixed(self):
        """Bone -> what owns it, "" = nothing, of those that no control moves either; toes go with their feet then."""
        if not self.controlled:
            return self.owners
        role = dict(zip(self.skeleton.names, self.anatomy.role, strict=True))
        lost = [name for name in self.unreached if base_role(role[name]) != "toe"]
        return {name: _owner(self.whole, self.owners, name) for name in lost}

    def of(self, clip):
        """A clip of all bones as one of the body's."""
        return replace(clip, rotation=clip.rotation[:, self.rows], position=clip.position[:, self.rows])

    def seek(self, context, armature, frames, channels, heads):
        """A generator that finds the controls which move the body at the first of the frames and where switches turn.

        channels: of all bones, at these frames and maybe others (ascending).  heads: (T, n, 3) of the body's bones.
        """
        names, bones, parents = controls.watched(self.anatomy, self.skeleton.names)
        stretching = controls.stretched(parents, heads[:, bones], self.skeleton.head[bones])
        chosen = _chosen(armature)
        with Puppet(context, armature, names, posing.SPAN * self.anatomy.size) as puppet:
            found, starts = [], switches.stages(context, armature, frames)
            for i, k in enumerate(starts):
                puppet.at(frames[k], channels, int(np.searchsorted(channels.frames, frames[k])))
                steps = controls.find(puppet, self.held, parents, chosen, stretching)
                found.append((k, (yield from portion(steps, i / len(starts), 1.0 / len(starts)))))
        self.stages = tuple(found)

    def pose(self, context, armature, actor, clip, channels, reaction, excluded, lead=None):
        """Generator of the Posed of a reaction.  clip, channels: at the keyed frames.  excluded: bones that the user
        leaves out of the simulation.  lead: a `leading.Lead`."""
        _, bones, parents = controls.watched(self.anatomy, self.skeleton.names)
        contested = self._contested(armature)
        astray = {*contested, *self.unreached}  # others go with the simulation though they take no part in it
        q, p = mapping.armature_poses(actor, clip, *reaction.poses(clip))
        return posing.pose(
            context,
            armature,
            self.stages,
            self.anatomy.size,
            parents,
            channels,
            (clip.rotation[:, bones], clip.position[:, bones]),
            (q[:, bones], p[:, bones]),
            contested,
            self._below([name for name in excluded if name in astray]),
            lead,
        )

    def _contested(self, armature):
        """Bone -> what moves it against the artist: a driver, or a constraint on a bone that the clip keys itself."""
        keyed = {channel.path for channel in layer_undo.keyed_below(armature)}
        turns = {b.name: actions.bone_path(b.name, rotation_property(b.rotation_mode)) for b in armature.pose.bones}
        return {name: owner for name, owner in self.owners.items() if turns[name] in keyed} | rig.driven(armature)

    def _below(self, names):
        """The bones of the body among these, and those that hang on them."""
        kept = set()
        for name, parent in zip(self.skeleton.names, self.skeleton.parent, strict=True):  # parents stand first
            if name in names or (parent >= 0 and self.skeleton.names[parent] in kept):
                kept.add(name)
        return kept


def read(context, armature, roles=None):
    """The Body of an armature.  roles: bone -> role that the user has given it."""
    whole = rig.read(context, armature)
    anatomy = analyse(whole, roles)
    evaluated = armature.evaluated_get(context.evaluated_depsgraph_get())
    owners, held = rig.constraint_owners(evaluated), rig.constraint_owners(evaluated, rig.carries)
    if not under_control(evaluated, dict(zip(whole.names, anatomy.role, strict=True)), owners):
        return Body(whole, whole, np.arange(len(whole.names)), anatomy, owners, held, False)
    kept = whole.deform | np.array([role == "root" for role in anatomy.role])
    skeleton, rows = deforming(whole, kept)
    roles = {name: role for name, role in (roles or {}).items() if name in skeleton.names}
    return Body(whole, skeleton, rows, analyse(skeleton, roles), owners, held, True)


def under_control(armature, roles, owners):
    """Whether something owns bones of the body, or what they hang on.  roles: bone -> role."""
    body = [armature.data.bones[name] for name, role in roles.items() if base_role(role) in controls.BODY]
    return any(above.name in owners for bone in body for above in (bone, *bone.parent_recursive))


def _chosen(armature):
    """The controls that the artist has named; CoreError where one of them is not there (any more)."""
    chosen = {getattr(bone, MAP): bone.name for bone in armature.pose.bones if getattr(bone, MAP)}
    for control, bone in chosen.items():
        if control not in armature.pose.bones:
            text = "Bone '{}' is to be moved by '{}', which '{}' lacks. Choose another control in the Controls panel."
            raise CoreError(text.format(bone, control, armature.name))
    return set(chosen)


def _owner(skeleton, owners, name):
    """What owns a bone or the nearest one above it that something owns, or ""."""
    bone = skeleton.names.index(name)
    while bone >= 0:
        above = skeleton.names[bone]
        if above in owners:
            direct = above == name or "of bone" in owners[above]
            return owners[above] if direct else "{} of bone '{}'".format(owners[above], above)
        bone = int(skeleton.parent[bone])
    return ""
