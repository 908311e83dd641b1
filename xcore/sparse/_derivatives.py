"""Sparse Jacobians and Hessians: the pattern by tracing, then one derivative along a direction for each colour."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as xnp
from .._control import eval_shape, grad, jvp, vjp, vmap
from .._core import Array, ArrayLike, DTypeLike, Program, dtypes, errors, trace_program, typeof
from .._core.exceptions import ForwardModeError, MissingRuleError
from .._core.pprint import subprograms
from .._core.settings import one_of
from .._core.trace import ensure_compile_time_eval
from ..linalg import LinearOperator
from . import _colouring as groups
from ._dependence import dependence
from ._making import coo_array
from ._matrix import Sparse
from ._orders import ORDERS
from ._pattern import Pattern
from ._products import _narrow

MODES = ("auto", "fwd", "rev", "bidirectional")


def jacobian_pattern(f: Callable[..., Array], x: ArrayLike, *args: Any) -> Pattern:
    """The places where the Jacobian of f with respect to x can be other than 0, whatever the values of x.

    It is found by going through the program of f: of arrays with more axes the elements are counted in order.

    Args:
      f: function of an array, and others, to an array.
      x: an array, of which only shape and dtype count.
      args: further arguments; where their values are known, zeros in them count.

    >>> import xcore.numpy as xnp
    >>> jacobian_pattern(lambda x: x[1:] * x[:-1], xnp.ones(4))
    Pattern(3x4, 6 elements)
    """
    who = "sparse.jacobian_pattern"
    return _followed(*_traced(who, f, _variable(who, x), args))


def _traced(who: str, f: Any, x: Array, args: Any) -> tuple[Program, list[Any], int]:
    """The program of f, the values of its inputs as far as they are known, and which of them is x."""
    args = [xnp.asarray(a) for a in args]
    types = [typeof(x), *map(typeof, args)]
    program, captured = trace_program(lambda *xs: [_result(who, f(*xs))], types)
    return program, [_known(v) for v in (*captured, None, *args)], len(captured)


def _followed(program: Program, values: list[Any], at: int) -> Pattern:
    with ensure_compile_time_eval():
        found = dependence(program, values, [i == at for i in range(len(values))])[0]
    found.sort_indices()
    return Pattern.of_rows(found.indptr, found.indices, found.shape)


def _variable(who: str, x: Any) -> Array:
    x = xnp.asarray(x)
    if not dtypes.is_inexact(x.dtype):
        raise errors.bad_argument(who, "x", x, "floating: derivatives of integers do not exist")
    return x


def _result(who: str, y: Any) -> Array:
    if not hasattr(y, "shape"):
        raise errors.bad_argument(who, "f", y, "a function to one array")
    return y


def _known(v: Any) -> Any:
    return np.asarray(v) if type(v) is Array else None


def jacobian(
    f: Callable[..., Array], pattern: Pattern | None = None, *, mode: str = "auto", order: str = "auto"
) -> Callable[..., Sparse]:  # fmt: skip
    """A function like ``jacfwd(f)`` whose result is a ``Sparse`` matrix (elements of f(x), elements of x).

    Columns that have no row in common share a direction: the elements come from as many ``jvp`` (or ``vjp``, for
    rows) as there are colours, batched by ``vmap``. Where some rows and some columns are full, both together need few:
    3 for a matrix with elements in its first row, its first column and on its diagonal.

    Args:
      f: function of an array x, and others, to an array.
      pattern: the places of elements; found by ``jacobian_pattern`` if it is not given.
      mode: "fwd" colours columns, "rev" rows, "bidirectional" both if that needs fewer directions; "auto" takes what
        needs fewest, of functions with rules backward only (``custom_vjp``) rows. Of real numbers to complex ones
        there is "fwd" only.
      order: in which columns, or rows, get the first colour that is free: see ``colours``.

    >>> import xcore.numpy as xnp
    >>> f = lambda x: x[1:] ** 2 - x[:-1]
    >>> jacobian(f)(xnp.asarray([1.0, 2.0, 3.0])).todense()
    Array([[-1.,  4.,  0.],
           [ 0., -1.,  6.]], dtype=float32)
    """
    who = "sparse.jacobian"
    if mode not in MODES:
        raise errors.bad_argument(who, "mode", mode, f"one of {MODES}")
    one_of(who, "order", order, ("auto", *ORDERS))
    if not callable(f):
        raise errors.bad_argument(who, "f", f, "a function to an array")
    known: dict[Any, Pattern] = {}
    g = f

    def jacobian_of(x: ArrayLike, *args: Any, **more: Any) -> Sparse:
        f = functools.partial(g, **more) if more else g
        x = _variable("sparse.jacobian", x)
        y = _result("sparse.jacobian", eval_shape(f, x, *args))
        p = _pattern_of(known, pattern, f, x, args)
        way = _way_of(mode, x, y)
        if not p.nnz:
            return Sparse(xnp.zeros(0, y.dtype), p)
        if way == "auto" and type(x) is not Array and _backward_only(_traced(who, f, x, args)[0]):
            way = "rev"  # while a program is traced nothing is missing yet
        try:
            return Sparse(_elements(f, x, args, p, _cover(way, p, order)), p)
        except MissingRuleError as missing:
            if way != "auto":
                raise
            other = "rev" if isinstance(missing, ForwardModeError) else "fwd"
            return Sparse(_elements(f, x, args, p, _cover(other, p, order)), p)

    return jacobian_of


def _backward_only(program: Program) -> bool:
    """Whether a function in it has a rule for products with rows only."""
    own = any(e.op.name == "custom_vjp_call" for e in program.eqns)
    return own or any(_backward_only(p) for e in program.eqns for p in subprograms(e.params))


def _cover(way: str, p: Pattern, order: str) -> groups.Cover:
    none = [np.full(n, -1) for n in p.shape]
    if way == "fwd":
        return groups.Cover(none[0], groups.columns(p, order), np.ones(p.nnz, bool))
    if way == "rev":
        return groups.Cover(groups.columns(p.T, order), none[1], np.zeros(p.nnz, bool))
    return groups.cover(p, order)


def _way_of(mode: str, x: Array, y: Any) -> str:
    """The mode for these dtypes. Products with rows, of real x and complex f(x), lose the imaginary parts."""
    if dtypes.is_complex(x.dtype) == dtypes.is_complex(y.dtype):
        return mode
    if dtypes.is_complex(x.dtype):
        need = (
            "a holomorphic function where x is complex; split x into its real and imaginary parts"
        )
        raise errors.DTypeError(str(errors.bad_argument("sparse.jacobian", "f", y, need)))
    if mode not in ("auto", "fwd"):
        need = "'fwd' or 'auto' for a function from real to complex numbers"
        raise errors.bad_argument("sparse.jacobian", "mode", mode, need)
    return "fwd"


def as_sparse(a: Any, *, dtype: DTypeLike | None = None, columns: int | None = None) -> Sparse:
    """A linear operator as a ``Sparse`` matrix: its pattern from the program of its product with a vector, its elements
    from products with as many vectors as columns have colours.

    So are those of ``pde``, whose coefficients may be traced: derivatives with respect to them go through the elements.

    Args:
      a: a ``LinearOperator``, a function that is linear, or a matrix as ``coo_array`` takes it.
      columns: of a function, the length of the vectors that it takes.
      dtype: of the vectors; single precision, or what the setting of 64 bits says, if it is not given.

    >>> from xcore.pde import Grid, Laplacian
    >>> as_sparse(Laplacian(Grid(4))).todense()
    Array([[-32.,  16.,   0.],
           [ 16., -32.,  16.],
           [  0.,  16., -32.]], dtype=float32)
    """
    if callable(a) and not isinstance(a, LinearOperator):
        return _of_function(a, columns, dtype)
    if isinstance(a, Sparse) or hasattr(a, "to_sparse") or not isinstance(a, LinearOperator):
        a = coo_array(a)
        return a if dtype is None else a.astype(dtype)
    dtype = dtypes.default_dtype("float") if dtype is None else np.dtype(dtype)
    found = jacobian(a.mv, mode="fwd")(xnp.zeros(a.shape[1], dtype))
    return found.replace(symmetric=a.symmetric, positive=a.positive)


def _of_function(f: Callable[..., Array], columns: int | None, dtype: DTypeLike | None) -> Sparse:
    who = "sparse.as_sparse"
    if not isinstance(columns, int | np.integer):
        raise errors.bad_argument(
            who, "columns", columns, "the length of the vectors that the function takes"
        )
    dtype = dtypes.default_dtype("float") if dtype is None else np.dtype(dtype)
    zero = xnp.zeros(columns, dtype)
    if type(y := f(zero)) is Array and bool(xnp.any(y != 0)):
        raise errors.bad_argument(
            who, "a", f, "linear: f(0) is not 0; sparse.jacobian(f)(x) is its derivative at x"
        )
    found = jacobian(f, mode="fwd")(zero)
    _check_linear(who, f, found)
    return found


def _check_linear(who: str, f: Callable[..., Array], found: Sparse) -> None:
    """At a point without order, as far as values are known: f(-2 x) is -2 f(x) but for the last digits, however badly
    conditioned f is, for powers of two round nothing; and about what the matrix says."""
    x = xnp.asarray(np.cos(np.arange(found.shape[1]) ** 2 + 1.0), found.dtype)
    y, twice, product = f(x).reshape(-1), f(-2 * x).reshape(-1), found @ x
    if any(type(v) is not Array for v in (y, twice, product)):
        return
    few = float(dtypes.finfo(dtypes.to_real(found.dtype)).eps) ** 0.75
    off, size = xnp.abs(twice + 2 * y), xnp.abs(y)
    same = xnp.all(off <= few * xnp.max(size, initial=0))
    near = xnp.all(xnp.abs(y - product) <= 0.1 * (abs(found) @ xnp.abs(x) + size))
    if not bool(same & near):
        want = "linear: f(x) is not the product with its derivative at 0; sparse.jacobian(f)(x) is that at x"
        raise errors.bad_argument(who, "a", f, want)


def _pattern_of(known: dict[Any, Pattern], given: Any, f: Any, x: Array, args: Any) -> Pattern:
    size = _result("sparse.jacobian", eval_shape(f, x, *args)).size, x.size
    given = getattr(given, "pattern", given)  # of a matrix
    if given is not None:
        if not isinstance(given, Pattern):
            raise errors.bad_argument("sparse.jacobian", "pattern", given, "a Pattern or a Sparse")
        if given.shape != size:
            raise errors.bad_argument("sparse.jacobian", "pattern", given, f"of shape {size}")
        return given
    # The program and what it holds decide, not the function: that may look at what has changed since.
    program, values, at = _traced("sparse.jacobian", f, x, args)
    key = program.fingerprint, at, tuple([_content(v) for v in values])
    if key not in known:
        known[key] = _followed(program, values, at)
        while len(known) > _MOST_KNOWN:
            del known[next(iter(known))]
    return known[key]


_MOST_KNOWN = 16  # patterns of one function


def _content(v: np.ndarray | None) -> Any:
    if v is None:
        return None
    digest = hashlib.blake2b(np.ascontiguousarray(v).tobytes(), digest_size=16).digest()
    return digest, v.shape, v.dtype


def _seeds(colour: np.ndarray, dtype: Any, shape: tuple[int, ...]) -> Array:
    """A direction for each colour: ones where it is."""
    each = np.arange(groups.count(colour))[:, None] == colour
    return xnp.asarray(each.astype(dtype)).reshape(-1, *shape)


def _elements(f: Any, x: Array, args: Any, p: Pattern, cover: groups.Cover) -> Array:
    """The elements of the Jacobian, from a ``jvp`` for each colour of columns and a ``vjp`` for each of rows."""
    products, at = [], np.empty(p.nnz, np.int64)
    forward, before = cover.forward, 0
    of = lambda x: f(x, *args)  # noqa: E731
    if forward.any():
        along = lambda d: jvp(of, (x,), (d,))[1].reshape(-1)  # noqa: E731
        products.append(vmap(along)(_seeds(cover.columns, x.dtype, x.shape)).reshape(-1))
        at[forward] = (cover.columns[p.columns] * p.shape[0] + p.rows)[forward]
        before = products[0].size
    if not forward.all():
        y, back = vjp(of, x)
        along = lambda d: back(d)[0].reshape(-1)  # noqa: E731
        products.append(vmap(along)(_seeds(cover.rows, y.dtype, y.shape)).reshape(-1))
        at[~forward] = (before + cover.rows[p.rows] * p.shape[1] + p.columns)[~forward]
    return xnp.concatenate(products)[_narrow(at)].astype(eval_shape(of, x).dtype)


def hessian(
    f: Callable[..., Array], pattern: Pattern | None = None, *, symmetric: bool = True,
    colouring: str = "star", order: str = "auto",
) -> Callable[..., Sparse]:  # fmt: skip
    """A function like ``hessian(f)`` whose result is a ``Sparse`` matrix, symmetric in fact and by its tag.

    With a star colouring both of (i, j) and (j, i) come from one of them, which needs fewer directions than a Jacobian.

    Args:
      f: function of an array x, and others, to a real number.
      pattern: the places of elements; found from the program of the gradient if it is not given.
      symmetric: False colours as for a Jacobian, in which each element is computed.
      colouring: "star" reads each element from one product; "acyclic" takes fewer products, and substitution, one
        element after the other along trees of them, whose rounding errors add up.
      order: in which unknowns get the first colour that is free: see ``colours``.

    >>> import xcore.numpy as xnp
    >>> f = lambda x: (x[1:] * x[:-1]).sum()
    >>> hessian(f)(xnp.ones(3)).todense()
    Array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    who = "sparse.hessian"
    one_of(who, "colouring", colouring, ("star", "acyclic"))
    one_of(who, "order", order, ("auto", *ORDERS))
    first = grad(f)
    known: dict[Any, Pattern] = {}
    plain = jacobian(first, pattern, order=order)

    def hessian_of(x: ArrayLike, *args: Any, **more: Any) -> Sparse:
        slope = functools.partial(first, **more) if more else first
        x = _variable(who, x)
        p = _pattern_of(known, pattern, slope, x, args)
        if not symmetric or not p.is_symmetric:
            return plain(x, *args, **more)
        if not p.nnz:
            return Sparse(xnp.zeros(0, x.dtype), p, symmetric=True)
        colour, read = _reading(p, colouring, order)
        along = lambda d: jvp(lambda x: slope(x, *args), (x,), (d,))[1].reshape(-1)  # noqa: E731
        products = vmap(along)(_seeds(colour, x.dtype, x.shape))
        return Sparse(read(products), p, symmetric=not dtypes.is_complex(x.dtype))

    return hessian_of


