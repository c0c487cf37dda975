"""Whether an operator can run, with the reason and the cure where it can't.  Cheap: panels ask at every redraw."""

from . import actions, records, rig


def armature_of(context):
    """The active armature, or the one that moves the active mesh; None without either."""
    active = context.active_object
    if active is None or active.type == "ARMATURE":
        return active
    return active.find_armature()


def armature(operator, context):
    """An armature is active and not in edit mode."""
    found = armature_of(context)
    if found is None:
        operator.poll_message_set("Select an armature, or a mesh that one moves.")
        return False
    if context.mode.startswith("EDIT"):
        operator.poll_message_set("Leave edit mode (Tab).")
        return False
    return True


def editable(operator, context):
    """An armature is active whose changes Blender keeps."""
    if not armature(operator, context):
        return False
    if found := rig.uneditable(armature_of(context)):
        operator.poll_message_set(" ".join(found))
    return not found


def animated(operator, context):
    """An editable armature is active that something animates."""
    if not editable(operator, context):
        return False
    data = armature_of(context).animation_data
    if not has_animation(data):
        operator.poll_message_set("The armature has no animation. Give it an action that moves.")
        return False
    if data.use_tweak_mode:
        operator.poll_message_set("The armature is in tweak mode. Leave it in the NLA editor (Tab).")
        return False
    return True


def has_animation(data):
    """Whether an AnimData can move anything."""
    if data is None:
        return False
    clip = data.action is not None and not actions.only_settings(data)
    return clip or any(len(track.strips) for track in data.nla_tracks)


def reaction(operator, context):
    """An editable armature with at least one reaction is active."""
    if not editable(operator, context):
        return False
    found = armature_of(context)
    if not len(found.parametric_dynamics_reactions):
        operator.poll_message_set("The armature has no reaction yet. Apply one first.")
        return False
    if found.animation_data is not None and found.animation_data.use_tweak_mode:
        operator.poll_message_set("The armature is in tweak mode. Leave it in the NLA editor (Tab).")
        return False
    return True


def updatable(operator, context):
    """The reaction that a button is about (`dynamics_reaction`) can be made anew; without one that shows as it runs."""
    record = getattr(context, "dynamics_reaction", None)
    reason = "" if record is None else no_update(record)
    if reason:
        operator.poll_message_set(reason)
    return not reason


def no_update(record):
    """Why a reaction can't be made anew, with the cure; "" where it can."""
    text = "'{}' blends two actions. Remove it, then blend them anew."
    return text.format(record.name) if records.is_blend(record) else ""


def pose_bone(operator, context):
    """A bone of an editable armature is active."""
    if not editable(operator, context):
        return False
    if bone_of(context) is None:
        operator.poll_message_set("Select a bone in pose mode.")
        return False
    return True


def bone_of(context):
    """The active pose bone of the armature, also outside pose mode; or None."""
    found = armature_of(context)
    active = found.data.bones.active if found is not None else None
    return found.pose.bones.get(active.name) if active is not None else None


def active_reaction(found):
    """The record of the chosen reaction (the last where none is), or None."""
    kept = found.parametric_dynamics_reactions
    return kept[min(found.parametric_dynamics.active_reaction, len(kept) - 1)] if len(kept) else None
