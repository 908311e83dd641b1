"""Right programs with functions whose result has another type under a flag, and those that draw."""

from typing import assert_type

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import xcore as xc
from xcore import linalg, pde, plot, scipy, sparse


def factors(a: xc.Array) -> None:
    assert_type(linalg.qr(a), tuple[xc.Array, xc.Array])
    assert_type(linalg.svd(a, compute_uv=False), xc.Array)
    assert_type(linalg.svd(a, report=True), xc.Solution)
    assert_type(linalg.schur(a), tuple[xc.Array, xc.Array])


def of_scipy(a: xc.Array) -> None:
    assert_type(scipy.linalg.eigh(a), tuple[xc.Array, xc.Array])
    assert_type(scipy.linalg.eigh(a, eigvals_only=True), xc.Array)
    assert_type(scipy.linalg.eig(a, right=False), xc.Array)
    assert_type(scipy.linalg.eig(a, left=True), tuple[xc.Array, xc.Array, xc.Array])
    assert_type(scipy.linalg.hessenberg(a) + 1, xc.Array)
    assert_type(scipy.linalg.hessenberg(a, calc_q=True), tuple[xc.Array, xc.Array])
    assert_type(scipy.sparse.linalg.eigsh(a, 2), tuple[xc.Array, xc.Array])
    assert_type(scipy.sparse.linalg.eigsh(a, 2, return_eigenvectors=False), xc.Array)
    assert_type(
        scipy.sparse.linalg.svds(a, return_singular_vectors="u"),
        tuple[xc.Array, xc.Array, xc.Array],
    )


def square(v: xc.Array) -> xc.Array:
    return (v**2 - 1).sum()


def line(t: xc.Array, a: xc.Array) -> xc.Array:
    return a * t


def roots(x: xc.Array) -> None:
    assert_type(scipy.optimize.fsolve(square, x), xc.Array)
    assert_type(scipy.optimize.brentq(square, 0.0, 3.0), xc.Array)
    root, found = scipy.optimize.brentq(square, 0.0, 3.0, full_output=True)
    print(root + 1, found.converged)
    popt, pcov = scipy.optimize.curve_fit(line, x, x)
    assert_type(popt, xc.Array)
    assert_type(pcov, xc.Array)
    assert_type(scipy.optimize.fmin(square, x) + 1, xc.Array)


def of_sparse(a: sparse.Sparse, b: xc.Array) -> None:
    assert_type(sparse.factorise(a), sparse.Factors)
    print(sparse.factorise(a, "cholesky").logdet() + sparse.factorise(a, "ilut", drop_tol=0.1) @ b)
    count, labels = scipy.sparse.csgraph.connected_components(a)
    assert_type(count, int)
    assert_type(labels, xc.Array)
    assert_type(scipy.sparse.csgraph.dijkstra(a, indices=0), xc.Array)
    assert_type(scipy.sparse.csgraph.laplacian(a), sparse.Sparse)
    assert_type(scipy.sparse.linalg.expm(a), sparse.Sparse)
    assert_type(scipy.sparse.linalg.expm(b), xc.Array)


def fields(grid: pde.Grid, u: xc.Array) -> None:
    assert_type(pde.refine(pde.Laplacian, -1.0, grid, of=lambda v, op: op.integrate(v)), xc.Array)
    assert_type(
        pde.refine(pde.Laplacian, -1.0, grid, of=lambda v, op: op.integrate(v), report=True),
        pde.FieldSolution,
    )
    assert_type(plot.field(grid, u), Axes)
    assert_type(plot.convergence(np.ones(3), np.ones(3)), Axes)
    assert_type(plot.factors(u), Figure)
