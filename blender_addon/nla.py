"""How Blender plays an object's action and NLA tracks, and how to lay strips so that they play the same.

Facts from anim_sys.cc, checked by tests/blender/test_layer_push.py:
- While no evaluating track has a strip, the active action plays *alone*: its blend type, influence and extrapolation
  are not looked at, and channels it does not key keep their stored values.
- Otherwise it lies over the tracks (under a solo it is silent), its time is the scene's, and with extrapolation Hold
  its curves go on beyond its keys.  A strip maps and clamps its time; at its ends curves stand still.
- Every channel of every action in an evaluating track is reset to the property's default where no strip acts: those
  of muted strips, and of an action that a solo silences, too.
  Of a quaternion all four components count as keyed as soon as one is.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import CoreError
from ..core.rotation import Array
from . import actions
from .actions import Channel

BEFORE = 240  # frames that an endless action is laid out beyond scene and keys: NLA time is float32, so not far
AFTER = 1000
ROUND_OFF = 1e-4  # frames by which a strip of its action's length may be off that


class LayerError(CoreError):
    """The rig's animation cannot take the layer."""


@dataclass(frozen=True)
class Stack:
    """What plays on an object.  alone: the active action without the NLA.  tracks: indices of the evaluating tracks.

    solo: the track that silences all others, or "".  active: whether the active action is heard.
    """

    alone: bool
    tracks: tuple[int, ...]
    solo: str
    active: bool


def read_stack(anim: Any) -> Stack:
    """What plays now, of an AnimData that is not in tweak mode."""
    solo = next((track.name for track in anim.nla_tracks if track.is_solo), "") if anim.use_nla else ""
    tracks = list(anim.nla_tracks) if anim.use_nla else []
    heard = [i for i, track in enumerate(tracks) if (track.is_solo if solo else not track.mute)]
    active = anim.action is not None and not solo and not actions.only_settings(anim)
    alone = active and not any(len(tracks[i].strips) for i in heard)
    return Stack(alone, tuple(heard), solo, active)


def strips_of(tracks: Any) -> list[Any]:
    """All strips of the tracks, those inside meta strips too."""
    found = [strip for track in tracks for strip in track.strips]
    for strip in found:
        found.extend(strip.strips)  # the list grows while it is walked: nested metas are reached
    return found


def keyed_channels(anim: Any, stack: Stack, ours: set[Any]) -> set[Channel]:
    """The channels that the playing actions key (ours left out), quaternions completed as the NLA completes them."""
    keyed: set[Channel] = set()
    if stack.active:
        keyed |= actions.channels_of(actions.curves_of(anim.action, actions.slot_of(anim)))
    for strip in strips_of([anim.nla_tracks[i] for i in stack.tracks] if not stack.alone else []):
        if strip.action is not None and strip.action not in ours:
            keyed |= actions.channels_of(actions.curves_of(strip.action, actions.slot_of(strip)))
    return keyed | missing_quaternions(keyed)


def missing_quaternions(keyed: set[Channel]) -> set[Channel]:
    """The components that partly keyed quaternions lack."""
    paths = {channel.path for channel in keyed if channel.path.endswith("rotation_quaternion")}
    return {Channel(path, i) for path in paths for i in range(4)} - keyed


def clip_range(strip: Any) -> tuple[float, float]:
    """First and last frame at which a strip plays the keys of its clip once.

    A strip may reach further: for keys of settings, or because the clip is endless.
    """
    once = strip.frame_start + (strip.action_frame_end - strip.action_frame_start) * strip.scale
    start, end = strip.frame_start, min(strip.frame_end, once)
    keys = actions.key_range(actions.curves_of(strip.action, actions.slot_of(strip)))
    if keys is None or strip.use_reverse:
        return start, end
    first, last = (strip.frame_start + (key - strip.action_frame_start) * strip.scale for key in keys)
    return (max(start, first), min(end, last)) if first < end and last > start else (start, end)


def clip_until(strip: Any) -> float:
    """The frame up to which a strip keeps its clip going."""
    curves, slot = actions.curves_of(strip.action, actions.slot_of(strip)), actions.slot_of(strip)
    goes_on = strip.repeat > 1.0 or any(map(_endless, curves)) or not actions.settings_of(strip.action, slot)
    return float(strip.frame_end if goes_on else clip_range(strip)[1])


def _endless(curve: Any) -> bool:
    return curve.extrapolation == "LINEAR" or any(not modifier.mute for modifier in curve.modifiers)


def _modified_ends(curves: list[Any]) -> tuple[bool, bool]:
    """Whether modifiers make the action's range endless before and after, as Blender counts its range."""
    before = after = False
    for curve in curves:
        if len(curve.modifiers):
            last = curve.modifiers[-1]
            if last.type == "CYCLES":
                before, after = before or last.mode_before != "NONE", after or last.mode_after != "NONE"
            elif last.type != "LIMITS":
                before = after = True
    return before, after


