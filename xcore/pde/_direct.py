"""Solutions by diagonalisation: the Laplace operator of a box is a sum over its axes, so its
eigenvectors are products of those of the axes. (Lynch, Rice and Thomas 1964)

Along each axis a field goes over to eigenvectors by a fast transform or by a product with their
matrix; the matrix is faster for short axes, and there is one for every condition. Where the first
axis is tridiagonal, and in three dimensions long, it is not transformed: one system is solved for
each mode of the others.
"""

from __future__ import annotations

import functools

import numpy as np

from .. import _ops as ops
from .. import fft
from .. import numpy as xnp
from .._control.call import in_one_kernel
from .._control.implicit import custom_linear_solve
from .._control.loops import scan
from .._core import dtypes
from .._core.types import typeof
from ._axis import Axis
from ._fields import along
from ._laplacian import COMPACT, Laplacian

MATRIX_UP_TO = 1024  # unknowns along an axis; above, a fast transform is faster where there is one
HALVES_FROM = 100  # unknowns along an axis: then products of half the size are worth their sums
_BY_PRODUCTS_UP_TO = 256  # in three dimensions elimination waits for memory more than products do


# ------------------------------------------------------------------------- one axis to its modes


def _by_matrix(x, m: np.ndarray, axis: int):
    """The product of a matrix with the lines along an axis."""
    t = typeof(x)
    m = m.astype(np.result_type(t.dtype, np.complex64 if np.iscomplexobj(m) else t.dtype))
    if axis == t.ndim - 1:
        return x @ m.T
    return xnp.moveaxis(xnp.tensordot(m, x, axes=(1, axis)), 0, axis)


