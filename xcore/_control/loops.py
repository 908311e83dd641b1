"""The loops users call: scan, fori_loop, map, associative_scan."""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import SupportsIndex

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, config, dtypes, errors, is_evaluating, tree, typeof
from .._core.eval import is_array_like, to_array, to_value
from .._core.source import boundary, wraps, written_at
from .._ops import concatenate, pad, reshape, rev, slice, slice_along
from .._ops.elementwise import strengthened, weakened
from .._transforms.map import vmap
from .carry import Body, called, check_carry, known, leaf_values, trace_carry_body, weakened_where
from .progress import Bar
from .scan import Scan
from .while_loop import while_loop


def _length(who, xs_values, xs, length) -> int:
    sizes = {}
    for i, x in enumerate(xs_values):
        t = typeof(x)
        if not t.shape:
            path = tree.flatten_with_path(xs)[0][i][0]
            raise ValueError(
                f"xcore.{who}: xs{tree.keystr(path)} is 0-d; xs are read along their first axis."
            )
        sizes[i] = t.shape[0]
    wanted = set(sizes.values())
    if length is not None:
        wanted.add(_checked_length(who, length))
    if not wanted:
        raise ValueError(f"xcore.{who}: without xs the number of steps must be given as length=.")
    if len(wanted) > 1:
        listed = ", ".join(
            f"xs{tree.keystr(path)} has {sizes[i]}"
            for i, (path, _) in enumerate(tree.flatten_with_path(xs)[0])
        )
        tail = f"; length={length}" if length is not None else ""
        raise errors.ShapeError(
            f"xcore.{who}: xs must have first axes of one length: {listed}{tail}."
        )
    return wanted.pop()


def _checked_length(who: str, length) -> int:
    if not isinstance(length, SupportsIndex) or operator.index(length) < 0:
        raise errors.bad_argument(who, "length", length, "an integer that is not negative")
    return operator.index(length)


def _trace_step(who, f, init, structure, rows, xs, xs_structure):
    """The body of a scan, start values of the types it returns, and which of its results are weak."""
    pair = tree.treedef_tuple((structure, xs_structure))

    @wraps(f)
    def step(carry, x):
        return _checked_pair(who, f, called(who, "the body", "(carry, x)", f, carry, x))

    def trace(types, init):
        body = Body(who, step, pair, [*types, *rows], "the body", loop=True, like=[*init, *xs])
        return body, body.result.children()[0]

    body, start, weak = trace_carry_body(trace, init, structure)
    types = [typeof(x) for x in start]
    check_carry(who, structure, types, body, len(start), body.result.children()[0])
    return body, start, weak + body.weak[len(start) :]


def _checked_pair(who, f, result):
    if not (isinstance(result, (tuple, list)) and len(result) == 2):
        raise TypeError(
            f"xcore.{who}: the body{written_at(f)} must return a pair (carry, y), but returned "
            f"{errors.describe(result)}. "
            "Return (carry, None) if there is nothing to stack."
        )
    return result


@boundary
def scan(f, init, xs=None, length=None, reverse: bool = False, unroll=1, _split_transpose: bool = False,
         *, progress=False):  # fmt: skip
    """A loop over the slices of ``xs`` that carries a state and stacks what each step returns.

    ``carry, y = f(carry, x)`` for each slice ``x`` of xs in turn; the result is the last carry and
    all ``y`` stacked along a new first axis.

    Args:
      f: function (carry, x) -> (carry, y); the carry keeps its structure and types.
      init: the first carry.
      xs: pytree of arrays read along their first axis, or None.
      length: the number of steps, needed without xs.
      reverse: start at the end; ys stay in the order of xs.
      unroll: how many steps one trip of the compiled loop does; True for all.
      progress: show a progress bar; a text is its label.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.scan(lambda total, x: (total + x, total), 0.0, xnp.arange(4.0))
    (Array(6., dtype=float32), Array([0., 0., 1., 3.], dtype=float32))
    """
    return _scan("lax.scan", f, init, xs, length, reverse, unroll, progress)


