"""Solutions by diagonalisation: the Laplace operator of a box is a sum over its axes, so its
eigenvectors are products of those of the axes. (Lynch, Rice and Thomas 1964)

Along each axis a field goes over to eigenvectors by a fast transform or by a product with their
matrix; the matrix is faster for short axes, and there is one for every condition. Where the first
axis is tridiagonal, and in three dimensions long, it is not transformed on a CPU: one system is solved
for each mode of the others. An accelerator waits at each step of such a loop, and transforms that axis
too.
"""

from __future__ import annotations

import functools
import hashlib
import weakref
from collections.abc import Callable

import numpy as np

from .. import _ops as ops
from .. import fft
from .. import numpy as xnp
from .._control import custom_linear_solve
from .._control.call import in_one_kernel
from .._control.cond import platform_dependent, unless_spread
from .._core import Array, ArrayLike, dtypes, errors, typeof
from .._core.trace import ensure_compile_time_eval
from ..linalg._arguments import loop
from ..linalg._elimination import _put, _taken
from ..numpy._select import cut, safe_divide
from ._along import along, by_axes, in_slabs
from ._axis import Axis
from ._boundary import complex_if
from ._grid import size
from ._laplacian import COMPACT, Laplacian

MATRIX_UP_TO = 1024  # unknowns along an axis; above, a fast transform is faster where there is one
_SMOOTH_UP_TO = 200, 450  # the same for products of small primes: axes that stay, and that turn
HALVES_FROM = 200  # unknowns along an axis: then products of half the size are worth their sums
_BY_PRODUCTS_UP_TO = 256  # in three dimensions elimination waits for memory more than products do
IN_SLABS_FROM = (
    2**25
)  # unknowns in three dimensions: fields in between would be what fills the memory
_SLABS = 32


# One axis to its modes


_TABLES = weakref.WeakValueDictionary()


def _table(m: np.ndarray) -> Array:
    """The matrix as an array that is one for all ways to a solution, so that programs hold it once."""
    m = np.ascontiguousarray(m)
    key = m.shape, m.dtype, hashlib.sha1(m).digest()
    found = _TABLES.get(key)
    if found is None:
        with ensure_compile_time_eval():
            found = _TABLES[key] = xnp.asarray(m)
    return found


def _by_matrix(x, m: np.ndarray, axis: int, to: int):
    """The product of a matrix with the lines along an axis, which becomes the one numbered ``to``.

    From the last axis to the first, or to where it was, it is one product of two matrices as they
    lie in memory; XLA copies the field for all others.
    """
    t = typeof(x)
    m = m.astype(np.result_type(t.dtype, np.complex64 if np.iscomplexobj(m) else t.dtype))
    if axis != t.ndim - 1:
        return xnp.moveaxis(xnp.tensordot(_table(m), x, axes=(1, axis)), 0, to)
    if axis == to:
        return x @ _table(m.T)
    rest = t.shape[:-1]
    flat = xnp.tensordot(_table(m), x.reshape(size(rest), t.shape[-1]), axes=(1, 1))
    return flat.reshape(m.shape[0], *rest)


