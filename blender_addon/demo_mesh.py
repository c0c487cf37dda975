"""The demo character's body: half a control cage, mirrored and subdivided with numpy.

The cage is lofted from rings of control points. Every control point carries its bone weights as further
coordinates, so Catmull-Clark makes the surface and the skin weights smooth in one go; its masks are convex,
so weights stay positive and their sum stays 1. Metres; the figure faces -Y and its left side is +X.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from .demo_shape import (
    ARM,
    ARMPIT,
    EAR_BAND,
    FINGER_LENGTHS,
    HAIR,
    HAIR_SHELL,
    LEG,
    LUMPS,
    SHOES,
    SKIN,
    THUMB_BAND,
    TRUNK,
)
from .demo_skeleton import JOINTS


@dataclass
class Cage:
    """Control points with weights, and faces counter-clockwise from outside."""

    points: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    faces: list = field(default_factory=list)
    materials: list = field(default_factory=list)

    def add(self, points, weights):
        """Add control points that share `weights` (or one dict each); return their indices."""
        first = len(self.points)
        self.points.extend(np.asarray(point, float) for point in points)
        shared = isinstance(weights, dict)
        self.weights.extend(weights if not shared else [weights] * len(points))
        return list(range(first, len(self.points)))

    def face(self, material, *indices):
        self.faces.append(indices)
        self.materials.append(material)

    def bridge(self, ring, following, material):
        """Close a band between two rings that run clockwise seen from the far end."""
        for k in range(len(ring)):
            n = (k + 1) % len(ring)
            self.face(material, ring[k], following[k], following[n], ring[n])

    def extrude(self, quad, steps, weights, material):
        """Grow a closed tube from face `quad` (removed) through four points a step."""
        at = self.faces.index(tuple(quad))
        del self.faces[at], self.materials[at]
        ring = list(quad)
        for points in steps:
            grown = self.add(points, weights)
            for k in range(4):
                n = (k + 1) % 4
                self.face(material, ring[k], ring[n], grown[n], grown[k])
            ring = grown
        self.face(material, *ring)


def unit(vector):
    return np.asarray(vector, float) / np.linalg.norm(vector)


def _trunk_points(row):
    """Nine points of half a trunk ring, from the front middle over the left side to the back."""
    z_front, z_back, y_front, y_back, half, square, lift = row[:7]
    angle = np.linspace(0.0, np.pi, 9)
    across = np.abs(np.sin(angle)) ** (2 / square)
    along = np.sign(np.cos(angle)) * np.abs(np.cos(angle)) ** (2 / square)
    across[[0, 8]] = along[4] = 0.0
    back = (1 - along) / 2
    z = z_front + (z_back - z_front) * back + lift * across**2
    return np.stack([half * across, y_front + (y_back - y_front) * back, z], axis=1)


def _trunk_weights(level, base):
    """Weights of the nine points: hips and shoulders take part of the limb's bone towards the side."""
    side = np.sin(np.linspace(0.0, np.pi, 9))
    limb = {0: ("thigh.L", 0.55), 1: ("thigh.L", 0.12), ARMPIT + 1: ("clavicle.L", 0.35),
            ARMPIT + 2: ("clavicle.L", 0.65), ARMPIT + 3: ("clavicle.L", 0.70),
            ARMPIT + 4: ("clavicle.L", 0.20)}.get(level)
    if limb is None:
        return [base] * 9
    share = limb[1] * side
    return [{**{b: w * (1 - s) for b, w in base.items()}, limb[0]: s} for s in share]


def _trunk(cage):
    """Loft torso, neck and head; return the rings."""
    rings = [cage.add(_trunk_points(row), _trunk_weights(level, row[8])) for level, row in enumerate(TRUNK)]
    for level in range(len(rings) - 1):
        lower, upper = rings[level], rings[level + 1]
        for c in range(8):
            if ARMPIT <= level < ARMPIT + 3 and c in (3, 4):
                continue
            cage.face(TRUNK[level][7], lower[c], lower[c + 1], upper[c + 1], upper[c])
    crown = cage.add([(0.0, 0.0, 1.766)], {"head": 1})[0]
    for c in range(8):
        cage.face(SKIN, rings[-1][c], rings[-1][c + 1], crown)
    return rings


def _hair(cage):
    """A closed shell around the skull: the hairline is where it comes out of the head."""
    rings = [cage.add(_trunk_points((*row, 2.1, 0.0)), {"head": 1}) for row in HAIR_SHELL]
    for lower, upper in pairwise(rings):
        for c in range(8):
            cage.face(HAIR, lower[c], lower[c + 1], upper[c + 1], upper[c])
    bottom, top = cage.add([(0.0, 0.070, 1.625), (0.0, -0.005, 1.787)], {"head": 1})
    for c in range(8):
        cage.face(HAIR, rings[0][c + 1], rings[0][c], bottom)
        cage.face(HAIR, rings[-1][c], rings[-1][c + 1], top)


def _ear(cage, rings):
    lower, upper = rings[EAR_BAND], rings[EAR_BAND + 1]
    quad = (lower[4], lower[5], upper[5], upper[4])
    at = np.array([cage.points[i] for i in quad])
    middle = at.mean(axis=0)
    lobe = middle + (at - middle) * (1, 0.75, 1.0)
    rim = middle + (at - middle) * (1, 0.95, 1.45)
    cage.materials[cage.faces.index(quad)] = SKIN
    cage.extrude(quad, [lobe + (0.010, 0.004, 0), rim + (0.022, 0.014, 0.004)], {"head": 1}, SKIN)


