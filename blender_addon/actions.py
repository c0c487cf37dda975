"""Actions in every Blender: 4.2 and 4.3 keep curves on the action, 4.4 and later in a slot's channel bag."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..core.rotation import Array

LAYERED = hasattr(bpy.types, "ActionSlot")

BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)$')

QUATERNION_DEFAULT = (1.0, 0.0, 0.0, 0.0)
LINEAR, BEZIER = 1, 2  # values of Keyframe.interpolation
FREE, ALIGNED = 0, 3  # values of Keyframe.handle_left_type


class Channel(NamedTuple):
    """One animated number of an object: RNA path from the object, and index in its array."""

    path: str
    index: int


class Shape(NamedTuple):
    """The keys of a curve that has fewer of them than its action has frames, and how it runs between.

    at: (m,) places of the keys among the frames.  straight: (m,) whether a straight line follows, else a Bezier curve.
    smooth: (m,) whether the handles lie in one line.  left, right: (m,) heights of the handles, which stand at thirds.
    """

    at: Array
    straight: Array
    smooth: Array
    left: Array
    right: Array


class Curve(NamedTuple):
    """A curve to be written: K values at the frames of its action.  group: the channel group, usually the bone.

    shape: None = a key at every frame, with straight lines between.
    """

    channel: Channel
    group: str
    values: Array
    shape: Shape | None = None


def bone_path(bone: str, prop: str) -> str:
    """RNA path of a pose bone's property from its object, quoted as Blender quotes it."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{prop}'


def bone_and_property(path: str) -> tuple[str | None, str]:
    """The bone that an RNA path from an object is about, None where it is about none, and what follows it."""
    match = BONE_PATH.match(path)
    return (re.sub(r"\\(.)", r"\1", match.group(1)), match.group(2)) if match else (None, path)


def bone_of(path: str) -> str | None:
    """The bone that an RNA path from an object is about, or None."""
    return bone_and_property(path)[0]


def slot_of(user: Any) -> Any:
    """The slot that an AnimData or an NLA strip plays; None before 4.4."""
    return user.action_slot if LAYERED else None


def slot_identifier(user: Any) -> str:
    """The slot's identifier, or "" (also before 4.4)."""
    slot = slot_of(user)
    return slot.identifier if slot is not None else ""


def set_slot(user: Any, identifier: str) -> None:
    """Make an AnimData or strip play the named slot of its action; "" plays none.  Nothing to do before 4.4."""
    if LAYERED and user.action is not None:
        user.action_slot = user.action.slots.get(identifier) if identifier else None


def curves_of(action: Any, slot: Any) -> list[Any]:
    """The f-curves of the clip that the action plays through the slot: all but those of the add-on's own settings."""
    return [curve for curve in _played(action, slot) if not is_setting(curve.data_path)]


def settings_of(action: Any, slot: Any) -> list[Any]:
    """The f-curves of the add-on's own settings among those that the action plays through the slot."""
    return [curve for curve in _played(action, slot) if is_setting(curve.data_path)]


def is_setting(path: str) -> bool:
    """Whether an RNA path from an object leads to a setting of the add-on, on the object or on one of its bones."""
    return path.startswith("parametric_dynamics") or path.rpartition("]")[2].startswith(".dynamics_")


def only_settings(anim: Any) -> bool:
    """Whether the action of an AnimData or a strip holds keys of settings and nothing else: then it is no clip."""
    found = False
    for curve in _played(anim.action, slot_of(anim)):  # asked by every poll: the first key of a clip will do
        if not is_setting(curve.data_path):
            return False
        found = True
    return found


def _played(action: Any, slot: Any) -> Iterator[Any]:
    """Every f-curve of the action that plays through the slot (the slot is not looked at before 4.4)."""
    if action is None:
        return
    if not LAYERED:
        yield from action.fcurves
    elif slot is not None:
        for bag in _bags(action, slot):
            yield from bag.fcurves


def all_curves(action: Any) -> list[Any]:
    """Every f-curve of the action, whatever its slot."""
    if not LAYERED:
        return list(action.fcurves)
    return [curve for slot in action.slots for curve in _played(action, slot)]


def moves(action: Any, bones: set[str]) -> bool:
    """Whether the action keys one of the bones in any slot; known at its first such curve."""
    curves = (curve for slot in (action.slots if LAYERED else [None]) for curve in _played(action, slot))
    return any(bone_of(curve.data_path) in bones and not is_setting(curve.data_path) for curve in curves)


def _bags(action: Any, slot: Any) -> Iterator[Any]:
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                yield bag


def evaluates(curve: Any) -> bool:
    """Whether Blender evaluates the f-curve (is_fcurve_evaluatable in anim_sys.cc): not muted, broken or empty."""
    if curve.mute or not curve.is_valid or curve.is_empty:
        return False
    return curve.group is None or not curve.group.mute


