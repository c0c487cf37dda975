"""The set-up, item by item: what a reaction needs of a rig, whether it is there, and what cures it where it isn't.

The panel draws it, `inspect` reports it.  It reads what is at hand; roles are known once the bones were recognised.
"""

from typing import NamedTuple

import numpy as np

from . import actions, control_rig, figures, hints, keyed_settings, limits, rig, source, staleness, timing

OK, WARN, REFUSE = "ok", "warn", "refuse"
NEEDED = ("pelvis", "head", "upper_arm.L", "upper_arm.R", "thigh.L", "thigh.R")  # of a biped
EVEN = 1e-3
RECOGNISE, OVERRIDE = "parametric_dynamics.recognise_bones", "object.make_override_library"


class Item(NamedTuple):
    """One thing that was looked at.

    state: "ok", "warn" (it works, but mind this) or "refuse" (no reaction before it is cured).  cure: what to do, for
    people; button: a kind of `operators_life.DYNAMICS_OT_cure`, "UPDATE", or the name of an operator ("" = none).
    reaction: the name of the one that is meant.
    """

    name: str
    state: str
    text: str
    cure: str = ""
    button: str = ""
    reaction: str = ""


def of(context, armature):
    """The list for an armature; what means to look at all curves, meshes or constraints is looked at once."""

    def once(look, *of_what):
        return staleness.once(armature, ("set-up", look.__name__), lambda: look(*of_what))

    items = [_armature(armature), _pose(armature), once(_clip, context, armature), *_layers(context, armature)]
    items += [_roles(armature), once(_mesh, context, armature), _feet(armature), once(_owners, armature)]
    items += once(_limits, armature)
    items += [_scale(context, armature), _time(context), once(_settings, armature)]
    return items


def worst(items):
    """The gravest state among them."""
    return max((item.state for item in items), key=(OK, WARN, REFUSE).index)


def _armature(armature):
    if found := rig.uneditable(armature):
        return Item("armature", REFUSE, *found, OVERRIDE)
    kind = ", a library override" if armature.override_library is not None else ""
    return Item("armature", OK, "'{}', {} bones{}.".format(armature.name, len(armature.data.bones), kind))


def _pose(armature):
    if found := rig.resting(armature):
        return Item("pose", REFUSE, *found, "SHOW_POSE")
    return Item("pose", OK, "The armature shows its pose.")


def _clip(context, armature):
    found = source.of(armature)
    if found is None:
        return Item("clip", REFUSE, *source.lacking(armature))
    seconds = (found.end - found.start) / timing.rate(context.scene)
    where = "'{}', frames {:g} to {:g}, {:.2f} s".format(found.action, found.start, found.end, seconds)
    if not source.moves_bones(armature):
        text = "{}, keys no bone of the armature.".format(where)
        return Item("clip", WARN, text, "Choose an action that was made for this rig.")
    if found.end - found.start < 2.0:
        return Item("clip", WARN, where + ": a pose, which is held.", "Choose a longer action if it should move.")
    return Item("clip", OK, where + ".")


def _layers(context, armature):
    """What lies over or hides what should play."""
    data = armature.animation_data
    if data is None or armature.library is not None:
        return []
    if not data.use_nla and len(data.nla_tracks) and (data.action is None or actions.only_settings(data)):
        return [Item("layers", REFUSE, "The NLA is switched off, and only strips move the armature.", "", "NLA_ON")]
    found = hints.of(context, armature) if data.use_tweak_mode or len(armature.parametric_dynamics_reactions) else []
    stopping = ("LEAVE_TWEAK", "NLA_ON", "UNLINK", "SOLO_OFF")
    items = [Item("layers", REFUSE if h.cure in stopping else WARN, h.text, "", h.cure, h.reaction) for h in found]
    if context.scene.tool_settings.use_keyframe_insert_auto and not any(h.cure == "AUTOKEY_OFF" for h in found):
        text = "Auto Keying is on. What it keys after Apply lies over the reaction."
        items.append(Item("layers", WARN, text, "", "AUTOKEY_OFF"))
    plays = "{} NLA tracks, {} reactions.".format(len(data.nla_tracks), len(armature.parametric_dynamics_reactions))
    return items or [Item("layers", OK, plays)]


def _roles(armature):
    figure = figures.known(armature)
    if figure is None:
        return Item("roles", WARN, "The bones were not looked at yet.", "", RECOGNISE)
    cure = "Say what bones are in the panel Bone > Role."
    found = set(figure.roles.values())
    missing = [role for role in NEEDED if role not in found] if figure.kind == "biped" else []
    if figure.note:
        return Item("roles", WARN, figure.note, cure, RECOGNISE)
    if missing:
        text = "No bone was recognised as {}: situations that need it are refused.".format(", ".join(missing))
        return Item("roles", WARN, text, cure, RECOGNISE)
    text = "{}, {} of {} bones recognised."
    return Item("roles", OK, text.format(figure.kind.capitalize(), len(figure.roles), len(armature.data.bones)))


