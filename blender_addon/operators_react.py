"""Operators that make reactions and take them off."""

from dataclasses import replace

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty
from bpy.types import Operator

from ..core import situation as situations
from ..core.errors import CoreError, SituationError
from ..core.hits import HitSetting
from ..core.progress import portion
from . import (
    checks,
    hit_properties,
    keyed_settings,
    layer,
    layer_checks,
    moves,
    muting,
    quality,
    recipe,
    records,
    settings,
    staleness,
)
from .body_properties import FRESH
from .solving import Solving

NOTHING = 1e-4  # [deg]
KEYS = 0.2  # part of the progress of reading that following keyed settings takes
SOURCES = (
    ("SETTINGS", "Current Settings", "With the settings as they stand in the panel"),
    ("RECIPE", "Its Own Settings", "With the settings that made it, after the clip below has changed"),
)


class DYNAMICS_OT_apply_hit_reaction(Solving, Operator):
    """Simulate a hit on the armature and bake the body's reaction to an NLA layer of its own"""

    bl_idname = "parametric_dynamics.apply_hit_reaction"
    bl_label = "Apply Hit Reaction"
    bl_options = {"REGISTER", "UNDO"}

    situation: EnumProperty(
        name="Situation", description="What hits the figure", items=hit_properties.PRESETS, options=FRESH
    )
    bone: StringProperty(name="Bone", description="The bone that is struck. Empty: the situation's", options=FRESH)
    impulse: FloatProperty(
        name="Impulse (N s)",
        description="Strength of the blow on a body of 75 kg and 1.75 m; the dramatic gain multiplies it",
        soft_min=0.0,
        soft_max=60.0,
        step=50,
        precision=2,
        options=FRESH,
    )
    gain: FloatProperty(
        name="Dramatic Gain",
        description="Times which the blow is stronger than the real thing. 1 where only an impulse is given",
        min=0.0,
        max=1000.0,
        soft_max=10.0,
        step=25,
        options=FRESH,
    )
    frame: FloatProperty(name="Frame", description="When the blow lands", step=100, precision=1, options=FRESH)
    direction_mode: EnumProperty(
        name="Direction",
        description="What gives the direction of the blow",
        items=hit_properties.DIRECTIONS,
        options=FRESH,
    )
    direction: FloatVectorProperty(
        name="Vector", description="Where the blow pushes", subtype="XYZ", size=3, options=FRESH
    )
    shown: StringProperty(
        name="Shown", description="The situation whose values are shown", options=FRESH | {"HIDDEN"}
    )

    @classmethod
    def poll(cls, context):
        return checks.animated(cls, context)

    def prepare(self, context):
        """Read rig and clip, a generator; the operator's properties then say what is applied."""
        armature = checks.armature_of(context)
        made = yield from portion(self._wanted(context, armature), 0.0, KEYS)
        job = yield from portion(recipe.preparing(context, armature, made), KEYS, 1.0 - KEYS)
        self._recipe = recipe.dated(made, job)
        self.frame = self._recipe.hits[settings.active_index(armature)].frame or self.frame
        return job

    def finish(self, context, job, reaction):
        """Bake, keep the recipe with the reaction, and show its values in the panel."""
        armature = bpy.data.objects[job.armature]
        name = write(context, job, reaction, self._recipe)
        keep(armature, name, self._recipe)
        tell(self, name, job, reaction)

    def _wanted(self, context, armature):
        """The settings with what was given to the operator for the hit that is shown; its other properties follow.

        A generator: keyed settings are followed frame by frame."""
        made, index = settings.recipe(armature), settings.active_index(armature)
        if self._is_given("frame"):
            made = _placed(made, index, round(self.frame, 3))
        made = yield from keyed_settings.at_hits(context, armature, made)
        holder, hit = settings.active(armature), made.hits[index]
        given = {name for name in ("bone", "impulse", "gain", "direction") if self._is_given(name)}
        mode = holder.direction_mode
        if not self._is_given("situation"):
            self.situation = holder.situation
        elif self.situation not in (holder.situation, settings.CUSTOM):
            own = HitSetting(situations.named(self.situation), hit.frame, bone=hit.bone)
            hit, mode = replace(own, seed=hit.seed, ground=hit.ground, name=hit.name, enabled=hit.enabled), "SITUATION"
        if self.shown and self.situation != self.shown:  # chosen in the redo panel: its own values come with it
            given -= {"impulse", "gain", "direction"}
        elif self._is_given("direction_mode"):
            mode = self.direction_mode
        elif "direction" in given:
            mode = "WORLD"
        hits = list(made.hits)
        hits[index] = self._aimed(self._strong(hit, given), given, mode)
        self.shown = self.situation
        return replace(made, hits=tuple(hits))

    def _strong(self, hit, given):
        """With the impulse and the gain given; what the redo panel only shows is not given."""
        impulse, gain = settings.plain(self.impulse), settings.plain(self.gain)
        if "impulse" in given and not (self.shown and impulse == settings.plain(hit.real)):
            own = hit.situation.with_changes(impulse=impulse, gain=gain if "gain" in given else 1.0, foreleg=1.0)
            hit = replace(hit, situation=own, strength="", striker=None, angular=None, gain=None)
        elif "gain" in given:
            hit = replace(hit, situation=hit.situation.with_changes(gain=gain), gain=None if hit.gain is None else gain)
        self.impulse, self.gain = hit.real, hit.exaggerated
        return hit

    def _aimed(self, hit, given, mode):
        """With the bone and the direction given."""
        if "direction" not in given:
            self.direction = hit.direction or hit.situation.direction
        if "bone" not in given:
            self.bone = hit.bone
        self.direction_mode, pushed = mode, settings.vector(self.direction)
        if mode == "FIGURE":
            hit = replace(hit, situation=hit.situation.with_changes(direction=pushed))
        world = mode == "WORLD" and hit.origin is None
        return replace(hit, bone=self.bone, direction=pushed if world else None)

    def _is_given(self, name):
        return self.properties.is_property_set(name)


