"""The order of a matrix's rows after exchanges."""

from __future__ import annotations

import math

import numpy as np

from .._core import ArrayType
from .._core.kernels import kernel, kernel_call

_ROWS_FOR_KERNEL = 64  # fewer are exchanged faster in compiled code


def rows_by_kernel(ctx, t: ArrayType) -> bool:
    """Whether the order of one matrix's rows is found by the host: that saves compiling a loop."""
    *batch, m, _ = t.shape
    return ctx.tuned and ctx.is_local and math.prod(batch) == 1 and m >= _ROWS_FOR_KERNEL


def order_by_kernel(ctx, pivots, m: int, reverse: bool):
    call = kernel_call("exchanged_order", int(reverse))
    return ctx.host_kernel(call, [pivots], [ctx.tensor((m,), np.int32)])[0]


@kernel
def exchanged_order(pivots, order, reverse):
    """Where rows come from when row i is exchanged with row pivots[i] in turn, or in reverse."""
    numbers = list(range(order.shape[-1]))
    exchanges = list(enumerate(pivots.reshape(-1).tolist()))
    for i, p in reversed(exchanges) if reverse else exchanges:
        numbers[i], numbers[p] = numbers[p], numbers[i]
    order[...] = numbers
