"""Choosing elements by conditions: where, select, piecewise, and the positions that satisfy one."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import _ops as ops
from .._core import Array, ArrayType, Value, config, dtypes, errors, findings, one_of, typeof
from .._core.eval import from_numpy, is_array_like
from .._core.fused import fused
from ._compound import moves
from ._creation import asarray, zeros
from ._elementwise import divide, not_equal, truth
from ._promote import (
    as_array,
    as_arrays,
    astype,
    broadcast_shapes,
    broadcast_to,
    no_out,
    one_axis,
)  # fmt: skip
from ._shape import ravel

# Where


def where(condition, x=None, y=None, /, *, size=None, fill_value=None):
    """x where the condition holds, else y. With one argument: positions where it holds.

    Args:
      condition: array of truth values.
      x, y: arrays, promoted to a common dtype; all three are broadcast together.
      size, fill_value: with one argument under jit, the fixed number of positions and what fills
        the rest (as in ``nonzero``).

    >>> import xcore.numpy as xnp
    >>> x = xnp.arange(4) - 2
    >>> xnp.where(x > 0, x, 0)
    Array([0, 0, 0, 1], dtype=int32)
    """
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise errors.bad_argument("numpy.where", "x and y", None, "both given or both left out")
    if size is not None or fill_value is not None:
        raise errors.bad_argument("numpy.where", "size", size, "left out where x and y are given")
    return _where(condition, x, y)


@fused(3)
@moves("x", "y")
def _where(condition, x, y):
    condition = truth(as_array("numpy.where", condition, "condition"))
    x, y = as_arrays("numpy.where", x, y, any_rank=True)
    shape = broadcast_shapes("numpy.where", typeof(condition).shape, typeof(x).shape)
    return ops.select(
        broadcast_to(condition, shape), broadcast_to(x, shape), broadcast_to(y, shape)
    )


def cut(x, axis: int, start=None, stop=None, step=None):
    """``x[start:stop:step]`` along one axis."""
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def safe_divide(x, y, otherwise: Any = 0, *, where=None):
    """x / y where y is not 0, or where ``where`` holds, else ``otherwise``.

    The other elements of y divide nothing: neither values nor derivatives become NaN by them.
    """
    fine = not_equal(y, 0) if where is None else where
    return _where(fine, divide(x, _where(fine, y, 1)), otherwise)


def select(condlist, choicelist, default=0):
    """Elements of the choice whose condition is the first to hold; the default where none does.

    Args:
      condlist: list of bool arrays.
      choicelist: as many arrays.
      default: what to take where no condition holds.

    >>> import xcore.numpy as xnp
    >>> x = xnp.arange(5)
    >>> xnp.select([x < 2, x > 3], [x, 10 * x], -1)
    Array([ 0,  1, -1, -1, 40], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise errors.bad_argument(
            "numpy.select",
            "choicelist",
            choicelist,
            f"as long as condlist ({len(condlist)}), and not empty",
        )
    return _select(list(condlist), list(choicelist), default)


@fused(3)
@moves("choices", "default")
def _select(conditions, choices, default):
    who = "numpy.select"
    conditions = [as_array(who, c) for c in conditions]
    if not all(typeof(c).dtype == bool for c in conditions):
        raise errors.dtype_not_allowed(
            who, next(typeof(c).dtype for c in conditions if typeof(c).dtype != bool), "bool"
        )
    *choices, out = as_arrays(who, *choices, default, any_rank=True)
    shape = broadcast_shapes(who, typeof(out).shape, *[typeof(c).shape for c in conditions])
    out = broadcast_to(out, shape)
    for c, x in zip(reversed(conditions), reversed(choices), strict=True):
        out = ops.select(broadcast_to(c, shape), broadcast_to(x, shape), out)
    return out


def choose(a, choices, out=None, mode="raise"):
    """Elements of the choice that an array of numbers names: choices[a[i]][i].

    Args:
      a: array of integers.
      choices: a list of arrays, or an array along whose first axis they stand.
      out: must be None: arrays are immutable.
      mode: what numbers out of range do: "clip", "wrap", or "raise" an error; a program cannot
        raise, so there they are clipped.

    >>> import xcore.numpy as xnp
    >>> xnp.choose(xnp.asarray([0, 1, 0]), [xnp.arange(3), xnp.arange(3) + 10])
    Array([ 0, 11,  2], dtype=int32)
    """
    who = "numpy.choose"
    no_out(who, out)
    one_of(who, "mode", mode, ("raise", "clip", "wrap"), "'raise', 'clip' or 'wrap'")
    if mode == "raise" and not (isinstance(a, Value) and not isinstance(a, Array)):
        known, n = np.asarray(a), len(choices)
        if known.size and (known.min() < 0 or known.max() >= n):
            raise ValueError(
                f"xcore.{who}: a has numbers from {known.min()} to {known.max()}, but there are {n} choices. "
                "Give mode='clip' or mode='wrap'."
            )
    return _choose(a, choices, mode)


@fused(2)
@moves("choices")
def _choose(a, choices, mode):
    who = "numpy.choose"
    a = as_array(who, a)
    if not dtypes.is_integer(typeof(a).dtype) and typeof(a).dtype != bool:
        raise errors.dtype_not_allowed(who, typeof(a).dtype, "integer")
    if not isinstance(choices, (list, tuple)):
        choices = [choices[i] for i in range(choices.shape[0])]
    choices = as_arrays(who, *choices, any_rank=True)
    n = len(choices)
    shape = broadcast_shapes(who, typeof(a).shape, typeof(choices[0]).shape)
    a = broadcast_to(astype(a, dtypes.int32), shape)
    a = a % n if mode == "wrap" else a
    result = broadcast_to(choices[0], shape)
    for i in range(1, n):
        result = ops.select(
            ops.ge(a, ops.full_like_type(typeof(a), i)), broadcast_to(choices[i], shape), result
        )
    return result


def piecewise(x, condlist, funclist, *args, **kw):
    """A function that is given by another formula where each condition holds.

    Args:
      x: array.
      condlist: list of bool arrays, or one. Later conditions win over earlier ones.
      funclist: a function or a number for each condition, and one more for where none holds
        (0 if left out).
      *args, **kw: passed on to the functions.

    >>> import xcore.numpy as xnp
    >>> x = xnp.arange(4.0) - 2
    >>> xnp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v])
    Array([2., 1., 0., 1.], dtype=float32)
    """
    who = "numpy.piecewise"
    x = as_array(who, x)
    single = not isinstance(condlist, (list, tuple)) or (
        bool(condlist) and not is_array_of_flags(condlist[0], typeof(x).ndim)
    )
    conditions = [
        as_array(who, c if is_array_like(c) else asarray(c))
        for c in ([condlist] if single else condlist)
    ]
    functions = list(funclist)
    if len(functions) == len(conditions):
        functions.append(0)
    if len(functions) != len(conditions) + 1:
        raise errors.bad_argument(
            who,
            "funclist",
            len(funclist),
            f"{len(conditions)} or {len(conditions) + 1} functions or numbers",
        )
    shape, dtype = typeof(x).shape, typeof(x).dtype
    values = [f(x, *args, **kw) if callable(f) else f for f in functions]
    values = [broadcast_to(as_array(who, v, dtype=dtype), shape) for v in values]
    out = values[-1]
    for c, v in zip(conditions, values, strict=False):
        out = _where(c, v, out)
    return out


def is_array_of_flags(c, ndim: int) -> bool:
    """Whether a condition covers the array (and is not one element of a single condition)."""
    return isinstance(c, (list, tuple)) or np.ndim(c) > 0 or ndim == 0


# Positions


def nonzero(a, *, size=None, fill_value=None):
    """The positions of the elements that are not zero: an array of indices for each axis.

    Args:
      a: array of 1 or more axes.
      size: how many positions to return; needed under jit, where a shape cannot depend on values.
      fill_value: the index where there are fewer (0 if not given), or one for each axis.

    >>> import xcore.numpy as xnp
    >>> xnp.nonzero(xnp.asarray([0, 3, 4]))
    (Array([1, 2], dtype=int32),)
    """
    a = as_array("numpy.nonzero", a)
    if not typeof(a).ndim:
        raise errors.bad_argument(
            "numpy.nonzero", "a", a, "of 1 or more axes", "Use xnp.atleast_1d(x)."
        )
    return _positions("nonzero", a, size, fill_value)


def _positions(name: str, a, size, fill_value):
    dtype = dtypes.default_dtype("int")
    if size is not None:
        fills = _fills(name, fill_value, typeof(a).ndim)
        return tuple(_first_positions([a, *fills], operator.index(size), dtype))
    if type(a) is Array:
        return tuple(from_numpy(p.astype(dtype)) for p in np.nonzero(np.asarray(a)))
    raise errors.size_needed(f"numpy.{name}", a)


def _fills(name, fill_value, ndim) -> list:
    """The index that fills, for each axis."""
    if fill_value is None:
        return [0] * ndim
    if isinstance(fill_value, (tuple, list)):
        given = list(fill_value)
    else:
        fill_value = as_array(f"numpy.{name}", fill_value)
        given = (
            [fill_value[i] for i in range(fill_value.shape[0])]
            if fill_value.ndim
            else [fill_value] * ndim
        )
    if len(given) != ndim:
        raise errors.bad_argument(
            f"numpy.{name}", "fill_value", fill_value, f"one index, or {ndim}"
        )
    return given


@fused(1)
def _first_positions(arrays, size, dtype):
    a, *fills = arrays
    t = typeof(a)
    flags = ops.reshape(truth(a), shape=(t.size,))
    counts = ops.convert(flags, dtype=dtype)
    numbers = ops.iota(shape=(t.size,), dtype=dtype, axis=0)
    # the k-th true element goes to place k, the others out of range, where nothing is written
    place = ops.select(flags, ops.sub(ops.cumsum(counts, axis=0), ops.ones(typeof(counts))),
                       ops.full_like_type(typeof(counts), size))  # fmt: skip
    found = _scattered(numbers, place, size)
    valid = ops.lt(
        ops.iota(shape=(size,), dtype=dtype, axis=0),
        _spread(ops.reduce_sum(counts, axes=(0,)), size),
    )
    out, stride = [], t.size
    for n, fill in zip(t.shape, fills, strict=True):
        stride //= max(n, 1)
        index = ops.rem(ops.div(found, ops.full_like_type(typeof(found), max(stride, 1))),
                        ops.full_like_type(typeof(found), max(n, 1)))  # fmt: skip
        fill = _spread(as_array("numpy.nonzero", fill, dtype=dtype), size)
        out.append(ops.select(valid, index, fill))
    return out


def _spread(x, size):
    return ops.broadcast_in_dim(x, shape=(size,), dims=())


def _scattered(values, place, size):
    """An array whose element place[i] is values[i]; places out of range are dropped."""
    dims = ops.ScatterDims((), (0,), (0,))
    start = ops.zeros(ArrayType((size,), typeof(values).dtype))
    rows = ops.reshape(place, shape=(typeof(place).size, 1))
    return ops.scatter(start, rows, values, dims=dims, how="set", mode="drop", unique=True)


def flatnonzero(a, *, size=None, fill_value=None):
    """The positions of the elements that are not zero, in the flattened array.

    Args:
      a: array.
      size, fill_value: as in ``nonzero``.

    >>> import xcore.numpy as xnp
    >>> xnp.flatnonzero(xnp.asarray([[0, 3], [4, 0]]))
    Array([1, 2], dtype=int32)
    """
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a, *, size=None, fill_value=None):
    """The positions of the elements that are not zero, as rows.

    Args:
      a: array.
      size, fill_value: as in ``nonzero``.

    >>> import xcore.numpy as xnp
    >>> xnp.argwhere(xnp.asarray([[0, 3], [4, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    a = as_array("numpy.argwhere", a)
    ndim = typeof(a).ndim
    if not ndim:
        rows = flatnonzero(a, size=size)
        return zeros((typeof(rows).size, 0), typeof(rows).dtype)
    return _as_rows(list(_positions("argwhere", a, size, fill_value)))


@fused(1)
def _as_rows(columns):
    return ops.concatenate(*[ops.reshape(c, shape=(typeof(c).size, 1)) for c in columns], axis=1)


@moves("arr")
def extract(condition, arr, *, size=None, fill_value=0):
    """The elements where a condition holds, flattened.

    Args:
      condition: array of truth values.
      arr: array of as many elements.
      size, fill_value: under jit, how many to return and what fills the rest.

    >>> import xcore.numpy as xnp
    >>> xnp.extract(xnp.asarray([True, False, True]), xnp.arange(3))
    Array([0, 2], dtype=int32)
    """
    return compress(ravel(condition), ravel(arr), size=size, fill_value=fill_value)


@moves("a")
def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None):
    """The slices along an axis where a condition holds.

    Args:
      condition: 1-d array of truth values, not longer than the axis.
      a: array.
      axis: which axis; None flattens first.
      size, fill_value: under jit, how many slices to return and what fills the rest.
      out: must be None: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.compress(xnp.asarray([False, True]), xnp.arange(4).reshape(2, 2), axis=0)
    Array([[2, 3]], dtype=int32)
    """
    who = "numpy.compress"
    no_out(who, out)
    a = as_array(who, a)
    condition = as_array(who, condition if is_array_like(condition) else asarray(condition))
    if typeof(condition).ndim != 1:
        raise errors.bad_argument(who, "condition", condition, "1-d")
    if axis is None:
        a, axis = ravel(a), 0
    axis = one_axis(who, axis, typeof(a).ndim)
    front = (slice(None),) * axis
    n, length = typeof(condition).size, typeof(a).shape[axis]
    if size is None:
        where_true = nonzero(condition)[0]
        if n > length and np.asarray(condition)[length:].any():
            raise errors.index_out_of_range(int(np.asarray(where_true)[-1]), axis, typeof(a).shape)
        return a[(*front, where_true)]
    places = nonzero(condition, size=size, fill_value=max(length, n))[0]
    return a.at[(*front, places)].get(mode="fill", fill_value=fill_value)


@moves("arr", "vals")
def place(arr, mask, vals, *, inplace=True):
    """A copy of an array whose elements under a mask are replaced by values, in turn.

    Args:
      arr: array.
      mask: array of truth values of as many elements.
      vals: the values; repeated if there are too few.
      inplace: must be False: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.place(xnp.arange(4), xnp.asarray([True, False, True, False]), [7, 8], inplace=False)
    Array([7, 1, 8, 3], dtype=int32)
    """
    not_in_place("numpy.place", inplace)
    return _place([arr, mask, vals if is_array_like(vals) else asarray(vals)])


def not_in_place(who: str, inplace) -> None:
    if inplace:
        raise errors.bad_argument(
            who,
            "inplace",
            inplace,
            "False: arrays are immutable",
            "The result is a changed copy: x = f(x, ..., inplace=False).",
        )
    if config.settings().sanitize:
        name = who.removeprefix("numpy.")
        findings.report_discarded(
            f"{name} gives a changed copy, and nobody keeps it: arrays do not change. Write x = {name}(x, ...)."
        )


@fused(1)
def _place(arrays):
    who = "numpy.place"
    arr, mask, values = (as_array(who, x) for x in arrays)
    t = typeof(arr)
    if typeof(mask).size != t.size or not typeof(values).size:
        raise errors.shape_mismatch(
            who, "need a mask of as many elements, and at least one value", arr=arr, mask=mask
        )
    flags = ops.reshape(truth(mask), shape=(t.size,))
    counts = ops.convert(flags, dtype=dtypes.int32)
    turn = ops.sub(ops.cumsum(counts, axis=0), ops.ones(typeof(counts)))
    values = astype(ravel(values), t.dtype)
    chosen = values[turn % typeof(values).size]
    return ops.reshape(ops.select(flags, chosen, ops.reshape(arr, shape=(t.size,))), shape=t.shape)
