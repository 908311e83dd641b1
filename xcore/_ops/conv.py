"""Convolution.

Layouts are fixed: x is (batch, features, *space), the kernel (out features, in features / groups,
*space), the result (batch, out features, *space). Public functions transpose into them.
"""

from __future__ import annotations

import itertools
import math

from .._core import Alternative, ArrayType, Linear, Op, dtypes, errors, trace_closed, typeof
from .dot import PRECISIONS, dot_general
from .elementwise import (
    and_,
    complex,
    convert,
    imag,
    mul,
    real,
    round_even,
    shift_left,
    shift_right_logical,
    sub,
)
from .families import add, broadcast, broadcast_in_dim, full_like_type, zeros
from .identity import optimization_barrier
from .layout import (
    concatenate,
    iota,
    merge_axes,
    move_axis,
    pad,
    reshape,
    rev,
    slice,
    split_axis,
    transpose,
)
from .slicing import GatherDims, gather


def _conv_out(n, k, stride, low, high, dilate_x, dilate_k) -> int:
    n = (n - 1) * dilate_x + 1 if n else 0
    k = (k - 1) * dilate_k + 1 if k else 0
    return max(0, (n + low + high - k) // stride + 1)


def _conv_type(x, kernel, *, strides, padding, lhs_dilation, rhs_dilation, groups=1,
               precision=None):  # fmt: skip
    if x.dtype != kernel.dtype:
        raise errors.dtype_mismatch("conv_general_dilated", lhs=x, rhs=kernel)
    fits = x.ndim == kernel.ndim >= 2 and x.shape[1] == kernel.shape[1] * groups
    if not fits or kernel.shape[0] % groups:
        raise errors.shape_mismatch("conv_general_dilated", "do not fit", lhs=x, rhs=kernel)
    space = [
        _conv_out(n, k, s, low, high, dx, dk)
        for n, k, s, (low, high), dx, dk in zip(
            x.shape[2:], kernel.shape[2:], strides, padding, lhs_dilation, rhs_dilation, strict=True
        )
    ]
    return [ArrayType((x.shape[0], kernel.shape[0], *space), x.dtype)]


def _conv_lower(ctx, x, kernel, *, groups=1, precision=None, **windows):
    if 0 in ctx.in_types[1].shape:  # a sum of nothing (quirk: EMPTY_CONVOLUTION_REFUSED)
        return ctx.full(ctx.out_types[0], 0)
    if ctx.platform != "cpu" and dtypes.is_complex(ctx.in_types[0].dtype):
        program = _by_parts(*ctx.in_types, groups=groups, precision=precision, **windows)
        return ctx.program(program, [x, kernel])[0]
    if ctx.platform == "cuda" and dtypes.is_integer(ctx.in_types[0].dtype):
        terms = math.prod(ctx.in_types[1].shape[1:])
        if terms > 2**21:
            ctx.refuse(
                f"on a GPU convolutions of integers may sum 2**21 products, given {terms}. "
                "Convert to float64: x.astype(float)."
            )
        program = _by_words(*ctx.in_types, groups=groups, **windows)
        return ctx.program(program, [x, kernel])[0]
    axes = tuple(range(ctx.in_types[0].ndim))
    return ctx.convolution(
        x, kernel, ctx.out(), numbers=(axes, axes, axes), groups=groups,
        precision=PRECISIONS[precision], **windows,
    )  # fmt: skip


def _by_parts(x: ArrayType, kernel: ArrayType, **params):
    """The program of real convolutions for a complex one, which the libraries of accelerators lack."""

    def parts(x, kernel):
        (a, b), (c, d) = ((real(v), imag(v)) for v in (x, kernel))
        ac, bd, ad, bc = (conv(*pair, **params) for pair in ((a, c), (b, d), (a, d), (b, c)))
        return [complex(sub(ac, bd), add(ad, bc))]

    return trace_closed(parts, [x.strong(), kernel.strong()])


def _by_words(x: ArrayType, kernel: ArrayType, **params):
    """The program of float64 convolutions for one of integers, which a GPU's library lacks.

    Integers are sums of words of 16 bits, Σ_k p_k 2^16k, modulo the range of their dtype. Sums of products of words
    are exact in float64 up to 2²¹ terms.
    """
    dtype, words = x.dtype, max(1, x.dtype.itemsize // 2)

    def split(x):
        wide = convert(x, dtype=dtypes.int64)
        mask = full_like_type(typeof(wide), 2**16 - 1)
        moved = [
            shift_right_logical(wide, full_like_type(typeof(wide), 16 * k)) for k in range(words)
        ]
        parts = [and_(x, mask) for x in moved]
        return [convert(p, dtype=dtypes.float64) for p in (parts if words > 1 else [wide])]

    def whole(x, kernel):
        total, pieces = None, (split(x), split(kernel))
        for i, j in itertools.product(range(words), repeat=2):
            if i + j < words:
                part = round_even(conv(pieces[0][i], pieces[1][j], **params))
                part = convert(part, dtype=dtypes.int64)
                part = shift_left(part, full_like_type(typeof(part), 16 * (i + j)))
                total = part if total is None else add(total, part)
        return [convert(total, dtype=dtype)]

    return trace_closed(whole, [x.strong(), kernel.strong()])


def _is_of_something(ctx, x, kernel, **_) -> bool:
    return 0 not in kernel.shape


def _sum_of_shifts(ctx, x, kernel, *, groups=1, precision=None, **windows):
    program = _by_taps(*ctx.in_types, groups, windows)
    return ctx.program(program, [x, kernel])[0] if program else NotImplemented


def _conv_jvp(primals, tangents, **params):
    x, kernel = primals
    gx, gk = tangents
    terms = [conv(gx, kernel, **params)] if gx is not None else []
    terms += [conv(x, gk, **params)] if gk is not None else []
    return [conv(x, kernel, **params)], [add(*terms) if len(terms) == 2 else terms[0]]


def _swap_in_groups(kernel, groups: int):
    """(out, in/groups) to (in, out/groups), group by group."""
    split = split_axis(kernel, 0, groups)  # groups, out/groups, in/groups, …
    return merge_axes(swap_axes(split, 1, 2), 0)


def swap_axes(x, a: int, b: int):
    perm = list(range(typeof(x).ndim))
    perm[a], perm[b] = b, a
    return transpose(x, perm=tuple(perm))


def _conv_transpose(cotangents, x, kernel, *, groups=1, precision=None, **windows):
    (ct,) = cotangents
    if isinstance(x, Linear):
        return [_conv_x_cotangent(ct, x.type, kernel, groups, precision, **windows), None]
    return [None, _conv_kernel_cotangent(ct, x, kernel.type, groups, precision, **windows)]


def _spatial(windows):
    return zip(
        windows["strides"],
        windows["padding"],
        windows["lhs_dilation"],
        windows["rhs_dilation"],
        strict=True,
    )


def _conv_x_cotangent(ct, x, kernel, groups, precision, **windows):
    # the full correlation of ct (dilated by the strides) with the flipped kernel
    padding = []
    space = zip(
        x.shape[2:], typeof(kernel).shape[2:], typeof(ct).shape[2:], _spatial(windows), strict=True
    )
    for n, k, m, (stride, (low, _), dilate_x, dilate_k) in space:
        reach = (k - 1) * dilate_k + 1
        before = reach - 1 - low
        wide_in, wide_out = (n - 1) * dilate_x + 1, (m - 1) * stride + 1 if m else 0
        padding.append((before, wide_in + reach - 1 - wide_out - before))
    flipped = rev(_swap_in_groups(kernel, groups), axes=tuple(range(2, x.ndim)))
    return conv(
        ct, flipped, strides=windows["lhs_dilation"], padding=tuple(padding),
        lhs_dilation=windows["strides"], rhs_dilation=windows["rhs_dilation"], groups=groups,
        precision=precision,
    )  # fmt: skip


def _conv_kernel_cotangent(ct, x, kernel, groups, precision, **windows):
    # the roles of batch and features exchanged; groups are looped by folding them into the batch
    padding = []
    space = zip(
        typeof(x).shape[2:], kernel.shape[2:], typeof(ct).shape[2:], _spatial(windows), strict=True
    )
    for n, k, m, (stride, (low, _), dilate_x, dilate_k) in space:
        wide_in, wide_ct = (n - 1) * dilate_x + 1 if n else 0, (m - 1) * stride + 1 if m else 0
        padding.append((low, (k - 1) * dilate_k + wide_ct - wide_in - low))
    # x: (N, G*I, …) → (I, G*N, …): features become the batch, each group its own feature group
    xs = split_axis(x, 1, groups)  # N, G, I, …
    rest = tuple(range(3, typeof(xs).ndim))
    xs = merge_axes(transpose(xs, perm=(2, 1, 0, *rest)), 1)
    cts = swap_axes(ct, 0, 1)  # (O, N, …): a kernel with N inputs in each of G groups
    out = conv(
        xs, cts, strides=windows["rhs_dilation"], padding=tuple(padding),
        lhs_dilation=windows["lhs_dilation"], rhs_dilation=windows["strides"], groups=groups,
        precision=precision,
    )  # fmt: skip
    return swap_axes(out, 0, 1)


def _conv_batch(size, args, batched, *, groups=1, **params):
    x, kernel = args
    if not batched[1]:  # vmap's batch is folded into the images' own
        out = conv(merge_axes(x, 0), kernel, groups=groups, **params)
        return [split_axis(out, 0, size)], [True]
    if not batched[0] and groups == 1:  # all kernels at once: the batch among the out features
        out = conv(x, merge_axes(kernel, 0), **params)
        return [move_axis(split_axis(out, 1, size), 1, 0)], [True]
    x = x if batched[0] else broadcast(x, size)
    # every batch element a group of its own: (B, N, C, …) → (N, B*C, …)
    xs = merge_axes(move_axis(x, 0, 1), 1)
    out = conv(xs, merge_axes(kernel, 0), groups=groups * size, **params)
    return [move_axis(split_axis(out, 1, size), 1, 0)], [True]


def groups_of_the_batch(x, groups: int):
    """(N, C, …) to (N/groups, groups*C, …): a convolution by groups of the batch is one by features."""
    if typeof(x).shape[0] % groups:
        raise errors.bad_argument(
            "lax.conv_general_dilated", "batch_group_count", groups,
            f"a divisor of the batch size {typeof(x).shape[0]}",
        )  # fmt: skip
    return merge_axes(swap_axes(split_axis(x, 0, groups), 0, 1), 1)


conv = Op(
    "convolution", type=_conv_type, lower=_conv_lower, jvp=_conv_jvp, transpose=_conv_transpose,
    batch=_conv_batch, alternatives=[Alternative(_is_of_something, _sum_of_shifts)],
)  # fmt: skip


# Short kernels on the CPU. (quirk: CONV_ONE_FEATURE_SLOW)
# XLA's code for one feature along one axis is slow. A sum of shifted copies, one for each tap, is one
# pass of vector code; longer kernels are a product of overlapping frames with a band matrix, which
# has more terms than needed, but at the speed of matrix products. In ms, on one core of an Intel Xeon
# at 2.5 GHz: 10^6 float32 with 5 taps: XLA 68, NumPy 2.4, this 0.6; 100 taps: NumPy 52, this 6;
# a batch of 64 rows of 1000 with 9 taps: XLA 2.1, PyTorch 0.6, this 0.1.

_FEW_TAPS, _MOST_TAPS, _PIECE = 8, 32, 1 << 14


def _by_taps(x: ArrayType, kernel: ArrayType, groups: int, windows):
    """The program for a kernel that XLA is slow at, or None."""
    if x.ndim != 3 or kernel.shape[1] != 1 or windows["lhs_dilation"] != (1,):
        return None
    if 0 in x.shape or _length_out(x, kernel, windows) < 1:
        return None
    taps, alone = kernel.shape[2], groups == 1 == kernel.shape[0]
    alone = alone and windows["strides"] == windows["rhs_dilation"] == (1,)
    if alone and taps > _FEW_TAPS and x.dtype in (dtypes.float32, dtypes.float64):
        body = _frames_by_band
    elif taps <= _MOST_TAPS:
        body = _shifted_sum
    else:
        return None
    return trace_closed(lambda a, k: [body(a, k, groups, **windows)], [x.strong(), kernel.strong()])


def _length_out(x: ArrayType, kernel: ArrayType, windows) -> int:
    """The length of the result."""
    ((low, high),) = windows["padding"]
    (stride,), (dilation,) = windows["strides"], windows["rhs_dilation"]
    return _conv_out(x.shape[2], kernel.shape[2], stride, low, high, 1, dilation)


def _padded(x, padding):
    """x zero-padded along its last axis, in memory, so that no tap needs a bounds check."""
    ((low, high),) = padding
    if not low and not high:
        return x
    zero = zeros(ArrayType((), typeof(x).dtype))
    x = pad(x, zero, low=(0, 0, low), high=(0, 0, high), interior=(0, 0, 0))
    return optimization_barrier(x)[0]


def _shifted_sum(x, kernel, groups, strides, padding, lhs_dilation, rhs_dilation):
    """The sum over taps of the shifted x times the tap."""
    result = typeof(x).dtype
    work = dtypes.float32 if dtypes.is_floating(result) and result.itemsize < 4 else result
    x = _padded(convert(x, dtype=work) if work != result else x, padding)
    kernel = convert(kernel, dtype=work) if work != result else kernel
    (n, _, length), (out, _, taps) = typeof(x).shape, typeof(kernel).shape
    (stride,), (dilation,) = strides, rhs_dilation
    size = (length - (taps - 1) * dilation - 1) // stride + 1
    shape, total = (n, groups, out // groups, size), None
    for t in range(taps):
        at = t * dilation
        stop = at + (size - 1) * stride + 1
        part = slice(x, start=(0, 0, at), limit=(n, groups, stop), strides=(1, 1, stride))
        tap = slice(kernel, start=(0, 0, t), limit=(out, 1, t + 1), strides=(1, 1, 1))
        tap = broadcast_in_dim(reshape(tap, shape=shape[1:3]), shape=shape, dims=(1, 2))
        term = mul(broadcast_in_dim(part, shape=shape, dims=(0, 1, 3)), tap)
        total = term if total is None else add(total, term)
        if taps > 5 and t % 4 == 3:  # LLVM's vector code for more terms at once is slow
            total = optimization_barrier(total)[0]
    total = reshape(total, shape=(n, out, size))
    return convert(total, dtype=result) if work != result else total


def _frames_by_band(x, kernel, groups, strides, padding, lhs_dilation, rhs_dilation):
    """Overlapping frames of x times a matrix with the kernel along its diagonals."""
    ((low, high),) = padding
    length, taps = typeof(x).shape[2], typeof(kernel).shape[2]
    size = low + length + high - taps + 1
    piece = min(taps, _PIECE)  # frames and matrix would become large for a kernel as a whole
    block = 64 if piece <= 128 else 256 if piece <= 1024 else 1024
    count = -(-size // block)
    more = -(-(block + piece - 1) // block)  # blocks that a frame reaches into
    pieces = range(0, taps, piece)
    x = _padded(x, [(low, pieces[-1] + (count + more) * block - low - length)])
    total = None
    for start in pieces:
        part = _cut(kernel, start, min(start + piece, taps))
        frames = _frames(
            _cut(x, start, start + (count + more) * block), block, count, typeof(part).shape[2]
        )
        band = _band(part, typeof(frames).shape[2], block)
        term = dot_general(frames, band, contract=((2,), (0,)), batch=((), ()))
        total = term if total is None else add(total, term)
    rows = typeof(x).shape[0]
    return _cut(reshape(total, shape=(rows, 1, count * block)), 0, size)


def _cut(x, start: int, stop: int):
    a, b, n = typeof(x).shape
    return (
        x
        if stop - start == n
        else slice(x, start=(0, 0, start), limit=(a, b, stop), strides=(1, 1, 1))
    )


def _frames(x, block: int, count: int, taps: int):
    """For each block the elements that its results depend on."""
    rows, _, length = typeof(x).shape
    blocks = reshape(x, shape=(rows, length // block, block))
    width, parts = block + taps - 1, []
    for i in range(-(-width // block)):
        limit = (rows, i + count, min(block, width - i * block))
        parts.append(slice(blocks, start=(0, i, 0), limit=limit, strides=(1, 1, 1)))
    return concatenate(*parts, axis=2) if len(parts) > 1 else parts[0]


def _band(kernel, width: int, block: int):
    """The matrix whose column b holds the kernel from row b on."""
    zero = zeros(ArrayType((), typeof(kernel).dtype))
    wide = pad(kernel, zero, low=(0, 0, block - 1), high=(0, 0, block), interior=(0, 0, 0))
    taps = typeof(wide).shape[2]
    t = ArrayType((width, block), dtypes.int32)
    rows, columns = (iota(shape=t.shape, dtype=t.dtype, axis=i) for i in (0, 1))
    where = add(sub(rows, columns), full_like_type(t, block - 1))
    where = reshape(where, shape=(width * block, 1))
    found = gather(
        reshape(wide, shape=(taps,)),
        where,
        dims=GatherDims((), (0,), (0,)),
        sizes=(1,),
        mode="promise",
    )
    return reshape(found, shape=(width, block))
