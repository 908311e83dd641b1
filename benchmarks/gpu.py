"""How near to what the device can do: achieved bandwidth and arithmetic beside measured ceilings.

The ceilings are measured too: the largest of a copy and a triad for bandwidth, of square matrix
products for arithmetic. On a CPU the same cases run in small sizes.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from harness import HEAD, Row, facts, line

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, lax, pde, random
from xcore.scipy.sparse.linalg import cg

ON_GPU = xc.default_backend() != "cpu"
SIDE = 8192 if ON_GPU else 512  # of matrices
LENGTH = 2**27 if ON_GPU else 2**21  # of vectors
PLANE, BOX = (4096, 512) if ON_GPU else (256, 32)  # cells along an axis of grids
CUBE = (1000, 50) if ON_GPU else (100, 10)  # a tensor's side, and the rank of its fit
CG_SIDE, CG_STEPS = (708, 1000) if ON_GPU else (141, 100)  # 5·10⁵ unknowns on a GPU


class Work(NamedTuple):
    """A case: what runs, on what, and how many bytes or operations it cannot do without."""

    question: str
    f: Callable
    args: tuple
    amount: float
    unit: str
    ceiling: str


def seconds(f: Callable, args: tuple, rounds: int = 15) -> float:
    """The median over rounds; in each, enough calls that their start does not count."""
    g = xc.jit(f)
    xc.block_until_ready(g(*args))
    calls, spent = 1, 0.0
    while spent < 0.02:
        calls = calls * 2 if spent else 1
        spent = elapsed(g, args, calls)
    return statistics.median(elapsed(g, args, calls) / calls for _ in range(rounds))


def elapsed(g: Callable, args: tuple, calls: int) -> float:
    started = time.perf_counter()
    out = None
    for _ in range(calls):
        out = g(*args)
    xc.block_until_ready(out)
    return time.perf_counter() - started


def vector(dtype="float32", scale=1):
    return xnp.ones(LENGTH // scale, dtype)


def matrix(dtype="float32", side=SIDE):
    return xnp.ones((side, side), dtype)


def product(precision=None):
    return lambda a, b: lax.dot(a, b, precision=precision)


def ceilings() -> dict[str, float]:
    """Bytes and operations per second at best."""
    x, y = vector(), vector()
    size = x.nbytes
    bandwidth = [
        2 * size / seconds(lambda v: v + 1, (x,)),
        3 * size / seconds(lambda v, w: v + 2 * w, (x, y)),
    ]
    operations = 2 * SIDE**3
    found = {"bandwidth": max(bandwidth)}
    for dtype in ("float32", "bfloat16", "float64"):
        a = matrix(dtype)
        found[dtype] = operations / seconds(product(), (a, a))
    a = matrix()
    found["tf32"] = operations / seconds(product("default"), (a, a))
    return found


def cases() -> list[Work]:
    """What is measured against the ceilings."""
    x, rows, half = vector(), matrix(), matrix(side=SIDE // 2)
    n, flops = rows.nbytes, 2.0 * (SIDE // 2) ** 3
    batch = xnp.ones((64, SIDE // 8, SIDE // 8), "float32")
    key = random.key(0)
    bytes_ = [
        ("sum of a vector", lambda v: v.sum(), (x,), x.nbytes),
        ("sum of the columns", lambda a: a.sum(0), (rows,), n),
        ("transpose", lambda a: a.T.copy(), (rows,), 2 * n),
        ("softmax of rows", softmax, (rows,), 2 * n),
        ("five-point stencil", stencil, (rows,), 2 * n),
        ("matrix times vector", lambda a: a @ a[0], (rows,), n),
        ("running sum of a vector", xnp.cumsum, (vector(scale=8),), x.nbytes / 4),
        ("FFT of rows", lambda a: xnp.fft.fft(a, axis=1), (rows.astype("complex64"),), 4 * n),
        ("uniform random numbers", lambda k: random.uniform(k, (LENGTH,)), (key,), x.nbytes),
        *equations(),
    ]
    arithmetic = [
        ("matrix product, half the side", product(), (half, half), flops, "float32"),
        ("64 small products", lambda a: a @ a, (batch,), 64 * 2.0 * (SIDE // 8) ** 3, "float32"),
        ("step of an MLP, bfloat16", *mlp("bfloat16"), "bfloat16"),
        ("step of an MLP, float32", *mlp("float32"), "float32"),
        *decompositions(),
    ]
    return [Work(q, f, a, m, "B/s", "bandwidth") for q, f, a, m in bytes_] + [
        Work(q, f, a, m, "FLOP/s", c) for q, f, a, m, c in arithmetic
    ]


def equations() -> list[tuple]:
    """Poisson's equation, directly, and steps of conjugate gradients. Bytes: each field once."""
    found = []
    for cells, ndim in ((PLANE, 2), (BOX, 3)):
        grid = pde.Grid((cells,) * ndim)
        f = xnp.ones((cells - 1,) * ndim, "float64")
        name = f"Poisson, {cells + 1}{'²³'[ndim - 2]} nodes, float64"
        found.append((name, lambda f, grid=grid: pde.poisson(f, grid), (f,), 2 * f.nbytes))
    f = xnp.ones((CG_SIDE,) * 2, "float64")

    def iterate(f):
        return cg(stencil, f, tol=0.0, maxiter=CG_STEPS)[0]

    name = f"{CG_STEPS} steps of conjugate gradients, {f.size:.1g} unknowns"
    found.append((name, iterate, (f,), 9 * CG_STEPS * f.nbytes))  # reads and writes of its vectors
    return found


