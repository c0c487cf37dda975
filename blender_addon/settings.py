"""Between the properties that the user sets and the values of the core.

Properties are float32: numbers are taken at six digits, so that 1.6 stays 1.6.
"""

import tomllib
from types import MappingProxyType

from ..core import situation as situations
from ..core import texts
from ..core.curve import begins
from ..core.errors import SituationError
from ..core.hits import HitSetting
from ..core.pose import Envelope
from . import recipe as recipes
from . import records
from .recipe import Recipe

FIRST = "shoulder_front"  # the situation that a new armature starts with
CUSTOM = "CUSTOM"
NUMBERS = ("along", "impulse", "gain", "contact", "frequency", "ratio", "base_frequency", "tone", "recovery", "share")
NUMBERS += ("knock_out", "counter", "whip", "dip", "shift")
CHOICES = ("drive", "end", "coupled")
OVER_TIME = ("frequency", "ratio", "base_frequency", "tone", "share")  # of them may be curves
LOADING = ("situation", "strength")
TIMES = ("attack", "sustain", "relaxation", "simulation")
BONE_FIELDS = {  # property of a pose bone -> field of BoneSetting, where it differs from the property's default
    "dynamics_mass": "mass",
    "dynamics_frequency": "frequency",
    "dynamics_ratio": "ratio",
    "dynamics_weight": "weight",
}
PROPERTIES_OVER_TIME = (*OVER_TIME, *(prop for prop, field in BONE_FIELDS.items() if field in OVER_TIME))


def plain(number):
    """A float32 as the decimal number that was meant."""
    return float("{:.6g}".format(number))


# -- the list of hits ------------------------------------------------------------------------------------------------


def holders(armature):
    """What holds the values of each hit: the list's entries, or the armature's own settings as long as it is empty."""
    return list(armature.parametric_dynamics_hits) or [armature.parametric_dynamics]


def active(armature):
    """What holds the values of the hit that is shown."""
    found = holders(armature)
    return found[active_index(armature)]


def active_index(armature):
    """Which of the hits is shown."""
    return min(armature.parametric_dynamics.active_hit, len(holders(armature)) - 1)


def title(holder):
    """What a hit is called: by its own name, else by bone and situation."""
    situation = holder.bl_rna.properties["situation"].enum_items[holder.situation].name
    return holder.name or ("{}, {}".format(holder.bone, situation) if holder.bone else situation)


def copy(source, target):
    """Give a holder the values of another; first those that load others when they are chosen."""
    common = {p.identifier for p in source.bl_rna.properties} & {p.identifier for p in target.bl_rna.properties}
    for name in (*LOADING, *sorted(common - {"rna_type", "shown", *LOADING})):
        setattr(target, name, getattr(source, name))


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
    for name in NUMBERS:
        setattr(group, name, begins(getattr(situation, name)))
    for name in CHOICES:
        setattr(group, name, getattr(situation, name))
    for name in TIMES:
        setattr(group, name, getattr(situation.envelope, name))
    group.envelope_mode = situation.envelope.mode
    group.envelope_curve = texts.of_curve(situation.envelope.curve)
    group.tone_curve = texts.of_curve(situation.tone_curve)
    group.influence, group.ranges = texts.of_numbers(situation.influence), texts.of_ranges(situation.ranges)
    group.direction_mode, group.direction, group.strength = "SITUATION", situation.direction, "IMPULSE"


def _preset_of(situation):
    """The preset that differs only in what the settings hold, or ""."""
    names = situations.everything()
    for name in sorted(names, key=lambda name: situations.named(name).name != situation.name):
        if _changed(situations.named(name), situation) == situation:
            return name
    return ""


def _changed(base, other):
    """The base with the other's name and all that the settings hold."""
    names = (*NUMBERS, *CHOICES, "direction", "envelope", "tone_curve", "influence", "ranges")
    held = {name: getattr(other, name) for name in names}
    return base.with_changes(**held)


def situation(group):
    """The core's Situation; SituationError where the values don't make one."""
    base, curves = _document(group), followed(group)
    changes = {name: curves.get(name, plain(getattr(group, name))) for name in NUMBERS}
    times = {name: plain(getattr(group, name)) for name in TIMES}
    curve = texts.curve(group.envelope_curve, "The envelope's curve")
    envelope = Envelope(**times, mode=group.envelope_mode, curve=curve)
    changes["tone_curve"] = texts.curve(group.tone_curve, "The tone curve")
    changes["influence"] = texts.numbers(group.influence, "The influence")
    changes["ranges"] = MappingProxyType(texts.ranges(group.ranges, "The legal angles"))
    if group.direction_mode == "FIGURE":
        changes["direction"] = vector(group.direction)
    if _strength(group):  # whose gain it is, then
        changes["gain"] = base.gain
    choices = {name: getattr(group, name) for name in CHOICES}
    return base.with_changes(**changes, **choices, envelope=envelope)


