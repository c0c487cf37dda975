"""What is kept on an object so that Remove can put everything back, also after saving, renaming and duplicating.

`Object.parametric_dynamics_reactions` holds one entry per reaction, `Object.parametric_dynamics_base` what the first
of them changed for all (the pushed-down action, tracks silenced so that the same ones play as before); that is one
entry or none, in a collection because Blender 5 cannot restore a single group of an overridden object.
Actions are kept as pointers, because users rename them; lists as JSON, because nobody edits or keys them.
"""

import json
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, PointerProperty, StringProperty
from bpy.types import Action, Object, PropertyGroup

LONGEST = 40  # characters of a reaction's name, before a number
OVERRIDE = {"LIBRARY_OVERRIDABLE"}
BLEND = '{"blend_actions": '  # the recipe of a record begins so where it is a blend of actions, not a reaction


class DYNAMICS_PG_reaction(PropertyGroup):
    """One baked reaction"""

    name: StringProperty(name="Name", description="The reaction's name", override=OVERRIDE)
    action: PointerProperty(type=Action, name="Action", description="Keys of the reaction", override=OVERRIDE)
    hold: PointerProperty(
        type=Action, name="Hold", description="Present values of channels that nothing else keys", override=OVERRIDE
    )
    continuation: PointerProperty(
        type=Action, name="Continuation", description="The clip going on after its end", override=OVERRIDE
    )
    blend: StringProperty(name="Blend", description="How the reaction mixes with the clip", override=OVERRIDE)
    tracks: StringProperty(name="Tracks", description="Names of its NLA tracks (JSON)", override=OVERRIDE)
    held: StringProperty(name="Held", description="Held channels and their stored values (JSON)", override=OVERRIDE)
    warnings: StringProperty(name="Warnings", description="What the reaction left out (JSON)", override=OVERRIDE)
    recipe: StringProperty(name="Recipe", description="The settings that made it (JSON)", override=OVERRIDE)
    quality: StringProperty(name="Quality", description="Its grade and what failed (JSON)", override=OVERRIDE)
    landed: StringProperty(name="Landed", description="Where and how its hits landed (JSON)", override=OVERRIDE)
    uncaught: BoolProperty(name="Uncaught", description="Whether feet can't catch it", override=OVERRIDE)
    fingerprint: StringProperty(name="Fingerprint", description="What it was solved on", override=OVERRIDE)


class DYNAMICS_PG_base(PropertyGroup):
    """How the object's animation stood before the first reaction"""

    action: PointerProperty(type=Action, name="Action", description="The action that was active", override=OVERRIDE)
    slot: StringProperty(name="Slot", description="The slot it played", override=OVERRIDE)
    blend_type: StringProperty(name="Blend", description="How it was blended", override=OVERRIDE)
    influence: FloatProperty(name="Influence", description="How strongly it was blended", override=OVERRIDE)
    extrapolation: StringProperty(name="Extrapolation", description="How it went on", override=OVERRIDE)
    track: StringProperty(name="Track", description="The NLA track it was pushed down to", override=OVERRIDE)
    silenced: StringProperty(name="Silenced", description="Tracks muted or unmuted for it (JSON)", override=OVERRIDE)
    solo: StringProperty(name="Solo", description="The track that played alone (JSON)", override=OVERRIDE)
    nla_off: BoolProperty(name="NLA Off", description="Whether the NLA was switched off", override=OVERRIDE)
    foreign: StringProperty(name="Foreign", description="Names of the tracks there were (JSON)", override=OVERRIDE)
    active_track: StringProperty(name="Active Track", description="The track that was active (JSON)", override=OVERRIDE)
    residue: StringProperty(name="Residue", description="Stored values to write back (JSON)", override=OVERRIDE)


CLASSES = (DYNAMICS_PG_reaction, DYNAMICS_PG_base)


def register() -> None:
    """Register the records and hang them on Object."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    Object.parametric_dynamics_reactions = CollectionProperty(
        type=DYNAMICS_PG_reaction,
        name="Reactions",
        description="Reactions baked to this object's NLA",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    Object.parametric_dynamics_base = CollectionProperty(
        type=DYNAMICS_PG_base,
        name="Base",
        description="How the object's animation stood before the first reaction",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )


def unregister() -> None:
    """Take the records off Object and unregister them."""
    del Object.parametric_dynamics_base
    del Object.parametric_dynamics_reactions
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)


def load(text: str) -> list[Any]:
    """The list kept in a JSON property; [] where it is empty or damaged."""
    try:
        value = json.loads(text) if text else []
    except ValueError:
        return []
    return value if isinstance(value, list) else []


def dump(values: list[Any]) -> str:
    """A list for a JSON property."""
    return json.dumps(values)


def inherited(rig: Any, name: str) -> bool:
    """Whether a reaction of a library override comes from the library, where alone it can be changed."""
    override = rig.override_library
    origin = override.reference if override is not None else None
    return origin is not None and name in origin.parametric_dynamics_reactions


def free_name(rig: Any, name: str) -> str:
    """A name that no reaction of the rig and no action has."""
    stem = (name.strip() or "Reaction")[:LONGEST]
    taken = set(rig.parametric_dynamics_reactions.keys()) | set(bpy.data.actions.keys())
    unused, number = stem, 0
    while unused in taken:
        number += 1
        unused = f"{stem}.{number:03d}"
    return unused


def is_blend(record: Any) -> bool:
    """Whether a record is a blend of two actions."""
    return record.recipe.startswith(BLEND)


def base_of(rig: Any) -> Any:
    """How the rig's animation stood before its first reaction; None where it has none."""
    return rig.parametric_dynamics_base[0] if len(rig.parametric_dynamics_base) else None
