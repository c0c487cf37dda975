"""The demo character's body: half a control cage, mirrored and subdivided with numpy.

The cage is lofted from rings of control points. Every control point carries its bone weights as further
coordinates, so Catmull-Clark makes the surface and the skin weights smooth in one go; its masks are convex,
so weights stay positive and their sum stays 1. Metres; the figure faces -Y and its left side is +X.
"""

from dataclasses import dataclass, field

import numpy as np

from .demo_skeleton import JOINTS

MATERIALS = {
    "Skin": (0.80, 0.52, 0.38),
    "Shirt": (0.10, 0.36, 0.52),
    "Trousers": (0.13, 0.14, 0.20),
    "Shoes": (0.50, 0.19, 0.07),
    "Hair": (0.09, 0.045, 0.02),
    "Eye": (0.85, 0.85, 0.82),
    "Iris": (0.03, 0.02, 0.02),
    "Lips": (0.62, 0.27, 0.23),
}
SKIN, SHIRT, TROUSERS, SHOES, HAIR, EYE, IRIS, LIPS = range(8)

# Torso, neck and head from the crotch up: z front, z back, y front, y back, half width, squareness,
# lift of the sides, material of the band above, weights.
TRUNK = (
    (0.845, 0.835, -0.098, 0.118, 0.170, 2.3, 0.045, TROUSERS, {"pelvis": 1}),
    (0.925, 0.925, -0.108, 0.135, 0.182, 2.3, 0.015, TROUSERS, {"pelvis": 1}),
    (0.985, 0.990, -0.110, 0.116, 0.170, 2.4, 0.0, SHIRT, {"pelvis": 1}),
    (0.968, 0.973, -0.119, 0.126, 0.179, 2.4, 0.0, SHIRT, {"pelvis": 1}),
    (0.995, 1.000, -0.119, 0.118, 0.174, 2.4, 0.0, SHIRT, {"pelvis": 0.8, "spine.01": 0.2}),
    (1.080, 1.080, -0.113, 0.094, 0.153, 2.4, 0.0, SHIRT, {"spine.01": 0.9, "pelvis": 0.1}),
    (1.170, 1.170, -0.116, 0.100, 0.158, 2.4, 0.0, SHIRT, {"spine.01": 0.4, "spine.02": 0.6}),
    (1.255, 1.255, -0.130, 0.114, 0.171, 2.4, 0.0, SHIRT, {"spine.02": 0.7, "spine.03": 0.3}),
    (1.320, 1.325, -0.131, 0.121, 0.182, 2.4, 0.0, SHIRT, {"spine.02": 0.1, "spine.03": 0.9}),
    (1.380, 1.395, -0.110, 0.115, 0.184, 2.4, 0.0, SHIRT, {"spine.03": 1}),
    (1.425, 1.465, -0.072, 0.100, 0.168, 2.2, -0.008, SHIRT, {"spine.03": 1}),
    (1.446, 1.492, -0.052, 0.086, 0.096, 2.1, 0.012, SHIRT, {"spine.03": 1}),
    (1.460, 1.510, -0.050, 0.080, 0.072, 2.1, 0.014, SKIN, {"spine.03": 0.8, "neck": 0.2}),
    (1.450, 1.500, -0.040, 0.072, 0.062, 2.0, 0.010, SKIN, {"spine.03": 0.5, "neck": 0.5}),
    (1.492, 1.540, -0.040, 0.068, 0.058, 2.0, 0.0, SKIN, {"neck": 0.9, "head": 0.1}),
    (1.518, 1.575, -0.046, 0.072, 0.058, 2.0, 0.0, SKIN, {"neck": 0.3, "head": 0.7}),
    (1.520, 1.604, -0.103, 0.084, 0.062, 2.1, 0.008, SKIN, {"head": 1}),
    (1.553, 1.632, -0.120, 0.096, 0.073, 2.2, 0.0, SKIN, {"head": 1}),
    (1.594, 1.655, -0.120, 0.105, 0.079, 2.2, 0.0, SKIN, {"head": 1}),
    (1.636, 1.680, -0.116, 0.110, 0.082, 2.2, 0.0, SKIN, {"head": 1}),
    (1.676, 1.704, -0.119, 0.109, 0.084, 2.2, 0.0, SKIN, {"head": 1}),
    (1.716, 1.728, -0.114, 0.100, 0.079, 2.1, 0.0, SKIN, {"head": 1}),
    (1.748, 1.752, -0.086, 0.078, 0.062, 2.0, 0.0, SKIN, {"head": 1}),
    (1.766, 1.766, -0.040, 0.042, 0.033, 2.0, 0.0, SKIN, {"head": 1}),
)
# Hair: z front, z back, y front, y back, half width
HAIR_SHELL = (
    (1.640, 1.606, 0.050, 0.094, 0.066),
    (1.660, 1.628, 0.000, 0.112, 0.085),
    (1.692, 1.664, -0.062, 0.124, 0.092),
    (1.728, 1.700, -0.118, 0.122, 0.092),
    (1.758, 1.744, -0.118, 0.106, 0.079),
    (1.778, 1.774, -0.078, 0.068, 0.048),
)
ARMPIT = 7          # trunk ring where the arm's opening begins; it is three bands high
EAR_BAND = 18       # trunk band the ear grows from

