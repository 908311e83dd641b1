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
else:
    from jaxlib.mlir.ir import RankedTensorType

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
    call: Callable[[list[Value], list[RankedTensorType]], list[Value]],
) -> list[Value]:  # fmt: skip
    """Calls of ``few`` matrices at a time, in a loop; the last piece begins in the one before."""
    shape = RankedTensorType(operands[0].type).shape
    count, ndim = int(np.prod(shape[:-2], dtype=np.int64)), len(shape) - 2
    flat = lambda t, n: RankedTensorType.get((n, *t.shape[ndim:]), t.element_type)  # noqa: E731
    given_types = [RankedTensorType(x.type) for x in operands]
    given = [builder.reshape(x, flat(t, count)) for x, t in zip(operands, given_types, strict=True)]
    whole, parts = ([flat(t, n) for t in results] for n in (count, few))
    number, scalar = builder.tensor((), _INT), lambda n: builder.constant(n, _INT)
    blank = [builder.filled(t, 0) for t in whole]

    def more(start: Value, *_: Value) -> Value:
        return builder.compare(start, scalar(count), builder.tensor((), np.dtype(bool)), "LT")

    def step(start: Value, *made: Value) -> list[Value]:
        at = builder.one("stablehlo.minimum", number, [start, scalar(count - few)])
        place = lambda t: [at, *[scalar(0)] * (len(t.shape) - 1)]  # noqa: E731
        cut = [
            builder.dynamic_slice(x, place(t), t, t.shape)
            for x, t in zip(given, [flat(t, few) for t in given_types], strict=True)
        ]
        found = call(cut, parts)
        after = builder.one("stablehlo.add", number, [start, scalar(few)])
        rows = zip(made, found, parts, strict=True)
        return [after, *(builder.dynamic_update_slice(x, y, place(t)) for x, y, t in rows)]

    _, *made = builder.while_([scalar(0), *blank], more, step)
    return [builder.reshape(x, t) for x, t in zip(made, results, strict=True)]
