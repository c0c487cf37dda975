"""What the user sets on how the body answers a hit: its muscles, the envelope, and how it ends."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ..core import situation as situations
from . import settings

OVERRIDE = {"LIBRARY_OVERRIDABLE"}
FRESH = {"SKIP_SAVE"}  # of operators: a click starts from the settings, not from what the last click used
SECONDS = {"subtype": "TIME_ABSOLUTE", "unit": "TIME_ABSOLUTE", "override": OVERRIDE}
START = situations.named(settings.FIRST)
MODES = (
    ("continue", "Simulate Throughout", "The body is simulated as long as the envelope lasts"),
    ("hold", "Hold Pose", "The body is simulated for a short time; the pose it reaches is held and blended out"),
)
ENDINGS = {  # of an end mode: its name and tooltip
    "return": ("Return", "The body finds back to its clip and goes on with it, as if nothing had happened"),
    "continue": (
        "Continue Displaced",
        "The body goes on with its clip where its steps have taken it, instead of finding back to its place",
    ),
    "stay": ("Stay Down", "Knocked out: the muscles go limp, the body falls, and its layer holds it where it lies"),
}


def emphasis(name, description, default):
    """An artist's gain on what the physics gives."""
    limits = {"min": 0.0, "max": 3.0, "soft_max": 2.0, "step": 10}
    return FloatProperty(name=name, description=description, default=default, override=OVERRIDE, **limits)


class BodyProperties:
    """Muscles, envelope and end of one hit"""

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
        description="How stiffly the pelvis is turned back, and the weight held to where the feet lead it",
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
    tone_curve: StringProperty(
        name="Tone Curve",
        description=(
            "Tone by points instead: seconds after the blow and factor on the muscles, such as "
            "'0 0.3, 0.4 0.3, 1.2 1'. Empty: tone at impact and recovery count"
        ),
        override=OVERRIDE,
    )
    ranges: StringProperty(
        name="Legal Angles",
        description=(
            "Ranges of joints in degrees instead of the usual ones, by role: "
            "'neck 15, forearm 0 140, upper_arm 60 50 30'. One angle about the clip, "
            "least and most flexion of elbows and knees, or swing, side swing and twist"
        ),
        override=OVERRIDE,
    )
    counter: emphasis(
        name="Counter-Rotation",
        description=(
            "Times which trunk, neck and head above the blow turn against it: 1 what the physics gives, "
            "0 they ride along, 2 twice as much as far as joints go"
        ),
        default=START.counter,
    )
    whip: emphasis(
        name="Whip",
        description=(
            "Times which limbs that are not struck swing after the body: 1 what the physics gives, "
            "0 they ride along, 2 twice as much as far as joints go"
        ),
        default=START.whip,
    )
    dip: emphasis(
        name="Dip",
        description=(
            "Times which the body sinks on a leg that is hit and gives way: 1 what the physics gives, 0 not at all"
        ),
        default=START.dip,
    )
    shift: emphasis(
        name="Shift",
        description=(
            "Times which the blow moves the body as a whole off its place, with steps to match: 1 what the physics "
            "gives, 0 the pelvis stays over its place, but a leg that is hit still gives way; "
            "at 2 weight and feet go as from twice the blow, the pelvis less far"
        ),
        default=START.shift,
    )
    influence: StringProperty(
        name="Influence",
        description=(
            "Part of the reaction that shows on the struck bone, one joint away from it, two, and so on, "
            "such as '1 0.9 0.6 0.3'; the last one holds from there. Empty: all of it everywhere"
        ),
        override=OVERRIDE,
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
    coupled: BoolProperty(
        name="Coupled",
        description=(
            "Bones feel each other's motion, as those of a body do. Off: a light-weight simulator for very fast hits, "
            "in which each answers alone and nothing whips"
        ),
        default=START.coupled,
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
    envelope_curve: StringProperty(
        name="Curve",
        description=(
            "What shows by points instead: seconds after the blow and part from 0 to 1, ending at 0, "
            "such as '0 1, 0.8 1, 1.2 0.5, 2.5 0'. Empty: attack, sustain and relaxation count"
        ),
        override=OVERRIDE,
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
    end: EnumProperty(
        name="End",
        description="What becomes of the body after the blow",
        items=tuple((name, *ENDINGS[name]) for name in situations.ENDS),
        default=START.end,
        override=OVERRIDE,
    )
    knock_out: FloatProperty(
        name="Goes Limp In",
        description="Time in which all muscles of a body that is knocked out lose their tone",
        min=0.02,
        max=2.0,
        step=5,
        default=START.knock_out,
        **SECONDS,
    )
