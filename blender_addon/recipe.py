"""All that makes a reaction besides rig and clip: kept with it as text, and enough to make it again."""

import json
import tomllib
from dataclasses import dataclass, field, fields, replace

from ..core import hits as planning
from ..core import situation as situations
from ..core.curve import Value
from ..core.errors import CoreError, SituationError
from ..core.hits import HitSetting
from ..core.progress import run
from . import figures, job, moments, source, timing


@dataclass(frozen=True)
class Recipe:
    """Settings of one reaction.

    hits: as planned, those that are switched off included.  bones: bone name -> the fields of `BoneSetting` that the
    user has set.  roles: bone name -> role.  height: of the figure [m], 0 = as usual.  blend: "COMBINE" or "REPLACE".
    key_tolerance: [deg] that bones may be off for the sake of fewer keys, 0 = a key at every frame.
    then: names of actions, to the one of which that fits best the body goes over afterwards; then_seconds: in which
    [s].
    """

    hits: tuple[HitSetting, ...]
    bones: dict[str, dict[str, Value | bool]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    height: float = 0.0
    blend: str = "COMBINE"
    key_tolerance: float = 0.0
    then: tuple[str, ...] = ()
    then_seconds: float = 0.5


def dumps(recipe):
    """The recipe as text."""
    return json.dumps(_plain(recipe) | {"hits": [_dumped(hit) for hit in recipe.hits]})


def _dumped(hit):
    return _plain(hit) | {"situation": situations.dump(hit.situation)}


def _plain(values):
    return {f.name: getattr(values, f.name) for f in fields(values) if f.name not in ("hits", "situation")}


def loads(text):
    """The recipe of a text; SituationError where it is damaged."""
    try:
        plain = json.loads(text)
        plain["hits"] = tuple(_loaded(entry) for entry in plain["hits"])
        plain["bones"] = {bone: {key: _tuples(v) for key, v in own.items()} for bone, own in plain["bones"].items()}
        then = plain.get("then", ())
        plain["then"] = tuple(then) if isinstance(then, list) else (then,) * bool(then)  # once one name
        return Recipe(**plain)
    except (ValueError, KeyError, TypeError, CoreError):
        raise SituationError("The reaction's settings can't be read. Set it up anew and update it.") from None


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _loaded(entry):
    values = {key: _tuples(value) for key, value in entry.items()}
    values["situation"] = situations.from_table(tomllib.loads(values["situation"]), "the reaction")
    return HitSetting(**values)


def prepare(context, armature, recipe):
    """The Job that makes the reaction on the armature; CoreError where that can't be, with nothing changed."""
    return run(preparing(context, armature, recipe))


def preparing(context, armature, recipe):
    """`prepare` as a generator of its progress."""
    active = [hit for hit in recipe.hits if hit.enabled]
    if not active:
        raise SituationError("Every hit of '{}' is switched off. Switch one on.".format(armature.name))
    moments = frames(context, armature, active)
    first, *further = ((hit.situation, hit.hit(frame)) for hit, frame in zip(active, moments, strict=True))
    ready = yield from job.reading(
        context,
        armature,
        *first,
        further=further,
        settings=recipe.bones,
        roles=recipe.roles or None,
        height=recipe.height,
        then=(recipe.then, recipe.then_seconds) if recipe.then else None,
    )
    if not source.moves_bones(armature):
        text = "'{}' keys no bone of '{}'. Choose an action that was made for this rig."
        ready.warnings.append(text.format(ready.source.action, armature.name))
    figures.keep(armature, ready.actor.anatomy, ready.actor.skeleton.names)
    return ready


def frames(context, armature, hits):
    """When each of the hits lands on what plays on the armature."""
    found = source.of(armature)
    default = 0.0 if found is None else moments.default_frame(found)
    return planning.frames(hits, default, timing.rate(context.scene))


def dated(recipe, ready):
    """The recipe with the frames at which its hits land in the job."""
    landed = iter(ready.hits)
    hits = (replace(hit, frame=next(landed)[1].frame, after=None) if hit.enabled else hit for hit in recipe.hits)
    return replace(recipe, hits=tuple(hits))


def knocked_out(made, landed):
    """The recipe with the strongest of its blows, as they landed (see `records`), knocking the body out."""
    frame = max(landed, key=lambda hit: hit["impulse"])["frame"] if landed else 0.0
    chosen = min((hit for hit in made.hits if hit.enabled), key=lambda hit: abs((hit.frame or 0.0) - frame))
    fallen = replace(chosen, situation=chosen.situation.with_changes(end="stay"))
    return replace(made, hits=tuple(fallen if hit is chosen else hit for hit in made.hits))
