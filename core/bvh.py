"""Biovision hierarchy (BVH) text of a clip: world axes turned y up, the host's units, one joint per bone.

A BVH joint's rest is an offset without rotation, so its rotation is the bone's turn since rest: with R_wb the bone's
orientation and R_wb0 that at rest, D = R_wb R_wb0^-1, and the joint gets D_parent^-1 D.
"""

import numpy as np

from .rotation import Array, conjugate, multiply, rotate, to_matrix
from .skeleton import Clip, Skeleton

# World z up to BVH's y up: a quarter turn about -x.
_UP = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])

# An offset that varies by more than this part of the skeleton is keyed: the bone slides.
_SLIDES = 1e-5


def write(skeleton: Skeleton, clip: Clip, ends: bool = True) -> str:
    """The BVH file's text.  The first frame's object rotation and the clip's scale carry the rest pose to the world.

    ends: close bones without children by an End Site at their tail.
    """
    parent = np.asarray(skeleton.parent)
    upright = multiply(_UP, clip.object_rotation[0])
    rest_head = rotate(upright, clip.scale * skeleton.head)
    rest_tail = rotate(upright, clip.scale * skeleton.tail)
    joint_turn, joint_offset = _joints(parent, clip, multiply(upright, skeleton.rotation))
    child = np.flatnonzero(parent >= 0)
    offset = rest_head.copy()
    offset[child] = rest_head[child] - rest_head[parent[child]]
    size = max(float(np.ptp(rest_head, axis=0).max()), 1e-9)
    slides = (parent < 0) | (np.abs(joint_offset - offset).max(axis=(0, 2)) > _SLIDES * size)
    roots = np.flatnonzero(parent < 0)
    lines = ["HIERARCHY"]
    order: list[int] = []
    tail = rest_tail - rest_head if ends else None
    if len(roots) > 1:
        lines += ["ROOT BVHRoot", "{", "\tOFFSET 0 0 0", "\tCHANNELS 3 Zrotation Xrotation Yrotation"]
    for root in roots:
        _joint(lines, order, int(root), len(roots) > 1, skeleton.names, parent, offset, slides, tail)
    if len(roots) > 1:
        lines.append("}")
    columns = [np.zeros((len(clip.frames), 3))] if len(roots) > 1 else []
    degrees = np.degrees(_zxy(joint_turn))
    for bone in order:
        if slides[bone]:
            columns.append(joint_offset[:, bone])
        columns.append(degrees[:, bone])
    step = (clip.times[-1] - clip.times[0]) / (len(clip.frames) - 1)
    lines += ["MOTION", f"Frames: {len(clip.frames)}", f"Frame Time: {step:.9g}"]
    lines += [" ".join(f"{value:.7g}" for value in row) for row in np.concatenate(columns, axis=1)]
    return "\n".join(lines) + "\n"


def _joints(parent: np.ndarray, clip: Clip, rest: Array) -> tuple[Array, Array]:
    """Turns (T, n, 4) since the rest rotations (n, 4) and places (T, n, 3) of joints, relative to their parents."""
    turn = multiply(multiply(_UP, clip.world_rotation()), conjugate(rest))
    head = rotate(_UP, clip.world_position())
    joint_turn, joint_offset = turn.copy(), head.copy()
    child = np.flatnonzero(parent >= 0)
    back = conjugate(turn[:, parent[child]])
    joint_turn[:, child] = multiply(back, turn[:, child])
    joint_offset[:, child] = rotate(back, head[:, child] - head[:, parent[child]])
    return joint_turn, joint_offset


def _joint(
    lines: list[str],
    order: list[int],
    bone: int,
    below: bool,
    names: tuple[str, ...],
    parent: np.ndarray,
    offset: Array,
    slides: np.ndarray,
    tail: Array | None,
) -> None:
    """Append a joint and its children, depth first; `order` gets the bones as their columns follow."""
    depth = int(below)
    up = int(parent[bone])
    while up >= 0:
        depth, up = depth + 1, int(parent[up])
    pad = "\t" * depth
    order.append(bone)
    channels = "Zrotation Xrotation Yrotation"
    if slides[bone]:
        channels = "Xposition Yposition Zposition " + channels
    lines += [
        f"{pad}{'JOINT' if depth else 'ROOT'} {''.join(names[bone].split())}",
        pad + "{",
        f"{pad}\tOFFSET {_numbers(offset[bone])}",
        f"{pad}\tCHANNELS {len(channels.split())} {channels}",
    ]
    children = np.flatnonzero(parent == bone)
    for child in children:
        _joint(lines, order, int(child), below, names, parent, offset, slides, tail)
    if not len(children) and tail is not None:
        lines += [f"{pad}\tEnd Site", pad + "\t{", f"{pad}\t\tOFFSET {_numbers(tail[bone])}", pad + "\t}"]
    lines.append(pad + "}")


def _numbers(values: Array) -> str:
    return " ".join(f"{value:.7g}" for value in values)


def _zxy(q: Array) -> Array:
    """(..., 4) -> (..., 3) angles [rad] z, x, y of R = Rz Rx Ry, continuous along the first axis."""
    m = to_matrix(q)
    x = np.arcsin(np.clip(m[..., 2, 1], -1.0, 1.0))
    y = np.arctan2(-m[..., 2, 0], m[..., 2, 2])
    z = np.arctan2(-m[..., 0, 1], m[..., 1, 1])
    return np.unwrap(np.stack((z, x, y), axis=-1), axis=0)
