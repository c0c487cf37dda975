"""The operator that writes reactions as takes for a game engine."""

import json
from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy.types import Operator
from bpy_extras.io_utils import ExportHelper

from ..core.errors import CoreError
from . import checks, engine, export, operators_react

FORMATS = ((".fbx", "FBX", "For Unreal, Unity and others"), (".glb", "glTF", "For Godot, web and others (.glb)"))


class DYNAMICS_OT_export_takes(Operator, ExportHelper):
    """Write reactions for a game engine: one file and one take each, from frame 0 on, nothing else of the scene"""

    bl_idname = "parametric_dynamics.export_takes"
    bl_label = "Export for Engine"
    bl_options = {"REGISTER"}

    filename_ext = ".fbx"
    filter_glob: StringProperty(default="*.fbx;*.glb", options={"HIDDEN"})
    kind: EnumProperty(name="Format", description="Format of the files", items=FORMATS)
    all: BoolProperty(
        name="All Reactions",
        description="Write every reaction of the armature, each to a file whose name ends with the reaction's",
    )
    root: EnumProperty(name="Root Motion", description="What carries the travel", items=engine.ROOTS)
    additive: EnumProperty(name="Motion", description="The whole motion or the reaction alone", items=engine.ADDITIVE)
    marker: BoolProperty(
        name="Impact Marker",
        description="Add an empty 'impact' where the blow lands, on the bone that is struck",
        default=True,
    )
    facts: BoolProperty(
        name="Facts (JSON)",
        description="Write a file beside each take with its rate, length, root mode and hits",
        default=True,
    )

    @classmethod
    def poll(cls, context):
        return checks.reaction(cls, context)

    def invoke(self, context, event):
        """Offer a name beside the open file."""
        record = checks.active_reaction(checks.armature_of(context))
        last = self.filepath or bpy.data.filepath
        where = Path(last).parent if last else Path.home()
        self.filepath = str(where / (bpy.path.clean_name(record.name) + self.kind))
        return super().invoke(context, event)

    def check(self, _context):
        """Let the ending follow the format."""
        wanted = str(Path(self.filepath).with_suffix(self.kind))
        changed, self.filepath = wanted != self.filepath, wanted
        return changed

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        for name in ("kind", "all", "root", "additive", "marker", "facts"):
            layout.prop(self, name)
        note = layout.column(align=True)
        for line in ("File > Export would write every NLA strip", "as a take, our layers too. This doesn't."):
            note.label(text=line)

    def execute(self, context):
        armature = checks.armature_of(context)
        path = Path(self.filepath).with_suffix(self.kind)
        chosen = [record.name for record in armature.parametric_dynamics_reactions]
        if not self.all:
            chosen = [checks.active_reaction(armature).name]
        written = []
        try:
            for name in chosen:
                record = operators_react.record_of(armature, name)
                target = self._path(path, name)
                told = engine.write(context, armature, record, target, self._take())
                written.append(target.name)
                if self.facts:
                    with export.whole(target.with_suffix(".json")) as part:
                        part.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        except CoreError as error:
            after = " Written before that: {}.".format(", ".join(written)) if written else ""
            self.report({"ERROR"}, str(error) + after)
            return {"CANCELLED"}
        self.report({"INFO"}, "Wrote {} in '{}'.".format(", ".join(written), path.parent))
        return {"FINISHED"}

    def _take(self):
        return engine.Take(self.root, self.additive, self.marker)

    def _path(self, path, name):
        return path.with_stem("{}_{}".format(path.stem, bpy.path.clean_name(name))) if self.all else path


CLASSES = (DYNAMICS_OT_export_takes,)
