"""Operators that write and read files: FBX, and situations and hits as TOML."""

from dataclasses import replace
from pathlib import Path

import bpy
from bpy.props import BoolProperty, CollectionProperty, StringProperty
from bpy.types import Operator
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..core import hits as planning
from ..core import situation as situations
from ..core.errors import CoreError
from . import checks, export, operators_react, recipe, remarks, settings
from .body_properties import FRESH

OF_HITS = ("bone", "direction", "offset", "origin", "strength", "striker", "angular", "seed")


class DYNAMICS_OT_export_fbx(Operator, ExportHelper):
    """Write the reaction to an FBX file for a game engine, as one take named after it"""

    bl_idname = "parametric_dynamics.export_fbx"
    bl_label = "Export FBX"
    bl_options = {"REGISTER"}

    filename_ext = ".fbx"
    filter_glob: StringProperty(default="*.fbx", options={"HIDDEN"})
    name: StringProperty(
        name="Reaction",
        description="Which one. Empty: the one chosen in the list",
        options=FRESH,
    )
    whole_clip: BoolProperty(
        name="Whole Clip",
        description="Export the clip from its first frame on, not only from the hit to the return",
        default=False,
    )

    @classmethod
    def poll(cls, context):
        return checks.reaction(cls, context)

    def invoke(self, context, event):
        record = checks.active_reaction(checks.armature_of(context))
        last = self.filepath or bpy.data.filepath
        where = Path(last).parent if last else Path.home()
        self.filepath = str(where / (bpy.path.clean_name(record.name) + ".fbx"))
        return super().invoke(context, event)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            record = operators_react.record_of(armature, self.name)
            span = tuple(record.action.frame_range) if record.action is not None else (0.0, 0.0)
            export.fbx(context, armature, self.filepath, name=record.name, frames=span, whole_clip=self.whole_clip)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, "Wrote '{}'.".format(self.filepath))
        return {"FINISHED"}

    def draw(self, _context):
        self.layout.prop(self, "whole_clip")


class DYNAMICS_OT_save_situation(Operator, ExportHelper):
    """Save hit, muscles and envelope as a situation file, to use them on other characters"""

    bl_idname = "parametric_dynamics.save_situation"
    bl_label = "Save Situation"
    bl_options = {"REGISTER"}

    filename_ext = ".toml"
    filter_glob: StringProperty(default="*.toml", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return checks.armature(cls, context)

    def invoke(self, context, event):
        holder = settings.active(checks.armature_of(context))
        self.filepath = str(folder(create=True) / "my_{}.toml".format(holder.situation.lower()))
        return super().invoke(context, event)

    def execute(self, context):
        path, armature = Path(self.filepath), checks.armature_of(context)
        try:
            hit = settings.hit(settings.active(armature))
            made = hit.situation
            text = situations.dump(made.with_changes(name=path.stem.replace("_", " ").strip() or made.name))
            with export.whole(path) as part:
                part.write_text(text, encoding="utf-8")
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if own := [remarks.label(armature, name) for name in OF_HITS if getattr(hit, name)]:
            text = "A situation leaves to each hit what you have set here: {}. Save Hits keeps it."
            self.report({"WARNING"}, text.format(", ".join(own)))
        self.report({"INFO"}, "Wrote '{}'.".format(path))
        return {"FINISHED"}


class DYNAMICS_OT_load_situation(Operator, ImportHelper):
    """Load hit, muscles and envelope from a situation file, or bones and their values from 'Bone | value' texts"""

    bl_idname = "parametric_dynamics.load_situation"
    bl_label = "Load Situation"
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ".toml"
    filter_glob: StringProperty(default="*.toml;*.txt", options={"HIDDEN"})
    directory: StringProperty(subtype="DIR_PATH", options=FRESH | {"HIDDEN"})
    files: CollectionProperty(type=bpy.types.OperatorFileListElement, options=FRESH | {"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return checks.editable(cls, context)

    def invoke(self, context, event):
        self.filepath = str(folder(create=True)) + "/"
        return super().invoke(context, event)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            chosen = [Path(self.directory) / file.name for file in self.files if file.name]
            found = situations.together(chosen) if len(chosen) > 1 else situations.load(Path(self.filepath))
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        settings.put_situation(settings.active(armature), found)
        return {"FINISHED"}


class DYNAMICS_OT_save_hits(Operator, ExportHelper):
    """Save all hits of the list as a file, for other characters and for the command's --hits"""

    bl_idname = "parametric_dynamics.save_hits"
    bl_label = "Save Hits"
    bl_options = {"REGISTER"}

    filename_ext = ".toml"
    filter_glob: StringProperty(default="*.toml", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return checks.armature(cls, context)

    def invoke(self, context, event):
        self.filepath = str(folder(create=True, kind="hits") / "my_hits.toml")
        return super().invoke(context, event)

    def execute(self, context):
        path = Path(self.filepath)
        try:
            text = planning.dump(settings.recipe(checks.armature_of(context)).hits)
            with export.whole(path) as part:
                part.write_text(text, encoding="utf-8")
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, "Wrote '{}'.".format(path))
        return {"FINISHED"}


class DYNAMICS_OT_load_hits(Operator, ImportHelper):
    """Load hits from a file in place of those of the list"""

    bl_idname = "parametric_dynamics.load_hits"
    bl_label = "Load Hits"
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ".toml"
    filter_glob: StringProperty(default="*.toml", options={"HIDDEN"})

    @classmethod
    def poll(cls, context):
        return checks.editable(cls, context)

    def invoke(self, context, event):
        self.filepath = str(folder(create=True, kind="hits")) + "/"
        return super().invoke(context, event)

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            loaded = planning.load(Path(self.filepath))
            moments = recipe.frames(context, armature, loaded)
            made = settings.recipe(armature)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        timed = (
            hit if hit.after is None else replace(hit, frame=frame, after=None)
            for hit, frame in zip(loaded, moments, strict=True)
        )
        settings.put(armature, replace(made, hits=tuple(timed)))
        return {"FINISHED"}


def folder(create=False, kind="situations"):
    """Where the user's situations or hits are kept."""
    package = __package__.rpartition(".")[0]
    return Path(bpy.utils.extension_path_user(package, path=kind, create=create))


CLASSES = (
    DYNAMICS_OT_export_fbx,
    DYNAMICS_OT_save_situation,
    DYNAMICS_OT_load_situation,
    DYNAMICS_OT_save_hits,
    DYNAMICS_OT_load_hits,
)
