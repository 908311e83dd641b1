"""What is computed of Cholesky factors column by column: factors and solutions, as operations.

Kernels work on rows of numbers, one of each matrix of a batch: values are (elements, matrices), right sides (n,
columns, matrices). Tables are ``_columns.Columns``, indices that are in range. None has derivatives: those of their
equations are in ``_cholesky``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._control import custom_vmap, vmap
from .._control.call import in_one_kernel
from .._core import Array, Op, config, trace_closed
from .._ops import broadcast
from ..linalg._arguments import loop
from ..linalg._lanes import _cut, _from, _put_at, chunk_width, in_chunks
from ._columns import _TOGETHER, Columns, columns_of, table
from ._pattern import Pattern

_CONSTANT = (
    1 << 18
)  # elements of a factor up to which tables stand in the program, and cores share a batch
_ONE = np.int32(1)


def _at(t: Array, i: Any) -> Array:
    return ops.reshape(ops.dynamic_slice(t, i, sizes=(1,)), shape=())


def _range(t: Array, j: Any) -> tuple[Array, Array]:
    return _at(t, j), _at(t, j + _ONE)


# Kernels


def _factor(plan: Any, values: Array, signed: bool = False) -> Array:
    """L of the values of A. NaN from the column on whose pivot is not positive.

    ``signed``: L of A = L S Lᴴ with a diagonal S of 1 and -1, whose signs the diagonal of L has. Pivots that would make
    later values larger than the inverse root of the precision, of values of size 1, become as large as need be.
    """
    elements, lanes = plan.rows.shape[0], values.shape[1]

    def column(j: Any, state: Any) -> Any:
        low, work = state
        begin, end = _range(plan.pointers, j)
        work = _from(begin, end, lambda e, w: _put_at(w, _at(plan.rows, e), none), work)

        def give(e: Any, w: Array) -> Array:
            return _put_at(w, _at(plan.given_rows, e), _cut(values, _at(plan.given_at, e), 1))

        work = _from(*_range(plan.given, j), give, work)
        for width, at, lengths, pointers, name in (
            (_TOGETHER, plan.several, plan.lengths, plan.several_pointers, "several_columns"),
            (1, plan.single, plan.single_lengths, plan.single_pointers, "single_columns"),
        ):
            signs = _Signs(plan.pointers, getattr(plan, name)) if signed else None
            step = functools.partial(_subtract, plan.rows, low, width, at, lengths, signs)
            work = _from(*_range(pointers, j), step, work)
        if signed:
            longer = functools.partial(_longer, plan.rows, work)
            below = _from(begin + _ONE, end, longer, xnp.zeros((1, lanes), xnp.real(work).dtype))
            pivot = _signed_pivot(xnp.real(_cut(work, j, 1)), below)
            unit = 1 / pivot
            work = _put_at(work, j, (pivot * pivot).astype(work.dtype))
        else:
            unit = 1 / xnp.sqrt(xnp.real(_cut(work, j, 1)))

        def store(e: Any, low: Array) -> Array:
            return _put_at(low, e, _cut(work, _at(plan.rows, e), 1) * unit)

        return _from(begin, end, store, low), work

    none = xnp.zeros((1, lanes), values.dtype)
    work = xnp.zeros((plan.pointers.shape[0] - 1, lanes), values.dtype)
    return loop(work.shape[0], column, (xnp.zeros((elements, lanes), values.dtype), work))[0]


class _Signs(NamedTuple):
    pointers: Array
    columns: Array

    def of(self, low: Array, u: Any) -> Array:
        return xnp.sign(xnp.real(_cut(low, _at(self.pointers, _at(self.columns, u)), 1)))


def _longer(rows: Array, work: Array, e: Any, size: Array) -> Array:
    return xnp.maximum(size, xnp.abs(_cut(work, _at(rows, e), 1)))


def _signed_pivot(d: Array, below: Array) -> Array:
    """sign(d) √|d|, where |d| is made the least that lets the products below² / |d| of the column grow no further.

    Of a definite matrix below² / d is at most a diagonal element of size 1, so its pivots stay what they are.
    """
    eps = float(xnp.finfo(d.dtype).eps)
    least = xnp.clip(eps**0.5 * below * below, eps, eps**0.5)
    size = xnp.sqrt(xnp.maximum(xnp.abs(d), least))
    return xnp.where(d < 0, -size, size)


def _subtract(
    rows: Array, low: Array, width: int, at: Array, lengths: Array, signs: Any, u: Any, w: Array
) -> Array:
    """The work space without the multiples of columns of L that begin at places next to each other in a table."""
    places = [_at(at, u * np.int32(width) + np.int32(i)) for i in range(width)]
    factors = [xnp.conj(_cut(low, p, 1)) for p in places]
    if signs is not None:
        numbers = [u * np.int32(width) + np.int32(i) for i in range(width)]
        factors = [f * signs.of(low, k) for f, k in zip(factors, numbers, strict=True)]

    def one(t: Any, w: Array) -> Array:
        row = _at(rows, places[0] + t)
        value = _cut(w, row, 1)
        for p, f in zip(places, factors, strict=True):
            value = value - _cut(low, p + t, 1) * f
        return _put_at(w, row, value)

    return _from(np.int32(0), _at(lengths, u), one, w)


def _solve_signed(plan: Any, low: Array, b: Array) -> Array:
    return _solve_once(plan, low, b, signed=True)


def _solve_once(plan: Any, low: Array, b: Array, signed: bool = False) -> Array:
    n = b.shape[0]
    size = (lambda d: xnp.abs(d).astype(d.dtype)) if signed else (lambda d: d)
    sign = (lambda d: xnp.sign(xnp.real(d))) if signed else (lambda _: 1)
    element = lambda e: _cut(low, e, 1)[:, None]  # noqa: E731

    def forward(j: Any, y: Array) -> Array:
        begin, end = _range(plan.pointers, j)
        own = _cut(y, j, 1) / size(element(begin))

        def one(e: Any, y: Array) -> Array:
            row = _at(plan.rows, e)
            return _put_at(y, row, _cut(y, row, 1) - element(e) * own)

        return _from(begin + _ONE, end, one, _put_at(y, j, own))

    def back(i: Any, y: Array) -> Array:
        j = np.int32(n - 1) - i
        begin, end = _range(plan.pointers, j)
        one = lambda e, s: s - xnp.conj(element(e)) * _cut(y, _at(plan.rows, e), 1)  # noqa: E731
        d = element(begin)
        own = _from(begin + _ONE, end, one, _cut(y, j, 1) * sign(d))
        return _put_at(y, j, own / size(d))

    empty = xnp.zeros(b.shape, b.dtype)
    y = loop(n, lambda j, y: _put_at(y, j, _cut(b, _at(plan.order, j), 1)), empty)
    y = loop(n, back, loop(n, forward, y))
    return loop(n, lambda j, x: _put_at(x, _at(plan.order, j), _cut(y, j, 1)), empty)


def _solve_refined(plan: Any, low: Array, values: Array, b: Array) -> Array:
    """x after a step of refinement, if that is finite."""
    x = _solve_once(plan, low, b)

    def row(i: Any, r: Array) -> Array:
        def one(e: Any, s: Array) -> Array:
            return s - _cut(values, e, 1)[:, None] * _cut(x, _at(plan.indices, e), 1)

        return _put_at(r, i, _from(*_range(plan.indptr, i), one, _cut(b, i, 1)))

    more = _solve_once(plan, low, loop(b.shape[0], row, xnp.zeros(b.shape, b.dtype)))

    def add(
        i: Any, x: Array
    ) -> Array:  # by rows: XLA gives whole arrays to all cores, also inside of a kernel
        old = _cut(x, i, 1)
        new = old + _cut(more, i, 1)
        return _put_at(x, i, xnp.where(xnp.isfinite(new), new, old))

    return loop(b.shape[0], add, x)


def _solve_anew(plan: Any, values: Array, b: Array) -> Array:
    """The same, and below it the pivots of L, which does not leave the cache: that is faster than to keep it."""
    low, n = _factor(plan, values), b.shape[0]
    x = _solve_refined(plan, low, values, b)

    def put(j: Any, y: Array) -> Array:
        own = _cut(low, _at(plan.pointers, j), 1)[:, None]
        y = _put_at(y, j + np.int32(n), xnp.broadcast_to(own, (1, *y.shape[1:])))
        return _put_at(y, j, _cut(x, j, 1))

    return loop(n, put, xnp.zeros((2 * n, *b.shape[1:]), b.dtype))


# Operations


class _Kernel(NamedTuple):
    """A function of arrays of these ranks and tables of these names, which it all uses: compilers trip over others."""

    f: Callable[..., Array]
    ranks: tuple[int, ...]
    tables: tuple[str, ...]


_L, _A, _FACTOR = ("order", "pointers", "rows"), ("indptr", "indices"), Columns._fields[1:-2]
_COLUMNS = Columns._fields[-2:]
_KERNELS = {
    "column_cholesky": _Kernel(_factor, (1,), _FACTOR),
    "column_ldl": _Kernel(functools.partial(_factor, signed=True), (1,), (*_FACTOR, *_COLUMNS)),
    "column_solve_signed": _Kernel(_solve_signed, (1, 2), _L),
    "column_solve": _Kernel(_solve_once, (1, 2), _L),
    "column_refined": _Kernel(_solve_refined, (1, 1, 2), (*_L, *_A)),
    "column_anew": _Kernel(_solve_anew, (1, 2), ("order", *_FACTOR, *_A)),
}


class _Tables:
    """Tables by name, as arrays of a program."""

    def __init__(self, names: tuple[str, ...], arrays: Any) -> None:
        self.__dict__.update(zip(names, arrays, strict=True))


def _of_plan(pattern: Pattern, name: str) -> np.ndarray:
    if name in ("indptr", "indices"):
        found = getattr(pattern, name).astype(np.int32)
        return found if len(found) else np.zeros(1, np.int32)
    return table(columns_of(pattern), name)


def _result(kernel: str, pattern: Pattern, types: Any) -> Any:
    ranks = _KERNELS[kernel].ranks
    t = types[len(ranks) - 1]
    if kernel in ("column_cholesky", "column_ldl"):
        return t.strong().with_shape((*t.shape[:-1], columns_of(pattern).elements))
    if kernel == "column_anew":
        return t.strong().with_shape((*t.shape[:-2], 2 * t.shape[-2], t.shape[-1]))
    return t.strong()


def _run(kernel: str, pattern: Pattern, arrays: Any, tables: Any) -> Array:
    f, ranks, names = _KERNELS[kernel]
    lead = arrays[0].shape[: arrays[0].ndim - ranks[0]]
    lanes, count = math.prod(lead), len(arrays)
    known = [] if tables else [xnp.asarray(_of_plan(pattern, name)) for name in names]

    def of(*xs: Array) -> Array:
        """Of arrays (…, matrices): those of values have an axis of one column."""
        mine = [x[:, 0] if r == 1 else x for x, r in zip(xs[:count], ranks, strict=True)]
        y = f(_Tables(names, xs[count:] or known), *mine)
        return y if y.ndim == 3 else y[:, None]

    flat = [
        xnp.reshape(x, (lanes, *x.shape[len(lead) :], *[1] * (2 - r)))
        for x, r in zip(arrays, ranks, strict=True)
    ]
    narrowest = min(max(-(-lanes // 8), 16), 128)
    if not tables and pattern.shape[0] > 1 and 2 * chunk_width(flat, narrowest) <= lanes:
        (y,) = in_chunks(lambda *xs: (of(*xs),), *flat, narrowest=narrowest)
    else:
        wide = [xnp.moveaxis(x, 0, -1) for x in flat]
        work = of if pattern.shape[0] < 2 else lambda *xs: in_one_kernel(of, *xs)
        y = xnp.moveaxis(work(*wide, *tables), -1, 0)
    return xnp.reshape(y, (*lead, *y.shape[1 : 1 + ranks[-1]]))


def _operation(kernel: str) -> Op:
    ranks = _KERNELS[kernel].ranks
    count = len(ranks)

    def lower(ctx: Any, *values: Any, pattern: Pattern) -> Any:
        with config.override(disable_jit=False):
            body = lambda *xs: [_run(kernel, pattern, xs[:count], xs[count:])]  # noqa: E731
            p = trace_closed(body, list(ctx.in_types), kernel)
        return ctx.program(p, list(values))[0]

    def batch(size: int, args: Any, batched: Any, *, pattern: Pattern) -> Any:
        arrays, tables = args[:count], args[count:]
        if count > 1 and not any(batched[: count - 1]):  # one matrix: more columns
            b = xnp.moveaxis(arrays[-1], 0, -1)
            b = xnp.reshape(b, (*b.shape[:-2], -1))
            y = op(*arrays[:-1], b, *tables, pattern=pattern)
            return [xnp.moveaxis(xnp.reshape(y, (*y.shape[:-1], -1, size)), -1, 0)], [True]
        full = [x if m else broadcast(x, size) for x, m in zip(arrays, batched, strict=False)]
        return [op(*full, *tables, pattern=pattern)], [True]

    op = Op(kernel, type=lambda *t, pattern: [_result(kernel, pattern, t)], lower=lower)
    op._batch = batch
    return op


_OPERATIONS = {kernel: _operation(kernel) for kernel in _KERNELS}
_ANEW = (
    1 << 15
)  # elements of a factor up to which each matrix of a batch is factorised with its solution


def refined(pattern: Pattern, low: Array, values: Array, b: Array) -> tuple[Array, Array]:
    """x (n, k) of columns b, refined once, and the pivots of L (n,)."""
    at = columns_of(pattern).pointers[:-1]

    @custom_vmap
    def f(low: Array, values: Array, b: Array) -> tuple[Array, Array]:
        return applied("column_refined", pattern, low, values, b), low[..., at]

    @f.def_vmap
    def _(size: int, batched: Any, low: Array, values: Array, b: Array) -> Any:
        several = batched[0] or batched[1]
        if several and columns_of(pattern).elements <= _ANEW:
            return of_batch(size, batched[1:], values, b), (True, True)
        axes = [0 if m else None for m in batched]
        return vmap(f.fun, axes)(low, values, b), (True, True)

    def of_batch(size: int, batched: Any, *arrays: Array) -> Any:
        def one(values: Array, b: Array) -> tuple[Array, Array]:
            both = applied("column_anew", pattern, values, b)
            return both[: b.shape[0]], both[b.shape[0] :, 0]

        return vmap(one, [0 if m else None for m in batched])(*arrays)

    return f(low, values, b)


def applied(kernel: str, pattern: Pattern, *arrays: Array) -> Array:
    """A kernel of a matrix of the pattern: arrays of its ranks, perhaps with axes of a batch in front of all."""
    tables: list[Array] = []
    if columns_of(pattern).elements > _CONSTANT:
        make = lambda name: pattern.kept(  # noqa: E731
            ("column table", name), lambda: xnp.asarray(_of_plan(pattern, name))
        )
        tables = [make(name) for name in _KERNELS[kernel].tables]
    return _OPERATIONS[kernel](*arrays, *tables, pattern=pattern)