def _mesh(context, armature):
    names = sorted(item.name for item in context.scene.objects if rig.is_skinned(item, armature))
    own = sum(bone.dynamics_mass > 0.0 for bone in armature.pose.bones)
    given = " {} bones have a mass of their own.".format(own) if own else ""
    if not names:
        text = "No mesh moves with the armature: masses come from the shape of the skeleton." + given
        return Item("masses", WARN, text, "Give a mesh an armature modifier, or bones a mass in the panel Bone.")
    more = " and {} more".format(len(names) - 1) if len(names) > 1 else ""
    return Item("masses", OK, "Masses from the mesh '{}'{}.{}".format(names[0], more, given))


def _feet(armature):
    figure = figures.known(armature)
    if figure is None:
        return Item("contacts", WARN, "Feet are known when the bones were looked at.")
    feet = [bone for bone, role in figure.roles.items() if role in ("foot.L", "foot.R")]
    if len(feet) < 2:
        text = "{} feet were found: nothing is held on the ground.".format(len(feet) or "No")
        button = "" if _roles(armature).button else RECOGNISE
        return Item("contacts", WARN, text, "Give the feet their role in the panel Bone.", button)
    return Item("contacts", OK, "Feet: '{}' and '{}'.".format(*feet[:2]))


def _owners(armature):
    unknown = [bone.name for bone in armature.pose.bones if any(_is_unknown(c) for c in bone.constraints)]
    if unknown:
        text = "A constraint on bone '{}' has a type that this Blender doesn't know: it does nothing here."
        return Item("constraints", WARN, text.format(unknown[0]), "Open the file in the Blender that made it.")
    owners = rig.constraint_owners(armature)
    if not owners:
        return Item("constraints", OK, "No constraint or driver moves a bone.")
    text = "{} bones are moved by constraints or drivers; a reaction goes to the controls behind them."
    return Item("constraints", OK, text.format(len(owners)))


def _limits(armature):
    figure = figures.known(armature)
    if figure is None:
        return [Item("limits", WARN, "Limits are known when the bones were looked at.")]
    owners, found, none = rig.constraint_owners(armature), {}, "No bone has limits: the usual ones are taken."
    if control_rig.under_control(armature, figure.roles, owners):
        held = rig.constraint_owners(armature, rig.carries)
        free = [bone.name for bone in armature.pose.bones if bone.name not in held]
        doubts = limits.of_controls(armature, free, "Bone")
        none = "No control has a Limit Rotation: the usual limits are taken."
    else:
        found, doubts = limits.look(armature, figure.roles, figure.carried, owners)
    if doubts:
        return [Item("limits", WARN, *doubt) for doubt in doubts]
    if not found:
        return [Item("limits", OK, none)]
    return [Item("limits", OK, "{} limits, which a reaction keeps to.".format(limits.named(list(found))))]


def _is_unknown(constraint):
    return getattr(constraint, "type", None) is None


def _scale(context, armature):
    linear = np.array(armature.matrix_world)[:3, :3]
    size = np.linalg.norm(linear, axis=0)
    if np.linalg.det(linear) == 0.0:
        return Item("scale", REFUSE, "The armature is scaled to nothing.", "Give it a scale other than 0.")
    if size.max() > (1.0 + EVEN) * size.min():
        text = "The armature is scaled unevenly; distances are measured with its mean scale."
        return Item("scale", WARN, text, "Choose Object > Apply > Scale before animating.")
    unit = context.scene.unit_settings
    metres = unit.scale_length if unit.system != "NONE" else 1.0
    figure = figures.known(armature)
    tall = "" if figure is None else "{:.3g} m high in the scene, reckoned as {:.3g} m; ".format(
        figure.height * metres, armature.parametric_dynamics.height or figure.usual
    )
    return Item("scale", OK, "{}object scale {:.4g}, unit scale {:.4g}.".format(tall, float(size.mean()), metres))


def _time(context):
    rate, stretch = timing.rate(context.scene), timing.stretch(context.scene)
    stretched = "" if stretch == 1.0 else ", time stretched by {:.4g}".format(stretch)
    return Item("time", OK, "{:.6g} frames per second{}.".format(rate, stretched))


def _settings(armature):
    keyed = keyed_settings.animated(armature)
    text = "Keyed or driven: muscles follow, the rest is as at the hit." if keyed else "No setting is keyed or driven."
    return Item("settings", OK, text)
