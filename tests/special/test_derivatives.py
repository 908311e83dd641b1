"""Derivatives in every continuous argument, against mpmath's numeric derivatives of the references."""

import functools

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import xcore as xc
import xcore.numpy as xnp
from tests.special.table import ROWS, Row
from xcore import special, stats

COUNT = 20
FEW = 5  # of those whose references take long
COSTLY = (
    "hyp1f1 hyp2f1 gammainc gammaincc betainc betaincc binom owens_t k0 k0e k1 k1e kn yn".split()
)
# Where a derivative's own zeros or conditioning ask for more than the value does: relative error.
LOOSE = {"gammaincinv": 1e-9, "gammainccinv": 1e-9, "betaincinv": 1e-9}


def count(row: Row) -> int:
    return FEW if row.name in COSTLY else COUNT


def continuous(row: Row) -> list[int]:
    return [i for i in range(len(row.domain)) if i not in row.fixed]


@functools.cache
def exact_slope(row: Row, i: int):
    points = row.points(count(row))
    numbers = list(zip(*[map(mp.mpf, p.tolist()) for p in points], strict=True))

    def slope(xs):
        step = abs(xs[i]) * mp.mpf(10) ** -20
        f = [mp.re(row.exact(*xs[:i], xs[i] + s * step, *xs[i + 1 :])) for s in (-1, 1)]
        return (f[1] - f[0]) / (2 * step)

    with mp.workdps(90):
        return points, np.array([float(slope(xs)) for xs in numbers])


def slopes(row: Row, points):
    """All partial derivatives, as one program."""
    arrays = [xnp.asarray(p.astype(np.float64)) for p in points]

    def each(*xs):
        ones = [xnp.ones_like(x) for x in xs]
        zero = [xnp.zeros_like(x) for x in xs]
        steps = [
            [o if k == i else z for k, (o, z) in enumerate(zip(ones, zero, strict=True))]
            for i in continuous(row)
        ]
        return [xc.jvp(row, xs, tuple(step))[1] for step in steps]

    return xc.jit(each)(*arrays)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_slopes(row):
    got = slopes(row, row.points(count(row)))
    for i, slope in zip(continuous(row), got, strict=True):
        _, exact = exact_slope(row, i)
        tolerance = LOOSE.get(row.name, 1e-11)
        np.testing.assert_allclose(
            slope, exact, rtol=tolerance, atol=1e-300, err_msg=f"argument {i}"
        )


@pytest.mark.parametrize("power", [0.5, 2.0, 3.0])
def test_slopes_of_boxcox_where_the_logarithm_ends(power):
    """(x^λ - 1)/λ is -1/λ at x = 0 for all λ > 0, and -∞ for others."""
    slope = xc.grad(xc.scipy.special.boxcox, 1)
    np.testing.assert_allclose(slope(0.0, power), 1 / power**2, rtol=1e-6)
    assert slope(0.0, -power) == slope(0.0, 0.0) == -np.inf


def test_the_slope_of_kl_div_has_all_digits_next_to_its_zero():
    x = np.float64([1, 3, 1e-200, 1e200, 0, 2])
    y = np.float64([1 + 2.0**-40, 3 - 2.0**-45, 1.0001e-200, 1.0001e200, 1, 2])
    slope = xc.vmap(xc.grad(xc.special.kl_div, 1))(x, y)
    exact = [float((mp.mpf(t) - mp.mpf(s)) / mp.mpf(t)) for s, t in zip(x, y, strict=True)]
    np.testing.assert_allclose(slope, exact, rtol=4e-16)


POLYNOMIALS = [  # whose derivatives by the parameter that ends them are series that do not end
    ("hyp1f1", (-2.0, 1.5, 0.7)), ("hyp1f1", (-2.0, 1.5, 3.0)), ("hyp1f1", (0.0, 1.5, 3.0)),
    ("hyp1f1", (-2.0, 1.5, -0.7)), ("hyp2f1", (-2.0, 1.3, 2.5, 0.4)), ("hyp2f1", (1.3, -3.0, 2.5, 0.4)),
    ("hyp2f1", (-1.0, 0.5, 2.5, -0.7)), ("hyp2f1", (0.0, 0.5, 2.5, 0.7)),
]  # fmt: skip


@pytest.mark.parametrize("name, args", POLYNOMIALS)
def test_polynomials_by_all_their_parameters(name, args):
    ours, theirs = getattr(xc.special, name), getattr(scipy.special, name)
    for k in range(len(args)):
        steps = 1e-5 * np.eye(len(args))[k]
        quotient = (theirs(*(args + steps)) - theirs(*(args - steps))) / 2e-5
        slope = xc.grad(ours, k)(*map(np.float64, args))
        np.testing.assert_allclose(slope, quotient, rtol=1e-8, atol=1e-8)


def test_slopes_of_erfcx_keep_their_digits():
    x = np.linspace(-2, 8, 2001)
    found = xc.vmap(xc.grad(xc.special.erfcx))(x)
    with mp.workdps(40):
        exact = [2 * v * mp.exp(v**2) * mp.erfc(v) - 2 / mp.sqrt(mp.pi) for v in map(mp.mpf, x)]
    np.testing.assert_allclose(found, np.array(exact, float), rtol=8 * np.finfo(float).eps)


@pytest.mark.parametrize("n", [0, -1, -2, -3, -7])
def test_the_reciprocal_of_gamma_is_smooth_where_gamma_has_poles(n):
    with xc.enable_x64():
        f, x = special.rgamma, np.float64(n)
        for order in (1, 2, 3):
            f = xc.grad(f)
            with mp.workdps(60):
                exact = float(mp.taylor(mp.rgamma, n, order)[order] * mp.factorial(order))
            np.testing.assert_allclose(f(x), exact, rtol=1e-9, atol=1e-12)


