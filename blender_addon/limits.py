"""The limits that an artist has set on bones in Blender: Limit Rotation, IK limits, locked rotations.

Where a bone has several, an axis takes the lock before the constraint, and the constraint before the IK limit.
"""

import numpy as np

from ..core.roles import base_role
from ..core.stops import FREE, LOCKED, Stop
from . import layer_undo, rig
from .actions import bone_of
from .channels import ROTATION

PASSIVE = ("", "root", "helper")  # roles of bones that no reaction moves
HALF = np.pi + 1e-4

SEVERAL, ELSEWHERE = "more than one Limit Rotation", "a Limit Rotation that is not in Local Space"
PARTLY, ANIMATED = "a Limit Rotation with an influence below 1", "a Limit Rotation that is keyed or driven"
LEGACY = "a Limit Rotation of legacy behaviour whose range is none within half a turn"
ROOT, ASTRAY = "limits, but no parent", "limits against a parent that doesn't carry it in the body"
ALONE, PLACE = "limits, but no inherited rotation", "a Limit Location"
FIXED, GLUED = "a locked location", "a head that is connected to its parent's tail"
CURES = {  # why a limit isn't known to the simulation -> what to do
    SEVERAL: "Keep one of them and mute the others.",
    ELSEWHERE: "Set its Owner to Local Space.",
    PARTLY: "Set its influence to 1.",
    ANIMATED: "Delete the keys and drivers of the bone's constraints.",
    LEGACY: "Switch its Legacy Behavior off.",
    ROOT: "Switch these limits off.",
    ASTRAY: "Switch these limits off.",
    ALONE: "Switch Inherit Rotation on.",
    PLACE: "Mute it.",
    FIXED: "Unlock it.",
    GLUED: "Switch Connected off in edit mode.",
}


def of_body(context, armature, body):
    """({bone: Stop}, warnings) of a body; on a control rig nothing but the warnings."""
    shown = armature.evaluated_get(context.evaluated_depsgraph_get())
    if body.controlled:
        return {}, told(of_controls(shown, body.by_control))
    return read(shown, body.skeleton, body.anatomy, body.owners)


def read(armature, skeleton, anatomy, owners):
    """({bone: Stop}, warnings about limits that the simulation doesn't know) of the bones that may react.

    armature: as it is evaluated now.  owners: bone -> what owns it; its own limits don't matter then.
    """
    roles = dict(zip(skeleton.names, anatomy.role, strict=True))
    found, doubts = look(armature, roles, carriers(skeleton.names, anatomy), owners)
    return found, told(doubts)


def carriers(names, anatomy):
    """{bone: the one that carries it in the body, or ""}."""
    return {name: names[parent] if parent >= 0 else "" for name, parent in zip(names, anatomy.parent, strict=True)}


def look(armature, roles, carried, owners):
    """({bone: Stop}, [(what the simulation doesn't know, its cure)]) of a rig without controls.

    roles: bone -> role.  carried: see `carriers`.  owners: as in `read`.
    """
    able = [name for name, role in roles.items() if base_role(role) not in PASSIVE]
    found, unknown = said(armature, able, owners)
    for name in list(found):
        if loose := _loose(armature.data.bones[name], carried[name]):
            found.pop(name)
            unknown.setdefault(loose, []).append(name)
    travels = [name for name, role in roles.items() if role == "pelvis" and name not in owners]
    for name in travels:
        if reason := _bound(armature.pose.bones[name]):
            unknown.setdefault(reason, []).append(name)
    text = "{} {}, which the simulation doesn't know: what Blender cuts of the reaction is lost."
    return found, [(text.format(named(names), reason), CURES[reason]) for reason, names in unknown.items()]


def _bound(bone):
    """Why a bone can't be moved as far as a reaction moves it, or ""."""
    if bone.parent is not None and bone.bone.use_connect:
        return GLUED
    if any(bone.lock_location):
        return FIXED
    return PLACE if _any_in_force(bone, "LIMIT_LOCATION") else ""


def said(armature, names, owners):
    """({bone: Stop}, {why a limit isn't known to the simulation: bones}) of the bones of those names."""
    found, unknown = {}, {}
    moved = _animated(armature) if any(_any_in_force(armature.pose.bones[name]) for name in names) else set()
    for name in names:
        if name in owners:
            continue
        bone = armature.pose.bones[name]
        constraint, reason = _constraint(bone, moved)
        stop = _stop(bone, constraint)
        if stop is not None:
            found[name] = stop
        if reason:
            unknown.setdefault(reason, []).append(name)
    return found, unknown


