"""Mass, centre of mass, inertia and capsule of every bone of the canonical body."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from . import polyhedron, segments
from .anatomy import Anatomy
from .errors import ModelError
from .roles import base_role
from .rotation import Array, to_matrix
from .skeleton import Skeleton

HEIGHT = 1.75  # [m] of the canonical figure
MASS = 75.0  # [kg]
DENSITY = 1000.0  # [kg/m^3] where a radius is found from a mass

# No segment departs by more than this factor from a human's or a dog's part of body mass.
DEPARTURE = 3.0
# Every principal inertia is at least this part of the mean principal inertia of the body that carries it ...
INERTIA_FLOOR = 0.01
# ... and every mass this part of the carrier's.  Lighter links only make the equations stiff.
MASS_FLOOR = 0.001
SMALLEST = 1e-7  # [kg m^2]


@dataclass(frozen=True, eq=False)
class Bodies:
    """Rigid bodies of the n bones in canonical units (HEIGHT, MASS), each in its bone's own frame at rest.

    The bone frame: origin at the bone's head, axes `Skeleton.rotation`.
    mass: (n,) [kg], 0 for bones that carry nothing (helpers, nubs, roots): their skin counts to the nearest anatomical
        ancestor that has mass, above the pelvis to the pelvis.  Adds up to MASS without overrides.
    com: (n, 3) centre of mass [m].  inertia: (n, 3, 3) about the centre of mass [kg m^2].
    axis: (n, 3) from the head to the segment's end [m] (zero for bones without mass): the capsule's core.
    radius, length: (n,) capsule [m]; length = |axis|.
    scale: canonical metres per rig unit.
    """

    mass: Array
    com: Array
    inertia: Array
    axis: Array
    radius: Array
    length: Array
    scale: float


def measure(skeleton: Skeleton, anatomy: Anatomy, mass: Mapping[str, float] | None = None) -> Bodies:
    """The canonical bodies of a figure from its skin's volume, else from a human's or a dog's proportions.

    mass: bone name -> kg; overrides one body, the others keep theirs.
    """
    scale, n = HEIGHT / anatomy.size, len(skeleton.names)
    given = {skeleton.index(name): _positive(name, value) for name, value in (mass or {}).items()}
    skinned = np.zeros(n, dtype=bool)
    if skeleton.skin is not None:
        skinned[np.unique(skeleton.skin.owner[skeleton.skin.owner >= 0])] = True
    carry = segments.carriers(anatomy, skinned)
    carry[list(given)] = True
    volume, com, second, near = _solids(skeleton, segments.homes(anatomy, carry), scale)
    axis = segments.ends(skeleton, anatomy, carry, com / scale) * scale  # rig units -> m
    length = np.linalg.norm(axis, axis=1)
    usual = segments.fractions(anatomy, carry, length)
    volume[segments.of_biped(anatomy, segments.BENEATH)] = 0.0
    solid = carry & (volume > 0.0)
    kilograms = _masses(anatomy, carry, solid, volume, usual, length)
    radius = _radii(kilograms, length, near, axis)
    unit = np.divide(kilograms, volume, out=np.zeros(n), where=solid)
    inertia = second * unit[:, None, None]
    for i in np.flatnonzero(carry & ~solid).tolist():
        com[i], inertia[i] = _capsule(anatomy, i, axis[i], radius[i], kilograms[i])
    com, inertia = np.where(carry[:, None], com, 0.0), np.where(carry[:, None, None], inertia, 0.0)
    _symmetrise(skeleton, anatomy, scale, kilograms, com, inertia, axis, radius)
    for i, value in given.items():
        inertia[i] *= value / kilograms[i]
        kilograms[i] = value
    _floor(anatomy, kilograms, inertia)
    R_ab = to_matrix(skeleton.rotation)
    return Bodies(
        mass=kilograms,
        com=np.einsum("nji,nj->ni", R_ab, com),
        inertia=np.einsum("nji,njk,nkl->nil", R_ab, inertia, R_ab),
        axis=np.einsum("nji,nj->ni", R_ab, axis),
        radius=radius,
        length=length,
        scale=scale,
    )


def _positive(name: str, value: float) -> float:
    if value == np.inf:
        raise ModelError(f"Bone '{name}' has an infinite mass. Give it one that is finite.")
    if not value > 0.0:
        raise ModelError(f"Bone '{name}' has no mass. Give it a mass above 0 kg.")
    return float(value)


def _solids(skeleton: Skeleton, home: np.ndarray, scale: float) -> tuple[Array, Array, Array, list[Array]]:
    """volume (n,), com from the head (n, 3), inertia about it for unit density (n, 3, 3), vertices from the head, all
    in canonical metres and armature axes; volume 0 and com nan where the skin makes no solid."""
    n = len(home)
    volume, com, second = np.zeros(n), np.full((n, 3), np.nan), np.zeros((n, 3, 3))
    near = [np.zeros((0, 3))] * n
    skin = skeleton.skin
    if skin is None or len(skin.triangles) == 0:
        return volume, com, second, near
    owner = np.where(skin.owner >= 0, home[skin.owner], -1)
    # Importers split vertices at seams: equal positions are one vertex again, or every seam would look like a hole.
    points, weld = polyhedron.welded(skin.vertices)
    triangles, corners = weld[skin.triangles], owner[skin.triangles]
    middle = np.where(corners[:, 1] == corners[:, 2], corners[:, 1], corners[:, 0])  # two of three, else the first
    for i in np.unique(middle[middle >= 0]):
        own = triangles[middle == i]
        used = np.flatnonzero(np.bincount(own.ravel()))
        index = np.zeros(used[-1] + 1, dtype=int)
        index[used] = np.arange(len(used))
        near[i] = (points[used] - skeleton.head[i]) * scale
        v, first, moment = polyhedron.moments(polyhedron.close(index[own], near[i]))
        com[i] = near[i].mean(axis=0)
        box = float(np.prod(np.ptp(near[i], axis=0)))
        if v > 0.02 * box and v > 1e-7:
            com[i], second[i] = polyhedron.inertia(v, first, moment)
            volume[i] = v if np.linalg.eigvalsh(second[i])[0] > 0.0 else 0.0
    return volume, com, second, near


def _masses(
    anatomy: Anatomy, carry: np.ndarray, solid: np.ndarray, volume: Array, usual: Array, length: Array
) -> Array:
    """(n,) kg: by volume; a biped's kept near a human's parts, a quadruped's near a dog's, whatever clothes and fur it
    has; bones without solid skin by proportion.

    A solid that is far too small for its role (the patch of a trouser on a "Body" bone) says nothing about the
    segment but that it is light: it is struck off `solid`.
    """
    if anatomy.kind in ("biped", "quadruped"):
        ratio = np.divide(volume, usual, out=np.zeros(len(volume)), where=usual > 0.0)
        if solid.any():
            solid &= ratio > np.median(ratio[solid]) / (4.0 * DEPARTURE)
        part = np.where(solid, volume, 0.0)
        part = part / part.sum() * usual[solid].sum() if solid.any() else part
        part = np.where(solid, part, np.where(ratio > 0.0, usual / DEPARTURE, usual))
        departs = np.where(segments.of_biped(anatomy, segments.HUMAN), 1.0, DEPARTURE)
        for _ in range(8):
            part = np.clip(part, usual / departs, usual * departs)
            part /= part.sum()
        return part * MASS
    guess = np.where(carry, length**3 * 0.1, 0.0)  # a capsule a fifth as thick as long
    part = np.where(solid, volume, guess)
    if solid.any():
        part[~solid] = np.minimum(part[~solid], 0.05 * volume[solid].sum())
    part = np.where(carry, np.maximum(part, 1e-4 * part.max()), 0.0)
    return part / part.sum() * MASS


def _radii(mass: Array, length: Array, near: list[Array], axis: Array) -> Array:
    """(n,) the median distance of the skin from the segment, else what the mass fills."""
    radius = np.zeros(len(mass))
    for i in np.flatnonzero(mass > 0.0):
        long = max(length[i], 1e-3)
        radius[i] = min(np.sqrt(mass[i] / (DENSITY * np.pi * long)), np.cbrt(mass[i] / DENSITY))
        if len(near[i]) >= 8:
            along = np.clip(near[i] @ axis[i] / long**2, 0.0, 1.0)
            radius[i] = np.median(np.linalg.norm(near[i] - along[:, None] * axis[i], axis=1))
    return radius


def _capsule(anatomy: Anatomy, i: int, axis: Array, radius: float, mass: float) -> tuple[Array, Array]:
    """(com, inertia about it) of a capsule along the segment, round ends inside its length; armature axes."""
    length = float(np.linalg.norm(axis))
    volume, (axial, transverse) = polyhedron.capsule(max(length - 2.0 * radius, 0.0), max(radius, 1e-3))
    along = axis / length if length > 0.0 else anatomy.up
    outer = np.outer(along, along)
    ratio = segments.CENTRE.get(base_role(anatomy.role[i]), 0.5)
    return ratio * axis, mass / volume * (axial * outer + transverse * (np.eye(3) - outer))


def _symmetrise(
    skeleton: Skeleton,
    anatomy: Anatomy,
    scale: float,
    mass: Array,
    com: Array,
    inertia: Array,
    axis: Array,
    radius: Array,
) -> None:
    """Give left and right the mean of the pair, and the middle no side, in place (armature axes).

    Where the rest pose itself is not symmetric only masses, radii and lengths are shared.
    """
    M = np.eye(3) - 2.0 * np.outer(anatomy.left, anatomy.left)
    pelvis = max(anatomy.bone("pelvis"), 0)
    for i, j in pairs(skeleton, anatomy, mass > 0.0):
        if i == j:
            aside = (skeleton.head[i] - skeleton.head[pelvis]) @ anatomy.left * scale
            if abs(aside) < 0.03 * HEIGHT:
                com[i] -= anatomy.left * (com[i] @ anatomy.left + aside)
                inertia[i] = 0.5 * (inertia[i] + M @ inertia[i] @ M)
            continue
        before = mass[[i, j]].copy()
        mass[[i, j]], radius[[i, j]] = before.mean(), radius[[i, j]].mean()
        inertia[i] *= mass[i] / before[0]
        inertia[j] *= mass[j] / before[1]
        other = M @ axis[j]
        if axis[i] @ other > 0.97 * np.linalg.norm(axis[i]) * np.linalg.norm(other):
            com[i] = 0.5 * (com[i] + M @ com[j])
            com[j] = M @ com[i]
            inertia[i] = 0.5 * (inertia[i] + M @ inertia[j] @ M)
            inertia[j] = M @ inertia[i] @ M


def pairs(skeleton: Skeleton, anatomy: Anatomy, among: np.ndarray) -> list[tuple[int, int]]:
    """(left, right) bones that mirror each other, and (i, i) for those in the middle.

    Same role, and where several have it (fingers) the one that is nearest in the mirror.  among: (n,) bool.
    """
    found, head = [], skeleton.head @ (np.eye(3) - 2.0 * np.outer(anatomy.left, anatomy.left))
    mirror = 2.0 * (skeleton.head[max(anatomy.bone("pelvis"), 0)] @ anatomy.left) * anatomy.left
    free = {int(i) for i in np.flatnonzero(among)}
    for i in [int(i) for i in anatomy.order if among[i]]:
        role = anatomy.role[i]
        if role.endswith(".L"):
            others = [j for j in free if anatomy.role[j] == role[:-2] + ".R"]
            if others:
                j = min(others, key=lambda j: float(np.linalg.norm(head[j] + mirror - skeleton.head[i])))
                free.discard(j)
                found.append((i, j))
        elif not role.endswith(".R") and role != "":
            found.append((i, i))
    return found


def _floor(anatomy: Anatomy, mass: Array, inertia: Array) -> None:
    """Raise what is too light for the body that carries it, in place, from the pelvis outwards."""
    carrier = segments.homes(anatomy, mass > 0.0)
    for i in anatomy.order:
        if mass[i] == 0.0:
            continue
        above = anatomy.parent[i]
        above = carrier[above] if above >= 0 and carrier[above] != i else -1
        least = SMALLEST
        if above >= 0 and mass[above] > 0.0:
            least = max(least, INERTIA_FLOOR * np.trace(inertia[above]) / 3.0)
            heavier = max(mass[i], MASS_FLOOR * mass[above])
            inertia[i] *= heavier / mass[i]
            mass[i] = heavier
        values, vectors = np.linalg.eigh(0.5 * (inertia[i] + inertia[i].T))
        inertia[i] = (vectors * np.maximum(values, least)) @ vectors.T
