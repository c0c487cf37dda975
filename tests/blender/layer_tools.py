"""What the layer tests share: measuring joints, taking down the whole state of a file, reading channels."""

import bpy
import numpy as np
from bl_ext.user_default.parametric_dynamics.blender_addon import actions, layer, records
from bl_ext.user_default.parametric_dynamics.blender_addon.channels import Channels

HUMAN = 1750.0  # mm
LIMIT = 0.01  # mm at human scale


def ensure_records():
    """The records, where the add-on has not registered them itself."""
    if not hasattr(bpy.types.Object, "parametric_dynamics_reactions"):
        records.register()


def set_frame(frame):
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=float(frame - whole))


def height(rig):
    """The rig's largest extent at rest, scene units."""
    rest = np.array([[bone.head_local, bone.tail_local] for bone in rig.data.bones]).reshape(-1, 3)
    return (np.max(np.ptp(rest, axis=0)) * max(abs(s) for s in rig.matrix_world.to_scale())) or 1.0


def joints_now(rig):
    """(bones, 2, 3) heads and tails in the world as evaluated, without a change of frame; mm on a human's height."""
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = evaluated.pose.bones
    points = np.empty((2, len(bones) * 3), dtype=np.float32)
    bones.foreach_get("head", points[0])
    bones.foreach_get("tail", points[1])
    points = points.reshape(2, len(bones), 3).astype(float).swapaxes(0, 1)
    world = np.array(evaluated.matrix_world)
    return (points @ world[:3, :3].T + world[:3, 3]) * HUMAN


def joints(rig, frames):
    """(frames, bones, 2, 3) heads and tails at the frames, mm, the rig scaled to a human's height."""
    size, out = height(rig), []
    for frame in frames:
        set_frame(frame)
        out.append(joints_now(rig))
    return np.array(out) / size


def farthest(a, b):
    return float(np.max(np.linalg.norm(a - b, axis=-1)))


def plain(item, names):
    out = {}
    for name in names:
        value = getattr(item, name, None)
        if hasattr(value, "identifier"):
            value = value.identifier
        elif hasattr(value, "bl_rna"):
            value = value.name
        elif hasattr(value, "__len__") and not isinstance(value, (str, set, frozenset)):
            value = tuple(value)
        out[name] = value
    return out


def properties(item, skip=()):
    """Every plain property of an RNA item, pointers by name."""
    names = [p.identifier for p in item.bl_rna.properties if p.type not in ("COLLECTION",)]
    return plain(item, [n for n in names if n not in ("rna_type", *skip)])


def curve_state(curve):
    points = curve.keyframe_points
    keys = {}
    for name, width in (("co", 2), ("handle_left", 2), ("handle_right", 2)):
        values = np.empty(len(points) * width, dtype=np.float32)
        points.foreach_get(name, values)
        keys[name] = values.tobytes()
    for name in ("interpolation", "easing", "handle_left_type", "handle_right_type"):
        values = np.empty(len(points), dtype=np.int32)
        points.foreach_get(name, values)
        keys[name] = values.tobytes()
    return properties(curve, skip=("driver",)) | keys | {"modifiers": [properties(m) for m in curve.modifiers]}


def action_state(action):
    slots = [(slot.identifier, slot.handle) for slot in action.slots] if actions.LAYERED else []
    return {
        "slots": slots,
        "curves": [curve_state(curve) for curve in actions.all_curves(action)],
        "users": action.users,
        "fake": action.use_fake_user,
        "range": tuple(action.frame_range),
        "manual": (action.use_frame_range, action.use_cyclic),
    }


def strip_state(strip):
    # influence and strip_time are what Blender last evaluated, not what the user set
    own = properties(strip, skip=("influence", "strip_time", "fcurves"))
    return own | {"curves": [curve_state(c) for c in strip.fcurves], "strips": [strip_state(s) for s in strip.strips]}


def animation_state(anim):
    if anim is None:
        return None
    skip = ("action_suitable_slots", "last_slot_identifier")
    tracks = [properties(t) | {"strips": [strip_state(s) for s in t.strips]} for t in anim.nla_tracks]
    active = anim.nla_tracks.active
    return properties(anim, skip=skip) | {"tracks": tracks, "active": active and active.name}


def pose_state(rig):
    names = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
    state = {"object": plain(rig, names)}
    for bone in rig.pose.bones:
        state[bone.name] = plain(bone, ("rotation_mode", *names))
    return state


def file_state():
    """Everything a layer could disturb, as plain values that compare."""
    return {
        "actions": {action.name: action_state(action) for action in bpy.data.actions},
        "animation": {item.name: animation_state(item.animation_data) for item in bpy.data.objects},
        "poses": {item.name: pose_state(item) for item in bpy.data.objects if item.type == "ARMATURE"},
    }