# Left leg from the hip down to the toes: centre x, z front, z back, y front, y back, half width, material
# of the band above, weights. In the foot "front" is the instep and "back" the sole.
LEG = (
    (0.094, 0.770, 0.745, -0.098, 0.108, 0.092, TROUSERS, {"pelvis": 0.1, "thigh.L": 0.9}),
    (0.099, 0.665, 0.655, -0.094, 0.088, 0.082, TROUSERS, {"thigh.L": 1}),
    (0.101, 0.565, 0.560, -0.080, 0.068, 0.069, TROUSERS, {"thigh.L": 0.95, "shin.L": 0.05}),
    (0.102, 0.515, 0.520, -0.075, 0.059, 0.063, TROUSERS, {"thigh.L": 0.75, "shin.L": 0.25}),
    (0.103, 0.485, 0.490, -0.073, 0.057, 0.062, TROUSERS, {"thigh.L": 0.5, "shin.L": 0.5}),
    (0.104, 0.450, 0.455, -0.067, 0.061, 0.061, TROUSERS, {"thigh.L": 0.2, "shin.L": 0.8}),
    (0.105, 0.365, 0.365, -0.057, 0.080, 0.062, TROUSERS, {"shin.L": 1}),
    (0.107, 0.235, 0.235, -0.050, 0.074, 0.057, TROUSERS, {"shin.L": 1}),
    (0.109, 0.112, 0.090, -0.057, 0.080, 0.058, TROUSERS, {"shin.L": 0.9, "foot.L": 0.1}),
    (0.109, 0.100, 0.080, -0.052, 0.076, 0.053, TROUSERS, {"shin.L": 0.8, "foot.L": 0.2}),
    (0.109, 0.112, 0.095, -0.040, 0.066, 0.041, TROUSERS, {"shin.L": 0.6, "foot.L": 0.4}),
    (0.109, 0.088, 0.052, -0.052, 0.080, 0.043, SHOES, {"foot.L": 1}),
    (0.110, 0.078, -0.004, -0.078, 0.086, 0.046, SHOES, {"foot.L": 1}),
    (0.111, 0.070, -0.012, -0.100, 0.050, 0.044, SHOES, {"foot.L": 1}),
    (0.114, 0.062, -0.010, -0.122, -0.030, 0.046, SHOES, {"foot.L": 1}),
    (0.118, 0.056, -0.010, -0.148, -0.105, 0.055, SHOES, {"foot.L": 0.6, "toe.L": 0.4}),
    (0.120, 0.053, -0.010, -0.180, -0.165, 0.054, SHOES, {"toe.L": 1}),
    (0.120, 0.048, -0.006, -0.207, -0.203, 0.046, SHOES, {"toe.L": 1}),
    (0.119, 0.036, 0.004, -0.219, -0.216, 0.030, SHOES, {"toe.L": 1}),
)

