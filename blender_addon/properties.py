"""What the user sets on an armature object: the hit, and how the body answers it.

A figure stands for 75 kg and 1.75 m whatever its size in the scene, so kilogrammes and metres are written out in names
instead of following the scene's unit scale.
"""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty
from bpy.types import Object, PropertyGroup

from ..core import situation as situations
from . import settings

OVERRIDE = {"LIBRARY_OVERRIDABLE"}
SECONDS = {"subtype": "TIME_ABSOLUTE", "unit": "TIME_ABSOLUTE", "override": OVERRIDE}
START = situations.named(settings.FIRST)
CUSTOM = ("CUSTOM", "Custom", "A situation of your own: loaded from a file, or a preset that was changed")
PRESETS = (
    *(
        (name, made.name, "A blow of {:g} N s on {}".format(made.impulse, made.hit[0]))
        for name, made in ((name, situations.named(name)) for name in situations.presets())
    ),
    CUSTOM,
)
DIRECTIONS = (
    ("SITUATION", "As the Situation", "The direction that the situation gives, seen from the figure"),
    ("FIGURE", "Figure", "Left, forward and up of the figure as it stands at the hit"),
    ("WORLD", "World", "X, Y and Z of the scene"),
)
DRIVES = (
    ("impulse", "Blow", "The blow pushes the struck bone; everything else follows"),
    ("velocities", "Initial Velocities", "The bones start with the situation's angular velocities or their own"),
)
MODES = (
    ("continue", "Simulate Throughout", "The body is simulated as long as the envelope lasts"),
    ("hold", "Hold Pose", "The body is simulated for a short time; the pose it reaches is held and blended out"),
)
BLENDS = (
    ("COMBINE", "Combine", "Add the reaction to the clip: it follows later changes of the clip"),
    ("REPLACE", "Replace", "Write absolute poses over the clip, independent of later changes"),
)


def _situation_chosen(self, _context):
    settings.choose(self)


def _reaction_chosen(self, _context):
    settings.show_reaction(self)