class DYNAMICS_OT_update_reaction(Solving, Operator):
    """Simulate the reaction anew and replace its layer"""

    bl_idname = "parametric_dynamics.update_reaction"
    bl_label = "Update"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Reaction", description="Which one. Empty: the one chosen in the list", options=FRESH)
    source: EnumProperty(name="With", description="What it is made with", items=SOURCES, options=FRESH)
    fall: BoolProperty(name="Let It Fall", description="Let its strongest blow knock the body out", options=FRESH)

    @classmethod
    def poll(cls, context):
        return checks.reaction(cls, context) and checks.animated(cls, context) and checks.updatable(cls, context)

    def prepare(self, context):
        """Read rig and clip as they are without the reaction, a generator."""
        armature = checks.armature_of(context)
        record = record_of(armature, self.name)
        self.name = record.name
        layer_checks.require_own(armature, record.name)
        if reason := checks.no_update(record):
            raise layer.LayerError(reason)
        keyed = self.source == "SETTINGS"
        made = settings.recipe(armature) if keyed else recipe.loads(record.recipe)
        made = moves.followed(armature, record, made)
        with muting.without(context, armature, record):
            if keyed:
                made = yield from portion(keyed_settings.at_hits(context, armature, made), 0.0, KEYS)
            if self.fall:
                made = recipe.knocked_out(made, records.load(record.landed))
            job = yield from portion(recipe.preparing(context, armature, made), KEYS, 1.0 - KEYS)
        self._recipe = recipe.dated(made, job)
        return job

    def finish(self, context, job, reaction):
        """The new layer first: if it can't be written, the old one is still there.  It takes the old one's place."""
        armature = bpy.data.objects[job.armature]
        kept = armature.parametric_dynamics_reactions
        place = kept.find(self.name)
        name = write(context, job, reaction, self._recipe, over=self.name)
        moves.fade_alike(armature, kept[name], kept[self.name])
        for note in layer.remove(context, armature, self.name):
            self.report({"WARNING"}, note)
        layer.rename(armature, name, self.name, exactly=True)
        kept.move(len(kept) - 1, place)
        staleness.note(armature, kept[place])
        keep(armature, self.name, self._recipe)
        tell(self, self.name, job, reaction)


