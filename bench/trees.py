"""Trees of 22, 65 and 200 bones with a free base: a human, the same with fingers and face, and with hair and cloth.

Every scene has what the default integrator carries in a reaction: muscles, limits (cones, hinges) and a moving clip.
"""

from dataclasses import dataclass

import numpy as np

from core.dynamics import kinematics, with_twist
from core.dynamics.inverse import of_motion
from core.forces import Limit, Muscle
from core.model import FREE, SPHERICAL, Model, State
from core.reference import Reference, build
from core.rotation import exp, multiply
from core.simulate import Run
from core.spatial import inertia
from core.springs import inertias

SIZES = (22, 65, 200)
BATCH = 64
H = 1.0 / 120.0
GRAVITY = np.array([0.0, 0.0, -9.81])
FREQUENCY, RATIO = 1.6, 0.65  # as in the situations
LIMIT_FREQUENCY, CONE = 9.0, np.radians(40.0)

LIMBS = {  # name: (parent, length [m], mass [kg]); `.L` stands for both sides
    "pelvis": (None, 0.1, 9.0),
    "spine.1": ("pelvis", 0.15, 8.0),
    "spine.2": ("spine.1", 0.15, 8.0),
    "chest": ("spine.2", 0.2, 9.0),
    "neck": ("chest", 0.1, 1.2),
    "head": ("neck", 0.2, 4.3),
    "clavicle.L": ("chest", 0.15, 0.8),
    "upper_arm.L": ("clavicle.L", 0.28, 2.1),
    "forearm.L": ("upper_arm.L", 0.26, 1.3),
    "hand.L": ("forearm.L", 0.1, 0.5),
    "thigh.L": ("pelvis", 0.43, 10.0),
    "shin.L": ("thigh.L", 0.43, 3.4),
    "foot.L": ("shin.L", 0.15, 1.0),
    "toe.L": ("foot.L", 0.07, 0.2),
}
HINGED = ("forearm", "shin")


def table(count):
    """Rows name -> (parent, length, mass) of a tree with so many bones."""
    rows = dict(LIMBS)
    if count > 22:
        rows |= {"jaw": ("head", 0.08, 0.4), "eye.L": ("head", 0.02, 0.02)}
        for finger in range(5):
            rows |= _chain("finger{}.{}.L".format(finger, "{}"), "hand.L", 4, 0.03, 0.02)
    rows = _both_sides(rows)
    strand, places = 0, [name for name in rows if name in ("head", "chest", "pelvis", "spine.2")]
    while len(rows) < count:
        length = min(5, count - len(rows))
        rows |= _chain("strand{}.{}".format(strand, "{}"), places[strand % len(places)], length, 0.06, 0.05)
        strand += 1
    if len(rows) != count:
        raise ValueError("table: {} bones wanted, {} is the least".format(count, len(rows)))
    return rows


def _chain(names, parent, count, length, mass):
    out = {}
    for i in range(count):
        out[names.format(i)] = (parent if i == 0 else names.format(i - 1), length, mass)
    return out


def _both_sides(rows):
    out = dict(rows)
    for name, (parent, length, mass) in rows.items():
        if name.endswith(".L"):
            out[name[:-1] + "R"] = (parent[:-1] + "R" if parent.endswith(".L") else parent, length, mass)
    return out


def model(count):
    """(Model, joint places (n, 3)): rods along z, each hung at the end of its parent."""
    rows = table(count)
    names = tuple(rows)
    parent = np.array([names.index(p) if p else -1 for p, _, _ in rows.values()])
    length = np.array([size for _, size, _ in rows.values()])
    mass = np.array([kilos for _, _, kilos in rows.values()])
    com = np.stack((np.zeros(count), np.zeros(count), 0.5 * length), axis=-1)
    across = mass * (length**2 / 12.0 + (0.15 * length) ** 2)
    about = np.zeros((count, 3, 3))
    about[:, 0, 0], about[:, 1, 1], about[:, 2, 2] = across, 1.1 * across, 0.3 * across
    place = np.where(parent[:, None] < 0, 0.0, 2.0 * com[parent])
    place[0] = [0.0, 0.0, 1.0]
    return Model(names, parent, (FREE, *[SPHERICAL] * (count - 1)), inertia(mass, com, about)), place


@dataclass(frozen=True)
class Scene:
    """A tree on a clip, off it by a few degrees, with what acts on it."""

    model: Model
    reference: Reference
    forces: list
    run: Run

    def with_forces(self, *forces):
        return Scene(self.model, self.reference, list(forces), self.run)


def scene(count, batch=0, seconds=0.5, h=H, off=0.1):
    """The scene of a size, `off` [rad] the clip; batch: states side by side, 0 = one without a leading axis."""
    rng = np.random.default_rng(count)
    body, place = model(count)
    times = np.arange(0.0, seconds + 0.4, 1.0 / 24.0)
    phase, rate = rng.uniform(0.0, 6.0, (count, 3)), rng.uniform(2.0, 6.0, (count, 3))
    turn = 0.15 * np.sin(rate * times[:, None, None] + phase)
    turn[:, 0] += 0.3
    reference = build(times, exp(turn), np.tile(place, (len(times), 1, 1)), 0.1, round(seconds / h), h)
    shape = (batch, count) if batch else (count,)
    start = reference.state(0)
    turned = off * rng.normal(size=shape + (3,)) / np.sqrt(3.0)
    faster = 5.0 * off * rng.normal(size=shape + (3,))
    faster = np.concatenate((faster, np.zeros_like(faster)), axis=-1)
    position = np.broadcast_to(start.position, shape + (3,)).copy()
    state = State(multiply(np.broadcast_to(start.rotation, shape + (4,)), exp(turned)), position, start.twist + faster)
    return Scene(body, reference, forces(body, reference), Run(0, state))


def forces(body, reference):
    """Muscles on every joint, cones and hinge ranges as limits; as `core.springs` makes them."""
    kin = kinematics(body, State(reference.rotation[:-1:20], reference.position[:-1:20], reference.twist[::20]))
    carried, n = inertias(body, kin).own, body.n
    omega = 2.0 * np.pi * FREQUENCY
    moving = with_twist(body, kinematics(body, reference.arrivals), reference.passing())
    feed_forward = of_motion(body, moving, reference.acceleration, np.zeros(3))
    K, D = omega**2 * carried, 2.0 * RATIO * omega * carried
    rate, pace = np.full(n, 2.0 * RATIO * omega), np.full(n, omega)
    muscle = Muscle(K, D, np.ones((reference.steps, 1)), np.full(n, np.inf), np.ones(n), feed_forward, rate, pace)
    hinged = np.array([name.split(".")[0] in HINGED for name in body.names])
    return [muscle, _limit(reference, carried, hinged)]


def _limit(reference, carried, hinged):
    bodies = np.arange(1, len(hinged))
    omega = 2.0 * np.pi * LIMIT_FREQUENCY
    size = np.trace(carried[bodies, :3, :3], axis1=-2, axis2=-1) / 3.0
    wide = np.full((reference.steps + 1, len(bodies)), CONE)
    axes = hinged[bodies, None] * np.array([1.0, 0.0, 0.0])
    return Limit(bodies, axes, -wide, wide, 0.6, omega**2 * size, 2.0 * 0.7 * omega * size)
