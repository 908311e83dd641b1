"""Matrices of a few diagonals: products by shifted slices, without any index."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, DTypeLike, errors, static, struct
from .._width import are_plain
from ..linalg import LinearOperator
from ._derivatives import as_sparse
from ._elements import by_elements, is_matrix, is_number
from ._making import as_values, coo_array
from ._matrix import Sparse, over_batches
from ._pattern import Pattern, shared
from ._products import pick, spread


@by_elements
@struct
class Dia(LinearOperator):
    """A matrix of a few diagonals, for stencils and bands; its only leaf are their elements.

    Diagonal k has the elements A[j - offset, j] = bands[k, j], as SciPy's ``dia_array``: each counts columns.
    Those that would stand outside of the matrix do not count. Leading axes of the bands are batches of matrices.

    Args:
      offsets: which diagonals, each once: 0 the main one, positive above it.
      bands: (..., diagonals, columns).
      size: (rows, columns); square if it is not given.

    >>> import xcore.numpy as xnp
    >>> a = Dia((-1, 0), xnp.asarray([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]))
    >>> a @ xnp.asarray([1.0, 2.0, 3.0])
    Array([2., 5., 8.], dtype=float32)
    """

    offsets: tuple[int, ...] = static()
    bands: Any = None
    size: tuple[int, int] | None = static(default=None)
    symmetric: bool = static(default=False)
    positive: bool = static(default=False)

    format = "dia"

    def __post_init__(self) -> None:
        offsets = tuple(operator.index(k) for k in self.offsets)
        shape = tuple(xnp.shape(self.bands))
        if len(set(offsets)) != len(offsets):
            raise errors.bad_argument("sparse.Dia", "offsets", offsets, "each once")
        if len(shape) < 2 or shape[-2] != len(offsets):
            why = f"need bands (..., {len(offsets)}, columns), a row for each offset"
            raise errors.ShapeError(f"xcore.sparse.Dia: {why}, given shape {shape}.")
        size = (shape[-1],) * 2 if self.size is None else tuple(map(operator.index, self.size))
        if len(size) != 2 or size[1] != shape[-1]:
            why = f"need size (rows, {shape[-1]}), as bands have so many columns"
            raise errors.ShapeError(f"xcore.sparse.Dia: {why}, given {size}.")
        for name, value in (
            ("offsets", offsets),
            ("bands", xnp.asarray(self.bands)),
            ("size", size),
        ):
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> Any:
        return (*self.bands.shape[:-2], *self.size)  # pyright: ignore[reportOptionalIterable]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.bands.dtype

    def __repr__(self) -> str:
        batch = f"{list(self.bands.shape[:-2])} of " if self.ndim > 2 else ""
        m, n = self.size  # pyright: ignore[reportGeneralTypeIssues]
        return f"Dia({batch}{m}x{n}, {len(self.offsets)} diagonals, {self.dtype.name})"

    def mv(self, x: Array) -> Array:
        return self.matmat(x[..., None])[..., 0]

    def matmat(self, x: Array) -> Array:
        return _times(self, x)

    @property
    def T(self) -> Dia:
        m, n = self.size  # pyright: ignore[reportGeneralTypeIssues]
        rows = [_shifted(self.bands[..., k, :], d, m) for k, d in enumerate(self.offsets)]
        bands = (
            xnp.stack(rows, axis=-2) if rows else xnp.zeros((*self.bands.shape[:-1], m), self.dtype)
        )
        return Dia(tuple(-d for d in self.offsets), bands, (n, m), self.symmetric, self.positive)

    mT = T

    @property
    def H(self) -> Dia:
        turned = self.T
        return turned.replace(bands=xnp.conj(turned.bands))

    def __mul__(self, other: Any) -> Any:
        """Element by element, by diagonals where it is a number; ``@`` is the product of matrices."""
        if is_number(other):
            return Dia(self.offsets, self.bands * other, self.size)
        return self.to_sparse() * other

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if is_number(other):
            return Dia(self.offsets, self.bands / other, self.size)
        return self.to_sparse() / other

    def __neg__(self) -> Dia:
        return Dia(self.offsets, -self.bands, self.size)

    def __matmul__(self, other: Any) -> Any:
        return self.to_sparse() @ other if is_matrix(other) else super().__matmul__(other)

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.to_sparse() if is_matrix(other) else super().__rmatmul__(other)

    def astype(self, dtype: Any) -> Dia:
        return self.replace(bands=self.bands.astype(dtype))

    def diagonal(self, k: int = 0) -> Array:
        """The elements of a diagonal, stored or not."""
        m, n = self.size  # pyright: ignore[reportGeneralTypeIssues]
        first, last = max(k, 0), max(max(k, 0), min(n, m + k))
        if k not in self.offsets:
            return xnp.zeros((*self.bands.shape[:-2], last - first), self.dtype)
        return self.bands[..., self.offsets.index(k), first:last]

    def to_sparse(self) -> Sparse:
        """The same as a ``Sparse`` matrix; zeros of diagonals are elements, too."""
        pattern, at = _places(self.offsets, self.size)
        f, bands = over_batches(lambda b: pick(b.reshape(-1), at), (self.bands, 2))
        return Sparse(f(bands), pattern, symmetric=self.symmetric, positive=self.positive)

    @classmethod
    def of(cls, a: Any) -> Dia:
        """Of what ``as_sparse`` takes, operators of ``pde`` too: all diagonals on which there is an element.

        >>> from xcore.pde import Grid, Laplacian
        >>> Dia.of(Laplacian(Grid((5, 5))))
        Dia(16x16, 5 diagonals, float32)
        """
        a = as_sparse(a)
        p, n = a.pattern, a.pattern.shape[1]
        by = p.columns.astype(np.int64) - p.rows
        offsets, band = np.unique(by, return_inverse=True)
        at = band.reshape(-1) * n + p.columns
        order = np.argsort(at, kind="stable")
        size = len(offsets) * n
        flat = a._of_each(lambda v: spread(pick(v, order), at[order], size), a.values)
        bands = flat.reshape(*flat.shape[:-1], len(offsets), n)
        return cls(tuple(offsets.tolist()), bands, p.shape, a.symmetric, a.positive)


def _shifted(x: Array, d: int, m: int, axis: int = -1) -> Array:
    """(x_(i + d)) for i = 0, …, m - 1 along an axis, 0 where there is none."""
    n = x.shape[axis]
    first, last = max(d, 0), max(max(d, 0), min(n, m + d))
    first = min(first, last)
    wide = [(0, 0)] * x.ndim
    before = min(max(-d, 0), m)
    wide[axis] = (before, m - before - (min(last, n) - min(first, n)))
    cut = [slice(None)] * x.ndim
    cut[axis] = slice(min(first, n), min(last, n))
    return xnp.pad(x[tuple(cut)], wide)


@functools.partial(jit, inline=True)
def _times(a: Dia, x: Array) -> Array:
    dtype = xnp.result_type(a.bands, x)
    one = functools.partial(_product, a.offsets, a.size)
    f, *operands = over_batches(one, (a.bands.astype(dtype), 2), (x.astype(dtype), 2))
    return f(*operands)


def _product(offsets: tuple[int, ...], size: Any, bands: Array, x: Array) -> Array:
    terms = [_shifted(bands[k][:, None] * x, d, size[0], axis=0) for k, d in enumerate(offsets)]
    return functools.reduce(xnp.add, terms, xnp.zeros((size[0], x.shape[1]), x.dtype))


@functools.lru_cache(maxsize=64)
def _places(offsets: tuple[int, ...], size: tuple[int, int]) -> tuple[Pattern, np.ndarray]:
    """The pattern of these diagonals, and where each of its elements stands in bands, one after the other."""
    m, n = size
    each = [np.arange(max(d, 0), max(max(d, 0), min(n, m + d))) for d in offsets]
    columns = np.concatenate([np.zeros(0, np.int64), *each])
    band = np.repeat(np.arange(len(offsets)), [len(x) for x in each])
    rows = columns - np.array([*offsets, 0])[band] if len(offsets) else columns
    order = np.lexsort((columns, rows))
    pattern = Pattern.of_rows(np.searchsorted(rows[order], np.arange(m + 1)), columns[order], size)
    return shared(pattern), (band * n + columns)[order]


def dia_array(
    arg: Any,
    shape: tuple[int, int] | None = None,
    dtype: DTypeLike | None = None,
    copy: bool = False,
) -> Dia:
    """A ``Dia`` from (data, offsets), as SciPy's, or of another matrix.

    Args:
      arg: (data, offsets), data (diagonals, columns) of which each column counts as in ``Dia``; or a matrix.
      shape: (rows, columns); square by default.
      dtype: of the values.
      copy: of no effect.

    >>> dia_array((xnp.asarray([[1.0, 2.0, 3.0]]), [1])).todense()
    Array([[0., 2., 0.],
           [0., 0., 3.],
           [0., 0., 0.]], dtype=float32)
    """
    made = arg if isinstance(arg, Dia) else None
    if isinstance(arg, tuple) and len(arg) == 2 and np.ndim(arg[0]) >= 1:
        data = as_values(arg[0], dtype)
        data = data[None] if data.ndim == 1 else data
        made = Dia(tuple(np.atleast_1d(arg[1]).tolist()), data, shape)
    if made is None:
        made = Dia.of(coo_array(arg, shape, dtype) if are_plain(arg) else arg)
    return made if dtype is None else made.astype(dtype)