def _scan(who: str, f, init, xs, length, reverse, unroll, progress):
    if not callable(f):
        raise TypeError(f"xcore.{who}: expected a function, given {errors.describe(f)}.")
    if not isinstance(unroll, SupportsIndex) or operator.index(unroll) < 0:
        raise errors.bad_argument(
            who, "unroll", unroll, "a bool, or an integer that is not negative"
        )
    if progress:
        return _scan_with_bar(f, init, xs, length, progress, reverse=reverse, unroll=unroll)
    values, structure = leaf_values(who, "init", init)
    xs_values, xs_structure = leaf_values(who, "xs", xs)
    n = _length(who, xs_values, xs, length)
    if config.settings().disable_jit and n:  # of no step nobody would know what it returns
        return _scan_in_python(f, init, xs_values, xs_structure, n, reverse)
    rows = [ArrayType(t.shape[1:], t.dtype, t.weak) for t in [typeof(x) for x in xs_values]]
    body, values, weak = _trace_step(who, f, values, structure, rows, xs_values, xs_structure)
    unroll = max(1, n if unroll is True else int(unroll))
    s = Scan(
        body.program, (len(body.captured), len(values)), n, bool(reverse), min(unroll, max(n, 1))
    )
    outs = s.bind(*body.captured, *values, *[strengthened(x) for x in xs_values])
    return tree.unflatten(body.result, weakened_where(weak, outs))


def _scan_with_bar(f, init, xs, length, progress, **options):
    """The same scan with a progress bar."""
    n = _length("lax.scan", leaf_values("lax.scan", "xs", xs)[0], xs, length)
    bar = Bar(progress, n)

    def step(state, x):
        shown, carry = state
        carry, y = _checked_pair("lax.scan", f, f(carry, x))
        return (bar.step(shown), carry), y

    (shown, carry), ys = scan(step, (bar.start(), init), xs, n, **options)
    bar.stop(shown)
    return carry, ys


def _scan_in_python(f, carry, xs_values, xs_structure, n, reverse):
    ys = []
    order = range(n - 1, -1, -1) if reverse else range(n)
    for i in order:
        x = tree.unflatten(xs_structure, [_row(v, i) for v in xs_values])
        carry, y = _checked_pair("lax.scan", f, f(carry, x))
        ys.append(y)
    if reverse:
        ys.reverse()
    make = to_array if is_evaluating() else to_value
    return carry, tree.map(lambda *rows: _stack([make(r) for r in rows]), *ys)


def _row(x, i: int):
    return reshape(slice_along(x, 0, i, i + 1), shape=typeof(x).shape[1:])


def _stack(rows):
    return concatenate(*[reshape(r, shape=(1, *typeof(r).shape)) for r in rows], axis=0)


def _static_int(x) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


@boundary
def fori_loop(lower, upper, body_fun, init_val, *, unroll=None, progress=False):
    """``for i in range(lower, upper): val = body_fun(i, val)`` as one compiled loop.

    With Python ints as bounds the loop is a scan and can be differentiated in reverse mode; with
    traced bounds it is a while loop.

    Args:
      lower, upper: integers or integer scalars.
      body_fun: function (i, val) -> val of the same structure and types.
      init_val: the first value.
      unroll: steps in one trip of the compiled loop (static bounds only).
      progress: show a progress bar (with traced bounds the number of steps); a text is its label.

    >>> import xcore as xc
    >>> int(xc.lax.fori_loop(0, 5, lambda i, total: total + i, 0))
    10
    """
    if not callable(body_fun):
        raise TypeError(
            f"xcore.lax.fori_loop: body_fun must be a function, given {errors.describe(body_fun)}."
        )
    for name, bound in (("lower", lower), ("upper", upper)):
        _check_bound(name, bound)
    lower, upper = _concrete_bound(lower), _concrete_bound(upper)
    dtype = _index_dtype(lower, upper)
    floats = dtypes.is_floating(dtype)
    n = _count_from(lower, upper) if floats else None
    next_of = partial(called, "lax.fori_loop", "body_fun", "(i, carry)", body_fun)
    if _static_int(lower) and _static_int(upper):
        n = max(0, int(upper) - int(lower))
    if n is not None:
        start = (
            ops.convert(to_value(lower), dtype=dtype)
            if floats
            else np.asarray(int(lower), dtype)[()]
        )

        @wraps(body_fun)
        def step(state, _):
            i, val = state
            return (ops.add(i, np.asarray(1, dtype)[()]), next_of(weakened(i), val)), None

        state = start, init_val
        (_, result), _ = _scan("lax.fori_loop", step, state, None, n, False, unroll or 1, progress)
        return result
    low, high = (to_value(b) for b in (lower, upper))
    weak = typeof(low).weak and typeof(high).weak
    low, high = (ops.convert(b, dtype=dtype) for b in (low, high))

    @wraps(body_fun)
    def advance(state):
        i, top, val = state
        seen = weakened(i) if weak else i
        return ops.add(i, np.asarray(1, dtype)[()]), top, next_of(seen, val)

    going = lambda state: ops.lt(state[0], state[1])  # noqa: E731
    return while_loop(going, advance, (low, high, init_val), progress=progress)[2]


