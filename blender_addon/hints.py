"""What keeps an armature from reacting or its reactions from showing right, each with the button that cures it.

Cheap: the panel asks at every redraw.
"""

from typing import NamedTuple

from . import actions, checks, layer_undo, moves, nla, records, rig, staleness, timing


class Hint(NamedTuple):
    """A sentence, and what cures it: "UPDATE", "FALL" (update it as a fall), or a kind of
    `operators_life.DYNAMICS_OT_cure` ("" = none).

    reaction: the name of the one that is meant.
    """

    text: str
    cure: str = ""
    reaction: str = ""


def of(context, found):
    """The hints on an armature."""
    data = found.animation_data
    if refused := rig.uneditable(found):
        return [Hint(" ".join(refused))]
    if not checks.has_animation(data):
        return [Hint("The armature has no animation. Give it an action that moves.")]
    if data.use_tweak_mode:
        return [Hint("The clip below is being edited (tweak mode). Leave it to apply or update.", "LEAVE_TWEAK")]
    if not len(found.parametric_dynamics_reactions):
        return []
    return [*_stack(data), *_records(found), *_scene(context, found)]


def _stack(data):
    if not data.use_nla:
        yield Hint("The NLA is switched off, so no reaction shows.", "NLA_ON")
    if data.action is not None and not actions.only_settings(data):
        text = "The action '{}' lies over the reactions. Push it down in the NLA editor, or unlink it."
        yield Hint(text.format(data.action.name), "UNLINK")


def _records(found):
    if _clip_is_gone(found):
        yield Hint("The clip below the reactions is gone. Give the armature a strip below them, or remove them.")
        return
    solo = any(track.is_solo for track in found.animation_data.nla_tracks)
    for record in found.parametric_dynamics_reactions:
        name = record.name
        own = [(track, strip) for track, strip, kind in layer_undo.own_strips(found, record) if kind == "action"]
        if not own:
            yield Hint("The layer of '{}' was deleted. Update it, or remove it.".format(name), "UPDATE", name)
            continue
        if solo:
            text = "'{}' plays alone, without its clip."
            if not any(track.is_solo for track, _ in own):
                text = "Another track plays alone, so '{}' doesn't show."
            yield Hint(text.format(name), "SOLO_OFF")
        elif all(track.mute or strip.mute for track, strip in own):
            yield Hint("'{}' is muted.".format(name), "UNMUTE", name)
        if moves.is_bent(found, record):
            text = "'{}' plays reversed, stretched, repeated or blended otherwise, not as it was solved."
            yield Hint(text.format(name), "UPDATE", name)
        elif moves.is_moved(found, record):
            yield Hint("'{}' was moved in time, but solved where it was.".format(name), "UPDATE", name)
        elif staleness.is_stale(found, record):
            yield Hint("What '{}' lies on has changed since it was solved.".format(name), "UPDATE", name)
        if record.uncaught:
            yield Hint("The blow of '{}' is stronger than feet can catch.".format(name), "FALL", name)
        for text in records.load(record.warnings):
            yield Hint(text)


def _clip_is_gone(found):
    """Whether nothing is left that the reactions could lie on."""
    ours, strips = layer_undo.own_actions(found), nla.strips_of(found.animation_data.nla_tracks)
    return all(strip.action is None or strip.action in ours or actions.only_settings(strip) for strip in strips)


def _scene(context, found):
    scene = context.scene
    kept = found.parametric_dynamics_reactions
    ends = [record.action.frame_range[1] * timing.stretch(scene) for record in kept if record.action is not None]
    end = max(ends, default=0.0)
    if end > scene.frame_end + 0.5:
        text = "A reaction ends at frame {:.0f}, after the scene's last frame {}."
        yield Hint(text.format(end, scene.frame_end), "LONGER_SCENE")
    for record in kept:
        if record.action is None or records.is_blend(record):
            continue
        if record.action.frame_range[0] * timing.stretch(scene) < scene.frame_start - 0.5:
            text = "'{}' hits before the scene's first frame {}. Give it a later frame, and Update."
            yield Hint(text.format(record.name, scene.frame_start))
    if scene.tool_settings.use_keyframe_insert_auto:
        yield Hint("Auto Keying is on. What it keys lies over the reactions: use Edit Base instead.", "AUTOKEY_OFF")
