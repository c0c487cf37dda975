"""What a film strip draws beside the subject's own meshes: bones, floor, arrow and captions."""

from math import ceil

import bpy
import numpy as np
from mathutils import Matrix, Vector

BONE = (0.85, 0.62, 0.25)
FLOOR = ((0.72, 0.74, 0.76), (0.92, 0.94, 0.96))
RED = (0.85, 0.03, 0.03)
SHADOW = (0.36, 0.38, 0.42)
SHADOW_FALLS = (0.30, 0.40, 0.0)    # how far a point's shadow lies from it, for each unit of height
TEXT = (0.0, 0.0, 0.0)
PAPER = (1.0, 1.0, 1.0)
OCTAHEDRON = ((0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 1, 4), (5, 1, 2), (5, 2, 3), (5, 3, 4), (5, 4, 1))


class Cast:
    """The subject on the stage: borrowed meshes, and a stand-in mesh for armatures without any."""

    def __init__(self, stage, armatures, meshes):
        self.stage, self.armatures, self.meshes = stage, armatures, meshes
        for ob in [*armatures, *meshes]:
            stage.scene.collection.objects.link(ob)
        self.bones = [link for rig in armatures for link in _links(rig)]
        self.stand_in = self.shadow = None
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
        """(n, 2, 3) both ends of the drawn bones in the world."""
        depsgraph = self.stage.depsgraph
        posed = {rig: rig.evaluated_get(depsgraph) for rig in self.armatures}
        ends = []
        for rig, name, child in self.bones:
            bones, place = posed[rig].pose.bones, posed[rig].matrix_world
            ends.append([place @ bones[name].head, place @ (bones[child].head if child else bones[name].tail)])
        return np.array(ends)

    def cast_shadow(self, z):
        """From now on a flat shadow of the meshes lies at height z: shadows of Workbench's own cost a second a tile."""
        faces, first = [], 0
        for ob in self.meshes:
            data = ob.evaluated_get(self.stage.depsgraph).data
            faces += [[first + vertex for vertex in face.vertices] for face in data.polygons]
            first += len(data.vertices)
        self.floor = z
        self.shadow = mesh(self.stage, "Film Strip Shadow", np.zeros((first, 3)), faces, [SHADOW]) if faces else None

    def update(self):
        """Bring the stand-in's octahedra to the bones and the shadow to the meshes."""
        if self.stand_in:
            _move(self.stand_in, np.concatenate([_octahedron(*ends) for ends in self._ends()]))
        if self.shadow:
            points = self.points()[2 * len(self.bones):]
            if len(points) == len(self.shadow.data.vertices):            # a modifier may change it over time
                points += np.outer(points[:, 2] - self.floor, SHADOW_FALLS)
                points[:, 2] = self.floor
                _move(self.shadow, points)


def _links(rig):
    """[(rig, bone, child or None)]: bones are drawn from joint to joint, as importers leave tails anywhere; the last
    ones to their tails if this rig's tails are where the next joints are.  Of rigs with controls only what deforms."""
    if any(bone.use_deform for bone in rig.data.bones) and any(bone.custom_shape for bone in rig.pose.bones):
        return [(rig, bone.name, None) for bone in rig.data.bones if bone.use_deform and bone.length > 0]
    inner, met, leaves = [], 0, []
    for bone in rig.data.bones:
        inner += [(rig, bone.name, child.name) for child in bone.children
                  if (child.head_local - bone.head_local).length > 0]
        met += any((child.head_local - bone.tail_local).length < 1e-3 * bone.length for child in bone.children)
        if not bone.children and bone.length > 0:
            leaves.append((rig, bone.name, None))
    return inner + (leaves if 2 * met >= len(rig.data.bones) - len(leaves) or not inner else [])


def _move(ob, points):
    ob.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    ob.data.update()


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
    data.from_pydata(np.asarray(points).tolist(), [], [list(map(int, face)) for face in faces])
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
    return ob


class Captions:
    """A pale band along the tile's top, fixed before the camera: the row's name left, frame and time right."""

    def __init__(self, stage, distance, width, height, share):
        depth = 0.1 * distance
        width, height = width * depth, height * depth
        band = share * width
        top, left, right = height / 2, -width / 2, width / 2
        corners = [(left, top - band, 0), (right, top - band, 0), (right, top, 0), (left, top, 0)]
        paper = mesh(stage, "Film Strip Band", corners, [(0, 1, 2, 3)], [PAPER])
        self._before_camera(stage, paper, (0, 0, -1.01 * depth))
        self.lines = []
        for x, align in ((left + 0.3 * band, "LEFT"), (right - 0.3 * band, "RIGHT")):
            data = stage.keep(bpy.data.curves.new("Film Strip Text", "FONT"))
            data.size = 0.85 * band
            data.align_x = align
            data.materials.append(material(stage, "Film Strip Text", TEXT))
            line = stage.add("Film Strip Text", data)
            self._before_camera(stage, line, (x, top - 0.74 * band, -depth))
            self.lines.append(data)

    @staticmethod
    def _before_camera(stage, ob, place):
        ob.parent = stage.camera
        ob.location = place

    def show(self, *texts):
        for line, text in zip(self.lines, texts, strict=True):
            line.body = text
