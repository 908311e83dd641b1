"""What formulas in float64 are written with: constants, choices, polynomials, careful elementary functions.

The compiler simplifies exp(a) exp(b) to exp(a + b) and (x - c) - d to x - (c + d) for constants c, d
(quirk: REASSOCIATES).
Where the point of a formula is not to do that, it is written in another way, and says so.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _ops as ops
from .._core import ArrayType, dtypes, typeof
from ..numpy._promote import astype


def full(x, value: float):
    """``value`` in the shape of x."""
    return ops.full_like_type(typeof(x).strong(), value)


def where(condition, x, y):
    """x where the condition holds, else y; Python numbers stand for (weak) arrays of them."""
    types = [typeof(v) for v in (x, y) if not isinstance(v, float)]
    strong = [t.dtype for t in types if not t.weak]
    t = ArrayType(typeof(condition).shape, strong[0] if strong else dtypes.float64, not strong)
    return ops.select(condition, _of_type(x, t), _of_type(y, t))


def _of_type(x, t):
    return ops.full_like_type(t, x) if isinstance(x, float) else astype(x, t.dtype, t.weak)


def together(f, *calls) -> list:
    """``[f(*call) for call in calls]`` with one copy of f in the program: long text compiles slowly."""
    stacked = [_stack(xs) for xs in zip(*calls, strict=True)]
    out = f(*stacked)
    if isinstance(out, tuple):
        return list(zip(*[_unstack(x, len(calls)) for x in out], strict=True))
    return _unstack(out, len(calls))


def _stack(xs):
    t = typeof(xs[0])
    return ops.concatenate(*[ops.reshape(x, shape=(1, *t.shape)) for x in xs], axis=0)


def _unstack(x, count):
    shape = typeof(x).shape[1:]
    rest, ones = (0,) * len(shape), (1,) * (len(shape) + 1)
    rows = [
        ops.slice(x, start=(i, *rest), limit=(i + 1, *shape), strides=ones) for i in range(count)
    ]
    return [ops.reshape(row, shape=shape) for row in rows]


def horner(x, coefficients):
    """Σ c_k x^k, the lowest power first."""
    *rest, last = coefficients
    total = full(x, last)
    for c in reversed(rest):
        total = total * x + c
    return total


def rational(x, pair):
    """A quotient of polynomials."""
    return horner(x, pair[0]) / horner(x, pair[1])


def root_factor(x, root: float, rest: float, slope):
    """(x - z) slope for a zero z = root + rest that is known to twice the precision.

    The compiler would join the two constants in (x - root) - rest, hence the two products.
    """
    near = float(typeof(x).dtype.type(root))
    return (x - near) * slope - (rest + (root - near)) * slope


def whole(x):
    """Whether x is a whole number."""
    return ops.eq(x, ops.floor(x))


def odd(x):
    """Whether a whole number is odd."""
    half = x * 0.5
    return ops.ne(half, ops.floor(half))


def halves(x):
    """x as a sum of two numbers of at most 27 significant bits."""
    bits = ops.bitcast_convert(x, dtype=np.dtype(np.uint64))
    mask = ops.full_like_type(typeof(bits), 2**64 - 2**27)
    upper = ops.bitcast_convert(ops.and_(bits, mask), dtype=dtypes.float64)
    return upper, x - upper


def product_error(x, y, product):
    """x y - product for product = x * y as rounded, exactly (Dekker)."""
    (a, b), (c, d) = halves(x), halves(y)
    return ((a * c - product) + a * d + b * c) + b * d


def sin_pi(x):
    """sin(πx), exactly zero at whole numbers."""
    r = x - 2.0 * ops.round_even(x * 0.5)
    folded = where(ops.abs(r) > 0.5, ops.sign(r) - r, r)
    return ops.sin(folded * math.pi)


def cos_pi(x):
    """cos(πx), exactly zero halfway between whole numbers."""
    r = x - 2.0 * ops.round_even(x * 0.5)
    r = where(r < 0.0, -r, r)  # no |r|, whose slope at 0 is 0
    return ops.sin((0.5 - r) * math.pi)


# fmt: off
# (atanh(√s)/√s - 1)/s on [0, 1/9]
_ATANH = (
    (0.3333333333333333, -0.5825392568743192, 0.3055709376115584, -0.04609112642968432,
     0.00026403588128966844),
    (1.0, -2.3476177706229575, 1.8967120466369656, -0.6035120389041604, 0.05983472350644069))
# fmt: on


def log1p_excess(t):
    """(t - log(1 + t)) / t² for t in [-1/2, 1], smooth at 0."""
    # with z = t/(2 + t), log(1 + t) = 2 atanh z and t - 2z = z t
    w = 2.0 + t
    return (1.0 - 2.0 * (t / (w * w)) * rational((t / w) * (t / w), _ATANH)) / w


def log1p_minus(t):
    """log(1 + t) - t without cancellation near 0."""
    near = ops.and_(t > -0.5, t < 1.0)
    u = where(near, t, 0.0)
    return where(near, -u * u * log1p_excess(u), ops.log(1.0 + t) - t)


def log1p(t):
    """log(1 + t). The compiler's own is off by a hundred units of the last place near -0.4."""
    near = ops.and_(t > -0.5, t < 1.0)
    return where(near, t + log1p_minus(where(near, t, 0.0)), ops.log(1.0 + t))


def exp_sum(x, small):
    """exp(x + small) where the rounding of the sum would show."""
    first = ops.exp(x)
    return where(first == math.inf, math.inf, first + first * ops.expm1(small))


def exp_square(x, factor: float):
    """exp(factor x²) to a few units of the last place although x² is rounded.

    x = h + r with h on a grid so wide that h² is exact.
    """
    x = ops.min(ops.abs(x), full(x, 60.0))
    grid = 1024.0 if typeof(x).dtype == dtypes.float64 else 32.0
    h = ops.round_even(x * grid) * (1.0 / grid)
    return exp_sum(factor * (h * h), factor * ((x - h) * (x + h)))
