"""The action that takes a body over after a reaction: read for the rig here, matched in `core.handover`."""

from dataclasses import replace

import bpy
import numpy as np

from ..core.errors import ClipError
from . import actions, choosing, clip, controls, donor, fk, importing, leading, posing, sampling, switches
from .channels import rotation_property
from .puppet import Puppet

REST = {"location": 0.0, "scale": 1.0, "rotation_quaternion": (1.0, 0.0, 0.0, 0.0), "rotation_euler": 0.0,
        "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0)}  # fmt: skip


def read(context, armature, body, name, frame):
    """(Clip, Played) of an action that plays by itself on a `control_rig.Body`, bones that it doesn't key at rest.

    CoreError if there is none.  frame: of the scene, whose switches hold for controls that the action moves, but those
    that it keys itself.  Played is None where nothing but the action moves the bones.
    """
    skeleton = body.whole
    found = choosing.by_name(armature, name)
    action = bpy.data.actions[found.name]
    slot = action.slots.get(found.slot) if actions.LAYERED else None
    first, last = choosing.key_range(found)
    if last - first < 1.0:
        raise ClipError("Action '{}' is a single pose. Choose one that moves to go over to.".format(name))
    frames = np.unique(np.append(np.arange(first, last), last))
    channels, keyed = sampling.action_channels(armature, skeleton.names, action, slot, frames)
    for bone, mode in enumerate(channels.modes):
        for rna in ("location", "scale", rotation_property(mode)):
            if (skeleton.names[bone], rna) not in keyed:
                getattr(channels, sampling.BONE[rna][0])[:, bone] = REST[rna]
    try:
        world = sampling.still_carrier(armature) @ fk.object_basis(channels)
    except fk.InexactError as reason:
        text = "'{}' can't go over to an action, because of {}. Leave the action out."
        raise ClipError(text.format(armature.name, reason)) from None
    played = None
    if body.controlled:
        matrices, tops = _shown(context, armature, body, channels, actions.curves_of(action, slot), frame)
        played = leading.Played(channels, frozenset(keyed), tops)
        skeleton = body.skeleton
    else:
        matrices = fk.pose(fk.rest(armature, skeleton.names), channels)
    made = clip.to_clip(context.scene, armature, skeleton, frames, matrices, world)
    return replace(made, name=action.name), played


def unheard(armature, then):
    """What of the actions that have been read doesn't show on the armature, in sentences.  then: see `Job`."""
    told = (choosing.unheard(armature, choosing.by_name(armature, made.name)) for made in (then[0] if then else ()))
    return [*filter(None, dict.fromkeys(told))]


def _shown(context, armature, body, channels, curves, frame):
    """Matrices (A, n, 4, 4) of the body's bones as Blender shows channels on its controls, and what moves them all."""
    names, _, _ = controls.watched(body.anatomy, body.skeleton.names)
    switched = switches.curves(armature, curves)
    free = controls.placed(armature, body.held)
    out = []
    with Puppet(context, armature, names, posing.SPAN * body.anatomy.size) as puppet, switches.kept(armature, switched):
        rows = [puppet.index[name] for name in body.skeleton.names]
        for k, moment in enumerate(channels.frames):
            puppet.at(frame, channels, k)
            switches.put(armature, switched, moment)
            out.append(puppet.matrices()[rows])
        tops = leading.tops(puppet, free)
    return np.stack(out), tops


def bring(armature, wanted):
    """The name of the action meant by FILE, FILE/ACTION, or an action's own name or title; taken from the file."""
    path, action = importing.file_and_action(wanted)
    if path is not None:
        return _taken(armature, path, action)
    found = [item for item in choosing.candidates(armature) if wanted in (item.name, item.title)]
    return found[0].name if found else wanted  # `read` refuses it by name


def _taken(armature, path, wanted):
    """The name of an action of another file, made to fit; a twin plays it, so that nothing changes on the armature."""
    twin = armature.copy()
    bpy.context.scene.collection.objects.link(twin)
    try:
        twin.animation_data_clear()
        donor.take(path, twin, wanted, None)
        action = twin.animation_data.action
        action.use_fake_user = True
        return action.name
    finally:
        bpy.data.objects.remove(twin)
