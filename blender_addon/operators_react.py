"""Operators that make reactions and take them off."""

from dataclasses import replace

import bpy
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, StringProperty
from bpy.types import Operator

from ..core import situation as situations
from ..core.errors import CoreError, SituationError
from . import checks, layer, layer_undo, properties, quality, recipe, records, settings, staleness
from .solving import Solving

NOTHING = 1e-4  # [deg]
FRESH = {"SKIP_SAVE"}  # a click starts from the settings, not from what the last click used
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
        name="Situation", description="What hits the figure", items=properties.PRESETS, options=FRESH
    )
    bone: StringProperty(name="Bone", description="The bone that is struck. Empty: the situation's", options=FRESH)
    impulse: FloatProperty(
        name="Impulse (N s)",
        description="Strength of the blow on a body of 75 kg and 1.75 m",
        soft_min=0.0,
        soft_max=60.0,
        step=50,
        precision=2,
        options=FRESH,
    )
    frame: FloatProperty(name="Frame", description="When the blow lands", step=100, precision=1, options=FRESH)
    direction_mode: EnumProperty(
        name="Direction",
        description="What gives the direction of the blow",
        items=properties.DIRECTIONS,
        options=FRESH,
    )
    direction: FloatVectorProperty(
        name="Vector", description="Where the blow pushes", subtype="XYZ", size=3, options=FRESH
    )
    shown: StringProperty(
        name="Shown", description="The situation whose values are shown", options={"HIDDEN", "SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context):
        return checks.animated(cls, context)

    def prepare(self, context):
        """Read rig and clip; the operator's properties then say what is applied."""
        armature = checks.armature_of(context)
        self._recipe = self._wanted(settings.recipe(armature), armature.parametric_dynamics)
        job = recipe.prepare(context, armature, self._recipe)
        self._recipe = replace(self._recipe, frame=job.hit.frame)
        self.frame = job.hit.frame
        return job

    def finish(self, context, job, reaction):
        """Bake, keep the recipe with the reaction, and show its values in the panel."""
        armature = bpy.data.objects[job.armature]
        name = write(context, job, reaction, self._recipe)
        keep(armature, name, self._recipe)
        tell(self, name, job, reaction)

    def _wanted(self, made, group):
        """The settings with what was given to the operator; the rest of its properties is filled in."""
        given = {name for name in ("bone", "impulse", "frame", "direction") if self._is_given(name)}
        mode = group.direction_mode
        if not self._is_given("situation"):
            self.situation = group.situation
        elif self.situation not in (group.situation, settings.CUSTOM):
            made, mode = replace(made, situation=situations.named(self.situation), direction=None), "SITUATION"
        if self.shown and self.situation != self.shown:  # chosen in the redo panel: its own values come with it
            given -= {"impulse", "direction"}
        elif self._is_given("direction_mode"):
            mode = self.direction_mode
        elif "direction" in given:
            mode = "WORLD"
        self.direction_mode, self.shown = mode, self.situation
        return self._filled(made, given)

    def _filled(self, made, given):
        situation = made.situation
        if "impulse" in given:
            situation = situation.with_changes(impulse=settings.plain(self.impulse))
        if "direction" not in given:
            self.direction = made.direction or situation.direction
        if "bone" not in given:
            self.bone = made.bone
        self.impulse = situation.impulse
        pushed = settings.vector(self.direction)
        if self.direction_mode == "FIGURE":
            situation = situation.with_changes(direction=pushed)
        return replace(
            made,
            situation=situation,
            bone=self.bone,
            frame=round(self.frame, 3) if "frame" in given else made.frame,
            direction=pushed if self.direction_mode == "WORLD" else None,
        )

    def _is_given(self, name):
        return self.properties.is_property_set(name)


class DYNAMICS_OT_update_reaction(Solving, Operator):
    """Simulate the reaction anew and replace its layer"""

    bl_idname = "parametric_dynamics.update_reaction"
    bl_label = "Update"
    bl_options = {"REGISTER", "UNDO"}

    name: StringProperty(name="Reaction", description="Which one. Empty: the one chosen in the list", options=FRESH)
    source: EnumProperty(name="With", description="What it is made with", items=SOURCES, options=FRESH)

    @classmethod
    def poll(cls, context):
        return checks.reaction(cls, context) and checks.animated(cls, context)

    def prepare(self, context):
        """Read rig and clip as they are without the reaction."""
        armature = checks.armature_of(context)
        record = record_of(armature, self.name)
        self.name = record.name
        if records.is_blend(record):
            text = "'{}' blends two actions. Remove it, then blend them anew."
            raise layer.LayerError(text.format(record.name))
        self._recipe = settings.recipe(armature) if self.source == "SETTINGS" else recipe.loads(record.recipe)
        with without(context, armature, record):
            job = recipe.prepare(context, armature, self._recipe)
        self._recipe = replace(self._recipe, frame=job.hit.frame)
        return job

    def finish(self, context, job, reaction):
        """The new layer first: if it can't be written, the old one is still there.  It takes the old one's place."""
        armature = bpy.data.objects[job.armature]
        kept = armature.parametric_dynamics_reactions
        place = kept.find(self.name)
        name = write(context, job, reaction, self._recipe, over=self.name)
        for note in layer.remove(context, armature, self.name):
            self.report({"WARNING"}, note)
        rename(armature, kept[name], self.name)
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
            for made in reversed(layer.reactions(armature)):
                for note in layer.remove(context, armature, made.name):
                    self.report({"WARNING"}, note)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        choose_existing(armature)
        return {"FINISHED"}


# -- shared ------------------------------------------------------------------------------------------------------------


def record_of(armature, name):
    """The record of a reaction by name, "" = the chosen one; CoreError where there is none."""
    found = armature.parametric_dynamics_reactions.get(name) if name else checks.active_reaction(armature)
    if found is None:
        raise layer.LayerError("'{}' has no reaction '{}'. Choose one of the list.".format(armature.name, name))
    return found


def write(context, job, reaction, made, over=""):
    """Bake the reaction; its name.  An empty layer would only puzzle: it is refused."""
    if max(reaction.peaks().values(), default=0.0) < NOTHING:
        raise SituationError("The blow moves nothing. Give it a stronger impulse, or more bones that move.")
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


class without:
    """While it lasts, the reaction and those above it are muted, with what goes on for it; holds keep what is."""

    def __init__(self, context, armature, record):
        self.context, self.armature = context, armature
        kept = armature.parametric_dynamics_reactions
        place = kept.find(record.name)
        strips = [s for _, s, kind in layer_undo.own_strips(armature, record) if kind == "continuation"]
        for above in kept[place:]:
            strips += [s for _, s, kind in layer_undo.own_strips(armature, above) if kind == "action"]
        self.muted = [strip for strip in strips if not strip.mute]

    def __enter__(self):
        self._mute(True)

    def __exit__(self, *_):
        self._mute(False)

    def _mute(self, mute):
        for strip in self.muted:
            strip.mute = mute
        self.armature.update_tag(refresh={"OBJECT", "DATA", "TIME"})
        self.context.view_layer.update()


def rename(armature, record, name):
    """Give a reaction and all that belongs to it another name."""
    tracks = []
    for track, strip, kind in list(layer_undo.own_strips(armature, record)):
        full = {"action": name, "hold": name + " hold", "continuation": name + " clip"}[kind]
        strip.action.name = strip.name = track.name = full
        tracks.append(track.name)
    record.tracks = records.dump(tracks)
    record.name = name


CLASSES = (
    DYNAMICS_OT_apply_hit_reaction,
    DYNAMICS_OT_update_reaction,
    DYNAMICS_OT_remove_reaction,
    DYNAMICS_OT_remove_all,
)
