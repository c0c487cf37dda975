"""How a layer is taken off again: what `layer` writes on a rig, found and put back, whatever was done meanwhile."""

from collections.abc import Callable, Iterator
from typing import Any

import bpy

from . import actions, handwork, nla, records, timing
from .actions import Channel
from .nla import Stack

LAYERS = ("action", "hold", "continuation")
NEAR = 1e-3  # frames: nearer ends of strips are the same


def own_strips(rig: Any, record: Any) -> Iterator[tuple[Any, Any, str]]:
    """Track, strip and layer ("action", "hold", "continuation") of every strip that belongs to the reaction.

    By its action, so that tracks may be renamed; on a duplicated rig, whose actions are copies, by track and name.
    The layer is "" where the action has been deleted.
    """
    if rig.animation_data is None:
        return
    names = set(records.load(record.tracks))
    own = {getattr(record, layer): layer for layer in LAYERS if getattr(record, layer) is not None}
    for track in rig.animation_data.nla_tracks:
        for strip in nla.strips_of([track]):
            if len(strip.strips):
                continue  # a meta strip plays those in it
            action = strip.action
            if action is not None and action not in own and track.name in names:
                action = next((original for original in own if _is_copy(action, original)), None)
            if action in own:
                yield track, strip, own[action]
            elif strip.action is None and track.name in names:
                yield track, strip, ""


def _is_copy(action: Any, original: Any) -> bool:
    """Whether an action's name is the original's with a number of Blender's behind."""
    stem, _, number = action.name.rpartition(".")
    return number.isdigit() and (stem == original.name or original.name.startswith(stem + "."))


def own_actions(rig: Any) -> set[Any]:
    """Every action that belongs to a reaction of the rig."""
    return set().union(*(own_actions_of(rig, record) for record in rig.parametric_dynamics_reactions))


def own_actions_of(rig: Any, record: Any) -> set[Any]:
    """The actions of a reaction that are there."""
    return {strip.action for _, strip, layer in own_strips(rig, record) if layer}


def laid_actions() -> set[Any]:
    """Every action that a reaction has laid, on whatever rig of the file, and what was kept of those."""
    rigs = [item for item in bpy.data.objects if len(item.parametric_dynamics_reactions)]
    noted = {getattr(record, layer) for rig in rigs for record in rig.parametric_dynamics_reactions for layer in LAYERS}
    return noted.union(filter(handwork.is_laid, bpy.data.actions), *map(own_actions, rigs))


def keyed_below(rig: Any) -> set[Channel]:
    """The channels that what plays on the rig keys, its reactions left out."""
    anim = rig.animation_data
    return set() if anim is None else nla.keyed_channels(anim, nla.read_stack(anim), own_actions(rig))


def track_of(rig: Any, name: str) -> Any:
    """The track of a reaction's own keys; None where there is none."""
    record = rig.parametric_dynamics_reactions.get(name) if name else None
    found = [t for t, _, layer in own_strips(rig, record) if layer == "action"] if record is not None else []
    return found[-1] if found else None


def note_track(record: Any, name: str) -> None:
    """Remember the name of a track of ours."""
    record.tracks = records.dump([*records.load(record.tracks), name])


def _below(rig: Any, upto: int, over: Callable[[Any, str], bool]) -> Any:
    """The track under the lowest one of the first reactions whose strip and layer are over it, or None: then on top of
    all."""
    tracks = list(rig.animation_data.nla_tracks)
    records_ = rig.parametric_dynamics_reactions[:upto]
    theirs = [track for record in records_ for track, strip, layer in own_strips(rig, record) if over(strip, layer)]
    lowest = min((tracks.index(track) for track in theirs), default=0)
    return tracks[lowest - 1] if lowest else None


def track_below_reactions(rig: Any, upto: int, end: float) -> Any:
    """Where a continuation to that frame goes: under every reaction and what goes on from it, over what they react to,
    for it is held after its end."""

    def over(strip: Any, layer: str) -> bool:
        return layer == "action" or (layer == "continuation" and strip.frame_start >= end - NEAR)

    return _below(rig, upto, over)


def track_below_layers(rig: Any, upto: int) -> Any:
    """Where a hold goes: under continuations and reactions."""
    return _below(rig, upto, lambda _, layer: layer in ("action", "continuation"))


