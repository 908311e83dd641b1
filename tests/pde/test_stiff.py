"""Stiff equations: the order of the method, its claims beside closed forms and published numbers, its derivatives."""

import functools

import numpy as np
import pytest
import scipy.integrate

import xcore as xc
import xcore.numpy as xnp
from xcore import pde
from xcore.pde import _rosenbrock as rosenbrock

stiff = functools.partial(pde.integrate, tableau=pde.RODAS5P)


# Order


def trees(n):
    """Rooted trees of n nodes, each as the sorted tuple of its branches."""

    def forests(total, largest):
        if not total:
            yield ()
        for k in range(min(total, largest), 0, -1):
            for t in trees(k):
                for rest in forests(total - k, k):
                    yield (t, *rest)

    return sorted({tuple(sorted(f)) for f in forests(n - 1, n - 1)})


def size(t):
    return 1 + sum(map(size, t))


def density(t):
    return size(t) * int(np.prod([density(s) for s in t]))


def test_the_coefficients_fulfil_the_order_conditions():
    """(Hairer and Wanner 1996, section IV.7: a node with one branch takes α + γ, one with more α.)"""
    method = pde.RODAS5P
    alpha, gamma = method.matrices()
    both, ones = alpha + gamma, np.ones(8)

    def weight(t):
        if len(t) == 1:
            return both @ weight(t[0])
        return functools.reduce(np.multiply, [alpha @ weight(s) for s in t], ones)

    def worst(b, n, part=1.0):
        return max(abs(b @ weight(t) - part**n / density(t)) for t in trees(n))

    b, error = np.array(method.b) @ gamma, np.array(method.error) @ gamma
    assert max(worst(b, n) for n in range(1, 6)) < 1e-13 < 1e-3 < worst(b, 6)
    assert max(worst(b - error, n) for n in range(1, 5)) < 1e-13 < 1e-3 < worst(b - error, 5)
    rows = [np.array(w) @ gamma for w in method.between]
    for part in (0.3, 0.8):
        inside = part * (b + (1 - part) * (rows[0] + part * (rows[1] + part * rows[2])))
        assert max(worst(inside, n, part) for n in range(1, 5)) < 1e-12
    # stable on the left half plane, by its edge, and 0 where infinitely stiff
    grows = lambda z: 1 + z * b @ np.linalg.solve(np.eye(8) - z * both, ones)
    assert max(abs(grows(1j * y)) for y in np.logspace(-2, 4, 200)) <= 1 + 1e-12
    assert abs(1 - b @ np.linalg.solve(both, ones)) < 1e-12
    assert np.allclose(alpha.sum(axis=1)[[1, 3]], [0.6358126895828704, 0.9769306725060716])


def test_slopes_of_the_errors():
    """y' = -2 t y² has y = 1 / (1 + t²)."""
    f = lambda y, t: -2 * t * y * y

    @xc.jit
    def errors(n):
        h = 1 / n

        def step(k, carry):
            y, worst = carry
            new, bends, error, _ = rosenbrock.rosenbrock_step(
                pde.RODAS5P, f, rosenbrock._dense, y, k * h, h, (), xnp.abs
            )
            a, b, c = bends
            middle = y + (new - y + (a + (b + c / 2) / 2) / 2) / 2
            far = abs(middle - 1 / (1 + ((k + 0.5) * h) ** 2))
            return new, xnp.maximum(worst, xnp.max(far))

        y, between = xc.lax.fori_loop(0, n, step, (xnp.ones(1), xnp.zeros(())))
        return xnp.stack([abs(y[0] - 0.5), between])

    with xc.enable_x64():
        found = np.array([errors(n) for n in (20, 40, 80)])
        orders = np.log2(found[:-1] / found[1:])
        assert np.all(orders > 4.7), orders


# Published numbers


def robertson(y, t):
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return xnp.stack([b - a, a - b - c, c])


def van_der_pol(y, t, mu=1e3):
    return xnp.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])


def hires(y, t):
    a, b, c, d, e, f, g, h = (y[i] for i in range(8))
    return xnp.stack([
        -1.71 * a + 0.43 * b + 8.32 * c + 0.0007, 1.71 * a - 8.75 * b, -10.03 * c + 0.43 * d + 0.035 * e,
        8.32 * b + 1.71 * c - 1.12 * d, -1.745 * e + 0.43 * f + 0.43 * g,
        -280 * f * h + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g, 280 * f * h - 1.81 * g, -280 * f * h + 1.81 * g,
    ])  # fmt: skip


