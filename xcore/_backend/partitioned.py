"""Fourier transforms of arrays over several devices, each of which transforms its own rows.

XLA's partitioner gathers what it transforms, whatever axes are split. So a transform is written as a
call that it leaves to us: it asks which parts we want and what to do with them. We want whole rows,
split as the result is along the other axes.
"""

from __future__ import annotations

import functools

import numpy as np
from jaxlib import _jax
from jaxlib import xla_client as xla

from .client import tiles_of

TARGET = "xcore_fft_of_rows"


def describe(kind: str, lengths, dtype_in, dtype_out) -> str:
    """A transform as text, which travels with the call."""
    return " ".join([kind, str(np.dtype(dtype_in)), str(np.dtype(dtype_out)), *map(str, lengths)])


def _parse(text):
    text = text.decode() if isinstance(text, bytes) else text
    kind, dtype_in, dtype_out, *lengths = text.split()
    return kind, np.dtype(dtype_in), np.dtype(dtype_out), tuple(map(int, lengths))


def _whole_rows(sharding, ndim: int, rows: int):
    """The sharding with its last ``rows`` axes not split: their parts become copies."""
    if sharding.is_replicated():
        return sharding
    count = sharding.num_devices()
    tiles = tiles_of(sharding.to_proto(), count, ndim)
    lead = tiles.shape[: ndim - rows]
    proto = xla.OpSharding()
    proto.type = xla.OpSharding.Type.OTHER
    proto.tile_assignment_dimensions = [*lead, *[1] * rows, tiles.size // int(np.prod(lead))]
    proto.tile_assignment_devices = [int(i) for i in tiles.flat]
    proto.replicate_on_last_tile_dim = True
    return xla.HloSharding.from_proto(proto)


@functools.cache
def ensure(builder_class) -> None:
    """Tell XLA of the call, once; ``builder_class`` writes what a device does."""

    def partition(arg_shapes, arg_shardings, result_shape, result_sharding, text):
        kind, dtype_in, dtype_out, lengths = _parse(text)
        (arg_shape,) = arg_shapes
        kept = _whole_rows(result_sharding, len(result_shape.dimensions()), len(lengths))
        builder = builder_class("cpu")
        try:
            given = builder.tensor(kept.tile(arg_shape).dimensions(), dtype_in)
            made = builder.tensor(kept.tile(result_shape).dimensions(), dtype_out)
            builder.function(
                "main",
                [given],
                [made],
                lambda x: [builder.fft(x, made, kind, lengths)],
                public=True,
            )
            return builder.bytecode(), [kept], kept
        finally:
            builder.close()

    def backwards(sharding, shape, text):
        return _whole_rows(sharding, len(shape.dimensions()), len(_parse(text)[3]))

    def forwards(arg_shapes, arg_shardings, result_shape, text):
        return backwards(arg_shardings[0], result_shape, text)

    _jax.register_custom_call_partitioner(
        TARGET, backwards, partition, forwards, can_side_effecting_have_replicated_sharding=True
    )
