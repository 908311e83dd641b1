"""log, exp, tan and arctan that round the same wherever an element stands.

XLA's float32 log and exp add two products, which the compiler fuses into one multiply-add or the
other depending on how many elements a loop has; tan and arctan depend on it too. So a number drawn
alone could differ in its last bit from the same number drawn among others. Here no two products are
added; in float64 XLA's log and exp round alike everywhere.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes, trace_closed, typeof
from .._ops.families import FLOATS, elementwise


def _reproducible(name: str, in_float32, otherwise, slope):
    """An operation computed by ``in_float32`` for float32 and by ``otherwise`` for other dtypes."""

    def lower(ctx, x):
        return ctx.call_program(
            trace_closed(lambda v: [in_float32(v)], [ctx.out_types[0].strong()], name), [x]
        )[0]

    op = elementwise(f"steady_{name}", kinds=FLOATS, lower=lower, jvp=slope)

    def f(x):
        return op(x) if typeof(x).dtype == dtypes.float32 else otherwise(x)

    return f


def _polynomial(x, coefficients):
    total = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


# (log(1 + r) - r) / r² between √½ - 1 and √2 - 1, (e^r - 1 - r) / r² where |r| < log(2) / 2: both
# fitted to least error relative to log(1 + r) and e^r, 4e-9 and 3e-9.
_LOG = (-0.076241672, 0.129073575, -0.132434681, 0.141813964, -0.166089743, 0.200019926, -0.250015885,
        0.333333254, -0.499999881)  # fmt: skip
_EXP = (0.00138145685, 0.00836873055, 0.041668389, 0.166665211, 0.49999994, 1.0)
_LN2 = 0.693359375, -2.12194440e-4  # the first has so few bits that its multiples are exact
_ROOT_HALF = 0x3F3504F3  # √½ as a float32


def _log(x):
    """log x = e log 2 + log(1 + r) with 1 + r between √½ and √2."""
    bits = ops.bitcast_convert(x, dtype=dtypes.int32)
    above = bits - _ROOT_HALF
    e = xnp.right_shift(above, 23)
    r = ops.bitcast_convert(bits - xnp.left_shift(e, 23), dtype=dtypes.float32) - 1
    tail = _polynomial(r, _LOG) * (r * r)
    e = ops.convert(e, dtype=dtypes.float32)
    log = e * np.float32(_LN2[0] + _LN2[1]) + (r + tail)
    log = xnp.where((x > 0) & (x < np.inf), log, xnp.where(x > 0, x, np.nan))
    return xnp.where(x < dtypes.finfo(dtypes.float32).tiny, xnp.where(x >= 0, -np.inf, log), log)


def _exp(x):
    """e^x = 2^n e^r with |r| < log(2) / 2."""
    inside = xnp.clip(x, -105, 90)
    n = xnp.round(inside * np.float32(1 / math.log(2)))
    r = (inside - n * np.float32(_LN2[0])) - n * np.float32(_LN2[1])
    n = ops.convert(n, dtype=dtypes.int32)
    half = xnp.right_shift(n, 1)
    e = 1 + r * _polynomial(r, _EXP)
    return e * _power_of_2(half) * _power_of_2(n - half)


def _power_of_2(n):
    return ops.bitcast_convert(xnp.left_shift(n + 127, 23), dtype=dtypes.float32)


log = _reproducible("log", _log, xnp.log, lambda g, y, x: ops.div(g, x))
exp = _reproducible("exp", _exp, xnp.exp, lambda g, y, x: ops.mul(g, y))


def arctan(x):
    """arctan of a float: reduced to |s| < tan(π/8), then its series."""
    size = xnp.abs(x)
    steep = size > 1
    size = xnp.where(steep, 1 / size, size)
    upper = size > math.tan(math.pi / 8)
    s = xnp.where(upper, (size - 1) / (size + 1), size)
    terms = 9 if typeof(x).dtype == dtypes.float32 else 21
    series = _polynomial(-(s * s), [1 / (2 * n + 1) for n in reversed(range(terms))])
    quarter = typeof(x).dtype.type(math.pi / 4)
    angle = xnp.where(upper, quarter, 0) + s * series
    angle = xnp.where(steep, 2 * quarter - angle, angle)
    return xnp.where(x < 0, -angle, angle)


def _tangent_series(terms: int, scale: float) -> list[float]:
    """The coefficients of tan(scale x) / x in x², from tan' = 1 + tan²; the last comes first."""
    c = [1.0]
    for n in range(1, terms):
        c.append(sum(c[i] * c[n - 1 - i] for i in range(n)) / (2 * n + 1))
    return [a * scale ** (2 * n + 1) for n, a in reversed(list(enumerate(c)))]


def tan_pi(x):
    """tan(πx) for x in (-1/2, 1/2), from half the angle or half of what it lacks to a right one."""
    size = xnp.abs(x)
    steep = size > 0.25
    s = xnp.where(steep, 0.5 - size, size)
    terms = 7 if typeof(x).dtype == dtypes.float32 else 15
    t = s * _polynomial(s * s, _tangent_series(terms, math.pi / 2))
    sine, cosine = 2 * t, 1 - t * t
    above, below = xnp.where(steep, cosine, sine), xnp.where(steep, sine, cosine)
    # XLA computes what is behind a quotient that is used twice in two loops
    return xnp.where(x < 0, -above, above) / below
