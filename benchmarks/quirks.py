"""What the compiler's code for a CPU is slow at: the plain way beside ours, for each row of ``_backend/quirks.py``.

``python benchmarks/quirks.py`` prints a line each. A ratio near 1 says that the reason of a workaround has
gone: look at it again, and at the alternative in ``xcore/_cpu`` that its name leads to (``grep -rn NAME``).
Nothing is asserted: times are of the machine.
"""

import statistics
import time

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import lax, sparse
from xcore._backend import quirks
from xcore._control.call import in_one_kernel

rng = np.random.default_rng(0)
ROW = xnp.asarray(rng.standard_normal(2**18), "float32")
GRID = xnp.asarray(rng.standard_normal((512, 512)), "float32")
WIDE = xnp.asarray(rng.standard_normal((500, 500)), "float64")
LINE = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(500, 500), dtype="float64")
SPARSE = sparse.kronsum(LINE, LINE)


def loops(x):
    return lax.fori_loop(0, 50, lambda i, s: s * 0.5 + x, x)


def laplacian(x):
    return sum(xnp.roll(x, k, axis) for k in (1, -1) for axis in (0, 1)) - 4 * x


CALLS = {
    "SORT_SLOW": lambda: xnp.sort(ROW),
    "ARG_EXTREMUM_SLOW": lambda: xnp.argmax(ROW),
    "FFT_ROW_SLOW": lambda: xnp.fft.fft(ROW),
    "TRIG_BY_FFT_SLOW": lambda: xc.fft.dctn(GRID),
    "SPARSE_PRODUCT_SLOW": lambda: SPARSE @ WIDE.reshape(-1),
    "DOT_TRANSPOSED_SLOW": lambda: WIDE.T @ WIDE,
    "DOT_IN_REDUCTION_SLOW": lambda: (WIDE @ WIDE).sum(),
    "STENCILS_REPEATED": lambda: laplacian(laplacian(laplacian(GRID))),
    "REPEATS_STORED": lambda: WIDE / WIDE.sum(1, keepdims=True),
    "CONV_ONE_FEATURE_SLOW": lambda: xnp.convolve(ROW, ROW[:5]),
    "REDUCE_WINDOW_QUADRATIC": lambda: xnp.cumsum(ROW),  # plain is by doubling
    "LOOPS_ON_ONE_CORE": lambda: in_one_kernel(loops, GRID, part=64),
}


def milliseconds(call, plain: bool, repeats: int = 15) -> float:
    """The median time of a call that is compiled the one way or the other."""
    with xc.config.override(plain=plain):
        run, times = xc.jit(call), []
        run().block_until_ready()
        for _ in range(repeats):
            start = time.perf_counter()
            run().block_until_ready()
            times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


if __name__ == "__main__":
    rows = {name: q.what for name, q in vars(quirks).items() if isinstance(q, quirks.Slow)}
    assert set(rows) == set(CALLS), set(rows) ^ set(CALLS)
    for name, what in rows.items():
        ours, plain = (milliseconds(CALLS[name], way) for way in (False, True))
        print(
            f"{name:24s} {plain:8.2f} ms plain, {ours:8.2f} ms ours, {plain / ours:6.1f}   {what}"
        )
