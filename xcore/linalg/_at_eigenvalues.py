"""Certificates of functions of matrices that are known by their values at numbers.

With about vectors v and values w of a, the matrix b = v diag(w) v⁻¹ is next to a, and f(b) = v diag(f(w)) v⁻¹
needs no more of f than its values at w. What x has to do with f(b), and a with b, is seen through a few
columns; what f(a) has to do with f(b) follows from divided differences of f,

    f(b + e) - f(b) = v (g ∘ v⁻¹ e v) v⁻¹ + …,    g[i,j] = f[w[i], w[j]].

Where v is unitary this is exact for g[i,j] = f[λ[i], w[j]] with the eigenvalues λ of b + e, so |f(a) - f(b)|_F
is |a - b|_F max |g| at most. (Daleckii and Krein 1965; Higham 2008, "Functions of matrices", theorem 3.11)
"""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import numpy as xnp
from .._core import dtypes, typeof
from .._ops import adjoint, matmul
from ..numpy._equations import identity_like, solve_matrices
from ._arguments import epsilon
from ._certificates import probes
from ._digits import relative
from ._equations import largest, roundings
from ._range import lost
from ._sensitivity import concluded, frobenius, inverse_norm, norm2, rounding_of, scaled, unit

_TURNS = 8  # directions in which f is looked at around each eigenvalue


def _directions(dtype):
    if not dtypes.is_complex(dtype):
        return [1.0, -1.0]
    return [complex(np.exp(2j * np.pi * (k + 0.5) / _TURNS)) for k in range(_TURNS)]


def _around(f, w, radius, one) -> list:
    moves = [radius.astype(typeof(w).dtype) * u for u in _directions(typeof(w).dtype)]
    return [f(with_unit(w + move, one)) for move in moves]


def _jumps(inner, outer, center):
    """Whether f changes about as much along a circle as along one twice as large.

    What is analytic changes half as much, √ around 0 by a factor of 0.7. A jump does not become smaller, nor do
    the 2πi of a logarithm around 0, which is no bound of what is inside.
    """
    small, large = (
        functools.reduce(xnp.maximum, [xnp.abs(x - y) for x, y in zip(xs, xs[1:] + xs[:1])])
        for xs in (inner, outer)
    )
    rounding = 64 * epsilon(center) * xnp.abs(center)
    return (large < 1.12 * small) & (small > rounding)


def _slopes(f, w, radius, one):
    """max |f[λ, μ]| for all pairs of numbers λ, μ within a radius of these eigenvalues, times a unit.

    Between discs that are near each other it is how steep f is around them. Twice the radius is looked at, so
    that no cut of f comes near without passing between two of the places, where f jumps.

    Args:
      w, radius: in this unit, one for each matrix.
    """
    center = f(with_unit(w, one))
    radius = radius[..., None]
    around = _around(f, w, 2 * radius, one)
    rise = functools.reduce(xnp.maximum, [xnp.abs(x - center) for x in around])
    unknown = xnp.isnan(rise)
    if dtypes.is_complex(typeof(w).dtype):
        unknown = unknown | _jumps(around, _around(f, w, 4 * radius, one), center)
    steep = relative(xnp.where(unknown, xnp.inf, rise), 2 * radius)
    pairs = lambda y: (y[..., :, None], y[..., None, :])  # noqa: E731
    gap = xnp.abs(w[..., :, None] - w[..., None, :])
    near = gap <= 4 * radius[..., None]
    a, b = pairs(center)
    far = xnp.abs(a - b) + radius[..., None] * sum(pairs(steep))
    far = far / xnp.where(near, 1, gap - 2 * radius[..., None])
    return xnp.where(near, xnp.maximum(*pairs(steep)), far)


def with_unit(w, one):
    return w * one.astype(typeof(w).dtype)[..., None]


def _vanished_parts(w, one):
    """How far eigenvalues are moved where parts of them, taken times a unit, are below the range; as far as
    it reaches where one is next to 0, for f does not see smaller moves."""
    parts = xnp.stack([xnp.abs(xnp.real(w)), xnp.abs(xnp.imag(w))])
    least = dtypes.finfo(typeof(one).dtype).tiny / one
    gone = xnp.where(parts < least[..., None], parts, 0).astype(typeof(one).dtype)
    near = xnp.min(xnp.max(parts, axis=0), axis=-1) < 4 * least
    return xnp.where(near, least, xnp.max(gone, axis=(0, -1)))


def _vanished_values(a, x):
    """How far values of f below the range leave f(a): nothing of it may have remained."""
    real = dtypes.to_real(typeof(x).dtype)
    tiny = real.type(typeof(a).shape[-1] * dtypes.finfo(real).tiny)
    return xnp.where(largest(a, (-2, -1)) > 0, tiny, real.type(0))


