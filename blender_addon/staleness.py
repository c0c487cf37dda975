"""Whether what a reaction was solved on has changed since: the keys and strips below it, the rest pose, the bones'
limits, the time base, the keys of what carries the armature.

A reaction's record keeps a fingerprint of them.  Panels ask `is_stale` at every redraw; answers are worked out anew
only after Blender has told of a change (`once`), and then a clip is read once, however many reactions lie on it.
"""

import hashlib
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import actions, layer_undo, limits, nla, timing
from .memory import memory

CHANGING = (bpy.types.Action, bpy.types.Object, bpy.types.Armature, bpy.types.Scene)
STRIP = (
    "frame_start",
    "frame_end",
    "action_frame_start",
    "action_frame_end",
    "scale",
    "repeat",
    "use_reverse",
    "mute",
    "blend_type",
    "extrapolation",
    "blend_in",
    "blend_out",
    "use_animated_influence",
)
KEYS = ("co", "handle_left", "handle_right")

_known = memory()


def note(rig: Any, record: Any) -> None:
    """Take what lies below the reaction now as what it was solved on."""
    _known.clear()  # whatever changed since Blender told of it last
    record.fingerprint = fingerprint(rig, record)


def is_stale(rig: Any, record: Any) -> bool:
    """Whether the reaction would come out otherwise now; one without a fingerprint (an older file) counts as fresh."""
    if not record.fingerprint:
        return False
    return bool(once(rig, ("stale", record.name), lambda: record.fingerprint != fingerprint(rig, record)))


def once(thing: Any, what: tuple[str, ...], work: Callable[[], Any]) -> Any:
    """The answer of `work` about a rig or an action in this scene (windows may show several), asked for once until
    Blender tells of a change.  what: names the question."""
    key = (bpy.context.scene.name_full, thing.name_full, *what)
    if key not in _known:
        _known[key] = work()
    return _known[key]


def fingerprint(rig: Any, record: Any) -> str:
    """What the reaction lies on, in 40 letters: equal where all keys, strips and rest poses are."""
    digest = hashlib.sha1()
    _add(digest, timing.rate(bpy.context.scene))
    for bone in rig.data.bones:
        side = (round(value, 2) + 0.0 for value in bone.matrix_local.col[0][:3])  # worked out anew by every Blender
        _add(digest, bone.name, bone.parent.name if bone.parent else "", *bone.head, *bone.tail, *side)
    _add(digest, *(bone.rotation_mode for bone in rig.pose.bones))
    for name, stop in limits.said(rig, rig.pose.bones.keys(), {})[0].items():
        _add(digest, name, stop)
    for strip in _below(rig, record):
        _add_strip(digest, strip)
    for anim in _carrying(rig):
        if anim.action is not None:
            _add_action(digest, anim)
        for strip in nla.strips_of([track for track in anim.nla_tracks if not track.mute]):
            if strip.action is not None:
                _add_strip(digest, strip)
    return digest.hexdigest()


def _carrying(rig: Any) -> Iterator[Any]:
    """The animation of the objects that an armature hangs on: a seat, a car."""
    while rig.parent is not None:
        rig = rig.parent
        if rig.animation_data is not None:
            yield rig.animation_data


def _add_strip(digest: Any, strip: Any) -> None:
    """What a strip plays, and how."""
    _add(digest, *(getattr(strip, name) for name in STRIP))
    if strip.action is not None:
        _add_action(digest, strip)
    for curve in _own_curves(strip):
        _add_curve(digest, curve)
    _add_modifiers(digest, strip.modifiers)


def _add_action(digest: Any, playing: Any) -> None:
    """What a strip or an object's animation plays."""
    _add(digest, once(playing.action, ("curves", actions.slot_identifier(playing)), partial(_of_clip, playing)))


def _of_clip(strip: Any) -> str:
    """The fingerprint of what a strip or an object's animation plays."""
    digest = hashlib.sha1()
    for curve in actions.curves_of(strip.action, actions.slot_of(strip)):
        _add_curve(digest, curve)
    return digest.hexdigest()


def _below(rig: Any, record: Any) -> list[Any]:
    """The strips of the tracks that are switched on, without those of the reaction itself and of later ones; but where
    a later one lets the clip go on while this one acts, it lies on that."""
    if rig.animation_data is None:
        return []
    this, *later = list(rig.parametric_dynamics_reactions)[rig.parametric_dynamics_reactions.find(record.name) :]
    end = record.action.frame_range[1] if record.action is not None else -math.inf
    ours = {strip.as_pointer() for _, strip, _ in layer_undo.own_strips(rig, this)}
    for other in later:
        for _, strip, kind in layer_undo.own_strips(rig, other):
            if kind != "continuation" or strip.frame_start >= end:
                ours.add(strip.as_pointer())
    tracks = [track for track in rig.animation_data.nla_tracks if not track.mute]
    below = [strip for strip in nla.strips_of(tracks) if strip.as_pointer() not in ours]
    below = [strip for strip in below if not actions.only_settings(strip)]
    plain = {strip.as_pointer() for strip in below if strip.type != "META"}
    return [s for s in below if s.type != "META" or any(part.as_pointer() in plain for part in nla.strips_of([s]))]


def _own_curves(strip: Any) -> list[Any]:
    """The curves of a strip's own influence and time, where they count."""
    counts = {"influence": strip.use_animated_influence, "strip_time": strip.use_animated_time}
    return [curve for curve in strip.fcurves if counts.get(curve.data_path)]


def _add(digest: Any, *values: Any) -> None:
    digest.update(repr(values).encode())


def _add_curve(digest: Any, curve: Any) -> None:
    """A curve's keys, and what else shapes it."""
    _add(digest, curve.data_path, curve.array_index, actions.evaluates(curve), curve.extrapolation)
    points = curve.keyframe_points
    values = np.empty(2 * len(points), dtype=np.float32)
    for name in KEYS:
        points.foreach_get(name, values)
        digest.update(values.tobytes())
    kinds = np.empty(len(points), dtype=np.int32)
    points.foreach_get("interpolation", kinds)
    digest.update(kinds.tobytes())
    _add_modifiers(digest, curve.modifiers)


def _add_modifiers(digest: Any, modifiers: Any) -> None:
    for modifier in modifiers:
        plain = [p.identifier for p in modifier.bl_rna.properties if p.type in ("FLOAT", "INT", "BOOLEAN", "ENUM")]
        values = (getattr(modifier, name) for name in plain if not name.startswith("show_"))
        _add(digest, *(repr(tuple(v) if isinstance(v, bpy.types.bpy_prop_array) else v) for v in values))
        for point in getattr(modifier, "control_points", ()):  # of an envelope
            _add(digest, point.frame, point.min, point.max)


# -- being told of changes ---------------------------------------------------------------------------------------------


@persistent
def _changed(_scene: Any, depsgraph: Any) -> None:
    if _known and any(isinstance(update.id, CHANGING) for update in depsgraph.updates):
        _known.clear()


def register() -> None:
    """Listen for changes."""
    bpy.app.handlers.depsgraph_update_post.append(_changed)


def unregister() -> None:
    """Stop listening."""
    bpy.app.handlers.depsgraph_update_post.remove(_changed)
