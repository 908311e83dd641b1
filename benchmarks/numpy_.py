"""xcore.numpy beside jax.numpy, NumPy, PyTorch and SciPy, CPU.

The file's name ends in an underscore because a `numpy.py` here would hide NumPy from every script.
"""

import itertools
import timeit
from functools import partial

import numpy as np
import scipy.fft
import torch
from harness import Bench, Lib, Thunk, compiled, library, on_device

bench = Bench(
    "The NumPy surface beside jax.numpy; on 10⁶ float32 beside NumPy, and beside the faster of NumPy "
    "and PyTorch, each with its default threads; transforms of PDE solvers beside SciPy."
)
rng = np.random.default_rng(0)

# 25 common calls beside jax: eager on small arrays, compiled on large ones

CALLS = {
    "add": lambda xnp, x, y: x + y,
    "x * 2": lambda xnp, x, y: x * 2,
    "exp": lambda xnp, x, y: xnp.exp(x),
    "tanh": lambda xnp, x, y: xnp.tanh(x),
    "x ** 2": lambda xnp, x, y: x**2,
    "maximum": lambda xnp, x, y: xnp.maximum(x, y),
    "clip": lambda xnp, x, y: xnp.clip(x, -1.0, 1.0),
    "where": lambda xnp, x, y: xnp.where(x > y, x, y),
    "isfinite": lambda xnp, x, y: xnp.isfinite(x),
    "sum": lambda xnp, x, y: xnp.sum(x),
    "sum, axis 0": lambda xnp, x, y: xnp.sum(x, axis=0),
    "mean, axis 1": lambda xnp, x, y: xnp.mean(x, axis=1),
    "std": lambda xnp, x, y: xnp.std(x),
    "max, axis 1": lambda xnp, x, y: xnp.max(x, axis=1),
    "argmax, axis 1": lambda xnp, x, y: xnp.argmax(x, axis=1),
    "cumsum": lambda xnp, x, y: xnp.cumsum(x, axis=1),
    "sort": lambda xnp, x, y: xnp.sort(x, axis=1),
    "matmul": lambda xnp, x, y: x @ y,
    "einsum": lambda xnp, x, y: xnp.einsum("ij,kj->ik", x, y),
    "linalg.norm": lambda xnp, x, y: xnp.linalg.norm(x),
    "transpose": lambda xnp, x, y: xnp.transpose(x),
    "reshape": lambda xnp, x, y: xnp.reshape(x, -1),
    "concatenate": lambda xnp, x, y: xnp.concatenate([x, y], axis=0),
    "stack": lambda xnp, x, y: xnp.stack([x, y]),
    "x[1:-1, ::2]": lambda xnp, x, y: x[1:-1, ::2],
}
SMALL = [rng.standard_normal((8, 8)).astype(np.float32) for _ in range(2)]
LARGE = [rng.standard_normal((1000, 1000)).astype(np.float32) for _ in range(2)]


def eager(call, lib: Lib) -> Thunk:
    return partial(call, lib.numpy, *on_device(lib, SMALL))


def steady(call, lib: Lib) -> Thunk:
    return compiled(lib, lambda lib: partial(call, lib.numpy), LARGE)


for name, call in CALLS.items():
    bench.time(f"eager {name}", bar=0.75)(partial(eager, call))
for name, call in CALLS.items():
    bench.time(f"compiled {name}", bar=1.05, wait=True, rounds=15, seconds=0.01)(
        partial(steady, call)
    )

# 10⁶ float32 under jit, beside NumPy

MILLION = rng.standard_normal(1_000_000).astype(np.float32)
SQUARE = MILLION.reshape(1000, 1000)
BESIDE_NUMPY = {
    "exp(-x²) sin x + tanh x / (1 + x²)": (
        lambda np, x: np.exp(-x * x) * np.sin(x) + np.tanh(x) / (1 + x * x), MILLION,
    ),
    "x * 2 + 1": (lambda np, x: x * 2 + 1, MILLION),
    "sqrt(abs(x)) where x > 0": (lambda np, x: np.where(x > 0, np.sqrt(np.abs(x)), x), MILLION),
    "sum": (lambda np, x: np.sum(x), MILLION),
    "mean, axis 0": (lambda np, x: np.mean(x, axis=0), SQUARE),
    "max, axis 1": (lambda np, x: np.max(x, axis=1), SQUARE),
    "std": (lambda np, x: np.std(x), MILLION),
    "argmax": (lambda np, x: np.argmax(x), MILLION),
    "matmul, 1000 x 1000": (lambda np, x: x @ x, SQUARE),
    "fft": (lambda np, x: np.fft.fft(x), MILLION),
    "rfft": (lambda np, x: np.fft.rfft(x), MILLION),
    "fft2, 1000 x 1000": (lambda np, x: np.fft.fft2(x), SQUARE),
}  # fmt: skip


def ours(f, *arrays) -> Thunk:
    """The thunk of a compiled function of xcore.numpy."""
    return compiled(library("xcore"), lambda lib: partial(f, lib.numpy), arrays)


def theirs(f, array_of, *arrays) -> Thunk:
    """The thunk of a peer's function, whose calls take turns among copies as ours do."""
    copies = itertools.cycle([[array_of(x.copy()) for x in arrays] for _ in range(4)])
    return lambda: f(*next(copies))


