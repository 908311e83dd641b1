"""Histories are as long as the steps taken: row 0 is the start, the last row the result."""

import re

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore import decomp, linalg, pde
from xcore._iterate import first_row, history_of, with_row

START = np.asarray([-1.2, 1.0])
CIRCLE = xo.Constraints(eq=lambda x: x @ x - 2.0)
TENSOR = np.random.default_rng(2).random((4, 5, 3))


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def bowl(x):
    return 0.5 * xnp.sum((x - 0.2) ** 2 * xnp.asarray([1.0, 9.0]))


def residuals(x):
    return xnp.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def minimize(method, *, fun=rosenbrock, **kw):
    return lambda x, **more: xo.minimize(fun, x, method=method, history=True, **kw, **more)


POINTS = {  # one for each way in which a state begins; their rows have x
    "lbfgs": minimize("lbfgs"),
    "trust-exact": minimize("trust-exact"),
    "nelder-mead": minimize("nelder-mead"),
    "lbfgsb": minimize("lbfgsb", bounds=[(None, 0.5), (0.0, None)]),
    "sqp": minimize("sqp", fun=lambda x: x.sum(), constraints=CIRCLE),
    "augmented-lagrangian": minimize(
        "augmented-lagrangian", fun=lambda x: x.sum(), constraints=CIRCLE
    ),
    "lm": lambda x, **kw: xo.least_squares(residuals, x, history=True, **kw),
    "matrix-free": lambda x, **kw: xo.least_squares(
        residuals, x, method="matrix-free", history=True, **kw
    ),
    "hybr": lambda x, **kw: xo.root(residuals, x, history=True, **kw),
    "broyden": lambda x, **kw: xo.root(residuals, x, method="broyden", history=True, **kw),
    "fixed_point": lambda x, **kw: xo.fixed_point(xnp.cos, x, history=True, **kw),
    "fista": lambda x, **kw: xo.proximal_gradient(bowl, x, lambda x, step: x, history=True, **kw),
}
FITS = {
    "als": decomp.cp_als, "extrapolated": lambda x, r, **kw: decomp.cp_als(x, r, extrapolate=True, **kw),
    "masked": lambda x, r, **kw: decomp.cp_als(x, r, mask=TENSOR > 0.2, **kw),
    "restarts": lambda x, r, **kw: decomp.cp_als(x, r, restarts=3, **kw), "hals": decomp.cp_nonneg,
    "admm": lambda x, r, **kw: decomp.cp_constrained(x, r, lambda a, _: a, **kw), "sampled": decomp.cp_arls,
    "gauss-newton": decomp.cp_gauss_newton, "gradient": decomp.cp_gradient, "tucker": decomp.tucker_als,
    "not negative": decomp.tucker_nonneg,
}  # fmt: skip


