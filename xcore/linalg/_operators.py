"""Linear operators: matrices known by what they do to a vector, and their algebra.

An operator is a pytree, so it passes through ``jit``, ``grad`` and ``vmap``. ``mv`` takes a vector
to a vector, ``T`` is the transposed operator, and the tags say what a solver may rely on.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import eval_shape, jit, jvp, linear_call, linear_transpose, pure_callback, vmap
from .._core import Array, ArrayLike, DTypeLike, dtypes, errors, static, struct
from .._core.types import ShapeDtypeStruct, typeof
from ._range import divided


class LinearOperator:
    """What all operators have in common: ``+``, ``-``, ``*`` and ``/`` by numbers, ``@``, ``**``,
    ``T``, tags. On either side of a sign may stand a matrix.

    Attributes:
      shape: (rows, columns).
      symmetric: whether it is known to be Hermitian: ``T`` is its conjugate, for real operators
        the operator itself.
      positive: whether it is known to be positive definite as well.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> a = xc.linalg.as_operator(xnp.asarray([[2.0, 1.0], [0.0, 3.0]]))
    >>> (2 * a + a.T) @ xnp.ones(2)
    Array([ 8., 10.], dtype=float32)
    >>> a.shape, a.symmetric
    ((2, 2), False)
    """

    shape: tuple[int, int]
    replace: Callable[..., Any]  # what @struct adds to the classes of operators
    symmetric: bool = False
    positive: bool = False
    __array_ufunc__ = None  # array + operator is the operator's business, not NumPy's

    def mv(self, x: Array) -> Array:
        """The product with a vector."""
        raise errors.bad_argument(
            type(self).__name__, "mv", self, "defined by the operator's class"
        )

    def matmat(self, x: Array) -> Array:
        """The product with each column of a matrix."""
        return vmap(self.mv, in_axes=1, out_axes=1)(x)

    @property
    def T(self) -> LinearOperator:
        """The transposed operator (without conjugation)."""
        return Conjugated(self) if self.symmetric else Transposed(self)

    @property
    def H(self) -> LinearOperator:
        """The adjoint operator, the conjugate transpose."""
        turned = self.T
        return (
            self
            if self.symmetric
            else turned.a
            if type(turned) is Conjugated
            else Conjugated(turned)
        )

    # SciPy's names

    def matvec(self, x: ArrayLike) -> Array:
        """The product with a vector, or with a column; SciPy's name."""
        return self @ x

    def rmatvec(self, x: ArrayLike) -> Array:
        """The product of the conjugate transpose with a vector or a column; SciPy's name."""
        return xnp.conj(self.T @ xnp.conj(xnp.asarray(x)))

    rmatmat = rmatvec

    def dot(self, other: Any) -> Any:
        """``self @ other``; SciPy's name."""
        return self @ other

    def as_matrix(self, dtype: DTypeLike | None = None) -> Array:
        """All of its elements, from the products with the unit vectors."""
        return self.matmat(xnp.eye(self.shape[1], dtype=dtype))

    def to_scipy(self, dtype: DTypeLike | None = None) -> Any:
        """The operator as a ``scipy.sparse.linalg.LinearOperator``: NumPy's vectors in, NumPy's vectors out.

        Args:
          dtype: what SciPy takes its elements for; by default what products with float32 have.

        >>> import scipy.sparse.linalg, xcore.numpy as xnp
        >>> a = Diagonal(xnp.asarray([1.0, 2.0, 4.0]))
        >>> scipy.sparse.linalg.cg(a.to_scipy(), [1.0, 1.0, 1.0])[0].round(4).tolist()
        [1.0, 0.5, 0.25]
        """
        outward = importlib.import_module("scipy.sparse.linalg").LinearOperator
        if dtype is None:
            dtype = eval_shape(self.mv, xnp.zeros(self.shape[1], "float32")).dtype

        def product(run: Any, *shape: int) -> Callable[[Any], np.ndarray]:
            return lambda x: np.array(run(self, np.reshape(x, shape or np.shape(x))))

        return outward(
            self.shape, product(_product, -1), product(_adjoint_product, -1), product(_product), dtype,
            product(_adjoint_product),
        )  # fmt: skip

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, LinearOperator):
            _need(self.shape[1] == other.shape[0], "@", self, other)
            return Product(self, other)
        other = xnp.asarray(other)
        if other.ndim not in (1, 2) or other.shape[0] != self.shape[1]:
            why = f"need a vector or matrix of {self.shape[1]} rows"
            raise errors.shape_mismatch("linalg.LinearOperator @", why, x=other)
        out = self.mv(other) if other.ndim == 1 else self.matmat(other)
        if typeof(out).shape[:1] != self.shape[:1]:
            why = f"need products of {self.shape[0]} rows, as the operator's shape says"
            raise errors.shape_mismatch("linalg.LinearOperator @", why, product=out)
        return out

    def __rmatmul__(self, x: Any) -> Array:
        x = xnp.asarray(x)
        if x.ndim not in (1, 2) or x.shape[-1] != self.shape[0]:
            why = f"need a vector or matrix of {self.shape[0]} columns"
            raise errors.shape_mismatch("linalg.LinearOperator @", why, x=x)
        return (self.T @ x.T).T

    def __add__(self, other: Any) -> LinearOperator:
        other = as_operator(other)
        _need(self.shape == other.shape, "+", self, other)
        return Sum(self, other)

    def __radd__(self, other: Any) -> LinearOperator:
        return as_operator(other) + self

    def __sub__(self, other: Any) -> LinearOperator:
        return self + as_operator(other) * -1.0

    def __rsub__(self, other: Any) -> LinearOperator:
        return as_operator(other) + self * -1.0

    def __mul__(self, number: ArrayLike) -> LinearOperator:
        return Scaled(_number("*", number), self)

    __rmul__ = __mul__

    def __truediv__(self, number: ArrayLike) -> LinearOperator:
        return Scaled(1 / _number("/", number), self)  # pyright: ignore[reportOperatorIssue]

    def __rtruediv__(self, _):
        why = "need an operator before /, and a number after it; linear_solve divides by operators"
        raise errors.shape_mismatch("linalg.LinearOperator /", why, operator=self)

    def __neg__(self) -> LinearOperator:
        return self * -1.0

    def __pow__(self, times: int) -> LinearOperator:
        _need(self.shape[0] == self.shape[1], "**", self, self)
        if type(times) is not int or times < 1:
            need = "an int of 1 or more: that many products"
            raise errors.bad_argument("linalg.LinearOperator **", "the exponent", times, need)
        return functools.reduce(Product, [self] * times)


