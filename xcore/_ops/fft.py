"""The discrete Fourier transform over the last axes."""

from __future__ import annotations

import math

import numpy as np

from .._core import Alternative, ArrayType, dtypes, errors, typeof
from .._cpu.fft import OF_ONE_ROW
from .elementwise import conj, mul, real
from .families import broadcast_in_dim, constant, linear_op, zeros
from .layout import pad
from .sharding import all_along, axis_to_split


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
        zero = zeros(ArrayType((), t.dtype))
        full = pad(ct, zero, low=(0,) * t.ndim, high=tuple(high), interior=(0,) * t.ndim)
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


def _fft_lower(ctx, x, *, kind, lengths):
    t = ctx.in_types[0]
    axis = axis_to_split(ctx, t.shape[: t.ndim - len(lengths)])
    if axis is None:
        return ctx.fft(x, ctx.out(), kind, lengths)
    layout = all_along(ctx, axis, t.ndim)
    here, out = (ctx.type(_part(t, axis, ctx.partitions)) for t in (t, ctx.out_types[0]))
    return ctx.manual_computation(  # quirk: FFT_GATHERED
        [x], [layout], [here], ctx.outs(), [layout], list(layout[axis]),
        lambda part: [ctx.fft(part, out, kind, lengths)],
    )  # fmt: skip


def _part(t, axis, count):
    return t.update(shape=(*t.shape[:axis], t.shape[axis] // count, *t.shape[axis + 1 :]))


def _is_spread(ctx, x, *, kind, lengths) -> bool:
    return ctx.partitions > 1 and ctx.manual is None and x.ndim > len(lengths)


def _of_rows(ctx, x, *, kind, lengths):
    """Where rows lie on several devices: XLA's partitioner would gather them."""
    return ctx.fft_of_rows(x, ctx.out(), kind, lengths)


fft = linear_op(
    "fft",
    type=_fft_type,
    lower=_fft_lower,
    alternatives=[OF_ONE_ROW, Alternative(_is_spread, _of_rows, needed=True)],
    transpose=_fft_transpose,
    batch=lambda size, args, batched, **params: ([fft(args[0], **params)], [True]),
)
