"""Fourier transforms of arrays over several devices, each of which transforms its own rows.

XLA's partitioner gathers what it transforms, whatever axes are split (quirk: FFT_GATHERED). So a
transform is written as a call that it leaves to us: it asks which parts we want and what to do with
them. We want whole rows, split as the result is along the other axes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from . import surface as _jax
    from . import surface as xla
    from .hlo import Builder
    from .mlir import Value
    from .surface import HloSharding, Shape
else:
    from jaxlib import _jax
    from jaxlib import xla_client as xla

from .client import tiles_of

TARGET = "xcore_fft_of_rows"


def describe(
    kind: str, lengths: Iterable[int], dtype_in: np.dtype[Any], dtype_out: np.dtype[Any]
) -> str:
    """A transform as text, which travels with the call."""
    return " ".join([kind, str(np.dtype(dtype_in)), str(np.dtype(dtype_out)), *map(str, lengths)])


def _parse(text: str | bytes) -> tuple[str, np.dtype[Any], np.dtype[Any], tuple[int, ...]]:
    text = text.decode() if isinstance(text, bytes) else text
    kind, dtype_in, dtype_out, *lengths = text.split()
    return kind, np.dtype(dtype_in), np.dtype(dtype_out), tuple(map(int, lengths))


def _whole_rows(sharding: HloSharding, ndim: int, rows: int) -> HloSharding:
    """The sharding with its last ``rows`` axes not split: their parts become copies."""
    if sharding.is_replicated():
        return sharding
    count = sharding.num_devices()
    tiles = tiles_of(sharding.to_proto(), count, ndim)
    lead = tiles.shape[: ndim - rows]
    proto = xla.OpSharding()
    proto.type = xla.OpSharding.Type.OTHER
    proto.tile_assignment_dimensions = [*lead, *[1] * rows, tiles.size // math.prod(lead)]
    proto.tile_assignment_devices = [int(i) for i in tiles.flat]
    proto.replicate_on_last_tile_dim = True
    return xla.HloSharding.from_proto(proto)


@functools.cache
def ensure(builder_class: type[Builder]) -> None:
    """Tell XLA of the call, once; ``builder_class`` writes what a device does."""

    def partition(
        arg_shapes: list[Shape], _: list[HloSharding], result_shape: Shape,
        result_sharding: HloSharding, text: str | bytes,
    ) -> tuple[bytes, list[HloSharding], HloSharding]:  # fmt: skip
        kind, dtype_in, dtype_out, lengths = _parse(text)
        (arg_shape,) = arg_shapes
        kept = _whole_rows(result_sharding, len(result_shape.dimensions()), len(lengths))
        builder = builder_class("cpu")

        def rows(x: Value) -> list[Value]:
            return [builder.fft(x, made, kind, lengths)]

        try:
            given = builder.tensor(kept.tile(arg_shape).dimensions(), dtype_in)
            made = builder.tensor(kept.tile(result_shape).dimensions(), dtype_out)
            builder.function("main", [given], [made], rows, public=True)
            return builder.bytecode(), [kept], kept
        finally:
            builder.close()

    def backwards(sharding: HloSharding, shape: Shape, text: str | bytes) -> HloSharding:
        return _whole_rows(sharding, len(shape.dimensions()), len(_parse(text)[3]))

    def forwards(
        _: list[Shape], arg_shardings: list[HloSharding], result_shape: Shape, text: str | bytes
    ) -> HloSharding:
        return backwards(arg_shardings[0], result_shape, text)

    _jax.register_custom_call_partitioner(
        TARGET, backwards, partition, forwards, can_side_effecting_have_replicated_sharding=True
    )
