"""Sparse matrices beside SciPy's: products by vectors, direct solutions."""

import importlib.util
import itertools

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse as sp
import scipy.sparse.linalg
from harness import Bench

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

bench = Bench(
    "Sparse matrices beside SciPy's; five points on n by n, and rows of 1 to 40 elements."
)
rng = np.random.default_rng(0)
product = xc.jit(lambda a, x: a @ x)


def grid(n: int) -> sp.csr_array:
    line = sp.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(n, n))  # pyright: ignore
    return sp.csr_array(sp.kronsum(line, line))


def uneven(n: int) -> sp.csr_array:
    lengths = rng.integers(1, 41, n)
    rows, columns = np.repeat(np.arange(n), lengths), rng.integers(0, n, lengths.sum())
    return sp.csr_array((rng.normal(size=len(rows)), (rows, columns)), shape=(n, n))


def products(a):
    x = rng.normal(size=a.shape[1])
    m, y = sparse.from_scipy(a), xnp.asarray(x)
    return (lambda: lambda: product(m, y)), (lambda: lambda: a @ x)


def solutions(a):
    """With values that are new in each call, so that nothing is kept."""
    b = rng.normal(size=a.shape[0])
    m, right, columns = sparse.from_scipy(a), xnp.asarray(b), a.tocsc()
    scales = itertools.count(1.0, 1e-6)
    ours = lambda: lambda: sparse.solve(m * next(scales), right)  # noqa: E731
    return ours, lambda: lambda: scipy.sparse.linalg.spsolve(columns, b)


for name, a in {
    "5 points, 256²": grid(256),
    "5 points, 1024²": grid(1024),
    "uneven, 1e5": uneven(100_000),
}.items():
    bench.versus(f"sparse product, {name}", *products(a), bar=1.3)
for n in (64, 256):
    bench.versus(f"sparse solution, 5 points, {n}²", *solutions(grid(n)), bar=1.5)


def by_multigrid(kind: str, anew: bool):
    """Set-up and solution: of a new hierarchy, or with that of another matrix of the pattern."""
    a = grid(256)
    m = sparse.from_scipy(a)
    b = rng.normal(size=m.shape[0])
    scales, old = itertools.count(1.0, 1e-6), sparse.multigrid(m, kind=kind)
    update, right = xc.jit(lambda a: old.update(a)), xnp.asarray(b)
    setup = (lambda a: sparse.multigrid(a, kind=kind)) if anew else update
    return lambda: lambda: setup(m * next(scales)).solve(right, rtol=1e-8)


def by_pyamg(kind: str):
    import pyamg  # pyright: ignore[reportMissingImports]

    a = grid(256)
    b = rng.normal(size=256**2)
    theirs = {
        "aggregation": pyamg.smoothed_aggregation_solver,
        "classical": pyamg.ruge_stuben_solver,
    }[kind]
    return lambda: lambda: theirs(a).solve(b, tol=1e-8, accel="cg")


def many_by_cholesky():
    a = sparse.from_scipy(grid(32))
    b, scales = xnp.asarray(rng.normal(size=32**2)), itertools.count(1.0, 1e-6)
    many = a.values * xnp.asarray(rng.uniform(1, 2, (200, 1)))
    solve = xc.jit(lambda v: sparse.factorise(a.like(v), "cholesky").solve(b))
    return lambda: lambda: solve(many * next(scales))


def by_superlu(n: int, count: int):
    a, b = scipy.sparse.csc_array(grid(n)), rng.normal(size=n**2)
    return lambda: lambda: [scipy.sparse.linalg.splu(a).solve(b) for _ in range(count)]


def one_by_cholesky():
    a, b = sparse.from_scipy(grid(256)), xnp.asarray(rng.normal(size=256**2))
    solve, scales = xc.jit(lambda a: sparse.factorise(a, "cholesky").solve(b)), itertools.count(1.0, 1e-6)  # fmt: skip
    return lambda: lambda: solve(a * next(scales))


bench.versus("200 solutions, 5 points, 32², Cholesky beside a loop of splu", many_by_cholesky(),
             by_superlu(32, 200), bar=0.05)  # fmt: skip
bench.versus("one solution, 5 points, 256², Cholesky beside splu", one_by_cholesky(),
             by_superlu(256, 1), bar=1.5)  # fmt: skip


def by_qr(n: int):
    """Differences along both axes and values at a quarter of the points, factorised anew in each call."""
    a = sparse.from_scipy(differences(n))
    b, scales = xnp.asarray(rng.normal(size=a.shape[0])), itertools.count(1.0, 1e-6)
    solve = xc.jit(lambda a: sparse.lstsq(a, b, method="qr"))
    return lambda: lambda: solve(a * next(scales))


def by_dense_qr(n: int):
    a = differences(n).toarray()
    b = rng.normal(size=len(a))

    def run():
        q, r = scipy.linalg.qr(a, mode="economic")  # pyright: ignore
        return scipy.linalg.solve_triangular(r, q.T @ b)

    return lambda: run


def differences(n: int) -> sp.csr_array:
    line, one = sp.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(n - 1, n)), sp.eye_array(n)  # pyright: ignore
    some = sp.eye_array(n * n // 4, n * n)
    return sp.csr_array(sp.vstack([sp.kron(line, one), sp.kron(one, line), some]))


bench.versus("least squares, differences on 32², QR beside SciPy's dense QR", by_qr(32),
             by_dense_qr(32), bar=0.2)  # fmt: skip
if importlib.util.find_spec("pyamg"):
    for kind, anew in itertools.product(("aggregation", "classical"), (True, False)):
        name = (
            f"{'' if kind == 'aggregation' else 'classical '}multigrid beside PyAMG, 5 points, 256²"
        )
        how = {"aggregation": "aggregates", "classical": "splitting"}[kind] + (
            " anew" if anew else " kept"
        )
        bench.versus(f"{name}, {how}", by_multigrid(kind, anew), by_pyamg(kind), bar=0.4)


if __name__ == "__main__":
    bench.main()