def of_controls(armature, names, kind="Control"):
    """[(what is said of controls whose rotation a constraint limits, the cure)]."""
    limited = [name for name in names if _any_in_force(armature.pose.bones[name])]
    if not limited:
        return []
    text = "{} a Limit Rotation, which no simulation of a control rig knows: what it cuts of the reaction is lost."
    return [(text.format(named(limited, kind)), "Mute it where too little of the reaction shows.")]


def _any_in_force(bone, kind="LIMIT_ROTATION"):
    return any(_in_force(constraint, kind) for constraint in bone.constraints)


def _in_force(constraint, kind="LIMIT_ROTATION"):
    return getattr(constraint, "type", None) == kind and rig.in_force(constraint)


def _constraint(bone, moved):
    """(the Limit Rotation that says what the bone may do, or None, and why one that is in force doesn't, or "")."""
    found = [c for c in bone.constraints if _in_force(c) and any(_used(c))]
    if not found:
        return None, ""
    constraint = found[0]
    if len(found) > 1:
        return None, SEVERAL
    if constraint.owner_space != "LOCAL":
        return None, ELSEWHERE
    if constraint.influence < 1.0:
        return None, PARTLY
    if bone.name in moved:
        return None, ANIMATED
    if constraint.use_legacy_behavior and not all(-HALF <= low <= high <= HALF for low, high in _said(constraint)):
        return None, LEGACY
    return constraint, ""


def _used(constraint):
    return constraint.use_limit_x, constraint.use_limit_y, constraint.use_limit_z


def _said(constraint):
    """The ranges of the axes that are limited."""
    return [r for r, used in zip(_ranges(constraint), _used(constraint), strict=True) if used]


def _ranges(constraint):
    return [(getattr(constraint, "min_" + axis), getattr(constraint, "max_" + axis)) for axis in "xyz"]


def _stop(bone, constraint):
    """What all limits of the bone come to, or None."""
    euler = bone.rotation_mode not in ROTATION
    order = bone.rotation_mode if euler else "XYZ"
    ranges, sources = [FREE] * 3, [""] * 3
    for k, axis in enumerate("xyz"):
        if getattr(bone, "lock_ik_" + axis):
            ranges[k], sources[k] = LOCKED, "IK lock"
        elif getattr(bone, "use_ik_limit_" + axis):
            ranges[k], sources[k] = (getattr(bone, "ik_min_" + axis), getattr(bone, "ik_max_" + axis)), "IK limit"
    if constraint is not None:
        order = order if constraint.euler_order == "AUTO" else constraint.euler_order
        for k, (low, high) in enumerate(_ranges(constraint)):
            if _used(constraint)[k]:
                ranges[k] = FREE if high - low >= 2.0 * np.pi else (low, max(low, high))
                sources[k] = "constraint '{}'".format(constraint.name)
    for k, locked in enumerate(_locks(bone, euler)):
        if locked:
            ranges[k], sources[k] = LOCKED, "locked rotation"
    return None if ranges == [FREE] * 3 else Stop(order, tuple(ranges), tuple(sources))


def _locks(bone, euler):
    """Whether the layer leaves each axis as the clip has it."""
    if euler:
        return list(bone.lock_rotation)
    return [any(bone.lock_rotation) or (bone.lock_rotations_4d and bone.lock_rotation_w)] * 3


def _loose(bone, carrier):
    """Why the bone's own turn is not that of its joint, or ""."""
    if bone.parent is None:
        return ROOT
    if carrier != bone.parent.name:
        return ASTRAY
    return "" if bone.use_inherit_rotation else ALONE


def _animated(armature):
    """Bones with constraints that something keys or drives."""
    data = armature.animation_data
    if data is None:
        return set()
    paths = [channel.path for channel in layer_undo.keyed_below(armature)] + [curve.data_path for curve in data.drivers]
    return {bone_of(path) for path in paths if ".constraints[" in path} - {None}


def told(doubts):
    """[(text, cure)] as warnings."""
    return [" ".join(doubt) for doubt in doubts]


def named(names, kind="Bone"):
    """ "Bone 'a' has" or "Bones 'a', 'b' and 3 more have"."""
    shown = ", ".join("'{}'".format(name) for name in names[:3])
    more = " and {} more".format(len(names) - 3) if len(names) > 3 else ""
    return "{}{} {}{} {}".format(kind, "s" if len(names) > 1 else "", shown, more, "have" if len(names) > 1 else "has")
