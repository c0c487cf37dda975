"""Switches of a rig that its clip keys: IK or FK, poles, spaces.  Where one turns, other controls move the body.

A switch is what a constraint's strength hangs on: its influence itself, or a property that a driver of it reads.
"""

import re
from contextlib import contextmanager

from ..core.errors import ClipError
from . import actions, layer_undo, timing
from .actions import bone_and_property

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


def curves(armature, several):
    """Those f-curves of an action that turn switches."""
    paths = set(_switches(armature, {curve.data_path for curve in several if actions.evaluates(curve)}))
    return [curve for curve in several if curve.data_path in paths]


@contextmanager
def kept(armature, several):
    """Puts the numbers that f-curves drive back in the end."""
    before = [(curve.data_path, armature.path_resolve(curve.data_path)) for curve in several]
    try:
        yield
    finally:
        for path, value in before:
            _set(armature, path, value)


def put(armature, several, frame):
    """Give the numbers that f-curves drive their values at one of their frames."""
    for curve in several:
        value = curve.evaluate(frame)
        now = armature.path_resolve(curve.data_path)
        _set(armature, curve.data_path, value if isinstance(now, float) else type(now)(round(value)))


def _set(armature, path, value):
    owner, key = re.fullmatch(r"(.*?)(\[\"[^\"]*\"\]|\.?\w+)", path).groups()
    owner = armature.path_resolve(owner) if owner else armature
    if key.startswith("["):
        owner[key[2:-2]] = value
    else:
        setattr(owner, key.lstrip("."), value)


def _refusal(path):
    bone, rest = bone_and_property(path)
    text = "{} changes its switch {} at too many frames of the reaction. Key it to turn at once, or hit elsewhere."
    owner = "The rig" if bone is None else "Bone '{}'".format(bone)
    return text.format(owner, re.sub(r'^\["|"\]$', "'", rest))


def _keyed(armature):
    """RNA paths of the numbers that are keyed and on which constraints hang."""
    return _switches(armature, {channel.path for channel in layer_undo.keyed_below(armature)})


def _switches(armature, paths):
    """Those of the RNA paths, sorted, that lead to numbers on which constraints hang."""
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
    return [path for path in sorted(paths) if (path in read or CONSTRAINT in path) and _number(armature, path)]


def _number(armature, path):
    try:
        return isinstance(armature.path_resolve(path), int | float)
    except ValueError:  # keys of what is no longer there
        return False
