"""What a film strip draws beside the subject's own meshes: bones, floor, arrow and captions."""

from math import ceil

import bpy
import numpy as np
from mathutils import Matrix, Vector

BONE = (0.85, 0.62, 0.25)
FLOOR = ((0.50, 0.52, 0.54), (0.60, 0.62, 0.64))
RED = (0.85, 0.03, 0.03)
TEXT = (0.02, 0.02, 0.03)
OCTAHEDRON = ((0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4), (5, 1, 2), (5, 2, 3), (5, 3, 4), (5, 4, 1))


class Cast:
    """The subject on the stage: borrowed meshes, and a stand-in mesh for armatures without any."""

    def __init__(self, stage, armatures, meshes):
        self.stage, self.armatures, self.meshes = stage, armatures, meshes
        for ob in [*armatures, *meshes]:
            stage.scene.collection.objects.link(ob)
        self.bones = [(rig, bone.name) for rig in armatures for bone in rig.data.bones if bone.length > 0]
        self.stand_in = None
        if self.bones:
            self.stand_in = mesh(stage, "Film Strip Bones", np.zeros((6 * len(self.bones), 3)), np.concatenate(
                [np.array(OCTAHEDRON) + 6 * k for k in range(len(self.bones))]), [BONE])

    def points(self):
        """(n, 3) vertices of all meshes and ends of all bones in the world at the stage's present frame."""
        depsgraph = self.stage.depsgraph
        clouds = [self._ends().reshape(-1, 3)] if self.bones else []
        for ob in self.meshes:
            evaluated = ob.evaluated_get(depsgraph)
            count = len(evaluated.data.vertices)
            if count:
                cloud = np.empty(3 * count, dtype=np.float32)
                evaluated.data.vertices.foreach_get("co", cloud)
                matrix = np.array(evaluated.matrix_world)
                clouds.append(cloud.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
        return np.concatenate(clouds)

    def _ends(self):
        """(n, 2, 3) heads and tails of the drawn bones in the world."""
        depsgraph = self.stage.depsgraph
        posed = {rig: rig.evaluated_get(depsgraph) for rig in self.armatures}
        return np.array([[posed[rig].matrix_world @ end for end in
                          (posed[rig].pose.bones[name].head, posed[rig].pose.bones[name].tail)]
                         for rig, name in self.bones])

    def update(self):
        """Bring the stand-in's octahedra to the bones."""
        if not self.stand_in:
            return
        corners = np.concatenate([_octahedron(*ends) for ends in self._ends()])
        data = self.stand_in.data
        data.vertices.foreach_set("co", corners.astype(np.float32).ravel())
        data.update()


def _octahedron(head, tail):
    along = Vector(tail - head)
    length = along.length
    side = along.orthogonal().normalized() if length > 0 else Vector((1, 0, 0))
    other = along.cross(side).normalized()
    waist, radius = head + (tail - head) * 0.18, 0.11 * length
    return np.array([head, *(waist + radius * np.array(v) for v in (side, other, -side, -other)), tail])


def mesh(stage, name, points, faces, colours, slots=None):
    """A new mesh object on the stage, one material for each colour."""
    data = stage.keep(bpy.data.meshes.new(name))
    data.from_pydata(np.asarray(points).tolist(), [], np.asarray(faces).tolist())
    for colour in colours:
        data.materials.append(material(stage, name, colour))
    if slots is not None:
        data.polygons.foreach_set("material_index", np.asarray(slots, dtype=np.int32))
    data.update()
    return stage.add(name, data)


def material(stage, name, colour):
    block = stage.keep(bpy.data.materials.new(name))
    block.diffuse_color = (*colour, 1.0)
    block.roughness = 1.0
    return block


def floor(stage, low, high, z, size):
    """A chequered floor under the whole way of the subject."""
    cell = 0.3 * size
    while (high - low)[:2].max() + 16 * size > 160 * cell:
        cell *= 2
    first = np.floor((low[:2] - 8 * size) / cell)
    count = [ceil((high[k] + 8 * size) / cell - first[k]) for k in range(2)]
    i, j = np.meshgrid(np.arange(count[0] + 1), np.arange(count[1] + 1), indexing="ij")
    points = np.stack([(first[0] + i) * cell, (first[1] + j) * cell, np.full(i.shape, z)], axis=-1).reshape(-1, 3)
    a, b = (grid[:-1, :-1].ravel() for grid in (i, j))
    row = count[1] + 1
    corner = a * row + b
    faces = np.stack([corner, corner + row, corner + row + 1, corner + 1], axis=1)
    return mesh(stage, "Film Strip Floor", points, faces, FLOOR, (a + b + first.sum()) % 2)


def arrow(stage, point, direction, length):
    """A red arrow whose tip touches `point`, coming along `direction`."""
    profile = np.array([(0.0, 0.0), (0.10, -0.30), (0.035, -0.30), (0.035, -1.0), (0.0, -1.0)]) * length
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate([np.column_stack([ring * radius, np.full(16, z)]) for radius, z in profile])
    faces = [(16 * r + k, 16 * r + (k + 1) % 16, 16 * r + 16 + (k + 1) % 16, 16 * r + 16 + k)
             for r in range(len(profile) - 1) for k in range(16)]
    ob = mesh(stage, "Film Strip Arrow", points, faces, [RED])
    ob.matrix_world = Matrix.Translation(Vector(point)) @ Vector(direction).to_track_quat("Z", "Y").to_matrix().to_4x4()
    ob.display.show_shadows = False
    return ob


class Captions:
    """Two lines of text fixed before the camera: the row's name on top, frame and time below."""

    def __init__(self, stage, distance, width, height, letter):
        depth = 0.1 * distance
        self.lines = []
        for name, x, y, align in (("Label", -0.5, 0.5, "LEFT"), ("Caption", 0.0, -0.5, "CENTER")):
            data = stage.keep(bpy.data.curves.new("Film Strip " + name, "FONT"))
            data.size = letter * 1.4 * width * depth
            data.align_x = align
            data.materials.append(material(stage, "Film Strip Text", TEXT))
            ob = stage.add("Film Strip " + name, data)
            ob.parent = stage.camera
            inset = 0.35 * data.size
            ob.location = (x * width * depth - np.sign(x) * inset,
                           y * height * depth - (data.size if y > 0 else -inset), -depth)
            ob.display.show_shadows = False
            self.lines.append(data)

    def show(self, *texts):
        for line, text in zip(self.lines, texts, strict=True):
            line.body = text