class DYNAMICS_PG_settings(PropertyGroup):
    """What hits the figure, and how the body answers"""

    situation: EnumProperty(
        name="Situation",
        description="What hits the figure. Choosing one loads its values into the settings below",
        items=PRESETS,
        default=settings.FIRST,
        update=_situation_chosen,
        override=OVERRIDE,
    )
    document: StringProperty(
        name="Document", description="The situation as it was loaded (TOML)", options={"HIDDEN"}, override=OVERRIDE
    )
    bone: StringProperty(
        name="Bone", description="The bone that is struck. Empty: the one that the situation names", override=OVERRIDE
    )
    along: FloatProperty(
        name="Along",
        description="Where on the bone the blow lands: 0 at its head, 1 at its end",
        subtype="FACTOR",
        min=0.0,
        max=1.0,
        default=START.along,
        override=OVERRIDE,
    )
    direction_mode: EnumProperty(
        name="Direction",
        description="What gives the direction of the blow",
        items=DIRECTIONS,
        default="SITUATION",
        override=OVERRIDE,
    )
    direction: FloatVectorProperty(
        name="Vector",
        description="Direction in which the blow pushes. Its length does not matter",
        subtype="XYZ",
        size=3,
        default=START.direction,
        override=OVERRIDE,
    )
    impulse: FloatProperty(
        name="Impulse (N s)",
        description=(
            "Strength of the blow on a body of 75 kg and 1.75 m, for which every figure stands: "
            "75 N s push it away at 1 m/s. A negative one pushes the other way"
        ),
        soft_min=0.0,
        soft_max=60.0,
        min=-1e6,
        max=1e6,
        step=50,
        precision=2,
        default=START.impulse,
        override=OVERRIDE,
    )
    contact: FloatProperty(
        name="Contact Time",
        description="How long the blow pushes",
        min=0.001,
        max=2.0,
        soft_max=0.3,
        precision=3,
        default=START.contact,
        **SECONDS,
    )
    automatic_frame: BoolProperty(
        name="Automatic",
        description="Let the hit land a quarter into the clip",
        default=True,
        override=OVERRIDE,
    )
    frame: FloatProperty(
        name="Frame", description="The frame at which the blow lands", step=100, precision=1, override=OVERRIDE
    )
    drive: EnumProperty(
        name="Drive",
        description="What sets the body in motion",
        items=DRIVES,
        default=START.drive,
        override=OVERRIDE,
    )
    frequency: FloatProperty(
        name="Frequency (Hz)",
        description="Stiffness of the muscles: how fast a joint would swing about the clip's pose. Relaxed 1, tense 3",
        min=0.0,
        max=200.0,
        soft_max=10.0,
        step=10,
        default=START.frequency,
        override=OVERRIDE,
    )
    ratio: FloatProperty(
        name="Damping Ratio",
        description="How soon a swing dies away: 0 never, 1 without swinging over",
        min=0.0,
        max=100.0,
        soft_max=2.0,
        step=5,
        default=START.ratio,
        override=OVERRIDE,
    )
    base_frequency: FloatProperty(
        name="Pelvis (Hz)",
        description="How stiffly the pelvis is drawn to its place in the clip",
        min=0.0,
        max=200.0,
        soft_max=10.0,
        step=10,
        default=START.base_frequency,
        override=OVERRIDE,
    )
    tone: FloatProperty(
        name="Tone at Impact",
        description="Factor on the muscles at the moment of the blow: 0 limp, 1 as tense as ever",
        min=0.0,
        max=10.0,
        soft_max=1.0,
        step=5,
        default=START.tone,
        override=OVERRIDE,
    )
    recovery: FloatProperty(
        name="Recovery",
        description="Time until the muscles are back at full tone",
        min=0.0,
        max=60.0,
        soft_max=3.0,
        step=10,
        default=START.recovery,
        **SECONDS,
    )
    share: FloatProperty(
        name="Carried Share",
        description="Part of the body's own weight and motion that the muscles carry: 1 stands upright, 0 sags",
        subtype="FACTOR",
        min=0.0,
        max=1.0,
        default=START.share,
        override=OVERRIDE,
    )
    envelope_mode: EnumProperty(
        name="Mode",
        description="What is shown while the envelope runs",
        items=MODES,
        default=START.envelope.mode,
        override=OVERRIDE,
    )
    attack: FloatProperty(
        name="Attack",
        description="Time in which the reaction fades in",
        min=0.0,
        soft_max=2.0,
        step=10,
        default=START.envelope.attack,
        **SECONDS,
    )
    sustain: FloatProperty(
        name="Sustain",
        description="Time in which the reaction shows in full",
        min=0.0,
        soft_max=5.0,
        step=10,
        default=START.envelope.sustain,
        **SECONDS,
    )
    relaxation: FloatProperty(
        name="Relaxation",
        description="Time in which the reaction fades out, until the clip is as it was",
        min=0.0,
        soft_max=5.0,
        step=10,
        default=START.envelope.relaxation,
        **SECONDS,
    )
    simulation: FloatProperty(
        name="Simulation",
        description="How long the body is simulated before its pose is held",
        min=0.0,
        soft_max=2.0,
        step=1,
        precision=3,
        default=START.envelope.simulation,
        **SECONDS,
    )
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
    height: FloatProperty(
        name="Height (m)",
        description="How tall the figure is meant to be; it only scales gravity. 0: as usual for its kind",
        min=0.0,
        soft_max=10.0,
        step=5,
        default=0.0,
        override=OVERRIDE,
    )
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


def register():
    """Hang the settings on objects."""
    bpy.utils.register_class(DYNAMICS_PG_settings)
    Object.parametric_dynamics = bpy.props.PointerProperty(
        type=DYNAMICS_PG_settings,
        name="Parametric Dynamics",
        description="Settings of hit reactions",
        override=OVERRIDE,
    )


def unregister():
    """Take the settings off."""
    del Object.parametric_dynamics
    bpy.utils.unregister_class(DYNAMICS_PG_settings)
