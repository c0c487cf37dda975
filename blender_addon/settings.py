"""Between the properties that the user sets and the values of the core.

Properties are float32: numbers are taken at six digits, so that 1.6 stays 1.6.
"""

import tomllib

from ..core import situation as situations
from ..core.errors import SituationError
from ..core.pose import Envelope
from . import recipe as recipes
from . import records
from .recipe import Recipe

FIRST = "shoulder_front"  # the situation that a new armature starts with
CUSTOM = "CUSTOM"
NUMBERS = ("along", "impulse", "contact", "frequency", "ratio", "base_frequency", "tone", "recovery", "share")
TIMES = ("attack", "sustain", "relaxation", "simulation")
BONE_FIELDS = {  # property of a pose bone -> field of BoneSetting, where it differs from the property's default
    "dynamics_mass": "mass",
    "dynamics_frequency": "frequency",
    "dynamics_ratio": "ratio",
    "dynamics_weight": "weight",
}


def plain(number):
    """A float32 as the decimal number that was meant."""
    return float("{:.6g}".format(number))


# -- situation -------------------------------------------------------------------------------------------------------


def choose(group):
    """Load the chosen preset; choosing Custom keeps everything as it is."""
    if group.situation != CUSTOM:
        _fill(group, situations.named(group.situation))


def put_situation(group, situation):
    """Make the settings say this situation."""
    group.situation = _preset_of(situation) or CUSTOM
    _fill(group, situation)


def _fill(group, situation):
    group.document = situations.dump(situation)
    for name in (*NUMBERS, "drive"):
        setattr(group, name, getattr(situation, name))
    for name in TIMES:
        setattr(group, name, getattr(situation.envelope, name))
    group.envelope_mode = situation.envelope.mode
    group.direction_mode, group.direction = "SITUATION", situation.direction


def _preset_of(situation):
    """The preset that differs only in what the settings hold, or ""."""
    for name in situations.presets():
        if _changed(situations.named(name), situation) == situation:
            return name
    return ""


def _changed(base, other):
    """The base with the other's name and all that the settings hold."""
    held = {name: getattr(other, name) for name in (*NUMBERS, "drive", "direction", "envelope")}
    return base.with_changes(**held)


def situation(group):
    """The core's Situation; SituationError where the values don't make one."""
    base = _document(group)
    changes = {name: plain(getattr(group, name)) for name in NUMBERS}
    envelope = Envelope(**{name: plain(getattr(group, name)) for name in TIMES}, mode=group.envelope_mode)
    if group.direction_mode == "FIGURE":
        changes["direction"] = vector(group.direction)
    return base.with_changes(**changes, drive=group.drive, envelope=envelope)


def _document(group):
    if not group.document:
        return situations.named(FIRST if group.situation == CUSTOM else group.situation)
    try:
        table = tomllib.loads(group.document)
    except tomllib.TOMLDecodeError:
        raise SituationError("The situation of '{}' is damaged. Choose a preset.".format(group.id_data.name)) from None
    return situations.from_table(table, group.id_data.name)


def vector(values):
    """Three properties as a tuple of numbers."""
    return tuple(plain(value) for value in values)


# -- recipe ----------------------------------------------------------------------------------------------------------


def recipe(armature):
    """All settings of an armature and its bones."""
    group = armature.parametric_dynamics
    return Recipe(
        situation=situation(group),
        frame=None if group.automatic_frame else round(group.frame, 3),
        bone=group.bone,
        direction=vector(group.direction) if group.direction_mode == "WORLD" else None,
        bones=bones(armature),
        roles=roles(armature),
        height=plain(group.height),
        blend=group.blend,
        key_tolerance=plain(group.key_tolerance),
    )


def put(group, made):
    """Make the settings of an armature (not of its bones) say this recipe."""
    put_situation(group, made.situation)
    group.bone, group.height, group.blend = made.bone, made.height, made.blend
    group.key_tolerance = made.key_tolerance
    group.automatic_frame = made.frame is None
    if made.frame is not None:
        group.frame = made.frame
    if made.direction is not None:
        group.direction_mode, group.direction = "WORLD", made.direction
    elif group.situation != CUSTOM and made.situation.direction != situations.named(group.situation).direction:
        group.direction_mode = "FIGURE"


def show_reaction(group):
    """Load the settings of the chosen reaction, where it has kept them."""
    kept = group.id_data.parametric_dynamics_reactions
    if group.active_reaction >= len(kept) or not kept[group.active_reaction].recipe:
        return
    if records.is_blend(kept[group.active_reaction]):
        return
    try:
        put(group, recipes.loads(kept[group.active_reaction].recipe))
    except SituationError as error:
        print("Parametric Dynamics:", error)


# -- bones -----------------------------------------------------------------------------------------------------------


def bones(armature):
    """Bone name -> what the user has set on it, as fields of `BoneSetting`; bones without own values are left out."""
    found = {bone.name: bone_values(bone) for bone in armature.pose.bones}
    return {name: values for name, values in found.items() if values}


def bone_values(bone):
    """The fields of `BoneSetting` that a pose bone sets."""
    values = {}
    if bone.dynamics_simulated != "SITUATION":
        values["simulated"] = bone.dynamics_simulated == "YES"
    for prop, field in BONE_FIELDS.items():
        number = getattr(bone, prop)
        if number != bone.bl_rna.properties[prop].default:
            values[field] = plain(number)
    if bone.dynamics_custom:
        values["angle"] = plain(bone.dynamics_angle * 57.29577951308232)
        values["velocity"] = plain(bone.dynamics_velocity)
        values["multiplier"] = plain(bone.dynamics_multiplier)
    return values


def roles(armature):
    """Bone name -> role that the user has given it."""
    return {bone.name: bone.dynamics_role for bone in armature.pose.bones if bone.dynamics_role}
