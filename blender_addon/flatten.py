"""Flatten: the clip and its reactions become one ordinary action, and the layers go.

Curves that no reaction touches are copied as they are; the others get a key at every frame of what the scene shows.
"""

import math
from dataclasses import replace

import numpy as np

from ..core.rotation import continuous
from . import actions, layer, layer_checks, layer_undo, nla, records, rig, sampling, timing
from .actions import Curve


def flatten(context, armature, name=""):
    """(name of the new action, notes); CoreError where the rig can't be read, with nothing changed."""
    if armature.animation_data.action is not None and not actions.only_settings(armature.animation_data):
        text = "The action '{}' lies over the reactions. Push it down or unlink it, then flatten."
        raise layer.LayerError(text.format(armature.animation_data.action.name))
    for record in armature.parametric_dynamics_reactions:
        layer_checks.require_own(armature, record.name)
    base = records.base_of(armature)
    alone = base is not None and base.track and not _others_play(armature.animation_data, base)
    clip = base.action if alone else None
    if clip is None:  # strips of the user's own: whatever they key
        channels = nla.keyed_channels(armature.animation_data, nla.read_stack(armature.animation_data), set())
    else:
        channels = _own_channels(armature)
    frames = _frames(context.scene, armature, clip)
    curves = _sampled(context, armature, channels, frames)
    slot = layer_undo.base_slot(base, layer_undo.pushed_strips(armature.animation_data, base)) if alone else ""
    made, slot = _action(armature, clip, slot, curves, frames)
    made.name = name.strip() or "{} flat".format(clip.name if clip is not None else armature.name)
    try:
        notes = [n for r in reversed(layer.reactions(armature)) for n in layer.remove(context, armature, r.name)]
    except Exception:
        actions.discard(made)
        raise
    if clip is not None:
        clip.use_fake_user = True  # nothing plays it now, and it must not be lost
    data = armature.animation_data
    if actions.only_settings(data):
        nla.lay_settings(data, timing.span(context.scene))
    actions.assign(data, made, slot)
    if clip is None:
        data.action_blend_type, data.action_influence = "REPLACE", 1.0
    return made.name, notes


def _others_play(data, base):
    """Whether clips on tracks of the user's own are heard besides; importers leave theirs on muted ones."""
    own = set(records.load(base.foreign))
    heard = [data.nla_tracks[i] for i in nla.read_stack(data).tracks if data.nla_tracks[i].name in own]
    return any(not actions.only_settings(strip) for strip in nla.strips_of(heard))


def _own_channels(armature):
    """Every channel that a reaction of the rig keys."""
    found = set()
    for record in armature.parametric_dynamics_reactions:
        for _, strip, kind in layer_undo.own_strips(armature, record):
            if kind in ("action", "continuation"):
                found |= actions.channels_of(actions.curves_of(strip.action, actions.slot_of(strip)))
    return found | nla.missing_quaternions(found)


def _frames(scene, armature, clip):
    """(K,) all whole frames that somebody looks at, with the fractional ones that have keys."""
    keys = [*timing.span(scene)]
    for record in armature.parametric_dynamics_reactions:
        for _, strip, kind in layer_undo.own_strips(armature, record):
            keys += [strip.frame_start, strip.frame_end] if kind in ("action", "continuation") else []
    for curve in actions.all_curves(clip) if clip is not None else ():
        co = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", co)
        keys += np.round(co[::2].astype(np.float64), 4).tolist()
    whole = np.arange(math.floor(min(keys)), math.ceil(max(keys)) + 1.0)
    return np.unique(np.concatenate((whole, keys)))


def _sampled(context, armature, channels, frames):
    """Curves of the bone and object channels among them, as the scene shows them."""
    skeleton = rig.read(context, armature)
    _, _, shown = sampling.sample_scene(context, armature, skeleton, frames)
    shown = replace(shown, quaternion=continuous(shown.quaternion))  # between keys Blender mixes components
    index = {name: i for i, name in enumerate(skeleton.names)}
    curves = []
    for channel in sorted(channels):
        view = sampling.slot_of(shown, armature, index, channel)
        if view is not None:
            group = actions.bone_of(channel.path) or "Object Transforms"
            curves.append(Curve(channel, group, view.copy()))
    return curves


def _action(armature, clip, slot, curves, frames):
    """(action, slot): a copy of the clip in which these curves replace its own, or a new action of them."""
    if clip is None:
        return actions.create(armature.name, armature, curves, frames)
    made = clip.copy()
    try:
        actions.replace(made, slot, curves, frames)
    except Exception:
        actions.discard(made)
        raise
    return made, slot
