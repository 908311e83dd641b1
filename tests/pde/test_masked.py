"""Parts of a box: accuracy at curved edges, matrices, solvers, and the eigenvalues of an L."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Grid, Masked, solve
from xcore.testing import check_grads

rng = np.random.default_rng(0)
ellipse = lambda x, y: x**2 + (y / 0.8) ** 2 < 0.81
exact = lambda x, y: xnp.exp(x) * xnp.sin(2 * y + 1)


def error(op, u):
    return float(xnp.max(xnp.abs(xnp.where(op.inside, u - exact(*op.points()), 0))))


def dense_solution(op, f):
    """By SciPy, from the matrix: independent of all of our solvers."""
    from scipy.sparse.linalg import spsolve

    at = np.ravel(op.inside)
    a = op.as_sparse().tocsc()[at][:, at]
    u = np.zeros(at.size)
    u[at] = spsolve(a, np.ravel(op.field(f) - op.boundary())[at])
    return u.reshape(op.field_shape)


# Solutions of order 2 lose a little where gaps are irregular; a staircase with the data taken where
# the true boundary is gains from it, so it is shown with data that vanish there.
@pytest.mark.parametrize("edge, order", [("shortley-weller", 2), ("symmetric", 2)])
def test_order_of_accuracy_at_a_curved_edge(edge, order):
    with xc.enable_x64():
        errors = []
        for n in (20, 40, 80):
            op = Masked(Grid((n, n), -1.0, 1.0), ellipse, value=exact, edge=edge)
            errors.append(error(op, dense_solution(op, lambda x, y: -3 * exact(x, y))))
        slope = np.log2(errors[0] / errors[2]) / 2
        assert order - 0.2 < slope < order + 0.3, errors


def test_a_staircase_has_first_order():
    """-Δu = 4 in the unit disc has the solution 1 - r²."""
    bowl = lambda x, y: 1 - x**2 - y**2
    with xc.enable_x64():
        errors = []
        for n in (24, 48, 96):
            op = Masked(Grid((n, n), -1.1, 1.1), lambda x, y: bowl(x, y) > 0, edge="staircase")
            gap = dense_solution(op, -4.0) - bowl(*op.points())
            errors.append(float(np.abs(np.where(op.inside, gap, 0)).max()))
        assert 0.6 < np.log2(errors[0] / errors[2]) / 2 < 1.4, errors


def test_exact_where_solutions_are_quadratic():
    """Shortley and Weller's differences are exact for quadratic functions, wherever the edge is;
    in a box with uneven axes, with a varying coefficient that is linear along one of them."""
    u = lambda x, y, z: x * x - 2 * y * y + 3 * z + x
    ball = lambda x, y, z: 0.2 - (x - 0.5) ** 2 - (y - 0.45) ** 2 - (z - 0.5) ** 2
    with xc.enable_x64():
        grid = Grid((7, 8, 6), stretched=(tuple(np.linspace(0, 1, 8) ** 1.1), None, None))
        op = Masked(grid, ball, value=u, c=0.5)
        got = dense_solution(op, lambda x, y, z: -2 - 0.5 * u(x, y, z))
        assert np.allclose(got, np.where(op.inside, u(*op.points()), 0), atol=1e-12)


def test_matrix_symmetry_and_levels_given_as_numbers():
    with xc.enable_x64():
        grid = Grid((12, 11), -1.0, 1.0)
        a = lambda x, y: 1 + 0.3 * x
        ops = {
            edge: Masked(grid, ellipse, a, edge=edge) for edge in ("shortley-weller", "symmetric")
        }
        x, y = grid.coordinates()
        level = Masked(grid, 0.81 - x**2 - (y / 0.8) ** 2, 1 + 0.3 * x, edge="symmetric")
        for op in ops.values():
            u = rng.standard_normal(op.field_shape)
            want = op.as_sparse() @ (u * op.inside).ravel()
            assert np.allclose(np.ravel(op(u)), want, atol=1e-12 * np.abs(want).max())
        m = ops["symmetric"].as_sparse().toarray()
        assert np.allclose(m, m.T) and ops["symmetric"].symmetric
        assert not ops["shortley-weller"].symmetric
        # linear between nodes, the edge of a level moves by the square of the spacing
        moved = [
            abs(p - q).max() for p, q in zip(level.gaps[0], ops["symmetric"].gaps[0], strict=True)
        ]
        assert max(moved) < 0.05 * grid.spacing[0]
        assert np.array_equal(level.inside, ops["symmetric"].inside)


def lshape(x, y):
    return (x < 0) | (y > 0)


@pytest.mark.parametrize("edge", ["shortley-weller", "symmetric"])
@pytest.mark.parametrize("shape", [ellipse, lshape])
def test_full_multigrid_and_estimates_of_errors(shape, edge):
    """Once from the coarsest grid up is as good as the discretisation, whatever the boundary says;
    the error estimated from two grids is the true one."""
    with xc.enable_x64():
        op = Masked(Grid((48, 48), -1.0, 1.0), shape, lambda x, y: 2.0 + 0 * x, exact, edge=edge)
        f = lambda x, y: -6 * exact(x, y)
        once = solve(op, f, method="full multigrid")
        best = solve(op, f, report=True, estimate=True)
        assert error(op, once) < 1.1 * error(op, best.value)
        assert 0.8 < float(best.certificate.discretization_error) / error(op, best.value) < 1.25


def test_estimate_of_the_error_of_a_staircase():
    """-Δu = 4 in the unit disc has the solution 1 - r²; of order 1, so it is a rough estimate."""
    bowl = lambda x, y: 1 - x**2 - y**2
    with xc.enable_x64():
        op = Masked(Grid((48, 48), -1.1, 1.1), lambda x, y: bowl(x, y) > 0, edge="staircase")
        answer = solve(op, -4.0, report=True, estimate=True)
        true = np.abs(np.where(op.inside, answer.value - bowl(*op.points()), 0)).max()
        assert 0.4 < float(answer.certificate.discretization_error) / true < 2.5


def test_full_multigrid_differentiates_with_respect_to_the_boundary():
    """The solution is linear in the data; a difference to that for other data is its derivative."""
    with xc.enable_x64():
        grid = Grid((24, 24), -1.0, 1.0)

        def at(t):
            op = Masked(grid, ellipse, value=lambda x, y: t * exact(x, y))
            return solve(op, lambda x, y: -3 * t * exact(x, y), method="full multigrid")

        one = xnp.asarray(1.0)
        slope = xc.jit(lambda t: xc.jvp(at, (t,), (one,))[1])(one)
        assert np.allclose(slope, at(one), atol=1e-12)
        pulled = xc.grad(lambda t: xnp.sum(at(t)))(one)
        assert np.isclose(pulled, np.sum(at(one)), rtol=1e-11)


# One grid and four programs for all of it.
@pytest.mark.parametrize("edge, method", [("shortley-weller", "auto"), ("shortley-weller", "multigrid"),
                                          ("symmetric", "auto"), ("symmetric", "multigrid")])  # fmt: skip
@pytest.mark.parametrize("shape", [ellipse, lshape])
def test_solvers_agree_with_elimination(shape, edge, method):
    """Ten digits within 12 cycles: a factor of 0.15 for each."""
    with xc.enable_x64():
        op = Masked(Grid((48, 48), -1.0, 1.0), shape, value=exact, edge=edge)
        answer = solve(op, 1.0, rtol=1e-10, method=method, report=True)
        assert answer.ok and int(answer.iterations) <= 12, int(answer.iterations)
        assert np.allclose(answer.value, dense_solution(op, 1.0), atol=1e-8)


def test_first_eigenvalue_of_an_l():
    """To six digits from five grids: the error has powers 4/3, 2, 8/3, 10/3 of the spacing, since
    the mode behaves as r^⅔ at the corner. (9.63972384402194: Trefethen and Betcke 2006)"""
    with xc.enable_x64():
        cells = np.array([8, 12, 16, 24, 32])
        values = []
        for n in cells:
            op = Masked(Grid((2 * n, 2 * n), -1.0, 1.0), lshape, edge="symmetric")
            values.append(float(pde.eigenmodes(op, 1, rtol=1e-7)[0][0]))
        powers = np.array([0, 4 / 3, 2, 8 / 3, 10 / 3])
        first = np.linalg.solve((cells[0] / cells[:, None]) ** powers, values)[0]
        assert abs(first / 9.63972384402194 - 1) < 1e-6, first


def test_gradients_of_solutions():
    grid = Grid((5, 5), -1.0, 1.0)
    weights = rng.standard_normal((4, 4))
    for edge in ("shortley-weller", "symmetric"):

        def functional(a, f, g, edge=edge):
            op = Masked(grid, ellipse, a, lambda x, y: g * x, edge=edge)
            return xnp.sum(weights * solve(op, f, rtol=1e-13))

        with xc.enable_x64():
            # solutions are good to 1e-13 times the condition; differences divide that by 1e-3
            args = (1.3, rng.standard_normal((4, 4)), 0.3)
            check_grads(functional, args, order=1, atol=1e-9, rtol=1e-9)


def test_errors_explain():
    grid = Grid((6, 6), -1.0, 1.0)
    op = Masked(grid, ellipse)
    bad = [
        (lambda: Masked(grid, np.ones(3, bool)), "at all nodes"),
        (lambda: Masked(grid, False), "true at one inner node"),
        (lambda: Masked(grid, ellipse, edge="round"), '"shortley-weller"|shortley'),
        (lambda: Masked(grid, ellipse, -1.0), "positive and finite everywhere inside"),
        (lambda: Masked(grid, ellipse, value=np.ones(3)), "a number or a function"),
        (lambda: Masked(grid, ellipse, c=-1.0), "nowhere negative"),
        (lambda: solve(op, 1.0, method="cg"), "bicgstab"),
        (lambda: solve(op, 1.0, method="direct"), "where coefficients vary"),
        (lambda: pde.eigenmodes(op, 1), "symmetric"),
    ]
    for call, words in bad:
        with pytest.raises(ValueError, match=words):
            call()
    full = op.full(op.field(2.0), outside=np.nan)
    assert full.shape == grid.shape and np.isnan(full[0]).all() and full[3, 3] == 2


# A boundary that moves

RING = Grid((16, 16), -1.0, 1.0)


def filling(inside):
    op = Masked(RING, inside)
    return 100 * xnp.sum(solve(op, -xnp.ones(op.field_shape)))


def image(r):
    x, y = np.meshgrid(*map(RING.nodes, range(2)), indexing="ij")
    return r - xnp.sqrt(x**2 + y**2)


MOVING = {
    "a function": lambda r: filling(lambda x, y: r**2 - x**2 - y**2),
    "a distance": lambda r: filling(lambda x, y: r - xnp.hypot(x, y)),
    "an image": lambda r: filling(image(r)),
}


@pytest.mark.parametrize("kind", MOVING)
def test_derivatives_with_respect_to_the_boundary(kind):
    f = MOVING[kind]
    with xc.enable_x64():
        slope = (f(0.83 + 1e-5) - f(0.83 - 1e-5)) / 2e-5
        np.testing.assert_allclose(xc.grad(f)(0.83), slope, rtol=1e-7)
        np.testing.assert_allclose(xc.jvp(f, (0.83,), (1.0,))[1], slope, rtol=1e-7)
        bend = (xc.grad(f)(0.83 + 1e-4) - xc.grad(f)(0.83 - 1e-4)) / 2e-4
        np.testing.assert_allclose(xc.grad(xc.grad(f))(0.83), bend, rtol=1e-5)


def test_a_boundary_that_meets_nodes_has_the_derivative_of_one_side():
    f = MOVING["a function"]
    with xc.enable_x64():  # 0.75 is six cells: four nodes are on the boundary
        left = (f(0.75) - f(0.75 - 1e-6)) / 1e-6
        np.testing.assert_allclose(xc.grad(f)(0.75), left, rtol=1e-5)


REFUSED = {
    "booleans": (
        lambda r: lambda x, y: x**2 + y**2 < r**2,
        "booleans or steps that hang on a value",
    ),
    "a choice": (
        lambda r: lambda x, y: xnp.where(x**2 + y**2 < r**2, 1.0, -1.0),
        "booleans or steps",
    ),
    "signs": (lambda r: lambda x, y: xnp.sign(r**2 - x**2 - y**2), "booleans or steps"),
    "a step": (
        lambda r: lambda x, y: 2 * xnp.heaviside(r - xnp.hypot(x, y), 0.5) - 1,
        "booleans or steps",
    ),
    "converted": (
        lambda r: lambda x, y: (xnp.hypot(x, y) < r).astype(float) - 0.5,
        "booleans or steps",
    ),
    "NumPy's function": (lambda r: lambda x, y: r - np.hypot(x, y), "xcore.numpy"),
    "a number": (lambda r: lambda x, y: float(r) - np.hypot(x, y), "real numbers, positive inside"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_boundary_that_would_lose_its_derivative_is_refused(kind):
    inside, words = REFUSED[kind]
    with pytest.raises(xc.errors.ConcretizationError, match=words):
        xc.grad(lambda r: filling(inside(r)))(0.83)
    stopped = xc.grad(lambda r: r * filling(inside(xc.lax.stop_gradient(r))))(0.83)
    np.testing.assert_allclose(stopped, filling(inside(0.83)), rtol=1e-5)


@pytest.mark.parametrize("n", [32, 33, 63])
@pytest.mark.parametrize("edge", ["staircase", "symmetric", "shortley-weller"])
def test_geometry_is_as_fine_as_the_data(n, edge):
    """Coefficients in 64 bits are enough: 1/33 rounded to 32 would leave residuals of 3e-8."""
    a = xnp.asarray(np.ones((n + 1, n + 1)) * 2.0, dtype="float64")
    f = xnp.asarray(np.linspace(1, 2, (n - 1) ** 2).reshape(n - 1, n - 1), dtype="float64")
    op = Masked(Grid((n, n), -1.0, 1.0), bool_ellipse, a, edge=edge)
    answer = solve(op, f, report=True)
    assert answer.ok and answer.residual < 1e-10
    assert op.gaps[0][0].dtype == op.dtype == np.float64


def bool_ellipse(x, y):
    return x**2 + (y / 0.8) ** 2 < 0.81
