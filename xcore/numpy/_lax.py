"""The functions of ``xcore.lax`` that choose, convert, multiply, sort, reduce and transform.

They take arrays or numbers; Python numbers take the dtype of the arrays they meet, and scalars are
broadcast. Shapes must agree otherwise: that is what tells them from the functions of xcore.numpy.
"""

from __future__ import annotations

import enum

from .. import _ops as ops
from .._core import boundary, config, dtypes, errors, fused, typeof
from .._ops.elementwise import to_user
from ._compound import moves
from ._docstrings import named
from ._placement import spreads
from ._promote import (
    as_alike,
    as_array,
    as_arrays,
    as_inexact,
    astype,
    one_axis,
    whole_numbers,
)
from ._sanitize import check_cast


@fused(3)
@moves("on_true", "on_false")
def select(pred, on_true, on_false):
    """``on_true`` where the predicate holds, else ``on_false``; all of one shape.

    Args:
      pred: booleans, of the same shape or one number.
      on_true, on_false: arrays of one shape and, after promotion, one dtype.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x = xnp.asarray([-1.0, 4.0])
    >>> xc.lax.select(x < 0, xnp.zeros(2), x)
    Array([0., 4.], dtype=float32)
    """
    pred = as_array("lax.select", pred)
    if dtypes.is_integer(typeof(pred).dtype):  # as of select_n, whose cases these are
        pred = ops.ne(pred, ops.zeros(typeof(pred)))
    return ops.select(pred, *as_alike("lax.select", on_true, on_false))


@boundary
@moves("cases")
def select_n(which, *cases):
    """``cases[which]``, element by element; ``which`` is boolean or integer.

    Args:
      which: booleans (then two cases: the one for False comes first) or integers.
      cases: arrays of one shape.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.select_n(xnp.asarray([2, 0]), xnp.zeros(2), xnp.ones(2), xnp.full(2, 5.0))
    Array([5., 0.], dtype=float32)
    """
    which = as_array("lax.select_n", which)
    if dtypes.kind(typeof(which).dtype) not in ("bool", "int", "uint"):
        raise errors.dtype_not_allowed(
            "lax.select_n", typeof(which).dtype, "bool and integer (which)"
        )
    if not cases:
        raise errors.bad_argument("lax.select_n", "cases", cases, "one array or more")
    cases = as_arrays("lax.select_n", *cases)
    if typeof(which).dtype == bool:
        if len(cases) > 2:
            raise errors.bad_argument(
                "lax.select_n",
                "cases",
                errors.Words(f"{len(cases)} arrays"),
                "one or two, for booleans",
            )
        return ops.select(which, cases[-1], cases[0])
    out = to_user(cases[-1])
    for k in range(len(cases) - 2, -1, -1):
        out = ops.select(
            ops.eq(which, ops.full_like_type(typeof(which).strong(), k)), cases[k], out
        )
    return out


@fused(1)
def convert_element_type(operand, new_dtype):
    """The array in another dtype.

    Args:
      operand: array.
      new_dtype: of the result; floats are cut to integers toward zero.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.convert_element_type(xnp.asarray([1.9, -1.9]), "int32")
    Array([ 1, -1], dtype=int32)
    """
    x, dtype = as_array("lax.convert_element_type", operand), dtypes.as_dtype(new_dtype)
    if config.settings().sanitize:
        check_cast("lax.convert_element_type", x, dtype)
    return astype(x, dtype)


@fused(1)
def bitcast_convert_type(operand, new_dtype):
    """The same bits read as another dtype.

    Args:
      operand: array.
      new_dtype: a dtype of as many bits; of fewer or more, a last axis holds the parts.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.bitcast_convert_type(xnp.asarray([1.0]), "int32")
    Array([1065353216], dtype=int32)
    """
    return ops.bitcast_convert(
        as_array("lax.bitcast_convert_type", operand), dtype=dtypes.as_dtype(new_dtype)
    )


@fused(1)
def reduce_precision(operand, exponent_bits: int, mantissa_bits: int):
    """The values that a format of fewer bits can hold, in the dtype they have.

    Args:
      operand: array of floats.
      exponent_bits, mantissa_bits: of the format; 5 and 10 is float16, 8 and 7 is bfloat16.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.reduce_precision(xnp.asarray([3.1415926]), 8, 7)
    Array([3.1406], dtype=float32)
    """
    return ops.reduce_precision(
        as_array("lax.reduce_precision", operand),
        exponent_bits=exponent_bits,
        mantissa_bits=mantissa_bits,
    )


