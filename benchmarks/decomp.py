"""Tensor decompositions beside TensorLy and pyttb, and beside the matrix products they need."""

import warnings

import numpy as np
import pyttb
import tensorly.decomposition as tl
from harness import Bench

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp

warnings.filterwarnings("ignore")
bench = Bench("Tensor decompositions; CP times are for ten sweeps from the same random start.")
rng = np.random.default_rng(0)
SWEEPS = 10


def problem(n: int, rank: int, dtype: str):
    factors = [rng.normal(size=(n, rank)) for _ in range(3)]
    x = np.einsum("ir,jr,kr->ijk", *factors)
    x = x + 0.1 * x.std() * rng.normal(size=x.shape)
    return x.astype(dtype), [rng.normal(size=(n, rank)).astype(dtype) for _ in range(3)]


def ours(x, start):
    rank = start[0].shape[1]
    x, init = xnp.asarray(x), decomp.CP(None, start)
    return lambda: decomp.cp_als(x, rank, init=init, rtol=0.0, max_steps=SWEEPS).error


def tensorly(x, start):
    rank = start[0].shape[1]
    init = (np.ones(rank, x.dtype), start)
    return lambda: tl.parafac(x, rank, init=init, n_iter_max=SWEEPS, tol=0)


def ttb(x, start):
    """In float64 always: pyttb has nothing else."""
    rank = start[0].shape[1]
    parts = [s.astype("float64") for s in start]
    tensor, init = pyttb.tensor(x), pyttb.ktensor(parts, np.ones(rank))
    return lambda: pyttb.cp_als(tensor, rank, init=init, maxiters=SWEEPS, stoptol=0, printitn=0)


def bare_products(x, start):
    """The two large products of each sweep and nothing else."""
    n, rank = start[0].shape
    kr = xnp.asarray(rng.normal(size=(n * n, rank)).astype(x.dtype))
    x, c = xnp.asarray(x), xnp.asarray(start[2])
    both = xc.jit(lambda x, c, kr: (x.reshape(n * n, n) @ c, x.reshape(n * n, n).T @ kr))
    return lambda: [both(x, c, kr) for _ in range(SWEEPS)]


PEERS = {"TensorLy": (tensorly, 0.4), "pyttb": (ttb, 0.4), "bare products": (bare_products, 4.0)}
for n, rank in ((100, 10), (200, 20)):
    for dtype in ("float32", "float64"):
        x, start = problem(n, rank, dtype)
        for name, (peer, bar) in PEERS.items():

            @bench.time(f"CP-ALS {n}^3, rank {rank}, {dtype}, beside {name}", bar=bar)
            def sweeps(lib, x=x, start=start, peer=peer):
                return ours(x, start) if lib.name == "xcore" else peer(x, start)


X, START = problem(200, 20, "float32")
for mode in range(3):

    @bench.time(f"MTTKRP of mode {mode}, 200^3, rank 20, beside one product", bar=1.5)
    def kernel(lib, mode=mode):
        x, factors = xnp.asarray(X), list(map(xnp.asarray, START))
        kr = xnp.asarray(rng.normal(size=(200 * 200, 20)).astype("float32"))
        product = xc.jit(lambda x, kr: x.reshape(200, 200 * 200) @ kr)
        return (
            (lambda: decomp.mttkrp(x, factors, mode))
            if lib.name == "xcore"
            else (lambda: product(x, kr))
        )


LARGE = rng.normal(size=(300, 300, 300)).astype("float32")


@bench.time("Tucker 300^3, rank 10 (HOSVD and one sweep), beside TensorLy", bar=0.03)
def tucker(lib):
    if lib.name == "xcore":
        x = xnp.asarray(LARGE)
        return lambda: decomp.hooi(x, 10, max_steps=1).core
    return lambda: tl.tucker(LARGE, [10, 10, 10], n_iter_max=1, tol=0)


@bench.time("tensor train 300^3, rank 20, beside TensorLy", bar=0.1)
def train(lib):
    if lib.name == "xcore":
        x = xnp.asarray(LARGE)
        return lambda: decomp.tt_svd(x, 20).cores[0]
    return lambda: tl.tensor_train(LARGE, [1, 20, 20, 1])


@bench.time("16 random starts as one program, beside one", bar=6.0)
def restarts(lib):
    x = xnp.asarray(problem(100, 10, "float32")[0])
    count = 16 if lib.name == "xcore" else 1
    return lambda: decomp.cp_als(x, 10, restarts=count, rtol=0.0, max_steps=SWEEPS).error


if __name__ == "__main__":
    bench.main()
