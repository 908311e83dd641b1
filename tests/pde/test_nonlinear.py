"""Newton–Krylov solutions against closed forms, and their derivatives."""

import functools

import numpy as np
import pytest
from scipy.optimize import brentq

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import Diffusion, Grid, Laplacian, Masked, solve_nonlinear


def bratu(x, rate):
    """u'' + λ exp u = 0 on (0, 1): the lower branch, in closed form."""
    theta = brentq(lambda t: t - np.sqrt(2 * rate) * np.cosh(t / 4), 0, 4.7)
    return -2 * np.log(np.cosh((x - 0.5) * theta / 2) / np.cosh(theta / 4))


def bratu_field(lap, rate):
    return solve_nonlinear(lambda u: lap(u) + rate * xnp.exp(u), lap.field(0.0), lap, rtol=1e-12)


def test_bratu_has_order_two_and_the_right_derivative():
    with xc.enable_x64():
        errors = []
        for n in (24, 48):
            lap = Laplacian(Grid(n))
            x = np.asarray(lap.points()[0])
            solution = functools.partial(bratu_field, lap)
            u, change = xc.jvp(solution, (2.0,), (1.0,))
            wanted = (bratu(x, 2 + 1e-5) - bratu(x, 2 - 1e-5)) / 2e-5
            errors.append([abs(u - bratu(x, 2.0)).max(), abs(change - wanted).max()])
        assert np.all(abs(np.log2(np.divide(*errors)) - 2) < 0.1), errors
        f = lambda rate: xnp.sum(solution(rate))
        assert np.isclose(xc.grad(f)(2.0), change.sum(), rtol=1e-9)


def test_p_laplace_is_its_closed_form():
    """-(|u'| u')' = 1 on (-1, 1): flows are -x, which differences find exactly, so the discrete
    solution is the sum of √|x| at the middles of cells."""
    with xc.enable_x64():
        n = 32
        grid = Grid(n, -1.0, 1.0)
        lap, h = Laplacian(grid), 2 / n

        def residual(u):
            slope = xnp.diff(xnp.pad(u, 1)) / h
            return xnp.diff(xnp.abs(slope) * slope) / h + 1

        start = 0.5 * (1 - lap.points()[0] ** 2)
        answer = solve_nonlinear(residual, start, lap, rtol=1e-10, report=True)
        middles = (grid.nodes(0)[1:] + grid.nodes(0)[:-1]) / 2
        wanted = h * np.cumsum(-np.sign(middles) * np.sqrt(abs(middles)))[:-1]
        assert answer.ok and np.allclose(answer.value, wanted, atol=1e-8)
        assert abs(answer.value.max() - 2 / 3) < 0.01  # (p - 1) / p


def test_multigrid_as_a_guess_in_a_disc():
    """Δu + exp u = 0 in the unit disc has a solution in closed form."""
    with xc.enable_x64():
        op = Masked(Grid((40, 40), -1.1, 1.1), lambda x, y: x**2 + y**2 < 1, edge="symmetric")
        b = 3 - 2 * np.sqrt(2)  # u = log(8 b / (1 + b r²)²) with 8 b = (1 + b)²
        x, y = op.points()
        exact = np.log(8 * b / (1 + b * (x**2 + y**2)) ** 2)
        u = solve_nonlinear(
            lambda u: op(u) + xnp.where(op.inside, xnp.exp(u), 0), op.field(0.0), op
        )
        assert float(abs(xnp.where(op.inside, u - exact, 0)).max()) < 5e-4


def test_failures_are_told():
    lap = Laplacian(Grid(8))
    answer = solve_nonlinear(lambda u: lap(u) + 50 * xnp.exp(u), lap.field(0.0), lap, report=True)
    assert not answer.ok  # beyond the turning point at λ = 3.51 there is no solution
    with pytest.raises(ValueError, match="a function of a field"):
        solve_nonlinear(3, lap.field(0.0), lap)
    with pytest.raises(ValueError, match="a Laplacian, a Diffusion"):
        solve_nonlinear(lap, lap.field(0.0), 3)
    with pytest.raises(ValueError, match="must give a field"):
        solve_nonlinear(lambda u: u[:2], lap.field(0.0), lap)
    with pytest.raises(ValueError, match="rtol must be positive"):
        solve_nonlinear(lap, lap.field(0.0), lap, rtol=0)


def test_modes_of_varying_coefficients():
    with xc.enable_x64():
        op = Diffusion(Grid((18, 15)), lambda x, y: 1 + x * y, [(pde.Neumann(), pde.Dirichlet()), pde.Neumann()], c=1.0)  # fmt: skip
        w, modes = pde.eigenmodes(op, 3, rtol=1e-9)
        want = np.sort(np.linalg.eigvals(-op.as_sparse().toarray()).real)[:3]
        assert np.allclose(w, want, rtol=1e-9)
        gram = [[float(op.integrate(a * b)) for a in modes] for b in modes]
        assert np.allclose(gram, np.eye(3), atol=1e-9)
