"""Diffusion in polar, cylindrical and spherical coordinates, beside exact solutions."""

import numpy as np
import pytest
from scipy import special

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.errors import ArgumentError

PI, NOTHING, AROUND = np.pi, pde.Neumann(), pde.Periodic()


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def in_space(kind, ndim):
    """(x, y, z) of coordinates; what is left out is 0."""
    if kind == "spherical":
        return lambda r, t=0.0, p=0.0: (
            r * xnp.sin(t) * xnp.cos(p), r * xnp.sin(t) * xnp.sin(p), r * xnp.cos(t)
        )  # fmt: skip
    if kind == "cylindrical" and ndim == 2:
        return lambda r, z: (r, 0 * r, z)
    return lambda r, t=0.0, z=0.0: (r * xnp.cos(t), r * xnp.sin(t), z)


# u and Δu as functions of (x, y, z); of symmetric problems through x² + y² and z alone
ROUND = (lambda x, y, z: xnp.cos(x**2 + y**2 + z**2),
         lambda s, d: -2 * d * xnp.sin(s) - 4 * s * xnp.cos(s))  # fmt: skip
AXIAL = (lambda x, y, z: (x**2 + y**2) ** 2 + z**3 * (x**2 + y**2),
         lambda x, y, z: 16 * (x**2 + y**2) + 4 * z**3 + 6 * z * (x**2 + y**2))  # fmt: skip
ANY = (lambda x, y, z: x**3 + y * z + x * y, lambda x, y, z: 6 * x)
CASES = {
    "disc, r": ("polar", (1,), [(NOTHING, None)], (0.0,), (1.0,), "round"),
    "rod, r": ("cylindrical", (1,), [(NOTHING, None)], (0.0,), (1.0,), "round"),
    "ball, r": ("spherical", (1,), [(NOTHING, None)], (0.0,), (1.0,), "round"),
    "shell, r": ("spherical", (1,), None, (0.5,), (2.0,), "round"),
    "disc": ("polar", (1, 2), [(NOTHING, None), AROUND], (0.0, 0.0), (1.0, 2 * PI), ANY),
    "sector": ("polar", (1, 1), None, (0.5, 0.2), (1.0, 1.7), ANY),
    "can": ("cylindrical", (1, 1), [(NOTHING, None), None], (0.0, -1.0), (1.0, 1.0), AXIAL),
    "ball, r θ": ("spherical", (1, 2), [(NOTHING, None), NOTHING], (0.0, 0.0), (1.0, PI), AXIAL),
    "cone": ("spherical", (1, 1), [None, (NOTHING, None)], (0.5, 0.0), (1.0, 1.0), AXIAL),
}  # fmt: skip


def problem(name, n, a=1.0):
    """(operator, exact field, right-hand side)."""
    kind, shape, faces, lower, upper, what = CASES[name]
    grid = pde.Grid.cells(tuple(n * k for k in shape), lower, upper)
    xyz = in_space(kind, len(shape))
    if what == "round":  # of a plane or of space
        dim = 3 if kind == "spherical" else 2
        u, f = (lambda r: xnp.cos(r**2)), (lambda r: ROUND[1](r**2, dim))
    else:
        u, f = (lambda *q: what[0](*xyz(*q))), (lambda *q: what[1](*xyz(*q)))
    data = pde.Dirichlet(u)
    pairs = [data] * len(shape) if faces is None else faces
    filled = [
        tuple(data if c is None else c for c in p) if isinstance(p, tuple) else p or data
        for p in pairs
    ]
    op = pde.Diffusion(grid, a, filled, coordinates=kind)
    return op, op.field(u), f


@pytest.mark.parametrize("name", CASES)
def test_errors_are_of_order_two(name):
    errors = []
    for n in (16, 32):
        op, exact, f = problem(name, n)
        answer = pde.solve(op, f, report=True)
        assert answer.ok
        away = abs(answer.value - exact)
        errors.append(float(op.integrate(away**2) ** 0.5))
        assert away.max() < 4 / n**2
    assert np.log2(errors[0] / errors[1]) > 1.85


