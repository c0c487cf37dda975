"""Batches in lanes: of many systems side by side, the same number of all of them lies in a row in memory (a structure
of arrays).

An array (batch..., n, components...) of a batch keeps its shape but lies as (components..., n, batch), so that a pass
over it is few long loops instead of many short ones: small matrices of all bodies and systems are multiplied an entry
at a time.  `arranged` brings arrays there, and what is computed from them stays there by itself where numpy goes by
entries; what doesn't is here, for arrays of either kind.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Part = slice | np.ndarray

# What numpy 2 has for few vectors and matrices costs half as much as their way round; None = an older numpy.
_vecdot, _matvec, _vecmat = (getattr(np, name, None) for name in ("vecdot", "matvec", "vecmat"))
MANY = 1000  # numbers of vectors from where on they cost less component by component than one by one
FEW = 2  # entries of a column that cost less one by one than as a product with all of it


def laned(x: Array) -> bool:
    """Whether an array of at least (batch, n, components) lies in lanes."""
    return x.ndim > 2 and x.strides[0] == x.itemsize < x.strides[-1]


def memory(x: Array, components: int = 1) -> Array:
    """(components..., n, batch reversed...) an array as it lies, if in lanes; of three components at most."""
    return x.T.swapaxes(0, components - 1)


def seen(lying: Array, components: int = 1) -> Array:
    """The inverse of `memory`: (batch..., n, components...)."""
    return lying.T.swapaxes(-components, -1)


def arranged(x: Array, components: int = 1) -> Array:
    """An array (batch..., n, components...) in lanes."""
    return seen(np.ascontiguousarray(memory(x, components)), components)


def zeros(like: Array, *components: int) -> Array:
    """(..., n, components...) zeros that lie as an array (..., n, c) does."""
    if like.ndim > 2 and laned(like):
        return seen(np.zeros(components + like.shape[-2::-1]), len(components))
    return np.zeros(like.shape[:-1] + components)


def dot(a: Array, b: Array) -> Array:
    """(...,) products of vectors (..., i); of many, or of a batch, in one long loop for each component."""
    if _vecdot is None or (a.ndim > 2 and (a.size > MANY or laned(a))):
        out: Array = np.einsum("...i,...i->...", a, b)
        return out
    return _vecdot(a, b)


def largest(x: Array) -> float:
    """Of all numbers; not a number where one is none.  Of few numpy finds the place in a third of the time."""
    return float(x.item(x.argmax()) if x.ndim == 1 else x.max())


class Table(NamedTuple):
    """A constant matrix (i, j).

    terms: where it consists of 1, -1 and 0, and no column has more than FEW of the first two: for the first ones of all
    columns, then for the second ones, (columns, their rows in [v, -v, 0]); else nothing.  Nor where these are more rows
    than columns.
    signed: whether any is no row of v itself.
    """

    matrix: Array
    terms: tuple[tuple[np.ndarray, np.ndarray], ...]
    signed: bool

    @classmethod
    def of(cls, matrix: Array) -> "Table":
        """The table of a matrix."""
        i, j = matrix.shape
        both = np.concatenate((matrix == 1.0, matrix == -1.0))
        entries = [np.flatnonzero(column) for column in both.T]
        terms = []
        for k in range(max(map(len, entries))):
            columns = np.array([c for c, rows in enumerate(entries) if len(rows) > k or not k])
            terms.append((columns, np.array([entries[c][k] if len(entries[c]) > k else 2 * i for c in columns])))
        signed = any((rows >= i).any() for _, rows in terms)
        short = len(terms) <= FEW and np.count_nonzero(both) == np.count_nonzero(matrix) and not (signed and 2 * i >= j)
        return cls(matrix, tuple(terms) if short else (), signed)


def matmul(a: Array, b: Array) -> Array:
    """Matrices a @ b, (..., i, j) and (..., j, k); where they are two, by numpy's shorter way, which is half of it."""
    return a.dot(b) if a.ndim == b.ndim == 2 else a @ b


def linear(v: Array, table: Table) -> Array:
    """v (..., i) times a table (i, j): of a batch in one product, or an entry at a time where there are few."""
    if v.ndim == 2:
        return v.dot(table.matrix)  # see `matmul`
    if not laned(v):
        return v @ table.matrix
    lying = v.T.reshape(v.shape[-1], -1)
    if not table.terms:
        out = table.matrix.T @ lying
    else:
        (_, first), *more = table.terms
        source = _signed(lying) if table.signed else lying
        out = source.take(first, axis=0)
        for columns, at in more:
            out[columns] += source.take(at, axis=0)
    return out.reshape((-1, *v.shape[-2::-1])).T


