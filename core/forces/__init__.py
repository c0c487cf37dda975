"""Forces: each adds its force and its impedance to the Load of one step, linearly implicit about the clip.

With e and e' the deviation from the clip and its rate on arrival, and a - a_clip what the step adds to the rate,
a spring of stiffness K and damping D gives f = -K e - D e' - Z (a - a_clip) with Z = h D / 2 + h^2 K / 4: of 2nd order,
and stable however stiff; limits likewise.  What oscillates faster than a step can show, and contacts, are taken at the
end of the step instead, f = -K (e + h e') - D e', Z = h D + h^2 K, which damps it.  On the clip every term is zero, so
a force is silent there whatever its stiffness or its limits.  Forces that are meant to act on the clip too (wind,
fields, springs to a rest pose) say so.
"""

from .bearing import Bearing
from .bumper import Bumper
from .collide import Capsules, SelfCollision
from .compliant import Compliant, Touching
from .contact import Contacts, Source
from .coulomb import Rows
from .flesh import Flesh
from .floor import Floor
from .friction import DryFriction, HingeFriction, Viscous
from .ground import Ground
from .guide import Guide
from .limit import Limit
from .medium import Air, Field, Wrench
from .muscle import Muscle, weight
from .pulse import Pulse
from .spring import JointSpring, Law, OrientationSpring, PointSpring, Release
from .step import Force, Step, Swift, deviation
from .stop import EndStop
from .strike import Striker
from .swing import SwingTwist
from .topple import Topple
from .world import Heels, Track, WorldSpring

__all__ = [
    "Air",
    "Bearing",
    "Bumper",
    "Capsules",
    "Compliant",
    "Contacts",
    "DryFriction",
    "EndStop",
    "Field",
    "Flesh",
    "Floor",
    "Force",
    "Ground",
    "Guide",
    "Heels",
    "HingeFriction",
    "JointSpring",
    "Law",
    "Limit",
    "Muscle",
    "OrientationSpring",
    "PointSpring",
    "Pulse",
    "Release",
    "Rows",
    "SelfCollision",
    "Source",
    "Step",
    "Striker",
    "Swift",
    "SwingTwist",
    "Topple",
    "Touching",
    "Track",
    "Viscous",
    "WorldSpring",
    "Wrench",
    "deviation",
    "weight",
]
