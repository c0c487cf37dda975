"""Where a figure touches things: a few points of its surface, fixed in its bodies."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import segments
from .actor import Actor
from .forces.ground import tangents
from .rotation import Array, conjugate, rotate

DIRECTIONS, CHUNK = 512, 64  # in which the skin's extent is measured, and so many of them at once
SHORT = 0.003  # [m] that the chosen points may fall short of it in any of these
ACROSS = 16  # directions across a body in which its width is measured


@dataclass(frozen=True, eq=False)
class Points:
    """m points of the surface.  bodies: (m,) ascending.  places: (m, 3) body frame [m].  held: (m,) bool, of a prop."""

    bodies: np.ndarray
    places: Array
    held: np.ndarray

    @cached_property
    def figure(self) -> "Points":
        """Those of the figure itself, without what its hands hold."""
        own = ~self.held
        return Points(self.bodies[own], self.places[own], self.held[own])

    def world(self, q: Array, p: Array) -> Array:
        """(..., m, 3) for world poses (..., n, 4), (..., n, 3)."""
        return p[..., self.bodies, :] + rotate(q[..., self.bodies, :], self.places)


def points(actor: Actor) -> Points:
    """As few points of each body's skin as reach as far as that in every direction, within SHORT; a capsule's where a
    figure has no skin, or on less than half of its bodies.  Else a body without any has no surface: a foot whose boot
    hangs on the shin.

    Bones without mass (twist bones, props) are bodies that follow the clip on what carries them; what stands above the
    pelvis is none.
    """
    around = sphere(DIRECTIONS)
    skin, masses = actor.skeleton.skin, actor.masses
    found: dict[int, Array] = {}
    if skin is not None:
        home = segments.homes(actor.anatomy, masses.mass > 0.0)
        home = np.where(_above(actor, home), home, np.arange(len(home)))
        owner = np.where(skin.owner >= 0, home[skin.owner], -1)
        for bone in np.unique(owner[owner >= 0]).tolist():
            own = skin.vertices[owner == bone] - actor.skeleton.head[bone]
            own = rotate(conjugate(actor.skeleton.rotation[bone]), own * masses.scale) * actor.sign
            found[bone] = _outermost(own, around)
    solid = np.flatnonzero(masses.mass > 0.0)
    bare = [] if 2 * np.isin(solid, list(found)).sum() >= len(solid) else solid.tolist()
    for bone in bare:
        if bone not in found:
            ends = np.stack((np.zeros(3), actor.sign * masses.axis[bone]))
            side = np.argmax(around @ ends.T, axis=1)
            found[bone] = _outermost(ends[side] + masses.radius[bone] * around, around)
    order = sorted(found, key=lambda bone: int(actor.body[bone]))
    bones = np.repeat(order, [len(found[bone]) for bone in order]).astype(int)
    held = segments.homes(actor.anatomy, masses.mass > 0.0)[bones] < 0
    return Points(actor.body[bones], np.concatenate([found[bone] for bone in order]), held)


def _above(actor: Actor, home: np.ndarray) -> np.ndarray:
    """(n,) bool: bones that carry the one that their skin belongs to."""
    out = np.zeros(len(home), dtype=bool)
    for bone in np.unique(home[home >= 0]):
        above = actor.anatomy.parent[bone]
        while above >= 0:
            out[above] |= home[above] == bone
            above = actor.anatomy.parent[above]
    return out


def _outermost(places: Array, around: Array) -> Array:
    """(m, 3) of the places (V, 3): one after the other the one that most sticks out of those before; around: (D, 3)."""
    parts = np.array_split(around, -(-len(around) // CHUNK))
    places = places[np.unique(np.concatenate([np.argmax(part @ places.T, axis=1) for part in parts]))]
    reach = around @ places.T
    whole, chosen = reach.max(axis=1), [int(np.argmax(reach[0]))]
    short = whole - reach[:, chosen[0]]
    while short.max() > SHORT:
        chosen.append(int(np.argmax(reach[np.argmax(short)])))
        short = np.minimum(short, whole - reach[:, chosen[-1]])
    return places[sorted(chosen)]


def thickness(actor: Actor, points: Points) -> Array:
    """(n,) [m] half of the least width of bodies across their axes; inf where they have none."""
    out = np.full(len(actor.names), np.inf)
    turn = np.linspace(0.0, np.pi, ACROSS, endpoint=False)
    for body in np.unique(points.bodies[np.any(actor.axis[points.bodies], axis=-1)]):
        side = np.stack(tangents(actor.axis[body] / np.linalg.norm(actor.axis[body])))
        around = np.cos(turn)[:, None] * side[0] + np.sin(turn)[:, None] * side[1]
        out[body] = 0.5 * np.ptp(points.places[points.bodies == body] @ around.T, axis=0).min()
    return out


def sphere(count: int) -> Array:
    """(count, 3) unit vectors spread evenly (Fibonacci's lattice)."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    turn = np.pi * (1.0 + np.sqrt(5.0)) * k
    across = np.sqrt(1.0 - z * z)
    return np.stack((across * np.cos(turn), across * np.sin(turn), z), axis=-1)


def floor(points: Points, q: Array, p: Array) -> float:
    """Height of the floor [m] under world poses (T, n, 4), (T, n, 3): what the lowest point keeps to most of the time.

    The tenth part of the frames in which it is lowest is left out: a toe that dips into the floor doesn't move it.  No
    prop tells: swords are drawn through floors.
    """
    lowest = points.figure.world(q, p)[..., 2].min(axis=-1)
    return float(np.quantile(lowest, 0.1))
