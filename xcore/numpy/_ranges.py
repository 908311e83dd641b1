"""Numbers in a row: evenly spaced, at a constant ratio, and the grids that they span."""

from __future__ import annotations

import math
import operator

import numpy as np

from .. import _ops as ops
from .._core import config, dtypes, errors, from_numpy, fused, is_evaluating, one_of, typeof
from ._creation import cast_on_host
from ._placement import on_device, placement
from ._promote import (
    SCALARS,
    as_array,
    as_value,
    astype,
    broadcast_to,
    concrete,
    inexact_dtype,
    one_axis,
    result_dtype,
)  # fmt: skip
from ._sanitize import check_cast


def arange(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None):
    """Numbers from start (included) to stop (excluded), step apart.

    Args:
      start, stop, step: concrete numbers; with one, it is the stop and the start is 0.
      dtype: defaults to what the numbers promote to.
      device, out_sharding: where the array shall live: a device or a sharding.

    >>> import xcore.numpy as xnp
    >>> xnp.arange(2, 8, 2)
    Array([2, 4, 6], dtype=int32)
    """
    device = placement("numpy.arange", device, out_sharding)
    if start is None:
        raise errors.bad_argument("numpy.arange", "start", None, "a number")
    if stop is None:
        start, stop = 0, start
    given = [as_value("numpy.arange", x) for x in (start, stop, step) if x is not None]
    wanted = result_dtype("numpy.arange", *given)[0] if dtype is None else dtypes.as_dtype(dtype)
    start, stop, step = (
        concrete("numpy.arange", x) for x in (start, stop, 1 if step is None else step)
    )
    if step == 0:
        raise ZeroDivisionError("xcore.numpy.arange: step must be different from 0.")
    if all(isinstance(x, (int, np.integer)) for x in (start, stop, step)) and dtypes.is_integer(
        wanted
    ):
        return on_device(
            _steps(len(range(int(start), int(stop), int(step))), int(start), int(step), wanted),
            device,
        )
    host = np.arange(start, stop, step, wanted if wanted.kind in "fc" else None)
    return on_device(from_numpy(cast_on_host(host, wanted)), device)


def _steps(n: int, start: int, step: int, dtype):
    if is_evaluating() and n < _ON_HOST:
        return from_numpy(cast_on_host(np.arange(start, start + n * step, step), dtype), copy=False)
    return _count(n, start, step, dtype)


@fused(0)
def _count(n, start, step, dtype):
    out = ops.iota(shape=(n,), dtype=dtype, axis=0)
    t = typeof(out)
    if step != 1:
        out = ops.mul(out, ops.full_like_type(t, step))
    return ops.add(out, ops.full_like_type(t, start)) if start else out


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Numbers evenly spaced from start to stop.

      x_k = a + k (b - a) / (n - 1)

    for k = 0, …, n - 1 between a and b, over n in place of n - 1 without the end point.

    Args:
      start, stop: the ends; arrays give one range for each of their elements.
      num: how many numbers.
      endpoint: whether stop is the last of them.
      retstep: also return the spacing.
      dtype: of the result; the default float if not given. Integers are rounded down, exactly
        where the ends are Python integers.
      axis: where the numbers go in the result.
      device: where the array shall live.

    >>> import xcore.numpy as xnp
    >>> xnp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    num = concrete("numpy.linspace", num)
    num = operator.index(num)
    if num < 0:
        raise errors.bad_argument("numpy.linspace", "num", num, "0 or more")
    real, wanted, work = _range_dtypes("numpy.linspace", (start, stop), dtype)
    ends = _in_full_precision((start, stop), work)
    whole = dtypes.is_integer(wanted)
    exact = whole and type(start) is type(stop) is int
    quick = isinstance(ends[0], np.ndarray) and is_evaluating() and num < _ON_HOST
    if exact or (quick and not whole):
        values, step = _spaced_on_host(*ends, num, bool(endpoint))
        values = _spaced_exactly(start, stop, num, bool(endpoint)) if exact else values
        out = from_numpy(cast_on_host(values, wanted))
        step = from_numpy(cast_on_host(np.asarray(step), real)) if retstep else None
    else:
        out, step = _linspace(ends, num, bool(endpoint), real, wanted, axis)
    out = on_device(out, device)
    if retstep and num < (2 if endpoint else 1):  # of no gap the width is not known
        step = from_numpy(cast_on_host(np.asarray(np.nan), real))
    return (out, step) if retstep else out


def _range_dtypes(who: str, ends, dtype) -> tuple:
    """The dtype that the ends have as inexact numbers, that of the result, and that to compute in."""
    found, weak = result_dtype(who, *[as_value(who, x) for x in ends])
    real = inexact_dtype(found, weak) if not dtypes.is_inexact(found) else found
    wanted = real if dtype is None else dtypes.as_dtype(dtype)
    return real, wanted, _working(real, wanted)