def followed(group):
    """Numbers that follow a curve of the loaded situation: those that still show with what theirs begins."""
    try:
        base = _document(group)
    except SituationError:
        return {}
    curves = {name: getattr(base, name) for name in OVER_TIME if isinstance(getattr(base, name), tuple)}
    return {name: curve for name, curve in curves.items() if plain(getattr(group, name)) == plain(begins(curve))}


def loaded(group, name, otherwise):
    """A value of the loaded situation, or another where that is damaged."""
    try:
        return getattr(_document(group), name)
    except SituationError:
        return otherwise


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
        hits=tuple(hit(holder) for holder in holders(armature)),
        bones=bones(armature),
        roles=roles(armature),
        height=plain(group.height),
        blend=group.blend,
        key_tolerance=plain(group.key_tolerance),
        then=tuple(name for name in (group.then, group.then_or) if name) if group.then else (),
        then_seconds=plain(group.then_seconds),
    )


def hit(holder):
    """The planned hit that a holder's values say."""
    return HitSetting(
        situation=situation(holder),
        frame=None if holder.automatic_frame else round(holder.frame, 3),
        bone=holder.bone,
        direction=vector(holder.direction) if _aims_at_world(holder) else None,
        offset=vector(holder.offset) if any(holder.offset) else None,
        origin=vector(holder.origin) if holder.kind == "RADIAL" else None,
        seed=holder.seed,
        ground=None if holder.automatic_ground else plain(holder.ground),
        name=holder.name,
        enabled=getattr(holder, "enabled", True),
        **_strength(holder),
    )


def _aims_at_world(holder):
    return holder.direction_mode == "WORLD" and holder.kind != "RADIAL"


def _strength(holder):
    """Where it is not the situation's impulse and gain."""
    if holder.kind == "ANGULAR":
        return {"angular": plain(holder.twist), "gain": plain(holder.gain)}
    if holder.strength == "IMPULSE":
        return {}
    if holder.strength != "STRIKER":
        return {"strength": holder.strength, "gain": plain(holder.gain)}
    if holder.kind == "RADIAL":
        raise SituationError("A blast has no mass. Choose an impulse or a named strength.")
    return {"striker": vector((holder.mass, holder.speed, holder.bounce)), "gain": plain(holder.gain)}


def put(armature, made):
    """Make the settings of an armature (not of its bones) say this recipe."""
    group, hits = armature.parametric_dynamics, armature.parametric_dynamics_hits
    hits.clear()
    if len(made.hits) > 1 or not made.hits[0].enabled or made.hits[0].name:
        for planned in made.hits:
            put_hit(hits.add(), planned)
    else:
        put_hit(group, made.hits[0])
    group.height, group.blend, group.key_tolerance = made.height, made.blend, made.key_tolerance
    group.then, group.then_or = (*made.then, "", "")[:2]
    group.then_seconds = made.then_seconds


def put_hit(holder, planned):
    """Make a holder say this planned hit."""
    put_situation(holder, planned.situation)
    holder.bone, holder.offset, holder.seed = planned.bone, planned.offset or (0.0, 0.0, 0.0), planned.seed
    for name in ("frame", "ground"):
        value = getattr(planned, name)
        setattr(holder, "automatic_" + name, value is None)
        if value is not None:
            setattr(holder, name, value)
    _put_direction(holder, planned)
    holder.kind = "RADIAL" if planned.origin is not None else "LINEAR" if planned.angular is None else "ANGULAR"
    if planned.origin is not None:
        holder.origin = planned.origin
    if planned.angular is not None:
        holder.twist = planned.angular
    if planned.striker is not None:
        holder.mass, holder.speed, holder.bounce = planned.striker
    holder.strength = planned.strength or ("IMPULSE" if planned.striker is None else "STRIKER")
    if planned.gain is not None:
        holder.gain = planned.gain  # after the strength, which loads its own
    elif planned.striker is not None or planned.angular is not None:
        holder.gain = 1.0
    holder.name = planned.name
    if hasattr(holder, "enabled"):
        holder.enabled = planned.enabled


def _put_direction(holder, planned):
    if planned.direction is not None:
        holder.direction_mode, holder.direction = "WORLD", planned.direction
    elif holder.situation != CUSTOM and planned.situation.direction != situations.named(holder.situation).direction:
        holder.direction_mode = "FIGURE"


def show_reaction(group):
    """Load the settings of the chosen reaction, where it has kept them."""
    kept = group.id_data.parametric_dynamics_reactions
    if group.active_reaction >= len(kept) or not kept[group.active_reaction].recipe:
        return
    if records.is_blend(kept[group.active_reaction]):
        return
    try:
        put(group.id_data, recipes.loads(kept[group.active_reaction].recipe))
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