# Left arm: bone the ring sits on, place along it (0 head, 1 tail), half depth, half thickness, material of
# the band above, weights.
ARM = (
    ("upper_arm.L", 0.13, 0.078, 0.066, SHIRT, {"upper_arm.L": 0.70, "clavicle.L": 0.24, "spine.03": 0.06}),
    ("upper_arm.L", 0.32, 0.068, 0.060, SHIRT, {"upper_arm.L": 0.97, "clavicle.L": 0.03}),
    ("upper_arm.L", 0.60, 0.063, 0.057, SHIRT, {"upper_arm.L": 1}),
    ("upper_arm.L", 0.63, 0.060, 0.054, SHIRT, {"upper_arm.L": 1}),
    ("upper_arm.L", 0.57, 0.050, 0.046, SHIRT, {"upper_arm.L": 1}),
    ("upper_arm.L", 0.76, 0.048, 0.043, SKIN, {"upper_arm.L": 0.98, "forearm.L": 0.02}),
    ("upper_arm.L", 0.90, 0.045, 0.041, SKIN, {"upper_arm.L": 0.80, "forearm.L": 0.20}),
    ("forearm.L", 0.00, 0.044, 0.041, SKIN, {"upper_arm.L": 0.50, "forearm.L": 0.50}),
    ("forearm.L", 0.12, 0.046, 0.041, SKIN, {"upper_arm.L": 0.18, "forearm.L": 0.82}),
    ("forearm.L", 0.34, 0.046, 0.039, SKIN, {"forearm.L": 1}),
    ("forearm.L", 0.68, 0.036, 0.031, SKIN, {"forearm.L": 1}),
    ("forearm.L", 0.95, 0.030, 0.024, SKIN, {"forearm.L": 0.70, "hand.L": 0.30}),
    ("hand.L", 0.16, 0.033, 0.022, SKIN, {"forearm.L": 0.15, "hand.L": 0.85}),
    ("hand.L", 0.50, 0.042, 0.021, SKIN, {"hand.L": 1}),
    ("hand.L", 0.92, 0.043, 0.017, SKIN, {"hand.L": 1}),
)
THUMB_BAND = 13     # arm band the thumb grows from
FINGER_LENGTHS = (0.074, 0.083, 0.076, 0.060)       # index ... little

# Small closed lumps for the face: centre, radii, material; mirrored.
LUMPS = (
    ((0.0325, -0.0985, 1.640), (0.0185, 0.0150, 0.0120), EYE),
    ((0.0320, -0.1065, 1.640), (0.0090, 0.0090, 0.0095), IRIS),
    ((0.0340, -0.1080, 1.6645), (0.0210, 0.0085, 0.0050), HAIR),
    ((0.0080, -0.1095, 1.5630), (0.0200, 0.0110, 0.0085), LIPS),
)

# Sculpting of the subdivided face: centre, widths of the Gaussian, push. Applied to both sides.
DENTS = (
    ((0.0, -0.122, 1.600), (0.011, 0.03, 0.011), (0.0, -0.017, -0.005)),      # tip of the nose
    ((0.0, -0.120, 1.622), (0.009, 0.03, 0.018), (0.0, -0.011, 0.0)),         # bridge
    ((0.013, -0.115, 1.597), (0.008, 0.03, 0.008), (0.002, -0.007, 0.0)),     # nostrils
    ((0.034, -0.110, 1.640), (0.016, 0.03, 0.012), (0.0, 0.010, 0.0)),        # eye sockets
    ((0.0, -0.110, 1.667), (0.045, 0.03, 0.008), (0.0, -0.003, 0.0)),         # brow
    ((0.045, -0.100, 1.612), (0.016, 0.03, 0.014), (0.003, -0.004, 0.0)),     # cheekbones
    ((0.0, -0.115, 1.532), (0.020, 0.03, 0.012), (0.0, -0.010, 0.0)),         # chin
    ((0.0, -0.115, 1.549), (0.024, 0.03, 0.006), (0.0, 0.003, 0.0)),          # below the lips
)


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
    for lower, upper in zip(rings, rings[1:]):
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
        s, t = np.sign(s) * np.abs(s) ** 1.0, np.sign(t) * np.abs(t) ** flat
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
    for length, bend, width in zip(lengths, bends, widths):
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
    offset = points - points.mean(axis=0)
    points = points.mean(axis=0) + (np.outer(np.sign(offset @ back), back) + np.outer(np.sign(offset @ along), along)) * 0.0135
    direction = unit(front * 0.5 + along - back * 0.40)
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
