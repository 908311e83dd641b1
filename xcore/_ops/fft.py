"""The discrete Fourier transform over the last axes."""

from __future__ import annotations

import functools
import math

import numpy as np

from .._core import dtypes, errors
from .._core.kernels import kernel, kernel_call
from .._core.types import ArrayType, typeof
from . import host
from .elementwise import conj, mul, real
from .families import broadcast_in_dim, constant, linear_op, zeros
from .layout import pad


def _fft_type(x, *, kind, lengths):
    complex_in = kind != "RFFT"
    if dtypes.is_complex(x.dtype) != complex_in or dtypes.kind(x.dtype) not in ("float", "complex"):
        raise errors.dtype_not_allowed(
            "fft", x.dtype, "complex" if complex_in else "float32 and float64"
        )
    if not 1 <= len(lengths) <= min(3, x.ndim):
        raise errors.shape_mismatch("fft", f"need 1 to 3 transformed axes, not {len(lengths)}", x=x)
    lead, last = x.shape[: x.ndim - len(lengths)], lengths[-1]
    here = (*lengths[:-1], last // 2 + 1) if kind == "IRFFT" else tuple(lengths)
    if x.shape[len(lead) :] != here:
        raise errors.shape_mismatch("fft", f"the last axes must have lengths {here}", x=x)
    if kind == "RFFT":
        return [ArrayType((*lead, *lengths[:-1], last // 2 + 1), dtypes.to_complex(x.dtype))]
    if kind == "IRFFT":
        return [ArrayType((*lead, *lengths), dtypes.to_real(x.dtype))]
    return [x.strong()]


def _fft_transpose(ct, x, *, kind, lengths):
    if kind in ("FFT", "IFFT"):  # the matrix is symmetric
        return fft(ct, kind=kind, lengths=lengths)
    n, size = lengths[-1], math.prod(lengths)
    if kind == "RFFT":
        # y_k = sum_j w^jk x_j for k ≤ n/2: pad ct with zeros to all k, transform, keep the real part
        t = typeof(ct)
        high = [0] * t.ndim
        high[-1] = n - t.shape[-1]
        nil = zeros(ArrayType((), t.dtype))
        full = pad(ct, nil, low=(0,) * t.ndim, high=tuple(high), interior=(0,) * t.ndim)
        return real(fft(full, kind="FFT", lengths=lengths))
    # x_j = 1/N sum_k m_k Re(w^-jk y_k) with m_k = 1 for k = 0 (and n/2 if n is even), else 2
    forward = fft(ct, kind="RFFT", lengths=lengths)
    t = typeof(forward)
    weights = np.full(t.shape[-1], 2.0 / size)
    weights[0] = 1.0 / size
    if n % 2 == 0:
        weights[-1] = 1.0 / size
    weights = broadcast_in_dim(constant(weights.astype(t.dtype)), shape=t.shape, dims=(t.ndim - 1,))
    return mul(conj(forward), weights)


@kernel
def fft_of_one_row(x, out, inverse):
    """SciPy's transform: XLA's takes twice as long for a single row."""
    f = host.scipy_fft().ifft if inverse else host.scipy_fft().fft
    p, q = _near_square(x.size)
    if x.size < _TWO_STEPS_FROM or p < 16:
        np.copyto(out, x)
        result = f(out, overwrite_x=True)
    else:
        result = _in_two_steps(f, x, p, q, inverse)
    if not np.may_share_memory(result, out):
        np.copyto(out, result.reshape(out.shape))


_TWO_STEPS_FROM, _THREADS_FROM = 1 << 14, 1 << 17  # elements


def _in_two_steps(f, x, p: int, q: int, inverse):
    """p q points by q transforms of p points and p of q (Bailey 1990).

    Many short transforms share vector instructions and threads, which one long one cannot.
    """
    workers = host.cores() if x.size >= _THREADS_FROM else 1
    columns = f(x.reshape(p, q), axis=0, workers=workers)
    columns *= _twiddles(p, q, inverse, x.dtype)
    return f(columns.T, axis=0, workers=workers)


def _near_square(n: int) -> tuple:
    """Two factors of n, as equal as can be, the smaller one first."""
    p = next(p for p in range(math.isqrt(n), 0, -1) if n % p == 0)
    return p, n // p


@functools.lru_cache(maxsize=4)
def _twiddles(p: int, q: int, inverse, dtype):
    """The roots of unity between both steps, rounded once."""
    turns = np.arange(p)[:, None] * np.arange(q) / (p * q)
    return np.exp((2j if inverse else -2j) * np.pi * turns).astype(dtype)


def _fft_lower(ctx, x, *, kind, lengths):
    t = ctx.in_types[0]
    one_row = len(lengths) == 1 and t.size == lengths[0]
    if one_row and kind in ("FFT", "IFFT") and host.applies(ctx, t):
        return ctx.host_kernel(kernel_call("fft_of_one_row", int(kind == "IFFT")), [x], [ctx.out()])
    if (
        ctx.platform == "cpu"
        and ctx.partitions > 1
        and ctx.manual is None
        and t.ndim > len(lengths)
    ):
        return ctx.fft_of_rows(x, ctx.out(), kind, lengths, (t.dtype, ctx.out_types[0].dtype))
    return ctx.fft(x, ctx.out(), kind, lengths)


fft = linear_op(
    "fft",
    type=_fft_type,
    lower=_fft_lower,
    transpose=_fft_transpose,
    batch=lambda size, args, batched, **params: ([fft(args[0], **params)], [True]),
)
