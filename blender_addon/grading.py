"""The command `quality`: which clips are meant, read one after the other, and the verdict on them."""

import bpy
import numpy as np

from ..core.errors import SituationError
from ..core.quality import Blow, judge
from . import files, importing, quality


def grade(options):
    """(text for people, facts for the report)."""
    if options.frame is not None and (options.against is None or options.direction is None):
        raise SituationError("A hit is judged against the clip it lands in. Give --against and --direction too.")
    other = None if options.against is None else _other(options)
    opened, actor, clip = _read(options.input, options.clip, options.armature, options.action)
    own = None if other is None else quality.against(actor, clip, *other[1:])
    hit = None if options.frame is None else _hit(options, actor, clip)
    found = quality.facts(judge(actor, clip, own, hit), clip.fps)
    facts = {
        "blender": bpy.app.version_string,
        "armature": opened.armature,
        "action": opened.action,
        "action_choice": opened.why,
        "against": None if other is None else other[0].action,
        "fps": clip.fps,
        "frame_range": [float(clip.frames[0]), float(clip.frames[-1])],
        "quality": found,
        "warnings": [*opened.warnings, *clip.warnings],
    }
    beside = "by itself" if other is None else "against '{}'".format(other[0].action)
    return quality.as_text(found, "{} {}".format(opened.action or opened.armature, beside)), facts


def _read(path, clip, armature, action):
    """(Opened, Actor, Clip) of a file."""
    opened = files.open_input(path, clip, armature, action)
    rig = bpy.data.objects[opened.armature]
    return (opened, *quality.read(bpy.context, rig))


def _other(options):
    """The clip of --against: FILE, FILE/ACTION, or an action of INPUT."""
    path, action = importing.file_and_action(options.against)
    if path is not None:
        return _read(path, None, None, action)
    return _read(options.input, options.clip, options.armature, action)


def _hit(options, actor, clip):
    direction = np.array(options.direction)
    if not np.linalg.norm(direction) > 0.0:
        raise SituationError("The hit's direction has no length. Give it one that points somewhere.")
    body = actor.find(options.bone, (), "quality")
    return Blow(
        time=options.frame / clip.fps,
        body=body,
        point=0.5 * actor.axis[body],
        direction=direction / np.linalg.norm(direction),
        impulse=abs(options.impulse),
    )
