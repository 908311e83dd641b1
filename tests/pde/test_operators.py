"""First derivatives, Helmholtz' operator and users' stencils: matrices and orders of accuracy."""

import math

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import (
    Advection,
    Dirichlet,
    Divergence,
    Gradient,
    Grid,
    Helmholtz,
    Laplacian,
    Neumann,
    Periodic,
    Robin,
    Stencil,
)  # fmt: skip
from xcore.testing import check_grads

rng = np.random.default_rng(0)
D, N, R, P = Dirichlet(), Neumann(), Robin(1.0, 2.0), Periodic()


def fields(ndim, letters):
    """u and its slopes along the axes; conditions with their data."""
    ring = [pair == "PP" for pair in letters]
    one = lambda i, x: np.sin(2 * np.pi * x + 0.3) if ring[i] else np.exp((1.0 + 0.5 * i) * x)
    rate = lambda i, x: (
        2 * np.pi * np.cos(2 * np.pi * x + 0.3) if ring[i] else (1.0 + 0.5 * i) * one(i, x)
    )

    def product(skip, *xs):
        out = 1.0
        for i, x in enumerate(xs):
            out = out * (rate(i, x) if i == skip else one(i, x))
        return out

    u = lambda *xs: product(None, *map(np.asarray, xs))
    slope = lambda i: lambda *xs: product(i, *map(np.asarray, xs))

    def condition(letter, i, sign):
        if letter == "D":
            return Dirichlet(u)
        if letter == "N":
            return Neumann(lambda *xs: sign * slope(i)(*xs))
        return Robin(1.0, 2.0, lambda *xs: u(*xs) + 2 * sign * slope(i)(*xs))

    faces = [
        P if pair == "PP" else (condition(pair[0], i, -1), condition(pair[1], i, 1))
        for i, pair in enumerate(letters)
    ]
    return u, slope, faces


def points(op):
    return [np.asarray(x) for x in op.points(np.float64)]


KINDS = [["DN"], ["RD"], ["PP", "DD"], ["ND", "PP", "DR"]]


def slope_of(errors):
    return np.log2(errors[0] / errors[1])


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("letters", KINDS)
def test_order_of_gradient_divergence_and_advection(letters, order):
    """Orders of 4 and 6 come from one-sided differences next to faces, which reach their order from
    above or below; on a line order 6 meets rounding soon."""
    ndim = len(letters)
    u, slope, faces = fields(ndim, letters)
    velocity = [1.0, -0.5, 2.0][:ndim]
    errors = {"gradient": [], "divergence": [], "advection": []}
    with xc.enable_x64():
        for n in (24, 48) if ndim == 3 else (20, 40) if (ndim, order) == (1, 6) else (48, 96):
            grid = Grid((n,) * ndim)
            grad, div = Gradient(grid, faces, order), Divergence(grid, faces, order)
            carry = Advection(grid, tuple(velocity), faces, order, "centred")
            xs = points(grad)
            values, wanted = u(*xs), [slope(i)(*xs) for i in range(ndim)]
            got = (grad.as_sparse() @ values.ravel()).reshape(ndim, *values.shape)
            got = got + np.stack(grad.boundary())
            errors["gradient"].append(np.abs(got - np.stack(wanted)).max())
            got = (div.as_sparse() @ np.concatenate([values.ravel()] * ndim)).reshape(values.shape)
            errors["divergence"].append(
                np.abs(got + np.asarray(div.boundary()) - sum(wanted)).max()
            )
            got = (carry.as_sparse() @ values.ravel()).reshape(values.shape)
            want = sum(v * w for v, w in zip(velocity, wanted, strict=True))
            errors["advection"].append(np.abs(got + np.asarray(carry.boundary()) - want).max())
    for name, pair in errors.items():
        assert slope_of(pair) > order - 0.2, (name, pair)


def test_upwind_differences_have_first_order_and_make_no_new_extremes():
    u, slope, faces = fields(2, ["DN", "PP"])
    wind = (lambda x, y: 1 + 0 * x, lambda x, y: np.cos(6 * np.asarray(x)))
    errors = []
    with xc.enable_x64():
        for n in (32, 64):
            op = Advection(Grid((n, n)), wind, faces)
            x, y = points(op)
            got = (op.as_sparse() @ u(x, y).ravel()).reshape(x.shape) + np.asarray(op.boundary())
            errors.append(np.abs(got - slope(0)(x, y) - np.cos(6 * x) * slope(1)(x, y)).max())
        assert abs(slope_of(errors) - 1) < 0.15
        away = op.as_sparse().toarray() - np.diag(op.as_sparse().diagonal())
        assert away.max() <= 0 and op.as_sparse().diagonal().min() >= 0


