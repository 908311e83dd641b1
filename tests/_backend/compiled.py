"""Modules written by a test, compiled and run on the CPU."""

import numpy as np

from xcore._backend import client, hlo, options
from xcore._core.types import ArrayType


def type_of(shape, dtype):
    return ArrayType(tuple(shape), np.dtype(dtype))


def run(write, arguments, results):
    """The results of a module whose body is ``write(builder, values, result types)``."""
    device = client.client("cpu").local_devices()[0]
    operands = [type_of(a.shape, a.dtype) for a in arguments]
    builder = hlo.Builder("cpu")
    try:
        out = [builder.type(t) for t in results]
        builder.function(
            "main", [builder.type(t) for t in operands], out,
            lambda *values: write(builder, list(values), out), public=True,
        )  # fmt: skip
        builder.verify()
        loaded = client.compile_module(
            builder.module, (device,), options.compile_options((device,)), builder.callbacks
        )
    finally:
        builder.close()
    shardings = [client.one_device(device)] * len(results)
    executable = client.Executable(loaded, results, shardings, (device,))
    buffers = [client.put(a, t, device) for a, t in zip(arguments, operands)]
    return [np.array(client.to_host(b)) for b in executable(buffers)]
