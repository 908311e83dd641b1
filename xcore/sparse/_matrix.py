"""``Sparse``: values at the places of a pattern, as a matrix and as a linear operator."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit, vmap
from .._core import (
    Array,
    DTypeLike,
    Tracer,
    dtypes,
    errors,
    one_of,
    static,
    struct,
    typeof,
)  # fmt: skip
from .._core.notebook import shown
from .._width import are_plain
from ..linalg import LinearOperator
from ._indexing import At, item, repeated
from ._named import Named
from ._pattern import (
    Pattern,
    drawn,
    index_of,
    is_scipys,
    parts_of_scipys,
)
from ._products import pick, product_of, spread, transposed_values, value_product


@struct
class Sparse(Named, LinearOperator):
    """A matrix with elements at the places of a pattern; everywhere else it is 0.

    The only leaf is ``values``: so it passes through ``jit``, ``grad`` and ``vmap``, and derivatives with
    respect to a matrix are matrices of the same pattern. Leading axes of the values are batches of matrices.

    Attributes:
      values: (..., elements), in the order of the pattern: row by row, in each row by column.
      pattern: the places, static.
      symmetric, positive: whether it is known to be Hermitian, and positive definite as well.

    >>> import xcore.numpy as xnp
    >>> a = Sparse(xnp.asarray([2.0, -1.0, 3.0]), Pattern([0, 0, 1], [0, 1, 1], (2, 2)))
    >>> a @ xnp.asarray([1.0, 2.0])
    Array([0., 6.], dtype=float32)
    """

    values: Any
    pattern: Pattern = static()
    symmetric: bool = static(default=False)
    positive: bool = static(default=False)

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, Pattern):
            need = "a Pattern; sparse.coo_array and its kin make both from coordinates"
            raise errors.bad_argument("sparse.Sparse", "pattern", self.pattern, need)
        shape = tuple(xnp.shape(self.values))
        if not shape or shape[-1] != self.pattern.nnz:
            why = f"need {self.pattern.nnz} values along the last axis, one for each element"
            raise errors.ShapeError(f"xcore.sparse.Sparse: {why}, given shape {shape}.")
        object.__setattr__(self, "values", xnp.asarray(self.values))

    # What it is

    @property
    def shape(self) -> Any:
        return (*self.values.shape[:-1], *self.pattern.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @property
    def nnz(self) -> int:
        """How many elements are stored (of each matrix of a batch)."""
        return self.pattern.nnz

    @property
    def size(self) -> int:
        return self.nnz

    def __repr__(self) -> str:
        m, n = self.pattern.shape
        full = f", {self.nnz / (m * n):.2g} of all" if m * n else ""
        batch = f"{list(self.values.shape[:-1])} of " if self.ndim > 2 else ""
        return (
            f"Sparse({batch}{m}x{n}, {self.nnz} elements{full}, {typeof(self.values).dtype.name})"
        )

    def _repr_html_(self) -> str:
        """For notebooks: where the elements are, in at most 32 x 32 fields."""
        return shown(repr(self), text=drawn(self.pattern))

    # As another

    def todense(self) -> Array:
        """All elements.

        >>> from xcore import sparse
        >>> sparse.eye_array(2).todense()
        Array([[1., 0.],
               [0., 1.]], dtype=float32)
        """
        return self._of_each(self._dense, self.values)

    toarray = todense

    def _dense(self, v: Array) -> Array:
        size = math.prod(self.pattern.shape)
        return spread(v, self.pattern.keys, size).reshape(self.pattern.shape)

    def as_matrix(self, dtype: DTypeLike | None = None) -> Array:
        return self.todense() if dtype is None else self.todense().astype(dtype)

    def to_scipy(self) -> Any:
        """SciPy's csr_array of a matrix whose values are known."""
        import scipy.sparse

        if self.ndim != 2:
            raise errors.shape_mismatch("sparse.Sparse.to_scipy", "need one matrix", matrix=self)
        p = self.pattern
        parts = (np.array(self.values), p.indices.copy(), p.indptr.copy())
        return scipy.sparse.csr_array(parts, shape=p.shape)

    def astype(self, dtype: DTypeLike, casting: str = "unsafe", copy: bool = True) -> Sparse:
        values = self.values.astype(dtype)
        return self.replace(values=values) if values.dtype == self.dtype else self.like(values)

    # Products

    def _of_each(self, f: Callable[..., Any], values: Array, *others: Array) -> Any:
        """f of the values of each matrix of a batch, beside others that have the batch's axes in front."""
        for _ in range(self.ndim - 2):
            f = vmap(f)
        return f(values, *others)

    def mv(self, x: Array) -> Array:
        return self._times(x, 1)

    def matmat(self, x: Array) -> Array:
        return self._times(x, 2)

    def _times(self, x: Array, rank: int) -> Array:
        return _product(self, x, rank=rank)

    def __matmul__(self, other: Any) -> Any:
        other = _operand(other)
        if isinstance(other, Sparse):
            return matmul(self, other)
        if isinstance(other, LinearOperator):
            return super().__matmul__(other)
        x = other if isinstance(other, Array) else xnp.asarray(other)
        if not x.ndim or x.shape[-2 if x.ndim > 1 else -1] != self.shape[-1]:
            why = f"need a vector or matrix of {self.shape[-1]} rows"
            raise errors.shape_mismatch("sparse.Sparse @", why, x=x)
        return self._times(x, min(x.ndim, 2))

    def __rmatmul__(self, x: Any) -> Any:
        x = _operand(x)
        if isinstance(x, Sparse):
            return matmul(x, self)
        x = xnp.asarray(x)
        if not x.ndim or x.shape[-1] != self.shape[-2]:
            why = f"need a vector or matrix of {self.shape[-2]} columns"
            raise errors.shape_mismatch("sparse.Sparse @", why, x=x)
        return self.T @ x if x.ndim == 1 else (self.T @ x.mT).mT

    dot = __matmul__

    @property
    def T(self) -> Sparse:
        v = self._of_each(functools.partial(transposed_values, self.pattern), self.values)
        return self.replace(values=v, pattern=self.pattern.T)

    mT = T

    def transpose(self, axes: None = None, copy: bool = False) -> Sparse:
        one_of("sparse.Sparse.transpose", "axes", axes, (None, (1, 0), (-1, -2)), "None or (1, 0)")
        return self.T

    @property
    def H(self) -> Sparse:
        return self.T.conj()

    # Elementwise

    def map(self, f: Callable[[Array], Array]) -> Sparse:
        """f of the stored values. What is not stored stays 0, whatever f(0) is."""
        return self.like(f(self.values))

    def like(self, values: Array, pattern: Pattern | None = None) -> Sparse:
        """A matrix of other values, of the same pattern or another, of which nothing else is known."""
        return Sparse(values, self.pattern if pattern is None else pattern)

    def __neg__(self) -> Sparse:
        return self.replace(values=-self.values, positive=False)

    def __abs__(self) -> Sparse:
        return self.map(xnp.abs)

    def conj(self, copy: bool = True) -> Sparse:
        return self.replace(values=xnp.conj(self.values))

    conjugate = conj
    real = property(lambda self: self.map(xnp.real))
    imag = property(lambda self: self.map(xnp.imag))

    def __add__(self, other: Any) -> Any:
        other = _operand(other)
        if isinstance(other, Sparse):
            return _add(self, other)
        if isinstance(other, LinearOperator):
            return super().__add__(other)
        if isinstance(other, int | float) and other == 0:  # where Python's sum() begins
            return self
        if not xnp.ndim(other):
            raise errors.bad_argument(
                "sparse.Sparse +", "the other", other,
                "a matrix: a number would fill every place; A.todense() + number",
            )  # fmt: skip
        return self.todense() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        other = _operand(other)
        if isinstance(other, Sparse) and other.dtype == np.bool_ != self.dtype:
            other = other.astype(self.dtype)
        negated = isinstance(other, LinearOperator | int | float)
        return self + (-other if negated else -xnp.asarray(other))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        """Element by element, as SciPy's sparse arrays do; ``@`` is the product of matrices."""
        other = _operand(other)
        if isinstance(other, Sparse):
            return _multiply(self, other)
        if isinstance(other, LinearOperator):
            raise errors.bad_argument(
                "sparse.Sparse *",
                "the other",
                other,
                "a number, an array or a Sparse; @ multiplies operators",
            )
        return self._with("*", xnp.multiply, other)

    __rmul__ = __mul__
    multiply = __mul__

    def __truediv__(self, other: Any) -> Sparse:
        if isinstance(_operand(other), LinearOperator):
            need = "a number or an array: nothing is there to divide by at most places"
            raise errors.bad_argument("sparse.Sparse /", "the other", other, need)
        return self._with("/", xnp.divide, other)

    def __pow__(self, times: Any) -> Any:
        """Powers of the elements, as SciPy's sparse arrays do. The exponent is a number above 0."""
        if not isinstance(times, int | float | np.integer | np.floating) or times <= 0:
            raise errors.bad_argument(
                "sparse.Sparse **", "the exponent", times, "a number above 0, that leaves zeros 0"
            )
        return self.map(lambda v: v**times)

    def _with(self, sign: str, f: Callable[..., Array], x: Any) -> Sparse:
        """f of the elements and those of an array at the same places, of shapes broadcast together."""
        if are_plain(x) and not isinstance(x, (list, tuple)):  # as wide as the elements
            return self.map(lambda v: f(v, x))
        x = xnp.asarray(x)
        wide = repeated(self, _one_shape(sign, self, x))
        return wide.map(lambda v: f(v, wide._at_places(x)))

    def _at_places(self, x: Array) -> Array:
        """The elements of an array, broadcast to the matrix, where this has its own."""
        if not x.ndim:
            return x
        rows = self.pattern.rows if x.ndim > 1 and x.shape[-2] != 1 else 0
        columns = self.pattern.columns if x.shape[-1] != 1 else 0
        if x.ndim == 1:
            return x[columns]
        return x[..., rows, columns]

    # Parts

    def diagonal(self, k: int = 0) -> Array:
        """The k-th diagonal, above the main one for k > 0."""
        (m, n), k = self.pattern.shape, index_of("sparse.Sparse.diagonal", "k", k)
        count = max(0, min(m + min(k, 0), n - max(k, 0)))
        rows = np.arange(count) - min(k, 0)
        return self._at(self.pattern.kept(("at", k), lambda: self.pattern.find(rows, rows + k)))

    def _elements(self, rows: np.ndarray, columns: np.ndarray) -> Array:
        return self._at(self.pattern.find(rows, columns))

    def _at(self, at: np.ndarray) -> Array:
        """The elements at positions, 0 where these are below 0."""
        if not self.nnz:
            return xnp.zeros((*self.shape[:-2], *at.shape), self.dtype)
        return xnp.where(at >= 0, self.values[..., np.maximum(at, 0)], xnp.zeros((), self.dtype))

    def _chosen(self, keep: np.ndarray) -> Sparse:
        pattern, at = self.pattern.chosen(keep)
        return Sparse(self._of_each(lambda v: pick(v, at), self.values), pattern)

    def __getitem__(self, index: Any) -> Any:
        """``A[i, j]`` of integers or arrays of them: elements. With slices: a matrix of rows and columns.

        Indices are known before tracing: they choose the pattern.
        """
        return item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "xcore.sparse: matrices are immutable, so A[i, j] = value is not possible. Write "
            "A = A.at[i, j].set(value) where an element is stored; A + another matrix has more."
        )

    @property
    def at(self) -> Any:
        """``A.at[i, j].set(values)`` and ``add``, ``multiply``, of elements that are stored."""
        return At(self)

    # Sums

    def _axis(self, who: str, axis: Any) -> int | None:
        """0, 1, or None for all elements, of what SciPy takes for an axis."""
        axes = (axis,) if isinstance(axis, int | np.integer) else (0, 1) if axis is None else axis
        found = [int(k) % 2 for k in axes if k in (-2, -1, 0, 1)] if isinstance(axes, tuple) else []
        if not found or len(found) != len(set(found)) or len(found) != len(axes):
            need = "None, 0, 1, -1, -2, or a tuple of different ones"
            raise errors.bad_argument(f"sparse.Sparse.{who}", "axis", axis, need)
        return None if len(found) == 2 else found[0]

    def sum(self, axis: Any = None, dtype: DTypeLike | None = None) -> Array:
        """The sum of all elements, or along an axis (0, 1, negative, a tuple), in the dtype of ``xnp.sum``."""
        axis = self._axis("sum", axis)
        if axis is None:
            return self.values.sum(-1, dtype=dtype)
        (m, n), dtype = self.pattern.shape, xnp.zeros(0, self.dtype).sum(dtype=dtype).dtype
        a, along = (self, n) if axis else (self.T, m)
        return a.astype(dtype) @ xnp.ones(along, dtype)

    def mean(self, axis: Any = None, dtype: DTypeLike | None = None) -> Array:
        """The mean of all elements, or along an axis, in the dtype of ``xnp.mean``."""
        axis, dtype = self._axis("mean", axis), xnp.ones(1, self.dtype).mean(dtype=dtype).dtype
        wide = self.astype(np.result_type(dtype, np.float32)) if dtype.itemsize < 4 else self
        m, n = self.pattern.shape
        return (wide.sum(axis) / (m * n if axis is None else n if axis else m)).astype(dtype)

    def max(self, axis: Any = None) -> Array:
        """The largest of all elements, or along an axis; those that are not stored are 0.

        >>> from xcore import sparse
        >>> (-sparse.eye_array(2)).max(axis=0)
        Array([0., 0.], dtype=float32)
        """
        return self._extremum("max", xnp.maximum, axis)

    def min(self, axis: Any = None) -> Array:
        """The least of all elements, or along an axis, as ``max``."""
        return self._extremum("min", xnp.minimum, axis)

    def _extremum(self, name: str, choose: Callable[..., Array], axis: Any) -> Array:
        p, who, axis = self.pattern, f"sparse.Sparse.{name}", self._axis(name, axis)
        if axis == 0:
            return self.T._extremum(name, choose, 1)
        if not math.prod(p.shape) if axis is None else not p.shape[1]:
            raise errors.shape_mismatch(
                who, "need elements, as nothing is the largest of none", matrix=self
            )
        if dtypes.is_complex(self.dtype):  # in the order of real parts, then of imaginary ones
            return getattr(self.todense(), name)(axis=(-2, -1) if axis is None else -1)
        if axis is None and p.nnz:
            found = getattr(xnp, name)(self.values, axis=-1)
            return found if p.nnz == math.prod(p.shape) else choose(found, xnp.zeros_like(found))
        if not p.nnz:
            return xnp.zeros(
                (*self.values.shape[:-1], *p.shape[: int(axis is not None)]), self.dtype
            )

        def of_rows(
            v: Array,
        ) -> Array:  # full ones begin with an element of their own, others with a zero
            first = v[np.minimum(p.indptr[:-1], p.nnz - 1)]
            start = xnp.where(p.lengths == p.shape[1], first, xnp.zeros_like(first))
            return getattr(start.at[p.rows], name)(v)

        return self._of_each(of_rows, self.values)

    def trace(self, offset: int = 0) -> Array:
        return self.diagonal(offset).sum(-1)

    def eliminate_zeros(self) -> Sparse:
        """Without stored elements that are 0; values must be known."""
        if self.ndim != 2:
            raise errors.shape_mismatch(
                "sparse.Sparse.eliminate_zeros", "need one matrix", matrix=self
            )
        return self._chosen(np.asarray(self.values) != 0)

    def sum_duplicates(self, copy: bool = False) -> Sparse:
        """The matrix itself: no element is there twice, and there is one format."""
        return self

    tocsr = tocsc = tocoo = sum_duplicates

    # Comparisons

    def _compared(self, f: Callable[..., Array], sign: str, other: Any) -> Any:
        """Element by element, as arrays are: of an array an array; of others it must be False where both are 0."""
        other = _operand(other)
        if not isinstance(other, LinearOperator) and xnp.ndim(other):
            return f(self.todense(), other)
        if of_zero(f, sign, 0 if isinstance(other, Sparse) else _plain_number(sign, other)):
            if math.prod(self.pattern.shape) > _MOST_PLACES:
                raise errors.bad_argument(
                    f"sparse.Sparse {sign}", "the other", other,
                    f"such that 0 {sign} other is false: it is true nearly everywhere, at too many places to store",
                )  # fmt: skip
            return self._everywhere()._compared_there(f, sign, other)
        return self._compared_there(f, sign, other)

    def _everywhere(self) -> Sparse:
        """With all places stored."""
        m, n = self.pattern.shape
        whole = Pattern.of_rows(np.arange(m + 1) * n, np.tile(np.arange(n), m), (m, n))
        return self.like(self.todense().reshape(*self.values.shape[:-1], m * n), whole)

    def _compared_there(self, f: Callable[..., Array], sign: str, other: Any) -> Any:
        if not isinstance(other, Sparse):
            return self.like(f(self.values, other))
        _same_shape(sign, self, other)
        whole, mine, others = self.pattern.union(other.pattern)
        wide = lambda m, at: m._of_each(lambda v: spread(v, at, whole.nnz), m.values)  # noqa: E731
        return Sparse(f(wide(self, mine), wide(other, others)), whole)

    def __bool__(self) -> bool:
        raise errors.bad_argument(
            "sparse.Sparse", "bool(A)", self, "asked of numbers: (A != 0).values.any() or .nnz"
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __eq__(self, other: Any) -> Any:
        return self._compared(xnp.equal, "==", other)

    def __ne__(self, other: Any) -> Any:
        return self._compared(xnp.not_equal, "!=", other)

    def __lt__(self, other: Any) -> Any:
        return self._compared(xnp.less, "<", other)

    def __le__(self, other: Any) -> Any:
        return self._compared(xnp.less_equal, "<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(xnp.greater, ">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(xnp.greater_equal, ">=", other)


_MOST_PLACES = 1 << 24  # where a result is true nearly everywhere


def _plain_number(sign: str, x: Any) -> Any:
    if xnp.ndim(x):
        raise errors.shape_mismatch(f"sparse.Sparse {sign}", "need a number or a Sparse", other=x)
    return x


def of_zero(f: Callable[..., Array], sign: str, number: Any) -> bool:
    """Whether f(0, number) is other than 0, by NumPy, as programs are traced with what is known before them."""
    if isinstance(number, Tracer):
        need = "known before tracing, as it tells what becomes of zeros; A.map(f) is f of stored elements"
        raise errors.bad_argument(f"sparse.Sparse {sign}", "the other", number, need)
    return bool(getattr(np, f.__name__)(0, np.asarray(number)))


def _operand(x: Any) -> Any:
    """What stands beside a matrix: one of SciPy's becomes one of ours, one of blocks one of elements."""
    if getattr(x, "stores_elements", False):
        return x.to_sparse()
    return Sparse(*parts_of_scipys(x)) if is_scipys(x) else x


@functools.partial(jit, static_argnames="rank", inline=True)
def _product(a: Sparse, x: Array, rank: int) -> Array:
    v, x, finish = _in_one_dtype(a.values, x)
    f, v, x = over_batches(product_of(a.pattern), (v, 1), (x, rank))
    return finish(f(v, x))


def over_batches(f: Callable[..., Any], *operands: tuple[Array, int]) -> tuple[Any, ...]:
    """f mapped over the axes in front of the last ones, and the operands with the same such axes, or none."""
    batch = np.broadcast_shapes(*[x.shape[: x.ndim - rank] for x, rank in operands])
    spread_out = [
        xnp.broadcast_to(x, batch + x.shape[x.ndim - rank :]) if x.ndim > rank else x
        for x, rank in operands
    ]
    axes = tuple(0 if x.ndim > rank else None for x, rank in operands)
    for _ in batch:
        f = vmap(f, in_axes=axes)
    return f, *spread_out


def _in_one_dtype(v: Array, x: Any) -> tuple[Array, Array, Callable[[Array], Array]]:
    """Both in the dtype of their products, and what makes the result of it: of bools, whether any is."""
    x = xnp.asarray(x)
    dtype = xnp.result_type(v, x)
    if dtype == bool:
        return v.astype(np.int32), x.astype(np.int32), lambda y: y != 0
    return v.astype(dtype), x.astype(dtype), lambda y: y


def _one_shape(sign: str, a: Sparse, b: Any) -> tuple[int, int]:
    """The shape of matrices broadcast together."""
    shape = a.pattern.shape
    try:
        return np.broadcast_shapes(shape, b.shape[-2:])
    except ValueError:
        why = f"need shapes that broadcast, and {shape} is that of the matrix"
        raise errors.shape_mismatch(f"sparse.Sparse {sign}", why, a=a, other=b) from None


def _same_shape(sign: str, a: Sparse, b: Sparse) -> None:
    if a.pattern.shape != b.pattern.shape:
        raise errors.shape_mismatch(f"sparse.Sparse {sign}", "must have one shape", a=a, b=b)


def _add(a: Sparse, b: Sparse) -> Sparse:
    _same_shape("+", a, b)
    tags = {"symmetric": a.symmetric and b.symmetric, "positive": a.positive and b.positive}
    if a.pattern == b.pattern:
        return Sparse(a.values + b.values, a.pattern, **tags)
    whole, mine, others = a.pattern.union(b.pattern)
    wide = lambda m, at: m._of_each(lambda v: spread(v, at, whole.nnz), m.values)  # noqa: E731
    return Sparse(wide(a, mine) + wide(b, others), whole, **tags)


def _multiply(a: Sparse, b: Sparse) -> Sparse:
    shape = _one_shape("*", a, b)
    a, b = repeated(a, shape), repeated(b, shape)
    if a.pattern == b.pattern:
        return Sparse(a.values * b.values, a.pattern)
    both, mine, others = a.pattern.common(b.pattern)
    part = lambda m, at: m._of_each(lambda v: pick(v, at), m.values)  # noqa: E731
    return Sparse(part(a, mine) * part(b, others), both)


def matmul(a: Sparse, b: Sparse) -> Sparse:
    """The product of two sparse matrices: its pattern on the host, once, its values as sums of products.

    Args:
      a, b: the matrices, of which a has as many columns as b has rows.

    >>> from xcore import sparse
    >>> a = sparse.diags_array([[1.0, 2.0], [3.0]], offsets=[0, 1])
    >>> matmul(a, a).todense()
    Array([[1., 9.],
           [0., 4.]], dtype=float32)
    """
    if a.shape[-1] != b.shape[-2]:
        why = f"need as many rows as the first has columns, {a.shape[-1]}"
        raise errors.shape_mismatch("sparse.Sparse @", why, a=a, b=b)
    pattern, f = a.pattern.kept(("product", b.pattern), lambda: value_product(a.pattern, b.pattern))
    x, y, finish = _in_one_dtype(a.values, b.values)
    f, x, y = over_batches(f, (x, 1), (y, 1))
    return Sparse(finish(f(x, y)), pattern)
