"""What a body takes of a thing that strikes it with a mass: what the part that it hits opposes, and, as long as the
contact lasts, what lies behind that part; and of a situation's own strength, which is told for arms that hang."""

from dataclasses import replace

import numpy as np

from . import arms
from .actor import Actor
from .blows import Blow
from .dynamics import Kinematics, effective_inverse, kinematics
from .model import Model, State
from .roles import base_role
from .rotation import Array
from .topology import ARM
from .tuning import upward

CHEST = 15.0  # [kg] that a chest opposes to a blow, from the front or the side (measured: 11 to 19)
TAUT = 0.025  # [s] in which that goes over into the whole body's (measured: 0.022 to 0.029)
LIMB = (*ARM, "clavicle")
YIELDS = 1.0  # [rad] that an arm gives way before it presses on the trunk
DENSITY = 1000.0  # [kg/m^3] of what strikes, a ball as wide as its mass


def met(blow: Blow, actor: Actor, model: Model, moment: State, Z: Array | None = None) -> Blow:
    """The blow with what a body in this state takes of it, where it strikes with a mass M.

    A thing that comes at speed v and stays gives v / (1/M + n Lambda^-1 n) at the struck point; v is that which gives a
    CHEST the whole impulse.  While a contact lasts muscles bring in the rest of the body, all of it when it lasts TAUT:
    impulses of contacts that do are those on a whole body, so no part takes more.  An arm gives way to them, then the
    trunk takes them.  Before that both come in little by little, for what is over at once is told for a chest alone.
    An arm on which the body stands takes what the situation says of forelegs instead: a shoulder that hangs goes
    with the half of the body above its hips, one that stands with all of it.
    Z: (n, 6, 6) joint impedances of `Blow.lasting`.
    """
    mass = blow.hit.mass
    if blow.origin is not None or blow.hit.has_own_strength and mass is None:
        return blow
    if mass is None:
        return replace(blow, taken=blow.situation.foreleg) if blow.struck in arms.forelegs(actor) else blow
    kin = kinematics(model, moment)
    whole = 1.0 / float(model.inertia[:, 5, 5].sum())
    speed = 1.0 / mass + whole + (1.0 / CHEST - whole) / (1.0 + blow.lasting / TAUT)  # [m/s] per newton second
    joined = min(blow.lasting / TAUT, 1.0)

    def given(body: int, at: Array) -> float:
        light = blow.direction @ effective_inverse(model, kin, body, at, Z) @ blow.direction
        part = float(speed / (1.0 / mass + light))
        return part - joined * max(part - 1.0, 0.0)

    at = kin.position()[blow.struck] + kin.R[blow.struck] @ blow.point
    own = given(blow.struck, at)
    behind, root = _behind(actor, kin, blow.struck, at)
    way = blow.contact * speed * abs(blow.impulse)
    if behind < 0 or not blow.lasting or not way > 0.0:
        return replace(blow, taken=own)
    middle = kin.position()[behind] + 0.5 * kin.R[behind] @ actor.axis[behind]
    far, wide = float(np.linalg.norm(middle - root)), float(np.cbrt(0.75 * mass / (np.pi * DENSITY)))
    late = min(YIELDS * float(np.linalg.norm(at - root)) / way, 1.0)
    presses = root + min(wide / max(far, 1e-9), 1.0) * (middle - root)  # as near the middle as it is wide
    more = joined * (1.0 - late) * max(given(behind, presses) - own, 0.0)
    place = kin.R[behind].T @ (presses - kin.position()[behind])
    return replace(blow, taken=own + more, passed=more / (own + more), behind=(behind, place))


def _behind(actor: Actor, kin: Kinematics, struck: int, at: Array) -> tuple[int, Array]:
    """The body of the trunk on which an arm, or what it holds, presses, and where (3,), world; -1 for all else."""
    up = [(i, base_role(actor.roles[i])) for i in upward(actor.parent, struck)]
    arm = [i for i, role in up if role in ARM]
    trunk = [i for i, role in up if role not in (*LIMB, "", "helper")]
    if not trunk or not any(role in LIMB for _, role in up):
        return -1, at
    return trunk[0], kin.position()[arm[-1]] if arm else at