def differences(a, b, path=""):
    """Paths at which two states differ, with both values."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in {**a, **b} for d in differences(a.get(key), b.get(key), f"{path}/{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b, strict=True)) for d in differences(x, y, f"{path}/{i}")]
    return [] if a == b else [f"{path}: {str(a)[:200]} -> {str(b)[:200]}"]


def read_channels(rig, frames):
    """The evaluated channels, frame by frame: slow and plain, to check the fast reader against, too."""
    bones = rig.pose.bones
    rows = {name: [] for name in ("location", "scale", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")}
    objects = {"location": [], "rotation": [], "scale": []}
    mode = rig.rotation_mode
    prop = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for frame in frames:
        set_frame(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for name, row in rows.items():
            row.append([tuple(getattr(bone, name)) for bone in evaluated.pose.bones])
        objects["location"].append(tuple(evaluated.location))
        objects["rotation"].append(tuple(getattr(evaluated, prop)))
        objects["scale"].append(tuple(evaluated.scale))
    return Channels(
        frames=np.asarray(frames, dtype=float),
        names=tuple(bone.name for bone in bones),
        modes=tuple(bone.rotation_mode for bone in bones),
        location=np.array(rows["location"]),
        scale=np.array(rows["scale"]),
        quaternion=np.array(rows["rotation_quaternion"]),
        euler=np.array(rows["rotation_euler"]),
        axis_angle=np.array(rows["rotation_axis_angle"]),
        object_mode=mode,
        object_location=np.array(objects["location"]),
        object_rotation=np.array(objects["rotation"]),
        object_scale=np.array(objects["scale"]),
    )


def measuring_frames(rig, count=24):
    """Whole frames over the rig's animation and beyond it, and some between."""
    spans = [tuple(action.frame_range) for action in _playing(rig.animation_data)]
    first, last = min(s[0] for s in spans), max(s[1] for s in spans)
    inside = np.unique(np.round(np.linspace(first, last, count)))
    between = np.linspace(first, last, 4)[1:-1] + 0.37
    outside = [np.floor(first) - 60, np.floor(first) - 1, np.ceil(last) + 1, np.ceil(last) + 7.25, np.ceil(last) + 90]
    return np.unique(np.concatenate((inside, between, outside)))


def _playing(anim):
    found = [anim.action] if anim.action is not None else []
    found += [strip.action for track in anim.nla_tracks for strip in track.strips if strip.action is not None]
    return found


def hit_frames(frames):
    """Whole frames of a hit in the middle of the measured ones."""
    middle = np.floor(0.5 * (frames[0] + frames[-1]))
    return np.arange(middle - 6.0, middle + 12.0)


def mid_hit(frames):
    return hit_frames(frames)[8]


def tripod(modes, connected=False):
    """A rig with one chain of bones in these rotation modes, posed and keyed by nobody yet."""
    arm = bpy.data.armatures.new("Tripod")
    rig = bpy.data.objects.new("Tripod", arm)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for i in range(len(modes)):
        bone = arm.edit_bones.new(f"bone.{i}")
        bone.head, bone.tail = (0.1 * i, 0, 0.3 * i), (0.1 * i + 0.1, 0, 0.3 * i + 0.3)
        bone.parent, bone.use_connect = parent, connected and parent is not None
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone, mode in zip(rig.pose.bones, modes, strict=True):
        bone.rotation_mode = mode
    return rig


def key_pose(rig, rng, frames, bones=None, strength=0.6, loc=True):
    """Random rotations (and locations) keyed on the bones at the frames."""
    for bone in rig.pose.bones if bones is None else [rig.pose.bones[name] for name in bones]:
        prop = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
            bone.rotation_mode, "rotation_euler"
        )
        for frame in frames:
            values = getattr(bone, prop)
            rest = np.array([1.0, 0, 0, 0]) if prop == "rotation_quaternion" else np.zeros(len(values))
            if prop == "rotation_axis_angle":
                rest = np.array([0.0, 0.0, 1.0, 0.0])
            setattr(bone, prop, rest + strength * rng.normal(size=len(values)))
            bone.keyframe_insert(prop, frame=frame)
            if loc:
                bone.location = 0.05 * rng.normal(size=3)
                bone.keyframe_insert("location", frame=frame)


def check_neutral(rigs, folder, frames=None):
    """Apply identity to the rigs, remove it at mid-hit, save and reload in both states; returns the worst shift, mm."""
    names = [rig.name for rig in rigs]
    for action in bpy.data.actions:  # what has no user would be lost with the file, with or without us
        action.use_fake_user = action.use_fake_user or action.users == 0
    measured = {rig.name: measuring_frames(rig) if frames is None else frames for rig in rigs}
    before = {rig.name: joints(rig, measured[rig.name]) for rig in rigs}
    at_hit = {rig.name: joints(rig, [mid_hit(measured[rig.name])])[0] for rig in rigs}
    rest_frame = bpy.context.scene.frame_current
    set_frame(rest_frame)
    state = file_state()
    worst = {}

    def compare(stage):
        for name in names:
            after = joints(bpy.data.objects[name], measured[name])
            worst[stage, name] = farthest(before[name], after)

    given = {
        n: layer.apply_identity(bpy.context, bpy.data.objects[n], name="Identity", frames=hit_frames(f))
        for n, f in measured.items()
    }
    compare("applied")
    path = str(folder / "identity.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=False)
    bpy.ops.wm.open_mainfile(filepath=path)
    compare("applied, reopened")
    for name in names:
        rig = bpy.data.objects[name]
        set_frame(mid_hit(measured[name]))
        layer.remove(bpy.context, rig, given[name])
        worst["at once", name] = farthest(at_hit[name], joints_now(rig) / height(rig))
    compare("removed")
    set_frame(rest_frame)
    assert differences(state, file_state()) == []
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=False)
    bpy.ops.wm.open_mainfile(filepath=path)
    compare("removed, reopened")
    set_frame(rest_frame)
    assert differences(state, file_state()) == []
    print({key: round(value, 5) for key, value in worst.items()})
    assert max(worst.values()) <= LIMIT, worst
    return max(worst.values())