def remember(rig: Any, stack: Stack) -> None:
    """Keep how the animation stands, before the first reaction changes it."""
    anim, base = rig.animation_data, rig.parametric_dynamics_base.add()
    base.nla_off = not anim.use_nla
    tracks = list(anim.nla_tracks)
    base.solo = records.dump([[i, track.name] for i, track in enumerate(tracks) if track.is_solo])
    base.foreign = records.dump([track.name for track in anim.nla_tracks])
    if anim.action is None or actions.only_settings(anim):
        return
    base.action = anim.action
    base.slot = actions.slot_identifier(anim)
    base.blend_type = anim.action_blend_type
    base.influence = anim.action_influence
    base.extrapolation = anim.action_extrapolation
    keyed = actions.channels_of(actions.curves_of(anim.action, actions.slot_of(anim))) if stack.alone else set()
    base.residue = records.dump([[c.path, c.index, stored(rig, c)] for c in sorted(nla.missing_quaternions(keyed))])


def note_active(rig: Any) -> None:
    """Keep which of the animator's own tracks is the active one, before ours take its place."""
    anim, base = rig.animation_data, records.base_of(rig)
    ours = {t.name for record in rig.parametric_dynamics_reactions for t, _, _ in own_strips(rig, record)}
    ours |= {track.name for track, _ in pushed_strips(anim, base)}
    active = anim.nla_tracks.active
    if active is not None and active.name not in ours:
        base.active_track = records.dump([[list(anim.nla_tracks).index(active), active.name]])


def clip_end(rig: Any, stack: Stack) -> float | None:
    """The last key of the action that plays alone, or was pushed down for the rig's reactions; None where unknown."""
    anim, base = rig.animation_data, records.base_of(rig)
    if base is not None:
        pushed = pushed_strips(anim, base)
        return nla.clip_until(pushed[0][1]) if len(pushed) == 1 else None
    keys = actions.key_range(actions.curves_of(anim.action, actions.slot_of(anim))) if stack.alone else None
    return keys[1] if keys is not None else None


def stored(rig: Any, channel: Channel) -> float:
    """The value that the object itself holds."""
    return float(rig.path_resolve(channel.path)[channel.index])


def silence(rig: Any, stack: Stack) -> None:
    """Let the tracks that played play on and no others, with solo off and the NLA on."""
    anim, base = rig.animation_data, records.base_of(rig)
    if not records.load(base.solo) and not base.nla_off:
        return
    for track in anim.nla_tracks:
        if track.is_solo:
            track.is_solo = False
    silenced = []
    for i, track in enumerate(list(anim.nla_tracks)[: len(records.load(base.foreign))]):
        if track.mute == (i in stack.tracks):  # unheard till now, or alone in spite of being muted
            silenced.append([i, track.name])
            track.mute = not track.mute
    base.silenced = records.dump(silenced)
    anim.use_nla = True


def take_off(rig: Any, index: int) -> list[str]:
    """Remove one reaction and, with the last, all that was changed for them.  Returns what was kept, and
    what could not be put back."""
    record = rig.parametric_dynamics_reactions[index]
    held = records.load(record.held)
    own = {getattr(record, layer) for layer in LAYERS} | {strip.action for _, strip, _ in own_strips(rig, record)}
    _remove_tracks(rig, record)
    rig.parametric_dynamics_reactions.remove(index)
    edited = sorted(map(handwork.put_away, own))
    still = {(p, i) for r in rig.parametric_dynamics_reactions for p, i, _ in records.load(r.held)}
    notes = [text for text in edited if text]
    notes += [] if len(rig.parametric_dynamics_reactions) else _restore_base(rig)
    for path, position, value in held:
        if (path, position) not in still:
            write_back(rig, path, position, value)
    return notes


def _remove_tracks(rig: Any, record: Any) -> None:
    """Remove the reaction's strips, and the tracks of ours that stand empty then."""
    if rig.animation_data is None:
        return
    tracks, names = rig.animation_data.nla_tracks, set(records.load(record.tracks))
    touched = {track.name for track, _, _ in own_strips(rig, record)} | names
    own = {strip.as_pointer() for _, strip, _ in own_strips(rig, record)}
    for track in tracks:
        for strip in list(track.strips):
            _remove_strip(track, strip, own)
    for track in [track for track in tracks if track.name in touched and not len(track.strips)]:
        tracks.remove(track)


