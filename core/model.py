"""The articulated body: a tree of rigid bodies, each carried by one joint.

A joint is a constant motion subspace in its body's frame and nothing else: no columns is a prescribed (or fixed)
joint, one a revolute or prismatic joint, three a spherical or planar one, six a free base.  (A universal joint is two
revolute ones with a massless body between.  The axes of one joint that turns about two both go with the body, unlike a
cross's, and turns about them add up to some about the third: from that `simulate` keeps it, off the clip, at a price in
energy.)  The state of every joint is its body's full pose and twist relative to the parent, so a joint may change from
prescribed to dynamic and back over time by changing the model, with the state left as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .errors import ModelError
from .groups import Groups
from .groups import build as groups
from .lanes import beside, laned, matmul, memory, over, product, seen
from .lazily import lazily
from .levels import Levels
from .levels import build as levels
from .limbs import Limbs, entries
from .limbs import build as limbs
from .rotation import Array, to_matrix
from .soundness import check_joints, check_masses, unit
from .spatial import apply, apply_T, roams

BY_LEVEL = 500_000  # products in a sum along the tree, from where on additions level by level are quicker

FIXED: Array = np.zeros((0, 6))
SPHERICAL: Array = np.eye(6)[:3]
FREE: Array = np.eye(6)


def revolute(axis: Sequence[float] | Array) -> Array:
    """Motion subspace (1, 6) of a hinge about an axis (3,) through the body's origin, body frame."""
    return np.concatenate((unit(axis), np.zeros(3)))[None]


def prismatic(axis: Sequence[float] | Array) -> Array:
    """Motion subspace (1, 6) of a slider along an axis (3,), body frame."""
    return np.concatenate((np.zeros(3), unit(axis)))[None]


def planar(normal: Sequence[float] | Array) -> Array:
    """Motion subspace (3, 6) of a body that turns about a normal (3,) and slides square to it, body frame."""
    n = unit(normal)
    side = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    side = side / np.linalg.norm(side)
    return np.concatenate((revolute(n), prismatic(side), prismatic(np.cross(n, side))))


@dataclass(eq=False)  # not frozen: one is made in every sub-step, see `forces.step.Step`
class State:
    """Configuration and velocity of every joint, leading batch axes allowed.

    rotation: (..., n, 4) body to parent.  position: (..., n, 3) body origin in the parent [m].
    twist: (..., n, 6) velocity of the body relative to its parent, in the body's frame [rad/s, m/s].
    """

    rotation: Array
    position: Array
    twist: Array

    @lazily
    def R(self) -> Array:  # noqa: N802  as in Kinematics
        """(..., n, 3, 3) the rotations as matrices."""
        return to_matrix(self.rotation)


