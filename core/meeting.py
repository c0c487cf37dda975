"""What a body takes of a thing that strikes it with a mass: what the part that it hits opposes, what that lies on, and,
as long as the contact lasts, what is behind it; and of a situation's own strength, which is told for arms that hang."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from . import arms
from .actor import Actor
from .blows import Blow
from .dynamics import Kinematics, effective_inverse, kinematics, point_jacobian, response, with_twist
from .dynamics.impulse import inertia
from .forces import Flesh
from .lanes import dot
from .model import Model, State
from .roles import base_role
from .rotation import Array
from .spatial import solve
from .topology import ARM
from .tuning import upward

CHEST = 15.0  # [kg] that a chest opposes to a blow, from the front or the side (measured: 11 to 19)
TAUT = 0.025  # [s] in which that goes over into the whole body's (measured: 0.022 to 0.029)
LIMB = (*ARM, "clavicle")
YIELDS = 1.0  # [rad] that an arm gives way before it presses on the trunk
DENSITY = 1000.0  # [kg/m^3] of what strikes, a ball as wide as its mass
LEAST = 0.01  # of what the struck part takes by itself: less is not worth a contact of its own
ROUND_OFF = 1e-9  # of how fast the struck point goes: what closes no faster doesn't close


def met(
    blow: Blow, actor: Actor, model: Model, moment: State, Z: Array | None = None, flesh: Flesh | None = None
) -> Blow:
    """The blow with what a body in this state takes of it, where it strikes with a mass M.

    A thing that comes at speed v and stays gives v / (1/M + n Lambda^-1 n) at the struck point; v is that which gives a
    CHEST the whole impulse.  While a contact lasts muscles bring in the rest of the body, all of it when it lasts TAUT:
    impulses of contacts that do are those on a whole body, so no part takes more.  What is behind the struck part takes
    the rest: what that lies on, and the trunk once an arm has given way.
    An arm on which the body stands takes what the situation says of forelegs instead: a shoulder that hangs goes
    with the half of the body above its hips, one that stands with all of it.
    Z: (n, 6, 6) joint impedances of `Blow.lasting`.  flesh: what may touch.
    """
    mass = blow.hit.mass
    if blow.origin is not None or blow.hit.has_own_strength and mass is None:
        return blow
    if mass is None:
        return replace(blow, taken=blow.situation.foreleg) if blow.struck in arms.forelegs(actor) else blow
    meeting = _Meeting(blow, actor, model, kinematics(model, moment), Z, mass)
    more, body, at = max(meeting.touched(flesh), meeting.pressed(), key=lambda found: found[0])
    if not more > LEAST * meeting.own:
        return replace(blow, taken=meeting.own)
    place = meeting.kin.R[body].T @ (at - meeting.kin.position()[body])
    return replace(blow, taken=meeting.own + more, passed=more / (meeting.own + more), behind=(body, place))


Passed = tuple[float, int, Array]  # part of a blow that goes through what it strikes, on which body and where, world


@dataclass(frozen=True, eq=False)
class _Meeting:
    """A blow of a mass [kg] that meets a body.  Z: as in `met`."""

    blow: Blow
    actor: Actor
    model: Model
    kin: Kinematics
    Z: Array | None
    mass: float

    @cached_property
    def at(self) -> Array:
        """(3,) the struck point, world."""
        return self.kin.position()[self.blow.struck] + self.kin.R[self.blow.struck] @ self.blow.point

    @cached_property
    def joined(self) -> float:
        """0..1 how far muscles have brought in the rest of the body."""
        return min(self.blow.lasting / TAUT, 1.0)

    @cached_property
    def speed(self) -> float:
        """[m/s] at which the thing comes, per newton second."""
        whole = 1.0 / float(self.model.inertia[:, 5, 5].sum())
        return 1.0 / self.mass + whole + (1.0 / CHEST - whole) / (1.0 + self.blow.lasting / TAUT)

    @cached_property
    def way(self) -> float:
        """[m] that it goes while the contact lasts."""
        return self.blow.contact * self.speed * abs(self.blow.impulse)

    def light(self, body: int, at: Array) -> float:
        """[1/kg] of a place (3,) of a body along the blow."""
        n = self.blow.direction
        return float(n @ effective_inverse(self.model, self.kin, body, at, self.Z) @ n)

    def given(self, light: float) -> float:
        """Part of the impulse that a place takes which is so light [1/kg]."""
        part = self.speed / (1.0 / self.mass + light)
        return part - self.joined * max(part - 1.0, 0.0)

    @cached_property
    def own(self) -> float:
        """Part that the struck point takes by itself."""
        return self.given(self.light(self.blow.struck, self.at))

    @property
    def _none(self) -> Passed:
        return 0.0, -1, self.at

    def touched(self, flesh: Flesh | None) -> Passed:
        """What goes through the struck part on what that lies on.

        Two that touch go on as one along the normal n between them, without friction: the struck point is less light
        by c^2 / w, where c is how fast a unit blow closes them and w is n Lambda^-1 n of the two.  What is apart is met
        later in the striker's way, and takes as much less.  Of several pairs it is the one that holds most.
        """
        found = [self._none]
        if flesh is None or not self.way > 0.0:
            return found[0]
        model, kin, (one, other) = self.model, self.kin, flesh.capsules.bodies[flesh.pairs.T]
        push = np.sign(self.blow.impulse) * self.blow.direction
        u = response(model, kin, self.blow.struck, self.at, push, self.Z)
        depth, normal, points = flesh.capsules.nearest(flesh.capsules.cores(kin), flesh.pairs)
        moved = with_twist(model, kin, model.expand(u)).V
        closing = -dot(normal, flesh.capsules.relative(points, flesh.pairs, moved))
        light = self.light(self.blow.struck, self.at)
        meets = np.maximum(-depth, 0.0) * light / self.way  # how fast what is apart must close to meet
        for k in np.flatnonzero(closing > np.maximum(meets, ROUND_OFF * light)):
            at = points[k] + kin.origin
            rows = [normal[k] @ point_jacobian(model, kin, int(body), at) for body in (one[k], other[k])]
            apart = rows[0] - rows[1]
            w = float(apart @ solve(inertia(model, kin, self.Z), apart))
            part = 1.0 - float(meets[k] / closing[k])
            more = self.given(light - part * float(closing[k]) ** 2 / w) - self.own
            found.append((more, int(other[k] if abs(rows[0] @ u) > abs(rows[1] @ u) else one[k]), at))
        return max(found, key=lambda each: each[0])

    def pressed(self) -> Passed:
        """What the trunk takes in a contact that lasts, once an arm has given way: what it would if struck itself, as
        near its middle as the striker is wide.  That comes in little by little, for what is over at once is told for
        a chest alone."""
        blow, kin = self.blow, self.kin
        behind, root = _behind(self.actor, kin, blow.struck, self.at)
        if behind < 0 or not blow.lasting or not self.way > 0.0:
            return self._none
        middle = kin.position()[behind] + 0.5 * kin.R[behind] @ self.actor.axis[behind]
        far, wide = float(np.linalg.norm(middle - root)), float(np.cbrt(0.75 * self.mass / (np.pi * DENSITY)))
        late = min(YIELDS * float(np.linalg.norm(self.at - root)) / self.way, 1.0)
        at = root + min(wide / max(far, 1e-9), 1.0) * (middle - root)
        more = self.given(self.light(behind, at)) - self.own
        return self.joined * (1.0 - late) * max(more, 0.0), behind, at


def _behind(actor: Actor, kin: Kinematics, struck: int, at: Array) -> tuple[int, Array]:
    """The body of the trunk on which an arm, or what it holds, presses, and where (3,), world; -1 for all else."""
    up = [(i, base_role(actor.roles[i])) for i in upward(actor.parent, struck)]
    arm = [i for i, role in up if role in ARM]
    trunk = [i for i, role in up if role not in (*LIMB, "", "helper")]
    if not trunk or not any(role in LIMB for _, role in up):
        return -1, at
    return trunk[0], kin.position()[arm[-1]] if arm else at
