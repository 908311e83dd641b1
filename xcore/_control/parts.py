"""Programs that treat every row of their arguments alike, on a CPU in parts, one for each core in turn.

XLA runs kernels of loops on one core, and one after the other. So the program of a part is compiled
on its own, and the program around it calls it by way of the host, from as many threads as there are
cores. Its device runs programs on the threads that call them: it never waits for a thread that a
caller holds.
"""

from __future__ import annotations

import base64
import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .._backend import client as backend
from .._core import kernels
from .._core.compile import executable
from .._core.types import ArrayType
from .._ops.host import cores


class PartsCall:
    """A compiled program of ``rows`` rows, for a host kernel: called on parts of the operands, it
    fills the results. The last part ends with the last row, and may begin in the one before."""

    def __init__(self, loaded, rows: int, operands: int):
        self.loaded, self.rows, self.operands = loaded, rows, operands
        self._ready = None

    @property
    def key(self) -> str:
        blob = base64.b64encode(backend.serialize(self.loaded)).decode()
        return f"parts {self.rows} {self.operands} {blob}"

    @classmethod
    def stored(cls, rows: str, operands: str, blob: str):
        devices = (backend.worker(),)
        options = backend.compile_options(devices)
        loaded = backend.deserialize(base64.b64decode(blob), devices, options)
        return cls(loaded, int(rows), int(operands))

    def __call__(self, _, *buffers):
        arrays = list(map(np.asarray, buffers))
        run = self._ready = self._ready or self._runner(arrays)
        count = len(arrays[0])
        starts = iter(range(0, count, self.rows))

        def work():
            for start in starts:  # whoever is free takes the next part
                at = min(start, count - self.rows)
                run([x[at : at + self.rows] for x in arrays])

        others = [_threads().submit(work) for _ in range(cores() - 1)]
        work()
        for other in others:
            if not other.cancel():  # one that has not begun has nothing left to do
                other.result()

    def _runner(self, arrays):
        device = backend.worker()
        types = [ArrayType((self.rows, *x.shape[1:]), x.dtype) for x in arrays]
        put = [backend.viewer(t, device) for t in types[: self.operands]]
        results = types[self.operands :]
        places = [backend.one_device(device)] * len(results)
        run = backend.Executable(self.loaded, results, places, (device,))

        def part(slices):
            outs = run([f(x) for f, x in zip(put, slices)])
            for to, y in zip(slices[self.operands :], outs, strict=True):
                to[...] = backend.to_host(y)

        return part


kernels.forms["parts"] = PartsCall.stored


@functools.cache
def _threads():
    return ThreadPoolExecutor(cores() - 1, thread_name_prefix="xcore-parts")


def parts_call(program) -> PartsCall:
    """The call of a program of one part."""
    loaded = executable(program, (backend.worker(),)).loaded
    return PartsCall(loaded, program.in_types[0].shape[0], len(program.inputs))


def applies(ctx, program) -> bool:
    """Whether a program may run in parts here: NumPy has to know its dtypes."""
    types = [*program.in_types, *program.out_types]
    return ctx.platform == "cpu" and ctx.is_local and all(t.dtype.kind in "biufc" for t in types)