def decompositions() -> list[tuple]:
    """The kernel of CP fits, and a fit of ten sweeps: two products with the whole tensor in each."""
    side, rank = CUBE
    x = random.normal(random.key(0), (side,) * 3)
    factors = tuple(random.normal(key, (side, rank)) for key in random.split(random.key(1), 3))
    product, size = 2.0 * rank * x.size, f"{side}³ of rank {rank}"

    def kernel(x, factors):
        return decomp.mttkrp(x, factors, 0)

    def sweeps(x, factors):
        return decomp.cp_als(x, rank, init=factors, max_steps=10, rtol=0.0)

    return [
        (f"MTTKRP, {size}", kernel, (x, factors), product, "float32"),
        (f"ten sweeps of CP-ALS, {size}", sweeps, (x, factors), 20 * product, "float32"),
    ]


def softmax(a):
    e = xnp.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def stencil(u):
    v = xnp.pad(u, 1)
    return 4 * u - v[:-2, 1:-1] - v[2:, 1:-1] - v[1:-1, :-2] - v[1:-1, 2:]


def mlp(dtype):
    """A step of two square layers: three products of each in both directions."""
    side = SIDE // 2
    params, x = (matrix(dtype, side), matrix(dtype, side)), matrix(dtype, side)

    def loss(params, x):
        return (xnp.tanh(x @ params[0]) @ params[1]).astype("float32").mean()

    def step(params, x):
        return xc.tree.map(
            lambda p, g: p - (g * 0.1).astype(p.dtype), params, xc.grad(loss)(params, x)
        )

    return step, (params, x), 5 * 2.0 * side**3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    args = parser.parse_args()
    best = ceilings()
    device = getattr(xc.devices()[0], "device_kind", "device")
    listed = ", ".join(f"{k} {v:.3g}" for k, v in best.items())
    print(f"ceilings of {device} (bytes and operations per second): {listed}\n\n{HEAD}")
    rows = []
    for work in cases():
        if not args.words or any(word in work.question for word in args.words):
            rows.append(row(work, best[work.ceiling]))
            print(line(rows[-1]), flush=True)
    if args.json:
        title = f"Achieved beside measured ceilings on {device}: {listed}."
        report = {"title": title, "facts": facts(), "rows": [asdict(r) for r in rows]}
        args.json.write_text(json.dumps(report, indent=1))


def row(work: Work, ceiling: float) -> Row:
    try:
        spent = seconds(work.f, work.args)
    except Exception as error:
        return Row(work.question, error=f"{type(error).__name__}: {str(error)[:80]}")
    achieved = work.amount / spent
    ratio = achieved / ceiling
    name = f"{work.question}, {spent * 1e3:.3g} ms"
    return Row(name, achieved, ceiling, ratio, ratio, ratio, None, work.unit)


if __name__ == "__main__":
    main()
