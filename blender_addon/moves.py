"""What is done to a reaction by hand: its strip dragged in the NLA editor, a hit's marker in the action editor.

Keys that were moved lie on another part of the clip, so the reaction has to be solved anew there; Update does it.  How
the strip fades is the animator's, and stays.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from . import layer_undo, records

NOTHING = 1e-3  # [frames]


def shifts(rig: Any, record: Any) -> list[float]:
    """By how many frames each hit that landed has been moved since, in order of time."""
    landed = records.load(record.landed)
    strips = _strips(rig, record)
    by = strips[0].frame_start - strips[0].action_frame_start if strips else 0.0
    markers = list(record.action.pose_markers) if record.action is not None else []
    own = [0.0] * len(landed)
    if len(markers) == len(landed):  # else some were added or deleted: nobody knows which is which
        own = [marker.frame - round(hit["frame"]) for marker, hit in zip(markers, landed, strict=True)]
    return [float(by + each) for each in own]


def is_moved(rig: Any, record: Any) -> bool:
    """Whether a hit of the reaction has been moved by hand."""
    return any(abs(by) > NOTHING for by in shifts(rig, record))


def is_bent(rig: Any, record: Any) -> bool:
    """Whether a strip of the reaction was reversed, stretched, repeated or blended otherwise: it doesn't play what was
    solved."""
    strips = _strips(rig, record)
    bent = (s.use_reverse or abs(s.scale - 1.0) > NOTHING or s.repeat != 1.0 for s in strips)
    return any(bent) or any(strip.blend_type != record.blend for strip in strips)


def fade_alike(rig: Any, record: Any, other: Any) -> None:
    """Let a reaction's strip have the influence and the blends of another one's, as long after its start."""
    strips = [_strips(rig, one)[:1] for one in (other, record)]
    if not all(strips):
        return
    (old,), (new,) = strips
    for name in ("use_auto_blend", "blend_in", "blend_out", "use_animated_influence"):
        setattr(new, name, getattr(old, name))
    if not old.use_animated_influence:
        return
    by = new.frame_start - old.frame_start
    kept, curve = (strip.fcurves.find("influence") for strip in (old, new))
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(kept.keyframe_points))
    for key, one in zip(kept.keyframe_points, curve.keyframe_points, strict=True):
        for name in ("interpolation", "easing", "handle_left_type", "handle_right_type"):
            setattr(one, name, getattr(key, name))
        for name in ("co", "handle_left", "handle_right"):
            x, y = getattr(key, name)
            setattr(one, name, (x + by, y))
    curve.extrapolation = kept.extrapolation
    new.influence = old.influence


def _strips(rig: Any, record: Any) -> list[Any]:
    """The strips of the reaction's own keys."""
    return [strip for _, strip, kind in layer_undo.own_strips(rig, record) if kind == "action"]


def followed(rig: Any, record: Any, made: Any) -> Any:
    """The recipe with its hits where they were moved to; one that has been given another frame keeps that."""
    by = shifts(rig, record)
    landed = records.load(record.landed)
    active = [i for i, hit in enumerate(made.hits) if hit.enabled and hit.frame is not None]
    hits = list(made.hits)
    for i in active:
        near = [k for k, hit in enumerate(landed) if abs(hit["frame"] - hits[i].frame) < NOTHING]
        if near:
            hits[i] = replace(hits[i], frame=float(np.round(hits[i].frame + by[near[0]], 3)))
    return replace(made, hits=tuple(hits))
