"""Keys of a reaction's layer that an animator edited: known from a print of those that were written, and kept.

The print is on the action itself, so a copy of it has it too.  It is of what shapes curves, not of where they lead:
that Blender changes where a bone is renamed.
"""

import hashlib
from typing import Any

import bpy
import numpy as np
from bpy.props import StringProperty

from . import actions

KEPT = "{} edited"


def note(action: Any) -> None:
    """Take the action's keys as those that were written."""
    action.parametric_dynamics_written = _print(action)


def is_laid(action: Any) -> bool:
    """Whether a reaction has laid the action, or one that it is a copy of."""
    return bool(action.parametric_dynamics_written)


def is_edited(action: Any) -> bool:
    """Whether its keys are others than a reaction has written; an action without a print (an older file) is not."""
    return is_laid(action) and action.parametric_dynamics_written != _print(action)


def put_away(action: Any) -> str:
    """Delete an action that nothing uses any more; one that was edited stays in the file, which a sentence says."""
    if action is None or actions.is_used(action):
        return ""
    if not is_edited(action):
        actions.discard(action)
        return ""
    was, action.name, action.use_fake_user = action.name, KEPT.format(action.name), True
    return f"The keys of '{was}' were edited by hand: they are kept as the action '{action.name}'."


def _print(action: Any) -> str:
    """What its curves are, in 40 letters, in whatever order."""
    return hashlib.sha1("".join(sorted(map(_of_curve, actions.all_curves(action)))).encode()).hexdigest()


def _of_curve(curve: Any) -> str:
    """Keys, with the handles that shape something: Blender works the others out anew as it likes."""
    muted = curve.mute or (curve.group is not None and curve.group.mute)
    digest = hashlib.sha1(repr((curve.array_index, muted, curve.extrapolation, len(curve.modifiers))).encode())
    points = curve.keyframe_points
    kinds = np.empty(len(points), dtype=np.int32)
    points.foreach_get("interpolation", kinds)
    bends = kinds == actions.BEZIER
    digest.update(kinds.tobytes())
    values = np.empty((len(points), 2), dtype=np.float32)
    for name, shown in (("co", ...), ("handle_right", bends), ("handle_left", np.append(False, bends[:-1]))):
        points.foreach_get(name, values.ravel())
        digest.update(values[shown].tobytes())
    return digest.hexdigest()


def register() -> None:
    """Hang the print on actions."""
    bpy.types.Action.parametric_dynamics_written = StringProperty(
        name="Written", description="Print of the keys that a reaction has written", options={"HIDDEN"}
    )


def unregister() -> None:
    """Take it off them."""
    del bpy.types.Action.parametric_dynamics_written
