"""Products with a sparse matrix, linear in its values and in what it is multiplied with.

D(v, x)   = A x,                 of A with the values v
S(c, x)_e = Σ_k c_{i k} x_{j k}   for each element e = (i, j)

Each is the other's derivative: D is transposed to S in v and to D with Aᵀ in x, S to D in c and to D with Aᵀ in x.
So derivatives of any order live on the pattern, and nothing is scattered: rows are gathered and summed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import jit, linear_call, vmap
from .._control.custom import SymbolicZero, custom_jvp
from .._core import Array, Linear, Op, config, trace_closed
from .._cpu.sparse import BY_SCIPY
from ..linalg._arguments import on_cpu
from ._pattern import Bucket, Pattern, inverse_of, pointers_of, stable_order


def bilinear(
    f: Callable[[Array, Array], Array],
    back_a: Callable[[Array, Array], Array],
    back_b: Callable[[Array, Array], Array],
) -> Callable[[Array, Array], Array]:
    """A function f(a, b), linear in each: ``back_a(ct, b)`` and ``back_b(ct, a)`` are its transposes."""
    product = custom_jvp(f)

    def along(kept: Array, moved: Array, forward: Any, backward: Any) -> Array:
        return linear_call(forward, lambda k, ct: backward(ct, k), kept, moved)

    def rule(primals: Any, tangents: Any) -> tuple[Array, Any]:
        (a, b), (da, db) = primals, tangents
        terms = []
        if not isinstance(da, SymbolicZero):
            terms.append(along(b, da, lambda b, da: product(da, b), back_a))
        if not isinstance(db, SymbolicZero):
            terms.append(along(a, db, product, back_b))
        return product(a, b), functools.reduce(xnp.add, terms)

    product.defjvp(rule, symbolic_zeros=True)
    return product


# Elements moved


def pick(values: Array, at: np.ndarray) -> Array:
    """``values[at]`` of positions none of which is there twice; its transpose gathers too."""
    size = values.shape[0]
    if len(at) == size and np.array_equal(at, np.arange(size)):
        return values
    return linear_call(
        lambda _, v: _gathered(v, at), lambda _, ct: _spread(ct, at, size), (), values
    )


def spread(values: Array, at: np.ndarray, size: int) -> Array:
    """Zeros of that size with the values at positions, none of which is there twice."""
    if len(at) == size and np.array_equal(at, np.arange(size)):
        return values
    return linear_call(
        lambda _, v: _spread(v, at, size), lambda _, ct: _gathered(ct, at), (), values
    )


def table(pattern: Pattern, name: Any, make: Callable[[], np.ndarray]) -> Array:
    """A table of integers on the device, where it is once for all programs."""
    return pattern.kept(("table", name), lambda: xnp.asarray(make()))


def _gathered(x: Array, at: np.ndarray | Array) -> Array:
    """Rows of x, at positions that are known to be right."""
    rest = x.shape[1:]
    if not x.shape[0]:
        return xnp.zeros((*at.shape, *rest), x.dtype)
    dims = ops.GatherDims(range(at.ndim, at.ndim + len(rest)), (0,), (0,), (), ())
    at = xnp.asarray(at)[..., None]
    return ops.gather(x, at, dims=dims, sizes=(1, *rest), mode="promise")


def _spread(x: Array, at: np.ndarray, size: int) -> Array:
    inverse = np.full(size, -1, np.int32)
    inverse[at] = np.arange(len(at))
    return xnp.where(inverse >= 0, _gathered(x, np.maximum(inverse, 0)), xnp.zeros((), x.dtype))


# Rows summed


_LONGEST = 16  # rows that are summed in one expression; XLA makes one fast loop of its gathers
_LARGE = 2048  # elements, of which a CPU has better code for the product as one operation


def _raw_product(pattern: Pattern, v: Array, x: Array) -> Array:
    """A x of a vector or of columns."""
    if pattern.nnz < _LARGE or not on_cpu():
        return _by_buckets(pattern, v, x)
    columns = table(pattern, "columns", lambda: pattern.columns)
    pointers = table(pattern, "pointers", lambda: pattern.indptr)
    return _row_sums(v, columns, pointers, x, pattern=pattern)


def _lower_row_sums(
    ctx: Any, v: Any, columns: Any, pointers: Any, x: Any, *, pattern: Pattern
) -> Any:
    first, *_, last = ctx.in_types
    with config.override(disable_jit=False):
        by_buckets = lambda v, x: [_by_buckets(pattern, v, x)]  # noqa: E731
        p = trace_closed(by_buckets, [first, last], "row_sums")
    return ctx.call_program(p, [v, x])[0]


def _batch_row_sums(size: int, args: Any, batched: Any, *, pattern: Pattern) -> Any:
    """Vectors of one matrix are columns."""
    v, columns, pointers, x = args
    if batched[0]:
        one = functools.partial(_by_buckets, pattern)
        return [vmap(one, (0, 0 if batched[3] else None))(v, x)], [True]
    x = xnp.moveaxis(x, 0, -1)
    y = _row_sums(v, columns, pointers, x.reshape(x.shape[0], -1), pattern=pattern)
    return [xnp.moveaxis(y.reshape(-1, *x.shape[1:]), -1, 0)], [True]


def _jvp_row_sums(primals: Any, tangents: Any, *, pattern: Pattern) -> Any:
    v, *tables, x = primals
    terms = [] if tangents[0] is None else [_row_sums(tangents[0], *tables, x, pattern=pattern)]
    if tangents[3] is not None:
        terms.append(_row_sums(v, *tables, tangents[3], pattern=pattern))
    return [_row_sums(*primals, pattern=pattern)], [functools.reduce(ops.add, terms)]


def _transpose_row_sums(
    cotangents: Any, v: Any, c: Any, p: Any, x: Any, *, pattern: Pattern
) -> Any:
    if isinstance(v, Linear):
        return [_raw_sample(pattern, cotangents[0], x), None, None, None]
    turned = transposed_values(pattern, v)
    return [None, None, None, _raw_product(pattern.T, turned, cotangents[0])]


_row_sums = Op(
    "sparse_row_sums", type=lambda v, c, p, x, pattern: [x.strong().with_shape((pattern.shape[0], *x.shape[1:]))],
    lower=_lower_row_sums, jvp=_jvp_row_sums, transpose=_transpose_row_sums, batch=_batch_row_sums,
    alternatives=[BY_SCIPY],
)  # fmt: skip


def _by_buckets(pattern: Pattern, v: Array, x: Array) -> Array:
    """Rows of equal lengths together. Rows that are long are cut into pieces, whose sums are summed."""
    if pattern.lengths.max(initial=0) > _LONGEST:
        pieces, rows = pattern.pieces(_LONGEST)
        sums = _by_buckets(pieces, v, x)
        return _by_buckets(rows, xnp.ones(rows.nnz, v.dtype), sums)
    buckets, places = pattern.buckets
    if not buckets:
        return xnp.zeros((pattern.shape[0], *x.shape[1:]), v.dtype)
    tables = pattern.kept("tables", lambda: [_on_device(b) for b in buckets])
    sums = [_sums(b, v, x) for b in tables]
    if places is None:
        return sums[0]
    return _gathered(xnp.concatenate(sums), table(pattern, "places", lambda: places))


def _on_device(bucket: Bucket) -> Bucket:
    return Bucket(*[None if a is None else xnp.asarray(a) for a in bucket])


def _sums(bucket: Bucket, v: Array, x: Array) -> Array:
    size, rows = bucket.positions.shape
    if not size:
        return xnp.zeros((rows, *x.shape[1:]), v.dtype)
    each = lambda a: a.reshape(*a.shape, *[1] * (x.ndim - 1))  # noqa: E731
    terms = each(_gathered(v, bucket.positions)) * _gathered(x, bucket.columns)
    if bucket.valid is not None:
        terms = xnp.where(each(bucket.valid), terms, np.dtype(terms.dtype).type(0))
    # written out: XLA makes one fast loop over the rows of it, and a slow one of a sum along an axis
    return functools.reduce(xnp.add, [terms[k] for k in range(size)])


def _raw_sample(pattern: Pattern, c: Array, x: Array) -> Array:
    rows = table(pattern, "rows", lambda: pattern.rows)
    columns = table(pattern, "columns", lambda: pattern.columns)
    terms = _gathered(c, rows) * _gathered(x, columns)
    return terms if terms.ndim == 1 else terms.sum(tuple(range(1, terms.ndim)), dtype=terms.dtype)


def transposed_values(pattern: Pattern, values: Array) -> Array:
    """The values of the transpose, in its order."""
    if not pattern.nnz:
        return values
    there = table(pattern, "order", lambda: _narrow(pattern.order))
    back = table(pattern, "inverse order", lambda: _narrow(inverse_of(pattern.order)))
    run = pattern.kept("turned", lambda: jit(_moved, inline=True))
    return run(values, there, back)


def _moved(values: Array, there: Array, back: Array) -> Array:
    return linear_call(
        lambda at, v: _gathered(v, at[0]),
        lambda at, ct: _gathered(ct, at[1]),
        (there, back),
        values,
    )


def _narrow(at: np.ndarray) -> np.ndarray:
    return at.astype(np.int32) if len(at) < 2**31 - 1 else at


def product_of(pattern: Pattern) -> Callable[[Array, Array], Array]:
    """D: values and a vector or columns, in one dtype, to the product."""
    return pattern.kept("product", lambda: jit(_product(pattern), inline=True))


def _product(pattern: Pattern) -> Callable[[Array, Array], Array]:
    return bilinear(
        functools.partial(_raw_product, pattern),
        lambda ct, x: sample_of(pattern)(ct, x),
        lambda ct, v: product_of(pattern.T)(transposed_values(pattern, v), ct),
    )


def sample_of(pattern: Pattern) -> Callable[[Array, Array], Array]:
    """S: two vectors, or two matrices of as many columns, to their products at the elements."""
    return pattern.kept("sample", lambda: jit(_sample(pattern), inline=True))


def _sample(pattern: Pattern) -> Callable[[Array, Array], Array]:
    return bilinear(
        functools.partial(_raw_sample, pattern),
        lambda ct, x: product_of(pattern)(ct, x),
        lambda ct, c: product_of(pattern.T)(transposed_values(pattern, ct), c),
    )


def value_product(a: Pattern, b: Pattern) -> tuple[Pattern, Callable[[Array, Array], Array]]:
    """The pattern of a product, and its values from those of the factors.

    Each product of an element of a with one of b is an element e of a trilinear form, c_e = v_p(e) w_q(e): so
    is its transpose, and all three are sums over rows of a pattern.
    """
    made, sums, left, right = a.product(b)

    @functools.cache  # derivatives only ask for these
    def back(of_left: bool) -> Pattern:
        at, n = (left, a.nnz) if of_left else (right, b.nnz)
        return Pattern.of_rows(pointers_of(at, n), stable_order(at, n), (n, len(at)))

    into = sums.rows

    def sum_of(groups: Pattern, terms: Array) -> Array:
        ones = xnp.ones(groups.nnz, terms.dtype)
        return product_of(groups)(ones, terms)

    def gather(x: Array, at: np.ndarray) -> Array:
        return xnp.take(x, at, axis=0)

    f = bilinear(
        lambda v, w: sum_of(sums, gather(v, left) * gather(w, right)),
        lambda ct, w: sum_of(back(True), gather(ct, into) * gather(w, right)),
        lambda ct, v: sum_of(back(False), gather(ct, into) * gather(v, left)),
    )
    return made, jit(f, inline=True)