def _number(sign: str, x):
    if isinstance(x, LinearOperator) or xnp.ndim(x):
        why = "need a number; see @ for products, Diagonal to scale rows"
        raise errors.shape_mismatch(f"linalg.LinearOperator {sign}", why, factor=x)
    return x


def _is_complex(x) -> bool:
    return dtypes.is_complex(xnp.asarray(x).dtype)


def _need(fits: bool, sign: str, a, b) -> None:
    if not fits:
        raise errors.ShapeError(
            f"xcore.linalg.LinearOperator {sign}: operators of shapes {a.shape} and {b.shape} do not fit."
        )


@struct
class Matrix(LinearOperator):
    """A dense matrix as an operator.

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> m = linalg.Matrix(xnp.array([[4.0, 1.0], [1.0, 3.0]]), symmetric=True, positive=True)
    >>> m @ xnp.ones(2)
    Array([5., 4.], dtype=float32)
    """

    a: Any
    symmetric: bool = static(default=False)
    positive: bool = static(default=False)

    @property
    def shape(self):
        shape = tuple(xnp.shape(self.a))
        if len(shape) != 2:
            raise errors.ShapeError(f"xcore.linalg.Matrix: need a matrix, given shape {shape}.")
        return shape

    def mv(self, x: Array) -> Array:
        return xnp.asarray(self.a) @ x