def _seen(y, factor: float):
    """|a|_F of what took columns to these, or more."""
    return factor * frobenius(y)


def of_hermitian(a, w, v, f, x, eps: float) -> tuple:
    """(status, Certificate) of x = f(a) with a v = v diag(w) about; nothing but rounding is supposed of f."""
    a, w, v, x = map(ops.stop_gradient, (a, w, v, x))
    if 0 in typeof(a).shape:
        return concluded(x, None, None, None, eps)
    one, n = unit(a), typeof(a).shape[-1]
    below, nothing_of_f = n * lost(a, (-2, -1)) / one, _vanished_values(a, x)
    a, w = scaled(a, one), w / one.astype(typeof(w).dtype)[..., None]
    below = below + _vanished_parts(w, one)
    values = f(with_unit(w, one))
    y, factor = probes(v)
    t = matmul(adjoint(v), y)
    by = lambda z, t: matmul(v.astype(typeof(z).dtype), z[..., None] * t.astype(typeof(z).dtype))  # noqa: E731
    size, most = xnp.max(xnp.abs(w), axis=-1), xnp.max(xnp.abs(values), axis=-1)
    off_unit = _seen(matmul(v, t) - y, factor)
    rounding = 2.2 * off_unit + (4 + n**0.5 / 4) * epsilon(a)
    apart = _seen(matmul(a, y) - by(w.astype(typeof(v).dtype), t), factor) + rounding * size + below
    wide = values.astype(typeof(x).dtype)
    left = factor * _rows(matmul(x, y.astype(typeof(x).dtype)) - by(wide, t))
    real = dtypes.to_real(typeof(a).dtype)
    g = largest(_slopes(f, w, xnp.maximum(apart, float(dtypes.finfo(real).tiny)), one), (-2, -1))
    left = left + rounding * most + nothing_of_f
    off = 2 * g * apart + left  # twice: roots rise less far away than near 0
    off = xnp.where(off_unit < 0.1, off, xnp.inf)
    return concluded(x, off, xnp.zeros_like(off), g * relative(frobenius(a), frobenius(x)), eps)


def of_general(a, w, v, f, x, eps: float) -> tuple:
    """(status, Certificate) of x = f(a) for complex matrices, with a v = v diag(w) about.

    b is off by r v⁻¹ with r = a v - v diag(w), and f(b) then by v (g ∘ v⁻¹ r) v⁻¹; eigenvalues by |v⁻¹ r| at
    most. (Bauer and Fike 1960, "Norms and exclusion theorems")
    """
    a, w, v, x = map(ops.stop_gradient, (a, w, v, x))
    one, n = unit(a), typeof(a).shape[-1]
    below, nothing_of_f = n * lost(a, (-2, -1)) / one, _vanished_values(a, x)
    a, w = scaled(a, one), w / one.astype(typeof(w).dtype)[..., None]
    below = below + _vanished_parts(w, one)
    values = f(with_unit(w, one))
    z, _ = solve_matrices(v, identity_like(v))
    size = norm2(z) * _regular(v, z)
    r, rounding = (
        matmul(a, v) - v * w[..., None, :],
        rounding_of(a, v) + 4 * epsilon(a) * frobenius(v),
    )
    apart = frobenius(r) + rounding * xnp.maximum(1, xnp.max(xnp.abs(w), axis=-1)) + below
    left = _rows(matmul(x, v) - v * values[..., None, :])
    few = roundings(n) * epsilon(a) * _rows(x) * norm2(v)
    left = size * (left + few + 4 * epsilon(a) * _rows(v * values[..., None, :]))
    g = _slopes(f, w, size * apart, one).astype(typeof(a).dtype)
    there = lambda e: matmul(matmul(v, g * matmul(z, e)), z)  # noqa: E731
    back = lambda e: matmul(adjoint(z), g * matmul(adjoint(v), matmul(e, adjoint(z))))  # noqa: E731
    norm = inverse_norm(there, back, a)
    off = norm * apart + left + nothing_of_f
    condition = norm * relative(frobenius(a), frobenius(x))
    return concluded(x, off, xnp.zeros_like(off), condition, eps)


def _regular(v, z):
    """About 1, as the norm of v⁻¹ is to that of z; infinite where z is none."""
    y, factor = probes(v)
    lost = factor * frobenius(matmul(v, matmul(z, y)) - y)
    return xnp.where(lost < 0.5, 1 / (1 - xnp.minimum(lost, 0.5)), xnp.inf)


def _rows(y):
    """The largest norm of a row."""
    size = unit(y)
    return size * xnp.sqrt(xnp.max(xnp.sum(xnp.abs(scaled(y, size)) ** 2, axis=-1), axis=-1))
