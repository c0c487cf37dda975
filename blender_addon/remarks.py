"""What is no fault of the chosen reaction, but good to know: its keys were edited, other settings in the panel, another
reaction at its time.

Cheap: the panel asks at every redraw.
"""

import dataclasses
from collections.abc import Mapping

from ..core.errors import SituationError
from . import handwork, keyed_settings, layer_undo, recipe, records, settings, staleness

MOST = 3  # names in a sentence
SHOWN = {"direction": "direction_mode", "angular": "twist", "striker": "strength"}  # the property that tells a field


def unapplied(armature, record):
    """That the panel says otherwise than the reaction was made with; "" where it doesn't, or where it is keyed."""
    found = staleness.once(armature, ("unapplied", record.name), lambda: differences(armature, record))
    if not found:
        return ""
    more = " and {} more".format(len(found) - MOST) if len(found) > MOST else ""
    text = "Changed since '{}' was made: {}{}. Update takes it over."
    return text.format(record.name, ", ".join(found[:MOST]), more)


def edited(armature, record):
    """That keys of the reaction were edited by hand, which Update would replace; "" where none were."""

    def look():
        return any(map(handwork.is_edited, layer_undo.own_actions_of(armature, record)))

    text = "Keys of '{}' were edited by hand. Update and Remove keep them as an action of their own."
    return text.format(record.name) if staleness.once(armature, ("edited", record.name), look) else ""


def doubled(armature, record):
    """That another reaction hits at the same frame; "" where none does, or where one of the two is muted."""
    when = _frames(record)
    others = [other for other in armature.parametric_dynamics_reactions if other != record and when & _frames(other)]
    same = next((other.name for other in others if _shows(armature, other)), "")
    text = "'{}' hits at the same frame, and both show. Remove one, or Update this one to try something else."
    return text.format(same) if same and _shows(armature, record) else ""


def _frames(record):
    """When the reaction's hits landed."""
    return {hit["frame"] for hit in records.load(record.landed)}


def _shows(armature, record):
    return any(not (track.mute or strip.mute) for track, strip, _ in layer_undo.own_strips(armature, record))


def differences(armature, record):
    """Names of the settings that differ, as the panel has them."""
    if not record.recipe or records.is_blend(record) or keyed_settings.animated(armature):
        return []
    try:
        here, made = settings.recipe(armature), recipe.loads(record.recipe)
    except SituationError:
        return []
    if len(here.hits) != len(made.hits):
        found = ["Hits"]
    else:
        pairs = zip(map(_told, here.hits), map(_told, made.hits), strict=True)
        found = [name for pair in pairs for name in _of_hits(armature, *pair)]
    own = sorted(bone for bone in {*here.bones, *made.bones} if _differ(here.bones.get(bone), made.bones.get(bone)))
    own += [bone for bone in sorted({*here.roles, *made.roles}) if here.roles.get(bone) != made.roles.get(bone)]
    found += ["bone '{}'".format(bone) for bone in own]
    return list(dict.fromkeys([*found, *_fields(armature, here, made, ("hits", "bones", "roles"))]))


def _told(hit):
    """A hit as the panel tells it: with the gain that counts, at a frame of three digits."""
    gain, frame = hit.exaggerated, None if hit.frame is None else round(hit.frame, 3)
    return dataclasses.replace(hit, situation=hit.situation.with_changes(gain=gain), gain=gain, frame=frame)


def _of_hits(armature, here, made):
    if here.situation.name != made.situation.name:
        return [label(armature, "situation")]
    fields = _fields(armature, here, made, ("situation",))
    return [*_fields(armature, here.situation, made.situation, ()), *fields]


def _fields(armature, here, made, apart):
    """Labels of the fields in which two values of a kind differ."""
    fields = [field.name for field in dataclasses.fields(here) if field.name not in apart]
    return [label(armature, name) for name in fields if _differ(getattr(here, name), getattr(made, name))]


def label(armature, name):
    """What the panel calls a field: without its unit."""
    prop = armature.parametric_dynamics.bl_rna.properties.get(SHOWN.get(name, name))
    return (prop.name if prop is not None else name.replace("_", " ").capitalize()).partition(" (")[0]


def _differ(here, made):
    return _plain(here) != _plain(made)


def _plain(value):
    """A value as the panel can hold it: its numbers are float32."""
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return settings.plain(value) if isinstance(value, float) else value