@dataclass(frozen=True, eq=False)
class Model:
    """Bodies in an order in which parents stand before their children.

    names: n bodies.  parent: (n,) -1 = world.  joints: n motion subspaces, rows are the axes, (d_i, 6) body frame.
    inertia: (n, 6, 6) spatial inertia at the body's origin, body frame [kg, m].
    """

    names: tuple[str, ...]
    parent: np.ndarray
    joints: tuple[Array, ...]
    inertia: Array

    def __post_init__(self) -> None:
        n = len(self.names)
        if n == 0:
            raise ModelError("The body has no bones. Give it one at least.")
        object.__setattr__(self, "parent", np.asarray(self.parent))
        object.__setattr__(self, "inertia", np.asarray(self.inertia, dtype=np.float64))
        object.__setattr__(self, "joints", tuple(np.asarray(joint, dtype=np.float64) for joint in self.joints))
        if np.shape(self.parent) != (n,) or np.shape(self.inertia) != (n, 6, 6) or len(self.joints) != n:
            raise ValueError(f"Model: parent, joints and inertia must describe {n} bodies")
        kind = np.asarray(self.parent).dtype.kind
        if kind not in "iu" or not np.all((self.parent >= -1) & (self.parent < np.arange(n))):
            raise ValueError("Model.parent: expected whole numbers from -1 on, parents before their children")
        check_joints(self.names, self.joints)
        check_masses(self.names, self.parent, self.ancestor, self.joints, self.inertia)

    @cached_property
    def n(self) -> int:
        """Number of bodies."""
        return len(self.names)

    @cached_property
    def ancestor(self) -> Array:
        """(n, n) 1.0 where body j lies on the way from body i to the world, i included."""
        out = np.eye(len(self.names))
        for i, p in enumerate(self.parent):
            if p >= 0:
                out[i] += out[p]
        return out

    @cached_property
    def pseudo(self) -> Array:
        """(n, 4, 4) pseudo-inertia of each body, int [r; 1] [r; 1]^T dm, body frame: it moves with T J T^T."""
        out = np.empty((self.n, 4, 4))
        about = self.inertia[:, :3, :3]
        out[:, :3, :3] = 0.5 * np.trace(about, axis1=-2, axis2=-1)[:, None, None] * np.eye(3) - about
        moment = self.inertia[:, :3, 3:]
        out[:, :3, 3] = out[:, 3, :3] = np.stack((moment[:, 2, 1], moment[:, 0, 2], moment[:, 1, 0]), axis=-1)
        out[:, 3, 3] = self.inertia[:, 5, 5]
        return out

    @cached_property
    def dof_body(self) -> np.ndarray:
        """(nv,) the body each degree of freedom moves."""
        return np.repeat(np.arange(self.n), [len(j) for j in self.joints])

    @cached_property
    def dof_axis(self) -> Array:
        """(nv, 6) the motion vector of each degree of freedom, body frame."""
        return np.concatenate([*self.joints, np.zeros((0, 6))])

    @cached_property
    def nv(self) -> int:
        """Number of dynamic degrees of freedom."""
        return len(self.dof_body)

    @cached_property
    def aligned(self) -> bool:
        """Whether every degree of freedom moves along one of the six coordinates of its joint's twist."""
        return bool(np.all(np.sort(self.dof_axis, axis=1) == np.eye(6)[-1])) and self.nv == len(
            np.unique(6 * self.dof_body + self.dof_axis.argmax(axis=1))
        )

    @cached_property
    def partial(self) -> np.ndarray:
        """Bodies whose joints move, but turn about fewer than three axes."""
        kinds = {id(joint): joint[:, :3] for joint in self.joints if len(joint)}
        turns = {kind: int(np.linalg.matrix_rank(axes)) for kind, axes in kinds.items()}
        return np.flatnonzero([turns.get(id(joint), 3) < 3 for joint in self.joints])

    @cached_property
    def across(self) -> Array:
        """(m, 3, 3) projectors on the turns that the joints of these bodies cannot make, whatever they travel by."""
        axes = [self.joints[i][:, :3].T for i in self.partial.tolist()]
        return np.eye(3) - np.array([A @ np.linalg.pinv(A) for A in axes]).reshape(-1, 3, 3)

    @cached_property
    def sliding(self) -> slice:
        """From the first to the last of the bodies whose joints may travel, mostly one: the base."""
        bodies = np.flatnonzero([np.any(joint[:, 3:]) for joint in self.joints])
        return slice(int(bodies[0]), int(bodies[-1]) + 1) if len(bodies) else slice(0)

    @cached_property
    def roaming(self) -> np.ndarray:
        """Bodies with `spatial.roams` joints, mostly one: the base."""
        return np.flatnonzero([roams(joint) for joint in self.joints])

    @cached_property
    def width(self) -> int:
        """Columns of tables by body and degree of freedom: six if aligned, else the most that any joint has."""
        return 6 if self.aligned else max((len(j) for j in self.joints), default=0)

    @cached_property
    def slot(self) -> np.ndarray:
        """(nv,) flat index of each degree of freedom in an (n, width) table; where aligned, a table of twists."""
        if self.aligned:
            return 6 * self.dof_body + self.dof_axis.argmax(axis=1)
        first = np.concatenate([np.arange(len(j)) for j in self.joints])
        return self.dof_body * self.width + first

    @cached_property
    def column(self) -> np.ndarray:
        """(nv,) each degree of freedom's slot among those of its body."""
        return self.slot - self.dof_body * self.width

    @cached_property
    def entries(self) -> np.ndarray:
        """(nv, 6) flat indices of each degree of freedom's axis in an (n, 6, width) table of them."""
        return entries(self.slot, self.width)

    @cached_property
    def used(self) -> Array:
        """(n, width) 1.0 where a slot has a degree of freedom."""
        out = np.zeros((self.n, self.width))
        out.reshape(-1)[self.slot] = 1.0
        return out

    @cached_property
    def subspace(self) -> Array:
        """(n, 6, width) the joints' axes as columns, zero where a slot is unused."""
        out = np.zeros((self.n, self.width, 6))
        out.reshape(-1, 6)[self.slot] = self.dof_axis
        return np.ascontiguousarray(out.swapaxes(-1, -2))

    @cached_property
    def above(self) -> Array:
        """(nv, nv) 1.0 where the body of degree of freedom i carries that of j, 0.5 where it is the same body."""
        carries = self.ancestor[self.dof_body][:, self.dof_body].T
        return np.ascontiguousarray(carries * np.where(self.dof_body[:, None] == self.dof_body, 0.5, 1.0))

    @cached_property
    def block(self) -> tuple[np.ndarray, np.ndarray]:
        """Where joint blocks lie: flat indices in an (nv, nv) matrix, and in an (n, width, width) table."""
        rows, columns = np.nonzero(self.dof_body[:, None] == self.dof_body)
        return rows * self.nv + columns, self.slot[rows] * self.width + self.column[columns]

    def held(self, twist: Array) -> Array:
        """The part of joint twists (..., n, 6) that is prescribed."""
        return twist * beside(twist, self._unused) if self.aligned else apply(self.residual, twist)

    @cached_property
    def _unused(self) -> Array:
        """(n, 6) 1.0 where an aligned joint has no degree of freedom."""
        return 1.0 - self.used

    @cached_property
    def residual(self) -> Array:
        """(n, 6, 6) projector on the part of a joint's twist that is prescribed."""
        out = np.tile(np.eye(6), (self.n, 1, 1))
        for i, joint in enumerate(self.joints):
            if len(joint):
                out[i] -= joint.T @ np.linalg.pinv(joint.T)
        return out

    @cached_property
    def levels(self) -> Levels:
        """Bodies by depth."""
        return levels(tuple(self.parent.tolist()))

    def outward(self, values: Array) -> Array:
        """(..., n, c) sums over all bodies that carry a body, itself included."""
        if values.ndim > 2 and laned(values):
            return over(self.outward, values)
        return matmul(self.ancestor, values) if values.size * self.n < BY_LEVEL else self.levels.outward(values)

    def inward(self, values: Array) -> Array:
        """(..., n, c) sums over all bodies that a body carries, itself included."""
        if values.ndim > 2 and laned(values):
            return over(self.inward, values)
        return matmul(self.ancestor.T, values) if values.size * self.n < BY_LEVEL else self.levels.inward(values)

    @cached_property
    def limbs(self) -> Limbs:
        """Groups of bodies that the tree solver takes as one."""
        return limbs(self.parent, self.ancestor, self.dof_body, self.slot, self.width)

    @cached_property
    def groups(self) -> Groups:
        """Bodies as a solver of many systems side by side takes them."""
        return groups(self.parent, self.levels, self.dof_body, self.column, self.width)

    @cached_property
    def jumps(self) -> tuple[np.ndarray, ...]:
        """Ancestor tables for pointer jumping: 1, 2, 4 ... steps up; n stands for the world."""
        up = np.append(np.where(self.parent < 0, self.n, self.parent), self.n)
        out = []
        while np.any(up[:-1] != self.n):
            out.append(up[:-1])
            up = up[up]
        return tuple(out)

    @cached_property
    def coordinate(self) -> Array:
        """(n, width, 6) takes joint twists to velocities by degree of freedom."""
        return np.array([np.linalg.pinv(S) for S in self.subspace])

    def table(self, u: Array) -> Array:
        """Values by degree of freedom (..., nv) as a table (..., n, width), unused slots zero."""
        if u.ndim > 1 and u.strides[0] == u.itemsize:
            lying = np.zeros((self.width, self.n, *u.shape[-2::-1]))
            lying[self.column, self.dof_body] = u.T
            return seen(lying)
        out = np.zeros(u.shape[:-1] + (self.n * self.width,))
        out[self.slot if u.ndim == 1 else (..., self.slot)] = u  # without the dots numpy takes a third of the time
        return out.reshape(u.shape[:-1] + (self.n, self.width))

    def by_dof(self, table: Array) -> Array:
        """The used slots (..., nv) of a table (..., n, width)."""
        if table.ndim > 2 and laned(table):
            return memory(table)[self.column, self.dof_body].T
        return table.reshape(table.shape[:-2] + (-1,)).take(self.slot, axis=-1)

    def expand(self, u: Array) -> Array:
        """Accelerations by degree of freedom (..., nv) to joint twists (..., n, 6)."""
        return self.table(u) if self.aligned else apply(self.subspace, self.table(u))

    def coordinates(self, twist: Array) -> Array:
        """The dynamic part of joint twists (..., n, 6) by degree of freedom (..., nv)."""
        return self.by_dof(twist if self.aligned else apply(self.coordinate, twist))

    def project(self, f: Array) -> Array:
        """Joint forces (..., n, 6) to forces by degree of freedom (..., nv)."""
        return self.by_dof(f if self.aligned else apply_T(self.subspace, f))

    def blocks(self, Z: Array) -> Array:
        """Joint impedances (..., n, 6, 6) by degree of freedom (..., n, width, width); of use where slots are used."""
        return Z if self.aligned else product(product(self.subspace.swapaxes(-1, -2), Z), self.subspace)

    def axes(self, X: Array) -> Array:
        """Joint axes (..., n, 6, width) as X (..., n, 6, 6) moves them; of use where slots are used."""
        return X if self.aligned else product(X, self.subspace)
