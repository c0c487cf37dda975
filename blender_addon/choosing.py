"""Which of a file's actions plays on an armature: what is on offer, which fits, and making it play alone."""

import difflib
import re
from dataclasses import dataclass

import bpy

from ..core.errors import CoreError
from . import actions, checks, clip, layer_undo, source, staleness
from .channels import rotation_property

TURNS = {
    "rotation_quaternion": "quaternions",
    "rotation_euler": "Euler angles",
    "rotation_axis_angle": "axis and angle",
}


class InputError(CoreError):
    """The input lacks what the command needs."""


@dataclass(frozen=True)
class Candidate:
    """An action that moves bones of the armature through the slot `slot` (identifier; "" before Blender 4.4)."""

    name: str
    slot: str
    title: str
    bones: int
    length: float


def candidates(body, among=None):
    """The actions (of the file, or among the given ones) that key bones of the armature; what reactions have laid is
    no clip."""
    names, laid = {bone.name for bone in body.data.bones}, layer_undo.laid_actions()
    found = []
    for action in bpy.data.actions if among is None else among:
        if action in laid:
            continue
        slots = list(action.slots) if actions.LAYERED else [None]
        best = max((_candidate(body, action, slot, names) for slot in slots), key=lambda c: c.bones, default=None)
        if best is not None and best.bones:
            found.append(best)
    return found


def by_name(body, name):
    """The candidate that is the action of this name; InputError with what is on offer where it is no clip of the
    armature."""
    action = bpy.data.actions.get(name)
    found = candidates(body, [action]) if action is not None else []
    if found:
        return found[0]
    if not name:
        text = "No action is named."
    elif action is None:
        text = "There is no action '{}'."
    elif action in layer_undo.laid_actions():
        text = "Action '{}' is the layer of a reaction, which Flatten would make a clip of."
    else:
        text = "Action '{}' moves no bone of '{}'."
    offered = offer("Choose one of", name, [item.name for item in candidates(body)])
    cure = offered or "Give the armature an action that was made for it."
    raise InputError("{} {}".format(text.format(name, body.name), cure))


def search(_properties, context, _typed):
    """The names that a property offers which takes a clip of the armature.  Cheap: Blender asks at every redraw."""
    body, laid = checks.armature_of(context), layer_undo.laid_actions()
    names = {bone.name for bone in body.data.bones}
    question = "moves", body.name_full

    def fits(action):
        return staleness.once(action, question, lambda: actions.moves(action, names))

    return [action.name for action in bpy.data.actions if action not in laid and fits(action)]


def _candidate(body, action, slot, names):
    keyed = actions.curves_of(action, slot)
    touched = {actions.bone_of(curve.data_path) for curve in keyed} & names
    frames = actions.key_range(keyed) or (0.0, 0.0)
    identifier = "" if slot is None else slot.identifier
    return Candidate(action.name, identifier, title(action.name, body.name), len(touched), frames[1] - frames[0])


def curves_of(chosen):
    """The f-curves that a candidate would play."""
    action = bpy.data.actions[chosen.name]
    return actions.curves_of(action, action.slots.get(chosen.slot) if actions.LAYERED else None)


def unheard(body, chosen, among=None):
    """In a sentence, which bones (of those among) a candidate turns only by keys of another rotation mode than theirs;
    "" where there are none."""
    turned = {}
    for curve in curves_of(chosen):
        bone, rna = actions.bone_and_property(curve.data_path)
        if rna in TURNS and actions.evaluates(curve):
            turned.setdefault(bone, set()).add(rna)
    needs = {bone.name: rotation_property(bone.rotation_mode) for bone in body.pose.bones}
    silent = [bone for bone, need in needs.items() if bone in turned and need not in turned[bone]]
    silent = [bone for bone in silent if among is None or bone in among]
    if not silent:
        return ""
    first = silent[0]
    text = (
        "Bones that don't follow action '{}', which keys another rotation mode than theirs: {} ('{}' is set to {}, "
        "keyed in {}). Convert its keys."
    )
    return text.format(chosen.name, len(silent), first, TURNS[needs[first]], TURNS[min(turned[first])])


def key_range(chosen):
    """First and last key of what a candidate would play, (0, 0) where its curves have none."""
    return actions.key_range(curves_of(chosen)) or (0.0, 0.0)


def title(action, armature):
    """The clip's own name, which importers wrap ("Rig|Walk", "Walk_Rig", "Hips|walk|walk:BaseAnimation")."""
    plain = re.escape(re.sub(r"\.\d{3}$", "", armature))
    wrapped = re.match(rf"{plain}(?:\.\d{{3}})?\|(.+)$", action)
    text = wrapped.group(1) if wrapped else action
    wrapped = re.match(rf"(.+)_{plain}(?:\.\d{{3}})?$", text)
    text = wrapped.group(1) if wrapped else text
    return text.split("|")[0] or action