def _in_full_precision(ends, work) -> tuple:
    """Ends that are Python numbers as doubles, so that ranges are rounded once; others as they are."""
    if not all(type(x) in SCALARS for x in ends):
        return tuple(as_array("numpy.linspace", x, dtype=work) for x in ends)
    return tuple(
        np.asarray(x, "complex128" if dtypes.is_complex(work) else "float64") for x in ends
    )


@fused(1)
def _linspace(ends, num, endpoint, real, wanted, axis):
    start, stop = ends
    gaps = num - 1 if endpoint else num
    out, step = _spaced(start, stop, num, gaps, endpoint, typeof(start).dtype)
    if dtypes.is_integer(wanted):
        out = _rounded_down(out, start, stop)
    out = _cast("linspace", out, wanted)
    axis = one_axis("numpy.linspace", axis, typeof(out).ndim)
    return ops.move_axis(out, 0, axis), astype(step, real)


def _working(real, wanted):
    """The dtype to compute in: wide enough for the result, integers included."""
    if dtypes.is_integer(wanted) or wanted == dtypes.float64:
        return dtypes.complex128 if dtypes.is_complex(real) else dtypes.float64
    if real.itemsize < 4:
        return dtypes.float32
    return dtypes.complex64 if dtypes.is_complex(wanted) and not dtypes.is_complex(real) else real


_ON_HOST = 65536  # a range as long as that is faster made than sent


def _weights(num: int, gaps: int):
    """The weights of stop and start at each of the numbers."""
    i, gaps = np.arange(num), max(gaps, 1)
    return i / gaps, (gaps - i) / gaps


def _spaced_on_host(start, stop, num: int, endpoint: bool):
    gaps = num - 1 if endpoint else num
    with np.errstate(all="ignore"):
        step = (stop - start) / (gaps if gaps > 0 else math.nan)
        if np.isfinite(stop - start):  # the very numbers of NumPy: 0 where they pass through it
            return np.linspace(start, stop, num, endpoint), step
        late, early = _weights(num, gaps)
        return start * early + stop * late, step


def _spaced_exactly(start: int, stop: int, num: int, endpoint: bool) -> np.ndarray:
    """start + ⌊i (stop - start) / gaps⌋ of Python ints, modulo 2⁶⁴."""
    gaps = max(num - 1 if endpoint else num, 1)
    quotient, rest = divmod(stop - start, gaps)
    i = np.arange(num, dtype="uint64")
    return i * np.uint64(quotient % 2**64) + i * rest // gaps + np.uint64(start % 2**64)


def _spaced(start, stop, num, gaps, endpoint, dtype):
    """start + i step, exact at both ends and where NumPy's numbers are, and the spacing. Of ends so far apart
    that their difference is no number: start (1 - i/gaps) + stop i/gaps.
    """
    start, stop = start + ops.zeros(typeof(stop)), stop + ops.zeros(typeof(start))
    shape = typeof(start).shape
    full = (num, *shape)
    late, early = (w.astype(dtype).reshape(num, *[1] * len(shape)) for w in _weights(num, gaps))
    count = np.arange(num).astype(dtype).reshape(late.shape)
    span = ops.sub(stop, start)
    step = ops.div(span, ops.full_like_type(typeof(span), max(gaps, 1)))
    a, b, d, h, late, early, count = (
        broadcast_to(x, full) for x in (start, stop, span, step, late, early, count)
    )
    none = ops.full_like_type(typeof(h), 0)
    way = ops.select(ops.eq(h, none), ops.mul(late, d), ops.mul(count, h))  # where h is too small
    far = ops.add(ops.mul(a, early), ops.mul(b, late))
    out = ops.select(ops.eq(ops.sub(d, d), none), ops.add(a, way), far)
    if endpoint and num > 1:
        out = ops.select(ops.eq(count, ops.full_like_type(typeof(count), gaps)), b, out)
    return out, step if gaps > 0 else ops.full_like_type(typeof(step), math.nan)


