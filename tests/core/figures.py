"""Made-up figures for tests: a human and a dog of boxes, by joint positions."""

import dataclasses

import numpy as np

from core.rotation import between, multiply, normalize, rotate
from core.skeleton import Skeleton, Skin

# name: (parent, head, tail); z up, facing -y, left is +x; metres
HUMAN = {
    "root": (None, (0, 0, 0), (0, 0.2, 0)),
    "pelvis": ("root", (0, 0, 0.95), (0, 0, 1.05)),
    "spine.01": ("pelvis", (0, 0, 1.05), (0, 0, 1.25)),
    "spine.02": ("spine.01", (0, 0, 1.25), (0, 0, 1.5)),
    "neck": ("spine.02", (0, 0, 1.5), (0, 0, 1.58)),
    "head": ("neck", (0, 0, 1.58), (0, 0, 1.8)),
    "clavicle.L": ("spine.02", (0.03, 0, 1.45), (0.18, 0, 1.45)),
    "upper_arm.L": ("clavicle.L", (0.18, 0, 1.45), (0.46, 0.01, 1.45)),
    "forearm.L": ("upper_arm.L", (0.46, 0.01, 1.45), (0.72, -0.02, 1.45)),
    "hand.L": ("forearm.L", (0.72, -0.02, 1.45), (0.9, -0.02, 1.45)),
    "thigh.L": ("pelvis", (0.1, 0, 0.92), (0.1, -0.02, 0.5)),
    "shin.L": ("thigh.L", (0.1, -0.02, 0.5), (0.1, 0.02, 0.09)),
    "foot.L": ("shin.L", (0.1, 0.02, 0.09), (0.1, -0.12, 0.02)),
    "toe.L": ("foot.L", (0.1, -0.12, 0.02), (0.1, -0.2, 0.0)),
}
DOG = {
    "root": (None, (0, 0, 0), (0, 0.2, 0)),
    "Hips": ("root", (0, 0.5, 0.8), (0, 0.3, 0.8)),
    "Spine1": ("Hips", (0, 0.3, 0.8), (0, -0.1, 0.8)),
    "Spine2": ("Spine1", (0, -0.1, 0.8), (0, -0.4, 0.85)),
    "Neck": ("Spine2", (0, -0.4, 0.85), (0, -0.6, 1.0)),
    "Head": ("Neck", (0, -0.6, 1.0), (0, -0.85, 1.0)),
    "Tail1": ("Hips", (0, 0.55, 0.8), (0, 0.75, 0.7)),
    "Tail2": ("Tail1", (0, 0.75, 0.7), (0, 0.9, 0.6)),
    "FrontUpperLeg.L": ("Spine2", (0.12, -0.35, 0.7), (0.12, -0.25, 0.4)),
    "FrontLowerLeg.L": ("FrontUpperLeg.L", (0.12, -0.25, 0.4), (0.12, -0.3, 0.1)),
    "FrontFoot.L": ("FrontLowerLeg.L", (0.12, -0.3, 0.1), (0.12, -0.4, 0.0)),
    "BackUpperLeg.L": ("Hips", (0.12, 0.5, 0.7), (0.12, 0.4, 0.4)),
    "BackLowerLeg.L": ("BackUpperLeg.L", (0.12, 0.4, 0.4), (0.12, 0.55, 0.1)),
    "BackFoot.L": ("BackLowerLeg.L", (0.12, 0.55, 0.1), (0.12, 0.45, 0.0)),
}


def build(joints=HUMAN, skin=False, tails=True, **changes):
    """A Skeleton of a table with the right side added; skin: a box around every bone but the root; `changes` replaces
    entries, None drops one."""
    rows = {**joints, **changes}
    table = {}
    for name, row in rows.items():
        if row is None:
            continue
        table[name] = row
    for name, (parent, head, tail) in list(table.items()):
        if name.endswith(".L"):
            flip = np.array([-1, 1, 1])
            other = parent[:-1] + "R" if parent and parent.endswith(".L") else parent
            table[name[:-1] + "R"] = (other, flip * head, flip * tail)
    names: list[str] = []
    while len(names) < len(table):  # parents first
        names += [name for name, row in table.items() if name not in names and (row[0] is None or row[0] in names)]
    names = tuple(names)
    head = np.array([table[name][1] for name in names], dtype=float)
    tail = np.array([table[name][2] for name in names], dtype=float)
    rotation = between(np.broadcast_to([0.0, 1.0, 0.0], head.shape), tail - head)
    parent = np.array([names.index(table[name][0]) if table[name][0] else -1 for name in names])
    if not tails:
        tail = head + rotate(rotation, np.array([0.0, 0.005, 0.0]))
    meshes = boxes(names, head, np.array([table[name][2] for name in names], dtype=float)) if skin else None
    return Skeleton(names, parent, head, tail, rotation, np.ones(len(names), dtype=bool), meshes)


CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])
# side of the square section, metres
THICK = {"pelvis": 0.3, "spine": 0.28, "neck": 0.11, "head": 0.17, "clavicle": 0.1, "upper_arm": 0.09, "forearm": 0.07,
         "hand": 0.06, "thigh": 0.15, "shin": 0.1, "foot": 0.08, "toe": 0.07}  # fmt: skip


def boxes(names, head, tail):
    """One closed box around each bone."""
    vertices, triangles, owner = [], [], []
    for i, name in enumerate(names):
        side = THICK.get(name.partition(".")[0], 0.1)
        if name == "root":
            continue
        length = np.linalg.norm(tail[i] - head[i])
        corners = (CUBE - (0.5, 0, 0.5)) * (side, length, side)
        vertices.append(rotate(between(np.array([0.0, 1.0, 0.0]), tail[i] - head[i]), corners) + head[i])
        triangles.append(FACES + 8 * len(triangles))
        owner.append(np.full(8, i))
    return Skin(np.concatenate(vertices), np.concatenate(triangles), np.concatenate(owner))


def moved(skeleton, turn=(1.0, 0.0, 0.0, 0.0), scale=1.0, shift=(0.0, 0.0, 0.0)):
    """The same rig turned by a quaternion, scaled and shifted in armature space."""
    turn = normalize(turn)

    def place(points):
        return rotate(turn, points) * scale + np.array(shift)

    skin = skeleton.skin and dataclasses.replace(skeleton.skin, vertices=place(skeleton.skin.vertices))
    rotation = multiply(np.broadcast_to(turn, skeleton.rotation.shape), skeleton.rotation)
    return dataclasses.replace(
        skeleton, head=place(skeleton.head), tail=place(skeleton.tail), rotation=rotation, skin=skin
    )


def mirrored(skeleton):
    """Positions flipped in x; names stay, so that what is called left lies on the right."""
    flip = np.array([-1.0, 1.0, 1.0])
    head, tail = skeleton.head * flip, skeleton.tail * flip
    rotation = between(np.broadcast_to([0.0, 1.0, 0.0], head.shape), tail - head)
    skin = skeleton.skin
    if skin is not None:
        skin = Skin(skin.vertices * flip, skin.triangles[:, ::-1], skin.owner)
    return dataclasses.replace(skeleton, head=head, tail=tail, rotation=rotation, skin=skin)


def renamed(skeleton):
    """The same rig with names that say nothing."""
    return dataclasses.replace(skeleton, names=tuple(f"b{i}" for i in range(len(skeleton.names))))
