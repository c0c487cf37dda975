"""Reactions drawn without Blender, so that hundreds can be looked at: the figure's own mesh, bone by bone."""

import numpy as np
from PIL import Image, ImageDraw

from core.rotation import conjugate, rotate

TILE = 200, 240  # [pixels]
AROUND = 2.3  # [m] of the canonical figure that a tile shows from top to bottom
LIGHT = np.array([0.35, 0.5, 0.8])
PLAIN, GHOST, FLOOR, PAPER = (205, 205, 205), (176, 184, 192), (140, 150, 158), (160, 170, 178)
LEGS = {"L": (90, 140, 235), "R": (240, 150, 70)}  # which leg is which, where they cross


def sheet(path, actor, rows):
    """Write a PNG.  rows: [(label, view (3,) from the figure to the eye, [(seconds, own, shown) ...]) ...], world poses
    (n, 4), (n, 3) of the clip, drawn pale, and of the reaction."""
    mesh = Mesh(actor)
    width = max(len(moments) for _, _, moments in rows)
    out = Image.new("RGB", (TILE[0] * width, TILE[1] * len(rows)), PAPER)
    for r, (label, view, moments) in enumerate(rows):
        for c, (seconds, own, shown) in enumerate(moments):
            picture = _tile(mesh, view, own, shown)
            caption = "{:.2f}".format(seconds) if c else label
            ImageDraw.Draw(picture).text((4, 2), caption, (0, 0, 0))
            out.paste(picture, (c * TILE[0], r * TILE[1]))
    out.save(path)


class Mesh:
    """Triangles of an actor's skin, each carried by one body."""

    def __init__(self, actor):
        skin, skeleton, bone = actor.skeleton.skin, actor.skeleton, actor.skeleton.skin.owner
        local = rotate(conjugate(skeleton.rotation[bone]), skin.vertices - skeleton.head[bone])
        self.local = actor.sign * actor.masses.scale * local
        self.body, self.triangles = actor.body[bone], skin.triangles[:, :: int(actor.sign)]
        colours = np.array([_colour(actor, i) for i in range(len(actor.names))])
        self.colour = colours[self.body[self.triangles[:, 0]]]

    def corners(self, pose):
        """(m, 3, 3) of all triangles in the world."""
        q, p = pose
        return (p[self.body] + rotate(q[self.body], self.local))[self.triangles]


def _colour(actor, body):
    """Of a body: its leg's, by side."""
    legs = ("thigh", "upper_arm") if actor.anatomy.kind == "quadruped" else ("thigh",)
    while body >= 0:
        role, _, side = actor.roles[body].partition(".")
        if role in legs:
            return LEGS.get(side, PLAIN)
        body = int(actor.parent[body])
    return PLAIN


def _tile(mesh, view, own, shown):
    """One moment, the eye following the clip."""
    picture = Image.new("RGB", TILE, PAPER)
    pen = ImageDraw.Draw(picture)
    back = np.asarray(view, dtype=float) / np.linalg.norm(view)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    centre = own[1].mean(axis=0) * [1.0, 1.0, 0.0] + [0.0, 0.0, 0.42 * AROUND]
    scale = TILE[1] / AROUND

    def seen(points):
        off = points - centre
        return np.stack((0.5 * TILE[0] + scale * (off @ right), 0.5 * TILE[1] - scale * (off @ up)), axis=-1)

    _floor(pen, seen, centre)
    for pose, colour in ((own, np.broadcast_to(GHOST, mesh.colour.shape)), (shown, mesh.colour)):
        corners = mesh.corners(pose)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
        shade = 0.55 + 0.45 * np.clip(normal @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, 1.0)
        depth = corners.mean(axis=1) @ back
        front = np.flatnonzero(normal @ back > 0.0)
        flat, tones = seen(corners), (colour * shade[:, None]).astype(int)
        for i in front[np.argsort(depth[front])]:
            pen.polygon(list(map(tuple, flat[i])), fill=tuple(map(int, tones[i])))
    return picture


def _floor(pen, seen, centre):
    """A grid of half a metre that stays in the world."""
    first = np.floor(centre[:2] / 0.5) * 0.5
    for k in range(-4, 6):
        for axis in (0, 1):
            ends = np.zeros((2, 3))
            ends[:, axis] = first[axis] + 0.5 * k
            ends[:, 1 - axis] = first[1 - axis] + np.array([-2.0, 2.5])
            pen.line(list(map(tuple, seen(ends))), fill=FLOOR)