def _leg(cage, hip_ring):
    inner = [(0.0, y, 0.828) for y in (0.070, 0.010, -0.050)]
    ring = hip_ring + cage.add(inner, {"pelvis": 1})
    angle = np.radians(-30 + 30 * np.arange(12))
    for x, z_front, z_back, y_front, y_back, half, material, weights in LEG:
        back = (1 - np.cos(angle)) / 2
        points = np.stack([x + half * np.sin(angle), y_front + (y_back - y_front) * back,
                           z_front + (z_back - z_front) * back], axis=1)
        following = cage.add(points, weights)
        cage.bridge(ring, following, material)
        ring = following
    for k in range(6):                                                   # close the tip of the shoe in strips
        corners = (ring[k + 1], ring[k], ring[-k], ring[11 - k])
        cage.face(SHOES, *dict.fromkeys(corners))


def bone_frame(bone):
    """Head, length and axes (front, back of the hand, along) of a left arm bone."""
    head, tail = (np.array(p) for p in JOINTS[bone])
    along = unit(tail - head)
    back = unit(np.cross((0.0, -1.0, 0.0), along))
    return head, np.linalg.norm(tail - head), np.cross(along, back), back, along


def _arm(cage, rings):
    a, b, c, d = rings[ARMPIT:ARMPIT + 4]
    ring = [c[3], d[3], d[4], d[5], c[5], b[5], a[5], a[4], a[3], b[3]]
    angle = np.radians(18 + 36 * np.arange(10))
    for level, (bone, place, depth, thick, material, weights) in enumerate(ARM):
        head, length, front, back, along = bone_frame(bone)
        if level == 0:                                                  # the shoulder faces between out and down
            back = unit(np.cross((0.0, -1.0, 0.0), along + (1.0, 0.0, 0.0)))
        flat = 1.0 if bone != "hand.L" else 0.7                          # squarer cross-section for the hand
        s, t = np.cos(angle), np.sin(angle)
        t = np.sign(t) * np.abs(t) ** flat
        centre = head + along * length * place
        following = cage.add(centre + np.outer(s * depth, front) + np.outer(t * thick, back), weights)
        cage.bridge(ring, following, material)
        if level == THUMB_BAND:
            thumb = (ring[9], following[9], following[0], ring[0])
        ring = following
    _fingers(cage, ring)
    _thumb(cage, thumb)


def _curl(points, direction, axis, lengths, bends, widths):
    """Rings of four points of a finger that bends about `axis` step by step."""
    middle, offset = points.mean(axis=0), points - points.mean(axis=0)
    for length, bend, width in zip(lengths, bends, widths, strict=True):
        k, s, c = axis, np.sin(bend), np.cos(bend)
        direction, offset = (v * c + np.cross(k, v) * s + np.outer(v @ k, k).reshape(v.shape) * (1 - c)
                             for v in (direction, offset))
        middle = middle + direction * length
        yield middle + offset * width


def _fingers(cage, ring):
    _, _, front, back, along = bone_frame("hand.L")
    for j, length in enumerate(FINGER_LENGTHS):
        quad = (ring[j + 1], ring[j], ring[9 - j], ring[8 - j])
        cage.face(SKIN, *quad)
        points = np.array([cage.points[i] for i in quad])
        middle = points.mean(axis=0)
        points = middle + np.outer((points - middle) @ front, front) * 0.80 + np.outer(
            np.sign((points - middle) @ back), back) * 0.0100
        spread = unit(along + front * (0.10 - 0.07 * j))
        lengths = np.array([0.06, 0.34, 0.10, 0.22, 0.10, 0.16, 0.02]) * length
        bends = np.radians([6, 6, 20, 12, 16, 8, 0])
        cage.extrude(quad, _curl(points, spread, front, lengths, bends, (1, 0.98, 0.98, 0.98, 0.97, 0.92, 0.75)),
                     {"hand.L": 1}, SKIN)


def _thumb(cage, quad):
    _, _, front, back, along = bone_frame("hand.L")
    points = np.array([cage.points[i] for i in quad])
    direction = unit(front * 0.38 + along - back * 0.40)
    offset = points - points.mean(axis=0)
    across = unit(back - direction * (back @ direction))
    other = unit(along - direction * (along @ direction) - across * (along @ across))
    square = np.outer(np.sign(offset @ back), across) + np.outer(np.sign(offset @ along), other)
    points = points.mean(axis=0) + 0.0125 * square
    lengths = (0.016, 0.024, 0.018, 0.022)
    bends = np.radians([-8, -12, -10, -6])
    cage.extrude(quad, _curl(points, direction, back, lengths, bends, (1.05, 1.0, 0.95, 0.75)), {"hand.L": 1}, SKIN)


def _lump(cage, centre, radii, material):
    """A closed ellipsoid: a cube that the subdivision rounds (a cube of half side r ends at about 0.72 r)."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    i = cage.add(np.array(centre) + corners * np.array(radii) / 1.1, {"head": 1})
    for quad in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)):
        cage.face(material, *(i[k] for k in quad))


def half_cage():
    """The left half of the figure; control points with x = 0 are shared with the right half."""
    cage = Cage()
    rings = _trunk(cage)
    _ear(cage, rings)
    _hair(cage)
    _leg(cage, rings[0])
    _arm(cage, rings)
    for centre, radii, material in LUMPS:
        _lump(cage, centre, radii, material)
    return cage