UNEVEN = tuple(np.linspace(0, 1, 8) ** 1.5)
SAMPLES = {
    "gradient": lambda: Gradient(Grid((9, 7)), [(D, N), P], 4),
    "gradient, stretched": lambda: Gradient(Grid((7, 4), stretched=(UNEVEN, None)), [(R, D), N]),
    "divergence": lambda: Divergence(Grid((9, 10)), [(N, R), P], 6),
    "upwind": lambda: Advection(Grid((6, 5)), (lambda x, y: x - 0.5, -1.0), [(D, N), P]),
    "centred": lambda: Advection(Grid((6, 7)), (lambda x, y: y, 2.0), [(D, N), R], 4, "centred"),
    "Helmholtz": lambda: Helmholtz(Grid((6, 7)), lambda x, y: 5 + x, [(D, N), P], 4),
    "stencil": lambda: Stencil(
        Grid((6, 7)), lambda u: u[1, 0] - 2 * u[-2, 1] + 3 * u[0, -1] + u[1, 1], [(D, N), P]
    ),
    "stencil on a line": lambda: Stencil(Grid(9), lambda u: u[2] - u[-2] + u[0], [(R, D)]),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_is_its_matrix(name):
    with xc.enable_x64():
        op = SAMPLES[name]()
        x = rng.standard_normal(op.shape[1])
        want = op.as_sparse() @ x
        assert op.as_sparse().shape == op.shape
        assert np.allclose(op @ x, want, atol=1e-12 * np.abs(want).max())
        y = rng.standard_normal(op.shape[0])
        assert np.allclose(op.T @ y, op.as_sparse().T @ y, atol=1e-12 * np.abs(want).max())


def test_stencils_are_slices_of_one_padded_field():
    op = Stencil(Grid((9, 8)), lambda u: u[1, 0] + u[-1, 0] + u[0, 1] + u[0, -1] - 4 * u[0, 0])
    text = xc.jit(lambda u: op(u)).lower(xnp.ones(op.field_shape)).as_text()
    assert "gather" not in text and "dynamic" not in text and "slice" in text


@pytest.mark.parametrize("letters", [["DN", "RD"], ["PP", "DD"]])
def test_a_users_five_points_are_the_laplace_operator(letters):
    """With the data on the faces too: mirrored nodes give the same rows as one-sided fits do."""
    _, _, faces = fields(2, letters)
    with xc.enable_x64():
        grid = Grid((8, 8))
        five = lambda u: 64 * (u[1, 0] + u[-1, 0] + u[0, 1] + u[0, -1] - 4 * u[0, 0])
        op, lap = Stencil(grid, five, faces), Laplacian(grid, faces)
        u = rng.standard_normal(lap.field_shape)
        assert np.allclose(op(u), lap(u), atol=1e-10)
        assert np.allclose(op.boundary(), lap.boundary(), atol=1e-10)


def test_divergence_is_minus_the_transposed_gradient():
    grid = Grid((6, 5))
    grad, div = Gradient(grid, D), Divergence(grid, D)
    assert np.allclose(grad.as_sparse().T.toarray(), -div.as_sparse().toarray())


def test_helmholtz_solutions_and_derivatives():
    with xc.enable_x64():
        grid = Grid((9, 8))
        for q in (30.0, lambda x, y: 30 + 5 * x):
            op = Helmholtz(grid, q, [(Dirichlet(1.0), N), P])
            u = pde.solve(op, 2.0, rtol=1e-12)
            want = np.linalg.solve(op.as_sparse().toarray(), np.ravel(2 - op.boundary()))
            assert np.allclose(np.ravel(u), want, atol=1e-9)
        q = 3 + rng.random(op.field_shape)
        f = lambda q: xnp.sum(pde.solve(Helmholtz(grid, q, op.faces), 2.0, rtol=1e-13) ** 2)
        # solutions are good to 1e-13 times the condition, 300; differences divide that by 1e-3
        check_grads(f, (q,), order=1, atol=3e-8, rtol=3e-8)


def test_derivatives_by_velocity_and_params():
    grid = Grid((5, 4))
    u = rng.standard_normal((4, 3))
    check_grads(lambda v, u: Advection(grid, (v, -0.3))(u), (0.7, u), order=1)
    op = lambda c, u: Stencil(grid, lambda u, c: c * (u[1, 0] - u[-1, 0]), params=c)(u)
    check_grads(op, (0.7, u), order=1)


def test_errors_explain():
    grid = Grid((6, 6))
    bad = [
        (lambda: Gradient(3), "a pde.Grid"),
        (lambda: Gradient(grid, D, 3), "2, 4, 6"),
        (lambda: Divergence(grid)((np.ones((5, 5)),)), "2 fields"),
        (lambda: Advection(grid, 1.0), "each of 2 axes"),
        (lambda: Advection(grid, (1.0, 2.0), scheme="down"), "upwind"),
        (lambda: Helmholtz(grid, 1.0, D, "compact"), "2, 4 or 6"),
        (lambda: pde.solve(Helmholtz(grid, 1.0), 1.0, method="cg"), '"direct" where q'),
        (lambda: Stencil(grid, 3), "a function of shifted"),
        (lambda: Stencil(grid, lambda u: u[1]), "2 whole numbers"),
        (lambda: Stencil(grid, lambda u: xnp.ones(3)), "must give a field"),
        (lambda: Stencil(grid, lambda u: u[9, 0]), "no farther than"),
    ]
    for call, words in bad:
        with pytest.raises(ValueError, match=words):
            call()


NOT_LINEAR = {
    "square": lambda u: u[0] * u[1],
    "small cube": lambda u: u[0] + 1e-3 * u[1] ** 3,
    "cube that only large numbers show": lambda u: u[0] + 1e-8 * u[1] ** 3,
    "modulus": lambda u: abs(u[1]) - u[0],
    "limiter": lambda u: xnp.maximum(u[1] - u[0], 0),
    "homogeneous": lambda u: xnp.sqrt(u[0] ** 2 + u[1] ** 2),
    "branch": lambda u: xnp.where(u[1] > 0, u[0], u[-1]),
    "NaN": lambda u: u[0] / u[1],
}


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_stencils_refuse_what_is_not_linear(name):
    for make in (
        pde.Stencil,
        xc.jit(lambda g, f: pde.Stencil(g, f)(xnp.ones(5)), static_argnums=(0, 1)),
    ):
        with pytest.raises(ValueError, match="linear in its shifted fields"):
            make(Grid(6), NOT_LINEAR[name])


def test_stencils_refuse_constants_and_take_all_that_is_linear():
    with pytest.raises(ValueError, match=r"f\(0\) must be 0: .* given .*1.0.*right-hand side"):
        pde.Stencil(Grid(6), lambda u: u[0] + 1.0)
    with pytest.raises(ValueError, match="linear in its shifted fields"):
        pde.Stencil(Grid(6), lambda u, p: p * u[0] + p, params=2.0)
    for scale in (1e-20, 1.0, 1e20):
        pde.Stencil(Grid(6), lambda u, s=scale: s * (u[1] - 2 * u[0] + u[-1]))
    made = lambda a: pde.Stencil(Grid(6), lambda u, a: a * (u[1] + u[0]), params=a)(
        xnp.ones(5)
    ).sum()
    assert xc.jit(xc.grad(made))(2.0) == 9.0
    assert (
        xc.jit(lambda a: pde.Stencil(Grid(6), lambda u: a * u[0])(xnp.ones(5)))(3.0).tolist()
        == [3.0] * 5
    )


def test_frequent_mistakes_are_explained():
    with pytest.raises(
        ValueError, match=r"unknowns \(5, 4\) or of all nodes \(7, 6\).*\[1:6, 1:5\]"
    ):
        pde.Laplacian(Grid((6, 5)))(np.ones((6, 5)))
    for mask in (lambda x, y: x > 0.2 and y < 0.5, lambda x, y: 0.2 < x < 0.7):
        with pytest.raises(ValueError, match="in parentheses"):
            pde.Masked(Grid((6, 6)), mask)
    for n in (7, 16):
        w = -float(pde.Laplacian(Grid((n, n))).eigenvalues()[-2])
        with pytest.raises(ValueError, match="At a resonance"):
            pde.solve(pde.Helmholtz(Grid((n, n)), w), 1.0)
        assert pde.solve(pde.Helmholtz(Grid((n, n)), 1.01 * w), 1.0, report=True).ok
        assert pde.solve(pde.Helmholtz(Grid((n, n)), w + 1j), 1.0, report=True).ok


@pytest.mark.parametrize("kind", ["a field", "a number", "a traced number"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("away", [0.0, 1e-13, 1e-10, 1e-2])
def test_near_a_resonance_rounding_is_no_excuse(dtype, away, kind):
    """Success is of a small residual, however q is given: at most the square root of the precision."""
    grid, least = Grid((16, 16)), float(np.finfo(dtype).eps) ** 0.5
    values = -np.asarray(pde.Laplacian(grid).eigenvalues(), float)
    f = lambda q: pde.solve(pde.Helmholtz(grid, q), np.ones((15, 15), dtype), report=True)
    f = xc.jit(f) if kind == "a traced number" else f
    for w in (values.min(), values.max()):
        q = np.asarray(w * (1 + away), dtype)
        q = np.full((15, 15), q) if kind == "a field" else q
        try:
            found = f(q)
        except ValueError as e:  # of a number that is known when the program is made
            assert "At a resonance" in str(e) and kind == "a number" and away < 1e-3
            continue
        left = np.linalg.norm(np.asarray(pde.Helmholtz(grid, q)(found.value)) - 1.0) / 15
        assert not found.ok or left < 2 * least, (left, found)
        assert away < 1e-3 or found.ok


def test_matrices_have_the_digits_and_the_parts_that_are_asked_for():
    """Columns are products with unit vectors, also where numbers are not those of single precision."""
    line, third = Grid(5, 0.0, 0.3), np.linspace(0.1, 0.7, 6)
    makes = [
        Helmholtz(line, 2.1 + 1j), pde.Diffusion(line, third), pde.Diffusion(line, third) * 1j, Laplacian(line) + 0.3j,
        Stencil(line, lambda u: (u[1] - 2 * u[0] + u[-1]) * 49.3), Laplacian(line) @ pde.Diffusion(line, third),
    ]  # fmt: skip
    for op in makes:
        for dtype in ("float64", "float32"):
            found = np.asarray(op.as_matrix(dtype))
            exact = np.stack([np.asarray(op(e)) for e in np.eye(4, dtype="complex128")], 1)
            assert found.dtype.itemsize == (1 + np.iscomplexobj(found)) * np.dtype(dtype).itemsize
            assert abs(found - exact).max() <= 8 * np.finfo(dtype).eps * abs(exact).max()


SQUARE = Grid((8, 6))
MISTAKES = [
    (lambda: pde.Diffusion(SQUARE, lambda x: x), "2 coordinates, \\(x, y\\)"),
    (lambda: pde.Diffusion(SQUARE, ((1.0, 0.0), (0.0, lambda y: y))), "2 coordinates"),
    (lambda: pde.Diffusion(SQUARE, lambda x, y: 1.0 if x > 0.5 else 2.0), "one truth value"),
    (lambda: pde.Diffusion(SQUARE, lambda x, y: math.sin(x)), "xnp.sin"),
    (lambda: pde.Masked(SQUARE, lambda x, y: x > 0.5 and y > 0.5), "one truth value"),
    (lambda: pde.Masked(SQUARE, lambda x: x > 0.5), "2 coordinates"),
    (lambda: pde.Masked(SQUARE, True, value=lambda x: x), "2 coordinates"),
    (lambda: pde.CutDiffusion(SQUARE, 1.0, inside=lambda x: x - 0.3, edge=D), "2 coordinates"),
    (lambda: pde.interface_diffusion(SQUARE, lambda x: x - 0.3, 1.0, 2.0), "2 coordinates"),
    (lambda: Laplacian(SQUARE, Dirichlet(lambda x: x)), "2 coordinates"),
    (lambda: Laplacian(Grid(8), (D, N)), "\\[\\(low, high\\)\\]"),
    (lambda: pde.solve(Laplacian(SQUARE), lambda x: x), "2 coordinates"),
    (lambda: Laplacian(SQUARE) + (lambda x: x), "2 coordinates"),
    (lambda: Stencil(SQUARE, lambda u: u(1, 0)), "brackets"),
    (lambda: Stencil(SQUARE, lambda u, k: k * u[0, 0]), "f\\(u\\)"),
    (lambda: Stencil(SQUARE, lambda u: u[0, 0], params=2.0), "f\\(u, params\\)"),
    (lambda: pde.RungeKutta(Laplacian(SQUARE), pde.RK4), "lambda u, t: op"),
    (lambda: pde.integrate(Laplacian(SQUARE), np.ones((7, 5)), [0.0, 0.1]), "lambda u, t: op"),
]  # fmt: skip


@pytest.mark.parametrize("make, words", MISTAKES)
def test_functions_of_the_wrong_kind_are_told_which_is_needed(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_errors_of_functions_themselves_are_theirs():
    with pytest.raises(TypeError, match="unsupported operand"):
        pde.Diffusion(SQUARE, lambda x, y: "a" - 1)  # pyright: ignore[reportOperatorIssue]
    with pytest.raises(ValueError, match="mine"):
        Laplacian(SQUARE, Dirichlet(lambda *xs: int("mine")))
