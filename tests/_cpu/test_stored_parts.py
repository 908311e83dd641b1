"""Programs of parts that were read from disk are written again as they were: what is around them keeps a copy."""

import numpy as np

from xcore._backend import client
from xcore._backend.options import compile_options
from xcore._core.compile import executable
from xcore._core.program import trace_closed
from xcore._core.types import ArrayType
from xcore.linalg._elimination import substitute


def test_what_was_read_is_written_as_it_was():
    types = [ArrayType((4, 4), np.dtype(np.float32)), ArrayType((4, 1), np.dtype(np.float32))]
    p = trace_closed(lambda t, b: [substitute(t, b, lower=True)], types)
    devices = (client.worker(),)
    blob = client.serialize(executable(p, devices).loaded)
    again = client.deserialize(blob, devices, compile_options(devices))
    assert client.serialize(again) == blob
