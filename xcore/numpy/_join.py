"""Joining arrays to one, and splitting one into pieces."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np

from .. import _ops as ops
from .._core import Value, dtypes, errors, fused, typeof
from . import _promote
from ._compound import moves
from ._promote import (
    as_array,
    astype,
    one_axis,
    promote_dtypes,
    result_dtype,
)
from ._shape import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    ravel,
)

# Joining


def _sequence(name: str, arrays):
    """The arrays of a join: a list or tuple of them, or one array along its first axis."""
    if isinstance(arrays, (list, tuple)):
        if not arrays:
            raise errors.bad_argument(f"numpy.{name}", "arrays", arrays, "at least one array")
        return list(arrays)
    arrays = as_array(f"numpy.{name}", arrays)
    if not typeof(arrays).ndim:
        raise errors.bad_argument(f"numpy.{name}", "arrays", arrays, "a list or tuple of arrays")
    return [arrays[i] for i in range(typeof(arrays).shape[0])]


def _common(name: str, xs, dtype=None):
    """Arrays of one dtype."""
    values = [_promote.as_value(f"numpy.{name}", x) for x in xs]
    found, weak = result_dtype(f"numpy.{name}", *values)
    if dtype is not None:
        found, weak = dtypes.as_dtype(dtype), False
    return [astype(as_array(f"numpy.{name}", x), found, weak) for x in values]


@fused(1)
@moves("arrays")
def concatenate(arrays, axis=0, dtype=None):
    """Arrays joined along an axis.

    Args:
      arrays: a list or tuple of arrays, of equal shapes but for that axis.
      axis: which axis; None flattens them first.
      dtype: of the result; what they promote to by default.

    >>> import xcore.numpy as xnp
    >>> xnp.concatenate([xnp.arange(2), xnp.arange(3)])
    Array([0, 1, 0, 1, 2], dtype=int32)
    """
    xs = _common("concatenate", _sequence("concatenate", arrays), dtype)
    if axis is None:
        xs, axis = [ravel(x) for x in xs], 0
    ndim = typeof(xs[0]).ndim
    if not ndim:
        raise errors.bad_argument(
            "numpy.concatenate",
            "arrays",
            xs[0],
            "arrays of 1 or more axes",
            "Join numbers with xnp.stack.",
        )
    return ops.concatenate(*xs, axis=one_axis("numpy.concatenate", axis, ndim))


@fused(1)
@moves("arrays")
def concat(arrays, /, *, axis=0):
    """Arrays joined along an axis: ``concatenate`` under its name in the Array API.

    Args:
      arrays: list or tuple of arrays with the same shape but for this axis.
      axis: int; None flattens them first.

    >>> import xcore.numpy as xnp
    >>> xnp.concat([xnp.arange(2), xnp.arange(2)])
    Array([0, 1, 0, 1], dtype=int32)
    """
    return concatenate(arrays, axis)


@fused(1)
@moves("arrays")
def stack(arrays, axis=0, out=None, dtype=None):
    """Arrays of one shape joined along a new axis.

    Args:
      arrays: a list or tuple of arrays.
      axis: where the new axis stands in the result.
      out: must be None: arrays are immutable.
      dtype: of the result; what they promote to by default.

    >>> import xcore.numpy as xnp
    >>> xnp.stack([xnp.arange(2), xnp.arange(2)])
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    _promote.no_out("numpy.stack", out)
    xs = _common("stack", _sequence("stack", arrays), dtype)
    shape = typeof(xs[0]).shape
    if any(typeof(x).shape != shape for x in xs):
        raise errors.shape_mismatch("numpy.stack", **{f"array {i}": x for i, x in enumerate(xs)})
    axis = one_axis("numpy.stack", axis, len(shape) + 1)
    wide = (*shape[:axis], 1, *shape[axis:])
    return ops.concatenate(*[ops.reshape(x, shape=wide) for x in xs], axis=axis)