@struct
class Diagonal(LinearOperator):
    """A diagonal matrix, by its diagonal.

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> d = linalg.Diagonal(xnp.array([2.0, 4.0]))
    >>> d @ xnp.ones(2)
    Array([2., 4.], dtype=float32)
    >>> linalg.linear_solve(d, xnp.ones(2)).round(4)
    Array([0.5 , 0.25], dtype=float32)
    """

    d: Any
    positive: bool = static(default=False)

    @property
    def symmetric(self):
        return not _is_complex(self.d)

    @property
    def T(self):
        return self

    @property
    def shape(self):
        return (xnp.shape(self.d)[0],) * 2

    def mv(self, x: Array) -> Array:
        return self.d * x


@struct
class FunctionOperator(LinearOperator):
    """A linear function of vectors; arrays it needs are ``params``, its first argument.

    ``field``: the shape, if any, that f gives to vectors; solvers may keep theirs in it.

    >>> import xcore.numpy as xnp
    >>> shift = FunctionOperator(lambda c, x: c * xnp.roll(x, 1), 2.0, (3, 3))
    >>> shift.T @ xnp.asarray([1.0, 2.0, 3.0])
    Array([4., 6., 2.], dtype=float32)
    """

    f: Any = static()
    params: Any = None
    shape: tuple = static(default=(0, 0))
    symmetric: bool = static(default=False)
    positive: bool = static(default=False)
    field: tuple | None = static(default=None)

    def mv(self, x: Array) -> Array:
        return self.f(self.params, x)


@struct
class OnHost(LinearOperator):
    """An operator of SciPy's, which is called on the host, vector by vector.

    It has derivatives by the vector, none by what it holds; its adjoint is SciPy's ``rmatvec``.
    """

    a: Any = static()
    symmetric: bool = static(default=False)
    positive: bool = static(default=False)

    @property
    def shape(self):
        return tuple(map(int, self.a.shape))

    def mv(self, x: Array) -> Array:
        own = x.dtype if self.a.dtype is None else dtypes.as_dtype(self.a.dtype)
        dtype = xnp.promote_types(x.dtype, own)
        m, n = self.shape

        def called(of: Callable[[Any], Any], size: int, x: Array) -> Array:
            run = lambda v: np.asarray(of(v)).astype(dtype)  # noqa: E731
            return pure_callback(run, ShapeDtypeStruct((size,), dtype), x)

        return linear_call(
            lambda _, x: called(self.a.matvec, m, x),
            lambda _, y: xnp.conj(called(self.a.rmatvec, n, xnp.conj(y))),
            None,
            x.astype(dtype),
        )


@struct
class Transposed(LinearOperator):
    """The transpose of an operator, by transposing its program."""

    a: Any

    @property
    def shape(self):
        return self.a.shape[::-1]

    @property
    def T(self):
        return self.a

    def mv(self, x):
        example = xnp.zeros(self.a.shape[1], typeof(x).dtype)
        product = eval_shape(self.a.mv, example).dtype
        dtype = xnp.promote_types(typeof(x).dtype, product)
        return linear_transpose(self.a.mv, example.astype(dtype))(x.astype(dtype))[0]


class _Beside(LinearOperator):
    """An operator of the shape of another, ``a``, and known to be Hermitian where that is."""

    a: Any

    @property
    def shape(self):
        return self.a.shape

    @property
    def symmetric(self):
        return self.a.symmetric


@struct
class Conjugated(_Beside):
    """The complex conjugate of an operator; of a Hermitian one that is its transpose."""

    a: Any

    @property
    def positive(self):
        return self.a.positive

    @property
    def T(self):
        return self.a if self.symmetric else Conjugated(self.a.T)

    def mv(self, x):
        return xnp.conj(self.a.mv(xnp.conj(x)))

    def matmat(self, x):
        return xnp.conj(self.a.matmat(xnp.conj(x)))


