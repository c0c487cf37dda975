"""The canonical actor: a rig's bones as bodies in anatomical order, and its clip at canonical size.

One canonical body (`bodies.HEIGHT`, `bodies.MASS`) serves every rig: a mouse, a giant and a rig of scale 0.01 look
alike
from here on.  How tall the figure is meant to be only scales gravity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from .anatomy import Anatomy, hinge_axis
from .bodies import HEIGHT, Bodies
from .errors import SituationError, one_of
from .model import FIXED, FREE, SPHERICAL, Model, revolute
from .roles import base_role
from .rotation import Array, conjugate, multiply, rotate
from .skeleton import Clip, Skeleton
from .spatial import inertia
from .stops import Stop, Stops

GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True, eq=False)
class Actor:
    """A rig ready to be simulated.  Arrays named `bones` hold bone indices of the skeleton, `bodies` indices of the
    model.

    height: what the figure is meant to measure [m]; it scales gravity only.  mirrored: the rig's object is a mirror
    image.  limits: bone -> how far the rig's author lets it turn.
    """

    skeleton: Skeleton
    anatomy: Anatomy
    masses: Bodies
    height: float = HEIGHT
    mirrored: bool = False
    limits: Mapping[str, Stop] = field(default_factory=dict)

    @cached_property
    def order(self) -> np.ndarray:
        """(n,) bone of each body, parents first."""
        return np.asarray(self.anatomy.order)

    @cached_property
    def body(self) -> np.ndarray:
        """(n,) body of each bone."""
        out = np.empty(len(self.order), dtype=int)
        out[self.order] = np.arange(len(self.order))
        return out

    @cached_property
    def parent(self) -> np.ndarray:
        """(n,) parent of each body."""
        up = np.asarray(self.anatomy.parent)[self.order]
        return np.where(up >= 0, self.body[up], -1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Bone names by body."""
        return tuple(self.skeleton.names[b] for b in self.order)

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """Roles by body."""
        return tuple(self.anatomy.role[b] for b in self.order)

    @cached_property
    def stops(self) -> Stops | None:
        """What the rig's author allows its joints, None where he says nothing."""
        return Stops.of(self.limits, self.skeleton, self.order, self.parent) if self.limits else None

    @property
    def sign(self) -> float:
        """-1 where the object mirrors the rig: points in a body are reflected, rotations are not."""
        return -1.0 if self.mirrored else 1.0

    @cached_property
    def axis(self) -> Array:
        """(n, 3) from each body's origin to its segment's end, body frame [m]."""
        return self.sign * self.masses.axis[self.order]

    @cached_property
    def inertia(self) -> Array:
        """(n, 6, 6) spatial inertia at each body's origin, body frame."""
        m = self.masses
        return inertia(m.mass[self.order], self.sign * m.com[self.order], m.inertia[self.order])

    @property
    def gravity(self) -> Array:
        """(3,) gravity at canonical size [m/s^2]."""
        return np.array([0.0, 0.0, -GRAVITY * HEIGHT / self.height])

    def model(self, moving: np.ndarray, base: int, axes: Mapping[int, Array] = MappingProxyType({})) -> Model:
        """Model in which the bodies `moving` (n,) bool turn freely, or about the one axis (3,), body frame, that `axes`
        gives them, and the body `base` (or -1) also travels."""
        carried = self._carried_mass() > 0.0
        joints = [SPHERICAL if moving[i] and carried[i] else FIXED for i in range(len(moving))]
        for i, axis in axes.items():
            joints[i] = revolute(axis) if len(joints[i]) else FIXED
        if base >= 0:
            joints[base] = FREE
        return Model(self.names, self.parent, tuple(joints), self.inertia)

    def _carried_mass(self) -> Array:
        total = self.masses.mass[self.order].copy()
        for i in reversed(range(len(total))):
            if self.parent[i] >= 0:
                total[self.parent[i]] += total[i]
        return total

    def canonical(self, clip: Clip) -> tuple[Array, Array]:
        """World poses of the bodies at the clip's frames, canonical size: (T, n, 4), (T, n, 3) [m]."""
        factor = self.masses.scale / abs(clip.scale)
        return clip.world_rotation()[:, self.order], factor * clip.world_position()[:, self.order]

    def axes(self, clip_rotation: Array) -> Array:
        """(3, 3) rows left, forward, up of the figure in the world, for world rotations (n, 4) of its bodies.

        Forward is the rest pose's forward carried by the pelvis (else the first body), made level.
        """
        pelvis = self.first("pelvis")
        i = pelvis if pelvis >= 0 else 0
        turn = multiply(clip_rotation[i], conjugate(self.skeleton.rotation[self.order[i]]))
        forward = self.sign * rotate(turn, np.asarray(self.anatomy.forward))
        up = np.array([0.0, 0.0, 1.0])
        level = forward - up * forward[2]
        if np.linalg.norm(level) < 0.2:  # lies down: take what was up
            level = rotate(turn, self.sign * np.asarray(self.anatomy.up)) * -np.sign(forward[2])
            level[2] = 0.0
        forward = level / np.linalg.norm(level)
        return np.stack((np.cross(up, forward), forward, up))

    def hinge_axis(self, body: int) -> Array:
        """(3,) anatomical axis of an elbow or knee, body frame; turning about it bends."""
        axis = hinge_axis(self.skeleton, self.anatomy, int(self.order[body]))
        if axis is None:
            raise ValueError(f"hinge_axis: {self.names[body]} is neither forearm nor shin")
        return axis

    def first(self, role: str) -> int:
        """Body of a role ("upper_arm.L"; "chest" is the highest spine), or -1."""
        if role == "chest":
            spine = [i for i, r in enumerate(self.roles) if base_role(r) == "spine"]
            return max(spine, key=lambda i: int(self.roles[i].partition(".")[2] or 0)) if spine else -1
        return self._firsts.get(role, -1)

    @cached_property
    def _firsts(self) -> dict[str, int]:
        """First body of every role; a role without a number and number 1 are the same."""
        out: dict[str, int] = {}
        for i, role in enumerate(self.roles):
            for name in (role, f"{role}.1", role.removesuffix(".1")):
                out.setdefault(name, i)
        return out

    def find(self, bone: str, alternatives: tuple[str, ...], situation: str) -> int:
        """Body that takes a blow: a bone by name or role, else the first alternative (the same) the rig has."""
        if bone:
            if bone in self.names:
                return self.names.index(bone)
            body = self.first(bone)
            if body < 0:
                raise SituationError(f"The rig has no bone or role '{bone}'. {one_of(self.names, bone)}")
            return body
        for role in alternatives:
            if role in self.names:
                return self.names.index(role)
            if (body := self.first(role)) >= 0:
                return body
        wanted = " or ".join(f"'{role}'" for role in alternatives)
        raise SituationError(
            f"Situation '{situation}' needs a bone with the role {wanted}, which this rig lacks. "
            "Choose the bone to hit or give a bone that role."
        )
