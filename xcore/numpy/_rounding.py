"""Rounding, limits, and divisors of whole numbers, element by element."""

from __future__ import annotations

import builtins
import operator

import numpy as np

from .. import _ops as ops
from .._control import while_loop
from .._core import dtypes, errors, fused, typeof
from ._elementwise import binary, bool_to_int, floor_remainder, unary
from ._promote import as_array, as_arrays, astype, broadcast_to, no_out

# Rounding


def _rounding(name: str, op, doc: str, example: str):
    """Integers are whole already; complex numbers have no order to round in."""

    def on_values(x):
        return op(x) if dtypes.kind(typeof(x).dtype) == "float" else x

    return unary(
        name, on_values, doc, example, inexact=False, kinds={"bool", "int", "uint", "float"}
    )


# fmt: off
floor = _rounding("floor", ops.floor, "The largest whole number not above x.",
    "xnp.floor(xnp.asarray([-1.5, 1.5])) → Array([-2.,  1.], dtype=float32)")
ceil = _rounding("ceil", ops.ceil, "The smallest whole number not below x.",
    "xnp.ceil(xnp.asarray([-1.5, 1.5])) → Array([-1.,  2.], dtype=float32)")
trunc = _rounding("trunc", ops.trunc, "x rounded toward zero.",
    "xnp.trunc(xnp.asarray([-1.5, 1.5])) → Array([-1.,  1.], dtype=float32)")
# fmt: on


def fix(x, out=None):
    """x rounded toward zero.

    Args:
      x: array.
      out: must be None: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.fix(xnp.asarray([-1.5, 1.5]))
    Array([-1.,  1.], dtype=float32)
    """
    no_out("numpy.fix", out)
    return trunc(x)


def _round_parts(x):
    if dtypes.is_complex(typeof(x).dtype):
        return ops.complex(ops.round_even(ops.real(x)), ops.round_even(ops.imag(x)))
    return ops.round_even(x)


rint = unary("rint", _round_parts, "The nearest whole number; of two, the even one.",
    "xnp.rint(xnp.asarray([0.5, 1.5])) → Array([0., 2.], dtype=float32)")  # fmt: skip


# no number has a digit behind so many decimals, and none has so many before the point
_PLACES = {dtypes.float32: 45, dtypes.float64: 324}


@fused(1)
def round(a, decimals=0, out=None):
    """Rounded to a number of decimals; halves go to the even neighbour.

    Args:
      a: array.
      decimals: how many; negative ones round to tens, hundreds, ...
      out: must be None: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.round(xnp.asarray([1.25, 2.675]), 1)
    Array([1.2, 2.7], dtype=float32)
    """
    no_out("numpy.round", out)
    a, decimals = as_array("numpy.round", a), operator.index(decimals)
    dtype = typeof(a).dtype
    a = ops.stop_gradient(a)  # a step has derivative zero
    if not dtypes.is_inexact(dtype):
        return a if decimals >= 0 or dtype == bool else _round_integers(a, 10**-decimals)
    if not decimals:
        return _round_parts(a)
    work = astype(a, dtypes.float32) if dtype.itemsize < 4 else a
    places = _PLACES[dtypes.to_real(typeof(work).dtype)]
    if decimals > places:
        return a
    if decimals < -places:  # to units that none reaches half of
        return ops.mul(a, ops.zeros(typeof(a)))
    # behind the barrier. quirk: DIVIDES_BY_RECIPROCAL
    with np.errstate(over="ignore"):
        unit = np.float64(10.0) ** builtins.abs(decimals)
        (scale,) = ops.optimization_barrier(unit.astype(typeof(work).dtype))
    scale = broadcast_to(scale, typeof(work).shape)
    up, down = (ops.mul, ops.div) if decimals > 0 else (ops.div, ops.mul)
    out = down(_round_parts(up(work, scale)), scale)
    # numbers whose scaled digits end before the point stay as they are, also if scaling overflows
    size = ops.abs(up(work, scale))
    whole = 2.0 ** dtypes.finfo(typeof(size).dtype).nmant
    kept = ops.lt(size, ops.full_like_type(typeof(size), whole))
    return astype(ops.select(kept, out, work) if decimals > 0 else out, dtype, typeof(a).weak)


