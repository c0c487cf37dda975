"""The blending pipeline (de Heras Ciechomski 2001, 3.3 and 4.2): clips and situations become one pose.

Any number of recorded clips and simulated situations, each with a transition of its own and an importance per bone, are
added up in the order given.  A transition shows its layer by parts: half-way through the attack a bone has gone half of
the way that the importances give it, however unequal they are.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .anatomy import Anatomy
from .pose import IMPORTANT, UNIMPORTANT, VERY_IMPORTANT, Pose
from .reaction import Reaction
from .reference import to_joints
from .roles import base_role
from .rotation import Array, angle, conjugate, continuous, multiply, normalize, slerp
from .skeleton import Clip

NOTED = np.radians(5.0)  # motion of a bone that doubles a clip's importance there
HELD = 0.2  # of the figure's size: a shift that counts as a turn of one radian


@dataclass(frozen=True, eq=False)
class Layer:
    """One input of the pipeline, at its T times.

    rotation: (T, n, 4).  translation: (T, n, 3).  importance: (n,), 0 = says nothing about the bone.
    transition: 0..1 over the time since `start` [s], an Envelope for one; None = there all the time.
    relative: rotation and translation are on top of whatever lies below, as a situation's are: its absolute pose
    would pull a waving arm back into the clip that was simulated.
    """

    rotation: Array
    translation: Array
    importance: Array
    transition: Callable[[Array], Array] | None = None
    start: float = 0.0
    relative: bool = False

    def amount(self, times: Array) -> Array:
        """(T,) 0..1 how much of it shows."""
        return np.ones(len(times)) if self.transition is None else self.transition(times - self.start)


def blend(layers: list[Layer], times: Array) -> Pose:
    """The one pose, (T, n), of all layers; times: (T,) [s].

    The first layer is what there is before: its transition only scales its importance (the document's product).
    """
    if not layers:
        raise ValueError("blend: no layers")
    first = layers[0]
    scaled = first.importance * first.amount(times)[:, None]
    out = Pose(first.rotation, first.translation, scaled)
    for layer in layers[1:]:
        weight = np.broadcast_to(np.asarray(layer.importance, dtype=np.float64), scaled.shape)
        rotation, translation = layer.rotation, layer.translation
        if layer.relative:
            rotation, translation = multiply(out.rotation, rotation), out.translation + translation
        out = over(out, Pose(rotation, translation, weight), layer.amount(times)[:, None])
    return out


def over(below: Pose, above: Pose, amount: Array) -> Pose:
    """From `below` (amount 0) to the sum of both (1); an importance that doesn't show yet counts for nothing later."""
    both = below + above
    return Pose(
        slerp(below.rotation, both.rotation, np.broadcast_to(amount, both.weight.shape)),
        below.translation + np.asarray(amount)[..., None] * (both.translation - below.translation),
        below.weight + amount * (both.weight - below.weight),
    )


def of_clip(reaction: Reaction, clip: Clip, importance: float = UNIMPORTANT) -> Layer:
    """The clip in the joints of a reaction, for `blend` at the clip's times."""
    rotation, position = to_joints(reaction.model, *reaction.actor.canonical(clip))
    return Layer(rotation, position, np.full(rotation.shape[1], importance))


def of_reaction(reaction: Reaction, clip: Clip, importance: float = VERY_IMPORTANT) -> Layer:
    """The reaction to a clip in its joints, on top of what is blended before it, for `blend` at the clip's times.

    It brings its own fading; it has nothing to say about bodies that it doesn't move.
    """
    own, shown = (to_joints(reaction.model, *x) for x in (reaction.actor.canonical(clip), reaction.poses(clip)))
    moved = np.where(reaction.moving, importance * reaction.weights, 0.0)

    stays = reaction.rest is not None or reaction.then is not None or bool(reaction.displaced.any())

    def amount(times: Array) -> Array:
        return np.asarray((times > reaction.start) & (stays | (times < reaction.end)), dtype=np.float64)

    return Layer(multiply(conjugate(own[0]), shown[0]), shown[1] - own[1], moved, amount, relative=True)


def automatic(base: Layer, other: Layer, size: float = 1.0) -> tuple[Array, Array]:
    """Importances (n,) of a clip and of another that joins it, from their motion; 10 ... 50 and 0 ... 400.

    Motion alone misses the raised, still upper arm of a wave, so the other clip also counts where it holds a bone
    away from all that the base does with it.  Where it hardly moves a bone it says nothing.  size: of the figure, in
    units of the translations.
    """
    kept, new = _spread(base, size), _spread(other, size)
    apart = np.hypot(
        angle(_mean(base.rotation), _mean(other.rotation)),
        np.linalg.norm(base.translation.mean(axis=0) - other.translation.mean(axis=0), axis=-1) / (HELD * size),
    )
    told = np.hypot(new, np.maximum(apart - 2.0 * kept, 0.0))
    own = np.minimum(UNIMPORTANT * (1.0 + (kept / NOTED) ** 2), IMPORTANT)
    return own, np.minimum(UNIMPORTANT * (told / NOTED) ** 2, VERY_IMPORTANT)


def together(own: Array, new: Array, pelvis: np.ndarray, legs: np.ndarray) -> tuple[Array, Array]:
    """Importances (n,) in which all that stands on the ground has one, the mean of the legs'.

    Bone by bone a clip that stands would lift the pelvis off the legs of one that walks.
    pelvis: bodies that follow the legs.  legs: those whose mean counts.
    """
    own, new = own.copy(), new.copy()
    if len(legs):
        for weight in (own, new):
            weight[np.concatenate((pelvis, legs))] = weight[legs].mean()
    return own, new


def standing(anatomy: Anatomy) -> tuple[np.ndarray, np.ndarray]:
    """Bones of (pelvis, girdle and feet; legs), for `together`; quadrupeds stand on their arms too."""
    front = anatomy.kind == "quadruped"
    legs = {"thigh", "shin"} | ({"upper_arm", "forearm"} if front else set())
    follow = {"foot", "toe"} | ({"clavicle", "hand", "finger"} if front else set())
    kind = [base_role(role) for role in anatomy.role]
    rest = [i for i, role in enumerate(anatomy.role) if role in ("pelvis", "hip.L", "hip.R") or kind[i] in follow]
    return np.array(rest, dtype=int), np.array([i for i, name in enumerate(kind) if name in legs], dtype=int)


def _mean(rotation: Array) -> Array:
    """(n, 4) of (T, n, 4)."""
    return normalize(continuous(rotation).mean(axis=0))


def _spread(layer: Layer, size: float) -> Array:
    """(n,) [rad] root mean square of the turn about the mean pose, shifts counted in."""
    turn = angle(_mean(layer.rotation), layer.rotation)
    shift = np.linalg.norm(layer.translation - layer.translation.mean(axis=0), axis=-1) / (HELD * size)
    return np.sqrt(np.mean(turn**2 + shift**2, axis=0))
