"""Hits moved in time by hand: the reaction's strip dragged in the NLA editor, or a hit's marker in the action editor.

Keys that were moved lie on another part of the clip, so the reaction has to be solved anew there; Update does it.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from . import layer_undo, records

NOTHING = 1e-3  # [frames]


def shifts(rig: Any, record: Any) -> list[float]:
    """By how many frames each hit that landed has been moved since, in order of time."""
    landed = records.load(record.landed)
    strips = [strip for _, strip, kind in layer_undo.own_strips(rig, record) if kind == "action"]
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
    """Whether a strip of the reaction was reversed, stretched or repeated: it doesn't play what was solved."""
    strips = [strip for _, strip, kind in layer_undo.own_strips(rig, record) if kind == "action"]
    return any(strip.use_reverse or abs(strip.scale - 1.0) > NOTHING or strip.repeat != 1.0 for strip in strips)


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
