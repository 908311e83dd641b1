"""Routines of LAPACK on batches, piece by piece, so that no call waits for threads.

Where a program calls one of them only once, it may hand its matrices to threads, which is faster.

quirk: BATCHES_WAIT. A piece has so few matrices that the routine does not hand them to threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .quirks import BATCHES_WAIT

if TYPE_CHECKING:
    from .hlo import Builder
    from .mlir import RankedTensorType, Value

# Products of lengths that count as much work as one matrix may be, at most; more than jaxlib counts
_WORK = {"potrf": 2, "trsm": 4, "syevd": 60}
_HANDED_OVER_FROM = 200_000
_INT = np.dtype(np.int32)


def piece(routine: str, dtype: np.dtype[Any], shape: Sequence[int]) -> int | None:
    """How many matrices a piece may have; None where the routine does not wait for threads at all.

    >>> piece("potrf", np.dtype("float64"), (30, 2, 2)), piece("getrf", np.dtype("float64"), (30, 90, 90))
    (None, None)
    """
    if routine not in _WORK or not BATCHES_WAIT.is_here():
        return None
    rows, columns = shape[-2:]
    work = _WORK[routine] * rows * columns * max(rows, columns) * (4 if dtype.kind == "c" else 1)
    count = int(np.prod(shape[:-2], dtype=np.int64))
    if count < 2 or count * work < _HANDED_OVER_FROM:
        return None
    return min(count, max(1, (_HANDED_OVER_FROM - 1) // max(work, 1)))


def by_pieces(
    builder: Builder, few: int, operands: Sequence[Value], results: Sequence[RankedTensorType],
    call: Callable[[Sequence[Value], Sequence[RankedTensorType]], list[Value]],
) -> list[Value]:  # fmt: skip
    """Calls of ``few`` matrices at a time, in a loop; the last piece begins in the one before."""
    tensor = type(
        results[0]
    )  # not imported: programs from disk are asked for pieces without the bindings
    shape = tensor(operands[0].type).shape
    count, ndim = int(np.prod(shape[:-2], dtype=np.int64)), len(shape) - 2

    def flat(t: RankedTensorType, n: int) -> RankedTensorType:
        return tensor.get((n, *t.shape[ndim:]), t.element_type)

    def scalar(n: int) -> Value:
        return builder.constant(n, _INT)

    types = [tensor(x.type) for x in operands]
    given = [builder.reshape(x, flat(t, count)) for x, t in zip(operands, types, strict=True)]
    parts = [flat(t, few) for t in results]
    number = builder.tensor((), _INT)

    def more(start: Value, *_: Value) -> Value:
        return builder.compare(start, scalar(count), builder.tensor((), np.dtype(bool)), "LT")

    def step(start: Value, *made: Value) -> list[Value]:
        at = builder.one("stablehlo.minimum", number, [start, scalar(count - few)])

        def place(t: RankedTensorType) -> list[Value]:
            return [at, *(scalar(0) for _ in t.shape[1:])]

        pieces = [(x, flat(t, few)) for x, t in zip(given, types, strict=True)]
        found = call([builder.dynamic_slice(x, place(t), t, t.shape) for x, t in pieces], parts)
        after = builder.one("stablehlo.add", number, [start, scalar(few)])
        rows = zip(made, found, parts, strict=True)
        return [after, *(builder.dynamic_update_slice(x, y, place(t)) for x, y, t in rows)]

    blank = [builder.filled(flat(t, count), 0) for t in results]
    _, *made = builder.while_([scalar(0), *blank], more, step)
    return [builder.reshape(x, t) for x, t in zip(made, results, strict=True)]
