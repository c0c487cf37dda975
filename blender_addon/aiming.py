"""Where a hit lands on the figure as it stands at the current frame: for hits that the user points at."""

import numpy as np
from mathutils import Vector

from ..core.actor import Actor
from ..core.anatomy import analyse
from ..core.bodies import measure
from ..core.errors import SituationError
from ..core.rotation import conjugate, rotate
from . import clip as clips
from . import job, rig, settings

OUTSIDE = 0.5  # canonical metres from any bone at which a point is no longer meant for the figure


class Stance:
    """A figure at the current frame.  rotation (n, 4), position (n, 3) of its bodies, canonical size."""

    def __init__(self, context, armature):
        skeleton = rig.read(context, armature)
        anatomy = analyse(skeleton, settings.roles(armature) or None)
        seen = armature.evaluated_get(context.evaluated_depsgraph_get())
        matrices = np.array([seen.pose.bones[name].matrix for name in skeleton.names], dtype=np.float64)
        twice = np.stack([matrices, matrices])  # a clip has two moments at least
        world = np.stack([np.array(seen.matrix_world)] * 2)
        clip = clips.to_clip(context.scene, armature, skeleton, [0.0, 1.0], twice, world)
        masses = measure(skeleton, anatomy)
        self.actor = Actor(skeleton, anatomy, masses, job.usual_height(anatomy), clip.scale < 0.0)
        rotation, position = self.actor.canonical(clip)
        self.rotation, self.position = rotation[0], position[0]
        self.factor = masses.scale / abs(clip.scale)  # from scene units to canonical metres

    def inside(self, body, point):
        """(3,) a point of the world [canonical m] in the frame of a body."""
        return rotate(conjugate(self.rotation[body]), point - self.position[body])

    def off(self, point):
        """(n, 3) from the nearest point of every body's axis to the point, and (n,) where on the axis that is, 0..1."""
        local = np.array([self.inside(i, point) for i in range(len(self.position))])
        axis = self.actor.axis
        along = np.einsum("ni,ni->n", local, axis) / np.maximum(np.einsum("ni,ni->n", axis, axis), 1e-12)
        along = np.clip(along, 0.0, 1.0)
        return local - along[:, None] * axis, along


def place(context, armature, hit, point, nearest):
    """(bone, along, offset) of a hit that lands at a point of the scene; nearest: on whatever bone is nearest to it.

    SituationError where the point is away from the figure.
    """
    stance = Stance(context, armature)
    actor, at = stance.actor, stance.factor * np.array(point)
    off, along = stance.off(at)
    body = actor.find(hit.bone, hit.situation.hit, hit.situation.name)
    if nearest:
        distance = np.linalg.norm(off, axis=1) - actor.masses.radius[actor.order]
        body = int(np.argmin(np.where(actor.masses.mass[actor.order] > 0.0, distance, np.inf)))
    if np.linalg.norm(off[body]) > OUTSIDE:
        text = "The 3D cursor is away from '{}'. Put it on the character (Shift and right mouse button)."
        raise SituationError(text.format(actor.names[body] if not nearest else armature.name))
    offset = actor.axes(stance.rotation) @ rotate(stance.rotation[body], off[body])
    return actor.names[body], float(along[body]), tuple(float(x) for x in offset)


def struck_point(context, armature, hit):
    """Where the hit lands now, in the scene."""
    stance = Stance(context, armature)
    actor = stance.actor
    body = actor.find(hit.bone, hit.situation.hit, hit.situation.name)
    point = rotate(stance.rotation[body], hit.situation.along * actor.axis[body])
    if hit.offset is not None:
        point = point + np.array(hit.offset) @ actor.axes(stance.rotation)
    return Vector((stance.position[body] + point) / stance.factor)