def _remove_strip(track: Any, strip: Any, own: set[int]) -> None:
    """Remove a strip that is ours, or a meta strip with nothing else in it; else empty what is ours in it."""
    inside = [part for part in (strip, *nla.strips_of([strip])) if not len(part.strips)]
    ours = [part for part in inside if part.as_pointer() in own]
    if ours and len(ours) == len(inside):
        track.strips.remove(strip)
        return
    for part in ours:  # Blender takes no single strip out of a meta strip
        part.action, part.mute = None, True


def _restore_base(rig: Any) -> list[str]:
    """Put action, slot, blending, solo, mutes and NLA switch back as they stood before the first reaction."""
    anim, base = rig.animation_data, records.base_of(rig)
    notes: list[str] = []
    if base is not None and anim is not None:
        notes += _restore_action(rig, anim, base)
        for track in _found(anim, base.silenced):
            track.mute = not track.mute
        for track in _found(anim, base.solo):
            track.is_solo = True
        if base.nla_off:
            anim.use_nla = False
        if anim.nla_tracks.active is None:
            for track in _found(anim, base.active_track):
                anim.nla_tracks.active = track
        for path, position, value in records.load(base.residue):
            write_back(rig, path, position, value)
    rig.parametric_dynamics_base.clear()
    return notes


def _found(anim: Any, kept: str) -> list[Any]:
    """The tracks of a JSON list of positions and names that still are there; the name counts more."""
    tracks = list(anim.nla_tracks)
    found = []
    for position, name in records.load(kept):
        same = [track for track in tracks if track.name == name]
        found += [tracks[position]] if position < len(tracks) and tracks[position] in same else same[:1]
    return found


def _restore_action(rig: Any, anim: Any, base: Any) -> list[str]:
    """Make the pushed-down action active again, unless another one has taken its place."""
    if not base.blend_type:
        return []
    pushed = pushed_strips(anim, base)
    action = pushed[0][1].action if pushed else base.action
    settings = action is not None and anim.action != action and actions.only_settings(anim)
    if settings:
        nla.lay_settings(anim, timing.span(bpy.context.scene))
    if anim.action is not None and anim.action != action:
        return [f"'{rig.name}' has a new action '{anim.action.name}': the one before stays in its NLA track."]
    if anim.action is None and action is not None:
        actions.assign(anim, action, base_slot(base, pushed))
    plain = settings and pushed and pushed[0][1].blend_type == "REPLACE" and not pushed[0][1].use_animated_influence
    for track, strip in pushed:
        track.strips.remove(strip)
    for name in {track.name for track, _ in pushed}:
        if not len(anim.nla_tracks[name].strips):
            anim.nla_tracks.remove(anim.nla_tracks[name])
    anim.action_blend_type = "REPLACE" if plain else base.blend_type
    anim.action_influence = 1.0 if plain else base.influence
    anim.action_extrapolation = "HOLD" if plain else base.extrapolation
    if action is None:
        return [f"The action that was active on '{rig.name}' has been deleted: none is active now."]
    return []


def pushed_strips(anim: Any, base: Any) -> list[tuple[Any, Any]]:
    """Track and strip of the pushed-down action: in its track or, where that was renamed, in one that is new."""
    if not base.track:
        return []
    foreign = set(records.load(base.foreign))
    named = [t for t in anim.nla_tracks if t.name == base.track]
    for track in named or [t for t in anim.nla_tracks if t.name not in foreign]:
        clips = [strip for strip in track.strips if not len(strip.strips)]  # no meta strips
        found = [(track, strip) for strip in clips if _is_or_copies(strip.action, base.action)]
        if found:
            return found
    return []


def base_slot(base: Any, pushed: list[tuple[Any, Any]]) -> str:
    """The slot of the pushed-down action; another one than was noted where a Blender without slots wrote the file."""
    if not pushed or not actions.LAYERED or base.slot in pushed[0][1].action.slots:
        return str(base.slot)
    return actions.slot_identifier(pushed[0][1])


def _is_or_copies(action: Any, original: Any) -> bool:
    """Whether an action (None: deleted) is the original or a copy of it."""
    return action == original or (action is not None and original is not None and _is_copy(action, original))


def write_back(rig: Any, path: str, position: int, value: float) -> None:
    """Write a stored value back; a bone or property that is gone is left alone."""
    try:
        rig.path_resolve(path)[position] = value
    except (ValueError, KeyError, IndexError):
        return
