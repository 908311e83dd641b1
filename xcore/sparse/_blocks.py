"""Matrices of dense blocks at the places of a pattern, for systems: an index for each block, not for each element."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import jit
from .._core import Array, DTypeLike, errors, static, struct
from .._width import are_plain
from ..linalg import LinearOperator
from ._elements import by_elements, is_matrix, is_number
from ._making import as_values, coo_array
from ._matrix import Sparse, _in_one_dtype, matmul, over_batches
from ._pattern import (
    Pattern,
    integers,
    is_scipys,
    parts_of_scipys,
    places,
    pointers_of,
    shared,
    stable_order,
)
from ._products import _gathered, bilinear, pick, product_of, spread, transposed_values

_UNROLLED = (
    8  # columns of a block up to which its products are written out: XLA makes one loop of them
)
_FULL = 0.7  # part of the elements of blocks that must be there, where their size is not given


@by_elements
@struct
class Bsr(LinearOperator):
    """A matrix with dense blocks of one size at the places of a pattern, SciPy's ``bsr_array``; elsewhere it is 0.

    The only leaf is ``blocks``. Leading axes of it are batches of matrices. ``to_sparse()`` has all that ``Sparse``
    has, and what takes sparse matrices takes this.

    Args:
      blocks: (..., blocks, r, c), in the order of the pattern: row by row, in each row by column.
      pattern: the places of blocks, static.
      symmetric, positive: whether it is known to be Hermitian, and positive definite as well.

    >>> import xcore.numpy as xnp
    >>> from xcore.sparse import Pattern
    >>> a = Bsr(xnp.asarray([[[1.0, 2.0], [0.0, 1.0]]]), Pattern([1], [0], (2, 1)))
    >>> a, a @ xnp.asarray([1.0, 1.0])
    (Bsr(4x2, 1 blocks of 2x2, float32), Array([0., 0., 3., 1.], dtype=float32))
    """

    blocks: Any
    pattern: Pattern = static()
    symmetric: bool = static(default=False)
    positive: bool = static(default=False)

    format = "bsr"

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, Pattern):
            need = "a Pattern of blocks; sparse.bsr_array makes both"
            raise errors.bad_argument("sparse.Bsr", "pattern", self.pattern, need)
        shape = tuple(xnp.shape(self.blocks))
        if len(shape) < 3 or shape[-3] != self.pattern.nnz or 0 in shape[-2:]:
            need = f"need blocks (..., {self.pattern.nnz}, r, c), one for each place"
            raise errors.ShapeError(f"xcore.sparse.Bsr: {need}, given shape {shape}.")
        object.__setattr__(self, "blocks", xnp.asarray(self.blocks))

    # What it is

    @property
    def blocksize(self) -> tuple[int, int]:
        """(rows, columns) of a block."""
        return self.blocks.shape[-2:]

    @property
    def shape(self) -> Any:
        (m, n), (r, c) = self.pattern.shape, self.blocksize
        return (*self.blocks.shape[:-3], m * r, n * c)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.blocks.dtype

    @property
    def nnz(self) -> int:
        """How many elements are stored (of each matrix of a batch)."""
        r, c = self.blocksize
        return self.pattern.nnz * r * c

    def __repr__(self) -> str:
        batch = f"{list(self.shape[:-2])} of " if self.ndim > 2 else ""
        (m, n), (r, c) = self.shape[-2:], self.blocksize
        return f"Bsr({batch}{m}x{n}, {self.pattern.nnz} blocks of {r}x{c}, {self.dtype.name})"

    # As another

    def to_sparse(self) -> Sparse:
        """The same as a ``Sparse`` matrix; zeros of blocks are elements, too."""
        whole, at = _elements(self.pattern, self.blocksize)
        f, blocks = over_batches(lambda v: pick(v.reshape(-1), at), (self.blocks, 3))
        return Sparse(f(blocks), whole, symmetric=self.symmetric, positive=self.positive)

    def to_scipy(self) -> Any:
        """SciPy's bsr_array of a matrix whose values are known."""
        import scipy.sparse

        if self.ndim != 2:
            raise errors.shape_mismatch("sparse.Bsr.to_scipy", "need one matrix", matrix=self)
        p = self.pattern
        parts = np.array(self.blocks), p.indices.copy(), p.indptr.copy()
        return scipy.sparse.bsr_array(parts, shape=self.shape)

    @classmethod
    def of(cls, a: Any, blocksize: Any = None) -> Bsr:
        """Of what ``coo_array`` takes: all blocks in which there is an element.

        Args:
          a: the matrix.
          blocksize: (r, c) that divide its shape, or one number for both; by default the largest square up to 6x6
            whose blocks have few other zeros, a block of SciPy's for its ``bsr_array``.

        >>> from xcore import sparse
        >>> Bsr.of(sparse.kron(sparse.eye_array(3), [[1.0, 2.0], [3.0, 4.0]]))
        Bsr(6x6, 3 blocks of 2x2, float32)
        """
        if isinstance(a, Bsr) and blocksize in (None, a.blocksize):
            return a
        if is_scipys(a) and a.format == "bsr" and blocksize is None:
            blocksize = a.blocksize
        a = coo_array(a)
        size = _guessed(a.pattern) if blocksize is None else _blocksize(blocksize, a.shape[-2:])
        blocks, at = a.pattern.kept(("blocks", size), lambda: _blocks_of(a.pattern, size))
        f = lambda v: spread(v, at, blocks.nnz * size[0] * size[1]).reshape(blocks.nnz, *size)  # noqa: E731
        g, v = over_batches(f, (a.values, 1))
        return cls(g(v), blocks, a.symmetric, a.positive)

    def map(self, f: Callable[[Array], Array]) -> Bsr:
        """f of the stored blocks."""
        return Bsr(f(self.blocks), self.pattern)

    def astype(self, dtype: DTypeLike) -> Bsr:
        return self.replace(blocks=self.blocks.astype(dtype))

    # Products and sums

    def mv(self, x: Array) -> Array:
        return self.matmat(x[:, None])[..., 0]

    def matmat(self, x: Array) -> Array:
        return _times(self, x)

    def __matmul__(self, other: Any) -> Any:
        other = _ours(other)
        if is_matrix(other):
            return matmul(self.to_sparse(), coo_array(other))
        if isinstance(other, LinearOperator):
            return super().__matmul__(other)
        x = xnp.asarray(other)
        if not x.ndim or x.shape[-2 if x.ndim > 1 else -1] != self.shape[-1]:
            why = f"need a vector or matrix of {self.shape[-1]} rows"
            raise errors.shape_mismatch("sparse.Bsr @", why, x=x)
        return self.mv(x) if x.ndim == 1 else self.matmat(x)

    def __rmatmul__(self, x: Any) -> Any:
        x = _ours(x)
        if isinstance(x, Sparse):
            return matmul(x, self.to_sparse())
        x = xnp.asarray(x)
        return self.T @ x if x.ndim == 1 else (self.T @ x.mT).mT

    @property
    def T(self) -> Bsr:
        f, v = over_batches(functools.partial(_turned, self.pattern), (self.blocks, 3))
        return Bsr(f(v), self.pattern.T, self.symmetric, self.positive)

    mT = T

    def conj(self) -> Bsr:
        return self.replace(blocks=xnp.conj(self.blocks))

    @property
    def H(self) -> Bsr:
        return self.T.conj()

    def __neg__(self) -> Bsr:
        return self.map(xnp.negative)

    def __add__(self, other: Any) -> Any:
        other = _ours(other)
        if isinstance(other, Bsr) and other.blocksize == self.blocksize:
            return _sum(self, other)
        if isinstance(other, LinearOperator) and not is_matrix(other):
            return super().__add__(other)
        return self.to_sparse() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        other = _ours(other)
        if isinstance(other, Bsr):
            return self + -other
        return self.to_sparse() - other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        """Element by element, by blocks where it is a number; ``@`` is the product of matrices."""
        return self.map(lambda v: v * other) if is_number(other) else self.to_sparse() * other

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self.map(lambda v: v / other) if is_number(other) else self.to_sparse() / other


