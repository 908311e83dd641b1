"""Means, variances and deviations beside SciPy's, and beside the distribution itself."""

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

import xcore as xc
import xcore.numpy as xnp
from xcore import stats
from xcore.stats._moments import MOMENTS

WIDE = [1e-3, 0.3, 1.0, 1.5, 2.5, 3.0, 4.5, 8.0, 1e3]
SHAPES = {
    "lognorm": [(s,) for s in (0.3, 1.0, 3.0)],
    "t": [(v,) for v in WIDE if v > 1],  # for less SciPy says that the mean is infinite
    "gennorm": [(b,) for b in (0.2, 0.7, 2.0, 8.0)],
    "beta": [(a, b) for a in (1e-2, 1.0, 30.0) for b in (0.5, 7.0)],
    "f": [(m, n) for m in (0.5, 3.0, 1e3) for n in (1.5, 2.5, 4.5, 1e3)],
    "weibull_min": [(c,) for c in (0.3, 1.0, 7.0, 1e3)],
    "triang": [(c,) for c in (0.0, 0.2, 1.0)],
    "bernoulli": [(p,) for p in (0.0, 0.3, 1.0)],
    "binom": [(n, p) for n in (0, 1, 40) for p in (0.0, 0.3, 1.0)],
    "geom": [(p,) for p in (1e-3, 0.3, 1.0)],
    "nbinom": [(n, p) for n in (1, 40) for p in (1e-3, 0.3, 1.0)],
    "poisson": [(m,) for m in (1e-3, 3.0, 1e3)],
    "randint": [(0, 1), (-5, 7), (3, 1000)],
    "betabinom": [(n, a, b) for n in (1, 30) for a in (0.5, 8.0) for b in (0.3, 2.0)],
}
CASES = [
    (name, shapes)
    for name in MOMENTS
    for shapes in SHAPES.get(name, [(s,) for s in WIDE] if getattr(stats, name).formulas.shapes else [()])
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes"), CASES)
def test_as_scipy(name, shapes):
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    places = [(0, 1), (3, 1)] if ours.discrete else [(0, 1), (-2.5, 1e-3), (1e3, 1e5)]
    for loc, scale in places:
        more = {"loc": loc} | ({} if ours.discrete else {"scale": scale})
        with xc.enable_x64(True):
            for which in ("mean", "var", "std"):
                got = getattr(ours, which)(*map(float, shapes), **more)
                with np.errstate(all="ignore"):
                    right = getattr(theirs, which)(*shapes, **more)
                np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("c", [3.0, 9.9, 10.1, 1e3, 1e5, 1e7])
def test_a_narrow_distribution_keeps_its_digits(c):
    with xc.enable_x64(True), mp.workdps(50):
        h = 1 / mp.mpf(c)
        right = mp.gamma(1 + 2 * h) - mp.gamma(1 + h) ** 2
        np.testing.assert_allclose(stats.weibull_min.var(c), float(right), rtol=1e-13)
        s = mp.mpf(h) ** 2
        np.testing.assert_allclose(stats.lognorm.var(1 / c), float(mp.exp(s) * mp.expm1(s)), rtol=1e-13)  # fmt: skip


def test_what_makes_no_sense_is_nan():
    assert np.isnan(stats.gamma.mean(-1.0)) and np.isnan(stats.norm.var(0.0, -1.0))
    assert np.isnan(stats.t.mean(0.5)) and np.isinf(stats.t.var(1.5)) and np.isnan(stats.t.var(0.5))
    assert np.isnan(stats.cauchy.mean()) and np.isinf(stats.pareto.mean(1.0))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_batches_derivatives_and_dtypes(dtype):
    with xc.enable_x64(True):
        a = xnp.asarray([0.5, 2.0, 5.0], dtype)
        assert stats.gamma.std(a).dtype == a.dtype and stats.gamma(a).mean().shape == (3,)
        if dtype in ("bfloat16", "float16"):
            return
        slopes = xc.vmap(xc.jit(xc.grad(lambda a: stats.t.var(a + 2))))(a)
        np.testing.assert_allclose(slopes, -2.0 / np.square(np.asarray(a)), rtol=1e-5)
        assert np.isfinite(xc.vmap(xc.grad(stats.t.var))(a)).all()
