"""What the user sets on an armature object: its hits, and how their reaction is baked."""

import bpy
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Object, PropertyGroup

from . import choosing, settings
from .body_properties import OVERRIDE, SECONDS
from .hit_properties import DYNAMICS_PG_hit, HitProperties

BLENDS = (
    ("COMBINE", "Combine", "Add the reaction to the clip: it follows later changes of the clip"),
    ("REPLACE", "Replace", "Write absolute poses over the clip, independent of later changes"),
)


def _reaction_chosen(self, _context):
    settings.show_reaction(self)


class DYNAMICS_PG_settings(HitProperties, PropertyGroup):
    """What hits the figure, and how the body answers.  The hit here counts as long as the list of hits is empty"""

    blend: EnumProperty(
        name="Layer", description="How the baked layer mixes with the clip", items=BLENDS, override=OVERRIDE
    )
    key_tolerance: FloatProperty(
        name="Sparse Keys (°)",
        description=(
            "Leave out keys as long as no bone turns further than this from the full bake, at any frame or between. "
            "0: a key at every frame"
        ),
        min=0.0,
        max=45.0,
        soft_max=5.0,
        step=10,
        precision=2,
        default=0.0,
        override=OVERRIDE,
    )
    then: StringProperty(
        name="Then",
        description=(
            "Action that the body goes over to afterwards, such as getting up: from where it lies or stands, at the "
            "frame whose pose is nearest, turned to how it faces. Empty: none"
        ),
        search=choosing.search,
        search_options=set(),
        override=OVERRIDE,
    )
    then_or: StringProperty(
        name="Or",
        description=(
            "Another such action, as from the other side: the one that begins more like the body lies or stands takes "
            "over. Empty: none"
        ),
        search=choosing.search,
        search_options=set(),
        override=OVERRIDE,
    )
    then_seconds: FloatProperty(
        name="Blend Over",
        description="Time in which the action takes the body over",
        min=0.05,
        max=10.0,
        soft_max=2.0,
        step=10,
        default=0.5,
        **SECONDS,
    )
    height: FloatProperty(
        name="Height (m)",
        description="How tall the figure is meant to be; it only scales gravity. 0: as usual for its kind",
        min=0.0,
        soft_max=10.0,
        step=5,
        default=0.0,
        override=OVERRIDE,
    )
    active_hit: IntProperty(name="Hit", description="The hit whose values are shown", min=0, override=OVERRIDE)
    active_reaction: IntProperty(
        name="Reaction",
        description="The reaction that Update, Remove and Export work on. Choosing one shows its settings",
        min=0,
        update=_reaction_chosen,
        override=OVERRIDE,
    )
    quality: StringProperty(
        name="Quality",
        description="The last grade of the motion by itself (JSON)",
        options={"HIDDEN"},
        override=OVERRIDE,
    )


CLASSES = (DYNAMICS_PG_settings, DYNAMICS_PG_hit)


def register():
    """Hang the settings on objects."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    Object.parametric_dynamics = bpy.props.PointerProperty(
        type=DYNAMICS_PG_settings,
        name="Parametric Dynamics",
        description="Settings of hit reactions",
        override=OVERRIDE,
    )
    Object.parametric_dynamics_hits = CollectionProperty(
        type=DYNAMICS_PG_hit,
        name="Hits",
        description="Hits that make a reaction together",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )


def unregister():
    """Take the settings off."""
    del Object.parametric_dynamics_hits
    del Object.parametric_dynamics
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