def channels_of(curves: Iterable[Any]) -> set[Channel]:
    """The channels that the evaluating ones among the curves drive."""
    return {Channel(curve.data_path, curve.array_index) for curve in curves if evaluates(curve)}


def key_range(curves: Iterable[Any]) -> tuple[float, float] | None:
    """First and last keyed frame, or None where no curve has keys."""
    ranges = [curve.range() for curve in curves if len(curve.keyframe_points)]
    return (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else None


def copy_settings(anim: Any) -> Any:
    """A copy of the active action with its keys of settings alone, or None where it has none."""
    if not settings_of(anim.action, slot_of(anim)):
        return None
    made = anim.action.copy()
    made.name = f"{anim.action.name} settings"
    for owner in [bag for slot in made.slots for bag in _bags(made, slot)] if LAYERED else [made]:
        for curve in list(owner.fcurves):
            if not is_setting(curve.data_path):
                owner.fcurves.remove(curve)
    return made


def assign(anim: Any, action: Any, identifier: str = "") -> None:
    """Make the action the active one of an AnimData, with that slot."""
    anim.action = action
    set_slot(anim, identifier)


def create(name: str, rig: Any, curves: Iterable[Curve], frames: Array) -> tuple[Any, str]:
    """A new action for the object with constant-extrapolated curves.

    frames: (K,) of every curve.  Returns the action and its slot's identifier.
    """
    action = bpy.data.actions.new(name)
    try:
        identifier, owner = _owner(action, rig)
        _fill(owner, curves, frames)
    except Exception:
        bpy.data.actions.remove(action)
        raise
    return action, identifier


def replace(action: Any, identifier: str, curves: Iterable[Curve], frames: Array) -> None:
    """Put curves into the action's slot (as `create`), in the place of those that drive the same channels."""
    owner = next(_bags(action, action.slots[identifier])) if LAYERED else action
    curves = list(curves)
    driven = {(curve.channel.path, curve.channel.index) for curve in curves}
    for fcurve in list(owner.fcurves):
        if (fcurve.data_path, fcurve.array_index) in driven:
            owner.fcurves.remove(fcurve)
    _fill(owner, curves, frames)


def _fill(owner: Any, curves: Iterable[Curve], frames: Array) -> None:
    """New f-curves in their groups."""
    for curve in curves:
        fcurve = owner.fcurves.new(curve.channel.path, index=curve.channel.index)
        fcurve.group = owner.groups.get(curve.group) or owner.groups.new(curve.group)
        set_keys(fcurve, frames, curve.values, curve.shape)


def _owner(action: Any, rig: Any) -> tuple[str, Any]:
    """Slot identifier and what holds fcurves and groups: the slot's channel bag, or the action itself before 4.4."""
    if not LAYERED:
        action.id_root = "OBJECT"
        return "", action
    slot = action.slots.new(id_type="OBJECT", name=rig.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return slot.identifier, strip.channelbag(slot, ensure=True)


def set_keys(fcurve: Any, frames: Array, values: Array, shape: Shape | None = None) -> None:
    """Give an empty f-curve its keys in one go, linear ones without a shape.  frames, values: (K,)."""
    points = fcurve.keyframe_points
    at = np.arange(len(frames)) if shape is None else shape.at
    points.add(len(at))
    co = np.empty((len(at), 2), dtype=np.float32)
    co[:, 0], co[:, 1] = frames[at], values[at]
    points.foreach_set("co", co.ravel())
    straight = np.ones(len(at), dtype=bool) if shape is None else shape.straight
    points.foreach_set("interpolation", np.where(straight, LINEAR, BEZIER).astype(np.int32))
    if shape is not None:
        _set_handles(points, frames[at], shape)
    fcurve.extrapolation = "CONSTANT"
    fcurve.update()


def _set_handles(points: Any, frames: Array, shape: Shape) -> None:
    """Handles a third of the way to the neighbours of the keys at the frames (m,)."""
    third = np.diff(frames) / 3.0
    left = np.stack((frames - np.concatenate((third[:1], third)), shape.left), axis=-1)
    right = np.stack((frames + np.concatenate((third, third[-1:])), shape.right), axis=-1)
    kinds = np.where(shape.smooth, ALIGNED, FREE).astype(np.int32)
    for side, handles in (("left", left), ("right", right)):
        points.foreach_set(f"handle_{side}_type", kinds)
        points.foreach_set(f"handle_{side}", handles.astype(np.float32).ravel())


def is_used(action: Any) -> bool:
    """Whether anything plays or notes the action."""
    return bool(action.users > int(action.use_fake_user))


def discard(action: Any) -> bool:
    """Delete an action that nothing uses any more; False where something still does."""
    if action is None or is_used(action):
        return False
    bpy.data.actions.remove(action)
    return True