@pytest.mark.parametrize(
    "kind, cells, lower, upper, faces",
    [("spherical", (6, 6, 12), (0, 0, 0), (1, PI, 2 * PI), [(NOTHING, None), NOTHING, AROUND]),
     ("cylindrical", (8, 16, 8), (0, 0, 0), (1, 2 * PI, 1), [(NOTHING, None), AROUND, None])],
)  # fmt: skip
def test_balls_and_cylinders_without_symmetry(kind, cells, lower, upper, faces):
    xyz = in_space(kind, 3)
    u, f = (lambda *q: ANY[0](*xyz(*q))), (lambda *q: ANY[1](*xyz(*q)))
    data = pde.Dirichlet(u)
    faces = [tuple(c or data for c in p) if isinstance(p, tuple) else p or data for p in faces]
    op = pde.Diffusion(pde.Grid.cells(cells, lower, upper), 1.0, faces, coordinates=kind)
    answer = pde.solve(op, f, report=True)
    assert answer.ok
    assert abs(answer.value - op.field(u)).max() < 0.02
    volume = 4 / 3 * PI if kind == "spherical" else PI
    np.testing.assert_allclose(op.integrate(xnp.ones(op.field_shape)), volume, rtol=1e-12)


def test_conditions_are_of_lengths():
    """Flows and Robin conditions on faces across an angle: ∂u/∂n is 1/r ∂u/∂θ."""
    xy = lambda r, t: (r * xnp.cos(t), r * xnp.sin(t))
    u = lambda r, t: xy(r, t)[0] ** 3 + xy(r, t)[0] * xy(r, t)[1]
    turned = lambda x, y: x**2 - y * (3 * x**2 + y)
    slope = lambda r, t: turned(*xy(r, t)) / r
    errors = []
    for n in (16, 32):
        grid = pde.Grid.cells((n, n), (0.5, 0.2), (1.0, 1.7))
        low = pde.Robin(1.0, 2.0, lambda r, t: u(r, t) - 2 * slope(r, t))
        faces = [pde.Dirichlet(u), (low, pde.Neumann(slope))]
        op = pde.Diffusion(grid, 1.0, faces, coordinates="polar")
        found = pde.solve(op, lambda r, t: 6 * xy(r, t)[0])
        errors.append(float(abs(found - op.field(u)).max()))
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] > 3.5


@pytest.mark.parametrize("radius", [1.0, 1e6, 1e-9])
def test_modes_of_drums_and_balls(radius):
    """Zeros of Bessel functions."""
    grid = pde.Grid.cells((24, 48), upper=(radius, 2 * PI))
    drum = pde.Diffusion(grid, 1.0, [(NOTHING, pde.Dirichlet()), AROUND], coordinates="polar")
    w, modes = pde.eigenmodes(drum, 4)
    zeros = np.array([special.jn_zeros(k, 1)[0] for k in (0, 1, 1, 2)])
    np.testing.assert_allclose(w * radius**2, zeros**2, rtol=5e-3)
    np.testing.assert_allclose(drum.integrate(modes[2] ** 2), 1.0, rtol=1e-9)
    ball = pde.Diffusion(pde.Grid.cells(32, upper=radius), 1.0, coordinates="spherical")
    w, modes = pde.eigenmodes(ball, 2)
    np.testing.assert_allclose(w * radius**2, [PI**2, 4 * PI**2], rtol=3e-3)
    np.testing.assert_allclose(ball.integrate(modes[0] ** 2), 1.0, rtol=1e-9)


def test_layers_of_a_wall():
    """What flows through a pipe's wall of two materials: 2π / Σ log(r₊/r₋) / a."""
    grid = pde.Grid.cells(40, 1.0, 3.0)
    a = xnp.where(grid.coordinates()[0] < 2.0, 1.0, 100.0)
    faces = [(pde.Dirichlet(1.0), pde.Dirichlet(0.0))]
    wall = pde.Diffusion(grid, a, faces, coordinates="cylindrical")
    u = pde.solve(wall, 0.0)
    flow = 2 * PI * (1 - u[0]) / (grid.spacing[0] / 2)
    np.testing.assert_allclose(flow, 2 * PI / (np.log(2.0) + np.log(1.5) / 100), rtol=2e-3)


