"""How near to what the device can do: achieved bandwidth and arithmetic beside measured ceilings, and
problems solved to a tolerance beside the times that are aimed at.

The ceilings are measured too: the largest of a copy and a triad for bandwidth, of square matrix
products for arithmetic. All data are random: products of ones draw less power, and run faster. On a
CPU the same cases run in small sizes.

    python benchmarks/gpu.py                          prints the tables
    python benchmarks/gpu.py --write                  and writes them to benchmarks/RESULTS-gpu.md
    python benchmarks/gpu.py stencil Poisson          cases whose name contains one of these
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from harness import facts, quantity

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, lax, linalg, optimize, pde, random
from xcore.scipy.sparse.linalg import cg

ON_GPU = xc.default_backend() != "cpu"
SIDE = 8192 if ON_GPU else 512  # of matrices
LENGTH = 2**27 if ON_GPU else 2**21  # of vectors
PLANE, BOX = (4096, 512) if ON_GPU else (256, 32)  # cells along an axis of grids
CUBES = ((1000, 50), (500, 50)) if ON_GPU else ((100, 10), (50, 10))  # sides, ranks of fits
CG_SIDE, CG_STEPS = (708, 1000) if ON_GPU else (141, 100)  # 5·10⁵ unknowns on a GPU
MANY = (717, 718) if ON_GPU else (71, 72)  # 514,806 unknowns
SQUARE = 500 if ON_GPU else 60
FITS = 10**6 if ON_GPU else 1000
RESULTS = Path(__file__).resolve().parent / "RESULTS-gpu.md"
PREFACE = """# On a GPU

Written by `python benchmarks/gpu.py --write` on {device}: {facts}.
What is counted as work is what an algorithm cannot do without: each field read or written once,
the products of a fit. Times are medians of calls of a compiled function, from arrays on the device to arrays on the
device; a goal that is not met stands as it is.