def same(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", POINTS)
def test_points(name):
    start = 0.4 * START if name == "lbfgsb" else START
    found = POINTS[name](start, maxiter=30)
    n, rows = int(found.steps), found.history
    assert n > 0 and set(rows) == {"x", "f", "g", "nfev"}
    assert {r.shape[0] for r in rows.values()} == {n + 1}
    if name != "fista":  # whose first point is a proximal map's
        same(rows["x"][0], start)
    same(rows["x"][n], found.x)
    assert np.all(np.diff(rows["nfev"]) >= 0) and np.isfinite(rows["f"]).all()
    f = found.fun if found.fun.ndim == 0 else 0.5 * np.sum(found.fun**2)
    np.testing.assert_allclose(
        rows["f"][n], f, rtol=1e-12, atol=(16 * np.finfo(np.float64).eps) ** 2
    )
    if found.grad is not None and name != "nelder-mead":
        same(rows["g"][n], found.grad)


@pytest.mark.parametrize("name", ["lbfgs", "lm", "hybr", "sqp"])
def test_no_steps(name):
    none = POINTS[name](START, maxiter=0)
    assert none.history["x"].shape == (1, 2) and int(none.steps) == 0
    same(none.history["x"][0], START)


@pytest.mark.parametrize("name", FITS)
def test_fits(name):
    found = FITS[name](TENSOR, 2, max_steps=9)
    n = int(found.steps)
    assert found.history.shape == (n + 1,) and np.isfinite(found.history).all()
    assert found.history[n] <= found.history[0]
    one = FITS[name](TENSOR, 2, max_steps=1)
    assert one.history.shape == (2,)


@pytest.mark.parametrize("solver", [
    linalg.CG(), linalg.MINRES(), linalg.BiCGStab(), linalg.GMRES(restart=5), linalg.Chebyshev(bounds=(1.0, 30.0)),
], ids=lambda s: type(s).__name__)  # fmt: skip
def test_linear_solvers(solver):
    a, b = np.diag(np.arange(1.0, 31.0)), np.ones(30)
    solve = lambda b, **kw: linalg.linear_solve(a, b, solver, report=True, **kw)
    found = solve(b, history=True)
    rows = np.asarray(found.history)
    assert rows.shape == (int(found.steps) + 1,) and rows[-1] == found.error
    same(rows[0], np.sqrt(30.0))
    near = solve(b, history=True, x0=np.asarray(found.value))
    assert near.history[0] < 1e-4 * rows[0]
    two = solve(np.stack([b, np.eye(30)[0]], 1), history=True)
    assert two.history.shape == (int(two.steps.max()) + 1, 2)
    np.testing.assert_allclose(two.history[: len(rows), 0], rows, rtol=1e-6, atol=1e-12)
    same(two.history[-1], two.error)
    assert solve(b).history is None
    compiled = xc.jit(lambda b: solve(b, history=True).history)(b)
    np.testing.assert_allclose(compiled[: len(rows)], rows, rtol=1e-6, atol=1e-12)
    assert (compiled[len(rows) :] == compiled[len(rows) - 1]).all()


def test_least_squares_from_products():
    a, b = np.diag(np.arange(1.0, 31.0))[:, :7], np.ones(30)
    solve = lambda b, **kw: linalg.lsmr(a, b, rtol=1e-10, report=True, history=True, **kw)
    found = solve(b)
    rows = np.asarray(found.history)
    assert rows.shape == (int(found.steps) + 1,) and rows[-1] == found.error
    same(rows[0], np.linalg.norm(a.T @ b))
    assert (np.diff(rows) < 0).all()
    two = solve(1e3 * np.stack([b, np.eye(30)[0]], 1))
    assert two.history.shape == (int(two.steps.max()) + 1, 2)
    same(two.history[:3, 0], 1e3 * rows[:3])
    damped = solve(b, damp=0.5)
    same(damped.history[0], rows[0])
    assert damped.history[-1] == damped.error


EIGENPAIRS = {
    "eigsh": lambda **kw: linalg.eigsh(np.diag(np.arange(1.0, 31.0)), 2, ncv=8, report=True, **kw),
    "lobpcg": lambda **kw: linalg.lobpcg(np.diag(np.arange(1.0, 31.0)), 2, report=True, **kw),
    "by cycles": lambda **kw: pde.eigenmodes(VARIED, 2, report=True, **kw),
    "by the inverse": lambda **kw: pde.eigenmodes(
        VARIED, 2, report=True, method="shift-invert", **kw
    ),
}
VARIED = pde.Diffusion(pde.Grid((16, 16)), lambda x, y: 1 + x)


@pytest.mark.parametrize("name", EIGENPAIRS)
def test_eigenpairs(name):
    found = EIGENPAIRS[name](history=True)
    rows = np.asarray(found.history)
    assert rows.shape == (int(found.steps) + 1, 2) and np.isfinite(rows[1:]).all()
    assert (rows[-1] <= rows[0]).all()
    if name == "eigsh":  # each restart shows what it came to
        short = EIGENPAIRS[name](history=True, max_steps=3)
        same(short.history, rows[:4])
    assert EIGENPAIRS[name]().history is None


@pytest.mark.parametrize("method", ["cg", "multigrid"])
def test_fields(method):
    found = pde.solve(VARIED, -1.0, method=method, report=True, history=True)
    rows = np.asarray(found.history)
    assert rows.shape == (int(found.steps) + 1,) and rows[0] == 1
    assert rows[-1] < 0.1 * rows[0]
    np.testing.assert_allclose(rows[-1], found.error, rtol=0.2)  # in a norm that is near to it
    assert pde.solve(VARIED, -1.0, method=method, report=True).history is None
    direct = pde.solve(pde.Laplacian(pde.Grid(8)), -1.0, report=True, history=True)
    assert direct.history is None


def test_newton_for_fields():
    lap = pde.Laplacian(pde.Grid(16))
    equation, start = (lambda u: lap(u) + xnp.exp(u)), lap.field(0.0)
    found = pde.solve_nonlinear(equation, start, lap, report=True, history=True)
    rows = np.asarray(found.history)
    assert rows.shape == (int(found.steps) + 1,) and rows[-1] == found.error
    assert (np.diff(rows) < 0).all() and rows[0] > 0.1
    assert pde.solve_nonlinear(equation, start, lap, report=True).history is None


def test_row_0_of_a_fit_is_the_error_of_its_start():
    start = decomp.cp_als(TENSOR, 2, max_steps=3).value
    for fit in (decomp.cp_als, decomp.cp_nonneg, decomp.cp_gauss_newton, decomp.cp_gradient):
        same(fit(TENSOR, 2, init=start).history[0], decomp.relative_error(TENSOR, start))
    masked = decomp.cp_als(TENSOR, 2, init=start, mask=TENSOR > 0.2)
    left = np.where(TENSOR > 0.2, TENSOR - start.to_dense(), 0)
    same(masked.history[0], np.linalg.norm(left) / np.linalg.norm(TENSOR * (TENSOR > 0.2)))
    start = decomp.hosvd(TENSOR, 2)
    found = decomp.tucker_als(TENSOR, 2, init=start)
    same(found.history[0], decomp.relative_error(TENSOR, start))


@pytest.mark.parametrize("name", ["nelder-mead", "lm", "hybr"])
def test_compiled_ones_repeat_the_last_row(name):
    solve = lambda x: (lambda r: (r.steps, r.history))(POINTS[name](x, maxiter=150))
    alone = POINTS[name](START, maxiter=150)
    n = int(alone.steps)
    steps, rows = xc.jit(solve)(START)
    assert int(steps) == n
    every_steps, every = xc.vmap(solve)(np.stack([START, 0.9 * START]))
    for k, r in alone.history.items():
        assert rows[k].shape == (151, *r.shape[1:]) and every[k].shape == (2, *rows[k].shape)
        np.testing.assert_allclose(rows[k][: n + 1], r, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(rows[k][n:], np.broadcast_to(rows[k][n], rows[k][n:].shape))
        last = every[k][1, int(every_steps[1])]
        np.testing.assert_array_equal(every[k][1, -1], last)
    errors = xc.jit(lambda x: decomp.cp_als(x, 2, max_steps=9, rtol=0.1).history)(TENSOR)
    assert errors.shape == (10,) and np.isfinite(errors).all() and errors[-1] == errors[-2]


def test_histories_go_with_derivatives():
    def least(p):
        found = xo.minimize(lambda x: xnp.sum((x - p) ** 2), START, history=True)
        return found.x.sum(), found.history

    slope, rows = xc.grad(least, has_aux=True)(np.float64(3.0))
    same(slope, 2.0)
    assert rows["x"].shape[0] >= 2 and rows["x"].shape[1] == 2


def test_names_of_rows():
    found = xo.minimize(rosenbrock, START, history="f")
    assert list(found.history) == ["f"]
    with pytest.raises(ValueError, match=r"history.*nfev"):
        xo.minimize(rosenbrock, START, history=("f", "step"))


@pytest.mark.parametrize("method", ["lbfgs", "trust-exact"])
def test_a_step_writes_one_row(method):
    """Not the whole buffer: then a history would cost more than the method."""
    solve = xc.jit(
        lambda x: xo.minimize(rosenbrock, x, method=method, maxiter=1006, history=True).history
    )
    text = solve.lower(START).compile().as_text()
    assert "dynamic-update-slice" in text
    made = r"= f64\[1007(?:,2)?\]\S* (select|copy)\("
    inside = [part for part in text.split("\n\n") if not part.lstrip().startswith("ENTRY")]
    assert not re.findall(made, "\n\n".join(inside))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64", "bfloat16"])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 2)])
def test_rows(dtype, shape):
    value = xnp.ones(shape, dtype)
    rows = first_row({"a": value}, 4)
    assert rows["a"].shape == (5, *shape) and rows["a"].dtype == value.dtype
    rows = with_row(rows, xnp.asarray(1, np.int32), {"a": value * 2})
    kept = history_of(rows, xnp.asarray(1, np.int32))["a"]
    assert kept.shape == (2, *shape) and kept.dtype == value.dtype
    filled = xc.jit(history_of)(rows, xnp.asarray(1, np.int32))["a"]
    np.testing.assert_array_equal(filled[:2], kept)
    np.testing.assert_array_equal(filled[2:], np.broadcast_to(kept[1], filled[2:].shape))
