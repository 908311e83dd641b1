"""Least squares and fitted curves against closed forms, SciPy and a certified data set."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo
from xcore.optimize._curve_fit import t_quantile
from xcore.optimize._losses import LOSSES, loss_of
from xcore.optimize._trust import step_in_ball, triangle

RNG = np.random.default_rng(0)
T = np.linspace(0, 4, 30)
Y = 2.5 * np.exp(-1.3 * T) + 0.5 + 0.05 * RNG.normal(size=30)
START = tuple(np.float64([1, 1, 1]))


def decay(t, a, b, c):
    return a * xnp.exp(-b * t) + c


@pytest.mark.parametrize("method", ["lm", "gauss-newton", "trf", "matrix-free"])
def test_methods_agree_with_scipy(method):
    fit = xo.curve_fit(decay, T, Y, START, method=method)
    popt, pcov = scipy.optimize.curve_fit(
        lambda t, a, b, c: a * np.exp(-b * t) + c, T, Y, xtol=1e-13, ftol=1e-13
    )
    assert fit.result.success, fit.result.message
    np.testing.assert_allclose(fit.popt, popt, rtol=1e-7)
    np.testing.assert_allclose(fit.pcov, pcov, rtol=1e-5)


def test_bounds_hold_and_the_rest_is_optimal():
    fit = xo.curve_fit(decay, T, Y, START, bounds=(0.0, (2.0, np.inf, np.inf)))
    assert fit.result.success and fit.popt[0] <= 2.0
    np.testing.assert_allclose(fit.popt[0], 2.0, rtol=1e-9)
    rest = scipy.optimize.curve_fit(
        lambda t, b, c: 2.0 * np.exp(-b * t) + c, T, Y, xtol=1e-14, ftol=1e-14, gtol=1e-14
    )[0]
    np.testing.assert_allclose(fit.popt[1:], rest, rtol=1e-6)


ROBUST = [name for name in LOSSES if name != "linear"]


@xc.jit
def fit_robustly(which, y):
    loss = lambda z: xc.lax.switch(which, [loss_of(name) for name in ROBUST], z)
    return xo.least_squares(lambda p: decay(T, *p) - y, START, loss=loss, f_scale=0.1, maxiter=400)


@pytest.mark.parametrize("loss", ROBUST)
def test_robust_losses_against_scipy(loss):
    y = Y.copy()
    y[::7] += 3.0
    found = fit_robustly(ROBUST.index(loss), y)
    peer = scipy.optimize.least_squares(
        lambda p: p[0] * np.exp(-p[1] * T) + p[2] - y, found.x, loss=loss, f_scale=0.1, xtol=1e-12,
        ftol=1e-14, gtol=1e-14,
    )  # fmt: skip
    np.testing.assert_allclose(found.stats["cost"], peer.cost, rtol=1e-6)
    np.testing.assert_allclose(found.x, peer.x, rtol=1e-3)


def test_known_errors_and_their_covariance():
    sigma = 0.02 + 0.05 * RNG.random(30)
    f = lambda t, a, b, c: a * np.exp(-b * t) + c
    for given in (sigma, np.diag(sigma**2)):
        fit = xo.curve_fit(decay, T, Y, START, sigma=given, absolute_sigma=True)
        popt, pcov = scipy.optimize.curve_fit(f, T, Y, sigma=given, absolute_sigma=True, xtol=1e-13)
        np.testing.assert_allclose(fit.popt, popt, rtol=1e-6)
        np.testing.assert_allclose(fit.pcov, pcov, rtol=1e-4)


def test_intervals_use_students_t():
    for p, dof in ((0.975, 1), (0.9, 5), (0.995, 40), (0.25, 7)):
        np.testing.assert_allclose(t_quantile(p, dof), scipy.stats.t.ppf(p, dof), rtol=1e-9)
    x = np.arange(6.0)
    y = 1 + 2 * x + np.array([0.1, -0.2, 0.15, -0.1, 0.2, -0.15])
    fit = xo.curve_fit(lambda x, a, b: a + b * x, x, y, tuple(np.float64([0, 0])))
    line = scipy.stats.linregress(x, y)
    half = scipy.stats.t.ppf(0.975, 4) * np.array([line.intercept_stderr, line.stderr])
    low, high = fit.interval(0.95)
    np.testing.assert_allclose(high - low, 2 * half, rtol=1e-6)
    band = fit.band(lambda x, a, b: a + b * x, x)
    spread = np.sqrt(1 / 6 + (x - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2))
    s = np.sqrt(np.sum((y - line.intercept - line.slope * x) ** 2) / 4)
    np.testing.assert_allclose(
        band[1] - band[0], 2 * scipy.stats.t.ppf(0.975, 4) * s * spread, rtol=1e-6
    )


def test_lanes_stop_on_their_own_and_equal_single_fits():
    truth = RNG.uniform([1, 0.5], [3, 2], size=(200, 2))
    data = xnp.asarray(truth[:, :1] * np.exp(-truth[:, 1:] * T) + 0.01 * RNG.normal(size=(200, 30)))
    start = xnp.asarray(np.array([1.0, 1.0]))
    fit = lambda y: xo.least_squares(lambda p: p[0] * xnp.exp(-p[1] * T) - y, start)
    many = xc.jit(xc.vmap(fit))(data)
    assert np.all(many.success) and len(set(np.asarray(many.nit).tolist())) > 1
    alone = xc.jit(fit)
    for i in (0, 77, 199):
        one = alone(data[i])
        np.testing.assert_allclose(many.x[i], one.x, rtol=1e-10)
        assert int(one.nit) == int(many.nit[i])


def test_derivatives_of_fits_against_differences():
    """Of parameters, residuals and costs."""
    start = xnp.asarray(np.array([1.0, 1.0]))
    y = xnp.asarray(2.0 * np.exp(-0.7 * T) + 0.1 * np.sin(5 * T))

    def fit(y):
        found = xo.least_squares(lambda p: p[0] * xnp.exp(-p[1] * T) - y, start)
        return xnp.concatenate([found.x, found.fun, found.stats["cost"][None]])

    slope = xc.jit(lambda y, v: xc.jvp(fit, (y,), (v,))[1])
    v = xnp.asarray(RNG.normal(size=30))
    h = 1e-4
    numeric = (fit(y + h * v) - fit(y - h * v)) / (2 * h)
    np.testing.assert_allclose(slope(y, v), numeric, rtol=1e-6)
    np.testing.assert_allclose(xc.jacrev(fit)(y) @ v, numeric, rtol=1e-6)


def test_fewer_residuals_than_parameters_and_complex_ones():
    found = xo.least_squares(lambda p: p[0] + 2 * p[1] - 3, xnp.zeros(2, np.float64))
    assert found.success
    np.testing.assert_allclose(found.x[0] + 2 * found.x[1], 3, rtol=1e-12)
    z = xo.least_squares(lambda z: z**2 - (3 + 4j), xnp.asarray([1 + 0.5j], np.complex128))
    np.testing.assert_allclose(z.x, [2 + 1j], rtol=1e-10)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: xo.least_squares(lambda p: p, xnp.ones(2), loss="l7"), "soft_l1"),
        (lambda: xo.least_squares(lambda p: p, xnp.ones(2), method="magic"), "lm"),
        (lambda: xo.least_squares(lambda p: p, xnp.ones(2), method="lm", bounds=(0, 1)), "trf"),
        (lambda: xo.least_squares(lambda p: xnp.arange(3), xnp.ones(2)), "floating"),
        (lambda: xo.curve_fit(decay, T, Y, START, sigma=np.ones(7)), "sigma"),
    ],
)
def test_errors(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_nan_is_told():
    found = xo.least_squares(lambda p: xnp.log(p), -xnp.ones(2))
    assert xo.Status(int(found.status)) is xo.Status.not_finite


@pytest.mark.parametrize("n", [3, 9], ids=["few columns", "LAPACK"])
def test_steps_in_a_ball_of_columns_of_any_size(n):
    rng = np.random.default_rng(n)
    sizes = 10.0 ** np.linspace(-180, 180, n)  # squares of the entries are not numbers
    j, f = rng.normal(size=(12, n)), rng.normal(size=12)

    @xc.jit
    def solve(j, f, scale, radius):
        r, qtf = triangle(j, f)
        return r, step_in_ball(r, qtf, scale, radius)

    whole = np.linalg.lstsq(j, -f, rcond=None)[0]
    r, (p, damping) = solve(j * sizes, f, sizes, 2 * np.linalg.norm(whole))
    r = np.asarray(r) / sizes
    np.testing.assert_allclose(r.T @ r, j.T @ j, atol=1e-13 * np.linalg.norm(j) ** 2)
    np.testing.assert_allclose(np.asarray(p) * sizes, whole, rtol=1e-11)
    radius = 0.5 * np.linalg.norm(whole)
    _, (p, damping) = solve(j * sizes, f, sizes, radius)
    p, damping = np.asarray(p) * sizes, float(damping)
    assert abs(np.linalg.norm(p) - radius) <= 0.1 * radius and damping > 0
    best = np.linalg.solve(j.T @ j + damping * np.eye(n), -j.T @ f)
    np.testing.assert_allclose(p, best, rtol=1e-10)


def test_steps_of_lanes_are_those_of_each_alone():
    rng = np.random.default_rng(4)
    j, f = rng.normal(size=(6, 12, 3)), rng.normal(size=(6, 12))
    j[1, :, 2] = j[1, :, 0]  # dependent columns
    j[2, :, 1] = 0
    radii = 10.0 ** np.arange(-3, 3)  # from many steps of the search to one
    scale = np.ones(3)

    def solve(j, f, radius):
        r, qtf = triangle(j, f)
        return r, qtf, *step_in_ball(r, qtf, scale, radius)

    together = xc.jit(xc.vmap(solve))(j, f, radii)
    alone = xc.jit(solve)
    for k in range(6):
        for ours, own in zip(together, alone(j[k], f[k], radii[k])):
            # what the data do not determine is told by rounding errors only
            skip = k == 1 and ours.ndim > 1
            if not skip:
                np.testing.assert_allclose(ours[k], own, rtol=1e-10, atol=1e-12)
        p = np.asarray(together[2][k])
        whole = np.linalg.lstsq(j[k], -f[k], rcond=None)[0]
        assert np.linalg.norm(p) <= 1.1 * min(radii[k], np.linalg.norm(whole) * 1.01)
