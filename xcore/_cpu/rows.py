"""Kernels on the host for what XLA's code for the CPU is slow at: sorting, searching, log-sums.

On an Intel Xeon at 2.5 GHz, 10^6 float32, one core, in ms (XLA / kernel / NumPy / PyTorch 2.13):
sort 490 / 6.1 / 8.2 / 130, argsort 560 / 24 / 54 / 130.
A call costs 10 to 15 µs, and nothing is copied; below ``WORTH_IT`` elements XLA wins.

Kernels see rows: operands are arranged so that the work is along the last axis.
"""

from __future__ import annotations

import functools
import importlib
import os

import numpy as np

from .._core import Alternative, ArrayType, dtypes
from .._core.kernels import kernel, kernel_call

WORTH_IT = 512


def is_worth_it(ctx, t: ArrayType) -> bool:
    """Whether arrays of this type are large enough for a kernel, and lie on one device."""
    return ctx.is_local and t.size >= WORTH_IT


@functools.cache
def scipy_fft():
    """scipy.fft, imported when the first kernel that needs it runs."""
    return importlib.import_module("scipy.fft")


@functools.cache
def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def carrier(dtype):
    """The dtype in which kernels work on values of a dtype; it holds all of them in their order."""
    if dtype.itemsize < 4:  # NumPy has vector code for 32 and 64 bits only
        return dtypes.float32 if dtypes.is_floating(dtype) else dtypes.int32
    return dtype


def on_rows(ctx, kernel_name: str, operands, axis: int, results, *settings) -> list:
    """Results of a kernel that works along one axis.

    ``operands`` and ``results`` are pairs (value, type) and types, whose shapes agree but for the
    length of that axis.
    """
    rows = [axis_last(ctx, *_converted(ctx, x, t, carrier(t.dtype)), axis)[0] for x, t in operands]
    wanted = [ArrayType(t.shape, carrier(t.dtype)) for t in results]
    row_types = [_permuted_type(t, _to_back(t.ndim, axis)) for t in wanted]
    outs = ctx.host_kernel(
        kernel_call(kernel_name, *settings), rows, list(map(ctx.type, row_types))
    )
    back = [axis_back(ctx, y, t, axis) for y, t in zip(outs, row_types, strict=True)]
    return [
        _converted(ctx, y, w, t.dtype)[0] for y, w, t in zip(back, wanted, results, strict=True)
    ]


def _converted(ctx, x, t: ArrayType, dtype):
    if t.dtype == dtype:
        return x, t
    return ctx.convert(x, ctx.tensor(t.shape, dtype)), ArrayType(t.shape, dtype)


def _to_back(ndim: int, axis: int) -> list:
    return [i for i in range(ndim) if i != axis] + [axis]


def _permuted_type(t: ArrayType, perm) -> ArrayType:
    return ArrayType(tuple(t.shape[i] for i in perm), t.dtype)


def axis_last(ctx, x, t: ArrayType, axis: int):
    """A value with an axis moved to the back, and its type."""
    perm = _to_back(t.ndim, axis)
    to = _permuted_type(t, perm)
    return (x if axis == t.ndim - 1 else ctx.transpose(x, ctx.type(to), perm)), to


def axis_back(ctx, x, t: ArrayType, axis: int):
    """A value of type ``t`` with its last axis moved to where it was."""
    if axis == t.ndim - 1:
        return x
    perm = [*range(axis), t.ndim - 1, *range(axis, t.ndim - 1)]
    return ctx.transpose(x, ctx.type(_permuted_type(t, perm)), perm)


# Sorting


@kernel
def sort_rows(x, out):
    """NumPy's sort: vectorised, NaN last, complex numbers by real part, then imaginary part."""
    np.copyto(out, x)
    out.sort(axis=-1)


@kernel
def order_rows(*arrays):
    """Positions, the last array, that sort the others together: by the first, then the second, …"""
    *keys, positions = arrays
    positions[...] = stable_order(keys)


def stable_order(keys):
    """Positions that sort rows by the first key, ties by the second, …; ties of all stay in order."""
    order = None
    for key in reversed(keys):
        key = key if order is None else np.take_along_axis(key, order, -1)
        more = _order_by_key(key)
        order = more if order is None else np.take_along_axis(order, more, -1)
    return order


def _order_by_key(key):
    if key.dtype.kind == "c":
        return np.argsort(key, -1, kind="stable")
    bits = _ordered_bits(key)
    if bits.dtype.itemsize <= 4 and key.shape[-1] < 2**32:
        return _low_halves(_with_positions(bits))
    return _ties_in_order(bits, np.argsort(bits, -1))


