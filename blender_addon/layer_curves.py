"""From targets to the curves of a layer: which channels, which values.  Reads the rig, writes nothing."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import rotation
from ..core.rotation import Array
from . import delta as algebra
from .actions import Channel, Curve, bone_path
from .channels import ROTATION, Channels, Target, rotation_property
from .nla import LayerError

DEFAULT = {"location": 0.0, "rotation_euler": 0.0, "rotation_axis_angle": 0.0, "scale": 1.0}


@dataclass
class Plan:
    """What a layer will key.  frames: (K,).  curves: K values each.  warnings: what had to be left out, and why."""

    frames: Array
    curves: list[Curve]
    warnings: list[str] = field(default_factory=list)


def driven_channels(rig: Any) -> set[Channel]:
    """Channels that drivers own: what is keyed there has no effect."""
    return {Channel(driver.data_path, driver.array_index) for driver in rig.animation_data.drivers}


def stored_rotation(channels: Channels, bone: int) -> Array:
    """The bone's rotation in force, (K, 3 or 4) as Blender stores it."""
    by_property = {
        "rotation_quaternion": channels.quaternion,
        "rotation_axis_angle": channels.axis_angle,
        "rotation_euler": channels.euler,
    }
    return by_property[rotation_property(channels.modes[bone])][:, bone]


def _rotation_lock(bone: Any) -> tuple[bool, bool, bool]:
    x, y, z = (bool(locked) for locked in bone.lock_rotation)
    return x, y, z


def _skipped_rotation(bone: Any, driven: set[Channel]) -> str:
    """Why the bone's rotation cannot be keyed, or ""."""
    path = bone_path(bone.name, rotation_property(bone.rotation_mode))
    if any(Channel(path, i) in driven for i in range(4)):
        return f"Bone '{bone.name}' keeps its rotation: a driver owns it."
    locks = _rotation_lock(bone)
    if bone.rotation_mode in ROTATION:
        if any(locks) or (bone.lock_rotations_4d and bone.lock_rotation_w):
            return f"Bone '{bone.name}' keeps its rotation: some of it is locked. Unlock it, or use Euler angles."
    elif all(locks):
        return f"Bone '{bone.name}' keeps its rotation: it is locked."
    return ""


def _rotation_curves(bone: Any, base: Array, target: Array, blend: str) -> list[Curve]:
    mode = bone.rotation_mode
    locked = _rotation_lock(bone) if mode not in ROTATION else (False, False, False)
    values = algebra.rotation_delta(mode, base, target, locked)
    if blend == "REPLACE":
        values = algebra.rotation_value(mode, base, values)
    free = [i for i in range(values.shape[-1]) if not (mode not in ROTATION and locked[i])]
    path = bone_path(bone.name, rotation_property(mode))
    return [Curve(Channel(path, i), bone.name, values[:, i]) for i in free]


def _location_curves(bone: Any, values: Array, driven: set[Channel]) -> list[Curve]:
    """Nothing where the location has no effect (connected bones), is locked or driven."""
    if bone.bone.use_connect and bone.parent is not None:
        return []
    path = bone_path(bone.name, "location")
    channels = [Channel(path, i) for i in range(3) if not bone.lock_location[i]]
    return [Curve(c, bone.name, values[:, c.index]) for c in channels if c not in driven]


def plan_targets(rig: Any, frames: Array, targets: dict[str, Target], base: Channels, blend: str) -> Plan:
    """The curves that bring the bones from the base to the targets.  LayerError where the rig lacks a bone.

    frames: (K,) ascending; base and the targets have K values.
    """
    plan, driven = Plan(frames, []), driven_channels(rig)
    if len(base.frames) != len(frames) or np.max(np.abs(base.frames - frames)) > 1e-3:
        raise ValueError(f"base: expected the {len(frames)} frames of the layer, got {len(base.frames)} others")
    for name, target in targets.items():
        bone = rig.pose.bones.get(name)
        if bone is None or name not in base.names:
            raise LayerError(f"The armature '{rig.name}' has no bone '{name}'. Read the rig again, then apply.")
        index = base.names.index(name)
        if base.modes[index] != bone.rotation_mode:
            raise LayerError(f"The rotation mode of bone '{name}' has changed meanwhile. Apply again.")
        _check_shape(name, target, len(frames))
        if target.rotation is not None:
            skipped = _skipped_rotation(bone, driven)
            if skipped:
                plan.warnings.append(skipped)
            else:
                plan.curves += _rotation_curves(bone, stored_rotation(base, index), target.rotation, blend)
        if target.location is not None:
            values = target.location if blend == "REPLACE" else target.location - base.location[:, index]
            plan.curves += _location_curves(bone, values, driven)
    return plan


