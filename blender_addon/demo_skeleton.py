"""The demo character's skeleton: joints of a 1.75 m adult in a relaxed A-pose, in metres.

The figure stands on z = 0 and faces -Y; its left side is +X. Knees and elbows are slightly bent, so every
reader and every IK solver can tell which way they go.
"""

import numpy as np

# bone: (head, tail), left side only; the right side is its mirror image
JOINTS = {
    "root": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.20)),
    "pelvis": ((0.0, 0.010, 0.930), (0.0, 0.006, 1.030)),
    "spine.01": ((0.0, 0.006, 1.030), (0.0, 0.010, 1.150)),
    "spine.02": ((0.0, 0.010, 1.150), (0.0, 0.022, 1.280)),
    "spine.03": ((0.0, 0.022, 1.280), (0.0, 0.022, 1.470)),
    "neck": ((0.0, 0.022, 1.470), (0.0, 0.006, 1.560)),
    "head": ((0.0, 0.006, 1.560), (0.0, 0.006, 1.750)),
    "clavicle.L": ((0.022, -0.015, 1.435), (0.170, 0.020, 1.425)),
    "upper_arm.L": ((0.170, 0.020, 1.425), (0.324, 0.030, 1.187)),
    "forearm.L": ((0.324, 0.030, 1.187), (0.452, -0.012, 0.976)),
    "hand.L": ((0.452, -0.012, 0.976), (0.496, -0.032, 0.895)),
    "thigh.L": ((0.092, 0.010, 0.915), (0.100, -0.012, 0.495)),
    "shin.L": ((0.100, -0.012, 0.495), (0.108, 0.022, 0.088)),
    "foot.L": ((0.108, 0.022, 0.088), (0.117, -0.125, 0.022)),
    "toe.L": ((0.117, -0.125, 0.022), (0.120, -0.205, 0.022)),
}
PARENTS = {
    "pelvis": "root", "spine.01": "pelvis", "spine.02": "spine.01", "spine.03": "spine.02", "neck": "spine.03",
    "head": "neck", "clavicle.L": "spine.03", "upper_arm.L": "clavicle.L", "forearm.L": "upper_arm.L",
    "hand.L": "forearm.L", "thigh.L": "pelvis", "shin.L": "thigh.L", "foot.L": "shin.L", "toe.L": "foot.L",
}


def mirrored_name(bone):
    """`hand.L` for `hand.R` and the other way round; a middle bone stays itself."""
    side = {".L": ".R", ".R": ".L"}.get(bone[-2:])
    return bone[:-2] + side if side else bone


def _both_sides():
    """Heads, tails and parents of all bones, every parent before its children."""
    bones = {}
    for bone, (head, tail) in JOINTS.items():
        bones[bone] = (np.array(head), np.array(tail), PARENTS.get(bone))
    for bone, (head, tail) in JOINTS.items():
        if bone.endswith(".L"):
            flip = np.array((-1.0, 1.0, 1.0))
            bones[mirrored_name(bone)] = (flip * head, flip * tail, mirrored_name(PARENTS[bone]))
    return bones


BONES = _both_sides()
DEFORM_BONES = tuple(bone for bone in BONES if bone != "root")
