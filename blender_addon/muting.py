"""Reactions, or strips of theirs, muted while something is read without them."""

import math

import bpy

from . import nla
from .layer_undo import NEAR, own_strips


class muted:
    """While it lasts, strips of an armature, (track, strip), are muted, where they aren't anyway.

    By names: it may last over the steps of a modal operator.
    """

    def __init__(self, context, armature, strips):
        self.context, self.name = context, armature.name
        self.muted = {(track.name, strip.name) for track, strip in strips if not strip.mute}

    def __enter__(self):
        self._mute(True)

    def __exit__(self, *_):
        self._mute(False)

    def _mute(self, mute):
        armature = bpy.data.objects[self.name]
        for track in armature.animation_data.nla_tracks:
            for strip in nla.strips_of([track]):
                if (track.name, strip.name) in self.muted:
                    strip.mute = mute
        armature.update_tag(refresh={"OBJECT", "DATA", "TIME"})
        self.context.view_layer.update()


class without(muted):
    """While it lasts, the reaction and those above it are muted, with what goes on for it and after that; holds keep
    what is."""

    def __init__(self, context, armature, record):
        kept = armature.parametric_dynamics_reactions
        found = [(t, s) for t, s, kind in own_strips(armature, record) if kind == "continuation"]
        end = min((strip.frame_end for _, strip in found), default=math.inf) - NEAR
        for above in kept[kept.find(record.name) :]:
            for track, strip, kind in own_strips(armature, above):
                if kind == "action" or (kind == "continuation" and strip.frame_start >= end):
                    found.append((track, strip))
        super().__init__(context, armature, found)
