"""Diagonally implicit methods: their orders, published numbers, claims and derivatives, beside those of Rosenbrock's."""

import functools

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import xcore as xc
import xcore.numpy as xnp
from tests.pde.test_stiff import ENDS, PUBLISHED, brusselator, density, relax, trees, van_der_pol
from xcore import pde
from xcore.pde import _rosenbrock as rosenbrock
from xcore.pde import _sdirk as sdirk

METHODS = {"KVAERNO5": (5, 4, 4), "KENCARP4": (4, 3, 4), "TRBDF2": (2, 3, 2)}


@pytest.mark.parametrize("name", METHODS)
def test_the_coefficients_fulfil_the_order_conditions(name):
    """Of the step, of what it is compared with, of the solution between the ends; A-stable and L-stable."""
    method, (order, other, within) = getattr(pde, name), METHODS[name]
    a, error = method.matrix, np.array(method.error)
    b = a[-1]
    ones = np.ones(len(b))

    def weight(t):
        return functools.reduce(np.multiply, [a @ weight(s) for s in t], ones)

    def worst(b, n, part=1.0):
        return max(abs(b @ weight(t) - part**n / density(t)) for t in trees(n))

    assert max(worst(b, n) for n in range(1, order + 1)) < 1e-15 < 1e-3 < worst(b, order + 1)
    assert max(worst(b - error, n) for n in range(1, other + 1)) < 1e-15
    assert worst(b - error, other + 1) > 1e-3
    rows = method.between()
    for part in (0.3, 0.8):
        inside = part * (b + (1 - part) * (rows[0] + part * (rows[1] + part * rows[2])))
        assert max(worst(inside, n, part) for n in range(1, within + 1)) < 1e-13
    assert not np.any(method.of_stages(rows)[1])  # bounded between the ends, too
    grows = lambda z: 1 + z * b @ np.linalg.solve(np.eye(len(b)) - z * a, ones)
    assert max(abs(grows(1j * y)) for y in np.logspace(-2, 4, 200)) <= 1 + 1e-9
    assert abs(grows(-1e8)) < 1e-6


@pytest.mark.parametrize("name", METHODS)
def test_slopes_of_the_errors(name):
    """y' = -2 t y² has y = 1 / (1 + t²): at the end, and half-way through steps."""
    f, method = lambda y, t: -2 * t * y * y, getattr(pde, name)

    @xc.jit
    def errors(n):
        h = 1 / n

        def step(k, carry):
            y, worst = carry
            new, (a, b, c), _, _ = sdirk.sdirk_step(
                method, f, rosenbrock._dense, y, k * h, h, (), lambda y: 1e-12 + 0 * y
            )
            middle = y + (new - y + (a + (b + c / 2) / 2) / 2) / 2
            far = abs(middle - 1 / (1 + ((k + 0.5) * h) ** 2))
            return new, xnp.maximum(worst, xnp.max(far))

        y, between = xc.lax.fori_loop(0, n, step, (xnp.ones(1), xnp.zeros(())))
        return xnp.stack([abs(y[0] - 0.5), between])

    with xc.enable_x64():
        found = np.array([errors(n) for n in (20, 40, 80)])
    orders = np.log2(found[:-1] / found[1:])
    want = np.array([method.order, min(method.order, 5)])
    assert np.all(orders > want - 0.35), orders


@pytest.mark.parametrize("problem", PUBLISHED)
@pytest.mark.parametrize("name", METHODS)
def test_published_numbers(name, problem):
    f, start, end, atol, want = PUBLISHED[problem]
    rtol, far = (1e-7, 1e-5) if name == "KVAERNO5" else (1e-5, 5e-3)
    with xc.enable_x64():
        atol = xnp.asarray(atol) * xnp.ones(len(start)) * (rtol / 1e-7)
        start = xnp.asarray(start, float)
        found = pde.integrate(
            f,
            start,
            xnp.asarray([0.0, end]),
            tableau=getattr(pde, name),
            rtol=rtol,
            atol=atol,
            report=True,
        )
        assert found.ok and float(found.ended) == end and int(found.steps) < 2500
        assert int(found.stats["rejected"]) < 0.1 * int(found.steps)
        np.testing.assert_allclose(found.value[-1], want, rtol=far)