@struct
class Sum(_Beside):
    """The sum of two operators."""

    a: Any
    b: Any

    @property
    def symmetric(self):
        return self.a.symmetric and self.b.symmetric

    @property
    def positive(self):
        return self.a.positive and self.b.positive

    def mv(self, x):
        return self.a.mv(x) + self.b.mv(x)


@struct
class Product(LinearOperator):
    """The product of two operators: first b, then a."""

    a: Any
    b: Any

    @property
    def shape(self):
        return (self.a.shape[0], self.b.shape[1])

    def mv(self, x):
        return self.a.mv(self.b.mv(x))

    @property
    def T(self):
        return Product(self.b.T, self.a.T)


@struct
class Scaled(_Beside):
    """A number times an operator."""

    c: Any
    a: Any

    @property
    def symmetric(self):
        return self.a.symmetric and not _is_complex(self.c)

    def mv(self, x):
        return self.c * self.a.mv(x)

    @property
    def T(self):
        return Scaled(self.c, self.a.T)


@struct
class InUnits(_Beside):
    """An operator divided by a power of two."""

    a: Any
    unit: Any

    @property
    def T(self):
        return InUnits(self.a.T, self.unit)

    def mv(self, x):
        return divided(self.a.mv, self.unit)(x)

    def matmat(self, x):
        return divided(self.a.matmat, self.unit)(x)


@struct
class Kronecker(LinearOperator):
    """The Kronecker product a ⊗ b: x, as a matrix X row by row, goes to a X bᵀ.

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> k = linalg.Kronecker(xnp.eye(2), xnp.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> k @ xnp.arange(4.0)
    Array([ 2.,  4.,  8., 18.], dtype=float32)
    """

    a: Any
    b: Any

    def factors(self) -> tuple:
        """Both, as operators."""
        return as_operator(self.a), as_operator(self.b)

    @property
    def shape(self):
        a, b = self.factors()
        return (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])

    @property
    def symmetric(self):
        return all(f.symmetric for f in self.factors())

    @property
    def positive(self):
        return all(f.positive for f in self.factors())

    def mv(self, x: Array) -> Array:
        a, b = self.factors()
        x = x.reshape(a.shape[1], b.shape[1])
        return b.matmat(a.matmat(x).T).T.reshape(-1)

    @property
    def T(self):
        return Kronecker(*(f.T for f in self.factors()))


@struct
class Blocks(LinearOperator):
    """Operators (or matrices) as the blocks of a larger one: a tuple of rows, tuples of them.

    >>> import xcore.numpy as xnp
    >>> from xcore import linalg
    >>> one, two = linalg.Diagonal(xnp.ones(2)), linalg.Diagonal(2 * xnp.ones(2))
    >>> linalg.Blocks(((one, two), (two, one))) @ xnp.arange(4.0)
    Array([4., 7., 2., 5.], dtype=float32)
    """

    rows: Any

    def blocks(self) -> list:
        """The rows, as lists of operators that fit together."""
        rows = [[as_operator(a) for a in row] for row in self.rows]
        tall = [[a.shape[0] for a in row] for row in rows]
        wide = [[a.shape[1] for a in row] for row in rows]
        if (
            not rows
            or not rows[0]
            or any(len(set(t)) > 1 or w != wide[0] for t, w in zip(tall, wide))
        ):
            shapes = [[a.shape for a in row] for row in rows]
            why = "need rows of blocks of one height, whose widths agree from row to row"
            raise errors.ShapeError(f"xcore.linalg.Blocks: {why}; given {shapes}.")
        return rows

    @property
    def shape(self):
        rows = self.blocks()
        return (sum(row[0].shape[0] for row in rows), sum(a.shape[1] for a in rows[0]))

    def mv(self, x: Array) -> Array:
        rows = self.blocks()
        cuts = np.cumsum([a.shape[1] for a in rows[0]])[:-1].tolist()
        parts = xnp.split(x, cuts)
        return xnp.concatenate(
            [sum(a.mv(p) for a, p in zip(row, parts, strict=True)) for row in rows]
        )