class DYNAMICS_OT_remove_reaction(Operator):
    """Take the reaction's layer off and put the animation back as it was"""

    bl_idname = "parametric_dynamics.remove_reaction"
    bl_label = "Remove"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Reaction", description="Which one. Empty: the one chosen in the list", options=FRESH)

    @classmethod
    def poll(cls, context):
        return checks.reaction(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            self.name = record_of(armature, self.name).name
            notes = layer.remove(context, armature, self.name)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for note in notes:
            self.report({"WARNING"}, note)
        choose_existing(armature)
        return {"FINISHED"}


class DYNAMICS_OT_remove_all(Operator):
    """Take all reactions off the armature and put its animation back as it was"""

    bl_idname = "parametric_dynamics.remove_all"
    bl_label = "Remove All"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return checks.reaction(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            kept = armature.parametric_dynamics_reactions.keys()
            own = [name for name in kept if not records.inherited(armature, name)]
            for name in reversed(own or kept):
                for note in layer.remove(context, armature, name):
                    self.report({"WARNING"}, note)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        choose_existing(armature)
        return {"FINISHED"}


# -- shared ------------------------------------------------------------------------------------------------------------


def _placed(made, index, frame):
    """The recipe with one of its hits at another frame."""
    hits = list(made.hits)
    hits[index] = replace(hits[index], frame=frame, after=None)
    return replace(made, hits=tuple(hits))


def record_of(armature, name):
    """The record of a reaction by name, "" = the chosen one; CoreError where there is none."""
    found = armature.parametric_dynamics_reactions.get(name) if name else checks.active_reaction(armature)
    if found is None:
        raise layer.LayerError("'{}' has no reaction '{}'. Choose one of the list.".format(armature.name, name))
    return found


def write(context, job, reaction, made, over=""):
    """Bake the reaction; its name.  An empty layer would only puzzle: it is refused."""
    if max(reaction.peaks().values(), default=0.0) < NOTHING:
        raise SituationError("The blow moves nothing. Give it a stronger impulse or gain, or more bones that move.")
    return job.write(context, reaction, blend=made.blend, key_tolerance=made.key_tolerance, over=over)


def keep(armature, name, made):
    """Keep the recipe with its reaction, choose that in the list, and show its settings."""
    kept = armature.parametric_dynamics_reactions
    kept[name].recipe = recipe.dumps(made)
    armature.parametric_dynamics.active_reaction = kept.find(name)  # its update shows the recipe


def choose_existing(armature):
    """Choose a reaction that exists, without loading its settings over those at hand."""
    group = armature.parametric_dynamics
    if group.active_reaction >= len(armature.parametric_dynamics_reactions):
        group.property_unset("active_reaction")


def tell(operator, name, job, reaction):
    """Report what was baked, and what has to be known about it."""
    quality.grade_reaction(bpy.data.objects[job.armature], name, job, reaction)
    for warning in dict.fromkeys(job.warnings):
        operator.report({"WARNING"}, warning)
    peaks = reaction.peaks()
    bone = max(peaks, key=peaks.get, default="")
    operator.report({"INFO"}, "Baked '{}': '{}' turns most, {:.0f}°.".format(name, bone, peaks.get(bone, 0.0)))


CLASSES = (
    DYNAMICS_OT_apply_hit_reaction,
    DYNAMICS_OT_update_reaction,
    DYNAMICS_OT_remove_reaction,
    DYNAMICS_OT_remove_all,
)
