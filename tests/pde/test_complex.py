"""Complex numbers in every place: right, beside SciPy's sparse solutions, or an error that names the place."""

import numpy as np
import pytest
import scipy.sparse.linalg as sla

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Diffusion, Dirichlet, Grid, Helmholtz, Laplacian, Masked, Neumann, Robin

GRID = Grid((9, 8), upper=(1.0, 0.8))
Z = 0.7 - 1.3j
FACES = {
    "Dirichlet": Dirichlet(Z),
    "functions": [(Dirichlet(lambda x, y: y + 2j * y * y), Neumann(1j)), Dirichlet(Z)],
    "Robin": [(Robin(2.0, 0.5, Z), Dirichlet()), (Neumann(1j), Robin(1.0, 1.0, 3.0))],
    "ring": [pde.Periodic(), (Dirichlet(1j), Neumann(2.0))],
}
OPERATORS = {
    "Laplacian": lambda faces: Laplacian(GRID, faces),
    "order 4": lambda faces: Laplacian(GRID, faces, 4),
    "Helmholtz": lambda faces: Helmholtz(GRID, 100 + 5j, faces),
    "Helmholtz, real q": lambda faces: Helmholtz(GRID, 10.0, faces),
    "Helmholtz, a field": lambda faces: Helmholtz(GRID, lambda x, y: 10 * x + 3j * y, faces),
    "Diffusion": lambda faces: Diffusion(GRID, lambda x, y: 1 + x * y, faces, c=1.0),
    "constant": lambda faces: Diffusion(GRID, 3.0, faces, c=1.0),
}


def boundary(op, make):
    """What complex data add, from those of their parts: it is linear in them."""
    part = lambda f: np.asarray(make(f).boundary(np.float64))
    return part(np.real) + 1j * part(np.imag)


def parts(faces, f):
    """Conditions with the real or the imaginary part of their data."""
    if isinstance(faces, (list, tuple)):
        return type(faces)(parts(x, f) for x in faces)
    if isinstance(faces, pde.Periodic):
        return faces
    value = faces.value
    made = (lambda *x: f(np.asarray(value(*x)))) if callable(value) else f(value)
    return faces.replace(value=made)


@pytest.mark.parametrize("real_f", [False, True])
@pytest.mark.parametrize("faces", FACES)
@pytest.mark.parametrize("name", OPERATORS)
def test_solutions_beside_sparse_ones(name, faces, real_f):
    with xc.enable_x64():
        make = lambda f: OPERATORS[name](parts(FACES[faces], f))
        op = OPERATORS[name](FACES[faces])
        data = boundary(op, make)
        assert np.allclose(op.boundary(), data)
        f = np.random.default_rng(0).normal(size=(2, *op.field_shape))
        f = f[0] if real_f else f[0] + 1j * f[1]
        expected = sla.spsolve(op.as_sparse().tocsc().astype(complex), (f - data).ravel())
        found = pde.solve(op, f, rtol=1e-10, report=True)
        assert found.ok
        assert np.allclose(
            np.ravel(found.value), expected, rtol=1e-7, atol=1e-8 * abs(expected).max()
        )
        assert np.allclose(op(found.value) + data, f, atol=1e-6 * abs(data).max())
        if name in ("Laplacian", "order 4"):
            order = 4 if name == "order 4" else 2
            assert np.allclose(pde.poisson(-f, GRID, FACES[faces], order=order), found.value)
        shell = op.full(found.value)
        assert np.iscomplexobj(shell)


def test_waves_that_are_damped():
    """The example of the first page, in single precision, and its derivatives in q and the data."""
    op = Helmholtz(Grid((16, 16)), 100 + 5j)
    u = pde.solve(op, 1.0)
    assert u.dtype == np.complex64 and float(abs(op(u) - 1).max()) < 1e-4
    with xc.enable_x64():

        def f(q, g):
            return xnp.sum(abs(pde.solve(Helmholtz(Grid((6, 5)), q, Dirichlet(g)), 1.0)) ** 2)

        q, g, h = xnp.asarray(30 + 5j), xnp.asarray(Z), 1e-6
        for place in (0, 1):
            for way in (1, 1j):
                moved = [
                    (q + s * way * h * (place == 0), g + s * way * h * (place == 1))
                    for s in (1, -1)
                ]
                slope = float(f(*moved[0]) - f(*moved[1])) / (2 * h)
                tangents = [xnp.asarray(way * (place == i) + 0j) for i in (0, 1)]
                assert np.isclose(xc.jvp(f, (q, g), tuple(tangents))[1], slope, rtol=1e-5)
                ct = xc.grad(f, argnums=place)(q, g)
                assert np.isclose(np.real(ct * way), slope, rtol=1e-5)
        lanes = xc.vmap(lambda q: f(q, g))(xnp.stack([q, 2 * q]))
        assert np.allclose(lanes, [f(q, g), f(2 * q, g)])


