"""Mass, centre of mass and inertia of simple solids and closed meshes, for bodies that no skin describes."""

from dataclasses import dataclass

import numpy as np

from . import polyhedron, spatial
from .errors import ModelError
from .rotation import Array

DENSITY = 1000.0  # [kg/m^3] water, near enough for flesh


@dataclass(frozen=True, eq=False)
class Solid:
    """A rigid body of a shape.

    mass: [kg].  com: (3,) centre of mass [m].  inertia: (3, 3) about it [kg m^2], axes of the shape's own frame.
    """

    mass: float
    com: Array
    inertia: Array

    def spatial(self) -> Array:
        """(6, 6) spatial inertia at the frame's origin."""
        return spatial.inertia(np.array(self.mass), self.com, self.inertia)

    def moved(self, R: Array, p: Array) -> "Solid":
        """Seen from a frame in which this one has the axes R (3, 3), columns, and the origin p (3,)."""
        return Solid(self.mass, R @ self.com + p, R @ self.inertia @ R.T)

    def __add__(self, other: "Solid") -> "Solid":
        """Both solids as one rigid body; frames must agree."""
        mass = self.mass + other.mass
        if not mass > 0.0:
            raise ModelError("Two solids without mass make no body. Give one of them a mass above 0 kg.")
        com = (self.mass * self.com + other.mass * other.com) / mass
        inertia = np.zeros((3, 3))
        for part in (self, other):
            d = part.com - com
            inertia = inertia + part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return Solid(mass, com, inertia)


def box(size: Array, density: float = DENSITY) -> Solid:
    """A box with edges size (3,) [m] about the origin."""
    size = _positive("A box", size, 3)
    mass = _density(density) * float(np.prod(size))
    square = size**2
    return Solid(mass, np.zeros(3), np.diag(mass / 12.0 * (square.sum() - square)))


def ellipsoid(radii: Array, density: float = DENSITY) -> Solid:
    """An ellipsoid with half-axes radii (3,) [m] about the origin."""
    radii = _positive("An ellipsoid", radii, 3)
    mass = _density(density) * 4.0 / 3.0 * np.pi * float(np.prod(radii))
    square = radii**2
    return Solid(mass, np.zeros(3), np.diag(mass / 5.0 * (square.sum() - square)))


def capsule(axis: Array, radius: float, density: float = DENSITY) -> Solid:
    """A capsule whose core runs from the origin along `axis` (3,) [m]; its ends are half balls beyond it."""
    axis = np.asarray(axis, dtype=np.float64)
    radius = float(_positive("A capsule", np.array([radius]), 1)[0])
    length = float(np.linalg.norm(axis))
    if axis.shape != (3,) or not np.isfinite(length):
        raise ValueError(f"capsule: expected an axis of (3,) finite numbers, got {axis.tolist()}")
    density, (volume, (axial, transverse)) = _density(density), polyhedron.capsule(length, radius)
    along = axis / (length or 1.0)  # without a length it is a ball, for which no axis counts
    outer = np.outer(along, along)
    return Solid(density * volume, 0.5 * axis, density * (axial * outer + transverse * (np.eye(3) - outer)))


def mesh(triangles: np.ndarray, vertices: Array, density: float = DENSITY) -> Solid:
    """The solid inside a surface: triangles (M, 3) indices of vertices (V, 3) [m]; holes are closed first.

    Raises ModelError where the surface encloses nothing.
    """
    density, triangles, vertices = _density(density), np.asarray(triangles), np.asarray(vertices, dtype=np.float64)
    if len(triangles) == 0:
        raise ModelError("The mesh encloses no volume. Close it or give the bone a capsule.")
    if triangles.dtype.kind not in "iu" or not np.all((triangles >= 0) & (triangles < len(vertices))):
        raise ValueError(f"mesh: expected triangles of {len(vertices)} vertices by whole numbers from 0")
    corners = polyhedron.close(triangles, vertices)
    middle = vertices.mean(axis=0)  # far from the origin the moments would cancel
    volume, first, second = polyhedron.moments(corners - middle)
    if volume < 0.0:
        volume, first, second = -volume, -first, -second  # inside out
    if not volume > 1e-9 * float(np.prod(np.ptp(vertices, axis=0))):
        raise ModelError("The mesh encloses no volume. Close it or give the bone a capsule.")
    com, inertia = polyhedron.inertia(volume, first, second)
    return Solid(density * volume, com + middle, density * inertia)


def thickened(inertia: Array, axis: Array, part: float = 0.1) -> Array:
    """Inertias (..., 3, 3) with the one about the link's long axis (..., 3) raised to a part of the mean one across.

    Armstrong and Green's cure for thin links (1985, section 5): about its length a bone is so easy to turn that it sets
    the step of the whole figure.
    """
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    if not part >= 0.0:
        raise ValueError(f"thickened: expected a part from 0 on, got {part}")
    if not np.all(length > 0.0):
        raise ValueError("thickened: expected axes with a length, got one without")
    u = axis / length
    along = np.einsum("...i,...ij,...j->...", u, inertia, u)
    across = 0.5 * (np.trace(inertia, axis1=-2, axis2=-1) - along)
    more = np.maximum(part * across - along, 0.0)
    return inertia + more[..., None, None] * u[..., :, None] * u[..., None, :]


def _density(density: float) -> float:
    if not 0.0 < density < np.inf:
        raise ModelError(f"A density of {density} kg/m^3 makes no body. Give it one above 0.")
    return density


def _positive(what: str, values: Array, count: int) -> Array:
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (count,):
        raise ValueError(f"{what}: expected {count} sizes, got shape {values.shape}")
    if not np.all((values > 0.0) & np.isfinite(values)):
        raise ModelError(f"{what} of size {values.tolist()} has no volume. Give it sizes above 0 m.")
    return values
