"""A rig's channels and bone matrices at any frames, from its f-curves alone or from the evaluated scene.

Two ways give the same numbers.  Where an active action alone moves the armature, or strips that play theirs as they are
(an action that was pushed down, reactions on it), their f-curves are sampled in bulk and posed by `fk`; the scene is
not touched.  Everything else (strips that fade, constraints, drivers, animated parents, shear) is read from the
evaluated scene, frame by frame, and the current frame and the stored pose are put back.
"""

import contextlib
import copy

import numpy as np

from ..core.progress import run
from . import actions, curves, delta, fk, nla, source, timing
from .channels import Channels, rotation_property

# Pose and object properties by their RNA names: (field of `Channels`, width).
BONE = {
    "location": ("location", 3),
    "scale": ("scale", 3),
    "rotation_quaternion": ("quaternion", 4),
    "rotation_euler": ("euler", 3),
    "rotation_axis_angle": ("axis_angle", 4),
}
# What the NLA gives them where no strip acts; RNA says (0, 0, 1, 0) of axes and angles, but that isn't what is shown.
DEFAULTS = {"location": (0.0,) * 3, "scale": (1.0,) * 3, "rotation_quaternion": (1.0, 0.0, 0.0, 0.0)}
DEFAULTS |= {"rotation_euler": (0.0,) * 3, "rotation_axis_angle": (0.0,) * 4}


def sample(context, armature, skeleton, frames):
    """Bone matrices (T, n, 4, 4) in armature space, the object's (T, 4, 4) in the world, Channels; any frame order."""
    return run(sampling(context, armature, skeleton, frames))


def sampling(context, armature, skeleton, frames):
    """`sample` as a generator of its progress; ClipError where anything is no number."""
    try:
        matrices, world, channels = sample_curves(context, armature, skeleton, frames)
    except fk.InexactError:
        matrices, world, channels = yield from sampling_scene(context, armature, skeleton, frames)
    return matrices, world, channels.sound()


def shortcut(context, armature):
    """Why the f-curves alone do not tell the motion, or "" where they do."""
    try:
        _require_plain(context, armature)
    except fk.InexactError as reason:
        return str(reason)
    return ""


# -- by f-curves -----------------------------------------------------------------------------------------------------


def sample_curves(context, armature, skeleton, frames):
    """As `sample`, from the f-curves alone; `fk.InexactError` where they do not tell."""
    parents = _require_plain(context, armature)
    channels = stored_channels(armature, skeleton.names, frames)
    if source.alone(armature):
        _fill(channels, armature, [c for c in source.curves_in_force(armature) if actions.evaluates(c)])
    else:
        _fill_from_strips(channels, armature, source.stacked(armature))
    matrices = fk.pose(fk.rest(armature, skeleton.names), channels)
    return matrices, parents @ fk.object_basis(channels), channels


def _require_plain(context, armature):
    """The parents' constant matrix (4, 4) under the object's own; InexactError where more than an action moves it."""
    render = context.scene.render
    if render.frame_map_old != render.frame_map_new:
        raise fk.InexactError("the scene's time is stretched")
    if armature.mode == "EDIT" or armature.data.pose_position == "REST":
        raise fk.InexactError("the armature shows its rest pose")
    if any(len(bone.constraints) for bone in armature.pose.bones):
        raise fk.InexactError("constraints on bones")
    if moves(armature.data.animation_data):
        raise fk.InexactError("animation of the armature's data")
    data = armature.animation_data
    if data is not None and not all(actions.is_setting(driver.data_path) for driver in data.drivers):
        raise fk.InexactError("drivers")
    if not source.alone(armature) and source.stacked(armature) is None:
        raise fk.InexactError("NLA strips")
    return still_carrier(armature)


def moves(data):
    """Whether an action, drivers or strips move what has this animation data, or may."""
    return data is not None and (data.action is not None or len(data.drivers) > 0 or len(data.nla_tracks) > 0)


def still_carrier(armature):
    """The constant matrix (4, 4) that carries the object's own; InexactError if anything up there moves."""
    if len(armature.constraints) or armature.rigid_body is not None:
        raise fk.InexactError("constraints or physics on the object")
    deltas = (armature.delta_location, armature.delta_rotation_euler, armature.delta_rotation_quaternion[1:])
    if any(any(delta) for delta in deltas) or any(value != 1.0 for value in armature.delta_scale):
        raise fk.InexactError("delta transforms on the object")
    matrix = np.eye(4)
    child = armature
    while child.parent is not None:
        if child.parent_type != "OBJECT":
            raise fk.InexactError("a parent that is not a plain object")
        parent = child.parent
        if moves(parent.animation_data) or len(parent.constraints) or parent.rigid_body is not None:
            raise fk.InexactError("moving parents")
        matrix = np.array(parent.matrix_basis @ child.matrix_parent_inverse, dtype=np.float64) @ matrix
        child = parent
    return matrix