def _stacker(name: str, prepare, axis_of, doc: str, example: str):
    """hstack and its relatives: make axes, then join."""

    def f(tup, dtype=None):
        xs = [prepare(x) for x in _common(name, _sequence(name, tup), dtype)]
        return concatenate(xs, axis_of(xs), dtype)

    f.__name__ = f.__qualname__ = name
    f.__module__ = "xcore.numpy"
    f.__doc__ = f"""{doc}

    Args:
      tup: a list or tuple of arrays.
      dtype: of the result.

    >>> import xcore.numpy as xnp
    {example}
    """
    return fused(1)(moves("tup")(f))


# fmt: off
vstack = _stacker("vstack", atleast_2d, lambda xs: 0, "Arrays stacked as rows.",
    ">>> xnp.vstack([xnp.arange(2), xnp.arange(2)]).shape\n    (2, 2)")
hstack = _stacker("hstack", atleast_1d, lambda xs: 0 if typeof(xs[0]).ndim == 1 else 1,
    "Arrays joined along columns.",
    ">>> xnp.hstack([xnp.arange(2), xnp.arange(2)])\n    Array([0, 1, 0, 1], dtype=int32)")
dstack = _stacker("dstack", atleast_3d, lambda xs: 2, "Arrays joined along the third axis.",
    ">>> xnp.dstack([xnp.arange(2), xnp.arange(2)]).shape\n    (1, 2, 2)")
# fmt: on


def _as_column(x):
    shape = typeof(x).shape
    return x if len(shape) > 1 else ops.reshape(x, shape=(math.prod(shape), 1))


column_stack = _stacker(
    "column_stack", _as_column, lambda xs: 1, "Vectors as the columns of a matrix; matrices as they are.",
    ">>> xnp.column_stack([xnp.arange(2), xnp.arange(2)]).shape\n    (2, 2)",
)  # fmt: skip


@moves("arr", "values")
def append(arr, values, axis=None):
    """An array with values at its end.

    Args:
      arr, values: arrays; flattened if no axis is given.
      axis: along which to join them.

    >>> import xcore.numpy as xnp
    >>> xnp.append(xnp.arange(2), 5)
    Array([0, 1, 5], dtype=int32)
    """
    arr, values = promote_dtypes("numpy.append", arr, values)
    return concatenate(
        [arr, values] if axis is not None else [ravel(arr), ravel(values)], axis or 0
    )


@moves("arrays")
def block(arrays):
    """An array from nested lists of blocks: the innermost are joined along the last axis.

    Args:
      arrays: list of arrays or of lists, all nested equally deep; each further level out joins one axis earlier.

    >>> import xcore.numpy as xnp
    >>> one, zero = xnp.ones((2, 1)), xnp.zeros((2, 1))
    >>> xnp.block([[one, zero], [zero, one]]).shape
    (4, 2)
    """
    depth = _block_depth(arrays)
    if depth == 0:
        return as_array("numpy.block", arrays)
    return _block(arrays, depth)


def _block_depth(arrays) -> int:
    if isinstance(arrays, tuple):
        raise TypeError("xcore.numpy.block: blocks are nested in lists, given a tuple.")
    if not isinstance(arrays, list):
        return 0
    depths = {_block_depth(a) for a in arrays}
    if len(depths) != 1:
        raise errors.bad_argument(
            "numpy.block", "arrays", arrays, "lists of one depth, none of them empty"
        )
    return 1 + depths.pop()


@fused(1)
def _block(arrays, depth):
    ndim = max(depth, *[typeof(as_array("numpy.block", x)).ndim for x in _flat(arrays)], 1)
    return _join_blocks(arrays, depth, ndim)


def _flat(arrays):
    return [x for a in arrays for x in _flat(a)] if isinstance(arrays, list) else [arrays]


def _join_blocks(arrays, depth, ndim):
    if not depth:
        x = as_array("numpy.block", arrays)
        return ops.reshape(x, shape=(1,) * (ndim - typeof(x).ndim) + typeof(x).shape)
    return concatenate([_join_blocks(a, depth - 1, ndim) for a in arrays], axis=-depth)


# Splitting


