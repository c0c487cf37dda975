"""Where a figure touches things: a few points of its surface, fixed in its bodies."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import segments
from .actor import Actor
from .forces.ground import tangents
from .roles import base_role
from .rotation import Array, conjugate, exp, multiply, rotate
from .skinning import Skinned
from .spatial import inertia
from .tuning import upward

DIRECTIONS, CHUNK = 1024, 64  # in which the skin's extent is measured, and so many of them at once
SHORT = 0.003  # [m] that the chosen points may fall short of it in any of these
LEAST = 0.02  # part of a point that a body moves from where on it counts
BENT = 1.6  # [rad] of all joints, to see how skin of several bodies moves
WEIGHS = 1.0  # [kg] of each metre of what hands hold: about a sword; chosen
HOLDING = ("hand", "finger")
ACROSS = 16  # directions across a body in which its width is measured


@dataclass(frozen=True, eq=False)
class Points:
    """m points of the surface, by ascending body.  held: (m,) bool, of a prop."""

    skin: Skinned
    held: np.ndarray

    @property
    def bodies(self) -> np.ndarray:
        """(m,) the body that moves each most."""
        return self.skin.owners

    @property
    def places(self) -> Array:
        """(m, 3) where that would have it, body frame [m]."""
        return np.asarray(self.skin.places[self.skin.first])

    @cached_property
    def figure(self) -> "Points":
        """Those of the figure itself, without what its hands hold."""
        own = ~self.held
        return Points(self.skin.chosen(own), self.held[own])

    def world(self, q: Array, p: Array) -> Array:
        """(..., m, 3) for world poses (..., n, 4), (..., n, 3)."""
        return self.skin.world(q, p)


def points(actor: Actor) -> Points:
    """As few points of each body's skin as reach as far as that in every direction and bend of its joints, within
    SHORT; a capsule's where a figure has no skin, or on less than half of its bodies.  Else a body without any has no
    surface: a foot whose boot hangs on the shin.

    Bones without mass (twist bones, props) are bodies that follow the clip on what carries them; what stands above the
    pelvis is none.
    """
    around = sphere(DIRECTIONS)
    masses = actor.masses
    parts = [] if actor.skeleton.skin is None else _skins(actor, around)
    solid = np.flatnonzero(masses.mass[actor.order] > 0.0)
    shown = [int(part.owners[0]) for part in parts]
    if 2 * np.isin(solid, shown).sum() < len(solid):
        for body in sorted({*solid.tolist()} - {*shown}):
            ends = np.stack((np.zeros(3), actor.axis[body]))
            side = np.argmax(around @ ends.T, axis=1)
            places = ends[side] + masses.radius[actor.order[body]] * around
            places = places[_extreme(places, around)]
            places = places[_outermost(places[None], around)]
            parts.append(Skinned.rigid(np.full(len(places), body), places))
    skin = Skinned.joined(sorted(parts, key=lambda part: int(part.owners[0])))
    carrier = segments.homes(actor.anatomy, masses.mass > 0.0)
    return Points(skin, carrier[actor.order[skin.owners]] < 0)


def weighing(actor: Actor, surface: Points) -> Array:
    """(n, 6, 6) spatial inertia of what hands hold that has no mass of its own, WEIGHS as boxes around its surface."""
    out = np.zeros((len(actor.names), 6, 6))
    for body in np.unique(surface.bodies[surface.held]):
        if not any(base_role(actor.roles[i]) in HOLDING for i in upward(actor.parent, int(body))):
            continue
        at = surface.places[surface.held & (surface.bodies == body)]
        off = at - at.mean(axis=0)
        _, R = np.linalg.eigh(off.T @ off)  # a point for each way out is few, but they are as long as it is
        low, high = (limit(at @ R, axis=0) for limit in (np.min, np.max))
        size = high - low
        mass, square = WEIGHS * float(size.max()), size**2
        about = R @ np.diag(mass / 12.0 * (square.sum() - square)) @ R.T
        out[body] = inertia(np.array(mass), R @ (0.5 * (low + high)), about)
    return out


def _skins(actor: Actor, around: Array) -> list[Skinned]:
    """The points of each body that has any skin; what is its own alone lies in it the same in every pose."""
    skin, poses, out = _whole(actor), _bends(actor), []
    single = np.bincount(skin.points) == 1
    for body in np.unique(skin.owners):
        own = [np.flatnonzero((skin.owners == body) & (single == alone)) for alone in (True, False)]
        found: list[np.ndarray] = []
        for which, several in zip(own, (poses[:1], poses), strict=True):
            seen = [_seen(skin.chosen(which), body, pose) for pose in several if len(which)]
            found += [which[_extreme(places, around)] for places in seen]
        which = np.unique(np.concatenate(found))
        some = skin.chosen(which)
        out.append(some.chosen(_outermost(np.array([_seen(some, body, pose) for pose in poses]), around)))
    return out


def _seen(skin: Skinned, body: int, pose: tuple[Array, Array]) -> Array:
    """(m, 3) where points are in a world pose (n, 4), (n, 3), frame of a body."""
    q, p = pose
    return rotate(conjugate(q[body]), skin.world(q, p) - p[body])


def _whole(actor: Actor) -> Skinned:
    """All points of the skin that a body moves, each by the bodies that have LEAST of it or more."""
    skin, skeleton, n = actor.skeleton.skin, actor.skeleton, len(actor.names)
    assert skin is not None
    bones = skin.owner[:, None] if skin.bones is None else skin.bones
    weights = np.ones(bones.shape) if skin.weights is None else skin.weights
    home = segments.homes(actor.anatomy, actor.masses.mass > 0.0)
    home = np.where(_above(actor, home), home, np.arange(len(home)))
    bodies = np.where((bones >= 0) & (weights > 0.0), actor.body[home[bones]], -1)
    point, column = np.nonzero(bodies >= 0)
    keys, which = np.unique(point * n + bodies[point, column], return_inverse=True)
    shares = np.bincount(which.reshape(-1), weights[point, column], minlength=len(keys))
    point, body = np.divmod(keys, n)
    order = np.lexsort((-shares, point))
    point, body, share = point[order], body[order], shares[order]
    first = np.diff(point, prepend=-1) > 0
    kept = first | (share >= LEAST * np.bincount(point, share)[point])
    point, body, share = point[kept], body[kept], share[kept]
    bone, vertices = actor.order[body], skin.vertices[point]
    places = rotate(conjugate(skeleton.rotation[bone]), (vertices - skeleton.head[bone]) * actor.masses.scale)
    return Skinned(np.flatnonzero(first[kept]), body, actor.sign * places, share / np.bincount(point, share)[point])


def _bends(actor: Actor) -> list[tuple[Array, Array]]:
    """World poses (n, 4), (n, 3) at rest and with all joints bent BENT, about each axis both ways."""
    rest, head = actor.skeleton.rotation[actor.order], actor.skeleton.head[actor.order] * actor.masses.scale
    head, out = actor.sign * head, []
    for turn in (np.zeros(3), *(BENT * np.concatenate((np.eye(3), -np.eye(3))))):
        q, p = rest.copy(), head.copy()
        turned = np.tile(exp(np.zeros(3)), (len(rest), 1))
        for i, above in enumerate(actor.parent):
            if above >= 0:
                turned[i] = multiply(turned[above], exp(turn))
                p[i] = p[above] + rotate(turned[above], head[i] - head[above])
                q[i] = multiply(turned[i], rest[i])
        out.append((q, p))
    return out


def _above(actor: Actor, home: np.ndarray) -> np.ndarray:
    """(n,) bool: bones that carry the one that their skin belongs to."""
    out = np.zeros(len(home), dtype=bool)
    for bone in np.unique(home[home >= 0]):
        above = actor.anatomy.parent[bone]
        while above >= 0:
            out[above] |= home[above] == bone
            above = actor.anatomy.parent[above]
    return out


def _extreme(places: Array, around: Array) -> np.ndarray:
    """Indices of the places (V, 3) that are outermost in any of the directions (D, 3)."""
    parts = np.array_split(around, -(-len(around) // CHUNK))
    return np.unique([np.argmax(part @ places.T, axis=1) for part in parts])


def _outermost(places: Array, around: Array) -> np.ndarray:
    """(m,) indices of the places (P, V, 3) in several poses: one after the other the one that most sticks out of those
    before, in any of them; around: (D, 3)."""
    reach = (around @ places.swapaxes(-1, -2)).reshape(-1, places.shape[1])
    whole, chosen = reach.max(axis=1), [int(np.argmax(reach[0]))]
    short = whole - reach[:, chosen[0]]
    while short.max() > SHORT:
        chosen.append(int(np.argmax(reach[np.argmax(short)])))
        short = np.minimum(short, whole - reach[:, chosen[-1]])
    return np.array(sorted(chosen))


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
