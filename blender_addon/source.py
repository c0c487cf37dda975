"""Which animation is in force on an armature, and how far the scene itself plays it."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Source:
    """The animation in force.

    action, slot: its name and its slot's identifier ("" before Blender 4.4).  start, end: frames of this slot's keys,
    or of the strip that plays it.  until: frame up to which the scene keeps playing it (inf for a Cycles modifier,
    the end of a repeated strip, else `end`).  strip: name of the NLA strip it comes from, "" for the active action.
    """

    action: str
    slot: str
    start: float
    end: float
    until: float
    strip: str = ""


def of(armature):
    """The Source in force, or None for an armature without animation."""
    data = armature.animation_data
    if data is None:
        return None
    if data.action is not None and not data.use_tweak_mode:
        return _active(data)
    strips = strips_in_force(armature)
    return _strip(strips) if strips else None


def curves_in_force(armature):
    """The f-curves of the active action's slot, as a list; empty without action or slot."""
    data = armature.animation_data
    if data is None or data.action is None:
        return []
    return curves_of(data.action, getattr(data, "action_slot", None))


def curves_of(action, slot):
    """The f-curves of one slot of an action (before Blender 4.4: all of them)."""
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    if slot is None:
        return []
    bags = [strip.channelbag(slot) for layer in action.layers for strip in layer.strips]
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def strips_in_force(armature):
    """Strips that the NLA evaluates, from the lowest track up."""
    data = armature.animation_data
    if data is None or not data.use_nla:
        return []
    tracks = [track for track in data.nla_tracks if track.is_solo] or [track for track in data.nla_tracks if not track.mute]
    return [strip for track in tracks for strip in track.strips if not strip.mute]


def span(curves):
    """(first, last) keyed frame of f-curves, or None where none has a key."""
    ranges = np.array([tuple(curve.range()) for curve in curves if not curve.is_empty])
    return (float(ranges[:, 0].min()), float(ranges[:, 1].max())) if len(ranges) else None


def _active(data):
    keyed = curves_in_force(data.id_data)
    frames = span(keyed)
    if frames is None:
        return None
    endless = any(_cycles(curve) for curve in keyed)
    slot = getattr(data, "action_slot", None)
    return Source(
        action=data.action.name,
        slot="" if slot is None else slot.identifier,
        start=frames[0],
        end=frames[1],
        until=np.inf if endless else frames[1],
    )


def _cycles(curve):
    return any(m.type == "CYCLES" and not m.mute and m.mode_after != "NONE" for m in curve.modifiers)


def _strip(strips):
    """The topmost full strip with an action; deltas on top of it are not the motion itself."""
    acting = [strip for strip in strips if strip.action is not None]
    if not acting:
        return None
    whole = [strip for strip in acting if strip.blend_type == "REPLACE"] or acting
    strip = whole[-1]
    once = (strip.action_frame_end - strip.action_frame_start) * strip.scale
    slot = getattr(strip, "action_slot", None)
    return Source(
        action=strip.action.name,
        slot="" if slot is None else slot.identifier,
        start=strip.frame_start,
        end=min(strip.frame_end, strip.frame_start + once),
        until=strip.frame_end,
        strip=strip.name,
    )
