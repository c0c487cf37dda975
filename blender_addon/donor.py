"""Take the action from another file's armature whose bones have the same names.

Where both armatures rest alike the action is handed over untouched.  Where they do not (a clip exported without its
mesh often rests in its first frame), every joint gets the rotation relative to its parent that it has in the clip's
own file, as a game engine would do it; the keys are then resampled at their own frames.
"""

import math
from types import SimpleNamespace

import bpy
import numpy as np

from ..core.rotation import conjugate, from_matrix, multiply, orthonormal, rotate
from . import actions, choosing, delta, fk, importing, source
from . import clip as clips
from .channels import rotation_property
from .choosing import InputError

# Rest poses within these count as alike.
ALIKE_DEG, ALIKE_SCALE = 0.1, 1e-3

# A location that varies by less than this part of the skeleton is a bone's length, not a motion.
STILL = 1e-4

KINDS = ("objects", "armatures", "meshes", "cameras", "lights", "materials", "images", "collections", "textures")


def take(path, body, wanted, own):
    """Let the body play an action of the file; gives (why, warnings).

    wanted: the action's name or None.  own: Channels of the pose that the body's own file gives it, or None.
    """
    name, body.name = body.name, "Body of Parametric Dynamics"  # so that the newcomers keep their names
    before = {kind: set(getattr(bpy.data, kind)) for kind in KINDS}
    known = set(bpy.data.actions)
    try:
        stances = importing.add(path)
        giver = _giver(path, [item for item in bpy.context.view_layer.objects if item not in before["objects"]])
        chosen, why = _chosen(path, giver, wanted, [action for action in bpy.data.actions if action not in known])
        common = _common(path, name, body, giver)
        warnings = _missing(name, body, chosen)
        theirs = stances.of(giver)
        choosing.play(giver, chosen, theirs)
        turned = _unlike(body, giver, common, chosen)
        if turned:
            warnings.append(_unlike_text(path, turned))
            chosen = _carry(body, giver, common, chosen, own)
        _adopt(body, giver, chosen, own, None if turned else theirs, common)
    finally:
        for kind in KINDS:
            bpy.data.batch_remove([item for item in getattr(bpy.data, kind) if item not in before[kind]])
        body.name = name
    return "{} in '{}'".format(why, path.name), tuple(warnings)


def _giver(path, new):
    givers = [item for item in new if item.type == "ARMATURE" and item.data.bones]
    if not givers:
        raise InputError(choosing.bodiless(path))
    return max(givers, key=lambda item: (item.animation_data is not None, len(item.data.bones), item.name))


def _chosen(path, giver, wanted, new):
    offered = choosing.candidates(giver, new)
    if wanted is not None:
        return choosing.named(path, wanted, offered)
    if not offered:
        raise InputError(choosing.still(path, giver))
    found = source.of(giver)
    active = [item for item in offered if found is not None and item.name == found.action]
    if path.suffix.lower() == ".blend" and active:
        return active[0], "the active action"
    return choosing.fitting(offered)


def _common(path, name, body, giver):
    """Names of the bones that both have, the giver's parents first."""
    bones = sorted(giver.data.bones, key=lambda bone: len(bone.parent_recursive))
    common = [bone.name for bone in bones if bone.name in body.data.bones]
    if not common:
        text = "'{}' and the armature '{}' have no bone name in common. Use a clip made for this skeleton."
        raise InputError(text.format(path.name, name))
    return common


def _missing(name, body, chosen):
    keyed = {actions.bone_of(curve.data_path) for curve in choosing.curves_of(chosen)} - {None}
    missing = sorted(keyed - {bone.name for bone in body.data.bones})
    if not missing:
        return []
    text = "The clip moves {} bones that '{}' lacks ({})."
    return [text.format(len(missing), name, ", ".join(missing[:5]))]


def _adopt(body, giver, chosen, own, theirs, common):
    """Play the clip; bones it leaves alone stand as the clip's file has them, those it lacks as their own file has."""
    choosing.play(body, chosen, own)
    for name in common:
        bone = body.pose.bones[name]
        bone.rotation_mode = giver.pose.bones[name].rotation_mode  # keys mean nothing in another mode
        for field in clips.BONE:
            bone.property_unset(field)
    body.rotation_mode = giver.rotation_mode
    if theirs is not None:
        clips.write_stored(body, theirs, set(common), with_object=False)


# -- where the rest poses differ -------------------------------------------------------------------------------------


