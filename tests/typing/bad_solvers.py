"""Mistakes in calls of solvers."""

# pyright: basic, reportUnusedExpression=false

import xcore as xc
from xcore import decomp, linalg, optimize, pde


def matrices(a: xc.Array, b: xc.Array) -> None:
    linalg.solve(a)  # error: reportCallIssue
    linalg.solve(a, "b")  # error: reportArgumentType
    linalg.solve(a, b, assume=1)  # error: reportCallIssue
    linalg.solve(a, b, report=True) + 1  # error: reportOperatorIssue
    linalg.solve(a, b).certificate  # error: reportAttributeAccessIssue
    linalg.lstsq(a, b, ridge="much")  # error: reportArgumentType
    linalg.eigh(a).v  # error: reportAttributeAccessIssue
    linalg.eigh(a, b, report=True).eigenvalues  # error: reportAttributeAccessIssue
    linalg.cholesky(a, True)  # error: reportCallIssue
    linalg.solv(a, b)  # error: reportAttributeAccessIssue


def operators(op: linalg.LinearOperator, b: xc.Array) -> None:
    op.mv("b")  # error: reportArgumentType
    op.rows  # error: reportAttributeAccessIssue
    linalg.CG(tolerance=1e-6)  # error: reportCallIssue
    linalg.linear_solve(op, b, "cg")  # error: reportArgumentType


def minima(x: xc.Array) -> None:
    optimize.minimize(x, lambda p: p.sum())  # error: reportArgumentType
    optimize.minimize(lambda p: p.sum())  # error: reportCallIssue
    optimize.minimize(lambda p: p.sum(), x, maxiter="many")  # error: reportArgumentType
    optimize.minimize(lambda p: p.sum(), x).minimum  # error: reportAttributeAccessIssue
    optimize.least_squares(lambda p: p, x, f_scale="1")  # error: reportArgumentType
    optimize.root(lambda p: p, x, tolerance=1e-3)  # error: reportCallIssue
    optimize.root_scalar(lambda p: p, 0.0)  # error: reportArgumentType
    optimize.curve_fit(lambda t, a: a * t, x)  # error: reportCallIssue
    optimize.curve_fit(lambda t, a: a * t, x, x, (1.0,)).params  # error: reportAttributeAccessIssue
    optimize.adam("fast")  # error: reportArgumentType
    optimize.adam(1e-3).step  # error: reportAttributeAccessIssue
    optimize.chain(1e-3)  # error: reportArgumentType


def tensors(x: xc.Array) -> None:
    decomp.cp_als(x, rank="3")  # error: reportArgumentType
    decomp.cp_als(x, 3, iterations=5)  # error: reportCallIssue
    decomp.cp_als(x, 3).factors  # error: reportAttributeAccessIssue
    decomp.hosvd("x")  # error: reportArgumentType
    decomp.hosvd(x).value  # error: reportAttributeAccessIssue


def fields(u: xc.Array) -> None:
    grid = pde.Grid(8, uper=1.0)  # error: reportCallIssue
    grid.nodes("x")  # error: reportArgumentType
    grid.size  # error: reportAttributeAccessIssue
    pde.poisson("f", grid)  # error: reportArgumentType
    pde.poisson(u)  # error: reportCallIssue
    pde.solve(grid, u)  # error: reportArgumentType
    pde.solve(pde.Laplacian(grid), u).residual  # error: reportAttributeAccessIssue
    pde.trajectory(pde.ThetaMethod(pde.Laplacian(grid)), u, 0.1)  # error: reportCallIssue
    pde.ThetaMethod(pde.Laplacian(grid)).step("u", 0.0, 0.1)  # error: reportArgumentType
