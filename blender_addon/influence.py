"""Which bones of a rig may move when another does, as far as parents, constraints and drivers of the rig itself say.

What goes through other objects, curves or meshes is not seen here: whoever uses this looks whether it is so.
"""

import numpy as np

from .actions import bone_of
from .rig import chain


def reach(armature):
    """(n, n) bool, in the order of the pose's bones: [a, b] whether b may move with a; a itself too."""
    bones = armature.pose.bones
    index = {bone.name: i for i, bone in enumerate(bones)}
    out = np.eye(len(index), dtype=bool)
    for a, b in _edges(armature):
        if a in index and b in index:
            out[index[a], index[b]] = True
    known = 0
    while known < out.sum():
        known = out.sum()
        out = out.astype(np.float32) @ out.astype(np.float32) > 0.0
    return out


def _edges(armature):
    """(moving, moved) names of bones."""
    for bone in armature.pose.bones:
        if bone.parent is not None:
            yield bone.parent.name, bone.name
        for constraint in bone.constraints:
            moved = chain(bone, constraint)
            for mover in (*_targets(armature, constraint), *moved):
                yield from ((mover, name) for name in moved)
    data = armature.animation_data
    for curve in data.drivers if data is not None else ():
        name = bone_of(curve.data_path)
        for variable in curve.driver.variables if name is not None else ():
            for target in variable.targets:
                if target.id == armature:
                    yield target.bone_target or bone_of(target.data_path), name


def _targets(armature, constraint):
    """Names of the rig's own bones that a constraint looks at."""
    pairs = [(getattr(constraint, a, None), getattr(constraint, b, ""))
             for a, b in (("target", "subtarget"), ("pole_target", "pole_subtarget"))]  # fmt: skip
    pairs += [(target.target, target.subtarget) for target in getattr(constraint, "targets", ())]
    return [bone for item, bone in pairs if item == armature and bone]