def _pairs_of_axes(numbers) -> tuple:
    """Axes that are summed, and those of the batch, each of lhs and of rhs."""
    try:
        (a, b), (c, d) = numbers
        return (tuple(a), tuple(b)), (tuple(c), tuple(d))
    except (TypeError, ValueError):
        wanted = "((lhs summed, rhs summed), (lhs batch, rhs batch)), each a sequence of axes"
        raise errors.bad_argument("lax.dot_general", "dimension_numbers", numbers, wanted) from None


def _check_axes_of_product(contract, batch, *types) -> None:
    """The axes of each operand are different axes of it, and as many as the other's."""
    for (a, b), kind in ((contract, "summed"), (batch, "batch")):
        if len(a) != len(b):
            raise errors.bad_argument(
                "lax.dot_general",
                "dimension_numbers",
                (contract, batch),
                f"as many {kind} axes of lhs as of rhs",
            )
    for name, t, axes in zip(("lhs", "rhs"), types, zip(contract, batch, strict=True), strict=True):
        axes = (*axes[0], *axes[1])
        if len(set(axes)) < len(axes) or not all(0 <= i < t.ndim for i in axes):
            raise errors.bad_argument(
                "lax.dot_general",
                "dimension_numbers",
                (contract, batch),
                f"different axes of {name}, {t}",
            )


@fused(2)
@spreads
def dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *,
                out_sharding=None):  # fmt: skip
    """A product that sums over some pairs of axes and runs along others.

    Args:
      dimension_numbers: ``((lhs summed, rhs summed), (lhs batch, rhs batch))``.
      precision: "default", "high" or "highest"; the default here is full precision.
      preferred_element_type: dtype of the result.
      lhs, rhs: arrays.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> x, y = xnp.ones((5, 2, 3)), xnp.ones((5, 3, 4))
    >>> xc.lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))).shape
    (5, 2, 4)
    """
    x, y = as_array("lax.dot_general", lhs), as_array("lax.dot_general", rhs)
    dtype, _ = dtypes.promote((typeof(x).dtype, typeof(x).weak), (typeof(y).dtype, typeof(y).weak))
    x, y = astype(x, dtype), astype(y, dtype)
    contract, batch = _pairs_of_axes(dimension_numbers)
    _check_axes_of_product(contract, batch, typeof(x), typeof(y))
    out = None if preferred_element_type is None else dtypes.as_dtype(preferred_element_type)
    return ops.dot_general(
        x, y, contract=contract, batch=batch, precision=ops.precision_name(precision), out=out
    )


@fused(2)
@spreads
def dot(lhs, rhs, precision=None, preferred_element_type=None, *, dimension_numbers=None,
        out_sharding=None):  # fmt: skip
    """The product of vectors and matrices, or with ``dimension_numbers`` that of ``dot_general``.

    Args:
      lhs, rhs: vectors or matrices.
      precision, preferred_element_type, dimension_numbers: as for ``dot_general``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.dot(xnp.asarray([[1, 2], [3, 4]]), xnp.asarray([1, 1]))
    Array([3, 7], dtype=int32)
    >>> xc.lax.dot(xnp.asarray([100], "int8"), xnp.asarray([2], "int8"), preferred_element_type="int32")
    Array(200, dtype=int32)
    """
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)
    a, b = typeof(as_array("lax.dot", lhs)).ndim, typeof(as_array("lax.dot", rhs)).ndim
    if not (1 <= a <= 2 and 1 <= b <= 2):
        raise errors.ShapeError(
            f"xcore.lax.dot: takes vectors and matrices, given {a} and {b} dimensions."
        )
    return dot_general(lhs, rhs, (((a - 1,), (0,)), ((), ())), precision, preferred_element_type)


