"""A rig whose controls are tried out: channel values in, evaluated poses out, and nothing left behind.

What is moved are the stored values of the armature itself, for its constraints and drivers know no other; they and the
current frame are put back at the end.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ..core.rotation import conjugate, exp, from_matrix, log, log_and_rate, multiply, orthonormal, to_matrix
from . import delta, fk, timing
from .channels import ROTATION, rotation_property
from .sampling import BONE, stored_channels, write_stored

NUDGE = 1e-5  # [rad] by which Euler angles are differentiated


@dataclass(frozen=True)
class Block:
    """What turns or shifts one control.

    bone: its name.  rna: the property that is written.  axes: the components that are free, or for quaternions and
    axis-angles those of a rotation vector in the control's own frame.  Values are radians, or units of the puppet's
    length.
    """

    bone: str
    rna: str
    axes: tuple[int, ...]

    @property
    def whole(self):
        """Whether the values are a rotation vector."""
        return self.rna in ROTATION.values()


class Puppet:
    """While it is entered: `at` a frame, `show(x)` is the pose of the watched bones with x (d,) on the controls.

    names: of the watched bones.  length: what a shift of 1 means [rig units].
    """

    def __init__(self, context, armature, names, length):
        self.context, self.name, self.length = context, armature.name, length
        self.watched = names

    @property
    def armature(self):
        """By its name: it may be kept over the steps of a modal operator."""
        return bpy.data.objects[self.name]

    def __enter__(self):
        scene, bones = self.context.scene, self.armature.pose.bones
        self.back = scene.frame_current, scene.frame_subframe
        self.index = {bone.name: i for i, bone in enumerate(bones)}
        self.before = stored_channels(self.armature, list(self.index), [0.0])
        self.modes = self.before.modes
        self.rows = [self.index[name] for name in self.watched]
        self.use(())
        return self

    def __exit__(self, *_):
        self.context.scene.frame_set(self.back[0], subframe=self.back[1])
        write_stored(self.armature, self.before)
        self.armature.update_tag(refresh={"DATA"})
        self.context.view_layer.update()

    def use(self, blocks):
        """Let x stand for the values of these blocks, one after the other."""
        self.blocks = tuple(blocks)
        ends = np.cumsum([len(block.axes) for block in self.blocks], dtype=int)
        self.columns = [np.arange(end - len(b.axes), end) for b, end in zip(self.blocks, ends, strict=True)]
        self.size = int(ends[-1]) if len(ends) else 0
        self.parts = {rna: self._parts(rna) for rna in {block.rna for block in self.blocks}}

    def _parts(self, rna):
        """(bones, components or None, columns of x) of the blocks that write a property."""
        own = [(block, columns) for block, columns in zip(self.blocks, self.columns, strict=True) if block.rna == rna]
        bones = np.array([self.index[block.bone] for block, _ in own])
        if own[0][0].whole:
            return bones, None, np.stack([columns for _, columns in own])
        axes = [np.array(block.axes) for block, _ in own]
        return np.repeat(bones, [len(a) for a in axes]), np.concatenate(axes), np.concatenate([c for _, c in own])

    def at(self, frame, channels=None, row=0):
        """Go to a frame.  channels: the clip's there, where the scene may show something else; row: theirs."""
        timing.show(self.context.scene, float(frame))
        bones = self.armature.pose.bones
        self.base = {}
        for rna, (_, width) in BONE.items():
            values = np.empty(len(bones) * width, dtype=np.float32)
            bones.foreach_get(rna, values)
            self.base[rna] = values.reshape(-1, width)
        if channels is not None:
            self.stand(self.row(channels, row))
        return self

    def row(self, channels, row):
        """The values of all bones at a row of channels, by property."""
        to, out = [self.index[name] for name in channels.names], {}
        for rna, (field, _) in BONE.items():
            out[rna] = self.base[rna].copy()
            out[rna][to] = getattr(channels, field)[row]
        return out

    def keep(self, channels, row):
        """Write the values that it stands on into a row of channels."""
        to = [self.index[name] for name in channels.names]
        for rna, (field, _) in BONE.items():
            getattr(channels, field)[row] = self.base[rna][to]

    def stand(self, values):
        """Let the values of all bones, by property, be those that x is added to."""
        self.base = {rna: np.asarray(array, dtype=np.float32) for rna, array in values.items()}
        for rna, array in self.base.items():
            self.armature.pose.bones.foreach_set(rna, array.ravel())

    def values(self, x):
        """The values of all bones with x on the controls, by property."""
        return {rna: self._values(rna, x) for rna in BONE}

    def carried(self, goals, now):
        """The values that it stands on, with bones brought to matrices (4, 4) as far as their locks let them.

        goals: bone -> its matrix.  now: (n, 4, 4) of all.  True for bones above which nothing goes along.
        """
        out = {rna: array.astype(np.float64) for rna, array in self.base.items()}
        for name, goal in goals.items():
            i, bone = self.index[name], self.armature.pose.bones[name]
            own = {rna: array[[i]] for rna, array in out.items()}
            basis = fk.compose(own["location"], self._turns(np.array([i]), own), own["scale"])[0]
            basis = basis @ np.linalg.inv(now[i]) @ goal
            free = [not lock for lock in bone.lock_location]
            out["location"][i, free] = basis[:3, 3][free]
            if not any(bone.lock_rotation):
                self.turn(out, i, orthonormal(basis[:3, :3]))
        return out

    def turn(self, values, i, basis):
        """Let the values of all bones, by property, turn the i-th one's basis to a matrix (3, 3)."""
        rna, mode = rotation_property(self.modes[i]), self.modes[i]
        turn = delta.rotation_delta(mode, values[rna][[i]], from_matrix(basis)[None])
        values[rna][i] = delta.rotation_value(mode, values[rna][[i]], turn)[0]

    def show(self, x=None):
        """(R (m, 3, 3), p (m, 3)) of the watched bones in the rig's space, and the matrices (n, 4, 4) of all."""
        return self.posed(self.matrices(x))

    def posed(self, matrices):
        """The pose of the watched bones among the matrices of all, and these."""
        return orthonormal(matrices[self.rows, :3, :3]), matrices[self.rows, :3, 3], matrices

    def matrices(self, x=None):
        """(n, 4, 4) of all bones, in the order of the pose."""
        self._write(np.zeros(self.size) if x is None else x)
        self.armature.update_tag(refresh={"DATA"})
        shown = self.armature.evaluated_get(self.context.evaluated_depsgraph_get())
        values = np.empty(16 * len(self.index), dtype=np.float32)
        shown.pose.bones.foreach_get("matrix", values)
        return values.reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)

    def _write(self, x):
        for rna in self.parts:
            self.armature.pose.bones.foreach_set(rna, self._values(rna, x).ravel())

    def _values(self, rna, x):
        """(n, 3 or 4) of a property of all bones with x on the controls."""
        values = self.base[rna].copy()
        if rna in self.parts:
            bones, axes, columns = self.parts[rna]
            if axes is None:
                values[bones] = turned(rna, values[bones], x[columns])
            else:
                values[bones, axes] += x[columns] * (self.length if rna == "location" else 1.0)
        return values

    def motions(self, x, matrices):
        """(w, v, at), (d, 3) each, of `probing.carried` at x: how each value moves its own control, in the rig's space.

        True for bones that inherit all from their parent; matrices: of all bones there.
        """
        w, v, at = np.zeros((3, self.size, 3))
        values = {rna: self._values(rna, x) for rna in BONE}
        for rna, (bones, axes, columns) in self.parts.items():
            own = {name: array[bones].astype(np.float64) for name, array in values.items()}
            basis = self._turns(bones, own)
            at[columns] = matrices[bones, :3, 3] if axes is not None else matrices[bones, None, :3, 3]
            if rna == "location":
                local = to_matrix(basis) * np.where(own["scale"] == 0.0, 1.0, own["scale"])[:, None]
                parent = matrices[bones, :3, :3] @ np.linalg.inv(local)
                v[columns] = self.length * parent[np.arange(len(bones)), :, axes]
                continue
            parent = orthonormal(matrices[bones, :3, :3]) @ to_matrix(conjugate(basis))
            if axes is None:
                frame = to_matrix(rotation(rna, self.base[rna][bones]))
                w[columns] = (parent @ frame @ _left_jacobian(x[columns])).swapaxes(-1, -2)
            else:
                own[rna][np.arange(len(bones)), axes] += NUDGE
                turn = log(multiply(self._turns(bones, own), conjugate(basis))) / NUDGE
                w[columns] = np.einsum("kij,kj->ki", parent, turn)
        return w, v, at

    def _turns(self, bones, values):
        """(K, 4) the rotation of the bones' basis, by their modes; values: of these bones."""
        modes = np.array(self.modes)[bones]
        out = np.empty((len(bones), 4))
        for mode in set(modes):
            of = modes == mode
            given = (values[rna][of] for rna in ("rotation_quaternion", "rotation_euler", "rotation_axis_angle"))
            out[of] = fk.quaternion(str(mode), *given)
        return out


def turned(rna, stored, w):
    """Values (K, 4) of a quaternion or axis-angle property, turned by rotation vectors (K, 3) in the bones' frames."""
    turn = multiply(rotation(rna, stored), exp(w))
    if rna == "rotation_quaternion":
        return turn
    w = log(turn)
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    return np.concatenate((angle, np.where(angle > 0.0, w / np.maximum(angle, 1e-12), (0.0, 1.0, 0.0))), axis=-1)


def _left_jacobian(w):
    """(K, 3, 3) J with exp(w + dw) = exp(J dw) exp(w) (Chirikjian 2012, 10.86)."""
    return np.linalg.inv(log_and_rate(exp(w))[1].swapaxes(-1, -2))


def rotation(rna, stored):
    """(K, 4) unit quaternions of a quaternion or axis-angle property."""
    stored = np.asarray(stored, dtype=np.float64)
    if rna == "rotation_quaternion":
        return fk.quaternion("QUATERNION", stored, None, None)
    return delta.axis_angle_to_quaternion(stored)