def test_derivatives_and_programs():
    grid = pde.Grid.cells((8, 16), upper=(1.0, 2 * PI))

    def mean(k):
        op = pde.Diffusion(
            grid,
            k * xnp.ones(grid.shape),
            [(NOTHING, pde.Dirichlet()), AROUND],
            coordinates="polar",
        )
        return op.integrate(pde.solve(op, -1.0))

    np.testing.assert_allclose(mean(1.0), PI / 8, rtol=0.02)
    np.testing.assert_allclose(xc.grad(mean)(2.0), -mean(1.0) / 4, rtol=1e-8)


def test_heat_in_a_ball():
    """sin(πr)/r decays with exp(-π² t), by steps, exponentials and in a sum of operators."""
    ball = pde.Diffusion(pde.Grid.cells(48), 1.0, coordinates="spherical")
    u = ball.field(lambda r: xnp.sin(PI * r) / r)
    for stepper in (pde.ThetaMethod(ball), pde.ExponentialIntegrator(ball)):
        later = pde.trajectory(stepper, u, 0.01, 10)[-1]
        np.testing.assert_allclose(later, np.exp(-(PI**2) / 10) * u, atol=2e-3)
    total = ball - pde.Advection(ball.grid, 2.0, [(NOTHING, pde.Dirichlet())]) + 1.0
    np.testing.assert_allclose(total.integrate(xnp.ones(48)), 4 / 3 * PI, rtol=1e-12)
    assert pde.solve(total, -1.0, report=True).ok


@pytest.mark.parametrize(
    "grid, kind, faces, words",
    [(pde.Grid(8), "polar", NOTHING, r"Grid\.cells"),
     (pde.Grid.cells(8), "cyl", NOTHING, "'polar', 'cylindrical'"),
     (pde.Grid.cells((8, 8, 8)), "polar", NOTHING, "r and θ"),
     (pde.Grid.cells((8, 8), (-1, 0), (1, 1)), "polar", NOTHING, "axis 0 of the grid, r, must be between 0"),
     (pde.Grid.cells((8, 8), (0, 0), (1, 7)), "polar", NOTHING, "θ, must be no longer than 6.283"),
     (pde.Grid.cells((8, 8), (0, 0), (1, 4)), "spherical", NOTHING, "between 0 and 3.142"),
     (pde.Grid.cells(8), "polar", [(pde.Dirichlet(1.0), pde.Dirichlet())], "a pole")],
)  # fmt: skip
def test_what_does_not_fit_is_refused(grid, kind, faces, words):
    with pytest.raises(ArgumentError, match=words):
        pde.Diffusion(grid, 1.0, faces, coordinates=kind)


@pytest.mark.parametrize("kind, ndim", [("polar", 2), ("cylindrical", 1), ("spherical", 1)])
@pytest.mark.parametrize("radius", [3e-9, 1.0, 1e9])
def test_single_precision_and_programs_with_poles(kind, ndim, radius):
    """Where an operator is an argument of a program, what its pole gives is not known any more."""
    grid = pde.Grid.cells((16, 24)[:ndim], upper=(radius, 2 * PI)[:ndim])
    faces = [(NOTHING, pde.Robin(1.0, radius / 2)), AROUND][:ndim]
    with xc.enable_x64(False):
        op = pde.Diffusion(grid, 1.0, faces, coordinates=kind)
        u = pde.solve(op, -4.0)
        later = pde.ThetaMethod(op, theta=1.0).step(xnp.zeros(op.field_shape), 0.0, radius**2)
        outside = xc.jit(lambda op: op.integrate(op(xnp.ones(op.field_shape))))(op)
    dim, r = (3 if kind == "spherical" else 2), op.points()[0] / radius
    np.testing.assert_allclose(u / radius**2, 2 / dim * (2 - r**2), rtol=5e-3)
    assert u.dtype == np.float32
    assert not later.any()
    inside, faces = xnp.ones(op.field_shape), 2 * PI if dim == 2 else 4 * PI
    np.testing.assert_allclose(outside, op.integrate(op(inside)), rtol=1e-4)
    np.testing.assert_allclose(outside / radius ** (dim - 2), -faces * 2, rtol=0.1)