def _halves(x, axis: int):
    """(sums, differences) of elements that mirror each other; a middle one is with the sums."""
    n = typeof(x).shape[axis]
    low = _part(x, axis, 0, n // 2)
    high = xnp.flip(_part(x, axis, n - n // 2, n), axis)
    middle = _part(x, axis, n // 2, n - n // 2)
    return xnp.concatenate([low + high, middle], axis=axis), low - high


def _part(x, axis: int, start: int, stop: int):
    return x[(slice(None),) * axis + (slice(start, stop),)]


def _analysis(x, inverse: np.ndarray, axis: int):
    """Modes of an axis; where it looks the same from both ends, first the even ones, then the odd.

    Odd ones are often those of half an axis of that kind, but to split them once more costs more
    passes over memory than it saves products.
    """
    if not _mirrored(inverse.T):
        return _by_matrix(x, inverse, axis)
    n = inverse.shape[0]
    even, odd = _halves(x, axis)
    m = n - n // 2
    parts = [
        _by_matrix(even, inverse[::2, :m], axis),
        _by_matrix(odd, inverse[1::2, : n // 2], axis),
    ]
    return xnp.concatenate(parts, axis=axis)


def _synthesis(c, v: np.ndarray, axis: int):
    if not _mirrored(v):
        return _by_matrix(c, v, axis)
    n = v.shape[0]
    m = n - n // 2
    even = _by_matrix(_part(c, axis, 0, m), v[:m, ::2], axis)
    odd = _by_matrix(_part(c, axis, m, n), v[: n // 2, 1::2], axis)
    low, middle = _part(even, axis, 0, n // 2), _part(even, axis, n // 2, m)
    return xnp.concatenate([low + odd, middle, xnp.flip(low - odd, axis)], axis=axis)


def _ordered(values: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Eigenvalues in the order in which ``_analysis`` gives the modes v."""
    return np.concatenate([values[::2], values[1::2]]) if _mirrored(v) else values


def _mirrored(v: np.ndarray) -> bool:
    """Whether columns are in turn even and odd, and many enough for halves to pay."""
    sign = (-1.0) ** np.arange(v.shape[1])
    enough = v.shape[0] >= HALVES_FROM
    return enough and np.allclose(v[::-1], v * sign, atol=1e-10 * np.abs(v).max())


class _Line:
    """How one axis goes over to its modes and back."""

    def __init__(self, a: Axis, axis: int, transposed: bool):
        self.a, self.axis = a, axis
        self.name = a.transform
        self.fast = a.count > MATRIX_UP_TO and ((a.ring and a.uniform) or self.name is not None)
        self.values = a.eigenvalues
        if self.fast:
            return
        v, inverse = a.modes
        self.v, self.inverse = (inverse.T, v.T) if transposed else (v, inverse)
        self.values = _ordered(self.values, v)

    def analysis(self, x):
        if not self.fast:
            return _analysis(x, self.inverse, self.axis)
        if self.a.ring:
            return fft_along(x, self.axis)
        kind, type, _ = self.name
        factor = 1 / (2 * (len(self.a.nodes) - 1))
        return trig_along(x, kind, type, self.axis) * np.asarray(factor, typeof(x).dtype)

    def synthesis(self, c):
        if not self.fast:
            return _synthesis(c, self.v, self.axis)
        if self.a.ring:
            return fft_along(c, self.axis, inverse=True)
        kind, _, type = self.name
        return trig_along(c, kind, type, self.axis)


def trig_along(x, kind: str, type: int, axis: int):
    """An unscaled cosine or sine transform along one axis."""
    return (fft.dct if kind == "DCT" else fft.dst)(x, type=type, axis=axis)


def fft_along(x, axis: int, inverse: bool = False):
    """Fourier's transform along one axis."""
    return (xnp.fft.ifft if inverse else xnp.fft.fft)(x, axis=axis)


# ----------------------------------------------------------------------------------- the solution


def solve_direct(lap: Laplacian, f, shift=0.0, scale=1.0):
    """The field u with shift u + scale L(u) = f.

    Where that is singular, the solution without a part in the kernel, of the f without one.

    Args:
      lap: the Laplace operator.
      f: a field.
      shift, scale: numbers or 0-d arrays.

    >>> from xcore.pde import Grid
    >>> lap = Laplacian(Grid(4))
    >>> xnp.round(lap(solve_direct(lap, xnp.ones(3))), 3)
    Array([1., 1., 1.], dtype=float32)
    """
    f = lap.field(f)
    f = f if dtypes.is_inexact(typeof(f).dtype) else f.astype(np.float32)
    dtype = dtypes.to_real(typeof(f).dtype)
    shift, scale = (xnp.asarray(x).astype(dtype) for x in (shift, scale))
    held = ops.stop_gradient(shift), ops.stop_gradient(scale)
    return custom_linear_solve(
        lambda u: shift * u + scale * lap(u), f,
        solve=lambda _, f: _diagonal_solve(lap, f, *held),
        transpose_solve=lambda _, c: _transposed_solve(lap, c, *held),
    )  # fmt: skip


def _transposed_solve(lap, c, shift, scale):
    if lap.order not in (2, COMPACT):
        return _diagonal_solve(lap, c, shift, scale, transposed=True)
    w = lap.weights.astype(dtypes.to_real(typeof(c).dtype))  # W L is symmetric
    return w * _diagonal_solve(lap, c / w, shift, scale)


def _diagonal_solve(lap, f, shift, scale, transposed: bool = False):
    by_rows = tridiagonal_first(lap)
    lines = [_Line(a, i, transposed) for i, a in enumerate(lap.axes) if i or not by_rows]
    # products along the second axis leave the first one inside, where those along it want it
    turns = lines if by_rows else [*lines[1::-1], *lines[2:]]
    c = functools.reduce(lambda x, line: line.analysis(x), turns[::-1], f)
    c = (
        _solve_rows(lap, lines, c, shift, scale)
        if by_rows
        else _divide(lap, lines, c, shift, scale)
    )
    u = functools.reduce(lambda x, line: line.synthesis(x), turns, c)
    return u if dtypes.is_complex(typeof(f).dtype) else xnp.real(u).astype(typeof(f).dtype)


def tridiagonal_first(lap: Laplacian) -> bool:
    """Whether the first axis is solved by elimination and not transformed."""
    a, least = lap.axes[0], 8 if lap.grid.ndim < 3 else _BY_PRODUCTS_UP_TO
    return lap.order == 2 and not a.ring and not lap.singular and a.count > least


def _divide(lap, lines, c, shift, scale):
    dtype = typeof(scale).dtype
    kind = np.result_type(dtype, np.complex64) if any(np.iscomplexobj(x.values) for x in lines) else dtype  # fmt: skip
    values = [along(x.values, i, lap.grid.ndim, kind) for i, x in enumerate(lines)]
    divisor = shift + scale * lap.combine(values)
    if not lap.singular:
        return c / divisor
    largest = max(np.abs(np.asarray(x.values)).max() for x in lines)
    nil = xnp.abs(divisor) <= 1e-3 * xnp.finfo(dtype).eps * largest * xnp.abs(scale)
    return xnp.where(nil, 0, c / xnp.where(nil, 1, divisor))


def _solve_rows(lap, lines, c, shift, scale):
    """Elimination along the first axis, for all modes of the others at once."""
    dtype = typeof(scale).dtype
    a, n = lap.axes[0], lap.grid.ndim
    values = [along(x.values, i, n - 1, dtype) for i, x in enumerate(lines)]
    rest = functools.reduce(lambda x, y: x + y, values, np.zeros((), dtype))
    low, mid, high = (
        scale * np.broadcast_to(a.bands[k], a.count).astype(dtype) for k in (-1, 0, 1)
    )
    others = xnp.broadcast_to(shift + scale * rest, typeof(c).shape[1:])

    return in_one_kernel(_sweep, low, mid, high, others, c)


def _sweep(low, mid, high, others, c):
    """The solution of one tridiagonal system for each column of c: ``others`` is to be added to the
    diagonal."""

    def forward(carry, row):
        factor, d = carry
        lo, mi, hi, right = row
        pivot = 1 / (mi + others - lo * factor)
        factor, d = hi * pivot, (right - lo * d) * pivot
        return (factor, d), (factor, d)

    start = xnp.zeros_like(others), xnp.zeros_like(c[0])
    _, (factors, d) = scan(forward, start, (low, mid, high, c))

    def backward(x, row):
        x = row[1] - row[0] * x
        return x, x

    return scan(backward, xnp.zeros_like(c[0]), (factors, d), reverse=True)[1]


def function_of(lap: Laplacian, u, g):
    """g(L) u for a function g of the eigenvalues, by the eigenvectors of L.

    >>> from xcore.pde import Grid
    >>> bool(xnp.allclose(function_of(Laplacian(Grid(4)), xnp.ones(3), lambda w: 2 + 0 * w), 2))
    True
    """
    u = lap.field(u)
    dtype = dtypes.to_real(typeof(u).dtype)
    lines = [_Line(a, i, False) for i, a in enumerate(lap.axes)]
    c = functools.reduce(lambda x, line: line.analysis(x), lines[::-1], u)
    values = [along(x.values, i, lap.grid.ndim, dtype) for i, x in enumerate(lines)]
    c = c * g(xnp.asarray(lap.combine(values)))
    out = functools.reduce(lambda x, line: line.synthesis(x), lines, c)
    return out if dtypes.is_complex(typeof(u).dtype) else xnp.real(out).astype(typeof(u).dtype)
