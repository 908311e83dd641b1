"""Calls that each of several devices answers for its own part of a batch.

XLA's partitioner gathers what a Fourier transform works on, whatever axes are split, and knows no
loop over the part of a batch that a device has. So both are written as calls that it leaves to us:
it asks which parts we want and what to do with them. We want whole rows or matrices, split as the
first result is along the other axes.

quirk: FFT_GATHERED, and quirk: BATCHES_WAIT.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import surface as _jax
    from . import surface as xla
    from .hlo import Builder
    from .mlir import RankedTensorType, Value
    from .surface import HloSharding, Shape

    Write = Callable[[Builder, tuple[Value, ...], list[RankedTensorType]], list[Value]]
else:
    from jaxlib import _jax
    from jaxlib import xla_client as xla

from .placements import tiles_of

FFT, ROUTINE = "xcore_fft_of_rows", "xcore_routine_of_batch"


def _transform(kind: str, lengths: tuple[int, ...]) -> Write:
    return lambda builder, values, types: [builder.fft(values[0], types[0], kind, lengths)]


def _routine(name: str, dtype: str, settings: dict[str, Any]) -> Write:
    return lambda builder, values, types: builder.routine(name, dtype, values, types, **settings)


WRITERS: dict[str, Callable[..., Write]] = {FFT: _transform, ROUTINE: _routine}


def _whole_rows(
    sharding: HloSharding, ndim: int, rows: int, want: int | None = None
) -> HloSharding:
    """The sharding with its last ``rows`` axes not split: their parts become copies.

    For an array of ``want`` axes, of which the first are the same.
    """
    if sharding.is_replicated():
        return sharding
    count = sharding.num_devices()
    tiles = tiles_of(sharding.to_proto(), count, ndim)
    lead = tiles.shape[: ndim - rows]
    more = (ndim if want is None else want) - len(lead)
    proto = xla.OpSharding()
    proto.type = xla.OpSharding.Type.OTHER
    proto.tile_assignment_dimensions = [*lead, *[1] * more, tiles.size // math.prod(lead)]
    proto.tile_assignment_devices = [int(i) for i in tiles.flat]
    proto.replicate_on_last_tile_dim = True
    return xla.HloSharding.from_proto(proto)


def _parts(shape: Shape) -> list[Shape]:
    return shape.tuple_shapes() if shape.is_tuple() else [shape]


def described(rows: int, given: Iterable[str], made: Iterable[str], call: Sequence[Any]) -> str:
    """What travels with a call: axes of a row or matrix, elements of operands and results, arguments of the writer."""
    return repr((rows, tuple(given), tuple(made), tuple(call)))


def _parse(text: str | bytes) -> Any:
    return ast.literal_eval(text.decode() if isinstance(text, bytes) else text)


@functools.cache
def ensure(builder_class: type[Builder], target: str) -> None:
    """Tell XLA of a call, once; ``builder_class`` writes what a device does."""

    def kept(
        sharding: HloSharding, like: Shape, rows: int, shapes: list[Shape]
    ) -> list[HloSharding]:
        ndim = len(like.dimensions())
        return [_whole_rows(sharding, ndim, rows, len(s.dimensions())) for s in shapes]

    def partition(
        arg_shapes: list[Shape], _: list[HloSharding], result_shape: Shape,
        result_sharding: HloSharding, text: str | bytes,
    ) -> tuple[bytes, list[HloSharding], HloSharding]:  # fmt: skip
        rows, given, made, call = _parse(text)
        results, several = _parts(result_shape), result_shape.is_tuple()
        first = result_sharding.tuple_elements()[0] if several else result_sharding
        ins = kept(first, results[0], rows, arg_shapes)
        outs = kept(first, results[0], rows, results)
        builder = builder_class("cpu")

        def local(s: HloSharding, shape: Shape, element: str) -> RankedTensorType:
            return builder.tensor_of(s.tile(shape).dimensions(), element)

        try:
            types = list(map(local, outs, results, made))
            builder.function(
                "main", list(map(local, ins, arg_shapes, given)), types,
                lambda *values: WRITERS[target](*call)(builder, values, types), public=True,
            )  # fmt: skip
            whole = xla.HloSharding.tuple_sharding(result_shape, outs) if several else outs[0]
            return builder.bytecode(), ins, whole
        finally:
            builder.close()

    def backwards(sharding: HloSharding, shape: Shape, text: str | bytes) -> HloSharding:
        first = sharding.tuple_elements()[0] if shape.is_tuple() else sharding
        return _whole_rows(first, len(_parts(shape)[0].dimensions()), _parse(text)[0])

    def forwards(
        arg_shapes: list[Shape], arg_shardings: list[HloSharding], result_shape: Shape,
        text: str | bytes,
    ) -> HloSharding:  # fmt: skip
        results = _parts(result_shape)
        outs = kept(arg_shardings[0], arg_shapes[0], _parse(text)[0], results)
        several = result_shape.is_tuple()
        return xla.HloSharding.tuple_sharding(result_shape, outs) if several else outs[0]

    _jax.register_custom_call_partitioner(
        target, backwards, partition, forwards, can_side_effecting_have_replicated_sharding=True
    )
