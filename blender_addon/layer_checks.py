"""Whether a rig can take a layer: refused by name and with the cure where the layer could not be neutral."""

from typing import Any

from . import actions, nla, records, source
from .nla import LayerError, Stack
from .rig import uneditable


def require(rig: Any) -> Stack:
    """What plays on the rig; LayerError where nothing does or a layer cannot be neutral there."""
    if rig is None or rig.type != "ARMATURE":
        raise LayerError("A reaction needs an armature. Select one.")
    if found := uneditable(rig):
        raise LayerError(" ".join(found))
    anim = rig.animation_data
    if anim is not None and anim.use_tweak_mode:
        raise LayerError(f"'{rig.name}' is in tweak mode. Leave it in the NLA editor (Tab), then apply.")
    stack = None if anim is None else nla.read_stack(anim)
    if stack is None or not (stack.alone or stack.tracks):
        raise LayerError(" ".join(source.lacking(rig)))
    if records.base_of(rig) is not None:
        _check_again(rig, anim, stack)
    if stack.alone:
        _check_groups(anim)
        _check_quaternions(rig, anim)
    return stack


def require_own(rig: Any, name: str) -> None:
    """LayerError for a reaction that a library override has from its library: Blender can't take it off here."""
    if records.inherited(rig, name):
        raise LayerError(
            f"The reaction '{name}' of '{rig.name}' comes from the linked file. Change it there, or mute its track."
        )


def _check_again(rig: Any, anim: Any, stack: Stack) -> None:
    """A further reaction: nothing may lie over or hide the ones there are."""
    if anim.action is not None and actions.curves_of(anim.action, actions.slot_of(anim)):
        raise LayerError(
            f"The action '{anim.action.name}' lies over the reactions of '{rig.name}'. "
            "Push it down in the NLA editor or unlink it, then apply."
        )
    if stack.solo:
        raise LayerError(f"NLA track '{stack.solo}' plays alone. Switch its star off in the NLA editor, then apply.")


def _check_groups(anim: Any) -> None:
    """From 4.4 on Blender plays curves of muted groups in an action that is active alone, and not in the NLA."""
    groups = [c.group for c in actions.curves_of(anim.action, actions.slot_of(anim)) if c.group is not None]
    muted = next((group.name for group in groups if group.mute), None)
    if actions.LAYERED and muted is not None:
        raise LayerError(
            f"The channel group '{muted}' of action '{anim.action.name}' is muted, which the NLA takes otherwise. "
            "Unmute it or mute its channels, then apply."
        )


def _check_quaternions(rig: Any, anim: Any) -> None:
    """The NLA fills partly keyed quaternions with defaults; refuse where that would turn something."""
    keyed = actions.channels_of(actions.curves_of(anim.action, actions.slot_of(anim)))
    for channel in sorted(nla.missing_quaternions(keyed)):
        owner = rig.path_resolve(channel.path.rpartition(".")[0]) if "." in channel.path else rig
        stored = rig.path_resolve(channel.path)[channel.index]
        if owner.rotation_mode == "QUATERNION" and stored != actions.QUATERNION_DEFAULT[channel.index]:
            raise LayerError(
                f"The action '{anim.action.name}' keys only part of the quaternion of '{owner.name}'. "
                "Key its whole rotation, then apply."
            )
