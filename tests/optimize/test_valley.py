"""Along a curved valley methods that learn curvature take about the steps of SciPy's, from wherever they begin."""

import numpy as np
import pytest
from scipy.optimize import minimize as by_scipy
from scipy.optimize import rosen, rosen_der

import xcore.numpy as xnp
from xcore import optimize


def valley(v):
    return (100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2).sum()


STARTS = {
    "zeros": np.zeros,
    "of old": lambda n: np.tile([-1.2, 1.0], n // 2),
    "random": lambda n: np.random.default_rng(0).normal(size=n),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("n", [10, 64, 200])
@pytest.mark.parametrize("method", ["lbfgs", "L-BFGS-B"])
def test_steps_beside_scipy(method, n, start):
    x = STARTS[start](n)
    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 0, "gtol": 1e-7}
    theirs = by_scipy(rosen, x, jac=rosen_der, method="L-BFGS-B", options=options)
    ours = optimize.minimize(valley, xnp.asarray(x), method=method, maxiter=20_000)
    assert bool(ours.ok)
    assert int(ours.steps) <= 1.4 * theirs.nit + 40
    # there is another minimum beside that at ones
    assert float(ours.fun) < 1e-12 or abs(float(ours.fun) - 3.98658) < 1e-4


@pytest.mark.parametrize("method, most", [("BFGS", 500), ("CG", 2000)])
@pytest.mark.parametrize("start", STARTS)
def test_steps_of_others(method, most, start):
    ours = optimize.minimize(valley, xnp.asarray(STARTS[start](64)), method=method, maxiter=5000)
    assert bool(ours.ok) and int(ours.steps) <= most


@pytest.mark.parametrize("n", [10, 100])
@pytest.mark.parametrize("spread", [1.0, 6.0])
def test_units_that_differ_much_are_still_told_apart(n, spread):
    """Variables of 1e±spread; where there is nothing more to gain no steps are taken."""
    unit = 10.0 ** np.linspace(-spread, spread, n)
    f = lambda u: (
        lambda x: (
            (xnp.log(xnp.cosh((x / u - 1) * 2)) + (x / u - 1) ** 4).sum() + (x / u).sum() ** 2 / n
        )
    )
    for u in (np.ones(n), unit):
        found = optimize.minimize(f(u), xnp.asarray(u * np.linspace(-1, 2, n)), method="lbfgs")
        assert bool(found.ok) and int(found.steps) <= 250
        np.testing.assert_allclose(found.x / u, found.x[0] / u[0], rtol=1e-6)
