"""Switches of a rig that its clip keys: IK or FK, poles, spaces.  Where one turns, other controls move the body.

A switch is what a constraint's strength hangs on: its influence itself, or a property that a driver of it reads.
"""

import re

from ..core.errors import ClipError
from . import layer_undo, nla, timing
from .sampling import BONE_PATH, bone_of

STAGES = 6  # states of all switches that a reaction may pass through
SAME = 1e-3  # within which a switch stands as it stood
CONSTRAINT = ".constraints["


def stages(context, armature, frames):
    """Indices of the frames (ascending) from which on keyed switches stand otherwise than before, 0 first.

    ClipError where there are more than STAGES, as when a switch turns slowly.  The scene is left at one of the frames.
    """
    paths = _keyed(armature)
    starts, before, turned = [0], None, paths[:1]
    for k, frame in enumerate(frames if paths else ()):
        timing.show(context.scene, float(frame))
        now = [float(armature.path_resolve(path)) for path in paths]
        if before is not None:
            moved = [path for path, a, b in zip(paths, before, now, strict=True) if abs(a - b) > SAME]
            turned = moved or turned
            starts += [k] if moved else []
        before = now
    if len(starts) > STAGES:
        raise ClipError(_refusal(turned[0]))
    return starts


def _refusal(path):
    match = BONE_PATH.match(path)
    text = "{} changes its switch {} at too many frames of the reaction. Key it to turn at once, or hit elsewhere."
    owner = "Bone '{}'".format(bone_of(path)) if match else "The rig"
    return text.format(owner, re.sub(r'^\["|"\]$', "'", match.group(2) if match else path))


def _keyed(armature):
    """RNA paths of the numbers that are keyed and on which constraints hang."""
    data = armature.animation_data
    if data is None:
        return []
    read = {
        target.data_path
        for curve in data.drivers
        if CONSTRAINT in curve.data_path
        for variable in curve.driver.variables
        for target in variable.targets
        if target.id == armature
    }
    ours = layer_undo.own_actions(armature)
    keyed = sorted({channel.path for channel in nla.keyed_channels(data, nla.read_stack(data), ours)})
    return [path for path in keyed if (path in read or CONSTRAINT in path) and _number(armature, path)]


def _number(armature, path):
    try:
        return isinstance(armature.path_resolve(path), int | float)
    except ValueError:  # keys of what is no longer there
        return False
