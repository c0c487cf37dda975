"""Which bone is which: roles, the anatomical tree, the directions and the size of a figure."""

from dataclasses import dataclass

import numpy as np

from .rotation import Array


@dataclass(frozen=True, eq=False)
class Anatomy:
    """What a skeleton's bones are.  Same bone indices as the `Skeleton`; armature space, the rig's own units.

    role: n roles, "" where none is known.  "pelvis", "spine.1" (lowest) ... "spine.k", "neck.1" ..., "head", "jaw",
        "tail.1" (at the pelvis) ..., "root" (above the pelvis, carries the figure), "helper" (controls, nubs, twist),
        and with side .L / .R: "clavicle.L", "upper_arm.L", "forearm.L", "hand.L", "finger.L" (any number of them),
        "thigh.L", "shin.L", "foot.L", "toe.L", "ear.L", "eye.L".
    parent: (n,) anatomical parent, -1 at the top.  Bones of the figure form one tree below the pelvis; the pelvis hangs
        from the rig's root bone if there is one.
    order: (n,) bone indices, parents first.
    kind: "biped", "quadruped" or "other".
    up, forward, left: (3,) unit vectors, right-handed (forward x left = up).
    size: figure height [rig units]: see `analyse`.
    fallback: what was guessed from shape because names did not say, "" if nothing.
    """

    role: tuple[str, ...]
    parent: np.ndarray
    order: np.ndarray
    kind: str
    up: Array
    forward: Array
    left: Array
    size: float
    fallback: str = ""

    def bone(self, role: str) -> int:
        """Index of the first bone (parents first) with this role ("upper_arm.L"), or -1."""
        return next((int(i) for i in self.order if self.role[i] == role), -1)

    def children(self, bone: int) -> tuple[int, ...]:
        """Anatomical children of a bone."""
        return tuple(int(i) for i in np.flatnonzero(self.parent == bone))