def named(path, wanted, offered):
    for same in (
        lambda item: item.name == wanted,
        lambda item: item.title == wanted,
        lambda item: wanted.casefold() in (item.name.casefold(), item.title.casefold()),
    ):
        found = [item for item in offered if same(item)]
        if found:
            return found[0], "the action asked for"
    titles = [item.title for item in offered]
    raise InputError(
        "'{}' has no action '{}' for this armature. {}".format(
            path.name, wanted, offer("It has", wanted, titles) or "It has none."
        )
    )


def fitting(offered):
    """The clip that says walk, else idle, else the longest."""
    if len(offered) == 1:
        return offered[0], "the only clip"
    for kind in ("walk", "idle"):
        ranked = sorted((_closeness(item.title, kind), len(item.title), item.title, item.name) for item in offered)
        if ranked[0][0] < 3:
            return next(item for item in offered if item.name == ranked[0][3]), "its name says {}".format(kind)
    longest = max(offered, key=lambda item: (item.length, item.name))
    return longest, "the longest clip, none says walk or idle"


def _closeness(text, kind):
    """0: the name is the kind (Walk, walking_A), 1: one of its words, 2: part of a word, 3: neither."""
    words = [word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)]
    forms = {kind, kind + "ing", kind + "s"}
    if not forms & set(words):
        return 2 if kind in text.casefold() else 3
    return 0 if all(word in forms or len(word) == 1 or word.isdigit() for word in words) else 1


def offer(intro, wanted, names):
    """ "It has 'a', 'b'" with the names nearest to the wanted one first, five at most."""
    names = sorted(names)
    near = difflib.get_close_matches(wanted, names, 5, 0.4)
    near += [name for name in names if name not in near and wanted.casefold() in name.casefold()]
    near += [name for name in names if name not in near]
    if not near:
        return ""
    more = " and {} more".format(len(near) - 5) if len(near) > 5 else ""
    return "{} {}{}.".format(intro, ", ".join("'{}'".format(name) for name in near[:5]), more)


# -- what is missing --------------------------------------------------------------------------------------------------


def bodiless(path):
    for item in bpy.context.view_layer.objects:
        collection = item.instance_collection
        if collection is not None and any(member.type == "ARMATURE" for member in collection.all_objects):
            return "The armature in '{}' is linked. Choose Object > Library Override > Make on '{}' first.".format(
                path.name, item.name
            )
    return "'{}' has no armature. Choose a file with an animated character.".format(path.name)


def still(path, body):
    """Why an armature without animation is refused."""
    text = "The armature '{}' in '{}' has no animation".format(body.name, path.name)
    return "{}. Give it an action, or name a file with one as --clip.".format(text)


# -- playing it ------------------------------------------------------------------------------------------------------


def play(body, chosen, stance=None):
    """Make an action the only one that moves the armature, and clear what another clip left in the pose.

    stance: Channels of the pose that the file itself gives; without it the channels that other actions of the
    armature key go back to rest.
    """
    data = body.animation_data_create()
    left = _left_behind(body, data)
    for track in data.nla_tracks:
        track.is_solo = False
        track.mute = True
    data.use_tweak_mode = False
    actions.assign(data, bpy.data.actions[chosen.name], chosen.slot)
    data.action_blend_type, data.action_influence, data.action_extrapolation = "REPLACE", 1.0, "HOLD"
    if stance is not None:
        clip.write_stored(body, stance)
    else:
        _to_rest(body, left)
    _faces(body, chosen)


def _left_behind(body, data):
    """The bone channels, (bone, property), that what plays now has written into the pose."""
    keyed = list(actions.curves_of(data.action, actions.slot_of(data)))
    for strip in source.strips_in_force(body):
        keyed += actions.curves_of(strip.action, actions.slot_of(strip))
    pairs = {actions.bone_and_property(curve.data_path) for curve in keyed}
    return {(bone, field) for bone, field in pairs if bone is not None}


def _to_rest(body, left):
    for name, field in left:
        bone = body.pose.bones.get(name)
        if bone is not None and field in clip.BONE:
            bone.property_unset(field)


def _faces(body, chosen):
    """Let the shape keys of the armature's meshes play the same clip, or none."""
    action = bpy.data.actions[chosen.name]
    for item in bpy.context.scene.objects:
        keys = getattr(item.data, "shape_keys", None) if item.type == "MESH" else None
        if keys is None or keys.animation_data is None or not _belongs(item, body):
            continue
        data = keys.animation_data
        fitting = [slot for slot in action.slots if slot.target_id_type == "KEY"] if actions.LAYERED else []
        other = bpy.data.actions.get("{}_{}".format(chosen.title, item.name))
        if fitting:
            actions.assign(data, action, fitting[0].identifier)
        elif other is not None and not actions.LAYERED:
            actions.assign(data, other)
        else:
            data.action = None


def _belongs(item, body):
    while item is not None and item != body:
        item = item.parent
    return item == body
