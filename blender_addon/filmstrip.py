"""Film strips: the same moments of a motion side by side, one row for each state (original, reaction ...).

Everything is drawn in a temporary scene that only borrows the subject's objects, with Workbench, which also renders
headless. The user's scene is never touched, and the temporary data are removed even if rendering fails.
"""

import contextlib
import os
import tempfile
from dataclasses import dataclass
from math import atan

import bpy
import numpy as np
from mathutils import Vector

from . import filmstrip_shapes as shapes
from . import timing

VIEWS = {"three_quarter": (0.75, -0.85, 0.22), "side": (1.0, 0.0, 0.06), "front": (0.0, -1.0, 0.06)}
CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
BACKGROUND = (0.42, 0.47, 0.53)
ARROW = 0.25             # seconds for which the arrow of a hit stays
GAP = 3                  # pixels between tiles
MARGIN = 1.08            # room around the subject
CAPTION = 0.075          # height of the captions' band, share of the tile's width
TAN_HALF = 0.20          # half the tile's longer side over the distance: a long lens, little distortion
FOLLOW = 0.4             # the camera goes along when the subject travels further than this many of its heights


@dataclass(frozen=True)
class Framing:
    """What the camera must see. centres: (F, 3) aim at each frame. size: subject's height [scene units].
    floor: its lowest z. low, high: corners of the box travelled. distance: camera to aim."""

    centres: np.ndarray
    size: float
    floor: float
    low: np.ndarray
    high: np.ndarray
    distance: float
    direction: Vector


def strip(path, context, objects, frames, rows, *, view="three_quarter", hits=(), tile=(240, 300)):
    """Render a film strip of `objects` at `frames` to the PNG `path`, one row for each of `rows`.

    objects: armatures and meshes; an armature brings the visible meshes it deforms or carries, and is drawn as
        bones where there are none.
    rows: [(label, switch)]; `switch()` puts the data into the row's state, e.g. mutes a track. The last row's
        state stays. A None switch changes nothing.
    view: a key of VIEWS, or the direction (x, y, z) from the subject to the camera.
    hits: (frame, point, direction) of each in world space, the first one first: red arrows on the frames of the
        moments, not in the first of several rows.  Captions count from the first.
    """
    frames = [float(frame) for frame in frames]
    armatures, meshes = subject(context, objects)
    if not armatures and not meshes:
        raise ValueError("A film strip needs an armature or a mesh among its objects.")
    with _stage(context, tile) as stage:
        cast = shapes.Cast(stage, armatures, meshes)
        direction = Vector(VIEWS[view] if isinstance(view, str) else view).normalized()
        framing = _framing(stage, cast, frames, rows, direction, hits, tile)
        _furnish(stage, framing, tile)
        cast.cast_shadow(framing.floor + 0.002 * framing.size)
        arrows = [(hit[0], shapes.arrow(stage, hit[1], hit[2], 0.28 * framing.size)) for hit in hits]
        pictures = []
        for number, (label, switch) in enumerate(rows):
            if switch:
                switch()
            marked = number > 0 or len(rows) == 1
            pictures.append([_tile(stage, cast, framing, k, frames, label if k == 0 else "", arrows, marked)
                             for k in range(len(frames))])
        _save(stage, path, pictures)


def subject(context, objects):
    """Split objects into armatures that must be drawn as bones and the meshes to show."""
    meshes = [ob for ob in objects if ob.type == "MESH"]
    bare = []
    for rig in (ob for ob in objects if ob.type == "ARMATURE"):
        own = [ob for ob in context.scene.objects if ob.type == "MESH" and _belongs(ob, rig) and _shown(context, ob)]
        meshes += [ob for ob in own if ob not in meshes]
        if not own and not any(_belongs(ob, rig) for ob in meshes):
            bare.append(rig)
    return bare, meshes


def _belongs(mesh, rig):
    return mesh.parent == rig or any(mod.type == "ARMATURE" and mod.object == rig for mod in mesh.modifiers)


def _shown(context, ob):
    return not ob.hide_render and ob.visible_get(view_layer=context.view_layer)