def _check_shape(name: str, target: Target, count: int) -> None:
    for label, value, width in (("rotation", target.rotation, 4), ("location", target.location, 3)):
        if value is not None and np.shape(value) != (count, width):
            raise ValueError(f"Target '{name}'.{label}: expected shape {(count, width)}, got {np.shape(value)}")
        if value is not None and not np.all(np.isfinite(value)):
            raise ValueError(f"Target '{name}'.{label}: not finite")


def plan_identity(rig: Any, frames: Array, bones: list[str] | None) -> Plan:
    """Zero deltas on location, rotation in force and scale of the bones (all of them where None)."""
    plan, driven = Plan(frames, []), driven_channels(rig)
    for bone in rig.pose.bones if bones is None else [rig.pose.bones[name] for name in bones]:
        turn = rotation_property(bone.rotation_mode)
        props = ["scale"] if _skipped_rotation(bone, driven) else [turn, "scale"]
        plan.curves += _location_curves(bone, np.zeros((len(frames), 3)), driven)
        for prop in props:
            quaternion = prop == "rotation_quaternion"
            locks = {turn: bone.lock_rotation, "scale": bone.lock_scale}[prop]
            for i in range(4 if prop in ROTATION.values() else 3):
                channel = Channel(bone_path(bone.name, prop), i)
                if channel in driven or (prop not in ROTATION.values() and locks[i]):
                    continue
                value = float(i == 0) if quaternion else DEFAULT[prop]
                plan.curves.append(Curve(channel, bone.name, np.full(len(frames), value)))
    return plan


def plan_continuation(rig: Any, channels: Channels, keyed: set[Channel], lead: Channels | None = None) -> Plan:
    """The base's own keyed channels at further frames, as absolute values.

    lead: the base at one frame before, keyed too so that there is no step between the frames.
    """
    parts = [channels] if lead is None else [lead, channels]
    plan = Plan(np.concatenate([part.frames for part in parts]), [])
    if not len(channels.frames) or np.any(np.diff(plan.frames) <= 0.0):
        raise ValueError("continuation: expected ascending frames")
    for sources in zip(*(_transforms(part) for part in parts), strict=True):
        group, path, _ = sources[0]
        values = np.concatenate([source[2] for source in sources])
        if path.endswith("rotation_quaternion"):
            values = rotation.continuous(values)
        for i in range(values.shape[-1]):
            if Channel(path, i) in keyed:
                plan.curves.append(Curve(Channel(path, i), group, values[:, i]))
    return plan


def _transforms(channels: Channels) -> list[tuple[str, str, Array]]:
    """Group, path and values (K, 3 or 4) of every transform in force, bones first, then the object."""
    found: list[tuple[str, str, Array]] = []
    for i, name in enumerate(channels.names):
        found.append((name, bone_path(name, "location"), channels.location[:, i]))
        found.append((name, bone_path(name, rotation_property(channels.modes[i])), stored_rotation(channels, i)))
        found.append((name, bone_path(name, "scale"), channels.scale[:, i]))
    group = "Object Transforms"
    found.append((group, "location", channels.object_location))
    found.append((group, rotation_property(channels.object_mode), channels.object_rotation))
    found.append((group, "scale", channels.object_scale))
    return found


def at_frame(channels: Channels, frame: float) -> Channels | None:
    """The channels at one of their frames, K = 1, or None where they lack it."""
    index = int(np.argmin(np.abs(channels.frames - frame)))
    if abs(channels.frames[index] - frame) > 1e-6:
        return None
    return channels.at([index])
