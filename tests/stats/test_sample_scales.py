"""Statistics of samples of all sizes, far from 0 too, beside the same in extended precision."""

import numpy as np
import pytest

import xcore as xc
import xcore.numpy as xnp
from xcore import random, stats

SIZES = {"float32": (1e-30, 1e-21, 1.0, 1e21, 1e30), "float64": (1e-200, 1.0, 1e200)}
CASES = [
    (dtype, size, offset) for dtype, sizes in SIZES.items() for size in sizes for offset in (0, 1e3)
]


def _sample(dtype, size, offset, n=40):
    rng = np.random.default_rng(4)
    x = ((rng.standard_normal(n) + offset) * size).astype(dtype)
    points = ((np.linspace(-4, 6, 9) + offset) * size).astype(dtype)
    return x, points, x.astype(np.longdouble), points.astype(np.longdouble)


@pytest.mark.parametrize(("dtype", "size", "offset"), CASES)
def test_standard_errors(dtype, size, offset):
    x, _, exact, _ = _sample(dtype, size, offset)
    away = exact - exact.mean()
    want = float(np.sqrt((away**2).sum() / 39 / 40))
    eps = np.finfo(dtype).eps
    assert abs(float(stats.sem(xnp.asarray(x))) / want - 1) < 50 * eps
    holes = np.concatenate([x, [np.nan]]).astype(dtype)
    rows = xnp.asarray(np.stack([holes, holes]))
    for keep in (False, True):
        found = np.asarray(stats.sem(rows, axis=1, nan_policy="omit", keepdims=keep))
        assert found.shape == ((2, 1) if keep else (2,))
        assert np.all(np.abs(found / want - 1) < 50 * eps)
    assert np.isnan(float(stats.sem(xnp.asarray(holes))))


@pytest.mark.parametrize(("dtype", "size", "offset"), CASES)
def test_kernel_densities(dtype, size, offset):
    x, points, exact, at = _sample(dtype, size, offset)
    width = np.sqrt(((exact - exact.mean()) ** 2).sum() / 39) * np.longdouble(40) ** -0.2
    terms = -0.5 * ((at[:, None] - exact) / width) ** 2
    most = terms.max(1)
    want = most + np.log(np.exp(terms - most[:, None]).mean(1)) - np.log(width * np.sqrt(2 * np.pi))
    kde, eps = stats.gaussian_kde(xnp.asarray(x)), np.finfo(dtype).eps
    found = np.asarray(kde.logpdf(xnp.asarray(points)), np.longdouble)
    assert np.all(np.abs(found - want) < 300 * eps * (1 + np.abs(want)))
    whole = float(kde.integrate_box_1d(points[0] - 3 * size, points[-1] + 3 * size))
    assert abs(whole - 1) < 100 * eps
    moved = xc.jit(lambda k, p: k.logpdf(p))(kde, xnp.asarray(points))  # as an argument, too
    np.testing.assert_allclose(moved, found.astype(float), rtol=100 * eps)
    drawn = np.asarray(kde.resample(random.key(0), (4000,)), np.longdouble)[0] / size - offset
    assert abs(drawn.mean()) < 0.3 and 0.7 < drawn.std() < 1.5


@pytest.mark.parametrize("dtype", SIZES)
def test_products_of_densities_of_two_samples_in_other_units(dtype):
    x, _, exact, _ = _sample(dtype, 1.0, 0)
    y = (0.3 * x + 1).astype(dtype)
    spread = [np.var(v.astype(np.longdouble), ddof=1) * np.longdouble(40) ** -0.4 for v in (x, y)]
    apart = x.astype(np.longdouble)[:, None] - y.astype(np.longdouble)
    both = sum(spread)
    want = (np.exp(-0.5 * apart**2 / both) / np.sqrt(2 * np.pi * both)).mean()
    for unit in (1e-12, 1.0, 1e12) if dtype == "float32" else (1e-180, 1e180):
        a, b = (stats.gaussian_kde(xnp.asarray((v * unit).astype(dtype))) for v in (x, y))
        for pair in ((a, b), (b, a)):
            assert (
                abs(float(pair[0].integrate_kde(pair[1]) * unit) / float(want) - 1)
                < 1e3 * np.finfo(dtype).eps
            )
