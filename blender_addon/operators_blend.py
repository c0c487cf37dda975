"""The operator that lets another action join the one that plays."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from bpy.types import Operator

from ..core.errors import CoreError
from ..core.pose import IMPORTANT, UNIMPORTANT, VERY_IMPORTANT
from . import blending, checks, choosing, recipe, settings
from .body_properties import FRESH

IMPORTANCE = (
    ("UNIMPORTANT", "Unimportant", "10"),
    ("IMPORTANT", "Important", "50"),
    ("VERY_IMPORTANT", "Very Important", "400"),
)
WEIGHTS = {"UNIMPORTANT": UNIMPORTANT, "IMPORTANT": IMPORTANT, "VERY_IMPORTANT": VERY_IMPORTANT}
BONES = (
    ("ALL", "All", "All bones that the action keys"),
    ("SELECTED", "Selected", "Only the selected bones among those that the action keys"),
)


class DYNAMICS_OT_blend_actions(Operator):
    """Let another action of the rig join the one that plays, as waving joins walking, in an NLA layer of its own"""

    bl_idname = "parametric_dynamics.blend_actions"
    bl_label = "Blend Actions"
    bl_options = {"REGISTER", "UNDO"}

    action: StringProperty(
        name="Action",
        description="The action that joins what plays",
        search=choosing.search,
        search_options=set(),
    )
    slot: StringProperty(
        name="Slot",
        description="The action's slot, by its identifier. Empty: the one that moves most bones",
        options=FRESH,
    )
    frame: FloatProperty(
        name="Start", description="Frame at which the action begins", step=100, precision=1, options=FRESH
    )
    at_hit: BoolProperty(
        name="At the Hit",
        description="Begin when the hit lands and take the whole body over: a stumble below the reaction",
        options=FRESH,
    )
    repeat: BoolProperty(name="Repeat", description="Start the action again after its last key")
    attack: FloatProperty(
        name="Attack (s)",
        description="Time in which the action fades in",
        min=0.0,
        soft_max=2.0,
        default=0.3,
        step=10,
        options=FRESH,
    )
    whole: BoolProperty(
        name="To Its End", description="Let the action show until its last key, the relaxation included", default=True
    )
    sustain: FloatProperty(
        name="Sustain (s)", description="Time in which it shows in full", min=0.0, soft_max=10.0, default=1.0, step=10
    )
    relaxation: FloatProperty(
        name="Relaxation (s)",
        description="Time in which the action fades out",
        min=0.0,
        soft_max=2.0,
        default=0.3,
        step=10,
        options=FRESH,
    )
    automatic: BoolProperty(
        name="Automatic Importance",
        description="Let each bone follow the clip that does more with it",
        default=True,
        options=FRESH,
    )
    clip_importance: EnumProperty(
        name="Clip", description="Importance of what plays", items=IMPORTANCE, default="IMPORTANT", options=FRESH
    )
    action_importance: EnumProperty(
        name="Action",
        description="Importance of the action",
        items=IMPORTANCE,
        default="VERY_IMPORTANT",
        options=FRESH,
    )
    bones: EnumProperty(name="Bones", description="The bones that may follow the action", items=BONES)

    @classmethod
    def poll(cls, context):
        return checks.animated(cls, context)

    def invoke(self, context, _event):
        """Ask what to blend; it begins at the current frame or with the hit."""
        self._begin(context)
        return context.window_manager.invoke_props_dialog(self, width=320)

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "action", icon="ACTION")
        for name in ("frame", "repeat", "attack", "whole"):
            layout.prop(self, name)
        if not self.whole:
            layout.prop(self, "sustain")
        for name in ("relaxation", "bones", "automatic"):
            layout.prop(self, name)
        if not self.automatic:
            layout.prop(self, "clip_importance")
            layout.prop(self, "action_importance")

    def execute(self, context):
        armature = checks.armature_of(context)
        try:
            if not self.properties.is_property_set("frame"):
                self._begin(context)
            made = blending.read(context, armature, self._wish(context, armature), settings.roles(armature))
            name = made.write(context)
        except CoreError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for warning in dict.fromkeys(made.warnings):
            self.report({"WARNING"}, warning)
        self.report({"INFO"}, "Baked '{}': {} bones follow '{}'.".format(name, len(made.targets), self.action))
        return {"FINISHED"}

    def _begin(self, context):
        """At the current frame, or with the hit that is shown."""
        self.frame = context.scene.frame_current_final
        if self.at_hit:
            armature = checks.armature_of(context)
            hits = settings.recipe(armature).hits
            self.frame = recipe.frames(context, armature, hits)[settings.active_index(armature)]
            self.attack, self.relaxation = blending.STUMBLE
            self.automatic, self.clip_importance, self.action_importance = False, "UNIMPORTANT", "VERY_IMPORTANT"

    def _wish(self, context, armature):
        selected = None
        if self.bones == "SELECTED":
            selected = tuple(bone.name for bone in context.selected_pose_bones or () if bone.id_data == armature)
        return blending.Wish(
            action=self.action,
            slot=self.slot,
            frame=round(self.frame, 3),
            attack=settings.plain(self.attack),
            sustain=None if self.whole else settings.plain(self.sustain),
            relaxation=settings.plain(self.relaxation),
            clip=None if self.automatic else WEIGHTS[self.clip_importance],
            other=None if self.automatic else WEIGHTS[self.action_importance],
            bones=selected,
            repeat=self.repeat,
            key_tolerance=settings.plain(armature.parametric_dynamics.key_tolerance),
        )


CLASSES = (DYNAMICS_OT_blend_actions,)
