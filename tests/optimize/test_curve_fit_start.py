"""Where ``curve_fit`` begins that is told no start: where SciPy's does."""

import numpy as np
import pytest
import scipy.optimize

import xcore as xc
import xcore.numpy as xnp
from xcore import optimize

X = np.linspace(0.0, 2.0, 20)
Y = 2.0 * np.exp(-0.5 * X) + 0.25
BOUNDS = {
    "none": None,
    "numbers": (0.0, 3.0),
    "one side": (0.0, np.inf),
    "the other": (-np.inf, 4.0),
    "of each": ([0.0, -np.inf, 0.1], [3.0, 0.9, np.inf]),
    "by name": scipy.optimize.Bounds([0.0, 0.1, 0.1], [3.0, 0.9, 1.0]),
}


def curve(np_):
    return lambda x, a, b, c: a * np_.exp(-b * x) + c


@pytest.mark.parametrize("name", BOUNDS)
def test_fits_without_a_start(name):
    bounds = BOUNDS[name]
    found = optimize.curve_fit(curve(xnp), X, Y, bounds=bounds)
    assert bool(found.ok)
    np.testing.assert_allclose(np.array(found.popt), [2.0, 0.5, 0.25], rtol=1e-5)
    assert found.popt[0].dtype == np.float64


@pytest.mark.parametrize("name", BOUNDS)
def test_begins_where_scipy_does(name):
    """The first point at which the curve is asked."""
    bounds, seen = BOUNDS[name], []

    def f(x, a, b, c):
        seen.append((a, b, c))
        return curve(np)(x, a, b, c)

    scipy.optimize.curve_fit(f, X, Y, bounds=(-np.inf, np.inf) if bounds is None else bounds)
    found = optimize.curve_fit(curve(xnp), X, Y, bounds=bounds, maxiter=0)
    np.testing.assert_allclose(np.array(found.popt), np.array(seen[0]), rtol=1e-12)


def test_a_curve_that_does_not_name_its_parameters_needs_one():
    for f in (lambda x, *p: p[0] * x, lambda x: x):
        with pytest.raises(xc.errors.ArgumentError, match="p0 must be given where f does not name"):
            optimize.curve_fit(f, X, Y)
    tree = ({"a": 0.0}, {"a": 1.0})
    with pytest.raises(xc.errors.ArgumentError, match="p0 must be given, as bounds are no pair"):
        optimize.curve_fit(lambda x, p: p["a"] * x, X, Y, bounds=tree)