def _check_bound(name, x) -> None:
    t = typeof(to_value(x)) if is_array_like(x) else None
    if t is None or t.shape or dtypes.kind(t.dtype) not in ("int", "uint", "float"):
        raise TypeError(
            f"xcore.lax.fori_loop: {name} must be an integer or a float, given {errors.describe(x)}."
        )


def _count_from(lower, upper) -> int | None:
    """The number of steps between floats whose values are known, whatever their derivatives."""
    low, high = (known(float, ops.stop_gradient(to_value(b))) for b in (lower, upper))
    return None if low is None or high is None else max(0, math.ceil(high - low))


def _concrete_bound(x):
    return int(x) if _static_int(x) else x


def _index_dtype(lower, upper):
    def dtype_of(x):
        if _static_int(x):
            return dtypes.int32 if -(2**31) <= x < 2**31 else dtypes.int64
        return typeof(to_value(x)).dtype

    a, b = dtype_of(lower), dtype_of(upper)
    if _static_int(lower) and not _static_int(upper):
        return b
    if _static_int(upper) and not _static_int(lower):
        return a
    return dtypes.promote((a, False), (b, False))[0]


def _check_map(f, values, xs, batch_size) -> None:
    errors.check_function("lax.map", f)
    if not values:
        raise errors.bad_argument("lax.map", "xs", xs, "a tree of one array or more")
    if batch_size is not None and (
        not isinstance(batch_size, SupportsIndex) or operator.index(batch_size) < 0
    ):
        raise errors.bad_argument(
            "lax.map", "batch_size", batch_size, "None, or an integer of 0 or more"
        )


