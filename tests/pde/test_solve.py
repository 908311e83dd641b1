"""Variable coefficients: the operator, multigrid, the solvers' reports and derivatives."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore.pde import (
    Diffusion,
    Dirichlet,
    FieldSolution,
    Grid,
    Helmholtz,
    IncompatibleError,
    Laplacian,
    Neumann,
    Periodic,
    Robin,
    _multigrid,
    solve,
)
from xcore.testing import check_grads

rng = np.random.default_rng(0)
D, N, R, P = Dirichlet(), Neumann(), Robin(1.0, 2.0), Periodic()


def wavy(x, y):
    return 1 + 0.5 * xnp.sin(3 * x) * xnp.cos(2 * y)


@pytest.mark.parametrize(
    "grid, bc",
    [
        (Grid((7, 5)), D),
        (Grid((6, 7)), [(D, N), P]),
        (Grid((3, 4, 5), upper=(1, 2, 3.0)), [R, P, (N, R)]),
    ],
)
def test_constant_coefficients_are_the_laplace_operator(grid, bc):
    bc = [(Dirichlet(1.5), Neumann(2.0)), (Robin(1.0, 2.0, 3.0), D)] if bc is D else bc
    with xc.enable_x64():
        lap, op = Laplacian(grid, bc), Diffusion(grid, 1.0, bc)
        u = rng.standard_normal(lap.field_shape)
        assert np.allclose(lap(u), op(u), atol=1e-11)
        assert np.allclose(lap.boundary(), op.boundary(), atol=1e-11)


def test_symmetric_when_weighted_and_matrix():
    with xc.enable_x64():
        op = Diffusion(Grid((6, 5)), wavy, [(D, R), (N, D)], c=lambda x, y: x)
        a = np.asarray(op.as_matrix(np.float64))
        weighted = op.weights.ravel()[:, None] * a
        assert np.allclose(weighted, weighted.T, atol=1e-12)
        assert np.linalg.eigvals(a).real.max() < 0
        u = rng.standard_normal(op.shape[0])
        assert np.allclose(op @ u, a @ u, atol=1e-10)


def test_harmonic_mean_is_exact_across_a_jump():
    """-(a u')' = 0 with a = 1, then 9, jumping half-way between two nodes."""
    with xc.enable_x64():
        grid = Grid(10, upper=10.0)
        op = Diffusion(grid, lambda x: xnp.where(x < 4.5, 1.0, 9.0), [(D, Dirichlet(1.0))])
        u = np.asarray(op.full(solve(op, 0.0)))
        x = grid.nodes(0)
        flow = 1 / (4.5 + 5.5 / 9)
        assert np.allclose(u, np.where(x < 4.5, flow * x, 1 - flow * (10 - x) / 9), atol=1e-12)


def test_order_of_accuracy_with_mixed_conditions():
    u = lambda x, y: xnp.sin(2 * x + 1) * xnp.exp(y)
    slope = lambda x, y: 2 * xnp.cos(2 * x + 1) * xnp.exp(y)
    a = lambda x, y: 1 + x * y

    def f(x, y):  # div(a grad u) - x u
        return a(x, y) * (-3) * u(x, y) + y * slope(x, y) + x * u(x, y) - x * u(x, y)

    bc = [(Dirichlet(u), Neumann(slope)), (Robin(1.0, 1.0), Dirichlet(u))]  # at y = 0: u - u_y = 0
    errors = []
    with xc.enable_x64():
        for n in (8, 16):
            op = Diffusion(Grid((n, n)), a, bc, c=lambda x, y: x)
            got = solve(op, f)
            errors.append(float(xnp.abs(got - u(*op.points())).max()))
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.3, errors


# Multigrid


def test_full_multigrid_reaches_the_accuracy_of_the_discretisation():
    exact = lambda x, y: xnp.sin(np.pi * x) * xnp.sin(2 * np.pi * y)
    with xc.enable_x64():
        op = Laplacian(Grid((64, 64)))
        f = lambda x, y: -5 * np.pi**2 * exact(x, y)
        once = solve(op, f, method="full multigrid")
        best = solve(op, f, report=True, estimate=True)
        errors = [float(xnp.abs(u - exact(*op.points())).max()) for u in (once, best.value)]
        assert errors[0] < 1.1 * errors[1], errors
        assert (
            best.method == "direct"
            and 0.9 < float(best.certificate.discretization_error) / errors[1] < 1.1
        )


@pytest.mark.parametrize("q", [-3.0, lambda x, y: 2 + x])
def test_estimate_of_the_error_of_helmholtz_equation(q):
    u = lambda x, y: xnp.exp(x) * xnp.sin(2 * y + 1)
    with xc.enable_x64():
        op = Helmholtz(Grid((32, 32)), q, Dirichlet(u))
        at = q if callable(q) else lambda x, y: q
        answer = solve(op, lambda x, y: (at(x, y) - 3) * u(x, y), report=True, estimate=True)
        true = float(xnp.abs(answer.value - u(*op.points())).max())
        assert 0.9 < float(answer.certificate.discretization_error) / true < 1.1


def test_full_multigrid_with_data_on_the_faces():
    exact = lambda x, y: xnp.exp(x) * xnp.sin(2 * y + 1)
    slope = lambda x, y: 2 * xnp.exp(x) * xnp.cos(2 * y + 1)
    with xc.enable_x64():
        op = Laplacian(Grid((64, 64)), [Dirichlet(exact), (Dirichlet(exact), Neumann(slope))])
        f = lambda x, y: -3 * exact(x, y)
        found = [solve(op, f, method=m) for m in ("full multigrid", "direct")]
        errors = [float(xnp.abs(u - exact(*op.points())).max()) for u in found]
        assert errors[0] < 1.1 * errors[1], errors


def test_full_multigrid_takes_ten_work_units(monkeypatch):
    """A unit is a product with the operator on the finest grid; none are computed here."""
    work, apply = [], _multigrid.Level.__call__

    def counted(level, u):
        work.append(np.prod(level.shape))
        return apply(level, u)

    level = _multigrid.hierarchy(Diffusion(Grid((64, 64))))
    monkeypatch.setattr(_multigrid.Level, "__call__", counted)
    monkeypatch.setattr(
        _multigrid, "cycle", _multigrid._cycle
    )  # what is compiled is traced once only
    xc.eval_shape(lambda b: _multigrid.full_multigrid(level, b, smooth=True), xnp.ones((63, 63)))
    assert 5 < sum(work) / 63**2 < 10, sum(work) / 63**2


def test_gradients_of_solutions():
    grid = Grid((5, 4))
    weights = rng.standard_normal((4, 3))

    def functional(a, f, edge):
        op = Diffusion(grid, a, [(Dirichlet(edge), D), D])
        return xnp.sum(weights * solve(op, f, rtol=1e-13, method="cg"))

    with xc.enable_x64():
        a, f = 1 + rng.random((6, 5)), rng.standard_normal((4, 3))
        check_grads(functional, (a, f, 0.3), order=1)


def test_gradients_across_jumps():
    """With respect to coefficients, sinks, sources and data on the faces, beside central differences in
    a direction that is relative to each number."""
    grid, rng = Grid((8, 7)), np.random.default_rng(0)

    def loss(p):
        op = Diffusion(grid, p["a"], [(Dirichlet(p["face"]), Neumann(p["slope"])), P], c=p["c"])
        return xnp.sum(p["weights"] * solve(op, p["f"], rtol=1e-13, report=True).value)

    with xc.enable_x64():
        slope, value = xc.jit(xc.grad(loss)), xc.jit(loss)
        for jump in (1e-6, 1e3, 1e6):
            size = np.where(np.indices((9, 8)).sum(0) % 8 < 4, jump, 1.0)
            p = {"a": size * (1 + rng.random((9, 8))), "c": rng.random((9, 8)), "slope": rng.normal(size=7),
                 "face": rng.normal(size=7), "f": rng.normal(size=(8, 7)), "weights": rng.normal(size=(8, 7))}  # fmt: skip
            slopes = slope(p)
            for name, x in p.items():
                way = x * rng.normal(size=x.shape)
                ends = [float(value({**p, name: x + h * way})) for h in (-1e-5, 1e-5)]
                found = float(np.sum(np.asarray(slopes[name]) * way))
                expected = (ends[1] - ends[0]) / 2e-5
                noise = 1e-11 * abs(ends[0]) / 1e-5
                assert abs(found - expected) <= 1e-5 * abs(expected) + noise, (name, jump)


def test_errors_explain():
    grid = Grid((4, 4))
    with pytest.raises(ValueError, match="positive and finite everywhere"):
        Diffusion(grid, -1.0)
    with pytest.raises(ValueError, match="positive and finite everywhere, given nan"):
        Diffusion(grid, float("nan"))
    with pytest.raises(ValueError, match="2 or more along each axis"):
        Diffusion(Grid((1, 4)), 1.0)
    with pytest.raises(ValueError, match="at all nodes"):
        Diffusion(grid, np.ones(3))
    with pytest.raises(ValueError, match="nowhere negative"):
        Diffusion(grid, 1.0, c=-1.0)
    with pytest.raises(ValueError, match='"cg" or "multigrid"'):
        solve(Diffusion(grid, wavy), 1.0, method="direct")
    with pytest.raises(ValueError, match="an operator of"):
        solve(3, 1.0)
    for op in (Laplacian(grid, N), xc.pde.Helmholtz(grid, 0.0, N)):
        with pytest.raises(IncompatibleError, match="must balance"):
            solve(op, 1.0)
    for wrong in ({"rtol": -1.0}, {"rtol": float("nan")}, {"max_steps": 0}):
        with pytest.raises(ValueError, match="must be positive"):
            solve(Laplacian(grid), 1.0, **wrong)


@pytest.mark.parametrize(
    ("solver", "cycles", "advised"),
    [("multigrid", 26, True), ("multigrid", 25, False), ("cg", 26, False)],
)
def test_advice_where_cycles_converge_slowly(solver, cycles, advised):
    report = FieldSolution(None, np.int32(0), steps=np.int32(cycles), method=solver)
    assert (
        f'{cycles} cycles are many, as preconditioner of method="cg"' in report.message
    ) == advised


@pytest.mark.parametrize(
    "a, c", [(1.0, 0.0), (0.1, 0.3), ((0.1, 0.7), 0.0), (lambda x, y: 1 + x, 0.2)],
    ids=["one", "numbers", "axes", "function"],
)  # fmt: skip
def test_data_in_double_precision_get_coefficients_in_it(a, c):
    """NumPy's arrays are, numbers and functions beside them are not."""
    op = Diffusion(Grid((8, 6)), a, [Dirichlet(0.3), (Neumann(0.1), Dirichlet(0.0))], c)
    f = np.random.default_rng(0).standard_normal(op.field_shape)
    answer = solve(op, f, report=True)
    assert bool(answer.ok) and answer.value.dtype == np.float64
    left = np.asarray(op(answer.value) + op.boundary(np.float64)) - f
    assert np.linalg.norm(left) < 1e-9 * np.linalg.norm(f)
    if a == 1.0:
        same = solve(Laplacian(op.grid, op.faces), f)
        assert np.allclose(answer.value, same, rtol=1e-12)
