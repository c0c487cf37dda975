"""Fewer keys for a layer: its curves handed to `core.keys` bone by bone, and brought back with handles."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import eulers, keys
from ..core.keys import Keys, Motion
from ..core.rotation import Array
from .actions import Curve, Shape
from .channels import Channels
from .layer_curves import Plan

KINDS = {"rotation_quaternion": "quaternion", "rotation_euler": "euler", "rotation_axis_angle": "axis_angle"}
WIDTHS = {"quaternion": 4, "euler": 3, "axis_angle": 4}
TRAVEL = 0.002  # of the rig's size, per degree of tolerance, that a location may be off
COSINE = 9e-8  # grain of the cosine from which the NLA takes half the angle of a quaternion delta, in float32


def thin(
    rig: Any, plan: Plan, base: Channels | None, tolerance: float, keep: Array, own: Mapping[str, Sequence[float]]
) -> Plan:
    """The plan with as few keys as keep every bone's orientation within the tolerance [deg] of the full bake.

    All channels of a bone keep the same keys.  base: what lies below a layer of deltas, None below absolute values.
    keep: frames that must have a key; own: by bone, those at which this one must.
    """
    curves: dict[str, dict[str, dict[int, Array]]] = {}
    for curve in plan.curves:
        prop = curve.channel.path.rpartition(".")[2]
        curves.setdefault(curve.group, {}).setdefault(prop, {})[curve.channel.index] = curve.values
    names = sorted(curves, key=lambda name: len(rig.pose.bones[name].parent_recursive))
    motions = [_motion(rig.pose.bones[name], curves[name], names, base, len(plan.frames)) for name in names]
    motions = [replace(motion, keep=own.get(name, ())) for name, motion in zip(names, motions, strict=True)]
    turn, travel = np.radians(tolerance), tolerance * TRAVEL * _size(rig)
    kept = keys.reduce(plan.frames, motions, turn, travel, keep, 0.0 if base is None else COSINE)
    of = dict(zip(names, kept, strict=True))
    thinned = [curve._replace(shape=_shape(of[curve.group], plan.frames, curve)) for curve in plan.curves]
    return Plan(plan.frames, thinned, plan.warnings)


def _motion(
    bone: Any, curves: dict[str, dict[int, Array]], names: list[str], base: Channels | None, count: int
) -> Motion:
    """What the layer keys on a bone; channels that it leaves alone don't move."""
    rotation, kind = None, "quaternion"
    for prop in curves.keys() & KINDS.keys():
        kind = KINDS[prop]
        rotation = _columns(curves[prop], WIDTHS[kind], count)
    below = None
    if kind == "axis_angle" and base is not None:
        below = base.axis_angle[:, base.names.index(bone.name)]
    return Motion(
        kind=kind,
        rotation=rotation,
        location=_columns(curves["location"], 3, count) if "location" in curves else None,
        parent=next((names.index(up.name) for up in bone.parent_recursive if up.name in names), -1),
        middle=eulers.axes_of(bone.rotation_mode)[1] if kind == "euler" else 1,
        base=below,
    )


def _columns(curves: dict[int, Array], width: int, count: int) -> Array:
    out = np.zeros((count, width))
    for index, values in curves.items():
        out[:, index] = values
    return out


def _shape(kept: Keys, frames: Array, curve: Curve) -> Shape:
    left, right = kept.handles(frames, curve.values)
    return Shape(kept.at, kept.straight, kept.smooth, left, right)


def _size(rig: Any) -> float:
    """The largest extent of the bones at rest, in the rig's own units."""
    rest = np.array([point for bone in rig.data.bones for point in (bone.head_local, bone.tail_local)])
    return float(np.max(np.ptp(rest, axis=0)))
