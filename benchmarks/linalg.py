"""Linear algebra beside SciPy, NumPy, PyTorch and jax, CPU."""

import functools
import itertools
import os
import time

import numpy as np
import scipy.linalg
from harness import Bench, Lib, Thunk, finish, library, on_device

os.environ["XCORE_CACHE"] = "0"  # a first call compiles, whatever an earlier run left on the disk

bench = Bench("Linear algebra beside SciPy, NumPy, PyTorch and jax, one process, CPU.")
rng = np.random.default_rng(0)


def held_by_xcore(ours, arrays) -> Thunk:
    """The thunk that calls ``jit(ours(xcore.linalg))`` on xcore arrays."""
    lib = library("xcore")
    run = lib.core.jit(ours(lib.core.linalg))
    held = [lib.numpy.asarray(x) for x in arrays]
    return lambda: run(*held)


def against(question: str, ours, peer, *arrays: np.ndarray, bar: float, **options) -> None:
    """A case: ours, made from the linalg package, and a peer's function of NumPy arrays."""
    bench.versus(question, lambda: held_by_xcore(ours, arrays), lambda: lambda: peer(*arrays), bar,
                 wait=True, **options)  # fmt: skip


# One dense matrix

for n in (500, 2000):
    a, b = rng.standard_normal((n, n)), rng.standard_normal(n)
    against(f"solve, n = {n}, beside SciPy", lambda la: la.solve, scipy.linalg.solve, a, b, bar=1.1)

a = rng.standard_normal((1000, 1000))
against("our own elimination, n = 1000, beside LAPACK", lambda la: lambda a: la.gauss_lu(a).packed,
        scipy.linalg.lu_factor, a, bar=2.5)  # fmt: skip

a, b = rng.standard_normal((2000, 2000)), rng.standard_normal(2000)
spd = a @ a.T + 2000 * np.eye(2000)
against("positive definite solve, n = 2000, beside SciPy",
        lambda la: lambda a, b: la.solve(a, b, "positive definite"),
        lambda a, b: scipy.linalg.solve(a, b, assume_a="pos"), spd, b, bar=1.0)  # fmt: skip

a = rng.standard_normal((500, 500))
against("eigh, n = 500, beside SciPy", lambda la: la.eigh, scipy.linalg.eigh, a + a.T, bar=1.1)
against("thin svd, 500 x 300, beside SciPy", lambda la: la.svd,
        lambda a: scipy.linalg.svd(a, full_matrices=False), a[:, :300], bar=1.1)  # fmt: skip


def gradient_beside_forward(n: int) -> None:
    a, b = rng.standard_normal((n, n)), rng.standard_normal(n)

    def thunk(of) -> Thunk:
        lib = library("xcore")
        run = lib.core.jit(of(lib.core, lambda a, b: lib.core.linalg.solve(a, b).sum()))
        held = [lib.numpy.asarray(x) for x in (a, b)]
        return lambda: run(*held)

    bench.versus(f"gradient of solve, n = {n}, beside its forward",
                 lambda: thunk(lambda xc, f: xc.grad(f, (0, 1))), lambda: thunk(lambda xc, f: f), 2.2,
                 wait=True)  # fmt: skip


gradient_beside_forward(500)


@bench.time("first call of solve, n = 200", bar=0.5, rounds=5, seconds=0.0)
def first_call(lib: Lib):
    """Tracing, compiling and running; every call solves for another number of columns."""
    a = lib.numpy.asarray(rng.standard_normal((200, 200)).astype(np.float32))
    widths = itertools.count(1)
    solve = lib.core.linalg.solve if lib.name == "xcore" else lib.numpy.linalg.solve
    return lambda: finish(solve(a, lib.numpy.asarray(np.ones((200, next(widths)), np.float32))))


# Reports, beside the same call without

square, right = rng.standard_normal((500, 500)), rng.standard_normal(500)
symmetric, inputs = square + square.T, rng.standard_normal((500, 50))
weights, calm = (np.eye(500), np.eye(50)), square / 20
definite, stable = symmetric @ symmetric + np.eye(500), calm - 2 * np.eye(500)
band = np.add(square[:3], [[0], [9], [0]])
REPORTED = {
    "solve": (lambda la: la.solve, square, right),
    "positive definite solve": (
        lambda la: functools.partial(la.solve, assume_a="pos"), definite, right,
    ),
    "solve_triangular": (lambda la: la.solve_triangular, square + 500 * np.eye(500), right),
    "solve_banded": (lambda la: functools.partial(la.solve_banded, (1, 1)), band, right),
    "solve_toeplitz": (lambda la: la.solve_toeplitz, np.r_[30.0, right[1:]], right),
    "cho_solve": (lambda la: la.cho_solve, np.linalg.cholesky(definite), right),
    "inv": (lambda la: la.inv, square), "det": (lambda la: la.det, calm),
    "slogdet": (lambda la: la.slogdet, square), "lstsq": (lambda la: la.lstsq, square, right),
    "lstsq by QR": (lambda la: functools.partial(la.lstsq, method="qr"), square, right),
    "eigh": (lambda la: la.eigh, symmetric), "eigvalsh": (lambda la: la.eigvalsh, symmetric),
    "eig": (lambda la: la.eig, square), "eigvals": (lambda la: la.eigvals, square),
    "svd": (lambda la: la.svd, square), "pinv": (lambda la: la.pinv, square),
    "pinv of a Hermitian matrix": (lambda la: functools.partial(la.pinv, hermitian=True), symmetric),
    "expm": (lambda la: la.expm, square), "logm": (lambda la: la.logm, definite / 500 + np.eye(500)),
    "funm": (lambda la: lambda a, **more: la.funm(a, library("xcore").numpy.exp, **more), calm),
    "funmh": (
        lambda la: lambda a, **more: la.funmh(a, library("xcore").numpy.exp, **more), symmetric / 50,
    ),
    "solve_sylvester": (lambda la: la.solve_sylvester, stable, calm, square),
    "solve_continuous_lyapunov": (lambda la: la.solve_continuous_lyapunov, stable, definite),
    "solve_discrete_lyapunov": (lambda la: la.solve_discrete_lyapunov, calm / 2, definite),
    "sqrtm": (lambda la: la.sqrtm, definite / 500),
    "solve_continuous_are": (lambda la: la.solve_continuous_are, calm, inputs, *weights),
    "solve_discrete_are": (lambda la: la.solve_discrete_are, calm, inputs, *weights),
}  # fmt: skip