Ceilings (bytes and operations per second, measured in the same run): {ceilings}.
"""


class Work(NamedTuple):
    """A case: what runs, on what, how many bytes or operations it cannot do without, and the part of
    the ceiling that is aimed at."""

    question: str
    f: Callable
    args: tuple
    amount: float
    unit: str
    ceiling: str
    goal: float | None = None


class Problem(NamedTuple):
    """A problem solved to a tolerance by f, which also tells whether it got there, and the seconds aimed at."""

    question: str
    f: Callable
    args: tuple
    goal: float | None = None
    options: dict | None = None  # of the compiler


# XLA's own are all but the last two: loops and branches then wait for nothing that the host does.
GRAPHS = {
    "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,DYNAMIC_SLICE_FUSION,WHILE,CONDITIONAL"
}


# Measuring


def seconds(f: Callable, args: tuple, rounds: int = 15, options: dict | None = None) -> float:
    """The median over rounds; in each, enough calls that their start does not count."""
    g = xc.jit(f, compiler_options=options)
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


def numbers(*shape: int, dtype="float32", seed: int = 0):
    return random.normal(random.key(seed), shape, "float32").astype(dtype)


def matrix(dtype="float32", side=SIDE, seed: int = 0):
    return numbers(side, side, dtype=dtype, seed=seed) / side**0.5


def product(precision=None):
    return lambda a, b: lax.dot(a, b, precision=precision)


def ceilings() -> dict[str, float]:
    """Bytes and operations per second at best."""
    x, y = numbers(LENGTH), numbers(LENGTH, seed=1)
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


# Beside ceilings


def cases() -> list[Work]:
    """What is measured against the ceilings."""
    x, rows, half = numbers(LENGTH), matrix(), matrix(side=SIDE // 2)
    n, flops = rows.nbytes, 2.0 * (SIDE // 2) ** 3
    batch = numbers(64, SIDE // 8, SIDE // 8)
    key, philox = random.key(0), random.key(0, impl="philox")
    bytes_ = [
        ("sum of a vector", lambda v: v.sum(), (x,), x.nbytes),
        ("sum of the columns", lambda a: a.sum(0), (rows,), n),
        ("transpose", lambda a: a.T.copy(), (rows,), 2 * n),
        ("softmax of rows", softmax, (rows,), 2 * n),
        ("five-point stencil", stencil, (rows,), 2 * n, 0.6),
        ("matrix times vector", lambda a, v: a @ v, (rows, rows[0]), n),
        ("running sum of a vector", xnp.cumsum, (x[: LENGTH // 8],), x.nbytes / 4),
        ("FFT of rows", lambda a: xnp.fft.fft(a, axis=1), (rows.astype("complex64"),), 4 * n),
        ("random bits, Philox", lambda k: random.bits(k, (LENGTH,)), (philox,), x.nbytes, 0.5),
        ("uniform random numbers, Threefry", uniform, (key,), x.nbytes),
        ("normal random numbers, Philox", normal, (philox,), x.nbytes),
        *equations(),
    ]
    arithmetic = [
        ("matrix product, half the side", product(), (half, half), flops, "float32"),
        ("64 small products", lambda a: a @ a, (batch,), 64 * 2.0 * (SIDE // 8) ** 3, "float32"),
        ("step of an MLP, bfloat16", *mlp("bfloat16"), "bfloat16"),
        ("step of an MLP, float32", *mlp("float32"), "float32"),
        *decompositions(),
    ]
    return [Work(q, f, a, m, "B/s", "bandwidth", *goal) for q, f, a, m, *goal in bytes_] + [
        Work(q, f, a, m, "FLOP/s", c, *goal) for q, f, a, m, c, *goal in arithmetic
    ]


def equations() -> list[tuple]:
    """Poisson's equation, directly, and steps of conjugate gradients. Bytes: each field once."""
    found = []
    for cells, ndim in ((PLANE, 2), (BOX, 3)):
        grid = pde.Grid((cells,) * ndim)
        f = numbers(*(cells - 1,) * ndim, dtype="float64")
        name = f"Poisson, {cells + 1}{'²³'[ndim - 2]} nodes, float64"
        found.append((name, lambda f, grid=grid: pde.poisson(f, grid), (f,), 2 * f.nbytes))
    ring, f = pde.Grid((BOX,) * 3), numbers(*(BOX,) * 3, dtype="float64")
    periodic = lambda f: pde.poisson(f - f.mean(), ring, pde.Periodic())  # noqa: E731
    found.append((f"Poisson, {BOX}³ periodic nodes, float64", periodic, (f,), 2 * f.nbytes))
    f = numbers(CG_SIDE, CG_SIDE, dtype="float64")

    def iterate(f):
        return cg(stencil, f, tol=0.0, maxiter=CG_STEPS)[0]

    name = f"{CG_STEPS} steps of conjugate gradients, {f.size:.1g} unknowns"
    found.append((name, iterate, (f,), 9 * CG_STEPS * f.nbytes))  # reads and writes of its vectors
    return found


def decompositions() -> list[tuple]:
    """The kernel of CP fits, and a fit of ten sweeps: two products with the whole tensor in each."""
    found = []
    for side, rank in CUBES:
        x = numbers(side, side, side)
        factors = tuple(numbers(side, rank, seed=s) for s in (1, 2, 3))
        amount, size = 2.0 * rank * x.size, f"{side}³ of rank {rank}"

        def kernel(x, factors):
            return decomp.mttkrp(x, factors, 0)

        def sweeps(x, factors, rank=rank):
            return decomp.cp_als(x, rank, init=factors, max_steps=10, rtol=0.0)

        found += [
            (f"MTTKRP, {size}", kernel, (x, factors), amount, "float32"),
            (f"ten sweeps of CP-ALS, {size}", sweeps, (x, factors), 20 * amount, "float32", 0.6),
        ]
        found += [
            (f"{name}, by three products of TF32", in_threes(f), *rest)
            for name, f, *rest in found[-2:]
        ]
    return found