def _reading(p: Pattern, kind: str, order: str) -> tuple[np.ndarray, Callable[[Array], Array]]:
    """(colours of a symmetric pattern, what gives its elements from the products)."""
    if kind == "acyclic":
        colour, elements = groups.by_substitution(p, order)
        return colour, elements.of
    colour = groups.star(p, order)
    row, group = groups.recovered(p, colour)
    return colour, lambda products: products[group, row]


KINDS = {
    "columns": groups.columns,
    "rows": lambda p, order: groups.columns(p.T, order),
    "star": groups.star,
    "acyclic": groups.without_cycles,
}


def colours(pattern: Pattern, kind: str = "columns", *, order: str = "auto") -> np.ndarray:
    """The colour 0, 1, … of each column, or row, of a pattern: those of one colour share a product.

    ``colours(p).max() + 1`` products tell a matrix with these places; ``jacobian`` and ``hessian`` take them.

    Args:
      pattern: the places of elements.
      kind: "columns" of one colour have no row in common, "rows" no column. Of symmetric patterns: "star", from
        whose products each element of a symmetric matrix can be read, or "acyclic", from whose products they follow
        by substitution.
      order: in which they get the first colour that is free: "natural"; "largest-first", those with most neighbours;
        "smallest-last", where what comes last has fewest among all before it; "incidence-degree", always what has
        most neighbours before it. "auto" is natural, or columns by how full they are where that differs much, and
        in small patterns smallest-last where that takes fewer colours.

    >>> from xcore import sparse
    >>> p = sparse.diags([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(7, 7)).pattern
    >>> [int(colours(p, kind).max()) + 1 for kind in ("columns", "star", "acyclic")]
    [3, 3, 2]
    """
    who = "sparse.colours"
    if not isinstance(pattern, Pattern):
        raise errors.bad_argument(who, "pattern", pattern, "a sparse.Pattern, such as a.pattern")
    one_of(who, "kind", kind, tuple(KINDS))
    one_of(who, "order", order, ("auto", *ORDERS))
    if kind in ("star", "acyclic") and not pattern.is_symmetric:
        raise errors.bad_argument(who, "pattern", pattern, f"symmetric for kind={kind!r}")
    return KINDS[kind](pattern, order)
