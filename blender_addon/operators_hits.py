"""Operators of the list of hits, and those that take a hit's values from where the user points.

They tag the armature: what Python sets Blender tells to nobody, and the panel asks what has changed (`staleness.once`).
"""

from bpy.props import BoolProperty, EnumProperty
from bpy.types import Operator
from mathutils import Vector

from ..core.errors import CoreError
from . import aiming, checks, settings
from .body_properties import FRESH

WAYS = (("UP", "Up", "Towards the first"), ("DOWN", "Down", "Towards the last"))
TARGETS = (
    ("POINT", "Point", "Let the blow land at the 3D cursor"),
    ("DIRECTION", "Direction", "Let the blow come from the 3D cursor"),
    ("ORIGIN", "Blast", "Let a blast come from the 3D cursor"),
)


class ListOperator:
    """What the operators of the list share: an editable armature, and its hits in a list."""

    @classmethod
    def poll(cls, context):
        return checks.editable(cls, context)


class SeveralOperator(ListOperator):
    """For those that need a list."""

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not len(checks.armature_of(context).parametric_dynamics_hits):
            cls.poll_message_set("There is one hit. Add another first.")
            return False
        return True


class DYNAMICS_OT_add_hit(ListOperator, Operator):
    """Add a hit at the current frame; all hits of the list make one reaction together"""

    bl_idname = "parametric_dynamics.add_hit"
    bl_label = "Add Hit"
    bl_options = {"REGISTER", "UNDO"}

    duplicate: BoolProperty(
        name="Duplicate", description="Give it all values of the hit that is shown", options=FRESH
    )

    @classmethod
    def description(cls, _context, properties):
        """What the button does."""
        return "Add a copy of the hit that is shown" if properties.duplicate else cls.__doc__

    def execute(self, context):
        armature = checks.armature_of(context)
        hits, place = armature.parametric_dynamics_hits, settings.active_index(armature) + 1
        if not len(hits):
            settings.copy(armature.parametric_dynamics, hits.add())
        added = hits.add()
        if self.duplicate:
            settings.copy(hits[place - 1], added)
        else:
            settings.choose(added)
            added.automatic_frame, added.frame = False, context.scene.frame_current_final
        hits.move(len(hits) - 1, place)
        armature.parametric_dynamics.active_hit = place
        armature.update_tag()
        return {"FINISHED"}


class DYNAMICS_OT_remove_hit(SeveralOperator, Operator):
    """Take the chosen hit off the list; Update then solves the others without it"""

    bl_idname = "parametric_dynamics.remove_hit"
    bl_label = "Remove Hit"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        armature = checks.armature_of(context)
        hits, group = armature.parametric_dynamics_hits, armature.parametric_dynamics
        hits.remove(settings.active_index(armature))
        if len(hits) == 1 and hits[0].enabled and not hits[0].name:  # as simple as at first
            settings.copy(hits[0], group)
            hits.clear()
        group.active_hit = settings.active_index(armature)
        armature.update_tag()
        return {"FINISHED"}


class DYNAMICS_OT_move_hit(SeveralOperator, Operator):
    """Move the chosen hit in the list. When hits land is said by their frames, not by the list"""

    bl_idname = "parametric_dynamics.move_hit"
    bl_label = "Move Hit"
    bl_options = {"REGISTER", "UNDO"}

    way: EnumProperty(name="Way", description="Where to", items=WAYS, options=FRESH)

    def execute(self, context):
        armature = checks.armature_of(context)
        hits, place = armature.parametric_dynamics_hits, settings.active_index(armature)
        there = place + (1 if self.way == "DOWN" else -1)
        if not 0 <= there < len(hits):
            return {"CANCELLED"}
        hits.move(place, there)
        armature.parametric_dynamics.active_hit = there
        armature.update_tag()
        return {"FINISHED"}


class DYNAMICS_OT_use_current_frame(Operator):
    """Let the hit land at the current frame"""

    bl_idname = "parametric_dynamics.use_current_frame"
    bl_label = "Use Current Frame"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return checks.editable(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        holder = settings.active(armature)
        holder.automatic_frame, holder.frame = False, context.scene.frame_current_final
        armature.update_tag()
        return {"FINISHED"}


class DYNAMICS_OT_use_view_direction(Operator):
    """Let the blow push away from you: into the view, as you look at the figure now"""

    bl_idname = "parametric_dynamics.use_view_direction"
    bl_label = "Use View Direction"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.space_data is None or context.space_data.type != "VIEW_3D":
            cls.poll_message_set("Call this from a 3D view.")
            return False
        return checks.editable(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        holder = settings.active(armature)
        holder.direction_mode = "WORLD"
        holder.direction = context.space_data.region_3d.view_rotation @ Vector((0.0, 0.0, -1.0))
        armature.update_tag()
        return {"FINISHED"}


class DYNAMICS_OT_use_active_bone(Operator):
    """Let the blow strike the active bone"""

    bl_idname = "parametric_dynamics.use_active_bone"
    bl_label = "Use Active Bone"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return checks.pose_bone(cls, context)

    def execute(self, context):
        armature = checks.armature_of(context)
        settings.active(armature).bone = checks.bone_of(context).name
        armature.update_tag()
        return {"FINISHED"}


class DYNAMICS_OT_use_cursor(Operator):
    """Take a value of the hit from the 3D cursor; Shift and right mouse button puts the cursor on the character"""

    bl_idname = "parametric_dynamics.use_cursor"
    bl_label = "Use 3D Cursor"
    bl_options = {"REGISTER", "UNDO"}

    target: EnumProperty(name="For", description="What the cursor gives", items=TARGETS, options=FRESH)
    nearest: BoolProperty(
        name="Nearest Bone",
        description="Let the blow strike the bone that is nearest to the cursor now",
        default=True,
        options=FRESH,
    )

    @classmethod
    def description(cls, _context, properties):
        """What the button does."""
        return next(text for name, _, text in TARGETS if name == properties.target)

    @classmethod
    def poll(cls, context):
        return checks.editable(cls, context)

    def draw(self, _context):
        self.layout.prop(self, "target")
        if self.target == "POINT":
            self.layout.prop(self, "nearest")

    def execute(self, context):
        armature, cursor = checks.armature_of(context), context.scene.cursor.location
        holder = settings.active(armature)
        try:
            if self.target == "ORIGIN":
                holder.kind, holder.origin = "RADIAL", cursor
            elif self.target == "DIRECTION":
                direction = aiming.struck_point(context, armature, settings.hit(holder)) - cursor
                holder.direction_mode, holder.direction = "WORLD", direction.normalized()
            else:
                bone, along, offset = aiming.place(context, armature, settings.hit(holder), cursor, self.nearest)
                holder.bone, holder.along, holder.offset = bone, along, offset
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        armature.update_tag()
        return {"FINISHED"}


CLASSES = (
    DYNAMICS_OT_add_hit,
    DYNAMICS_OT_remove_hit,
    DYNAMICS_OT_move_hit,
    DYNAMICS_OT_use_current_frame,
    DYNAMICS_OT_use_view_direction,
    DYNAMICS_OT_use_active_bone,
    DYNAMICS_OT_use_cursor,
)
