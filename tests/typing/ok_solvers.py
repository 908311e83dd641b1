"""Solvers as users call them, and the types of what they get."""

# pyright: standard, reportUnusedExpression=false

from typing import Any, assert_type

import numpy as np

import xcore as xc
import xcore.numpy as xnp
from xcore import decomp, linalg, optimize, pde
from xcore.numpy.linalg import EighResult, EigResult, SVDResult


def matrices(a: xc.Array, b: xc.Array) -> None:
    assert_type(linalg.solve(a, b), xc.Array)
    assert_type(linalg.solve(a, b, "pos", refine=2), xc.Array)
    assert_type(linalg.solve(a, b, report=True), xc.Solution)
    assert_type(linalg.solve(np.eye(2), 1.0), xc.Array)
    assert_type(linalg.lstsq(a, b, ridge=0.1), xc.Array)
    assert_type(linalg.lstsq(a, b, report=True), xc.Solution)
    assert_type(linalg.eigh(a), EighResult)
    assert_type(linalg.eigh(a, b, report=True), xc.Solution)
    w, v = linalg.eigh(a)
    assert_type(w @ v, xc.Array)
    assert_type(linalg.eig(a), EigResult)
    assert_type(linalg.svd(a), SVDResult)
    assert_type(linalg.svd(a, compute_uv=False), xc.Array)
    q, r = linalg.qr(a)
    assert_type(q @ r, xc.Array)
    assert_type(linalg.expm(a) + linalg.inv(a), xc.Array)
    assert_type(linalg.rref(a), xc.Array)


def evidence(a: xc.Array, b: xc.Array) -> None:
    found = linalg.solve(a, b, report=True)
    assert_type(found.message, str)
    assert_type(found.check().value, Any)
    if found.certificate is not None:
        print(found.certificate.condition, found.steps, found.error, found.ok)
    print(xc.Status.max_steps.message, int(xc.Status.success))


def operators(a: xc.Array, b: xc.Array) -> None:
    op = linalg.as_operator(a)
    assert_type(op, linalg.LinearOperator)
    assert_type(op.mv(b), xc.Array)
    assert_type(op.shape, tuple[int, int])
    assert_type(op.as_matrix(), xc.Array)
    twice = linalg.FunctionOperator(lambda _, x: 2 * x, None, (3, 3), symmetric=True)
    assert_type(linalg.linear_solve(twice, b, linalg.CG(rtol=1e-6)), xc.Array)
    assert_type(linalg.linear_solve(op, b, report=True), xc.Solution)
    w, v = linalg.eigsh(op, 2, which="SA")
    assert_type(v @ w, xc.Array)


def bowl(x: xc.Array, scale: float = 1.0) -> xc.Array:
    return scale * (x**2).sum()


def minima(x: xc.Array) -> None:
    found = optimize.minimize(bowl, x, method="BFGS", maxiter=50)
    assert_type(found, optimize.Result)
    assert_type(found.message, str)
    found.x, found.fun, found.grad, found.nit
    assert_type(optimize.least_squares(lambda p: p - 1.0, x, loss="huber"), optimize.Result)
    assert_type(optimize.root(lambda p: p**3 - p, x), optimize.Result)
    assert_type(optimize.root_scalar(xnp.cos, (0.0, 3.0)), optimize.Result)
    fitted = optimize.curve_fit(lambda t, a, b: a * t + b, x, x, (1.0, 0.0))
    assert_type(fitted, optimize.CurveFit)
    popt, pcov = fitted
    low, high = fitted.interval(0.9)
    print(popt, pcov, low < high, fitted.result.nfev)


def training(params: dict[str, xc.Array], grads: dict[str, xc.Array]) -> None:
    opt = optimize.chain(optimize.clip_by_global_norm(1.0), optimize.adam(1e-3))
    updates, state = opt.update(grads, opt.init(params), params)
    optimize.apply_updates(params, updates)
    optimize.adamw(optimize.cosine_decay_schedule(1e-3, 100), weight_decay=0.1)
    print(state)


def tensors(x: xc.Array) -> None:
    found = decomp.cp_als(x, 3, key=xc.random.key(0), mask=x > 0)
    assert_type(found, xc.Solution)
    assert_type(decomp.tucker_als(x, (2, 2, 2)), xc.Solution)
    tucker = decomp.hosvd(x, rtol=1e-3)
    assert_type(tucker, decomp.Tucker)
    assert_type(tucker.to_dense(), xc.Array)
    assert_type(decomp.tt_svd(x, 4), decomp.TT)
    assert_type(decomp.norm(tucker) + decomp.relative_error(x, tucker), xc.Array)


def fields(u: xc.Array) -> None:
    grid = pde.Grid((8, 8), upper=(1.0, 2.0))
    assert_type(grid.shape, tuple[int, ...])
    assert_type(grid.integrate(u), xc.Array)
    assert_type(pde.poisson(lambda x, y: x * y, grid), xc.Array)
    assert_type(pde.poisson(u, grid, pde.Neumann(0.0), order="compact"), xc.Array)
    lap = pde.Laplacian(grid, pde.Dirichlet(1.0))
    assert_type(lap(u) + lap.boundary(), xc.Array)
    assert_type(pde.solve(lap, u), xc.Array)
    assert_type(pde.solve(lap, u, method="cg", report=True), pde.FieldSolution)
    w, modes = pde.eigenmodes(lap, 4)
    assert_type(w.sum() + modes.sum(), xc.Array)
    stepper = pde.ThetaMethod(lap)
    assert_type(stepper.step(u, 0.0, 0.1), xc.Array)
    pde.trajectory(stepper, u, 0.1, 10, every=2)
    assert_type(pde.trajectory(stepper, u, 0.1, 10, report=True), pde.TrajectorySolution)
    pde.integrate(lambda u, t: -u, u, [0.0, 1.0], rtol=1e-6)
