"""Reductions: sums, products, extrema and their positions, logic and counts."""

from __future__ import annotations

import math

from .. import _ops as ops
from .._core import config, dtypes, errors, typeof
from .._ops.reduce import highest, lowest
from ._docstrings import described
from ._elementwise import pick_of_two
from ._promote import (
    as_array,
    astype,
    axes_of,
    broadcast_shapes,
    broadcast_to,
    filled,
    no_out,
    one_axis,
)
from ._sanitize import check_cast, check_digits

# Parts


def summed_dtype(t, dtype, promote: bool):
    """The dtype of a sum: that asked for; integers have at least the default width."""
    if dtype is not None:
        return dtypes.as_dtype(dtype)
    kind = dtypes.kind(t.dtype)
    if kind not in ("bool", "int", "uint") or not (promote or kind == "bool"):
        return t.dtype
    default = dtypes.default_dtype("uint" if kind == "uint" else "int")
    return t.dtype if t.dtype.itemsize > default.itemsize else default


def accumulator(dtype):
    """In what sums of a dtype are formed: 16-bit floats in float32."""
    if dtypes.is_floating(dtype) and dtype.itemsize < 4:
        return dtypes.float32
    return dtype


def keep_axes(out, shape, axes, keepdims: bool):
    """A reduced array with the reduced axes put back, if asked for."""
    if not keepdims:
        return out
    return ops.reshape(out, shape=tuple(1 if i in axes else n for i, n in enumerate(shape)))


def as_mask(who: str, where):
    """``where`` of a reduction, which must be of bools: other numbers would hide mistakes."""
    where = as_array(who, where)
    if typeof(where).dtype != bool:
        raise errors.dtype_not_allowed(f"{who} (where)", typeof(where).dtype, "bool")
    return where


def masked(who: str, a, where, filler):
    """The array with a neutral value where ``where`` is False."""
    if where is None:
        return a
    where = as_mask(who, where)
    shape = broadcast_shapes(who, typeof(a).shape, typeof(where).shape)
    a = broadcast_to(a, shape)
    return ops.select(broadcast_to(where, shape), a, ops.full_like_type(typeof(a).strong(), filler))


def _with_initial(who: str, out, initial, combine):
    if initial is None:
        return out
    return combine(out, filled(who, initial, typeof(out).strong()))


def _folded(name, op, combine, neutral, a, axis, dtype, out, keepdims, initial, where, promote):
    """sum and prod."""
    who = f"numpy.{name}"
    no_out(who, out)
    a = as_array(who, a)
    result = summed_dtype(typeof(a), dtype, promote)
    work = accumulator(result)
    if dtype is not None and config.settings().sanitize:
        check_cast(who, a, work)
    a = masked(who, astype(a, work), where, neutral)
    shape = typeof(a).shape
    axes = axes_of(who, axis, len(shape))
    if result == dtypes.bool_:
        total = (ops.reduce_or if name == "sum" else ops.reduce_and)(a, axes=axes)
        combine = ops.or_ if name == "sum" else ops.and_
    else:
        total = op(a, axes=axes)
        if name == "sum" and config.settings().sanitize_cancellation:
            check_digits(who, a, total, axes)
    total = _with_initial(who, total, initial, combine)
    if dtype is not None and config.settings().sanitize:
        check_cast(who, total, result)
    total = astype(total, result)
    return keep_axes(total, shape, axes, keepdims)


@described(
    "The sum of elements. Small integers are added in the default width, 16-bit floats in float32.",
    "xnp.sum(xnp.ones((2, 3)), axis=0) → Array([2., 2., 2.], dtype=float32)",
)
def sum(
    a,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=None,
    promote_integers=True,
):
    return _folded("sum", ops.reduce_sum, ops.add, 0, a, axis, dtype, out, keepdims, initial, where,
                   promote_integers)  # fmt: skip


@described(
    "The product of elements. Small integers are multiplied in the default width.",
    "xnp.prod(xnp.arange(1, 5)) → Array(24, dtype=int32)",
)
def prod(
    a,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=None,
    promote_integers=True,
):
    return _folded("prod", ops.reduce_prod, ops.mul, 1, a, axis, dtype, out, keepdims, initial, where,
                   promote_integers)  # fmt: skip


# Extrema


def _extremum(name, op, combine, neutral, a, axis, out, keepdims, initial, where):
    who = f"numpy.{name}"
    no_out(who, out)
    a = as_array(who, a)
    if where is not None and initial is None:
        raise errors.bad_argument(who, "initial", None, "given together with where")
    a = masked(who, a, where, neutral(typeof(a).dtype) if where is not None else None)
    shape = typeof(a).shape
    axes = axes_of(who, axis, len(shape))
    if initial is None and not math.prod(shape[i] for i in axes):
        raise errors.bad_argument(
            who,
            "a",
            a,
            f"an array with elements along axes {axes}",
            "Give initial for the result of none.",
        )
    reduce = _complex_extremum if dtypes.is_complex(typeof(a).dtype) else _with_nan
    top = _with_initial(who, reduce(op, a, axes, neutral), initial, combine)
    return keep_axes(top, shape, axes, keepdims)


def _with_nan(op, a, axes, neutral):
    return op(a, axes=axes) if axes else a


