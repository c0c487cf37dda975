"""The clip as Blender shows it: a rig's motion read into `core.skeleton.Clip` and its pose channels."""

from dataclasses import replace

import numpy as np

from ..core import cuts
from ..core.between import steadied
from ..core.errors import ClipError
from ..core.kinks import rounded
from ..core.progress import run
from ..core.skeleton import Clip
from ..core.stepped import eased
from . import continuation, source, timing
from .fk import turns
from .sampling import (
    BONE,
    sample,
    sample_curves,
    sample_scene,
    sampling,
    shortcut,
    stored_channels,
    write_stored,
)

__all__ = [
    "BONE",
    "pick",
    "read",
    "read_on",
    "reading",
    "reading_on",
    "sample",
    "sample_curves",
    "sample_scene",
    "shortcut",
    "simulated",
    "steady",
    "stored_channels",
    "to_clip",
    "turns",
    "write_stored",
]

# Relative difference of the object's scale between axes or over time that is worth a warning.
UNEVEN = 1e-3

SHEARING = ("FULL", "FIX_SHEAR")  # ways to inherit a parent's scale that stretch a bone as it turns


def read(context, armature, skeleton, frames):
    """(Clip, Channels) of all bones of the skeleton at the frames (ascending, may be fractional)."""
    return run(reading(context, armature, skeleton, frames))


def reading(context, armature, skeleton, frames):
    """`read` as a generator of its progress."""
    frames = np.asarray(frames, dtype=np.float64)
    matrices, world, channels = yield from sampling(context, armature, skeleton, frames)
    return to_clip(context.scene, armature, skeleton, frames, matrices, world), channels


def read_on(context, armature, skeleton, frames, found):
    """`reading_on` in one go."""
    return run(reading_on(context, armature, skeleton, frames, found))


def reading_on(context, armature, skeleton, frames, found):
    """As `reading`, but where the scene's clip stops before the last frame it goes on.

    found: the Source in force.  Returns (Clip, Channels, how, added): how is "" where the frames end with the clip,
    "plays on" where the scene itself goes on, "repeated" where a loop was laid end to end with its travel, or "held".
    added: Channels that somebody must add to the scene so that it shows the same, or None: at all whole frames from the
    first after the end on, and at the asked frames between.
    """
    frames = np.asarray(frames, dtype=np.float64)
    steps = continuation.sampling_on(context, armature, skeleton, frames, found)
    matrices, world, channels, how, added = yield from steps
    return to_clip(context.scene, armature, skeleton, frames, matrices, world), channels, how, added


def to_clip(scene, armature, skeleton, frames, matrices, world):
    """The core's Clip from bone matrices (T, n, 4, 4) and the object's (T, 4, 4)."""
    scale, warnings = _object_scale(armature.name, world)
    name = source.of(armature)
    return Clip(
        fps=timing.rate(scene),
        frames=np.asarray(frames, dtype=np.float64),
        rotation=turns(matrices[..., :3, :3], skeleton.rotation),
        position=matrices[..., :3, 3].copy(),
        object_rotation=turns(world[:, None, :3, :3], np.array([[1.0, 0.0, 0.0, 0.0]]))[:, 0],
        object_position=world[:, :3, 3].copy(),
        scale=scale,
        name="" if name is None else name.action,
        warnings=warnings,
    )


def _object_scale(name, world):
    """(signed uniform scale, warnings) of the object's matrices (T, 4, 4)."""
    linear = world[:, :3, :3]
    scale = np.cbrt(np.linalg.det(linear))
    size = np.linalg.norm(linear, axis=-2)
    if np.min(np.abs(scale)) == 0.0:
        raise ClipError("The armature '{}' is scaled to nothing. Give it a scale other than 0.".format(name))
    warnings = []
    if np.max(size) > (1.0 + UNEVEN) * np.min(size):
        uneven = np.max(size.max(axis=-1) / size.min(axis=-1)) > 1.0 + UNEVEN
        text = (
            "The armature '{}' is scaled unevenly. Distances are measured with its mean scale; apply the scale."
            if uneven
            else "The scale of the armature '{}' changes in the clip. Distances are measured with its first scale."
        )
        warnings.append(text.format(name))
    return float(scale[0]), tuple(warnings)


