"""What the user sets on pose bones; flat properties, because Blender cannot key a group on a pose bone."""

import math

from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from bpy.types import PoseBone

from ..core.curve import begins
from ..core.roles import MIDDLE, SIDED
from . import settings
from .properties import OVERRIDE

SIMULATED = (
    ("SITUATION", "As the Situation", "The situation says whether the bone moves by itself"),
    ("YES", "Simulated", "The bone moves by itself"),
    ("NO", "Not Simulated", "The bone keeps to the clip"),
)
ROLES = sorted([*MIDDLE, "helper", *(f"{role}.{side}" for role in SIDED for side in "LR")])


def _roles(_self, _context, typed):
    return [role for role in ROLES if typed.lower() in role.lower()]


PROPERTIES = {
    "dynamics_simulated": EnumProperty(
        name="Simulated", description="Whether the bone moves by itself", items=SIMULATED, override=OVERRIDE
    ),
    "dynamics_mass": FloatProperty(
        name="Mass (kg)",
        description="Mass of the bone's part of a body of 75 kg. 0: from the mesh or the shape of the skeleton",
        min=0.0,
        soft_max=40.0,
        step=10,
        precision=3,
        override=OVERRIDE,
    ),
    "dynamics_frequency": FloatProperty(
        name="Frequency (Hz)",
        description="Stiffness of the bone's muscle. 0: the situation's",
        min=0.0,
        max=200.0,
        soft_max=10.0,
        step=10,
        override=OVERRIDE,
    ),
    "dynamics_ratio": FloatProperty(
        name="Damping Ratio",
        description="How soon a swing of the bone dies away. 0: the situation's",
        min=0.0,
        max=100.0,
        soft_max=2.0,
        step=5,
        override=OVERRIDE,
    ),
    "dynamics_weight": FloatProperty(
        name="Weight",
        description="Part of the reaction that shows on the bone",
        subtype="FACTOR",
        min=0.0,
        max=1.0,
        default=1.0,
        override=OVERRIDE,
    ),
    "dynamics_custom": BoolProperty(
        name="Own Initial Velocity",
        description="Start the bone with its own velocity, where initial velocities drive the body",
        override=OVERRIDE,
    ),
    "dynamics_angle": FloatProperty(
        name="Angle",
        description="Direction of the axis that the bone turns about, measured around the bone",
        subtype="ANGLE",
        unit="ROTATION",
        default=1.5707963,
        override=OVERRIDE,
    ),
    "dynamics_velocity": FloatProperty(
        name="Velocity (°/s)",
        description="Angular velocity that the bone starts with, in degrees per second",
        soft_min=-2000.0,
        soft_max=2000.0,
        step=1000,
        precision=1,
        override=OVERRIDE,
    ),
    "dynamics_multiplier": FloatProperty(
        name="Multiplier",
        description="Factor on the bone's velocity",
        soft_min=-5.0,
        soft_max=5.0,
        step=10,
        default=1.0,
        override=OVERRIDE,
    ),
    "dynamics_role": StringProperty(
        name="Role",
        description="What the bone is, such as upper_arm.L, spine or helper. Empty: recognised by name and shape",
        search=_roles,
        search_options={"SUGGESTION"},
        override=OVERRIDE,
    ),
}


def put(armature, made):
    """Make the values of an armature's bones say this recipe; what follows a curve there, as it begins."""
    for bone in armature.pose.bones:
        values = _values(made.bones.get(bone.name, {}), made.roles.get(bone.name))
        for name in PROPERTIES:
            if name in values:
                setattr(bone, name, values[name])
            else:
                bone.property_unset(name)


def _values(own, role):
    """The properties that say these fields of `BoneSetting` and this role."""
    values = {prop: begins(own[field]) for prop, field in settings.BONE_FIELDS.items() if field in own}
    if "simulated" in own:
        values["dynamics_simulated"] = "YES" if own["simulated"] else "NO"
    if "velocity" in own:
        values["dynamics_custom"], values["dynamics_angle"] = True, math.radians(own["angle"])
        values["dynamics_velocity"], values["dynamics_multiplier"] = own["velocity"], own["multiplier"]
    return values if role is None else values | {"dynamics_role": role}


def register():
    """Hang the values on pose bones."""
    for name, prop in PROPERTIES.items():
        setattr(PoseBone, name, prop)


def unregister():
    """Take them off."""
    for name in reversed(PROPERTIES):
        delattr(PoseBone, name)