kvaerno = functools.partial(pde.integrate, tableau=pde.KVAERNO5)


def test_global_errors_follow_the_tolerance_at_all_scales(monkeypatch):
    """Of y' = -λ (y - cos), sizes of states and times from 1e-20 to 1e20."""
    monkeypatch.setitem(relax.__globals__, "stiff", kvaerno)
    with xc.enable_x64():
        s, tau, tol = (
            x.ravel()
            for x in np.meshgrid([1e-20, 1, 1e20], [1e-20, 1, 1e20], [1e-4, 1e-8], indexing="ij")
        )
        error, status, steps = xc.jit(xc.vmap(functools.partial(relax, dtype=np.float64)))(
            s, tau, tol
        )
    assert np.all(np.asarray(status) == 0) and float(error.max()) < 20
    steps = np.asarray(steps).reshape(9, -1)
    assert np.all(np.ptp(steps, axis=0) <= 3) and steps.max() < 400


@pytest.mark.parametrize("name", [*METHODS, "RODAS5P"])
def test_infinitely_stiff_solutions_are_right_between_the_ends_of_steps(name):
    """y' = -λ (y - cos t): also where slopes have no digit left, h λ being 1e9, and 1e29 in single precision."""
    method = getattr(pde, name)
    for dtype, lam, rtol in ((np.float64, 1e10, 1e-6), (np.float32, 1e30, 1e-4)):
        with xc.enable_x64(dtype == np.float64):
            times, start = np.linspace(0, 2, 40).astype(dtype), xnp.zeros(1, dtype)
            f = lambda y, t, lam=lam: -lam * (y - xnp.cos(t))
            found = pde.integrate(
                f, start, times, tableau=method, rtol=rtol, atol=rtol, report=True
            )
        far = abs(np.asarray(found.value)[1:, 0] - np.cos(times[1:])).max()
        # of single precision the rounding of times is held to be too much, which it is not here
        assert (bool(found.ok) or dtype == np.float32) and far < 3 * rtol
        assert int(found.steps) < 1000


@pytest.mark.parametrize("name", ENDS)
def test_a_run_that_cannot_go_on_ends_and_says_why(name):
    f, options, status, words, where = ENDS[name]
    found = kvaerno(f, 1.0, [0.0, 0.01, 4.0], report=True, **options)
    assert pde.Status(int(found.status)).name == status and words in found.message
    assert np.isfinite(found.value[:2]).all() and np.isnan(found.value[2])
    assert where is None or abs(float(found.ended) - where) < 1e-3


def test_steps_at_which_newton_does_not_converge_are_shortened():
    """A first step of a hundred times what the nonlinearity allows: no success is claimed of it, and the end is right."""
    with xc.enable_x64():
        f = lambda u, t: -1e4 * (xnp.exp(u) - 1) * (1 + u * u)
        found = kvaerno(f, xnp.asarray([3.0]), [0.0, 1e-3], first_step=1e-3, rtol=1e-6, report=True)
        want = scipy.integrate.solve_ivp(
            lambda t, u: -1e4 * (np.exp(u) - 1) * (1 + u * u),
            (0, 1e-3),
            [3.0],
            "Radau",
            rtol=1e-10,
            atol=1e-13,
        )
        assert found.ok and int(found.stats["rejected"]) >= 1
        np.testing.assert_allclose(found.value[-1], want.y[:, -1], rtol=1e-3, atol=1e-7)


