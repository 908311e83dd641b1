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


UNSOLVABLE = {  # functions without a zero, or with one at infinity, and where to start
    "square": (lambda lap, u: u * u + 1.0, (0.7, 1e3, 1e10)),
    "exponential": (lambda lap, u: xnp.exp(u), (0.0, 40.0)),
    "bell": (lambda lap, u: 1 / (1 + u * u), (0.1, 10.0)),
    "beyond the fold": (lambda lap, u: lap(u) + 3.6 * xnp.exp(u), (0.0, 2.0, 60.0)),
    "no zero of a sum": (lambda lap, u: lap(u) - u * u - 1e5, (0.0, 1e8)),
    "constant": (lambda lap, u: 0 * u + 1.0, (0.0, 1.0)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nothing_is_claimed_where_there_is_no_solution(dtype):
    """However large the residual was at the start: one that fell a lot may still be far from zero."""
    with xc.enable_x64(dtype == "float64"):
        lap = Laplacian(Grid(16))

        def solve(
            start, which, size
        ):  # one program for all of them; few steps, so that none underflows
            f = lambda u: size * xnp.stack([f(lap, u) for f, _ in UNSOLVABLE.values()])[which]
            u = xnp.full(15, start, dtype)
            return solve_nonlinear(f, u, lap, max_steps=20, report=True).ok

        cases = [
            (start, which, size)
            for which, (_, starts) in enumerate(UNSOLVABLE.values())
            for start in starts
            for size in (1.0, 1e-25)
        ]
        starts, which, sizes = map(np.array, zip(*cases, strict=True))
        ok = xc.jit(xc.vmap(solve))(starts.astype(dtype), which, sizes.astype(dtype))
        assert not np.asarray(ok).any(), [c for c, k in zip(cases, ok, strict=True) if k]


@pytest.mark.parametrize("dtype", ["float32"])
def test_solutions_that_vanish_and_those_far_from_the_start_are_claimed(dtype):
    """Of lap u + e^u - 1 = 0 and of lap u + 3 e^u = 0, of which the first has u = 0."""
    with xc.enable_x64(dtype == "float64"):
        lap = Laplacian(Grid(16))
        for shift, starts in ((-1.0, (0.0, 1.0, -3.0)), (0.0, (0.0, -2.0, 1.0))):
            f = lambda u, shift=shift: lap(u) + (xnp.exp(u) + shift) * (3 if shift == 0 else 1)
            solve = lambda u, f=f: solve_nonlinear(f, u, lap, report=True)
            found = xc.jit(xc.vmap(solve))(np.outer(starts, np.ones(15)).astype(dtype))
            assert np.asarray(found.ok).all(), shift
            most = np.asarray(found.value, float).max(axis=1)
            assert np.allclose(most, 0.0 if shift else 0.64201, atol=1e-4)
