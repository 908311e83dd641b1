"""Derivatives of distribution functions and quantiles: all first and second ones of all continuous families.

At points where formulas change their form too: the middle, the location, ends of the support.
"""

import numpy as np
import pytest

import xcore as xc
from xcore import stats
from xcore.stats._family import Family

SHAPES = {
    "alpha": (2.0,), "beta": (2.5, 1.7), "chi": (3.0,), "chi2": (3.0,), "expon": (), "f": (5.0, 7.0), "gamma": (2.5,),
    "gennorm": (2.0,), "invgauss": (0.5,), "loggamma": (1.5,), "lognorm": (0.7,), "pareto": (2.5,), "t": (3.0,),
    "triang": (0.3,), "truncnorm": (-1.0, 1.5), "vonmises": (1.2,), "wald": (), "weibull_min": (1.8,), "weibull_max": (1.8,),
    "wrapcauchy": (0.4,),
}  # fmt: skip
NAMES = sorted(
    name for name in stats.__all__
    if isinstance(f := getattr(stats, name), Family) and not f.discrete
)  # fmt: skip
SIDES = ("cdf", "sf", "logcdf", "logsf")
H = 1e-5


def shapes_of(name):
    given = SHAPES.get(name)
    return (
        tuple(1.6 + 0.4 * k for k in range(len(getattr(stats, name).formulas.shapes)))
        if given is None
        else given
    )


def differences(slopes, at):
    """Columns of central differences of a gradient."""
    columns = []
    for k, x in enumerate(at):
        h = H * max(1.0, abs(x))
        up, down = ([*at[:k], x + s * h, *at[k + 1 :]] for s in (1, -1))
        columns.append((slopes(*up) - slopes(*down)) / (2 * h))
    return np.stack(columns, axis=-1)


def check(f, points, rtol=2e-5, whole=False):
    """Gradients, and rows of Hessians, of which the first one is that of the density, beside differences."""
    numbers = tuple(range(len(points[0])))
    value = xc.jit(lambda *x: f(*x)[None])
    gradient = xc.jit(lambda *x: xc.numpy.stack(xc.grad(f, numbers)(*x)))
    rows = xc.jit(lambda *x: xc.numpy.stack(xc.grad(xc.grad(f), numbers)(*x))[None])
    hessian = xc.jit(xc.jacfwd(lambda *x: gradient(*x), numbers)) if whole else None
    for at in points:
        slopes = np.asarray(gradient(*at))
        want = differences(lambda *x: np.asarray(value(*x)), at)[0]
        size = np.abs(want).max() + abs(float(value(*at)[0]))
        np.testing.assert_allclose(slopes, want, rtol=rtol, atol=rtol * size)
        want = differences(lambda *x: np.asarray(gradient(*x)), at)
        size = np.abs(want).max() + size
        found = np.stack(hessian(*at), axis=-1) if hessian else np.asarray(rows(*at))
        want = want if hessian else want[:1]
        np.testing.assert_allclose(found, want, rtol=10 * rtol, atol=10 * rtol * size)


@pytest.mark.slow
@pytest.mark.parametrize("which", SIDES)
@pytest.mark.parametrize("name", NAMES)
def test_sides(name, which):
    with xc.enable_x64():
        family, shapes = getattr(stats, name), shapes_of(name)
        places = [float(family.ppf(q, *shapes, 0.3, 1.7)) for q in (0.02, 0.4, 0.97)]
        check(getattr(family, which), [(x, *shapes, 0.3, 1.7) for x in places])


@pytest.mark.slow
@pytest.mark.parametrize("which", ["ppf", "isf"])
@pytest.mark.parametrize("name", NAMES)
def test_quantiles(name, which):
    with xc.enable_x64():
        family, shapes = getattr(stats, name), shapes_of(name)
        check(getattr(family, which), [(q, *shapes, 0.3, 1.7) for q in (0.02, 0.4, 0.97)])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gennorm", "t", "truncnorm", "vonmises", "wald"])
def test_orders_of_the_modes(name):
    """Reverse over reverse, reverse over forward and forward over forward are forward over reverse."""
    with xc.enable_x64():
        family, shapes = getattr(stats, name), shapes_of(name)
        for which in ("cdf", "ppf"):
            f = lambda q: getattr(family, which)(q, *shapes)  # noqa: B023
            at = 0.4 if which == "ppf" else float(family.ppf(0.4, *shapes))
            found = [
                float(one(two(f))(at))
                for one in (xc.jacfwd, xc.jacrev)
                for two in (xc.jacfwd, xc.jacrev)
            ]
            np.testing.assert_allclose(found, found[0], rtol=1e-10)