SYMMETRIC = {
    "xlogy": (special.xlogy, [(0.0, 2.0), (0.0, 0.3)]),
    "xlog1py": (special.xlog1py, [(0.0, 1.0), (0.0, 0.0), (0.0, -0.5)]),
    "rel_entr": (special.rel_entr, [(1.0, 1.0), (2.0, 2.0)]),
    "kl_div": (special.kl_div, [(1.0, 1.0), (2.0, 0.5)]),
    "boxcox": (special.boxcox, [(1.0, 0.0), (2.0, 0.0), (1.0, 1.0)]),
    "gamma": (lambda a, x: stats.gamma.logpdf(x, a), [(1.0, 0.3), (2.0, 1.0)]),
    "beta": (lambda a, x: stats.beta.logpdf(x, a, 2.0), [(1.0, 0.3), (2.0, 0.5)]),
    "beta, other side": (lambda b, x: stats.beta.logpdf(x, 2.0, b), [(1.0, 0.3)]),
    "chi2": (lambda k, x: stats.chi2.logpdf(x, k), [(2.0, 0.3), (1.0, 1.0)]),
    "weibull": (lambda c, x: stats.weibull_min.logpdf(x, c), [(1.0, 0.3), (1.0, 1.0)]),
    "f": (lambda n, x: stats.f.logpdf(x, n, 3.0), [(2.0, 0.3), (2.0, 1.0)]),
    "t": (lambda n, x: stats.t.logpdf(x, n), [(1.0, 0.0), (2.0, 1.0)]),
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_second_derivatives_where_a_factor_vanishes(name):
    """Beside differences of first ones: what is 0 by a mask has the slope of the formula."""
    f, points = SYMMETRIC[name]
    with xc.enable_x64():
        slope = xc.grad(lambda v: f(v[0], v[1]))
        for point in points:
            v, h = np.array(point), 1e-5
            found = np.asarray(xc.jacfwd(slope)(v))
            np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-12)
            for i in range(2):
                if (name[:2] == "xl" and i == 0) or v[i] != 0:
                    step = h * np.eye(2)[i]
                    change = (np.asarray(slope(v + step)) - np.asarray(slope(v - step))) / (2 * h)
                    np.testing.assert_allclose(found[i], change, rtol=1e-5, atol=1e-6)


def test_slopes_in_factors_that_are_zero():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 0.0])
    f = lambda b: special.logsumexp(a, b=b)
    exact = np.exp(a) / (b @ np.exp(a))
    np.testing.assert_allclose(xc.grad(f)(b), exact, rtol=1e-12)
    np.testing.assert_allclose(xc.jvp(f, (b,), (np.eye(3)[2],))[1], exact[2], rtol=1e-12)
    np.testing.assert_allclose(xc.hessian(f)(b), -np.outer(exact, exact), rtol=1e-12)
    for far in (np.inf, np.nan, 1e5):  # a factor 0 takes these away
        a[2] = far
        np.testing.assert_allclose(f(b), np.log(np.exp(1) + 2 * np.exp(2)), rtol=1e-14)
        assert np.isfinite(xc.grad(f)(b)).all()
        assert np.isfinite(xc.grad(lambda a: special.logsumexp(a, b=b))(a)).all()
    assert special.logsumexp(a, b=0 * b) == -np.inf


ZEROS = {
    "binom(n, 3)": (lambda n: special.binom(n, 3.0), lambda n: n * (n - 1) * (n - 2) / 6, [0, 1, 2, 5, 2.5, -0.5]),
    "binom(5, k)": (lambda k: special.binom(5.0, k), lambda k: 120 * mp.rgamma(k + 1) * mp.rgamma(6 - k), [-2, -1, 6, 7, 2]),
    "binom(2.5, k)": (
        lambda k: special.binom(2.5, k), lambda k: mp.gamma(3.5) * mp.rgamma(k + 1) * mp.rgamma(3.5 - k), [-2, -1, 3.5, 4.5],
    ),
    "poch(z, 2)": (lambda z: special.poch(z, 2.0), lambda z: z * (z + 1), [0, -1, -2, -3, -1.5, 2]),
    "poch(z, 3.5)": (lambda z: special.poch(z, 3.5), lambda z: mp.gamma(z + 3.5) * mp.rgamma(z), [0, -1, -2, -5, 1]),
    "beta(a, -2.5)": (lambda a: special.beta(a, -2.5), lambda a: mp.gamma(a) * mp.gamma(-2.5) * mp.rgamma(a - 2.5), [0.5, 1.5, 2.5, 0.7]),
    "beta(-2.5, b)": (lambda b: special.beta(-2.5, b), lambda b: mp.gamma(b) * mp.gamma(-2.5) * mp.rgamma(b - 2.5), [0.5, 1.5, 2.5, 0.7]),
}  # fmt: skip


@pytest.mark.parametrize("name", ZEROS)
def test_products_of_gamma_functions_have_slopes_where_they_vanish(name):
    f, exact, points = ZEROS[name]
    with xc.enable_x64(), mp.workdps(50):
        for x in map(np.float64, points):
            for order, g in ((1, xc.grad(f)), (2, xc.grad(xc.grad(f)))):
                np.testing.assert_allclose(
                    g(x), float(mp.diff(exact, mp.mpf(x), order)), rtol=1e-9, atol=1e-11
                )
