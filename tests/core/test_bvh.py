"""BVH text of a clip, read back by a reader written from the format's description."""

import numpy as np
import pytest

from core import bvh, rotation
from core.skeleton import Clip, Skeleton


@pytest.fixture
def sample(rng):
    """A skeleton with two roots and a sliding bone, and a clip whose object turns and is scaled."""
    parent = np.array([-1, 0, 1, 1, -1, 4])
    n, t = len(parent), 9
    head = rng.normal(size=(n, 3))
    skeleton = Skeleton(
        names=("hips", "spine 1", "arm.l", "arm.r", "prop", "tip"),
        parent=parent,
        head=head,
        tail=head + rng.normal(size=(n, 3)),
        rotation=rotation.normalize(rng.normal(size=(n, 4))),
        deform=np.ones(n, dtype=bool),
    )
    start = rotation.normalize(rng.normal(size=(n, 4)))
    turn = rotation.multiply(start, rotation.exp(np.linspace(0, 1, t)[:, None, None] * rng.normal(size=(n, 3))))
    delta = rotation.multiply(turn, rotation.conjugate(skeleton.rotation))
    position = np.tile(head, (t, 1, 1)) + np.linspace(0, 1, t)[:, None, None] * rng.normal(size=3)
    for b in range(n):
        if parent[b] >= 0:
            arm = rotation.rotate(delta[:, parent[b]], head[b] - head[parent[b]])
            position[:, b] = position[:, parent[b]] + arm
    position[:, 3] += np.linspace(0.0, 0.5, t)[:, None]  # slides
    return skeleton, Clip(
        fps=30.0,
        frames=np.arange(5.0, 5.0 + t),
        rotation=turn,
        position=position,
        object_rotation=rotation.exp(np.linspace(0.3, 1, t)[:, None] * rng.normal(size=3)),
        object_position=rng.normal(size=(t, 3)),
        scale=0.5,
    )


AXES = {"X": (1.0, 0, 0), "Y": (0, 1.0, 0), "Z": (0, 0, 1.0)}


def read(text):
    """(frame time, {joint: (T, 3) positions}) of BVH text."""
    hierarchy, motion = text.split("MOTION")
    joints, stack, end = [], [], False
    for line in hierarchy.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] in ("ROOT", "JOINT"):
            joints.append({"name": words[1], "up": stack[-1] if stack else None, "channels": []})
            stack.append(len(joints) - 1)
        elif words[0] == "End":
            end = True
            stack.append(None)
        elif words[0] == "OFFSET" and not end:
            joints[-1]["offset"] = np.array(words[1:], dtype=float)
        elif words[0] == "CHANNELS":
            assert int(words[1]) == len(words) - 2
            joints[-1]["channels"] = words[2:]
        elif words[0] == "}":
            stack.pop()
            end = False
    lines = motion.strip().splitlines()
    rows = np.array([line.split() for line in lines[2:]], dtype=float)
    assert int(lines[0].split()[1]) == len(rows)
    column, out = 0, {}
    for joint in joints:
        offset, turn = np.tile(joint["offset"], (len(rows), 1)), np.tile(rotation.IDENTITY, (len(rows), 1))
        for channel in joint["channels"]:
            values, kind = rows[:, column], channel[0]
            column += 1
            if channel.endswith("position"):
                offset[:, "XYZ".index(kind)] = values
            else:
                turn = rotation.multiply(turn, rotation.exp(np.radians(values)[:, None] * np.array(AXES[kind])))
        if joint["up"] is not None:
            up = joints[joint["up"]]
            offset = up["at"] + rotation.rotate(up["turn"], offset)
            turn = rotation.multiply(up["turn"], turn)
        joint["at"], joint["turn"] = offset, turn
        out[joint["name"]] = offset
    assert column == rows.shape[1]
    return float(lines[1].split()[-1]), out


@pytest.mark.parametrize("ends", [True, False])
def test_reads_back(sample, ends):
    skeleton, clip = sample
    step, joints = read(bvh.write(skeleton, clip, ends))
    assert step == pytest.approx(1.0 / 30.0)
    world = clip.world_position()
    for i, name in enumerate(skeleton.names):
        x, y, z = np.moveaxis(joints[name.replace(" ", "")], -1, 0)
        # Seven digits are printed; angles near 180 degrees.
        assert np.abs(np.stack((x, -z, y), axis=-1) - world[:, i]).max() < 1e-5


def test_only_sliding_bones_get_positions(sample):
    skeleton, clip = sample
    text = bvh.write(skeleton, clip)
    assert text.count("CHANNELS 6") == 3  # two roots and the bone that slides
    assert text.count("End Site") == 3