class Stage:
    """The temporary scene, and all data made for it."""

    def __init__(self, context, tile, folder):
        self.made = []
        self.captions = None
        self.folder = folder
        self.original = context.scene
        self.scene = self.keep(bpy.data.scenes.new("Film Strip"))
        self.camera = self.add("Film Strip Camera", self.keep(bpy.data.cameras.new("Film Strip")))
        self.scene.camera = self.camera
        self.scene.world = self.keep(bpy.data.worlds.new("Film Strip"))
        self.scene.world.color = BACKGROUND
        self._settings(tile)

    def keep(self, block):
        self.made.append(block)
        return block

    def add(self, name, data):
        """A new object in the temporary scene."""
        ob = self.keep(bpy.data.objects.new(name, data))
        self.scene.collection.objects.link(ob)
        return ob

    def _settings(self, tile):
        render, display = self.scene.render, self.scene.display
        render.engine = "BLENDER_WORKBENCH"
        render.resolution_x, render.resolution_y = tile
        render.resolution_percentage = 100
        render.fps, render.fps_base = self.original.render.fps, self.original.render.fps_base
        render.image_settings.file_format = "PNG"
        render.image_settings.color_mode = "RGB"
        render.image_settings.compression = 0
        render.filepath = os.path.join(self.folder, "tile.png")
        self.scene.view_settings.view_transform = "Standard"
        display.render_aa = "8"
        display.shading.light = "STUDIO"
        display.shading.color_type = "TEXTURE"               # the material colour where there is no texture
        display.shading.show_cavity = True

    def go_to(self, frame):
        self.scene.frame_set(int(frame // 1), subframe=frame % 1)

    @property
    def depsgraph(self):
        return self.scene.view_layers[0].depsgraph

    def picture(self):
        """Render; pixels (height, width, 4) from the bottom up."""
        # without the override Blender renders this scene, but with the poses of the user's scene
        with bpy.context.temp_override(scene=self.scene, view_layer=self.scene.view_layers[0]):
            bpy.ops.render.render(write_still=True, scene=self.scene.name)
        image = bpy.data.images.load(self.scene.render.filepath, check_existing=False)
        width, height = image.size
        pixels = np.empty(width * height * 4, dtype=np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
        return pixels.reshape(height, width, 4)


@contextlib.contextmanager
def _stage(context, tile):
    """A stage for the time of the `with` block; afterwards the file's data are as before."""
    before = _channels(context.scene)
    images, fonts = set(bpy.data.images.keys()), set(bpy.data.fonts.keys())
    with tempfile.TemporaryDirectory(prefix="film_strip_") as folder:
        stage = Stage(context, tile, folder)
        try:
            yield stage
        finally:
            bpy.data.batch_remove(stage.made[::-1])
            bpy.data.batch_remove([block for block in bpy.data.images if block.name not in images])
            bpy.data.batch_remove([block for block in bpy.data.fonts if block.name not in fonts])
            _restore(before)
            context.view_layer.update()


def _channels(scene):
    """[(object, pose bones or None, property, values)]: in the background Blender's evaluation of any scene writes
    animated values back to the objects."""
    stored = []
    for ob in scene.objects:
        bones = ob.pose.bones if ob.pose else None
        for name, width in CHANNELS.items():
            stored.append((ob, None, name, tuple(getattr(ob, name))))
            if bones:
                values = np.empty(width * len(bones), dtype=np.float32)
                bones.foreach_get(name, values)
                stored.append((ob, bones, name, values))
    return stored


def _restore(stored):
    for ob, bones, name, values in stored:
        if bones:
            bones.foreach_set(name, values)
            ob.update_tag(refresh={"OBJECT", "DATA"})
        elif tuple(getattr(ob, name)) != values:
            setattr(ob, name, values)


def _framing(stage, cast, frames, rows, direction, hits, tile):
    """Measure the subject in all rows at all frames."""
    clouds, homes = [], None
    for _, switch in rows:
        if switch:
            switch()
        row = []
        for frame in frames:
            stage.go_to(frame)
            row.append(cast.points())
        clouds.append(row)
        homes = homes if homes is not None else np.array([(p.min(axis=0) + p.max(axis=0)) / 2 for p in row])
    low = np.min([p.min(axis=0) for row in clouds for p in row], axis=0)
    high = np.max([p.max(axis=0) for row in clouds for p in row], axis=0)
    size = max(max(np.ptp(p, axis=0).max() for p in clouds[0]), 1e-6)
    centres = homes.copy()
    if np.linalg.norm(np.ptp(homes, axis=0)) < FOLLOW * size:
        centres[:] = (homes.min(axis=0) + homes.max(axis=0)) / 2
    centres[:, 2] = (min(p[:, 2].min() for p in clouds[0]) + max(p[:, 2].max() for p in clouds[0])) / 2
    relative = np.concatenate([p - c for row in clouds for p, c in zip(row, centres, strict=True)])
    for frame, point, pushed in hits:
        nearest = int(np.argmin(np.abs(np.array(frames) - frame)))
        tail = np.array(point) - np.array(Vector(pushed).normalized()) * 0.3 * size
        relative = np.vstack([relative, tail - centres[nearest]])
    shift, distance = _fit(relative, direction, tile)
    return Framing(centres + shift, size, float(low[2]), low, high, distance, direction)


def _axes(direction):
    """Camera axes in the world, as rows: right, up, back."""
    right = Vector((0, 0, 1)).cross(direction)
    right = right.normalized() if right.length > 1e-6 else Vector((1, 0, 0))
    return np.array([right, direction.cross(right), direction])


def _fit(points, direction, tile):
    """Shift of the aim and distance of the camera so that all points (relative to the aim) are in view."""
    axes = _axes(direction)
    seen = points @ axes.T
    middle = (seen.min(axis=0) + seen.max(axis=0)) / 2
    middle[2] = 0.0
    across = np.abs(seen - middle)
    tangent = TAN_HALF * np.array(tile) / max(tile) / MARGIN
    band = CAPTION * TAN_HALF * tile[0] / max(tile)                  # stays free: aim higher, by half of it
    tangent[1] -= band
    distance = (seen[:, 2] + (across[:, :2] / tangent).max(axis=1)).max()
    middle[1] += band * distance
    return middle @ axes, float(distance)


def _furnish(stage, framing, tile):
    """Camera, captions and floor."""
    camera = stage.camera.data
    camera.sensor_fit = "AUTO"
    camera.angle = 2 * atan(TAN_HALF)
    camera.clip_start, camera.clip_end = 0.01 * framing.distance, 100 * framing.distance
    stage.camera.rotation_euler = framing.direction.to_track_quat("Z", "Y").to_euler()
    width, height = 2 * TAN_HALF * np.array(tile) / max(tile)
    stage.captions = shapes.Captions(stage, framing.distance, width, height, CAPTION)
    shapes.floor(stage, framing.low, framing.high, framing.floor, framing.size)


def _tile(stage, cast, framing, k, frames, label, arrows, marked):
    """Picture of one moment in the present state."""
    frame = frames[k]
    stage.go_to(frame)
    cast.update()
    stage.camera.location = Vector(framing.centres[k]) + framing.direction * framing.distance
    fps = timing.rate(stage.original)
    for landed, arrow in arrows:
        arrow.hide_render = not (marked and 0.0 <= frame - landed <= ARROW * fps)
    start = arrows[0][0] if arrows else frames[0]
    caption = "{:g}   {:+.2f} s".format(frame, (frame - start) / fps)
    stage.captions.show(label, caption)
    return stage.picture()


def _save(stage, path, rows):
    """Put the tiles together, first row on top, and write the PNG."""
    height, width = rows[0][0].shape[:2]
    sheet = np.ones((len(rows) * (height + GAP) + GAP, len(rows[0]) * (width + GAP) + GAP, 4), dtype=np.float32)
    for r, row in enumerate(reversed(rows)):
        for c, picture in enumerate(row):
            y, x = GAP + r * (height + GAP), GAP + c * (width + GAP)
            sheet[y:y + height, x:x + width] = picture
    image = stage.keep(bpy.data.images.new("Film Strip", sheet.shape[1], sheet.shape[0], alpha=False))
    image.pixels.foreach_set(sheet.ravel())
    image.filepath_raw = str(path)
    image.file_format = "PNG"
    image.save()