MIDDLES = {  # of families that are symmetric and smooth there
    "cauchy": (), "gennorm": (3.0,), "logistic": (), "norm": (), "t": (3.0,), "truncnorm": (-1.2, 1.2), "vonmises": (1.2,),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("which", [*SIDES, "ppf", "isf"])
@pytest.mark.parametrize("name", MIDDLES)
def test_middles(name, which):
    with xc.enable_x64():
        family, shapes = getattr(stats, name), MIDDLES[name]
        at = 0.5 if which in ("ppf", "isf") else 0.3
        check(getattr(family, which), [(at, *shapes, 0.3, 1.7)], rtol=1e-4)
        if name == "gennorm":
            with_square = (0.5 if which in ("ppf", "isf") else 0.0, 2.0)
            check(getattr(family, which), [with_square], rtol=1e-4)


@pytest.mark.parametrize("name", MIDDLES)
def test_at_the_middle(name):
    with xc.enable_x64():
        family, shapes = getattr(stats, name), MIDDLES[name]
        p = float(family.pdf(0.3, *shapes, 0.3, 1.7))
        found = [xc.jit(xc.grad(getattr(family, which))) for which in ("cdf", "ppf")]
        assert float(found[0](0.3, *shapes, 0.3, 1.7)) == pytest.approx(p, rel=1e-12)
        assert float(found[1](0.5, *shapes, 0.3, 1.7)) == pytest.approx(1 / p, rel=1e-12)
        if name in ("gennorm", "t"):  # the middle stays where it is
            assert float(xc.grad(family.ppf, 1)(0.5, *shapes, 0.3, 1.7)) == 0.0


@pytest.mark.parametrize("name", ["invgauss", "truncnorm", "vonmises", "wald"])
def test_quantiles_bend(name):
    """q'' = -p' / p³, and by a parameter what differences of slopes are."""
    with xc.enable_x64():
        family, shapes = getattr(stats, name), shapes_of(name)
        slope, second = (xc.jit(f(family.ppf)) for f in (xc.grad, lambda f: xc.grad(xc.grad(f))))
        density, h = (lambda x: float(family.pdf(x, *shapes))), 1e-5
        for q in (0.05, 0.3, 0.97):
            x = float(family.ppf(q, *shapes))
            rise = (density(x + h) - density(x - h)) / (2 * h)
            assert float(second(q, *shapes)) == pytest.approx(-rise / density(x) ** 3, rel=1e-6)
            moved = (float(slope(q, *shapes, h)) - float(slope(q, *shapes, -h))) / (2 * h)
            assert moved == pytest.approx(0.0, abs=1e-6)  # loc moves it as a whole


def test_circles():
    """Across ±π, at whole turns, without concentration, and where rounding leaves no digits of the angle."""
    with xc.enable_x64():
        for x in (np.pi, -np.pi, 2 * np.pi, 3 * np.pi):
            for kappa in (0.3, 4.0):
                assert float(xc.grad(stats.vonmises.cdf)(x, kappa)) == pytest.approx(
                    float(stats.vonmises.pdf(x, kappa)), rel=1e-9
                )
        second = xc.grad(xc.grad(stats.vonmises.cdf, 1), 1)
        for x in (
            -0.5,
            0.0,
            1.5,
        ):  # of the integral of e^(κ cos x) / (2π I₀(κ)): ∫(cos² - 1/2) / 2π
            want = np.sin(2 * x) / (8 * np.pi)
            assert float(second(x, 0.0)) == pytest.approx(want, abs=1e-9)
            assert float(xc.grad(stats.vonmises.logpdf, 1)(x, 0.0)) == pytest.approx(np.cos(x))
            assert float(xc.grad(xc.grad(stats.vonmises.logpdf, 1), 1)(x, 0.0)) == pytest.approx(
                -0.5
            )
        for x in (1e16, 1e20, 1e30, 1e300):
            assert float(stats.vonmises.cdf(x, 1.0)) == pytest.approx(x / (2 * np.pi))
            assert np.isfinite(float(stats.vonmises.logcdf(x, 1.0)))
    assert np.isfinite(float(stats.vonmises.cdf(1e30, 1.0)))


def test_next_to_the_middle_of_gennorm():
    with xc.enable_x64():
        for z, b in ((1e-20, 3.0), (1e-20, 1.5), (-1e-12, 2.5)):
            found = float(xc.grad(xc.grad(stats.gennorm.cdf))(z, b))
            want = -np.sign(z) * b * abs(z) ** (b - 1) * float(stats.gennorm.pdf(0.0, b))
            assert found == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("f", ["gammainc", "gammaincc"])
def test_where_the_support_begins(f):
    with xc.enable_x64():
        sign = 1.0 if f == "gammainc" else -1.0
        second = xc.grad(xc.grad(getattr(xc.special, f), 1), 1)
        for a, want in ((1.0, -1.0), (2.0, 1.0), (3.0, 0.0), (1.5, np.inf)):
            assert float(second(a, 0.0)) == sign * want


@pytest.mark.parametrize("f", ["betainc", "betaincc"])
def test_where_the_support_of_beta_begins_and_ends(f):
    with xc.enable_x64():
        sign = 1.0 if f == "betainc" else -1.0
        second = xc.grad(xc.grad(getattr(xc.special, f), 2), 2)
        b = 2.5
        for a, want in ((1.0, -b * (b - 1)), (2.0, b * (b + 1)), (3.0, 0.0), (1.5, np.inf)):
            assert float(second(a, b, 0.0)) == pytest.approx(sign * want)
            assert float(second(b, a, 1.0)) == pytest.approx(-sign * want)


@pytest.mark.parametrize("x", [-5.0, -40.0, -300.0, -1e4])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_far_in_the_tail_of_the_normal_distribution(x, dtype):
    """Of its logarithm the slope is the inverse of Mills's ratio, without a difference of two large logarithms."""
    t, log_p = np.dtype(dtype).type, -0.5 * x * x - 0.5 * np.log(2 * np.pi)
    wanted = (
        abs(x) / (1 - 1 / x**2 + 3 / x**4 - 15 / x**6)
        if x < -30
        else np.exp(log_p) / 2.866515718791945e-7
    )
    rtol = 4 * float(np.finfo(dtype).eps) + (1e-8 if x == -40.0 else 1e-12)
    assert float(xc.grad(stats.norm.logcdf)(t(x))) == pytest.approx(wanted, rel=rtol)
    assert float(xc.grad(stats.norm.logsf)(t(-x))) == pytest.approx(-wanted, rel=rtol)
