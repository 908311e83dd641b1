"""Intervals of fitted parameters hold the truth as often as they say, in all units; what data do not tell is infinite."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import xcore as xc
import xcore.numpy as xnp
import xcore.optimize as xo

T = np.linspace(0, 4, 24)
TRUE = np.array([2.0, 1.3, 0.5])
TRIALS = 500
FOUR = 4 * (0.95 * 0.05 / TRIALS) ** 0.5  # standard deviations of a share of so many trials


def curve(t, a, b, c):
    return a * xnp.exp(-b * t) + c


def fits(units, noise, sigma, dtype, outliers=0.0, points=24, **settings):
    """(the fits of many draws, the true parameters): y in units[0], t in units[1]."""
    tall, wide = units
    rng = np.random.default_rng(5)
    times = np.linspace(0, 4, points)
    deviation = noise * np.linspace(0.5, 2 if sigma else 0.5, points)
    y = curve(times, *TRUE) + deviation * rng.standard_normal((TRIALS, points))
    y += outliers * rng.standard_normal(y.shape) * (rng.random(y.shape) < 0.1)
    t, y = (times * wide).astype(dtype), (np.asarray(y) * tall).astype(dtype)
    start = tuple(np.array([tall, 1 / wide, 0], dtype))
    errors = None if sigma is None else (sigma * tall * deviation).astype(dtype)

    @xc.jit
    def every(y):
        one = lambda y: xo.curve_fit(curve, t, y, start, sigma=errors, **settings)
        return xc.vmap(
            lambda y: (lambda fit: (fit.interval(), fit.result.success, fit.stderr, fit.pcov))(
                one(y)
            )
        )(y)

    return every(y), TRUE * np.array([tall, 1 / wide, tall])


# name: (units of y and t, noise, sigma beside the true one or None, dtype, settings)
SCALES = {
    "plain": ((1, 1), 0.05, 3.0, np.float64, {}), "absolute": ((1, 1), 0.05, 1.0, np.float64, {"absolute_sigma": True}),
    "far": ((1e8, 1e-8), 0.02, 1.0, np.float64, {"absolute_sigma": True}),
    "float32": ((1, 1), 0.05, 1.0, np.float32, {}), "tall float32": ((1e8, 1e-8), 0.05, 1.0, np.float32, {}),
    "squares that are hardly numbers": ((1e-16, 1e12), 0.05, None, np.float32, {}),
    "squares that are none": ((1e-30, 1e12), 0.05, None, np.float32, {}),
    "few points, known": ((1, 1), 0.05, 1.0, np.float64, {"absolute_sigma": True, "points": 7}),
}  # fmt: skip


@pytest.mark.parametrize("name", SCALES)
def test_intervals_cover_in_all_units(name):
    units, noise, sigma, dtype, settings = SCALES[name]
    ((low, high), ok, stderr, _), true = fits(units, noise, sigma, dtype, **settings)
    ok = np.asarray(ok)
    assert ok.mean() > 0.98
    share = ((low <= true) & (true <= high))[ok].mean(0)
    assert np.all(np.abs(share - 0.95) < FOUR), share
    assert np.all(np.isfinite(np.asarray(stderr)[ok])) and np.all(np.asarray(stderr) > 0)


@pytest.mark.parametrize("loss", ["huber", "soft_l1", "cauchy"])
def test_intervals_of_robust_losses_cover(loss):
    ((low, high), ok, _, _), true = fits(
        (1, 1), 0.05, 1.0, np.float64, outliers=1.0, points=100, loss=loss, f_scale=1.5
    )
    share = ((low <= true) & (true <= high))[np.asarray(ok)].mean(0)
    # to first order in 1/100, and Student's quantiles are those of normal errors
    assert np.all(share > 0.95 - FOUR) and np.all(share < 0.99), share


def test_units_change_nothing_but_units():
    fit = lambda tall, wide: xo.curve_fit(
        curve, T * wide, y * tall, (tall, 1 / wide, 0.0 * tall), bounds=None
    )
    y = np.asarray(curve(T, *TRUE)) + 0.05 * np.random.default_rng(0).standard_normal(T.size)
    plain = fit(*np.float64([1, 1]))
    for tall, wide in ((1e8, 1e-8), (1e-8, 1e8), (1e60, 1e-60)):
        found = fit(*np.float64([tall, wide]))
        units = np.array([tall, 1 / wide, tall])
        np.testing.assert_allclose(found.stderr / units, plain.stderr, rtol=1e-6)
        np.testing.assert_allclose(found.pcov / units / units[:, None], plain.pcov, rtol=1e-6)
        band = [side / tall for side in found.band(curve, T * wide)]
        np.testing.assert_allclose(band, plain.band(curve, T), rtol=1e-6)
    peer = scipy.optimize.curve_fit(
        lambda t, a, b, c: a * np.exp(-b * t) + c, T, y, (1, 1, 0), xtol=1e-14
    )
    np.testing.assert_allclose(plain.pcov, peer[1], rtol=1e-4)


OPEN = {
    "one twice": (lambda t, a, b: (a + b) * t, (1.0, 1.0)),
    "one too many units apart": (lambda t, a, b: (1e8 * a + 1e-8 * b) * t, (1.0, 1.0)),
    "without effect": (lambda t, a, b: a * t + 0 * b, (1.0, 1.0)),
    "more than data": (lambda t, a: xnp.sum(a) * t, (xnp.ones(30),)),
    "as many as data": (lambda t, a: a * (1 + t), (xnp.ones(24),)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPEN)
def test_what_data_do_not_tell_is_infinite(name, dtype):
    f, start = OPEN[name]
    y = (3 * T + 0.1 * np.random.default_rng(1).standard_normal(T.size)).astype(dtype)
    fit = xo.curve_fit(f, T.astype(dtype), y, tuple(np.asarray(p, dtype) for p in start))
    assert np.all(np.isinf(np.diagonal(fit.pcov))) and np.all(np.isinf(fit.stderr))
    assert not np.any(np.isnan(fit.pcov))
    low, high = fit.band(f, T.astype(dtype))
    assert np.all(np.isinf(high)) and np.all(np.isinf(low))


def test_a_fit_that_did_not_converge_has_no_intervals():
    y = np.asarray(curve(T, *TRUE))
    fit = xo.curve_fit(curve, T, y, (50.0, 9.0, -3.0), maxiter=2)
    assert not fit.result.success and np.all(np.isinf(fit.stderr))


def test_a_fit_tells_how_it_ended_as_other_solutions_do():
    found = xo.curve_fit(curve, T, np.asarray(curve(T, *TRUE)), (1.0, 1.0, 0.0))
    assert found.x is found.popt and found.value is found.popt
    assert found.ok and found.success and found.status == xo.Status.success
    assert found.message == found.result.message and found.check() is found
    assert found.certificate is found.result.certificate and found.steps == found.nit > 0
    short = xo.curve_fit(curve, T, np.asarray(curve(T, *TRUE)), (1.0, 1.0, 0.0), maxiter=1)
    with pytest.raises(xc.errors.SolverError, match="curve_fit"):
        short.check()


@pytest.mark.parametrize("freedom", [1, 3, 40, 10**4, 10**6, np.inf])
def test_quantiles(freedom):
    from xcore.optimize._curve_fit import t_quantile

    for p in (0.5, 0.84, 0.975, 0.9999):
        assert np.isclose(
            t_quantile(p, freedom), scipy.stats.t.ppf(p, freedom), rtol=1e-8, atol=1e-10
        )
    assert t_quantile(1.0, freedom) == np.inf and np.isnan(t_quantile(1.1, freedom))


def test_lists_of_numbers_are_data():
    times = [0.0, 1.0, 2, 3.5]
    values = [float(3 * np.exp(-0.5 * t)) for t in times]
    for given in (times, np.asarray(times), xnp.asarray(times)):
        fitted = xo.curve_fit(lambda t, a, b: a * xnp.exp(-b * t), given, values, [1, 1])
        np.testing.assert_allclose(np.asarray(fitted.popt), [3, 0.5], rtol=1e-5)


@pytest.mark.parametrize("given", [2.0, 2 + 0j], ids=["real", "complex"])
def test_intervals_of_complex_data_cover(given):
    """Standard errors are those of the real and imaginary parts of data: they came as complex numbers."""
    x, truth = np.linspace(0, 4, 9), (given, 0.7)
    curve = lambda x, a, b: a * xnp.exp(1j * b * x)
    exact = np.asarray(curve(x, *truth))
    noise = 0.1 * np.random.default_rng(0).standard_normal((2, 1500, 9))
    sigma = np.full(9, 0.1)

    def fit(y, settings):
        start = tuple(np.asarray(p) for p in truth)
        found = xo.curve_fit(curve, x, y, start, **settings)
        return *found.interval(), found.ok, *found.band(curve, x), found.pcov

    right = [2.0, *([0.0] if isinstance(given, complex) else []), 0.7]
    for settings in ({}, {"sigma": sigma, "absolute_sigma": True}, {"sigma": np.diag(sigma**2)}):
        low, high, ok, below, above, pcov = map(
            np.asarray,
            xc.jit(xc.vmap(lambda y, s=settings: fit(y, s)))(exact + noise[0] + 1j * noise[1]),
        )
        assert ok.all() and low.dtype == pcov.dtype == float and pcov.shape[1:] == (len(right),) * 2
        assert np.all(np.abs(((low <= right) & (right <= high)).mean(0) - 0.95) < 0.02)
        for part in (np.real, np.imag):
            inside = (part(below) <= part(exact)) & (part(exact) <= part(above))
            rows = part(above - below).min(0) > 0  # a curve may not move there
            assert np.all(np.abs(inside.mean(0)[rows] - 0.95) < 0.03)


@pytest.mark.parametrize("loss", ["cauchy", "arctan"])
def test_intervals_cover_from_afar_by_way_of_a_loss_with_one_minimum(loss):
    """As the docstring says: with a third of outliers, and a start that is no guess."""
    rng = np.random.default_rng(6)
    true, t = (1.0, 2.0), np.linspace(0, 4, 100)
    off = 0.05 * rng.standard_normal((TRIALS, 100)) * np.where(rng.random((TRIALS, 100)) < 0.3, 10, 1)  # fmt: skip
    settings = {"sigma": np.full(100, 0.05), "absolute_sigma": True, "f_scale": 1.5}

    def line(t, a, b):
        return a + b * t

    def one(y):
        near = xo.curve_fit(line, t, y, (0.0, 0.0), loss="soft_l1", **settings)
        found = xo.curve_fit(line, t, y, near[0], loss=loss, **settings)
        return *found.interval(), found.ok

    low, high, ok = xc.jit(xc.vmap(one))(line(t, *true) + off)
    for a, b, x in zip(low.T, high.T, true, strict=True):
        held = np.asarray((a <= x) & (x <= b))
        assert ok.all() and abs(held.mean() - 0.95) <= FOUR


def test_it_is_a_pair_as_scipys():
    t = np.linspace(0, 1, 9)
    found = xo.curve_fit(lambda t, a, b: a + b * t, t, 1 + 2 * t, (0.0, 0.0))
    popt, pcov = found
    assert len(found) == 2 and found[0] is popt and found[1] is pcov and found[-1] is pcov
    with pytest.raises(IndexError):
        found[2]