@boundary
def map(f, xs, *, batch_size=None):
    """``[f(x) for x in xs]`` along the first axis, one after the other in one compiled loop.

    Args:
      f: function of one slice.
      xs: pytree of arrays.
      batch_size: this many slices at a time by vmap.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.map(lambda x: x**2, xnp.arange(3.0))
    Array([0., 1., 4.], dtype=float32)
    """
    values, structure = leaf_values("lax.map", "xs", xs)
    _check_map(f, values, xs, batch_size)
    of_slice = partial(called, "lax.map", "f", "one argument, a slice of xs", f)
    if not batch_size:
        return _scan("lax.map", lambda _, x: ((), of_slice(x)), (), xs, None, False, 1, False)[1]
    n = _length("lax.map", values, xs, None)
    whole = n - n % batch_size

    def part(v, start, stop):
        t = typeof(v)
        return slice(
            v,
            start=(start, *(0,) * (t.ndim - 1)),
            limit=(stop, *t.shape[1:]),
            strides=(1,) * t.ndim,
        )

    parts = []
    if whole:
        rows = [
            reshape(
                part(v, 0, whole), shape=(whole // batch_size, batch_size, *typeof(v).shape[1:])
            )
            for v in values
        ]
        out = scan(lambda _, x: ((), vmap(of_slice)(x)), (), tree.unflatten(structure, rows))[1]
        parts.append(tree.map(lambda y: reshape(y, shape=(whole, *typeof(y).shape[2:])), out))
    if whole < n or not parts:
        parts.append(vmap(of_slice)(tree.unflatten(structure, [part(v, whole, n) for v in values])))
    return parts[0] if len(parts) == 1 else tree.map(lambda a, b: concatenate(a, b, axis=0), *parts)


@boundary
def associative_scan(fn, elems, reverse: bool = False, axis: int = 0):
    """All partial combinations of an associative function: ``[a, a·b, a·b·c, …]``, in log₂ n steps.

    Args:
      fn: function of two pytrees of equal arrays, associative, combining them slice by slice.
      elems: pytree of arrays of equal length along ``axis``.
      reverse: of the elements from the last to the first, as if both they and the results were turned round:
        ``fn(later, earlier)``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.associative_scan(lambda a, b: a + b, xnp.arange(4))
    Array([0, 1, 3, 6], dtype=int32)
    """
    if not callable(fn):
        raise TypeError(
            f"xcore.lax.associative_scan: expected a function, given {errors.describe(fn)}."
        )
    values, structure = leaf_values("lax.associative_scan", "elems", elems)
    if not values:
        return elems
    ranks = [typeof(v).ndim for v in values]
    if not all(-r <= axis < r for r in ranks):
        least = min(ranks)
        wanted = (
            f"an axis of all of elems, of which one has {least} axes"
            if least
            else "none: elems are numbers"
        )
        raise errors.bad_argument("lax.associative_scan", "axis", axis, wanted)
    axis = axis % ranks[0]
    n = typeof(values[0]).shape[axis]
    if any(typeof(v).shape[axis] != n for v in values):
        raise errors.ShapeError(
            f"xcore.lax.associative_scan: elems must have one length along axis {axis}."
        )

    def combine(a, b):
        pair = tree.unflatten(structure, a), tree.unflatten(structure, b)
        out = called("lax.associative_scan", "fn", "two arguments", fn, *pair)
        return [to_value(x) for x in tree.leaves(out)]

    return tree.unflatten(structure, _prefixes(combine, values, axis, reverse))


def _prefixes(combine, xs, axis, reverse):
    """Combine neighbours, recurse on half the length, fill in the others (Blelloch)."""
    n = typeof(xs[0]).shape[axis]
    if n < 2:
        return xs
    if reverse:
        flipped = _prefixes(combine, [rev(x, axes=(axis,)) for x in xs], axis, False)
        return [rev(x, axes=(axis,)) for x in flipped]
    even = [slice_along(x, axis, 0, n - n % 2, 2) for x in xs]
    odd = [slice_along(x, axis, 1, n, 2) for x in xs]
    inner = _prefixes(combine, combine(even, odd), axis, False)  # results at odd places
    m = (n - 1) // 2  # even places behind the first
    later = [slice_along(x, axis, 2, n, 2) for x in xs]
    filled = combine([slice_along(x, axis, 0, m) for x in inner], later) if m else []
    first = [slice_along(x, axis, 0, 1) for x in xs]
    evens = (
        [concatenate(a, b, axis=axis) for a, b in zip(first, filled, strict=True)] if m else first
    )
    return [_interleave(a, b, axis) for a, b in zip(evens, inner, strict=True)]


def _interleave(a, b, axis):
    """a0 b0 a1 b1 …; a may be longer by one."""
    n, m = typeof(a).shape[axis], typeof(b).shape[axis]
    if n > m:
        zero = np.zeros((), typeof(b).dtype)[()]
        high = [0] * typeof(b).ndim
        high[axis] = 1
        b = pad(b, zero, low=(0,) * len(high), high=tuple(high), interior=(0,) * len(high))
    t = typeof(a)
    shape = (*t.shape[: axis + 1], 1, *t.shape[axis + 1 :])
    both = concatenate(reshape(a, shape=shape), reshape(b, shape=shape), axis=axis + 1)
    flat = reshape(both, shape=(*t.shape[:axis], 2 * n, *t.shape[axis + 1 :]))
    return slice_along(flat, axis, 0, n + m)
