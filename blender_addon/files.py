"""The input of the commands: open or import a file, choose its armature and clip, and say why these."""

import math
from dataclasses import dataclass

import bpy

from . import choosing, donor, importing, rig, source


@dataclass(frozen=True)
class Opened:
    """What was opened: names only, for Blender's references do not last.

    action: "" where NLA strips play.  why: one phrase that tells how action and armature were chosen.
    """

    armature: str
    action: str
    why: str
    warnings: tuple[str, ...] = ()


def open_input(path, clip=None, armature=None, action=None):
    """Open INPUT (and take its action from the file `clip`); Opened, or CoreError with what is missing and the cure.

    armature, action: names.  Replaces the open file.
    """
    path = importing.check(path)
    if clip is not None:
        clip = importing.check(clip)
    stances = importing.load(path)
    body = _armature(path, armature)
    rig.require_editable(body)
    if clip is not None:
        why, warnings = donor.take(clip, body, action, stances.of(body))
    else:
        why, warnings = _choose(path, body, action, stances.of(body)), ()
    bpy.context.view_layer.objects.active = body
    found = source.of(body)
    if found is None:
        raise choosing.InputError(choosing.still(path, body))
    if path.suffix.lower() != ".blend" or clip is not None:
        _show(found)
    bpy.context.view_layer.update()
    return Opened(body.name, "" if found.strip else found.action, why, tuple(warnings))


# -- the armature ----------------------------------------------------------------------------------------------------


def _armature(path, name):
    """The named armature, else the active one of a .blend, else the one that moves, else the one with most bones."""
    objects = bpy.context.view_layer.objects
    found = {item.name: item for item in objects if item.type == "ARMATURE" and item.data.bones}
    if name is not None and name not in found:
        raise choosing.InputError(
            "'{}' has no armature '{}'. {}".format(
                path.name, name, choosing.offer("It has", name, found) or "It has none."
            )
        )
    if name is not None:
        return found[name]
    if not found:
        raise choosing.InputError(choosing.bodiless(path))
    active = objects.active
    if active is not None and active.name in found and source.of(active) is not None:
        return active
    return max(found.values(), key=lambda item: (source.of(item) is not None, len(item.data.bones), item.name))


# -- the action ------------------------------------------------------------------------------------------------------


def _choose(path, body, wanted, stance):
    """Make the wanted, active or most fitting action play alone; gives the reason."""
    playing = source.of(body)
    imported = path.suffix.lower() != ".blend"
    if wanted is None and playing is not None and not imported:
        return "its NLA strips play" if playing.strip else "the active action"
    offered = choosing.candidates(body)
    if wanted is None and not imported:
        offered = [item for item in offered if item.name in _stashed(body)]
    if not offered and wanted is None:
        raise choosing.InputError(choosing.still(path, body))
    chosen, why = choosing.named(path, wanted, offered) if wanted is not None else choosing.fitting(offered)
    choosing.play(body, chosen, stance)
    return why


def _stashed(body):
    data = body.animation_data
    tracks = [] if data is None else data.nla_tracks
    return {strip.action.name for track in tracks for strip in track.strips if strip.action is not None}


def _show(found):
    """Let the scene's range be the clip's, and stand at its start."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = math.floor(max(found.start, 0.0)), math.ceil(found.end)
    scene.frame_set(math.ceil(found.start))