def _round_integers(a, unit: int):
    t = typeof(a)
    if unit > dtypes.iinfo(t.dtype).max:
        return ops.zeros(t)
    unit = ops.full_like_type(t, unit)
    rest = floor_remainder(a, unit)
    low, to_next = ops.sub(a, rest), ops.sub(unit, rest)
    odd = ops.ne(ops.and_(ops.div(low, unit), ops.ones(t)), ops.zeros(t))
    goes_up = ops.or_(ops.gt(rest, to_next), ops.and_(ops.eq(rest, to_next), odd))
    return ops.select(goes_up, ops.add(low, unit), low)


def around(a, decimals=0, out=None):
    """Rounded to a number of decimals: ``round`` under its older name.

    Args:
      a: array.
      decimals: int; digits after the point; negative ones round to tens, hundreds, ….
      out: must be None: arrays are immutable.

    >>> import xcore.numpy as xnp
    >>> xnp.around(1.26, 1)
    Array(1.3, dtype=float32, weak_type=True)
    """
    return round(a, decimals, out)


def _under_one_name(who: str, name: str, value, older):
    if value is not None and older is not None:
        raise errors.bad_argument(who, f"a_{name}", older, f"left out where {name} is given")
    return older if value is None else value


def _limit(x, limit, name: str):
    """None for a Python int beyond the range of the array's dtype: such a limit changes nothing."""
    dtype = getattr(x, "dtype", None)
    if type(limit) is not int or dtype is None or not dtypes.is_integer(dtype):
        return limit
    end = getattr(dtypes.iinfo(dtype), name)
    return None if (limit <= end if name == "min" else limit >= end) else limit


@fused(5)
def clip(arr=None, /, min=None, max=None, a_min=None, a_max=None):
    """Elements limited to an interval.

    Args:
      arr: array.
      min, max: the limits, numbers or arrays; None for no limit. Where min > max, the result is max.
      a_min, a_max: the same under NumPy's older names.

    >>> import xcore.numpy as xnp
    >>> xnp.clip(xnp.arange(5), 1, 3)
    Array([1, 1, 2, 3, 3], dtype=int32)
    """
    if arr is None:
        raise TypeError("xcore.numpy.clip: the array is missing.")
    who = "numpy.clip"
    min, max = _under_one_name(who, "min", min, a_min), _under_one_name(who, "max", max, a_max)
    min, max = _limit(arr, min, "min"), _limit(arr, max, "max")
    given = [x for x in (arr, min, max) if x is not None]
    values = as_arrays(who, *given, kinds={"bool", "int", "uint", "float"})
    x = values[0]
    if min is not None:
        x = ops.max(x, values[1])
    return ops.min(x, values[-1]) if max is not None else x


# Whole numbers


def _gcd_values(x, y):
    """Euclid's algorithm on all pairs at once, until the last has finished."""

    def any_left(pair):
        left = ops.ne(pair[1], ops.zeros(typeof(pair[1])))
        return ops.reduce_or(left, axes=tuple(range(typeof(left).ndim)))

    def step(pair):
        x, y = pair
        done = ops.eq(y, ops.zeros(typeof(y)))
        return ops.select(done, x, y), ops.rem(ops.select(done, y, x), y)

    return ops.abs(while_loop(any_left, step, (x, y))[0])


def _lcm_values(x, y):
    x, y = ops.abs(x), ops.abs(y)
    divisor = ops.max(_gcd_values(x, y), ops.ones(typeof(x)))
    return ops.mul(x, ops.div(y, divisor))


_INTEGERS = {"bool", "int", "uint"}
# fmt: off
gcd = binary("gcd", bool_to_int(_gcd_values), "Greatest common divisor.",
    "xnp.gcd(12, xnp.asarray([8, 9])) → Array([4, 3], dtype=int32)", kinds=_INTEGERS)
lcm = binary("lcm", bool_to_int(_lcm_values), "Least common multiple.",
    "xnp.lcm(12, xnp.asarray([8, 9])) → Array([24, 36], dtype=int32)", kinds=_INTEGERS)
# fmt: on
