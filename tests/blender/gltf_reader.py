"""A small reader of glTF 2.0 node trees and animations, standard library and numpy only: the tests' second opinion."""

import base64
import json
import struct
from pathlib import Path

import numpy as np

# glTF is y up, Blender z up.
TO_BLENDER = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Gltf:
    """A .glb or .gltf file.  world(time) gives the node matrices in Blender's axes, {name: 4x4}."""

    def __init__(self, path, animation=0):
        path = Path(path)
        self.chunk = b""
        content = path.read_bytes()
        if content[:4] == b"glTF":
            length = struct.unpack("<I", content[12:16])[0]
            self.tree = json.loads(content[20 : 20 + length])
            self.chunk = content[28 + length :]
        else:
            self.tree = json.loads(content)
        self.folder = path.parent
        self.nodes = self.tree["nodes"]
        self.up = {child: i for i, node in enumerate(self.nodes) for child in node.get("children", ())}
        self.animations = [item.get("name", "") for item in self.tree.get("animations", ())]
        self.channels = {}
        if self.animations:
            self._read(self.tree["animations"][animation])

    def _read(self, animation):
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            assert sampler.get("interpolation", "LINEAR") in ("LINEAR", "STEP")
            target = (channel["target"]["node"], channel["target"]["path"])
            self.channels[target] = (self.array(sampler["input"])[:, 0], self.array(sampler["output"]))

    def array(self, index):
        accessor = self.tree["accessors"][index]
        view = self.tree["bufferViews"][accessor["bufferView"]]
        uri = self.tree["buffers"][view["buffer"]].get("uri")
        data = self.chunk
        if uri is not None:
            inline = uri.startswith("data:")
            data = base64.b64decode(uri.partition(",")[2]) if inline else (self.folder / uri).read_bytes()
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        width = WIDTHS[accessor["type"]]
        values = np.frombuffer(data, TYPES[accessor["componentType"]], accessor["count"] * width, start)
        return values.reshape(-1, width).astype(float)

    @property
    def span(self):
        """(first, last) key in seconds."""
        times = np.concatenate([times for times, _ in self.channels.values()])
        return times.min(), times.max()

    def local(self, i, time):
        node = self.nodes[i]
        if "matrix" in node:
            assert not any(target[0] == i for target in self.channels)
            return np.array(node["matrix"]).reshape(4, 4).T
        parts = {}
        for key, default in (("translation", (0, 0, 0)), ("rotation", (0, 0, 0, 1)), ("scale", (1, 1, 1))):
            parts[key] = np.array(node.get(key, default), dtype=float)
            if time is not None and (i, key) in self.channels:
                parts[key] = self._at(*self.channels[i, key], time, key == "rotation")
        x, y, z, w = parts["rotation"] / np.linalg.norm(parts["rotation"])
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = turn * parts["scale"], parts["translation"]
        return matrix

    @staticmethod
    def _at(times, values, time, is_rotation):
        k = int(np.clip(np.searchsorted(times, time) - 1, 0, len(times) - 2)) if len(times) > 1 else 0
        if len(times) == 1:
            return values[0]
        part = np.clip((time - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0)
        a, b = values[k], values[k + 1]
        if is_rotation and a @ b < 0.0:
            b = -b
        return a + part * (b - a)

    def world(self, time=None):
        """{node name: 4x4 in Blender's axes} at a time [s]; without a time the nodes as they stand in the file."""
        matrices = {}

        def of(i):
            if i not in matrices:
                matrices[i] = (of(self.up[i]) if i in self.up else TO_BLENDER) @ self.local(i, time)
            return matrices[i]

        # A mesh may bear its bone's name: the bone counts.
        order = sorted(range(len(self.nodes)), key=lambda i: "mesh" not in self.nodes[i])
        return {self.nodes[i].get("name", str(i)): of(i) for i in order}