def stored_channels(armature, names, frames):
    """Channels that hold the armature's present, stored values at every frame."""
    bones = armature.pose.bones
    order = {bone.name: i for i, bone in enumerate(bones)}
    pick = [order[name] for name in names]
    count = len(frames)
    fields = {}
    for rna, (name, width) in BONE.items():
        values = np.empty(len(bones) * width, dtype=np.float32)
        bones.foreach_get(rna, values)
        fields[name] = np.repeat(values.reshape(1, -1, width)[:, pick].astype(np.float64), count, axis=0)
    mode = armature.rotation_mode
    turn = getattr(armature, rotation_property(mode))
    return Channels(
        frames=np.asarray(frames, dtype=np.float64),
        names=tuple(names),
        modes=tuple(bones[name].rotation_mode for name in names),
        object_mode=mode,
        object_location=np.tile(np.array(armature.location, dtype=np.float64), (count, 1)),
        object_rotation=np.tile(np.array(turn, dtype=np.float64), (count, 1)),
        object_scale=np.tile(np.array(armature.scale, dtype=np.float64), (count, 1)),
        **fields,
    )


def action_channels(armature, names, action, slot, frames):
    """(Channels, keyed) that an action plays by itself through the slot; the scene is not touched.

    Channels that it doesn't key have the armature's stored values.  keyed: (bone, RNA property) that it keys.
    """
    channels = stored_channels(armature, names, frames)
    animated = [curve for curve in actions.curves_of(action, slot) if actions.evaluates(curve)]
    _fill(channels, armature, animated)
    channels.sound()
    pairs = {actions.bone_and_property(curve.data_path) for curve in animated}
    return channels, {(bone, rna) for bone, rna in pairs if bone is not None}


def _fill_from_strips(channels, armature, strips):
    """Write what plain strips play into the channels, from the lowest up: one that acts is seen in place of those below
    or combined with them; what none plays, even what only muted ones key, has its default."""
    played = [[c for c in actions.curves_of(s.action, actions.slot_of(s)) if actions.evaluates(c)] for s in strips]
    keyed = [actions.channels_of(animated) for animated in played]
    if any(map(nla.missing_quaternions, keyed)):
        raise fk.InexactError("quaternions that are keyed in part")
    index = {name: i for i, name in enumerate(channels.names)}

    def views(of, some):
        found = ((channel, slot_of(of, armature, index, channel)) for channel in sorted(some))
        return {channel: view for channel, view in found if view is not None}

    for channel, view in views(channels, set().union(*keyed)).items():
        view[...] = DEFAULTS[_property(channel)][channel.index]
    for strip, animated, own in zip(strips, played, keyed, strict=True):
        acts, at = nla.played(strip, channels.frames)
        if strip.blend_type == "REPLACE" or not acts.any():
            _fill(channels, armature, animated, acts, at)
            continue
        over = copy.deepcopy(channels)
        _fill(over, armature, animated, frames=at)
        _combine(views(channels, own), views(over, own), acts)


def _combine(below, over, acts):
    """Mix what a strip plays with what is below it, as Blender's COMBINE: views (T,) of channels, where it acts."""
    for channel, view in below.items():
        a, b, rna = view.astype(np.float32), over[channel].astype(np.float32), _property(channel)
        if rna != "rotation_quaternion":
            np.copyto(view, a * b if rna == "scale" else a + b, where=acts)
        elif channel.index == 0:
            parts = [channel._replace(index=i) for i in range(4)]
            mixed = delta.combined(*(np.stack([of[part] for part in parts], axis=-1) for of in (below, over)))
            for part, row in zip(parts, mixed.T, strict=True):
                np.copyto(below[part], row, where=acts)


def _property(channel):
    return actions.bone_and_property(channel.path)[1]