def _with_positions(bits):
    """Key and position in one 64-bit word: sorting words is stable, and vectorised in NumPy."""
    words = bits.astype(np.uint64)
    words <<= np.uint64(32)
    words |= np.arange(bits.shape[-1], dtype=np.uint64)
    return words


def _low_halves(words):
    """The positions in words, in the order of the words."""
    words.sort(-1)
    words &= np.uint64(0xFFFFFFFF)
    return words.view(np.int64)


def _ties_in_order(bits, order):
    """A sorting order with the positions of equal keys put in order."""
    ranked = np.take_along_axis(bits, order, -1)
    new = ranked[..., 1:] != ranked[..., :-1]
    if new.all() or order.shape[-1] >= 2**32:
        return order if new.all() else np.argsort(bits, -1, kind="stable")
    runs = np.zeros(order.shape, np.uint64)
    np.cumsum(new, -1, out=runs[..., 1:])
    return _low_halves(runs << np.uint64(32) | order.astype(np.uint64))


def _ordered_bits(key):
    """Unsigned integers in the order of the keys: equal zeros, equal NaNs behind all numbers."""
    if key.dtype.kind == "u":
        return key
    bits = key.itemsize * 8
    unsigned = np.dtype(f"u{key.itemsize}")
    sign = unsigned.type(1 << (bits - 1))
    if key.dtype.kind == "i":
        return key.view(unsigned) ^ sign
    key = key + key.dtype.type(0)  # no negative zeros
    nan = key != key
    if nan.any():
        key[nan] = np.nan
    word = key.view(unsigned)
    negative = (key.view(np.dtype(f"i{key.itemsize}")) >> (bits - 1)).view(unsigned)
    return word ^ (negative | sign)


@kernel
def top_k_rows(x, values, positions, k):
    """The k largest of each row, in falling order, ties by position; NaN counts as largest."""
    falling = ~_ordered_bits(x)
    if falling.itemsize > 4 or x.shape[-1] >= 2**32:
        found = stable_order([falling])[..., :k]  # pyright: ignore[reportOptionalSubscript]
    else:
        found = _low_halves(_lowest(_with_positions(falling), k))
    positions[...] = found
    values[...] = np.take_along_axis(x, found, -1)


def _lowest(words, k: int):
    if 0 < k < words.shape[-1]:
        words.partition(k - 1, -1)
    return words[..., :k].copy()


@kernel
def argmax_rows(x, positions):
    """The first largest element of each row; a NaN is larger than anything."""
    _extremes(x, positions, np.argmax, np.greater)


@kernel
def argmin_rows(x, positions):
    """The first smallest element of each row; a NaN is smaller than anything."""
    _extremes(x, positions, np.argmin, np.less)


_THREADS_FROM = 1 << 18  # elements; a second thread costs some 20 µs


def _extremes(x, positions, find, beyond) -> None:
    """Positions of extremal elements: halves of the rows, or of the one row, side by side."""
    rows, out = x.reshape(-1, x.shape[-1]), positions.reshape(-1)
    if x.size < _THREADS_FROM or cores() == 1:
        out[:] = find(rows, -1)
    elif len(rows) > 1:

        def find_some(some):
            out[some] = find(rows[some], -1)

        in_halves(find_some, len(rows))
    else:
        [row], half = rows, rows.size // 2
        rest = _helper().submit(find, row[half:])
        first, second = find(row[:half]), half + rest.result()
        a, b = row[first], row[second]
        out[0] = second if a == a and (b != b or beyond(b, a)) else first


def in_halves(work, count: int) -> None:
    """Calls ``work`` on a slice of the numbers below ``count`` and on the other half's, side by side."""
    half = count // 2 if cores() > 1 else count
    rest = _helper().submit(work, slice(half, count)) if half < count else None
    work(slice(0, half))
    if rest:
        rest.result()


@functools.cache
def _helper():
    """The thread that works beside the one that runs a kernel."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(1, thread_name_prefix="xcore-kernel")


# Running totals


@kernel
def logaddexp_rows(x, out, backwards):
    """Running logarithms of sums of exponentials along rows, in float64: rounding errors add up."""
    if backwards:
        x, out = x[..., ::-1], out[..., ::-1]
    with np.errstate(all="ignore"):
        out[...] = np.logaddexp.accumulate(x, axis=-1, dtype=np.float64)


LOG_SUMS = Alternative(
    lambda ctx, x, **_: is_worth_it(ctx, x),
    lambda ctx, x, *, axis, reverse=False: on_rows(
        ctx, "logaddexp_rows", [(x, t := ctx.in_types[0].strong())], axis, [t], int(reverse)
    ),
)
