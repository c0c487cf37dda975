"""Forces: each adds its force and its impedance to the Load of one step, linearly implicit about the clip.

A spring of stiffness K and damping D pulls with what it will be at the end of the step.  With e and e' the deviation
from
the clip and its rate on arrival, and a - a_clip what the step adds to the rate: f = -K (e + h e') - D e' - Z (a -
a_clip),
Z = h D + h^2 K.  On the clip every term is zero, so a force is silent there whatever its stiffness or its limits.
"""

from .limit import Limit
from .muscle import Muscle
from .pulse import Pulse
from .step import Force, Step, deviation
from .world import WorldSpring

__all__ = ["Force", "Limit", "Muscle", "Pulse", "Step", "WorldSpring", "deviation"]
