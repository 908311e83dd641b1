"""Sparse matrices beside SciPy's: products by vectors, batches, direct solutions, Jacobians by colouring."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
from harness import Bench

import xcore as xc
import xcore.numpy as xnp
from xcore import sparse

bench = Bench("Sparse matrices beside SciPy's; five points on n by n, and rows of 1 to 40 elements.")
rng = np.random.default_rng(0)


def grid(n: int):
    line = sp.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kronsum(line, line))


def uneven(n: int):
    lengths = rng.integers(1, 41, n)
    rows, columns = np.repeat(np.arange(n), lengths), rng.integers(0, n, lengths.sum())
    return sp.csr_array((rng.normal(size=len(rows)), (rows, columns)), shape=(n, n))


MATRICES = {"5 points, 256²": grid(256), "5 points, 1024²": grid(1024), "uneven rows, 1e5": uneven(100_000)}

for name, a in MATRICES.items():
    ours, x = sparse.from_scipy(a), rng.normal(size=a.shape[1])
    y, product = xnp.asarray(x), xc.jit(lambda a, x: a @ x)
    bench.versus(f"product, {name}", lambda a=a, x=x: a @ x,
                 lambda m=ours, y=y, f=product: f(m, y), bar=1.3, peer="SciPy")  # fmt: skip

for n in (64, 256):
    a, b = grid(n), rng.normal(size=n * n)
    ours, right = sparse.from_scipy(a), xnp.asarray(b)
    scale = iter(np.linspace(1, 2, 10_000))
    bench.versus(f"solution, 5 points, {n}², new values", lambda a=a.tocsc(), b=b: scipy.sparse.linalg.spsolve(a, b),
                 lambda m=ours, b=right: sparse.solve(m * float(next(scale)), b), bar=1.5, peer="SciPy")  # fmt: skip
