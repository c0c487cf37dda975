"""Which animation is in force on an armature, and how far the scene itself plays it."""

from dataclasses import dataclass

import numpy as np

from ..core.errors import ClipError
from . import actions, layer_undo, nla


@dataclass(frozen=True)
class Source:
    """The animation in force, reactions left out.

    action, slot: its name and its slot's identifier ("" before Blender 4.4).  start, end: frames of this slot's keys,
    or of the strip that plays it.  until: frame up to which the scene keeps playing it (inf for a Cycles modifier,
    the end of a repeated strip or of a reaction's continuation, else `end`).  strip: name of the NLA strip it comes
    from, "" for the active action.
    """

    action: str
    slot: str
    start: float
    end: float
    until: float
    strip: str = ""


def of(armature):
    """The Source in force, or None for an armature without animation."""
    data = armature.animation_data
    if data is None:
        return None
    if not data.use_tweak_mode and nla.read_stack(data).active:
        return _active(data)
    return _strip(armature)


def require(armature):
    """The Source in force; ClipError, with the cure, for an armature without one."""
    found = of(armature)
    if found is None:
        raise ClipError(" ".join(lacking(armature)))
    return found


def lacking(armature):
    """(why, what to do) of an armature without a Source."""
    data, name = armature.animation_data, armature.name
    if data is not None and data.action is not None and actions.LAYERED and data.action_slot is None:
        text = "Armature '{}' plays no slot of its action '{}'."
        return text.format(name, data.action.name), "Choose one beside the action's name."
    moving = data is not None and data.action is not None and not actions.only_settings(data)
    if data is None or moving or not nla.strips_of(data.nla_tracks):
        return "Armature '{}' has no animation.".format(name), "Give it an action that moves, or choose another."
    solo = next((track.name for track in data.nla_tracks if track.is_solo), "")
    if data.use_nla and solo:
        text, cure = "The clip of armature '{}' is silent: NLA track '{}' plays alone.", "Switch its star off."
    elif not data.use_nla:
        text, cure = "The NLA of armature '{}' is switched off.", "Switch it on beside its name in the NLA editor."
    else:
        text, cure = "Nothing plays on armature '{}'.", "Unmute one of its NLA tracks, or give it an action that moves."
    return text.format(name, solo), cure


def moves_bones(armature):
    """Whether what plays on an animated armature, reactions left out, keys bones of it."""
    bones = {bone.name for bone in armature.data.bones}
    players = [armature.animation_data, *_acting(armature)[0]]
    curves = (c for player in players for c in actions.curves_of(player.action, actions.slot_of(player)))
    return any(actions.bone_of(curve.data_path) in bones for curve in curves)


def begins(armature, found):
    """The first frame of what moves the armature: of the Source, or of a clip that plays before it."""
    strips = [] if found.strip == "" else _acting(armature)[0]
    return min([found.start, *(nla.clip_range(strip)[0] for strip in strips)])


def curves_in_force(armature):
    """The f-curves of the active action's slot; empty without action or slot."""
    data = armature.animation_data
    return [] if data is None else actions.curves_of(data.action, actions.slot_of(data))


def alone(armature):
    """Whether nothing but the active action (or nothing at all) animates the armature: no strip of a track that is
    heard, for even muted ones have Blender mix, by the action's influence, with defaults of what they key."""
    data = armature.animation_data
    if data is None:
        return True
    return not data.use_tweak_mode and not any(_heard(data))


def _heard(data):
    """The strips of each track that is heard, from the lowest up, muted ones too."""
    return [list(data.nla_tracks[i].strips) for i in nla.read_stack(data).tracks]


def stacked(armature):
    """The strips of the tracks that are heard, from the lowest up, muted ones too, where nothing but plain ones, one to
    a track, animates the armature, as when its clip is pushed down; else None.

    Even what an active action keys that a solo silences has its default.
    """
    data = armature.animation_data
    if data is None or data.use_tweak_mode:
        return None
    heard = _heard(data)
    strips = [strip for track in heard for strip in track]
    clear = not curves_in_force(armature) and all(len(track) < 2 for track in heard)
    return strips if clear and all(map(nla.plain, strips)) else None


def carries(armature):
    """Whether the armature object itself may move: it is animated, or something else moves it."""
    if armature.parent is not None or len(armature.constraints) or armature.rigid_body is not None:
        return True
    curves = list(curves_in_force(armature))
    for strip in strips_in_force(armature):
        curves += actions.curves_of(strip.action, actions.slot_of(strip))
    return any(not curve.data_path.startswith("pose.") for curve in curves)


def strips_in_force(armature):
    """Strips that the NLA evaluates, from the lowest track up."""
    data = armature.animation_data
    if data is None or not data.use_nla:
        return []
    return [strip for strips in _heard(data) for strip in _flat(strips)]


def _flat(strips):
    """The strips that aren't muted, with those of meta strips in their place: their frames are the scene's, too."""
    for strip in strips:
        if not strip.mute:
            yield from _flat(strip.strips) if strip.type == "META" else (strip,)


def _active(data):
    keyed = curves_in_force(data.id_data)
    frames = actions.key_range(keyed)
    if frames is None:
        return None
    endless = any(_cycles(curve) for curve in keyed)
    return Source(
        action=data.action.name,
        slot=actions.slot_identifier(data),
        start=frames[0],
        end=frames[1],
        until=np.inf if endless else frames[1],
    )


def _cycles(curve):
    return any(m.type == "CYCLES" and not m.mute and m.mode_after != "NONE" for m in curve.modifiers)


def _acting(armature):
    """(the strips in force that are the user's clips, those by which reactions let the clip go on)."""
    kept = armature.parametric_dynamics_reactions
    ours = {strip.as_pointer(): kind for record in kept for _, strip, kind in layer_undo.own_strips(armature, record)}
    strips = strips_in_force(armature)
    clips = [s for s in strips if s.action is not None and s.as_pointer() not in ours and not actions.only_settings(s)]
    return clips, [strip for strip in strips if ours.get(strip.as_pointer()) == "continuation"]


def _strip(armature):
    """The topmost full strip with an action; deltas on top of it and what a reaction laid are not the motion itself."""
    acting, longer = _acting(armature)
    if not acting:
        return None
    whole = [strip for strip in acting if strip.blend_type == "REPLACE"] or acting
    strip = whole[-1]
    start, end = nla.clip_range(strip)
    until = nla.clip_until(strip)
    for further in sorted(longer, key=lambda strip: strip.frame_start):
        if further.frame_start <= until + 1.0:  # one that stands alone, as what it followed was removed, is none
            until = max(until, further.frame_end)
    return Source(
        action=strip.action.name,
        slot=actions.slot_identifier(strip),
        start=start,
        end=end,
        until=until,
        strip=strip.name,
    )