def steady(clip, channels):
    """The clip without what keys that jump do between whole frames, which is told in a warning."""
    clip, whirls = steadied(clip, channels.jumps)
    if not whirls:
        return clip
    bone, frame = whirls[0]
    text = (
        "Keys of {} jump by half a turn or more between frames {:g} and {:g}{}: the reaction goes by whole frames "
        "there. Use Key > Discontinuity (Euler) Filter in the Graph Editor, or for quaternions Pose > Flip Quats."
    )
    who = "bone '{}'".format(channels.names[bone]) if bone >= 0 else "the armature object"
    more = " and {} times more".format(len(whirls) - 1) if len(whirls) > 1 else ""
    return replace(clip, warnings=(*clip.warnings, text.format(who, frame, frame + 1.0, more)))


def simulated(clip, body, timed, at, stays):
    """The clip as if its body went on where it jumps, and what is simulated: that at the moments timed (T,) bool,
    without the kinks at its keys, and joined where its poses are held and jump.  What was done is told in warnings.

    at: the time [s] from which it goes on, and back.  stays: whether it stays where it is then, wherever the clip goes.
    """
    base = body.anatomy.role.index("pelvis") if "pelvis" in body.anatomy.role else 0
    size = _size(clip, body.anatomy)
    cuts.check_near(clip, body.skeleton.names, size)
    spliced = cuts.gone_on(clip, base, size, at)
    joined = _joined(spliced, clip, body)
    smooth = rounded(pick(joined, timed), body.skeleton.parent)
    return cuts.until(spliced, clip, at) if stays and spliced is not clip else spliced, smooth


def _size(clip, anatomy):
    """Of the figure [scene units]."""
    return anatomy.size * abs(clip.scale)


def _joined(spliced, clip, body):
    """The spliced clip with its held poses joined."""
    if spliced is not clip:
        spliced = replace(cuts.in_bones(spliced, clip, _size(clip, body.anatomy)), warnings=spliced.warnings)
    skeleton = body.skeleton
    joined, bones = eased(spliced, skeleton.parent)
    if not bones:
        return spliced
    who = "the armature object" if bones[0] < 0 else "bone '{}'".format(skeleton.names[bones[0]])
    more = " and {} more".format(len(bones) - 1) if len(bones) > 1 else ""
    text = "Stepped keys of {}{} are simulated on as if their poses were joined; the clip itself stays stepped."
    return replace(joined, warnings=(*spliced.warnings, text.format(who, more)))


def pick(clip, keep):
    """The clip at some of its frames, (T,) bool."""
    timed = "frames", "rotation", "position", *cuts.OBJECT
    return replace(clip, **{name: getattr(clip, name)[keep] for name in timed})


def stretched(armature, channels, able):
    """A sentence on bones whose uneven scale stretches bones that hang on them and may react (able, names), or none."""
    size = np.abs(channels.scale)
    uneven = np.any(size.max(axis=-1) > (1.0 + UNEVEN) * size.min(axis=-1), axis=0)
    bones, told = armature.data.bones, {}
    carrying = {bone.name for name in able for bone in (bones[name], *bones[name].parent_recursive)}
    for name in np.array(channels.names)[uneven].tolist():
        for child in bones[name].children:
            if child.inherit_scale in SHEARING and child.name in carrying:
                told.setdefault(name, child.name)
    if not told:
        return []
    text = "Bone '{}'{} is scaled unevenly, which stretches what hangs on it as that turns, off the simulated pose. "
    text += "Set the Inherit Scale of '{}' to Average."
    more = " (and {} more)".format(len(told) - 1) if len(told) > 1 else ""
    name, child = next(iter(told.items()))
    return [text.format(name, more, child)]
