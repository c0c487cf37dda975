"""Ranges of joints without tone: a limp body lies and folds as far as joints go, not as far as its clip's pose would.

Hips and shoulders have their range about the middle of what anatomy allows; trunk, neck, hands and feet about the pose
in which they went limp.  What muscles can do at the end of a range, a limp joint can't: hips and ankles fold less than
in a squat, and knees of figures on four legs, so that they come to rest on their side.
"""

from dataclasses import replace

import numpy as np

from . import joint_limits
from .actor import Actor
from .forces import Force, Limit, SwingTwist
from .forces.step import unknown
from .hinges import Hinges
from .ranges import Ranges, own
from .reference import Reference
from .roles import base_role
from .rotation import Array, between, conjugate, multiply, rotate

FREE = 0.85  # part of a range in which nothing resists
WIDER = 1.5  # times the range that a tense body uses
# Of a biped: where the limb points in the middle of its range [side, forward, up], and half of the range: swing forward
# and back, swing sideways, twist [deg].
MIDDLE = {"upper_arm": (0.75, 0.4, -0.55), "thigh": (0.25, 0.5, -0.87)}
ALONG = {"upper_arm": 0.2, "forearm": 0.0, "thigh": 0.05, "shin": 0.0}  # how far limbs point aside that lie along
STRETCHED = (*ALONG, "spine", "neck", "head", "clavicle", "hand")  # what is straight in a body that lies stretched
BALL = {"upper_arm": (95.0, 85.0, 80.0), "thigh": (55.0, 50.0, 45.0)}
FOLDED: Ranges = {"foot": (35.0,)}  # about how it stood [deg]
CROUCHED: Ranges = {"shin": (-2.0, 100.0)}  # of other figures, calf on thigh
BEARS = {"foot": 0.15, "shin": 0.3}  # [rad] within which legs' ends hold a body's weight: tendons, and calf on thigh
FLESH = 0.05  # [s] of their dampers: both chosen
STANDING = (60.0, 35.0, 35.0)  # of other figures' limbs, about how they stand


def limits(
    actor: Actor, reference: Reference, moving: np.ndarray, inertia: Array, hinges: Hinges, bent: Array, said: Ranges,
    ease: Array | float = 1.0,
) -> list[Force]:  # fmt: skip
    """Limits of the bodies that move, never narrower than the clip that the body follows, whose hinges are bent (K, h);
    said, ease: as in `joint_limits.ends`.

    moving: (n,) without the free base, which has no joint.
    """
    folded = FOLDED if _biped(actor) else {**FOLDED, **CROUCHED}
    limit = joint_limits.ends(actor, moving, inertia, hinges, {**folded, **said}, WIDER, ease).about(bent)
    out: list[Force] = [_bearing(actor, replace(limit, soft=FREE))]
    if balls := joint_limits.balls(actor, moving, inertia, said, ease):
        roles = [actor.roles[i] for i in balls.bodies]
        ranges = [own(said, role) or (BALL[base_role(role)] if _biped(actor) else STANDING) for role in roles]
        half = np.radians(np.array(ranges))
        wide = replace(balls, soft=FREE, swing=half[:, :2], twist=half[:, [2, 2]] * [-1.0, 1.0])
        out.append(SwingTwist.of_rest(reference, wide, _middle(actor, balls.bodies)))
    if stops := joint_limits.end_stops(actor, moving, inertia, reference, ease):
        out.append(stops)
    return out


def _bearing(actor: Actor, limit: Limit) -> Limit:
    """With legs' ends that hold the weight of the body over them: what turns about a foot that stands is all else, and
    stops made for a foot of a kilogram, or a shin of four, let them fold flat."""
    give = np.array([BEARS.get(base_role(actor.roles[i]), np.inf) for i in limit.bodies])
    bears = np.isfinite(give)
    weight = float(actor.masses.mass.sum()) * abs(float(actor.gravity[2]))
    over = np.linalg.norm(actor.axis[actor.parent[limit.bodies]], axis=-1)
    stiffness = np.maximum(limit.stiffness, weight * over / give)
    damping = np.maximum(limit.damping, np.where(bears, FLESH * stiffness, 0.0))
    known = limit.swift or unknown(len(bears))
    swift = replace(known, rate=np.where(bears, np.inf, known.rate), pace=np.where(bears, np.inf, known.pace))
    return replace(limit, stiffness=stiffness, damping=damping, swift=swift)


def straight(actor: Actor) -> tuple[np.ndarray, Array]:
    """(bodies (m,), joint rotations (m, 4)) of a body that lies stretched: the trunk as at rest, a biped's limbs along
    it."""
    skeleton, anatomy = actor.skeleton, actor.anatomy
    world = np.empty((len(actor.names), 4))
    bodies, joints = [], []
    for body, role in enumerate(actor.roles):
        bone, above = actor.order[body], int(actor.parent[body])
        if above < 0:
            world[body] = skeleton.rotation[bone]
            continue
        rest = multiply(conjugate(skeleton.rotation[actor.order[above]]), skeleton.rotation[bone])
        world[body] = multiply(world[above], rest)
        if base_role(role) in ALONG and _biped(actor):
            outward = anatomy.left if role.endswith(".L") else -np.asarray(anatomy.left)
            along = ALONG[base_role(role)] * outward - np.asarray(anatomy.up)
            world[body] = multiply(between(rotate(world[body], actor.masses.axis[bone]), along), world[body])
        if base_role(role) in STRETCHED:
            bodies.append(body)
            joints.append(multiply(conjugate(world[above]), world[body]))
    return np.array(bodies, dtype=int), np.array(joints).reshape(-1, 4)


def _middle(actor: Actor, bodies: np.ndarray) -> Array:
    """(m, 4) joint rotations in the middle of the range."""
    skeleton, anatomy = actor.skeleton, actor.anatomy
    out = np.empty((len(bodies), 4))
    for k, body in enumerate(bodies):
        bone, above = actor.order[body], actor.order[actor.parent[body]]
        turn = skeleton.rotation[bone]
        if _biped(actor):
            side, forward, up = MIDDLE[base_role(actor.roles[body])]
            outward = anatomy.left if actor.roles[body].endswith(".L") else -np.asarray(anatomy.left)
            wanted = side * outward + forward * np.asarray(anatomy.forward) + up * np.asarray(anatomy.up)
            turn = multiply(between(rotate(turn, actor.masses.axis[bone]), wanted), turn)
        out[k] = multiply(conjugate(skeleton.rotation[above]), turn)
    return out


def _biped(actor: Actor) -> bool:
    return actor.anatomy.kind == "biped"
