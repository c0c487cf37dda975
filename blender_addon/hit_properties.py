"""What the user sets on one hit: what lands where, and how strongly.

A figure stands for 75 kg and 1.75 m whatever its size in the scene, so kilogrammes and metres are written out in names
instead of following the scene's unit scale.
"""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty
from bpy.types import PropertyGroup

from ..core import situation as situations
from ..core import strength as strengths
from . import settings
from .body_properties import OVERRIDE, SECONDS, START, BodyProperties

CUSTOM = ("CUSTOM", "Custom", "A situation of your own: loaded from a file, or a preset that was changed")
PRESETS = (
    *(
        (name, made.name, "{:g} N s on {}, {:g} times as films show it".format(made.impulse, made.hit[0], made.gain))
        for name, made in ((name, situations.named(name)) for name in situations.everything())
    ),
    CUSTOM,
)
DIRECTIONS = (
    ("SITUATION", "Situation", "The direction that the situation gives, seen from the figure"),
    ("FIGURE", "Figure", "Left, forward and up of the figure as it stands at the hit"),
    ("WORLD", "World", "X, Y and Z of the scene"),
)
DRIVES = (
    ("impulse", "Blow", "The blow pushes the struck bone; everything else follows"),
    ("velocities", "Initial Velocities", "The bones start with the situation's angular velocities or their own"),
)
KINDS = (
    ("LINEAR", "Push", "The blow pushes a point of the bone. Off the bone's centre it turns the body, too"),
    ("ANGULAR", "Twist", "The blow turns the bone about the direction, without pushing it"),
    ("RADIAL", "Blast", "The blow comes from a place and pushes the whole body away from it, what is nearer more"),
)
STRENGTHS = (
    ("IMPULSE", "Impulse", "As many newton seconds as you give"),
    ("STRIKER", "Mass and Speed", "What a thing of this mass and speed gives; the body's own inertia counts"),
    *(
        (item.name, item.title, "{:g} N s: {}. Films: {:g} times".format(item.impulse, item.figures, item.gain))
        for item in strengths.presets().values()
    ),
)


def _situation_chosen(self, _context):
    settings.choose(self)


def _strength_chosen(self, _context):
    if self.strength in strengths.presets():
        self.gain = strengths.named(self.strength).gain
    elif self.strength == "IMPULSE":
        self.gain = settings.loaded(self, "gain", self.gain)


class HitProperties(BodyProperties):
    """What lands, and how the body answers; for the only hit of an armature and for each of a list"""

    situation: EnumProperty(
        name="Situation",
        description="What hits the figure. Choosing one loads its values into the settings below",
        items=PRESETS,
        default=settings.FIRST,
        options=set(),  # choosing loads values, which keys could not do
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
    kind: EnumProperty(name="Kind", description="How the blow acts", items=KINDS, default="LINEAR", override=OVERRIDE)
    offset: FloatVectorProperty(
        name="Off Centre (m)",
        description=(
            "Where the blow lands beside that point: left, forward and up of the figure, on a body of 1.75 m. "
            "Off the centre it turns the body"
        ),
        subtype="XYZ",
        size=3,
        soft_min=-0.5,
        soft_max=0.5,
        step=1,
        precision=3,
        override=OVERRIDE,
    )
    origin: FloatVectorProperty(
        name="Origin", description="Where the blast comes from, in the scene", subtype="XYZ", size=3, override=OVERRIDE
    )
    strength: EnumProperty(
        name="Strength",
        description=(
            "What gives the strength. Choosing a named one loads the gain that films put on it, Impulse the situation's"
        ),
        items=STRENGTHS,
        default="IMPULSE",
        options=set(),
        update=_strength_chosen,
        override=OVERRIDE,
    )
    impulse: FloatProperty(
        name="Impulse (N s)",
        description=(
            "What the real thing gives to a body of 75 kg and 1.75 m, for which every figure stands: "
            "75 N s push it away at 1 m/s. The dramatic gain multiplies it. A negative one pushes the other way"
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
    gain: FloatProperty(
        name="Dramatic Gain",
        description=(
            "Times which the blow is stronger than the real thing, as films show it. 1 is reality. "
            "A hit soon after another tells less besides: 0.35 of it within 0.1 s, 0.5 within 0.25 s, "
            "0.7 within 0.35 s, 0.9 within 0.5 s"
        ),
        min=0.0,
        max=1000.0,
        soft_max=10.0,
        step=25,
        precision=2,
        default=START.gain,
        override=OVERRIDE,
    )
    twist: FloatProperty(
        name="Twist (N m s)",
        description="Angular impulse about the direction, on a body of 75 kg and 1.75 m",
        soft_min=-20.0,
        soft_max=20.0,
        step=25,
        precision=2,
        default=2.0,
        override=OVERRIDE,
    )
    mass: FloatProperty(
        name="Mass (kg)",
        description="Mass of what hits, beside a body of 75 kg",
        min=1e-4,
        max=1e6,
        soft_max=100.0,
        step=10,
        precision=3,
        default=2.0,
        override=OVERRIDE,
    )
    speed: FloatProperty(
        name="Speed (m/s)",
        description="Speed of what hits, along the direction",
        min=0.0,
        max=1e5,
        soft_max=50.0,
        step=50,
        precision=2,
        default=10.0,
        override=OVERRIDE,
    )
    bounce: FloatProperty(
        name="Bounce",
        description="0: it stays with the body, 1: it bounces off as fast as it came, which pushes twice as much",
        subtype="FACTOR",
        min=0.0,
        max=1.0,
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
    automatic_ground: BoolProperty(
        name="Clip's Floor",
        description="Let the body fall on the floor that the clip shows: where the body is lowest around the blow",
        default=True,
        override=OVERRIDE,
    )
    ground: FloatProperty(
        name="Ground",
        description="Height of the floor on which the body falls, in the scene",
        subtype="DISTANCE",
        override=OVERRIDE,
    )
    seed: IntProperty(
        name="Seed",
        description=(
            "Varies the direction within 15 degrees and the strength by a fifth, always alike for the same seed. "
            "0: nothing is varied"
        ),
        min=0,
        override=OVERRIDE,
    )
    drive: EnumProperty(
        name="Drive",
        description="What sets the body in motion",
        items=DRIVES,
        default=START.drive,
        override=OVERRIDE,
    )


def _get_shown(self):
    return settings.title(self)


def _set_shown(self, text):
    self.name = ""
    self.name = "" if text.strip() == settings.title(self) else text.strip()


class DYNAMICS_PG_hit(HitProperties, PropertyGroup):
    """One of several hits that make a reaction together"""

    name: StringProperty(name="Own Name", description="What you call the hit", override=OVERRIDE)
    shown: StringProperty(
        name="Name",
        description="What the hit is called: bone and situation, until you give it a name of its own",
        get=_get_shown,
        set=_set_shown,
    )
    enabled: BoolProperty(
        name="Enabled",
        description="Whether the hit is part of the reaction",
        default=True,
        options=set(),  # a key could not say at which hit's moment it counts
        override=OVERRIDE,
    )