def _unlike(body, giver, common, chosen):
    """The common bones whose rest, seen from the parent, is another; all if scale or axes of the objects are."""
    size, turn = _between(body, giver, chosen)
    if abs(size - 1.0) > ALIKE_SCALE or _degrees(turn) > ALIKE_DEG:
        return list(common)
    pairs = [(_offset(body, name), _offset(giver, name)) for name in common]
    angles = _degrees(multiply(conjugate(_turns([a for a, _ in pairs])), _turns([b for _, b in pairs])))
    return [name for name, degrees in zip(common, angles, strict=True) if degrees > ALIKE_DEG]


def _unlike_text(path, turned):
    text = "{} bones rest differently in '{}' ({}): the clip was carried over joint by joint."
    return text.format(len(turned), path.name, ", ".join(turned[:5]))


def _turns(matrices):
    return from_matrix(orthonormal(np.array(matrices)[..., :3, :3]))


def _degrees(turn):
    return np.degrees(2.0 * np.arctan2(np.linalg.norm(turn[..., 1:], axis=-1), np.abs(turn[..., 0])))


def _offset(armature, name):
    bone = armature.data.bones[name]
    matrix = np.array(bone.matrix_local, dtype=np.float64)
    if bone.parent is not None:
        matrix = np.linalg.inv(np.array(bone.parent.matrix_local, dtype=np.float64)) @ matrix
    return matrix


def _keys_object(chosen):
    return any(curve.data_path.startswith(("location", "rotation_")) for curve in choosing.curves_of(chosen))


def _between(body, giver, chosen):
    """(scale, rotation wxyz) from the giver's armature space to the body's; keyed objects turn alike by themselves."""
    mine, theirs = (np.array(item.matrix_world, dtype=np.float64) for item in (body, giver))
    size = math.copysign(abs(np.linalg.det(theirs[:3, :3]) / np.linalg.det(mine[:3, :3])) ** (1 / 3), 1.0)
    turn = np.array([1.0, 0.0, 0.0, 0.0])
    if not _keys_object(chosen):
        turn = multiply(conjugate(_turns([mine])), _turns([theirs]))[0]
    return size, turn


def _carry(body, giver, common, chosen, own):
    """A new action for the body: each joint turned against its parent as in the giver; gives its Candidate."""
    keyed = choosing.curves_of(chosen)
    frames = np.unique(np.round(np.concatenate([_key_frames(curve) for curve in keyed]), 4))
    bones = sorted(giver.data.bones, key=lambda bone: len(bone.parent_recursive))
    skeleton = SimpleNamespace(names=tuple(bone.name for bone in bones))
    channels = clips.sample(bpy.context, giver, skeleton, frames)[2]
    size, turn = _between(body, giver, chosen)
    reach = max(np.ptp(np.array([bone.head_local for bone in bones]), axis=0).max(), 1e-9)
    turned = fk.rotations(channels)
    curves = []
    for name in common:
        i = skeleton.names.index(name)
        mine, theirs = _offset(body, name), _offset(giver, name)
        lead = _turns([theirs])[0]
        root = giver.data.bones[name].parent is None
        lead = multiply(turn, lead) if root else lead
        target = multiply(multiply(conjugate(_turns([mine])[0]), lead), turned[:, i])
        mode = channels.modes[i]
        base = getattr(channels, clips.BONE[rotation_property(mode)][0])[:, i]
        values = delta.rotation_value(mode, base, delta.rotation_delta(mode, base, target))
        curves += _curves(name, rotation_property(mode), values)
        if np.ptp(channels.location[:, i], axis=0).max() > STILL * reach:
            head = size * (rotate(_turns([theirs])[0], channels.location[:, i]) + theirs[:3, 3])
            head = rotate(turn, head) if root else head
            curves += _curves(name, "location", (head - mine[:3, 3]) @ orthonormal(mine[:3, :3]))
        if np.abs(channels.scale[:, i] - 1.0).max() > 1e-3:
            curves += _curves(name, "scale", channels.scale[:, i])
    if _keys_object(chosen):
        curves += _object_curves(channels)
    action, slot = actions.create(chosen.title, body, curves, frames)
    return choosing.Candidate(action.name, slot, chosen.title, len(common), chosen.length)


def _key_frames(curve):
    values = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", values)
    return values[0::2].astype(np.float64)


def _curves(bone, field, values):
    path = actions.bone_path(bone, field)
    return [actions.Curve(actions.Channel(path, k), bone, values[:, k]) for k in range(values.shape[-1])]


def _object_curves(channels):
    named = {"location": channels.object_location, rotation_property(channels.object_mode): channels.object_rotation}
    return [
        actions.Curve(actions.Channel(path, k), "Object Transforms", values[:, k])
        for path, values in named.items()
        for k in range(values.shape[-1])
    ]
