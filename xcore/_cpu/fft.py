"""Transforms of one long row on the host, where SciPy's is faster than XLA's by two times. (quirk: FFT_ROW_SLOW)"""

from __future__ import annotations

import functools
import math
import threading

import numpy as np

from .._core import Alternative
from .._core.kernels import kernel, kernel_call
from .rows import cores, in_halves, is_worth_it, scipy_fft

_TWO_STEPS_FROM, _THREADS_FROM = 1 << 14, 1 << 17  # elements
_HALVED_FROM = 1 << 15  # real numbers


@kernel
def fft_of_one_row(x, out, inverse):
    """Of complex numbers."""
    result = _transformed(x, inverse, out)
    if not np.may_share_memory(result, out):
        np.copyto(out, result.reshape(out.shape))


def _transformed(x, inverse, scratch):
    """The transform of a row, perhaps in the memory of ``scratch``."""
    f = scipy_fft().ifft if inverse else scipy_fft().fft
    p, q = _near_square(x.size)
    if x.size < _TWO_STEPS_FROM or p < 16:
        np.copyto(scratch, x)
        return f(scratch, overwrite_x=True)
    return _in_two_steps(f, x, p, q, inverse, scratch)


def _in_two_steps(f, x, p: int, q: int, inverse, out):
    """p q points by q transforms of p points and p of q (Bailey 1990).

    Many short transforms share vector instructions and threads, which one long one cannot. Both are
    done in place in a copy with longer rows: rows a power of two apart compete for few cache lines.
    """
    grid, given, result = _padded(p, q, x.dtype), x.reshape(p, q), out.reshape(q, p)
    turns = _twiddles(p, q, inverse, x.dtype)
    shared, workers = (in_halves, cores()) if x.size >= _THREADS_FROM else (_whole, 1)

    def fill(rows):
        grid[rows] = given[rows]

    def transform_rows(rows):
        grid[rows] *= turns[rows]
        _in_place(f, grid[rows], axis=1)

    def transpose(columns):
        result[columns] = grid[:, columns].T

    shared(fill, p)
    _in_place(f, grid, axis=0, workers=workers)
    shared(transform_rows, p)
    shared(transpose, q)
    return out


def _whole(work, count: int) -> None:
    work(slice(0, count))


def _in_place(f, x, **options) -> None:
    result = f(x, overwrite_x=True, **options)
    if not np.may_share_memory(result, x):
        x[...] = result


_memory = threading.local()


def _padded(p: int, q: int, dtype):
    """Uninitialised rows of q numbers, each a cache line longer; this thread's for the next call too."""
    shape = p, q + 64 // dtype.itemsize
    grid = getattr(_memory, "grid", None)
    if grid is None or grid.shape != shape or grid.dtype != dtype:
        grid = _memory.grid = np.empty(shape, dtype)
    return grid[:, :q]


def _near_square(n: int) -> tuple:
    """Two factors of n, as equal as can be, the smaller one first."""
    p = next(p for p in range(math.isqrt(n), 0, -1) if n % p == 0)
    return p, n // p


@functools.lru_cache(maxsize=4)
def _twiddles(p: int, q: int, inverse, dtype):
    """The roots of unity between both steps, rounded once."""
    turns = np.arange(p)[:, None] * np.arange(q) / (p * q)
    return np.exp((2j if inverse else -2j) * np.pi * turns).astype(dtype)


# Real rows of even length
# The n = 2h real numbers are taken as h complex ones, z = x_even + i x_odd, whose transform holds
# those of both: with E_k = (Z_k + conj Z_h-k) / 2, O_k = -i (Z_k - conj Z_h-k) / 2 and w = e^(-2 pi i/n),
# X_k = E_k + w^k O_k (Cooley, Lewis and Welch 1970).


def _mirrored(z):
    """The row and conj z_h-k, for k from 0 to h; z_h is z_0."""
    whole = np.append(z, z[0])
    return whole, whole[::-1].conj()


@functools.lru_cache(maxsize=4)
def _half_turns(n: int, dtype):
    """-i w^k / 2 for k from 0 to n/2."""
    return (-0.5j * np.exp(-2j * np.pi * np.arange(n // 2 + 1) / n)).astype(dtype)


@kernel
def rfft_of_one_row(x, out):
    """Of real numbers, an even count."""
    z = x.reshape(-1).view(out.dtype)
    z, mirrored = _mirrored(_transformed(z, False, np.empty_like(z)).reshape(-1))
    difference = z - mirrored
    z += mirrored
    z *= z.real.dtype.type(0.5)
    difference *= _half_turns(x.size, z.dtype)
    np.add(z, difference, out=out.reshape(-1))


@kernel
def irfft_of_one_row(x, out):
    """The real numbers, an even count, whose transform a row is; of both its ends the real part counts."""
    x = x.reshape(-1).copy()
    x[0], x[-1] = x[0].real, x[-1].real
    mirrored = x[::-1].conj()
    z, difference = x + mirrored, x - mirrored
    z *= x.real.dtype.type(0.5)
    difference *= _half_turns(out.size, x.dtype).conj()
    z += difference
    row = z[:-1]
    out.reshape(-1).view(x.dtype)[...] = _transformed(row, True, np.empty_like(row)).reshape(-1)


def _call_for_one_row(t, kind, lengths):
    """The kernel that transforms an array which is one row; None where XLA does as well."""
    if len(lengths) > 1 or math.prod(t.shape[:-1]) != 1:
        return None
    if kind in ("FFT", "IFFT"):
        return kernel_call("fft_of_one_row", int(kind == "IFFT"))
    long_and_even = lengths[0] >= _HALVED_FROM and lengths[0] % 2 == 0
    return kernel_call(f"{kind.lower()}_of_one_row") if long_and_even else None


def _lower(ctx, x, *, kind, lengths):
    call = _call_for_one_row(ctx.in_types[0], kind, lengths)
    return ctx.host_kernel(call, [x], [ctx.out()]) if call else NotImplemented


OF_ONE_ROW = Alternative(lambda ctx, x, **_: is_worth_it(ctx, x), _lower)