def in_threes(f):
    def g(*args):
        with xc.default_matmul_precision("tensorfloat32_3x"):
            return f(*args)

    return g


def softmax(a):
    e = xnp.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def stencil(u):
    v = xnp.pad(u, 1)
    return 4 * u - v[:-2, 1:-1] - v[2:, 1:-1] - v[1:-1, :-2] - v[1:-1, 2:]


def uniform(key):
    return random.uniform(key, (LENGTH,))


def normal(key):
    return random.normal(key, (LENGTH,))


def mlp(dtype):
    """A step of two square layers: three products of each in both directions."""
    side = SIDE // 2
    params = matrix(dtype, side), matrix(dtype, side, 1)
    x = numbers(side, side, dtype=dtype, seed=2)

    def loss(params, x):
        return (xnp.tanh(x @ params[0]) @ params[1]).astype("float32").mean()

    def step(params, x):
        return xc.tree.map(
            lambda p, g: p - (g * 0.1).astype(p.dtype), params, xc.grad(loss)(params, x)
        )

    return step, (params, x), 5 * 2.0 * side**3


# To a tolerance


def problems() -> list[Problem]:
    """What is solved, the same on any device."""
    plane = f"Poisson, {PLANE + 1}² nodes, float64, by transforms, and judged"
    loops = [
        Problem(f"conjugate gradients to 1e-8, {MANY[0] * MANY[1]} unknowns", *by_cg(MANY), 30e-3),
        Problem(
            "the same with Chebyshev's polynomial of 15 steps, its bounds found on the way",
            *by_polynomials(MANY), 30e-3,
        ),
        Problem(
            f"multigrid to 1e-8, {MANY[0] * MANY[1]} unknowns",
            *solved([n + 1 for n in MANY], "cg"), 3e-3,
        ),
        Problem(f"multigrid to 1e-8, {SQUARE}²", *solved((SQUARE, SQUARE), "cg"), 1.5e-3),
    ]  # fmt: skip
    several = f"multigrid to 1e-8, {SQUARE}², 64 right-hand sides"
    anew = f"multigrid to 1e-8, {SQUARE}², coefficients that vary, set up anew"
    return [
        Problem(plane, *solved((PLANE, PLANE), "direct"), 4e-3),
        *loops,
        *(as_graphs(p) for p in loops if ON_GPU),
        Problem(several, *solved((SQUARE, SQUARE), "cg", 64), 30e-3),
        Problem(anew, *varying((SQUARE, SQUARE))),
        Problem(f"{FITS:,} fits of 5 parameters to 20 points", *fits()),
    ]


def as_graphs(p: Problem) -> Problem:
    return p._replace(question=f"{p.question}, loops as CUDA graphs", options=GRAPHS)


def solved(cells, method: str, sides: int = 0):
    """A Poisson problem by ``pde.solve``, for one right-hand side or several."""
    op = pde.Laplacian(pde.Grid(tuple(cells)))
    f = numbers(*([sides] if sides else []), *[n - 1 for n in cells], dtype="float64")

    def solve(f):
        answer = pde.solve(op, f, method=method, rtol=1e-8, report=True)
        return answer.value, answer.ok

    return (xc.vmap(solve) if sides else solve), (f,)


def varying(cells):
    """The same for a diffusion, whose coefficients are an argument."""
    grid = pde.Grid(tuple(cells))
    f = numbers(*[n - 1 for n in cells], dtype="float64")
    conductivity = xnp.exp(xnp.sin(numbers(*[n + 1 for n in cells], dtype="float64", seed=1)))

    def solve(conductivity, f):
        answer = pde.solve(pde.Diffusion(grid, conductivity), f, rtol=1e-8, report=True)
        return answer.value, answer.ok

    return solve, (conductivity, f)