def _pieces(name: str, ary, where, axis, uneven: bool):
    """Cuts along an axis: (positions of the cuts)."""
    n = typeof(ary).shape[axis]
    if isinstance(where, (int, np.integer)) or (isinstance(where, Value) and where.ndim == 0):
        parts = operator.index(where)
        if parts <= 0:
            raise errors.bad_argument(f"numpy.{name}", "indices_or_sections", parts, "1 or more")
        if n % parts and not uneven:
            raise errors.bad_argument(
                f"numpy.{name}", "indices_or_sections", parts, f"a divisor of the length {n} of axis {axis}",
                "xnp.array_split makes pieces of different lengths.",
            )  # fmt: skip
        size, extra = divmod(n, parts)
        return [i * size + min(i, extra) for i in range(parts + 1)]
    cuts = [operator.index(c) for c in np.asarray(where).ravel()]
    return [0, *cuts, n]


@fused(1)
def _split_at(ary, cuts, axis):
    t = typeof(ary)
    out = []
    for a, b in itertools.pairwise(cuts):
        a, b, _ = slice(a, b).indices(t.shape[axis])
        index = (slice(None),) * axis + (slice(a, max(a, b)),)
        out.append(ary[index])
    return out


@moves("ary")
def _split(name: str, ary, where, axis, uneven: bool):
    ary = as_array(f"numpy.{name}", ary)
    axis = one_axis(f"numpy.{name}", axis, typeof(ary).ndim)
    return _split_at(ary, tuple(_pieces(name, ary, where, axis, uneven)), axis)


def split(ary, indices_or_sections, axis=0):
    """A list of consecutive pieces along an axis.

    Args:
      ary: array.
      indices_or_sections: the number of equal pieces, or where to cut.
      axis: which axis.

    >>> import xcore.numpy as xnp
    >>> xnp.split(xnp.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis, False)


def array_split(ary, indices_or_sections, axis=0):
    """A list of consecutive pieces along an axis, the first ones longer if they cannot be equal.

    Args:
      ary: array.
      indices_or_sections: how many pieces, or the positions where new ones begin.
      axis: int; along which.

    >>> import xcore.numpy as xnp
    >>> [len(p) for p in xnp.array_split(xnp.arange(5), 3)]
    [2, 2, 1]
    """
    return _split("array_split", ary, indices_or_sections, axis, True)


def vsplit(ary, indices_or_sections):
    """Pieces along axis 0; see ``split``.

    Args:
      ary: array of two axes or more.
      indices_or_sections: how many pieces of one size, or the positions where new ones begin.

    >>> import xcore.numpy as xnp
    >>> [p.shape for p in xnp.vsplit(xnp.zeros((4, 3)), 2)]
    [(2, 3), (2, 3)]
    """
    return _split("vsplit", ary, indices_or_sections, 0, False)


def hsplit(ary, indices_or_sections):
    """Pieces along axis 1 (along axis 0 of a vector); see ``split``.

    Args:
      ary: array.
      indices_or_sections: how many pieces of one size, or the positions where new ones begin.

    >>> import xcore.numpy as xnp
    >>> [p.shape for p in xnp.hsplit(xnp.zeros((4, 2)), 2)]
    [(4, 1), (4, 1)]
    """
    return _split("hsplit", ary, indices_or_sections, 0 if np.ndim(ary) == 1 else 1, False)


def dsplit(ary, indices_or_sections):
    """Pieces along axis 2; see ``split``.

    Args:
      ary: array of three axes or more.
      indices_or_sections: how many pieces of one size, or the positions where new ones begin.

    >>> import xcore.numpy as xnp
    >>> [p.shape for p in xnp.dsplit(xnp.zeros((4, 3, 2)), 2)]
    [(4, 3, 1), (4, 3, 1)]
    """
    return _split("dsplit", ary, indices_or_sections, 2, False)


@moves("x")
def unstack(x, /, *, axis=0):
    """The arrays along an axis, as a tuple.

    Args:
      x: array.
      axis: int; which axis goes.

    >>> import xcore.numpy as xnp
    >>> xnp.unstack(xnp.arange(2))
    (Array(0, dtype=int32), Array(1, dtype=int32))
    """
    x = as_array("numpy.unstack", x)
    axis = one_axis("numpy.unstack", axis, typeof(x).ndim)
    return tuple(_unstack(x, axis))


@fused(1)
def _unstack(x, axis):
    rest = (slice(None),) * axis
    return [x[(*rest, i)] for i in range(typeof(x).shape[axis])]