def test_steps_in_time():
    """Schrödinger's equation by Runge and Kutta's method; heat of a complex field by the others."""
    with xc.enable_x64():
        lap = Laplacian(Grid(12), Dirichlet(Z))
        b, matrix = np.asarray(lap.boundary()), np.asarray(lap.as_matrix())
        u = np.sin(np.arange(11)) + 1j * np.cos(np.arange(11))
        w, v = np.linalg.eigh(matrix)
        still = np.linalg.solve(matrix, b + 1j)
        exact = lambda c, t: v @ (np.exp(c * t * w) * (v.T @ (u + still))) - still
        heat = lambda stepper, n: pde.trajectory(stepper, u, 0.02 / n, n)[-1]
        assert np.allclose(heat(pde.ExponentialIntegrator(lap, 1j), 1), exact(1, 0.02), atol=1e-12)
        for stepper in (pde.ThetaMethod(lap, 1j), pde.IMEX(lap, lambda u, t: 1j + 0 * u)):
            wrong = [abs(heat(stepper, n) - exact(1, 0.02)).max() for n in (100, 200)]
            assert wrong[1] < 2e-3 and 3 < wrong[0] / wrong[1] < 5
        turn = lambda u, t: 1j * (lap(u) + b + 1j)
        step = pde.RungeKutta(turn)
        assert np.allclose(heat(step, 500), exact(1j, 0.02), atol=1e-7)
        along = pde.integrate(turn, u, np.array([0, 0.02]), rtol=1e-9)[-1]
        assert np.allclose(along, exact(1j, 0.02), atol=1e-6)
        gradient = pde.Gradient(Grid(12), Dirichlet(Z))
        assert np.allclose(
            gradient.boundary()[0], Z * pde.Gradient(Grid(12), Dirichlet(1.0)).boundary()[0]
        )
        for op in (pde.Divergence, lambda g, faces: pde.Advection(g, 2.0, faces)):
            assert np.allclose(
                op(Grid(12), Dirichlet(Z)).boundary(), Z * op(Grid(12), Dirichlet(1.0)).boundary()
            )
        stencil = pde.Stencil(Grid(12), lambda u: 1j * (u[1] - u[-1]), Dirichlet(Z))
        assert np.allclose(stencil.boundary()[[0, -1]], [-1j * Z, 1j * Z])


U, LAP = np.ones(5), Laplacian(Grid(6))
ILL = Laplacian(Grid(6), Dirichlet(1j))
REFUSED = {
    "a must be real": lambda: Diffusion(Grid(6), 1 + 1j),
    "c must be real": lambda: Diffusion(Grid(6), 1.0, c=1j),
    "a, c and value must be real": lambda: Masked(Grid((6, 6)), True, value=1j),
    "alpha must be real": lambda: Robin(1j, 1.0),
    "beta must be real": lambda: Robin(1.0, np.ones(3) * 1j),
    "velocity must be real": lambda: pde.Advection(Grid(6), 1j),
    "data on a face must be real": lambda: pde.ThetaMethod(ILL).step(xnp.asarray(U), 0.0, 0.1),
    "source must be real": lambda: pde.ThetaMethod(LAP, 1j).step(xnp.asarray(U), 0.0, 0.1),
    r"f\(u, t\) must be real": lambda: pde.trajectory(
        pde.RungeKutta(lambda u, t: 1j * u), U, 0.1, 2
    ),
    r"f\(u, t\) must": lambda: pde.integrate(lambda u, t: 1j * u, U, [0.0, 1.0]),
    "dt must be positive": lambda: pde.trajectory(pde.ThetaMethod(LAP), U, 0.1j, 2),
    "f must be real beside": lambda: LAP.field(1j * U, np.float32),
    "dtype must be": lambda: pde.eigenmodes(LAP, 1, dtype=np.complex64),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_would_lose_an_imaginary_part_is_refused(words):
    with pytest.raises(ValueError, match=words):
        REFUSED[words]()


@pytest.mark.parametrize("cells, faces, order", [
    ((500, 6), [pde.Periodic(), (Dirichlet(), Neumann())], 2), ((6, 501), [Neumann(), pde.Periodic()], 4),
    ((1030,), pde.Periodic(), 2), ((7, 9), pde.Periodic(), 2),
])  # fmt: skip
def test_fourier_transforms_of_real_and_complex_fields(cells, faces, order):
    """Along periodic axes, long ones by fast transforms: real fields by real parts, complex ones too."""
    lap = Laplacian(Grid(cells), faces, order)
    rng = np.random.default_rng(0)
    f = rng.standard_normal(lap.field(lambda *x: 0.0 * x[0]).shape)
    for shift in (-3.0, 2 + 1j):
        for field in (f, f + 1j * f[::-1]):
            u = pde.solve_direct(lap, xnp.asarray(field), shift=shift)
            np.testing.assert_allclose(shift * u + lap(u), field, atol=1e-9 * np.abs(field).max())
    of = lambda g: np.asarray(pde.apply_function(lap, xnp.asarray(f), g))
    turned, moved = of(lambda w: xnp.exp(1e-4j * w)), of(lambda w: w)
    np.testing.assert_allclose(
        turned, of(lambda w: xnp.cos(1e-4 * w)) + 1j * of(lambda w: xnp.sin(1e-4 * w)), atol=1e-11
    )
    np.testing.assert_allclose(moved, lap(xnp.asarray(f)), atol=1e-9 * np.abs(moved).max())
