"""Programs that treat every row of their arguments alike, on a CPU in parts, one for each core in turn.

XLA runs kernels of loops on one core, and one after the other (quirk: LOOPS_ON_ONE_CORE). So the
program of a part is compiled on its own, and the program around it calls it by way of the host, from
as many threads as there are cores. Its device runs programs on the threads that call them: it never
waits for a thread that a caller holds.
"""

from __future__ import annotations

import functools

import numpy as np

from .._backend import client as backend
from .._backend.options import compile_options
from .._core import Alternative, ArrayType
from .._core.compile import executable
from .._core.kernels import form
from .rows import cores


class PartsCall:
    """A compiled program of ``rows`` rows, for a host kernel: called on parts of the operands, it
    fills the results. The last part ends with the last row, and may begin in the one before."""

    def __init__(self, loaded, rows: int, operands: int):
        self.loaded, self.rows, self.operands = loaded, rows, operands
        self._ready = None

    @property
    def key(self) -> str:
        return f"parts {self.rows} {self.operands}"

    @property
    def blob(self) -> bytes:
        return backend.serialize(self.loaded)

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


@form("parts")
def _load(rows: str, operands: str, blob: bytes) -> PartsCall:
    devices = (backend.worker(),)
    loaded = backend.deserialize(blob, devices, compile_options(devices))
    return PartsCall(loaded, int(rows), int(operands))


@functools.cache
def _threads():
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(cores() - 1, thread_name_prefix="xcore-parts")


def _applies(ctx, *types, program, part) -> bool:
    """Whether a program may run in parts here: NumPy has to know its dtypes."""
    if part is None or not ctx.is_local:
        return False
    return all(t.dtype.kind in "biufc" for t in [*part.in_types, *part.out_types])


def _lower(ctx, *values, program, part):
    loaded = executable(part, (backend.worker(),)).loaded
    call = PartsCall(loaded, part.in_types[0].shape[0], len(part.inputs))
    return ctx.host_kernel(call, values, ctx.outs())


IN_PARTS = Alternative(_applies, _lower)
