"""Running sums and products along an axis."""

from __future__ import annotations

from .. import _ops as ops
from .._core import ArrayType, config, dtypes, errors, typeof
from ._docstrings import ONE_AXIS, described
from ._promote import as_array, astype, broadcast_to, no_out, one_axis
from ._reduce import accumulator, summed_dtype
from ._sanitize import check_cast


def _accumulated(name, op, a, axis, dtype, out, promote=False):
    """cumsum and cumprod: the running totals along an axis; None flattens."""
    who = f"numpy.{name}"
    no_out(who, out)
    a = as_array(who, a)
    result = summed_dtype(typeof(a), dtype, promote)
    if axis is None or not typeof(a).ndim:  # as NumPy: a vector of one element
        a = ops.reshape(a, shape=(typeof(a).size,))
    axis = one_axis(who, 0 if axis is None else axis, typeof(a).ndim)
    if result == dtypes.bool_:
        return (ops.cummax if op is ops.cumsum else ops.cummin)(astype(a, result), axis=axis)
    work = accumulator(result)
    out = op(astype(a, work), axis=axis)
    if dtype is not None and config.settings().sanitize:
        check_cast(who, a, work)
        check_cast(who, out, result)
    return astype(out, result)


@described(
    "Running sums Σ_(j≤i) a_j along an axis.",
    "xnp.cumsum(xnp.arange(4)) → Array([0, 1, 3, 6], dtype=int32)",
    axis=ONE_AXIS,
)
def cumsum(a, axis=None, dtype=None, out=None):
    return _accumulated("cumsum", ops.cumsum, a, axis, dtype, out)


@described(
    "Running products along an axis.",
    "xnp.cumprod(xnp.arange(1, 5)) → Array([ 1,  2,  6, 24], dtype=int32)",
    axis=ONE_AXIS,
)
def cumprod(a, axis=None, dtype=None, out=None):
    return _accumulated("cumprod", ops.cumprod, a, axis, dtype, out)


def _cumulative(name, op, neutral, x, axis, dtype, include_initial):
    x = as_array(f"numpy.{name}", x)
    if not typeof(x).shape:  # the same
        x = ops.reshape(x, shape=(1,))
    t = typeof(x)
    if axis is None and t.ndim != 1:
        raise errors.bad_argument(
            f"numpy.{name}", "axis", None, f"given for an array of {t.ndim} axes"
        )
    axis = one_axis(f"numpy.{name}", 0 if axis is None else axis, t.ndim)
    out = _accumulated(name, op, x, axis, dtype, None, promote=True)
    if not include_initial:
        return out
    shape = tuple(1 if i == axis else n for i, n in enumerate(t.shape))
    first = ops.full_like_type(ArrayType(shape, typeof(out).dtype), neutral)
    return ops.concatenate(broadcast_to(first, shape), out, axis=axis)


@described(
    "Running sums along an axis; small integers are added in the default width.",
    "xnp.cumulative_sum(xnp.arange(3), include_initial=True) → Array([0, 0, 1, 3], dtype=int32)",
    axis="which axis; may be left out for a vector.",
    include_initial="start with the sum of nothing, 0.",
)
def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumulative_sum", ops.cumsum, 0, x, axis, dtype, include_initial)


@described(
    "Running products along an axis; small integers are multiplied in the default width.",
    "xnp.cumulative_prod(xnp.arange(1, 4)) → Array([1, 2, 6], dtype=int32)",
    axis="which axis; may be left out for a vector.",
    include_initial="start with the product of nothing, 1.",
)
def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumulative_prod", ops.cumprod, 1, x, axis, dtype, include_initial)