def _complex_extremum(op, a, axes, neutral):
    """By real part, then imaginary part, as NumPy orders complex numbers; NaN wins."""
    if not axes:
        return a
    re, im = ops.real(a), ops.imag(a)
    kept = tuple(i for i in range(typeof(a).ndim) if i not in axes)
    top = op(re, axes=axes)
    at_top = ops.eq(re, ops.broadcast_in_dim(top, shape=typeof(a).shape, dims=kept))
    low = ops.full_like_type(typeof(im).strong(), neutral(typeof(im).dtype))
    nan = ops.ne(im, im)
    second = op(ops.select(ops.or_(at_top, nan), im, low), axes=axes)
    bad = ops.or_(ops.ne(top, top), ops.ne(second, second))
    nans = ops.full_like_type(typeof(top), math.nan)
    return ops.complex(ops.select(bad, nans, top), ops.select(bad, nans, second))


def _complex_neutral(pick):
    return lambda d: pick(dtypes.to_real(d)) * (1 + 1j) if dtypes.is_complex(d) else pick(d)


@described(
    "The largest element; NaN if there is one.",
    "xnp.max(xnp.arange(5)) → Array(4, dtype=int32)",
    initial="a number that takes part; the result of no elements.",
)
def max(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return _extremum(
        "max", ops.reduce_max, pick_of_two(ops.max, ops.gt), _complex_neutral(lowest),
        a, axis, out, keepdims, initial, where,
    )  # fmt: skip


@described(
    "The smallest element; NaN if there is one.",
    "xnp.min(xnp.arange(5)) → Array(0, dtype=int32)",
    initial="a number that takes part; the result of no elements.",
)
def min(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    return _extremum(
        "min", ops.reduce_min, pick_of_two(ops.min, ops.lt), _complex_neutral(highest),
        a, axis, out, keepdims, initial, where,
    )  # fmt: skip


amax, amin = max, min


@described(
    "The largest element minus the smallest one.",
    "xnp.ptp(xnp.asarray([3, 7, 5])) → Array(4, dtype=int32)",
)
def ptp(a, axis=None, out=None, keepdims=False):
    no_out("numpy.ptp", out)
    return max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims)


def _arg_extremum(name, op, pick, a, axis, out, keepdims):
    who = f"numpy.{name}"
    no_out(who, out)
    a = as_array(who, a)
    shape = typeof(a).shape
    if axis is None:
        a = ops.reshape(a, shape=(typeof(a).size,))
    axis = one_axis(who, 0 if axis is None else axis, typeof(a).ndim)
    if not typeof(a).shape[axis]:
        raise errors.bad_argument(
            who, "a", a, "an array with elements along the axis",
            f"This is an attempt to get {name} of an empty sequence.",
        )  # fmt: skip
    where = dtypes.default_dtype("int")
    if dtypes.is_complex(typeof(a).dtype):
        top = pick(a, axis=axis, keepdims=True)
        top = broadcast_to(top, typeof(a).shape)
        hit = ops.or_(ops.eq(a, top), ops.ne(a, a))
        found = ops.argmax(hit, axis=axis, dtype=where)
    else:
        found = op(a, axis=axis, dtype=where)
    if not keepdims:
        return found
    gone = range(len(shape)) if typeof(a).ndim != len(shape) else (axis,)
    return keep_axes(found, shape, gone, True)


@described(
    "The position of the largest element (the first of equal ones; a NaN counts as largest).",
    "xnp.argmax(xnp.asarray([1, 3, 2])) → Array(1, dtype=int32)",
    axis="along which; None counts in the flattened array.",
)
def argmax(a, axis=None, out=None, keepdims=False):
    return _arg_extremum("argmax", ops.argmax, max, a, axis, out, keepdims)


@described(
    "The position of the smallest element (the first of equal ones; a NaN counts as smallest).",
    "xnp.argmin(xnp.asarray([3, 1, 2])) → Array(1, dtype=int32)",
    axis="along which; None counts in the flattened array.",
)
def argmin(a, axis=None, out=None, keepdims=False):
    return _arg_extremum("argmin", ops.argmin, min, a, axis, out, keepdims)


# Logic and counts


def _truth_reduction(name, op, neutral, a, axis, out, keepdims, where):
    who = f"numpy.{name}"
    no_out(who, out)
    a = masked(who, astype(as_array(who, a), dtypes.bool_), where, neutral)
    shape = typeof(a).shape
    axes = axes_of(who, axis, len(shape))
    return keep_axes(op(a, axes=axes), shape, axes, keepdims)


@described(
    "Whether all elements are true (not zero).",
    "xnp.all(xnp.arange(3)) → Array(False, dtype=bool)",
)
def all(a, axis=None, out=None, keepdims=False, *, where=None):
    return _truth_reduction("all", ops.reduce_and, True, a, axis, out, keepdims, where)


@described(
    "Whether any element is true (not zero).",
    "xnp.any(xnp.arange(3)) → Array(True, dtype=bool)",
)
def any(a, axis=None, out=None, keepdims=False, *, where=None):
    return _truth_reduction("any", ops.reduce_or, False, a, axis, out, keepdims, where)


@described(
    "How many elements are not zero.",
    "xnp.count_nonzero(xnp.arange(3)) → Array(2, dtype=int32)",
)
def count_nonzero(a, axis=None, keepdims=False):
    return sum(astype(as_array("numpy.count_nonzero", a), dtypes.bool_), axis, keepdims=keepdims)