def _rounded_down(x, start, stop):
    """⌊x⌋, or the integer that x would be but for rounding errors."""
    size = ops.max(*(broadcast_to(ops.abs(end), typeof(x).shape) for end in (start, stop)))
    slack = ops.mul(size, ops.full_like_type(typeof(size), 4 * dtypes.finfo(typeof(x).dtype).eps))
    near = ops.round_even(x)
    return ops.select(ops.le(ops.abs(ops.sub(x, near)), slack), near, ops.floor(x))


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of a base whose exponents are evenly spaced.

    Args:
      start, stop: the first and last exponent.
      num, endpoint, axis: as in ``linspace``.
      base: a number, or an array that broadcasts with the ends.
      dtype: of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.logspace(0, 2, 3, base=2)
    Array([1., 2., 4.], dtype=float32)
    """
    # exponents are as precise as powers are asked for
    work = None if dtype is None else _range_dtypes("numpy.logspace", (start, stop), dtype)[2]
    exponents = linspace(start, stop, num, endpoint, dtype=work, axis=axis)
    base = base if type(base) in SCALARS else as_array("numpy.logspace", base)
    if type(base) not in SCALARS and typeof(base).ndim:
        exponents = linspace(
            start + 0 * base, stop + 0 * base, num, endpoint, dtype=work, axis=axis
        )
        base = ops.reshape(base, shape=_with_one(typeof(base).shape, axis, typeof(exponents).ndim))
    out = base**exponents  # pyright: ignore[reportOperatorIssue]
    return out if dtype is None else _cast("logspace", out, dtypes.as_dtype(dtype))


def _cast(name: str, out, dtype):
    if config.settings().sanitize:
        check_cast(f"numpy.{name}", out, dtype)
    return astype(out, dtype)


def _with_one(shape, axis, ndim):
    axis = one_axis("numpy.logspace", axis, ndim)
    return (*shape[:axis], 1, *shape[axis:])


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers from start to stop with a constant ratio.

      x_k = a (b/a)^(k/(n - 1))

    for k = 0, …, n - 1 between a and b, over n in place of n - 1 without the end point.

    Args:
      start, stop: the ends; not zero, and of one sign if real.
      num, endpoint, axis: as in ``linspace``.
      dtype: of the result.

    >>> import xcore.numpy as xnp
    >>> xnp.geomspace(1, 16, 5)
    Array([ 1.,  2.,  4.,  8., 16.], dtype=float32)
    """
    _, wanted, work = _range_dtypes("numpy.geomspace", (start, stop), dtype)
    ends = _in_full_precision((start, stop), work)
    num = operator.index(concrete("numpy.geomspace", num))
    if num < 0:
        raise errors.bad_argument("numpy.geomspace", "num", num, "0 or more")
    return _cast("geomspace", _geomspace(ends, num, bool(endpoint), axis), wanted)


@fused(1)
def _geomspace(ends, num, endpoint, axis):
    start, stop = ends
    dtype = typeof(start).dtype
    start, stop = start + ops.zeros(typeof(stop)), stop + ops.zeros(typeof(start))
    gaps = num - 1 if endpoint else num
    full = (num, *typeof(start).shape)
    number = np.arange(num).reshape(num, *[1] * len(typeof(start).shape))
    ratio = broadcast_to(ops.log(ops.div(stop, start)), full)
    steps = ops.mul(broadcast_to((number / max(gaps, 1)).astype(dtype), full), ratio)
    out = ops.mul(broadcast_to(start, full), ops.exp(steps))
    if endpoint and gaps > 0:  # the last one is the stop itself
        out = ops.select(broadcast_to(number == gaps, full), broadcast_to(stop, full), out)
    return ops.move_axis(out, 0, one_axis("numpy.geomspace", axis, len(full)))


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of the grid that vectors span, as a list.

    Args:
      *xi: 1-d arrays, the coordinates along each axis.
      copy: accepted for compatibility; results are never views.
      sparse: keep axes of length 1 instead of filling them.
      indexing: "xy" puts the first vector along the columns, "ij" along axis 0.

    >>> import xcore.numpy as xnp
    >>> x, y = xnp.meshgrid(xnp.arange(2), xnp.arange(3))
    >>> x
    Array([[0, 1],
           [0, 1],
           [0, 1]], dtype=int32)
    """
    one_of("numpy.meshgrid", "indexing", indexing, ("xy", "ij"), "'xy' or 'ij'")
    return list(_meshgrid(list(xi), bool(sparse), indexing == "xy")) if xi else []


@fused(1)
def _meshgrid(xi, sparse, swapped):
    xi = [as_array("numpy.meshgrid", x) for x in xi]
    if any(typeof(x).ndim > 1 for x in xi):
        raise errors.bad_argument("numpy.meshgrid", "each argument", xi[0], "1-d")
    n = len(xi)
    order = list(range(n))
    if swapped and n > 1:
        order[:2] = 1, 0
    sizes = [typeof(x).size for x in xi]
    full = tuple(sizes[i] for i in order)
    out = []
    for i, x in enumerate(xi):
        shape = tuple(sizes[i] if j == order[i] else 1 for j in range(n))
        x = ops.reshape(x, shape=shape)
        out.append(x if sparse else broadcast_to(x, full))
    return tuple(out)