def test_members_of_an_ensemble_have_steps_of_their_own():
    def end(mu):
        found = kvaerno(
            lambda y, t: van_der_pol(y, t, mu),
            xnp.asarray([2.0, 0.0]),
            xnp.asarray([0.0, 3.0]),
            rtol=1e-5,
            report=True,
        )
        return found.value[-1], found.steps

    with xc.enable_x64():
        mus = xnp.asarray([1.0, 30.0, 1e3])
        one = xc.jit(end)
        together, steps = xc.jit(xc.vmap(end))(mus)
        assert len(set(np.asarray(steps).tolist())) > 1
        for i, mu in enumerate(mus):
            alone, count = one(mu)
            assert int(count) == int(steps[i])
            np.testing.assert_allclose(together[i], alone, rtol=1e-11)


@pytest.mark.parametrize("way", ["sparse", "krylov"])
def test_ways_to_solve_the_linear_systems_agree(way):
    with xc.enable_x64():
        f, start = brusselator(24)
        times = xnp.asarray([0.0, 0.5, 5.0])
        want, got = (
            kvaerno(f, start, times, rtol=1e-6, jac=w, report=True) for w in ("dense", way)
        )
        assert got.ok and abs(int(got.steps) - int(want.steps)) <= 1
        np.testing.assert_allclose(got.value["u"], want.value["u"], rtol=1e-5)


def test_the_heat_equation_by_sparse_factors():
    """A fine grid, from a rough start, beside the exponential of the matrix; steps do not follow the grid."""
    with xc.enable_x64():
        steps = []
        for n in (50, 400):
            lap = pde.Laplacian(pde.Grid(n))
            start = (abs(lap.grid.nodes(0)[1:-1] - 0.3) < 0.11).astype(float)
            found = kvaerno(
                functools.partial(lambda lap, u, t: lap(u), lap),
                start,
                [0.0, 1e-3, 0.1],
                rtol=1e-6,
                jac="sparse",
                report=True,
            )
            values, vectors = scipy.linalg.eigh(lap.as_sparse().toarray())
            for i, t in ((1, 1e-3), (2, 0.1)):
                want = vectors @ (np.exp(values * t) * (vectors.T @ start))
                assert abs(np.asarray(found.value[i]) - want).max() < 5e-6
            steps.append(int(found.steps))
        assert steps[1] < 2 * steps[0]


@pytest.mark.parametrize("jac", ["dense", "dense forward", "sparse", "krylov"])
def test_derivatives_are_those_of_the_steps(jac):
    with xc.enable_x64():

        def loss(p, kept=None):
            f = lambda y, t: xnp.stack(
                [-p[0] * (y[0] - xnp.cos(p[1] * t)), p[2] * y[0] - y[1] ** 2]
            )
            times = xnp.asarray([0.0, 0.3, 1.0]) + p[3] * xnp.asarray([1.0, 0.0, 1.0])
            start = xnp.stack([p[3], xnp.ones(())])
            u = kvaerno(
                f, start, times, rtol=1e-9, atol=1e-11, checkpoints=kept, jac=jac.split()[0]
            )
            return (u * xnp.asarray([1.0, 2.0])).sum()

        p = np.array([80.0, 1.3, 0.7, 0.2])
        value = xc.jit(loss)
        steps = 1e-4 * np.eye(4) * np.array([10, 1, 1, 1])
        moved = [(float(value(p + d)) - float(value(p - d))) / (2 * d.max()) for d in steps]
        derive = xc.jacfwd(loss) if "forward" in jac else xc.grad(functools.partial(loss, kept=6))
        np.testing.assert_allclose(xc.jit(derive)(p), moved, rtol=3e-6, atol=1e-8)


def test_scipys_function_takes_them_by_name():
    with xc.enable_x64():
        for name in ("Kvaerno5", "KenCarp4", "TRBDF2"):
            got = xc.scipy.integrate.solve_ivp(
                lambda t, y: -500 * (y - xnp.cos(t)),
                (0.0, 2.0),
                [0.0],
                name,
                rtol=1e-6,
                atol=1e-8,
                dense_output=True,
            )
            t = np.linspace(0.1, 2, 37)
            want = (500**2 * np.cos(t) + 500 * np.sin(t)) / (500**2 + 1)
            assert got.success and abs(np.asarray(got.sol(t))[0] - want).max() < 2e-5