def _signed(lying: Array) -> Array:
    """[v, -v, 0] of rows v."""
    count = len(lying)
    out = np.empty((2 * count + 1, *lying.shape[1:]))
    out[:count], out[-1] = lying, 0.0
    np.negative(lying, out=out[count:-1])
    return out


def product(a: Array, b: Array) -> Array:
    """Matrices a @ b, (..., i, j) and (..., j, k); of a batch one side may be (n, ., .), shared by all systems."""
    if a.ndim + b.ndim > 6:
        if a.ndim == 3 and laned(b):
            return _shared(a, memory(b, 2), (2, 1, 0, 3))
        if b.ndim == 3 and laned(a):
            return _shared(b.swapaxes(-1, -2), memory(a, 2), (2, 0, 1, 3))
        if laned(a) or laned(b):
            out: Array = np.einsum("...ij,...jk->...ik", a, b)
            return out
    return a @ b


def shared(m: Array, v: Array) -> Array:
    """Matrices (n, i, j) that all systems share times vectors (batch..., n, j) in lanes."""
    return _shared(m, memory(v)[:, None], (2, 1, 0, 3))[..., 0]


def _shared(m: Array, lying: Array, order: tuple[int, ...]) -> Array:
    """One product of all systems for every body and for every row or column of what m (n, i, j) is multiplied by.

    lying: (., ., n, batch...).  order: of body, row or column, what is summed, system.
    """
    flat = lying.reshape(*lying.shape[:3], -1)
    shape = list(flat.shape)
    shape[order[2]] = m.shape[-2]
    out = np.empty(shape)
    np.matmul(m[:, None], flat.transpose(order), out=out.transpose(order))
    return seen(out.reshape(*shape[:3], *lying.shape[3:]), 2)


def apply(m: Array, v: Array) -> Array:
    """Matrix (..., i, j) times vector (..., j)."""
    if v.ndim > 2 or m.ndim > 3:  # for many small products a loop over them costs less than as many calls of BLAS
        if m.ndim == 3 and laned(v):
            return shared(m, v)
        return np.einsum("...ij,...j->...i", m, v)
    return (m @ v[..., None])[..., 0] if _matvec is None else _matvec(m, v)


def apply_T(m: Array, v: Array) -> Array:  # noqa: N802  a transpose
    """Transpose of a matrix (..., i, j) times vector (..., i)."""
    if v.ndim > 2 or m.ndim > 3:
        if m.ndim == 3 and laned(v):
            return shared(m.swapaxes(-1, -2), v)
        return np.einsum("...ij,...i->...j", m, v)
    return (v[..., None, :] @ m)[..., 0, :] if _vecmat is None else _vecmat(v, m)


def rows(x: Array, bodies: Part, components: int = 1) -> Array:
    """(..., m, components...) of the bodies (m,), of one or two components."""
    if isinstance(bodies, slice):
        return x[..., bodies, :] if components == 1 else x[..., bodies, :, :]
    if x.ndim == 1 + components:
        return x.take(bodies, axis=0)
    if laned(x):
        return seen(memory(x, components).take(bodies, axis=components), components)
    return x.take(bodies, axis=-1 - components)


def together(places: np.ndarray) -> Part:
    """Places that follow each other as a slice, of which nothing needs to be copied."""
    in_a_row = len(places) > 0 and (np.diff(places) == 1).all()
    return slice(int(places[0]), int(places[-1]) + 1) if in_a_row else places


def beside(like: Array, x: Array, components: int = 1) -> Array:
    """Numbers (n, components...) that all systems share, so lying that what is made of them and of arrays like a given
    one, with as many components, lies as these do."""
    return x if like.ndim == x.ndim else arranged(x, components)


def over(sums: Callable[[Array], Array], x: Array) -> Array:
    """What sums over bodies, of arrays (..., n, c), make of one in lanes: systems lie in the place of components."""
    lying = memory(x)
    return seen(sums(lying.reshape(*lying.shape[:2], -1)).reshape(lying.shape))