for name, (f, x) in BESIDE_NUMPY.items():
    bench.versus(
        f"{name}, 1e6 float32, beside NumPy", partial(ours, f, x), partial(theirs, partial(f, np), np.asarray, x),
        1.0, wait=True,
    )  # fmt: skip

# What XLA is slow at on a CPU, beside the faster of NumPy and PyTorch


def faster(*thunks: Thunk) -> Thunk:
    """The one that takes less time."""
    return min(thunks, key=lambda f: min(timeit.repeat(f, number=1, repeat=7)))


def beside_both(question: str, f, of_numpy, of_torch, *arrays) -> None:
    def peer() -> Thunk:
        return faster(
            theirs(of_numpy, np.asarray, *arrays), theirs(of_torch, torch.asarray, *arrays)
        )

    bench.versus(
        f"{question}, beside NumPy and PyTorch", partial(ours, f, *arrays), peer, 1.3, wait=True
    )


ROWS = rng.standard_normal((64, 1000)).astype(np.float32)
TAPS, WINDOW = (rng.standard_normal(n).astype(np.float32) for n in (9, 100))
EDGES = np.sort(rng.standard_normal(10_000)).astype(np.float32)
SORTED = np.sort(MILLION)
INTEGERS = rng.integers(-(2**31), 2**31, MILLION.size).astype(np.int32)
COMPLEX = (MILLION + 1j * MILLION[::-1]).astype(np.complex64)

for name, x in {"1e6 float32": MILLION, "1e6 int32": INTEGERS, "1000 rows of 1000": SQUARE}.items():
    beside_both(f"sort, {name}", lambda xnp, x: xnp.sort(x), np.sort, lambda x: torch.sort(x)[0], x)
    beside_both(f"argsort, {name}", lambda xnp, x: xnp.argsort(x), np.argsort, torch.argsort, x)
    beside_both(
        f"cumsum, {name}", lambda xnp, x: xnp.cumsum(x, -1), partial(np.cumsum, axis=-1, dtype=x.dtype),
        partial(torch.cumsum, dim=-1, dtype=getattr(torch, x.dtype.name)), x,
    )  # fmt: skip
beside_both(
    "cumsum down 1000 columns", lambda xnp, x: xnp.cumsum(x, 0), partial(np.cumsum, axis=0),
    partial(torch.cumsum, dim=0), SQUARE,
)  # fmt: skip
for name, x in {
    "1e6 complex64": COMPLEX, "2^20 complex64": np.resize(COMPLEX, 1 << 20),
    "1000 rows of 1000, complex64": COMPLEX.reshape(1000, 1000),
    "1000 rows of 64, complex64": COMPLEX[:64000].reshape(1000, 64),
}.items():  # fmt: skip
    beside_both(f"fft, {name}", lambda xnp, x: xnp.fft.fft(x), np.fft.fft, torch.fft.fft, x)
for name, x in {"1e6 float32": MILLION, "1000 rows of 1000": SQUARE}.items():
    beside_both(f"rfft, {name}", lambda xnp, x: xnp.fft.rfft(x), np.fft.rfft, torch.fft.rfft, x)


def torch_convolve(x, kernel):
    padding = kernel.shape[0] - 1
    return torch.conv1d(x[None, None], kernel.flip(0)[None, None], padding=padding)[0, 0]


def convolve_rows(xnp, x, kernel):
    core = library("xcore").core
    return core.vmap(lambda row: xnp.convolve(row, kernel))(x)


for name, kernel in {"9 taps": TAPS, "100 taps": WINDOW}.items():
    beside_both(
        f"convolve, 1e6 float32 by {name}", lambda xnp, x, k: xnp.convolve(x, k), np.convolve,
        torch_convolve, MILLION, kernel,
    )  # fmt: skip
    beside_both(
        f"convolve, 64 rows of 1000 by {name}", convolve_rows,
        lambda x, k: np.stack([np.convolve(row, k) for row in x]),
        lambda x, k: torch.conv1d(x[:, None], k.flip(0)[None, None], padding=k.shape[0] - 1),
        ROWS, kernel,
    )  # fmt: skip
for name, a, v in (
    ("1e6 in 1e4 edges", EDGES, MILLION), ("1e6 in 1e6", SORTED, MILLION),
    ("1e6 sorted in 1e4 edges", EDGES, SORTED), ("1e4 in 1e6", SORTED, MILLION[:10_000]),
):  # fmt: skip
    beside_both(
        f"searchsorted, {name}", lambda xnp, a, v: xnp.searchsorted(a, v), np.searchsorted,
        partial(torch.searchsorted, out_int32=True), a, v,
    )  # fmt: skip

# Sine and cosine transforms of grids, beside SciPy

for name, type in (("dstn", 1), ("dctn", 2)):
    for shape in ((255, 255), (1023, 1023), (127, 127, 127)):
        size = " x ".join(map(str, shape))

        grid = rng.standard_normal(shape)

        def transform(name=name, type=type, grid=grid):
            fft = library("xcore").core.fft
            return ours(lambda _, x: getattr(fft, name)(x, type), grid)

        def scipys(name=name, type=type, grid=grid):
            return theirs(partial(getattr(scipy.fft, name), type=type), np.asarray, grid)

        bench.versus(
            f"{name} of type {type}, {size} float64, beside SciPy",
            transform,
            scipys,
            1.0,
            wait=True,
        )


if __name__ == "__main__":
    bench.main()
