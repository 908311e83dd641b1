"""PDE solvers beside SciPy, NumPy and pyamg, one process, CPU, float64."""

# Checkers do not see: a name is bound to what was made of it.
# pyright: reportAssignmentType=false

import numpy as np
import scipy.fft
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from harness import Bench

bench = Bench("PDE solvers beside SciPy, NumPy and pyamg, one process, CPU, float64.")
rng = np.random.default_rng(0)


def xcore():
    import xcore

    return xcore


def laplace_matrix(cells: int, ndim: int):
    """-Δ with Dirichlet conditions, as users of SciPy write it."""
    n, h = cells - 1, 1 / cells
    line = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)],
                          offsets=[-1, 0, 1]) / h**2  # fmt: skip
    one, out = sp.eye_array(n), 0
    for axis in range(ndim):
        term = sp.eye_array(1)
        for i in range(ndim):
            term = sp.kron(term, line if i == axis else one, format="csr")
        out = out + term
    return out.tocsr()


def symbol(cells: int, ndim: int) -> np.ndarray:
    line = 4 * np.sin(np.pi * np.arange(1, cells) / (2 * cells)) ** 2 * cells**2
    out = line
    for _ in range(ndim - 1):
        out = np.add.outer(out, line)
    return out


def by_dst(f: np.ndarray, values: np.ndarray):
    return lambda: scipy.fft.idstn(scipy.fft.dstn(f, type=1, workers=2) / values, type=1, workers=2)


def by_gemm(f: np.ndarray, values: np.ndarray):
    n = f.shape[0]
    s = np.sin(np.pi * np.outer(np.arange(1, n + 1), np.arange(1, n + 1)) / (n + 1))
    s *= np.sqrt(2 / (n + 1))

    def along(x):
        for axis in range(x.ndim):
            x = np.moveaxis(np.tensordot(s, x, axes=(1, axis)), 0, axis)
        return x

    return lambda: along(along(f) / values)


def by_pyamg(matrix, f: np.ndarray):
    import pyamg

    def run():
        levels = pyamg.ruge_stuben_solver(matrix)
        return levels.solve(f.ravel(), tol=1e-8, accel="cg")

    return run


def ours_poisson(cells: int, ndim: int, f: np.ndarray):
    xc = xcore()
    grid = xc.pde.Grid((cells,) * ndim)
    run = xc.jit(lambda f: xc.pde.poisson(f, grid))
    f = xc.numpy.asarray(f)
    return lambda: run(f)


for cells, ndim in ((256, 2), (1024, 2), (64, 3), (128, 3)):
    f = rng.standard_normal((cells - 1,) * ndim)
    name = f"Poisson, {cells + 1}{'²³'[ndim - 2]} nodes"
    for peer, made in (("SciPy's sine transform", by_dst), ("NumPy's sine matrices", by_gemm)):
        bench.versus(
            f"{name}, beside {peer}",
            lambda c=cells, d=ndim, f=f: ours_poisson(c, d, f),
            lambda c=cells, d=ndim, f=f, made=made: made(f, symbol(c, d)),
            0.8, wait=True,
        )  # fmt: skip
    bench.versus(
        f"{name}, beside pyamg with set-up",
        lambda c=cells, d=ndim, f=f: ours_poisson(c, d, f),
        lambda c=cells, d=ndim, f=f: by_pyamg(laplace_matrix(c, d), f),
        0.1, wait=True, rounds=3,
    )  # fmt: skip


def coefficient(x, y):
    return 1 + 0.9 * np.sin(7 * x) * np.cos(5 * y)


def operator(cells: int):
    """-div(a grad u) of xcore, and of SciPy the matrix: the same numbers."""
    pde = xcore().pde
    nodes = np.arange(cells + 1) / cells
    op = pde.Diffusion(pde.Grid((cells, cells)), coefficient(nodes[:, None], nodes[None, :]))
    n = cells - 1
    (ex, ey), grid = map(np.asarray, op.edges()), np.arange(n * n).reshape(n, n)
    diagonal = ex[:-1] + ex[1:] + ey[:, :-1] + ey[:, 1:]
    x = (grid[:-1].ravel(), grid[1:].ravel(), -ex[1:-1].ravel())
    y = (grid[:, :-1].ravel(), grid[:, 1:].ravel(), -ey[:, 1:-1].ravel())
    rows, columns, values = (np.concatenate(p) for p in zip(x, y, strict=True))
    upper = sp.coo_array((values, (rows, columns)), shape=(n * n, n * n))
    return op, ((upper + upper.T + sp.diags_array(diagonal.ravel())) * cells**2).tocsr()


def ours_variable():
    xc = xcore()
    op, _ = operator(1000)
    f = xc.numpy.asarray(np.ones(op.field_shape))
    return lambda: xc.pde.solve(op, f, rtol=1e-8, report=True).value


bench.versus(
    "div(a grad u) = f, 10⁶ unknowns, beside pyamg with set-up",
    ours_variable,
    lambda: by_pyamg(operator(1000)[1], -np.ones(999**2)),
    0.2, wait=True, rounds=3,
)  # fmt: skip


def ours_heat():
    xc = xcore()
    lap = xc.pde.Laplacian(xc.pde.Grid((256, 256)))
    stepper = xc.pde.ThetaMethod(lap)
    run = xc.jit(lambda u: xc.pde.trajectory(stepper, u, 1e-4, 100, every=100))
    u = xc.numpy.asarray(rng.standard_normal((255, 255)))
    return lambda: run(u)


def peer_heat():
    a = laplace_matrix(256, 2)
    one = sp.eye_array(a.shape[0])
    factors, right = sla.splu((one + 5e-5 * a).tocsc()), (one - 5e-5 * a).tocsr()
    first = rng.standard_normal(255**2)

    def run():
        u = first
        for _ in range(100):
            u = factors.solve(right @ u)
        return u

    return run


bench.versus("100 steps of Crank and Nicolson, 257², beside SciPy's sparse LU", ours_heat, peer_heat,
             0.1, wait=True, rounds=3)  # fmt: skip


def ours_stencil():
    xc = xcore()
    lap = xc.pde.Laplacian(xc.pde.Grid((1025, 1025)))
    run = xc.jit(lambda u: u + 1e-7 * lap(u))
    u = xc.numpy.asarray(rng.standard_normal((1024, 1024)))
    return lambda: run(u)


def peer_stencil():
    u = rng.standard_normal((1026, 1026))
    rate = 1e-7 * 1025**2

    def run():
        inner = u[1:-1, 1:-1]
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return inner + rate * (around - 4 * inner)

    return run


def copy():
    u, out = rng.standard_normal((2, 1024, 1024))
    return lambda: np.copyto(out, u)


bench.versus("heat stencil 1024², beside NumPy", ours_stencil, peer_stencil, 0.2, wait=True)
bench.versus("heat stencil 1024², beside a copy", ours_stencil, copy, 1 / 0.6, wait=True)


# The tolerances are not alike: ours bounds what a last cycle would change in the modes, of which the
# eigenvalues' errors are about the square; ARPACK's bounds the relative errors of the eigenvalues.
def ours_modes():
    xc = xcore()
    op, _ = operator(128)
    return lambda: xc.pde.eigenmodes(op, 6, rtol=1e-8)[0]


def peer_modes():
    a = operator(128)[1].tocsc()
    return lambda: sla.eigsh(a, 6, sigma=0, tol=1e-8)[0]


bench.versus("six smallest modes, 129², beside eigsh by shift and inversion", ours_modes, peer_modes,
             0.5, wait=True, rounds=3)  # fmt: skip

if __name__ == "__main__":
    bench.main()