def in_dtype_of_products(a, b):
    """b in the dtype that products of a with it have."""
    example = xnp.zeros(a.shape[1], typeof(b).dtype)
    return b.astype(xnp.promote_types(typeof(b).dtype, eval_shape(a.mv, example).dtype))


SPARSE = "xcore.sparse"  # which stands above this package


def is_of_scipy(a: Any) -> bool:
    """Whether it is a ``LinearOperator`` of SciPy's, which only one who has imported it can have made."""
    theirs = getattr(sys.modules.get("scipy.sparse.linalg"), "LinearOperator", None)
    return theirs is not None and isinstance(a, theirs)


def is_function(a: Any) -> bool:
    """Whether it is a function of vectors, and no operator: SciPy's can be called, too."""
    return callable(a) and not isinstance(a, LinearOperator) and not is_of_scipy(a)


_product = jit(lambda a, x: a @ xnp.asarray(x))
_adjoint_product = jit(lambda a, x: xnp.conj(a.T @ xnp.conj(x)))


def as_operator(a: Any) -> LinearOperator:
    """An operator as it is; a matrix as a ``Matrix``, one of SciPy's sparse ones as an ``xcore.sparse.Sparse``.

    Of integers a matrix of floats is made, of those of 64 bits in 64.

    A ``LinearOperator`` of SciPy's is called on the host; ``to_scipy`` leads the other way.

    Args:
      a: operator, dense matrix, or one of SciPy's sparse matrices or operators.

    >>> import xcore.numpy as xnp
    >>> as_operator(xnp.ones((2, 3))).shape
    (2, 3)
    """
    if is_of_scipy(a):
        return OnHost(a)
    if type(a).__module__.startswith("scipy.sparse") and hasattr(a, "tocsr"):
        a = importlib.import_module(SPARSE).from_scipy(a)
    if isinstance(a, LinearOperator):
        kind = getattr(a, "dtype", np.dtype("float32")) if hasattr(a, "astype") else None
        return a if kind is None or dtypes.is_inexact(kind) else a.astype(dtypes.to_inexact(kind))  # pyright: ignore
    a = xnp.asarray(a)
    if a.ndim != 2:
        raise errors.shape_mismatch("linalg.as_operator", "need a matrix or a LinearOperator", a=a)
    return Matrix(a.astype(dtypes.to_inexact(a.dtype)))


def jacobian_operator(
    f: Callable[[Array], Array], x: ArrayLike, *, sparse: bool = False
) -> LinearOperator:
    """The derivative of a function of vectors at x, as an operator: products by ``jvp``, those with
    the transpose by transposing it.

    Args:
      f: function of a vector with a vector as result.
      x: vector, the point.
      sparse: as a matrix of the places where it may have elements, by ``sparse.jacobian``.

    >>> import xcore.numpy as xnp
    >>> d = jacobian_operator(lambda x: x**2, xnp.asarray([1.0, 2.0]))
    >>> d @ xnp.ones(2), d.T @ xnp.ones(2)
    (Array([2., 4.], dtype=float32), Array([2., 4.], dtype=float32))
    """
    x = xnp.asarray(x)
    result = eval_shape(f, x)
    if x.ndim != 1 or len(getattr(result, "shape", ())) != 1:
        need = f"need a function of a vector to a vector, given {x.shape} to {result}"
        raise errors.ShapeError(f"xcore.linalg.jacobian_operator: {need}.")
    if sparse:
        return importlib.import_module(SPARSE).jacobian(f)(x)
    (rows,) = result.shape
    return FunctionOperator(lambda x, v: jvp(f, (x,), (v,))[1], x, (rows, x.shape[0]))
