"""Implicit and exponential steps with every linear operator of the house: beside dense matrices, orders by slopes."""

import numpy as np
import pytest
from scipy.linalg import expm

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Advection, Diffusion, Dirichlet, Grid, Laplacian, Masked, Periodic

rng = np.random.default_rng(0)
BOX, DISC = Grid((9, 8)), Grid((10, 10), -1.0, 1.0)
disc = lambda x, y: 0.8 - xnp.sqrt(x * x + y * y)


@pytest.fixture(autouse=True)
def _double():
    with xc.enable_x64():
        yield


def turned(u):
    """The Laplace operator with a cross derivative."""
    h = BOX.spacing
    cross = (u[1, 1] + u[-1, -1] - u[1, -1] - u[-1, 1]) / (8 * h[0] * h[1])
    second = (u[1, 0] - 2 * u[0, 0] + u[-1, 0]) / h[0] ** 2
    return second + (u[0, 1] - 2 * u[0, 0] + u[0, -1]) / h[1] ** 2 + cross


OPERATORS = {
    "sum": lambda: Diffusion(BOX, lambda x, y: 1 + x, Dirichlet(0.5)) - Advection(BOX, (3.0, -2.0), Dirichlet(0.5)) - 1.0,
    "multiple": lambda: 2 * Laplacian(BOX, Dirichlet(0.5)) + 3.0,
    "stencil": lambda: pde.Stencil(BOX, turned, Dirichlet(0.3)),
    "Helmholtz": lambda: pde.Helmholtz(BOX, -2.0, Dirichlet(1.0)),
    "complex": lambda: 1j * Laplacian(BOX) + 1j * np.ones(BOX.shape) * BOX.coordinates()[0],
    "complex multiple": lambda: 1j * Laplacian(BOX),
    "Helmholtz that varies": lambda: pde.Helmholtz(BOX, lambda x, y: -1 - x),
    "flow on a ring": lambda: -Advection(Grid((8, 7)), (1.0, 0.5), Periodic()),
    "product": lambda: -0.01 * (Laplacian(BOX) @ Laplacian(BOX)),
    "mask": lambda: Masked(DISC, lambda x, y: disc(x, y) > 0) * 2.0 - 1.0,
    "cut": lambda: pde.CutDiffusion(DISC, inside=disc),
    "interface": lambda: pde.interface_diffusion(DISC, disc, 1.0, 10.0),
    "compact": lambda: Laplacian(BOX, Dirichlet(0.2), order="compact"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_steps_beside_dense_matrices(name):
    op, dt = OPERATORS[name](), 0.05
    a, b = op.as_sparse().toarray(), np.ravel(op.boundary())
    u = rng.standard_normal(op.field_shape).astype(np.result_type(a, np.float64))
    u = u if op.inside is None else u * np.asarray(op.inside)
    one = np.eye(len(a))
    matrix = lambda u: np.linalg.solve(one - dt / 2 * a, (one + dt / 2 * a) @ u + dt * b)
    found = pde.trajectory(pde.ThetaMethod(op), u, dt, 2, report=True)
    want = matrix(matrix(np.ravel(u)))
    assert (
        bool(found.ok) and np.abs(np.ravel(found.value[-1]) - want).max() < 1e-10 * np.abs(u).max()
    )
    whole = np.zeros((len(a) + 1,) * 2, a.dtype)
    whole[:-1, :-1], whole[:-1, -1] = dt * a, dt * b
    want = expm(whole)[:-1] @ np.append(np.ravel(u), 1)
    got, status = pde.ExponentialIntegrator(op).attempt(xnp.asarray(u), 0.0, dt)
    assert int(status) == 0 and np.abs(np.ravel(got) - want).max() < 1e-9 * np.abs(u).max()


def test_orders_in_time():
    """Of u' = L u + s(t): Crank and Nicolson 2, implicit Euler 1; exponential steps are exact whatever their length."""
    op = Diffusion(BOX, lambda x, y: 1 + x) - Advection(BOX, (3.0, -2.0), scheme="centred") - 1.0
    a, b = op.as_sparse().toarray(), np.ravel(op.boundary())
    u = np.sin(np.pi * np.asarray(op.points()[0])) * np.sin(np.pi * np.asarray(op.points()[1]))
    whole = np.zeros((len(a) + 1,) * 2)
    whole[:-1, :-1], whole[:-1, -1] = 0.2 * a, 0.2 * b
    want = expm(whole)[:-1] @ np.append(np.ravel(u), 1)
    for theta, order in ((0.5, 2), (1.0, 1)):
        counts, errors = (16, 32, 64, 128), []
        for n in counts:
            found = pde.trajectory(pde.ThetaMethod(op, theta=theta), u, 0.2 / n, n, every=n)[-1]
            errors.append(np.abs(np.ravel(found) - want).max())
        assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - order) < 0.15, errors
    whole = pde.ExponentialIntegrator(op).step(xnp.asarray(u), 0.0, 0.2)
    assert np.abs(np.ravel(whole) - want).max() < 1e-9


@pytest.mark.parametrize("stepper", [pde.ThetaMethod, pde.ExponentialIntegrator])
def test_the_norm_of_a_wave_function_stays(stepper):
    line = Grid(64, -8.0, 8.0)
    x = line.nodes(0)[1:-1]
    start = np.exp(-((x - 1) ** 2) + 2j * x)
    op = 0.5j * Laplacian(line) - 0.5j * (lambda x: x * x)(np.asarray(line.nodes(0))) * np.ones(
        line.shape
    )
    found = pde.trajectory(stepper(op), start, 0.05, 40, every=10)
    norms = np.linalg.norm(np.asarray(found), axis=1)
    assert np.abs(norms / np.linalg.norm(start) - 1).max() < 1e-9


def test_sizes_of_fields_change_nothing_but_the_size():
    op = Diffusion(Grid(8), lambda x: 1 + x)
    for stepper in (pde.ThetaMethod(op), pde.ExponentialIntegrator(op)):
        want = stepper.step(xnp.ones(7, np.float32), 0.0, 0.1)
        for size in (1e-30, 1e30):
            got = stepper.step(size * xnp.ones(7, np.float32), 0.0, 0.1)
            assert np.allclose(np.asarray(got, np.float64) / size, want, rtol=1e-4)
        assert not np.any(stepper.step(xnp.zeros(7), 0.0, 0.1))


def test_derivatives_dtypes_and_what_is_refused():
    op = OPERATORS["sum"]()
    u = xnp.ones(op.field_shape)
    for stepper in (pde.ThetaMethod, pde.ExponentialIntegrator):
        run = lambda s, stepper=stepper: xnp.sum(stepper(op).step(s * u, 0.0, 0.05) ** 2)
        h = 1e-6
        want = (run(1 + h) - run(1 - h)) / (2 * h)
        assert abs(float(xc.grad(run)(1.0)) / float(want) - 1) < 1e-6
        assert stepper(op).step(u.astype(np.float32), 0.0, 0.05).dtype == np.float32
        with pytest.raises(Exception, match="complex, as the operator is"):
            stepper(1j * Laplacian(BOX)).step(u, 0.0, 0.1)
    with pytest.raises(Exception, match="a field"):
        pde.ExponentialIntegrator(op, lambda t: t).step(u, 0.0, 0.1)
    with pytest.raises(Exception, match="takes a field to a field"):
        pde.ThetaMethod(pde.Gradient(BOX)).step(u, 0.0, 0.1)
    assert pde.solve(op, np.ones(op.field_shape, np.float32)).dtype == np.float64
    moving = lambda t: Diffusion(Grid(12), lambda x: 1 + x) - Advection(Grid(12), 1.0 + t)
    found = pde.trajectory(pde.ThetaMethod(moving), np.ones(11), 0.01, 3, report=True)
    v = np.ones(11)
    for k in range(3):
        now, then = (moving((k + j) * 0.01).as_sparse().toarray() for j in (0, 1))
        v = np.linalg.solve(np.eye(11) - 0.005 * then, v + 0.005 * now @ v)
    assert bool(found.ok) and np.abs(found.value[-1] - v).max() < 1e-10