def strip_range(action: Any, slot: Any, extrapolation: str, span: tuple[float, float]) -> tuple[float, float, bool]:
    """Start and end of a strip that plays the action as it plays while active, and whether it had to be widened.

    extrapolation: of the AnimData.  span: frames that have to be covered where the action is endless.
    The strip's frames are the action's frames.  Widened ends are whole frames.
    """
    every = actions.all_curves(action)
    first, last = actions.key_range(every) or (0.0, 1.0)
    played = actions.curves_of(action, slot) + actions.settings_of(action, slot)
    endless = any(_endless(curve) for curve in played if actions.evaluates(curve))
    before, after = _modified_ends(every)
    widen_start = endless and (extrapolation == "HOLD" or before)
    widen_end = endless and (extrapolation != "NOTHING" or after)
    start = math.floor(min(first, span[0])) - BEFORE if widen_start else first
    end = math.ceil(max(last, span[1])) + AFTER if widen_end else last
    return start, end if end > start else start + 1.0, widen_start or widen_end


def plain(strip: Any) -> bool:
    """Whether a strip plays its action as it is, in place of all below it or combined with that, or is muted: nothing
    bends its time or fades it.

    One that scripts made longer than its action plays it again, whatever its repeat says; of a shorter one the action's
    last frame is seen at its end.
    """
    if strip.type != "CLIP" or strip.action is None:
        return False
    longer = strip.frame_end - strip.frame_start - (strip.action_frame_end - strip.action_frame_start)
    bent = strip.use_reverse or strip.use_animated_influence or strip.use_animated_time or len(strip.modifiers)
    blends = strip.blend_type not in ("REPLACE", "COMBINE") or strip.use_auto_blend or strip.blend_in or strip.blend_out
    once = strip.repeat == strip.scale == 1.0 and abs(longer) < ROUND_OFF
    return bool(strip.mute or (once and not bent and not blends))


def played(strip: Any, frames: Array) -> tuple[np.ndarray, Array]:
    """Whether a plain strip, alone on its track, acts at the frames (T,) of the scene, and the action's frames then.

    Ends are of single precision.  Between them Blender reckons in that, too, and is off by its round-off; here a clip
    is read as it was before it was pushed down.
    """
    frames, start, end = frames.astype(np.float32).astype(float), strip.frame_start, strip.frame_end
    acts = (frames >= start) & (frames <= end)
    acts |= (frames > end) & (strip.extrapolation != "NOTHING") | (frames < start) & (strip.extrapolation == "HOLD")
    return acts & (not strip.mute), np.clip(frames, start, end) - start + strip.action_frame_start


def new_track(anim: Any, name: str, after: Any = None) -> Any:
    """A track of an unused name above the given one, or on top of all."""
    unused = unused_track_name(anim, name)
    track = anim.nla_tracks.new(prev=after)
    track.name = unused
    return track


def unused_track_name(anim: Any, name: str) -> str:
    """The name, numbered where a track has it already."""
    taken = {track.name for track in anim.nla_tracks}
    unused, number = name, 0
    while unused in taken:
        number += 1
        unused = f"{name}.{number:03d}"
    return unused


def new_strip(track: Any, action: Any, slot: str, start: float, end: float, blend: str, extrapolation: str) -> Any:
    """A strip on an empty track whose frames are the action's frames, from start to end."""
    strip = track.strips.new(action.name, math.floor(start), action)
    actions.set_slot(strip, slot)
    strip.use_sync_length = False
    strip.use_auto_blend = False
    strip.blend_in = strip.blend_out = 0.0
    strip.action_frame_end = max(end, strip.action_frame_start)
    strip.action_frame_start = start
    strip.action_frame_end = end
    strip.repeat = strip.scale = 1.0
    strip.frame_start_raw, strip.frame_end_raw = start, end
    strip.blend_type = blend
    strip.extrapolation = extrapolation
    return strip


def set_influence(strip: Any, influence: float) -> None:
    """Give a strip a constant influence; without a curve Blender plays it in full."""
    strip.use_animated_influence = True
    curve = strip.fcurves.find("influence")
    while len(curve.keyframe_points) > 1:
        curve.keyframe_points.remove(curve.keyframe_points[-1])
    if not len(curve.keyframe_points):
        curve.keyframe_points.add(1)
    curve.keyframe_points[0].co = (strip.frame_start, influence)
    curve.update()
    strip.influence = influence


def push_down(anim: Any, stack: Stack, span: tuple[float, float]) -> Any:
    """Lay the active action on a track of its own on top, so that it plays as it did, and deactivate it."""
    action, slot = anim.action, actions.slot_of(anim)
    blend, extrapolation, influence = anim.action_blend_type, anim.action_extrapolation, anim.action_influence
    if stack.alone:
        blend, extrapolation, influence = "REPLACE", "HOLD", 1.0
    start, end, widened = strip_range(action, slot, extrapolation, span)
    track = new_track(anim, action.name)
    try:
        strip = new_strip(track, action, actions.slot_identifier(anim), start, end, blend, extrapolation)
        strip.use_sync_length = not widened
        if influence < 1.0:
            set_influence(strip, influence)
    except Exception:
        anim.nla_tracks.remove(track)
        raise
    track.mute = not stack.active
    anim.action = None
    return track


def lay_settings(anim: Any, span: tuple[float, float]) -> None:
    """Lay an active action that keys settings alone on a track of its own, where it goes on: a clip takes its place."""
    action, slot = anim.action, actions.slot_of(anim)
    start, end, _ = strip_range(action, slot, "HOLD", span)
    track = new_track(anim, action.name)
    try:
        new_strip(track, action, actions.slot_identifier(anim), start, end, "REPLACE", "HOLD")
    except Exception:
        anim.nla_tracks.remove(track)
        raise
    anim.action = None