@fused(2)
def batch_matmul(lhs, rhs, precision=None):
    """Matrix products along leading axes.

    Args:
      lhs, rhs: arrays (…, n, k) and (…, k, m) with equal leading axes.
      precision: as for ``dot_general``.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.batch_matmul(xnp.ones((5, 2, 3)), xnp.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    n, m = (typeof(as_array("lax.batch_matmul", x)).ndim for x in (lhs, rhs))
    if n != m or n < 2:
        raise errors.shape_mismatch(
            "lax.batch_matmul", "need as many axes, two or more", lhs=lhs, rhs=rhs
        )
    lead = tuple(range(n - 2))
    return dot_general(lhs, rhs, (((n - 1,), (n - 2,)), (lead, lead)), precision)


@boundary
def sort(operand, dimension: int = -1, is_stable: bool = True, num_keys: int = 1):
    """Sorted along an axis; several arrays are sorted together by the first ``num_keys``.

    Args:
      operand: array, or a tuple of arrays of one shape.
      dimension: axis.
      is_stable: whether equal elements keep their order.
      num_keys: by how many of the arrays, the first one first.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.sort((xnp.asarray([2, 1, 2]), xnp.asarray([9, 8, 7])), num_keys=2)
    (Array([1, 2, 2], dtype=int32), Array([8, 7, 9], dtype=int32))
    """
    many = isinstance(operand, (tuple, list))
    xs = [as_array("lax.sort", x) for x in (operand if many else [operand])]
    if not 1 <= num_keys <= len(xs):
        needed = (
            f"1 to {len(xs)}, as there are arrays"
            if xs
            else "there, but there are no arrays to sort"
        )
        raise errors.bad_argument("lax.sort", "num_keys", num_keys, needed)
    axis = one_axis("lax.sort", dimension, typeof(xs[0]).ndim)
    outs = ops.sort(*xs, axis=axis, num_keys=num_keys, stable=is_stable)
    return tuple(outs) if many else outs[0]


def sort_key_val(keys, values, dimension: int = -1, is_stable: bool = True):
    """Keys sorted along an axis, and values in the same order.

    Args:
      keys, values: arrays of one shape.
      dimension: axis.
      is_stable: whether values of equal keys keep their order.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.sort_key_val(xnp.asarray([3, 1, 2]), xnp.asarray([30, 10, 20]))
    (Array([1, 2, 3], dtype=int32), Array([10, 20, 30], dtype=int32))
    """
    return sort((keys, values), dimension, is_stable, 1)


@boundary
def top_k(operand, k: int, *, axis: int = -1):
    """The k largest elements along an axis, in descending order, and their positions.

    Args:
      operand: array.
      k: how many.
      axis: along which.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.top_k(xnp.asarray([3.0, 9.0, 5.0]), 2)
    (Array([9., 5.], dtype=float32), Array([1, 2], dtype=int32))
    """
    x = as_array("lax.top_k", operand)
    axis = one_axis("lax.top_k", axis, typeof(x).ndim)
    last = typeof(x).ndim - 1
    if dtypes.is_complex(typeof(x).dtype):
        raise errors.dtype_not_allowed("lax.top_k", typeof(x).dtype, "real")
    outs = ops.top_k(ops.move_axis(x, axis, last), k=int(k))
    return tuple(ops.move_axis(y, last, axis) for y in outs)


def _reducer(name, doc, example):
    op = getattr(ops, name)

    def f(operand, axes):
        x = as_array(f"lax.{name}", operand)
        return op(x, axes=tuple(sorted(whole_numbers(f"lax.{name}", "axes", axes))))

    return named(f, name, doc + _OVER_AXES, f"xc.lax.{name}{example}", 1, "xcore.lax")


def _cumulative(name, doc, example):
    op = getattr(ops, name)

    def f(operand, axis: int = 0, reverse: bool = False):
        x = as_array(f"lax.{name}", operand)
        return op(x, axis=one_axis(f"lax.{name}", axis, typeof(x).ndim), reverse=bool(reverse))

    return named(f, name, doc + _RUNNING, f"xc.lax.{name}{example}", 1, "xcore.lax")


def _position(name, doc, example):
    op = getattr(ops, name)

    def f(operand, axis: int, index_dtype):
        x, dtype = as_array(f"lax.{name}", operand), dtypes.as_dtype(index_dtype)
        if not dtypes.is_integer(dtype):
            raise errors.dtype_not_allowed(f"lax.{name}", dtype, "integer (index_dtype)")
        return op(x, axis=one_axis(f"lax.{name}", axis, typeof(x).ndim), dtype=dtype)

    return named(f, name, doc + _OF_ONE_AXIS, f"xc.lax.{name}{example}", 1, "xcore.lax")


_OVER_AXES = """

    Args:
      operand: array.
      axes: those that are reduced."""
_RUNNING = """

    Args:
      operand: array.
      axis: along which.
      reverse: whether to begin at the end of the axis."""
_OF_ONE_AXIS = """

    Args:
      operand: array.
      axis: along which.
      index_dtype: integer dtype of the result."""

# fmt: off
reduce_sum = _reducer("reduce_sum", "The sum over axes, in the dtype of the operand.",
                      "(xnp.asarray([[1, 2], [3, 4]]), (1,)) → Array([3, 7], dtype=int32)")
reduce_prod = _reducer("reduce_prod", "The product over axes, in the dtype of the operand.",
                       "(xnp.asarray([[1, 2], [3, 4]]), (1,)) → Array([ 2, 12], dtype=int32)")
reduce_max = _reducer("reduce_max", "The largest element over axes; NaN if there is one.",
                      "(xnp.asarray([[1, 2], [3, 4]]), (0,)) → Array([3, 4], dtype=int32)")
reduce_min = _reducer("reduce_min", "The smallest element over axes; NaN if there is one.",
                      "(xnp.asarray([[1, 2], [3, 4]]), (0,)) → Array([1, 2], dtype=int32)")
reduce_and = _reducer("reduce_and", "Whether all are true, over axes; of integers the bits set in all.",
                      "(xnp.asarray([[True, False], [True, True]]), (1,)) → Array([False,  True], dtype=bool)")
reduce_or = _reducer("reduce_or", "Whether any is true, over axes; of integers the bits set in any.",
                     "(xnp.asarray([[True, False], [False, False]]), (1,)) → Array([ True, False], dtype=bool)")
reduce_xor = _reducer("reduce_xor", "Whether an odd number is true, over axes; of integers this for each bit.",
                      "(xnp.asarray([6, 3, 1]), (0,)) → Array(4, dtype=int32)")
cumsum = _cumulative("cumsum", "Running sums along an axis.",
                     "(xnp.asarray([1, 2, 3]), reverse=True) → Array([6, 5, 3], dtype=int32)")
cumprod = _cumulative("cumprod", "Running products along an axis.",
                      "(xnp.asarray([1, 2, 3, 4])) → Array([ 1,  2,  6, 24], dtype=int32)")
cummax = _cumulative("cummax", "Running maxima along an axis.",
                     "(xnp.asarray([1, 3, 2])) → Array([1, 3, 3], dtype=int32)")
cummin = _cumulative("cummin", "Running minima along an axis.",
                     "(xnp.asarray([3, 1, 2])) → Array([3, 1, 1], dtype=int32)")
cumlogsumexp = _cumulative("cumlogsumexp", "Running log Σ exp(x) along an axis, without overflow.",
                           "(xnp.asarray([1000.0, 1000.0])) → Array([1000. , 1000.693], dtype=float32)")
argmax = _position("argmax", "Index of the first largest element along an axis.",
                   '(xnp.asarray([1.0, 5.0, 5.0]), 0, "int32") → Array(1, dtype=int32)')
argmin = _position("argmin", "Index of the first smallest element along an axis.",
                   '(xnp.asarray([2.0, 1.0, 5.0]), 0, "int32") → Array(1, dtype=int32)')
# fmt: on


class FftType(enum.IntEnum):
    """Which transform ``lax.fft`` is.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.fft(xnp.ones(4), xc.lax.FftType.RFFT, (4,))
    Array([4.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


@fused(1)
def fft(x, fft_type, fft_lengths):
    """The discrete Fourier transform over the last axes: "FFT", "IFFT", "RFFT" or "IRFFT".

    Args:
      x: array.
      fft_type: the name, or an ``FftType``.
      fft_lengths: lengths of the transformed axes; of "IRFFT" that of the result.

    >>> import xcore as xc, xcore.numpy as xnp
    >>> xc.lax.fft(xnp.asarray([1.0, 0.0, -1.0, 0.0]), "RFFT", (4,))
    Array([0.+0.j, 2.+0.j, 0.+0.j], dtype=complex64)
    """
    kind = str(getattr(fft_type, "name", fft_type)).upper()
    if kind not in FftType.__members__:
        raise errors.bad_argument(
            "lax.fft", "fft_type", fft_type, f"one of {[*FftType.__members__]}"
        )
    x = as_inexact("lax.fft", x)
    x = x if kind == "RFFT" else astype(x, dtypes.to_complex(typeof(x).dtype))
    return ops.fft(x, kind=kind, lengths=whole_numbers("lax.fft", "fft_lengths", fft_lengths))
