"""All that makes a reaction besides rig and clip: kept with it as text, and enough to make it again."""

import json
import tomllib
from dataclasses import asdict, dataclass, field, replace

from ..core import situation as situations
from ..core.errors import CoreError, SituationError
from ..core.react import Hit
from ..core.situation import BoneSetting, Situation
from ..core.tuning import setting_of
from . import figures, job, source


@dataclass(frozen=True)
class Recipe:
    """Settings of one reaction.

    frame: of the hit, None = a quarter into the clip.  bone: that is struck, "" = the situation's.  direction: in the
    world, None = the situation's.  bones: bone name -> the fields of `BoneSetting` that the user has set.
    roles: bone name -> role.  height: of the figure [m], 0 = as usual.  blend: "COMBINE" or "REPLACE".
    key_tolerance: [deg] that bones may be off for the sake of fewer keys, 0 = a key at every frame.
    """

    situation: Situation
    frame: float | None = None
    bone: str = ""
    direction: tuple[float, float, float] | None = None
    bones: dict[str, dict[str, float | bool]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    height: float = 0.0
    blend: str = "COMBINE"
    key_tolerance: float = 0.0


def dumps(recipe):
    """The recipe as text."""
    plain = {name: getattr(recipe, name) for name in asdict(replace(recipe, situation=None))}
    return json.dumps(plain | {"situation": situations.dump(recipe.situation)})


def loads(text):
    """The recipe of a text; SituationError where it is damaged."""
    try:
        plain = json.loads(text)
        plain["situation"] = situations.from_table(tomllib.loads(plain["situation"]), "the reaction")
        plain["direction"] = plain["direction"] and tuple(plain["direction"])
        return Recipe(**plain)
    except (ValueError, KeyError, TypeError, CoreError):
        raise SituationError("The reaction's settings can't be read. Set it up anew and update it.") from None


def prepare(context, armature, recipe):
    """The Job that makes the reaction on the armature; CoreError where that can't be, with nothing changed."""
    found = source.of(armature)
    hit = None
    if found is not None:
        frame = job.default_frame(found) if recipe.frame is None else recipe.frame
        hit = Hit(frame, recipe.bone, recipe.direction)
    own = {name: BoneSetting(**changes) for name, changes in recipe.bones.items()}
    ready = job.read(
        context, armature, recipe.situation, hit, settings=own, roles=recipe.roles or None, height=recipe.height
    )
    figures.keep(armature, ready.actor.anatomy, ready.actor.skeleton.names)
    ready.settings = over_situation(ready.actor, recipe.situation, recipe.bones)
    return ready


def over_situation(actor, situation, bones):
    """Bone name -> BoneSetting: what the user has set over what the situation says about the bone's role."""
    body = {name: i for i, name in enumerate(actor.names)}
    return {
        name: replace(setting_of(actor, situation, {}, body[name]), **changes)
        for name, changes in bones.items()
        if name in body
    }
