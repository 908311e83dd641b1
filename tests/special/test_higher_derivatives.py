"""Second and third derivatives where formulas change: at equal arguments, at 0 and at 1."""

import mpmath as mp
import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import nn, special, stats


def _nth(f, order):
    def slope(g):
        return lambda t: xc.jvp(g, (t,), (xnp.ones((), "float64"),))[1]

    for _ in range(order):
        f = slope(f)
    return f


def _spence(z):
    return mp.polylog(2, 1 - z)


FUNCTIONS = {
    "logaddexp(x, 0)": (lambda x: xnp.logaddexp(x, 0.0), lambda x: mp.log(1 + mp.exp(x)), [-1, 0, 2]),
    "logaddexp(x, -x)": (lambda x: xnp.logaddexp(x, -x), lambda x: mp.log(2 * mp.cosh(x)), [-1, 0, 2]),
    "logaddexp2(x, 1)": (lambda x: xnp.logaddexp2(x, 1.0), lambda x: mp.log(2**x + 2, 2), [-1, 1, 2]),
    "hypot(x, 2)": (lambda x: xnp.hypot(x, 2.0), lambda x: mp.sqrt(x * x + 4), [-2, 0, 1, 2, 5]),
    "hypot(2, x)": (lambda x: xnp.hypot(2.0, x), lambda x: mp.sqrt(x * x + 4), [-2, 0, 1, 2, 5]),
    "x**x": (lambda x: x**x, lambda x: x**x, [0.5, 1, 2]),
    "x**(x - 1)": (lambda x: x ** (x - 1), lambda x: x ** (x - 1), [0.5, 1, 2]),
    "sinc": (xnp.sinc, mp.sincpi, [-1, 0, 1e-3, 0.5]),
    "softplus": (nn.softplus, lambda x: mp.log(1 + mp.exp(x)), [-1, 0, 2]),
    "log_sigmoid": (nn.log_sigmoid, lambda x: -mp.log(1 + mp.exp(-x)), [-1, 0, 2]),
    "logsumexp": (
        lambda x: special.logsumexp(xnp.stack([x, 0 * x, -x])),
        lambda x: mp.log(1 + 2 * mp.cosh(x)), [-1, 0, 2],
    ),
    "norm": (
        lambda x: xnp.linalg.norm(xnp.stack([x, 2 + 0 * x])), lambda x: mp.sqrt(x * x + 4), [-2, 0, 2],
    ),
    "erfi": (special.erfi, mp.erfi, [-1, 0, 0.5]),
    "log_ndtr": (special.log_ndtr, lambda x: mp.log(mp.ncdf(x)), [-3, -1, 0, 2]),
    "spence": (special.spence, _spence, [0.25, 0.5, 1, 1.25, 1.5, 3]),
    "exprel": (special.exprel, lambda x: mp.expm1(x) / x if x else mp.mpf(1), [-1, 0, 1]),
    "boxcox": (
        lambda x: special.boxcox(2.0, x), lambda x: (mp.mpf(2) ** x - 1) / x if x else mp.log(2), [-1, 0, 1],
    ),
    "dawsn": (special.dawsn, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), [0, 1, 3.5]),
    "norm.logcdf": (stats.norm.logcdf, lambda x: mp.log(mp.ncdf(x)), [-1, 0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name, order):
    f, exact, points = FUNCTIONS[name]
    got = np.asarray(xc.jit(xc.vmap(_nth(f, order)))(xnp.asarray(points, "float64")))
    with mp.workdps(40):
        want = [float(mp.re(mp.diff(exact, mp.mpf(x), order, h=mp.mpf("1e-9")))) for x in points]
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("f", [xnp.logaddexp, xnp.logaddexp2])
def test_equal_infinities_share_the_slope(f):
    for x in (np.inf, -np.inf):
        assert float(f(x, x)) == x
        assert [float(g) for g in xc.grad(f, (0, 1))(x, x)] == [0.5, 0.5]
    assert [float(g) for g in xc.grad(f, (0, 1))(np.inf, 1.0)] == [1, 0]
    assert [float(g) for g in xc.grad(f, (0, 1))(1.0, -np.inf)] == [1, 0]


def test_mixed_slope_of_a_power_at_exponent_zero():
    slopes = xc.grad(xc.grad(xnp.power, 0), 1)
    assert [float(slopes(x, 0.0)) for x in (0.5, 2.0)] == [2, 0.5]
    assert np.isnan(slopes(-4.0, 0.0))  # next to exponent 0 its powers are not real
    assert [float(xc.grad(xnp.power)(x, 0.0)) for x in (-4.0, 1e-38, 1e-44, np.inf)] == [0, 0, 0, 0]
    assert float(xc.grad(xnp.power)(0.0, 0.0)) == 0
    assert float(xc.grad(xnp.power)(np.nan, 0.0)) == 0
