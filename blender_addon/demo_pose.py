"""Posing the demo character by what an animator thinks in: turns about the body's axes, planted feet, reaching arms.

A turn is a rotation about the rest pose's axes carried along by the parent: x pitches (positive leans forward,
lifts a hanging arm back, lowers the toes), y tilts, z twists. On the right side y and z are mirrored, so one
number means the same thing on both sides.
"""

from math import acos, cos, radians, sin

from mathutils import Matrix, Quaternion, Vector

from .demo_skeleton import BONES

X, Y, Z = Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))


def turn(x=0.0, y=0.0, z=0.0, side=""):
    """Quaternion of a pitch, then a tilt, then a twist in degrees; `side` "R" mirrors it."""
    flip = -1 if side == "R" else 1
    return (Quaternion(Z, radians(flip * z)) @ Quaternion(Y, radians(flip * y)) @ Quaternion(X, radians(x)))


def _frame(direction, normal):
    """Orientation with its first axis along `direction` and its last along `normal` (at right angles to it)."""
    direction = direction.normalized()
    normal = (normal - direction * normal.dot(direction)).normalized()
    return Matrix((direction, normal.cross(direction), normal)).transposed().to_quaternion()


class Figure:
    """Rest pose of the built armature: orientation and joints of its bones in armature space."""

    def __init__(self, armature):
        self.rest = {bone.name: bone.matrix_local.to_quaternion() for bone in armature.bones}
        self.head = {bone: Vector(head) for bone, (head, _, _) in BONES.items()}
        self.parent = {bone: parent for bone, (_, _, parent) in BONES.items()}
        self.length = {bone: (Vector(tail) - Vector(head)).length for bone, (head, tail, _) in BONES.items()}

    def direction(self, bone):
        head, tail, _ = BONES[bone]
        return (Vector(tail) - Vector(head)).normalized()


class Pose:
    """Turns of all bones against their parents, and the place of the pelvis."""

    def __init__(self, figure):
        self.figure = figure
        self.local = {bone: Quaternion() for bone in figure.parent}
        self.pelvis = figure.head["pelvis"].copy()

    def turn(self, bone, x=0.0, y=0.0, z=0.0):
        """Turn a bone further, about the axes of its present pose's parent."""
        self.local[bone] = turn(x, y, z, bone[-1:]) @ self.local[bone]

    def world(self, bone):
        """How far the bone is turned from its rest orientation."""
        parent = self.figure.parent[bone]
        return self.local[bone] if parent is None else self.world(parent) @ self.local[bone]

    def joint(self, bone):
        """Where the bone's head is."""
        parent, head = self.figure.parent[bone], self.figure.head
        if bone == "pelvis":
            return self.pelvis.copy()
        if parent is None:
            return head[bone].copy()
        return self.joint(parent) + self.world(parent) @ (head[bone] - head[parent])

    def _set_world(self, bone, world):
        self.local[bone] = self.world(self.figure.parent[bone]).inverted() @ world

    def _aim(self, upper, lower, upper_direction, lower_direction, normal):
        """Point a limb's two bones; both keep the limb's hinge axis along `normal`."""
        rest = self.figure.direction(upper), self.figure.direction(lower)
        hinge = rest[0].cross(rest[1])
        for bone, was, now in zip((upper, lower), rest, (upper_direction, lower_direction), strict=True):
            self._set_world(bone, _frame(now, normal) @ _frame(was, hinge).inverted())

    def plant(self, side, ankle, foot, toe_pitch, knee_out=0.0):
        """Two-bone IK: put the ankle there with the foot turned so; knee ahead, turned out by degrees."""
        thigh, shin = "thigh." + side, "shin." + side
        a, b = self.figure.length[thigh], self.figure.length[shin]
        hip = self.joint(thigh)
        to_ankle = ankle - hip
        reach = min(to_ankle.length, 0.9998 * (a + b))
        ahead = self.world("pelvis") @ turn(z=knee_out, side=side) @ Vector((0, -1, 0))
        along = to_ankle.normalized()
        ahead = (ahead - along * ahead.dot(along)).normalized()
        bend = acos((a * a + reach * reach - b * b) / (2 * a * reach))
        knee = hip + (along * cos(bend) + ahead * sin(bend)) * a
        # the rest hinge is thigh x shin; with the knee ahead of the line hip - ankle that points the same way
        self._aim(thigh, shin, knee - hip, ankle - knee, (knee - hip).cross(ankle - knee))
        self._set_world("foot." + side, foot)
        self.local["toe." + side] = turn(toe_pitch)

    def reach(self, side, upper_direction, lower_direction):
        """Point upper arm and forearm, given in the chest's axes (left side; mirrored for the right)."""
        flip = Matrix.Diagonal((-1, 1, 1)) if side == "R" else Matrix.Identity(3)
        chest = self.world("spine.03")
        upper, lower = (chest @ (flip @ Vector(v).normalized()) for v in (upper_direction, lower_direction))
        self._aim("upper_arm." + side, "forearm." + side, upper, lower, upper.cross(lower))

    def bend_elbow(self, side, degrees):
        """Bend the elbow further about its own hinge."""
        upper, lower = self.figure.direction("upper_arm." + side), self.figure.direction("forearm." + side)
        self.local["forearm." + side] = Quaternion(upper.cross(lower).normalized(), radians(degrees))

    def turn_palm(self, side, degrees):
        """Turn the palm to the back about the forearm, as a relaxed hand hangs: most of it in the forearm."""
        axis, angle = self.figure.direction("forearm." + side), radians(degrees if side == "L" else -degrees)
        self.local["forearm." + side] @= Quaternion(axis, 0.6 * angle)
        self.local["hand." + side] @= Quaternion(axis, 0.4 * angle)

    def leg_slack(self, side, ankle):
        """How much the pelvis may rise until the leg to this ankle is straight (negative: must sink)."""
        hip = self.joint("thigh." + side)
        full = 0.997 * (self.figure.length["thigh." + side] + self.figure.length["shin." + side])
        across = (ankle - hip).xy.length
        return ankle.z + max(full * full - across * across, 0.0) ** 0.5 - hip.z

    def basis(self, bone):
        """Rotation as the pose bone stores it."""
        rest = self.figure.rest[bone]
        return rest.inverted() @ self.local[bone] @ rest

    def pelvis_location(self):
        return self.figure.rest["pelvis"].inverted() @ (self.pelvis - self.figure.head["pelvis"])