def by_cg(shape):
    def solve(f):
        u, info = cg(stencil, f, tol=1e-8, maxiter=10000)
        return u, info == 0

    return solve, (numbers(*shape, dtype="float64"),)


def by_polynomials(shape):
    size = shape[0] * shape[1]

    def solve(f):
        a = linalg.FunctionOperator(
            lambda _, u: stencil(u.reshape(shape)).reshape(-1), None, (size, size),
            symmetric=True, positive=True, field=shape,
        )  # fmt: skip
        m = linalg.chebyshev_preconditioner(a, 15)
        answer = linalg.linear_solve(
            a, f.reshape(-1), linalg.CG(rtol=1e-8, max_steps=10000), preconditioner=m, report=True
        )
        return answer.value, answer.ok

    return solve, (numbers(*shape, dtype="float64"),)


def fits():
    """Peaks on a slope, by Levenberg and Marquardt's method, all at once."""
    x = np.linspace(-1, 1, 20, dtype=np.float32)

    def peak(p):
        return p[0] * xnp.exp(-(((x - p[1]) / p[2]) ** 2)) + p[3] + p[4] * x

    def fit(data):
        start = xnp.asarray(np.array([1.0, 0.0, 0.5, 0.0, 0.0], np.float32))
        answer = optimize.least_squares(lambda p: peak(p) - data, start, tol=1e-4)
        return answer.x, answer.success

    spread = 0.1 * numbers(FITS, 5, seed=1) + np.array([2.0, 0.1, 0.4, 0.5, 0.3], np.float32)
    noise = 0.01 * numbers(FITS, 20, seed=2)
    return xc.vmap(fit), (xc.vmap(peak)(spread) + noise,)


# Tables


def main() -> None:
    parser = argparse.ArgumentParser(description="How near to what the device can do.")
    parser.add_argument("words", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--write", action="store_true", help="also write them to RESULTS-gpu.md")
    args = parser.parse_args()
    best = ceilings()
    device = getattr(xc.devices()[0], "device_kind", "a CPU")
    listed = ", ".join(f"{k} {v:.3g}" for k, v in best.items())
    said = []

    def say(text: str) -> None:
        print(text, flush=True)
        said.append(text)

    def asked(question: str) -> bool:
        return not args.words or any(word in question for word in args.words)

    say(PREFACE.format(device=device, facts=facts(), ceilings=listed))
    say("| what | time | achieved | of the ceiling | goal |\n|---|---:|---:|---:|---:|")
    for work in cases():
        if asked(work.question):
            say(beside_ceiling(work, best[work.ceiling]))
    say("\n| to a tolerance | time | goal | reached |\n|---|---:|---:|---|")
    for problem in problems():
        if asked(problem.question):
            say(beside_goal(problem))
    if args.write:
        RESULTS.write_text("\n".join(said) + "\n")


def beside_ceiling(work: Work, ceiling: float) -> str:
    goal = "" if work.goal is None else f"{work.goal:g}"
    try:
        spent = seconds(work.f, work.args)
    except Exception as error:
        return f"| {work.question} | {failure(error)} | | | {goal} |"
    done = work.amount / spent
    cells = quantity(spent, "s"), quantity(done, work.unit), f"{done / ceiling:.2f}", goal
    return f"| {work.question} | " + " | ".join(cells) + " |"


def beside_goal(problem: Problem) -> str:
    goal = "" if problem.goal is None else quantity(problem.goal, "s")
    try:
        _, reached = xc.jit(problem.f, compiler_options=problem.options)(*problem.args)
        spent = seconds(problem.f, problem.args, rounds=7, options=problem.options)
    except Exception as error:
        return f"| {problem.question} | {failure(error)} | {goal} | |"
    share = float(np.mean(np.asarray(reached)))
    return f"| {problem.question} | {quantity(spent, 's')} | {goal} | {share:.4g} of all |"


def failure(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:80]}".replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