def with_a_report(ours):
    return lambda la: functools.partial(ours(la), report=True)


for (name, (ours, *arrays)), dtype in itertools.product(REPORTED.items(), ("float64", "float32")):
    held = [x.astype(dtype) for x in arrays]
    bench.versus(f"report of {name}, n = 500, {dtype}, beside the call without",
                 lambda ours=ours, held=held: held_by_xcore(with_a_report(ours), held),
                 lambda ours=ours, held=held: held_by_xcore(ours, held), 1.25, wait=True)  # fmt: skip

# Many small matrices

small = rng.standard_normal((10_000, 16, 16)).astype(np.float32)
right = rng.standard_normal((10_000, 16, 1)).astype(np.float32)
MANY = {"solve": (small, right), "inv": (small,), "det": (small,)}


def peers_of(name: str, arrays) -> dict[str, Thunk]:
    jax = library("jax")
    jitted, on_jax = jax.core.jit(getattr(jax.numpy.linalg, name)), on_device(jax, list(arrays))
    found = {
        "NumPy": lambda: getattr(np.linalg, name)(*arrays), "jax": lambda: jitted(*on_jax),
    }  # fmt: skip
    try:
        import torch
    except ImportError:
        return found
    tensors = [torch.tensor(x) for x in arrays]
    return found | {"PyTorch": lambda: getattr(torch.linalg, name)(*tensors)}


def seconds(f: Thunk) -> float:
    start = time.perf_counter()
    finish(f())
    return time.perf_counter() - start


def best_of(name: str, arrays) -> Thunk:
    """The fastest of the peers, each having run before."""
    peers = peers_of(name, arrays).values()
    for f in peers:
        finish(f())
    return min(peers, key=lambda f: min(seconds(f) for _ in range(5)))


for name, arrays in MANY.items():
    bench.versus(
        f"{name} of 10,000 matrices 16 x 16, float32, beside the best of NumPy, PyTorch, jax",
        lambda name=name, arrays=arrays: held_by_xcore(lambda la: getattr(la, name), arrays),
        lambda name=name, arrays=arrays: best_of(name, arrays),
        0.4, wait=True,
    )  # fmt: skip

# Structure


def diagonals(*shape: int):
    low, up = rng.standard_normal((2, *shape))
    return low, 4 + rng.standard_normal(shape) ** 2, up, rng.standard_normal(shape)


def gtsv(low, middle, up, b):
    return scipy.linalg.lapack.dgtsv(low[1:], middle, up[:-1], b)[3]


def many_gtsv(*rows):
    return np.stack([gtsv(*row) for row in zip(*rows, strict=True)])


against("tridiagonal, n = 1,000,000, beside LAPACK gtsv", lambda la: la.solve_tridiagonal, gtsv,
        *diagonals(10**6), bar=1.0)  # fmt: skip
against("1000 tridiagonal systems, n = 1000, beside LAPACK gtsv",
        lambda la: lambda low, d, up, b: la.solve_tridiagonal(low, d, up, b[..., None])[..., 0],
        many_gtsv, *diagonals(1000, 1000), bar=0.5)  # fmt: skip


@bench.time("200 steps of CG, Laplacian on 512 x 512, float32", bar=1.0, wait=True)
def conjugate_gradients(lib: Lib):
    xnp = lib.numpy

    def laplacian(u):
        p = xnp.pad(u, 1)
        return 4 * u - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:]

    b = xnp.asarray(rng.standard_normal((512, 512)).astype(np.float32))
    if lib.name == "jax":
        from jax.scipy.sparse.linalg import cg
    else:
        from xcore.scipy.sparse.linalg import cg
    run = lib.core.jit(lambda b: cg(laplacian, b, tol=0.0, maxiter=200)[0])
    return lambda: run(b)


if __name__ == "__main__":
    bench.main()
