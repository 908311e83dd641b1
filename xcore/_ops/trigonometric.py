"""Cosine and sine transforms of types I to IV, over any axes.

With N points x_n, and sums over all n:

=====  ================================================  ==========================================
type   cosine                                            sine
=====  ================================================  ==========================================
I      x_0 + (-1)^k x_{N-1} + 2 Σ x_n cos(πkn/(N-1))      2 Σ x_n sin(π(k+1)(n+1)/(N+1))
II     2 Σ x_n cos(πk(2n+1)/2N)                          2 Σ x_n sin(π(k+1)(2n+1)/2N)
III    x_0 + 2 Σ x_n cos(π(2k+1)n/2N)                    (-1)^k x_{N-1} + 2 Σ x_n sin(π(2k+1)(n+1)/2N)
IV     2 Σ x_n cos(π(2k+1)(2n+1)/4N)                     2 Σ x_n sin(π(2k+1)(2n+1)/4N)
=====  ================================================  ==========================================

(type I of the cosine leaves both ends, type III the end that it names, out of the sum). Type III
undoes type II, the others undo themselves, up to the factor L = 2(N-1), 2N, 2(N+1) or 2N.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from .._core import ArrayType, dtypes, errors, trace_closed, typeof
from .._cpu.trigonometric import BY_SCIPY
from .dot import dot_general
from .elementwise import complex, convert, eq, imag, mul, neg, or_, real, select, sub
from .families import (
    add,
    broadcast_in_dim,
    constant,
    full_like_type,
    linear_op,
    zeros,
)  # fmt: skip
from .fft import fft
from .layout import concatenate, iota, pad, reshape, rev, slice, transpose
from .transcendental import cos, sin

INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}
_MATRIX_UP_TO = 64  # points: a product with the matrix is then faster than its factors


def period(kind: str, type: int, n: int) -> int:
    """The factor L of a transform and its inverse together."""
    if type != 1:
        return 2 * n
    return 2 * (n - 1) if kind == "DCT" else 2 * (n + 1)


def scale(kind: str, type: int, shape, axes, norm) -> float:
    """What a norm multiplies results by: 1, 1/L or its root."""
    if norm is None:
        return 1.0
    product = math.prod([period(kind, type, shape[i]) for i in axes])
    return 1 / product if norm == "forward" else 1 / math.sqrt(product)


def _trig_type(x, *, kind, type, axes, norm=None, orthogonalize=False):
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise errors.dtype_not_allowed("trig", x.dtype, "float32 and float64")
    if not axes or len(set(axes)) < len(axes) or not all(0 <= i < x.ndim for i in axes):
        raise errors.shape_mismatch("trig", f"cannot be transformed along axes {axes}", x=x)
    least = 2 if (kind, type) == ("DCT", 1) else 1
    if any(x.shape[i] < least for i in axes):
        raise errors.shape_mismatch("trig", f"need {least} points or more along {axes}", x=x)
    return [x.strong()]


# Ends of an axis
# With D = diag(1/√2 at the ends, 1 elsewhere), and matrices C of the plain and O of the
# "orthogonalized" transforms: C1 = D⁻¹ O1 D, C2 = D⁻¹ O2, C3 = O3 D. O1 is symmetric, O3 = O2ᵀ.


def _ends(kind: str, type: int, n: int) -> tuple:
    """Where the first and the last of types 1 to 3 have another weight."""
    if (kind, type) == ("DST", 1):
        return ()
    return (0, n - 1) if type == 1 else (0,) if kind == "DCT" else (n - 1,)


def _weight_ends(x, kind: str, type: int, axes, weight: float):
    """x with the first and last elements along axes multiplied by a weight."""
    t = typeof(x)
    for axis in axes:
        n = t.shape[axis]
        ends = _ends(kind, type, n)
        if not ends:
            continue
        place = iota(shape=(n,), dtype=dtypes.int32, axis=0)
        there = functools.reduce(
            or_, [eq(place, full_like_type(typeof(place), end)) for end in ends]
        )
        line = ArrayType((n,), t.dtype)
        weights = select(there, full_like_type(line, weight), full_like_type(line, 1))
        x = mul(x, broadcast_in_dim(weights, shape=t.shape, dims=(axis,)))
    return x


def _trig_transpose(ct, x, *, kind, type, axes, norm=None, orthogonalize=False):
    rest = {"axes": axes, "norm": norm, "orthogonalize": orthogonalize}
    back = INVERSE_TYPE[type]
    if orthogonalize:
        return trig(ct, kind=kind, type=back, **rest)
    # C1ᵀ = D² C1 D⁻², C2ᵀ = C3 D⁻², C3ᵀ = D² C2
    ct = _weight_ends(ct, kind, type, axes, 2.0) if type < 3 else ct
    out = trig(ct, kind=kind, type=back, **rest)
    return _weight_ends(out, kind, type, axes, 0.5) if type in (1, 3) else out


# Along the last of 2 axes


def _cut(x, start: int, stop: int, step: int = 1):
    """Columns of (rows, n)."""
    return slice(
        x, start=(0, start), limit=(typeof(x).shape[0], max(start, stop)), strides=(1, step)
    )


def _reversed(x):
    return rev(x, axes=(1,))


def _row(x, values_of):
    """A row of numbers that depend on the column, for all rows of x."""
    t = typeof(x)
    real_type = ArrayType((t.shape[1],), dtypes.to_real(t.dtype))
    columns = convert(
        iota(shape=real_type.shape, dtype=dtypes.int32, axis=0), dtype=real_type.dtype
    )
    return broadcast_in_dim(values_of(columns), shape=t.shape, dims=(1,))


def _times_phases(z, per_column: float, first: float = 0.0):
    """z times exp(-i·angle), where the angle is ``first`` and grows by column."""

    def factor(columns):
        t = typeof(columns)
        angle = mul(columns, full_like_type(t, per_column))
        angle = add(angle, full_like_type(t, first)) if first else angle
        return complex(cos(angle), neg(sin(angle)))

    return mul(z, _row(z, factor))


def _alternating(x):
    """x with every second column negated."""
    t = typeof(x)
    odd = _row(x, lambda c: sub(c, mul(full_like_type(typeof(c), 2), _half(c))))
    return select(eq(odd, full_like_type(t, 1)), neg(x), x)


def _half(columns):
    t = typeof(columns)
    whole = convert(mul(columns, full_like_type(t, 0.5)), dtype=dtypes.int32)
    return convert(whole, dtype=t.dtype)


def _times(x, factor: float):
    return mul(x, full_like_type(typeof(x), factor))


def _interleaved(even, odd):
    """Columns of two arrays alternating; the first may have one more."""
    (rows, n), m = typeof(even).shape, typeof(odd).shape[1]
    if m < n:
        zero = zeros(ArrayType((), typeof(odd).dtype))
        odd = pad(odd, zero, low=(0, 0), high=(0, 1), interior=(0, 0))
    pairs = [reshape(x, shape=(rows, n, 1)) for x in (even, odd)]
    return _cut(reshape(concatenate(*pairs, axis=2), shape=(rows, 2 * n)), 0, n + m)


def _cosine_1(x):
    """Of the even extension, whose transform is real."""
    n = typeof(x).shape[1]
    whole = concatenate(x, _reversed(_cut(x, 1, n - 1)), axis=1) if n > 2 else x
    return real(fft(whole, kind="RFFT", lengths=(2 * (n - 1),)))


def _sine_1(x):
    """Of the odd extension, whose transform is imaginary."""
    rows, n = typeof(x).shape
    zero = zeros(ArrayType((rows, 1), typeof(x).dtype))
    whole = concatenate(zero, x, zero, neg(_reversed(x)), axis=1)
    return neg(_cut(imag(fft(whole, kind="RFFT", lengths=(2 * n + 2,))), 1, n + 1))


def _cosine_2(x):
    """By one transform of N real numbers: even places, then odd ones backwards (Makhoul 1980)."""
    n = typeof(x).shape[1]
    mixed = concatenate(_cut(x, 0, n, 2), _reversed(_cut(x, 1, n, 2)), axis=1) if n > 1 else x
    z = _times_phases(fft(mixed, kind="RFFT", lengths=(n,)), math.pi / (2 * n))
    low, high = _times(real(z), 2), _times(imag(z), -2)
    return concatenate(low, _reversed(_cut(high, 1, n - n // 2)), axis=1)


def _cosine_3(x):
    """``_cosine_2`` backwards."""
    n = typeof(x).shape[1]
    count = n // 2 + 1
    zero = zeros(ArrayType((typeof(x).shape[0], 1), typeof(x).dtype))
    high = concatenate(zero, _cut(_reversed(x), 0, count - 1), axis=1)
    z = _times_phases(complex(_cut(x, 0, count), neg(high)), -math.pi / (2 * n))
    mixed = _times(fft(z, kind="IRFFT", lengths=(n,)), n)
    first = (n + 1) // 2
    return _interleaved(_cut(mixed, 0, first), _reversed(_cut(mixed, first, n)))


def _cosine_4(x):
    """By a complex transform of N/2 points; of 2N for odd N."""
    n = typeof(x).shape[1]
    if n % 2:
        x = _times_phases(complex(x, zeros(typeof(x))), math.pi / (2 * n))
        zero = zeros(ArrayType((), typeof(x).dtype))
        x = pad(x, zero, low=(0, 0), high=(0, n), interior=(0, 0))
        z = _cut(fft(x, kind="FFT", lengths=(2 * n,)), 0, n)
        return _times(real(_times_phases(z, math.pi / (2 * n), math.pi / (4 * n))), 2)
    z = complex(_cut(x, 0, n, 2), _reversed(_cut(x, 1, n, 2)))
    z = fft(_times_phases(z, math.pi / n, math.pi / (4 * n)), kind="FFT", lengths=(n // 2,))
    z = _times_phases(z, math.pi / n)
    return _interleaved(_times(real(z), 2), _reversed(_times(imag(z), -2)))


_COSINES = {1: _cosine_1, 2: _cosine_2, 3: _cosine_3, 4: _cosine_4}


def _by_fft(x, kind: str, type: int):
    """The plain transform of each row."""
    if kind == "DCT":
        return _COSINES[type](x)
    if type == 1:
        return _sine_1(x)
    if type == 2:  # sin(π(N-k)(2n+1)/2N) = (-1)^n cos(πk(2n+1)/2N)
        return _reversed(_cosine_2(_alternating(x)))
    return _alternating(_COSINES[type](_reversed(x)))  # likewise


def matrix(kind: str, type: int, n: int) -> np.ndarray:
    """The matrix of a plain transform."""
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    if type == 1:
        turns = i * j / period(kind, 1, n) if kind == "DCT" else (i + 1) * (j + 1) / (2 * n + 2)
    else:
        p = i + 0.5 if type > 2 else i if kind == "DCT" else i + 1
        q = j + 0.5 if type != 3 else j if kind == "DCT" else j + 1
        turns = p * q / (2 * n)
    out = 2 * (np.cos if kind == "DCT" else np.sin)(2 * np.pi * turns)
    if type in (1, 3):
        out[:, list(_ends(kind, type, n))] /= 2
    return out


def _by_matrix(x, kind: str, type: int):
    t = typeof(x)
    table = constant(matrix(kind, type, t.shape[1]).T.astype(t.dtype))
    return dot_general(x, table, contract=((1,), (0,)), batch=((), ()))


# Lowering


def _along(x, axis: int, kind: str, type: int):
    """The plain transform along one axis."""
    t = typeof(x)
    n, last = t.shape[axis], t.ndim - 1
    perm = tuple([i for i in range(t.ndim) if i != axis] + [axis])
    x = x if axis == last else transpose(x, perm=perm)
    moved_shape = typeof(x).shape
    rows = reshape(x, shape=(t.size // n, n))
    out = (_by_matrix if n <= _MATRIX_UP_TO else _by_fft)(rows, kind, type)
    out = reshape(out, shape=moved_shape)
    return out if axis == last else transpose(out, perm=tuple(np.argsort(perm).tolist()))


def _in_program(x, kind, type, axes, norm, orthogonalize):
    half = math.sqrt(0.5)
    if orthogonalize and type in (1, 3):
        x = _weight_ends(x, kind, type, axes, 2 * half)
    for axis in axes:
        x = _along(x, axis, kind, type)
    if orthogonalize and type in (1, 2):
        x = _weight_ends(x, kind, type, axes, half)
    factor = scale(kind, type, typeof(x).shape, axes, norm)
    return [x if factor == 1 else _times(x, factor)]


def _trig_lower(ctx, x, *, kind, type, axes, norm=None, orthogonalize=False):
    t = ctx.in_types[0].strong()
    if not t.size:
        return x
    composed = trace_closed(lambda x: _in_program(x, kind, type, axes, norm, orthogonalize), [t])
    return ctx.program(composed, [x])


trig = linear_op(
    "trig",
    type=_trig_type,
    lower=_trig_lower,
    alternatives=[BY_SCIPY],
    transpose=_trig_transpose,
    batch=lambda size, args, batched, *, axes, **params: (
        [trig(args[0], axes=tuple([i + 1 for i in axes]), **params)], [True],
    ),
)  # fmt: skip