def _fill(channels, armature, animated, acts=True, frames=None):
    """Write the f-curves' values into the channels they drive; InexactError for those that move the rig otherwise.

    acts: (T,) bool, the moments at which they do.  frames: (T,) of the action then, where they aren't the scene's.
    """
    index = {name: i for i, name in enumerate(channels.names)}
    slots, kept = [], []
    for curve in animated:
        slot = slot_of(channels, armature, index, actions.Channel(curve.data_path, curve.array_index))
        if slot is not None:
            slots.append(slot)
            kept.append(curve)
    values = curves.sample(kept, channels.frames if frames is None else frames).astype(np.float32)
    for slot, row in zip(slots, values, strict=True):
        np.copyto(slot, row, where=acts)


def slot_of(channels, armature, index, channel):
    """The part of the channels (a view, (T,)) that an f-curve writes, or None where it moves no bone."""
    name, rna = actions.bone_and_property(channel.path)
    component = channel.index
    if name is None:
        return _object_slot(channels, armature, channel.path, component)
    if rna == "rotation_mode":
        raise fk.InexactError("animated rotation modes")
    bone = index.get(name)
    if bone is None or rna not in BONE:
        return None
    field, width = BONE[rna]
    return getattr(channels, field)[:, bone, component] if component < width else None


def _object_slot(channels, armature, path, component):
    if path in ("location", "scale"):
        return getattr(channels, "object_" + path)[:, component]
    if path.startswith("rotation_") and path == rotation_property(armature.rotation_mode):
        return channels.object_rotation[:, component]
    if path == "rotation_mode" or path.startswith(("delta_", "matrix_", "parent")):
        raise fk.InexactError("animated '{}'".format(path))
    return None


# -- by the evaluated scene ------------------------------------------------------------------------------------------


def sample_scene(context, armature, skeleton, frames):
    """As `sample`, by showing every frame; the current frame and the armature's stored values are put back."""
    return run(sampling_scene(context, armature, skeleton, frames))


def sampling_scene(context, armature, skeleton, frames):
    """`sample_scene` as a generator of its progress."""
    moments, back = np.unique(np.asarray(frames, dtype=np.float64), return_inverse=True)
    taken = []
    with kept_frame(context.scene, armature):
        for k, moment in enumerate(moments):
            taken.append(_shown(context, armature, skeleton.names, moment))
            yield (k + 1.0) / len(moments)
    matrices = np.stack([matrix for matrix, _, _ in taken])[back]
    world = np.stack([matrix for _, matrix, _ in taken])[back]
    first, *others = (channels for _, _, channels in taken)
    return matrices, world, first.followed_by(*others).at(back)


@contextlib.contextmanager
def kept_frame(scene, armature):
    """Puts the current frame back in the end, and the armature's stored values: moved by hand, not keyed."""
    current, sub = scene.frame_current, scene.frame_subframe
    before = stored_channels(armature, armature.pose.bones.keys(), [0.0])
    try:
        yield
    finally:
        scene.frame_set(current, subframe=sub)
        write_stored(armature, before)


def _shown(context, armature, names, moment):
    timing.show(context.scene, float(moment))
    shown = armature.evaluated_get(context.evaluated_depsgraph_get())
    bones = shown.pose.bones
    values = np.empty(16 * len(bones), dtype=np.float32)
    bones.foreach_get("matrix", values)
    order = {bone.name: i for i, bone in enumerate(bones)}
    matrices = values.reshape(-1, 4, 4).swapaxes(1, 2)[[order[name] for name in names]].astype(np.float64)
    return matrices, np.array(shown.matrix_world, dtype=np.float64), stored_channels(shown, names, [moment])


def write_stored(armature, channels, only=None, with_object=True):
    """Make the first frame of the channels the armature's stored values, where they differ; modes of bones stay.

    only: names of the bones to write, None for all.  with_object: the object's own transform too.
    """
    bones = armature.pose.bones
    pick = [i for i, name in enumerate(channels.names) if name in bones and (only is None or name in only)]
    names = [channels.names[i] for i in pick]
    now = stored_channels(armature, names, [0.0])
    for rna, (field, _) in BONE.items():
        wanted = getattr(channels, field)[0][pick]
        for bone in np.flatnonzero(np.any(wanted != getattr(now, field)[0], axis=-1)):
            setattr(bones[names[bone]], rna, wanted[bone])
    if not with_object:
        return
    armature.rotation_mode = channels.object_mode
    now = stored_channels(armature, names, [0.0])
    rotation = rotation_property(channels.object_mode)
    for rna, field in (("location", "object_location"), ("scale", "object_scale"), (rotation, "object_rotation")):
        if np.any(getattr(channels, field)[0] != getattr(now, field)[0]):
            setattr(armature, rna, getattr(channels, field)[0])
