"""How a body starts whose joints are told velocities, the document's (de Heras Ciechomski 2001, 5.2).

His figure had nothing but the joints of his tables.  Arms that they leave limp, and where no pose is held all that
moves, answer as the articulated body does: to the blow that the tables stand for, and to the joints that start.  So
arms and heads stay behind a trunk that is set in motion instead of being flung with it, and a leg that is swung takes
the body along.  On the way to a pose that is held a neck that stays behind would stop the trunk.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from .dynamics import given, kinematics, point_jacobian
from .forces import Pulse
from .model import Model, State
from .rotation import Array


def kicked(
    model: Model, state: State, rates: Mapping[int, Array], pulses: Sequence[Pulse], answers: np.ndarray
) -> State:
    """The state right after the blow.

    rates: body -> (3,) angular velocity that its joint is told besides its own, body frame [rad/s]; the whole joint
    moves so.  pulses: of the blow, as if at once; nothing of them stays in joints that don't answer.
    answers: (n,) bool, those of the others that do; the rest starts with nothing.  Where no joint is told anything
    nothing starts.
    """
    if not rates:
        return state
    twist = np.zeros_like(state.twist)
    for body, rate in rates.items():
        twist[body, :3] = rate
    kin = kinematics(model, state)
    push = np.zeros(model.nv)
    for pulse in pulses:
        at = kin.position()[pulse.body] + kin.R[pulse.body] @ pulse.point
        push += point_jacobian(model, kin, pulse.body, at).T @ pulse.impulse
    known = np.isin(model.dof_body, list(rates)) | ~answers[model.dof_body]
    u = given(model, kin, model.coordinates(twist), known, push)
    return State(state.rotation, state.position, state.twist + model.expand(u))