# (Mazzia and Magherini 2008, "Test set for initial value problem solvers", release 2.4)
PUBLISHED = {
    "Robertson": (robertson, [1, 0, 0], 1e11, [1e-12, 1e-18, 1e-10], [
        0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050,
    ]),
    "van der Pol": (van_der_pol, [2, 0], 2000, 1e-9, [0.1706167732170483e1, -0.8928097010247975e-3]),
    "HIRES": (hires, [1, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122, 1e-11, [
        0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
        0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2,
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_numbers(name):
    f, start, end, atol, want = PUBLISHED[name]
    with xc.enable_x64():
        atol = xnp.asarray(atol) * xnp.ones(len(start))
        start = xnp.asarray(start, float)
        found = stiff(f, start, xnp.asarray([0.0, end]), rtol=1e-7, atol=atol, report=True)
        assert found.ok and float(found.ended) == end and int(found.steps) < 2000
        np.testing.assert_allclose(found.value[-1], want, rtol=2e-6)


# Claims


def relax(state, tau, tol, dtype, n=3):
    """y' = -λ (y - s cos(t/τ)) / τ for s, τ of any size: (|error| / (s tol) at n times, status, steps)."""
    lam = 1e4
    times = np.linspace(0, 2, n).astype(dtype)
    f = lambda y, t: -lam * (y - state * xnp.cos(t / tau)) / tau
    found = stiff(f, state[None], times * tau, rtol=tol, atol=tol * state, report=True)
    exact = (lam**2 * np.cos(times) + lam * np.sin(times) + np.exp(-lam * times)) / (lam**2 + 1)
    return abs(found.value[:, 0] / state - exact) / tol, found.status, found.steps


@pytest.mark.parametrize(
    "dtype, tols, far", [(np.float64, (1e-4, 1e-7, 1e-10), 1e20), (np.float32, (1e-3, 1e-4), 1e15)]
)
def test_global_errors_follow_the_tolerance_at_all_scales(dtype, tols, far):
    with xc.enable_x64(dtype == np.float64):
        s, tau, tol = (
            x.ravel()
            for x in np.meshgrid([1 / far, 1, far], [1 / far, 1, far], tols, indexing="ij")
        )
        s, tau, tol = (x.astype(dtype) for x in (s, tau, tol))
        run = xc.jit(xc.vmap(functools.partial(relax, dtype=dtype)))
        error, status, steps = run(s, tau, tol)
        assert np.all(np.asarray(status) == 0)
        assert float(error.max()) < 10
        steps = np.asarray(steps).reshape(9, -1)  # they depend on the tolerance, not on units
        assert np.all(np.ptp(steps, axis=0) <= 3) and steps.max() < 400


def test_members_of_an_ensemble_have_steps_of_their_own():
    def end(mu):
        found = stiff(
            lambda y, t: van_der_pol(y, t, mu), xnp.asarray([2.0, 0.0]), xnp.asarray([0.0, 3.0]), rtol=1e-5,
            report=True,
        )  # fmt: skip
        return found.value[-1], found.steps

    with xc.enable_x64():
        mus = xnp.asarray([1.0, 30.0, 1e3])
        one = xc.jit(end)
        together, steps = xc.jit(xc.vmap(end))(mus)
        assert len(set(np.asarray(steps).tolist())) == 3
        for i, mu in enumerate(mus):
            alone, count = one(mu)
            assert int(count) == int(steps[i])
            np.testing.assert_allclose(together[i], alone, rtol=1e-12)


ENDS = {
    "a pole": (lambda u, t: u * u, {}, "stagnation", "shorter than rounding", 1.0),
    "not a number": (
        lambda u, t: xnp.where(t < 0.5, 1.0, xnp.nan) * u,
        {},
        "not_finite",
        "not finite",
        0.5,
    ),
    "few steps": (
        lambda u, t: xnp.cos(40 * t) + 0 * u,
        {"max_steps": 9},
        "max_steps",
        "max_steps",
        None,
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_run_that_cannot_go_on_ends_and_says_why(name):
    f, options, status, words, where = ENDS[name]
    found = stiff(f, 1.0, [0.0, 0.01, 4.0], report=True, **options)
    assert pde.Status(int(found.status)).name == status and words in found.message
    assert np.isfinite(found.value[:2]).all() and np.isnan(found.value[2])
    assert where is None or abs(float(found.ended) - where) < 1e-3
    if name == "few steps":
        with pytest.warns(RuntimeWarning, match="from t = 4 on"):
            stiff(f, 1.0, [0.0, 0.01, 4.0], **options)


def test_trees_complex_numbers_and_tolerances_of_elements():
    with xc.enable_x64():
        f = lambda u, t: {"z": 1j * u["z"] - 1e3 * (u["z"] - xnp.exp(1j * t)), "x": -u["x"] + 0 * t}
        start = {"z": xnp.ones((1, 2), complex), "x": xnp.full(3, 2.0)}
        found = stiff(
            f, start, [0.0, 0.5, 2.0], rtol=1e-7, atol={"z": 1e-9, "x": 1e-9 * np.ones(3)}
        )
        times = np.array([0, 0.5, 2])
        np.testing.assert_allclose(found["x"], 2 * np.exp(-times)[:, None] * np.ones(3), rtol=1e-6)
        np.testing.assert_allclose(found["z"][:, 0, 1], np.exp(1j * times), rtol=1e-6)
    assert stiff(lambda u, t: -u, xnp.zeros(0), [0.0, 1.0]).shape == (2, 0)


@pytest.mark.parametrize("wrong, told", [
    ({"tableau": "Radau"}, "RODAS5P"), ({"jac": "banded"}, "krylov"), ({"atol": np.ones(5)}, "atol"), ({"max_step": -1.0}, "max_step"),
    ({"f": lambda u, t: (u, u)}, "integrate"), ({"events": 3}, "events"), ({"events": lambda u, t: u}, "one real number"),
])  # fmt: skip
def test_wrong_arguments_are_named(wrong, told):
    given = {"f": lambda u, t: -u, "x0": xnp.ones(2), "t_eval": [0.0, 1.0]} | wrong
    with pytest.raises((ValueError, TypeError), match=told):
        stiff(**given)


# Linear systems


def brusselator(n):
    """Two species along a line. (Hairer and Wanner 1996, section IV.1)"""
    lap = pde.Laplacian(pde.Grid(n), pde.Neumann(0.0))

    def f(s, t):
        u, v = s["u"], s["v"]
        return {"u": 1 + u * u * v - 4 * u + lap(u) / 50, "v": 3 * u - u * u * v + lap(v) / 50}

    x = lap.grid.nodes(0)
    return f, {"u": 1 + xnp.sin(2 * np.pi * x), "v": xnp.full(n + 1, 3.0)}


@pytest.mark.parametrize("way", ["sparse", "krylov"])
def test_ways_to_solve_the_linear_systems_agree(way):
    """Up to what Krylov solutions leave, far below the tolerance."""
    with xc.enable_x64():
        f, start = brusselator(24)
        times = xnp.asarray([0.0, 0.5, 5.0])
        want, a = (
            stiff(f, start, times, rtol=1e-6, jac=way, report=True) for way in ("dense", way)
        )
        assert a.ok and int(a.steps) == int(want.steps)
        np.testing.assert_allclose(a.value["u"], want.value["u"], rtol=1e-7)
        flat, back = xc.flatten_util.ravel_pytree(start)
        g = xc.jit(lambda y: xc.flatten_util.ravel_pytree(f(back(y), 0.0))[0])
        exact = scipy.integrate.solve_ivp(
            lambda t, y: np.asarray(g(y)), (0, 5), np.asarray(flat), "BDF", rtol=1e-9, atol=1e-11
        )
        far = abs(np.asarray(back(exact.y[:, -1])["u"]) - want.value["u"][-1]).max()
        assert far < 10 * 1e-6 * abs(want.value["u"]).max()


# Derivatives


@pytest.mark.parametrize("jac", ["dense", "dense forward", "sparse", "krylov"])
def test_derivatives_are_those_of_the_steps(jac):
    with xc.enable_x64():

        def loss(p, kept=None):
            f = lambda y, t: xnp.stack(
                [-p[0] * (y[0] - xnp.cos(p[1] * t)), p[2] * y[0] - y[1] ** 2]
            )
            times = xnp.asarray([0.0, 0.3, 1.0]) + p[3] * xnp.asarray([1.0, 0.0, 1.0])
            start = xnp.stack([p[3], xnp.ones(())])
            u = stiff(f, start, times, rtol=1e-9, atol=1e-11, checkpoints=kept, jac=jac.split()[0])
            return (u * xnp.asarray([1.0, 2.0])).sum()

        p = np.array([80.0, 1.3, 0.7, 0.2])
        value = xc.jit(loss)
        steps = 1e-4 * np.eye(4) * np.array([10, 1, 1, 1])
        moved = [(float(value(p + d)) - float(value(p - d))) / (2 * d.max()) for d in steps]
        derive = xc.jacfwd(loss) if "forward" in jac else xc.grad(functools.partial(loss, kept=6))
        np.testing.assert_allclose(xc.jit(derive)(p), moved, rtol=2e-6, atol=1e-9)


@pytest.mark.slow
def test_derivatives_of_krylov_solutions_are_relative():
    """Cotangents are of any size; an absolute goal would leave those that are small where they started."""

    def end(k, scale):
        f = lambda u, t: -k * u
        return scale * stiff(f, xnp.ones(3), [0.0, 1.0], rtol=1e-4, jac="krylov")[-1].sum()

    slope = xc.jit(xc.grad(end))
    for scale in (1.0, 1e-12):
        np.testing.assert_allclose(slope(2.0, scale) / scale, -3 * np.exp(-2), rtol=1e-3)


@pytest.mark.parametrize("tableau", [pde.DORMAND_PRINCE, pde.RODAS5P, pde.KVAERNO5])
def test_slopes_are_not_broadcast(tableau):
    """One slope for all elements is a number; a part of u that fits by broadcasting is a mistake."""
    start, times = xnp.asarray([1.0, 2.0]), [0.0, 1.0]
    for f in (lambda u, t: -u[:1], lambda u, t: -u[:, None]):
        with pytest.raises(ValueError, match="of the shape of u"):
            pde.integrate(f, start, times, tableau=tableau)
    u = pde.integrate(lambda u, t: xnp.ones(()), start, times, tableau=tableau)
    np.testing.assert_allclose(u[-1], [2.0, 3.0], rtol=1e-5)