def _ours(x: Any) -> Any:
    return Sparse(*parts_of_scipys(x)) if is_scipys(x) else x


# Places


def _blocksize(given: Any, shape: Any) -> tuple[int, int]:
    r, c = given if isinstance(given, tuple | list) and len(given) == 2 else (given, given)
    sizes = all(isinstance(s, int | np.integer) and s > 0 for s in (r, c))
    if not sizes or shape[0] % r or shape[1] % c:
        need = f"divisors (r, c) of the shape {tuple(shape)}, or one of both"
        raise errors.bad_argument("sparse.bsr_array", "blocksize", given, need)
    return int(r), int(c)


def _guessed(p: Pattern) -> tuple[int, int]:
    for size in (6, 5, 4, 3, 2):
        if not (p.shape[0] % size or p.shape[1] % size) and p.nnz:
            blocks, _ = p.kept(("blocks", (size, size)), lambda s=size: _blocks_of(p, (s, s)))
            if p.nnz >= _FULL * blocks.nnz * size**2:
                return size, size
    return 1, 1


def _blocks_of(p: Pattern, size: tuple[int, int]) -> tuple[Pattern, np.ndarray]:
    """The pattern of blocks, and where each element stands among theirs."""
    r, c = size
    rows, columns = p.rows.astype(np.int64), p.columns.astype(np.int64)
    shape = p.shape[0] // r, p.shape[1] // c
    blocks, of = places("sparse.bsr_array", rows // r, columns // c, shape)
    return shared(blocks), of * (r * c) + rows % r * c + columns % c


def _elements(p: Pattern, size: tuple[int, int]) -> tuple[Pattern, np.ndarray]:
    return p.kept(("elements", tuple(size)), lambda: _all_elements(p, *size))


def _all_elements(p: Pattern, r: int, c: int) -> tuple[Pattern, np.ndarray]:
    """The pattern of all elements, and where each stands among blocks."""
    shape = p.shape[0] * r, p.shape[1] * c
    rows = p.rows.astype(np.int64)[:, None, None] * r + np.arange(r)[:, None] + np.zeros(c, int)
    columns = p.columns.astype(np.int64)[:, None, None] * c + np.arange(c) + np.zeros((r, 1), int)
    whole, at = places("sparse.Bsr", rows.reshape(-1), columns.reshape(-1), shape)
    return shared(whole), stable_order(at, whole.nnz)


# Numbers


def _turned(p: Pattern, v: Array) -> Array:
    return transposed_values(p, v).mT


def _in_blocks(a: Array, x: Array) -> Array:
    """The product of each block (…, r, c) with its columns (…, c, k)."""
    if a.shape[-1] > _UNROLLED:
        return a @ x
    return functools.reduce(
        xnp.add, [a[..., j, None] * x[..., j, None, :] for j in range(a.shape[-1])]
    )


def _raw_product(p: Pattern, v: Array, x: Array) -> Array:
    """(rows, r, k) of blocks and (columns, c, k)."""
    terms = _in_blocks(v, _gathered(x, p.columns))
    groups = p.kept("rows of blocks", lambda: _rows_of_blocks(p))
    ones = xnp.ones(p.nnz, v.dtype)
    sums = product_of(groups)(ones, terms.reshape(p.nnz, v.shape[-2] * x.shape[-1]))
    return sums.reshape(p.shape[0], v.shape[-2], x.shape[-1])


def _rows_of_blocks(p: Pattern) -> Pattern:
    return Pattern.of_rows(p.indptr, np.arange(p.nnz), (p.shape[0], p.nnz))


def _blocks_product(p: Pattern) -> Callable[[Array, Array], Array]:
    make = lambda: jit(bilinear(  # noqa: E731
        functools.partial(_raw_product, p),
        lambda ct, x: _blocks_sample(p)(ct, x),
        lambda ct, v: _blocks_product(p.T)(_turned(p, v), ct),
    ), inline=True)  # fmt: skip
    return p.kept("product of blocks", make)


def _blocks_sample(p: Pattern) -> Callable[[Array, Array], Array]:
    """Blocks Σ_k c_{i·k} x_{j·k}, of (rows, r, k) and (columns, c, k)."""
    make = lambda: jit(bilinear(  # noqa: E731
        lambda c, x: _gathered(c, p.rows) @ _gathered(x, p.columns).mT,
        lambda ct, x: _blocks_product(p)(ct, x),
        lambda ct, c: _blocks_product(p.T)(_turned(p, ct), c),
    ), inline=True)  # fmt: skip
    return p.kept("sample of blocks", make)


@functools.partial(jit, inline=True)
def _times(a: Bsr, x: Array) -> Array:
    v, x, finish = _in_one_dtype(a.blocks, x)
    (m, n), (r, c) = a.pattern.shape, a.blocksize

    def one(v: Array, x: Array) -> Array:
        y = _blocks_product(a.pattern)(v, x.reshape(n, c, x.shape[1]))
        return y.reshape(m * r, x.shape[1])

    f, v, x = over_batches(one, (v, 3), (x, 2))
    return finish(f(v, x))


def _sum(a: Bsr, b: Bsr) -> Bsr:
    if a.pattern.shape != b.pattern.shape:
        raise errors.shape_mismatch("sparse.Bsr +", "must have one shape", a=a, b=b)
    whole, mine, others = a.pattern.union(b.pattern)
    wide = lambda v, at: over_batches(lambda v: spread(v, at, whole.nnz), (v, 3))  # noqa: E731
    (f, v), (g, w) = wide(a.blocks, mine), wide(b.blocks, others)
    return Bsr(f(v) + g(w), whole, a.symmetric and b.symmetric, a.positive and b.positive)


def bsr_array(
    arg: Any,
    shape: tuple[int, int] | None = None,
    dtype: DTypeLike | None = None,
    blocksize: Any = None,
) -> Bsr:
    """``bsr_array((blocks, columns, row_pointers), shape)``, SciPy's form, and what ``coo_array`` takes.

    Blocks at the same place are added, and may be traced; columns and pointers, of blocks, are known.

    Args:
      arg: what it is made from.
      shape: (rows, columns) in elements; by default just large enough.
      dtype: of the values.
      blocksize: (r, c), of matrices that do not come as blocks; see ``Bsr.of``.

    >>> import xcore.numpy as xnp
    >>> bsr_array((xnp.ones((2, 1, 2)), [0, 1], [0, 1, 2])).todense()
    Array([[1., 1., 0., 0.],
           [0., 0., 1., 1.]], dtype=float32)
    """
    if isinstance(arg, tuple) and len(arg) == 3:
        made = _of_blocks(as_values(arg[0], dtype), *arg[1:], shape, blocksize)
    elif isinstance(arg, tuple) and all(isinstance(s, int | np.integer) for s in arg):
        size = _blocksize(1 if blocksize is None else blocksize, arg)
        blocks = Pattern([], [], (arg[0] // size[0], arg[1] // size[1]))
        made = Bsr(xnp.zeros((0, *size)), blocks)
    else:
        made = Bsr.of(
            coo_array(arg, shape, dtype) if shape is not None or are_plain(arg) else arg, blocksize
        )
    return made if dtype is None else made.astype(dtype)


def _of_blocks(blocks: Any, columns: Any, pointers: Any, shape: Any, blocksize: Any) -> Bsr:
    who, v = "sparse.bsr_array", xnp.asarray(blocks)
    columns, pointers = integers(who, "columns", columns), integers(who, "row_pointers", pointers)
    steps = np.diff(pointers)
    if not len(pointers) or pointers[0] or (steps < 0).any() or pointers[-1] != len(columns):
        need = f"numbers from 0 to that of blocks, {len(columns)}, that do not fall"
        raise errors.bad_argument(who, "row_pointers", pointers.tolist(), need)
    if v.ndim < 3 or v.shape[-3] != len(columns) or 0 in v.shape[-2:]:
        need = f"need blocks (..., {len(columns)}, r, c), one for each column"
        raise errors.shape_mismatch(who, need, blocks=v)
    r, c = v.shape[-2:]
    if blocksize is not None and _blocksize(blocksize, (r, c)) != (r, c):
        raise errors.bad_argument(who, "blocksize", blocksize, f"{(r, c)}, as blocks have")
    shape = shape or (len(steps) * r, (int(columns.max(initial=-1)) + 1) * c)
    _blocksize((r, c), shape)
    if shape[0] != len(steps) * r:
        raise errors.bad_argument(who, "shape", shape, f"of {len(steps) * r} rows, as pointers say")
    rows = np.repeat(np.arange(len(steps)), steps)
    p, at = places(who, rows, columns, (len(steps), shape[1] // c))
    order = stable_order(at, p.nnz)
    if len(at) == p.nnz:
        f, v = over_batches(lambda v: pick(v, order), (v, 3))
        return Bsr(f(v), p)
    groups = Pattern.of_rows(pointers_of(at, p.nnz), order, (p.nnz, len(at)))
    ones = xnp.ones(len(at), v.dtype)
    add = lambda v: product_of(groups)(ones, v.reshape(len(at), r * c)).reshape(p.nnz, r, c)  # noqa: E731
    f, v = over_batches(add, (v, 3))
    return Bsr(f(v), p)