def _halves(x, axis: int):
    """(sums, differences) of elements that mirror each other; a middle one is with the sums."""
    n = typeof(x).shape[axis]
    low = cut(x, axis, 0, n // 2)
    high = xnp.flip(cut(x, axis, n - n // 2, n), axis)
    middle = cut(x, axis, n // 2, n - n // 2)
    return xnp.concatenate([low + high, middle], axis=axis), low - high


def _analysis(x, inverse: np.ndarray, axis: int, to: int):
    """Modes of an axis that looks the same from both ends: first the even ones, then the odd.

    Odd ones are often those of half an axis of that kind, but to split them once more costs more
    passes over memory than it saves products.
    """
    n = inverse.shape[0]
    even, odd = _halves(x, axis)
    m = n - n // 2
    parts = [
        _by_matrix(even, inverse[::2, :m], axis, to),
        _by_matrix(odd, inverse[1::2, : n // 2], axis, to),
    ]
    return xnp.concatenate(parts, axis=to)


def _synthesis(c, v: np.ndarray, axis: int, to: int):
    n = v.shape[0]
    m = n - n // 2
    even = _by_matrix(cut(c, axis, 0, m), v[:m, ::2], axis, to)
    odd = _by_matrix(cut(c, axis, m, n), v[: n // 2, 1::2], axis, to)
    low, middle = cut(even, to, 0, n // 2), cut(even, to, n // 2, m)
    return xnp.concatenate([low + odd, middle, xnp.flip(low - odd, to)], axis=to)


def _ordered(values: np.ndarray) -> np.ndarray:
    """Eigenvalues in the order in which ``_analysis`` gives their modes."""
    return np.concatenate([values[::2], values[1::2]])


def _mirrored(v: np.ndarray) -> bool:
    """Whether columns are in turn even and odd, and many enough for halves to pay."""
    sign = (-1.0) ** np.arange(v.shape[1])
    enough = v.shape[0] >= HALVES_FROM
    return enough and np.allclose(v[::-1], v * sign, atol=1e-10 * np.abs(v).max())


class _Line:
    """How one axis goes over to its modes and back; ``to`` says where it is then."""

    def __init__(self, a: Axis, axis: int, to: int, transposed: bool, by_product: bool = False):
        self.a, self.axis, self.to = a, axis, to
        self.name = a.transform
        self.fast = self.name is not None or (a.ring and a.uniform)
        limit = _SMOOTH_UP_TO[axis != to] if _smooth(a) and not by_product else MATRIX_UP_TO
        self.fast = self.fast and a.count > limit
        self.values, self.whole = a.eigenvalues, False
        if self.fast:
            return
        v, inverse = a.modes
        self.v, self.inverse = (inverse.T, v.T) if transposed else (v, inverse)
        # XLA for CUDA does not compile products of halves of odd axes that are not the last one
        self.whole = (by_product and a.count % 2 == 1) or not _mirrored(v)
        self.values = self.values if self.whole else _ordered(self.values)

    def analysis(self, x):
        if not self.fast:
            way = _by_matrix if self.whole else _analysis
            return way(x, self.inverse, self.axis, self.to)
        if self.a.ring:
            return self._moved(fourier_along(x, self.axis))
        kind, type, _ = self.name  # pyright: ignore[reportGeneralTypeIssues]
        return self._moved(trig_along(x, kind, type, self.axis, "forward"))

    def synthesis(self, c):
        if not self.fast:
            way = _by_matrix if self.whole else _synthesis
            return way(c, self.v, self.axis, self.to)
        if self.a.ring:
            return self._moved(fourier_back(c, self.axis))
        kind, _, type = self.name  # pyright: ignore[reportGeneralTypeIssues]
        return self._moved(trig_along(c, kind, type, self.axis))

    def _moved(self, x):
        return x if self.axis == self.to else xnp.moveaxis(x, self.axis, self.to)


def _smooth(a: Axis) -> bool:
    """Whether fast transforms of an axis are among the fastest for their length."""
    period = a.count if a.ring else 2 * a.cells
    return period == fft.prev_fast_len(period, real=True)


def _turning(lap, transposed: bool = False) -> list:
    """Lines of all axes, the last one first. Each works on the last axis and puts it in front of the
    others, so that all are back in their places at the end."""
    n = lap.grid.ndim
    return [_Line(a, n - 1, 0, transposed) for a in lap.axes[::-1]]


def _transformed(lines, x):
    return functools.reduce(lambda x, line: line.analysis(x), lines, x)


def _back(lines, c):
    return functools.reduce(lambda c, line: line.synthesis(c), lines, c)


def trig_along(x, kind: str, type: int, axis: int, norm: str = "backward"):
    """A cosine or sine transform along one axis, by default without a factor."""
    return (fft.dct if kind == "DCT" else fft.dst)(x, type=type, axis=axis, norm=norm)


def _of_parts(f, x, axis: int):
    return ops.complex(f(xnp.real(x), axis), f(xnp.imag(x), axis))


def fourier_along(x, axis: int):
    """The parts of cosines, where ``fftfreq`` is not negative, and of sines along one axis."""
    if dtypes.is_complex(typeof(x).dtype):
        return _of_parts(fourier_along, x, axis)
    n, c = typeof(x).shape[axis], xnp.fft.rfft(x, axis=axis)
    sines = xnp.flip(xnp.imag(cut(c, axis, 1, (n + 1) // 2)), axis)
    return xnp.concatenate([xnp.real(c), sines], axis=axis)


def fourier_back(c, axis: int):
    """The field with such parts."""
    if dtypes.is_complex(typeof(c).dtype):
        return _of_parts(fourier_back, c, axis)
    n = typeof(c).shape[axis]
    sines = xnp.flip(cut(c, axis, n // 2 + 1, n), axis)
    none = xnp.zeros_like(cut(c, axis, 0, 1))
    sines = xnp.concatenate([none, sines] + [none] * (n % 2 == 0), axis=axis)
    return xnp.fft.irfft(ops.complex(cut(c, axis, 0, n // 2 + 1), sines), n, axis=axis)


# The solution


def solve_direct(
    lap: Laplacian, f: ArrayLike, shift: ArrayLike = 0.0, scale: ArrayLike = 1.0
) -> Array:
    """The field u with shift u + scale L(u) = f.

    Where that is singular, the solution without a part in the kernel, of the f without one.

    Args:
      lap: the Laplace operator.
      f: a field.
      shift, scale: numbers or 0-d arrays; complex ones give a complex field.

    >>> from xcore.pde import Grid
    >>> lap = Laplacian(Grid(4))
    >>> xnp.round(lap(solve_direct(lap, xnp.ones(3))), 3)
    Array([1., 1., 1.], dtype=float32)
    """
    if not isinstance(lap, Laplacian):
        raise errors.bad_argument(
            "pde.solve_direct",
            "lap",
            lap,
            "a pde.Laplacian",
            "pde.solve takes any linear operator.",
        )
    f = lap.field(f)
    f = f if dtypes.is_inexact(typeof(f).dtype) else f.astype(np.float32)
    real, (shift, scale) = dtypes.to_real(typeof(f).dtype), map(xnp.asarray, (shift, scale))
    f = f.astype(complex_if(typeof(f).dtype, shift, scale))
    shift, scale = (x.astype(complex_if(real, shift, scale)) for x in (shift, scale))
    held = ops.stop_gradient(shift), ops.stop_gradient(scale)
    alone = type(f) is Array and len(f.devices()) == 1
    return custom_linear_solve(  # pyright: ignore[reportReturnType]
        lambda u: shift * u + scale * lap(u), f,
        solve=lambda _, f: _diagonal_solve(lap, f, *held, alone=alone),
        transpose_solve=lambda _, c: _transposed_solve(lap, c, *held),
    )  # fmt: skip


def _transposed_solve(lap, c, shift, scale):
    if lap.order not in (2, COMPACT):
        return _diagonal_solve(lap, c, shift, scale, transposed=True)
    # W L is symmetric; widths that are the same all along an axis cancel
    lines = [a.weights if np.ptp(a.weights) else np.ones(1) for a in lap.axes]
    if all(x.size == 1 for x in lines):
        return _diagonal_solve(lap, c, shift, scale)
    w = by_axes(lines, dtypes.to_real(typeof(c).dtype))
    return xnp.multiply(w, _diagonal_solve(lap, c / w, shift, scale))


def _diagonal_solve(lap, f, shift, scale, transposed: bool = False, alone: bool = False):
    """By elimination along the first axis on a CPU, where that can be; an accelerator goes without it."""
    complex_ = dtypes.is_complex(typeof(f).dtype)  # kernels of elimination are of reals
    way = functools.partial(_in_memory, lap, transposed, alone)
    if complex_ or not tridiagonal_first(lap):
        return way(False, f, shift, scale)
    eliminated = functools.partial(way, True)
    if lap.axes[0].transform is None:  # its eigenvectors are for NumPy to find, which takes longer
        return eliminated(f, shift, scale)
    transformed = functools.partial(way, False)
    return platform_dependent(f, shift, scale, cpu=eliminated, default=transformed)


def _in_memory(lap, transposed, alone, eliminated, f, shift, scale):
    way = functools.partial(_solve_whole, lap, transposed, eliminated)
    if lap.grid.ndim == 1:
        return way(f, shift, scale)
    if lap.grid.ndim == 3 and size(typeof(f).shape) >= IN_SLABS_FROM and _all_real(lap, f):
        way = functools.partial(_solve_in_slabs, lap, transposed, eliminated)
    if alone:  # known to be on one device
        return way(f, shift, scale)
    # of a field that is spread over devices they have their own slabs, which need not be these
    spread = functools.partial(_solve_spread, lap, transposed, eliminated)
    return unless_spread(way, f, shift, scale, spread=spread)


def _solve_whole(lap, transposed, eliminated, f, shift, scale):
    if eliminated:
        lines = [_Line(a, i, i, transposed) for i, a in enumerate(lap.axes) if i]
        # products along the second axis leave the first one inside, where those along it want it
        values = [x.values for x in lines]
        c = _solve_rows(lap, values, _transformed(lines[::-1], f), shift, scale)
    else:
        lines = _turning(lap, transposed)
        c = _divide(lap, [x.values for x in lines[::-1]], _transformed(lines, f), shift, scale)
    return _real_if(not dtypes.is_complex(typeof(f).dtype), _back(lines, c), f)


def _solve_spread(lap, transposed, eliminated, f, shift, scale):
    def by_product(values, c):
        first = _Line(lap.axes[0], 0, 0, transposed)
        lines = [first.values, *values]
        return first.synthesis(_divide(lap, lines, first.analysis(c), shift, scale))

    def by_elimination(values, c):
        return _solve_rows(lap, values, c, shift, scale)

    u = _over_devices(lap, f, by_elimination if eliminated else by_product, transposed)
    return _real_if(not dtypes.is_complex(typeof(f).dtype), u, f)


def _over_devices(lap, x, along_the_first, transposed: bool = False):
    """x over to the modes of all axes but the first, ``along_the_first(their eigenvalues, x)``, and back.

    Each device has whole lines along the axes that are worked on. So the field is turned over twice, which is
    all that is exchanged, and once more each way where only other axes have parts of equal size.
    """
    rest = [_Line(a, i, i, transposed) for i, a in enumerate(lap.axes) if i]
    x = _transformed(rest[::-1], ops.spread_along(x, axis=0))
    x = along_the_first([line.values for line in rest], _turned_over(x, 0, 1))
    return ops.spread_along(ops.spread_along(_back(rest, _turned_over(x, 1, 0)), axis=0), axis=None)


def _turned_over(x, old: int, new: int):
    """x spread along a new axis. The old one is named too: XLA would work on another layout before."""
    return ops.spread_along(ops.spread_along(x, axis=old), axis=new)


def _all_real(lap, f) -> bool:
    """Whether modes of a real field are real ones."""
    lines = [_Line(a, i, i, False) for i, a in enumerate(lap.axes)]
    turned = any(not x.fast and np.iscomplexobj(x.v) for x in lines)
    return not turned and not dtypes.is_complex(typeof(f).dtype)


def _solve_in_slabs(lap, transposed, eliminated, f, shift, scale):
    """The solution in one field and a few slabs: all axes but the first over to their modes, slab
    by slab, there the solution along the first one in slabs across the second, and back again."""
    first, *rest = [_Line(a, i, i, transposed) for i, a in enumerate(lap.axes)]
    product = _Line(lap.axes[0], 0, 0, transposed, by_product=True)
    values = [x.values for x in rest]

    def by(line):
        def solve(c, start, shift, scale):
            part, lines = (typeof(c).shape[1], start), [line.values, *values]
            return line.synthesis(_divide(lap, lines, line.analysis(c), shift, scale, part))

        return solve

    def along_the_first(c, start):
        if eliminated:
            return _solve_rows(lap, values, c, shift, scale, (typeof(c).shape[1], start))
        if (first.fast, first.whole) == (product.fast, product.whole):
            return by(first)(c, start, shift, scale)
        # for a transform an accelerator turns the whole field over, in a second one
        return platform_dependent(c, start, shift, scale, cpu=by(first), default=by(product))

    shape = typeof(f).shape
    run = functools.partial(in_slabs, shape=shape, count=_SLABS)
    flat = f.reshape(shape[0], size(shape[1:]))
    flat = run(lambda x, _: _transformed(rest[::-1], x), flat, axis=0)
    flat = run(along_the_first, flat, axis=1)
    return run(lambda x, _: _back(rest, x), flat, axis=0).reshape(shape)


def tridiagonal_first(lap: Laplacian) -> bool:
    """Whether the first axis can be solved by elimination, and on a CPU is."""
    a, least = lap.axes[0], 8 if lap.grid.ndim < 3 else _BY_PRODUCTS_UP_TO
    return lap.order == 2 and not a.ring and not lap.singular and a.count > least


def _on_axes(lines, second: int, dtype, part) -> list[Array]:
    """Numbers along each axis, of the second one those of a part (width, start) if one is given."""
    values = [xnp.asarray(along(x, i, len(lines), dtype)) for i, x in enumerate(lines)]
    if part is not None and values[second].ndim:
        width, start = part
        corner = [start if i == second else np.int32(0) for i in range(len(lines))]
        sizes = tuple(width if i == second else m for i, m in enumerate(values[second].shape))
        values[second] = ops.dynamic_slice(values[second], *corner, sizes=sizes)
    return values


def _divide(lap, lines, c, shift, scale, part=None):
    dtype = typeof(scale).dtype
    kind = np.result_type(dtype, np.complex64) if any(map(np.iscomplexobj, lines)) else dtype
    # no table: added up there
    divisor = shift + scale * lap.combine(_on_axes(lines, 1, kind, part))
    if not lap.singular:
        return c / divisor
    real = dtypes.to_real(dtype)
    largest = max(np.abs(np.asarray(x)).max() for x in lines)
    zero = xnp.abs(divisor) <= 1e-3 * xnp.finfo(real).eps * largest * xnp.abs(scale)
    return safe_divide(c, divisor, where=~zero)


def _solve_rows(lap, lines, c, shift, scale, part=None):
    """Elimination along the first axis, for all modes of the others at once."""
    dtype, a = typeof(scale).dtype, lap.axes[0]
    rest = functools.reduce(
        lambda x, y: x + y, _on_axes(lines, 0, dtype, part), np.zeros((), dtype)
    )
    low, high = (np.broadcast_to(a.bands[k], a.count).astype(dtype) for k in (-1, 1))
    low[0], high[-1], sums = 0, 0, np.zeros(a.count, dtype)
    sums[0] -= a.leaks[0]
    sums[-1] -= a.leaks[1]
    low, high, sums = (scale * x for x in (low, high, sums))
    others = xnp.broadcast_to(shift + scale * rest, typeof(c).shape[1:])

    return in_one_kernel(_sweep, low, high, sums, others, c)


def _sweep(low, high, sums, others, c):
    """The solution of one tridiagonal system for each column of c: rows sum up to sums + others.

    Pivots are found from these sums and not from the diagonal, where those of low modes would be
    the difference of large numbers: each digit stays, however many nodes there are. (Alfa, Xue and
    Ye 2002, "Accurate computation of the smallest eigenvalue of a diagonally dominant M-matrix")
    """
    n, dtype = typeof(c).shape[0], typeof(others).dtype

    def forward(i, state):
        share, d, factors, rows = state
        low_i, high_i = _taken(low, i), _taken(high, i)
        total = _taken(sums, i) + others - low_i * share
        pivot = 1 / (total - high_i)
        d = (_taken(rows, i) - low_i * d) * pivot
        return total * pivot, d, _put(factors, i, high_i * pivot), _put(rows, i, d)

    def backward(k, state):
        x, rows = state
        i = np.int32(n - 1) - k
        x = _taken(rows, i) - _taken(factors, i) * x
        return x, _put(rows, i, x)

    zero, factors = xnp.zeros_like(c[0]), xnp.zeros((n, *typeof(others).shape), dtype)
    _, _, factors, rows = loop(n, forward, (xnp.zeros_like(others), zero, factors, c))
    return loop(n, backward, (zero, rows))[1]


def apply_function(lap: Laplacian, u: ArrayLike, g: Callable[[Array], Array]) -> Array:
    """g(L) u for a function g of the eigenvalues, by the eigenvectors of L.

    Args:
      lap: a ``Laplacian``.
      u: field.
      g: function of an array of eigenvalues; of real ones to complex numbers it makes a complex field.

    >>> from xcore.pde import Grid
    >>> bool(xnp.allclose(apply_function(Laplacian(Grid(4)), xnp.ones(3), lambda w: 2 + 0 * w), 2))
    True
    """
    u = lap.field(u)
    if lap.grid.ndim == 1:
        return _applied(lap, g, u)
    return unless_spread(
        functools.partial(_applied, lap, g), u, spread=functools.partial(_applied_spread, lap, g)
    )


def _applied(lap, g, u):
    lines = _turning(lap)
    scale, real = _factors(lap, g, lines[::-1], u)
    return _real_if(real, _back(lines, _transformed(lines, u) * scale), u)


def _applied_spread(lap, g, u):
    lines = [_Line(a, i, i, False) for i, a in enumerate(lap.axes)]
    scale, real = _factors(lap, g, lines, u)
    first = lines[0]
    out = _over_devices(lap, u, lambda _, c: first.synthesis(first.analysis(c) * scale))
    return _real_if(real, out, u)


def _factors(lap, g, lines, u):
    """(g of the eigenvalues, whether it makes a real field of u)."""
    dtype = dtypes.to_real(typeof(u).dtype)
    w = xnp.asarray(
        lap.combine([along(x.values, i, len(lines), dtype) for i, x in enumerate(lines)])
    )
    scale = g(w)
    turned = dtypes.is_complex(scale.dtype) and not dtypes.is_complex(w.dtype)
    return scale, not (turned or dtypes.is_complex(typeof(u).dtype))


def _real_if(real, x, u):
    return xnp.real(x).astype(typeof(u).dtype) if real else x
